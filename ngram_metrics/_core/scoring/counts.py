"""The counts of any number of segments, as an immutable value.

Metrics of torchmetrics and of ignite, groups and functions have one ``Counts``, and replace it in their last step. So
an error leaves the earlier counts as they were, and nothing has to be copied or undone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from ngram_metrics._core.basics.arrays import Array, counts_in_torch, namespace
from ngram_metrics._core.counting.batch import NO_REFERENCES
from ngram_metrics._core.text.segments import Kind

if TYPE_CHECKING:
    import torch

#: The kinds of input. The code of a kind is its index here.
KINDS: tuple[Kind | None, ...] = (None, *get_args(Kind))


class Counts(NamedTuple):
    """The counts of segments: NumPy arrays on the CPU, or tensors where torch counts.

    Attributes:
        kind: the kind of input; None if there are no segments, or only empty lists, which may be tokens or ids.
        samples: for average none the shape of a segment's scores, ``(samples,)``, or ``()`` if each segment has
            one hypothesis. None without segments, and for the other averages.
        segments: the number of segments, int64 ``()``, or ``(groups,)``: groups are the first dimension of all sums.
        reference_range: the fewest references of a segment, negated, and the most, int64 ``(2,)``. So the maximum of
            two ranges is the range of both.
        row: the sum of the rows, ``(width,)``.
        score_sum: the sum of the scores, float64 ``(*score_shape,)``, for average macro only.
        rows: the rows of the segments in parts, each ``(segments, width)``; None if they are not kept.
    """

    kind: Kind | None
    samples: tuple[int, ...] | None
    segments: Array
    reference_range: Array
    row: Array
    score_sum: Array | None = None
    rows: tuple[Array, ...] | None = None

    def merge(self, other: Counts) -> Counts:
        """Return the counts of both, with the rows of ``other`` last. Both are on one device.

        Raises:
            ValueError: different kinds of input, or for average none different numbers of samples.
        """
        score_sum = self.score_sum
        if score_sum is not None:
            score_sum = _as_array(score_sum + other.score_sum)
        return Counts(
            kind=_join_kinds(self.kind, other.kind),
            samples=_join_samples(self.samples, other.samples),
            segments=_as_array(self.segments + other.segments),
            reference_range=namespace(self.reference_range).maximum(self.reference_range, other.reference_range),
            row=self.row + other.row,
            score_sum=score_sum,
            rows=None if self.rows is None else _join_rows(self.rows, other.rows or ()),
        )

    def copy(self) -> Counts:
        """Return counts that share no memory with these."""
        return self._replace(
            segments=_copy(self.segments),
            reference_range=_copy(self.reference_range),
            row=_copy(self.row),
            score_sum=None if self.score_sum is None else _copy(self.score_sum),
            rows=None if self.rows is None else tuple(map(_copy, self.rows)),
        )

    def to(self, device: torch.device, rows_device: torch.device | None = None) -> Counts:
        """Return the counts on a device, sent in one copy. On the CPU they are NumPy arrays, unless torch counts there.

        The rows go to ``rows_device`` if it is not None. A device without float64 gets no floats: they go to the CPU.
        """
        if device.type == "cpu" and isinstance(self.row, np.ndarray) and not counts_in_torch():
            return self
        from ngram_metrics._core.basics.tensors import send_arrays  # imports torch

        sums = {name: getattr(self, name) for name in ("segments", "reference_range", "row")}
        if self.score_sum is not None:
            sums["score_sum"] = self.score_sum
        sent, rows = send_arrays(sums, self.rows or (), device, rows_device or device)
        return self._replace(**sent, rows=None if self.rows is None else tuple(rows))

    @property
    def is_empty(self) -> bool:
        """Whether no segment was counted. On a device, which is not waited for, it follows from the kind."""
        if self.kind is not None or not isinstance(self.segments, np.ndarray):
            return self.kind is None
        return not self.segments.any()  # empty lists have no kind

    def all_rows(self) -> Array:
        """Return the rows of all segments, ``(segments, width)``."""
        if not self.rows:
            return self.row[None][:0]
        return self.rows[0] if len(self.rows) == 1 else namespace(self.rows[0]).concatenate(self.rows)

    def check_rows(self) -> None:
        """Raise ValueError unless there is a row for each segment, if rows are kept. In a file they may be missing.

        This waits for a device.
        """
        if self.rows is None:
            return
        rows = sum(map(len, self.rows))
        if rows != self.segments:
            raise ValueError(
                f"the saved states have sums over {int(self.segments)} segments, but the counts of {rows}: expected "
                "the counts of every segment. Save the metric again"
            )

    @property
    def codes(self) -> tuple[int, int]:
        """The kind and the samples as integers, see ``decode``."""
        if self.samples is None:
            return KINDS.index(self.kind), 0
        return KINDS.index(self.kind), 1 + sum(count + 1 for count in self.samples)

    def pack(self) -> NDArray[np.int64]:
        """Return everything as one vector: codes, sums and rows. Floats keep their bits, so nothing is rounded."""
        arrays = [*self._sums(), *(self.rows or ())]
        return np.concatenate([self.codes, *(_on_host(array).ravel().view(np.int64) for array in arrays)])

    def unpack(self, vector: NDArray[np.int64]) -> Counts:
        """Return counts from a vector that ``pack`` made from counts of the same shapes as these.

        Raises:
            ValueError: a vector of another length, or unknown codes.
        """
        templates = self._sums()
        width = self.row.shape[-1]
        shortest = 2 + sum(template.size for template in templates)
        of_rows = len(vector) - shortest
        if of_rows < 0 or of_rows % width or (of_rows and self.rows is None):
            more = "" if self.rows is None else f" and {width} for each segment"
            raise ValueError(f"packed counts have {len(vector)} numbers: expected {shortest}{more}")
        kind, samples = decode(vector[:2])
        stops = np.cumsum([2, *(template.size for template in templates)])
        *parts, rest = np.split(vector, stops)[1:]
        sums = [
            numbers.view(template.dtype).reshape(template.shape).copy()
            for numbers, template in zip(parts, templates, strict=True)
        ]
        return Counts(
            kind=kind,
            samples=samples,
            segments=sums[0],
            reference_range=sums[1],
            row=sums[2],
            score_sum=None if self.score_sum is None else sums[3],
            rows=None if self.rows is None else (rest.view(self.row.dtype).reshape(-1, width).copy(),),
        )

    def _sums(self) -> list[Array]:
        sums = [self.segments, self.reference_range, self.row]
        return sums if self.score_sum is None else [*sums, self.score_sum]


def no_counts(
    row_width: int,
    row_dtype: type[np.int64] | type[np.float64] = np.int64,
    score_shape: tuple[int, ...] | None = None,
    groups: int | None = None,
    keeps_rows: bool = False,
) -> Counts:
    """Return the counts of no segment.

    Args:
        row_width: the number of columns of a row.
        row_dtype: the dtype of rows; float64 if they are scores.
        score_shape: the shape of a score, to keep the sum of the scores; None to keep none.
        groups: how many groups the sums have; None for sums without groups.
        keeps_rows: whether the rows of segments are kept.
    """
    leading = () if groups is None else (groups,)
    return Counts(
        kind=None,
        samples=None,
        segments=np.zeros(leading, np.int64),
        reference_range=np.array(NO_REFERENCES, np.int64),
        row=np.zeros((*leading, row_width), row_dtype),
        score_sum=None if score_shape is None else np.zeros((*leading, *score_shape)),
        rows=() if keeps_rows else None,
    )


def decode(codes: Any) -> tuple[Kind | None, tuple[int, ...] | None]:
    """Return the kind and the samples of ``Counts.codes``, from an array or a tensor on the CPU.

    The samples are 0 for None, 1 for ``()``, and n + 2 for ``(n,)``.

    Raises:
        ValueError: an unknown code, such as in a damaged file.
    """
    kind, samples = codes.tolist()
    if not 0 <= kind < len(KINDS) or samples < 0:
        raise ValueError(
            f"the codes of the kind of input and of the samples are {kind} and {samples}: expected a kind from 0 to "
            f"{len(KINDS) - 1}, and samples from 0"
        )
    if samples == 0:
        return KINDS[kind], None
    return KINDS[kind], () if samples == 1 else (samples - 2,)


def merge_all(parts: Sequence[Counts]) -> Counts:
    """Return the counts of all parts, at least one, in their order."""
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    return merged


def _as_array(total: Array) -> Array:
    """Return a sum whose memory a tensor can share: NumPy adds arrays ``()`` to a scalar."""
    return np.asarray(total) if isinstance(total, np.generic) else total


def _copy(array: Array) -> Array:
    return array.copy() if isinstance(array, np.ndarray) else array.clone()


def _on_host(array: Array) -> NDArray[np.generic]:
    return np.asarray(array) if isinstance(array, (np.ndarray, np.generic)) else array.cpu().numpy()


def _join_kinds(first: Kind | None, second: Kind | None) -> Kind | None:
    if first is None or second is None or first == second:
        return first or second
    names = sorted((first, second), key=KINDS.index)
    raise ValueError(
        f"this metric was given {' and '.join(names)}: expected one kind of input until reset, the same on all "
        "processes"
    )


def _join_samples(first: tuple[int, ...] | None, second: tuple[int, ...] | None) -> tuple[int, ...] | None:
    if first is None or second is None or first == second:
        return second if first is None else first
    names = [_name_samples(samples) for samples in sorted((first, second))]
    raise ValueError(
        f"this metric was given batches with {' and with '.join(names)} hypotheses per segment: average 'none' "
        "expects the same number in all batches"
    )


def _name_samples(samples: tuple[int, ...]) -> str:
    if samples == (1,):
        return "1 (in three dimensions)"
    return str(samples[0]) if samples else "1"


def _join_rows(first: tuple[Array, ...], second: tuple[Array, ...]) -> tuple[Array, ...]:
    """Return the parts of both, with small parts joined: each part has at least twice the rows of the next.

    So there are few parts, and a row is copied a few times in all, however many batches there are.
    """
    parts = list(first)
    for part in second:
        if not len(part):
            continue
        while parts and len(parts[-1]) < 2 * len(part):
            part = namespace(part).concatenate((parts.pop(), part))
        parts.append(part)
    return tuple(parts)
