"""The examples of MBR decoding, of a metric of one's own, for several processes and Ray, against plain loops."""

import re
import runpy
from pathlib import Path

import oracles
import programs
import pytest
import sacrebleu
import torch
from hypothesis import given
from hypothesis import strategies as st
from programs import EXAMPLES, TORCHRUN, start
from sacrebleu import CHRF
from systems import output, references
from torchmetrics import MetricCollection

from ngram_metrics import Bleu

pytest.importorskip("pyarrow", reason="a file of the example is written")

import pyarrow
import pyarrow.parquet

EXAMPLE = EXAMPLES / "own_metric.py"
IDS = torch.randint(5, (2, 8, 20), generator=torch.Generator().manual_seed(0))
DOCUMENTS = [[[token for token in row if token] for row in side] for side in IDS.tolist()]


def expected_recall(order: int) -> float:
    matched = sum(oracles.matches(preds, [target], order) for preds, target in zip(*DOCUMENTS, strict=True))
    return matched / sum(oracles.ngrams(target, order).total() for target in DOCUMENTS[1])


def expected_bleu() -> float:
    return oracles.corpus_bleu([(preds, [target]) for preds, target in zip(*DOCUMENTS, strict=True)])


def test_it_counts_as_counters_do_in_a_collection():
    recall = runpy.run_path(str(EXAMPLE))["NgramRecall"]
    collection = MetricCollection({"one": recall(1), "two": recall(2), "bleu": Bleu(average="micro", pad_id=0)})
    for preds, target in zip(*(side.split([3, 5]) for side in IDS), strict=True):
        collection.update(preds, target)
    values = collection.compute()
    assert values["one"].item() == pytest.approx(expected_recall(1))
    assert values["two"].item() == pytest.approx(expected_recall(2))
    assert values["bleu"].item() == pytest.approx(expected_bleu())


@pytest.mark.slow
def test_processes_report_what_one_does():
    expected = {"bleu": round(expected_bleu(), 4), "recall": round(expected_recall(2), 4)}
    assert start(EXAMPLE) == f"{expected}\n"
    # torchrun starts Python without a buffer: the ends of two lines may come after both.
    assert start(EXAMPLE, launch=TORCHRUN).replace("\n", "") == str(expected) * 2


ERROR_RATES = EXAMPLES / "error_rates.py"
TEXTS = st.lists(st.sampled_from(["a", "b", "cc"]), min_size=1, max_size=6).map(" ".join)


def edit_distance(hypothesis, reference) -> int:
    """The edits by Wagner and Fischer's table."""
    row = list(range(len(reference) + 1))
    for index, token in enumerate(hypothesis, 1):
        above = row
        row = [index]
        for column, other in enumerate(reference):
            row.append(min(above[column] + (token != other), above[column + 1] + 1, row[column] + 1))
    return row[-1]


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
def test_the_rates_are_those_of_the_table(pairs):
    error_rate = runpy.run_path(str(ERROR_RATES))["ErrorRate"]
    for characters, split in ((False, str.split), (True, list)):
        metric = error_rate(characters)
        for hypothesis, reference in pairs:
            metric.update([hypothesis], [reference])
        edits = sum(edit_distance(*map(split, pair)) for pair in pairs)
        assert metric.compute().item() == edits / sum(len(split(reference)) for _, reference in pairs)


@pytest.mark.slow
def test_two_processes_count_on_after_a_restart(tmp_path):
    """Each of two runs counts a segment on each rank: 2 edits in 4 words, which the second adds to the first."""
    for runs in (1, 2):
        printed = start(ERROR_RATES, tmp_path, launch=TORCHRUN)
        edits = sum(edit_distance(f"the cat {rank} sat", "the cat sat down") for rank in range(2))
        expected = {"cer": round(edits / (2 * len("the cat sat down")), 4), "wer": 0.5}
        assert printed.replace("\n", "") == str(expected) * 2
        assert [int(torch.load(tmp_path / f"rank{rank}.pt")["wer.length"]) for rank in range(2)] == [4 * runs] * 2


#: The metrics of torchmetrics, then those of ignite.
NAMES = {
    *("bleu", "rougeL_fmeasure", "rougeL_precision", "rougeL_recall", "chrf", "overlap"),
    *("ignite bleu", "ignite rouge", "ignite chrf", "ignite overlap"),
}


@pytest.mark.slow
def test_two_processes_report_what_one_does():
    printed = start(EXAMPLES / "distributed.py", launch=TORCHRUN)
    # Two processes write: where output is not buffered, the end of one's line may come after the other's line.
    assert "rank 0 scores 4 of 7 segments" in printed
    assert "rank 1 scores 3 of 7 segments" in printed
    values = dict(re.findall(r"^(\S.*\S) +(0\.\d{6}) +in one process \2$", printed, re.MULTILINE))
    assert set(values) == NAMES
    assert all(0 < float(value) < 1 for value in values.values())
    # What both frameworks report is the same.
    assert values["chrf"] == values["ignite chrf"]
    assert values["rougeL_fmeasure"] == values["ignite rouge"]
    assert printed.splitlines()[-1] == "equal"


@pytest.mark.engines
def test_ray_scores_each_language_over_all_files(tmp_path: Path):
    corpora = {"de": references(1500, seed=1), "fr": references(900, seed=2)}
    texts = [
        {"language": language, "output": hypothesis, "reference": reference}
        for language, lines in corpora.items()
        for hypothesis, reference in zip(output(lines, 0.3, seed=3), lines, strict=True)
    ]
    for index in range(3):  # each file, and each batch of the example, has segments of both languages
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(texts[index::3]), tmp_path / f"{index}.parquet")
    printed = start(EXAMPLES / "ray_scores.py", str(tmp_path), folder=tmp_path, limit=300)
    found = [line.split() for line in printed.splitlines() if line.startswith(("de ", "fr "))]
    assert [line[:2] for line in found] == [["de", "1500"], ["fr", "900"]]
    for language, _, score in found:
        sides = zip(*((row["output"], row["reference"]) for row in texts if row["language"] == language), strict=True)
        hypotheses, targets = map(list, sides)
        assert float(score) == pytest.approx(sacrebleu.corpus_chrf(hypotheses, [targets]).score / 100, abs=1e-12)


MBR = programs.example("mbr")


def printed(capsys, *arguments):
    """chrF and BLEU of each line of the table that the example prints."""
    programs.run(MBR, *arguments)
    lines = [line.rsplit(maxsplit=2) for line in capsys.readouterr().out.splitlines()[3:]]
    return {name.strip(): (float(chrf), float(bleu)) for name, chrf, bleu in lines}


@pytest.mark.parametrize("utility", ["chrf", "chrf++", "bleu"])
def test_the_choice_scores_above_the_average_and_every_system_of_the_sample(capsys, utility):
    scores = printed(capsys, "--utility", utility)
    assert list(scores) == [*MBR.SYSTEMS, "average", f"MBR, {utility}"]
    choice = scores.pop(f"MBR, {utility}")
    for chrf, bleu in scores.values():
        assert (choice[0] > chrf, choice[1] > bleu) == (True, True)


def test_the_scores_are_those_of_plain_mbr_with_sacrebleu(capsys):
    chrf = CHRF()
    pools = list(zip(*MBR.SYSTEMS.values(), strict=True))
    chosen = [max(pool, key=lambda one: sum(chrf.sentence_score(one, [r]).score for r in pool)) for pool in pools]
    scores = printed(capsys)
    for name, outputs in {**MBR.SYSTEMS, "MBR, chrf": chosen}.items():
        expected = chrf.corpus_score(outputs, [MBR.REFERENCES]).score
        assert scores[name][0] == pytest.approx(expected, abs=0.0051)
    assert scores["average"][0] == pytest.approx(sum(scores[name][0] for name in MBR.SYSTEMS) / 4, abs=0.011)
