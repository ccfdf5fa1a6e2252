"""The public counts of token ids against counters, in both layouts; without data; and what is refused."""

import subprocess
import sys
from collections import Counter
from typing import Any

import oracles
import pytest
import rouge_oracle
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from ngram_metrics import counting
from ngram_metrics.counting import clipped_matches, common_subsequence_lengths, ngram_counts

PADDING = (0, 99)
#: Few ids, so that n-grams recur, and the largest one.
documents = st.lists(st.sampled_from([1, 2, 3, 2**63 - 1]), max_size=8)
#: In a padded tensor an empty reference among several is a missing one.
references = st.lists(documents, min_size=1, max_size=1) | st.lists(documents.filter(bool), min_size=1, max_size=3)
batches = st.lists(st.tuples(documents, references), max_size=4)


def rows_of(texts: list[list[int]], width: int) -> list[list[int]]:
    """Ids with padding in front of each, and up to the width behind them."""
    spread = [[token for word in text for token in (PADDING[1], word)] for text in texts]
    return [row + [PADDING[0]] * (width - len(row)) for row in spread]


def padded_batch(batch: list[tuple[list[int], list[list[int]]]]) -> tuple[Tensor, Tensor]:
    most = max((len(references) for _, references in batch), default=1)
    hypotheses = torch.tensor(rows_of([hypothesis for hypothesis, _ in batch], 16), dtype=torch.int64)
    rows = [rows_of([*references, *[[]] * (most - len(references))], 17) for _, references in batch]
    target = torch.tensor(rows, dtype=torch.int64).reshape(len(batch), most, 17)
    return hypotheses.reshape(len(batch), 16), target


def expected_matches(batch: list[tuple[list[int], list[list[int]]]], orders: int) -> list[list[list[int]]]:
    closest = [oracles.closest_length(*segment) for segment in batch]
    return [
        oracles.match_rows(batch, orders),
        [[oracles.ngrams(hypothesis, n).total() for n in range(1, orders + 1)] for hypothesis, _ in batch],
        [[max(0, length - n + 1) for n in range(1, orders + 1)] for length in closest],
    ]


@given(batches, st.integers(1, 5))
def test_matches_are_those_of_counters(batch, orders):
    lists = [hypothesis for hypothesis, _ in batch], [references for _, references in batch]
    tensors = [torch.tensor(ids, dtype=torch.int64) for ids in lists[0]]
    for preds, target in (lists, (tensors, lists[1]), padded_batch(batch)):
        counts = clipped_matches(preds, target, orders, pad_id=PADDING)
        assert [field.tolist() for field in counts] == expected_matches(batch, orders)
        assert {(field.dtype, tuple(field.shape)) for field in counts} == {(torch.int64, (len(batch), orders))}


@given(st.lists(documents, max_size=4), st.integers(1, 5), st.booleans())
def test_counts_are_those_of_counters(texts, order, corpus):
    expected: dict[int, Counter] = {}
    for index, text in enumerate(texts):
        expected.setdefault(0 if corpus else index, Counter()).update(oracles.ngrams(text, order))
    entries = [
        (document, list(ngram), count) for document in expected for ngram, count in sorted(expected[document].items())
    ]
    rows = torch.tensor(rows_of(texts, 17), dtype=torch.int64).reshape(len(texts), 17)
    for ids in (texts, [torch.tensor(text, dtype=torch.int64) for text in texts], rows):
        counts = ngram_counts(ids, order, PADDING, corpus)
        found = zip(counts.documents.tolist(), counts.ngrams.tolist(), counts.counts.tolist(), strict=True)
        assert list(found) == entries
        assert counts.ngrams.shape == (len(entries), order)


@given(st.lists(st.tuples(documents, documents), max_size=4))
def test_subsequences_are_those_of_the_table(pairs):
    expected = [rouge_oracle.table(list(one), list(other))[-1][-1] for one, other in pairs]
    lists = [hypothesis for hypothesis, _ in pairs], [other for _, other in pairs]
    for preds, target in (lists, padded_batch([(one, [other]) for one, other in pairs])):
        assert common_subsequence_lengths(preds, target, PADDING).tolist() == expected


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


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: clipped_matches(ROWS, ROWS), ValueError, "a padded tensor of ids needs pad_id"),
        (lambda: clipped_matches(ROWS[0], ROWS, pad_id=0), ValueError, r"preds has shape \(3,\): expected ids in rows"),
        (
            lambda: clipped_matches(ROWS, ROWS[0], pad_id=0),
            ValueError,
            r"target has shape \(3,\): expected \(segments, ",
        ),
        (lambda: clipped_matches(ROWS, ROWS[:, None][:, :0], pad_id=0), ValueError, "with at least one reference"),
        (lambda: clipped_matches(ROWS, ROWS[:1], pad_id=0), ValueError, "preds has 2 segments and target has 1"),
        (lambda: clipped_matches(IDS, IDS[:1]), ValueError, "preds has 2 segments and target has 1"),
        (lambda: clipped_matches(ROWS, ROWS.to("meta"), pad_id=0), ValueError, "preds is on cpu and target is on meta"),
        (lambda: clipped_matches(ROWS, IDS, pad_id=0), TypeError, "preds is a tensor and the other side is not"),
        (lambda: clipped_matches(IDS, ROWS, pad_id=0), TypeError, "target is a tensor and the other side is not"),
        (lambda: clipped_matches(ROWS.double(), ROWS, pad_id=0), TypeError, "preds is a tensor of torch.float64"),
        (lambda: clipped_matches(ROWS, ROWS > 0, pad_id=0), TypeError, "target is a tensor of torch.bool"),
        (lambda: ngram_counts(ROWS.to(torch.uint64), 1, 0), TypeError, "ids is a tensor of torch.uint64: expected"),
        (lambda: clipped_matches("ab", IDS), TypeError, "preds is str: expected token ids, as a padded tensor or"),
        (lambda: clipped_matches(["a", "b"], IDS), TypeError, r"preds\[0\] is str: expected token ids"),
        (lambda: clipped_matches([["a"], [2]], IDS), TypeError, r"preds\[0\] holds 'a': expected token ids"),
        (lambda: clipped_matches([[True], [2]], IDS), TypeError, r"preds\[0\] holds True"),
        (lambda: clipped_matches(IDS, [[1], [1.5]]), TypeError, r"target\[1\] holds 1.5"),
        (lambda: clipped_matches(IDS, [[1], [[1], "a"]]), TypeError, r"target\[1\]\[1\] is str"),
        (lambda: clipped_matches(IDS, [[1], []]), ValueError, r"target\[1\] is empty: .* is written \[\[\]\]"),
        (lambda: clipped_matches(IDS, [[1], ROWS]), ValueError, r"target\[1\] has shape \(2, 3\): expected 1-D ids"),
        (lambda: clipped_matches([[1], [-5]], IDS), ValueError, r"preds\[1\] has the id -5: expected .* or in pad_id"),
        (lambda: ngram_counts([[1], [2**63]], 1), ValueError, rf"ids\[1\] has the id {2**63}"),
        (lambda: clipped_matches(IDS, IDS, 0), ValueError, "ngram order must be greater than zero"),
        (lambda: ngram_counts(IDS, 1001), ValueError, "ngram order must be at most 1000"),
        (lambda: ngram_counts(IDS, 1, pad_id="0"), TypeError, "pad_id is '0': expected an integer"),
        (lambda: ngram_counts(IDS, n_gram=1), TypeError, "ngram_counts: unknown argument n_gram, did you mean ngram"),
        (lambda: common_subsequence_lengths(IDS, [[1], [[1], [2]]]), TypeError, r"target\[1\]\[0\] holds \[1\]"),
        (lambda: common_subsequence_lengths(ROWS, torch.stack((ROWS, ROWS), 1), 0), ValueError, "several references"),
    ],
)
def test_other_input_is_refused(call: Any, error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        call()


def test_negative_ids_are_no_tokens_in_rows_and_named_in_lists():
    rows = torch.tensor([[5, -100, 6, -1]])
    assert clipped_matches(rows, rows, 2, pad_id=0).matches.tolist() == [[2, 1]]
    assert clipped_matches([[5, -100, 6]], [[5, 6]], 2, pad_id=-100).matches.tolist() == [[2, 1]]


def test_the_module_is_a_table_of_contents():
    """``pair`` imports a file of this folder, and must not import torch by that."""
    run = "import sys; from ngram_metrics import counting; dir(counting); print('torch' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"
    assert dir(counting) == sorted(counting.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'ngrams'"):
        _ = counting.ngrams
