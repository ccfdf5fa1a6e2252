"""Score one set of segments in several processes: every process gets the score of the whole set.

    pip install -e ".[example]"
    torchrun --nproc-per-node 2 examples/distributed.py

It runs on the CPU, takes a few seconds, and downloads nothing.

Each rank updates the metrics with a share of its own, and the shares differ in size. `compute` adds
up the counts of all ranks, for torchmetrics and for ignite. So every rank has to call it, for the
same metrics in the same order. Rank 0 then scores all segments alone, and prints both scores.
"""

from __future__ import annotations

try:
    import ignite.distributed as idist
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is not installed: pip install -e '.[example]'") from error
from ignite.engine import Engine
from torchmetrics import MetricCollection

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore
from ngram_metrics import ignite as ignite_metrics
from ngram_metrics.distributed import UnrepeatedSampler

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
BATCH_SIZE = 2


def main() -> None:
    """Score with the other processes, then alone."""
    idist.initialize("gloo")  # takes rank and number of processes from what torchrun sets
    # A `DistributedSampler` would repeat a segment to make all shares equally long, and it would count twice.
    rank, pairs = idist.get_rank(), [PAIRS[index] for index in UnrepeatedSampler(PAIRS)]
    print(f"rank {rank} scores {len(pairs)} of {len(PAIRS)} segments", flush=True)
    together = score(pairs)
    idist.finalize()
    if rank == 0:
        alone = score(PAIRS)  # no other process takes part any more
        for name, value in together.items():
            print(f"{name:20} {value:.6f}   in one process {alone[name]:.6f}")
        same = all(abs(value - alone[name]) < 1e-12 for name, value in together.items())
        print("equal" if same else "NOT EQUAL")


def score(pairs: list[tuple[str, str]]) -> dict[str, float]:
    """Score the segments of this process together with those of all others."""
    collection, evaluator = make_collection(), make_evaluator()
    for hypotheses, references in batches(pairs):
        collection.update(hypotheses, references)
    evaluator.run(batches(pairs))
    return {**{name: value.item() for name, value in collection.compute().items()}, **evaluator.state.metrics}


def batches(pairs: list[tuple[str, str]]) -> list[tuple[list[str], list[str]]]:
    """Cut pairs into (hypotheses, references); no pairs are one batch without segments."""
    starts = range(0, max(len(pairs), 1), BATCH_SIZE)
    parts = [pairs[start : start + BATCH_SIZE] for start in starts]
    return [([hypothesis for hypothesis, _ in part], [reference for _, reference in part]) for part in parts]


def make_collection() -> MetricCollection:
    """Build the metrics for torchmetrics."""
    return MetricCollection(
        {
            "bleu": Bleu(),
            "rouge": ROUGEScore(rouge_keys="rougeL"),
            "chrf": ChrF(),
            "overlap": NgramOverlap(ngram=2),
        }
    )


def make_evaluator() -> Engine:
    """Attach metrics to an ignite engine, which computes them at the end of its run."""
    evaluator = Engine(lambda engine, batch: batch)
    ignite_metrics.Bleu(average="micro", smooth="smooth1").attach(evaluator, "ignite bleu")
    ignite_metrics.ROUGEScore(rouge_keys="rougeL")["rougeL_fmeasure"].attach(evaluator, "ignite rouge")
    ignite_metrics.ChrF().attach(evaluator, "ignite chrf")
    ignite_metrics.NgramOverlap(ngram=2).attach(evaluator, "ignite overlap")
    return evaluator


if __name__ == "__main__":
    main()
