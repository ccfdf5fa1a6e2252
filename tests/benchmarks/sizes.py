"""From one pair to a hundred thousand: each metric against the fastest call of each peer, in one table.

Goal, on one thread: for no number of pairs and no metric is a way of ours slower than sacrebleu, rouge_score, nltk,
ignite or torchmetrics, called in their fastest way.

How to run: ``python tests/benchmarks/sizes.py FOLDER --threads 1 --clock cpu``, with the group ``bench`` installed.
FOLDER holds ``reference.txt`` and ``systems/*.txt``. ``--tasks`` picks tasks by a word of their names, ``--sizes``
numbers of pairs.

What it does: a batch of so many pairs is scored in one call; small batches one after another, as many as make 256
pairs. Metrics and scorers are made once and reset before each batch, ours and those of the peers; ``made anew`` is
constructed for each. Peers are timed with at most 1,024 pairs, torchmetrics' chrF with 32: their time for more, in
parentheses, is that of their largest batch, times the number of such batches.

What it checks: the score of each batch agrees in every repeat, within 1e-12, or 1e-5 where a peer counts in float32.
All texts are new to all contestants, but those "in its cache", which sacrebleu has tokenized before the clock starts.
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
from nltk.translate.chrf_score import corpus_chrf
from nltk.translate.gleu_score import corpus_gleu
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF
from torchmetrics.functional.text import bleu_score as torchmetrics_bleu
from torchmetrics.functional.text import chrf_score as torchmetrics_chrf
from torchmetrics.functional.text import rouge_score as torchmetrics_rouge
from torchmetrics.functional.text import sacre_bleu_score as torchmetrics_sacrebleu
from torchmetrics.text import BLEUScore, CHRFScore, SacreBLEUScore
from torchmetrics.text import ROUGEScore as TorchmetricsROUGE

from ngram_metrics import Bleu, ChrF, Gleu, ROUGEScore, functional, pair
from ngram_metrics.ignite import Bleu as OurIgniteBleu
from ngram_metrics.ignite import Rouge as OurIgniteRouge

SIZES = "1,2,4,8,16,32,128,1024,100000"
#: Small batches are timed together, as many as make this number of pairs.
PAIRS = 256
#: Peers are timed with at most so many pairs.
MOST = 1_024
EXACT, FLOAT32 = 1e-12, 1e-5
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
        tolerance: how far a score may lie from that of the first way of the task.
        most: the largest batch that is timed; None for any.
        warm: whether all texts are scored once before the clock starts.
    """

    name: str
    make: Callable[[], Score]
    tolerance: float = EXACT
    most: int | None = MOST
    warm: bool = False


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
        Way("metric, made anew", lambda: lambda preds, target: of_metric(metric())(preds, target), most=None),
    ]
    if for_ignite:
        ways.append(Way("metric for ignite", lambda: of_ignite(for_ignite()), most=None))
    return ways


def each(function: Score) -> Way:
    """Return the way that calls a function of `ngram_metrics.pair` for each pair."""
    return Way("pair, one by one", lambda: lambda preds, target: list(map(function, preds, target)), most=None)


def mean_of_each(preds: Any, target: Any) -> list[float]:
    """Return the mean of what `ngram_metrics.pair` gives for each pair by ROUGE."""
    scores = [numbers(pair.rouge(one, other, rouge_keys=KEYS)) for one, other in zip(preds, target, strict=True)]
    return [fmean(values) for values in zip(*scores, strict=True)]


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


def torchmetrics(function: Score, metric: Any, most: int = MOST, **options: Any) -> list[Way]:
    """Return a function of torchmetrics and its class."""
    return [
        Way(
            f"torchmetrics {function.__name__}",
            lambda: with_lists(lambda preds, target: numbers(function(preds, target, **options))),
            FLOAT32,
            most,
        ),
        Way(f"torchmetrics {metric.__name__}", lambda: with_lists(of_metric(metric(**options))), FLOAT32, most),
    ]


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
        return Task(name, [each(partial(pair.bleu, **options)), *found], peers, tokens)

    corpus, sentence = BLEU, partial(BLEU, effective_order=True)
    return [
        task(
            "BLEU 13a, corpus",
            exp,
            [
                Way("sacrebleu corpus_score", lambda: of_sacrebleu(corpus())),
                Way("sacrebleu corpus_score, texts in its cache", lambda: of_sacrebleu(corpus()), warm=True),
            ],
        ),
        task(
            "BLEU of characters, corpus",
            {**exp, "tokenizer": "char"},
            [Way("sacrebleu corpus_score", lambda: of_sacrebleu(BLEU(tokenize="char")))],
        ),
        sentences(
            "BLEU 13a, sentences",
            {**exp, "effective_order": True},
            [
                Way("sacrebleu sentence_score", lambda: of_sacrebleu(sentence(), True)),
                Way("sacrebleu sentence_score, texts in its cache", lambda: of_sacrebleu(sentence(), True), warm=True),
            ],
        ),
        task("BLEU 13a, not smoothed", {"tokenizer": "13a"}, torchmetrics(torchmetrics_sacrebleu, SacreBLEUScore)),
        task("BLEU at whitespace", {}, torchmetrics(torchmetrics_bleu, BLEUScore)),
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
    """Return the tasks of chrF, ROUGE and GLEU."""
    eps: dict[str, Any] = {"eps_smoothing": True}
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
            [each(pair.chrf), *ours(partial(functional.chrf_score, average="none"), lambda: ChrF(average="none"))],
            [Way("sacrebleu sentence_score", lambda: of_sacrebleu(CHRF(), True))],
        ),
        Task(
            "chrF, eps smoothing, corpus",
            ours(partial(functional.chrf_score, **eps), lambda: ChrF(**eps)),
            torchmetrics(torchmetrics_chrf, CHRFScore, 32, n_word_order=0),
        ),
        Task(
            "chrF, eps smoothing, mean",
            ours(partial(functional.chrf_score, average="macro", **eps), lambda: ChrF(average="macro", **eps)),
            [nltk("corpus_chrf", lambda preds, target: corpus_chrf(target, preds, beta=2))],
        ),
        Task(
            "ROUGE-1, -2, -L",
            [
                Way("pair, one by one", lambda: mean_of_each, most=None),
                *ours(partial(functional.rouge_score, **keys), lambda: ROUGEScore(**keys)),
            ],
            [
                Way("rouge_score", of_rouge_score),
                *torchmetrics(torchmetrics_rouge, TorchmetricsROUGE, **keys),
            ],
        ),
        Task(
            "ROUGE-1, -2, -L of tokens",
            [Way("metric for ignite", lambda: of_ignite(OurIgniteRouge(**ignite)), most=None)],
            [Way("ignite Rouge", lambda: with_lists(of_ignite(IgniteRouge(**ignite))))],
            True,
        ),
        Task(
            "GLEU of tokens, corpus",
            ours(functional.gleu_score, Gleu),
            [nltk("corpus_gleu", with_lists(lambda preds, target: corpus_gleu(target, preds)))],
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
        call = lambda: [score(*batch) for batch in batches]  # noqa: E731
        if way.warm:
            call()
        return call

    return prepare


def seconds_per_pair(task: Task, size: int, corpus: Corpus, options: argparse.Namespace) -> dict[str, float]:
    """Return the least time of each way that is timed with batches of this size."""
    ways = [way for way in (*task.ours, *task.peers) if way.most is None or size <= way.most]
    contestants = [Contestant(way.name, prepared(way), way.tolerance) for way in ways]
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
    print(f"\n{layout(rows)}", flush=True)


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--tasks", default="", help="a word in the names of the tasks (all)")
    arguments.add_argument("--sizes", default=SIZES, help="numbers of pairs, the least at most 32 (%(default)s)")
    run_pinned(main, arguments, "sacrebleu rouge_score nltk pytorch-ignite torchmetrics")
