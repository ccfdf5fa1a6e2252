"""The table of segments that loggers are given: scores of the functions, texts that stay what they were."""

from typing import Any

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from logged import cells, markdown_to_safe_html

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore
from ngram_metrics import ignite as for_ignite
from ngram_metrics._core.scoring.segment_table import SegmentTable
from ngram_metrics._torchmetrics.accumulator import Accumulator
from ngram_metrics.functional import bleu_score, chrf_score, rouge_score
from ngram_metrics.ignite.metric import IgniteMetric

HYPOTHESES = ["the cat sat on the mat", "it was", "a dog ran home"]
REFERENCES = [["the cat sat on a mat", "a cat"], ["it was"], ["a dog ran away"]]


def test_scores_are_those_of_the_functions_of_several_batches_and_only_the_first():
    metrics = {
        "mean": Bleu(smooth="smooth1", average="macro", effective_order=False),
        "corpus": Bleu(confidence=0.95),
        "chrf": ChrF(),
        "rouge": ROUGEScore(rouge_keys=("rouge1", "rougeL")),
    }
    table = SegmentTable(metrics, Accumulator, 3)
    for batch in (slice(0, 1), slice(0, 0), slice(1, 4), slice(3, 4)):
        table.add([*HYPOTHESES, "more"][batch], [*REFERENCES, "more"][batch])
    assert table.columns == ["hypothesis", "references", "mean", "corpus", "chrf", "rouge_rouge1", "rouge_rougeL"]
    sides = HYPOTHESES, REFERENCES
    rouge = rouge_score(*sides, rouge_keys=("rouge1", "rougeL"), average="none")
    expected = [
        bleu_score(*sides, smooth="smooth1", average="none", effective_order=False),
        # "it was" has no longer n-gram than two words, and is right.
        bleu_score(*sides, average="none"),
        *(chrf_score(*sides, average="none"), rouge["rouge1_fmeasure"], rouge["rougeL_fmeasure"]),
    ]
    assert expected[1][1] == 1 > expected[0][1]
    texts = [*HYPOTHESES], ["the cat sat on a mat\na cat", "it was", "a dog ran away"]
    assert table.rows == [list(row) for row in zip(*texts, *(each.tolist() for each in expected), strict=True)]
    table.clear()
    table.add("it was", ["so", "it was"])
    assert [row[:2] for row in table.rows] == [["it was", "so\nit was"]]
    assert table.rows[0][4] == 1  # chrF of the second reference


IDS = torch.tensor([[5, 6, 0, -100], [7, 0, 8, 0]])


@pytest.mark.parametrize(
    ("preds", "target"),
    [
        ([["5", "6"], ["7", "8"]], [[["5", "6"], ["7", "-"]], ["7"]]),
        ([[5, 6, 0], [7, 8]], [[[5, 6], [7, 9]], [7]]),
        (IDS, torch.tensor([[[5, 6, 0], [7, 9, 0]], [[7, 0, 0], [0, -100, 0]]])),
        (IDS.numpy(), [[[5, 6], [7, 9]], torch.tensor([7, 0])]),
    ],
    ids=["tokens", "ids", "padded ids", "an array and lists"],
)
def test_tokens_and_ids_are_shown_without_padding(preds: Any, target: Any):
    table = SegmentTable({"bleu": for_ignite.Bleu(pad_id=0), "rouge": for_ignite.RougeN(1, pad_id=0)}, IgniteMetric, 5)
    table.add(preds, target)
    second = "7 -" if isinstance(preds, list) and preds[0][0] == "5" else "7 9"
    assert [row[:2] for row in table.rows] == [["5 6", f"5 6\n{second}"], ["7 8", "7"]]
    assert table.columns[2:] == ["bleu", "rouge"]
    assert [row[3] for row in table.rows] == pytest.approx([2 / 4, 1.0])  # recall: ignite's alpha is 0


@example(["&amp; &#42;", "<script>x</script>"])
@given(st.lists(st.text("|<>&\\`*_[]~#!()-+.:;/$ ab1\n", max_size=12), min_size=2, max_size=2))
def test_no_text_is_markup_or_breaks_the_table(texts: list[str]):
    table = SegmentTable({"a|b": ChrF()}, Accumulator, 1)
    table.add([texts[0]], [texts[1]])
    header, row = cells(table.markdown({}))
    assert header == ["", "hypothesis", "references", "a|b"]
    assert [cell.split() for cell in row] == [["1"], texts[0].split(), texts[1].split(), [f"{table.rows[0][2]:.4f}"]]


def test_nothing_is_cut_and_what_cannot_be_seen_is_named():
    table = SegmentTable({"chrf": ChrF()}, Accumulator, 1)
    table.add(["x\ud800\x00\u202ey" + " long" * 5000], ["x"])
    markdown = table.markdown({"chrf": "tok:<lambda>`|version:1"})
    assert cells(markdown)[1][1] == "x[U+D800][U+0000][U+202E]y" + " long" * 5000
    assert "<code>tok:&lt;lambda&gt;_|version:1</code>" in markdown_to_safe_html(markdown)


@pytest.mark.parametrize(
    ("metrics", "segments", "error", "words"),
    [
        ({}, 5, ValueError, "0 metrics"),
        ({"chrf": ChrF()}, -1, ValueError, "segments=-1: expected at least 1 and at least 0"),
        ({"chrf": ChrF(average="none")}, 5, ValueError, "the metric chrf has average='none'"),
        ({"f": for_ignite.ROUGEScore()["rougeL_fmeasure"]}, 5, TypeError, "f is an IgniteValue .* of ngram_metrics$"),
    ],
)
def test_what_cannot_be_shown_is_refused(metrics: Any, segments: int, error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        SegmentTable(metrics, Accumulator, segments)


def test_several_hypotheses_for_a_segment_are_refused():
    table = SegmentTable({"overlap": NgramOverlap(pad_id=0)}, Accumulator, 5)
    with pytest.raises(ValueError, match="several hypotheses for each segment: expected one"):
        table.add(IDS.unsqueeze(1).expand(2, 3, 4), IDS)


@pytest.mark.parametrize("segments", [0, 2])
def test_a_table_without_rows(segments: int):
    table = SegmentTable({"bleu": Bleu(pad_id=0)}, Accumulator, segments)
    table.add(IDS[:0], IDS[:0])
    if not segments:
        table.add(IDS, IDS)
        table.add(IDS.unsqueeze(1), IDS)  # several hypotheses, which no table shows
    assert (table.columns, table.rows) == ([], [])
    assert table.markdown({"bleu": "nrefs:1"}) == "- bleu: `nrefs:1`"
