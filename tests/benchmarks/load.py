"""Updates while other processes keep the cores busy, as data loaders do in every training loop.

Goal: with a busy process for each core, the mean update of 1, 32 and 512 sentences of every metric takes at most 3
times as long as without, on as many threads as there are cores. Two tasks that share a core take twice as long; what is
above that is waiting. An operation that many threads share waits for the last of them, and that one for its turn.

How to run: ``python tests/benchmarks/load.py --threads all``, on an otherwise idle machine. No data are needed.

What it does: sentences of 10 to 30 words out of 5,000 are scored with one reference, as strings and as padded ids. Each
repeat takes the mean of a number of updates, first with the busy processes stopped and then with them running; every
update counts sentences that it has not seen. The table shows the medians of these means. Wall time is what matters:
``--clock cpu`` shows nothing. Nothing is asserted about time.
"""

from __future__ import annotations

import random
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from harness import CLOCKS, layout, parser, run_pinned

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore

GOAL = 3.0
WORDS = [f"{number:x}" for number in range(5_000)]
WIDTH = 30
#: Updates that one mean is taken of, by their sentences.
UPDATES = {1: 100, 32: 50, 512: 10}
PADDING = 0

#: Metrics by name, and whether they take ids.
METRICS: dict[str, tuple[Callable[..., Any], bool]] = {
    "Bleu": (Bleu, True),
    "ROUGEScore": (ROUGEScore, True),
    "ChrF": (ChrF, True),
    "ChrF, word_order=2": (lambda **options: ChrF(word_order=2, **options), False),
    "NgramOverlap": (NgramOverlap, True),
}


def strings(sentences: int, chance: random.Random) -> tuple[list[str], list[str]]:
    """Return hypotheses and references that share some words."""

    def sentence() -> str:
        return " ".join(chance.choices(WORDS, k=chance.randint(10, WIDTH)))

    references = [sentence() for _ in range(sentences)]
    return [" ".join([*chance.sample(one.split(), 8), sentence()]) for one in references], references


def padded(sentences: int, chance: random.Random) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ids ``(sentences, width)``, some of which are padding."""
    generator = torch.Generator().manual_seed(chance.randrange(1 << 40))
    references = torch.randint(len(WORDS), (sentences, WIDTH), generator=generator)
    other = torch.randint(len(WORDS), (sentences, WIDTH), generator=generator)
    places = torch.arange(WIDTH) < torch.randint(10, WIDTH + 1, (sentences, 1), generator=generator)
    return torch.where(places, references, PADDING), torch.where(places & (other % 3 > 0), references, other)


@contextmanager
def busy(cores: int) -> Iterator[Callable[[bool], None]]:
    """Start a process for each core that computes without end; yields the switch, which is off at first."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(cores)]

    def switch(on: bool) -> None:
        for process in processes:
            process.send_signal(signal.SIGCONT if on else signal.SIGSTOP)
        time.sleep(0.05)

    try:
        switch(False)
        yield switch
    finally:
        for process in processes:
            process.kill()
            process.wait()


def mean_update(metric: Any, batches: list[Any], clock: Callable[[], float]) -> float:
    """Return the seconds that one of these updates takes."""
    start = clock()
    for batch in batches:
        metric.update(*batch)
    return (clock() - start) / len(batches)


def main(options: Any) -> None:
    chance, clock = random.Random(1), CLOCKS[options.clock]
    rows = [["update of", "sentences", "idle ms", "busy ms", "ratio", "goal"]]
    with busy(options.threads) as switch:
        for name, (make, takes_ids) in METRICS.items():
            for kind, draw in (("strings", strings), ("padded ids", padded))[: 1 + takes_ids]:
                for size, updates in UPDATES.items():
                    metric = make() if draw is strings else make(pad_id=PADDING)
                    metric.update(*draw(size, chance))
                    seconds: dict[bool, list[float]] = {False: [], True: []}
                    for _ in range(options.repeats):
                        for on in (False, True):
                            batches = [draw(size, chance) for _ in range(updates)]
                            switch(on)
                            seconds[on].append(mean_update(metric, batches, clock))
                            switch(False)
                    idle, loaded = (statistics.median(seconds[on]) for on in (False, True))
                    reached = "reached" if loaded <= GOAL * idle else "missed"
                    row = [f"{name}, {kind}", str(size), f"{idle * 1e3:.2f}", f"{loaded * 1e3:.2f}"]
                    rows.append([*row, f"{loaded / idle:.2f}", f"<= {GOAL:g}, {reached}"])
    print(f"\n{layout(rows)}", flush=True)


if __name__ == "__main__":
    run_pinned(main, parser(__doc__, text=False), "torchmetrics")
