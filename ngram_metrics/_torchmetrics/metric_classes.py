"""The metrics as torchmetrics modules. Each class passes its parameters on to the function that makes the metric."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from typing_extensions import Unpack

from ngram_metrics._core.basics.option_checks import Average
from ngram_metrics._core.metrics.bleu import Smoothing, make_bleu
from ngram_metrics._core.metrics.chrf import make_chrf
from ngram_metrics._core.metrics.overlap import make_overlap
from ngram_metrics._core.metrics.rouge import DEFAULT_ROUGE_KEYS, Accumulate, RougeKey, make_rouge
from ngram_metrics._core.text.input_types import Hypotheses, References, Tokenizer
from ngram_metrics._torchmetrics.accumulator import Accumulator, Level, MetricKeywords
from ngram_metrics._torchmetrics.values import ScoredValue


class Bleu(Accumulator[Level]):
    """BLEU, counted batch by batch: by default sacrebleu's corpus score, and with average none its sentence BLEU.

    ``update(preds, target)`` counts a batch, ``compute()`` returns the score of all batches and ranks, ``reset()``
    starts over, and ``details()`` returns the parts of the score. The page "BLEU" has the formula, the smoothings and
    the differences from other packages.

    Args:
        ngram: the longest order, 1 to 1,000.
        smooth: ``no_smooth``, ``smooth1``, ``nltk_smooth2``, ``smooth2``, ``nltk_smooth3``, ``none``, ``floor``,
            ``add-k`` or ``exp``.
        smooth_value: the value for ``floor`` (default 0.1) and ``add-k`` (default 1).
        average: ``"micro"`` (corpus), ``"macro"`` (mean of the segments) or ``"none"`` (one score per segment).
        weights: one weight for each order; None for equal weights.
        effective_order: whether orders without any n-gram are left out; None for sacrebleu's rule: False for average
            micro, True for the others.
        tokenizer: for text: None (whitespace), a name that sacrebleu uses, a callable, or a Hugging Face tokenizer.
            A name is ignored for tokens and ids.
        lowercase: for text: whether it is lowercased.
        pad_id: for ids: the id or ids that are not tokens.
        confidence: the level of a bootstrap interval, such as 0.95; the metric then keeps the counts of each segment.
        device: where the states are. Text and lists are counted on the CPU, padded ids on their own device.
        kwargs: keyword arguments of ``torchmetrics.Metric``.

    ``compute`` returns a float64 tensor from 0 to 1: ``()``, or ``(segments,)`` for average none. Before any data it
    warns and returns 0, or an empty tensor for average none.

    Raises:
        ValueError, TypeError: a setting out of its range.
        ModuleNotFoundError: a tokenizer whose package is not installed.

    Example:
        >>> from ngram_metrics import Bleu
        >>> metric = Bleu()
        >>> metric.update(["The cat sat on the mat."], ["The cat sat on a mat."])
        >>> metric.compute()
        tensor(0.4889, dtype=torch.float64)
    """

    _make = staticmethod(make_bleu)

    def __init__(
        self,
        ngram: int = 4,
        smooth: Smoothing = "exp",
        smooth_value: float | None = None,
        average: Average = "micro",
        weights: Sequence[float] | None = None,
        effective_order: bool | None = None,
        tokenizer: Tokenizer | None = "13a",
        lowercase: bool = False,
        pad_id: int | Sequence[int] | None = None,
        confidence: Level = None,  # type: ignore[assignment]
        device: torch.device | str | None = None,
        **kwargs: Unpack[MetricKeywords],
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
        super().__init__(bleu, confidence, device, **kwargs)


class ROUGEScore(Accumulator[float | None]):
    """ROUGE, counted batch by batch, with the parameters and keys of ``torchmetrics.text.ROUGEScore``.

    ``update(preds, target)`` counts a batch, ``compute()`` returns a dict with the values of all batches and ranks, and
    ``reset()`` starts over. ``metric["rougeL_fmeasure"]`` is a metric of one value. The page "ROUGE" has the formulas,
    the rules for words and sentences, and the differences from other packages.

    Args:
        use_stemmer: whether words of more than three characters are stemmed, as nltk's Porter stemmer does.
        normalizer: for text: ``str -> str``, instead of lowercasing and removing everything but ``a-z0-9``.
        tokenizer: for text: None (split at whitespace), ``"unicode"`` or a name that sacrebleu uses, a callable
            ``str -> sequence of tokens``, or a Hugging Face tokenizer.
        accumulate: for several references: ``"best"``, the highest F for each key, or ``"avg"``, the mean score.
        rouge_keys: one or several of ``rouge1`` .. ``rouge9``, ``rougeL``, ``rougeLsum``.
        average: ``"macro"`` (mean of the segments), ``"micro"`` (of the summed counts) or ``"none"``.
        sentence_splitter: for text and ``rougeLsum``: ``str -> sequence of sentences``; None for lines.
        sentence_separator_id: for ids and ``rougeLsum``: the id between sentences.
        pad_id: for ids: the id or ids that are not tokens.
        confidence: the level of a bootstrap interval, such as 0.95; the metric then keeps the counts of each segment.
        device: where the states are. Text and lists are counted on the CPU, padded ids on their own device.
        kwargs: keyword arguments of ``torchmetrics.Metric``.

    ``compute`` returns a dict with ``<key>_fmeasure``, ``<key>_precision`` and ``<key>_recall`` for each key. The
    values are float64 tensors from 0 to 1: ``()``, or ``(segments,)`` for average none. Before any data it warns and
    returns NaN, as in torchmetrics.

    Raises:
        ValueError, TypeError: a setting out of its range; ``accumulate="avg"`` with ``average="micro"``.
        ModuleNotFoundError: a tokenizer whose package is not installed.

    Example:
        >>> from ngram_metrics import ROUGEScore
        >>> metric = ROUGEScore(rouge_keys=("rouge1", "rougeL"))
        >>> metric.update("My name is John", "Is your name John")
        >>> for key, value in metric.compute().items():
        ...     print(key, value.item())
        rouge1_fmeasure 0.75
        rouge1_precision 0.75
        rouge1_recall 0.75
        rougeL_fmeasure 0.5
        rougeL_precision 0.5
        rougeL_recall 0.5
    """

    _make = staticmethod(make_rouge)

    def __init__(
        self,
        use_stemmer: bool = False,
        normalizer: Callable[[str], str] | None = None,
        tokenizer: Tokenizer | None = None,
        accumulate: Accumulate = "best",
        rouge_keys: RougeKey | Sequence[RougeKey] = DEFAULT_ROUGE_KEYS,
        average: Average = "macro",
        sentence_splitter: Callable[[str], Sequence[str]] | None = None,
        sentence_separator_id: int | None = None,
        pad_id: int | Sequence[int] | None = None,
        confidence: float | None = None,
        device: torch.device | str | None = None,
        **kwargs: Unpack[MetricKeywords],
    ) -> None:
        rouge = make_rouge(
            use_stemmer=use_stemmer,
            normalizer=normalizer,
            tokenizer=tokenizer,
            accumulate=accumulate,
            rouge_keys=rouge_keys,
            average=average,
            sentence_splitter=sentence_splitter,
            sentence_separator_id=sentence_separator_id,
            pad_id=pad_id,
        )
        super().__init__(rouge, confidence, device, **kwargs)
        self.rouge_keys = tuple(rouge.titles)
        self.accumulate = accumulate

    if TYPE_CHECKING:  # a dict with or without intervals

        def __call__(self, preds: Hypotheses, target: References) -> dict[str, Tensor]: ...
        def compute(self) -> dict[str, Tensor]: ...
        def __getitem__(self, idx: Any) -> ScoredValue: ...


class ChrF(Accumulator[Level]):
    """chrF, counted batch by batch, or chrF++ with ``word_order=2``: by default the corpus score, as in sacrebleu.

    ``update(preds, target)`` counts a batch, ``compute()`` returns the score of all batches and ranks, ``reset()``
    starts over, and ``details()`` returns the parts of the score. The page "chrF" has the formula and the differences
    from other packages.

    Args:
        char_order: the longest order of character n-grams, 1 to 1,000.
        word_order: the longest order of word n-grams, 0 to 1,000; 2 is chrF++.
        beta: how much recall weighs against precision, 0 to 1e15.
        lowercase: for text: whether it is lowercased.
        whitespace: for text: whether whitespace characters are counted.
        eps_smoothing: whether F is averaged over all orders, as in chrF++.py, nltk and torchmetrics.
        average: ``"micro"`` (corpus), ``"macro"`` (mean of the segments) or ``"none"``.
        pad_id: for ids, which are counted as characters: the id or ids that are padding.

    The other parameters, the errors and the result of ``compute`` are as in ``ngram_metrics.Bleu``.

    Example:
        >>> from ngram_metrics import ChrF
        >>> metric = ChrF()
        >>> metric.update(["the cat is on the mat"], [["there is a cat on the mat", "a cat is on the mat"]])
        >>> metric.compute()
        tensor(0.8799, dtype=torch.float64)
    """

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
        confidence: Level = None,  # type: ignore[assignment]
        device: torch.device | str | None = None,
        **kwargs: Unpack[MetricKeywords],
    ) -> None:
        chrf = make_chrf(
            char_order=char_order,
            word_order=word_order,
            beta=beta,
            lowercase=lowercase,
            whitespace=whitespace,
            eps_smoothing=eps_smoothing,
            average=average,
            pad_id=pad_id,
        )
        super().__init__(chrf, confidence, device, **kwargs)


class NgramOverlap(Accumulator[Level]):
    """The overlap of the n-grams of one order, 2c / (h + r), counted batch by batch: by default a mean over segments.

    ``update(preds, target)`` counts a batch, ``compute()`` returns the score of all batches and ranks, ``reset()``
    starts over, and ``details()`` returns the parts of the score. ``preds`` may also be padded ids ``(segments,
    samples, width)``: several hypotheses for each segment. The page "N-gram overlap" has the formula and the
    differences from torch-ngram.

    Args:
        ngram: the order, 1 to 1,000.
        average: ``"macro"`` (mean over all hypotheses), ``"micro"`` (of the summed counts) or ``"none"``.
        tokenizer: for text: None (whitespace), a name, a callable, or a Hugging Face tokenizer.
        pad_id: for ids: the id or ids that are not tokens.
        confidence: the level of a bootstrap interval, such as 0.95; the metric then keeps the counts of each segment.
        device: where the states are. Text and lists are counted on the CPU, padded ids on their own device.
        kwargs: keyword arguments of ``torchmetrics.Metric``.

    ``compute`` returns a float64 tensor from 0 to 1: ``()``, or ``(segments,)`` or ``(segments, samples)`` for average
    none. Before any data it warns and returns 0, or an empty tensor for average none.

    Raises:
        ValueError, TypeError: a setting out of its range; for average none, batches with different numbers of samples.
        ModuleNotFoundError: a tokenizer whose package is not installed.

    Example:
        >>> import torch
        >>> from ngram_metrics import NgramOverlap
        >>> metric = NgramOverlap(ngram=2, average="none", pad_id=0)
        >>> metric.update(torch.tensor([[[5, 6, 7], [5, 6, 0]]]), torch.tensor([[5, 6, 7]]))
        >>> metric.compute()
        tensor([[1.0000, 0.6667]], dtype=torch.float64)
    """

    _make = staticmethod(make_overlap)

    def __init__(
        self,
        ngram: int = 1,
        average: Average = "macro",
        tokenizer: Tokenizer | None = None,
        pad_id: int | Sequence[int] | None = None,
        confidence: Level = None,  # type: ignore[assignment]
        device: torch.device | str | None = None,
        **kwargs: Unpack[MetricKeywords],
    ) -> None:
        overlap = make_overlap(ngram=ngram, average=average, tokenizer=tokenizer, pad_id=pad_id)
        super().__init__(overlap, confidence, device, **kwargs)
