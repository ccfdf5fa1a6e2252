"""chrF against plain Python, sacrebleu, fastchrf, nltk and torchmetrics; where a peer differs, it says so and why."""

import math
from itertools import chain, product
from string import punctuation

import oracles
import pytest
import torch
from fastchrf import pairwise_chrf
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.chrf_score import corpus_chrf, sentence_chrf
from sacrebleu.metrics import CHRF
from torchmetrics.functional.text import chrf_score as torchmetrics_chrf

from ngram_metrics.scores.chrf import ChrfMeasure, ChrfStatistics
from ngram_metrics.scores.measure import averaged_score
from ngram_metrics.scores.rows import pack, row_width, unpack
from ngram_metrics.text.character_reader import CharacterReader

CPU = torch.device("cpu")

#: Few letters, so that n-grams repeat and scores tie; spaces of several kinds, and what looks like one and is none.
texts = st.text(st.sampled_from("aaabbAİ(.- \t\n\u00a0\u3000\u200b\u0301😀"), max_size=12)
several_texts = st.lists(texts, min_size=1, max_size=4)
batches = st.lists(st.tuples(texts, several_texts), min_size=1, max_size=5)
#: At least three words, one of them "a": some n-gram of every short order on both sides, and a match.
plain_texts = st.lists(st.text("abc", min_size=1, max_size=4), min_size=2, max_size=5).map(" ".join).map("a {}".format)
plain_batches = st.lists(st.tuples(plain_texts, st.tuples(plain_texts)), min_size=1, max_size=5)
orders = st.tuples(st.integers(0, 8), st.integers(0, 3)).filter(any)
options = st.fixed_dictionaries(
    {
        "char_order": st.integers(1, 8),
        "word_order": st.integers(0, 3),
        "beta": st.sampled_from([0, 0.5, 1, 2, 3]),
        "lowercase": st.booleans(),
        "whitespace": st.booleans(),
        "eps_smoothing": st.booleans(),
    }
) | orders.map(lambda both: {"char_order": both[0], "word_order": both[1]})

#: Each with several references, one of them near: what a reader of text may stumble over.
AWKWARD = [
    ("", ["", "a"]),
    ("a", ["b", ""]),
    ("   \t", ["a b", " "]),
    ("a\tb\u00a0c\u3000d", ["abcd", "a b c d"]),
    ("zero\u200bwidth", ["zero width", "zerowidth"]),
    ("e\u0301te\u0301", ["été", "ete"]),
    ("👩\u200d👩\u200d👧 fun", ["👩👩👧 fun", "👩 fun"]),
    ("(hi) there", ["(hi there)", "hi there"]),
    ("-- what ? ...", ["-- what? ..", "- what ?"]),
    ('."!"', [".", "!!"]),
    (".", ["!", "."]),
    ("İstanbul ǅ ẞ", ["i̇stanbul ǆ ß", "ISTANBUL"]),
    ("line one\nline two\x0b\x1c", ["line one line two", "line"]),
    ("\ud800 half", ["\ud800 \udfff half", "half"]),
    ("数字和English混合的句子。", ["数字 和 English 混合 的 句子 。", "句子"]),
]


def metric_of(options):
    return ChrfMeasure(**{name: value for name, value in options.items() if name not in ("lowercase", "whitespace")})


def statistics(batch, **options):
    metric = metric_of(options)
    read = {name: options[name] for name in ("lowercase", "whitespace") if name in options}
    reader = CharacterReader(**read, words=metric.word_order > 0)
    return metric.statistics(reader.read([one for one, _ in batch], [several for _, several in batch], CPU))


def score(batch, average, **options):
    return averaged_score(metric_of(options), statistics(batch, **options), average)


def micro(batch, **options):
    return score(batch, "micro", **options).item()


def sentences(batch, **options):
    return score(batch, "none", **options).tolist()


def close(expected, tolerance=1e-10):
    return pytest.approx(expected, rel=tolerance, abs=1e-300)


# Plain Python.


def words_of(text):
    """Words with one punctuation mark split off the end or, where there is none, the beginning."""
    for word in text.split():
        if len(word) > 1 and word[-1] in punctuation:
            yield from (word[:-1], word[-1])
        elif len(word) > 1 and word[0] in punctuation:
            yield from (word[0], word[1:])
        else:
            yield word


def counted(hypothesis, reference, char_order=6, word_order=0, lowercase=False, whitespace=False, **_):
    """Matches, n-grams of the hypothesis, and of the reference, for each order."""
    both = [one.lower() if lowercase else one for one in (hypothesis, reference)]
    characters = both if whitespace else ["".join(one.split()) for one in both]
    rows = []
    for (one, other), order in ((characters, char_order), ([list(words_of(text)) for text in both], word_order)):
        for n in range(1, order + 1):
            has, wants = oracles.ngrams(one, n).total(), oracles.ngrams(other, n).total()
            rows.append((oracles.matches(one, [other], n), has if wants else 0, wants))
    return rows


def chrf(rows, beta=2, eps_smoothing=False, **_):
    """The formula of the paper, averaged over the orders in one of the two ways."""

    def fscore(precision, recall):
        return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)

    if eps_smoothing:
        undefined = 1e-16
        each = [(m / h if h else undefined, m / r if r else undefined) for m, h, r in rows]
        return sum(fscore(*one) if beta**2 * one[0] + one[1] > 0 else undefined for one in each) / len(rows)
    each = [(m / h, m / r) for m, h, r in rows if h and r]
    if not any(precision for precision, _ in each):
        return 0.0
    return fscore(*(sum(column) / len(each) for column in zip(*each, strict=True)))


@given(st.lists(st.tuples(texts, st.tuples(texts)), min_size=1, max_size=5), options)
def test_statistics_are_those_of_counters(batch, options):
    rows = [counted(one, other, **options) for one, (other,) in batch]
    expected = [[list(column) for column in zip(*row, strict=True)] for row in rows]
    fields = statistics(batch, **options)
    assert [list(one) for one in zip(*(field.tolist() for field in fields), strict=True)] == expected
    assert {field.dtype for field in fields} == {torch.int64}


@given(batches, options)
def test_scores_are_those_of_the_formula_in_plain_python(batch, options):
    """Of several references the best counts, whichever it is where two are equally good."""
    rows = [[counted(one, other, **options) for other in several] for one, several in batch]
    expected = [max(chrf(row, **options) for row in several) for several in rows]
    assert sentences(batch, **options) == close(expected)
    assert score(batch, "macro", **options).item() == close(sum(expected) / len(expected))
    single = [(one, several[:1]) for one, several in batch]
    summed = [tuple(map(sum, zip(*order, strict=True))) for order in zip(*(r[0] for r in rows), strict=True)]
    assert micro(single, **options) == close(chrf(summed, **options))


# sacrebleu, of which every option is followed.


def sacrebleu_counts(batch, **options):
    """What sacrebleu sums over the corpus: the counts of each sentence with its best reference."""
    peer = CHRF(**options)
    read = [(peer._preprocess_segment(one), list(map(peer._preprocess_segment, several))) for one, several in batch]
    return [peer._compute_segment_statistics(one, peer._extract_reference_info(several)) for one, several in read]


def our_counts(batch, **options):
    matches, hypothesis, reference = statistics(batch, **options)
    return torch.stack((hypothesis, reference, matches), -1).flatten(1).tolist()


def streams(batch):
    """References as sacrebleu takes them: the first of all sentences, the second, ...; None where there is none."""
    several = [references for _, references in batch]
    return [[one[i] if i < len(one) else None for one in several] for i in range(max(map(len, several)))]


def check_against_sacrebleu(batch, options):
    peer = CHRF(**options)
    expected = [peer.sentence_score(*one).score / 100 for one in batch]
    assert sentences(batch, **options) == close(expected)
    assert micro(batch, **options) == close(peer.corpus_score([one for one, _ in batch], streams(batch)).score / 100)
    assert our_counts(batch, **options) == sacrebleu_counts(batch, **options)


@given(batches, options)
def test_scores_and_counts_are_those_of_sacrebleu(batch, options):
    check_against_sacrebleu(batch, options)


@pytest.mark.parametrize(("lowercase", "whitespace", "eps_smoothing"), list(product([False, True], repeat=3)))
@pytest.mark.parametrize("word_order", [0, 2])
def test_awkward_texts_score_as_in_sacrebleu(word_order, lowercase, whitespace, eps_smoothing):
    chosen = {"lowercase": lowercase, "whitespace": whitespace, "eps_smoothing": eps_smoothing}
    check_against_sacrebleu(AWKWARD, {"word_order": word_order, **chosen})


@pytest.mark.parametrize(("char_order", "word_order"), [pair for pair in product(range(9), range(4)) if any(pair)])
def test_every_order_scores_as_in_sacrebleu(char_order, word_order):
    for beta in (0, 0.5, 1, 2, 3):
        check_against_sacrebleu(AWKWARD[3:9], {"char_order": char_order, "word_order": word_order, "beta": beta})


def test_options_change_the_score():
    """Else the tests above would hold nothing about them."""
    changes = (
        {},
        {"char_order": 4},
        {"word_order": 1},
        {"word_order": 2},
        {"char_order": 0, "word_order": 2},
        {"beta": 1},
        {"beta": 0},
        {"lowercase": True},
        {"whitespace": True},
        {"eps_smoothing": True},
    )
    scores = [micro([("The cat (sat) on it", ["the cat sat on the old mat"])], **change) for change in changes]
    assert len({round(one, 6) for one in scores}) == len(changes)


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


def test_ties_are_resolved_as_in_sacrebleu_in_many_short_texts():
    short = [a + b for a, b in product(["", "a", "b", "ab", "ba"], repeat=2)]
    batch = [(one, [short[(7 * i + 3 * j) % len(short)] for j in range(4)]) for i, one in enumerate(short * 4)]
    for chosen in ({}, {"char_order": 3}, {"beta": 1}, {"whitespace": True, "word_order": 1}):
        assert our_counts(batch, **chosen) == sacrebleu_counts(batch, **chosen)
        # There are ties: the last listed would be another.
        assert our_counts(batch, **chosen) != our_counts([(one, several[::-1]) for one, several in batch], **chosen)


# fastchrf.


@given(
    st.lists(st.tuples(texts, st.tuples(texts)), min_size=1, max_size=5),
    st.integers(1, 8),
    st.sampled_from([0.5, 1.0, 2.0, 3.0]),
    st.booleans(),
    st.booleans(),
)
def test_scores_are_those_of_fastchrf(batch, char_order, beta, whitespace, eps_smoothing):
    theirs = pairwise_chrf(
        [[one] for one, _ in batch],
        [list(references) for _, references in batch],
        char_order=char_order,
        beta=beta,
        remove_whitespace=not whitespace,
        eps_smoothing=eps_smoothing,
    )
    chosen = {"char_order": char_order, "beta": beta, "whitespace": whitespace, "eps_smoothing": eps_smoothing}
    assert [100 * one for one in sentences(batch, **chosen)] == close(list(chain(*chain(*theirs))), 1e-9)


# nltk: epsilon smoothing, beta 3, the mean of the sentences.


@given(
    st.lists(st.tuples(texts, st.tuples(texts)), min_size=1, max_size=5),
    st.integers(1, 8),
    st.sampled_from([2.0, 3.0]),
    st.booleans(),
)
def test_scores_are_those_of_nltk(batch, char_order, beta, whitespace):
    """But for some 1e-16: nltk takes that for F where only one side has no n-gram, sacrebleu makes it 0."""
    theirs = {"max_len": char_order, "beta": beta, "ignore_whitespace": not whitespace}
    ours = {"char_order": char_order, "beta": beta, "whitespace": whitespace, "eps_smoothing": True}
    expected = [sentence_chrf(other, one, **theirs) for one, (other,) in batch]
    assert sentences(batch, **ours) == pytest.approx(expected, rel=1e-12, abs=1e-15)
    corpus = corpus_chrf([other for _, (other,) in batch], [one for one, _ in batch], **theirs)
    assert score(batch, "macro", **ours).item() == pytest.approx(corpus, rel=1e-12, abs=1e-15)


# torchmetrics, where it is right.


def torchmetrics_score(batch, char_order=6, word_order=0, beta=2.0, lowercase=False, whitespace=False):
    hypotheses, references = [one for one, _ in batch], [list(several) for _, several in batch]
    return torchmetrics_chrf(hypotheses, references, char_order, word_order, float(beta), lowercase, whitespace).item()


@settings(max_examples=15)
@given(plain_batches, st.integers(1, 3), st.integers(0, 2), st.sampled_from([1, 2, 3]), st.booleans())
def test_scores_are_those_of_torchmetrics_where_every_sentence_has_every_order_and_a_match(
    batch, char_order, word_order, beta, whitespace
):
    chosen = {"char_order": char_order, "word_order": word_order, "beta": beta, "whitespace": whitespace}
    ours = micro(batch, **chosen, eps_smoothing=True)
    assert ours == pytest.approx(torchmetrics_score(batch, **chosen), rel=1e-5)


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
        # torchmetrics forgets the reference of a sentence without a match, so that nothing said costs nothing.
        pytest.param(
            [*PRINTED, ("xyzzyq", ["what we wrote"])], 39.906, 39.891, 46.585, id="a sentence without a match"
        ),
        # torchmetrics counts what the hypothesis has of an order that the reference lacks.
        pytest.param([*PRINTED, ("abcdefgh", ["abcd"])], 48.135, 48.096, 47.914, id="a reference without an order"),
        pytest.param([("abcdef", ["abcdef"]), ("abcdef", ["abc"])], 96.483, 95.857, 87.524, id="half of it shorter"),
    ],
)
def test_the_table_of_peers(batch, sacrebleu, eps, torchmetrics):
    """Times 100: sacrebleu's two ways, with fastchrf and nltk the same for one sentence; and torchmetrics."""
    references = [[several[0] for _, several in batch]]
    for expected, smoothing in ((sacrebleu, False), (eps, True)):
        assert 100 * micro(batch, eps_smoothing=smoothing) == pytest.approx(expected, abs=5e-4)
        corpus = CHRF(eps_smoothing=smoothing).corpus_score([one for one, _ in batch], references)
        assert corpus.score == pytest.approx(expected, abs=5e-4)
        if len(batch) == 1:
            theirs = pairwise_chrf([[batch[0][0]]], [batch[0][1]], eps_smoothing=smoothing)
            assert theirs[0][0][0] == pytest.approx(expected, abs=5e-4)
    if len(batch) == 1:
        assert 100 * sentence_chrf(batch[0][1][0], batch[0][0], beta=2) == pytest.approx(eps, abs=5e-4)
    assert 100 * torchmetrics_score(batch) == pytest.approx(torchmetrics, abs=5e-4)


# Properties.


@given(st.lists(texts.filter(lambda text: len(text.split()) > 2), min_size=1, max_size=4), options)
def test_a_text_that_is_its_own_reference_scores_1(several, options):
    chosen = {**options, "eps_smoothing": False}
    batch = [(one, ["c", one]) for one in several]
    assert sentences(batch, **chosen) == close([1] * len(batch))
    assert micro(batch, **chosen) == close(1)
    # Under epsilon smoothing it needs n-grams of every order.
    long_enough = [(2 * one + " abc de fg", ["c", 2 * one + " abc de fg"]) for one in several]
    assert sentences(long_enough, **{**options, "eps_smoothing": True}) == close([1] * len(batch))


@pytest.mark.parametrize("chosen", [{}, {"word_order": 2}, {"beta": 0}, {"whitespace": True}], ids=str)
def test_nothing_scores_0_and_so_does_no_match(chosen):
    nothing = [("", [""]), ("", ["a"]), ("a", [""]), ("a", ["", ""]), ("abc", ["xyz"])]
    assert sentences(nothing, **chosen) == [0] * 5
    assert micro(nothing, **chosen) == 0
    assert all(0 <= one < 1e-14 for one in sentences(nothing, **chosen, eps_smoothing=True))


@given(batches, options, st.permutations(range(5)))
def test_permuted_sentences_have_the_scores_permuted(batch, options, order):
    order = [i for i in order if i < len(batch)]
    permuted = [batch[i] for i in order]
    scores = sentences(batch, **options)
    assert sentences(permuted, **options) == [scores[i] for i in order]
    assert micro(permuted, **options) == micro(batch, **options)


@given(batches, options)
def test_the_order_of_references_changes_no_score_of_a_sentence(batch, options):
    reversed_references = [(one, several[::-1]) for one, several in batch]
    assert sentences(reversed_references, **options) == close(sentences(batch, **options))


@given(batches, options)
def test_sentences_count_the_same_alone_and_in_a_batch(batch, options):
    assert our_counts(batch, **options) == [our_counts([one], **options)[0] for one in batch]
    assert sentences(batch, **options) == [sentences([one], **options)[0] for one in batch]


@given(batches, options)
def test_scores_are_finite_and_between_0_and_1(batch, options):
    scores = [*sentences(batch, **options), micro(batch, **options)]
    assert all(math.isfinite(one) and 0 <= one <= 1 + 1e-12 for one in scores)


def test_precision_and_recall_change_places_where_hypothesis_and_reference_do():
    one, other = "the cat sat on the mat", "a cat sat on my mat today"
    forth, back = (micro([pair], beta=beta) for pair, beta in (((one, [other]), 2), ((other, [one]), 0.5)))
    assert forth == close(back)
    assert micro([(one, [other])], beta=2) != close(micro([(other, [one])], beta=2), 1e-3)


@given(batches, options, st.sampled_from([(), (1,), (2, 3), (0, 2), (2, 1, 2)]))
def test_any_leading_shape_scores_as_its_rows_do(batch, options, shape):
    metric, given_rows = metric_of(options), statistics(batch, **options)
    rows = pack(given_rows, metric.layout)
    width = metric.char_order + metric.word_order
    assert rows.shape == (len(batch), row_width(metric.layout)) == (len(batch), 3 * width)
    chosen = rows[torch.arange(math.prod(shape)) % len(rows)].reshape(*shape, rows.shape[-1])
    scores = metric.score(unpack(chosen, metric.layout))
    assert (scores.shape, scores.dtype) == (shape, torch.float64)
    each = sentences(batch, **options)
    assert scores.flatten().tolist() == [each[i % len(rows)] for i in range(math.prod(shape))]
    parts = metric.parts(unpack(chosen, metric.layout))
    assert list(parts) == list(ChrfStatistics._fields)
    assert {part.shape for part in parts.values()} == {(*shape, width)}


def test_counts_past_the_exact_integers_of_float32_are_scored_exactly():
    many = 2**24 + 1
    counts = ChrfStatistics(*map(torch.tensor, ([many - 1], [many], [many])))
    for eps_smoothing in (False, True):
        assert ChrfMeasure(1, eps_smoothing=eps_smoothing).score(counts).item() == close((many - 1) / many, 1e-15)


@pytest.mark.usefixtures("surroundings")
@pytest.mark.parametrize("chosen", [{}, {"word_order": 2}, {"eps_smoothing": True}], ids=str)
def test_the_surroundings_of_a_training_loop_change_no_score(chosen):
    batch = [*AWKWARD, *PRINTED]
    expected = [CHRF(**chosen).sentence_score(*one).score / 100 for one in batch]
    scores = score(batch, "none", **chosen)
    assert (scores.dtype, scores.device.type) == (torch.float64, "cpu")
    assert scores.tolist() == close(expected)
    corpus = CHRF(**chosen).corpus_score([one for one, _ in batch], streams(batch)).score / 100
    assert micro(batch, **chosen) == close(corpus)


def test_padded_ids_are_scored_without_waiting_for_the_device():
    preds, target = torch.zeros(3, 7, device="meta").long(), torch.zeros(3, 2, 5, device="meta").long()
    for eps_smoothing, char_order, references in product([False, True], [1, 6, 9], [target, target[:, 0]]):
        metric = ChrfMeasure(char_order, eps_smoothing=eps_smoothing)
        scores = metric.score(metric.statistics(CharacterReader(pad_id=0).read(preds, references, CPU)))
        assert (scores.device.type, scores.shape, scores.dtype) == ("meta", (3,), torch.float64)


# Settings.


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"char_order": -1}, r"char_order must be at least 0 \(got: -1\)"),
        ({"word_order": -1}, r"word_order must be at least 0 \(got: -1\)"),
        ({"char_order": 1001}, r"char_order must be at most 1000 \(got: 1001\)"),
        ({"word_order": 2**40}, r"word_order must be at most 1000 \(got: 1099511627776\)"),
        ({"char_order": 0}, r"char_order and word_order are both 0: expected at least one order"),
        ({"beta": -1}, r"beta must be at least 0 and finite \(got: -1\)"),
        ({"beta": -0.5}, r"beta must be at least 0 and finite \(got: -0.5\)"),
        ({"beta": math.inf}, r"beta must be at least 0 and finite \(got: inf\)"),
        ({"beta": math.nan}, r"beta must be at least 0 and finite \(got: nan\)"),
    ],
    ids=repr,
)
def test_a_setting_out_of_its_range_is_refused_at_once(options, words):
    with pytest.raises(ValueError, match=words):
        ChrfMeasure(**options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"char_order": 6.0}, r"char_order must be an integer \(got: 6.0\)"),
        ({"word_order": True}, r"word_order must be an integer \(got: True\)"),
        ({"char_order": None}, r"char_order must be an integer \(got: None\)"),
        ({"beta": "2"}, r"beta must be a number \(got: '2'\)"),
        ({"beta": None}, r"beta must be a number \(got: None\)"),
    ],
    ids=repr,
)
def test_a_setting_of_another_type_is_refused_at_once(options, words):
    with pytest.raises(TypeError, match=words):
        ChrfMeasure(**options)


def test_beta_0_is_the_precision():
    assert micro([("ab", ["abcd"])], char_order=1, beta=0) == 1
    assert micro([("abcd", ["ab"])], char_order=1, beta=0) == 0.5
    assert micro([("abcd", ["xy"])], char_order=1, beta=0) == 0
