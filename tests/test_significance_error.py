"""The standard error of a score: how far the scores of other test sets lie apart, in a simulation and by other ways."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from ranks import on_ranks
from sacrebleu.metrics import BLEU, CHRF
from systems import output, references
from torch import distributed

from ngram_metrics import Bleu, ChrF, GroupedMetric, NgramOverlap, ROUGEScore, evaluate
from ngram_metrics.significance import standard_error

pytest.importorskip("ignite", reason="the classes for ignite are tested")

from ngram_metrics import ignite as for_ignite

METRICS: dict[str, Callable[..., Any]] = {
    "bleu": Bleu,
    "chrf": ChrF,
    "rouge": lambda **options: ROUGEScore(rouge_keys=("rouge1", "rougeL"), **options),
}
REFERENCES = references(500)
HYPOTHESES = output(REFERENCES, 0.3, seed=2)


def counted(
    make: Callable[..., Any], hypotheses: list[str] = HYPOTHESES, confidence: float | None = 0.95, **options: Any
) -> Any:
    metric = make(confidence=confidence, **options)
    metric.update(hypotheses, REFERENCES[: len(hypotheses)])
    return metric


def by_name(errors: float | dict[str, float], metric: Any) -> dict[str, float]:
    return errors if isinstance(errors, dict) else dict.fromkeys(metric.scorer.values, errors)


def score_sums(metric: Any, drawn: np.ndarray) -> dict[str, np.ndarray]:
    """The scores of test sets from their rows, ``(sets, segments, fields)``."""
    measure = metric.scorer.measure
    is_micro = metric.scorer.average == "micro"
    scores = measure.score_rows(drawn.sum(1)) if is_micro else measure.score_rows(drawn).mean(1)
    return metric.scorer.name_values(scores)


@pytest.mark.slow
@pytest.mark.parametrize("average", ["micro", "macro"])
@pytest.mark.parametrize("name", METRICS)
def test_it_is_the_deviation_over_independent_test_sets(name: str, average: str):
    """Both sides are measured: 300 scores would give the deviation to 4 %, and 3,000 give it to 1.3 %."""
    targets = references(20_000)
    hypotheses = output(targets, 0.3, seed=2)
    whole = METRICS[name](average=average, confidence=0.95)
    whole.update(hypotheses, targets)
    rows = np.asarray(whole.segment_rows())
    chance = np.random.default_rng(7)
    sets: dict[str, list[np.ndarray]] = {value: [] for value in whole.scorer.values}
    for _ in range(30):
        drawn = rows[chance.integers(len(rows), size=(100, 500))]
        for value, scores in score_sums(whole, drawn).items():
            sets[value].append(scores)
    errors = []
    for _ in range(30):
        metric = METRICS[name](average=average, confidence=0.95)
        segments = chance.integers(len(rows), size=500)
        metric.update([hypotheses[segment] for segment in segments], [targets[segment] for segment in segments])
        errors.append(by_name(standard_error(metric), metric))
    for value, scores in sets.items():
        deviation = np.concatenate(scores).std(ddof=1)
        mean = np.mean([error[value] for error in errors])
        print(f"{value} {average}: {deviation:.5f} {mean:.5f}")  # for the page, see `pytest -s`
        assert mean == pytest.approx(deviation, rel=0.05), value


@pytest.mark.parametrize(("name", "peer"), [pytest.param("bleu", BLEU(), marks=pytest.mark.slow), ("chrf", CHRF())])
def test_it_is_that_of_a_plain_bootstrap_and_half_of_sacrebleus_half_width(name: str, peer: Any):
    metric = counted(METRICS[name])
    error = standard_error(metric)
    rows = np.asarray(metric.segment_rows())
    chance = np.random.default_rng(3)
    scores = [score_sums(metric, rows[None, chance.integers(500, size=500)])[name] for _ in range(4_000)]
    # The deviation of 1,000 draws is exact to 2.2 %, that of 4,000 to 1.1 %.
    assert error == pytest.approx(np.std(scores, ddof=1), rel=0.07)
    # sacrebleu reports half the width of its interval, which is 1.96 deviations.
    half_width = peer.corpus_score(HYPOTHESES, [REFERENCES], n_bootstrap=1000)._ci / 100
    assert 1.96 * error == pytest.approx(half_width, rel=0.1)
    values = metric.compute()
    assert 3.92 * error == pytest.approx(values[f"{name}_high"].item() - values[f"{name}_low"].item(), rel=0.1)


@pytest.mark.slow
def test_it_is_the_deviation_of_the_draws_behind_the_interval():
    """The ends of the interval at every level are draws: their deviation, with ddof 1."""
    metric = counted(NgramOverlap, HYPOTHESES[:60], compute_with_cache=False)
    draws = []
    for outside in range(500):
        metric.confidence = 1 - 2 * outside / 1000
        values = metric.compute()
        draws += [values["ngram_overlap_low"].item(), values["ngram_overlap_high"].item()]
    assert standard_error(metric) == pytest.approx(np.std(draws, ddof=1), rel=1e-12)


def test_metrics_of_both_frameworks_and_their_values_have_the_same():
    metric = counted(METRICS["rouge"])
    errors = standard_error(metric)
    assert isinstance(errors, dict)
    assert list(errors) == list(metric.scorer.values)
    ignite_metric = for_ignite.ROUGEScore(rouge_keys=("rouge1", "rougeL"), confidence=0.5)
    ignite_metric.update((HYPOTHESES, REFERENCES))
    assert standard_error(ignite_metric) == errors
    for value, error in errors.items():
        assert standard_error(metric[value]) == standard_error(ignite_metric[value]) == error
    assert isinstance(standard_error(counted(Bleu)), float)


def test_evaluate_has_it_as_the_last_field():
    pytest.importorskip("pandas", reason="pandas is optional, and not in every environment of the tests")
    result = evaluate({"a": HYPOTHESES, "b": REFERENCES}, REFERENCES, "bleu,chrf,rougeL")
    metrics = {"bleu": counted(Bleu), "chrf": counted(ChrF), "rougeL": counted(ROUGEScore)["rougeL_fmeasure"]}
    for value, metric in metrics.items():
        found = result.results["a"][value]
        assert found._fields[-1] == "standard_error"
        assert found.standard_error == pytest.approx(by_name(standard_error(metric), metric).popitem()[1], rel=0.1)
        assert f'"standard_error": {100 * found.standard_error!r}' in result.to_json()
    assert result.results["a"]["bleu"].standard_error == standard_error(metrics["bleu"])
    frame = result.to_pandas().set_index(["system", "value"])
    assert frame.loc[("a", "chrf"), "standard_error"] == standard_error(metrics["chrf"])
    without = evaluate(HYPOTHESES, REFERENCES, "chrf", confidence=None)
    assert without.results["system"]["chrf"].standard_error is None
    assert "standard_error" not in without.to_json()


def test_evaluate_draws_whole_documents_for_it():
    """Ten copies of each segment: the deviation of the segments alone, not a third of it."""
    documents = [segment for segment in range(50) for _ in range(10)]
    hypotheses = [HYPOTHESES[document] for document in documents]
    targets = [REFERENCES[document] for document in documents]
    alone = evaluate(HYPOTHESES[:50], REFERENCES[:50], "chrf").results["system"]["chrf"].standard_error
    whole = evaluate(hypotheses, targets, "chrf", clusters=documents).results["system"]["chrf"].standard_error
    assert whole == pytest.approx(alone, rel=0.1)
    parted = evaluate(hypotheses, targets, "chrf").results["system"]["chrf"].standard_error
    assert parted == pytest.approx(alone / 10**0.5, rel=0.1)


@pytest.mark.parametrize(
    ("metric", "error", "words"),
    [
        (
            counted(ChrF, confidence=None),
            ValueError,
            "^this ChrF keeps only sums, not the counts of each segment: construct it with confidence=0.95$",
        ),
        (counted(METRICS["rouge"], confidence=None)["rouge1_recall"], ValueError, "construct it with confidence=0.95$"),
        (
            ChrF(average="none"),
            ValueError,
            "^the metric has average 'none': expected 'micro' or 'macro', and confidence=",
        ),
        (GroupedMetric(ChrF(), ["a"]), ValueError, "construct it with confidence=0.95$"),
        (ChrF(confidence=0.95), ValueError, "^the metric has counted no segment: expected at least one$"),
        (0.5, TypeError, "^metric is a float: expected a metric object of this package, such as ChrF"),
    ],
    ids=["no draws", "no draws of a value", "average none", "groups", "no segments", "no metric"],
)
def test_a_metric_without_draws_is_refused(metric: Any, error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        standard_error(metric)


def error_of_a_rank() -> list[float | dict[str, float]]:
    share = slice(70) if distributed.get_rank() == 0 else slice(70, None)
    metrics = [make(confidence=0.95) for make in METRICS.values()]
    for metric in metrics:
        metric.update(HYPOTHESES[share], REFERENCES[share])
    return [standard_error(metric) for metric in (*metrics, metrics[-1]["rougeL_recall"])]


def test_every_rank_has_that_of_one_process():
    metrics = [counted(make) for make in METRICS.values()]
    expected = [standard_error(metric) for metric in (*metrics, metrics[-1]["rougeL_recall"])]
    for errors in on_ranks(error_of_a_rank, size=2):
        assert errors == expected
