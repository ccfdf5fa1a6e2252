"""The warning for loaders that repeat segments, through the two callbacks that know their loaders."""

import warnings
from collections.abc import Callable
from typing import Any

import pytest
from ranks import on_ranks
from torch.utils.data import BatchSampler, DataLoader, Dataset, DistributedSampler, SequentialSampler

from ngram_metrics import ChrF
from ngram_metrics.distributed import UnrepeatedSampler

pytest.importorskip("ignite", reason="the classes for ignite are tested")
pytest.importorskip("lightning", reason="its Trainer runs")

from ignite.engine import Engine
from metrics.trainers import LightningModule, trainer

from ngram_metrics import ignite as for_ignite
from ngram_metrics.ignite import ScoresHandler
from ngram_metrics.lightning import ScoresCallback

WARNING = "repeats segments so that all processes get the same number, .* pass sampler=UnrepeatedSampler"


class Pairs(Dataset[Any]):
    """Three pairs of a hypothesis and a reference. A list of indices gives a batch."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return [f"cat {number}" for number in index], [f"the cat {number}" for number in index]
        return f"cat {index}", f"the cat {index}"


PAIRS = Pairs()


class Returning(LightningModule):
    """Returns each batch as it is."""

    def validation_step(self, batch: Any, index: int, dataloader_idx: int = 0) -> dict[str, Any]:
        hypotheses, references = batch
        return {"preds": hypotheses, "target": references}

    test_step = validation_step


def share(processes: int = 2, drop_last: bool = False) -> DistributedSampler[Any]:
    return DistributedSampler(PAIRS, processes, 0, shuffle=False, drop_last=drop_last)


def run_lightning(loaders: Any) -> None:
    """Validate twice, and test once."""
    running = trainer(".", callbacks=[ScoresCallback(ChrF(), samples=0)])
    for _ in range(2):
        running.validate(Returning(), loaders, verbose=False)
    running.test(Returning(), loaders, verbose=False)


def run_ignite(loader: Any) -> None:
    """Run an evaluator twice."""
    evaluator = Engine(lambda engine, batch: batch)
    metric = for_ignite.ChrF()
    metric.attach(evaluator, "chrf")
    ScoresHandler(evaluator, {"chrf": metric})
    for _ in range(2):
        evaluator.run(loader)


def count_warnings(run: Callable[[Any], None], loader: Any) -> int:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run(loader)
    return sum("UnrepeatedSampler" in str(warning.message) for warning in caught)


REPEATING = {
    "sampler": DataLoader(PAIRS, sampler=share()),
    "batch_sampler": DataLoader(PAIRS, batch_sampler=BatchSampler(share(), 2, drop_last=False)),
    "sampler of whole batches": DataLoader(PAIRS, batch_size=None, sampler=BatchSampler(share(), 2, drop_last=False)),
}
EXACT = {
    "no sampler": DataLoader(PAIRS),
    "other batch_sampler": DataLoader(PAIRS, batch_sampler=BatchSampler(SequentialSampler(PAIRS), 2, drop_last=False)),
    "one process": DataLoader(PAIRS, sampler=share(processes=1)),
    "as many as segments": DataLoader(PAIRS, sampler=share(processes=3)),
    "drop_last": DataLoader(PAIRS, sampler=share(drop_last=True)),
    "UnrepeatedSampler": DataLoader(PAIRS, sampler=UnrepeatedSampler(PAIRS, 2, 0)),
}


@pytest.mark.parametrize("run", [run_lightning, run_ignite])
@pytest.mark.parametrize("loader", REPEATING.values(), ids=REPEATING)
def test_a_loader_that_repeats_segments_is_warned_of_once(loader: Any, run: Callable[[Any], None]):
    with pytest.warns(UserWarning, match=WARNING):
        run(loader)
    assert count_warnings(run, loader) == 1


@pytest.mark.parametrize("run", [run_lightning, run_ignite])
@pytest.mark.parametrize("loader", EXACT.values(), ids=EXACT)
def test_a_loader_that_gives_each_segment_once_is_not_warned_of(loader: Any, run: Callable[[Any], None]):
    assert count_warnings(run, loader) == 0


def test_each_loader_of_a_collection_is_looked_at():
    exact = EXACT["no sampler"]
    repeating = REPEATING["sampler"]
    assert count_warnings(run_lightning, [exact, repeating]) == 1
    assert count_warnings(run_lightning, {"first": exact, "second": [repeating]}) == 1
    assert count_warnings(run_lightning, [exact, exact]) == 0


def test_an_engine_over_a_list_of_batches_does_not_warn():
    assert count_warnings(run_ignite, [(["the cat"], ["the cat sat"])]) == 0


def count_under_lightning() -> int:
    """Validate with the sampler that Lightning adds on two processes."""
    running = trainer(".", devices=2, strategy="ddp", callbacks=[ScoresCallback(ChrF(), samples=0)])
    return count_warnings(lambda loader: running.validate(Returning(), loader, verbose=False), DataLoader(PAIRS))


@pytest.mark.slow
def test_the_sampler_that_lightning_adds_is_warned_of_on_the_first_process():
    assert on_ranks(count_under_lightning, size=2) == [1, 0]
