"""BLEU, chrF and ROUGE-L in ignite, printed after each epoch, with early stopping and the best model kept.

``torchrun`` starts several processes. Replace the model and the data with yours. The lines about metrics are marked
with (1) to (4).
"""

try:
    import ignite.distributed as idist
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is not installed: pip install -e '.[ignite]'") from error
import torch
from ignite.engine import Engine, Events
from ignite.handlers import Checkpoint, DiskSaver, EarlyStopping
from torch.utils.data import DataLoader

from ngram_metrics.distributed import UnrepeatedSampler
from ngram_metrics.ignite import Bleu, ChrF, ROUGEScore

WORDS = ["the", "a", "cat", "dog", "bird", "sat", "ran", "sang", "here", "there"]


def train(engine: Engine, source: torch.Tensor) -> None:
    """Take a step; the right translation of word i is word i."""
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(source).flatten(0, 1), source.flatten()).backward()
    optimizer.step()


def validate(engine: Engine, source: torch.Tensor) -> tuple[list[str], ...]:
    """Return what the metrics compare (1): hypotheses and references."""
    translations = model(source).argmax(-1)
    return tuple([" ".join(WORDS[i] for i in row) for row in ids] for ids in (translations, source))


def report(engine: Engine) -> None:
    """Validate on every process, and print on one of them (2)."""
    scores = evaluator.run(DataLoader(validation, 16, sampler=UnrepeatedSampler(validation))).metrics
    if idist.get_rank() == 0:
        print(f"epoch {engine.state.epoch}", {name: round(value, 3) for name, value in scores.items()})


if __name__ == "__main__":
    if torch.distributed.is_torchelastic_launched():  # by torchrun
        idist.initialize("gloo")
    torch.manual_seed(0)
    training, validation = torch.randint(len(WORDS), (371, 6)).split([320, 51])
    model = idist.auto_model(torch.nn.Embedding(len(WORDS), len(WORDS)))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    trainer, evaluator = Engine(train), Engine(validate)
    # (3) Reset when the evaluator starts, updated after each batch, computed over all processes at its end.
    Bleu().attach(evaluator, "bleu")
    ChrF(confidence=0.95).attach(evaluator, "chrf")
    ROUGEScore(rouge_keys="rougeL")["rougeL_fmeasure"].attach(evaluator, "rougeL")
    # (4) Added after the metrics, so that the scores are there. Both keep the highest score.
    saver = DiskSaver("runs/first_ignite", require_empty=False)  # the folder may have the model of an earlier run
    best = Checkpoint({"model": model}, saver, score_function=Checkpoint.get_default_score_fn("chrf"))
    evaluator.add_event_handler(Events.COMPLETED, best)
    evaluator.add_event_handler(Events.COMPLETED, EarlyStopping(3, best.score_function, trainer))
    trainer.add_event_handler(Events.EPOCH_COMPLETED, report)
    trainer.run(idist.auto_dataloader(training, batch_size=16, shuffle=False), max_epochs=20)
    idist.finalize()
