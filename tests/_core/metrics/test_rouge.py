"""ROUGE against rouge_score, number for number, and on long texts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import rouge_oracle
from hypothesis import given
from hypothesis import strategies as st
from layouts import apart, read_batch
from measures import Measured, Settings, of_settings, options
from oracles import close
from rouge_oracle import KEYS
from rouge_score import rouge_scorer

from ngram_metrics._core.metrics.rouge import ROUGE_KEYS, MeanRougeMeasure, RougeMeasure
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


def _counts(settings: Settings, hypothesis: str, references: Sequence[str]) -> tuple:
    summary, summaries = rouge_oracle.summary(hypothesis), list(map(rouge_oracle.summary, references))
    keys, how = settings.get("keys", KEYS), (settings.get("reducer", "best"), settings.get("alpha"))
    return tuple(zip(*(rouge_oracle.reduced(key, summary, summaries, *how) for key in keys), strict=True))


def _score(settings: Settings, counts: Sequence[Any]) -> list:
    rows = [rouge_oracle.Counts(*row) for row in zip(*counts, strict=True)]
    return [list(rouge_oracle.scores(row, settings.get("alpha"))) for row in rows]


def _mean_counts(settings: Settings, hypothesis: str, references: Sequence[str]) -> tuple:
    summary, summaries = rouge_oracle.summary(hypothesis), list(map(rouge_oracle.summary, references))
    return tuple(zip(*(rouge_oracle.rouge(key, summary, summaries, "avg") for key in KEYS), strict=True))


MEASURED = {
    "rouge": Measured(
        make=lambda settings: RougeMeasure(
            [ROUGE_KEYS[key] for key in settings.get("keys", KEYS)],
            settings.get("reducer", "best"),
            settings.get("alpha"),
        ),
        reader=of_settings(RougeReader, "pad_id"),
        documents=summaries,
        settings=st.sampled_from(options(reducer=["best", "best_recall", "sum"], alpha=[None, 0, 0.3, 0.5, 1])),
        counts=_counts,
        score=_score,
        of_ids=lambda ids: " ".join(map(str, ids)),
        variants=options(reducer=["best", "best_recall", "sum"], alpha=[None, 0, 0.5, 1]),
    ),
    "mean rouge": Measured(
        make=lambda settings: MeanRougeMeasure(VARIANTS),
        reader=of_settings(RougeReader, "pad_id"),
        documents=summaries,
        settings=st.just({}),
        counts=_mean_counts,
        score=lambda settings, scores: [list(row) for row in zip(*scores, strict=True)],
        of_ids=lambda ids: " ".join(map(str, ids)),
        variants=({},),
        averages=("none", "macro"),
    ),
}
batches = MEASURED["rouge"].batches


def statistics(metric, batch, **options):
    return metric.statistics(read_batch(RougeReader(**options), *apart(batch)))


def sentence_scores(metric, batch, **options):
    """For each sentence and key precision, recall and F."""
    return metric.score_rows(metric.layout.pack(statistics(metric, batch, **options))).tolist()


PEERS = {stemmed: rouge_scorer.RougeScorer(list(KEYS), use_stemmer=stemmed) for stemmed in (False, True)}


def rouge_score(batch, stemmed):
    segment_scores = [PEERS[stemmed].score_multi(references, hypothesis) for hypothesis, references in batch]
    return [[tuple(scores[key]) for key in KEYS] for scores in segment_scores]


@pytest.mark.parametrize("stemmed", [False, True])
@given(batches)
def test_scores_are_those_of_score(stemmed, batch):
    for segments in (batch, [(hypothesis, references[:1]) for hypothesis, references in batch]):
        got = sentence_scores(RougeMeasure(VARIANTS), segments, use_stemmer=stemmed)
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
    got = sentence_scores(RougeMeasure((1,)), batch)
    assert [tuple(scores[0][:2]) for scores in got] == [expected for *_, expected in tied]
    scorer = rouge_scorer.RougeScorer(["rouge1"])
    assert [tuple(scorer.score_multi(*segment[::-1])["rouge1"][:2]) for segment in batch] == [
        tied_to for *_, tied_to in tied
    ]


@pytest.mark.parametrize("subset", [("L",), ("Lsum",), (3,), ("Lsum", 2), (2, "L", 1), ("L", "L", 1, 1)], ids=str)
def test_a_key_counts_the_same_alone_and_among_others(subset):
    batch = [("a b c\nb a", ["b a\na b c", "c"]), ("b b\na", ["a\nb b b"]), ("", ["a"])]
    whole = statistics(RougeMeasure(VARIANTS), batch)
    alone = statistics(RougeMeasure(subset), batch)
    columns = [VARIANTS.index(variant) for variant in subset]
    for field, among_others in zip(alone, whole, strict=True):
        assert np.array_equal(field, among_others[:, columns])


def test_the_example_of_the_paper():
    """Lin 2004, section 3.2: w1 w2 and w1 w3 w5 of one reference sentence are four hits of five."""
    hypothesis, reference = "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", "w1 w2 w3 w4 w5"
    ((precision, recall, _),) = sentence_scores(RougeMeasure(("Lsum",)), [(hypothesis, [reference])])[0]
    assert (precision, recall) == (0.4, 0.8)


def test_a_mean_has_no_parts_and_no_corpus_score():
    metric = MeanRougeMeasure((1,))
    rows = statistics(metric, [("a", ["a", "b"])])
    with pytest.raises(ValueError, match="accumulate='avg' averages the scores of several references"):
        metric.parts(rows)
