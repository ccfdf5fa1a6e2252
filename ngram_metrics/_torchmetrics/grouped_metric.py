"""A metric that scores groups of segments separately, such as the languages of a multilingual model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from torch import Tensor

from ngram_metrics._core.basics.keywords import named_arguments
from ngram_metrics._core.scoring.groups import checked_grouping
from ngram_metrics._core.scoring.items import whole_metric
from ngram_metrics._core.scoring.scorer import Metric
from ngram_metrics._core.text.input_types import Hypotheses, References
from ngram_metrics._torchmetrics.accumulator import Accumulator, MetricKeywords

#: For each segment the label of its group, or the label's index.
GroupLabels: TypeAlias = Sequence[str] | Sequence[int] | Tensor


class GroupedMetric(Accumulator[None]):
    """One metric for several groups of segments: the score of each group, their mean, and the score of all segments.

    ``update(preds, target, groups)`` counts a batch, whose segments may be of any groups. ``compute()`` returns the
    values of all batches and ranks; a rank need not have every group. ``reset()`` starts over. See the page "A score
    for each language".

    Args:
        metric: a metric of this package, such as ``ChrF()``, or one value of a metric, such as
            ``ROUGEScore()["rougeL_fmeasure"]``. Its settings, its device and its keyword arguments of
            ``torchmetrics.Metric`` are used; its counts are not. Or a mapping of the labels of the groups to such
            metrics, which may differ in options for text only: ``tokenizer``, ``lowercase``, ``use_stemmer``,
            ``normalizer`` and ``sentence_splitter``. Each group is then read by the options of its metric.
        groups: the labels of the groups, each a str; None if ``metric`` is a mapping, whose keys are the labels.

    ``compute`` returns a dict of float64 ``()`` from 0 to 1: for ``ChrF()`` and the groups ``["de", "fr"]`` it has
    ``chrf_de``, ``chrf_fr``, ``chrf_mean``, the mean over the groups that have segments, and ``chrf_all``, the score of
    all segments together. If the metric has several values, each gets these suffixes, such as ``rougeL_fmeasure_de``.
    The score of a group without segments is NaN. ``metric["chrf_mean"]`` is a metric of one value. With a mapping there
    is no ``chrf_all``, because counts of words that were split by different rules cannot be added up.

    Raises:
        ValueError: a metric with ``average="none"`` or ``confidence``; no label; a label that is blank, ``mean`` or
            ``all``, or that occurs twice; metrics of a mapping that differ in another option.
        TypeError: another object as metric; a label that is not a str; ``groups`` missing, or beside a mapping.

    Example:
        >>> from ngram_metrics import ChrF, GroupedMetric
        >>> metric = GroupedMetric(ChrF(), ["de", "fr", "cs"])
        >>> metric.update(["das Haus", "la maison"], ["ein Haus", "la maison"], ["de", "fr"])
        >>> {name: round(value.item(), 2) for name, value in metric.compute().items()}
        {'chrf_de': 0.29, 'chrf_fr': 1.0, 'chrf_cs': nan, 'chrf_mean': 0.64, 'chrf_all': 0.69}
        >>> from ngram_metrics import Bleu
        >>> metric = GroupedMetric({"de": Bleu(), "zh": Bleu(tokenizer="zh")})
        >>> metric.update(["Das Haus steht leer.", "房子是空的。"], ["Das Haus ist leer.", "房子空了。"], ["de", "zh"])
        >>> list(metric.compute())
        ['bleu_de', 'bleu_zh', 'bleu_mean']
    """

    @named_arguments
    def __init__(self, metric: Metric | Mapping[str, Metric], groups: Sequence[str] | None = None) -> None:
        keyword_names = MetricKeywords.__annotations__
        first, grouping = checked_grouping(metric, groups, shared=("device", *keyword_names))
        whole = whole_metric(first)
        keywords: Any = {}
        if isinstance(whole, Accumulator):  # not a metric for ignite
            keywords = {name: getattr(whole, name) for name in keyword_names}
        super().__init__(first.scorer, None, whole.device, grouping, **keywords)
        self._repr = f"{metric!r}, {list(self.groups)}" if groups is not None else repr(metric)

    if TYPE_CHECKING:  # torch declares it for any module

        def __call__(self, preds: Hypotheses, target: References, groups: GroupLabels) -> dict[str, Tensor]: ...  # type: ignore[override]

    @named_arguments
    def update(self, preds: Hypotheses, target: References, groups: GroupLabels) -> None:  # type: ignore[override]
        """Count a batch.

        Args:
            preds: hypotheses, one per segment, as other metrics take them.
            target: for each segment its reference or a list of references.
            groups: for each segment the label of its group, or the index of that label. Indices on a device are not
                checked here: ``compute`` raises if one is out of range. If the metric was made from a mapping, indices
                must be on the CPU.

        Raises:
            TypeError, ValueError: segments that cannot be read; an unknown label; the states do not change.
        """
        self._count(preds, target, groups)

    def extra_repr(self) -> str:
        """Return the metric and the labels."""
        return self._repr
