"""BLEU and chrF in a plain loop under torchrun, which is stopped within an epoch and goes on from its checkpoint.

    pip install -e .
    torchrun --nproc-per-node 2 examples/torchrun_resume.py --stop 2
    torchrun --nproc-per-node 2 examples/torchrun_resume.py

The second command skips the batches that the first has counted. It may run another number of processes.
"""

import argparse
from itertools import islice
from pathlib import Path

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader

from ngram_metrics import Bleu, ChrF
from ngram_metrics.distributed import AllRanks

# What a model wrote, and what it should have written.
PAIRS = [
    ("the cat sat on the mat", "the cat is on the mat"),
    ("a dog ran home", "a dog ran all the way home"),
    ("there is a bird in the tree", "a bird sings in the tree"),
    ("birds sing in the old tree", "birds sing in an old tree"),
    ("the cat sleeps", "the cat sleeps on the mat"),
    ("we see the old dog", "we saw an old dog run by"),
    ("it was asleep", "it was fast asleep"),
]


def main() -> None:
    """Count batch after batch, with a checkpoint after each, and print the scores of all batches."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stop", type=int, help="end after this batch, as an interrupted run does")
    parser.add_argument("--out", type=Path, default=Path("runs/torchrun_resume.pt"), help="the checkpoint")
    arguments = parser.parse_args()
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    metrics = {"bleu": Bleu(), "chrf": ChrF(confidence=0.95)}
    all_ranks = AllRanks(metrics)
    loader = DataLoader(PAIRS, batch_size=2, collate_fn=list)  # in the same order in every run
    step = 0
    if arguments.out.exists():
        checkpoint = torch.load(arguments.out, weights_only=True)
        all_ranks.load_state_dict(checkpoint["metrics"])
        step = checkpoint["step"]
    for batch in islice(loader, step, None):  # without the batches that were counted
        share = batch[rank::ranks]  # no segment twice, and the same number of steps on every rank
        for metric in metrics.values():
            metric.update([hypothesis for hypothesis, _ in share], [reference for _, reference in share])
        step += 1
        checkpoint = {"step": step, "metrics": all_ranks.state_dict()}  # on every rank, which wait for one another
        if rank == 0:
            arguments.out.parent.mkdir(parents=True, exist_ok=True)
            torch.save(checkpoint, arguments.out)
        if step == arguments.stop:
            break
    else:
        values = {"bleu": metrics["bleu"].compute(), **metrics["chrf"].compute()}  # on every rank as well
        if rank == 0:
            print({name: round(value.item(), 4) for name, value in values.items()})
            arguments.out.unlink()  # the next run starts from nothing
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
