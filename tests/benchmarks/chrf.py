"""chrF and chrF++ against their peers on real text, from strings.

Goal, on one thread: the corpus score at least 12 times as fast as sacrebleu and 300 times as fast as torchmetrics; a
score a sentence at least 2.5 times as fast as fastchrf; chrF++ of the corpus at least 13 times as fast as sacrebleu.

How to run: ``python tests/benchmarks/chrf.py FOLDER``, with the group ``bench`` installed, on an idle machine. FOLDER
holds ``reference.txt`` and ``systems/*.txt``. ``--tasks`` picks some of:

    corpus        (a) the corpus score, and that of four references a sentence
    sentences     (b) a score a sentence; fastchrf is given n groups of one hypothesis and one reference
    plusplus      (c) the corpus score of chrF++
    torchmetrics  (d) the corpus score with torchmetrics' smoothing, of the first 500 sentences: torchmetrics is slow

What it checks: the scores agree, in every repeat, within 1e-9, with torchmetrics, which is float32, within 1e-5.
torchmetrics keeps n-grams of orders that the reference lacks and leaves out sentences without any match; the word that
ends every line here, see the harness, makes sure that there are neither.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import fastchrf
from harness import (
    Batch,
    Contestant,
    fresh_batch,
    on_strings,
    parser,
    read_corpus,
    run_pinned,
    time_each,
)
from sacrebleu.metrics import CHRF
from torchmetrics.text import CHRFScore

from ngram_metrics import ChrF
from ngram_metrics.functional import chrf_score

Timed = Callable[[Batch], Callable[[], Any]]

FLOAT32_SUMS = 1e-5


def sacrebleu_corpus(word_order: int) -> Timed:
    def prepare(batch: Batch) -> Callable[[], float]:
        metric = CHRF(word_order=word_order)
        streams = list(map(list, zip(*batch.references, strict=True)))
        return lambda: metric.corpus_score(batch.hypotheses, streams).score / 100

    return prepare


def our_sentences(batch: Batch) -> Callable[[], list[float]]:
    return lambda: chrf_score(batch.hypotheses, batch.references, average="none").tolist()


def sacrebleu_sentences(batch: Batch) -> Callable[[], list[float]]:
    metric = CHRF()
    pairs = list(zip(batch.hypotheses, batch.references, strict=True))
    return lambda: [metric.sentence_score(hypothesis, several).score / 100 for hypothesis, several in pairs]


def fastchrf_sentences(batch: Batch) -> Callable[[], list[float]]:
    hypotheses = [[hypothesis] for hypothesis in batch.hypotheses]
    return lambda: [group[0][0] / 100 for group in fastchrf.pairwise_chrf(hypotheses, batch.references)]


def of_corpus(word_order: int, goal: float | None) -> list[Contestant]:
    return [
        Contestant("ngram_metrics.ChrF", on_strings(lambda: ChrF(word_order=word_order))),
        Contestant("sacrebleu corpus_score", sacrebleu_corpus(word_order), goal=goal),
    ]


OF_SENTENCES = [
    Contestant("ngram_metrics chrf_score", our_sentences),
    Contestant("fastchrf.pairwise_chrf", fastchrf_sentences, goal=2.5),
    Contestant("sacrebleu sentence_score", sacrebleu_sentences),
]
SMOOTHED = [
    Contestant("ngram_metrics.ChrF, eps_smoothing", on_strings(lambda: ChrF(eps_smoothing=True))),
    Contestant("torchmetrics CHRFScore", on_strings(lambda: CHRFScore(n_word_order=0)), FLOAT32_SUMS, 300),
]
#: Headings, contestants and what `fresh_batch` is told, by the names of the tasks.
TASKS = {
    "corpus": [("(a) the corpus", of_corpus(0, 12), {}), ("(a) 4 references", of_corpus(0, None), {"references": 4})],
    "sentences": [("(b) a score a sentence", OF_SENTENCES, {})],
    "plusplus": [("(c) chrF++ of the corpus", of_corpus(2, 13), {})],
    "torchmetrics": [("(d) the first 500 sentences", SMOOTHED, {"sentences": 500})],
}


def main(options: Any) -> None:
    corpus = read_corpus(options.folder)
    characters = sum(len("".join(line.split())) for line in corpus.references)
    print(
        f"{len(corpus.references)} segments of {characters / len(corpus.references):.1f} characters in the reference, "
        f"{len(corpus.systems)} systems, {options.repeats} repeats"
    )
    for task in options.tasks.split(","):
        for heading, contestants, chosen in TASKS[task]:
            time_each(heading, contestants, fresh_batch(corpus, **chosen), options)


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--tasks", default=",".join(TASKS), help="which, apart by commas (%(default)s)")
    run_pinned(main, arguments, "torchmetrics sacrebleu fastchrf")
