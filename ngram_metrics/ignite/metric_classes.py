"""The metrics of ``ngram_metrics`` for ignite. Their options and defaults are stated where the metrics are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from typing_extensions import Unpack

from ngram_metrics._core.metrics.bleu import BleuOptions, make_bleu
from ngram_metrics._core.metrics.chrf import ChrfOptions, make_chrf
from ngram_metrics._core.metrics.overlap import OverlapOptions, make_overlap
from ngram_metrics._core.metrics.rouge import RougeOptions, make_rouge
from ngram_metrics._core.scoring.groups import checked_grouping
from ngram_metrics._core.scoring.items import whole_metric
from ngram_metrics._core.scoring.scorer import Metric
from ngram_metrics.ignite.metric import (
    CPU,
    IgniteMetric,
    OutputTransform,
    ResultMode,
    take_options_by_keyword,
    unchanged,
)


@take_options_by_keyword(make_bleu)
class Bleu(IgniteMetric):
    """BLEU for an ignite engine, with the options and defaults of ``ngram_metrics.Bleu``. See the page "ignite".

    ``attach(evaluator, "bleu")`` writes the score to ``engine.state.metrics["bleu"]`` at the end of a run. Without an
    engine ``update((y_pred, y))`` counts a batch, and ``compute()`` returns the score of all batches and ranks.

    Args:
        output_transform: from an engine's output to ``(y_pred, y)``.
        device: where the counts are.
        metrics_result_mode: how an engine gets several values: ``"flatten"``, ``"named"`` or ``"both"``.
        confidence: the level of a bootstrap interval, such as 0.95.
        options: the options of ``ngram_metrics.Bleu``, by keyword.

    Raises:
        TypeError: an option that is not passed by keyword; a setting of another type.
        ValueError: a setting out of its range.

    Example:
        >>> from ngram_metrics.ignite import Bleu
        >>> metric = Bleu()
        >>> metric.update((["The cat sat on the mat."], ["The cat sat on a mat."]))
        >>> round(metric.compute(), 4)
        0.4889
    """

    def __init__(
        self,
        output_transform: OutputTransform = unchanged,
        device: str | torch.device = CPU,
        metrics_result_mode: ResultMode = "both",
        *,
        confidence: float | None = None,
        **options: Unpack[BleuOptions],
    ) -> None:
        super().__init__(make_bleu(**options), confidence, device, output_transform, metrics_result_mode)


@take_options_by_keyword(make_rouge)
class ROUGEScore(IgniteMetric):
    """ROUGE for an ignite engine, with the options and defaults of ``ngram_metrics.ROUGEScore``. See the page "ignite".

    ``compute`` returns a dict of floats from 0 to 1, or for average none of tensors ``(segments,)``. With
    ``confidence`` it has the ends of each interval too, such as ``rouge1_fmeasure_low``. The other parameters are those
    of ``Bleu``.
    """

    def __init__(
        self,
        output_transform: OutputTransform = unchanged,
        device: str | torch.device = CPU,
        metrics_result_mode: ResultMode = "both",
        *,
        confidence: float | None = None,
        **options: Unpack[RougeOptions],
    ) -> None:
        super().__init__(make_rouge(**options), confidence, device, output_transform, metrics_result_mode)


@take_options_by_keyword(make_chrf)
class ChrF(IgniteMetric):
    """chrF for an ignite engine, with the options and defaults of ``ngram_metrics.ChrF``. See the page "ignite".

    The other parameters are those of ``Bleu``.
    """

    def __init__(
        self,
        output_transform: OutputTransform = unchanged,
        device: str | torch.device = CPU,
        metrics_result_mode: ResultMode = "both",
        *,
        confidence: float | None = None,
        **options: Unpack[ChrfOptions],
    ) -> None:
        super().__init__(make_chrf(**options), confidence, device, output_transform, metrics_result_mode)


@take_options_by_keyword(make_overlap)
class NgramOverlap(IgniteMetric):
    """N-gram overlap for an ignite engine, with the options and defaults of ``ngram_metrics.NgramOverlap``.

    For samples and average none ``compute`` returns a tensor ``(segments, samples)``. The other parameters are those of
    ``Bleu``. See the page "ignite".
    """

    def __init__(
        self,
        output_transform: OutputTransform = unchanged,
        device: str | torch.device = CPU,
        metrics_result_mode: ResultMode = "both",
        *,
        confidence: float | None = None,
        **options: Unpack[OverlapOptions],
    ) -> None:
        super().__init__(make_overlap(**options), confidence, device, output_transform, metrics_result_mode)


class GroupedMetric(IgniteMetric):
    """One metric for several groups of segments, as ``ngram_metrics.GroupedMetric``.

    ``update`` takes ``(y_pred, y, groups)``, or a dict of these. If the engine returns the dict, other metrics can be
    attached too: they ignore ``groups``. ``metric`` is a metric of this module or of ``ngram_metrics``, one value of
    such a metric, or a mapping of labels to such metrics, which may differ in options for text.
    """

    required_output_keys = ("y_pred", "y", "groups")

    def __init__(
        self,
        metric: Metric | Mapping[str, Metric],
        groups: Sequence[str] | None = None,
        output_transform: OutputTransform = unchanged,
        *,
        metrics_result_mode: ResultMode = "both",
    ) -> None:
        first, grouping = checked_grouping(metric, groups)
        device = whole_metric(first).device
        super().__init__(first.scorer, None, device, output_transform, metrics_result_mode, grouping)
        self._repr = f"{metric!r}, {list(self.groups)}" if groups is not None else repr(metric)

    def __repr__(self) -> str:
        """Show the metric and the labels."""
        return f"ngram_metrics.ignite.GroupedMetric({self._repr})"
