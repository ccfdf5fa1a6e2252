"""A warning for data loaders that give some segments to two processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from torch.utils.data import DistributedSampler

from ngram_metrics._core.text.messages import warn_user
from ngram_metrics.distributed import UnrepeatedSampler


def warn_of_repeated_segments(loaders: Iterable[object]) -> bool:
    """Warn if a data loader repeats segments so that all processes get the same number. Return whether one does."""
    if not any(map(_repeats_segments, loaders)):
        return False
    warn_user(
        "the DistributedSampler of a data loader, yours or one that the trainer added, repeats segments so that all "
        "processes get the same number, and the metrics count repeated segments twice: pass "
        "sampler=UnrepeatedSampler(dataset) of ngram_metrics.distributed to the DataLoader"
    )
    return True


def _repeats_segments(loader: object) -> bool:
    """Return whether the loader has a sampler whose shares together are longer than its data set."""
    return any(
        isinstance(sampler, DistributedSampler)
        and not isinstance(sampler, UnrepeatedSampler)
        and sampler.total_size > len(sampler.dataset)  # type: ignore[arg-type]  # never with drop_last=True
        for sampler in _samplers(loader)
    )


def _samplers(loader: object) -> Iterator[object]:
    """Yield the samplers of a loader, and the sampler that each batch sampler draws from."""
    for name in ("sampler", "batch_sampler"):
        sampler = getattr(loader, name, None)
        yield sampler
        yield getattr(sampler, "sampler", None)
