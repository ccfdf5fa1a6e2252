"""ROUGE with the parameters and results of ``ignite.metrics.Rouge``; ``ngram_metrics.ignite`` has all metrics."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ngram_metrics.ignite_face import CPU, KeyedFace, OutputTransform, unchanged
from ngram_metrics.scorer import Scorer
from ngram_metrics.scores.rouge import Reducer, RougeMeasure
from ngram_metrics.text.inputs import Tokenizer
from ngram_metrics.text.word_reader import WordReader
from ngram_metrics.torchmetrics.accumulator import Accumulator


class Rouge(KeyedFace):
    """Several ROUGE variants, from one tokenization and one sort. See ``ngram_metrics.scores.rouge``.

    Args:
        variants: orders of n-grams, 1 to 1,000, and ``"L"``; by default 1, 2, 4 and L.
        multiref: for several references, ``"average"`` sums the counts and ``"best"`` takes the highest recall.
        alpha: the weight in F = P R / ((1 - alpha) P + alpha R), from 0 to 1: 0, the default, makes F the recall, 1 the
            precision; 0.5 gives F1.

    ``output_transform`` and ``device`` are those of all metrics in this module, ``pad_id`` and ``tokenizer`` those of
    ``ngram_metrics.Bleu``. ``compute`` returns a dict of floats from 0 to 1 with ``Rouge-<variant>-P``, ``-R`` and
    ``-F`` for each variant.

    Raises:
        ValueError, TypeError: a setting out of its range; different numbers of hypotheses and references; sentences
            that cannot be read.
        NotComputableError: ``compute`` before any data.

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
    ) -> None:
        chosen: Sequence[int | str] = variants if variants else [1, 2, 4, "L"]
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
        reader = WordReader(tokenizer, pad_id=pad_id)
        values = {
            f"Rouge-{variant}-{letter}": (number, column)
            for number, variant in enumerate(chosen)
            for column, letter in enumerate("PRF")
        }
        rouge = Scorer(reader, measure, "macro", values, {key: key for key in values if key.endswith("F")})
        super().__init__(Accumulator(rouge, None, device), output_transform)


class RougeN(Rouge):
    """ROUGE-N. See ``Rouge`` for the parameters; ``ngram`` is the order."""

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
    ) -> None:
        if isinstance(ngram, bool) or not isinstance(ngram, int):
            raise TypeError(f"ngram order must be an integer (got : {ngram!r})")
        super().__init__([ngram], multiref, alpha, output_transform, device, pad_id=pad_id, tokenizer=tokenizer)


class RougeL(Rouge):
    """ROUGE-L. See ``Rouge`` for the parameters."""

    def __init__(
        self,
        multiref: str = "average",
        alpha: float = 0,
        output_transform: OutputTransform = unchanged,
        device: str | torch.device = CPU,
        *,
        pad_id: int | Sequence[int] | None = None,
        tokenizer: Tokenizer | None = None,
    ) -> None:
        super().__init__(["L"], multiref, alpha, output_transform, device, pad_id=pad_id, tokenizer=tokenizer)
