"""A run that stops half way through an epoch and goes on elsewhere reports the number of one that did not stop.

What a state holds, and which states are refused, is tested in test_states.py, and in ignite/test_metric.py.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from ignite.engine import Engine, Events
from ignite.handlers import Checkpoint, DiskSaver
from lightning.pytorch.callbacks import ModelCheckpoint
from metrics import ranks
from metrics.cases import TEXT, Batch, assert_same, joined
from metrics.trainers import Batches, Model, trainer
from torchmetrics import MetricCollection

from ngram_metrics import Bleu

#: The batches of an epoch, by number: it stops after STOP of them.
EPOCH, STOP = (0, 1, 2, 0), 2


class _Loader(Batches):
    """Batches, and how many of the epoch were read: it goes on there once it is loaded."""

    def __init__(self) -> None:
        super().__init__([TEXT[number] for number in EPOCH])
        self.read = 0

    def __iter__(self) -> Iterator[Batch]:
        for batch in self.batches[self.read :]:
            self.read += 1
            yield batch
        self.read = 0

    def state_dict(self) -> dict[str, Any]:
        return {"read": self.read}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.read = state["read"]


# Ignite


def _engine() -> tuple[Engine, _Loader, dict[str, Any]]:
    engine, loader = Engine(lambda engine, batch: batch), _Loader()
    metrics = {name: ignite_case.make() for name, ignite_case in ranks.IGNITE.items()}
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
        for name, ignite_case in ranks.IGNITE.items():
            if "interval" in name and not name.startswith("ROUGE"):
                continue  # written by the names of its values
            expected = ignite_case.value([TEXT[number] for number in EPOCH])
            if isinstance(expected, torch.Tensor) and expected.dim() == 0:
                expected = expected.item()  # as an engine reports one number
            assert_same(of_epoch[name], expected)


# Lightning


class _Model(Model):
    """Scores training batches; the metrics are reset when an epoch ends, for one that goes on also starts."""

    def __init__(self, metrics: MetricCollection, stop: int | None = None) -> None:
        metrics.persistent(True)
        super().__init__(metrics, metrics["ChrF-text-macro"].clone())
        self.stop = stop

    def training_step(self, batch: Batch, index: int) -> torch.Tensor:
        if index == self.stop:
            raise InterruptedError
        self.count(batch)
        return self.layer(torch.ones(1, 4)).sum()

    def on_train_epoch_end(self) -> None:
        self.note(self.metrics)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """Of a fit that failed after it was saved."""
    saving = ModelCheckpoint(tmp_path, filename="half-way", every_n_train_steps=STOP)
    failing = trainer(tmp_path, max_epochs=1, enable_checkpointing=True, callbacks=[saving])
    with pytest.raises(InterruptedError):
        failing.fit(_Model(ranks.collection(), stop=STOP), _Loader())
    return tmp_path / "half-way.ckpt"


@pytest.mark.filterwarnings("ignore:Be aware that when using `ckpt_path`, callbacks")  # what resumes saves nothing
def test_a_fit_of_lightning_goes_on_in_the_middle_of_an_epoch(checkpoint: Path, tmp_path: Path):
    model = _Model(ranks.collection())
    resumed = trainer(tmp_path, max_epochs=1)
    resumed.fit(model, _Loader(), ckpt_path=checkpoint)
    assert resumed.global_step == len(EPOCH)
    expected = ranks.collection()
    expected.update(*joined([TEXT[number] for number in EPOCH]))
    assert_same(model.values, [expected.compute()])
    alone = float(expected.compute()["ChrF-text-macro"])
    assert float(resumed.callback_metrics["alone"]) == pytest.approx(alone, abs=1e-6)


def test_a_fit_of_lightning_refuses_a_checkpoint_of_other_settings(checkpoint: Path, tmp_path: Path):
    metrics = ranks.collection()
    metrics["Bleu-text-micro"] = Bleu(average="micro", ngram=3)
    with pytest.raises(RuntimeError, match="other settings than this Bleu: expected the same class, options and"):
        trainer(tmp_path, max_epochs=1).fit(_Model(metrics), _Loader(), ckpt_path=checkpoint)
