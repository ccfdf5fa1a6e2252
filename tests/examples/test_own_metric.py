"""The example of a metric of one's own counts as counters do, alone, in a collection, and on two processes."""

import runpy
import subprocess
import sys
from pathlib import Path

import oracles
import pytest
import torch
from torchmetrics import MetricCollection

from ngram_metrics import Bleu

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_metric.py"
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


def test_it_is_short():
    assert len(EXAMPLE.read_text("utf-8").splitlines()) <= 40


@pytest.mark.programs
@pytest.mark.parametrize("processes", [1, 2])
def test_processes_report_what_one_does(processes: int):
    launch = ["-m", "torch.distributed.run", "--nproc-per-node", "2", "--rdzv-backend", "c10d"]
    launch += ["--rdzv-endpoint", "localhost:0"]
    command = [sys.executable, *(launch if processes == 2 else []), str(EXAMPLE)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    expected = {"bleu": round(expected_bleu(), 4), "recall": round(expected_recall(2), 4)}
    # torchrun starts Python without a buffer: the ends of two lines may come after both.
    assert run.stdout.replace("\n", "") == str(expected) * processes
