"""The ignite face is a drop-in: what ignite's own Bleu does, it does, but for a str, which is text."""

import copy
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ignite
import pytest
import torch
from faces.cases import TEXT, Batch, assert_same
from ignite.engine import Engine, Events
from ignite.exceptions import NotComputableError
from ignite.handlers import Checkpoint, DiskSaver
from ignite.metrics import MetricGroup, RunningAverage
from ignite.metrics import nlp as peers
from ignite.metrics.metric import (
    BatchWise,
    EpochWise,
    RunningBatchWise,
    RunningEpochWise,
    SingleEpochRunningBatchWise,
)

from ngram_metrics import ignite as ours

SMOOTHINGS = ["no_smooth", "smooth1", "nltk_smooth2", "smooth2"]
AVERAGES = ["macro", "micro"]
OLD = tuple(map(int, ignite.__version__.split(".")[:3])) < (0, 5, 3)

#: TEXT in the form that ignite takes: tokens, and a list of references for each sentence.
TOKENS: tuple[Batch, ...] = tuple(
    ([one.split() for one in preds], [[one.split() for one in several] for several in target]) for preds, target in TEXT
)
VOCABULARY = {
    word: number for number, word in enumerate(sorted({w for y_pred, _ in TOKENS for s in y_pred for w in s}))
}

each_average = pytest.mark.parametrize("average", AVERAGES)


def _echo(engine: Engine, batch: Any) -> Any:
    return batch


def _error(call: Callable[[], Any]) -> tuple[type, str]:
    try:
        call()
    except Exception as error:
        return type(error), str(error)
    raise AssertionError("expected an error")


def _value(metric: Any, batches: Sequence[Any]) -> Any:
    for batch in batches:
        metric.update(batch)
    return metric.compute()


def _run(metric: Any, batches: Sequence[Any], epochs: int = 1, **attach: Any) -> float:
    engine = Engine(_echo)
    metric.attach(engine, "bleu", **attach)
    return engine.run(batches, max_epochs=epochs).metrics["bleu"]


# The constructor


def test_the_parameters_begin_with_those_of_ignite():
    mine = list(inspect.signature(ours.Bleu).parameters.values())
    theirs = list(inspect.signature(peers.Bleu).parameters.values())
    for own, peer in zip(mine, theirs, strict=False):
        assert (own.name, own.kind) == (peer.name, peer.kind)
        if peer.name == "output_transform":
            assert own.default("anything") == "anything"
        else:
            assert own.default == peer.default
    rest = mine[len(theirs) :]
    assert [parameter.name for parameter in rest] == [
        *("pad_id", "tokenizer", "confidence"),
        *("smooth_value", "weights", "effective_order", "lowercase"),
    ]
    assert {parameter.kind for parameter in rest} == {inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize(
    "arguments",
    [
        {"ngram": 0},
        {"ngram": -1},
        {"ngram": 0, "smooth": "unknown", "average": "unknown"},
        {"average": "unknown"},
        {"average": "none"},
        {"average": None},
        {"average": "unknown", "output_transform": 1},
        pytest.param({"output_transform": 1}, marks=pytest.mark.skipif(OLD, reason="ignite 0.5.3 brought this error")),
        {"device": "unknown"},
    ],
    ids=str,
)
def test_wrong_arguments_get_the_words_of_ignite(arguments: dict[str, Any]):
    assert _error(lambda: ours.Bleu(**arguments)) == _error(lambda: peers.Bleu(**arguments))


@pytest.mark.parametrize(
    "arguments", [{"smooth": "unknown"}, {"smooth": None}, {"smooth": "x", "average": "x"}], ids=str
)
def test_an_unknown_smoothing_gets_the_words_of_ignite_and_more_names(arguments: dict[str, Any]):
    """It is looked at before the average, as in ignite."""
    (mine, words), (theirs, of_ignite) = (_error(lambda m=one: m.Bleu(**arguments)) for one in (ours, peers))
    names, given = of_ignite.split("], got: ")
    assert mine is theirs
    assert words.startswith(f"{names}, ")
    assert words.endswith(f"], got: {given}")


# Values


@pytest.mark.parametrize("smooth", SMOOTHINGS)
@pytest.mark.parametrize("ngram", [1, 2, 4, 8])
@each_average
def test_the_value_of_ignite(ngram: int, smooth: str, average: str):
    """ignite divides in float32 under no_smooth."""
    mine, theirs = (_value(one(ngram, smooth, average=average), TOKENS) for one in (ours.Bleu, peers.Bleu))
    assert type(mine) is type(theirs) or (average, type(mine)) == ("micro", float)
    assert float(mine) == pytest.approx(float(theirs), rel=1e-6 if smooth == "no_smooth" else 1e-12, abs=1e-12)
    if average == "macro":
        assert (mine.dtype, mine.shape, mine.device.type) == (torch.float64, (), "cpu")


@pytest.mark.parametrize("tokens", [["a b", "c"], [1, 2, 3], [("a", 1), ("b", 2)], [None, b"x", "x"]], ids=str)
@each_average
def test_tokens_are_any_hashables(tokens: list[Any], average: str):
    batch = ([tokens, tokens[:1]], [[tokens[::-1], tokens], [tokens]])
    mine, theirs = (_value(one(2, "smooth1", average=average), [batch]) for one in (ours.Bleu, peers.Bleu))
    assert float(mine) == pytest.approx(float(theirs), abs=1e-12)


@each_average
def test_a_str_is_text(average: str):
    """The one deliberate difference: ignite reads a str as its characters."""
    expected = _value(ours.Bleu(2, average=average), TOKENS)
    assert_same(_value(ours.Bleu(2, average=average), TEXT), expected)
    peer = _value(peers.Bleu(2, average=average), TEXT)
    assert abs(float(peer) - float(expected)) > 0.01

    one = "the cat sat on the mat"
    assert float(_value(ours.Bleu(2, average=average), [(one, [one, "a cat"])])) == 1
    characters = ours.Bleu(2, average=average, tokenizer=list)
    assert float(_value(characters, TEXT)) == pytest.approx(float(peer), rel=1e-6)


@each_average
def test_compute_before_data(average: str):
    mine, theirs = ours.Bleu(average=average), peers.Bleu(average=average)
    if average == "micro":
        assert mine.compute() == theirs.compute() == 0
        assert isinstance(mine.compute(), float)
    else:
        assert _error(mine.compute) == _error(theirs.compute)
        with pytest.raises(NotComputableError, match="Bleu must have at least one example before it can be computed"):
            mine.compute()


@each_average
def test_unequal_numbers_get_the_words_of_ignite(average: str):
    """ignite says so for micro alone; for macro it is silent and drops the rest."""
    y_pred, y = TOKENS[0]
    for batch in [(y_pred, y[:1]), (y_pred[:1], y), ([], y), (y_pred, [])]:
        micro = peers.Bleu(average="micro")
        metric = ours.Bleu(average=average)
        metric.update(TOKENS[1])
        before = metric.compute()
        assert _error(lambda m=metric, b=batch: m.update(b)) == _error(lambda m=micro, b=batch: m.update(b))
        assert_same(metric.compute(), before)


@each_average
def test_an_error_leaves_what_was_counted(average: str):
    metric = ours.Bleu(average=average)
    metric.update(TOKENS[0])
    for wrong in [([["a", []]], [[["a"]]]), (["text"], [[["a"]]]), ([["a"]], [[]])]:
        with pytest.raises((TypeError, ValueError), match="sentence"):
            metric.update(wrong)
    assert_same(_value(metric, TOKENS[1:]), _value(ours.Bleu(average=average), TOKENS))


@each_average
def test_reset_forgets(average: str):
    metric = ours.Bleu(average=average)
    value = _value(metric, TOKENS)
    kept = float(value)
    metric.reset()
    assert_same(_value(metric, TOKENS[:1]), _value(ours.Bleu(average=average), TOKENS[:1]))
    assert float(value) == kept


# Ids


def _ids(tokens: Sequence[str]) -> list[int]:
    return [VOCABULARY.setdefault(token, len(VOCABULARY)) for token in tokens]


def _padded(sentences: Sequence[Sequence[int]], pad_id: int, width: int = 9) -> torch.Tensor:
    return torch.tensor([[*one, *[pad_id] * (width - len(one))] for one in sentences])


def _as_ids(batch: Batch) -> tuple[list[list[int]], list[list[list[int]]]]:
    y_pred, y = batch
    return [_ids(one) for one in y_pred], [[_ids(one) for one in several] for several in y]


@each_average
def test_ids_count_as_their_tokens_in_every_form(average: str):
    expected = _value(ours.Bleu(2, average=average), TOKENS)
    lists = [_as_ids(batch) for batch in TOKENS]
    assert_same(_value(ours.Bleu(2, average=average), lists), expected)

    tensors = [
        ([torch.tensor(one) for one in y_pred], [[torch.tensor(one) for one in several] for several in y])
        for y_pred, y in lists
    ]
    assert_same(_value(ours.Bleu(2, average=average), tensors), expected)

    padded = []
    for y_pred, y in lists:
        widest = max(map(len, y))
        rows = [one for several in y for one in (*several, *[[]] * (widest - len(several)))]
        padded.append((_padded(y_pred, -1), _padded(rows, -100).reshape(len(y), widest, -1)))
    assert_same(_value(ours.Bleu(2, average=average, pad_id=(-1, -100)), padded), expected)


@each_average
def test_lists_of_tensors_are_not_unrolled(average: str):
    """By default ignite hands a metric the pairs of (list of tensors, list of tensors) one by one, batched."""
    lists = [_as_ids((y_pred, [several[:1] for several in y])) for y_pred, y in TOKENS]
    expected = _value(ours.Bleu(2, average=average), lists)
    outputs = [([torch.tensor(one) for one in y_pred], [torch.tensor(one) for (one,) in y]) for y_pred, y in lists]
    assert _run(ours.Bleu(2, average=average), outputs) == pytest.approx(float(expected), abs=1e-12)


@each_average
def test_padded_tensors_through_an_engine(average: str):
    lists = [_as_ids((y_pred, [several[:1] for several in y])) for y_pred, y in TOKENS]
    expected = _value(ours.Bleu(2, average=average), lists)
    outputs = [(_padded(y_pred, -1), _padded([one for (one,) in y], -1)) for y_pred, y in lists]
    assert _run(ours.Bleu(2, average=average, pad_id=-1), outputs) == pytest.approx(float(expected), abs=1e-12)


def test_padded_tensors_need_pad_id():
    with pytest.raises(ValueError, match="a padded tensor of ids needs pad_id"):
        ours.Bleu().update((torch.ones(2, 3, dtype=torch.long), torch.ones(2, 3, dtype=torch.long)))


# In an engine


@pytest.mark.parametrize(
    "usage",
    [EpochWise(), BatchWise(), RunningEpochWise(), RunningBatchWise(), SingleEpochRunningBatchWise(), "batch_wise"],
    ids=lambda usage: usage if isinstance(usage, str) else type(usage).__name__,
)
@each_average
def test_every_usage_gives_what_ignite_gives(usage: Any, average: str):
    seen: list[list[float]] = []
    for one in (ours.Bleu, peers.Bleu):
        metric, engine, values = one(2, "smooth1", average=average), Engine(_echo), []
        metric.attach(engine, "bleu", usage=usage)
        assert metric.is_attached(engine, usage=usage)
        for event in (Events.ITERATION_COMPLETED, Events.EPOCH_COMPLETED):
            engine.add_event_handler(event, lambda engine, to=values: to.append(engine.state.metrics.get("bleu")))
        values.append(engine.run(TOKENS, max_epochs=2).metrics["bleu"])
        seen.append(values)
    mine, theirs = seen
    assert [value is None for value in mine] == [value is None for value in theirs]
    assert {type(value) for value in mine} <= {float, type(None)}
    mine, theirs = ([value for value in values if value is not None] for values in (mine, theirs))
    assert mine
    assert mine == pytest.approx(theirs, abs=1e-12)


@each_average
def test_every_epoch_begins_anew(average: str):
    expected = float(_value(ours.Bleu(average=average, smooth="smooth2"), TOKENS))
    values = []
    engine = Engine(_echo)
    ours.Bleu(average=average, smooth="smooth2").attach(engine, "bleu")
    engine.add_event_handler(Events.EPOCH_COMPLETED, lambda engine: values.append(engine.state.metrics["bleu"]))
    engine.run(TOKENS, max_epochs=3)
    assert values == [expected] * 3


@each_average
def test_outputs_as_a_dict(average: str):
    expected = float(_value(ours.Bleu(average=average), TOKENS))
    outputs = [{"y_pred": y_pred, "y": y, "loss": 1.0} for y_pred, y in TOKENS]
    assert _run(ours.Bleu(average=average), outputs) == expected
    for outputs in ([{"y": TOKENS[0][1]}], [{"y_pred": TOKENS[0][0]}]):
        assert _error(lambda o=outputs: _run(ours.Bleu(), o)) == _error(lambda o=outputs: _run(peers.Bleu(), o))


@each_average
def test_output_transform(average: str):
    expected = float(_value(ours.Bleu(average=average), TOKENS))
    outputs = [{"loss": 1.0, "words": batch} for batch in TOKENS]
    assert _run(ours.Bleu(average=average, output_transform=lambda output: output["words"]), outputs) == expected


@each_average
def test_detach(average: str):
    engine, metric = Engine(_echo), ours.Bleu(average=average)
    metric.attach(engine, "bleu")
    metric.detach(engine)
    assert not metric.is_attached(engine)
    assert "bleu" not in engine.run(TOKENS).metrics


@each_average
def test_arithmetic(average: str):
    value = float(_value(ours.Bleu(average=average), TOKENS))
    longer = float(_value(ours.Bleu(1, average=average), TOKENS))
    bleu, unigrams = ours.Bleu(average=average), ours.Bleu(1, average=average)
    assert value > 0
    assert _run(bleu * 100, TOKENS) == pytest.approx(100 * value, abs=1e-12)
    assert _run(1 - (bleu + unigrams) / 2, TOKENS, epochs=2) == pytest.approx(1 - (value + longer) / 2, abs=1e-12)


@each_average
def test_running_average(average: str):
    mine, theirs = (
        _run(RunningAverage(one(2, "smooth1", average=average), alpha=0.5), TOKENS, epochs=2)
        for one in (ours.Bleu, peers.Bleu)
    )
    assert mine == pytest.approx(theirs, abs=1e-12)
    assert 0 < mine < 1


def test_a_group_of_metrics():
    group = MetricGroup({"macro": ours.Bleu(2), "micro": ours.Bleu(2, average="micro")})
    engine = Engine(_echo)
    group.attach(engine, "group")
    metrics = engine.run(TOKENS).metrics
    for average in AVERAGES:
        expected = float(_value(ours.Bleu(2, average=average), TOKENS))
        assert float(metrics[average]) == pytest.approx(expected, abs=1e-12)


def test_the_words_of_ignite_on_usages():
    for usage in ("unknown", 1):
        mine, theirs = (
            _error(lambda m=metric, u=usage: m.attach(Engine(_echo), "bleu", usage=u))
            for metric in (ours.Bleu(), peers.Bleu())
        )
        assert mine == theirs


# state_dict


@each_average
def test_a_state_dict_holds_the_counts_of_each_rank(average: str):
    metric = ours.Bleu(2, average=average)
    for batch in TOKENS[:2]:
        metric.update(batch)
    saved = metric.state_dict()
    assert list(saved) == list(peers.Bleu().state_dict())
    ((of_rank,),) = saved.values()
    assert set(of_rank) == set(metric._accumulator.metric_state) - {"callables"}

    metric.update(TOKENS[2])
    metric.reset()
    loaded = ours.Bleu(2, average=average)
    loaded.update(TOKENS[2])
    loaded.load_state_dict(saved)
    assert_same(loaded.compute(), _value(ours.Bleu(2, average=average), TOKENS[:2]))
    assert_same(_value(loaded, TOKENS[2:]), _value(ours.Bleu(2, average=average), TOKENS))
    again = ours.Bleu(2, average=average)
    again.load_state_dict(saved)
    assert_same(again.compute(), _value(ours.Bleu(2, average=average), TOKENS[:2]))


@pytest.mark.parametrize("saved", [1, [1], {}, {"a": 1}, {"a": 1, "b": 2}], ids=str)
def test_a_wrong_state_dict_gets_the_words_of_ignite(saved: Any):
    mine, theirs = (_error(lambda m=metric: m.load_state_dict(saved)) for metric in (ours.Bleu(), peers.Bleu()))
    assert mine == theirs


@pytest.mark.parametrize("ranks", [0, 2])
def test_a_state_dict_of_another_world_size_gets_the_words_of_ignite(ranks: int):
    errors = []
    for metric in (ours.Bleu(), peers.Bleu()):
        metric.update(TOKENS[0])
        before = metric.compute()
        saved = {key: list(of_ranks) * ranks for key, of_ranks in metric.state_dict().items()}
        errors.append(_error(lambda m=metric, s=saved: m.load_state_dict(s)))
        assert_same(metric.compute(), before)
    assert errors[0] == errors[1]
    assert "world_size" in errors[0][1]


@each_average
def test_a_checkpoint_handler_saves_and_restores(average: str, tmp_path: Path):
    """As in an epoch that is interrupted: the running metric goes on from where it was saved."""
    engine, metric = Engine(_echo), ours.Bleu(2, average=average)
    metric.attach(engine, "bleu")
    handler = Checkpoint({"engine": engine, "bleu": metric}, DiskSaver(str(tmp_path)), n_saved=1)
    engine.add_event_handler(Events.ITERATION_COMPLETED(once=2), handler)
    engine.run(TOKENS)

    restored = ours.Bleu(2, average=average)
    checkpoint = torch.load(tmp_path / handler.last_checkpoint, weights_only=True)
    Checkpoint.load_objects({"bleu": restored}, checkpoint={"bleu": checkpoint["bleu"]})
    assert_same(restored.compute(), _value(ours.Bleu(2, average=average), TOKENS[:2]))
    assert_same(_value(restored, TOKENS[2:]), _value(ours.Bleu(2, average=average), TOKENS))


@each_average
def test_a_running_average_is_saved_and_restored(average: str):
    metric = RunningAverage(ours.Bleu(2, average=average))
    engine = Engine(_echo)
    metric.attach(engine, "bleu")
    expected = engine.run(TOKENS).metrics["bleu"]
    restored = RunningAverage(ours.Bleu(2, average=average))
    restored.load_state_dict(metric.state_dict())
    assert float(restored._value) == expected


@each_average
def test_a_copy_is_independent(average: str):
    metric = ours.Bleu(2, average=average)
    metric.update(TOKENS[0])
    twin = copy.deepcopy(metric)
    metric.reset()
    assert_same(_value(twin, TOKENS[1:]), _value(ours.Bleu(2, average=average), TOKENS))


# Devices and dtypes


@each_average
def test_autocast_and_the_default_dtype_change_nothing(average: str):
    expected = _value(ours.Bleu(average=average, smooth="smooth1"), TOKENS)
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.autocast("cpu", torch.bfloat16), torch.inference_mode():
            value = _value(ours.Bleu(average=average, smooth="smooth1"), TOKENS)
    finally:
        torch.set_default_dtype(default)
    assert_same(value, expected)


@pytest.mark.parametrize("other", [{"average": "micro"}, {"ngram": 2}, {"smooth": "smooth1"}])
def test_a_state_of_other_settings_is_refused_and_changes_nothing(other):
    saved, metric = ours.Bleu(**other), ours.Bleu()
    for one in (saved, metric):
        one.update(([list("abcde")], [[list("abcdx")]]))
    before = metric.compute()
    with pytest.raises(ValueError, match="expected the same class, options and average"):
        metric.load_state_dict(saved.state_dict())
    assert metric.compute() == before
