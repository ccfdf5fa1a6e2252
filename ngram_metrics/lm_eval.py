"""Corpus scores for lm-evaluation-harness, each with the bootstrap's standard error as a second metric.

The harness finds them by the entry points in pyproject.toml. It computes standard errors of its own functions only, but
its table looks for one under the name of the metric with ``_stderr`` behind. Scores and standard errors are from 0 to
100, as the harness's own. One process of several computes them, so no metric with states is used here: the others would
not join in. The page is docs/guides/harnesses.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import torch
from lm_eval.api.registry import register_aggregation, register_metric
from torch import Tensor

from ngram_metrics._core.basics.option_checks import RESAMPLES
from ngram_metrics._core.metrics.registry import REGISTRY, make_metric, values_of
from ngram_metrics._core.scoring.resampling import SEED, bootstrap_scores, clusters_of
from ngram_metrics._core.scoring.scorer import Scorer

#: An output and its references.
Sample: TypeAlias = tuple[str, Sequence[str]]


def corpus_stderr(scorer: Scorer, outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Tensor:
    """Return the standard deviation of the scores of resampled corpora, ``(*score_shape)``, NaN for one document."""
    clusters = clusters_of(scorer.measure, scorer.count(outputs, references).stack_rows(), scorer.average)
    errors = bootstrap_scores(scorer.measure, clusters, scorer.average, RESAMPLES, SEED).std(0)
    return errors if len(outputs) > 1 else torch.full_like(errors, torch.nan)


class CorpusMetric:
    """A metric of the harness, which keeps the texts of a document, and ``aggregate``, which scores all documents.

    It can be pickled, because the harness's own bootstrap sends the aggregation to other processes.

    Args:
        name: the name in the harness.
        compute: returns ``(*score_shape)`` of outputs and references, from 0 to 1.
        index: the index of the value.
    """

    def __init__(self, name: str, compute: Callable[..., Tensor], index: tuple[int, ...]) -> None:
        self.__name__ = name
        self.compute, self.index = compute, index
        self.no_texts = (
            f"{name} got no texts: expected a text and its references, from process_results if there are several; "
            "of repeats the filter take_first passes on one text"
        )

    def __call__(self, references: list[str] | list[list[str]], predictions: list[str]) -> Sample:
        """Keep the texts of a document: its output, and its target or the list of its targets."""
        if len(predictions) != 1 or len(references) != 1:
            raise ValueError(self.no_texts)
        target = references[0]
        return predictions[0], [target] if isinstance(target, str) else target

    def aggregate(self, items: Sequence[Sample]) -> float:
        """Return the value of all documents, from 0 to 100."""
        # The references are checked where they are read.
        pairs = (isinstance(item, tuple | list) and len(item) == 2 and isinstance(item[0], str) for item in items)
        if not items or not all(pairs):
            raise ValueError(self.no_texts)
        outputs, references = zip(*items, strict=True)
        # The bootstrap forks: where torch then starts threads, which OpenMP had started before, it waits for ever.
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            return 100 * self.compute(outputs, references)[self.index].item()
        finally:
            torch.set_num_threads(threads)


#: The metrics by their names, which entry points name as attributes of this module.
METRICS: dict[str, CorpusMetric] = {}


def register(metric: CorpusMetric, higher_is_better: bool) -> None:
    """Register a metric and its aggregation; tasks inherit the direction."""
    name = metric.__name__
    METRICS[name] = metric
    register_aggregation(name)(metric.aggregate)
    register_metric(metric=name, higher_is_better=higher_is_better, aggregation=name, output_type="generate_until")(
        metric
    )


def __getattr__(name: str) -> CorpusMetric:
    """Return a metric."""
    if name not in METRICS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return METRICS[name]


for title in (value for name in REGISTRY for value in values_of(name)):
    metric_name = f"ngram_{title.replace('+', 'p')}"
    scorer = make_metric(title)
    stderr = partial(corpus_stderr, scorer)
    register(CorpusMetric(metric_name, scorer, scorer.pair_index), scorer.measure.higher_is_better)
    register(CorpusMetric(f"{metric_name}_stderr", stderr, scorer.pair_index), higher_is_better=False)
