"""One value of ROUGE, ``rouge["rougeL_fmeasure"]``, wherever a metric is taken."""

import pickle
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from oracles import close
from rouge_score.rouge_scorer import RougeScorer
from torchmetrics import MetricCollection
from torchmetrics.wrappers import BootStrapper, MetricTracker, MinMaxMetric

import ngram_metrics
from ngram_metrics import ChrF, ROUGEScore, mbr, significance
from ngram_metrics._torchmetrics.accumulator import Accumulator
from ngram_metrics._torchmetrics.outputs import Outputs
from ngram_metrics.functional import chrf_score
from ngram_metrics.hugging_face import ComputeMetrics, Reward

pytest.importorskip("ignite", reason="the classes for ignite are tested")
pytest.importorskip("lightning", reason="the callback is tested")

from ignite.engine import Engine

from ngram_metrics import ignite
from ngram_metrics.ignite import ScoresHandler
from ngram_metrics.ignite.metric import IgniteMetric
from ngram_metrics.lightning import ScoresCallback

HYPOTHESES = ["the cat sat on the mat", "it was", "a dog ran home"]
REFERENCES = ["the cat sat on a mat today", "it was asleep", "a dog ran away from here"]
VALUES = ["rouge1_precision", "rouge1_recall", "rougeL_fmeasure", "rougeLsum_recall", "rouge2_fmeasure"]
KEYS = ("rouge1", "rougeL", "rougeLsum", "rouge2")
each_framework = pytest.mark.parametrize("framework", [ngram_metrics, ignite], ids=["torchmetrics", "ignite"])
each_value = pytest.mark.parametrize(
    "value", ["rouge1_precision", *(pytest.param(value, marks=pytest.mark.slow) for value in VALUES[1:])]
)


def expected(value: str) -> list[float]:
    key, part = value.split("_")
    scorer = RougeScorer([key])
    pairs = zip(REFERENCES, HYPOTHESES, strict=True)
    return [getattr(scorer.score(*pair)[key], part) for pair in pairs]


def one_value(value: str, framework: ModuleType = ngram_metrics, **options: Any) -> Any:
    return framework.ROUGEScore(rouge_keys=KEYS, **options)[value]


each_accumulate = pytest.mark.parametrize("accumulate", ["best", "avg"])


@each_framework
@each_accumulate
@each_value
def test_it_is_a_reward(framework: ModuleType, accumulate: str, value: str):
    reward = Reward(one_value(value, framework, accumulate=accumulate))
    assert reward.__name__ == value
    assert reward(completions=HYPOTHESES, reference=REFERENCES) == close(expected(value))


@each_framework
@each_accumulate
@each_value
def test_it_is_a_column_of_a_table(framework: ModuleType, accumulate: str, value: str):
    kind = Accumulator if framework is ngram_metrics else IgniteMetric
    table = Outputs({"f": one_value(value, framework, accumulate=accumulate)}, kind, 5)
    table.add(HYPOTHESES, REFERENCES)
    assert table.columns == ["line", "hypothesis", "references", "f"]
    assert [row[3] for row in table.rows] == close(expected(value))


@each_framework
@each_value
def test_it_is_shown_as_an_item_of_its_metric(framework: ModuleType, value: str):
    metric = one_value(value, framework)
    assert repr(metric) == repr(metric.whole) + f'["{value}"]'


@each_value
def test_it_is_pickled(value: str):
    """Of torchmetrics; ignite's MetricsLambda cannot be pickled."""
    metric = pickle.loads(pickle.dumps(one_value(value)))
    metric.update(HYPOTHESES, REFERENCES)
    assert metric.compute().item() == close(sum(expected(value)) / 3)


@each_framework
@pytest.mark.parametrize("value", ["rouge1_precision", "rouge1_recall", "rouge2_fmeasure"])
def test_it_scores_all_pairs(framework: ModuleType, value: str):
    metric = one_value(value, framework)
    scores = mbr.pairwise(metric, [HYPOTHESES], [REFERENCES])
    assert scores[0].diagonal().tolist() == close(expected(value))
    assert mbr.decode(metric, [HYPOTHESES], [REFERENCES[1:2]]).indices.tolist() == [1]


def update(metric: Any, hypotheses: list[str]) -> None:
    """Update a metric of either framework."""
    if isinstance(metric, torch.nn.Module):
        metric.update(hypotheses, REFERENCES)
    else:
        metric.update((hypotheses, REFERENCES))


def two_systems(framework: ModuleType, average: str) -> dict[str, Any]:
    systems = {}
    for name, hypotheses in (("base", HYPOTHESES), ("better", REFERENCES)):
        systems[name] = framework.ROUGEScore(rouge_keys=KEYS, average=average, confidence=0.9)
        update(systems[name], hypotheses)
    return systems


@each_framework
@pytest.mark.parametrize("average", ["macro", "micro"])
@each_value
def test_systems_are_compared_by_it(framework: ModuleType, average: str, value: str):
    systems = two_systems(framework, average)
    by_value = {name: metric[value] for name, metric in systems.items()}
    found = significance.paired_approximate_randomization(by_value, "base", 100)
    by_all_values = significance.paired_approximate_randomization(systems, "base", 100)
    assert {name: list(results) for name, results in found.items()} == {"base": [value], "better": [value]}
    assert found["base"][value].score == close(by_all_values["base"][value].score)
    if average == "macro":
        assert found["base"][value].score == close(sum(expected(value)) / 3)


@each_framework
def test_systems_are_not_compared_by_different_values(framework: ModuleType):
    systems = two_systems(framework, "macro")
    by_value = {"base": systems["base"]["rouge1_recall"], "better": systems["better"]["rouge1_fmeasure"]}
    with pytest.raises(ValueError, match="is a metric whose settings differ"):
        significance.paired_bootstrap(by_value, "base")


def test_several_of_one_metric_count_each_segment_once():
    rouge = ROUGEScore(rouge_keys=KEYS, confidence=0.9)
    metrics = {value: rouge[value] for value in VALUES}
    callback = ScoresCallback(metrics)
    compute_metrics = ComputeMetrics(metrics)
    for copies in (compute_metrics.metrics, callback.metrics, callback._scored[0].metrics):
        copies.update(HYPOTHESES, REFERENCES)
        assert {int(metric.whole.segments) for metric in copies.values()} == {3}
    assert compute_metrics._values() == close({value: sum(expected(value)) / 3 for value in VALUES})
    assert int(rouge.segments) == 0


def test_copies_come_in_the_order_given():
    metrics = {"z": ChrF(), "a": ngram_metrics.Bleu(), "m": ROUGEScore()["rouge1_recall"]}
    assert list(ComputeMetrics(metrics).metrics) == ["z", "a", "m"]
    assert list(ComputeMetrics(MetricCollection(metrics)).metrics) == list(MetricCollection(metrics))
    assert list(ComputeMetrics([ChrF(), ngram_metrics.Bleu()]).metrics) == ["ChrF", "Bleu"]


@pytest.mark.parametrize("take", [ComputeMetrics, ScoresCallback])
@pytest.mark.parametrize("metrics", [ChrF, [ChrF], {"a": ngram_metrics.Bleu(), "b": ChrF}], ids=["one", "list", "dict"])
def test_a_class_is_no_metric(take: Any, metrics: Any):
    with pytest.raises(TypeError, match=r"^metrics has the class ChrF: expected metric objects, such as ChrF\(\)$"):
        take(metrics)


def test_copies_have_the_names_that_a_collection_gives_them():
    collection = MetricCollection({"z": ChrF(), "a": ngram_metrics.Bleu()}, prefix="val_")
    assert set(ComputeMetrics(collection).metrics) == {"val_z", "val_a"}


@each_framework
@pytest.mark.parametrize(
    ("name", "options", "unknown", "words"),
    [
        ("ChrF", {"confidence": 0.9}, "low", r"expected one of \['chrf', 'chrf_low', 'chrf_high'\]"),
        ("ChrF", {"confidence": 0.9}, 0, r"expected one of \['chrf', 'chrf_low', 'chrf_high'\]"),
        ("ChrF", {}, "chrf", "computes a single value without a name"),
        ("NgramOverlap", {"average": "none"}, "ngram_overlap", "computes a single value without a name"),
        ("ROUGEScore", {}, "rouge1", "'rouge1' is not a value of this metric: did you mean 'rouge1_fmeasure'"),
        ("ROUGEScore", {}, "rouge1_recall_high", "'rouge1_recall_high' is not a value of this metric: expected one of"),
    ],
)
def test_what_is_no_value_of_a_metric_is_refused_at_once(
    framework: ModuleType, name: str, options: dict[str, Any], unknown: Any, words: str
):
    with pytest.raises(KeyError, match=words):
        getattr(framework, name)(**options)[unknown]


@each_framework
def test_the_scores_of_segments_have_no_names(framework: ModuleType):
    with pytest.raises(KeyError, match="computes a single value without a name"):
        framework.ChrF(average="none")["chrf"]
    with pytest.raises(KeyError, match="computes a single value without a name"):
        framework.ChrF()[0]


@each_framework
def test_an_end_of_an_interval_is_a_metric(framework: ModuleType):
    low = framework.ChrF(confidence=0.9)["chrf_low"]
    low.reset()
    update(low, HYPOTHESES)
    assert 0 < float(low.compute()) < float(chrf_score(HYPOTHESES, REFERENCES))


@each_framework
def test_the_score_of_a_segment_is_a_metric(framework: ModuleType):
    segment = framework.ChrF(average="none")[1]
    segment.reset()
    update(segment, HYPOTHESES)
    assert float(segment.compute()) == float(chrf_score(HYPOTHESES[1:2], REFERENCES[1:2]))


@each_framework
@pytest.mark.parametrize("value", ["chrf", "chrf_low"])
def test_a_part_of_an_interval_is_no_reward(framework: ModuleType, value: str):
    with pytest.raises(TypeError, match=r"metric is a .*: expected a metric object of this package"):
        Reward(framework.ChrF(confidence=0.9)[value])


@pytest.mark.parametrize(
    "metric",
    [one_value("rougeL_fmeasure"), one_value("rouge1_recall_low", confidence=0.9), ChrF(confidence=0.9)["chrf"]],
    ids=repr,
)
def test_a_higher_value_is_tracked_as_better(metric: Any):
    tracker = MetricTracker(metric)
    for hypotheses in (HYPOTHESES, REFERENCES):
        tracker.increment()
        tracker.update(hypotheses, REFERENCES)
    values = tracker.compute_all().tolist()
    assert values[0] != values[1]
    assert tracker.best_metric() == max(values)


#: Two metrics that write one name.
SHARED = [
    ({"x": ROUGEScore(rouge_keys="rouge1"), "x_rouge1_fmeasure": ChrF()}, "x_rouge1_fmeasure"),
    ({"a": ChrF(confidence=0.9), "a_low": ChrF()}, "a_low"),
    ({"a_high": one_value("rouge1_recall"), "a": ngram_metrics.Bleu(confidence=0.9)}, "a_high"),
]
OF_IGNITE = ({"a": ignite.ChrF(confidence=0.9), "a_low": ignite.Bleu()}, "a_low")


@pytest.mark.parametrize(
    ("take", "metrics", "name"),
    [
        *((take, *pair) for take in (ComputeMetrics, ScoresCallback) for pair in SHARED),
        (lambda metrics: ScoresHandler(Engine(lambda engine, batch: batch), metrics), *OF_IGNITE),
    ],
)
def test_two_metrics_that_write_one_name_are_refused(take: Any, metrics: Any, name: str):
    with pytest.raises(ValueError, match=rf"the metrics '\w+' and '\w+' both write '{name}': expected different names"):
        take(metrics)
    take({f"{name}_{index}": metric for index, (name, metric) in enumerate(metrics.items())})


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch advises against scripts
@pytest.mark.parametrize(
    "metric",
    [one_value("rouge1_recall"), ChrF(confidence=0.9)["chrf_low"], ChrF(average="none")[0], 100 * ChrF()],
    ids=repr,
)
def test_a_module_that_holds_one_value_can_be_scripted(metric: Any):
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 2)
            self.metric = metric

        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            return self.layer(inputs)

    model = Model()
    inputs = torch.ones(1, 2)
    torch.testing.assert_close(torch.jit.script(model)(inputs), model(inputs))


def headings() -> str:
    page = (Path(__file__).parents[2] / "docs" / "start" / "troubleshooting.md").read_text(encoding="utf-8")
    return page.replace("`", "")


@pytest.mark.parametrize("metric", [ROUGEScore(), ChrF(confidence=0.9)], ids=repr)
def test_wrappers_of_torchmetrics_refuse_several_values_in_the_words_of_the_page(metric: Any):
    tracker = MetricTracker(metric, maximize=True)
    tracker.increment()
    tracker.update(HYPOTHESES, REFERENCES)
    with pytest.raises(TypeError) as refused:
        tracker.best_metric()
    first_words = str(refused.value).partition(", but expected")[0]
    assert f"### {first_words}" in headings()
    extremes = MinMaxMetric(metric)
    extremes.update(HYPOTHESES, REFERENCES)
    with pytest.raises(RuntimeError) as refused_too:
        extremes.compute()
    assert str(refused_too.value).partition(", but got")[0] in headings()


def test_torchmetrics_draws_no_texts_in_the_words_of_the_page():
    with pytest.raises(TypeError) as refused:
        BootStrapper(ChrF()).update(HYPOTHESES, REFERENCES)
    # The words of torch after them depend on its version.
    first_words = str(refused.value).partition(" (")[0]
    assert f"### {first_words}" in headings()
