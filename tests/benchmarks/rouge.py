"""ROUGE against its peers on real text, from strings.

Goal, on one thread: rouge1, rouge2 and rougeL at least 16 times as fast as rouge_score, 15 times with the stemmer; 0.75
times as fast as rouge-score-rs, which is given the batch in one call. With rougeLsum, on documents of five lines, at
least 5 times as fast as rouge_score. On texts of 500 to 5,000 words 0.45 times as fast as rouge-score-rs, and with
rougeLsum alone 0.5 times.

How to run: ``python tests/benchmarks/rouge.py FOLDER``, with the group ``bench`` installed, on an idle machine. FOLDER
holds ``reference.txt`` and ``systems/*.txt``.

What it checks: the mean precision, recall and F of every key agree in every repeat, within 1e-12. rouge-score-rs and
rouge-rust are written in Rust; the latter has no stemmer and no rougeLsum. The stems that ours keeps from one batch to
the next are forgotten before each timing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import fast_rouge
import numpy as np
from harness import Batch, Contestant, documents, fresh_batch, parser, read_corpus, run_pinned, time_each
from rouge_score import rouge_scorer
from rouge_score_rs import rouge_scorer as rust_scorer

from ngram_metrics import ROUGEScore
from ngram_metrics._core.text.stemmer import rouge_stem

KEYS = ("rouge1", "rouge2", "rougeL")
PARTS = ("precision", "recall", "fmeasure")
Timed = Callable[[Batch], Callable[[], Any]]


def ours(keys: Sequence[str], stemmer: bool) -> Timed:
    def prepare(batch: Batch) -> Callable[[], list[float]]:
        metric = ROUGEScore(use_stemmer=stemmer, rouge_keys=keys)
        rouge_stem.cache_clear()

        def call() -> list[float]:
            metric.update(batch.hypotheses, batch.references)
            scores = metric.compute()
            return [float(scores[f"{key}_{part}"]) for key in keys for part in PARTS]

        return call

    return prepare


def peer(scorer: Any, keys: Sequence[str], stemmer: bool) -> Timed:
    """Time rouge_score, or what has its interface, pair by pair."""

    def prepare(batch: Batch) -> Callable[[], list[float]]:
        made = scorer.RougeScorer(list(keys), use_stemmer=stemmer)
        pairs = [
            (several[0], hypothesis) for several, hypothesis in zip(batch.references, batch.hypotheses, strict=True)
        ]
        return lambda: mean([made.score(*pair) for pair in pairs], keys)

    return prepare


def rust_batch(keys: Sequence[str], stemmer: bool) -> Timed:
    def prepare(batch: Batch) -> Callable[[], list[float]]:
        made = rust_scorer.RougeScorer(list(keys), use_stemmer=stemmer)
        references = [several[0] for several in batch.references]
        return lambda: mean(made.score_batch(references, batch.hypotheses), keys)

    return prepare


def rouge_rust(batch: Batch) -> Callable[[], list[float]]:
    references = [several[0] for several in batch.references]

    def call() -> list[float]:
        scores = fast_rouge.score_batch_flat(references, batch.hypotheses)
        return [float(np.mean(getattr(scores, f"{key}_{part}"))) for key in KEYS for part in PARTS]

    return call


def mean(scores: Sequence[Any], keys: Sequence[str]) -> list[float]:
    return [float(np.mean([getattr(one[key], part) for one in scores])) for key in keys for part in PARTS]


def main(options: Any) -> None:
    corpus = read_corpus(options.folder)
    fresh = fresh_batch(corpus)
    for stemmer, goal in ((False, 16), (True, 15)):
        contestants = [
            Contestant("ngram_metrics.ROUGEScore", ours(KEYS, stemmer), 1e-12),
            Contestant("rouge_score", peer(rouge_scorer, KEYS, stemmer), 1e-12, goal),
            Contestant("rouge-score-rs, batch", rust_batch(KEYS, stemmer), 1e-12, None if stemmer else 0.75),
        ]
        if not stemmer:
            contestants.append(Contestant("rouge-rust, batch", rouge_rust, 1e-12))
        words = "stemmed" if stemmer else "not stemmed"
        time_each(f"rouge1, rouge2, rougeL of segments, {words}", contestants, fresh, options)

    def of_documents(size: int, most: int | None = None) -> Callable[[int, int], Batch]:
        def make(repeat: int, contestant: int) -> Batch:
            batch = fresh(repeat, contestant)
            references = documents([several[0] for several in batch.references], size)[:most]
            return Batch(documents(batch.hypotheses, size)[:most], [[reference] for reference in references])

        return make

    keys = (*KEYS, "rougeLsum")
    contestants = [
        Contestant("ngram_metrics.ROUGEScore", ours(keys, False), 1e-12),
        Contestant("rouge_score", peer(rouge_scorer, keys, False), 1e-12, 5),
        Contestant("rouge-score-rs, batch", rust_batch(keys, False), 1e-12),
    ]
    time_each("with rougeLsum, documents of five lines", contestants, of_documents(5), options)
    for keys, most, size, goal in (
        (("rougeLsum",), 1, 50, None),
        (("rougeLsum",), 8, 20, None),
        (("rougeLsum",), 32, 5, None),
        (("rougeLsum",), 32, 20, None),
        (("rougeLsum",), 40, 25, 0.5),
        (("rougeLsum",), 12, 75, 0.5),
        (("rougeLsum",), 4, 250, 0.5),
        (KEYS, 40, 25, 0.45),
        (KEYS, 12, 75, 0.45),
        (KEYS, 4, 250, 0.45),
    ):
        contestants = [
            Contestant("ngram_metrics.ROUGEScore", ours(keys, False), 1e-12),
            Contestant("rouge-score-rs, batch", rust_batch(keys, False), 1e-12, goal),
        ]
        task = f"{', '.join(keys)} of {most} documents of {size} lines"
        time_each(task, contestants, of_documents(size, most), options)


if __name__ == "__main__":
    arguments = parser(__doc__)
    run_pinned(main, arguments, "rouge_score rouge-score-rs rouge-rust nltk")
