"""BLEU and chrF with accelerate: exact scores of a set that two processes share.

    pip install -e . "accelerate>=1.1"
    torchrun --nproc-per-node 2 examples/first_accelerate.py
    accelerate launch --multi_gpu --num_processes 2 examples/first_accelerate.py

It takes seconds on a CPU and downloads nothing. The exact ways are marked with (1) and (2).
"""

import random
from typing import Any

from torch.utils.data import DataLoader

try:
    from accelerate import Accelerator
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is not installed: pip install 'accelerate>=1.1'") from error

from ngram_metrics import Bleu, ChrF
from ngram_metrics.distributed import UnrepeatedSampler

WORDS = ["the", "a", "cat", "dog", "bird", "sat", "ran", "sang", "here", "there"]


def sentences(number: int) -> list[tuple[str, str]]:
    """Make references, and hypotheses in which one word in five is another."""
    draw = random.Random(0)
    references = [draw.choices(WORDS, k=draw.randint(5, 9)) for _ in range(number)]
    return [
        (" ".join(word if draw.random() < 0.8 else draw.choice(WORDS) for word in words), " ".join(words))
        for words in references
    ]


def make_metrics(**options: Any) -> dict[str, Any]:
    """Make the metrics, which are not passed to `accelerator.prepare`: it raises an error for a metric."""
    return {"bleu": Bleu(**options), "chrf": ChrF(confidence=0.95, **options)}


def values_of(metrics: dict[str, Any]) -> dict[str, float]:
    """Compute all values, which every process has to call."""
    values = {"bleu": metrics["bleu"].compute(), **metrics["chrf"].compute()}
    return {name: round(value.item(), 4) for name, value in values.items()}


def update(metrics: dict[str, Any], pairs: Any) -> None:
    """Count pairs of a hypothesis and a reference."""
    for metric in metrics.values():
        metric.update([hypothesis for hypothesis, _ in pairs], [reference for _, reference in pairs])


def main() -> None:
    """Score in three ways, and print them beside the scores of one process."""
    accelerator = Accelerator(cpu=True)
    pairs = sentences(101)
    loader = accelerator.prepare(DataLoader(pairs, batch_size=8, collate_fn=list))

    # What goes wrong: a prepared loader repeats segments to give each process the same number of batches.
    natural = make_metrics()
    for batch in loader:
        update(natural, batch)
    found = {"natural loop": values_of(natural)}

    # (1) Exact: each process gathers all segments without the repeats, and no metric adds up the processes again.
    gathered = make_metrics(sync_on_compute=False)
    for batch in loader:
        update(gathered, accelerator.gather_for_metrics(batch, use_gather_object=True))
    found["gathered"] = values_of(gathered)

    # (2) Exact, and only counts are sent: each process reads its own share, with a loader that is not prepared.
    shared = make_metrics()
    for batch in DataLoader(pairs, batch_size=8, sampler=UnrepeatedSampler(pairs), collate_fn=list):
        update(shared, batch)
    found["own shares"] = values_of(shared)

    alone = make_metrics(sync_on_compute=False)
    update(alone, pairs)
    found["one process"] = values_of(alone)
    for name, values in found.items():
        accelerator.print(f"{name:14} {values}")
    accelerator.end_training()


if __name__ == "__main__":
    main()
