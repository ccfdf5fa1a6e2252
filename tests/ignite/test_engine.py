"""What an engine of ignite holds of every metric: by name, epoch after epoch, and where two share a key."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import torch
from ignite.engine import Engine, Events
from ignite.metrics import RunningAverage
from metrics.apis import COMPLETE
from metrics.ignite_cases import IGNITE_CASES, IgniteCase, assert_equal, each_ignite_case

from ngram_metrics import ignite as ours


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


@each_ignite_case
def test_every_epoch_of_an_engine_ends_with_its_own_value(ignite_case: IgniteCase):
    values, engine, metric = [], Engine(_echo), ignite_case.make()
    metric.attach(engine, "score")
    engine.add_event_handler(Events.EPOCH_COMPLETED, lambda engine: values.append(dict(engine.state.metrics)))
    engine.run(ignite_case.batches, max_epochs=2)
    engine.run(ignite_case.batches[1:])
    whole = _in_an_engine(ignite_case, ignite_case.value())
    for value, expected in zip(
        values, (whole, whole, _in_an_engine(ignite_case, ignite_case.value(ignite_case.batches[1:]))), strict=True
    ):
        assert set(value) == set(expected)
        for key, one in expected.items():
            assert_equal(value[key], one)
    metric.detach(engine)
    assert not metric.is_attached(engine)


@pytest.mark.parametrize("name", [*(api.metric.__name__ for api in COMPLETE), "Rouge", "RougeN", "RougeL"])
def test_lists_of_tensors_are_not_unrolled(name: str):
    """By default ignite hands a metric (list of tensors, list of tensors) pair by pair, as rows that need a pad_id."""
    ids = [[1, 2, 3, 4, 5], [6, 7]], [[1, 2, 3, 4, 6, 7], [6, 7, 8]]
    tensors = tuple([torch.tensor(document) for document in side] for side in ids)
    make = getattr(ours, name)
    assert _run(make(), [tensors]) == _run(make(), [ids])


@pytest.mark.parametrize("metric", [ours.ROUGEScore(rouge_keys="rougeL"), ours.RougeL(), ours.ChrF(confidence=0.9)])
def test_a_metric_of_several_values_is_not_combined_and_one_of_them_is(metric: ours.ROUGEScore):
    first = next(iter(metric.scorer.values))
    words = rf"computes several values: combine one of them, such as metric\['{first}'\]"
    for combine in (lambda: metric * 100, lambda: 100 * metric, lambda: metric / 2, lambda: ours.ChrF() - metric):
        with pytest.raises(TypeError, match=words):
            combine()
    percent = _run(100 * metric[first], [(["a b"], ["a c"])])["score"]
    assert percent == pytest.approx(100 * _run(RunningAverage(metric[first]), [(["a b"], ["a c"])])["score"])
    assert 0 < percent < 100


@pytest.mark.parametrize("usages", [("epoch_wise", "batch_wise"), ("batch_wise", "epoch_wise"), ("epoch_wise",) * 2])
def test_drop_ins_warn_where_they_share_a_key(usages):
    engine = Engine(_echo)
    first = ours.Rouge(variants=[1, "L"])
    first.attach(engine, "rouge", usage=usages[0])
    with pytest.warns(UserWarning, match=r"both write \['Rouge-1-P', 'Rouge-1-R', 'Rouge-1-F'\]"):
        ours.RougeN(1).attach(engine, "rouge1", usage=usages[1])


def test_drop_ins_do_not_warn_without_a_cause():
    engine, first, of_dicts = Engine(_echo), ours.RougeN(1), ours.RougeL(metrics_result_mode="named")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first.attach(engine, "rouge1")
        ours.RougeN(2).attach(engine, "rouge2")
        first.attach(engine, "again")
        first.detach(engine)
        ours.RougeN(1).attach(engine, "rouge1")
        ours.RougeN(1).attach(Engine(_echo), "rouge1")
        for name, metric in {"one": of_dicts, "two": ours.RougeL(), "three": of_dicts}.items():
            metric.attach(engine, name)
    metrics = engine.run([IGNITE_CASES[0].batches[0]]).metrics
    assert metrics["one"] == metrics["two"] == metrics["three"]


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
        metric.update(batch)
        values = metric.compute()
        assert (flat in metrics) == (mode != "named")
        has_dict = mode == "named" or (mode == "both" and name == "r")  # else the name is that of the value
        assert metrics.get(name) == (values if has_dict else values.get({"c": "chrf", "b": "bleu"}.get(name)))
        assert len(metrics) == (1 if mode == "named" else len(values) + has_dict)


def test_a_mode_that_ignite_does_not_have_is_refused():
    with pytest.raises(ValueError, match=r"unknown metrics_result_mode 'flat': expected one of .*mean 'flatten'\?"):
        ours.ChrF(metrics_result_mode="flat")
