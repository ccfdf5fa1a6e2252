"""Shares of a data set for the processes of a distributed run."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from typing import Any

from torch import distributed
from torch.utils.data import DistributedSampler

from ngram_metrics._core.basics.keywords import named_arguments

__all__ = ["UnrepeatedSampler"]


class UnrepeatedSampler(DistributedSampler[Any]):
    """Gives each process its share of the segments, in order, and never gives a segment to two processes.

    Rank r of n reads the segments r, r + n, r + 2n and so on. Shares differ by one segment if the number of segments is
    not a multiple of n, and some are empty if it is smaller than n. The base class ``DistributedSampler`` repeats
    segments until all shares are equal, and a metric counts these twice. Lightning and
    ``ignite.distributed.auto_dataloader`` keep a sampler of this class. Never pass its loader to
    ``accelerate.Accelerator.prepare``, which would split each share again. See the page "Distributed training and
    checkpoints".

    Args:
        dataset: the segments, or anything that has a length.
        num_replicas: the number of processes. None asks ``torch.distributed`` whenever an iteration begins or ``len``
            is called, so the sampler may be made before the processes, as with Lightning's ``ddp_spawn``. Without
            ``torch.distributed`` it is 1.
        rank: the index of this process. Pass it together with ``num_replicas``, or not at all.

    Raises:
        ValueError: one of ``num_replicas`` and ``rank`` without the other; a rank out of range.

    Example:
        >>> from torch.utils.data import DataLoader
        >>> from ngram_metrics.distributed import UnrepeatedSampler
        >>> segments = ["a", "b", "c", "d", "e", "f", "g"]
        >>> list(DataLoader(segments, batch_size=2, sampler=UnrepeatedSampler(segments, num_replicas=2, rank=1)))
        [['b', 'd'], ['f']]
    """

    @named_arguments
    def __init__(self, dataset: Sized, num_replicas: int | None = None, rank: int | None = None) -> None:
        if (num_replicas is None) != (rank is None):
            raise ValueError(f"num_replicas is {num_replicas} and rank is {rank}: expected both numbers or neither")
        self._asks = rank is None
        num_replicas, rank = (num_replicas, rank) if rank is not None else _processes()
        super().__init__(dataset, num_replicas, rank, shuffle=False)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[int]:
        return iter(self._share())

    def __len__(self) -> int:
        return len(self._share())

    def _share(self) -> range:
        if self._asks:
            self.num_replicas, self.rank = _processes()
        return range(self.rank, len(self.dataset), self.num_replicas)  # type: ignore[arg-type]


def _processes() -> tuple[int, int]:
    """Return the number of processes and the rank of this one."""
    if not distributed.is_available() or not distributed.is_initialized():
        return 1, 0
    return distributed.get_world_size(), distributed.get_rank()
