"""The example of a metric of one's own counts as counters do, alone, in a collection, and on two processes."""

import runpy

import oracles
import pytest
import torch
from programs import EXAMPLES, TORCHRUN, start
from torchmetrics import MetricCollection

from ngram_metrics import Bleu

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


@pytest.mark.programs
def test_processes_report_what_one_does():
    expected = {"bleu": round(expected_bleu(), 4), "recall": round(expected_recall(2), 4)}
    assert start(EXAMPLE) == f"{expected}\n"
    # torchrun starts Python without a buffer: the ends of two lines may come after both.
    assert start(EXAMPLE, launch=TORCHRUN).replace("\n", "") == str(expected) * 2
