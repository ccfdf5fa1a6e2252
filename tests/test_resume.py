"""A run that stops half way through an epoch and goes on elsewhere reports the number of one that did not stop.

What a state holds, and which states are refused, is tested in faces/test_saving.py and with the faces of ignite.
"""

import copy
import multiprocessing
import pickle
import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from faces import interrupted, ranks
from faces.cases import TEXT, Batch, assert_same, joined
from ignite.engine import Engine, Events
from ignite.handlers import Checkpoint, DiskSaver
from torchmetrics import MetricCollection

from ngram_metrics import Bleu

with warnings.catch_warnings():
    # Lightning's own imports use what others deprecate.
    warnings.simplefilter("ignore")
    from lightning.pytorch import LightningModule, Trainer
    from lightning.pytorch.callbacks import ModelCheckpoint

#: The batches of an epoch, by number: it stops after STOP of them.
EPOCH, STOP = (0, 1, 2, 0), 2

each_ignite = pytest.mark.parametrize("name", ranks.IGNITE)


class _Loader:
    """Batches, and how many of the epoch were read: it goes on there once it is loaded."""

    def __init__(self, batches: Sequence[Batch] = tuple(TEXT[number] for number in EPOCH)) -> None:
        self.batches, self.read = batches, 0

    def __iter__(self) -> Iterator[Batch]:
        for batch in self.batches[self.read :]:
            self.read += 1
            yield batch
        self.read = 0

    def __len__(self) -> int:
        return len(self.batches)

    def state_dict(self) -> dict[str, Any]:
        return {"read": self.read}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.read = state["read"]


# A process that is killed


def _started(folder: Path, context: Any) -> tuple[Any, Any]:
    ours, theirs = context.Pipe()
    process = context.Process(target=interrupted.run, args=(folder, EPOCH, theirs))
    process.start()
    theirs.close()  # so that a process that ends early is an error here and not a wait
    return process, ours


def test_a_killed_run_goes_on_in_another_process_to_the_values_of_one_that_was_not(tmp_path: Path):
    context = multiprocessing.get_context("forkserver")
    # Processes forked from one that has imported all this start in a fraction of the time.
    context.set_forkserver_preload(["ignite.engine", "ngram_metrics.ignite", "lightning.pytorch"])
    killed, connection = _started(tmp_path, context)
    for batches in range(1, STOP + 1):
        connection.send("go on")
        assert connection.recv() == batches
    killed.kill()
    killed.join()
    assert killed.exitcode == -signal.SIGKILL
    assert not (tmp_path / "values.pt").exists()

    resumed, connection = _started(tmp_path, context)
    for batches in range(STOP + 1, len(EPOCH) + 1):
        connection.send("go on")
        assert connection.recv() == batches  # it did not begin again
    resumed.join()
    assert resumed.exitcode == 0
    assert_same(torch.load(tmp_path / "values.pt", weights_only=True), interrupted.values(EPOCH))


# Ignite


def _ignite_value(name: str, numbers: Sequence[int]) -> Any:
    metric = ranks.ignite_metric(name)
    for number in numbers:
        metric.update(TEXT[number])
    return metric.compute()


def _engine() -> tuple[Engine, _Loader, dict[str, Any]]:
    engine, loader = Engine(lambda engine, batch: batch), _Loader()
    metrics = {name: ranks.ignite_metric(name) for name in ranks.IGNITE}
    for name, metric in metrics.items():
        metric.attach(engine, name)
    return engine, loader, {"engine": engine, "loader": loader, **metrics}


@pytest.mark.filterwarnings("ignore:two metrics attached to one engine both write")  # their dicts are looked at
def test_an_ignite_engine_goes_on_in_the_middle_of_an_epoch_from_a_checkpoint(tmp_path: Path):
    engine, loader, to_save = _engine()
    handler = Checkpoint(to_save, DiskSaver(str(tmp_path)), n_saved=1)
    engine.add_event_handler(Events.ITERATION_COMPLETED(once=STOP), handler)
    engine.add_event_handler(Events.ITERATION_COMPLETED(once=STOP), lambda engine: engine.interrupt())
    engine.run(loader)
    assert engine.state.iteration == STOP

    engine, loader, to_load = _engine()
    checkpoint = torch.load(tmp_path / handler.last_checkpoint, weights_only=True)
    Checkpoint.load_objects({name: to_load.pop(name) for name in ("engine", "loader")}, checkpoint)
    # The engine begins its epoch again, and with that resets the metrics attached before: they are loaded after.
    load = engine.add_event_handler(
        Events.EPOCH_STARTED, lambda engine: (Checkpoint.load_objects(to_load, checkpoint), load.remove())
    )
    values = []
    engine.add_event_handler(Events.EPOCH_COMPLETED, lambda engine: values.append(dict(engine.state.metrics)))
    engine.run(loader, max_epochs=2, epoch_length=len(EPOCH))
    assert engine.state.iteration == 2 * len(EPOCH)
    assert len(values) == 2
    for of_epoch in values:  # the one that was interrupted, and a whole one
        for name in ranks.IGNITE:
            expected = _ignite_value(name, EPOCH)
            if isinstance(expected, torch.Tensor) and expected.dim() == 0:
                expected = expected.item()  # as an engine reports one number
            assert_same(of_epoch[name], expected)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))], ids=["copy", "pickle"])
@each_ignite
def test_a_copy_of_an_ignite_metric_goes_on_by_itself(name: str, copied: Callable[[Any], Any]):
    metric = ranks.ignite_metric(name)
    for number in EPOCH[:STOP]:
        metric.update(TEXT[number])
    twin = copied(metric)
    metric.reset()
    for number in EPOCH[STOP:]:
        twin.update(TEXT[number])
    assert_same(twin.compute(), _ignite_value(name, EPOCH))
    assert int(metric._accumulator.sentences) == 0


@each_ignite
def test_an_ignite_metric_refuses_the_state_of_every_other(name: str):
    for other in ranks.IGNITE:
        saved = ranks.ignite_metric(other)
        saved.update(TEXT[0])
        metric = ranks.ignite_metric(name)
        metric.update(TEXT[1])
        if other == name:
            metric.load_state_dict(saved.state_dict())
            assert_same(metric.compute(), _ignite_value(name, [0]))
        else:
            with pytest.raises(ValueError, match="expected the same class, options and average"):
                metric.load_state_dict(saved.state_dict())
            assert_same(metric.compute(), _ignite_value(name, [1]))


# Lightning


class _Model(LightningModule):
    """Scores training batches; the metrics are reset when an epoch ends, for one that goes on also starts."""

    def __init__(self, metrics: MetricCollection, stop: int | None = None) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
        self.metrics, self.stop = metrics, stop
        self.metrics.persistent(True)
        self.alone = metrics["ChrF-text-macro"].clone()
        self.values: list[dict[str, Any]] = []

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def training_step(self, batch: Batch, index: int) -> torch.Tensor:
        if index == self.stop:
            raise InterruptedError
        self.metrics.update(*batch)
        self.alone.update(*batch)
        self.log("alone", self.alone, on_step=False, on_epoch=True, batch_size=1)
        return self.layer(torch.ones(1, 4)).sum()

    def on_train_epoch_end(self) -> None:
        self.values.append(self.metrics.compute())
        self.metrics.reset()


def _trainer(folder: Path, **options: Any) -> Trainer:
    return Trainer(
        accelerator="cpu",
        devices=1,
        max_epochs=1,
        default_root_dir=folder,
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        **options,
    )


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """Of a fit that failed after it was saved."""
    saving = ModelCheckpoint(tmp_path, filename="half-way", every_n_train_steps=STOP)
    trainer = _trainer(tmp_path, callbacks=[saving])
    with pytest.raises(InterruptedError):
        trainer.fit(_Model(ranks.collection(), stop=STOP), _Loader())
    return tmp_path / "half-way.ckpt"


@pytest.mark.filterwarnings("ignore:Be aware that when using `ckpt_path`, callbacks")  # what resumes saves nothing
def test_a_fit_of_lightning_goes_on_in_the_middle_of_an_epoch(checkpoint: Path, tmp_path: Path):
    model = _Model(ranks.collection())
    trainer = _trainer(tmp_path, enable_checkpointing=False)
    trainer.fit(model, _Loader(), ckpt_path=checkpoint)
    assert trainer.global_step == len(EPOCH)
    expected = ranks.collection()
    expected.update(*joined([TEXT[number] for number in EPOCH]))
    assert_same(model.values, [expected.compute()])
    alone = float(expected.compute()["ChrF-text-macro"])
    assert float(trainer.callback_metrics["alone"]) == pytest.approx(alone, abs=1e-6)


def test_a_fit_of_lightning_refuses_a_checkpoint_of_other_settings(checkpoint: Path, tmp_path: Path):
    metrics = ranks.collection()
    metrics["Bleu-text-micro"] = Bleu(average="micro", ngram=3)
    with pytest.raises(RuntimeError, match="other settings than this Bleu has: expected the same class, options and"):
        _trainer(tmp_path, enable_checkpointing=False).fit(_Model(metrics), _Loader(), ckpt_path=checkpoint)
