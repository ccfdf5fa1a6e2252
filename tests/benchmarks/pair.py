"""One pair at a time: `ngram_metrics.pair` against the peers that most rewards call, from strings.

Goal, on one thread, with texts that have not been seen: BLEU (13a) no slower than sacrebleu's ``sentence_score``; chrF
no slower than fastchrf, which is written in Rust; with four references 4 times as fast as sacrebleu in BLEU and 2.5
times in chrF, and no slower on a text of all sentences; ROUGE-1, -2 and -L 8 times as fast as rouge_score, ROUGE-L
alone 7 times.

How to run: ``python tests/benchmarks/pair.py FOLDER --threads 1``, with the group ``bench`` installed. FOLDER holds
``reference.txt`` and ``systems/*.txt``. Every contestant scores the first ``--pairs`` sentences, one call for each: of
1,000 of them, the default, a millisecond in the table is a microsecond for each pair.

What it checks: the score of every pair agrees in every repeat, within 1e-12. The stems that ours keeps are forgotten
before each timing. The last contestant is `ngram_metrics.functional`, called for one pair at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import fastchrf
from harness import Batch, Contestant, fresh_batch, parser, read_corpus, run_pinned, time_each
from rouge_score import rouge_scorer
from rouge_score_rs import rouge_scorer as rust_scorer
from sacrebleu.metrics import BLEU, CHRF

from ngram_metrics import functional, pair
from ngram_metrics._core.text.stemmer import rouge_stem

#: From a hypothesis and its reference or references to a score, or to several.
Score = Callable[[str, Any], Any]
SENTENCE_BLEU: dict[str, Any] = {"smooth": "exp", "effective_order": True, "tokenizer": "13a"}


def one_by_one(make: Callable[[], Score]) -> Callable[[Batch], Callable[[], list[Any]]]:
    """Time a call for each pair of what ``make`` makes."""

    def prepare(batch: Batch) -> Callable[[], list[Any]]:
        score = make()
        references = [several[0] if len(several) == 1 else several for several in batch.references]
        rouge_stem.cache_clear()
        return lambda: list(map(score, batch.hypotheses, references))

    return prepare


def ours(function: Callable[..., Any], **options: Any) -> Callable[[], Score]:
    return lambda: lambda hypothesis, reference: function(hypothesis, reference, **options)


def ours_rouge(keys: Sequence[str], stemmer: bool) -> Callable[[], Score]:
    names = [f"{key}_{part}" for key in keys for part in ("precision", "recall", "fmeasure")]

    def score(hypothesis: str, reference: str) -> list[float]:
        scores = pair.rouge(hypothesis, reference, rouge_keys=keys, use_stemmer=stemmer)
        return [scores[name] for name in names]

    return lambda: score


def of_sacrebleu(metric: Callable[[], Any]) -> Callable[[], Score]:
    def make() -> Score:
        made = metric()
        return lambda hypothesis, given: (
            made.sentence_score(hypothesis, [given] if isinstance(given, str) else given).score / 100
        )

    return make


def of_fastchrf() -> Score:
    return lambda hypothesis, reference: fastchrf.pairwise_chrf([[hypothesis]], [[reference]])[0][0][0] / 100


def of_rouge_score(scorer: Any, keys: Sequence[str], stemmer: bool) -> Callable[[], Score]:
    def make() -> Score:
        made = scorer.RougeScorer(list(keys), use_stemmer=stemmer)

        def score(hypothesis: str, reference: str) -> list[float]:
            scores = made.score(reference, hypothesis)
            return [getattr(scores[key], part) for key in keys for part in ("precision", "recall", "fmeasure")]

        return score

    return make


def joined(fresh: Callable[[int, int], Batch]) -> Callable[[int, int], Batch]:
    """Return the function that makes one long text of all hypotheses, and one of their references."""

    def make(repeat: int, contestant: int) -> Batch:
        hypotheses, references = fresh(repeat, contestant)
        return Batch([" ".join(hypotheses)], [[" ".join(several[0] for several in references)]])

    return make


def main(options: Any) -> None:
    corpus = read_corpus(options.folder)
    fresh = fresh_batch(corpus, sentences=options.pairs)

    def contestant(name: str, make: Callable[[], Score], goal: float | None = None) -> Contestant:
        return Contestant(name, one_by_one(make), 1e-12, goal)

    sentence_bleu = of_sacrebleu(lambda: BLEU(effective_order=True))
    contestants = [
        contestant("pair.bleu", ours(pair.bleu, **SENTENCE_BLEU)),
        contestant("sacrebleu sentence_score", sentence_bleu, 1),
        contestant("functional.bleu_score", ours(functional.bleu_score, **SENTENCE_BLEU)),
    ]
    time_each("BLEU, 13a", contestants, fresh, options)
    contestants = [
        contestant("pair.chrf", ours(pair.chrf)),
        contestant("fastchrf", of_fastchrf, 1),
        contestant("sacrebleu sentence_score", of_sacrebleu(CHRF)),
        contestant("functional.chrf_score", ours(functional.chrf_score)),
    ]
    time_each("chrF", contestants, fresh, options)
    bleu = "BLEU", contestant("pair.bleu", ours(pair.bleu, **SENTENCE_BLEU)), sentence_bleu, 4
    chrf = "chrF", contestant("pair.chrf", ours(pair.chrf)), of_sacrebleu(CHRF), 2.5
    for metric, own, peer, goal in (bleu, chrf):
        several = fresh_batch(corpus, 4, options.pairs)
        time_each(f"{metric}, 4 references", [own, contestant("sacrebleu", peer, goal)], several, options)
        one_text = [own, contestant("sacrebleu", peer, 1)]
        time_each(f"{metric}, all sentences as one text", one_text, joined(fresh), options)
    for keys, stemmer, goal in (
        (("rouge1", "rouge2", "rougeL"), False, 8),
        (("rougeL",), False, 7),
        (("rouge1", "rouge2", "rougeL"), True, None),
    ):
        contestants = [
            contestant("pair.rouge", ours_rouge(keys, stemmer)),
            contestant("rouge_score", of_rouge_score(rouge_scorer, keys, stemmer), goal),
            contestant("rouge-score-rs", of_rouge_score(rust_scorer, keys, stemmer)),
        ]
        time_each(f"{', '.join(keys)}{', stemmed' if stemmer else ''}", contestants, fresh, options)


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--pairs", type=int, default=1000, help="pairs that are scored, one by one (%(default)s)")
    run_pinned(main, arguments, "sacrebleu fastchrf rouge_score rouge-score-rs")
