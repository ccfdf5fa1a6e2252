"""The standard error of one metric: of the corpora that its interval draws."""

from collections.abc import Callable
from statistics import mean, stdev
from typing import Any

import pytest
import torch
from paired import METRICS, OUTPUTS, REFERENCES, counted

from ngram_metrics import ChrF, NgramOverlap
from ngram_metrics._core.scoring.resampling import bootstrap_scores, clusters_of
from ngram_metrics.significance import standard_error


def base(make: Callable[..., Any], **options: Any) -> Any:
    return counted(make, {"base": OUTPUTS["base"]}, **options)["base"]


@pytest.mark.parametrize("average", ["micro", "macro"])
@pytest.mark.parametrize("make", METRICS)
def test_it_is_the_deviation_of_the_scores_that_an_interval_draws(make: Any, average: str):
    metric = base(make, average=average)
    scorer, rows = metric.scorer, metric.segment_rows()
    scores = scorer.name_values(
        bootstrap_scores(scorer.measure, clusters_of(scorer.measure, rows, average), average, 200, 7)
    )
    expected = {name: stdev(of_draws.tolist()) for name, of_draws in scores.items()}
    assert standard_error(metric, 200, 7) == pytest.approx(expected, rel=1e-9)


def test_of_means_it_is_that_of_the_textbook():
    """A mean of n values has the standard error of their deviation divided by the root of n."""
    metric = base(NgramOverlap)
    scores = NgramOverlap(average="none")
    scores.update(OUTPUTS["base"], REFERENCES)
    of_values = [*map(float, scores.compute())]
    textbook = stdev(of_values, mean(of_values)) / len(of_values) ** 0.5
    assert standard_error(metric)["ngram_overlap"] == pytest.approx(textbook, rel=0.1)


def test_whole_documents_are_drawn():
    """Each segment three times in its document is the corpus of the single segments, drawn by documents."""
    single, tripled = base(ChrF), counted(ChrF, {"base": OUTPUTS["base"] * 3}, REFERENCES * 3)["base"]
    labels = [*range(len(REFERENCES))] * 3
    wide, narrow = standard_error(tripled, clusters=labels)["chrf"], standard_error(tripled)["chrf"]
    assert wide == pytest.approx(standard_error(single)["chrf"], rel=0.1)
    assert narrow == pytest.approx(wide / 3**0.5, rel=0.15)


def test_what_has_none_is_refused():
    metric = base(ChrF)
    with pytest.raises(ValueError, match=r"resamples must be an integer of at least 2 \(got: 1\)"):
        standard_error(metric, resamples=1)
    with pytest.raises(TypeError, match="seed"):
        standard_error(metric, seed="a")
    with pytest.raises(ValueError, match=r"keeps sums only: construct it with confidence=0\.95"):
        standard_error(ChrF())
    with pytest.raises(ValueError, match="has counted no segment"):
        standard_error(ChrF(confidence=0.95))
    with pytest.raises(TypeError, match="expected a metric object of this package"):
        standard_error(torch.nn.Linear(1, 1))
