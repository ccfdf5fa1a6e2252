"""The classes of ``ignite.metrics.nlp``, for those who change an import and want the same numbers.

The parameters and their order, the defaults, the results and their types, the value before any data, the errors and the
mechanism of ``state_dict`` are ignite's. After ignite's parameters each class takes some of ours by keyword.

Difference from ignite: a ``str`` is text and is split into words, while ignite reads it as characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from numbers import Real

import torch

from ngram_metrics._core.basics.option_checks import Average
from ngram_metrics._core.metrics.bleu import Smoothing, make_bleu
from ngram_metrics._core.metrics.rouge import Reducer, RougeMeasure
from ngram_metrics._core.scoring.scorer import Scorer
from ngram_metrics._core.text.input_types import Tokenizer
from ngram_metrics._core.text.reader import WordReader
from ngram_metrics.ignite.metric import CPU, IgniteMetric, KeyedIgniteMetric, OutputTransform, ResultMode, unchanged

__all__ = ["Bleu", "Rouge", "RougeN", "RougeL"]


class Bleu(IgniteMetric):
    """ignite's BLEU: by default the mean of unsmoothed segment scores.

    The parameters up to ``average`` and all defaults are ignite's. The keyword-only parameters, average none, and the
    smoothings that ignite lacks are those of ``ngram_metrics.Bleu``. For macro without ``confidence``, ``compute``
    returns a float64 tensor ``()``. For micro it returns 0 before any data.

    Raises:
        ValueError, TypeError: a setting out of its range; different numbers of hypotheses and references; segments
            that cannot be read.

    Example:
        >>> from ngram_metrics.ignite.drop_in import Bleu
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
        bleu = make_bleu(
            ngram=ngram,
            smooth=smooth,
            smooth_value=smooth_value,
            average=average,
            weights=weights,
            effective_order=effective_order,
            tokenizer=tokenizer,
            lowercase=lowercase,
            pad_id=pad_id,
        )
        super().__init__(bleu, confidence, device, output_transform, metrics_result_mode)
        self._scores_no_data = average == "micro"
        self._returns_tensors = average != "micro" and confidence is None


class Rouge(KeyedIgniteMetric):
    """Several variants of ROUGE for an ignite engine, see the page "Moving from another package".

    Args:
        variants: orders of n-grams, 1 to 1,000, and ``"L"``; by default 1, 2, 4 and L.
        multiref: for several references, ``"average"`` sums the counts and ``"best"`` takes the highest recall.
        alpha: the weight in F = P R / ((1 - alpha) P + alpha R), from 0 to 1: 0, the default, makes F the recall, 1 the
            precision; 0.5 gives F1.

    ``pad_id`` and ``tokenizer`` are those of ``ngram_metrics.Bleu``, and the errors are as in this module's ``Bleu``.
    ``compute`` returns a dict of floats from 0 to 1 with ``Rouge-<variant>-P``, ``-R`` and ``-F`` for each variant.

    Example:
        >>> from ngram_metrics.ignite.drop_in import Rouge
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
        if not isinstance(alpha, Real):
            raise TypeError(f"alpha must be a number in interval [0, 1] (got : {alpha!r})")
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
        super().__init__(
            variants=[ngram],
            multiref=multiref,
            alpha=alpha,
            output_transform=output_transform,
            device=device,
            pad_id=pad_id,
            tokenizer=tokenizer,
            metrics_result_mode=metrics_result_mode,
        )


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
        super().__init__(
            variants=["L"],
            multiref=multiref,
            alpha=alpha,
            output_transform=output_transform,
            device=device,
            pad_id=pad_id,
            tokenizer=tokenizer,
            metrics_result_mode=metrics_result_mode,
        )
