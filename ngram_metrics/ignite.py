"""The metrics as pytorch-ignite metrics: thin faces around the one accumulator, no arithmetic.

Drop-ins for ``ignite.metrics.nlp``: the same parameters in the same order, results, errors and ``state_dict``. The one
deliberate difference: a ``str`` is text and is split into words, where ignite would read it as characters.

``update`` takes ``(y_pred, y)`` or ``{"y_pred": ..., "y": ...}``: hypotheses, and for each its reference or a list of
them, as text, tokens, ids, or padded id tensors; ``output_transform`` makes that of an engine's output. ``device`` is
where the counts are accumulated. Several values are written to ``engine.state.metrics`` by the name that the metric is
attached by: ``chrf``, ``chrf_low``, ``chrf_high``, or ``rouge_rouge1_fmeasure``.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast
from weakref import WeakKeyDictionary, WeakSet

import torch
from torch import Tensor

import ngram_metrics
from ngram_metrics.scores.bleu import Smoothing
from ngram_metrics.scores.options import Average
from ngram_metrics.scores.rouge import Accumulate, Reducer, RougeMeasure
from ngram_metrics.text.inputs import Hypotheses, References, Tokenizer
from ngram_metrics.text.word_reader import WordReader
from ngram_metrics.torchmetrics.accumulator import Accumulator
from ngram_metrics.torchmetrics.saving import State

try:
    from ignite import distributed as idist
    from ignite.engine import Engine
    from ignite.exceptions import NotComputableError
    from ignite.metrics.metric import EpochWise, Metric, MetricUsage, reinit__is_reduced
except ImportError as error:
    raise ModuleNotFoundError(
        "ngram_metrics.ignite needs pytorch-ignite: pip install pytorch-ignite (ignite on PyPI is another package)",
        name=error.name,
    ) from error

__all__ = ["Bleu", "Rouge", "RougeN", "RougeL", "ROUGEScore", "ChrF", "NgramOverlap", "Gleu"]

#: From an engine's output to what ``update`` takes.
OutputTransform: TypeAlias = Callable[[Any], object]
_CPU = torch.device("cpu")
#: The drop-ins whose keys do not follow the name of ``attach``, by the engine that they have been attached to.
_drop_ins: WeakKeyDictionary[Engine, WeakSet[Rouge]] = WeakKeyDictionary()
#: What a metric of torchmetrics has, and these faces have too.
_OF_THE_ACCUMULATOR = (
    *("reader", "measure", "average", "confidence", "device", "settings", "signature"),
    *("details", "sentence_rows", "named_scores"),
)


def _unchanged(output: object) -> object:
    """Return an engine's output as it is; a function with a name, so that metrics can be pickled."""
    return output


def _gathered(state: Tensor, group: object = None) -> list[Tensor]:
    """Return a state of every rank, for the accumulator; ranks may have different numbers of rows."""

    def all_gather(tensor: Tensor) -> Tensor:
        of_ranks = cast(Tensor, idist.all_gather(tensor.unsqueeze(0)))
        return of_ranks.reshape(idist.get_world_size(), *tensor.shape)

    if state.dim() < 2:
        return list(all_gather(state))
    counts = all_gather(torch.tensor(len(state), device=state.device)).tolist()
    padded = torch.cat((state, state.new_zeros(max(counts) - len(state), *state.shape[1:])))
    return [rows[:count] for rows, count in zip(all_gather(padded), counts, strict=True)]


def _is_distributed() -> bool:
    return idist.get_world_size() > 1


class _Face(Metric):
    """Counts batches and scores their sum, their mean, or each sentence, on the device that ignite is told."""

    #: What ``compute`` says before any data, of the name of the class.
    _no_data = "{} must have at least one example before it can be computed."

    def __init__(self, accumulator: Accumulator, output_transform: OutputTransform) -> None:
        accumulator.dist_sync_fn, accumulator.distributed_available_fn = _gathered, _is_distributed
        self._accumulator = accumulator
        self._scores_no_data, self._returns_tensors = False, accumulator.average == "none"
        # ignite's iteration_completed would hand over (list of tensors, list of tensors) pair by pair.
        super().__init__(output_transform, accumulator.device, skip_unrolling=True)

    def __getattr__(self, attr: str) -> Any:
        """Return what the accumulator has; of any other attribute ignite makes a new metric."""
        return getattr(self._accumulator, attr) if attr in _OF_THE_ACCUMULATOR else super().__getattr__(attr)

    def __repr__(self) -> str:
        """Show the settings that differ from the defaults."""
        return repr(self._accumulator)

    @reinit__is_reduced
    def reset(self) -> None:
        """Forget all batches."""
        self._accumulator.reset()

    @reinit__is_reduced
    def update(self, output: tuple[Hypotheses, References], *others: object) -> None:
        """Count a batch ``(y_pred, y)``. An error leaves what was counted before as it was."""
        if others or not isinstance(output, (tuple, list)) or len(output) != 2:
            raise TypeError("update takes one argument, a pair: expected metric.update((y_pred, y))")
        y_pred, y = output
        if not isinstance(y_pred, str) and len(y_pred) != len(y):
            raise ValueError(f"nb of candidates should be equal to nb of reference lists ({len(y_pred)} != {len(y)})")
        # The function of the class: torchmetrics has wrapped the object's, which takes a tenth of a millisecond.
        Accumulator.update(self._accumulator, y_pred, y)

    def compute(self) -> Any:
        """Return the score of all batches since the last reset; for average none rank by rank."""
        with self._accumulator.synced():
            if not self._scores_no_data and int(self._accumulator.sentences) == 0:
                raise NotComputableError(self._no_data.format(type(self).__name__))
            result = Accumulator.compute(self._accumulator)
        if self._returns_tensors:
            return result
        return {name: float(value) for name, value in result.items()} if isinstance(result, dict) else float(result)

    def completed(self, engine: Engine, name: str) -> None:
        """Write the value, or several by the name of ``attach``: ignite writes them by names that metrics may share."""
        result = self.compute()
        if isinstance(result, Mapping):
            # The name stands for the metric's own, as in chrf_low; the values of ROUGE have no name in common.
            own = self._accumulator.score_name
            values = {name + (key.removeprefix(own) if own else f"_{key}"): value for key, value in result.items()}
            engine.state.metrics.update(values if name in values else values | {name: result})
        else:
            engine.state.metrics[name] = result.cpu() if isinstance(result, Tensor) and result.dim() else float(result)

    # ignite's saves and loads the attributes of the face that _state_dict_all_req_keys names; the states are elsewhere.
    def _state_dict_per_rank(self) -> OrderedDict[str, Tensor]:
        return OrderedDict(self._accumulator.saved_states())

    def _load_state_dict_per_rank(self, state_dict: Mapping[str, State]) -> None:
        self._accumulator.load_states(state_dict)


class Bleu(_Face):
    """BLEU attached to an ignite engine. See :mod:`ngram_metrics.scores.bleu` for the formula.

    The parameters up to ``average`` are ignite's; the others, keyword-only, and the smoothings that ignite lacks are
    those of :class:`ngram_metrics.Bleu`.

    ``compute`` returns a float64 tensor for macro, a float for micro, both in 0..1; with ``confidence`` a dict of
    floats: ``bleu``, ``bleu_low``, ``bleu_high``.

    Raises:
        ValueError: a setting out of its range; different numbers of hypotheses and references.
        NotComputableError: macro ``compute`` before any data; micro gives 0.

    Example:
        >>> from ngram_metrics.ignite import Bleu
        >>> metric = Bleu(ngram=4, smooth="smooth1")
        >>> metric.update((["the the the the the the the"], [["the cat is on the mat", "there is a cat on the mat"]]))
        >>> print(metric.compute())
        tensor(0.0393, dtype=torch.float64)
    """

    def __init__(
        self,
        ngram: int = 4,
        smooth: Smoothing = "no_smooth",
        output_transform: OutputTransform = _unchanged,
        device: str | torch.device = _CPU,
        average: Average = "macro",
        *,
        pad_id: int | Sequence[int] | None = None,
        tokenizer: Tokenizer | None = None,
        confidence: float | None = None,
        smooth_value: float | None = None,
        weights: Sequence[float] | None = None,
        effective_order: bool = False,
        lowercase: bool = False,
    ) -> None:
        counted = average if average in ("macro", "micro") else "macro"  # ignite looks at the other settings first
        text = tokenizer, lowercase, pad_id
        bleu = ngram_metrics.Bleu(
            ngram, smooth, smooth_value, counted, weights, effective_order, *text, confidence, device
        )
        if average != counted:
            raise ValueError(f'Average must be either "macro" or "micro" (got: {average})')
        super().__init__(bleu, output_transform)
        self._scores_no_data, self._returns_tensors = average == "micro", average == "macro" and confidence is None


class Rouge(_Face):
    """Several ROUGE variants at once, one tokenization and one sort for all. See :mod:`ngram_metrics.scores.rouge`.

    Args:
        variants: orders of n-grams, at least 1, and ``"L"``; by default 1, 2, 4 and L.
        multiref: of several references, ``"average"`` adds up the counts and ``"best"`` takes the highest recall.
        alpha: the weight in F, in 0..1: 0, the default, makes F the recall, 1 the precision, 0.5 gives F1.

    ``output_transform`` and ``device`` are as for all metrics of this module, ``pad_id`` and ``tokenizer`` those of
    :class:`ngram_metrics.Bleu`. ``compute`` returns a dict of floats in 0..1 with ``Rouge-<variant>-P``, ``-R`` and
    ``-F`` for each variant.

    Raises:
        ValueError: a setting out of its range; different numbers of hypotheses and references.
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
        output_transform: OutputTransform = _unchanged,
        device: str | torch.device = _CPU,
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
        super().__init__(Accumulator(reader, measure, "macro", None, device), output_transform)
        self._returns_tensors = True  # which compute gives names
        self._keys = [f"Rouge-{variant}-{letter}" for variant in chosen for letter in "PRF"]

    def attach(self, engine: Engine, name: str, usage: str | MetricUsage = EpochWise()) -> None:  # noqa: B008
        """Attach to an engine, as ignite; warn where another metric writes the same keys, which are ignite's."""
        others = _drop_ins.setdefault(engine, WeakSet())
        written = {
            key for other in others if other is not self and other.is_attached(engine, usage) for key in other._keys
        }
        if shared := [key for key in self._keys if key in written]:
            warnings.warn(
                f"two metrics attached to one engine both write {shared}: the one attached last is seen. Their names "
                "do not go into the keys, as in ignite; ngram_metrics.ignite.ROUGEScore has keys that do.",
                stacklevel=2,
            )
        others.add(self)
        super().attach(engine, name, usage)

    def compute(self) -> dict[str, float]:
        """Return all values by ignite's keys."""
        return dict(zip(self._keys, super().compute().flatten().tolist(), strict=True))

    def completed(self, engine: Engine, name: str) -> None:
        """Write the values by ignite's keys, and all of them by the name of ``attach``, as ignite."""
        Metric.completed(self, engine, name)


class RougeN(Rouge):
    """ROUGE-N. See :class:`Rouge` for the parameters; ``ngram`` is the order."""

    def __init__(
        self,
        ngram: int = 4,
        multiref: str = "average",
        alpha: float = 0,
        output_transform: OutputTransform = _unchanged,
        device: str | torch.device = _CPU,
        *,
        pad_id: int | Sequence[int] | None = None,
        tokenizer: Tokenizer | None = None,
    ) -> None:
        if isinstance(ngram, bool) or not isinstance(ngram, int):
            raise TypeError(f"ngram order must be an integer (got : {ngram!r})")
        super().__init__([ngram], multiref, alpha, output_transform, device, pad_id=pad_id, tokenizer=tokenizer)


class RougeL(Rouge):
    """ROUGE-L. See :class:`Rouge` for the parameters."""

    def __init__(
        self,
        multiref: str = "average",
        alpha: float = 0,
        output_transform: OutputTransform = _unchanged,
        device: str | torch.device = _CPU,
        *,
        pad_id: int | Sequence[int] | None = None,
        tokenizer: Tokenizer | None = None,
    ) -> None:
        super().__init__(["L"], multiref, alpha, output_transform, device, pad_id=pad_id, tokenizer=tokenizer)


class ROUGEScore(_Face):
    """ROUGE with the parameters and keys of :class:`ngram_metrics.ROUGEScore`, for an ignite engine.

    ``compute`` returns a dict of floats, for average none of tensors ``(sentences,)``; with ``confidence`` it holds the
    ends of each value's interval too, as ``rouge1_fmeasure_low``. Before any data it raises NotComputableError.
    """

    def __init__(
        self,
        use_stemmer: bool = False,
        normalizer: Callable[[str], str] | None = None,
        tokenizer: Tokenizer | None = None,
        accumulate: Accumulate = "best",
        rouge_keys: str | Sequence[str] = ("rouge1", "rouge2", "rougeL", "rougeLsum"),
        average: Average = "macro",
        sentence_splitter: Callable[[str], Sequence[str]] | None = None,
        sentence_separator_id: int | None = None,
        pad_id: int | Sequence[int] | None = None,
        confidence: float | None = None,
        output_transform: OutputTransform = _unchanged,
        device: str | torch.device = _CPU,
    ) -> None:
        words, sentences = (use_stemmer, normalizer, tokenizer), (sentence_splitter, sentence_separator_id)
        rouge = ngram_metrics.ROUGEScore(
            *words, accumulate, rouge_keys, average, *sentences, pad_id, confidence, device
        )
        super().__init__(rouge, output_transform)


class ChrF(_Face):
    """chrF with the parameters of :class:`ngram_metrics.ChrF`, for an ignite engine.

    ``compute`` returns a float, for average none a tensor ``(sentences,)``, with ``confidence`` a dict of floats:
    ``chrf``, ``chrf_low``, ``chrf_high``. Before any data it raises NotComputableError.
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
        confidence: float | None = None,
        output_transform: OutputTransform = _unchanged,
        device: str | torch.device = _CPU,
    ) -> None:
        chrf = ngram_metrics.ChrF(
            char_order, word_order, beta, lowercase, whitespace, eps_smoothing, average, pad_id, confidence, device
        )
        super().__init__(chrf, output_transform)


class NgramOverlap(_Face):
    """N-gram overlap with the parameters of :class:`ngram_metrics.NgramOverlap`, for an ignite engine.

    ``compute`` returns a float, for average none a tensor ``(sentences,)`` or ``(sentences, samples)``, with
    ``confidence`` a dict of floats: ``ngram_overlap``, ``ngram_overlap_low``, ``ngram_overlap_high``. Before any data
    it raises NotComputableError.
    """

    def __init__(
        self,
        ngram: int = 1,
        average: Average = "macro",
        tokenizer: Tokenizer | None = None,
        pad_id: int | Sequence[int] | None = None,
        confidence: float | None = None,
        output_transform: OutputTransform = _unchanged,
        device: str | torch.device = _CPU,
    ) -> None:
        overlap = ngram_metrics.NgramOverlap(ngram, average, tokenizer, pad_id, confidence, device)
        super().__init__(overlap, output_transform)


class Gleu(_Face):
    """Google-BLEU with the parameters of :class:`ngram_metrics.Gleu`; ``compute`` as of :class:`ChrF`."""

    def __init__(
        self,
        ngram: int = 4,
        average: Average = "micro",
        tokenizer: Tokenizer | None = None,
        pad_id: int | Sequence[int] | None = None,
        confidence: float | None = None,
        output_transform: OutputTransform = _unchanged,
        device: str | torch.device = _CPU,
    ) -> None:
        super().__init__(ngram_metrics.Gleu(ngram, average, tokenizer, pad_id, confidence, device), output_transform)
