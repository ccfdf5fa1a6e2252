"""The accumulator: one torchmetrics base class for all metrics of this package."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

import torch
import torchmetrics
from lightning_utilities import apply_to_collection
from torch import Tensor
from torchmetrics.utilities.distributed import gather_all_tensors

from ngram_metrics.metrics.plots import plot_histogram, plot_values, steps_of
from ngram_metrics.metrics.settings import callables_number, settings_digest
from ngram_metrics.metrics.signature import signature
from ngram_metrics.scores.references import NO_REFERENCES, joined_range
from ngram_metrics.scores.resampling import check_confidence, with_interval
from ngram_metrics.scores.statistics import Average, Metric, check_average, pack, row_width, score_dtype, unpack

#: What torchmetrics notes and turns while ``forward`` runs.
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


class Reader(Protocol):
    """What turns a batch, as the caller gave it, into token batches."""

    def read(self, preds: Any, target: Any, device: torch.device) -> tuple[Any, ...]:
        """Return what the metric's ``statistics`` takes: hypotheses, references, and what else it needs."""

    def signature(self) -> dict[str, str]:
        """Return the settings of reading that affect the score, in words."""


class Accumulator(torchmetrics.Metric):
    """Counts batches and scores their sum, their mean, or each sentence.

    States, whatever the metric: ``settings`` and ``callables`` (see :mod:`ngram_metrics.metrics.settings`);
    ``sentences``, how many, int64; ``reference_range``, how many references they have, int64; ``row``, the summed
    counts, int64; for macro ``score_sum``, float64; for none and with ``confidence`` ``rows``, a list of
    ``(sentences, fields)`` int64. They never change dtype, only device; where a device has no float64, float64 states
    stay on the CPU.

    Args:
        reader: how ``preds`` and ``target`` are read.
        metric: what is counted, and the score.
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
    score_name: ClassVar[str]
    #: States that describe the metric and not the data.
    _DESCRIPTIVE: ClassVar[tuple[str, ...]] = ("settings", "callables")
    #: torch.jit.script would compile a property.
    __jit_unused_properties__: ClassVar[list[str]] = [*torchmetrics.Metric.__jit_unused_properties__, "signature"]

    if TYPE_CHECKING:  # torch.jit.script cannot read these
        settings: Tensor
        callables: Tensor
        sentences: Tensor
        reference_range: Tensor
        row: Tensor
        score_sum: Tensor
        rows: list[Tensor] | Tensor

    def __init__(
        self,
        reader: Reader,
        metric: Metric,
        average: str,
        confidence: float | None = None,
        device: torch.device | str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_average(average)
        check_confidence(confidence, average)
        self.reader, self.metric, self.average = reader, metric, cast(Average, average)
        self.confidence = confidence
        self._keeps_rows = average == "none" or confidence is not None
        # The settings come first: a difference in them is found before any other state is compared.
        self.add_state(
            "settings", settings_digest(type(self).__name__, reader, metric, average, self._keeps_rows), _all_equal
        )
        self.add_state("callables", callables_number(reader, metric), "max")
        self.add_state("sentences", _zeros((), torch.int64), "sum")
        self.add_state("reference_range", torch.tensor(NO_REFERENCES, dtype=torch.int64, device="cpu"), "max")
        self.add_state("row", _zeros((row_width(metric.layout),), metric.row_dtype), "sum")
        if average == "macro":
            self.add_state("score_sum", _zeros(metric.score_shape, torch.float64), "sum")
        if self._keeps_rows:
            self.add_state("rows", [], "cat")
        # Made on the CPU and moved: from some default devices, "meta" for one, there is no way back.
        self._device = torch.device("cpu")
        # torch.get_default_device() knows nothing of `with torch.device(...)` in torch 2.4.
        self.to(device if device is not None else torch.empty(0).device)

    def update(self, preds: Any, target: Any) -> None:
        """Count a batch.

        Args:
            preds: hypotheses, one a sentence.
            target: for each sentence its reference or a list of them.

        Raises:
            TypeError, ValueError: sentences that cannot be read; the states are then as they were.
        """
        batch = self.reader.read(preds, target, self.device)
        statistics = self.metric.statistics(*batch)
        rows = pack(statistics, self.metric.layout)
        row = self.row + rows.sum(0).to(self.row.device)
        references = joined_range(self.reference_range, batch[1])
        if self.average == "macro":
            scores = self.metric.score(statistics)
            # The state's device first, its dtype next: an accelerator may lack float64.
            self.score_sum = self.score_sum + scores.sum(0).to(self.score_sum.device).to(torch.float64)
        if self._keeps_rows:
            cast(list[Tensor], self.rows).append(rows.to(self.row.device))
        self.row, self.sentences, self.reference_range = row, self.sentences + len(rows), references

    def compute(self) -> Any:
        """Return the score of all batches since the last reset, float64 where the device has it.

        Returns:
            ``()``, or for average none ``(sentences,)`` in the order of updates, rank by rank. With ``confidence`` a
            dict: ``bleu``, ``bleu_low`` and ``bleu_high``, or likewise for each value by its name.
        """
        score = self._score()
        if self.confidence is None:
            return self._named(score)
        return with_interval(self.metric, self._all_rows(), self.average, self.confidence, score, self.named_scores)

    def _score(self) -> Tensor:
        if self.average == "none":
            return self.metric.score(unpack(self._all_rows(), self.metric.layout))
        if self.average == "micro":
            score = self.metric.score(unpack(self.row, self.metric.layout))
        else:
            mean = self.score_sum / self.sentences.to(self.score_sum.device).clamp(min=1)
            score = mean.to(score_dtype(self.device)).to(self.device)
        return torch.where(self.sentences > 0, score, self.empty_score)

    def _named(self, score: Tensor) -> Any:
        """Return a score, or its parts by name, as ``compute`` does."""
        return score

    def named_scores(self, score: Tensor) -> dict[str, Tensor]:
        """Return scores ``(..., *score_shape)`` by the names of the values that ``compute`` returns."""
        return {self.score_name: score}

    def details(self) -> dict[str, Tensor]:
        """Return what the corpus score is made of, summed over all sentences whatever the average."""
        with self._synced():
            return {
                name: part.clone() for name, part in self.metric.parts(unpack(self.row, self.metric.layout)).items()
            }

    @property
    def signature(self) -> str:
        """All settings and versions that affect the score, as sacrebleu writes them; a callable is known by its name.

        ``nrefs`` is how many references the sentences so far had, as 1, or 1-4, of all processes: in a distributed run
        ask for it on every one of them.
        """
        with self._synced():
            return signature(self.reader, self.metric, self.average, self.confidence, self.reference_range)

    def sentence_rows(self) -> Tensor:
        """Return the counts of each sentence, ``(sentences, fields)``, of all processes, rank by rank.

        Raises:
            ValueError: the metric was constructed without ``confidence``, and so keeps sums only.
        """
        if not self._keeps_rows:
            raise ValueError(f"this {type(self).__name__} keeps sums only: construct it with confidence=0.95")
        with self._synced():
            return self._all_rows()

    def _synced(self) -> AbstractContextManager[None]:
        """Return the context in which the states are those of all processes, where ``compute`` would see them so."""
        return self.sync_context(
            dist_sync_fn=self.dist_sync_fn,
            should_sync=self.sync_on_compute and not self._is_synced,
            should_unsync=not self._is_synced,
        )

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Plot one value, or a list of them over the steps; for average none a histogram of the sentences' scores.

        Values by name are bars, or lines over the steps; with ``confidence`` they stand with their intervals.

        Args:
            val: what ``compute`` or ``forward`` returned, or a list of such; None to compute.
            ax: the matplotlib axis to draw on; None for a new figure.

        Returns:
            The figure and the axis.

        Raises:
            ModuleNotFoundError: matplotlib is not installed (extra ``plot``).
            ValueError: ``val`` is an empty list or dict.
        """
        val = self.compute() if val is None else val
        first = steps_of(val)[0]
        if self.average == "none":
            return plot_histogram(val, type(self).__name__, ax)
        if isinstance(first, dict):
            return plot_values(val, type(self).__name__, ax)
        return self._plot(val, ax)

    def reset(self) -> None:
        """Forget all batches."""
        if self._keeps_rows:
            # A new list: torchmetrics would empty the old one, which a Running wrapper holds, or find a synced tensor.
            self.rows = []
        super().reset()

    @torch.jit.unused
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Count a batch and return its own score. An error leaves the states as they were."""
        # torchmetrics has reset the states by the time an error comes, and turned some of its switches.
        with self._undone_on_error(*_SWITCHES):
            return super().forward(*args, **kwargs)

    def merge_state(self, incoming_state: dict[str, Any] | torchmetrics.Metric) -> None:
        """Add another metric's states to this one's; its sentences come after this one's.

        Args:
            incoming_state: a metric of the same class and settings, or its ``metric_state``.

        Raises:
            ValueError: another class, other settings, or states that are missing.
        """
        own = _kept(self.rows, "rows") if self._keeps_rows else None
        incoming = incoming_state.metric_state if isinstance(incoming_state, torchmetrics.Metric) else incoming_state
        if isinstance(incoming, dict) and "settings" in incoming:
            self._check_settings(incoming["settings"])
            if set(self._defaults) <= set(incoming):  # else torchmetrics goes on to where the missing ones are named
                problem = self._why_not_loadable(
                    {name: incoming[name] for name in self._defaults if name != "callables"}
                )
                if problem is not None:
                    raise ValueError(problem)
        with self._undone_on_error():
            super().merge_state(incoming_state)
            if own is not None:
                self.rows = own + _kept(cast(Any, incoming)["rows"], "rows")
        merged = incoming_state.update_count if isinstance(incoming_state, torchmetrics.Metric) else 1
        self._update_count += merged
        self._computed = None  # torchmetrics keeps what was computed before the merge

    def persistent(self, mode: bool = False) -> None:
        """Choose whether the states go into ``state_dict``; ``callables`` is of this process and never does."""
        super().persistent(mode)
        self._persistent["callables"] = False

    def set_dtype(self, dst_type: str | torch.dtype) -> Accumulator:
        """Do nothing: counts and sums keep their dtype."""
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copy or a pickled metric; its callables may be others in this process."""
        super().__setstate__(state)
        number = callables_number(self.reader, self.metric)
        self._defaults["callables"] = number.to(self.callables.device)
        self.callables = number.to(self.callables.device)

    def _wrap_update(self, update: Callable[..., None]) -> Callable[..., None]:
        """Take back what an update that failed has set, and what torchmetrics has noted of it."""
        counting = super()._wrap_update(update)

        @functools.wraps(update)
        def guarded(*args: Any, **kwargs: Any) -> None:
            with self._undone_on_error("_update_count", "_computed"):
                counting(*args, **kwargs)

        return guarded

    @contextmanager
    def _undone_on_error(self, *switches: str) -> Iterator[None]:
        """Give all states, and the attributes named, their values back where an error ends what is done inside."""
        before = {name: getattr(self, name) for name in (*self._defaults, *switches)}
        # Lists are added to in place. They are cut and not copied: that would take longer with every batch.
        lengths = {name: len(state) for name, state in before.items() if isinstance(state, list)}
        try:
            yield
        except BaseException:
            for name, value in before.items():
                setattr(self, name, value)
            for name, length in lengths.items():
                del before[name][length:]
            raise

    def _wrap_compute(self, compute: Callable[..., Any]) -> Callable[..., Any]:
        """Give a score of each sentence its dimension back: torchmetrics takes it from a single one."""
        squeezed = super()._wrap_compute(compute)

        @functools.wraps(compute)
        def shaped(*args: Any, **kwargs: Any) -> Any:
            synced = self._is_synced
            try:
                value = squeezed(*args, **kwargs)
            except BaseException:
                # torchmetrics would leave the states of all processes in the place of this one's.
                if self._is_synced and not synced:
                    self.unsync()
                raise
            if self.average == "none":
                value = apply_to_collection(value, Tensor, self._with_dimension)
                if self.compute_with_cache:
                    self._computed = value
            return value

        return shaped

    def _with_dimension(self, scores: Tensor) -> Tensor:
        return scores.reshape(1) if scores.dim() == 0 else scores

    def _apply(self, fn: Callable[[Tensor], Tensor], exclude_state: Any = "") -> torch.nn.Module:
        """Let ``.to(device)`` through and drop casts: ``.to(torch.bfloat16)``, ``.half()`` and the like."""

        def move(tensor: Tensor) -> Tensor:
            device = fn(torch.empty(0, device=tensor.device)).device
            if tensor.dtype == torch.float64 and score_dtype(device) != torch.float64:
                return tensor.to("cpu")
            return tensor.to(device)

        self._computed = None  # of the old device's precision
        return super()._apply(move, exclude_state)

    def _all_rows(self) -> Tensor:
        """Return the rows of all sentences as one tensor, also where there is none or where a sync has joined them."""
        if isinstance(self.rows, Tensor):
            return self.rows
        return torch.cat(self.rows) if self.rows else self.row.new_zeros(0, len(self.row))

    def _reduce_states(self, incoming_state: dict[str, Any]) -> None:
        """Add another metric's states, which come before this one's."""
        missing = [name for name in self._defaults if name not in incoming_state]
        if missing:
            raise ValueError(f"the incoming state lacks {missing}: expected the states {list(self._defaults)}")
        for name in self._defaults:
            if name not in self._DESCRIPTIVE:
                own = getattr(self, name)
                incoming = _moved(incoming_state[name], self._place(name))
                join = torch.maximum if name == "reference_range" else operator.add
                setattr(self, name, join(_kept(incoming, name), _kept(own, name)))

    def _sync_dist(self, dist_sync_fn: Callable[..., Any] = gather_all_tensors, process_group: Any = None) -> None:
        """Gather, with one tensor of rows from every rank: torchmetrics would send a rank without rows as float32."""
        # The settings by themselves first: ranks of different averages have different states, and would wait for each
        # other in the middle of gathering them.
        group = process_group or self.process_group
        _all_equal(torch.stack(dist_sync_fn(self.settings, group=group)))
        self._check_ranks(lambda state: torch.stack(dist_sync_fn(state, group=group)))
        if self._keeps_rows:
            self.rows = [self._all_rows()]
        super()._sync_dist(dist_sync_fn, process_group)

    def _check_ranks(self, gathered: Callable[[Tensor], Tensor]) -> None:
        """Raise where states of ranks cannot be joined, before any is; ``gathered`` stacks a state of all ranks."""

    def _check_settings(self, settings: Any) -> None:
        if not isinstance(settings, Tensor) or not torch.equal(settings.to(self.settings.device), self.settings):
            raise ValueError(
                f"these states were counted by a metric of other settings than this {type(self).__name__} has: "
                "expected the same class, options and average"
            )

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load states that were saved after ``persistent(True)``: all of them, checked before any is set, or none."""
        saved = {name: state_dict[prefix + name] for name in self._defaults if prefix + name in state_dict}
        if saved:
            problem = self._why_not_loadable(saved)
            if problem is not None:
                error_msgs.append(problem)
                return
            for name, value in saved.items():
                # A sync joins the rows to one tensor; here they are a list, to be added to.
                state_dict[prefix + name] = _moved(_kept(value, name), self._place(name))
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )
        if saved:
            self._update_count = max(1, self._update_count)
            self._computed = None

    def _place(self, name: str) -> torch.device:
        """Return where a state lies."""
        return cast(torch.device, getattr(self, "row" if name == "rows" else name).device)

    def _why_not_loadable(self, saved: dict[str, Any]) -> str | None:
        expected = [name for name in self._defaults if name != "callables"]
        if set(saved) != set(expected):
            return f"the saved states are {sorted(saved)}: expected {sorted(expected)}"
        try:
            self._check_settings(saved["settings"])
        except ValueError as error:
            return str(error)
        for name, value in saved.items():
            default = self.row.unsqueeze(0) if name == "rows" else self._defaults[name]
            assert isinstance(default, Tensor)
            for tensor in value if name == "rows" and isinstance(value, list) else [value]:
                if not isinstance(tensor, Tensor):
                    return f"the saved state {name} is a {type(tensor).__name__}: expected a tensor"
                shape_differs = (
                    tensor.shape[1:] != default.shape[1:] if name == "rows" else tensor.shape != default.shape
                )
                if tensor.dtype != default.dtype or shape_differs:
                    return (
                        f"the saved state {name} is {tensor.dtype} of shape {tuple(tensor.shape)}: "
                        f"expected {default.dtype} of shape {tuple(default.shape)}"
                    )
        return None


def _all_equal(gathered: Tensor) -> Tensor:
    """Reduce the digests of all ranks ``(ranks, 32)``, which must be the same."""
    if not bool((gathered == gathered[0]).all()):
        raise ValueError("the ranks hold metrics of different settings: expected the same class, options and average")
    return gathered[0]


def _moved(state: Any, device: torch.device) -> Any:
    return state.to(device) if isinstance(state, Tensor) else [one.to(device) for one in state]


def _zeros(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    return torch.zeros(shape, dtype=dtype, device="cpu")


def _kept(state: Any, name: str) -> Any:
    """Return a state that is not changed in place later; the rows as a list, also where a sync has joined them."""
    if name != "rows":
        return state
    return [state] if isinstance(state, Tensor) else list(state)
