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

from lm_eval.api.registry import register_aggregation, register_metric
from torch import Tensor, full_like, nan

from ngram_metrics.basics.option_checks import RESAMPLES
from ngram_metrics.metric.definitions import make_metric
from ngram_metrics.metric.registry import REGISTRY, values_of
from ngram_metrics.metric.scorer import Scorer
from ngram_metrics.scores.resampling import SEED, bootstrap_scores, clusters_of

#: An output and its references.
Sample: TypeAlias = tuple[str, Sequence[str]]


def corpus_stderr(scorer: Scorer, outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Tensor:
    """Return the standard deviation of the scores of resampled corpora, ``(*score_shape)``, NaN for one document."""
    clusters = clusters_of(scorer.measure, scorer.count(outputs, references).rows, scorer.average)
    errors = bootstrap_scores(scorer.measure, clusters, scorer.average, RESAMPLES, SEED).std(0)
    return errors if len(outputs) > 1 else full_like(errors, nan)


def is_sample(item: object) -> bool:
    """Return whether an item is a pair whose output is one text; the references are checked where they are read."""
    return isinstance(item, tuple | list) and len(item) == 2 and isinstance(item[0], str)


def register(name: str, compute: Callable[..., Tensor], index: tuple[int, ...], higher_is_better: bool) -> None:
    """Register what is computed of outputs and references, and make it the attribute that its entry point names.

    Args:
        name: the name of the metric in the harness.
        compute: returns ``(*score_shape)``, from 0 to 1.
        index: the index of the value.
        higher_is_better: the direction, which tasks inherit.
    """
    no_texts = (
        f"{name} got no texts: expected a text and its references, from process_results if there are several; "
        "of repeats the filter take_first passes on one text"
    )

    @register_aggregation(name)
    def aggregate(items: Sequence[Sample]) -> float:
        if not items or not all(map(is_sample, items)):
            raise ValueError(no_texts)
        outputs, references = zip(*items, strict=True)
        return 100 * compute(outputs, references)[index].item()

    def keep_texts(references: list[str], predictions: list[str]) -> Sample:
        if not predictions:
            raise ValueError(no_texts)
        return predictions[0], references

    keep_texts.__name__ = keep_texts.__qualname__ = name
    globals()[name] = register_metric(metric=name, higher_is_better=higher_is_better, aggregation=name)(keep_texts)


for title in (value for name in REGISTRY for value in values_of(name)):
    metric_name = f"ngram_{title.replace('+', 'p')}"
    metric = make_metric(title)
    register(metric_name, metric, metric.pair_index, metric.measure.higher_is_better)
    register(f"{metric_name}_stderr", partial(corpus_stderr, metric), metric.pair_index, higher_is_better=False)
