"""The outputs of an evaluation: scores of the functions, texts that stay what they were, in tables and in files."""

import json
from pathlib import Path
from typing import Any

import pytest
import sacrebleu
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from logged import cells, markdown_to_safe_html
from ranks import on_ranks
from torchmetrics.text import BLEUScore

import ngram_metrics
from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore
from ngram_metrics._torchmetrics.accumulator import Accumulator
from ngram_metrics._torchmetrics.outputs import Outputs
from ngram_metrics.functional import bleu_score, chrf_score, rouge_score

pytest.importorskip("ignite", reason="the classes for ignite are tested")

from ngram_metrics import ignite as for_ignite
from ngram_metrics.ignite import drop_in
from ngram_metrics.ignite.metric import IgniteMetric

HYPOTHESES = ["the cat sat on the mat", "it was", "a dog ran home"]
REFERENCES = [["the cat sat on a mat", "a cat"], ["it was"], ["a dog ran away"]]


def test_scores_are_those_of_the_functions_over_several_batches():
    metrics = {
        "mean": Bleu(smooth="smooth1", average="macro", effective_order=False),
        "corpus": Bleu(confidence=0.95),
        "chrf": ChrF(),
        "rouge": ROUGEScore(rouge_keys=("rouge1", "rougeL")),
    }
    outputs = Outputs(metrics, Accumulator, 3)
    for batch in (slice(0, 1), slice(0, 0), slice(1, 3)):
        outputs.add(HYPOTHESES[batch], REFERENCES[batch])
    texts_and_scores = "line hypothesis references mean corpus chrf rouge_rouge1 rouge_rougeL"
    assert outputs.columns == texts_and_scores.split()
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
    scores = [each.tolist() for each in expected]
    assert outputs.rows == [list(row) for row in zip([1, 2, 3], *texts, *scores, strict=True)]
    outputs.clear()
    outputs.add("it was", ["so", "it was"])
    assert [row[1:3] for row in outputs.rows] == [["it was", "so\nit was"]]
    assert outputs.rows[0][5] == 1  # chrF of the second reference


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
    outputs = Outputs({"bleu": for_ignite.Bleu(pad_id=0), "rouge": drop_in.RougeN(1, pad_id=0)}, IgniteMetric, 5)
    outputs.add(preds, target)
    second = "7 -" if isinstance(preds, list) and preds[0][0] == "5" else "7 9"
    assert [row[1:3] for row in outputs.rows] == [["5 6", f"5 6\n{second}"], ["7 8", "7"]]
    assert outputs.columns[3:] == ["bleu", "rouge"]
    assert [row[4] for row in outputs.rows] == pytest.approx([2 / 4, 1.0])  # recall: ignite's alpha is 0


@example(["&amp; &#42;", "<script>x</script>"])
@given(st.lists(st.text("|<>&\\`*_[]~#!()-+.:;/$ ab1\n", max_size=12), min_size=2, max_size=2))
def test_no_text_is_markup_or_breaks_the_table(texts: list[str]):
    outputs = Outputs({"a|b": ChrF()}, Accumulator, 1)
    outputs.add([texts[0]], [texts[1]])
    header, row = cells(outputs.markdown())
    assert header == ["line", "hypothesis", "references", "a|b"]
    assert [cell.split() for cell in row] == [["1"], texts[0].split(), texts[1].split(), [f"{outputs.rows[0][3]:.4f}"]]


def test_nothing_is_cut_and_what_cannot_be_seen_is_named():
    outputs = Outputs({"chrf": ChrF()}, Accumulator, 1)
    outputs.add(["x\ud800\x00\u202ey" + " long" * 5000], ["x"])
    outputs.signatures = {"chrf": "tok:<lambda>`|version:1"}
    markdown = outputs.markdown()
    assert cells(markdown)[1][1] == "x[U+D800][U+0000][U+202E]y" + " long" * 5000
    assert "<code>tok:&lt;lambda&gt;_|version:1</code>" in markdown_to_safe_html(markdown)


@pytest.mark.parametrize(
    ("metrics", "samples", "error", "words"),
    [
        ({}, 5, ValueError, "^metrics is empty: expected at least one metric$"),
        ({"chrf": ChrF()}, -1, ValueError, r"^samples must be at least 0 \(got: -1\)$"),
        ({"chrf": ChrF(average="none")}, 5, ValueError, "the metric 'chrf' has average='none'"),
        ({"hypothesis": ChrF()}, 5, ValueError, "'a segment' and 'hypothesis' both write 'hypothesis'"),
        ({"x": 100 * ChrF(average="none")}, 5, ValueError, "the metric 'x' has average='none'"),
        (
            {"x": 100 * ChrF(confidence=0.9)},
            5,
            TypeError,
            "x is a Comp.* of .*, or arithmetic with such metrics$",
        ),
        ({"x": ChrF() + BLEUScore()}, 5, TypeError, "x is a Comp.* of .*, or arithmetic with such metrics$"),
        (
            {"f": for_ignite.ROUGEScore()["rougeL_fmeasure"]},
            5,
            TypeError,
            "f is an IgniteValue .* of ngram_metrics, or",
        ),
    ],
)
def test_what_cannot_be_shown_is_refused(metrics: Any, samples: int, error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        Outputs(metrics, Accumulator, samples)


def test_several_hypotheses_for_a_segment_are_refused():
    outputs = Outputs({"overlap": NgramOverlap(pad_id=0)}, Accumulator, 5)
    with pytest.raises(ValueError, match="several hypotheses for each segment: expected one"):
        outputs.add(IDS.unsqueeze(1).expand(2, 3, 4), IDS)


@pytest.mark.parametrize("samples", [0, 2])
def test_a_table_without_rows(samples: int):
    outputs = Outputs({"bleu": Bleu(pad_id=0)}, Accumulator, samples)
    outputs.add(IDS[:0], IDS[:0])
    if not samples:
        outputs.add(IDS, IDS)
        outputs.add(IDS.unsqueeze(1), IDS)  # several hypotheses, which no table shows
    assert (outputs.columns, outputs.rows) == ([], [])
    outputs.finish()
    assert outputs.markdown() == f"- bleu: `{Bleu(pad_id=0).signature}`"


def test_the_first_segments_and_the_worst_of_the_others_are_shown():
    outputs = Outputs({"chrf": ChrF(), "bleu": Bleu()}, Accumulator, 2)
    written = ["the cat", "dog", "the cat sat", "x", "the cat sat on the mat", "y", "the mat"]
    for texts in (written[:4], written[4:]):
        outputs.add(texts, ["the cat sat on the mat"] * len(texts))
    assert [row[:2] for row in outputs.rows] == [[1, "the cat"], [2, "dog"], [4, "x"], [6, "y"]]
    outputs.clear()
    outputs.add(written[:3], written[:3])
    assert [row[:2] for row in outputs.rows] == [[1, "the cat"], [2, "dog"], [3, "the cat sat"]]


def test_a_file_has_all_segments_as_they_are(tmp_path: Path):
    outputs = Outputs({"x": 100 * ChrF()}, Accumulator, 0, tmp_path / "new")
    outputs.add(["die Katze\u202e\nschläft"], [["die Katze", ""]], ["the cat"])
    outputs.add(["\ud800"], ["Hund"], ["dog\u2028"])
    outputs.write(500, "test")
    lines = (tmp_path / "new" / "test" / "step-500.jsonl").read_text(encoding="utf-8").split("\n")
    assert "schläft" in lines[0]
    assert [json.loads(line) for line in lines[:-1]] == [
        {
            "source": "the cat",
            "hypothesis": "die Katze\u202e\nschläft",
            "references": ["die Katze", ""],
            "x": pytest.approx(100 * chrf_score(["die Katze\u202e\nschläft"], [["die Katze", ""]]).item()),
        },
        {"source": "dog\u2028", "hypothesis": "\ud800", "references": ["Hund"], "x": 0.0},
    ]
    assert lines[-1] == ""


def test_a_segment_of_padding_has_one_empty_reference():
    outputs = Outputs({"bleu": Bleu(pad_id=0)}, Accumulator, 5)
    outputs.add(IDS, torch.tensor([[[5, 6], [0, 0]], [[0, 0], [0, -100]]]))
    assert [segment["references"] for segment in outputs.segments] == [["5 6"], [""]]


@pytest.mark.parametrize(
    ("arithmetic", "expected"),
    [
        (lambda bleu, chrf: 100 * bleu, lambda bleu, chrf: 100 * bleu),
        (lambda bleu, chrf: (bleu + chrf) / 2, lambda bleu, chrf: (bleu + chrf) / 2),
    ],
    ids=["percent", "mean"],
)
@pytest.mark.parametrize("package", [ngram_metrics, for_ignite], ids=["torchmetrics", "ignite"])
def test_arithmetic_scores_segments_and_has_the_signatures_of_its_metrics(package: Any, arithmetic: Any, expected: Any):
    bleu = package.Bleu()
    chrf = package.ChrF()
    metric_class = {ngram_metrics: Accumulator, for_ignite: IgniteMetric}[package]
    outputs = Outputs({"x": arithmetic(bleu, chrf)}, metric_class, 3, details=True)
    outputs.add(HYPOTHESES, REFERENCES)
    of_bleu = bleu_score(HYPOTHESES, REFERENCES, average="none")
    scores = of_bleu, chrf_score(HYPOTHESES, REFERENCES, average="none")
    assert [segment["x"] for segment in outputs.segments] == pytest.approx(expected(*scores).tolist())
    shorter = [*HYPOTHESES[:2], "a dog"]
    for metric in (bleu, chrf):
        metric.update(*((shorter, REFERENCES) if package is ngram_metrics else ((shorter, REFERENCES),)))
    outputs.finish()
    assert outputs.signatures["x"].startswith(bleu.signature)
    assert (chrf.signature in outputs.signatures["x"]) == (outputs.signatures["x"] != bleu.signature)
    of_sacrebleu = sacrebleu.corpus_bleu(shorter, [[first for first, *_ in REFERENCES], ["a cat", None, None]])
    assert of_sacrebleu.bp < 1
    found = {name: value.item() for name, value in outputs.details.items()}
    assert found == pytest.approx(
        {"x_brevity_penalty": of_sacrebleu.bp, "x_length_ratio": of_sacrebleu.sys_len / of_sacrebleu.ref_len}
    )


def share() -> list[str]:
    """The hypotheses of all processes, after this one has added its own."""
    texts = [[], ["b", "e"], ["c", "f", "g"]][torch.distributed.get_rank()]
    outputs = Outputs({"chrf": ChrF()}, Accumulator, 1)
    outputs.add(texts, texts)
    outputs.finish()
    return [segment["hypothesis"] for segment in outputs.segments]


@pytest.mark.slow
def test_the_shares_of_processes_are_joined_as_a_sampler_deals_them_out():
    assert on_ranks(share) == [["b", "c", "e", "f", "g"]] * 3


def test_another_number_of_sources_is_refused():
    outputs = Outputs({"chrf": ChrF()}, Accumulator, 1)
    with pytest.raises(
        ValueError, match=r"^the batch has 3 segments and 2 sources: expected one source for each segment$"
    ):
        outputs.add(HYPOTHESES, REFERENCES, ["a", "b"])
    outputs.add("a text", ["a reference", "another"], "its source")
    assert outputs.rows[0][1:4] == ["its source", "a text", "a reference\nanother"]


def test_a_segment_without_a_source_has_an_empty_one():
    outputs = Outputs({"chrf": ChrF()}, Accumulator, 5)
    outputs.add(["a"], ["a"])
    outputs.add(["b", "c"], ["b", "c"], ["its source", None])
    assert outputs.columns == ["line", "source", "hypothesis", "references", "chrf"]
    assert outputs.rows == [[1, "", "a", "a", 1.0], [2, "its source", "b", "b", 1.0], [3, "", "c", "c", 1.0]]
    _, *rows = cells(outputs.markdown())
    assert [row[1] for row in rows] == ["", "its source", ""]


def test_a_source_that_is_no_text_is_refused():
    outputs = Outputs({"chrf": ChrF()}, Accumulator, 5)
    with pytest.raises(TypeError, match=r"^the source of segment 1 is a Tensor: expected a text, or None$"):
        outputs.add(["a", "b"], ["a", "b"], ["its source", torch.ones(2)])
    assert outputs.segments == []
