"""The standard error of BLEU and chrF, from strings, against scoring resampled texts again.

How to run: ``python tests/benchmarks/standard_error.py FOLDER --threads 1 --clock cpu --repeats 1``; the slowest way
takes minutes.

What it does: ours counts a system's output once, and draws 1,000 corpora from the counts. sacrebleu does the same with
``n_bootstrap``, and reports half the width of an interval, 1.96 standard errors. Evaluation harnesses call sacrebleu
once for the score and 100 times for resampled texts, and take the deviation of the scores.

What it checks: in every repeat the standard errors agree within chance. The deviation of 1,000 draws is exact to 2.2 %,
that of 100 to 7 %.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable
from typing import Any

from harness import Contestant, parser, read_corpus, run, time_each, unseen
from sacrebleu.metrics import BLEU, CHRF

from ngram_metrics import Bleu, ChrF
from ngram_metrics.significance import standard_error

METRICS: dict[str, tuple[Callable[..., Any], Callable[[], Any]]] = {"BLEU": (Bleu, BLEU), "chrF": (ChrF, CHRF)}
RESCORED = 100
#: The standard errors of some 3,000 segments are 0.0025 to 0.0035: three times the error of 1,000 draws, and of 100.
BY_DRAWS, BY_RESCORING = 3e-4, 8e-4

#: The output of a system, and its references.
Texts = tuple[list[str], list[str]]


def counted_once(make: Callable[..., Any]) -> Callable[[Texts], Callable[[], float]]:
    def prepare(texts: Texts) -> Callable[[], float]:
        metric = make(confidence=0.95)

        def call() -> float:
            metric.update(*texts)
            error = standard_error(metric)
            assert isinstance(error, float)
            return error

        return call

    return prepare


def sacrebleu_bootstrap(make: Callable[[], Any]) -> Callable[[Texts], Callable[[], float]]:
    def prepare(texts: Texts) -> Callable[[], float]:
        hypotheses, references = texts
        metric = make()
        return lambda: metric.corpus_score(hypotheses, [references], n_bootstrap=1000)._ci / 196

    return prepare


def rescored(make: Callable[[], Any]) -> Callable[[Texts], Callable[[], float]]:
    def prepare(texts: Texts) -> Callable[[], float]:
        pairs = list(zip(*texts, strict=True))
        metric = make()

        def score(drawn: list[tuple[str, str]]) -> float:
            hypotheses, references = zip(*drawn, strict=True)
            return metric.corpus_score(hypotheses, [references]).score / 100

        def call() -> float:
            score(pairs)
            chance = random.Random(0)
            return statistics.stdev(score(chance.choices(pairs, k=len(pairs))) for _ in range(RESCORED))

        return call

    return prepare


def main(options: Any) -> None:
    corpus = read_corpus(options.folder)

    def fresh(repeat: int, contestant: int) -> Texts:
        hypotheses = corpus.systems[repeat % len(corpus.systems)]
        return unseen(hypotheses, repeat, contestant), unseen(corpus.references, repeat, contestant)

    for name, (ours, peer) in METRICS.items():
        contestants = [
            Contestant("ngram_metrics, 1,000 draws", counted_once(ours)),
            Contestant("sacrebleu, n_bootstrap=1000", sacrebleu_bootstrap(peer), BY_DRAWS),
            Contestant(f"sacrebleu, {RESCORED} texts scored again", rescored(peer), BY_RESCORING),
        ]
        time_each(f"{len(corpus.references)} segments, standard error of {name}", contestants, fresh, options)


if __name__ == "__main__":
    run(main, parser(__doc__ or ""), "sacrebleu numpy")
