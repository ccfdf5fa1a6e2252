"""BLEU against its peers on real text.

Goal: on one thread, from split tokens at least 8 times as fast as ignite; from strings at least 25 times as fast as
torchmetrics' BLEUScore, and by each tokenizer 5 times as fast as sacrebleu, with 13a 1.3 times as fast as bleuscore.

How to run: ``python tests/benchmarks/bleu.py FOLDER``, with the group ``bench`` installed, on an idle machine. FOLDER
holds ``reference.txt`` and ``systems/*.txt``. ``--tasks`` picks some of:

    tokens      (a) split tokens to the corpus score and to the mean of the sentences' scores
    strings     (b) strings, split at whitespace, to the corpus score
    13a         (c) strings through the tokenizers 13a and intl to the corpus score
    sentences   (d) strings to a score a sentence, each order smoothed
    references  (e) as a to d, with four references a sentence; strings in batches of 64, each scored; and padded ids,
                256 sentences of up to 1,024, which ignite takes as lists
    batches     (f) as a, in the small batches of a training loop

What it checks: the scores agree, in every repeat, within the tolerance the table states: 1e-9 where a peer counts in
integers or float64, 1e-6 where it divides in float32, 1e-5 where it takes the logarithms in float32 too. Where the
definitions differ nothing is compared:

* nltk's corpus_bleu counts one n-gram in every sentence that is too short to have any: its score is a little lower.
* bleuscore always applies the 13a tokenizer, so in (b) it scores something else; in (c) it agrees.
* Of several references, bleuscore takes the closest length only when asked to, as it is here, and torchmetrics the
  first listed of two equally near ones, here the shorter, because the references stand in order of length: both agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import bleuscore
import torch
from harness import (
    Batch,
    Contestant,
    Corpus,
    fresh_batch,
    on_strings,
    parser,
    read_corpus,
    run_pinned,
    time_each,
)
from ignite.metrics import Bleu as IgniteBleu
from nltk.translate.bleu_score import corpus_bleu
from sacrebleu.metrics import BLEU
from torch import Tensor
from torchmetrics.text import BLEUScore, SacreBLEUScore

from ngram_metrics import Bleu
from ngram_metrics.functional import bleu_score
from ngram_metrics.ignite import Bleu as OurIgniteBleu

Tokens = tuple[list[list[str]], list[list[list[str]]]]
Timed = Callable[[Batch], Callable[[], Any]]

FLOAT32_DIVISION = 1e-6
FLOAT32_LOGARITHM = 1e-5


def split(batch: Batch) -> Tokens:
    """Cut a batch into tokens, new strings that nobody has hashed."""
    hypotheses = [hypothesis.split() for hypothesis in batch.hypotheses]
    return hypotheses, [[reference.split() for reference in several] for several in batch.references]


def batches(tokens: Tokens, size: int | None) -> list[Tokens]:
    """Cut split tokens into batches of ``size`` sentences, or leave them whole."""
    hypotheses, references = tokens
    size = size or len(hypotheses)
    starts = range(0, len(hypotheses), size)
    return [(hypotheses[start : start + size], references[start : start + size]) for start in starts]


def of_ignite(metric: Callable[..., Any], average: str, size: int | None = None) -> Timed:
    """Time one of the two ignite classes on split tokens."""

    def prepare(batch: Batch) -> Callable[[], float]:
        made, given = metric(average=average), batches(split(batch), size)

        def call() -> float:
            for one in given:
                made.update(one)
            return float(made.compute())

        return call

    return prepare


def of_torchmetrics(average: str, size: int | None = None) -> Timed:
    """Time our torchmetrics class on split tokens."""

    def prepare(batch: Batch) -> Callable[[], float]:
        made, given = Bleu(average=average, smooth="no_smooth", effective_order=False), batches(split(batch), size)

        def call() -> float:
            for one in given:
                made.update(*one)
            return float(made.compute())

        return call

    return prepare


def score_batches(batch: Batch, score: Callable[[Sequence[str], Sequence[list[str]]], float]) -> list[float]:
    """Score each 64 sentences by themselves."""
    sides = batch.hypotheses, batch.references
    return [score(*(side[start : start + 64] for side in sides)) for start in range(0, len(batch.hypotheses), 64)]


def our_batches(batch: Batch) -> Callable[[], list[float]]:
    metric = Bleu(average="micro", tokenizer="13a")

    def score(hypotheses: Sequence[str], references: Sequence[list[str]]) -> float:
        metric.reset()
        metric.update(hypotheses, references)
        return float(metric.compute())

    return lambda: score_batches(batch, score)


def sacrebleu_batches(batch: Batch) -> Callable[[], list[float]]:
    metric = BLEU(smooth_method="none", force=True)

    def score(hypotheses: Sequence[str], references: Sequence[list[str]]) -> float:
        return metric.corpus_score(hypotheses, list(map(list, zip(*references, strict=True)))).score / 100

    return lambda: score_batches(batch, score)


def fresh_ids(repeat: int, contestant: int) -> tuple[Tensor, Tensor]:
    """Draw ids ``(256, 1024)`` and ``(256, 4, 1024)``, few of them frequent, with 0 past the ends of rows."""
    generator = torch.Generator().manual_seed(repeat)
    ids = torch.multinomial(1 / torch.arange(1.0, 32_001.0), 256 * 5 * 1024, True, generator=generator).view(256, 5, -1)
    lengths = torch.randint(256, 1025, (256, 5, 1), generator=generator)
    lengths[:, 1:] = lengths[:, 1:].sort(1).values  # of two equally near, the first is the shorter
    ids = (ids + 1) * (torch.arange(1024) < lengths)
    return ids[:, 0], ids[:, 1:]


def our_ids(ids: tuple[Tensor, Tensor]) -> Callable[[], float]:
    return lambda: float(bleu_score(*ids, average="micro", pad_id=0))


def ignite_ids(ids: tuple[Tensor, Tensor]) -> Callable[[], float]:
    metric = IgniteBleu(average="micro")
    hypotheses = [row[row > 0].tolist() for row in ids[0]]
    references = [[row[row > 0].tolist() for row in several] for several in ids[1]]

    def call() -> float:
        metric.update((hypotheses, references))
        return float(metric.compute())

    return call


def nltk_corpus(batch: Batch) -> Callable[[], float]:
    hypotheses, references = split(batch)
    return lambda: corpus_bleu(references, hypotheses)


def sacrebleu_corpus(tokenizer: str) -> Timed:
    def prepare(batch: Batch) -> Callable[[], float]:
        metric = BLEU(tokenize=tokenizer, smooth_method="none", force=True)
        streams = list(map(list, zip(*batch.references, strict=True)))
        return lambda: metric.corpus_score(batch.hypotheses, streams).score / 100

    return prepare


def bleuscore_corpus(batch: Batch) -> Callable[[], float]:
    return lambda: bleuscore.compute(
        references=batch.references, predictions=batch.hypotheses, ref_len_method="closest"
    )["bleu"]


def our_sentences(batch: Batch) -> Callable[[], list[float]]:
    def call() -> list[float]:
        return bleu_score(batch.hypotheses, batch.references, tokenizer="none", average="none").tolist()

    return call


def sacrebleu_sentences(batch: Batch) -> Callable[[], list[float]]:
    metric = BLEU(tokenize="none", smooth_method="exp", effective_order=True, force=True)
    pairs = list(zip(batch.hypotheses, batch.references, strict=True))
    return lambda: [metric.sentence_score(hypothesis, several).score / 100 for hypothesis, several in pairs]


def micro_tokens(goal: float | None, size: int | None = None) -> list[Contestant]:
    return [
        Contestant("ngram_metrics.ignite.Bleu", of_ignite(OurIgniteBleu, "micro", size)),
        Contestant("ngram_metrics.Bleu", of_torchmetrics("micro", size)),
        Contestant("ignite Bleu", of_ignite(IgniteBleu, "micro", size), goal=goal),
    ]


def macro_tokens(goal: float | None, size: int | None = None) -> list[Contestant]:
    return [
        Contestant("ngram_metrics.ignite.Bleu", of_ignite(OurIgniteBleu, "macro", size)),
        Contestant("ngram_metrics.Bleu", of_torchmetrics("macro", size)),
        Contestant("ignite Bleu", of_ignite(IgniteBleu, "macro", size), FLOAT32_DIVISION, goal),
    ]


def at_whitespace(sacrebleu_goal: float | None, torchmetrics_goal: float | None) -> list[Contestant]:
    return [
        Contestant("ngram_metrics.Bleu", on_strings(lambda: Bleu(average="micro", tokenizer="none"))),
        Contestant("sacrebleu, tokenize none", sacrebleu_corpus("none"), goal=sacrebleu_goal),
        Contestant("torchmetrics BLEUScore", on_strings(BLEUScore), FLOAT32_LOGARITHM, torchmetrics_goal),
        Contestant("bleuscore", bleuscore_corpus, None, note="always 13a"),
    ]


def by_rule(name: str, sacrebleu_goal: float | None, bleuscore_goal: float | None = None) -> list[Contestant]:
    contestants = [
        Contestant(f"ngram_metrics.Bleu, {name}", on_strings(lambda: Bleu(average="micro", tokenizer=name))),
        Contestant(f"sacrebleu, tokenize {name}", sacrebleu_corpus(name), goal=sacrebleu_goal),
    ]
    if name == "13a":
        contestants += [
            Contestant("torchmetrics SacreBLEUScore", on_strings(SacreBLEUScore), FLOAT32_LOGARITHM),
            Contestant("bleuscore", bleuscore_corpus, goal=bleuscore_goal),
        ]
    return contestants


SENTENCES: Sequence[Contestant] = [
    Contestant("ngram_metrics bleu_score", our_sentences),
    Contestant("sacrebleu sentence_score", sacrebleu_sentences),
]
NLTK = Contestant("nltk corpus_bleu", nltk_corpus, None, note="short segments count more")


def tokens(corpus: Corpus, options: Any) -> None:
    one = fresh_batch(corpus)
    time_each("(a) split tokens, micro", [*micro_tokens(8), NLTK], one, options)
    time_each("(a) split tokens, macro", macro_tokens(8), one, options)


def strings(corpus: Corpus, options: Any) -> None:
    time_each("(b) strings, whitespace, micro", at_whitespace(5, 25), fresh_batch(corpus), options)


def mteval_13a(corpus: Corpus, options: Any) -> None:
    time_each("(c) strings, 13a, micro", by_rule("13a", 5, 1.3), fresh_batch(corpus), options)
    time_each("(c) strings, intl, micro", by_rule("intl", 5), fresh_batch(corpus), options)


def sentences(corpus: Corpus, options: Any) -> None:
    time_each("(d) strings, a score a sentence", SENTENCES, fresh_batch(corpus), options)


def references(corpus: Corpus, options: Any) -> None:
    four = fresh_batch(corpus, references=4)
    four_13a = fresh_batch(corpus, references=4, tokenize=bleuscore.tokenizer_13a)
    time_each("(e) 4 references, split tokens, micro", [*micro_tokens(None), NLTK], four, options)
    time_each("(e) 4 references, split tokens, macro", macro_tokens(None), four, options)
    time_each("(e) 4 references, strings, whitespace, micro", at_whitespace(None, None), four, options)
    time_each("(e) 4 references, strings, 13a, micro", by_rule("13a", None), four_13a, options)
    time_each("(e) 4 references, strings, a score a sentence", SENTENCES, four, options)
    by_batch = [Contestant("ngram_metrics.Bleu", our_batches), Contestant("sacrebleu corpus_score", sacrebleu_batches)]
    time_each("(e) 4 references, strings, 13a, a score for 64 sentences", by_batch, four_13a, options)
    padded = [Contestant("ngram_metrics bleu_score", our_ids), Contestant("ignite Bleu, of lists", ignite_ids)]
    time_each("(e) 4 references, padded ids, micro", padded, fresh_ids, options)


def small_batches(corpus: Corpus, options: Any) -> None:
    for size in (8, 32, 128):
        for average, contestants in (("micro", micro_tokens), ("macro", macro_tokens)):
            task = f"(f) split tokens in batches of {size}, {average}"
            time_each(task, contestants(None, size), fresh_batch(corpus), options)


TASKS = {
    "tokens": tokens,
    "strings": strings,
    "13a": mteval_13a,
    "sentences": sentences,
    "references": references,
    "batches": small_batches,
}


def main(options: Any) -> None:
    corpus = read_corpus(options.folder)
    words = sum(len(line.split()) for line in corpus.references)
    print(
        f"{len(corpus.references)} segments of {words / len(corpus.references):.1f} words in the reference, "
        f"{len(corpus.systems)} systems, {options.repeats} repeats"
    )
    for task in options.tasks.split(","):
        TASKS[task](corpus, options)


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--tasks", default=",".join(TASKS), help="which, apart by commas (%(default)s)")
    run_pinned(main, arguments, "torchmetrics pytorch-ignite sacrebleu nltk bleuscore")
