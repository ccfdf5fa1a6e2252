"""What is counted of a system, in whatever parts, and the one score that follows from it."""

from typing import Any

import pytest
from draws import fewer
from hypothesis import given
from hypothesis import strategies as st
from metrics.apis import COMPLETE, Api

from ngram_metrics import evaluate
from ngram_metrics._core.metrics.bleu import make_bleu
from ngram_metrics._core.scoring.scorer import Scorer
from ngram_metrics.significance import paired_approximate_randomization

WORDS = st.lists(st.sampled_from(["the", "cat", "sat", "on", "a", "mat", "."]), max_size=9).map(" ".join)
SEGMENTS = st.tuples(WORDS, WORDS, st.lists(WORDS, min_size=1, max_size=2))


def first(values: Any) -> Any:
    """The first value, which for ROUGE is F of the first key."""
    return next(iter(values.values())) if isinstance(values, dict) else values


def filled(metric: Any, *batches: tuple[list[str], list[list[str]]]) -> Any:
    for hypotheses, references in batches:
        metric.update(hypotheses, references)
    return metric


each_metric = pytest.mark.parametrize("api", COMPLETE, ids=lambda api: api.name)
each_corpus = given(segments=st.lists(SEGMENTS, min_size=1, max_size=40))
ignore_warnings = pytest.mark.filterwarnings("ignore::UserWarning")


def score_of(api: Api, hypotheses: list[str], references: list[list[str]]) -> float:
    """The score that each way to count a corpus must have: that of its class, in one batch."""
    return first(filled(api.metric(average="micro"), (hypotheses, references)).compute()).item()


@ignore_warnings
@each_metric
@fewer(4)
@each_corpus
def test_the_function_has_the_score_of_the_class_to_the_last_bit(api: Api, segments: list[Any]):
    hypotheses, _, references = map(list, zip(*segments, strict=True))
    score = first(api.function(hypotheses, references, average="micro")).item()
    assert score == score_of(api, hypotheses, references)


@ignore_warnings
@each_metric
@fewer(4)
@given(segments=st.lists(SEGMENTS, min_size=1, max_size=40), cut=st.integers(0, 40))
def test_two_batches_have_the_score_of_one_to_the_last_bit(api: Api, segments: list[Any], cut: int):
    hypotheses, _, references = map(list, zip(*segments, strict=True))
    before = hypotheses[:cut], references[:cut]
    after = hypotheses[cut:], references[cut:]
    metric = filled(api.metric(average="micro"), before, after)
    assert first(metric.compute()).item() == score_of(api, hypotheses, references)


@ignore_warnings
@each_metric
@fewer(4)
@each_corpus
def test_counts_of_segments_have_the_score_of_sums_to_the_last_bit(api: Api, segments: list[Any]):
    """With an interval a metric keeps the counts of each segment."""
    hypotheses, _, references = map(list, zip(*segments, strict=True))
    metric = filled(api.metric(average="micro", confidence=0.9), (hypotheses, references))
    assert first(metric.compute()).item() == score_of(api, hypotheses, references)


@ignore_warnings
@each_metric
@fewer(4)
@each_corpus
def test_evaluate_has_the_score_of_the_class_to_the_last_bit(api: Api, segments: list[Any]):
    hypotheses, others, references = map(list, zip(*segments, strict=True))
    systems = {"ours": hypotheses, "theirs": others}
    results = evaluate(systems, {"r": references}, {"m": api.metric(average="micro")}, confidence=None).results
    assert first(results["ours"]).score == score_of(api, hypotheses, references)


@ignore_warnings
@each_metric
@fewer(4)
@each_corpus
def test_a_test_has_the_score_of_the_class_to_the_last_bit(api: Api, segments: list[Any]):
    hypotheses, _, references = map(list, zip(*segments, strict=True))
    metric = filled(api.metric(average="micro", confidence=0.9), (hypotheses, references))
    comparison = paired_approximate_randomization({"ours": metric}, "ours", 1)["ours"]
    assert first(comparison).score == score_of(api, hypotheses, references)


def bleu_that_cannot_read_bad() -> Scorer:
    def tokenizer(text: str) -> list[object]:
        return [[]] if text == "bad" else [text]

    return make_bleu(tokenizer=tokenizer)


def test_an_error_names_the_segment_of_its_system():
    metrics = {"bleu": bleu_that_cannot_read_bad()}
    with pytest.raises(TypeError, match=r"^segment 1 has the token \[\], a list: expected a hashable$"):
        evaluate({"a": ["a", "b"], "b": ["c", "bad"]}, ["r", "s"], metrics)


def test_an_error_names_the_reference_of_a_segment():
    metrics = {"bleu": bleu_that_cannot_read_bad()}
    with pytest.raises(TypeError, match=r"^reference 0 of segment 1 has the token"):
        evaluate({"a": ["a", "b"], "b": ["c", "d"]}, ["r", "bad"], metrics)


def test_an_error_says_where_its_portion_of_many_segments_begins():
    """4,096 segments are counted at a time, so the last of 5,000 is the 904th of its portion."""
    metrics = {"bleu": bleu_that_cannot_read_bad()}
    hypotheses = ["a"] * 4999 + ["bad"]
    with pytest.raises(TypeError, match=r"^segment 903 has the token .* \(segment 0 is segment 4096\)$"):
        evaluate({"a": ["a"] * 5000, "b": hypotheses}, ["r"] * 5000, metrics)
