"""The metrics as pytorch-ignite metrics: thin faces, no arithmetic.

Drop-ins for ``ignite.metrics.nlp``: the same parameters in the same order, results, errors and ``state_dict``. The one
deliberate difference: a ``str`` is text and is split into words, where ignite would read it as characters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, cast

import torch
from torch import Tensor

from ngram_metrics.scores.bleu import BleuMeasure
from ngram_metrics.scores.chrf import ChrfMeasure
from ngram_metrics.scores.measure import Measure, score_dtype
from ngram_metrics.scores.options import Average, check_average
from ngram_metrics.scores.overlap import OverlapMeasure
from ngram_metrics.scores.references import NO_REFERENCES, joined_range
from ngram_metrics.scores.resampling import check_confidence, with_interval
from ngram_metrics.scores.rouge import Reducer, RougeMeasure, by_key, checked_keys, rouge_measure
from ngram_metrics.scores.rows import pack, row_width, unpack
from ngram_metrics.text.character_reader import CharacterReader
from ngram_metrics.text.reader import WordReader
from ngram_metrics.text.rouge_reader import RougeReader
from ngram_metrics.text.samples import SampleReader
from ngram_metrics.torchmetrics.accumulator import Reader
from ngram_metrics.torchmetrics.settings import settings_digest
from ngram_metrics.torchmetrics.signature import signature

try:
    from ignite import distributed as idist
    from ignite import metrics as ignite_metrics
    from ignite.exceptions import NotComputableError
    from ignite.metrics.metric import reinit__is_reduced, sync_all_reduce
except ImportError as error:
    raise ModuleNotFoundError(
        "ngram_metrics.ignite needs pytorch-ignite: pip install pytorch-ignite (ignite on PyPI is another package)",
        name=error.name,
    ) from error

__all__ = ["Bleu", "Rouge", "RougeN", "RougeL", "ROUGEScore", "ChrF", "NgramOverlap"]

_CPU = torch.device("cpu")
_IGNITE_SMOOTHINGS = ["no_smooth", "smooth1", "nltk_smooth2", "smooth2"]


def _unchanged(output: Any) -> Any:
    """Return an engine's output as it is; a function with a name, so that metrics can be pickled."""
    return output


class _Face(ignite_metrics.Metric):
    """Counts batches and scores their sum, their mean, or each sentence, on the device that ignite is told.

    ``update`` takes ``(y_pred, y)`` or ``{"y_pred": ..., "y": ...}``: hypotheses, and for each its reference or a list
    of them, as text, tokens, ids, or padded id tensors. Counts are int64.
    """

    #: What the value is called beside the ends of its interval.
    score_name: ClassVar[str]

    _state_dict_all_req_keys = ("_settings", "_reference_range", "_row", "_score_sum", "_sentences", "_rows")

    def __init__(
        self,
        reader: Reader,
        measure: Measure,
        average: str,
        confidence: float | None,
        output_transform: Callable[[Any], Any],
        device: str | torch.device,
    ) -> None:
        check_average(average)
        check_confidence(confidence, average)
        self.reader, self.measure, self.average = reader, measure, cast(Average, average)
        self.confidence = confidence
        self._keeps_rows = average == "none" or confidence is not None
        self._settings = settings_digest(type(self).__name__, reader, measure, average, self._keeps_rows)
        # ignite would hand over (list of tensors, list of tensors) pair by pair.
        super().__init__(output_transform=output_transform, device=device, skip_unrolling=True)

    @property
    def device(self) -> torch.device:
        """Where text and lists are counted."""
        # ignite would make another metric of every attribute that it does not know.
        return self._device

    @reinit__is_reduced
    def reset(self) -> None:
        """Forget all batches."""
        width, dtype = row_width(self.measure.layout), self.measure.row_dtype
        self._row = torch.zeros(width, dtype=dtype, device=self._device)
        self._score_sum = torch.zeros(self.measure.score_shape, dtype=score_dtype(self._device), device=self._device)
        self._sentences = 0
        self._reference_range = torch.tensor(NO_REFERENCES, dtype=torch.int64, device=self._device)
        self._rows = torch.zeros(0, width, dtype=dtype, device=self._device)
        self._new_rows: list[Tensor] = []

    @reinit__is_reduced
    def update(self, output: tuple[Any, Any]) -> None:
        """Count a batch ``(y_pred, y)``. An error leaves what was counted before as it was."""
        y_pred, y = output
        if not isinstance(y_pred, str) and len(y_pred) != len(y):
            raise ValueError(f"nb of candidates should be equal to nb of reference lists ({len(y_pred)} != {len(y)})")
        batch = self.reader.read(y_pred, y, self._device)
        statistics = self.measure.statistics(*batch)
        rows = pack(statistics, self.measure.layout)
        row = self._row + rows.sum(0).to(self._device)
        references, score_sum = joined_range(self._reference_range, batch[1]), self._score_sum
        if self.average == "macro":
            score_sum = score_sum + self.measure.score(statistics).sum(0).to(score_sum)
        sentences, kept = self._sentences + len(rows), rows.to(self._device)
        # Nothing is set before all is computed: an error, also of memory, leaves the counts of one and the same data.
        if self._keeps_rows:
            self._new_rows.append(kept)
        self._row, self._score_sum, self._sentences, self._reference_range = row, score_sum, sentences, references

    @sync_all_reduce("_row", "_score_sum", "_sentences")
    def compute(self) -> Any:
        """Return the score of all batches since the last reset; for average none rank by rank."""
        if self._sentences == 0:
            return self._empty()
        if self.average == "none":
            return self._named(self.measure.score(unpack(self._gathered_rows(), self.measure.layout)))
        if self.average == "micro":
            score = self.measure.score(unpack(self._row, self.measure.layout))
        else:
            score = self._score_sum / self._sentences
        if self.confidence is None:
            return self._named(score)
        rows = self._gathered_rows()
        values = with_interval(self.measure, rows, self.average, self.confidence, score, self.named_scores)
        return {name: value.item() for name, value in values.items()}

    def named_scores(self, score: Tensor) -> dict[str, Tensor]:
        """Return scores ``(..., *score_shape)`` by the names of the values that ``compute`` returns."""
        return {self.score_name: score}

    @property
    def settings(self) -> Tensor:
        """A digest that is equal for metrics of equal settings."""
        return self._settings

    def sentence_rows(self) -> Tensor:
        """Return the counts of each sentence, ``(sentences, fields)``, of all processes, rank by rank.

        Raises:
            ValueError: the metric was constructed without ``confidence``, and so keeps sums only.
        """
        if not self._keeps_rows:
            raise ValueError(f"this {type(self).__name__} keeps sums only: construct it with confidence=0.95")
        return self._gathered_rows()

    @property
    def signature(self) -> str:
        """All settings and versions that affect the score, as sacrebleu writes them; a callable is known by its name.

        ``nrefs`` is how many references the sentences so far had, as 1, or 1-4, of all processes: in a distributed run
        ask for it on every one of them.
        """
        # A copy: ignite reduces in place.
        references = cast(Tensor, idist.all_reduce(self._reference_range.clone(), "MAX"))
        return signature(self.reader, self.measure, self.average, self.confidence, references)

    def _named(self, score: Tensor) -> Any:
        """Return a score, or its parts by name, as ``compute`` does."""
        return score

    def _empty(self) -> Any:
        """Return what ``compute`` gives before any data, or raise."""
        raise NotComputableError(f"{type(self).__name__} must have at least one example before it can be computed.")

    def _join_rows(self) -> Tensor:
        self._rows, self._new_rows = torch.cat([self._rows, *self._new_rows]), []
        return self._rows

    def _gathered_rows(self) -> Tensor:
        """Return the rows of all ranks; ranks may have different numbers of them."""
        rows = self._join_rows()
        if idist.get_world_size() == 1:
            return rows
        counts = idist.all_gather(torch.tensor([len(rows)], device=rows.device)).tolist()  # type: ignore[union-attr]
        padded = torch.cat((rows, rows.new_zeros(max(counts) - len(rows), rows.shape[1])))
        gathered = cast(Tensor, idist.all_gather(padded)).reshape(len(counts), max(counts), rows.shape[1])
        return torch.cat([of_rank[:count] for of_rank, count in zip(gathered, counts, strict=True)])

    def _load_state_dict_per_rank(self, state_dict: Mapping[str, Any]) -> None:
        settings = state_dict.get("_settings")
        if isinstance(settings, Tensor) and not torch.equal(settings.cpu(), self._settings):
            raise ValueError(
                f"this state was saved by a metric of other settings than this {type(self).__name__} has: "
                "expected the same class, options and average"
            )
        super()._load_state_dict_per_rank(state_dict)
        self._new_rows = []

    def _state_dict_per_rank(self) -> Any:
        self._join_rows()
        return super()._state_dict_per_rank()


class Bleu(_Face):
    """BLEU attached to an ignite engine. See :mod:`ngram_metrics.scores.bleu` for the formula.

    Args:
        ngram: the longest order.
        smooth: ``no_smooth``, ``smooth1``, ``nltk_smooth2`` or ``smooth2``.
        output_transform: from the engine's output to what ``update`` takes.
        device: where the counts are accumulated.
        average: ``"macro"`` or ``"micro"``.
        pad_id: for ids: the id or ids that are no tokens.
        tokenizer: for text, see :func:`ngram_metrics.text.tokenizers.batch_tokenizer`.
        confidence: the level of a bootstrap interval, as 0.95; the counts of each sentence are then kept.

    ``compute`` returns a float64 tensor for macro, a float for micro, both in 0..1; with ``confidence`` a dict of
    floats: ``bleu``, ``bleu_low``, ``bleu_high``.

    Raises:
        ValueError: a setting out of its range; different numbers of hypotheses and references.
        NotComputableError: macro ``compute`` before any data; micro gives 0.

    Example:
        >>> from ngram_metrics.ignite import Bleu
        >>> metric = Bleu(ngram=4, smooth="smooth1")
        >>> y_pred = "the the the the the the the"
        >>> y = ["the cat is on the mat", "there is a cat on the mat"]
        >>> metric.update(([y_pred.split()], [[reference.split() for reference in y]]))
        >>> print(metric.compute())
        tensor(0.0393, dtype=torch.float64)
    """

    def __init__(
        self,
        ngram: int = 4,
        smooth: str = "no_smooth",
        output_transform: Callable[[Any], Any] = _unchanged,
        device: str | torch.device = _CPU,
        average: str = "macro",
        *,
        pad_id: int | Sequence[int] | None = None,
        tokenizer: Any = None,
        confidence: float | None = None,
    ) -> None:
        if ngram > 0 and smooth not in _IGNITE_SMOOTHINGS:
            raise ValueError(f"Smooth is not valid (expected: {_IGNITE_SMOOTHINGS}, got: {smooth})")
        measure = BleuMeasure(ngram, smooth)
        if average not in ["macro", "micro"]:
            raise ValueError(f'Average must be either "macro" or "micro" (got: {average})')
        reader = WordReader(tokenizer, pad_id=pad_id)
        super().__init__(reader, measure, average, confidence, output_transform, device)

    score_name = "bleu"

    def _named(self, score: Tensor) -> Tensor | float:
        return float(score) if self.average == "micro" else score

    def _empty(self) -> Any:
        if self.average != "micro":
            return super()._empty()
        return 0.0 if self.confidence is None else dict.fromkeys(["bleu", "bleu_low", "bleu_high"], 0.0)


class _RougeFace(_Face):
    """ROUGE with ignite's parameters: the mean over the sentences of precision, recall and F of each variant."""

    def __init__(
        self,
        variants: Sequence[int | str],
        multiref: str,
        alpha: float,
        output_transform: Callable[[Any], Any],
        device: str | torch.device,
        pad_id: int | Sequence[int] | None,
        tokenizer: Any,
    ) -> None:
        if not 0 <= alpha <= 1:
            raise ValueError(f"alpha must be in interval [0, 1] (got : {alpha})")
        reducers: dict[str, Reducer] = {"best": "best_recall", "average": "sum"}
        if multiref not in reducers:
            raise ValueError(f"multiref : valid values are {list(reducers)} (got : {multiref})")
        for variant in variants:
            if variant != "L" and (isinstance(variant, bool) or not isinstance(variant, int)):
                raise ValueError("variant must be 'L' or integer greater to zero")
            if variant != "L" and int(variant) < 1:
                raise ValueError(f"ngram order must be greater than zero (got : {variant})")
        measure = RougeMeasure(tuple(variants), reducers[multiref], alpha)
        super().__init__(WordReader(tokenizer, pad_id=pad_id), measure, "macro", None, output_transform, device)
        self._variants = tuple(variants)

    def _named(self, score: Tensor) -> dict[str, float]:
        values = score.tolist()
        return {
            f"Rouge-{variant}-{letter}": values[number][column]
            for number, variant in enumerate(self._variants)
            for column, letter in enumerate("PRF")
        }

    def _empty(self) -> Any:
        raise NotComputableError("Rouge metric must have at least one example before being computed")


class Rouge(_RougeFace):
    """Several ROUGE variants at once, one tokenization and one sort for all. See :mod:`ngram_metrics.scores.rouge`.

    Args:
        variants: orders of n-grams, at least 1, and ``"L"``; by default 1, 2, 4 and L.
        multiref: of several references, ``"average"`` adds up the counts and ``"best"`` takes the highest recall.
        alpha: the weight in F, in 0..1: 0, the default, makes F the recall, 1 the precision, 0.5 gives F1.
        output_transform: from the engine's output to what ``update`` takes.
        device: where the counts are accumulated.
        pad_id: for ids: the id or ids that are no tokens.
        tokenizer: for text, see :func:`ngram_metrics.text.tokenizers.batch_tokenizer`.

    ``compute`` returns a dict of floats in 0..1 with ``Rouge-<variant>-P``, ``-R`` and ``-F`` for each variant.

    Raises:
        ValueError: a setting out of its range; different numbers of hypotheses and references.
        NotComputableError: ``compute`` before any data.

    Example:
        >>> from ngram_metrics.ignite import Rouge
        >>> metric = Rouge(variants=["L", 2], multiref="best")
        >>> candidate = "the cat is not there".split()
        >>> references = ["the cat is on the mat".split(), "there is a cat on the mat".split()]
        >>> metric.update(([candidate], [references]))
        >>> metric.compute()
        {'Rouge-L-P': 0.6, 'Rouge-L-R': 0.5, 'Rouge-L-F': 0.5, 'Rouge-2-P': 0.5, 'Rouge-2-R': 0.4, 'Rouge-2-F': 0.4}
    """

    def __init__(
        self,
        variants: Sequence[int | str] | None = None,
        multiref: str = "average",
        alpha: float = 0,
        output_transform: Callable[[Any], Any] = _unchanged,
        device: str | torch.device = _CPU,
        *,
        pad_id: int | Sequence[int] | None = None,
        tokenizer: Any = None,
    ) -> None:
        chosen: Sequence[int | str] = variants if variants else [1, 2, 4, "L"]
        super().__init__(chosen, multiref, alpha, output_transform, device, pad_id, tokenizer)


class RougeN(_RougeFace):
    """ROUGE-N. See :class:`Rouge` for the parameters; ``ngram`` is the order."""

    def __init__(
        self,
        ngram: int = 4,
        multiref: str = "average",
        alpha: float = 0,
        output_transform: Callable[[Any], Any] = _unchanged,
        device: str | torch.device = _CPU,
        *,
        pad_id: int | Sequence[int] | None = None,
        tokenizer: Any = None,
    ) -> None:
        if isinstance(ngram, bool) or not isinstance(ngram, int):
            raise TypeError(f"ngram order must be an integer (got : {ngram!r})")
        super().__init__([ngram], multiref, alpha, output_transform, device, pad_id, tokenizer)


class RougeL(_RougeFace):
    """ROUGE-L. See :class:`Rouge` for the parameters."""

    def __init__(
        self,
        multiref: str = "average",
        alpha: float = 0,
        output_transform: Callable[[Any], Any] = _unchanged,
        device: str | torch.device = _CPU,
        *,
        pad_id: int | Sequence[int] | None = None,
        tokenizer: Any = None,
    ) -> None:
        super().__init__(["L"], multiref, alpha, output_transform, device, pad_id, tokenizer)


class ROUGEScore(_Face):
    """ROUGE with the parameters and keys of :class:`ngram_metrics.ROUGEScore`, for an ignite engine.

    ``compute`` returns a dict of floats, for average none of tensors ``(sentences,)``; with ``confidence`` it holds the
    ends of each value's interval too, as ``rouge1_fmeasure_low``. Before any data it raises NotComputableError.
    """

    def __init__(
        self,
        use_stemmer: bool = False,
        normalizer: Callable[[str], str] | None = None,
        tokenizer: Any = None,
        accumulate: str = "best",
        rouge_keys: str | Sequence[str] = ("rouge1", "rouge2", "rougeL", "rougeLsum"),
        average: str = "macro",
        sentence_splitter: Callable[[str], Sequence[str]] | None = None,
        sentence_separator_id: int | None = None,
        pad_id: int | Sequence[int] | None = None,
        confidence: float | None = None,
        output_transform: Callable[[Any], Any] = _unchanged,
        device: str | torch.device = _CPU,
    ) -> None:
        self.rouge_keys = checked_keys(rouge_keys)
        wants_sentences = "rougeLsum" in self.rouge_keys
        reader = RougeReader(
            use_stemmer, normalizer, tokenizer, sentence_splitter, sentence_separator_id, pad_id, wants_sentences
        )
        measure = rouge_measure(self.rouge_keys, accumulate, average)
        super().__init__(reader, measure, average, confidence, output_transform, device)

    def named_scores(self, score: Tensor) -> dict[str, Tensor]:
        """Return scores ``(..., keys, 3)`` by the names of the values that ``compute`` returns."""
        return by_key(score, self.rouge_keys)

    def _named(self, score: Tensor) -> dict[str, Any]:
        named = self.named_scores(score)
        return named if self.average == "none" else {key: value.item() for key, value in named.items()}


class _NumberFace(_Face):
    """A metric of one number: a float, for average none a tensor ``(sentences,)``."""

    def _named(self, score: Tensor) -> Tensor | float:
        return score if self.average == "none" else float(score)


class ChrF(_NumberFace):
    """chrF with the parameters of :class:`ngram_metrics.ChrF`, for an ignite engine.

    ``compute`` returns a float, for average none a tensor ``(sentences,)``, with ``confidence`` a dict of floats:
    ``chrf``, ``chrf_low``, ``chrf_high``. Before any data it raises NotComputableError.
    """

    score_name = "chrf"

    def __init__(
        self,
        char_order: int = 6,
        word_order: int = 0,
        beta: float = 2.0,
        lowercase: bool = False,
        whitespace: bool = False,
        eps_smoothing: bool = False,
        average: str = "micro",
        pad_id: int | Sequence[int] | None = None,
        confidence: float | None = None,
        output_transform: Callable[[Any], Any] = _unchanged,
        device: str | torch.device = _CPU,
    ) -> None:
        measure = ChrfMeasure(char_order, word_order, beta, eps_smoothing)
        reader = CharacterReader(lowercase, whitespace, word_order > 0, pad_id)
        super().__init__(reader, measure, average, confidence, output_transform, device)


class NgramOverlap(_NumberFace):
    """N-gram overlap with the parameters of :class:`ngram_metrics.NgramOverlap`, for an ignite engine.

    ``compute`` returns a float, for average none a tensor with one score for each hypothesis, with ``confidence`` a
    dict of floats: ``ngram_overlap``, ``ngram_overlap_low``, ``ngram_overlap_high``. Before any data it raises
    NotComputableError.
    """

    score_name = "ngram_overlap"

    def __init__(
        self,
        ngram: int = 1,
        average: str = "macro",
        tokenizer: Any = None,
        pad_id: int | Sequence[int] | None = None,
        confidence: float | None = None,
        output_transform: Callable[[Any], Any] = _unchanged,
        device: str | torch.device = _CPU,
    ) -> None:
        reader, measure = SampleReader(tokenizer, pad_id=pad_id), OverlapMeasure(ngram)
        super().__init__(reader, measure, average, confidence, output_transform, device)
