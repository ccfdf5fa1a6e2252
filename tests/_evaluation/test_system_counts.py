"""Systems that are read together have the counts that each has alone; each text is read once."""

from typing import Any

import pytest
import torch
from draws import examples, fewer
from hypothesis import given
from hypothesis import strategies as st
from metrics.apis import COMPLETE

from ngram_metrics import evaluate
from ngram_metrics._core.metrics.bleu import make_bleu
from ngram_metrics._core.metrics.registry import REGISTRY, make_metric
from ngram_metrics._core.metrics.rouge import make_rouge
from ngram_metrics._core.scoring.paired import pair_rows
from ngram_metrics._core.text.reader import Reader
from ngram_metrics._evaluation import system_counts
from ngram_metrics._evaluation.evaluate_arguments import Texts
from ngram_metrics._evaluation.system_counts import count

TEXTS = st.text("ab \n.,é東", max_size=12)
SCORERS = [*map(make_metric, REGISTRY), make_rouge(accumulate="avg"), make_bleu(tokenizer="char", lowercase=True)]


@pytest.mark.filterwarnings("ignore::UserWarning")  # texts by chance look like many a mistake
@fewer(4)
@examples(
    *(
        {"systems": 3, "corpus": [(["a b", "b", "a.", ""], ["a b", "b a"]), (["é"] * 4, ["東 a"])], "at_once": size}
        for size in (1, 5, 20)
    )
)
@given(
    systems=st.integers(1, 4),
    corpus=st.lists(
        st.tuples(st.lists(TEXTS, min_size=4, max_size=4), st.lists(TEXTS, min_size=1, max_size=3)),
        min_size=1,
        max_size=9,
    ),
    at_once=st.integers(1, 20),
)
def test_systems_have_the_counts_that_each_has_alone(systems: int, corpus: Any, at_once: int):
    hypotheses, references = (
        [*zip(*(outputs for outputs, _ in corpus), strict=True)][:systems],
        [segment_references for _, segment_references in corpus],
    )
    systems_by_name = {str(number): list(lines) for number, lines in enumerate(hypotheses)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(system_counts, "_TEXTS_AT_ONCE", at_once)
        steps: list[int] = []
        counts = count(SCORERS, Texts(systems_by_name, [], references), steps.append)
    assert sum(steps) == systems * len(corpus)
    for name, texts in systems_by_name.items():
        for each, found in zip(SCORERS, counts[name], strict=True):
            assert torch.equal(found.rows, each.count(texts, references).stack_rows())


@pytest.mark.filterwarnings("ignore::UserWarning")
@fewer(4)
@given(st.data())
def test_a_corpus_has_one_score_to_the_last_bit_whichever_way_it_is_counted(data: st.DataObject):
    """By the function, the metric in one batch and in two, and evaluate; and in a test, that of arrays."""
    words = st.lists(st.sampled_from(["the", "cat", "sat", "on", "a", "mat", "."]), max_size=9).map(" ".join)
    segments = data.draw(st.integers(1, 40))
    hypotheses, others = (data.draw(st.lists(words, min_size=segments, max_size=segments)) for _ in "ab")
    references = [data.draw(st.lists(words, min_size=1, max_size=2)) for _ in range(segments)]
    cut = data.draw(st.integers(0, segments))
    for api in COMPLETE:
        metric = api.metric(average="micro", confidence=0.9)
        metric.update(hypotheses, references)
        scorer = metric.scorer
        score = scorer(hypotheses, references)
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
        paired = pair_rows(scorer.measure, "micro", metric.segment_rows().unsqueeze(1))
        assert paired.corpus_scores[0].equal(scorer.scores(metric.row))
        assert torch.allclose(paired.corpus_scores[0], score, rtol=1e-15, atol=1e-15)


def test_each_text_is_read_once_for_each_way_of_reading(monkeypatch):
    read = []
    encode = Reader.encode
    monkeypatch.setattr(
        Reader, "encode", lambda self, segments: (read.append(segments.documents), encode(self, segments))[1]
    )
    systems = {"a": ["a b", "c"], "b": ["b", "d"], "c": ["e", "f"]}
    evaluate(systems, ["r", "s"], "bleu,overlap,chrf,chrf++,rouge", confidence=None)
    # As words of 13a, as words at whitespace, as characters, as characters with words, and by ROUGE's rule.
    assert read == [["a b", "c", "b", "d", "e", "f", "r", "s"]] * 5


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
    # Of two systems and their references some thousand texts are read at a time.
    with pytest.raises(TypeError, match=r"^segment 2269 has the token .* \(segment 0 is segment 2730\)$"):
        evaluate({"a": ["a"] * 5000, "b": many}, ["r"] * 5000, metrics)
