"""What every metric for ignite does: the numbers of its torchmetrics class, in an engine and through its life."""

import copy
import inspect
import pickle
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from faces.cases import FACES, Case, Face, assert_same, assert_same_states, each_face, joined, states_of
from ignite.engine import Engine, Events
from ignite.exceptions import NotComputableError
from ignite.handlers import Checkpoint, DiskSaver
from ignite.metrics import MetricGroup, RunningAverage

import ngram_metrics
from ngram_metrics import ignite as ours

DROP_INS = ("Rouge", "RougeN", "RougeL")


def _echo(engine: Engine, batch: Any) -> Any:
    return batch


def _run(metric: Any, batches: Sequence[Any], epochs: int = 1) -> dict[str, Any]:
    engine = Engine(_echo)
    metric.attach(engine, "score")
    return engine.run(batches, max_epochs=epochs).metrics


def _assert_equal(value: Any, expected: Any) -> None:
    """Equal to 1e-12 and of the same types."""
    assert type(value) is type(expected)
    assert_same(value, expected)


def _in_an_engine(face: Face, value: Any) -> dict[str, Any]:
    """What an engine holds of a value by the name of `attach`."""
    if not isinstance(value, Mapping):
        return {"score": float(value) if isinstance(value, float) or value.dim() == 0 else value}
    if face.case is None:  # the keys are ignite's
        return {**value, "score": value}
    alone = {"Bleu": "bleu", "ChrF": "chrf", "NgramOverlap": "ngram_overlap", "Gleu": "gleu"}.get(face.face.__name__)
    if alone is None:
        return {**{f"score_{key}": one for key, one in value.items()}, "score": value}
    return {key.replace(alone, "score"): one for key, one in value.items()}


def _number(value: Any) -> float:
    return float(next(iter(value.values())) if isinstance(value, Mapping) else value)


each_face_of_one_number = pytest.mark.parametrize(
    "face",
    [
        pytest.param(face, id=face.name)
        for face in FACES
        if face.average != "none" and face.case is not None and not isinstance(face.value(), Mapping)
    ],
)


@pytest.mark.parametrize("name", [name for name in ours.__all__ if name not in (*DROP_INS, "Bleu")])
def test_the_parameters_are_those_of_the_torchmetrics_class(name: str):
    mine, theirs = (dict(inspect.signature(getattr(one, name)).parameters) for one in (ours, ngram_metrics))
    transform, device = mine.pop("output_transform"), mine.pop("device")
    for parameter in ("device", "kwargs"):
        theirs.pop(parameter)
    assert [(one.name, one.default) for one in mine.values()] == [(one.name, one.default) for one in theirs.values()]
    assert transform.default("anything") == "anything"
    assert torch.device(device.default) == torch.device("cpu")


@each_face
def test_the_value_is_that_of_the_torchmetrics_class(face: Face):
    for batches in (face.batches, [joined(face.batches)]):
        _assert_equal(face.filled(batches).compute(), face.value())


@each_face
def test_every_epoch_of_an_engine_ends_with_its_own_value(face: Face):
    values, engine, metric = [], Engine(_echo), face.make()
    metric.attach(engine, "score")
    engine.add_event_handler(Events.EPOCH_COMPLETED, lambda engine: values.append(dict(engine.state.metrics)))
    engine.run(face.batches, max_epochs=2)
    engine.run(face.batches[1:])
    whole = _in_an_engine(face, face.value())
    for value, expected in zip(values, (whole, whole, _in_an_engine(face, face.value(face.batches[1:]))), strict=True):
        assert set(value) == set(expected)
        for key, one in expected.items():
            _assert_equal(value[key], one)
    metric.detach(engine)
    assert not metric.is_attached(engine)


@each_face
def test_without_a_sentence_there_is_no_value(face: Face):
    emptied, nothing = face.filled(), face.make()
    emptied.reset()
    if face.case is not None:
        nothing.update(face.case.nothing)
    for metric in (face.make(), emptied, nothing):
        if face.face is ours.Bleu and face.average == "micro":
            _assert_equal(metric.compute(), 0.0)
            continue
        words = "Rouge metric must have at least one example before being computed"
        if face.case is not None:
            words = f"{face.face.__name__} must have at least one example before it can be computed"
        with pytest.raises(NotComputableError, match=words):
            metric.compute()


def test_without_a_sentence_micro_bleu_has_an_interval_of_zeros():
    assert ours.Bleu(average="micro", confidence=0.95).compute() == {"bleu": 0, "bleu_low": 0, "bleu_high": 0}


@each_face
def test_a_batch_that_is_refused_counts_nothing(face: Face):
    metric = face.filled(face.batches[:1])
    states = states_of(metric._accumulator)
    (y_pred, y), unequal = face.batches[0], "nb of candidates should be equal to nb of reference lists "
    for wrong, words in (
        ((y_pred, y[:1]), rf"{unequal}\({len(y_pred)} != 1\)"),
        ((y_pred[:0], y), rf"{unequal}\(0 != {len(y)}\)"),
        ((["a", ["b"]], ["a", "b"]), "sentence 1 is a list"),
        ((["a"], [[]]), "sentence 0 has no reference"),
        (([["a", []]], [[["a"]]]), "sentence 0"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            metric.update(wrong)
        assert_same_states(metric._accumulator, states)
    for arguments in (face.batches[0], ("text",), (None,)):
        with pytest.raises(TypeError, match=r"update takes one argument, a pair: expected metric\.update"):
            metric.update(*arguments)
    for batch in face.batches[1:]:
        metric.update(batch)
    _assert_equal(metric.compute(), face.value())


def _saved_and_loaded(face: Face, metric: Any, folder: Path) -> Any:
    loaded = face.filled(face.batches[2:])  # what it has counted is forgotten
    loaded.load_state_dict(metric.state_dict())
    return loaded


def _of_a_checkpoint(face: Face, metric: Any, folder: Path) -> Any:
    """As in an epoch that is interrupted, after the first two batches."""
    engine, attached, restored = Engine(_echo), face.make(), face.make()
    attached.attach(engine, "score")
    handler = Checkpoint({"engine": engine, "score": attached}, DiskSaver(str(folder)), n_saved=1)
    engine.add_event_handler(Events.ITERATION_COMPLETED(once=2), handler)
    engine.run(face.batches)
    checkpoint = torch.load(folder / handler.last_checkpoint, weights_only=True)
    Checkpoint.load_objects({"score": restored}, checkpoint={"score": checkpoint["score"]})
    return restored


@pytest.mark.parametrize(
    "copied",
    [
        _saved_and_loaded,
        _of_a_checkpoint,
        lambda face, metric, folder: copy.deepcopy(metric),
        lambda face, metric, folder: pickle.loads(pickle.dumps(metric)),
    ],
    ids=["state_dict", "checkpoint", "copy", "pickle"],
)
@each_face
def test_what_is_saved_or_copied_goes_on_by_itself(face: Face, copied: Callable[..., Any], tmp_path: Path):
    metric = face.filled(face.batches[:2])
    saved = metric.state_dict()
    twin = copied(face, metric, tmp_path)
    metric.reset()
    _assert_equal(twin.compute(), face.value(face.batches[:2]))
    assert twin.signature == face.filled(face.batches[:2]).signature
    twin.update(face.batches[2])
    _assert_equal(twin.compute(), face.value())
    assert int(metric._accumulator.sentences) == 0
    ((of_rank,),) = saved.values()
    assert set(of_rank) == set(metric._accumulator.metric_state) - {"callables"}
    metric.load_state_dict(saved)  # the snapshot is as it was
    _assert_equal(metric.compute(), face.value(face.batches[:2]))


@each_face
def test_a_state_of_other_settings_or_shapes_is_refused_and_sets_nothing(face: Face):
    metric = face.filled(face.batches[:1])
    states = states_of(metric._accumulator)
    others = [face.filled(**change) for change in face.others]
    others += [other.filled() for other in FACES if other.batches is face.batches and other is not face]
    for other in others:
        with pytest.raises(ValueError, match="expected the same class, options and average"):
            metric.load_state_dict(other.state_dict())
        assert_same_states(metric._accumulator, states)
    saved = face.filled().state_dict()
    ((of_rank,),) = saved.values()
    of_rank["row"] = torch.zeros(99, dtype=of_rank["row"].dtype)
    with pytest.raises(ValueError, match=r"the saved state row is torch\.\w+ of shape \(99,\): expected"):
        metric.load_state_dict(saved)
    assert_same_states(metric._accumulator, states)


@pytest.mark.usefixtures("surroundings")
@each_face
def test_the_surroundings_of_a_training_loop_change_nothing(face: Face):
    metric = face.make()
    for batch in face.batches:
        metric.update(batch)
    value = metric.compute()
    with torch.inference_mode(False), torch.autocast("cpu", enabled=False), torch.device("cpu"):
        default, _ = torch.get_default_dtype(), torch.set_default_dtype(torch.float32)
        expected = face.value()
        torch.set_default_dtype(default)
        _assert_equal(value, expected)


@pytest.mark.parametrize(
    "face", [face for face in FACES if isinstance(face.batches[0][0], torch.Tensor)], ids=lambda face: face.name
)
def test_lists_of_tensors_are_not_unrolled(face: Face):
    """By default ignite hands a metric the pairs of (list of tensors, list of tensors) one by one, batched."""
    if face.batches[0][0].dim() == 3:
        return
    firsts = [(y_pred, y[:, 0]) for y_pred, y in face.batches]
    expected = _run(face.make(), firsts)
    assert_same(_run(face.make(), [(list(y_pred), list(y)) for y_pred, y in firsts]), expected)


@each_face
def test_outputs_by_name_and_transformed(face: Face):
    expected = _in_an_engine(face, face.value())
    named = [{"y": y, "y_pred": y_pred, "loss": 1.0} for y_pred, y in face.batches]
    assert_same(_run(face.make(), named), expected)
    metric = face.make(output_transform=lambda output: (output["out"], output["gold"]))
    assert_same(_run(metric, [{"out": y_pred, "gold": y, "loss": 1.0} for y_pred, y in face.batches]), expected)


@each_face_of_one_number
def test_what_ignite_makes_of_metrics(face: Face):
    """Arithmetic, groups and running averages, which are saved as well."""
    value = float(face.value())
    assert _run(100 * face.make() - 1, face.batches, epochs=2)["score"] == pytest.approx(100 * value - 1, rel=1e-12)
    assert _run((face.make() + face.make()) / 2, face.batches)["score"] == pytest.approx(value, rel=1e-12)
    group = MetricGroup({"one": face.make(), "two": face.make()})
    metrics = _run(group, face.batches)
    assert [float(metrics["one"]), float(metrics["two"])] == pytest.approx([value] * 2, rel=1e-12)
    each = [float(face.value([batch])) for batch in face.batches]
    running = RunningAverage(face.make(), alpha=0.5)
    expected = each[0] / 4 + each[1] / 4 + each[2] / 2
    assert _run(running, face.batches)["score"] == pytest.approx(expected, rel=1e-12)
    restored = RunningAverage(face.make(), alpha=0.5)
    restored.load_state_dict(running.state_dict())
    assert float(restored._value) == pytest.approx(expected, rel=1e-12)


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
        ("ROUGEScore", {"rouge_keys": "rouge0"}, r"unknown rouge key 'rouge0': expected one of \['rouge1', .*'rougeLs"),
        ("ROUGEScore", {"rouge_keys": []}, "no rouge key: expected some of"),
        ("ROUGEScore", {"accumulate": "sum"}, r"unknown accumulate 'sum': expected one of \['best', 'avg'\]"),
        ("ROUGEScore", {"average": "mean"}, r"unknown average 'mean': expected one of \['micro', 'macro', 'none'\]"),
        ("ROUGEScore", {"accumulate": "avg", "average": "micro"}, "expected average 'macro' or 'none'"),
        ("ROUGEScore", {"tokenizer": "words"}, "unknown tokenizer 'words'"),
        *((name, {"confidence": 95}, r"confidence must lie between 0 and 1.* \(got: 95\)") for name in ours.__all__),
    ],
)
def test_a_setting_out_of_its_range_is_refused_at_once_by_both_classes(name: str, options: dict[str, Any], words: str):
    for module in (ours, ngram_metrics):
        if name not in DROP_INS:
            with pytest.raises(ValueError, match=words):
                getattr(module, name)(**options)


@pytest.mark.parametrize("confidence", [None, 0.9])
def test_two_metrics_of_one_class_keep_their_values(confidence: float | None):
    engine, batch = Engine(_echo), FACES[0].batches[0]
    first, second = ours.ChrF(), ours.ChrF(word_order=2, confidence=confidence)
    first.attach(engine, "chrf")
    second.attach(engine, "chrfpp")
    metrics = engine.run([batch]).metrics
    second.reset()
    second.update(batch)
    value = second.compute()
    named = (
        {"chrfpp": value} if confidence is None else {f"chrfpp{k.removeprefix('chrf')}": v for k, v in value.items()}
    )
    assert metrics == {"chrf": metrics["chrf"], **named}
    first.reset()
    first.update(batch)
    assert metrics["chrf"] == first.compute()


@pytest.mark.parametrize("usages", [("epoch_wise", "batch_wise"), ("batch_wise", "epoch_wise")])
def test_drop_ins_warn_where_they_share_a_key_at_different_times(usages):
    engine = Engine(_echo)
    ours.Rouge().attach(engine, "first", usage=usages[0])
    with pytest.warns(UserWarning, match="both write"):
        ours.Rouge(alpha=1).attach(engine, "second", usage=usages[1])


def test_drop_ins_warn_where_they_share_a_key():
    engine = Engine(_echo)
    first = ours.Rouge(variants=[1, "L"])
    first.attach(engine, "rouge")
    with pytest.warns(UserWarning, match=r"both write \['Rouge-1-P', 'Rouge-1-R', 'Rouge-1-F'\]"):
        ours.RougeN(1).attach(engine, "rouge1")


def test_drop_ins_do_not_warn_without_a_cause():
    engine, first = Engine(_echo), ours.RougeN(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first.attach(engine, "rouge1")
        ours.RougeN(2).attach(engine, "rouge2")
        first.attach(engine, "again")
        first.detach(engine)
        ours.RougeN(1).attach(engine, "rouge1")
        ours.RougeN(1).attach(Engine(_echo), "rouge1")


@pytest.mark.cuda
@each_face
def test_on_cuda(face: Face):
    case: Case | None = face.case
    metric = face.make(device="cuda")
    for y_pred, y in face.batches:
        metric.update((y_pred.cuda(), y.cuda()) if isinstance(y_pred, torch.Tensor) else (y_pred, y))
    value = metric.compute()
    if face.average == "none" and case is not None:
        tensors = value.values() if isinstance(value, Mapping) else [value]
        assert {one.device.type for one in tensors} == {"cuda"}
        value = {k: v.cpu() for k, v in value.items()} if isinstance(value, Mapping) else value.cpu()
    assert_same(value, face.value())
