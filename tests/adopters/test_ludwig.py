"""Ludwig derives from the metric and from its own class, which gathers in ``sync_context``."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

import pytest
from ranks import on_ranks
from torch import distributed
from torchmetrics import Metric
from torchmetrics.utilities.distributed import gather_all_tensors

from ngram_metrics import Bleu, ROUGEScore
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


class BLEUScoreMetric(Bleu, LudwigMetric):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__()


class ROUGEScoreMetric(ROUGEScore, LudwigMetric):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__()


def compute() -> dict[str, float]:
    bleu, rouge = BLEUScoreMetric(average="none"), ROUGEScoreMetric()
    for metric in (bleu, rouge):
        metric.update(*SHARES[distributed.get_rank()])
    return {"bleu": bleu.compute().item(), **{name: value.item() for name, value in rouge.compute().items()}}


def test_two_processes_compute_the_values_of_all_data():
    hypotheses, references = ([*chain(*side)] for side in zip(*SHARES, strict=True))
    expected = {"bleu": bleu_score(hypotheses, references).item()}
    expected |= {name: value.item() for name, value in rouge_score(hypotheses, references).items()}
    for values in on_ranks(compute, size=len(SHARES)):
        assert values == pytest.approx(expected, rel=1e-12)
