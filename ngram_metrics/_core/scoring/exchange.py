"""Counts on their way between processes and files: packed with the settings, checked, and joined.

A message is a vector of int64. It begins with a digest of the settings and the rank that counted, so that counts of
another metric are refused before anything is joined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, distributed

from ngram_metrics._core.basics.tensors import host_counts
from ngram_metrics._core.scoring.counts import Counts, merge_all
from ngram_metrics._core.scoring.settings import Settings, digest
from ngram_metrics._core.text.messages import type_name

#: The numbers of a digest, 32 bytes.
_DIGEST = 4
#: The numbers before packed counts: a digest, the rank and the number of ranks.
_HEADER = _DIGEST + 2


class Saved(NamedTuple):
    """Counts, and who counted them.

    Attributes:
        counts: the counts.
        saved_on: the rank that counted and the number of ranks; ``(0, 1)`` for the counts of all ranks.
    """

    counts: Counts
    saved_on: tuple[int, int]


def number_digest(settings: Settings) -> NDArray[np.int64]:
    """Return the digest of settings as numbers, ``(4,)``."""
    return np.frombuffer(digest(settings), np.int64)


def pack(settings: NDArray[np.int64], saved: Saved) -> NDArray[np.int64]:
    """Return the digest of settings, the ranks and the counts as one vector."""
    return np.concatenate((settings, saved.saved_on, saved.counts.pack()))


def unpack(packed: object, settings: NDArray[np.int64], empty: Counts) -> Saved:
    """Return packed counts, which have the shapes of ``empty``.

    Raises:
        ValueError: another object, another digest of settings, a vector of another length, or rows of other segments
            than the sums.
    """
    if not isinstance(packed, Tensor) or packed.dtype != torch.int64 or packed.dim() != 1:
        form = f"{packed.dtype} of shape {tuple(packed.shape)}" if isinstance(packed, Tensor) else type_name(packed)
        raise ValueError(f"the saved counts are {form}: expected a vector of int64")
    vector = packed.cpu().numpy()
    if len(vector) < _HEADER or not np.array_equal(vector[:_DIGEST], settings):
        raise ValueError(
            "these counts were saved by a metric with different settings: expected the same class, options and average"
        )
    rank, ranks = vector[_DIGEST:_HEADER].tolist()
    counts = empty.unpack(vector[_HEADER:])
    counts.check_rows()
    return Saved(counts, (rank, ranks))


def gather_counts(
    pack_own: Callable[[], NDArray[np.int64]],
    unpack_one: Callable[[Tensor], Counts],
    confidence: float | None,
    gather: Callable[[Tensor], Sequence[Tensor]],
    device: torch.device,
) -> Counts:
    """Return the counts of all ranks, rank by rank. Every rank must call this.

    All ranks raise the same ValueError if settings, levels of confidence, kinds of input or numbers of samples differ.
    If a rank cannot pack its counts, it raises its own error, and the others raise RuntimeError.

    Args:
        pack_own: returns the packed counts of this rank.
        unpack_one: returns the counts of a rank.
        confidence: the level. It is not a setting of the counts, because metrics that differ only in it may share them.
        gather: gathers vectors of different lengths from all ranks.
        device: where ``gather`` takes and returns them.
    """
    failure = None
    try:
        packed = pack_own()
    except Exception as error:
        # This rank must still take part, or the others would wait forever: it sends the message of its error.
        failure = error
        packed = np.array([ord(character) for character in f"{type(error).__name__}: {error}"], np.int64)
    level = number_digest({"confidence": confidence})
    message = np.concatenate(([failure is not None], level, packed))
    gathered = [part.cpu() for part in gather(torch.from_numpy(message).to(device))]
    if failure is not None:
        raise failure
    start = 1 + _DIGEST
    for rank, part in enumerate(gathered):
        if part[0]:
            words = "".join(map(chr, part[start:].tolist()))
            raise RuntimeError(f"rank {rank} cannot pack its counts: {words}")
    if any(not torch.equal(part[: start + _DIGEST], gathered[0][: start + _DIGEST]) for part in gathered):
        raise ValueError(
            "the ranks have metrics with different settings: expected the same class, options, average and confidence"
        )
    return merge_all([unpack_one(part[start:]) for part in gathered])


def current_rank() -> tuple[int, int]:
    """Return the rank of this process and the number of ranks, ``(0, 1)`` without a process group."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return 0, 1
    return distributed.get_rank(), distributed.get_world_size()


def gather_ranks(tensor: Tensor, group: Any = None) -> Tensor:
    """Gather tensors of equal shapes from all ranks, and join them along the first dimension, in one collective."""
    backend = distributed.get_backend(group)
    sent = tensor
    if backend == "nccl" and not tensor.is_cuda:
        sent = tensor.cuda()
    elif backend in ("gloo", "mpi"):
        sent = tensor.cpu()
    gathered = [torch.empty_like(sent) for _ in range(distributed.get_world_size(group))]
    distributed.all_gather(gathered, sent, group)
    return torch.cat(gathered).to(tensor.device)


def gather_vectors(
    vector: Tensor, group: Any = None, gather: Callable[[Tensor, Any], Tensor] = gather_ranks
) -> list[Tensor]:
    """Gather one-dimensional tensors of any lengths from all ranks, in two collectives."""
    sizes: list[int] = gather(host_counts([len(vector)]).to(vector.device), group).tolist()
    padded = torch.nn.functional.pad(vector, (0, max(sizes) - len(vector)))
    rows = gather(padded, group).reshape(len(sizes), -1)
    return [row[:size] for row, size in zip(rows, sizes, strict=True)]
