"""Documents of token ids, in the two layouts that the counting module takes.

*Ragged*: the tokens of all documents one after another, and the length of each document; made from strings and lists,
and from id tensors on a CPU.
*Padded*: one row per document, the tokens first, the rest of the row ignored; made from id tensors on other devices,
and where torch records a graph.

A ragged batch is on the CPU, so its sizes may control the work. A padded batch is on any device, and only its shape
does, so that nothing waits for the device.

Batches are cut into chunks of whole groups, each at most the budget below or a single group. So the peak memory is
proportional to the largest chunk, however many segments there are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ngram_metrics._core.basics.lazy import np, torch

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor


#: The ids past the end of a padded hypothesis, and of a padded reference. They differ, so that no n-gram with one of
#: them is on both sides.
PAST_HYPOTHESIS, PAST_REFERENCE = -2, -1
#: Padded ids beyond this bound are renumbered: a table of all ids would take too much memory.
MOST_IDS = 1 << 22
#: Slots per chunk. On the CPU the working arrays then stay in the cache; on an accelerator few launches are faster.
CPU_SLOTS = 1 << 16
ACCELERATOR_SLOTS = 1 << 22
#: Limits for an update of a training loop. A larger batch is a corpus, for which threads are worth starting.
UPDATE_GROUPS, UPDATE_SLOTS = 1 << 9, 1 << 18
#: On a CPU torch starts threads for more than 2^15 elements. Each group adds two elements to its slots.
UPDATE_CHUNK_SLOTS = (1 << 15) - 2 * UPDATE_GROUPS


class RaggedTokens(NamedTuple):
    """Documents in the ragged layout: one after another.

    Ids are compared only within a segment or a row: elsewhere an equal id may be another word.

    Attributes:
        ids: ``(tokens,)`` int64 on the CPU, every id in ``[0, id_bound)``.
        lengths: ``(documents,)`` int64 on the CPU; they sum to ``tokens``.
        id_bound: an exclusive upper bound of the ids, for which a table of all ids has room.
    """

    ids: Tensor
    lengths: Tensor
    id_bound: int

    @property
    def documents(self) -> int:
        """The number of documents."""
        return self.lengths.shape[0]  # len asks whether a tensor is traced

    def slice(self, start: int, stop: int) -> RaggedTokens:
        """Return documents ``start`` to ``stop - 1``, sharing storage."""
        if stop - start == self.documents:
            return self
        lengths = self.lengths.numpy()  # NumPy has less overhead for small sums
        before = int(lengths[:start].sum())
        end = before + int(lengths[start:stop].sum())
        return RaggedTokens(self.ids[before:end], self.lengths[start:stop], self.id_bound)

    def take(self, documents: Tensor) -> RaggedTokens:
        """Return documents by their indices, also out of order or repeated."""
        lengths, position = _take_groups(self.lengths, documents)
        return RaggedTokens(self.ids.index_select(0, position), lengths, self.id_bound)


class PaddedTokens(NamedTuple):
    """Documents in the padded layout: in rows.

    Attributes:
        ids: ``(..., width)`` int64; only matching reads the values past a row's length, see ``PaddedSides``.
        lengths: ``(...,)`` int64 on the same device, each in ``[0, width]``.
    """

    ids: Tensor
    lengths: Tensor

    def slice(self, start: int, stop: int) -> PaddedTokens:
        """Return rows ``start`` to ``stop - 1``, sharing storage."""
        return PaddedTokens(self.ids[start:stop], self.lengths[start:stop])

    def inside(self) -> Tensor:
        """Return which slots hold a token, ``(..., width)`` bool."""
        return torch.arange(self.ids.shape[-1], device=self.ids.device) < self.lengths.unsqueeze(-1)


class DocumentGroups(NamedTuple):
    """Documents in groups, in the ragged layout: the references of each segment, or the sentences of each summary.

    Attributes:
        tokens: all documents, group after group.
        counts: ``(groups,)`` int64 on the CPU, the number of documents of each group. A segment has at least one
            reference; other groups may be empty.
    """

    tokens: RaggedTokens
    counts: Tensor

    @property
    def single(self) -> bool:
        """Whether every group has exactly one document."""
        return self.tokens.documents == self.counts.shape[0]

    def take(self, groups: Tensor) -> DocumentGroups:
        """Return some groups by their indices."""
        counts, documents = _take_groups(self.counts, groups)
        return DocumentGroups(self.tokens.take(documents), counts)

    def slice(self, start: int, stop: int) -> DocumentGroups:
        """Return groups ``start`` to ``stop - 1``, sharing storage."""
        if stop - start == len(self.counts):
            return self
        before = int(self.counts[:start].sum()) if start else 0
        counts = self.counts[start:stop]
        return DocumentGroups(self.tokens.slice(before, before + int(counts.sum())), counts)

    def join(self) -> RaggedTokens:
        """Return each group as one document."""
        lengths = torch.zeros_like(self.counts).index_add(0, owners(self.counts), self.tokens.lengths)
        return self.tokens._replace(lengths=lengths)

    def padded_lengths(self) -> Tensor:
        """Return the length of each document, 0 for a missing one, ``(groups, documents)`` int64 on the CPU."""
        groups = len(self.counts)
        width = int(self.counts.max()) if groups else 0
        lengths = self.counts.new_zeros(groups * width)
        cell = owners(self.counts) * width + flat_positions(self.counts)
        return lengths.index_copy_(0, cell, self.tokens.lengths).view(groups, width)


class PaddedReferences(NamedTuple):
    """The same number of references for each segment, some of which may be missing.

    Attributes:
        tokens: ids ``(segments, references, width)``, lengths ``(segments, references)``; 0 for a missing reference.
        present: ``(segments, references)`` bool; each segment has at least one. None if there is room for one only.
    """

    tokens: PaddedTokens
    present: Tensor | None

    @property
    def single(self) -> bool:
        """Whether there is exactly one reference per segment."""
        return self.tokens.lengths.shape[1] == 1


class RaggedPairs(NamedTuple):
    """Pairs of a hypothesis and the reference with the same index, in the ragged layout, with one vocabulary."""

    hypotheses: RaggedTokens
    references: RaggedTokens


class PaddedPairs(NamedTuple):
    """Pairs of a hypothesis and the reference with the same index, in rows ``(pairs, width)`` as in ``PaddedSides``."""

    hypotheses: PaddedTokens
    references: PaddedTokens


class RaggedSides(NamedTuple):
    """Hypotheses, and the references of each, in the ragged layout, with one vocabulary."""

    hypotheses: RaggedTokens
    references: DocumentGroups

    @property
    def only_pairs(self) -> RaggedPairs | None:
        """The hypotheses with their only references, or None if a segment has several."""
        return RaggedPairs(self.hypotheses, self.references.tokens) if self.references.single else None


class PaddedSides(NamedTuple):
    """Hypotheses, and the references of each, in the padded layout, with one vocabulary.

    Where n-grams are matched, ``PAST_HYPOTHESIS`` and ``PAST_REFERENCE`` fill the rows past the ends of the documents.
    """

    hypotheses: PaddedTokens
    references: PaddedReferences

    @property
    def only_pairs(self) -> PaddedPairs | None:
        """The hypotheses with their only references, or None if there is room for several."""
        if not self.references.single:
            return None
        ids, lengths = self.references.tokens
        return PaddedPairs(self.hypotheses, PaddedTokens(ids.squeeze(1), lengths.squeeze(1)))


#: Segments in either layout; pairs have one reference each.
SidesOrPairs = RaggedSides | PaddedSides | RaggedPairs | PaddedPairs


class RaggedSummaries(NamedTuple):
    """The sentences of each hypothesis, and the sentences of each reference."""

    hypotheses: DocumentGroups
    references: DocumentGroups


class Batch(NamedTuple):
    """The segments of one update.

    Attributes:
        sides: the documents as words, characters or ids.
        leading_shape: ``(segments, samples)`` if the batch has a dimension of samples: sample s of segment b is then
            hypothesis ``b * samples + s``. None for ``(segments,)``.
        words: the documents as words too, for chrF++.
        summaries: the sentences of the documents, for ROUGE-Lsum, as groups, or as rows that keep ``separator_id``
            between two sentences; None if each document is one sentence.
        separator_id: the id between two sentences of padded summaries.
    """

    sides: RaggedSides | PaddedSides
    leading_shape: tuple[int, int] | None = None
    words: RaggedSides | None = None
    summaries: RaggedSummaries | PaddedSides | None = None
    separator_id: int | None = None


def drop_ids(
    ids: Tensor, dropped: Sequence[int], separator: int | None = None, hypothesis_first: bool = False
) -> PaddedTokens:
    """Remove negative and ``dropped`` ids from padded rows and close the gaps, without waiting for the device.

    The remaining ids are followed by ``PAST_REFERENCE`` or ``PAST_HYPOTHESIS``.

    Args:
        ids: ``(..., width)`` of any integer dtype; a negative id stands for padding, as -100 does in labels.
        dropped: ids to remove at any position, such as padding.
        separator: an id that is kept even if it is negative, unless it is in ``dropped``.
        hypothesis_first: whether the first row of each segment ``(segments, rows, width)`` is its hypothesis.
    """
    ids = ids.long()
    is_token = kept_ids(ids, dropped, separator)
    # The type is named, because a running sum of bool stays bool on some devices.
    count = is_token.cumsum(-1, dtype=torch.int64)
    # A dropped id goes to an extra slot, the first, that is cut off again: no shape may depend on how many there are.
    widened = ids.new_full((*ids.shape[:-1], ids.shape[-1] + 1), PAST_REFERENCE)
    if hypothesis_first:
        widened[:, 0].fill_(PAST_HYPOTHESIS)
    tokens = widened.scatter_(-1, count * is_token, ids)[..., 1:]
    return PaddedTokens(tokens, count[..., -1] if ids.shape[-1] else is_token.sum(-1))


def kept_ids(ids: Tensor, dropped: Sequence[int], separator: int | None = None) -> Tensor:
    """Return which int64 ids ``drop_ids`` keeps, bool of their shape."""
    keeps_negative = separator is not None and separator < 0
    others = [padding for padding in dropped if padding >= 0 or keeps_negative]
    if keeps_negative:
        is_token = (ids >= 0) | (ids == separator)
    elif others:
        # One comparison instead of two: the bits are negative for a negative id, and 0 only for this padding.
        is_token = (ids ^ others.pop()) > 0
    else:
        is_token = ids >= 0
    for padding in others:
        is_token = is_token & (ids != padding)
    return is_token


def drop_from_sides(
    hypotheses: Tensor, references: Tensor, dropped: Sequence[int], separator: int | None = None
) -> tuple[PaddedTokens, PaddedTokens]:
    """Return hypotheses ``(segments, width)`` and references ``(segments, references, width)`` after ``drop_ids``."""
    rows = hypotheses.long().unsqueeze(1)
    references = references.long()
    if hypotheses.shape[-1] == references.shape[-1]:
        # Both sides at once take half the launches.
        ids, lengths = drop_ids(torch.cat((rows, references), 1), dropped, separator, hypothesis_first=True)
        return PaddedTokens(ids[:, 0], lengths[:, 0]), PaddedTokens(ids[:, 1:], lengths[:, 1:])
    ids, lengths = drop_ids(rows, dropped, separator, hypothesis_first=True)
    return PaddedTokens(ids[:, 0], lengths[:, 0]), drop_ids(references, dropped, separator)


def padded_sides(
    hypotheses: Tensor, references: Tensor, dropped: Sequence[int], separator: int | None = None
) -> PaddedSides:
    """Return padded ids as documents without gaps, in steps that do not depend on the data.

    It takes the arguments of ``drop_from_sides``. A reference without a token is missing.
    """
    hypothesis_tokens, tokens = drop_from_sides(hypotheses, references, dropped, separator)
    present = None
    if references.shape[1] != 1:
        present = tokens.lengths > 0
        # If all references are missing there is one empty reference: raising an error would wait for the device.
        present[:, :1].logical_or_(~present.any(1, keepdim=True))
    return PaddedSides(hypothesis_tokens, PaddedReferences(tokens, present))


def ragged_sides(
    hypotheses: Tensor, references: Tensor, dropped: Sequence[int], separator: int | None = None
) -> RaggedSides:
    """Return padded ids, as ``padded_sides`` takes them, in the ragged layout, which waits for their device.

    The ``separator`` is dropped too, but a reference of separators alone is empty and not missing.
    """
    ids, lengths = [], []
    for rows in (hypotheses, references):
        on_host = rows.cpu().long()
        is_token = kept_ids(on_host, dropped, separator)
        present = is_token.any(-1).numpy()
        if separator is not None:
            is_token &= on_host != separator
        ids.append(on_host.numpy()[is_token.numpy()])
        lengths.append(np.count_nonzero(is_token.numpy(), -1))
    present[:, :1] |= ~present.any(1, keepdims=True)  # as in padded_sides
    id_bound = 1 + max(int(side.max(initial=0)) for side in ids)
    if id_bound > MOST_IDS:
        distinct, renamed = np.unique(np.concatenate(ids), return_inverse=True)
        ids = np.split(renamed, [len(ids[0])])
        id_bound = len(distinct)
    tokens = [
        RaggedTokens(torch.from_numpy(side), torch.from_numpy(side_lengths), id_bound)
        for side, side_lengths in zip(ids, (lengths[0], lengths[1][present]), strict=True)
    ]
    return RaggedSides(tokens[0], DocumentGroups(tokens[1], torch.from_numpy(present.sum(1))))


def has_data(ids: Tensor) -> bool:
    """Return whether a tensor has data in the memory of the CPU, which it has not in ``torch.vmap``."""
    try:
        return ids.is_cpu and ids.data_ptr() is not None
    except RuntimeError:
        return False


def float_dtype(device: torch.device) -> torch.dtype:
    """Return float64, or float32 if the device has no float64."""
    return torch.float32 if device.type == "mps" else torch.float64


def move_result(result: Tensor, device: torch.device | str | None, given: object = None) -> Tensor:
    """Return a result on a device, in float32 if the device has no float64.

    None is the device of what was given, if that was padded ids, else the device of the result.
    """
    if device is None and isinstance(given, torch.Tensor):
        device = given.device
    if device is None:
        return result
    where = torch.device(device)
    if result.is_floating_point():
        result = result.to(float_dtype(where))
    return copy_to(where, result)[0] if result.device.type == "cpu" else result.to(where)


def host_counts(counts: int | Sequence[int] | Sequence[Sequence[int]]) -> Tensor:
    """Return a number, several or rows of them as an int64 tensor on the CPU, whatever the default device."""
    return torch.from_numpy(np.array(counts, np.int64))  # a quarter of the time of torch.tensor


def copy_to(device: torch.device, *tensors: Tensor) -> list[Tensor]:
    """Return tensors of one device on another, in one copy, for which the CPU does not wait if it goes to CUDA.

    Their dtypes have equal sizes.
    """
    source = tensors[0].device
    if source == device:
        return list(tensors)
    sizes = [tensor.numel() for tensor in tensors]
    dtype = tensors[0].dtype
    # Only a copy from pinned memory returns before it is done.
    pinned = source.type == "cpu" and device.type == "cuda"
    joined = torch.empty(sum(sizes), dtype=dtype, device=source, pin_memory=pinned)
    torch.cat([tensor.flatten().view(dtype) for tensor in tensors], out=joined)
    parts = joined.to(device, non_blocking=pinned).split(sizes)
    return [part.view(tensor.dtype).view(tensor.shape) for part, tensor in zip(parts, tensors, strict=True)]


def flat_positions(lengths: Tensor) -> Tensor:
    """Return each token's position in its document: lengths ``[2, 3]`` give ``[0, 1, 0, 1, 2]``."""
    starts = repeat_each(lengths.cumsum(0) - lengths, lengths)
    return torch.arange(len(starts), device="cpu") - starts


def remaining_tokens(lengths: Tensor) -> Tensor:
    """Return for each token how many its document has from there on: lengths ``[2, 3]`` give ``[2, 1, 3, 2, 1]``."""
    ends = repeat_each(lengths.cumsum(0), lengths)
    return ends - torch.arange(len(ends), device="cpu")


def _take_groups(sizes: Tensor, groups: Tensor) -> tuple[Tensor, Tensor]:
    """Return the sizes of groups by their indices, and the indices of their members."""
    starts = (sizes.cumsum(0) - sizes).index_select(0, groups)
    sizes = sizes.index_select(0, groups)
    return sizes, flat_positions(sizes) + repeat_each(starts, sizes)


def owners(counts: Tensor) -> Tensor:
    """Return the group of each document: counts ``[2, 3]`` give ``[0, 0, 1, 1, 1]``."""
    return repeat_each(torch.arange(len(counts), device="cpu"), counts)


def repeat_each(values: Tensor, times: Tensor) -> Tensor:
    """Return ``values`` with each repeated ``times`` times, both one-dimensional int64 on the CPU.

    On a CPU ``torch.repeat_interleave`` starts all threads even for two elements, and waits for them.
    """
    return torch.from_numpy(values.numpy().repeat(times.numpy()))


def _slot_budget(groups: int, slots: int, device: torch.device, update: bool) -> int:
    """Return the largest number of token slots of a chunk, fewer on a CPU for an update of a few segments."""
    if device.type != "cpu":
        return ACCELERATOR_SLOTS
    few = update and groups <= UPDATE_GROUPS and slots <= UPDATE_SLOTS
    return min(CPU_SLOTS, UPDATE_CHUNK_SLOTS) if few else CPU_SLOTS


def ragged_chunks(sizes: Tensor, device: torch.device, update: bool = False) -> Iterator[tuple[int, int]]:
    """Yield ranges of groups with ``sizes`` ``(groups,)`` tokens, each within the budget or a single group.

    With ``update`` the groups are the segments of one update.
    """
    return even_chunks(sizes.numpy(), _slot_budget(len(sizes), int(sizes.sum()), device, update))


def even_chunks(sizes: NDArray[np.int64], largest: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of groups with ``sizes`` ``(groups,)``, each within ``largest`` or a single group.

    The ranges have about the same size, because a small rest would be sorted by comparison, which is slower than radix.
    """
    ends = sizes.cumsum()
    total = int(ends[-1]) if len(ends) else 0
    start, before = 0, 0
    while start < len(sizes):
        rest = total - before
        budget = math.ceil(rest / max(1, math.ceil(rest / largest)))
        stop = max(start + 1, int(ends.searchsorted(before + budget, side="right")))
        yield start, stop
        start = stop
        before = int(ends[stop - 1])


def row_chunks(rows: int, width: int, device: torch.device) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows with ``width`` slots, each within the budget or a single row."""
    at_once = max(1, _slot_budget(rows, rows * width, device, update=True) // max(1, width))
    for start in range(0, rows, at_once):
        yield start, min(rows, start + at_once)
