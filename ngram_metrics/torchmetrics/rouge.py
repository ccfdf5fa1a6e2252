"""ROUGE for torchmetrics."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torchmetrics.metric import CompositionalMetric

from ngram_metrics import metrics
from ngram_metrics.scores.options import Average
from ngram_metrics.scores.rouge import Accumulate
from ngram_metrics.scores.rouge_keys import RougeKey
from ngram_metrics.text.inputs import Tokenizer
from ngram_metrics.torchmetrics.accumulator import Accumulator
from ngram_metrics.torchmetrics.values import Item, is_item


class ROUGEScore(Accumulator[float]):
    """ROUGE over batches, with the parameters and keys of ``torchmetrics.text.ROUGEScore``.

    See :mod:`ngram_metrics.scores.rouge` for the formulas and the differences from other packages, and
    :mod:`ngram_metrics.text.rouge_reader` for how texts become words and sentences. The states are sums of fixed size.

    Args:
        use_stemmer: whether words of more than three characters are stemmed, by nltk's Porter rules.
        normalizer: for text: ``str -> str``; it replaces lowercasing and the removal of all but ``a-z0-9``.
        tokenizer: for text: None (split at whitespace), ``"unicode"`` or a name that sacrebleu uses, a callable
            ``str -> sequence of tokens``, or a Hugging Face tokenizer.
        accumulate: for several references: ``"best"``, the highest F for each key, or ``"avg"``, the mean score.
        rouge_keys: one or several of ``rouge1`` .. ``rouge9``, ``rougeL``, ``rougeLsum``.
        average: ``"macro"`` (mean of the sentences), ``"micro"`` (of the summed counts) or ``"none"``.
        sentence_splitter: for text and ``rougeLsum``: ``str -> sequence of sentences``; None for lines.
        sentence_separator_id: for ids and ``rougeLsum``: the id between sentences.
        pad_id: for ids: the id or ids that are no tokens.
        confidence: the level of a bootstrap interval, such as 0.95; the metric then keeps the counts of each sentence.
        device: where the states are stored and text is counted.
        kwargs: keyword arguments of ``torchmetrics.Metric``.

    ``compute`` returns a dict with ``<key>_fmeasure``, ``<key>_precision`` and ``<key>_recall`` for each key, float64
    in 0..1: ``()``, or for average none ``(sentences,)``. Before any data it warns and returns NaN, as in torchmetrics.

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
        **kwargs: object,
    ) -> None:
        words, sentences = (use_stemmer, normalizer, tokenizer), (sentence_splitter, sentence_separator_id)
        rouge = metrics.rouge(*words, accumulate, rouge_keys, average, *sentences, pad_id)
        # The type of the class says float: compute returns a dict without confidence too.
        super().__init__(rouge, confidence, device, **kwargs)  # type: ignore[arg-type]
        self.rouge_keys, self.accumulate = tuple(rouge.shown), accumulate

    def __getitem__(self, idx: Any) -> CompositionalMetric:
        """Return a metric of one value, such as ``metric["rougeL_fmeasure"]``.

        Raises:
            KeyError: ``compute`` returns no value with this name.
        """
        return ROUGEValue(self, idx) if is_item(self, idx) else super().__getitem__(idx)


class ROUGEValue(Item, CompositionalMetric):
    """One value of a :class:`ROUGEScore`, with which it shares its states: ``rouge["rougeL_fmeasure"]``."""

    def __init__(self, whole: ROUGEScore, value: str) -> None:
        super().__init__(operator.itemgetter(value), whole, None)
        self.value = value

    @property
    def whole(self) -> ROUGEScore:
        """The metric with all values."""
        return cast(ROUGEScore, self.metric_a)
