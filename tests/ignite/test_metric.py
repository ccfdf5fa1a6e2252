"""What every metric for ignite does: the numbers of its torchmetrics class, in an engine and through its life."""

import copy
import functools
import inspect
import pickle
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from metrics.apis import COMPLETE, Api
from metrics.cases import assert_same, assert_same_states, states_of

pytest.importorskip("ignite", reason="the classes for ignite are tested")

from ignite.engine import Engine, Events
from ignite.exceptions import NotComputableError
from ignite.handlers import Checkpoint, DiskSaver
from ignite.metrics import RunningAverage
from metrics.ignite_cases import IGNITE_CASES, IgniteCase, each_ignite_case, each_kind_of_state

from ngram_metrics import Bleu
from ngram_metrics import ignite as ours
from ngram_metrics.ignite import drop_in


def assert_equal(value: Any, expected: Any) -> None:
    """Equal to 1e-12 and of the same types."""
    assert type(value) is type(expected)
    assert_same(value, expected)


def _assert_no_value(ignite_case: IgniteCase, metric: Any) -> None:
    words = "Rouge metric must have at least one example before being computed"
    if ignite_case.case is not None:
        words = f"{ignite_case.metric.__name__} must have at least one example before it can be computed"
    with pytest.raises(NotComputableError, match=words):
        metric.compute()


@each_ignite_case
def test_a_new_metric_has_no_value(ignite_case: IgniteCase):
    _assert_no_value(ignite_case, ignite_case.make())


@each_ignite_case
def test_a_metric_that_was_reset_has_no_value(ignite_case: IgniteCase):
    metric = ignite_case.filled()
    metric.reset()
    _assert_no_value(ignite_case, metric)


@each_ignite_case
def test_a_batch_without_segments_gives_no_value(ignite_case: IgniteCase):
    metric = ignite_case.make()
    y_pred, y = ignite_case.batches[0]
    metric.update((y_pred[:0], y[:0]))
    _assert_no_value(ignite_case, metric)


@each_ignite_case
def test_a_batch_that_is_refused_counts_nothing(ignite_case: IgniteCase):
    metric = ignite_case.filled(ignite_case.batches[:1])
    states = states_of(metric)
    y_pred, y = ignite_case.batches[0]
    unequal = "nb of candidates should be equal to nb of reference lists "
    for wrong, words in (
        ((y_pred, y[:1]), rf"{unequal}\({len(y_pred)} != 1\)"),
        ((y_pred[:0], y), rf"{unequal}\(0 != {len(y)}\)"),
        ((["a"], (text for text in "a")), "target is a generator: expected a sequence"),
        ((["a"], [[]]), "segment 0 has no reference"),
        ((["a", ["b"]], ["a", "b"]), "segment 1 is a list"),
        ((5, ["a"]), "preds is an int: expected a sequence"),
        (([["a", []]], [[["a"]]]), "segment 0"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            metric.update(wrong)
        assert_same_states(metric, states)


@each_ignite_case
def test_what_is_no_pair_is_refused(ignite_case: IgniteCase):
    y_pred, y = ignite_case.batches[0]
    for arguments in ((y_pred, y), ("text",), (None,), ({"y_pred": y_pred},)):
        with pytest.raises(TypeError, match=r"update takes one argument: expected metric\.update\(\(y_pred, y\)\), "):
            ignite_case.make().update(*arguments)


@each_ignite_case
def test_a_batch_may_be_a_dict(ignite_case: IgniteCase):
    metric = ignite_case.make()
    for y_pred, y in ignite_case.batches:
        metric.update({"y_pred": y_pred, "y": y})
    assert_equal(metric.compute(), ignite_case.value())


def _saved_and_loaded(ignite_case: IgniteCase, metric: Any, folder: Path) -> Any:
    loaded = ignite_case.filled(ignite_case.batches[2:])  # what it has counted is forgotten
    loaded.load_state_dict(metric.state_dict())
    return loaded


def _of_a_checkpoint(ignite_case: IgniteCase, metric: Any, folder: Path) -> Any:
    """As in an epoch that is interrupted, after the first two batches."""
    engine = Engine(lambda engine, batch: batch)
    attached = ignite_case.make()
    restored = ignite_case.make()
    attached.attach(engine, "score")
    handler = Checkpoint({"engine": engine, "score": attached}, DiskSaver(str(folder)), n_saved=1)
    engine.add_event_handler(Events.ITERATION_COMPLETED(once=2), handler)
    engine.run(ignite_case.batches)
    checkpoint = torch.load(folder / handler.last_checkpoint, weights_only=True)
    Checkpoint.load_objects({"score": restored}, checkpoint={"score": checkpoint["score"]})
    return restored


each_copy = pytest.mark.parametrize(
    "copied",
    [
        _saved_and_loaded,
        _of_a_checkpoint,
        lambda ignite_case, metric, folder: copy.deepcopy(metric),
        lambda ignite_case, metric, folder: pickle.loads(pickle.dumps(metric)),
    ],
    ids=["state_dict", "checkpoint", "copy", "pickle"],
)


@each_copy
@each_kind_of_state
def test_a_copy_holds_the_same(ignite_case: IgniteCase, copied: Callable[..., Any], tmp_path: Path):
    metric = ignite_case.filled(ignite_case.batches[:2])
    twin = copied(ignite_case, metric, tmp_path)
    assert_equal(twin.compute(), ignite_case.value(ignite_case.batches[:2]))
    assert twin.signature == metric.signature


@each_copy
@each_kind_of_state
def test_a_copy_goes_on_by_itself(ignite_case: IgniteCase, copied: Callable[..., Any], tmp_path: Path):
    metric = ignite_case.filled(ignite_case.batches[:2])
    twin = copied(ignite_case, metric, tmp_path)
    metric.reset()
    twin.update(ignite_case.batches[2])
    assert_equal(twin.compute(), ignite_case.value())
    assert metric.signature.startswith("nrefs:?|")


@each_kind_of_state
def test_a_state_dict_is_a_snapshot(ignite_case: IgniteCase):
    metric = ignite_case.filled(ignite_case.batches[:2])
    saved = metric.state_dict()
    metric.update(ignite_case.batches[2])
    metric.reset()
    metric.load_state_dict(saved)
    assert_equal(metric.compute(), ignite_case.value(ignite_case.batches[:2]))


@each_kind_of_state
def test_a_state_dict_has_the_counts_of_each_rank(ignite_case: IgniteCase):
    ((of_rank,),) = ignite_case.filled().state_dict().values()
    assert set(of_rank) == {"counts"}


@functools.cache
def _saved() -> dict[str, Any]:
    """The state of each case, by its name."""
    return {ignite_case.name: ignite_case.filled().state_dict() for ignite_case in IGNITE_CASES}


def _assert_state_refused(metric: Any, saved: dict[str, Any], words: str) -> None:
    """Refused with the words, and nothing is set."""
    states = states_of(metric)
    with pytest.raises(ValueError, match=words):
        metric.load_state_dict(saved)
    assert_same_states(metric, states)


@each_ignite_case
def test_a_state_of_other_settings_is_refused(ignite_case: IgniteCase):
    metric = ignite_case.filled(ignite_case.batches[:1])
    for change in ignite_case.others:
        saved = ignite_case.filled(**change).state_dict()
        _assert_state_refused(metric, saved, "expected the same class, options and average")


@each_ignite_case
def test_a_state_of_another_metric_is_refused(ignite_case: IgniteCase):
    metric = ignite_case.filled(ignite_case.batches[:1])
    for other in IGNITE_CASES:
        if other.batches is ignite_case.batches and other is not ignite_case:
            _assert_state_refused(metric, _saved()[other.name], "expected the same class, options and average")


@each_ignite_case
def test_a_state_of_another_length_is_refused(ignite_case: IgniteCase):
    saved = ignite_case.filled().state_dict()
    ((of_rank,),) = saved.values()
    of_rank["counts"] = of_rank["counts"][:-8]
    _assert_state_refused(ignite_case.make(), saved, r"packed counts have \d+ numbers: expected")


def test_a_state_without_the_row_of_a_segment_is_refused():
    metric = ours.ChrF(average="none")
    metric.update((["a b", "c d"], ["a b", "c e"]))
    saved = metric.state_dict()
    ((of_rank,),) = saved.values()
    of_rank["counts"] = of_rank["counts"][: -metric.segment_rows().shape[1]]
    _assert_state_refused(metric, saved, "the saved states have sums over 2 segments, but the counts of 1: expected")


def _echo(engine: Engine, batch: Any) -> Any:
    return batch


def _run(metric: Any, batches: Sequence[Any], epochs: int = 1) -> dict[str, Any]:
    engine = Engine(_echo)
    metric.attach(engine, "score")
    return engine.run(batches, max_epochs=epochs).metrics


def _in_an_engine(ignite_case: IgniteCase, value: Any) -> dict[str, Any]:
    """What an engine holds of a value by the name of `attach`."""
    if not isinstance(value, Mapping):
        return {"score": float(value) if isinstance(value, float) or value.dim() == 0 else value}
    if ignite_case.case is None:  # the keys are ignite's
        return {**value, "score": value}
    names = list(ignite_case.make().scorer.values)
    if len(names) > 1:
        return {**{f"score_{key}": one for key, one in value.items()}, "score": value}
    return {key.replace(names[0], "score"): one for key, one in value.items()}


def _assert_equal_metrics(metrics: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    assert set(metrics) == set(expected)
    for name, value in expected.items():
        assert_equal(metrics[name], value)


@each_ignite_case
def test_every_epoch_of_an_engine_ends_with_its_own_value(ignite_case: IgniteCase):
    engine = Engine(_echo)
    ignite_case.make().attach(engine, "score")
    of_epochs = []
    engine.add_event_handler(Events.EPOCH_COMPLETED, lambda engine: of_epochs.append(dict(engine.state.metrics)))
    engine.run(ignite_case.batches, max_epochs=2)
    engine.run(ignite_case.batches[1:])
    whole = _in_an_engine(ignite_case, ignite_case.value())
    of_the_rest = _in_an_engine(ignite_case, ignite_case.value(ignite_case.batches[1:]))
    for metrics, expected in zip(of_epochs, (whole, whole, of_the_rest), strict=True):
        _assert_equal_metrics(metrics, expected)


@each_ignite_case
def test_the_output_of_an_engine_is_transformed(ignite_case: IgniteCase):
    engine = Engine(lambda engine, batch: batch[::-1])
    metric = ignite_case.make(output_transform=lambda output: output[::-1])
    metric.attach(engine, "score")
    metrics = engine.run(ignite_case.batches).metrics
    _assert_equal_metrics(metrics, _in_an_engine(ignite_case, ignite_case.value()))


def test_a_metric_can_be_detached():
    engine = Engine(_echo)
    metric = ours.ChrF()
    metric.attach(engine, "score")
    metric.detach(engine)
    assert not metric.is_attached(engine)


@pytest.mark.parametrize("name", [*(api.metric.__name__ for api in COMPLETE), "Rouge", "RougeN", "RougeL"])
def test_lists_of_tensors_are_not_unrolled(name: str):
    """By default ignite hands a metric (list of tensors, list of tensors) pair by pair, as rows that need a pad_id."""
    ids = [[1, 2, 3, 4, 5], [6, 7]], [[1, 2, 3, 4, 6, 7], [6, 7, 8]]
    tensors = tuple([torch.tensor(document) for document in side] for side in ids)
    make = getattr(ours if name in ours.__all__ else drop_in, name)
    assert _run(make(), [tensors]) == _run(make(), [ids])


@pytest.mark.parametrize("metric", [ours.ROUGEScore(rouge_keys="rougeL"), drop_in.RougeL(), ours.ChrF(confidence=0.9)])
def test_a_metric_of_several_values_is_not_combined_and_one_of_them_is(metric: ours.ROUGEScore):
    first = next(iter(metric.scorer.values))
    words = rf"computes several values: combine one of them, such as metric\['{first}'\]"
    for combine in (lambda: metric * 100, lambda: 100 * metric, lambda: metric / 2, lambda: ours.ChrF() - metric):
        with pytest.raises(TypeError, match=words):
            combine()
    words = words.replace("combine", "average")
    with pytest.raises(TypeError, match=words):
        _run(RunningAverage(metric), [(["a b"], ["a c"])])
    percent = _run(100 * metric[first], [(["a b"], ["a c"])])["score"]
    assert percent == pytest.approx(100 * _run(RunningAverage(metric[first]), [(["a b"], ["a c"])])["score"])
    assert 0 < percent < 100


@pytest.mark.parametrize("usages", [("epoch_wise", "batch_wise"), ("batch_wise", "epoch_wise"), ("epoch_wise",) * 2])
def test_drop_ins_warn_where_they_share_a_key(usages):
    engine = Engine(_echo)
    first = drop_in.Rouge(variants=[1, "L"])
    first.attach(engine, "rouge", usage=usages[0])
    with pytest.warns(UserWarning, match=r"both write \['Rouge-1-P', 'Rouge-1-R', 'Rouge-1-F'\]"):
        drop_in.RougeN(1).attach(engine, "rouge1", usage=usages[1])


MODES = ["flatten", "named", "both"]


@pytest.mark.parametrize("mode", MODES)
def test_the_mode_decides_whether_values_come_one_by_one_or_as_a_dict(mode: str):
    batch = IGNITE_CASES[0].batches[0]
    for metric, name, flat in (
        (ours.ROUGEScore(rouge_keys="rougeL", metrics_result_mode=mode), "r", "r_rougeL_fmeasure"),
        (ours.ChrF(confidence=0.9, metrics_result_mode=mode), "c", "c_low"),
        (ours.Bleu(smooth="smooth2", confidence=0.9, metrics_result_mode=mode), "b", "b_low"),
    ):
        engine = Engine(_echo)
        metric.attach(engine, name)
        metrics = engine.run([batch]).metrics
        metric.reset()
        metric.update(batch)
        values = metric.compute()
        assert (flat in metrics) == (mode != "named")
        has_dict = mode == "named" or (mode == "both" and name == "r")  # else the name is that of the value
        assert metrics.get(name) == (values if has_dict else values.get({"c": "chrf", "b": "bleu"}.get(name)))
        assert len(metrics) == (1 if mode == "named" else len(values) + has_dict)


def test_a_mode_that_ignite_does_not_have_is_refused():
    with pytest.raises(ValueError, match=r"unknown metrics_result_mode 'flat': expected one of .*mean 'flatten'\?"):
        ours.ChrF(metrics_result_mode="flat")


@pytest.mark.parametrize("api", COMPLETE, ids=lambda api: api.name)
def test_the_signature_shows_the_options_of_the_namesake_by_keyword(api: Api):
    metric = getattr(ours, api.metric.__name__)
    parameters = list(inspect.signature(metric).parameters.values())
    assert [parameter.name for parameter in parameters[:3]] == ["output_transform", "device", "metrics_result_mode"]
    assert {parameter.kind for parameter in parameters[3:]} == {inspect.Parameter.KEYWORD_ONLY}
    defaults = {parameter.name: parameter.default for parameter in parameters[3:]}
    assert defaults == {**api.options, "confidence": None}


@pytest.mark.parametrize("api", COMPLETE, ids=lambda api: api.name)
@pytest.mark.parametrize(
    "arguments", [(4,), ("smooth1",), (ours.metric.unchanged, "cpu", "both", 4)], ids=["order", "name", "fourth"]
)
def test_an_option_by_position_is_an_error_that_names_the_drop_ins(api: Api, arguments: tuple[Any, ...]):
    name = api.metric.__name__
    words = (
        rf"^{name} was given .* by position: expected options by keyword, such as {name}\(average='macro'\)\. .*drop_in"
    )
    with pytest.raises(TypeError, match=words):
        getattr(ours, name)(*arguments)


def test_the_parameters_of_torchmetrics_are_unknown():
    with pytest.raises(TypeError, match=r"^Bleu: unknown argument sync_on_compute"):
        ours.Bleu(sync_on_compute=False)


@pytest.mark.parametrize("name", ["Rouge", "RougeN", "RougeL"])
def test_the_rouge_of_ignite_is_found_among_the_drop_ins(name: str):
    words = rf"^ngram_metrics\.ignite has no {name}: use ngram_metrics\.ignite\.drop_in\.{name}, which"
    with pytest.raises(ImportError, match=words):
        getattr(ours, name)
    assert hasattr(drop_in, name)
    assert not hasattr(ours, "Bleus")


def test_bleu_has_one_number_in_both_frameworks():
    """Also where the average of ignite's own would be 0."""
    batch = ["The cat sat.", "A dog ran home."], ["The cat sat down.", "A dog ran away."]
    for options in ({}, {"average": "macro"}, {"average": "none"}, {"tokenizer": "char"}):
        metric = ours.Bleu(**options)
        namesake = Bleu(**options)
        metric.update(batch)
        namesake.update(*batch)
        assert_same(torch.as_tensor(metric.compute(), dtype=torch.float64), namesake.compute())
