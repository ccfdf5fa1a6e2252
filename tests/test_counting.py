"""The public counts of token ids against counters, in every layout; without data; and what is refused.

The tests in tests/_core/counting go through the same functions, to the bounds of what they count.
"""

from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import nullcontext
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import oracles
import pytest
import torch
from crossings import crossings
from draws import fewer
from hypothesis import given
from hypothesis import strategies as st
from layouts import PADDING, apart, with_gaps

from ngram_metrics import Bleu
from ngram_metrics.counting import clipped_matches, common_subsequence_lengths, ngram_counts

any_ids = st.sampled_from([-(2**63), 1 - 2**63, -100, -2, -1, 0, 1, 7, 2**22 - 1, 2**22, 2**62, 2**63 - 2, 2**63 - 1])


class PaddedRows(NamedTuple):
    """Hypotheses ``(segments, width)``, references ``(segments, references, width)``, and the ids that are padding."""

    preds: torch.Tensor
    target: torch.Tensor
    padding: list[int]

    def segments(self) -> list[Any]:
        """The segments that the rows stand for. A row without ids is a missing reference, unless all of them are."""
        segments = []
        for row, rows in zip(self.preds, self.target, strict=True):
            references = [ids for ids in map(self.ids_of, rows) if ids]
            segments.append((self.ids_of(row), references or [[]]))
        return segments

    def ids_of(self, row: torch.Tensor) -> list[int]:
        return [token for token in row.tolist() if token >= 0 and token not in self.padding]


@st.composite
def padded_rows(draw) -> PaddedRows:
    """Rows of two widths in which any id may be padding, anywhere."""

    def rows(count: int, width: int) -> torch.Tensor:
        row = st.lists(any_ids, min_size=width, max_size=width)
        ids = draw(st.lists(row, min_size=count, max_size=count))
        return torch.tensor(ids, dtype=torch.int64).reshape(count, width)

    padding = draw(st.lists(any_ids, min_size=1, max_size=3, unique=True))
    segments = draw(st.integers(0, 4))
    references = draw(st.integers(1, 5))
    width = draw(st.integers(0, 12))
    reference_width = draw(st.integers(0, 12))
    preds = rows(segments, width)
    target = rows(segments * references, reference_width).reshape(segments, references, reference_width)
    return PaddedRows(preds, target, padding)


#: What a user may pass for the same segments.
LAYOUTS: dict[str, Callable[[PaddedRows], tuple[Any, Any]]] = {
    "padded rows": lambda rows: (rows.preds, rows.target),
    "lists": lambda rows: apart(rows.segments()),
    "1-D tensors": lambda rows: (
        [torch.tensor(hypothesis, dtype=torch.int64) for hypothesis, _ in rows.segments()],
        [references for _, references in rows.segments()],
    ),
}


def expected_counts(segments: list[Any], orders: int) -> list[list[list[int]]]:
    """Matches, n-grams of the hypothesis, and n-grams of a reference of the closest length, by order."""
    hypothesis_lengths = [len(hypothesis) for hypothesis, _ in segments]
    closest_lengths = [oracles.closest_length(*segment) for segment in segments]
    return [
        oracles.match_rows(segments, orders),
        [[max(0, length - order) for order in range(orders)] for length in hypothesis_lengths],
        [[max(0, length - order) for order in range(orders)] for length in closest_lengths],
    ]


@pytest.mark.parametrize("layout", LAYOUTS)
# Torch counts padded ids while something records its operations, and NumPy otherwise.
@pytest.mark.parametrize("engine", [nullcontext, crossings], ids=["NumPy", "torch"])
@fewer(2)
@given(rows=padded_rows(), orders=st.integers(1, 9) | st.just(40))
def test_counts_are_those_of_counters_in_every_layout(layout, engine, rows, orders):
    segments = rows.segments()
    preds, target = LAYOUTS[layout](rows)
    with engine():
        counts = clipped_matches(preds, target, orders, pad_id=rows.padding)
    assert [field.tolist() for field in counts] == expected_counts(segments, orders)
    for field in counts:
        assert field.dtype == torch.int64
        assert field.shape == (len(segments), orders)


@given(rows=padded_rows())
def test_counting_does_not_change_the_rows(rows):
    preds, target = rows.preds.clone(), rows.target.clone()
    clipped_matches(rows.preds, rows.target, 4, pad_id=rows.padding)
    assert rows.preds.equal(preds)
    assert rows.target.equal(target)


documents = st.lists(st.lists(st.sampled_from([1, 2, 3, 2**63 - 1]), max_size=8), max_size=4)


@pytest.mark.parametrize(
    "layout",
    [
        lambda texts: texts,
        lambda texts: [torch.tensor(text, dtype=torch.int64) for text in texts],
        lambda texts: torch.tensor(with_gaps(texts, 8), dtype=torch.int64).reshape(len(texts), 17),
    ],
    ids=["lists", "1-D tensors", "padded rows"],
)
@pytest.mark.parametrize("corpus", [False, True])
@fewer(2)
@given(texts=documents, order=st.integers(1, 5))
def test_ngrams_are_counted_as_by_counters(layout, corpus, texts, order):
    expected: dict[int, Counter] = {}
    for index, text in enumerate(texts):
        expected.setdefault(0 if corpus else index, Counter()).update(oracles.ngrams(text, order))
    entries = []
    for document, counter in expected.items():
        for ngram, number in sorted(counter.items()):
            entries.append((document, list(ngram), number))

    counts = ngram_counts(layout(texts), order, PADDING, corpus)
    found = zip(counts.documents.tolist(), counts.ngrams.tolist(), counts.counts.tolist(), strict=True)
    assert list(found) == entries
    assert counts.ngrams.shape == (len(entries), order)


def test_one_reference_is_written_with_and_without_its_list():
    for target in ([[1, 2]], [[[1, 2]]], [torch.tensor([1, 2])], [[torch.tensor([1, 2])]], [(1, 2)]):
        assert clipped_matches([[1, 2, 3]], target, 2).matches.tolist() == [[2, 1]]
    assert clipped_matches([[5]], [[torch.tensor([5]), [5, 5]]], 1).matches.tolist() == [[1]]
    rows = torch.tensor([[1, 2, 3]])
    assert clipped_matches(rows, rows, 2, 0).matches.equal(clipped_matches(rows, rows.unsqueeze(1), 2, 0).matches)


def test_padded_ids_are_counted_without_data():
    """On the ``meta`` device every step that depends on data is an error."""
    for dtype in (torch.int64, torch.int32, torch.uint8):
        ids = torch.empty(3, 7, dtype=dtype, device="meta")
        several = torch.empty(3, 2, 5, dtype=dtype, device="meta")
        for target in (ids, several):
            counts = clipped_matches(ids, target, 4, pad_id=0)
            assert [tuple(field.shape) for field in counts] == [(3, 4)] * 3
            assert {field.device.type for field in counts} == {"meta"}
        assert common_subsequence_lengths(ids, several[:, :1], pad_id=0).shape == (3,)


ROWS = torch.ones(2, 3, dtype=torch.int64)
IDS = [[1], [2]]
TOO_LARGE = r"segment 1 has the id {}: expected ids below 2\^63"


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: clipped_matches(ROWS, IDS), ValueError, "a padded tensor of ids was given without pad_id"),
        (lambda: clipped_matches(["a", "b"], ["a", "c"]), TypeError, "the segments are text: expected token ids"),
        (lambda: clipped_matches([["a"], ["b"]], [["a"], ["c"]]), TypeError, "the segments are tokens: expected token"),
        (lambda: clipped_matches([[True], [False]], [[True], [True]]), TypeError, "the segments are tokens: expected "),
        (lambda: clipped_matches(IDS, IDS, 0), ValueError, "ngram order must be greater than zero"),
        (lambda: ngram_counts(ROWS, 1), ValueError, "a padded tensor of ids was given without pad_id"),
        (lambda: ngram_counts(ROWS[None], 1, 0), ValueError, r"ids has shape \(1, 2, 3\): expected"),
        (lambda: ngram_counts(ROWS[0], 1, 0), ValueError, r"ids has shape \(3,\): expected"),
        (lambda: ngram_counts({1}, 1), TypeError, "ids is a set: expected a sequence"),
        (lambda: ngram_counts("ab", 1), TypeError, "the segments are text: expected token ids, which are integers"),
        (lambda: ngram_counts([[1], [2**63]], 1), ValueError, TOO_LARGE.format(2**63)),
        (lambda: ngram_counts([[1], [10**5000]], 1), ValueError, TOO_LARGE.format("0x31e2.*")),
        (lambda: ngram_counts(IDS, 1001), ValueError, "ngram order must be at most 1000"),
        (lambda: ngram_counts(IDS, 1, pad_id="0"), TypeError, "pad_id is '0': expected an integer"),
        (lambda: ngram_counts(IDS, n_gram=1), TypeError, "ngram_counts: unknown argument n_gram, did you mean ngram"),
        (lambda: common_subsequence_lengths(IDS, [[1], [[1], [2]]]), ValueError, "target has several references"),
        (lambda: common_subsequence_lengths(ROWS, torch.stack((ROWS, ROWS), 1), 0), ValueError, "several references"),
        (lambda: common_subsequence_lengths(ROWS, torch.stack((ROWS, 0 * ROWS), 1), 0), ValueError, "several ref"),
    ],
)
def test_other_input_is_refused(call: Any, error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize(
    ("preds", "target"),
    [
        (["a b c", "b"], ["a b", "b c"]),
        (["a b c", "b"], [["a b", "c"], ["b c"]]),
        (["a b c"], [["a b"]]),
        ([["a", "b", "c"], ["b"]], [["a", "b"], ["b", "c"]]),
        ([["a", "b", "c"], ["b"]], [[["a", "b"], ["c"]], [["b", "c"]]]),
        ("a b c", "a b"),
        ("a b c", ["a b", "c"]),
    ],
)
def test_the_lines_in_the_error_number_words(preds: Any, target: Any):
    names = {"preds": preds, "target": target, "defaultdict": defaultdict, "count": count}
    with pytest.raises(TypeError, match="Number the words first:") as raised:
        clipped_matches(preds, target)
    _, *lines = str(raised.value).split("\n    ")
    assert len(lines) == 3
    exec("\n".join(lines), names)
    metric = Bleu(tokenizer=None)
    metric.update(preds, target)
    assert clipped_matches(names["preds"], names["target"]).matches.sum(0).equal(metric.details()["matches"])


def test_the_lines_in_the_error_of_one_side_number_words():
    texts = ["a b a b", "b a"]
    with pytest.raises(TypeError, match="Number the words first:") as raised:
        ngram_counts(texts, 2)
    names = {"ids": texts, "defaultdict": defaultdict, "count": count}
    exec("\n".join(str(raised.value).split("\n    ")[1:]), names)
    assert ngram_counts(names["ids"], 2).counts.tolist() == [2, 1, 1]


def test_documents_of_arrays_and_unsigned_ids_are_counted_as_lists():
    expected = ngram_counts([[5, 6, 7], [5]], 2)
    for dtype in (np.int16, np.uint16, np.uint64, np.dtype(">i8")):
        for ids in (np.array([[5, 6, 7], [5, 0, 0]], dtype), [np.array(row, dtype) for row in ([5, 6, 7], [5])]):
            assert all(map(torch.equal, ngram_counts(ids, 2, 0), expected))
    for dtype in (torch.uint8, torch.uint16, torch.uint32, torch.uint64):
        ids = torch.tensor([[5, 6, 7], [5, 0, 0]], dtype=dtype)
        assert all(map(torch.equal, ngram_counts(ids, 2, 0), expected))
