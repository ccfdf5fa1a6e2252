"""Paired bootstrap tests of many systems against sacrebleu's.

All systems of a test set against one of them, 1,000 resamples, from strings to p-values of BLEU and of chrF.

How to run: ``python tests/benchmarks/significance.py FOLDER --threads 1 --repeats 1``; the peer takes seconds to
minutes a repeat.

What it checks: in every repeat, whose baseline is the system next in turn, the p-value of each other system lies within
0.1 of sacrebleu's. Both draw at random, 1,000 times; two p-values of 0.5 then differ by 0.022 in standard deviation.
Identical systems would not agree: see :mod:`ngram_metrics.significance`.

sacrebleu's references are read once for all systems, as its command does it, and ours once for each system.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness import Contestant, parser, read_corpus, run, time_each, unseen
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


#: The outputs of systems by name, the baseline first, and their references.
Outputs = tuple[dict[str, list[str]], list[str]]


def ours(outputs: Outputs) -> Callable[[], list[float]]:
    """Count and test, and return the p-values of all systems but the baseline."""

    def call() -> list[float]:
        systems, references = outputs
        baseline, *others = systems
        p_values = []
        for name, make in OURS.items():
            metrics = {system: make() for system in systems}
            for system, metric in metrics.items():
                metric.update(systems[system], references)
            result = paired_bootstrap(metrics, baseline, RESAMPLES, alternative="sacrebleu")
            p_values += [result[other][name].p_value for other in others]
        return p_values

    return call


def sacrebleu(outputs: Outputs) -> Callable[[], list[float]]:
    def call() -> list[float]:
        systems, references = outputs
        made = {name: peer(references=[references]) for name, peer in PEERS.items()}
        _, scores = PairedTest(list(systems.items()), made, None, "bs", n_samples=RESAMPLES)()
        return [result.p_value for heading, column in scores.items() if heading != "System" for result in column[1:]]

    return call


def main(options: Any) -> None:
    corpus = read_corpus(options.folder)
    count = len(corpus.systems)

    def fresh(repeat: int, contestant: int) -> Outputs:
        turned = [corpus.systems[(repeat + turn) % count] for turn in range(count)]
        systems = {str(number): unseen(lines, repeat, contestant) for number, lines in enumerate(turned)}
        return systems, unseen(corpus.references, repeat, contestant)

    contestants = [Contestant("ngram_metrics", ours), Contestant("sacrebleu", sacrebleu, AGREEMENT)]
    task = f"{len(corpus.references)} segments, {count} systems, {RESAMPLES} resamples, bleu and chrf"
    time_each(task, contestants, fresh, options)


if __name__ == "__main__":
    run(main, parser(__doc__), "sacrebleu numpy")
