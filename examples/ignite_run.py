"""Stop early on BLEU, keep the best model, and resume a run that was interrupted.

    pip install -e ".[example]"
    python examples/ignite_run.py --epochs 3
    python examples/ignite_run.py --epochs 6 --resume     # epochs 4 to 6

It trains the same network as `restore_text.py`, which restores the vowels of sentences. An epoch takes
about ten seconds on one CPU core. Nothing is downloaded.

For the handlers of ignite, a score is a number in `evaluator.state.metrics`, and a metric is an object
with a `state_dict`. A checkpoint has the metrics with the counts of the validation of its model. A
resumed run computes the scores from these counts, without validating again.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch
from character_model import Restorer

try:
    from ignite.engine import Engine, Events
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is not installed: pip install -e '.[example]'") from error
from ignite.handlers import Checkpoint, DiskSaver, EarlyStopping, global_step_from_engine
from ignite.metrics import Metric
from ignite.utils import manual_seed
from restore_text import build_evaluator, build_trainer
from torch.utils.data import DataLoader
from vowel_batches import prepare

from ngram_metrics.ignite import Bleu, ChrF, NgramOverlap, ROUGEScore


def build_metrics() -> dict[str, Metric]:
    """Build the metrics of the run; "bleu" is the one that decides."""
    return {
        # Smoothed: unsmoothed BLEU stays 0 until four words in a row are right for the first time,
        # and a run whose score does not rise is stopped.
        "bleu": Bleu(average="micro", smooth="smooth1"),
        "chrf": ChrF(),
        "rouge": ROUGEScore(rouge_keys="rougeL"),
        "overlap": NgramOverlap(ngram=2),
    }


def main() -> None:
    """Prepare, load what was saved if asked to, and train with a validation after every epoch."""
    arguments = parse_arguments()
    manual_seed(arguments.seed)
    device = torch.device(arguments.device)
    torch.set_num_threads(1)  # the network is so small that threads would only wait for each other

    task = prepare(arguments.sentences)
    model = Restorer(len(task.characters)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    trainer = build_trainer(model, optimizer, device)
    evaluator = build_evaluator(model, task.characters, device)
    metrics = build_metrics()
    for name, metric in metrics.items():
        metric.attach(evaluator, name)

    @trainer.on(Events.EPOCH_COMPLETED)
    def validate() -> None:
        evaluator.run(task.validation_batches)

    @evaluator.on(Events.COMPLETED)
    def report() -> None:
        print(f"epoch {trainer.state.epoch:2d}   {line(evaluator.state.metrics)}")

    # Attached after the metrics, and in this order, so that the last file holds the states of the others.
    stopper = EarlyStopping(arguments.patience, bleu, trainer)
    epoch = global_step_from_engine(trainer)
    best = Checkpoint(
        {"model": model},
        saver(arguments.out),
        filename_prefix="best",
        score_function=bleu,
        score_name="bleu",
        global_step_transform=epoch,
    )
    state = {"trainer": trainer, "model": model, "optimizer": optimizer, "stopper": stopper, "best": best, **metrics}
    last = Checkpoint(
        state,
        saver(arguments.out),
        filename_prefix="last",
        global_step_transform=epoch,
        include_self=True,  # so that a resumed run removes the file of the run before
    )
    for handler in (stopper, best, last):
        evaluator.add_event_handler(Events.COMPLETED, handler)

    if arguments.resume:
        Checkpoint.load_objects({**state, "checkpointer": last}, load(arguments.out, device))
        scores = {name: metric.compute() for name, metric in metrics.items()}
        print(f"goes on after epoch {trainer.state.epoch}   {line(scores)}")
        if trainer.state.epoch >= arguments.epochs:
            sys.exit(f"It was saved after epoch {trainer.state.epoch}: expected a larger number of --epochs")

    # A resumed run draws its batches in another order than a run without an interruption: for the same order the states
    # of the random number generators would have to be in the checkpoint too.
    trainer.run(DataLoader(task.training_batches, batch_size=None, shuffle=True), max_epochs=arguments.epochs)
    if trainer.state.epoch < arguments.epochs:
        print(f"stopped: no better BLEU in {arguments.patience} epochs")
    print(f"the best model: {arguments.out / best.last_checkpoint}")


def bleu(evaluator: Engine) -> float:
    """Return the score that decides; the higher, the better."""
    return evaluator.state.metrics["bleu"]


def line(scores: dict[str, object]) -> str:
    """Write the scores that are numbers; those of ROUGE are in an engine's metrics by their own names, too."""
    flat = {**scores, **scores["rouge"]}
    return "   ".join(f"{name} {flat[name]:.4f}" for name in ("bleu", "chrf", "rougeL_fmeasure", "overlap"))


def saver(folder: Path) -> DiskSaver:
    """Return what writes checkpoints: into a folder that may hold those of an earlier run."""
    return DiskSaver(str(folder), create_dir=True, require_empty=False)


def load(folder: Path, device: torch.device) -> dict[str, object]:
    """Read the last checkpoint of a run."""
    files = sorted(folder.glob("last_checkpoint_*.pt"), key=lambda path: path.stat().st_mtime)
    if not files:
        sys.exit(f"{folder}: expected a file last_checkpoint_*.pt to go on from")
    return torch.load(files[-1], map_location=device, weights_only=True)


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description="Train with early stopping and checkpoints on BLEU.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    default_device = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--epochs", type=int, default=5, help="times through the training text, all runs together")
    parser.add_argument("--patience", type=int, default=2, help="epochs without a better BLEU before it stops")
    parser.add_argument("--sentences", type=int, help="use only so many sentences")
    parser.add_argument("--out", type=Path, default=Path("runs/ignite"), help="folder for the checkpoints")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint in that folder")
    parser.add_argument("--device", default=default_device, help="where to train")
    parser.add_argument("--seed", type=int, default=0, help="seed of everything random")
    return parser.parse_args()


if __name__ == "__main__":
    main()
