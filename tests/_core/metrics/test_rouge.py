"""ROUGE against plain Python and, number for number, against rouge_score."""

import numpy as np
import pytest
import rouge_oracle
from hypothesis import example, given
from hypothesis import strategies as st
from layouts import apart
from oracles import close
from rouge_oracle import KEYS
from rouge_score import rouge_scorer

from ngram_metrics._core.metrics.rouge import ROUGE_KEYS, MeanRougeMeasure, RougeMeasure
from ngram_metrics._core.scoring.scorer import Scorer
from ngram_metrics._core.text.rouge_reader import RougeReader

#: Texts of which the rule leaves nothing are among those drawn; `test_input_warnings.py` is about the warning.
pytestmark = pytest.mark.filterwarnings("ignore:ROUGE's rule for words")

VARIANTS = tuple(ROUGE_KEYS.values())
#: Words that stem alike, letters with a lower case in ASCII, marks, emoji, and every character that may end a line:
#: for rouge_score only "\n" does.
_PIECES = [
    *["run", "running", "runs", "The", "the", "cats", "cat", "a", "b", "1", "2nd", "a_b", "don't", "__"],
    *["\u212aelvin", "kelvin", "İ", "i", "é", "e\u0301", "ß", "😀", "👩\u200d👧", "東京", "\u0301", "."],
    *[" ", " ", " ", "\n", "\n", "\n\n", "\r\n", "\r", "\t", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"],
]
#: Few words and many lines: long common subsequences of which several are equally long.
_repeats = st.lists(st.sampled_from(["a ", "b ", "c ", "\n"]), max_size=24).map("".join)
summaries = (
    st.lists(st.sampled_from(_PIECES), max_size=16).map("".join)
    | _repeats
    | st.sampled_from(["", " ", "\n", "a", "\n\na b\n", "the cat\nthe cat\nthe cat"])
)


batches = st.lists(st.tuples(summaries, st.lists(summaries, min_size=1, max_size=4)), min_size=1, max_size=5)


def scores_and_rows(measure, batch, average="none", **options):
    """For each segment and key precision, recall and F, and the packed counts."""
    scorer = Scorer(RougeReader(**options), measure, average, {})
    counted = scorer.count_batch(*apart(batch))
    return scorer.score(scorer.add_up(counted)), counted.rows


def segment_scores(measure, batch, **options):
    return scores_and_rows(measure, batch, **options)[0].tolist()


def read(batch):
    """The sentences of each hypothesis and of its references."""
    return [(rouge_oracle.summary(one), list(map(rouge_oracle.summary, several))) for one, several in batch]


def reduced(key, hypothesis, references, reducer, alpha):
    """One row of counts for several references: that of the best F or recall, the first on ties, or their sum."""
    each = [rouge_oracle.counts(key, hypothesis, reference) for reference in references]
    if reducer == "sum":
        return rouge_oracle.Counts(*map(sum, zip(*each, strict=True)))
    value = {"best": "fmeasure", "best_recall": "recall"}[reducer]
    return max(each, key=lambda one: getattr(rouge_oracle.scores(one, alpha), value))


@pytest.mark.parametrize("reducer", ["best", "best_recall", "sum"])
@example(batch=[("a b c d", ["a b", "a b c d e f g h i"])], alpha=None)
@given(batch=batches, alpha=st.sampled_from([None, 0, 0.3, 0.5, 1]))
def test_counts_and_scores_are_those_of_plain_python(reducer, batch, alpha):
    """Of the best reference by F or by recall, or of all references together; alpha weighs F as in ignite."""
    expected = [[reduced(key, *segment, reducer, alpha) for key in KEYS] for segment in read(batch)]
    scores, rows = scores_and_rows(RougeMeasure(VARIANTS, reducer, alpha), batch)
    assert rows.reshape(len(batch), 3, len(KEYS)).transpose(0, 2, 1).tolist() == np.array(expected).tolist()
    assert scores == close(np.array([[rouge_oracle.scores(row, alpha) for row in keys] for keys in expected]))
    corpus = [rouge_oracle.scores(rouge_oracle.Counts(*row), alpha) for row in np.array(expected).sum(0).tolist()]
    assert scores_and_rows(RougeMeasure(VARIANTS, reducer, alpha), batch, "micro")[0] == close(np.array(corpus))


@given(batches)
def test_a_mean_over_the_references_is_that_of_plain_python(batch):
    for (one, several), found in zip(read(batch), segment_scores(MeanRougeMeasure(VARIANTS), batch), strict=True):
        each = [[rouge_oracle.scores(rouge_oracle.counts(key, one, other)) for key in KEYS] for other in several]
        assert np.array(found) == close(np.mean(each, axis=0))


PEERS = {stemmed: rouge_scorer.RougeScorer(list(KEYS), use_stemmer=stemmed) for stemmed in (False, True)}


def rouge_score(batch, stemmed):
    each = [PEERS[stemmed].score_multi(references, hypothesis) for hypothesis, references in batch]
    return [[tuple(scores[key]) for key in KEYS] for scores in each]


@pytest.mark.parametrize("stemmed", [False, True])
@given(batches)
def test_scores_are_those_of_rouge_score(stemmed, batch):
    for segments in (batch, [(hypothesis, references[:1]) for hypothesis, references in batch]):
        got = segment_scores(RougeMeasure(VARIANTS), segments, use_stemmer=stemmed)
        assert np.array(got) == close(np.array(rouge_score(segments, stemmed)))


def test_the_best_reference_is_the_first_of_equals_in_float64():
    """Equal or not is decided by what the quotients round to, as in rouge_score; ROUGE-1 is 2/3 in all these."""
    tied = [
        # 3/4 and 3/5, then 4/4 and 4/8: F is 0.6666666666666665 and 0.6666666666666666, so the second.
        ("a b c d", ["a b c x y", "a b c d w x y z"], (1.0, 0.5)),
        ("a b c d", ["a b c d w x y z", "a b c x y"], (1.0, 0.5)),
        # F of 2 in 2 and 4, and of 1 in 2 and 1, is the same, bit for bit: the first.
        ("a b", ["a b c d", "a"], (1.0, 0.5)),
        ("a b", ["a", "a b c d"], (0.5, 1.0)),
    ]
    batch = [(hypothesis, references) for hypothesis, references, _ in tied]
    got = segment_scores(RougeMeasure((1,)), batch)
    assert [tuple(scores[0][:2]) for scores in got] == [expected for *_, expected in tied]
    scorer = rouge_scorer.RougeScorer(["rouge1"])
    assert [tuple(scorer.score_multi(*segment[::-1])["rouge1"][:2]) for segment in batch] == [
        tied_to for *_, tied_to in tied
    ]


@pytest.mark.parametrize("subset", [("L",), ("Lsum",), (3,), ("Lsum", 2), (2, "L", 1), ("L", "L", 1, 1)], ids=str)
def test_a_key_counts_the_same_alone_and_among_others(subset):
    batch = [("a b c\nb a", ["b a\na b c", "c"]), ("b b\na", ["a\nb b b"]), ("", ["a"])]
    whole, alone = (scores_and_rows(RougeMeasure(variants), batch)[1] for variants in (VARIANTS, subset))
    columns = [VARIANTS.index(variant) for variant in subset]
    assert np.array_equal(alone.reshape(3, 3, -1), whole.reshape(3, 3, -1)[..., columns])


def test_the_example_of_the_paper():
    """Lin 2004, section 3.2: w1 w2 and w1 w3 w5 of one reference sentence are four hits of five."""
    hypothesis, reference = "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", "w1 w2 w3 w4 w5"
    ((precision, recall, _),) = segment_scores(RougeMeasure(("Lsum",)), [(hypothesis, [reference])])[0]
    assert (precision, recall) == (0.4, 0.8)


def test_a_mean_has_no_parts_and_no_corpus_score():
    measure = MeanRougeMeasure((1,))
    _, rows = scores_and_rows(measure, [("a", ["a", "b"])])
    with pytest.raises(ValueError, match="accumulate='avg' averages the scores of several references"):
        measure.parts(measure.layout.unpack(rows))
