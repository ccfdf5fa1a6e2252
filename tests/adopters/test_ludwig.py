"""Ludwig's metrics derive from the metric and from a class of its own, which gathers in ``sync_context``."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from documentation import run_recipe
from ranks import on_ranks
from torch import distributed
from torchmetrics import Metric
from torchmetrics.text import BLEUScore
from torchmetrics.utilities.distributed import gather_all_tensors

from ngram_metrics import Bleu
from ngram_metrics.functional import bleu_score, rouge_score

#: The hypotheses and references of each process.
SHARES = (
    (["the cat sat on the mat", "it rains"], ["the cat is on the mat", "it rained"]),
    (["a dog ran home very fast"], ["a dog ran home fast"]),
)


class LudwigMetric(Metric):
    @contextmanager
    def sync_context(
        self,
        dist_sync_fn: Callable | None = None,
        process_group: Any = None,
        should_sync: bool = True,
        should_unsync: bool = True,
        distributed_available: Callable | None = None,
    ) -> Iterator[None]:
        """Gather by the function that Ludwig chooses."""
        self.sync(gather_all_tensors, process_group, should_sync, distributed.is_initialized)
        yield
        self.unsync(should_unsync=self._is_synced and should_unsync)


RECIPE = run_recipe("Ludwig", LudwigMetric=LudwigMetric)


def compute() -> dict[str, float]:
    # Ludwig passes the parameters of all its metrics.
    bleu = RECIPE["BLEUScoreMetric"](average="none")
    rouge = RECIPE["ROUGEScoreMetric"](average="none")
    for metric in (bleu, rouge):
        metric.update(*SHARES[distributed.get_rank()])
    values = {"bleu": bleu.compute().item()}
    for name, value in rouge.compute().items():
        values[name] = value.item()
    return values


def test_two_processes_compute_the_values_of_all_data():
    hypotheses = [hypothesis for preds, _ in SHARES for hypothesis in preds]
    references = [reference for _, target in SHARES for reference in target]
    expected = {"bleu": bleu_score(hypotheses, references).item()}
    expected |= {name: value.item() for name, value in rouge_score(hypotheses, references).items()}
    for values in on_ranks(compute, size=len(SHARES)):
        assert values == pytest.approx(expected, rel=1e-12)


def test_the_number_of_torchmetrics_can_be_kept():
    hypotheses = [hypothesis for preds, _ in SHARES for hypothesis in preds]
    references = [reference for _, target in SHARES for reference in target]
    metric = Bleu(tokenizer=None, smooth="none")
    metric.update(hypotheses, references)
    theirs = BLEUScore()(hypotheses, [[text] for text in references])
    assert metric.compute().item() == pytest.approx(theirs.item(), rel=1e-6)  # it computes in float32
