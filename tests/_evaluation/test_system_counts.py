"""What is counted of a system, in whatever parts, and the one score that follows from it."""

import numpy as np
import pytest
from draws import fewer
from hypothesis import given
from hypothesis import strategies as st
from metrics.apis import COMPLETE

from ngram_metrics import evaluate
from ngram_metrics._core.metrics.bleu import make_bleu
from ngram_metrics._core.scoring.paired import pair_rows


@pytest.mark.filterwarnings("ignore::UserWarning")
@fewer(4)
@given(st.data())
def test_a_corpus_has_one_score_to_the_last_bit_whichever_way_it_is_counted(data: st.DataObject):
    """By the function, the metric in one batch and in two, evaluate, and a test."""
    words = st.lists(st.sampled_from(["the", "cat", "sat", "on", "a", "mat", "."]), max_size=9).map(" ".join)
    segments = data.draw(st.integers(1, 40))
    hypotheses, others = (data.draw(st.lists(words, min_size=segments, max_size=segments)) for _ in "ab")
    references = [data.draw(st.lists(words, min_size=1, max_size=2)) for _ in range(segments)]
    cut = data.draw(st.integers(0, segments))
    for api in COMPLETE:
        metric = api.metric(average="micro", confidence=0.9)
        metric.update(hypotheses, references)
        scorer = metric.scorer
        score = scorer.score(scorer.count(hypotheses, references))
        first_value = next(iter(scorer.values))
        value = scorer.name_values(score)[first_value].item()
        assert metric.compute()[first_value].item() == value
        batches = api.metric(average="micro")
        for part in (slice(cut), slice(cut, None)):
            batches.update(hypotheses[part], references[part])
        of_batches = batches.compute()
        assert (of_batches[first_value] if len(scorer.values) > 1 else of_batches).item() == value
        title = next(iter(scorer.titles))
        systems = {"ours": hypotheses, "theirs": others}
        evaluation = evaluate(systems, references, {"m": api.metric(average="micro")}, confidence=None)
        result = next(iter(evaluation.results["ours"].values()))
        assert result.score == scorer.name_values(score)[scorer.titles[title]].item()
        paired = pair_rows(scorer.measure, "micro", metric.segment_rows().numpy()[:, None])
        assert np.array_equal(paired.corpus_scores[0], score)


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
