"""Longest common subsequences and their unions against the textbook table and rouge_score, at every bound of words."""

import random
from contextlib import contextmanager
from itertools import chain
from unittest.mock import patch

import numpy as np
import pytest
import torch
from draws import examples, fewer
from hypothesis import given
from hypothesis import strategies as st
from layouts import groups, padded, ragged
from rouge_oracle import table as textbook_table
from rouge_oracle import union_hits as hits

from ngram_metrics._core.counting import documents as documents_module
from ngram_metrics._core.counting.documents import (
    DocumentGroups,
    PaddedPairs,
    PaddedTokens,
    RaggedPairs,
    RaggedSummaries,
    RaggedTokens,
)
from ngram_metrics._core.counting.subsequence import lengths, table, union
from ngram_metrics._core.counting.subsequence.lengths import similar_pairs, subsequence_lengths
from ngram_metrics._core.counting.subsequence.subsequence_pairs import all_pairs_subsequences
from ngram_metrics._core.counting.subsequence.union import union_subsequence_hits
from ngram_metrics.functional import rouge_score

SMALLEST, LARGEST = -(2**63), 2**63 - 1
SEPARATOR = -1


def length(reference, hypothesis):
    return textbook_table(reference, hypothesis)[-1][-1]


def with_rubbish(documents, spare=1, rubbish=(0, 1)):
    return padded(documents, spare, rubbish)


def padded_summaries(summaries, spare=1, separator=SEPARATOR):
    documents = [list(chain.from_iterable([separator, *sentence] for sentence in summary))[1:] for summary in summaries]
    return with_rubbish(documents, spare, (0, separator, 1))


def check_lengths(hypotheses, references, spare=1):
    """Both layouts have the lengths of the table."""
    expected = [length(reference, hypothesis) for hypothesis, reference in zip(hypotheses, references, strict=True)]
    end_to_end = RaggedPairs(ragged(hypotheses), ragged(references))
    rows = PaddedPairs(with_rubbish(hypotheses, spare), with_rubbish(references, 2 * spare))
    for found in (subsequence_lengths(end_to_end), subsequence_lengths(rows)):
        assert (found.tolist(), found.dtype) == (expected, torch.int64)


def check_hits(hypotheses, references):
    """Both layouts have the hits of the walks."""
    expected = [hits(hypothesis, reference) for hypothesis, reference in zip(hypotheses, references, strict=True)]
    assert union_subsequence_hits(RaggedSummaries(groups(hypotheses), groups(references))).tolist() == expected
    rows = PaddedPairs(padded_summaries(hypotheses), padded_summaries(references, 3))
    assert union_subsequence_hits(rows, SEPARATOR).tolist() == expected


@contextmanager
def bounds(
    word_bits=55,
    tile=64,
    words=3 << 20,
    step_words=2048,
    slots=1 << 17,
    joining=16,
    codes=9,
    long=1024,
    few=64,
    row_bits=1 << 30,
):
    """Move every bound of the implementation to where small texts reach it."""
    with (
        patch.object(table, "WORD_BITS", word_bits),
        patch.object(union, "WORD_BITS", word_bits),
        patch.object(table, "TILE", tile),
        patch.object(table, "CPU_WORDS", words),
        patch.object(lengths, "CPU_STEP_WORDS", step_words),
        patch.object(lengths, "WORDS_IN_HALVES", step_words),
        patch.object(lengths, "JOINING_STEPS", joining),
        patch.object(lengths, "CPU_SLOTS", slots),
        patch.object(lengths, "CODE_POINTS", codes),
        patch.object(lengths, "LONG_PAIR", long),
        patch.object(union, "FEW_PAIRS", few),
        patch.object(union, "ROW_BITS", row_bits),
        patch.object(documents_module, "CPU_SLOTS", slots),
    ):
        yield


BOUNDS = {
    "word_bits": [1, 2, 3, 5, 55],
    "tile": [1, 2, 3, 64],
    "words": [1, 40, 400, 3 << 20],
    "step_words": [1, 8, 2048],
    "slots": [1, 9, 100, 1 << 17],
    "joining": [0, 16],
    "codes": [0, 3, 1 << 20],
    "long": [0, 5, 1200],
    "few": [0, 2, 80],
    "row_bits": [0, 9, 1 << 30],
}
any_bounds = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in BOUNDS.items()})


def at_each_bound(pairs):
    return examples(*({"pairs": pairs, "moved": {name: value}} for name, values in BOUNDS.items() for value in values))


documents = st.integers(1, 5).flatmap(lambda last: st.lists(st.integers(0, last), max_size=20))
document_pairs = st.lists(st.tuples(documents, documents), max_size=5)
summaries = st.lists(st.lists(st.integers(0, 3), max_size=9), max_size=4)
summary_pairs = st.lists(st.tuples(summaries, summaries), max_size=4)


def sides(pairs):
    return [hypothesis for hypothesis, _ in pairs], [other for _, other in pairs]


@at_each_bound([([0, 1, 2, 0, 3, 2], [1, 0, 2, 2, 0, 1, 0]), ([1, 2] * 35, [2, 1, 1] * 22), ([], [1]), ([4], [4])])
@given(document_pairs, any_bounds)
def test_lengths_are_the_tables(pairs, moved):
    with bounds(**moved):
        check_lengths(*sides(pairs))


@fewer(2)
@at_each_bound([([[0, 1, 2], [1, 2, 0]], [[1, 0, 2, 2], [2, 1]]), ([[1] * 9, []], [[1, 3] * 4]), ([], [[2]])])
@given(summary_pairs, any_bounds)
def test_hits_are_those_of_the_walks(pairs, moved):
    with bounds(**moved):
        check_hits(*sides(pairs))


@pytest.mark.covering
@pytest.mark.parametrize("repeats", [2, 6, 80])
@pytest.mark.parametrize("width", [54, 55, 56, 109, 110, 111, 166])
def test_around_whole_words(width, repeats):
    source = random.Random(width * repeats)
    hypotheses, references = ([[source.randrange(repeats) for _ in range(width)] for _ in range(3)] for _ in range(2))
    check_lengths(hypotheses, references, spare=0)
    cut = source.randrange(width)
    check_hits(*([[document[:cut], document[cut:]] for document in side] for side in (hypotheses, references)))


@fewer(4)
@examples(*({"shared": shared, "seed": 0} for shared in (0, 254, 255, 256, 257)))
@given(st.integers(250, 262), st.integers())
def test_long_pairs_share_any_number_of_words(shared, seed):
    """Also words of one side, often larger ids; and an empty side, whose other side has no word in common."""
    source = random.Random(seed)
    sides = []
    for first in (1000, 2000):
        document = [*range(shared)] * 2 + [source.randrange(min(9, shared)) for _ in range(min(99, shared))]
        source.shuffle(document)
        for index in range(0, len(document), 3):
            document.insert(index, first + source.randrange(9))
        sides.append(document)
    pairs = [tuple(sides), ([], sides[0]), (sides[1], []), ([2, 1, 2], [1, 2])]
    expected = [length(*pair) for pair in pairs]
    with bounds(long=1, codes=1 << 20):
        assert subsequence_lengths(RaggedPairs(*map(ragged, zip(*pairs, strict=True)))).tolist() == expected


@pytest.mark.parametrize("size", [lengths.LONG_PAIR - 1, lengths.LONG_PAIR])
def test_pairs_around_the_size_that_is_numbered_anew(size):
    source = random.Random(size)
    hypotheses, references = (
        [[source.randrange(words) for _ in range(count)] for words, count in ((400, part), (5, 7), (400, part))]
        for part in (500, size - 500)
    )
    check_lengths(hypotheses, references)


@pytest.mark.parametrize("count", [union.FEW_PAIRS - 1, union.FEW_PAIRS])
def test_summaries_around_the_number_that_is_counted_in_plain_python(count):
    source = random.Random(count)
    hypotheses, references = (
        [[[source.randrange(9) for _ in range(source.randrange(7))] for _ in range(3)] for _ in range(count)]
        for _ in range(2)
    )
    check_hits(hypotheses, references)


@pytest.mark.parametrize("steps", [33, 40, 41])
@pytest.mark.parametrize("letters", [2, 9])
def test_both_halves_have_the_lengths_of_the_table(steps, letters):
    source = random.Random(0)
    hypotheses, references = (
        [[source.randrange(letters) for _ in range(width)] for _ in range(3)] for width in (70, steps)
    )
    assert lengths.halves_are_faster(3, 2, steps)
    check_lengths(hypotheses, references, spare=0)


@pytest.mark.parametrize(
    ("hypothesis", "reference"),
    [
        ([0] * 130, [0] * 200),
        ([0, 1] * 70, [1, 0] * 70),
        ([0] * 70 + [1] * 70, [1] * 70 + [0] * 70),
        (list(range(130)), list(range(130))[::-1]),
        ([0, *range(1, 130)], [*range(1, 130), 0]),
    ],
)
def test_repeats_that_borrow_across_every_word(hypothesis, reference):
    check_lengths([hypothesis], [reference])
    check_hits([[hypothesis[:90], hypothesis[90:]]], [[reference[:50], reference[50:]]])


@pytest.mark.parametrize("separator", [SMALLEST, LARGEST, 0])
def test_every_int64_is_an_id(separator):
    ids = [token for token in (0, -1, LARGEST, SMALLEST, LARGEST - 1) if token != separator]
    source = random.Random(2)
    hypothesis, reference = ([[source.choice(ids) for _ in range(15)] for _ in range(3)] for _ in range(2))
    flat = list(chain.from_iterable(hypothesis)), list(chain.from_iterable(reference))
    rubbish = (SMALLEST, LARGEST)
    found = subsequence_lengths(
        PaddedPairs(with_rubbish([flat[0], []], 1, rubbish), with_rubbish([flat[1], []], 1, rubbish))
    )
    assert found.tolist() == [length(flat[1], flat[0]), 0]
    rows = PaddedPairs(*(padded_summaries([side], 1, separator) for side in (hypothesis, reference)))
    assert union_subsequence_hits(rows, separator).tolist() == [hits(hypothesis, reference)]


@pytest.mark.parametrize("bound", [0x110000, 0x110001])
def test_ids_are_any_code_points(bound):
    """Surrogates, the byte order mark in front, and the last one; and ids beyond it."""
    hypothesis = [0xFEFF, 0xD83D, 0xDE00, 0, 0xFF, 0xDC80, 0xFFFE, 0x1F600, bound - 1]
    reference = [0xFEFF, 0x1F600, 0xD83D, 0xFF, 0xDE00, 0, 0xDFFF, 0xFFFE, bound - 1]
    found = subsequence_lengths(RaggedPairs(ragged([hypothesis], bound), ragged([reference], bound)))
    assert found.tolist() == [length(reference, hypothesis)] == [6]


def test_a_vocabulary_too_large_for_one_key():
    # Of these, Python's hashes of the first and the second are equal.
    names = [0, 2**61 - 1, LARGEST - 2, LARGEST - 1]
    source = random.Random(3)
    hypotheses, references = ([[source.choice(names) for _ in range(9)] for _ in range(6)] for _ in range(2))
    found = subsequence_lengths(RaggedPairs(ragged(hypotheses, LARGEST), ragged(references, LARGEST)))
    assert found.tolist() == [length(*pair) for pair in zip(references, hypotheses, strict=True)]


@pytest.mark.parametrize("spare", [0, 1])
@pytest.mark.parametrize("pairs", [[], [([], [])], [([], [1]), ([1], []), ([], [])], [([], [1]), ([0, 1], [1])]])
def test_empty_documents(pairs, spare):
    check_lengths(*sides(pairs), spare)


@pytest.mark.parametrize(
    "pairs", [[], [([], [])], [([], [[1]]), ([[1]], []), ([[], [1]], [[], [], [1]])], [([[]], [[], []])]]
)
def test_empty_summaries(pairs):
    check_hits(*sides(pairs))


def test_pairs_of_different_size_are_not_padded_together():
    sizes = torch.tensor([3] * 2500 + [3000] + [3] * 2500 + [0])
    with bounds(step_words=1):
        chunks_made = [chunk for chunk, *_ in similar_pairs(sizes, sizes)]
    assert torch.cat(chunks_made).sort().values.tolist() == list(range(len(sizes)))
    cells = [len(chunk) * int(sizes[chunk].max()) ** 2 for chunk in chunks_made]
    assert sum(cells) < 3 * int((sizes**2).sum())


def test_results_stand_in_the_order_of_the_pairs():
    source = random.Random(4)
    sizes = [source.choice([0, 1, 3, 40, 150]) for _ in range(60)]
    hypotheses, references = ([[source.randrange(5) for _ in range(size)] for size in sizes] for _ in range(2))
    source.shuffle(references)
    for words in (200, 3 << 20):
        with bounds(words=words, step_words=4):
            check_lengths(hypotheses, references)


def both_counts(hypotheses, hypothesis_lengths, references, reference_lengths):
    rows = PaddedPairs(PaddedTokens(hypotheses, hypothesis_lengths), PaddedTokens(references, reference_lengths))
    return lengths.subsequence_lengths(rows), union_subsequence_hits(rows, 0), union_subsequence_hits(rows)


@pytest.mark.parametrize("moved", [{}, {"word_bits": 3}, {"word_bits": 3, "words": 30, "tile": 2}])
def test_padded_tokens_never_wait_for_the_device(moved):
    rows = [*with_rubbish([[0, 1, 2], [2, 2]], 6), *with_rubbish([[1, 2, 0, 1], [2]], 3)]
    with bounds(**moved):
        for found in both_counts(*(row.to("meta") for row in rows)):
            assert (found.shape, found.dtype) == ((2,), torch.int64)


def test_padded_tokens_of_several_words_compile_in_one_graph():
    # The graph doubles with each position.
    rows = [*with_rubbish([[0, 1, 2, 0], [2, 2]], 0), *with_rubbish([[1, 2, 0], [2]], 0)]
    with bounds(word_bits=2):
        torch.compiler.reset()
        compiled = torch.compile(both_counts, fullgraph=True, backend="eager")
        torch.testing.assert_close(compiled(*rows), both_counts(*rows))


@pytest.mark.parametrize("key", ["rougeL", "rougeLsum"])
@pytest.mark.parametrize(
    "wrapped", [torch.vmap, lambda score: lambda *batch: torch.jit.trace(score, [rows[0] for rows in batch])]
)
@pytest.mark.filterwarnings("ignore")  # torch.jit is deprecated, and warns of every Python number
def test_what_cannot_follow_overwritten_rows_is_refused(key, wrapped):
    rows = torch.ones(2, 3, 8, dtype=torch.int64)
    with pytest.raises(RuntimeError, match=r"ROUGE-L cannot run inside torch\.jit\.trace or torch\.vmap: call"):
        wrapped(lambda *batch: rouge_score(*batch, pad_id=0, sentence_separator_id=9, rouge_keys=key))(rows, rows)


def test_a_cut_may_lie_before_the_first_position():
    """The second half alone is the longest: a cut inside the long text only loses."""
    rows = [["b"] * 30 + ["a"] * 28 + ["d"] * 2], [[["a"] * 29 + ["d"] + ["b"] * 30]]
    assert rouge_score(*rows, rouge_keys="rougeL")["rougeL_recall"] == 0.5


@pytest.mark.parametrize("spread", [1, 0x300, 1 << 40], ids=["small", "surrogates", "no code points"])
def test_all_pairs_of_any_ids(spread: int):
    chance = np.random.default_rng(2)
    documents = [(chance.integers(0, 5, chance.integers(0, 9)) * spread + 0xD7FE).tolist() for _ in range(12)]
    documents[3] = documents[9] = []
    tokens = RaggedTokens(
        torch.tensor([token for document in documents for token in document]),
        torch.tensor(list(map(len, documents))),
        5 * spread + 0xD7FE,
    )
    groups = [DocumentGroups(tokens.slice(*part), torch.tensor([part[1] - part[0]])) for part in ((0, 7), (7, 12))]
    (block,) = all_pairs_subsequences(*groups, torch.device("cpu"))
    expected = [[length(other, document) for other in documents[7:]] for document in documents[:7]]
    assert block.matches.squeeze(-1).tolist() == [expected]
