"""``Counts`` as a value: merged, packed and unpacked. No test here needs torch or a framework."""

import subprocess
import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ngram_metrics._core.scoring.counts import KINDS, Counts, decode, merge_all, no_counts

WIDTH = 3


def counts_of(
    rows: list[list[int]],
    kind: Any = "text",
    samples: tuple[int, ...] | None = None,
    scores: list[float] | None = None,
    references: tuple[int, int] = (1, 1),
    keeps_rows: bool = False,
) -> Counts:
    """The counts of segments with these rows."""
    array = np.array(rows, np.int64).reshape(-1, WIDTH)
    return Counts(
        kind=kind,
        samples=samples,
        segments=np.array(len(array)),
        reference_range=np.array([-references[0], references[1]]),
        row=array.sum(0),
        score_sum=None if scores is None else np.array(sum(scores)),
        rows=(array,) if keeps_rows else None,
    )


def assert_equal(one: Counts, other: Counts) -> None:
    """Equal to the last bit, with the rows of all parts as one."""
    assert (one.kind, one.samples) == (other.kind, other.samples)
    for name in ("segments", "reference_range", "row", "score_sum"):
        mine = getattr(one, name)
        others = getattr(other, name)
        assert (mine is None) == (others is None), name
        if mine is not None:
            assert mine.dtype == others.dtype, name
            assert mine.shape == others.shape, name
            assert mine.tobytes() == others.tobytes(), name
    assert (one.rows is None) == (other.rows is None)
    if one.rows is not None:
        assert one.all_rows().tolist() == other.all_rows().tolist()


def test_merged_counts_are_those_of_all_segments_and_the_parts_stay_as_they_were():
    first = counts_of([[1, 2, 3]], references=(2, 4), scores=[0.5], keeps_rows=True)
    second = counts_of([[4, 5, 6], [7, 8, 9]], references=(1, 3), scores=[0.25, 1.0], keeps_rows=True)
    before = [first.copy(), second.copy()]
    merged = first.merge(second)
    assert merged.segments == 3
    assert merged.reference_range.tolist() == [-1, 4]
    assert merged.row.tolist() == [12, 15, 18]
    assert merged.score_sum == 1.75
    assert merged.all_rows().tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    for part, copy in zip((first, second), before, strict=True):
        assert_equal(part, copy)


def test_the_counts_of_no_segment_change_nothing():
    counts = counts_of([[1, 2, 3]], samples=(), keeps_rows=True)
    empty = no_counts(WIDTH, keeps_rows=True)
    assert_equal(empty.merge(counts), counts)
    assert_equal(counts.merge(empty), counts)
    assert empty.all_rows().shape == (0, WIDTH)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30))
def test_rows_stay_in_order_and_in_few_parts(sizes: list[int]):
    total = sum(sizes)
    rows = np.arange(total * WIDTH).reshape(total, WIDTH).tolist()
    stops = np.cumsum(sizes)
    merged = no_counts(WIDTH, keeps_rows=True)
    for start, stop in zip([0, *stops], stops, strict=False):
        merged = merged.merge(counts_of(rows[start:stop], keeps_rows=True))
    assert merged.all_rows().tolist() == rows
    lengths = list(map(len, merged.rows or ()))
    assert all(longer >= 2 * shorter for longer, shorter in pairwise(lengths))


def test_another_kind_of_input_is_refused():
    with pytest.raises(
        ValueError, match=r"^this metric was given text and ids: expected one kind of input until reset"
    ):
        counts_of([[1, 2, 3]], "ids").merge(counts_of([[1, 2, 3]], "text"))


@pytest.mark.parametrize(
    ("first", "second", "names"),
    [((), (3,), "1 and with 3"), ((2,), (4,), "2 and with 4"), ((1,), (), r"1 and with 1 \(in three dimensions\)")],
)
def test_another_number_of_samples_is_refused(first: Any, second: Any, names: str):
    with pytest.raises(
        ValueError, match=f"^this metric was given batches with {names} hypotheses per segment: average 'none' expects"
    ):
        counts_of([[1, 2, 3]], samples=first).merge(counts_of([[1, 2, 3]], samples=second))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("samples", [None, (), (0,), (1,), (7,)])
def test_the_codes_of_kind_and_samples_are_decoded(kind: Any, samples: Any):
    codes = np.array(counts_of([], kind, samples).codes)
    assert decode(codes) == (kind, samples)


@pytest.mark.parametrize("codes", [(-1, 0), (len(KINDS), 0), (1, -1)])
def test_unknown_codes_are_refused(codes: tuple[int, int]):
    empty = no_counts(WIDTH)
    packed = empty.pack()
    packed[:2] = codes
    words = f"^the codes of the kind of input and of the samples are {codes[0]} and {codes[1]}: expected a kind from 0"
    with pytest.raises(ValueError, match=words):
        empty.unpack(packed)


@pytest.mark.parametrize("groups", [None, 2])
@pytest.mark.parametrize("score_shape", [None, (), (4, 3)])
@pytest.mark.parametrize("keeps_rows", [False, True])
@pytest.mark.parametrize("row_dtype", [np.int64, np.float64])
def test_packed_counts_are_unpacked_to_the_last_bit(
    groups: int | None, score_shape: Any, keeps_rows: bool, row_dtype: Any
):
    empty = no_counts(WIDTH, row_dtype, score_shape, groups, keeps_rows)
    tenths = np.full(empty.row.shape, 0.1).astype(row_dtype)
    counts = empty._replace(
        kind="ids",
        samples=(2,),
        segments=empty.segments + 2**53 + 1,  # no float has this value
        reference_range=np.array([-1, 5]),
        row=empty.row + tenths,
        score_sum=None if score_shape is None else empty.score_sum + np.nextafter(0.1, 1),
        rows=(np.ones((2, WIDTH), row_dtype), np.zeros((1, WIDTH), row_dtype)) if keeps_rows else None,
    )
    packed = counts.pack()
    assert packed.dtype == np.int64
    assert packed.ndim == 1
    assert_equal(empty.unpack(packed), counts)
    assert_equal(empty.unpack(empty.pack()), empty)


def test_unpacked_counts_share_no_memory_with_the_vector():
    counts = counts_of([[1, 2, 3]], scores=[0.5], keeps_rows=True)
    packed = counts.pack()
    unpacked = counts.unpack(packed)
    packed[:] = -1
    assert_equal(unpacked, counts)


@pytest.mark.parametrize("keeps_rows", [False, True])
def test_a_vector_of_another_length_is_refused(keeps_rows: bool):
    empty = no_counts(WIDTH, keeps_rows=keeps_rows)
    packed = empty.pack()
    more = " and 3 for each segment" if keeps_rows else ""
    for vector in (packed[:-1], packed[:3], np.append(packed, 0), np.append(packed, [0] * (WIDTH + 1))):
        with pytest.raises(ValueError, match=f"^packed counts have {len(vector)} numbers: expected 8{more}$"):
            empty.unpack(vector)
    if not keeps_rows:
        with pytest.raises(ValueError, match=r"^packed counts have 11 numbers: expected 8$"):
            empty.unpack(np.append(packed, [0] * WIDTH))


@given(st.lists(st.lists(st.integers(0, 2**40), min_size=WIDTH, max_size=WIDTH), min_size=1, max_size=8))
def test_split_counts_are_the_counts_of_the_whole(rows: list[list[int]]):
    whole = counts_of(rows, keeps_rows=True)
    parts = [counts_of([row], keeps_rows=True) for row in rows]
    assert_equal(merge_all(parts), whole)
    assert_equal(merge_all([part.unpack(part.pack()) for part in parts]), whole)


def test_the_rows_are_those_of_all_segments():
    no_counts(WIDTH).check_rows()
    no_counts(WIDTH, keeps_rows=True).check_rows()
    counts = counts_of([[1, 2, 3], [4, 5, 6]], keeps_rows=True)
    counts.check_rows()
    with pytest.raises(ValueError, match=r"^the saved states have sums over 3 segments, but the counts of 2: expected"):
        counts._replace(segments=np.array(3)).check_rows()


def test_a_copy_shares_no_memory():
    counts = counts_of([[1, 2, 3]], scores=[0.5], keeps_rows=True)
    copy = counts.copy()
    for array in (copy.segments, copy.reference_range, copy.row, copy.score_sum, *(copy.rows or ())):
        array[...] = 9
    assert_equal(counts, counts_of([[1, 2, 3]], scores=[0.5], keeps_rows=True))


def test_counts_need_neither_torch_nor_a_framework():
    code = (
        "import sys; from ngram_metrics._core.scoring.counts import no_counts; no_counts(3).pack(); "
        "sys.exit(bool({'torch', 'torchmetrics', 'ignite'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
