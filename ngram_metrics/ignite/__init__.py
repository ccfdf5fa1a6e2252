"""The metrics as pytorch-ignite metrics: thin classes around the torchmetrics accumulator.

They replace the classes of ``ignite.metrics.nlp``: the parameters and their order, the results, the errors and the
``state_dict`` are the same. There is one deliberate difference: a ``str`` is text and is split into words, while ignite
reads it as characters.

``update`` takes ``(y_pred, y)`` or ``{"y_pred": ..., "y": ...}``: hypotheses, and for each its reference or a list of
references, as text, tokens, ids, or padded id tensors. ``output_transform`` turns an engine's output into this form.
``device`` is where the states are. Text and lists are counted on the CPU, padded ids on their own device. If a metric
has several values, their names in ``engine.state.metrics`` begin with the name passed to ``attach``: ``chrf``,
``chrf_low``, ``chrf_high``, or ``rouge_rouge1_fmeasure``. ``metrics_result_mode`` is ignite's: ``"flatten"`` writes
these values, ``"named"`` writes one dict under the name passed to ``attach``, and ``"both"``, the default, writes the
values and, unless a value has that name, the dict.

The classes that ignite lacks have the parameters and the errors of their namesakes in ``ngram_metrics``. ``compute``
returns a float from 0 to 1, for average none a float64 tensor ``(segments,)``, and with ``confidence`` a dict of floats
such as ``chrf``, ``chrf_low`` and ``chrf_high``. Before any data it raises ``NotComputableError``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch

from ngram_metrics._core.basics.option_checks import Average
from ngram_metrics._core.metrics.bleu import Smoothing, make_bleu
from ngram_metrics._core.metrics.chrf import make_chrf
from ngram_metrics._core.metrics.overlap import make_overlap
from ngram_metrics._core.metrics.rouge import Accumulate, Reducer, RougeKey, RougeMeasure, make_rouge
from ngram_metrics._core.scoring.groups import checked_groups, checked_scorer
from ngram_metrics._core.scoring.items import whole_metric
from ngram_metrics._core.scoring.scorer import Metric, Scorer
from ngram_metrics._core.text.input_types import Tokenizer
from ngram_metrics._core.text.reader import WordReader
from ngram_metrics.ignite.handler import ScoresHandler
from ngram_metrics.ignite.metric import CPU, IgniteMetric, KeyedIgniteMetric, OutputTransform, ResultMode, unchanged

__all__ = [
    "Bleu",
    "Rouge",
    "RougeN",
    "RougeL",
    "ROUGEScore",
    "ChrF",
    "NgramOverlap",
    "GroupedMetric",
    "ScoresHandler",
]


class Bleu(IgniteMetric):
    """BLEU for an ignite engine, see the page "ignite". The page "BLEU" has the formula.

    ``attach(evaluator, "bleu")`` writes the score to ``engine.state.metrics["bleu"]`` at the end of a run. Without an
    engine ``update((y_pred, y))`` counts a batch, and ``compute()`` returns the score of all batches and ranks.

    The parameters up to ``average`` and all defaults are ignite's. The keyword-only parameters, average none, and the
    smoothings that ignite lacks are those of ``ngram_metrics.Bleu``. ``Bleu(average="micro", smooth="exp",
    tokenizer="13a")`` is the BLEU that papers report. For macro without ``confidence``, ``compute`` returns a float64
    tensor ``()``. For micro it returns 0 before any data.

    Raises:
        ValueError, TypeError: a setting out of its range; different numbers of hypotheses and references; segments
            that cannot be read.

    Example:
        >>> from ngram_metrics.ignite import Bleu
        >>> metric = Bleu(ngram=4, smooth="smooth1")
        >>> metric.update((["the the the the the the the"], [["the cat is on the mat", "there is a cat on the mat"]]))
        >>> print(metric.compute())
        tensor(0.0393, dtype=torch.float64)
    """

    _make = staticmethod(partial(make_bleu, smooth="no_smooth", average="macro", effective_order=False, tokenizer=None))

    def __init__(
        self,
        ngram: int = 4,
        smooth: Smoothing = "no_smooth",
        output_transform: OutputTransform = unchanged,
        device: str | torch.device = CPU,
        average: Average = "macro",
        *,
        pad_id: int | Sequence[int] | None = None,
        tokenizer: Tokenizer | None = None,
        confidence: float | None = None,
        smooth_value: float | None = None,
        weights: Sequence[float] | None = None,
        effective_order: bool = False,
        lowercase: bool = False,
        metrics_result_mode: ResultMode = "both",
    ) -> None:
        text = tokenizer, lowercase, pad_id
        bleu = make_bleu(ngram, smooth, smooth_value, average, weights, effective_order, *text)
        super().__init__(bleu, confidence, device, output_transform, metrics_result_mode)
        self._scores_no_data, self._returns_tensors = average == "micro", average != "micro" and confidence is None


class Rouge(KeyedIgniteMetric):
    """Several variants of ROUGE for an ignite engine, see the page "ignite".

    Args:
        variants: orders of n-grams, 1 to 1,000, and ``"L"``; by default 1, 2, 4 and L.
        multiref: for several references, ``"average"`` sums the counts and ``"best"`` takes the highest recall.
        alpha: the weight in F = P R / ((1 - alpha) P + alpha R), from 0 to 1: 0, the default, makes F the recall, 1 the
            precision; 0.5 gives F1.

    ``pad_id`` and ``tokenizer`` are those of ``ngram_metrics.Bleu``, and the errors are as in this module's ``Bleu``.
    ``compute`` returns a dict of floats from 0 to 1 with ``Rouge-<variant>-P``, ``-R`` and ``-F`` for each variant.

    Example:
        >>> from ngram_metrics.ignite import Rouge
        >>> metric = Rouge(variants=["L", 2], multiref="best")
        >>> metric.update((["the cat is not there"], [["the cat is on the mat", "there is a cat on the mat"]]))
        >>> metric.compute()
        {'Rouge-L-P': 0.6, 'Rouge-L-R': 0.5, 'Rouge-L-F': 0.5, 'Rouge-2-P': 0.5, 'Rouge-2-R': 0.4, 'Rouge-2-F': 0.4}
    """

    _no_data = "Rouge metric must have at least one example before being computed"

    def __init__(
        self,
        variants: Sequence[int | str] | None = None,
        multiref: str = "average",
        alpha: float = 0,
        output_transform: OutputTransform = unchanged,
        device: str | torch.device = CPU,
        *,
        pad_id: int | Sequence[int] | None = None,
        tokenizer: Tokenizer | None = None,
        metrics_result_mode: ResultMode = "both",
    ) -> None:
        chosen: Sequence[int | str] = variants or [1, 2, 4, "L"]
        if not 0 <= alpha <= 1:
            raise ValueError(f"alpha must be in interval [0, 1] (got : {alpha})")
        reducers: dict[str, Reducer] = {"best": "best_recall", "average": "sum"}
        if multiref not in reducers:
            raise ValueError(f"multiref : valid values are {list(reducers)} (got : {multiref})")
        for variant in chosen:
            if variant != "L" and (isinstance(variant, bool) or not isinstance(variant, int)):
                raise ValueError("variant must be 'L' or integer greater to zero")
            if variant != "L" and int(variant) < 1:
                raise ValueError(f"ngram order must be greater than zero (got : {variant})")
        measure = RougeMeasure(tuple(chosen), reducers[multiref], alpha)
        values = {
            f"Rouge-{variant}-{letter}": (index, column)
            for index, variant in enumerate(chosen)
            for column, letter in enumerate("PRF")
        }
        titles = {name: name for name in values if name.endswith("F")}
        rouge = Scorer(WordReader(tokenizer, pad_id=pad_id), measure, "macro", values, titles)
        super().__init__(rouge, None, device, output_transform, metrics_result_mode)


class RougeN(Rouge):
    """ROUGE-N of the order ``ngram`` for an ignite engine, see ``Rouge`` and the page "ignite"."""

    def __init__(
        self,
        ngram: int = 4,
        multiref: str = "average",
        alpha: float = 0,
        output_transform: OutputTransform = unchanged,
        device: str | torch.device = CPU,
        *,
        pad_id: int | Sequence[int] | None = None,
        tokenizer: Tokenizer | None = None,
        metrics_result_mode: ResultMode = "both",
    ) -> None:
        if isinstance(ngram, bool) or not isinstance(ngram, int):
            raise TypeError(f"ngram order must be an integer (got : {ngram!r})")
        rouge = multiref, alpha, output_transform, device
        super().__init__([ngram], *rouge, pad_id=pad_id, tokenizer=tokenizer, metrics_result_mode=metrics_result_mode)


class RougeL(Rouge):
    """ROUGE-L for an ignite engine, see ``Rouge`` and the page "ignite"."""

    def __init__(
        self,
        multiref: str = "average",
        alpha: float = 0,
        output_transform: OutputTransform = unchanged,
        device: str | torch.device = CPU,
        *,
        pad_id: int | Sequence[int] | None = None,
        tokenizer: Tokenizer | None = None,
        metrics_result_mode: ResultMode = "both",
    ) -> None:
        rouge = multiref, alpha, output_transform, device
        super().__init__(["L"], *rouge, pad_id=pad_id, tokenizer=tokenizer, metrics_result_mode=metrics_result_mode)


class ROUGEScore(IgniteMetric):
    """ROUGE for an ignite engine, with the options of ``ngram_metrics.ROUGEScore``. See the page "ignite".

    ``compute`` returns a dict of floats from 0 to 1, or for average none of tensors ``(segments,)``. With
    ``confidence`` it has the ends of each interval too, such as ``rouge1_fmeasure_low``.
    """

    _make = staticmethod(make_rouge)

    def __init__(
        self,
        use_stemmer: bool = False,
        normalizer: Callable[[str], str] | None = None,
        tokenizer: Tokenizer | None = None,
        accumulate: Accumulate = "best",
        rouge_keys: RougeKey | Sequence[RougeKey] = ("rouge1", "rouge2", "rougeL", "rougeLsum"),
        average: Average = "macro",
        sentence_splitter: Callable[[str], Sequence[str]] | None = None,
        sentence_separator_id: int | None = None,
        pad_id: int | Sequence[int] | None = None,
        confidence: float | None = None,
        output_transform: OutputTransform = unchanged,
        device: str | torch.device = CPU,
        *,
        metrics_result_mode: ResultMode = "both",
    ) -> None:
        words, sentences = (use_stemmer, normalizer, tokenizer), (sentence_splitter, sentence_separator_id)
        rouge = make_rouge(*words, accumulate, rouge_keys, average, *sentences, pad_id)
        super().__init__(rouge, confidence, device, output_transform, metrics_result_mode)
        self.rouge_keys, self.accumulate = tuple(rouge.titles), accumulate


class ChrF(IgniteMetric):
    """chrF for an ignite engine, with the options of ``ngram_metrics.ChrF``. See the page "ignite"."""

    _make = staticmethod(make_chrf)

    def __init__(
        self,
        char_order: int = 6,
        word_order: int = 0,
        beta: float = 2.0,
        lowercase: bool = False,
        whitespace: bool = False,
        eps_smoothing: bool = False,
        average: Average = "micro",
        pad_id: int | Sequence[int] | None = None,
        confidence: float | None = None,
        output_transform: OutputTransform = unchanged,
        device: str | torch.device = CPU,
        *,
        metrics_result_mode: ResultMode = "both",
    ) -> None:
        chrf = make_chrf(char_order, word_order, beta, lowercase, whitespace, eps_smoothing, average, pad_id)
        super().__init__(chrf, confidence, device, output_transform, metrics_result_mode)


class NgramOverlap(IgniteMetric):
    """N-gram overlap for an ignite engine, with the options of ``ngram_metrics.NgramOverlap``. See the page "ignite".

    For samples and average none ``compute`` returns a tensor ``(segments, samples)``.
    """

    _make = staticmethod(make_overlap)

    def __init__(
        self,
        ngram: int = 1,
        average: Average = "macro",
        tokenizer: Tokenizer | None = None,
        pad_id: int | Sequence[int] | None = None,
        confidence: float | None = None,
        output_transform: OutputTransform = unchanged,
        device: str | torch.device = CPU,
        *,
        metrics_result_mode: ResultMode = "both",
    ) -> None:
        overlap = make_overlap(ngram, average, tokenizer, pad_id)
        super().__init__(overlap, confidence, device, output_transform, metrics_result_mode)


class GroupedMetric(IgniteMetric):
    """One metric for several groups of segments, as ``ngram_metrics.GroupedMetric``.

    ``update`` takes ``(y_pred, y, groups)``, or a dict of these. If the engine returns the dict, other metrics can be
    attached too: they ignore ``groups``. ``metric`` is a metric of this module or of ``ngram_metrics``, or a value of
    one.
    """

    required_output_keys = ("y_pred", "y", "groups")

    def __init__(
        self,
        metric: Metric,
        groups: Sequence[str],
        output_transform: OutputTransform = unchanged,
        *,
        metrics_result_mode: ResultMode = "both",
    ) -> None:
        scorer = checked_scorer(metric)
        labels = checked_groups(groups)
        device = whole_metric(metric).device
        super().__init__(scorer, None, device, output_transform, metrics_result_mode, labels)
        self._repr = f"{metric!r}, {list(self.groups)}"

    def __repr__(self) -> str:
        """Show the metric and the labels."""
        return f"ngram_metrics.ignite.GroupedMetric({self._repr})"
