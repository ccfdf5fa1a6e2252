"""Longest common subsequences and their unions against the textbook table and rouge_score's walk through it."""

import random
from itertools import chain

import pytest
import torch
from crossings import crossings
from hypothesis import given
from hypothesis import strategies as st
from layouts import PADDING, apart, padded
from rouge_oracle import table
from rouge_oracle import union_hits as walked_hits

from ngram_metrics._core.metrics.rouge import make_rouge
from ngram_metrics.counting import common_subsequence_lengths
from ngram_metrics.functional import rouge_score

LARGEST = 2**63 - 1
SEPARATOR = 1000
SUMMARIES = make_rouge(rouge_keys="rougeLsum", sentence_separator_id=SEPARATOR)


def check_lengths(pairs):
    """RapidFuzz and the bit table in torch have the lengths of the textbook's table, wherever padding stands."""
    expected = [table(reference, hypothesis)[-1][-1] for hypothesis, reference in pairs]
    batch = [(hypothesis, [reference]) for hypothesis, reference in pairs]
    assert common_subsequence_lengths(*apart(batch)).tolist() == expected
    assert common_subsequence_lengths(*padded(batch, gaps=True), PADDING).tolist() == expected
    with crossings():  # torch counts on a CPU too while something records its operations
        for gaps in (False, True):
            lengths = common_subsequence_lengths(*padded(batch, gaps), PADDING)
            assert (lengths.tolist(), lengths.dtype) == (expected, torch.int64)


def check_hits(pairs):
    """Summaries have the hits of the walks."""
    batch = [(separated(hypothesis), [separated(reference)]) for hypothesis, reference in pairs]
    expected = [walked_hits(hypothesis, reference) for hypothesis, reference in pairs]
    assert SUMMARIES.count_batch(*apart(batch)).rows[:, 0].tolist() == expected


def separated(summary):
    return [*chain.from_iterable([SEPARATOR, *sentence] for sentence in summary)][1:]


documents = st.integers(1, 5).flatmap(lambda last: st.lists(st.integers(0, last), max_size=20))
summaries = st.lists(st.lists(st.integers(0, 3), max_size=9), max_size=4)


@given(st.lists(st.tuples(documents, documents), max_size=5))
def test_lengths_are_the_tables(pairs):
    check_lengths(pairs)


@given(st.lists(st.tuples(summaries, summaries), max_size=4))
def test_hits_are_those_of_the_walks(pairs):
    check_hits(pairs)


@pytest.mark.parametrize(
    "repeats", [pytest.param(2, marks=pytest.mark.slow), 6, pytest.param(80, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("width", [1, 54, 55, 56, 109, 110, 111, 166])
def test_around_whole_words_of_the_bit_table(width, repeats):
    source = random.Random(width * repeats)
    pairs = [tuple([source.randrange(repeats) for _ in range(width)] for _ in range(2)) for _ in range(3)]
    check_lengths(pairs)
    cut = source.randrange(width)
    check_hits([tuple([document[:cut], document[cut:]] for document in pair) for pair in pairs])


@pytest.mark.parametrize("size", [70, 71, 3600])
def test_more_words_and_steps_than_a_tile_of_masks(size):
    source = random.Random(size)
    steps = [source.randrange(99) for _ in range(min(size, 70))]
    check_lengths([([source.randrange(99) for _ in range(size)], steps), (steps, steps[::-1])])


@pytest.mark.parametrize(
    ("hypothesis", "reference"),
    [
        ([0] * 130, [0] * 200),
        ([0, 1] * 70, [1, 0] * 70),
        ([0] * 70 + [1] * 70, [1] * 70 + [0] * 70),
        (list(range(130)), list(range(130))[::-1]),
        ([0, *range(1, 130)], [*range(1, 130), 0]),
        # The second half alone is the longest: a cut inside the long text only loses.
        ([1] * 30 + [0] * 28 + [3] * 2, [0] * 29 + [3] + [1] * 30),
    ],
)
def test_repeats_that_borrow_across_every_word(hypothesis, reference):
    check_lengths([(hypothesis, reference)])
    below = [[token % 8 for token in side] for side in (hypothesis, reference)]
    check_hits([([below[0][:90], below[0][90:]], [below[1][:50], below[1][50:]])])


@pytest.mark.parametrize("largest", [0xFFFF, 0x10FFFC, 0x10FFFD, 2**40, LARGEST])
def test_every_id_is_a_token(largest):
    """Also surrogates, the byte order mark, the last code points, and ids that are none."""
    hypothesis = [0xFEFF, 0xD83D, 0xDE00, 0, 0xFF, 0xDC80, 0xFFFE, 0x1F600, largest]
    reference = [0xFEFF, 0x1F600, 0xD83D, 0xFF, 0xDE00, 0, 0xDFFF, 0xFFFE, largest]
    check_lengths([(hypothesis, reference)])
    assert common_subsequence_lengths([hypothesis], [reference]).tolist() == [6]


@pytest.mark.slow
def test_several_chunks_of_pairs_stand_in_order():
    """The masks of so many pairs are more than a chunk holds; a reference lacks the first tokens of its hypothesis."""
    width = 8000
    missing = range(60)
    reference = torch.arange(width).repeat(len(missing), 1)
    reference[torch.arange(width) < torch.tensor(missing).unsqueeze(1)] = width
    with crossings():
        lengths = common_subsequence_lengths(torch.arange(width).expand_as(reference), reference, pad_id=-1)
    assert lengths.tolist() == [width - number for number in missing]


@pytest.mark.slow
@pytest.mark.usefixtures("compiling")
def test_padded_tokens_of_several_words_compile_in_one_graph():
    hypothesis, reference = [0, 1] * 30, [1, 0, 0] * 20
    compiled = torch.compile(common_subsequence_lengths, fullgraph=True, backend="eager")
    lengths = compiled(*padded([(hypothesis, [reference]), ([1], [[]])]), PADDING)
    assert lengths.tolist() == [table(reference, hypothesis)[-1][-1], 0]


@pytest.mark.parametrize(
    "wrapped", [torch.vmap, lambda score: lambda *batch: torch.jit.trace(score, [rows[0] for rows in batch])]
)
@pytest.mark.filterwarnings("ignore")  # torch.jit is deprecated, and warns of every Python number
def test_what_cannot_follow_overwritten_rows_is_refused(wrapped):
    rows = torch.ones(2, 3, 8, dtype=torch.int64)
    with pytest.raises(RuntimeError, match=r"ROUGE-L cannot run inside torch\.jit\.trace or torch\.vmap: call"):
        wrapped(lambda *batch: rouge_score(*batch, pad_id=0, rouge_keys="rougeL"))(rows, rows)
