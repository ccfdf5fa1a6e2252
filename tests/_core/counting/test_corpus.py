"""The n-grams of a corpus against counters: totals, documents, and who has most, at every bound of the keys."""

import random
import subprocess
import sys
from collections import Counter
from unittest import mock

import oracles
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from layouts import padded, ragged

from ngram_metrics._core.counting import corpus
from ngram_metrics._core.counting import documents as documents_module
from ngram_metrics._core.counting.corpus import corpus_ngrams, distinct_ngrams
from ngram_metrics._core.counting.documents import PaddedTokens

LARGEST = 2**63 - 1
small_ids = st.integers(0, 2)
#: The vocabulary is the largest id, so that keys of every width occur.
wide_ids = st.integers(0, 62).flatmap(lambda bits: st.sampled_from([0, 1, 2**bits - 1, min(2**bits, LARGEST - 1)]))
any_ids = st.sampled_from([-(2**63), -100, -1, 0, 1, 7, 2**62, LARGEST])
orders = st.integers(1, 6) | st.just(20)


@pytest.fixture(params=["numpy", "torch"])
def sorts_with(request, monkeypatch):
    """As on a CPU, and as on an accelerator."""
    if request.param == "torch":
        monkeypatch.setattr(corpus, "KEY_BITS", 0)


def texts_of(ids):
    return st.lists(st.lists(ids, max_size=10), max_size=7)


def by_ngram(texts, order, document):
    """The count of each n-gram in each document."""
    found = {}
    for text, owner in zip(texts, document, strict=True):
        for ngram, count in oracles.ngrams(text, order).items():
            found.setdefault(ngram, Counter())[owner] += count
    return found


def table(texts, max_order, document=None, id_bound=None):
    """For each order the row of each n-gram: its total, documents, largest count, owner and second count."""
    tokens = ragged(texts, id_bound)
    owner = None if document is None else torch.tensor(document, dtype=torch.int64)
    rows, names, words = [], [()], []
    for order, found in enumerate(corpus_ngrams(tokens, max_order, owner), 1):
        totals = torch.zeros_like(found.last).index_add(0, found.ngram, found.times)
        columns = totals, found.documents(), *found.largest()
        last = found.last.tolist()
        numbers = list(zip(found.prefix.tolist(), last, strict=True))
        assert numbers == sorted(numbers)
        assert order > 1 or not found.prefix.any()
        words = last if order == 1 else words
        names = [
            (*names[one], words[other] if order > 1 else other)
            for one, other in zip(found.prefix.tolist(), last, strict=True)
        ]
        assert len(set(names)) == len(names) == found.distinct()
        assert found.ngram.tolist() == sorted(found.ngram.tolist())
        rows.append(dict(zip(names, zip(*(column.tolist() for column in columns), strict=True), strict=True)))
    return rows


def expected_table(texts, max_order, document=None):
    document = list(range(len(texts))) if document is None else document
    rows = []
    for order in range(1, max_order + 1):
        row = {}
        for ngram, counts in by_ngram(texts, order, document).items():
            largest = max(counts.values())
            owner = min(one for one, count in counts.items() if count == largest)
            second = max([0, *(count for one, count in counts.items() if one != owner)])
            row[ngram] = (counts.total(), len(counts), largest, owner, second)
        rows.append(row)
    return rows


@pytest.mark.usefixtures("sorts_with")
class TestTable:
    @given(texts_of(small_ids) | texts_of(wide_ids), orders)
    def test_is_that_of_counters(self, texts, max_order):
        assert table(texts, max_order) == expected_table(texts, max_order)

    @given(st.data())
    def test_texts_of_one_document_count_together_and_share_no_ngram(self, data):
        texts = data.draw(texts_of(small_ids))
        document = sorted(data.draw(st.lists(st.integers(0, 3), min_size=len(texts), max_size=len(texts))))
        assert table(texts, 3, document) == expected_table(texts, 3, document)

    @pytest.mark.parametrize("beyond", [-1, 0, 1])
    def test_the_largest_ids_whose_place_fits_beside_them(self, beyond):
        texts = [[5, 6, 5], [6, 5]] * 3
        place_bits = (15).bit_length()
        id_bound = (1 << 63 - place_bits) + beyond
        texts[0][1] = id_bound - 1
        assert table(texts, 3, id_bound=id_bound) == expected_table(texts, 3)

    def test_the_bits_of_a_key_hold_it(self):
        """Keys that are said to be narrower lose their highest bits from 2 million distinct words on."""
        with mock.patch.object(corpus, "_sort_slots", wraps=corpus._sort_slots) as sort:
            table([list(range(100))], 3)
        assert [(int(key.max()).bit_length(), bits) for (key, _, bits), _ in sort.call_args_list] == [
            (7, 7),
            (14, 14),
            (14, 14),
        ]

    def test_entries_of_each_document(self):
        texts = [[1, 2, 1], [], [2, 2, 3]]
        found = next(corpus_ngrams(ragged(texts), 1))
        assert found.sum_by_document(torch.ones_like(found.times), 3).tolist() == [2, 0, 2]
        assert found.sum_by_document(found.times, 3).tolist() == [3, 0, 3]


def expected_distinct(texts, order):
    return [len(oracles.ngrams(text, order)) for text in texts]


@given(texts_of(small_ids) | texts_of(wide_ids), orders)
@example([[7, LARGEST - 1, 7, LARGEST - 1, 7], [], [LARGEST - 1] * 4], 3)
def test_distinct_ngrams_of_ragged_documents(texts, order):
    assert distinct_ngrams(ragged(texts), order).tolist() == expected_distinct(texts, order)


@given(texts_of(any_ids), st.integers(0, 2), orders)
@example([[7, 7], []], 0, 2)
def test_distinct_ngrams_of_rows_with_any_ids(texts, spare, order):
    assert distinct_ngrams(padded(texts, spare), order).tolist() == expected_distinct(texts, order)


@pytest.mark.parametrize("slots", [1, 7, 20])
@pytest.mark.parametrize("layout", [ragged, padded])
def test_distinct_ngrams_do_not_depend_on_the_chunks(layout, slots, monkeypatch):
    draw = random.Random(slots)
    texts = [[draw.randrange(3) for _ in range(draw.randrange(9))] for _ in range(40)]
    monkeypatch.setattr(documents_module, "CPU_SLOTS", slots)
    assert distinct_ngrams(layout(texts), 2).tolist() == expected_distinct(texts, 2)


@pytest.mark.parametrize("length", [62, 63, 64, 127, 128, 1023, 1024])
@pytest.mark.parametrize("layout", [ragged, padded])
def test_distinct_ngrams_where_a_digit_needs_one_more_bit(layout, length):
    """Long orders do not fit a key together: the next sort continues with ranks."""
    texts = [list(range(length)), [0, 1] * (length // 2), [3] * length]
    for order in (1, 5, 12):
        assert distinct_ngrams(layout(texts), order).tolist() == expected_distinct(texts, order)


def test_distinct_ngrams_of_no_rows_and_of_rows_without_slots():
    for rows, width in [(0, 3), (2, 0)]:
        ids = torch.zeros(rows, width, dtype=torch.int64)
        assert distinct_ngrams(PaddedTokens(ids, ids.sum(1)), 1).tolist() == [0] * rows


MEASURED = """
import random, resource, torch
from ngram_metrics import functional
torch.set_num_threads(1)
words = [f"w{random.randrange(5000)}" for _ in range(200_000)]
lines = [" ".join(words[start : start + 20]) for start in range(0, 20_000, 20)]
functional.repetition(lines, 4), functional.bleu_score(lines, lines), functional.self_repetition(lines, 4)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
%s
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
HIGH_ORDERS = """
functional.repetition([" ".join(words[:20_000])], 1000), functional.repetition(lines, 1000)
functional.distinct(lines, 1000), functional.self_repetition(lines, 1000)
functional.bleu_score(lines[:300], [lines[1:2] * 2] * 300, ngram=1000)
"""
ONE_LONG_TEXT = 'functional.bleu_score([" ".join(words)], [" ".join(words[:199_000])], ngram=300)'


@pytest.mark.programs
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux")
@pytest.mark.parametrize(("calls", "most"), [(HIGH_ORDERS, 60_000), (ONE_LONG_TEXT, 300_000)], ids=["orders", "text"])
def test_high_orders_take_no_more_memory(calls, most):
    """Every sort was kept: order 1,000 of 50,000 words took 268 MB.

    Small tensors that were kept between large ones tore the heap to pieces: order 300 of a long text took 777 MB.
    """
    run = subprocess.run([sys.executable, "-c", MEASURED % calls], capture_output=True, text=True, check=True)
    assert int(run.stdout) < most
