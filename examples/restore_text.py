"""Train a small network to restore the vowels of sentences, and watch the scores rise over the epochs.

    pip install -e ".[example]"
    python examples/restore_text.py

    source     A brk sttmnt ends th lp.
    reference  A break statement ends the loop.

It takes a minute or two on one CPU core, and downloads nothing.

Three steps make a metric part of a validation run: build it, attach it to the evaluator, and let
the evaluator return (what the model wrote, what it should have written). Ignite resets the metric
when a validation run starts, updates it after each batch, and puts its score into
`evaluator.state.metrics` at the end.
"""

from __future__ import annotations

import argparse
from pathlib import Path

try:
    import matplotlib
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is not installed: pip install -e '.[example]'") from error
import torch
from character_model import Characters, Restorer
from ignite.engine import Engine, Events
from ignite.handlers import ProgressBar
from ignite.metrics import Average
from ignite.utils import manual_seed
from python_topics import without_vowels
from torch import nn
from torch.utils.data import DataLoader
from vowel_batches import Batch, prepare

from ngram_metrics import Evaluation, evaluate
from ngram_metrics.ignite import Bleu, ChrF, NgramOverlap, ROUGEScore

matplotlib.use("Agg")  # draws into files and needs no screen
from matplotlib import pyplot


def build_metrics() -> dict[str, object]:
    """Build every metric of the run, under the name it is printed with.

    One more line here is all that a further metric needs.
    """
    return {
        # One score from the n-gram counts of all sentences together, the BLEU that papers report.
        "BLEU corpus": Bleu(),
        # The mean of the sentences' own scores.
        "BLEU mean": Bleu(average="macro"),
        # A metric with a dictionary of scores: one of them is picked out by its key.
        "ROUGE-L F": ROUGEScore(rouge_keys="rougeL")["rougeL_fmeasure"],
        "chrF": ChrF(),
        "2-gram overlap": NgramOverlap(ngram=2),
    }


def main() -> None:
    """Prepare, train with a validation after every epoch, and show the results."""
    arguments = parse_arguments()
    manual_seed(arguments.seed)
    device = torch.device(arguments.device)
    # The steps of so small a network are short: on a busy machine, threads that wait for each other at
    # every step would take several times as long.
    torch.set_num_threads(1)

    task = prepare(arguments.sentences)
    characters = task.characters
    print(f"{len(task.training)} sentences to learn from, {len(task.validation)} others to validate with")

    model = Restorer(len(characters)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, arguments.epochs)
    trainer = build_trainer(model, optimizer, device)
    evaluator = build_evaluator(model, characters, device)
    for name, metric in build_metrics().items():
        metric.attach(evaluator, name)

    written: dict[str, list[str]] = {}

    @evaluator.on(Events.ITERATION_COMPLETED)
    def keep_texts() -> None:
        written.setdefault(f"epoch {trainer.state.epoch}", []).extend(evaluator.state.output[0])

    @trainer.on(Events.EPOCH_COMPLETED)
    def validate() -> None:
        schedule.step()
        evaluator.run(task.validation_batches)
        # A metric with a dictionary of scores is found there twice, whole and score by score.
        scores = {name: value for name, value in evaluator.state.metrics.items() if not isinstance(value, dict)}
        columns = {"train loss": trainer.state.metrics["train loss"], **scores}
        print(
            f"epoch {trainer.state.epoch:2d}  ",
            "   ".join(f"{name} {value:.3f}" for name, value in columns.items()),
        )

    # batch_size=None leaves the ready batches as they are; every epoch has them in another order.
    loader = DataLoader(task.training_batches, batch_size=None, shuffle=True)
    trainer.run(loader, max_epochs=arguments.epochs)

    print_samples(model, characters, task.validation[:4], device)
    references = [text for _, _, texts in task.validation_batches for text in texts]
    results = evaluate(written, references, baseline=list(written)[-1])
    arguments.out.mkdir(parents=True, exist_ok=True)
    picture = arguments.out / "restore_text.png"
    draw_scores(results, picture)
    print(f"\nThe scores over the epochs: {picture}")
    report = arguments.out / "restore_text.html"
    results.write_report(report, title="Vowels given back", sources=list(map(without_vowels, references)))
    print(f"Where it is right and wrong, sentence by sentence: {report}")


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description="Train a small network to restore the vowels of sentences, and report the metrics.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    default_device = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--epochs", type=int, default=10, help="times through the training text")
    parser.add_argument("--sentences", type=int, help="use only so many sentences")
    parser.add_argument("--out", type=Path, default=Path("runs"), help="folder for the picture and the report")
    parser.add_argument("--device", default=default_device, help="where to train")
    parser.add_argument("--seed", type=int, default=0, help="seed of everything random")
    return parser.parse_args()


def build_trainer(model: Restorer, optimizer: torch.optim.Optimizer, device: torch.device) -> Engine:
    """Build the engine that trains on batch after batch, with a progress bar and the mean loss."""
    loss_function = nn.CrossEntropyLoss(ignore_index=Characters.PADDING)

    def train_on_batch(engine: Engine, batch: Batch) -> float:
        model.train()
        source, target = batch[0].to(device), batch[1].to(device)
        # From START on, predict each next character, END included.
        scores = model(source, target[:, :-1])
        loss = loss_function(scores.flatten(0, 1), target[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()
        return loss.item()

    trainer = Engine(train_on_batch)
    Average().attach(trainer, "train loss")
    # None: no bar if stderr is not a terminal.
    ProgressBar(disable=None).attach(trainer, output_transform=lambda loss: {"loss": loss})
    return trainer


def build_evaluator(model: Restorer, characters: Characters, device: torch.device) -> Engine:
    """Build the engine that returns what the metrics compare: (predictions, references).

    Both are lists of sentences as text; with several references to a sentence, the second would be
    a list of lists.
    """

    def restore_batch(engine: Engine, batch: Batch) -> tuple[list[str], list[str]]:
        model.eval()
        source, _, references = batch
        return characters.decode(model.greedy(source.to(device))), references

    return Engine(restore_batch)


def print_samples(model: Restorer, characters: Characters, references: list[str], device: torch.device) -> None:
    """Print for each sentence what the model was given, what it wrote and what was asked for."""
    model.eval()
    for reference in references:
        source = without_vowels(reference)
        restored = characters.decode(model.greedy(characters.encode([source]).to(device)))[0]
        print(f"\nsource     {source}\nrestored   {restored}\nreference  {reference}")


def draw_scores(results: Evaluation, path: Path) -> None:
    """Draw chrF and BLEU over the epochs into a picture: each score with its interval, and the best epoch."""
    figure, places = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    figure.suptitle("Vowels given back by a small GRU network")
    for value, axes in zip(("chrf", "bleu"), places, strict=True):
        results.plot(value, axes)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


if __name__ == "__main__":
    main()
