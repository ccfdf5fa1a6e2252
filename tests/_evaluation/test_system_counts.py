"""What is counted of a system, in whatever parts, and the one score that follows from it."""

from typing import Any

import pytest
from draws import fewer
from hypothesis import given
from hypothesis import strategies as st
from metrics.apis import COMPLETE

from ngram_metrics import evaluate
from ngram_metrics._core.metrics.bleu import make_bleu
from ngram_metrics.significance import paired_approximate_randomization

WORDS = st.lists(st.sampled_from(["the", "cat", "sat", "on", "a", "mat", "."]), max_size=9).map(" ".join)
SEGMENTS = st.tuples(WORDS, WORDS, st.lists(WORDS, min_size=1, max_size=2))


def first(values: Any) -> float:
    """The first value, which for ROUGE is F of the first key."""
    return (next(iter(values.values())) if isinstance(values, dict) else values).item()


@pytest.mark.filterwarnings("ignore::UserWarning")
@fewer(4)
@given(segments=st.lists(SEGMENTS, min_size=1, max_size=40), cut=st.integers(0, 40))
def test_a_corpus_has_one_score_to_the_last_bit_whichever_way_it_is_counted(segments: list[Any], cut: int):
    """By the function, the metric in one batch and in two, evaluate, and a test."""
    hypotheses, others, references = map(list, zip(*segments, strict=True))
    for api in COMPLETE:
        score = first(api.function(hypotheses, references, average="micro"))
        metric = api.metric(average="micro", confidence=0.9)
        metric.update(hypotheses, references)
        assert first(metric.compute()) == score
        batches = api.metric(average="micro")
        for part in (slice(cut), slice(cut, None)):
            batches.update(hypotheses[part], references[part])
        assert first(batches.compute()) == score
        systems = {"ours": hypotheses, "theirs": others}
        evaluation = evaluate(systems, {"r": references}, {"m": api.metric(average="micro")}, confidence=None)
        assert next(iter(evaluation.results["ours"].values())).score == score
        tested = paired_approximate_randomization({"ours": metric}, "ours", 1)
        assert next(iter(tested["ours"].values())).score == score


def test_an_error_names_the_segment_of_its_system():
    def tokenizer(text: str) -> list[object]:
        return [[]] if text == "bad" else [text]

    metrics = {"bleu": make_bleu(tokenizer=tokenizer)}
    with pytest.raises(TypeError, match=r"^segment 1 has the token \[\], a list: expected a hashable$"):
        evaluate({"a": ["a", "b"], "b": ["c", "bad"]}, ["r", "s"], metrics)
    with pytest.raises(TypeError, match=r"^reference 0 of segment 1 has the token"):
        evaluate({"a": ["a", "b"], "b": ["c", "d"]}, ["r", "bad"], metrics)
    many = ["a"] * 5000
    many[4999] = "bad"
    with pytest.raises(TypeError, match=r"^segment 903 has the token .* \(segment 0 is segment 4096\)$"):
        evaluate({"a": ["a"] * 5000, "b": many}, ["r"] * 5000, metrics)
