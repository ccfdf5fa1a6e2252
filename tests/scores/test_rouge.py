"""ROUGE against rouge_score, number for number, and against plain Python; and what must hold of any texts."""

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import rouge_oracle
import torch
from hypothesis import given
from hypothesis import strategies as st
from rouge_oracle import KEYS
from rouge_score import rouge_scorer

from ngram_metrics.scores.measure import averaged_score
from ngram_metrics.scores.rouge import MeanRougeMeasure, RougeMeasure, RougeScores, RougeStatistics, rouge_measure
from ngram_metrics.scores.rouge_keys import ROUGE_KEYS, by_key, checked_keys
from ngram_metrics.scores.rows import Layout, pack, row_width, unpack
from ngram_metrics.text.rouge_reader import RougeReader

#: Texts of which the rule leaves nothing are among those drawn; `text/test_hints.py` is about the warning.
pytestmark = pytest.mark.filterwarnings("ignore:ROUGE's rule for words")

CPU = torch.device("cpu")
VARIANTS = tuple(ROUGE_KEYS.values())

#: Words that stem alike, letters with a lower case in ASCII, marks, emoji, and every character that may end a line:
#: for rouge_score only "\n" does.
PIECES = [
    *["run", "running", "runs", "The", "the", "cats", "cat", "a", "b", "1", "2nd", "a_b", "don't", "__"],
    *["\u212aelvin", "kelvin", "İ", "i", "é", "e\u0301", "ß", "😀", "👩\u200d👧", "東京", "\u0301", "."],
    *[" ", " ", " ", "\n", "\n", "\n\n", "\r\n", "\r", "\t", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"],
]
texts = st.lists(st.sampled_from(PIECES), max_size=16).map("".join)
#: Few words and many lines: long common subsequences of which several are equally long.
repeats = st.lists(st.sampled_from(["a ", "b ", "c ", "\n"]), max_size=24).map("".join)
any_text = texts | repeats | st.sampled_from(["", " ", "\n", "a", "\n\na b\n", "the cat\nthe cat\nthe cat"])
batches = st.lists(st.tuples(any_text, st.lists(any_text, min_size=1, max_size=3)), min_size=1, max_size=4)


def statistics(metric, batch, **options):
    read = RougeReader(**options).read([one for one, _ in batch], [several for _, several in batch], CPU)
    return metric.statistics(read)


def sentence_scores(metric, batch, **options):
    """For each sentence and key precision, recall and F."""
    return metric.score(statistics(metric, batch, **options)).tolist()


def summaries(batch):
    return [(rouge_oracle.summary(one), list(map(rouge_oracle.summary, several))) for one, several in batch]


def close(expected):
    return pytest.approx(np.array(expected), rel=0, abs=1e-12)


# rouge_score.

PEERS = {stemmed: rouge_scorer.RougeScorer(list(KEYS), use_stemmer=stemmed) for stemmed in (False, True)}


def rouge_score(batch, stemmed):
    several = [PEERS[stemmed].score_multi(references, hypothesis) for hypothesis, references in batch]
    return [[tuple(one[key]) for key in KEYS] for one in several]


def test_the_keys_are_all_of_rouge_score():
    assert tuple(ROUGE_KEYS) == KEYS


@pytest.mark.parametrize("stemmed", [False, True])
@given(st.lists(st.tuples(any_text, any_text), min_size=1, max_size=5))
def test_one_reference_scores_as_in_rouge_score(stemmed, batch):
    peers = [PEERS[stemmed].score(reference, hypothesis) for hypothesis, reference in batch]
    got = sentence_scores(RougeMeasure(VARIANTS), [(one, [other]) for one, other in batch], use_stemmer=stemmed)
    assert np.array(got) == close([[tuple(one[key]) for key in KEYS] for one in peers])


@pytest.mark.parametrize("stemmed", [False, True])
@given(batches)
def test_several_references_score_as_in_rouge_score(stemmed, batch):
    got = sentence_scores(RougeMeasure(VARIANTS), batch, use_stemmer=stemmed)
    assert np.array(got) == close(rouge_score(batch, stemmed))


@pytest.mark.parametrize(
    ("hypothesis", "reference"),
    [
        ("a b\r\nc d", "c d\r\na b"),
        ("a b\rc d", "c d\ra b"),
        ("a b\u2028c d", "c d\u2028a b"),
        ("a b\x85c d\x0be", "e\x0bc d\x85a b"),
        ("\n\na b\n\n", "a b"),
        ("\u212a İ", "k i"),
        ("e\u0301a éa", "ea a"),
        ("snake_case", "snake case"),
        ("", ""),
        ("", "a"),
        ("a", ""),
        ("😀", "😀"),
        ("a", "a"),
    ],
    ids=ascii,
)
@pytest.mark.parametrize("stemmed", [False, True])
def test_traps_score_as_in_rouge_score(hypothesis, reference, stemmed):
    batch = [(hypothesis, [reference]), ("a", ["a", "b"])]
    got = sentence_scores(RougeMeasure(VARIANTS), batch, use_stemmer=stemmed)
    assert np.array(got) == close(rouge_score(batch, stemmed))


def test_only_a_line_feed_ends_a_sentence():
    swapped = [(f"a b{end}c d", [f"c d{end}a b"]) for end in ("\n", "\r\n", "\r", "\u2028")]
    assert [one[0][2] for one in sentence_scores(RougeMeasure(("Lsum",)), swapped)] == [1, 1, 0.5, 0.5]


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
    got = sentence_scores(RougeMeasure((1,)), batch)
    assert [tuple(one[0][:2]) for one in got] == [expected for *_, expected in tied]
    scorer = rouge_scorer.RougeScorer(["rouge1"])
    assert [tuple(scorer.score_multi(*one[::-1])["rouge1"][:2]) for one in batch] == [tied_to for *_, tied_to in tied]


def test_each_key_has_its_own_best_reference():
    batch = [("a b c d", ["d c b a", "a b x y"])]
    (got,) = sentence_scores(RougeMeasure((1, 2, "L")), batch)
    assert [one[2] for one in got] == close([1, 1 / 3, 0.5])


# Plain Python.


@pytest.mark.parametrize("reducer", ["best", "best_recall", "sum"])
@given(batches, st.sampled_from([None, 0, 0.3, 0.5, 1]))
def test_statistics_and_scores_are_those_of_plain_python(reducer, batch, alpha):
    metric = RougeMeasure(VARIANTS, reducer, alpha)
    rows = statistics(metric, batch)
    expected = [[rouge_oracle.reduced(key, *one, reducer, alpha) for key in KEYS] for one in summaries(batch)]
    assert {field.dtype for field in rows} == {torch.int64}
    for column, field in enumerate(rows):
        assert field.tolist() == [[found[column] for found in one] for one in expected]
    scores = [[rouge_oracle.scores(found, alpha) for found in one] for one in expected]
    assert metric.score(rows).numpy() == close(scores)
    summed = [sum(column[1:], column[0]) for column in zip(*expected, strict=True)]
    micro = averaged_score(metric, rows, "micro")
    assert micro.numpy() == close([rouge_oracle.scores(found, alpha) for found in summed])
    assert metric.parts(rows)["matches"].equal(rows.matches)
    assert unpack(pack(rows, metric.layout), metric.layout).reference_totals.equal(rows.reference_totals)


@given(batches)
def test_the_mean_over_references_is_that_of_plain_python(batch):
    metric = MeanRougeMeasure(VARIANTS)
    rows = statistics(metric, batch)
    expected = [[rouge_oracle.rouge(key, *one, "avg") for key in KEYS] for one in summaries(batch)]
    assert metric.score(unpack(pack(rows, metric.layout), metric.layout)).numpy() == close(expected)
    if any(len(several) > 1 for _, several in batch):
        assert {field.dtype for field in rows} == {torch.float64}


@pytest.mark.parametrize("subset", [("L",), ("Lsum",), (3,), ("Lsum", 2), (2, "L", 1), ("L", "L", 1, 1)], ids=str)
def test_a_key_counts_the_same_alone_and_among_others(subset):
    batch = [("a b c\nb a", ["b a\na b c", "c"]), ("b b\na", ["a\nb b b"]), ("", ["a"])]
    whole = statistics(RougeMeasure(VARIANTS), batch)
    alone = statistics(RougeMeasure(subset), batch)
    columns = [VARIANTS.index(one) for one in subset]
    for field, among_others in zip(alone, whole, strict=True):
        assert field.equal(among_others[:, columns])


@given(st.lists(st.tuples(texts, texts), min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_a_sentence_scores_the_same_in_any_company(batch, random):
    batch = [(one, [other]) for one, other in batch]
    metric = RougeMeasure(VARIANTS)
    whole = sentence_scores(metric, batch)
    assert [sentence_scores(metric, [one])[0] for one in batch] == whole
    order = random.sample(range(len(batch)), len(batch))
    assert sentence_scores(metric, [batch[i] for i in order]) == [whole[i] for i in order]


# Long texts.


def lcs_length(one, other):
    """A row of the table at a time: a row is the running maximum of the row above and the matches on its diagonal."""
    row = np.zeros(len(other) + 1, dtype=np.int32)
    for token in one:
        row[1:] = np.maximum.accumulate(np.maximum(row[1:], row[:-1] + (other == token)))
    return int(row[-1])


def test_lcs_length_in_numpy_is_that_of_the_table():
    random = np.random.default_rng(0)
    for _ in range(20):
        one, other = random.integers(0, 4, 30), random.integers(0, 4, 25)
        assert lcs_length(one, other) == rouge_oracle.table(one.tolist(), other.tolist())[-1][-1]


@pytest.mark.parametrize("vocabulary", [5, 1000])
def test_documents_of_ten_thousand_tokens(vocabulary):
    random = np.random.default_rng(1)
    one, other = random.integers(0, vocabulary, 10_000), random.integers(0, vocabulary, 9_000)
    batch = RougeReader().read([one.tolist(), [1, 2]], [other.tolist(), [2]], CPU)
    rows = RougeMeasure((1, 2, "L", "Lsum")).statistics(batch)
    lcs = lcs_length(one, other)
    unigrams = (Counter(one.tolist()) & Counter(other.tolist())).total()
    bigrams = [Counter(zip(side.tolist(), side[1:].tolist(), strict=False)) for side in (one, other)]
    assert rows.matches[0].tolist() == [unigrams, (bigrams[0] & bigrams[1]).total(), lcs, lcs]
    assert rows.hypothesis_totals[0].tolist() == [10_000, 9_999, 10_000, 10_000]
    assert rows.reference_totals[0].tolist() == [9_000, 8_999, 9_000, 9_000]
    assert rows.matches[1].tolist() == [1, 0, 1, 1]


def test_long_documents_of_many_lines():
    random = np.random.default_rng(2)
    one, other = (
        "\n".join(" ".join(f"w{word}" for word in random.integers(0, 60, random.integers(0, 70))) for _ in range(25))
        for _ in range(2)
    )
    rows = statistics(RougeMeasure(("Lsum", "L")), [(one, [other]), ("w1", ["w2\nw1"])])
    (hypothesis, (reference,)), _ = summaries([(one, [other]), ("w1", ["w2\nw1"])])
    assert rows.matches.tolist()[0] == [
        rouge_oracle.union_hits(hypothesis, reference),
        rouge_oracle.counts("rougeL", hypothesis, reference).matches,
    ]
    assert rows.matches.tolist()[1] == [1, 1]


# The union of subsequences.

lines = st.lists(st.lists(st.sampled_from("abcd"), max_size=7), max_size=5)


def lsum(*pairs):
    """The hits of summaries given as lists of lines."""
    texts = [tuple("\n".join(map(" ".join, side)) for side in pair) for pair in pairs]
    return statistics(RougeMeasure(("Lsum",)), [(one, [other]) for one, other in texts]).matches[:, 0].tolist()


def test_the_example_of_the_paper():
    """Lin 2004, section 3.2: w1 w2 and w1 w3 w5 of one reference sentence are four hits of five."""
    hypothesis, reference = "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", "w1 w2 w3 w4 w5"
    ((precision, recall, _),) = sentence_scores(RougeMeasure(("Lsum",)), [(hypothesis, [reference])])[0]
    assert (precision, recall) == (0.4, 0.8)


@given(lines, lines)
def test_hits_lie_between_the_best_line_and_the_unigrams(hypothesis, reference):
    (hits,) = lsum((hypothesis, reference))
    best = [max([rouge_oracle.table(one, other)[-1][-1] for other in hypothesis], default=0) for one in reference]
    unigrams = Counter(t for one in hypothesis for t in one) & Counter(t for one in reference for t in one)
    assert max(best, default=0) <= hits <= unigrams.total()


@given(lines, lines, st.randoms(use_true_random=False))
def test_the_order_of_the_lines_changes_no_hit(hypothesis, reference, random):
    shuffled = [random.sample(side, len(side)) for side in (hypothesis, reference)]
    first, second = lsum((hypothesis, reference), shuffled)
    assert first == second


@given(lines, lines, st.integers(0, 5))
def test_what_cannot_match_changes_no_hit(hypothesis, reference, at):
    foreign = [*hypothesis[:at], ["x", "y"], [], *hypothesis[at:]]
    repeated = [*hypothesis, *hypothesis[:1]]
    first, second, third = lsum((hypothesis, reference), (foreign, [[], *reference, ["z"]]), (repeated, reference))
    assert first == second
    # A line said twice takes no position that it has not taken; it only allows its tokens once more.
    assert first <= third


@given(st.lists(st.sampled_from("abcd"), max_size=9), st.lists(st.sampled_from("abcd"), max_size=9))
def test_of_one_line_each_the_union_is_the_subsequence(one, other):
    batch = [(" ".join(one), [" ".join(other)])]
    rows = statistics(RougeMeasure(("L", "Lsum")), batch)
    for field in rows:
        assert field[:, 0].equal(field[:, 1])


@given(lines)
def test_a_summary_hits_itself_everywhere(summary):
    assert lsum((summary, summary)) == [sum(map(len, summary))]


# What must hold of any texts.


@given(any_text, any_text)
def test_precision_and_recall_change_places_with_the_texts(one, other):
    """Not for the union, which is made of reference positions."""
    metric = RougeMeasure(tuple(variant for variant in VARIANTS if variant != "Lsum"))
    there, back = (np.array(sentence_scores(metric, [pair])[0]) for pair in ((one, [other]), (other, [one])))
    assert there[:, [1, 0, 2]] == close(back)


@given(any_text)
def test_a_text_against_itself_scores_1_where_it_has_anything_to_count(text):
    words = len(rouge_oracle.words(text))
    (scores,) = sentence_scores(RougeMeasure(VARIANTS), [(text, [text])])
    needed = [*range(1, 10), 1, 1]
    assert scores == [[1.0 if words >= least else 0.0] * 3 for least in needed]


@given(any_text, st.lists(any_text, min_size=1, max_size=3), any_text)
def test_one_more_reference_never_lowers_the_best_f(hypothesis, references, more):
    before, after = sentence_scores(
        RougeMeasure(VARIANTS), [(hypothesis, references), (hypothesis, [*references, more])]
    )
    assert all(one[2] <= another[2] for one, another in zip(before, after, strict=True))


@given(batches)
def test_alpha_one_half_is_f1(batch):
    f1, weighed = (
        np.array(sentence_scores(RougeMeasure(VARIANTS, "sum", alpha), batch))[..., 2] for alpha in (None, 0.5)
    )
    assert weighed == close(f1)


@given(batches)
def test_alpha_0_is_recall_and_1_is_precision(batch):
    """Where anything matches: of nothing each is 0."""
    for alpha, column in ((0, 1), (1, 0)):
        scores = np.array(sentence_scores(RougeMeasure(VARIANTS, "sum", alpha), batch))
        assert scores[..., 2] == close(scores[..., column])


# The metric's own words.


def test_the_layout_of_rows():
    best, mean = RougeMeasure((1, "L")), MeanRougeMeasure((1, "L"))
    assert best.layout == Layout(RougeStatistics, (2, 2, 2))
    assert mean.layout == Layout(RougeScores, (2, 2, 2))
    assert row_width(best.layout) == row_width(mean.layout) == 6
    assert (best.row_dtype, mean.row_dtype) == (torch.int64, torch.float64)
    assert best.score_shape == mean.score_shape == (2, 3)


def test_a_mean_has_no_parts_and_no_corpus_score():
    metric = MeanRougeMeasure((1,))
    rows = statistics(metric, [("a", ["a", "b"])])
    with pytest.raises(ValueError, match="accumulate='avg' averages the scores of several references"):
        metric.parts(rows)


@given(st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=3)), min_size=1, max_size=3))
def test_rows_of_a_mean_are_scores_with_one_reference_and_with_several(batch):
    metric = MeanRougeMeasure((1, "Lsum"))
    packed = pack(statistics(metric, batch), metric.layout)
    assert packed.shape == (len(batch), 6)
    assert packed.dtype == metric.row_dtype


def test_scores_have_any_leading_shape():
    counts = torch.tensor([[[1], [2]], [[0], [3]]])
    metric = RougeMeasure((1,))
    scores = metric.score(RougeStatistics(counts, counts + 1, counts * 0 + 4))
    assert scores.shape == (2, 2, 1, 3)
    assert scores[1, 1, 0].tolist() == close([0.75, 0.75, 0.75])
    assert scores[1, 0, 0].tolist() == [0, 0, 0]
    large = torch.tensor([2**40])
    assert metric.score(RougeStatistics(large, large * 2, large))[0].tolist() == close([0.5, 1, 2 / 3])


def test_what_is_0_over_0_is_0():
    nothing = torch.zeros(2, 1, dtype=torch.int64)
    for alpha in (None, 0, 0.5, 1):
        assert not RougeMeasure((1,), alpha=alpha).score(RougeStatistics(nothing, nothing, nothing)).any()


def test_scores_are_named_as_torchmetrics_names_them():
    named = by_key(torch.arange(12).reshape(2, 2, 3), ("rouge1", "rougeLsum"))
    assert {name: value.tolist() for name, value in named.items()} == {
        "rouge1_fmeasure": [2, 8],
        "rouge1_precision": [0, 6],
        "rouge1_recall": [1, 7],
        "rougeLsum_fmeasure": [5, 11],
        "rougeLsum_precision": [3, 9],
        "rougeLsum_recall": [4, 10],
    }
    assert list(named)[:3] == ["rouge1_fmeasure", "rouge1_precision", "rouge1_recall"]


def test_a_lone_key_and_a_sequence_of_keys():
    assert checked_keys("rougeL") == ("rougeL",)
    assert checked_keys(["rougeL", "rouge1"]) == ("rougeL", "rouge1")
    assert checked_keys(iter(("rouge9",))) == ("rouge9",)
    assert rouge_measure("rougeL", "best", "micro") == RougeMeasure(("L",))
    assert rouge_measure(["rouge2"], "avg", "none") == MeanRougeMeasure((2,))
    assert replace(RougeMeasure((1,)), alpha=0.5) != RougeMeasure((1,))


@pytest.mark.parametrize("keys", [None, {"rouge1"}, 1], ids=repr)
def test_keys_that_have_no_order_are_refused(keys):
    with pytest.raises(TypeError, match=f"rouge_keys is a {type(keys).__name__}: expected a key or a sequence of keys"):
        checked_keys(keys)


KNOWN = r"\['rouge1', .*'rouge9', 'rougeL', 'rougeLsum'\]"


@pytest.mark.parametrize(
    ("keys", "accumulate", "average", "words"),
    [
        ("rouge0", "best", "macro", f"unknown rouge key 'rouge0': expected one of {KNOWN}"),
        (("rouge1", "rouge10"), "best", "macro", f"unknown rouge key 'rouge10': expected one of {KNOWN}"),
        ("rougel", "best", "macro", "unknown rouge key 'rougel'"),
        ([1], "best", "macro", "unknown rouge key 1"),
        ((), "best", "macro", f"no rouge key: expected some of {KNOWN}"),
        ("rouge1", "mean", "macro", r"unknown accumulate 'mean': expected one of \['best', 'avg'\]"),
        ("rouge1", None, "macro", "unknown accumulate None"),
        ("rouge1", "avg", "micro", r"accumulate='avg' averages scores.*expected average 'macro' or 'none'"),
    ],
    ids=str,
)
def test_a_setting_out_of_its_range_is_refused(keys, accumulate, average, words):
    with pytest.raises(ValueError, match=words):
        rouge_measure(keys, accumulate, average)


def test_an_order_out_of_its_range_is_refused():
    with pytest.raises(ValueError, match=r"ngram order must be at most 1000 \(got: 1099511627776\)"):
        RougeMeasure((1, 2**40))
    with pytest.raises(ValueError, match=r"ngram order must be greater than zero \(got: 0\)"):
        RougeMeasure((0, "L"))
    with pytest.raises(TypeError, match=r"ngram order must be an integer \(got: 2.0\)"):
        RougeMeasure((2.0,))
    assert RougeMeasure((1000, "L", "Lsum")).variants == (1000, "L", "Lsum")


@pytest.mark.parametrize(("stemmed", "accumulate"), list(product([False, True], ["best", "avg"])))
def test_no_sentence_has_no_row(stemmed, accumulate):
    metric = rouge_measure(KEYS, accumulate, "macro")
    rows = statistics(metric, [], use_stemmer=stemmed)
    assert metric.score(rows).shape == (0, 11, 3)
