"""The metrics as pytorch-ignite metrics: thin faces around the one accumulator, no arithmetic.

Drop-ins for ``ignite.metrics.nlp``: the same parameters in the same order, results, errors and ``state_dict``. The one
deliberate difference: a ``str`` is text and is split into words, where ignite would read it as characters.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast
from weakref import WeakKeyDictionary, ref

import torch
from torch import Tensor

import ngram_metrics
from ngram_metrics.scores.bleu import Smoothing
from ngram_metrics.scores.options import Average
from ngram_metrics.scores.rouge import Accumulate, Reducer, RougeMeasure
from ngram_metrics.text.inputs import Tokenizer
from ngram_metrics.text.word_reader import WordReader
from ngram_metrics.torchmetrics.accumulator import Accumulator

try:
    from ignite import distributed as idist
    from ignite import metrics as ignite_metrics
    from ignite.engine import Engine
    from ignite.exceptions import NotComputableError
    from ignite.metrics.metric import EpochWise, MetricUsage, reinit__is_reduced
except ImportError as error:
    raise ModuleNotFoundError(
        "ngram_metrics.ignite needs pytorch-ignite: pip install pytorch-ignite (ignite on PyPI is another package)",
        name=error.name,
    ) from error

__all__ = ["Bleu", "Rouge", "RougeN", "RougeL", "ROUGEScore", "ChrF", "NgramOverlap", "Gleu"]

#: From an engine's output to what ``update`` takes.
OutputTransform: TypeAlias = Callable[[Any], Any]
_CPU = torch.device("cpu")
#: The drop-in that writes each key of an engine's metrics; their keys do not follow the name of ``attach``.
_writers: WeakKeyDictionary[Engine, dict[str, ref[Rouge]]] = WeakKeyDictionary()


def _unchanged(output: Any) -> Any:
    """Return an engine's output as it is; a function with a name, so that metrics can be pickled."""
    return output


def _gathered(state: Tensor, group: Any = None) -> list[Tensor]:
    """Return a state of every rank, for the accumulator; ranks may have different numbers of rows."""
    ranks = idist.get_world_size()
    if state.dim() < 2:
        return list(cast(Tensor, idist.all_gather(state.reshape(1, -1))).reshape(ranks, *state.shape))
    counts = cast(Tensor, idist.all_gather(torch.tensor([len(state)], device=state.device))).tolist()
    padded = torch.cat((state, state.new_zeros(max(counts) - len(state), *state.shape[1:])))
    rows = cast(Tensor, idist.all_gather(padded)).reshape(ranks, max(counts), *state.shape[1:])
    return [of_rank[:count] for of_rank, count in zip(rows, counts, strict=True)]


def _is_distributed() -> bool:
    return idist.get_world_size() > 1


#: What a metric of torchmetrics has, and these faces have too.
_OF_THE_ACCUMULATOR = (
    *("reader", "measure", "average", "confidence", "device", "settings", "signature"),
    *("details", "sentence_rows", "named_scores"),
)


class _Face(ignite_metrics.Metric):
    """Counts batches and scores their sum, their mean, or each sentence, on the device that ignite is told.

    ``update`` takes ``(y_pred, y)`` or ``{"y_pred": ..., "y": ...}``: hypotheses, and for each its reference or a list
    of them, as text, tokens, ids, or padded id tensors. Several values are written to ``engine.state.metrics`` by the
    name that the metric is attached by: ``chrf``, ``chrf_low``, ``chrf_high``, or ``rouge_rouge1_fmeasure``.
    """

    def __init__(self, accumulator: Accumulator, output_transform: OutputTransform) -> None:
        accumulator.dist_sync_fn, accumulator.distributed_available_fn = _gathered, _is_distributed
        self._accumulator = accumulator
        # ignite would hand over (list of tensors, list of tensors) pair by pair.
        super().__init__(output_transform, accumulator.device, skip_unrolling=True)

    def __getattr__(self, attr: str) -> Any:
        """Return what the accumulator has: ``details``, ``sentence_rows``, ``signature`` and its settings.

        Of any other attribute ignite makes a new metric.
        """
        return getattr(self._accumulator, attr) if attr in _OF_THE_ACCUMULATOR else super().__getattr__(attr)

    def __repr__(self) -> str:
        """Show the settings that differ from the defaults."""
        return repr(self._accumulator)

    @reinit__is_reduced
    def reset(self) -> None:
        """Forget all batches."""
        self._accumulator.reset()

    @reinit__is_reduced
    def update(self, output: tuple[Any, Any], *others: Any) -> None:
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
            if int(self._accumulator.sentences) == 0:
                return self._empty()
            return self._in_ignites_types(Accumulator.compute(self._accumulator))

    def completed(self, engine: Engine, name: str) -> None:
        """Write the value, or several by the name of ``attach``: ignite writes them by names that metrics may share."""
        result = self.compute()
        if isinstance(result, Mapping):
            values = {self._key(key, name): value for key, value in result.items()}
            engine.state.metrics.update(values if name in values else values | {name: result})
        else:
            engine.state.metrics[name] = result.cpu() if isinstance(result, Tensor) and result.dim() else float(result)

    def _key(self, value: str, name: str) -> str:
        """Return the key of a value of a metric that is attached as ``name``."""
        own = self._accumulator.score_name
        return name + value.removeprefix(own) if own and value.startswith(own) else f"{name}_{value}"

    def _in_ignites_types(self, result: Any) -> Any:
        """Return values as ignite's metrics do: a float for one number, a dict of floats for several."""
        if self.average == "none":
            return result
        return {k: float(v) for k, v in result.items()} if isinstance(result, Mapping) else float(result)

    def _empty(self) -> Any:
        """Return what ``compute`` gives before any data, or raise."""
        raise NotComputableError(f"{type(self).__name__} must have at least one example before it can be computed.")

    def _state_dict_per_rank(self) -> OrderedDict[str, Any]:
        return OrderedDict(self._accumulator.saved_states())

    def _load_state_dict_per_rank(self, state_dict: Mapping[str, Any]) -> None:
        self._accumulator.load_states(dict(state_dict))


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
        >>> y_pred = "the the the the the the the"
        >>> y = ["the cat is on the mat", "there is a cat on the mat"]
        >>> metric.update(([y_pred.split()], [[reference.split() for reference in y]]))
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
        averages = ["macro", "micro"]
        # ignite looks at the other settings first.
        bleu = ngram_metrics.Bleu(
            ngram,
            smooth,
            smooth_value,
            average if average in averages else "macro",
            weights,
            effective_order,
            tokenizer,
            lowercase,
            pad_id,
            confidence,
            device,
        )
        if average not in averages:
            raise ValueError(f'Average must be either "macro" or "micro" (got: {average})')
        super().__init__(bleu, output_transform)

    def _in_ignites_types(self, result: Any) -> Any:
        as_it_is = self.average == "macro" and self.confidence is None
        return result if as_it_is else super()._in_ignites_types(result)

    def _empty(self) -> Any:
        if self.average != "micro":
            return super()._empty()
        return 0.0 if self._accumulator.confidence is None else dict.fromkeys(["bleu", "bleu_low", "bleu_high"], 0.0)


class Rouge(_Face):
    """Several ROUGE variants at once, one tokenization and one sort for all. See :mod:`ngram_metrics.scores.rouge`.

    Args:
        variants: orders of n-grams, at least 1, and ``"L"``; by default 1, 2, 4 and L.
        multiref: of several references, ``"average"`` adds up the counts and ``"best"`` takes the highest recall.
        alpha: the weight in F, in 0..1: 0, the default, makes F the recall, 1 the precision, 0.5 gives F1.
        output_transform: from the engine's output to what ``update`` takes.
        device: where the counts are accumulated.
        pad_id: for ids: the id or ids that are no tokens.
        tokenizer: for text, see :mod:`ngram_metrics.text.tokenizers`.

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
        self._keys = [f"Rouge-{variant}-{letter}" for variant in chosen for letter in "PRF"]

    def attach(self, engine: Engine, name: str, usage: str | MetricUsage = EpochWise()) -> None:  # noqa: B008
        """Attach to an engine, as ignite; warn where another metric writes the same keys, which are ignite's."""
        writers = _writers.setdefault(engine, {})
        others = {key: writers[key]() for key in self._keys if key in writers}
        shared = [
            key for key, other in others.items() if other not in (None, self) and other.is_attached(engine, usage)
        ]
        if shared:
            warnings.warn(
                f"two metrics attached to one engine both write {shared}: the one attached last is seen. Their names "
                "do not go into the keys, as in ignite; ngram_metrics.ignite.ROUGEScore has keys that do.",
                stacklevel=2,
            )
        writers.update(dict.fromkeys(self._keys, ref(self)))
        super().attach(engine, name, usage)

    def completed(self, engine: Engine, name: str) -> None:
        """Write the values by ignite's keys, and all of them by the name of ``attach``, as ignite."""
        ignite_metrics.Metric.completed(self, engine, name)

    def _in_ignites_types(self, result: Any) -> dict[str, float]:
        return dict(zip(self._keys, result.flatten().tolist(), strict=True))

    def _empty(self) -> Any:
        raise NotComputableError("Rouge metric must have at least one example before being computed")


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
        rouge = ngram_metrics.ROUGEScore(
            use_stemmer,
            normalizer,
            tokenizer,
            accumulate,
            rouge_keys,
            average,
            sentence_splitter,
            sentence_separator_id,
            pad_id,
            confidence,
            device,
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
