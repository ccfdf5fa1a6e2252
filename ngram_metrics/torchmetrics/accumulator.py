"""The accumulator: one torchmetrics base class for all metrics of this package, which the ignite faces wear too."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

import torch
import torchmetrics
from torch import Tensor

from ngram_metrics.scores.measure import AnyMeasure, score_dtype
from ngram_metrics.scores.options import Average, check_average
from ngram_metrics.scores.references import NO_REFERENCES, joined_range
from ngram_metrics.scores.resampling import check_confidence, with_interval
from ngram_metrics.scores.rows import pack, row_width, unpack
from ngram_metrics.text.inputs import Hypotheses, References
from ngram_metrics.text.reader import Reader
from ngram_metrics.text.tokenizers import callable_name
from ngram_metrics.torchmetrics.counted import agreed, counted, sample_number, with_batch
from ngram_metrics.torchmetrics.joining import Joining, all_equal
from ngram_metrics.torchmetrics.keywords import refuse_keywords_of_peers
from ngram_metrics.torchmetrics.plots import Value, plot_histogram, plot_values, steps_of
from ngram_metrics.torchmetrics.settings import callables_number, settings_digest
from ngram_metrics.torchmetrics.signature import signature

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Attributes that torchmetrics' ``Metric._forward_reduce_state_update`` changes, and restores only if nothing raises.
_SWITCHES = (
    "_update_count",
    "_computed",
    "_forward_cache",
    "_to_sync",
    "_should_unsync",
    "_enable_grad",
    "_is_synced",
    "_cache",
    "compute_on_cpu",
)


class Accumulator(Joining):
    """Counts batches and scores their sum, their mean, or each sentence.

    States, whatever the metric: ``settings`` and ``callables`` (see :mod:`ngram_metrics.torchmetrics.settings`);
    ``counted``, of which kind (see :mod:`ngram_metrics.torchmetrics.counted`), int64 on the CPU; ``sentences``, how
    many, int64; ``reference_range``, how many references they have, int64; ``row``, the summed counts, int64; for macro
    ``score_sum``, float64; for none and with ``confidence`` ``rows``, a list of ``(sentences, fields)`` int64. They
    never change dtype, only device; where a device has no float64, float64 states stay on the CPU.

    Args:
        reader: how ``preds`` and ``target`` are read.
        measure: what is counted, and the score.
        average: ``"micro"``, ``"macro"`` or ``"none"``.
        confidence: the level of a bootstrap interval that ``compute`` returns beside each value; None for none.
        device: where the states lie, and where text and lists are counted; None for torch's default device.
        kwargs: those of ``torchmetrics.Metric``.

    Raises:
        ValueError: an unknown average; a confidence that is none, or together with average none.
    """

    is_differentiable = False
    higher_is_better = True
    full_state_update = False
    plot_lower_bound = 0.0
    plot_upper_bound = 1.0

    #: What ``compute`` returns before any data.
    empty_score: ClassVar[float] = 0.0
    #: What the value is called beside the ends of its interval.
    score_name: ClassVar[str] = ""
    #: ``torchmetrics.Metric`` lists its own properties; torch.jit.script would compile this one, and cannot.
    __jit_unused_properties__: ClassVar[list[str]] = [*torchmetrics.Metric.__jit_unused_properties__, "signature"]

    def __init__(
        self,
        reader: Reader,
        measure: AnyMeasure,
        average: Average,
        confidence: float | None = None,
        device: torch.device | str | None = None,
        **kwargs: object,
    ) -> None:
        refuse_keywords_of_peers(type(self), kwargs)
        super().__init__(**kwargs)
        check_average(average)
        check_confidence(confidence, average)
        self.reader, self.measure, self.average = reader, measure, average
        self.confidence = confidence
        self._keeps_rows = average == "none" or confidence is not None
        # The settings come first: a difference in them is found before any other state is compared.
        self.add_state(
            "settings", settings_digest(type(self).__name__, reader, measure, average, self._keeps_rows), all_equal
        )
        self.add_state("counted", _zeros((2,), torch.int64), agreed)
        self.add_state("callables", callables_number(reader, measure), "max")
        self.add_state("sentences", _zeros((), torch.int64), "sum")
        self.add_state("reference_range", torch.tensor(NO_REFERENCES, dtype=torch.int64, device="cpu"), "max")
        self.add_state("row", _zeros((row_width(measure.layout),), measure.row_dtype), "sum")
        if average == "macro":
            self.add_state("score_sum", _zeros(measure.score_shape, torch.float64), "sum")
        if self._keeps_rows:
            self.add_state("rows", [], "cat")
        # The states are made on the CPU and moved: from some default devices, "meta" for one, there is no way back.
        # Metric.__init__ has noted the default device, on which Metric._apply would begin.
        self._device = torch.device("cpu")
        # torch.get_default_device() knows nothing of `with torch.device(...)` in torch 2.4.
        self.to(device if device is not None else torch.empty(0).device)

    def update(self, preds: Hypotheses, target: References) -> None:
        """Count a batch.

        Args:
            preds: hypotheses, one a sentence.
            target: for each sentence its reference or a list of them.

        Raises:
            TypeError, ValueError: sentences that cannot be read; the states are then as they were.
        """
        batch = self.reader.read(preds, target, self.device)
        samples = batch.leading_shape[1] if batch.leading_shape and self.average == "none" else None
        noted = with_batch(self.counted, counted(batch.kind, samples))
        statistics = self.measure.statistics(batch)
        rows = pack(statistics, self.measure.layout)  # (sentences, fields)
        row, sentences = self.row + rows.sum(0).to(self.row.device), self.sentences + len(rows)
        references = joined_range(self.reference_range, batch.sides.references)
        kept = rows.to(self._place("rows")) if self._keeps_rows else rows
        score_sum = None
        if self.average == "macro":
            scores = self.measure.score(statistics).sum(0)
            # The state's device first, its dtype next: an accelerator may lack float64.
            score_sum = self.score_sum + scores.to(self.score_sum.device).to(torch.float64)
        # Nothing is set before all is computed: an error, also of memory, leaves the counts of whole batches.
        if self._keeps_rows:
            cast(list[Tensor], self.rows).append(kept)
        if score_sum is not None:
            self.score_sum = score_sum
        self.counted, self.reference_range, self.row, self.sentences = noted, references, row, sentences

    def compute(self) -> Value:
        """Return the score of all batches since the last reset, float64 where the device has it.

        Returns:
            ``()``, or for average none ``(sentences,)`` in the order of updates, rank by rank. With ``confidence`` a
            dict: ``bleu``, ``bleu_low`` and ``bleu_high``, or likewise for each value by its name.
        """
        score = self._score()
        if self.confidence is None:
            return self._named(score)
        return with_interval(self.measure, self._all_rows(), self.average, self.confidence, score, self.named_scores)

    def _score(self) -> Tensor:
        if self.average == "none":
            scores = self.measure.score(unpack(self._all_rows(), self.measure.layout))
            samples = sample_number(self.counted)
            if samples is None:
                return scores
            return scores.reshape(len(scores) // max(1, samples), samples, *scores.shape[1:])
        if self.average == "micro":
            score = self.measure.score(unpack(self.row, self.measure.layout))
        else:
            mean = self.score_sum / self.sentences.to(self.score_sum.device).clamp(min=1)
            score = mean.to(score_dtype(self.device)).to(self.device)
        return torch.where(self.sentences > 0, score, self.empty_score)

    def _named(self, score: Tensor) -> Value:
        """Return a score, or its parts by name, as ``compute`` does."""
        return score

    def named_scores(self, score: Tensor) -> dict[str, Tensor]:
        """Return scores ``(..., *score_shape)`` by the names of the values that ``compute`` returns."""
        return {self.score_name: score}

    def details(self) -> dict[str, Tensor]:
        """Return what the corpus score is made of, summed over all sentences whatever the average."""
        with self.synced():
            return {
                name: part.clone() for name, part in self.measure.parts(unpack(self.row, self.measure.layout)).items()
            }

    @property
    def signature(self) -> str:
        """All settings and versions that affect the score, as sacrebleu writes them; a callable is known by its name.

        ``nrefs`` is how many references the sentences so far had, as 1, or 1-4, of all processes: in a distributed run
        ask for it on every one of them.
        """
        with self.synced():
            return signature(self)

    def sentence_rows(self) -> Tensor:
        """Return the counts of each sentence, ``(sentences, fields)``, of all processes, rank by rank.

        Raises:
            ValueError: the metric was constructed without ``confidence``, and so keeps sums only.
        """
        if not self._keeps_rows:
            raise ValueError(f"this {type(self).__name__} keeps sums only: construct it with confidence=0.95")
        with self.synced():
            return self._all_rows()

    def plot(self, val: Value | Sequence[Value] | None = None, ax: Axes | None = None) -> tuple[Figure, Axes]:
        """Plot one value, or a list of them over the steps; for average none a histogram of the sentences' scores.

        Values by name are bars, or lines over the steps; with ``confidence`` they have whiskers or bands.

        Args:
            val: what ``compute`` or ``forward`` returned, or a list of such; None to compute.
            ax: the matplotlib axis to draw on; None for a new figure.

        Returns:
            The figure and the axis.

        Raises:
            ModuleNotFoundError: matplotlib is not installed (extra ``plot``).
            ValueError: ``val`` is an empty list or dict.
        """
        value = self.compute() if val is None else val
        steps = steps_of(value)
        if self.average == "none":
            return plot_histogram(value, type(self).__name__, ax)
        if named := [step for step in steps if isinstance(step, dict)]:
            return plot_values(value if isinstance(value, dict) else named, type(self).__name__, ax)
        numbers = [step for step in steps if isinstance(step, Tensor)]
        return cast("tuple[Figure, Axes]", self._plot(value if isinstance(value, Tensor) else numbers, ax))

    @torch.jit.unused
    def forward(self, preds: Hypotheses, target: References) -> Value:
        """Count a batch and return its own score. An error leaves the states as they were."""
        # Metric.forward has reset the states by the time an error comes: all batches before would be forgotten.
        with self._undone_on_error(*_SWITCHES):
            return super().forward(preds, target)

    def _wrap_update(self, update: Callable[..., None]) -> Callable[..., None]:
        """Take back what an update that failed has set, and what torchmetrics has noted of it."""
        # Metric._wrap_update counts an update, and forgets what was computed, before it knows of an error.
        counting = super()._wrap_update(update)

        @functools.wraps(update)
        def guarded(*args: object, **kwargs: object) -> None:
            with self._undone_on_error("_update_count", "_computed"):
                counting(*args, **kwargs)

        return guarded

    def _wrap_compute(self, compute: Callable[..., Value]) -> Callable[..., Value]:
        """Keep the dimensions of the scores of sentences, and give the states back where ``compute`` fails."""
        # Metric._wrap_compute makes a number of the score of a single sentence, (1,) or (1, 1).
        unsqueezed: list[Value] = []

        @functools.wraps(compute)
        def noted(*args: object, **kwargs: object) -> Value:
            unsqueezed.append(compute(*args, **kwargs))
            return unsqueezed[-1]

        squeezed = super()._wrap_compute(noted)

        @functools.wraps(compute)
        def shaped(*args: object, **kwargs: object) -> Value:
            unsqueezed.clear()
            synced = self._is_synced
            try:
                value: Any = squeezed(*args, **kwargs)
            except BaseException:
                # Metric.sync_context does not come to its unsync: all processes' states would stay in this one's place.
                if self._is_synced and not synced:
                    self.unsync()
                raise
            if self.average == "none" and unsqueezed:
                value = unsqueezed.pop()
                if self.compute_with_cache:
                    self._computed = value
            return value

        return shaped

    def extra_repr(self) -> str:
        """Return the settings that differ from the defaults; a subclass may have parameters that are none."""
        shown = []
        for name, parameter in inspect.signature(type(self)).parameters.items():
            # The measure, the reader or the metric itself keeps an option.
            for value in [getattr(part, name) for part in (self.measure, self.reader, self) if hasattr(part, name)][:1]:
                if value != parameter.default and name != "device":
                    shown.append(f"{name}={callable_name(value) if callable(value) else repr(value)}")
        return ", ".join(shown)


def _zeros(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    return torch.zeros(shape, dtype=dtype, device="cpu")
