"""BLEU, chrF and chrF++ against their peers on real text.

Goal, of BLEU on one thread: from split tokens at least 8 times as fast as ignite; from strings at least 25 times as
fast as torchmetrics' BLEUScore, and by each tokenizer 5 times as fast as sacrebleu, with 13a 1.3 times as fast as
bleuscore. Of chrF: the corpus score at least 12 times as fast as sacrebleu and 300 times as fast as torchmetrics; a
score a segment 2.5 times as fast as fastchrf; chrF++ of the corpus 13 times as fast as sacrebleu.

How to run: ``python tests/benchmarks/scores.py FOLDER``, with the group ``bench`` installed, on an idle machine. FOLDER
holds ``reference.txt`` and ``systems/*.txt``. ``--tasks`` picks some of:

    tokens      split tokens to the corpus score and to the mean of the segments' scores
    strings     strings, split at whitespace, to the corpus score
    13a         strings through the tokenizers 13a and intl to the corpus score
    segments    strings to a score a segment, each order smoothed
    chrf        strings to chrF and chrF++ of the corpus, and to chrF of each segment; fastchrf is given n groups of one
                hypothesis and one reference, torchmetrics the first 500 segments: it takes 12 milliseconds for each
    references  all of these with four references a segment; and padded ids, 256 segments of up to 1,024, which ignite
                takes as lists

What it checks: the scores agree, in every repeat, within the tolerance the table states: 1e-9 where a peer counts in
integers or float64, 1e-6 where it divides in float32, 1e-5 where it takes the logarithms in float32 too. Where the
definitions differ nothing is compared:

* nltk's corpus_bleu counts one n-gram in every segment that is too short to have any: its score is a little lower.
* bleuscore always applies the 13a tokenizer, so beside strings it scores something else; beside 13a it agrees.
* Of several references, bleuscore takes the closest length only when asked to, as it is here, and torchmetrics the
  first listed of two equally near ones, here the shorter, because the references stand in order of length: both agree.
* torchmetrics' chrF keeps n-grams of orders that the reference lacks, and leaves out segments without a match; the word
  that ends every line here, see the harness, makes sure that there are neither.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bleuscore
import fastchrf
import torch
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
from ignite.metrics import Bleu as IgniteBleu
from nltk.translate.bleu_score import corpus_bleu
from sacrebleu.metrics import BLEU, CHRF
from torch import Tensor
from torchmetrics.text import BLEUScore, CHRFScore, SacreBLEUScore

from ngram_metrics import Bleu, ChrF
from ngram_metrics.functional import bleu_score, chrf_score
from ngram_metrics.ignite import Bleu as OurIgniteBleu

Timed = Callable[[Any], Callable[[], Any]]

FLOAT32_DIVISION = 1e-6
FLOAT32_LOGARITHM = 1e-5


def on_tokens(metric: Callable[[], Any], for_ignite: bool = False) -> Timed:
    """Time a class, ours or theirs, on split tokens: new strings that nobody has hashed."""

    def prepare(batch: Batch) -> Callable[[], float]:
        made = metric()
        hypotheses = [hypothesis.split() for hypothesis in batch.hypotheses]
        references = [[reference.split() for reference in several] for several in batch.references]

        def call() -> float:
            made.update((hypotheses, references)) if for_ignite else made.update(hypotheses, references)
            return float(made.compute())

        return call

    return prepare


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
    hypotheses = [hypothesis.split() for hypothesis in batch.hypotheses]
    references = [[reference.split() for reference in several] for several in batch.references]
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


def our_segments(batch: Batch) -> Callable[[], list[float]]:
    def call() -> list[float]:
        return bleu_score(batch.hypotheses, batch.references, tokenizer="none", average="none").tolist()

    return call


def sacrebleu_segments(batch: Batch) -> Callable[[], list[float]]:
    metric = BLEU(tokenize="none", smooth_method="exp", effective_order=True, force=True)
    pairs = list(zip(batch.hypotheses, batch.references, strict=True))
    return lambda: [metric.sentence_score(hypothesis, several).score / 100 for hypothesis, several in pairs]


def sacrebleu_chrf(word_order: int) -> Timed:
    def prepare(batch: Batch) -> Callable[[], float]:
        metric = CHRF(word_order=word_order)
        streams = list(map(list, zip(*batch.references, strict=True)))
        return lambda: metric.corpus_score(batch.hypotheses, streams).score / 100

    return prepare


def fastchrf_segments(batch: Batch) -> Callable[[], list[float]]:
    hypotheses = [[hypothesis] for hypothesis in batch.hypotheses]
    return lambda: [group[0][0] / 100 for group in fastchrf.pairwise_chrf(hypotheses, batch.references)]


def of_chrf(word_order: int, goal: float | None) -> list[Contestant]:
    return [
        Contestant("ngram_metrics.ChrF", on_strings(lambda: ChrF(word_order=word_order))),
        Contestant("sacrebleu corpus_score", sacrebleu_chrf(word_order), goal=goal),
    ]


def of_tokens(average: str, goal: float | None) -> list[Contestant]:
    plain: dict[str, Any] = {"average": average, "smooth": "no_smooth", "effective_order": False}
    tolerance = FLOAT32_DIVISION if average == "macro" else 1e-9
    return [
        Contestant("ngram_metrics.ignite.Bleu", on_tokens(lambda: OurIgniteBleu(average=average), True)),
        Contestant("ngram_metrics.Bleu", on_tokens(lambda: Bleu(**plain))),
        Contestant("ignite Bleu", on_tokens(lambda: IgniteBleu(average=average), True), tolerance, goal),
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


CHRF_OF_SEGMENTS = [
    Contestant(
        "ngram_metrics chrf_score",
        lambda batch: lambda: chrf_score(batch.hypotheses, batch.references, average="none").tolist(),
    ),
    Contestant("fastchrf.pairwise_chrf", fastchrf_segments, goal=2.5),
]
SMOOTHED = [
    Contestant("ngram_metrics.ChrF, eps_smoothing", on_strings(lambda: ChrF(eps_smoothing=True))),
    Contestant("torchmetrics CHRFScore", on_strings(lambda: CHRFScore(n_word_order=0)), FLOAT32_LOGARITHM, 300),
]
SEGMENTS = [
    Contestant("ngram_metrics bleu_score", our_segments),
    Contestant("sacrebleu sentence_score", sacrebleu_segments),
]
NLTK = Contestant("nltk corpus_bleu", nltk_corpus, None, note="short segments count more")
PADDED = [Contestant("ngram_metrics bleu_score", our_ids), Contestant("ignite Bleu, of lists", ignite_ids)]
FEW = "chrF of 500 segments"
#: Headings and contestants of each task with one reference.
TASKS: dict[str, list[tuple[str, list[Contestant]]]] = {
    "tokens": [
        ("split tokens, micro", [*of_tokens("micro", 8), NLTK]),
        ("split tokens, macro", of_tokens("macro", 8)),
    ],
    "strings": [("strings, whitespace, micro", at_whitespace(5, 25))],
    "13a": [("strings, 13a, micro", by_rule("13a", 5, 1.3)), ("strings, intl, micro", by_rule("intl", 5))],
    "segments": [("strings, a score a segment", SEGMENTS)],
    "chrf": [
        ("chrF of the corpus", of_chrf(0, 12)),
        ("chrF++ of the corpus", of_chrf(2, 13)),
        ("chrF, a score a segment", CHRF_OF_SEGMENTS),
        (FEW, SMOOTHED),
    ],
}
#: The same with four references, where no goal is set.
REFERENCES = [
    ("split tokens, micro", [*of_tokens("micro", None), NLTK]),
    ("split tokens, macro", of_tokens("macro", None)),
    ("strings, whitespace, micro", at_whitespace(None, None)),
    ("strings, 13a, micro", by_rule("13a", None)),
    ("strings, a score a segment", SEGMENTS),
    ("chrF of the corpus", of_chrf(0, None)),
]


def main(options: Any) -> None:
    corpus = read_corpus(options.folder)
    words = sum(len(line.split()) for line in corpus.references)
    print(
        f"{len(corpus.references)} segments of {words / len(corpus.references):.1f} words in the reference, "
        f"{len(corpus.systems)} systems, {options.repeats} repeats"
    )
    for task in options.tasks.split(","):
        for heading, contestants in TASKS.get(task, ()):
            segments = 500 if heading == FEW else None
            time_each(heading, contestants, fresh_batch(corpus, segments=segments), options)
        if task == "references":
            for heading, contestants in REFERENCES:
                tokenize = bleuscore.tokenizer_13a if "13a" in heading else str.split
                four = fresh_batch(corpus, references=4, tokenize=tokenize)
                time_each(f"4 references, {heading}", contestants, four, options)
            time_each("4 references, padded ids, micro", PADDED, fresh_ids, options)


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument(
        "--tasks", default=",".join([*TASKS, "references"]), help="which, apart by commas (%(default)s)"
    )
    run_pinned(main, arguments, "torchmetrics pytorch-ignite sacrebleu nltk bleuscore fastchrf")
