"""A corpus metric for lighteval, with the standard error of its own bootstrap.

    pip install -e . lighteval

A task of yours names it, in the file that `--custom-tasks` takes:

    from lighteval.tasks.lighteval_task import LightevalTaskConfig
    from lighteval_metrics import CHRF

    TASKS_TABLE = [LightevalTaskConfig(name="my_task", metrics=[CHRF], ...)]

Scores are from 0 to 100, as lighteval's own.
"""

from __future__ import annotations

from typing import Any

from lighteval.metrics.metrics_corpus import CorpusLevelComputation
from lighteval.metrics.sample_preparator import GenerativeCorpusMetricInput, GenerativePreparator
from lighteval.metrics.utils.metric_utils import CorpusLevelMetric
from lighteval.tasks.requests import SamplingMethod

from ngram_metrics import Bleu, ChrF, Ter
from ngram_metrics.significance import standard_error


class CorpusScore(CorpusLevelComputation):
    """The score of all outputs by a metric of one value, with every reference."""

    def __init__(self, metric: Any) -> None:
        self.metric = metric

    def compute_corpus(self, items: list[GenerativeCorpusMetricInput]) -> dict[str, float]:
        """Return the score, and its standard error under the name of lighteval's column for it."""
        if samples := [item.preds for item in items if len(item.preds) != 1]:
            raise ValueError(f"a document has {len(samples[0])} outputs: expected one")
        self.metric.reset()
        self.metric.update([item.preds[0] for item in items], [item.golds for item in items])
        ((name, error),) = standard_error(self.metric).items()
        return {name: 100 * self.metric.compute()[name].item(), f"{name}_stderr": 100 * error}

    def __str__(self) -> str:
        """Return the signature, which lighteval logs."""
        return self.metric.signature


def corpus_metric(name: str, metric: Any) -> CorpusLevelMetric:
    """Return a metric for the list of a task."""
    return CorpusLevelMetric(
        name, metric.higher_is_better, SamplingMethod.GENERATIVE, GenerativePreparator(), CorpusScore(metric)
    )


BLEU = corpus_metric("bleu", Bleu(confidence=0.95))
CHRF = corpus_metric("chrf", ChrF(confidence=0.95))
TER = corpus_metric("ter", Ter(confidence=0.95))
