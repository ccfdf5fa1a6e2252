"""From one pair to a hundred thousand: each metric against its peers.

Goal, on one thread: from two pairs on, no metric is slower than sacrebleu, rouge_score, nltk or ignite.

How to run: ``python tests/benchmarks/sizes.py FOLDER --threads 1 --clock cpu``, with the group ``bench`` installed.
FOLDER holds ``reference.txt`` and ``systems/*.txt``. ``--tasks`` picks tasks by a word of their names, and
``--sizes`` are numbers of pairs.

What it does: a batch of so many pairs is scored in one call; small batches one after another, as many as make 256
pairs. Metrics and scorers are made once and reset before each batch, ours and those of the peers. Peers are timed with
at most 1,024 pairs: their time for more, in parentheses, is that of their largest batch, times the number of such
batches.

What it checks: the score of each batch agrees in every repeat, within 1e-12. All texts are new to all contestants.
nltk finds an n-gram in a sentence that is too short for it, so each sentence has four words or more.

The table has microseconds for each pair. Behind a time of ours is that of the fastest peer as a multiple of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from statistics import fmean
from typing import Any, NamedTuple

from harness import Contestant, Corpus, layout, parser, read_corpus, run_pinned, seconds_of, unseen
from ignite.metrics import Bleu as IgniteBleu
from ignite.metrics import Rouge as IgniteRouge
from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu, sentence_bleu
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF

from ngram_metrics import Bleu, ChrF, ROUGEScore, functional
from ngram_metrics.ignite import Bleu as OurIgniteBleu
from ngram_metrics.ignite import Rouge as OurIgniteRouge

SIZES = "1,2,4,8,16,32,128,1024,100000"
#: Small batches are timed together, as many as make this number of pairs.
PAIRS = 256
#: Peers are timed with at most so many pairs.
MOST = 1_024
KEYS = ("rouge1", "rouge2", "rougeL")
PARTS = ("precision", "recall", "fmeasure")
Pairs = tuple[list[Any], list[Any]]
#: From hypotheses and references to a score, or to several.
Score = Callable[[Any, Any], Any]


class Way(NamedTuple):
    """One way to a score.

    Attributes:
        name: for the table.
        make: makes the function.
        most: the largest batch that is timed; None for any.
    """

    name: str
    make: Callable[[], Score]
    most: int | None = MOST


class Task(NamedTuple):
    """What is scored, and the ways to it; ``tokens``: texts are split before the clock starts."""

    name: str
    ours: list[Way]
    peers: list[Way]
    tokens: bool = False


def ours(function: Score, metric: Callable[[], Any], for_ignite: Callable[[], Any] | None = None) -> list[Way]:
    """Return the ways of this package: the function, the metric, and the metric for ignite."""
    ways = [
        Way("functional", lambda: lambda preds, target: numbers(function(preds, target)), most=None),
        Way("metric", lambda: of_metric(metric()), most=None),
    ]
    if for_ignite:
        ways.append(Way("metric for ignite", lambda: of_ignite(for_ignite()), most=None))
    return ways


def numbers(score: Any) -> Any:
    """Return a score as floats, one of several in the order of the keys."""
    if isinstance(score, dict):
        return [float(score[f"{key}_{part}"]) for key in KEYS for part in PARTS]
    return score.tolist()


def of_metric(metric: Any) -> Score:
    def score(preds: Any, target: Any) -> Any:
        metric.reset()
        metric.update(preds, target)
        return numbers(metric.compute())

    return score


def of_ignite(metric: Any) -> Score:
    def score(preds: Any, target: Any) -> Any:
        metric.reset()
        metric.update((preds, target))
        found = metric.compute()
        return [*found.values()] if isinstance(found, dict) else numbers(found) if hasattr(found, "dim") else found

    return score


def of_sacrebleu(metric: Any, sentences: bool = False) -> Score:
    if sentences:
        return lambda preds, target: [
            metric.sentence_score(one, [other]).score / 100 for one, other in zip(preds, target, strict=True)
        ]
    return lambda preds, target: metric.corpus_score(preds, [target]).score / 100


def of_rouge_score() -> Score:
    scorer = RougeScorer(list(KEYS))

    def score(preds: Any, target: Any) -> list[float]:
        found = [scorer.score(other, one) for one, other in zip(preds, target, strict=True)]
        return [fmean(getattr(scores[key], part) for scores in found) for key in KEYS for part in PARTS]

    return score


def with_lists(score: Score) -> Score:
    """Pass each reference as a list of one."""
    return lambda preds, target: score(preds, [[one] for one in target])


def nltk(name: str, score: Score) -> Way:
    return Way(f"nltk {name}", lambda: score)


def bleu_tasks() -> list[Task]:
    """Return the tasks of BLEU: of a corpus and of sentences, texts and tokens, with the smoothings of peers."""
    exp: dict[str, Any] = {"smooth": "exp", "tokenizer": "13a"}
    plain: dict[str, Any] = {"smooth": "smooth1"}
    method1 = SmoothingFunction().method1

    def task(name: str, options: dict[str, Any], peers: list[Way], tokens: bool = False) -> Task:
        """Return a task of a corpus."""
        options = {**options, "average": "micro"}
        for_ignite = (lambda: OurIgniteBleu(**options)) if tokens else None
        score = partial(functional.bleu_score, **options)
        return Task(name, ours(score, lambda: Bleu(**options), for_ignite), peers, tokens)

    def sentences(name: str, options: dict[str, Any], peers: list[Way], tokens: bool = False) -> Task:
        """Return a task of sentences."""
        rows = {**options, "average": "none"}
        found = ours(partial(functional.bleu_score, **rows), lambda: Bleu(**rows))
        return Task(name, found, peers, tokens)

    return [
        task(
            "BLEU 13a, corpus",
            exp,
            [Way("sacrebleu corpus_score", lambda: of_sacrebleu(BLEU()))],
        ),
        task(
            "BLEU of characters, corpus",
            {**exp, "tokenizer": "char"},
            [Way("sacrebleu corpus_score", lambda: of_sacrebleu(BLEU(tokenize="char")))],
        ),
        sentences(
            "BLEU 13a, sentences",
            {**exp, "effective_order": True},
            [Way("sacrebleu sentence_score", lambda: of_sacrebleu(BLEU(effective_order=True), True))],
        ),
        task(
            "BLEU of tokens, corpus",
            plain,
            [
                Way("ignite Bleu", lambda: with_lists(of_ignite(IgniteBleu(**plain, average="micro")))),
                nltk("corpus_bleu", with_lists(lambda p, t: corpus_bleu(t, p, smoothing_function=method1))),
            ],
            True,
        ),
        sentences(
            "BLEU of tokens, sentences",
            plain,
            [
                nltk(
                    "sentence_bleu",
                    lambda preds, target: [
                        sentence_bleu([other], one, smoothing_function=method1)
                        for one, other in zip(preds, target, strict=True)
                    ],
                )
            ],
            True,
        ),
    ]


def other_tasks() -> list[Task]:
    """Return the tasks of chrF and ROUGE."""
    keys: dict[str, Any] = {"rouge_keys": KEYS}
    ignite: dict[str, Any] = {"variants": [1, 2, "L"], "multiref": "best"}
    return [
        Task(
            "chrF, corpus",
            ours(functional.chrf_score, ChrF),
            [Way("sacrebleu corpus_score", lambda: of_sacrebleu(CHRF()))],
        ),
        Task(
            "chrF, sentences",
            ours(partial(functional.chrf_score, average="none"), lambda: ChrF(average="none")),
            [Way("sacrebleu sentence_score", lambda: of_sacrebleu(CHRF(), True))],
        ),
        Task(
            "ROUGE-1, -2, -L",
            ours(partial(functional.rouge_score, **keys), lambda: ROUGEScore(**keys)),
            [Way("rouge_score", of_rouge_score)],
        ),
        Task(
            "ROUGE-1, -2, -L of tokens",
            [Way("metric for ignite", lambda: of_ignite(OurIgniteRouge(**ignite)), most=None)],
            [Way("ignite Rouge", lambda: with_lists(of_ignite(IgniteRouge(**ignite))))],
            True,
        ),
    ]


def fresh_pairs(corpus: Corpus, size: int, tokens: bool) -> Callable[[int, int], list[Pairs]]:
    """Return the function that makes a contestant's batches of a repeat."""
    lines_of_segments = enumerate(zip(corpus.references, *corpus.systems, strict=True))
    kept = [index for index, lines in lines_of_segments if all(len(line.split()) > 3 for line in lines)]
    wanted = max(size, PAIRS)
    turns = -(-wanted // len(kept))

    def make(repeat: int, contestant: int) -> list[Pairs]:
        sides: Pairs = ([], [])
        for turn in range(turns):
            system = corpus.systems[(repeat + turn) % len(corpus.systems)]
            for side, lines in zip(sides, (system, corpus.references), strict=True):
                side += unseen([lines[index] for index in kept], repeat * turns + turn, contestant)
        if tokens:
            sides = tuple([line.split() for line in side] for side in sides)
        return [tuple(side[start : start + size] for side in sides) for start in range(0, wanted, size)]

    return make


def prepared(way: Way) -> Callable[[list[Pairs]], Callable[[], Any]]:
    """Return the function that makes a way ready for batches, all of which a call scores."""

    def prepare(batches: list[Pairs]) -> Callable[[], Any]:
        score = way.make()
        return lambda: [score(*batch) for batch in batches]

    return prepare


def seconds_per_pair(task: Task, size: int, corpus: Corpus, options: argparse.Namespace) -> dict[str, float]:
    """Return the least time of each way that is timed with batches of this size."""
    ways = [way for way in (*task.ours, *task.peers) if way.most is None or size <= way.most]
    contestants = [Contestant(way.name, prepared(way), 1e-12) for way in ways]
    found = seconds_of(f"{task.name}, {size}", contestants, fresh_pairs(corpus, size, task.tokens), options)
    pairs = -(-max(size, PAIRS) // size) * size
    return {way.name: min(times) / pairs for way, times in zip(ways, found, strict=True)}


def rows_of(task: Task, sizes: Sequence[int], corpus: Corpus, options: argparse.Namespace) -> list[list[str]]:
    """Time a task; return its rows of the table."""
    timed = {size: seconds_per_pair(task, size, corpus, options) for size in sizes}
    fastest = {}
    rows = [[way.name] for way in task.peers]
    for size in sizes:
        times = []
        for way, row in zip(task.peers, rows, strict=True):
            largest = max(one for one in sizes if one <= size and way.name in timed[one])
            times.append(timed[largest][way.name])
            row.append(f"{times[-1] * 1e6:.1f}" if largest == size else f"({times[-1] * 1e6:.1f})")
        fastest[size] = min(times)
    ours = [
        [way.name, *(f"{(time := timed[size][way.name]) * 1e6:.1f}, {fastest[size] / time:.2f}" for size in sizes)]
        for way in task.ours
    ]
    return [[f"**{task.name}**", *[""] * len(sizes)], *ours, *rows]


def main(options: argparse.Namespace) -> None:
    corpus, sizes = read_corpus(options.folder), [int(size) for size in options.sizes.split(",")]
    chosen = [task for task in (*bleu_tasks(), *other_tasks()) if options.tasks.lower() in task.name.lower()]
    rows = [["microseconds for each pair", *(f"{size:,}" for size in sizes)]]
    for task in chosen:
        rows += rows_of(task, sizes, corpus, options)
    if chosen:
        print(f"\n{layout(rows)}", flush=True)


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--tasks", default="", help="a word in the names of the tasks (all)")
    arguments.add_argument("--sizes", default=SIZES, help="numbers of pairs, the least at most 32 (%(default)s)")
    run_pinned(main, arguments, "sacrebleu rouge_score nltk pytorch-ignite")
