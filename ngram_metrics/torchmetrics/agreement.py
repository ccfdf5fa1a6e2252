"""What batches, ranks and merged metrics must have in common, as states of small integers, and how ranks gather it.

``torchmetrics.MetricCollection`` merges two metrics into one compute group if all their states are equal after the
first batch. From then on both report the same counts. Two metrics with different settings may have equal counts after
one batch, so the settings are states too: as a digest, which is the same in all processes, and as a number, valid in
this process only, that distinguishes callables with the same name, such as two lambdas. Both are in uint8, because the
comparison is ``allclose`` with a tolerance relative to the value.

A sum of the counts of text and of ids would be the score of neither, and rows of scores can only be joined if all
segments have the same number of samples. So the kind of input and, for average none, the number of samples are a state
as well. There the integer 0 means 'nothing yet' and agrees with every other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from numbers import Number
from types import MethodType
from typing import TypeAlias, get_args

import numpy as np
import torch
from torch import Tensor, distributed

from ngram_metrics.counting.documents import DocumentGroups, Kind, PaddedReferences, host_counts
from ngram_metrics.document_frequency import DocumentFrequency
from ngram_metrics.metric.settings_digest import digest

#: A process group; None for the default one.
Group: TypeAlias = "distributed.ProcessGroup | None"
#: The range of the number of references before any segment, see ``range_of``.
NO_REFERENCES = (-(1 << 62), 0)
#: The number of the layout of the states and of the text that is digested: one more for each change of either.
LAYOUT = 1
#: The identities seen in this process, numbered. An entry outlives its callables, and new objects may reuse their
#: addresses. That is harmless: only metrics that exist are compared, and these keep their callables alive.
_numbers: dict[tuple[int, ...], int] = {}
#: The code of a kind is its index here plus 1.
KINDS: tuple[Kind, ...] = get_args(Kind)
#: The code of one hypothesis per segment; n samples per segment have the code n + 1 + this one.
_NO_SAMPLES = 1


def settings_digest(*settings: object) -> Tensor:
    """Return the layout and the digest of settings, ``(33,)`` uint8."""
    return byte_tensor(bytes([LAYOUT]) + digest(*settings))


def callables_number(*settings: object) -> Tensor:
    """Return a number of this process for the callables among settings, ``(8,)`` uint8."""
    identity = tuple(address for setting in settings for address in _addresses(setting))
    identity_number = _numbers.setdefault(identity, len(_numbers))
    return byte_tensor(identity_number.to_bytes(8, "little"))


def byte_tensor(values: bytes) -> Tensor:
    """Return bytes as uint8 on the CPU."""
    return torch.from_numpy(np.frombuffer(values, np.uint8).copy())  # the copy can be written to


def all_equal(gathered: Tensor) -> Tensor:
    """Reduce the digests of all ranks ``(ranks, bytes)``, which must be the same."""
    if not bool((gathered == gathered[0]).all()):
        raise ValueError(
            "the ranks have metrics with different settings: expected the same class, options, average and confidence"
        )
    return gathered[0]


def _addresses(value: object) -> Iterator[int]:
    # The digest of a table says everything.
    if value is None or isinstance(value, (str, Number, DocumentFrequency)):
        return
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _addresses(getattr(value, field.name))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _addresses(item)
    elif isinstance(value, MethodType):  # each access makes a new object
        yield from (id(value.__self__), id(value.__func__))
    else:
        yield id(value)


def batch_codes(kind: Kind | None, samples: int | None) -> tuple[int, int]:
    """Return the codes of a batch: of its kind of input, and of its number of samples.

    Args:
        kind: None for a batch without segments.
        samples: hypotheses per segment, if the batch has a dimension of samples; None for one hypothesis per segment.
    """
    kind_code = 0 if kind is None else KINDS.index(kind) + 1
    if samples is None:
        return kind_code, 0 if kind is None else _NO_SAMPLES
    return kind_code, samples + _NO_SAMPLES + 1


def join_batch_codes(before: tuple[int, ...], codes: tuple[int, ...]) -> tuple[int, ...]:
    """Join the codes of a batch to those of the batches before, or raise ValueError as ``join_codes`` does."""
    # The usual cases, equal codes and the first batch, need no tensor operation.
    if all(code in (0, old) for code, old in zip(codes, before, strict=True)):
        return before
    if not any(before):
        return codes
    return tuple(join_codes(host_counts([before, codes])).tolist())


def join_codes(gathered: Tensor) -> Tensor:
    """Join the codes of batches, metrics or ranks, ``(codes, 2)`` int64, to ``(2,)``.

    Raises:
        ValueError: the codes differ; the message says what is expected.
    """
    kinds, samples = (sorted(set(codes) - {0}) for codes in gathered.T.tolist())
    if len(kinds) > 1:
        raise ValueError(
            f"one metric was given {' and '.join(KINDS[code - 1] for code in kinds)}: expected one of them from reset "
            "to compute, on all processes"
        )
    if len(samples) > 1:
        raise ValueError(
            f"batches of {' and of '.join(map(_name_samples, samples))} hypotheses per segment: average 'none' expects "
            "the same number in all batches"
        )
    return gathered.amax(0)


def has_counted(counts: Tensor) -> bool:
    """Return whether a segment was counted, from codes on the CPU, where reading them waits for nothing."""
    return counts.tolist()[0] != 0


def kind_name(counts: Tensor) -> str:
    """Return the kind for a signature, ``?`` before any data."""
    code = counts.tolist()[0]
    return KINDS[code - 1] if code else "?"


def sample_number(counts: Tensor) -> int | None:
    """Return how many samples a segment has, or None for one hypothesis without a dimension of samples."""
    code = counts.tolist()[1]
    return code - _NO_SAMPLES - 1 if code > _NO_SAMPLES else None


def _name_samples(code: int) -> str:
    samples = code - _NO_SAMPLES - 1
    if samples == 1:
        return "1 (in three dimensions)"
    return "1" if samples < 0 else str(samples)


def range_of(references: DocumentGroups | PaddedReferences | list[int]) -> Tensor | None:
    """Return the range of the number of references of a batch, None for a batch without segments.

    A range is ``[-fewest, most]`` int64, so that the maximum joins two ranges; on the CPU, or on the device of padded
    references.

    Args:
        references: the references of a batch, or how many each segment has.
    """
    if isinstance(references, PaddedReferences):
        lengths = references.tokens.lengths
        if len(lengths) == 0:
            return None
        if references.present is None:
            return torch.arange(-1, 2, 2, device=lengths.device)  # one each
        counts = references.present.sum(1)
        return torch.stack((-counts, counts)).amax(1)
    if isinstance(references, DocumentGroups):
        references = references.counts.tolist()
    return host_counts([-min(references), max(references)]) if references else None


def gather_ranks(tensor: Tensor, group: Group = None) -> Tensor:
    """Return the tensors of all ranks, which have one shape, joined along the first dimension: one collective."""
    backend = distributed.get_backend(group)
    sent = tensor
    if backend == "nccl" and not tensor.is_cuda:
        sent = tensor.cuda()
    elif backend in ("gloo", "mpi"):
        sent = tensor.cpu()
    gathered = [torch.empty_like(sent) for _ in range(distributed.get_world_size(group))]
    distributed.all_gather(gathered, sent, group)
    return torch.cat(gathered).to(tensor.device)


def gather_packed(
    pack: Callable[[], Tensor], gather: Callable[[Tensor], list[Tensor]], device: torch.device
) -> list[Tensor]:
    """Return the bytes that each rank packs, ``(bytes,)`` uint8 on a device, when every rank has called this.

    Raises:
        RuntimeError: another rank raised while it packed; that one raises its own error, as late.
    """
    failure = None
    try:
        packed = pack()
    except Exception as error:
        # A rank that left would leave the others waiting: it sends the words of its error.
        failure = error
        packed = byte_tensor(f"{type(error).__name__}: {error}".encode(errors="replace")).to(device)
    # A byte behind the others says which it is.
    buffers = gather(torch.cat((packed, packed.new_full((1,), failure is not None))))
    if failure:
        raise failure
    for rank, has_failed in enumerate(torch.stack([buffer[-1] for buffer in buffers]).tolist()):
        if has_failed:
            words = bytes(buffers[rank][:-1].tolist()).decode()
            raise RuntimeError(f"rank {rank} cannot read its states: {words}")
    return [buffer[:-1] for buffer in buffers]


def gather_buffers(
    buffer: Tensor, group: Group = None, gather: Callable[[Tensor, Group], Tensor] = gather_ranks
) -> list[Tensor]:
    """Return the one-dimensional tensors of all ranks, which may differ in length: two collectives."""
    sizes: list[int] = gather(torch.tensor([len(buffer)], device=buffer.device), group).tolist()
    padded = torch.nn.functional.pad(buffer, (0, max(sizes) - len(buffer)))
    rows = gather(padded, group).reshape(len(sizes), -1)
    return [row[:size] for row, size in zip(rows, sizes, strict=True)]
