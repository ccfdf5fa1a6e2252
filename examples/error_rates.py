"""Word and character error rates on RapidFuzz: ``python examples/error_rates.py FOLDER``, or ``torchrun``, twice."""

import os
import sys
from pathlib import Path

import torch
from rapidfuzz.distance import Levenshtein
from torchmetrics import Metric, MetricCollection


class ErrorRate(Metric):
    """The edits that turn hypotheses into references, for each word or character of the references."""

    full_state_update, higher_is_better = False, False

    def __init__(self, characters: bool = False) -> None:
        super().__init__()
        self.characters = characters
        for name in ("edits", "length"):  # saved in checkpoints, and added up over ranks
            self.add_state(name, torch.zeros((), dtype=torch.int64), dist_reduce_fx="sum", persistent=True)

    def update(self, preds: list[str], target: list[str]) -> None:
        split = list if self.characters else str.split
        pairs = [(split(hypothesis), split(reference)) for hypothesis, reference in zip(preds, target, strict=True)]
        self.edits += sum(Levenshtein.distance(*pair) for pair in pairs)
        self.length += sum(len(reference) for _, reference in pairs)

    def compute(self) -> torch.Tensor:
        return self.edits.double() / self.length


if __name__ == "__main__":
    if torch.distributed.is_torchelastic_launched():
        torch.distributed.init_process_group("gloo")
    rank = int(os.environ.get("RANK", 0))
    rates = {"wer": ErrorRate(), "cer": ErrorRate(characters=True)}
    metrics = MetricCollection(rates, compute_groups=False)  # groups would merge two metrics with equal first counts
    checkpoint = Path(sys.argv[1]) / f"rank{rank}.pt"  # each rank saves its own share
    if checkpoint.exists():
        metrics.load_state_dict(torch.load(checkpoint))
    metrics.update([f"the cat {rank} sat"], ["the cat sat down"])
    torch.save(metrics.state_dict(), checkpoint)
    print({name: round(value.item(), 4) for name, value in metrics.compute().items()})
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()  # else a thread of gloo may abort the process at its end
