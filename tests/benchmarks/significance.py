"""Paired bootstrap tests of many systems against sacrebleu's.

Goal: on one thread, all systems of a test set against one of them, 1,000 resamples, from strings to p-values of BLEU
with the 13a tokenizer and of chrF, at least 12 times as fast as sacrebleu.

How to run: ``python tests/benchmarks/significance.py FOLDER --threads 1``, with the group ``bench`` installed, on an
idle machine; the peer takes seconds to minutes a repeat, so ask for few ``--repeats``. FOLDER holds ``reference.txt``
and ``systems/*.txt``.

What it checks: in every repeat, whose baseline is the system next in turn, the p-value of each other system lies within
0.1 of sacrebleu's. Both draw at random, 1,000 times; two p-values of 0.5 then differ by 0.022 in standard deviation.
Identical systems would not agree: see :mod:`ngram_metrics.significance`.

sacrebleu's references are read once for all systems, as its command does it, and ours once for each system.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from harness import Contestant, Corpus, parser, read_corpus, run_pinned, time_each, unseen
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest

from ngram_metrics import Bleu, ChrF
from ngram_metrics.significance import paired_bootstrap

RESAMPLES = 1000
#: Between p-values of two tests by chance.
AGREEMENT = 0.1
OURS: dict[str, Callable[[], Any]] = {
    "bleu": lambda: Bleu(average="micro", smooth="exp", tokenizer="13a", confidence=0.95),
    "chrf": lambda: ChrF(confidence=0.95),
}
PEERS: dict[str, Callable[..., Any]] = {"bleu": BLEU, "chrf": CHRF}


class Outputs(NamedTuple):
    """What systems made of the same segments, the baseline first."""

    systems: dict[str, list[str]]
    references: list[str]


def fresh_outputs(corpus: Corpus) -> Callable[[int, int], Outputs]:
    """Return the function that makes a contestant's input of a repeat."""

    def make(repeat: int, contestant: int) -> Outputs:
        first = repeat % len(corpus.systems)
        turned = corpus.systems[first:] + corpus.systems[:first]
        systems = {str(number): unseen(lines, repeat, contestant) for number, lines in enumerate(turned)}
        return Outputs(systems, unseen(corpus.references, repeat, contestant))

    return make


def ours(outputs: Outputs) -> Callable[[], list[float]]:
    """Count and test, and return the p-values of all systems but the baseline."""

    def call() -> list[float]:
        baseline, *others = outputs.systems
        p_values = []
        for name, make in OURS.items():
            metrics = {system: make() for system in outputs.systems}
            for system, metric in metrics.items():
                metric.update(outputs.systems[system], outputs.references)
            result = paired_bootstrap(metrics, baseline, RESAMPLES, alternative="sacrebleu")
            p_values += [result[other][name].p_value for other in others]
        return p_values

    return call


def sacrebleu(outputs: Outputs) -> Callable[[], list[float]]:
    def call() -> list[float]:
        made = {name: peer(references=[outputs.references]) for name, peer in PEERS.items()}
        _, scores = PairedTest(list(outputs.systems.items()), made, None, "bs", n_samples=RESAMPLES)()
        return [result.p_value for heading, column in scores.items() if heading != "System" for result in column[1:]]

    return call


def main(options: Any) -> None:
    corpus = read_corpus(options.folder)
    print(
        f"{len(corpus.references)} segments, {len(corpus.systems)} systems, {RESAMPLES} resamples, "
        f"{options.repeats} repeats"
    )
    contestants = [Contestant("ngram_metrics", ours), Contestant("sacrebleu", sacrebleu, AGREEMENT, goal=12)]
    time_each("strings, bleu and chrf", contestants, fresh_outputs(corpus), options)


if __name__ == "__main__":
    run_pinned(main, parser(__doc__), "sacrebleu numpy")
