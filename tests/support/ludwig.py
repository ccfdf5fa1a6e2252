"""Ludwig's two classes over those of this package, and what each process of adopters/test_ludwig.py does with them."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torch import distributed
from torchmetrics import Metric
from torchmetrics.utilities.distributed import gather_all_tensors

from ngram_metrics import Bleu, ROUGEScore

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


def run(rank: int, folder: Path) -> None:
    distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=len(SHARES))
    bleu, rouge = BLEUScoreMetric(average="none"), ROUGEScoreMetric()
    for metric in (bleu, rouge):
        metric.update(*SHARES[rank])
    values = {"bleu": bleu.compute().item(), **{name: value.item() for name, value in rouge.compute().items()}}
    (folder / f"{rank}.json").write_text(json.dumps(values))
    distributed.destroy_process_group()
