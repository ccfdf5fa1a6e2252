"""chrF against sacrebleu, fastchrf, nltk and torchmetrics; where a peer differs, it says so and why."""

from collections.abc import Sequence

import numpy as np
import oracles
import pytest
from fastchrf import pairwise_chrf
from hypothesis import given
from hypothesis import strategies as st
from measures import Measured, Settings, batches_of, of_settings, options
from measures import characters as texts
from nltk.translate.chrf_score import corpus_chrf, sentence_chrf
from oracles import close
from sacrebleu.metrics import CHRF
from torchmetrics.functional.text import chrf_score as torchmetrics_chrf

from ngram_metrics._core.metrics.chrf import ChrfMeasure
from ngram_metrics._core.text.reader import CharacterReader

_orders = st.tuples(st.integers(0, 8), st.integers(0, 3)).filter(any)
chrf_settings = st.fixed_dictionaries(
    {
        "char_order": st.integers(1, 8),
        "word_order": st.integers(0, 3),
        "beta": st.sampled_from([0, 0.5, 1, 2, 3]),
        "lowercase": st.booleans(),
        "whitespace": st.booleans(),
        "eps_smoothing": st.booleans(),
    }
) | _orders.map(lambda both: {"char_order": both[0], "word_order": both[1]})


def _counts(settings: Settings, hypothesis: str, references: Sequence[str]) -> tuple:
    rows = [oracles.chrf_counts(hypothesis, reference, **settings) for reference in references]
    return oracles.first_best(rows, lambda *row: oracles.chrf(*row, **settings))


def _reader(settings: Settings) -> CharacterReader:
    read = {name: settings[name] for name in ("lowercase", "whitespace", "pad_id") if name in settings}
    return CharacterReader(**read, words=settings.get("word_order", 0) > 0)


MEASURED = Measured(
    make=of_settings(ChrfMeasure, without=["pad_id", "lowercase", "whitespace"]),
    reader=_reader,
    documents=texts,
    settings=chrf_settings,
    counts=_counts,
    score=lambda settings, counts: oracles.chrf(*counts, **settings),
    variants=(
        *options(eps_smoothing=[False, True], char_order=[1, 6, 9]),
        *options(eps_smoothing=[False, True], word_order=[2]),
        {"beta": 0},
        {"whitespace": True},
    ),
    of_ids=lambda ids: "".join(chr(0x4E00 + token_id) for token_id in ids),
    tolerance=1e-10,
    choice_is_exact=False,
)
batches = MEASURED.batches


def micro(batch, **options):
    return MEASURED.scored(options, batch, "micro").item()


def segment_scores(batch, **options):
    return MEASURED.scored(options, batch, "none").tolist()


# sacrebleu, of which every option is followed.


def sacrebleu_counts(batch, **options):
    """What sacrebleu sums over the corpus: the counts of each segment with its best reference."""
    peer = CHRF(**options)
    read = [
        (peer._preprocess_segment(hypothesis), list(map(peer._preprocess_segment, references)))
        for hypothesis, references in batch
    ]
    return [
        peer._compute_segment_statistics(hypothesis, peer._extract_reference_info(references))
        for hypothesis, references in read
    ]


def our_counts(batch, **options):
    matches, hypothesis, reference = np.split(MEASURED.rows(options, batch), 3, 1)
    return np.stack((hypothesis, reference, matches), -1).reshape(len(batch), -1).tolist()


def streams(batch):
    """References as sacrebleu takes them: the first of all segments, the second, ...; None where there is none."""
    several = [references for _, references in batch]
    return [[one[i] if i < len(one) else None for one in several] for i in range(max(map(len, several)))]


def check_against_sacrebleu(batch, options):
    peer = CHRF(**options)
    expected = [peer.sentence_score(*segment).score / 100 for segment in batch]
    assert segment_scores(batch, **options) == close(expected, 1e-10)
    assert micro(batch, **options) == close(
        peer.corpus_score([hypothesis for hypothesis, _ in batch], streams(batch)).score / 100, 1e-10
    )
    assert our_counts(batch, **options) == sacrebleu_counts(batch, **options)


@given(batches, chrf_settings)
def test_scores_and_counts_are_those_of_sacrebleu(batch, options):
    check_against_sacrebleu(batch, options)


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
        assert our_counts(batch, **options) == sacrebleu_counts(batch, **options)


# nltk: epsilon smoothing, beta 3, the mean of the segments.


@given(batches_of(texts, references=1), st.integers(1, 8), st.sampled_from([2.0, 3.0]), st.booleans())
def test_scores_are_those_of_nltk(batch, char_order, beta, whitespace):
    """But for some 1e-16: nltk takes that for F where only one side has no n-gram, sacrebleu makes it 0."""
    theirs = {"max_len": char_order, "beta": beta, "ignore_whitespace": not whitespace}
    ours = {"char_order": char_order, "beta": beta, "whitespace": whitespace, "eps_smoothing": True}
    expected = [sentence_chrf(other, one, **theirs) for one, (other,) in batch]
    assert segment_scores(batch, **ours) == pytest.approx(expected, rel=1e-12, abs=1e-15)
    corpus = corpus_chrf([other for _, (other,) in batch], [hypothesis for hypothesis, _ in batch], **theirs)
    assert MEASURED.scored(ours, batch, "macro").item() == pytest.approx(corpus, rel=1e-12, abs=1e-15)


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
    """Times 100: sacrebleu's two ways, with fastchrf and nltk the same for one segment; and torchmetrics."""
    hypotheses, references = [hypothesis for hypothesis, _ in batch], [[references[0] for _, references in batch]]
    for expected, smoothing in ((sacrebleu, False), (eps, True)):
        assert 100 * micro(batch, eps_smoothing=smoothing) == pytest.approx(expected, abs=5e-4)
        corpus = CHRF(eps_smoothing=smoothing).corpus_score(hypotheses, references)
        assert corpus.score == pytest.approx(expected, abs=5e-4)
        if len(batch) == 1:
            theirs = pairwise_chrf([[batch[0][0]]], [batch[0][1]], eps_smoothing=smoothing)
            assert theirs[0][0][0] == pytest.approx(expected, abs=5e-4)
    if len(batch) == 1:
        assert 100 * sentence_chrf(batch[0][1][0], batch[0][0], beta=2) == pytest.approx(eps, abs=5e-4)
    theirs = torchmetrics_chrf(hypotheses, [several for _, several in batch], n_char_order=6, n_word_order=0)
    assert 100 * theirs.item() == pytest.approx(torchmetrics, abs=5e-4)
