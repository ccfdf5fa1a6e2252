"""chrF against plain Python, sacrebleu, fastchrf, nltk and torchmetrics; where a peer differs, it says so and why."""

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from layouts import apart, streams
from nltk.translate.chrf_score import corpus_chrf, sentence_chrf
from oracles import close
from sacrebleu.metrics import CHRF
from torchmetrics.functional.text import chrf_score as torchmetrics_chrf

from ngram_metrics._core.metrics.chrf import make_chrf

#: Few letters; spaces of several kinds, and what looks like one and is none.
texts = st.text(st.sampled_from("aaabbAİ(.- \t\n\u00a0\u3000\u200b\u0301😀"), max_size=12)
#: Code points that are easily lost, joined or taken for something else: NUL, and what may or may not part words; halves
#: of surrogate pairs, and what is no character; without width, and of another direction; marks, and what changes its
#: length with its case; unassigned, tags and private planes.
ODD = (
    "\x00\t\n\r\x0b\x1c\x85\xa0\u2028\u3000\ufeff\ud800\udbff\udc00\udfff\ufffe\uffff\u200b\u200d\u202a\u202e\u2066\u2069\u061c"
    "\u0301\u0345\ufe0f\u0130\u0131\u017f\u212a\ufb01ßΣς\u0378\U000e0001\U000f0000\U0010fffd\U0010ffff😀東א\u0e01"
)
batches = st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=4)), min_size=1, max_size=5)
pairs = st.lists(st.tuples(texts, st.tuples(texts)), min_size=1, max_size=5)
_orders = st.tuples(st.integers(0, 8), st.integers(0, 3)).filter(any)
settings = st.fixed_dictionaries(
    {
        "char_order": st.integers(1, 8),
        "word_order": st.integers(0, 3),
        "beta": st.sampled_from([0, 0.5, 1, 2, 3]),
        "lowercase": st.booleans(),
        "whitespace": st.booleans(),
        "eps_smoothing": st.booleans(),
    }
) | _orders.map(lambda both: {"char_order": both[0], "word_order": both[1]})


def scored(batch, average, **options):
    scorer = make_chrf(**options, average=average)
    return scorer.score_batch(*apart(batch)).tolist()


def counts(batch, **options):
    """Matches, n-grams of the hypothesis, and of the reference, of each segment with its best reference."""
    return np.split(make_chrf(**options).count_batch(*apart(batch)).rows, 3, 1)


@given(batches, settings)
def test_counts_and_scores_are_those_of_plain_python(batch, options):
    def score(row):
        return oracles.chrf(*row, **options)

    each = [[oracles.chrf_counts(hypothesis, one, **options) for one in several] for hypothesis, several in batch]
    assert scored(batch, "none", **options) == close([max(map(score, rows)) for rows in each], 1e-10)
    # Of equally good references plain Python may take another, because it rounds in another order.
    single = [(hypothesis, several[:1]) for hypothesis, several in batch]
    first = [rows[0] for rows in each]
    assert np.hstack(counts(single, **options)).tolist() == [[*a, *b, *c] for a, b, c in first]
    assert scored(single, "micro", **options) == close(score(oracles.summed(first)), 1e-10)


def assert_counts_are_those_of_sacrebleu(batch, options):
    """What it sums over the corpus: the counts of each segment with its best reference."""
    peer = CHRF(**options)
    expected = []
    for hypothesis, references in batch:
        read = peer._extract_reference_info([*map(peer._preprocess_segment, references)])
        expected.append(peer._compute_segment_statistics(peer._preprocess_segment(hypothesis), read))
    matches, hypotheses, references = counts(batch, **options)
    assert np.stack((hypotheses, references, matches), -1).reshape(len(batch), -1).tolist() == expected


@given(batches, settings)
def test_scores_and_counts_are_those_of_sacrebleu(batch, options):
    """It has every option of ours."""
    peer = CHRF(**options)
    preds, target = apart(batch)
    expected = [peer.sentence_score(*segment).score / 100 for segment in batch]
    assert scored(batch, "none", **options) == close(expected, 1e-10)
    corpus = peer.corpus_score(preds, streams(target)).score / 100
    assert scored(batch, "micro", **options) == close(corpus, 1e-10)
    assert_counts_are_those_of_sacrebleu(batch, options)


@given(
    st.lists(st.sampled_from(ODD) | st.characters() | st.integers(0, 0x10FFFF).map(chr), min_size=2, max_size=6),
    st.lists(st.lists(st.integers(0, 9), max_size=16), min_size=6, max_size=6),
)
def test_any_text_as_sacrebleu(odd, texts):
    """Few different odd characters, so that they meet."""
    hypothesis, *others = ["".join([*odd, *"aab .B"][index % (len(odd) + 6)] for index in text) for text in texts]
    for options in ({"whitespace": True}, {"word_order": 2, "lowercase": True}):
        expected = CHRF(**options).sentence_score(hypothesis, others).score / 100
        assert scored([(hypothesis, others)], "none", **options) == close([expected], 1e-10)


@pytest.mark.parametrize(
    ("hypothesis", "references", "options"),
    [
        # Equal scores of other counts: one character, or four in another order.
        ("aaba", ["b", "abaa"], {}),
        ("bbaa", ["baba", "ab"], {"beta": 1}),
        # The scores tie, or do not, by the last bit: sacrebleu sums the orders, multiplies by 100, and then divides.
        ("aaab", ["bacba", "a", "acbbcbccbcbc", "cabbbcabca"], {"eps_smoothing": True}),
        ("abca", ["ccbaa", "cb", "cbccb", "aacaaca"], {"eps_smoothing": True}),
    ],
)
def test_of_equally_good_references_the_first_counts_as_in_sacrebleu(hypothesis, references, options):
    for i in range(len(references)):
        batch = [(hypothesis, references[i:] + references[:i])]
        assert_counts_are_those_of_sacrebleu(batch, options)


@given(pairs, st.integers(1, 8), st.sampled_from([2.0, 3.0]), st.booleans())
def test_scores_are_those_of_nltk(batch, char_order, beta, whitespace):
    """nltk smooths by epsilon, and averages the segments.

    It takes 1e-16 for F where only one side has no n-gram; sacrebleu makes it 0.
    """
    theirs = {"max_len": char_order, "beta": beta, "ignore_whitespace": not whitespace}
    ours = {"char_order": char_order, "beta": beta, "whitespace": whitespace, "eps_smoothing": True}
    expected = [sentence_chrf(other, one, **theirs) for one, (other,) in batch]
    assert scored(batch, "none", **ours) == pytest.approx(expected, rel=1e-12, abs=1e-15)
    corpus = corpus_chrf([other for _, (other,) in batch], [one for one, _ in batch], **theirs)
    assert scored(batch, "macro", **ours) == pytest.approx(corpus, rel=1e-12, abs=1e-15)


PRINTED = [
    ("the cat sat on the mat", ["the cat sat on a mat"]),
    ("a dog ran home", ["a dog ran away from home"]),
    ("there is a bird", ["a bird is in the tree"]),
]


@pytest.mark.parametrize(
    ("batch", "sacrebleu", "eps", "torchmetrics"),
    [
        pytest.param([("a", ["a"])], 100, 16.667, 16.667, id="one character"),
        pytest.param([("abc", ["abc"])], 100, 50, 50, id="three characters"),
        pytest.param([("abc", ["abcdefgh"])], 32.251, 16.032, 16.032, id="shorter than the reference"),
        pytest.param([("", [""])], 0, 0, 0, id="nothing"),
        pytest.param(PRINTED, 47.473, 47.465, 47.465, id="a corpus"),
        # torchmetrics takes only the blank, and what stands at the ends, for whitespace.
        pytest.param([("a\tb\u00a0c d", ["abcd"])], 100, 66.667, 20.053, id="a tab and a no-break space"),
        # torchmetrics forgets the reference of a segment without a match, so that nothing said costs nothing.
        pytest.param([*PRINTED, ("xyzzyq", ["what we wrote"])], 39.906, 39.891, 46.585, id="a segment without a match"),
        # torchmetrics counts what the hypothesis has of an order that the reference lacks.
        pytest.param([*PRINTED, ("abcdefgh", ["abcd"])], 48.135, 48.096, 47.914, id="a reference without an order"),
        pytest.param([("abcdef", ["abcdef"]), ("abcdef", ["abc"])], 96.483, 95.857, 87.524, id="half of it shorter"),
    ],
)
def test_the_table_of_peers(batch, sacrebleu, eps, torchmetrics):
    """Times 100: sacrebleu's two ways, with nltk the same as the second for one segment; and torchmetrics."""
    hypotheses, references = apart(batch)
    for expected, smoothing in ((sacrebleu, False), (eps, True)):
        assert 100 * scored(batch, "micro", eps_smoothing=smoothing) == pytest.approx(expected, abs=5e-4)
        corpus = CHRF(eps_smoothing=smoothing).corpus_score(hypotheses, streams(references))
        assert corpus.score == pytest.approx(expected, abs=5e-4)
    if len(batch) == 1:
        assert 100 * sentence_chrf(batch[0][1][0], batch[0][0], beta=2) == pytest.approx(eps, abs=5e-4)
    theirs = torchmetrics_chrf(hypotheses, references, n_char_order=6, n_word_order=0)
    assert 100 * theirs.item() == pytest.approx(torchmetrics, abs=5e-4)


@pytest.mark.parametrize(
    ("hypothesis", "reference", "expected", "eps"),
    [("a", "a", 100, 16.667), ("abc", "abc", 100, 50), ("abc", "abcdefgh", 32.251, 16.032), ("", "", 0, 0)],
)
def test_fastchrf_has_the_two_numbers_of_sacrebleu_for_a_segment(hypothesis, reference, expected, eps):
    fastchrf = pytest.importorskip("fastchrf", reason="fastchrf is compared with")
    for score, smoothing in ((expected, False), (eps, True)):
        assert 100 * scored([(hypothesis, [reference])], "micro", eps_smoothing=smoothing) == pytest.approx(
            score, abs=5e-4
        )
        theirs = fastchrf.pairwise_chrf([[hypothesis]], [[reference]], eps_smoothing=smoothing)
        assert theirs[0][0][0] == pytest.approx(score, abs=5e-4)
