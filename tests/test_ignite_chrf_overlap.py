"""ChrF and NgramOverlap on an ignite engine give what the torchmetrics faces give."""

import copy
import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from faces.cases import IDS, TEXT, Batch, assert_same
from ignite.engine import Engine, Events
from ignite.exceptions import NotComputableError
from ignite.handlers import Checkpoint, DiskSaver
from ignite.metrics import MetricGroup, RunningAverage

import ngram_metrics
from ngram_metrics import ignite as ours

NAMES = ["ChrF", "NgramOverlap"]
AVERAGES = ["micro", "macro", "none"]
PADDING = {"pad_id": (0, -100)}

TOKENS: tuple[Batch, ...] = tuple(
    ([one.split() for one in preds], [[one.split() for one in several] for several in target]) for preds, target in TEXT
)
ROWS: tuple[Batch, ...] = tuple(
    ([row[row > 0] for row in preds], [[row[row > 0] for row in several if (row > 0).any()] for several in target])
    for preds, target in IDS
)

CASES = [
    pytest.param("ChrF", {}, TEXT, id="ChrF"),
    pytest.param("ChrF", {"word_order": 2, "lowercase": True, "whitespace": True}, TEXT, id="ChrF++"),
    pytest.param("ChrF", {"char_order": 3, "beta": 1, "eps_smoothing": True, **PADDING}, IDS, id="ChrF-padded"),
    pytest.param("ChrF", {"char_order": 2}, ROWS, id="ChrF-ids"),
    pytest.param("NgramOverlap", {}, TEXT, id="NgramOverlap"),
    pytest.param("NgramOverlap", {"ngram": 2, "tokenizer": "13a"}, TEXT, id="NgramOverlap-13a"),
    pytest.param("NgramOverlap", {"ngram": 2}, TOKENS, id="NgramOverlap-tokens"),
    pytest.param("NgramOverlap", {"ngram": 2}, ROWS, id="NgramOverlap-ids"),
    pytest.param("NgramOverlap", {"ngram": 3, **PADDING}, IDS, id="NgramOverlap-padded"),
]
each_case = pytest.mark.parametrize(("name", "options", "batches"), CASES)
each_name = pytest.mark.parametrize("name", NAMES)
each_average = pytest.mark.parametrize("average", AVERAGES)


def _echo(engine: Engine, batch: Any) -> Any:
    return batch


def _face(name: str, **options: Any) -> Any:
    return getattr(ours, name)(**options)


def _value(metric: Any, batches: Sequence[Batch]) -> Any:
    for batch in batches:
        metric.update(batch)
    return metric.compute()


def _expected(name: str, batches: Sequence[Batch], **options: Any) -> Any:
    """What the torchmetrics face computes: for one number a float, as ignite's metrics do."""
    metric = getattr(ngram_metrics, name)(**options)
    for batch in batches:
        metric.update(*batch)
    value = metric.compute()
    return value if options.get("average") == "none" else value.item()


def _numbers(value: Any) -> list[float]:
    return value.tolist() if isinstance(value, torch.Tensor) else [value]


def _close(expected: Any) -> Any:
    return pytest.approx(_numbers(expected), rel=1e-12)


def _run(metric: Any, batches: Sequence[Any], epochs: int = 1) -> Any:
    engine = Engine(_echo)
    metric.attach(engine, "score")
    return engine.run(batches, max_epochs=epochs).metrics["score"]


@each_name
def test_the_parameters_are_those_of_torchmetrics_face(name):
    mine = dict(inspect.signature(getattr(ours, name)).parameters)
    theirs = dict(inspect.signature(getattr(ngram_metrics, name)).parameters)
    theirs.pop("kwargs")
    transform, device = mine.pop("output_transform"), mine.pop("device")
    theirs.pop("device")
    assert list(mine) == list(theirs)
    assert [one.default for one in mine.values()] == [one.default for one in theirs.values()]
    assert transform.default("anything") == "anything"
    assert torch.device(device.default) == torch.device("cpu")


@each_case
@each_average
def test_the_value_of_the_torchmetrics_face(name, options, batches, average):
    value = _value(_face(name, average=average, **options), batches)
    expected = _expected(name, batches, average=average, **options)
    assert type(value) is type(expected)
    if average == "none":
        assert_same(value, expected)
        assert value.shape == (6,)
    else:
        assert value == pytest.approx(expected, rel=1e-12)
        assert 0 < value < 1


@each_name
def test_the_default_average_is_that_of_the_torchmetrics_face(name):
    expected = {average: _expected(name, TEXT, average=average) for average in ("micro", "macro")}
    assert abs(expected["micro"] - expected["macro"]) > 1e-3
    chosen = {"ChrF": "micro", "NgramOverlap": "macro"}[name]
    assert _value(_face(name), TEXT) == pytest.approx(expected[chosen], rel=1e-12)


@each_average
def test_samples_are_those_of_the_torchmetrics_face(average):
    preds = torch.tensor([[[1, 2, 3], [2, 3, 0]], [[4, 0, 0], [4, 5, 6]]])
    target = torch.tensor([[[1, 2, 3], [0, 0, 0]], [[5, 6, 0], [4, 4, 4]]])
    options = {"average": average, "pad_id": 0}
    value = _value(_face("NgramOverlap", **options), [(preds, target)] * 2)
    expected = _expected("NgramOverlap", [(preds, target)] * 2, **options)
    if average == "none":
        assert_same(value, expected)
        assert value.shape == (4, 2)
    else:
        assert value == pytest.approx(expected, rel=1e-12)


@each_name
@each_average
def test_compute_before_data_raises_and_the_torchmetrics_face_warns(name, average):
    for metric in (_face(name, average=average), _face(name, average=average)):
        with pytest.raises(
            NotComputableError, match=f"{name} must have at least one example before it can be computed"
        ):
            metric.compute()
    used = _face(name, average=average)
    used.update(TEXT[0])
    used.reset()
    used.update(([], []))
    with pytest.raises(NotComputableError, match="must have at least one example"):
        used.compute()
    peer = getattr(ngram_metrics, name)(average=average)
    with pytest.warns(UserWarning, match="was called before the ``update`` method"):
        value = peer.compute()
    assert_same(value, torch.zeros((0,) if average == "none" else (), dtype=torch.float64))


@each_case
@each_average
def test_attached_to_an_engine(name, options, batches, average):
    expected = _expected(name, batches, average=average, **options)
    metric = _face(name, average=average, **options)
    for value in (_run(metric, batches), _run(metric, batches, epochs=2)):
        if average == "none":
            assert_same(value, expected)
        else:
            assert isinstance(value, float)
            assert value == pytest.approx(expected, rel=1e-12)


@each_name
def test_lists_of_tensors_are_one_batch(name):
    """ignite would hand over (list of tensors, list of tensors) pair by pair."""
    batches = [(preds, [several[0] for several in target]) for preds, target in ROWS]
    expected = _expected(name, batches, average="none")
    assert_same(_run(_face(name, average="none"), batches), expected)


@each_name
def test_output_transform_and_named_outputs(name):
    expected = _expected(name, TEXT, average="macro")
    transform = {"output_transform": lambda output: (output["out"], output["gold"])}
    batches = [{"out": preds, "gold": target, "loss": 1.0} for preds, target in TEXT]
    assert _run(_face(name, average="macro", **transform), batches) == pytest.approx(expected, rel=1e-12)
    named = [{"y": target, "y_pred": preds} for preds, target in TEXT]
    assert _run(_face(name, average="macro"), named) == pytest.approx(expected, rel=1e-12)


@each_name
@each_average
def test_epochs_do_not_leak_into_each_other(name, average):
    metric, engine = _face(name, average=average), Engine(_echo)
    metric.attach(engine, "score")
    engine.run(TEXT)
    value = engine.run(TEXT[1:]).metrics["score"]
    assert _numbers(value) == _close(_expected(name, TEXT[1:], average=average))


@each_name
def test_with_what_ignite_makes_of_metrics(name):
    options = [{"average": "micro"}, {"average": "macro"}]
    values = [_expected(name, TEXT, **one) for one in options]
    group = MetricGroup({one["average"]: _face(name, **one) for one in options})
    engine = Engine(_echo)
    group.attach(engine, "group")
    metrics = engine.run(TEXT).metrics
    assert [metrics["micro"], metrics["macro"]] == pytest.approx(values, rel=1e-12)
    half = (_face(name, **options[0]) + _face(name, **options[1])) / 2
    assert _run(half, TEXT) == pytest.approx(sum(values) / 2, rel=1e-12)
    each = [_expected(name, [batch], average="macro") for batch in TEXT]
    running = _run(RunningAverage(_face(name, average="macro"), alpha=0.5), TEXT)
    assert running == pytest.approx(each[0] / 4 + each[1] / 4 + each[2] / 2, rel=1e-12)


@each_name
@each_average
def test_a_checkpoint_handler_saves_and_restores(name, average, tmp_path: Path):
    engine, metric = Engine(_echo), _face(name, average=average)
    metric.attach(engine, "score")
    handler = Checkpoint({"engine": engine, "score": metric}, DiskSaver(str(tmp_path)), n_saved=1)
    engine.add_event_handler(Events.ITERATION_COMPLETED(once=2), handler)
    engine.run(TEXT)
    restored = _face(name, average=average)
    checkpoint = torch.load(tmp_path / handler.last_checkpoint, weights_only=True)
    Checkpoint.load_objects({"score": restored}, checkpoint={"score": checkpoint["score"]})
    for value, batches in ((restored.compute(), TEXT[:2]), (_value(restored, TEXT[2:]), TEXT)):
        assert _numbers(value) == _close(_expected(name, batches, average=average))


@each_name
@each_average
def test_a_copy_is_independent(name, average):
    metric = _face(name, average=average)
    metric.update(TEXT[0])
    twin = copy.deepcopy(metric)
    metric.reset()
    assert _numbers(_value(twin, TEXT[1:])) == _close(_expected(name, TEXT, average=average))


@each_name
@each_average
def test_a_batch_that_is_refused_counts_nothing(name, average):
    metric = _face(name, average=average)
    metric.update(TEXT[0])
    for wrong, words in (
        ((TEXT[1][0], []), r"nb of candidates should be equal to nb of reference lists \(1 != 0\)"),
        ((["a", ["b"]], ["a", "b"]), "sentence 1 is a list"),
        ((["a"], [[]]), "sentence 0 has no reference"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            metric.update(wrong)
    assert _numbers(_value(metric, TEXT[1:])) == _close(_expected(name, TEXT, average=average))


@pytest.mark.usefixtures("surroundings")
@each_name
@each_average
def test_the_surroundings_of_a_training_loop_change_nothing(name, average):
    value = _value(_face(name, average=average), TEXT)
    if average == "none":
        assert (value.dtype, value.device.type) == (torch.float64, "cpu")
    with torch.device("cpu"):
        assert _numbers(value) == _close(_expected(name, TEXT, average=average))


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("ChrF", {"char_order": -1}, r"char_order must be at least 0 \(got: -1\)"),
        ("ChrF", {"char_order": 0}, "char_order and word_order are both 0"),
        ("ChrF", {"beta": -1}, r"beta must be at least 0 and finite \(got: -1\)"),
        ("ChrF", {"average": "mean"}, "unknown average 'mean': expected one of"),
        ("NgramOverlap", {"ngram": 0}, r"ngram order must be greater than zero \(got: 0\)"),
        ("NgramOverlap", {"average": None}, "unknown average None: expected one of"),
        ("NgramOverlap", {"tokenizer": "words"}, "unknown tokenizer 'words': expected one of"),
    ],
)
def test_a_setting_out_of_its_range_is_refused_at_once_by_both_faces(name, options, words):
    for module in (ours, ngram_metrics):
        with pytest.raises(ValueError, match=words):
            getattr(module, name)(**options)


@pytest.mark.cuda
@each_name
@each_average
def test_on_cuda(name, average):
    options = {"average": average, **PADDING}
    value = _value(_face(name, device="cuda", **options), [tuple(one.cuda() for one in batch) for batch in IDS])
    if average == "none":
        assert value.device.type == "cuda"
    assert _numbers(value) == pytest.approx(_numbers(_expected(name, IDS, **options)), rel=1e-9)
