"""The metrics as torchmetrics modules: for each its parameters, passed on to ``ngram_metrics.metric.definitions``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

import torch
from torch import Tensor
from typing_extensions import Unpack

from ngram_metrics.basics.keywords import named_arguments
from ngram_metrics.basics.option_checks import Accumulate, Average, RougeKey, Smoothing
from ngram_metrics.document_frequency import DocumentFrequency
from ngram_metrics.metric import definitions
from ngram_metrics.metric.scorer import Value
from ngram_metrics.scores.cider import CiderMeasure, checked_table
from ngram_metrics.text.input_types import Hypotheses, References, Tokenizer
from ngram_metrics.torchmetrics.accumulator import Accumulator, Level, MetricKeywords
from ngram_metrics.torchmetrics.values import ScoredValue


class Bleu(Accumulator[Level]):
    """BLEU, counted batch by batch: by default sacrebleu's corpus score, and with average none its sentence BLEU.

    ``update(preds, target)`` counts a batch, ``compute()`` returns the score of all batches and ranks, ``reset()``
    starts over, and ``details()`` has the parts of the score. The page is docs/metrics/bleu.md, and the formula and the
    smoothings are in ``ngram_metrics.scores.bleu``.

    Args:
        ngram: the longest order, 1 to 1,000.
        smooth: ``no_smooth``, ``smooth1``, ``nltk_smooth2``, ``smooth2``, ``none``, ``floor``, ``add-k`` or ``exp``.
        smooth_value: the value for ``floor`` (default 0.1) and ``add-k`` (default 1).
        average: ``"micro"`` (corpus), ``"macro"`` (mean of the segments) or ``"none"`` (one score per segment).
        weights: one weight for each order; None for equal weights.
        effective_order: whether orders without any n-gram are left out; None for sacrebleu's rule: False for average
            micro, True for the others.
        tokenizer: for text: None (whitespace), a name that sacrebleu uses, a callable, or a Hugging Face tokenizer.
            Tokens and ids are counted as they are, whatever the name.
        lowercase: for text: whether it is lowercased.
        pad_id: for ids: the id or ids that are not tokens.
        confidence: the level of a bootstrap interval, such as 0.95; the metric then keeps the counts of each segment.
        device: where the states are. Text and lists are counted on the CPU, padded ids on the device they lie on.
        kwargs: keyword arguments of ``torchmetrics.Metric``.

    ``compute`` returns float64 from 0 to 1: ``()``, or for average none ``(segments,)``. Before any data it warns and
    returns 0, or for average none no scores.

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
        text = tokenizer, lowercase, pad_id
        bleu = definitions.bleu(ngram, smooth, smooth_value, average, weights, effective_order, *text)
        super().__init__(bleu, confidence, device, **kwargs)
        self.effective_order = effective_order


class ROUGEScore(Accumulator[float]):
    """ROUGE, counted batch by batch, with the parameters and keys of ``torchmetrics.text.ROUGEScore``.

    ``update(preds, target)`` counts a batch, ``compute()`` returns a dict with the values of all batches and ranks, and
    ``reset()`` starts over. ``metric["rougeL_fmeasure"]`` is a metric of one value. The page is docs/metrics/rouge.md,
    the formulas are in ``ngram_metrics.scores.rouge``, and ``ngram_metrics.text.rouge_reader`` has the words.

    Args:
        use_stemmer: whether words of more than three characters are stemmed, by nltk's Porter rules.
        normalizer: for text: ``str -> str``; it replaces lowercasing and the removal of all but ``a-z0-9``.
        tokenizer: for text: None (split at whitespace), ``"unicode"`` or a name that sacrebleu uses, a callable
            ``str -> sequence of tokens``, or a Hugging Face tokenizer.
        accumulate: for several references: ``"best"``, the highest F for each key, or ``"avg"``, the mean score.
        rouge_keys: one or several of ``rouge1`` .. ``rouge9``, ``rougeL``, ``rougeLsum``.
        average: ``"macro"`` (mean of the segments), ``"micro"`` (of the summed counts) or ``"none"``.
        sentence_splitter: for text and ``rougeLsum``: ``str -> sequence of sentences``; None for lines.
        sentence_separator_id: for ids and ``rougeLsum``: the id between sentences.
        pad_id: for ids: the id or ids that are not tokens.
        confidence: the level of a bootstrap interval, such as 0.95; the metric then keeps the counts of each segment.
        device: where the states are. Text and lists are counted on the CPU, padded ids on the device they lie on.
        kwargs: keyword arguments of ``torchmetrics.Metric``.

    ``compute`` returns a dict with ``<key>_fmeasure``, ``<key>_precision`` and ``<key>_recall`` for each key, float64
    from 0 to 1: ``()``, or for average none ``(segments,)``. Before any data it warns and returns NaN, as in
    torchmetrics.

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
        device: torch.device | str | None = None,
        **kwargs: Unpack[MetricKeywords],
    ) -> None:
        words, sentences = (use_stemmer, normalizer, tokenizer), (sentence_splitter, sentence_separator_id)
        rouge = definitions.rouge(*words, accumulate, rouge_keys, average, *sentences, pad_id)
        # The type of the class says float: compute returns a dict without confidence too.
        super().__init__(rouge, confidence, device, **kwargs)  # type: ignore[arg-type]
        self.rouge_keys = tuple(rouge.titles)
        self.accumulate = accumulate

    if TYPE_CHECKING:

        def __getitem__(self, idx: Any) -> ScoredValue: ...


class ChrF(Accumulator[Level]):
    """chrF, counted batch by batch, or chrF++ with ``word_order=2``: by default the corpus score, as in sacrebleu.

    ``update(preds, target)`` counts a batch, ``compute()`` returns the score of all batches and ranks, ``reset()``
    starts over, and ``details()`` has the parts of the score. The page is docs/metrics/chrf.md, and the formula is in
    ``ngram_metrics.scores.chrf``.

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
        chrf = definitions.chrf(char_order, word_order, beta, lowercase, whitespace, eps_smoothing, average, pad_id)
        super().__init__(chrf, confidence, device, **kwargs)


class NgramOverlap(Accumulator[Level]):
    """The overlap of the n-grams of one order, 2c / (h + r), counted batch by batch: by default a mean over segments.

    ``update(preds, target)`` counts a batch, ``compute()`` returns the score of all batches and ranks, ``reset()``
    starts over, and ``details()`` has the parts of the score. The page is docs/metrics/overlap.md, and the formula is
    in ``ngram_metrics.scores.overlap``. ``preds`` may also be padded ids ``(segments, samples, width)``, several
    hypotheses for each reference.

    Args:
        ngram: the order, 1 to 1,000.
        average: ``"macro"`` (mean over all hypotheses), ``"micro"`` (of the summed counts) or ``"none"``.
        tokenizer: for text: None (whitespace), a name, a callable, or a Hugging Face tokenizer.
        pad_id: for ids: the id or ids that are not tokens.
        confidence: the level of a bootstrap interval, such as 0.95; the metric then keeps the counts of each segment.
        device: where the states are. Text and lists are counted on the CPU, padded ids on the device they lie on.
        kwargs: keyword arguments of ``torchmetrics.Metric``.

    ``compute`` returns float64 from 0 to 1: ``()``, or for average none ``(segments,)`` or ``(segments, samples)``.
    Before any data it warns and returns 0, or for average none no scores.

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
        super().__init__(definitions.overlap(ngram, average, tokenizer, pad_id), confidence, device, **kwargs)


class Gleu(Accumulator[Level]):
    """Google-BLEU, counted batch by batch: by default the corpus score, as in nltk's ``corpus_gleu``.

    ``update(preds, target)`` counts a batch, ``compute()`` returns the score of all batches and ranks, and ``reset()``
    starts over. The page is docs/metrics/gleu.md; ``ngram_metrics.scores.gleu`` has the formula.

    Args:
        ngram: the longest order, 1 to 1,000.
        average: ``"micro"`` (corpus), ``"macro"`` (mean of the segments) or ``"none"``.

    The other parameters, the errors and the result of ``compute`` are as in ``ngram_metrics.NgramOverlap``;
    Gleu takes one hypothesis per segment.

    Example:
        >>> from ngram_metrics import Gleu
        >>> metric = Gleu()
        >>> metric.update(["the cat is on the mat"], [["there is a cat on the mat", "a cat is on the mat"]])
        >>> metric.compute()
        tensor(0.7778, dtype=torch.float64)
    """

    def __init__(
        self,
        ngram: int = 4,
        average: Average = "micro",
        tokenizer: Tokenizer | None = None,
        pad_id: int | Sequence[int] | None = None,
        confidence: Level = None,  # type: ignore[assignment]
        device: torch.device | str | None = None,
        **kwargs: Unpack[MetricKeywords],
    ) -> None:
        super().__init__(definitions.gleu(ngram, average, tokenizer, pad_id), confidence, device, **kwargs)


class Ter(Accumulator[Level]):
    """TER, the translation edit rate, counted batch by batch: by default the corpus score. Lower is better.

    ``update(preds, target)`` counts a batch, ``compute()`` returns the score of all batches and ranks, and ``reset()``
    starts over. sacrebleu counts the edits, at about 3 ms for a hypothesis and a reference. The page is
    docs/metrics/ter.md; see ``ngram_metrics.scores.ter``.

    Args:
        normalized: whether punctuation is split off and XML escapes are resolved.
        no_punct: whether punctuation is removed.
        asian_support: whether these two know Chinese and Japanese characters, and ``normalized`` splits them apart.
        case_sensitive: whether case counts; else all texts are lowercased.
        average: ``"micro"`` (corpus), ``"macro"`` (mean of the segments) or ``"none"``.

    The other parameters are as in ``ngram_metrics.NgramOverlap``. ``preds`` and ``target`` are texts.
    ``compute`` returns float64, at least 0, and above 1 if there are more edits than words in the references: ``()``,
    or for average none ``(segments,)``. Before any data it warns and returns 0, or for average none no scores.

    Raises:
        TypeError: an option that is not True or False; in ``update``, tokens or ids.
        ValueError: an unknown average; in ``update``, a segment with more than 22 references.
        ModuleNotFoundError: sacrebleu is not installed (extra ``ter``).

    Example:
        >>> from ngram_metrics import Ter
        >>> metric = Ter()
        >>> metric.update(["the cat is on the mat"], [["there is a cat on the mat", "a cat is on the mat"]])
        >>> metric.compute()
        tensor(0.1538, dtype=torch.float64)
    """

    higher_is_better = False
    plot_upper_bound = None

    def __init__(
        self,
        normalized: bool = False,
        no_punct: bool = False,
        asian_support: bool = False,
        case_sensitive: bool = False,
        average: Average = "micro",
        confidence: Level = None,  # type: ignore[assignment]
        device: torch.device | str | None = None,
        **kwargs: Unpack[MetricKeywords],
    ) -> None:
        ter = definitions.ter(normalized, no_punct, asian_support, case_sensitive, average)
        super().__init__(ter, confidence, device, **kwargs)


class WithoutReferences(Accumulator[Level]):
    """An accumulator whose measure needs no references."""

    if TYPE_CHECKING:  # torch declares it for any module

        @overload
        def __call__(self: WithoutReferences[None], preds: Hypotheses, target: References | None = None) -> Tensor: ...
        @overload
        def __call__(
            self: WithoutReferences[float], preds: Hypotheses, target: References | None = None
        ) -> dict[str, Tensor]: ...
        @overload
        def __call__(self: WithoutReferences[Any], preds: Hypotheses, target: References | None = None) -> Value: ...
        def __call__(self, preds: Hypotheses, target: References | None = None) -> Value: ...

    @named_arguments
    def update(self, preds: Hypotheses, target: References | None = None) -> None:
        """Count a batch.

        Args:
            preds: texts, sequences of tokens or ids, or padded ids ``(segments, [samples,] width)``.
            target: not read, but may be given: a ``MetricCollection`` passes the references of other metrics.

        Raises:
            TypeError, ValueError: texts that cannot be read; the states do not change.
        """
        super().update(preds, ())

    @torch.jit.unused
    @named_arguments
    def forward(self, preds: Hypotheses, target: References | None = None) -> Value:
        """Count a batch and return the score of this batch. If it raises, the states do not change."""
        return super().forward(preds, ())


class Repetition(WithoutReferences[Level]):
    """Repetition: the share of n-grams that occurred in their text before. It needs no references. Lower is better.

    ``update(preds)`` counts a batch, ``compute()`` returns the score of all batches and ranks, and ``reset()`` starts
    over. A text that is shorter than the order repeats nothing: its score is 0. The page is docs/metrics/diversity.md,
    and the formula is in ``ngram_metrics.scores.repetition``.

    Args:
        ngram: the order, 1 to 1,000.
        average: ``"macro"`` (mean of the texts), ``"micro"`` (of the summed counts) or ``"none"``.

    The other parameters, the errors and the result of ``compute`` are as in ``ngram_metrics.NgramOverlap``.

    Example:
        >>> from ngram_metrics import Repetition
        >>> metric = Repetition(ngram=2)
        >>> metric.update(["so it goes so it goes", "so it goes"])
        >>> metric.compute()
        tensor(0.2000, dtype=torch.float64)
    """

    higher_is_better = False

    def __init__(
        self,
        ngram: int = 4,
        average: Average = "macro",
        tokenizer: Tokenizer | None = None,
        pad_id: int | Sequence[int] | None = None,
        confidence: Level = None,  # type: ignore[assignment]
        device: torch.device | str | None = None,
        **kwargs: Unpack[MetricKeywords],
    ) -> None:
        super().__init__(definitions.repetition(ngram, average, tokenizer, pad_id), confidence, device, **kwargs)


class CiderD(Accumulator[Level]):
    """CIDEr-D, counted batch by batch, on its published scale of 0 to 10.

    ``update(preds, target)`` counts a batch, ``compute()`` returns the score of all batches and ranks, and ``reset()``
    starts over. The weights of n-grams come from a table, so that batches and ranks have the same. Count the table in
    the references of the whole data set: ``document_frequency(references)``. The page is docs/metrics/cider.md, and the
    formula is in ``ngram_metrics.scores.cider``.

    Args:
        document_frequency: the table of ``ngram_metrics.functional.document_frequency``.
        ngram: the longest order, at most the longest of the table.
        sigma: how much the lengths may differ, in words, above 0.
        average: ``"macro"`` (mean of the segments) or ``"none"``.

    The other parameters, the errors and the result of ``compute`` are as in ``ngram_metrics.NgramOverlap``, but
    the scores are from 0 to 10. ``tokenizer`` must be the table's. CiderD takes one hypothesis per segment.

    Example:
        >>> from ngram_metrics import CiderD
        >>> from ngram_metrics.functional import document_frequency
        >>> references = [["a cat sat on the mat", "the cat sat on a mat"], ["a dog ran home"]]
        >>> metric = CiderD(document_frequency(references))
        >>> metric.update(["a cat sat on a mat", "a dog ran"], references)
        >>> metric.compute()
        tensor(6.2841, dtype=torch.float64)
    """

    plot_upper_bound = CiderMeasure.highest

    def __init__(
        self,
        document_frequency: DocumentFrequency,
        ngram: int = 4,
        sigma: float = 6.0,
        average: Average = "macro",
        tokenizer: Tokenizer | None = None,
        pad_id: int | Sequence[int] | None = None,
        confidence: Level = None,  # type: ignore[assignment]
        device: torch.device | str | None = None,
        **kwargs: Unpack[MetricKeywords],
    ) -> None:
        table = checked_table(document_frequency)
        super().__init__(
            definitions.cider(table, ngram, sigma, average, tokenizer, pad_id), confidence, device, **kwargs
        )
