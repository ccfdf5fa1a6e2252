"""N-gram overlap for torchmetrics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import torch
import torchmetrics
from torch import Tensor

from ngram_metrics.scores.overlap import OverlapMeasure
from ngram_metrics.text.samples import SampleReader, samples_of
from ngram_metrics.torchmetrics.accumulator import Accumulator


class NgramOverlap(Accumulator):
    """Clipped n-gram overlap, 2c / (h + r), of one order over batches.

    See :mod:`ngram_metrics.scores.overlap` for the formula and what differs from torch-ngram. Beside what every metric
    takes, ``preds`` may be padded ids ``(sentences, samples, width)``, several hypotheses for each reference.

    Args:
        ngram: the order, at least 1.
        average: ``"macro"`` (mean over all hypotheses), ``"micro"`` (of the summed counts) or ``"none"``.
        tokenizer: for text: None (whitespace), a name, a callable, or a Hugging Face tokenizer.
        pad_id: for ids: the id or ids that are no tokens.
        confidence: the level of a bootstrap interval, as 0.95; the counts of each sentence are then kept.
        device: where the states lie and text is counted.
        kwargs: those of ``torchmetrics.Metric``.

    ``compute`` returns float64 in 0..1: ``()``, for average none ``(sentences,)`` or ``(sentences, samples)``. Before
    any data it warns and gives 0, for average none no score.

    Raises:
        ValueError, TypeError: a setting out of its range; for average none, batches of different numbers of samples.

    Example:
        >>> import torch
        >>> from ngram_metrics import NgramOverlap
        >>> metric = NgramOverlap(ngram=2, average="none", pad_id=0)
        >>> metric.update(torch.tensor([[[5, 6, 7], [5, 6, 0]]]), torch.tensor([[5, 6, 7]]))
        >>> metric.compute()
        tensor([[1.0000, 0.6667]], dtype=torch.float64)
    """

    score_name = "ngram_overlap"
    _DESCRIPTIVE = (*Accumulator._DESCRIPTIVE, "samples")

    if TYPE_CHECKING:  # torch.jit.script cannot read these
        samples: Tensor

    def __init__(
        self,
        ngram: int = 1,
        average: str = "macro",
        tokenizer: Any = None,
        pad_id: int | Sequence[int] | None = None,
        confidence: float | None = None,
        device: torch.device | str | None = None,
        **kwargs: Any,
    ) -> None:
        reader, measure = SampleReader(tokenizer, pad_id=pad_id), OverlapMeasure(ngram)
        super().__init__(reader, measure, average, confidence, device, **kwargs)
        if average == "none":
            # 0 before any data, else one more than the samples of a 3-D batch, or 1 for sentences alone.
            self.add_state("samples", torch.zeros((), dtype=torch.int64, device=self.device), _same_samples)
        self._samples: int | None = 0

    def update(self, preds: Any, target: Any) -> None:
        """Count a batch."""
        samples = self._checked(preds)
        super().update(preds, target)
        self._note(samples)

    @torch.jit.unused
    def forward(self, preds: Any, target: Any) -> Any:
        """Count a batch and return its own score."""
        self._checked(preds)
        samples = self._samples
        try:
            return super().forward(preds, target)
        except BaseException:
            self._samples = samples
            raise

    def reset(self) -> None:
        """Forget all batches."""
        super().reset()
        self._samples = 0

    def merge_state(self, incoming_state: dict[str, Any] | torchmetrics.Metric) -> None:
        """Add another metric's states to this one's; its sentences come after this one's."""
        incoming = incoming_state.metric_state if isinstance(incoming_state, torchmetrics.Metric) else incoming_state
        if self.average == "none" and "samples" in incoming:
            self._check_samples(int(cast(Tensor, incoming["samples"])))
        super().merge_state(incoming_state)
        self._samples = None  # found again in the state

    def _reduce_states(self, incoming_state: dict[str, Any]) -> None:
        super()._reduce_states(incoming_state)
        if self.average == "none":
            self.samples = torch.maximum(incoming_state["samples"].to(self.samples.device), self.samples)

    def _check_ranks(self, gathered: Callable[[Tensor], Tensor]) -> None:
        if self.average == "none":
            _same_samples(gathered(self.samples))

    def _load_from_state_dict(self, *args: Any, **kwargs: Any) -> None:
        super()._load_from_state_dict(*args, **kwargs)
        self._samples = None  # found again in the state

    def _checked(self, preds: Any) -> int:
        samples = samples_of(preds)
        noted = 1 if samples is None else samples + 1
        if self.average == "none":
            self._check_samples(noted)
        return noted

    def _check_samples(self, samples: int) -> None:
        known = int(self.samples) if self._samples is None else self._samples
        if 0 not in (known, samples) and known != samples:
            raise ValueError(_different_samples([known, samples]))

    def _note(self, samples: int) -> None:
        if self.average == "none":
            self.samples = torch.full_like(self.samples, samples)
            self._samples = samples

    def _known_samples(self) -> int:
        """Return the state as a number; what this metric counted itself is known without waiting for the device."""
        if self._samples and not self._is_synced:
            return self._samples
        # Counted by another: loaded, merged, gathered, or by the leader of a compute group.
        return int(self.samples) if self.update_called or self._is_synced else 0

    def _with_dimension(self, scores: Tensor) -> Tensor:
        return self._named(super()._with_dimension(scores))

    def _named(self, score: Tensor) -> Tensor:
        samples = self._known_samples() if self.average == "none" else 0
        return score.reshape(-1, samples - 1) if samples > 1 else score


def _same_samples(gathered: Tensor) -> Tensor:
    """Reduce the numbers of samples of all ranks ``(ranks,)``: the one of those that have data."""
    numbers = sorted(set(gathered.tolist()) - {0})
    if len(numbers) > 1:
        raise ValueError(_different_samples(numbers))
    return gathered.max()


def _different_samples(noted: list[int]) -> str:
    words = ["1" if one == 1 else "1 (in three dimensions)" if one == 2 else str(one - 1) for one in noted]
    return f"batches of {' and of '.join(words)} hypotheses a sentence: average 'none' expects all batches alike"
