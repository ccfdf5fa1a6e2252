"""BLEU, ROUGE and chrF of text, of an epoch of validation or of one batch after another, against other packages.

How to run: ``python tests/benchmarks/epoch.py FOLDER --threads 1 --clock cpu``, which prints the tables of speeds of
BLEU, ROUGE and chrF on the page of benchmarks and in the README. ``--tasks`` picks rows by a part of their names.
``--each --sizes 1,2,4,32`` scores each batch of so many segments by itself, as a reward is scored. ``--tasks wrapper
--sizes 1,8,32,128`` compares with a metric around sacrebleu, ``--lines 10 --segments 20`` scores documents of ten
lines, and ``--references 4`` takes the outputs of other systems as further references, for packages that take several.

What it does: our metric counts an epoch in updates of 32 segments, and in one update; then it computes the score of the
corpus. ignite and torchmetrics do the same. The other packages keep no counts: they get all texts at the end, which is
their fastest way. With ``--each`` ours and theirs are reset before each batch and asked for its score. torchmetrics'
chrF is timed with the first 512 segments. The stems that ours keeps from one batch to the next are forgotten before
each timing.

What it checks: all scores agree in every repeat within 1e-9, and within more where a peer divides or takes logs in
float32. Of rouge_score's values the mean precision, recall and F of every key agree within 1e-12. torchmetrics' chrF
leaves out the reference of a segment that has no match. nltk's corpus_bleu is not compared: it counts one n-gram in
every segment that is too short to have any.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import chain, count
from statistics import fmean
from typing import Any, NamedTuple

import bleuscore
import fast_rouge
import fastchrf
import torch
from harness import Contestant, Corpus, parser, print_heading, print_row, read_corpus, run, seconds_of, unseen
from ignite.metrics import Bleu as IgniteBleu
from ignite.metrics import Metric as IgniteMetric
from ignite.metrics import Rouge as IgniteRouge
from nltk.translate.bleu_score import corpus_bleu
from rapidrouge.rouge_scorer import RougeScorer as RapidScorer
from rouge_score.rouge_scorer import RougeScorer
from rouge_score_rs.rouge_scorer import RougeScorer as RustScorer
from sacrebleu.metrics import BLEU, CHRF
from torch.nn.utils.rnn import pad_sequence
from torchmetrics import Metric
from torchmetrics.text import BLEUScore, CHRFScore, SacreBLEUScore
from torchmetrics.text import ROUGEScore as TorchmetricsROUGE

from ngram_metrics import Bleu, ChrF, ROUGEScore
from ngram_metrics._core.text.stemmer import rouge_stem
from ngram_metrics.functional import bleu_score, chrf_score
from ngram_metrics.ignite.drop_in import Bleu as OurIgniteBleu
from ngram_metrics.ignite.drop_in import Rouge as OurIgniteRouge

KEYS = ("rouge1", "rouge2", "rougeL")
WITH_SUMMARY = (*KEYS, "rougeLsum")
PARTS = ("precision", "recall", "fmeasure")
IN_FLOAT64, DIVIDES_IN_FLOAT32, IN_FLOAT32, WITHOUT_MATCH = 1e-12, 1e-6, 1e-5, 1e-4
Texts = list[str]
References = list[list[str]]


class Epoch(NamedTuple):
    """Hypotheses and references of each batch, and whether each is scored by itself."""

    batches: list[tuple[Texts, References]]
    each: bool


Way = Callable[[Epoch], Callable[[], Any]]
#: From hypotheses and references to what a package takes; it is not timed.
Reader = Callable[[Texts, References], tuple[Any, Any]]


def texts(hypotheses: Texts, references: References) -> tuple[Texts, References]:
    return hypotheses, references


def first_references(hypotheses: Texts, references: References) -> tuple[Texts, Texts]:
    return hypotheses, [several[0] for several in references]


def streams(hypotheses: Texts, references: References) -> tuple[Texts, References]:
    """Put the first references of all segments into one list, the second ones into another, as sacrebleu takes them."""
    return hypotheses, list(map(list, zip(*references, strict=True)))


def shortest_first(tokenize: Callable[[str], Sequence[str]]) -> Reader:
    """Sort references: of two whose lengths are equally near torchmetrics takes the first, others the shorter."""
    return lambda hypotheses, references: (
        hypotheses,
        [sorted(several, key=lambda text: len(tokenize(text))) for several in references],
    )


def on_one_line(hypotheses: Texts, references: References) -> tuple[Texts, References]:
    """Replace the newlines of documents, which are characters to torchmetrics' chrF."""
    return [text.replace("\n", " ") for text in hypotheses], [
        [text.replace("\n", " ") for text in several] for several in references
    ]


def tokens(hypotheses: Texts, references: References) -> tuple[list[Texts], list[References]]:
    """Split texts: new strings that nobody has hashed."""
    return [text.split() for text in hypotheses], [[text.split() for text in several] for several in references]


def ids(hypotheses: Texts, references: References) -> tuple[list[list[int]], list[list[list[int]]]]:
    """Number words from 1."""
    numbers: dict[str, int] = defaultdict(count(1).__next__)

    def numbered(text: str) -> list[int]:
        return [numbers[word] for word in text.split()]

    return list(map(numbered, hypotheses)), [list(map(numbered, several)) for several in references]


def padded_ids(hypotheses: Texts, references: References) -> tuple[torch.Tensor, torch.Tensor]:
    rows, others = ids(hypotheses, references)
    padded, flat = (
        pad_sequence([torch.tensor(row) for row in side], batch_first=True)
        for side in (rows, chain.from_iterable(others))
    )
    return padded, flat.view(len(rows), -1, flat.shape[1])


def in_updates(make: Callable[[], Any], read: Reader = texts) -> Way:
    """Count an epoch in its batches; a metric of ignite takes each as a pair."""

    def prepare(epoch: Epoch) -> Callable[[], Any]:
        metric = make()
        batches = [read(*batch) for batch in epoch.batches]
        update = metric.update if isinstance(metric, IgniteMetric) else lambda batch: metric.update(*batch)

        def call() -> Any:
            scores = []
            for batch in batches:
                update(batch)
                if epoch.each:
                    scores.append(metric.compute())
                    metric.reset()
            return scores if epoch.each else metric.compute()

        return call

    return prepare


def at_the_end(score: Callable[[Any, Any], Any], read: Reader = texts) -> Way:
    """Score all texts of the epoch in one call, whatever its batches, or each batch."""

    def prepare(epoch: Epoch) -> Callable[[], Any]:
        hypotheses, references = (list(chain.from_iterable(side)) for side in zip(*epoch.batches, strict=True))
        batches = [read(*batch) for batch in (epoch.batches if epoch.each else [(hypotheses, references)])]
        return lambda: [score(*batch) for batch in batches]

    return prepare


def sacrebleu(metric: Callable[..., Any], **options: Any) -> Way:
    return at_the_end(
        lambda hypotheses, others: metric(**options).corpus_score(hypotheses, others).score / 100, streams
    )


def sacrebleu_segments(hypotheses: Texts, references: References) -> list[float]:
    metric = BLEU(tokenize="none", smooth_method="exp", effective_order=True)
    pairs = zip(hypotheses, references, strict=True)
    return [metric.sentence_score(hypothesis, several).score / 100 for hypothesis, several in pairs]


def bleuscore_corpus(hypotheses: Texts, references: References) -> float:
    # It takes the closest of several lengths only when asked to.
    return bleuscore.compute(references=references, predictions=hypotheses, ref_len_method="closest")["bleu"]


def fastchrf_segments(hypotheses: Texts, references: References) -> list[float]:
    return [group[0][0] / 100 for group in fastchrf.pairwise_chrf([[text] for text in hypotheses], references)]


def bleu(tokenizer: str) -> Way:
    return in_updates(lambda: Bleu(smooth="none", tokenizer=tokenizer))


def ignite_bleu(**options: Any) -> tuple[Way, Way]:
    return in_updates(lambda: OurIgniteBleu(**options), tokens), in_updates(lambda: IgniteBleu(**options), tokens)


def rouge(keys: Sequence[str] = KEYS, stemmer: bool = False) -> Way:
    def make() -> ROUGEScore:
        rouge_stem.cache_clear()
        return ROUGEScore(use_stemmer=stemmer, rouge_keys=keys)

    return in_updates(make)


def rouge_score(keys: Sequence[str] = KEYS, stemmer: bool = False, scorer: Callable[..., Any] = RougeScorer) -> Way:
    def score(hypotheses: Texts, references: Texts) -> dict[str, float]:
        scores = scorer(list(keys), use_stemmer=stemmer).score
        return mean(list(map(scores, references, hypotheses)))

    return at_the_end(score, first_references)


def rouge_score_rs(keys: Sequence[str] = KEYS, stemmer: bool = False) -> Way:
    def score(hypotheses: Texts, references: Texts) -> dict[str, float]:
        return mean(RustScorer(list(keys), use_stemmer=stemmer).score_batch(references, hypotheses))

    return at_the_end(score, first_references)


def mean(scores: Sequence[Any]) -> dict[str, float]:
    return {f"{key}_{part}": fmean(getattr(one[key], part) for one in scores) for key in scores[0] for part in PARTS}


def rouge_rust(hypotheses: Texts, references: Texts) -> dict[str, float]:
    scores = fast_rouge.score_batch_flat(references, hypotheses)
    return {f"{key}_{part}": fmean(getattr(scores, f"{key}_{part}")) for key in KEYS for part in PARTS}


class Wrapper(Metric):
    """sacrebleu's counts of each batch, summed in states of torchmetrics, as packages do that wrap it."""

    def __init__(self) -> None:
        super().__init__()
        self.bleu = BLEU()
        for name, size in (("counts", 4), ("totals", 4), ("lengths", 2)):
            self.add_state(name, torch.zeros(size, dtype=torch.int64), "sum")

    def update(self, preds: list[str], target: list[list[str]]) -> None:
        score = self.bleu.corpus_score(preds, [[several[0] for several in target]])
        self.counts += torch.tensor(score.counts)
        self.totals += torch.tensor(score.totals)
        self.lengths += torch.tensor([score.sys_len, score.ref_len])

    def compute(self) -> float:
        return BLEU.compute_bleu(self.counts.tolist(), self.totals.tolist(), *self.lengths.tolist()).score / 100


class Row(NamedTuple):
    """The name of the peer, our way and the peer's; the others are those of a contestant, or limit the segments."""

    name: str
    ours: Way
    peer: Way
    tolerance: float | None = 1e-9
    segments: int | None = None


VARIANTS: dict[str, Any] = {"variants": [1, 2, "L"], "multiref": "best"}
ROWS = [
    Row('ignite Bleu(smooth="smooth1", average="micro")', *ignite_bleu(smooth="smooth1", average="micro")),
    Row("ignite Bleu()", *ignite_bleu(), DIVIDES_IN_FLOAT32),
    Row(
        'ignite Bleu(average="micro") of ids, ours padded',
        in_updates(lambda: Bleu(smooth="none", pad_id=0), padded_ids),
        in_updates(lambda: IgniteBleu(average="micro"), ids),
    ),
    Row(
        'ignite Rouge(variants=[1, 2, "L"], multiref="best")',
        in_updates(lambda: OurIgniteRouge(**VARIANTS), tokens),
        in_updates(lambda: IgniteRouge(**VARIANTS), tokens),
    ),
    Row("torchmetrics BLEUScore()", bleu("none"), in_updates(BLEUScore, shortest_first(str.split)), IN_FLOAT32),
    Row(
        "torchmetrics SacreBLEUScore()",
        bleu("13a"),
        in_updates(SacreBLEUScore, shortest_first(bleuscore.tokenizer_13a)),
        IN_FLOAT32,
    ),
    Row(
        f"torchmetrics ROUGEScore(rouge_keys={KEYS})",
        rouge(),
        in_updates(lambda: TorchmetricsROUGE(rouge_keys=KEYS)),
        IN_FLOAT32,
    ),
    Row(
        "torchmetrics CHRFScore()",
        in_updates(lambda: ChrF(word_order=2, eps_smoothing=True)),
        in_updates(CHRFScore, on_one_line),
        WITHOUT_MATCH,
        segments=512,
    ),
    Row("sacrebleu BLEU()", in_updates(Bleu), sacrebleu(BLEU)),
    Row(
        'sacrebleu BLEU(tokenize="none", smooth_method="none")',
        bleu("none"),
        sacrebleu(BLEU, tokenize="none", smooth_method="none"),
    ),
    Row(
        'sacrebleu BLEU(tokenize="intl", smooth_method="none")',
        bleu("intl"),
        sacrebleu(BLEU, tokenize="intl", smooth_method="none"),
    ),
    Row(
        'sacrebleu BLEU(tokenize="none", effective_order=True) of each segment',
        at_the_end(lambda hypotheses, others: bleu_score(hypotheses, others, tokenizer="none", average="none")),
        at_the_end(sacrebleu_segments),
    ),
    Row("bleuscore (Rust)", bleu("13a"), at_the_end(bleuscore_corpus)),
    Row("nltk corpus_bleu", ignite_bleu(average="micro")[0], at_the_end(lambda h, r: corpus_bleu(r, h), tokens), None),
    Row("sacrebleu CHRF()", in_updates(ChrF), sacrebleu(CHRF)),
    Row("sacrebleu CHRF(word_order=2)", in_updates(lambda: ChrF(word_order=2)), sacrebleu(CHRF, word_order=2)),
]
OF_ONE_REFERENCE = [
    Row(
        "fastchrf of each segment (Rust)",
        at_the_end(lambda hypotheses, others: chrf_score(hypotheses, others, average="none")),
        at_the_end(fastchrf_segments),
    ),
    Row("rouge_score", rouge(), rouge_score(), IN_FLOAT64),
    Row("rapidrouge", rouge(), rouge_score(scorer=RapidScorer), IN_FLOAT64),
    Row("rouge_score, stemmed", rouge(stemmer=True), rouge_score(stemmer=True), IN_FLOAT64),
    Row("rouge_score, with rougeLsum", rouge(WITH_SUMMARY), rouge_score(WITH_SUMMARY), IN_FLOAT64),
    Row("rouge-score-rs (Rust)", rouge(), rouge_score_rs(), IN_FLOAT64),
    Row("rouge-score-rs (Rust), stemmed", rouge(stemmer=True), rouge_score_rs(stemmer=True), IN_FLOAT64),
    Row("rouge-score-rs (Rust), with rougeLsum", rouge(WITH_SUMMARY), rouge_score_rs(WITH_SUMMARY), IN_FLOAT64),
    Row("rouge-score-rs (Rust), rougeLsum alone", rouge(("rougeLsum",)), rouge_score_rs(("rougeLsum",)), IN_FLOAT64),
    Row("rouge-rust (Rust)", rouge(), at_the_end(rouge_rust, first_references), IN_FLOAT64),
    Row("a wrapper of sacrebleu", bleu("13a"), in_updates(Wrapper)),
]


def fresh_epoch(corpus: Corpus, size: int, segments: int | None, options: Any) -> Callable[[int, int], Epoch]:
    """Return the function that makes a contestant's input of a repeat: systems take turns as the hypotheses."""
    if options.references > len(corpus.systems):
        sys.exit(f"--references is {options.references}: expected at most as many as systems, {len(corpus.systems)}")

    def make(repeat: int, contestant: int) -> Epoch:
        others = [corpus.systems[(repeat + turn) % len(corpus.systems)] for turn in range(options.references)]
        hypotheses, *further = (unseen(lines[:segments], repeat, contestant) for lines in others)
        references = list(
            map(list, zip(unseen(corpus.references[:segments], repeat, contestant), *further, strict=True))
        )
        starts = range(0, len(hypotheses), size)
        batches = [(hypotheses[start : start + size], references[start : start + size]) for start in starts]
        return Epoch(batches, options.each)

    return make


def documents(lines: Sequence[str], size: int) -> list[str]:
    """Join lines to documents of ``size`` lines."""
    return ["\n".join(lines[start : start + size]) for start in range(0, len(lines), size)]


def main(options: Any) -> None:
    corpus = read_corpus(options.folder)
    references, *systems = (documents(lines, options.lines) for lines in (corpus.references, *corpus.systems))
    corpus = Corpus(references[: options.segments], systems)
    words = fmean(len(text.split()) for text in corpus.references)
    print(f"{len(corpus.references)} segments of {words:.0f} words, {len(systems)} systems\n")
    sizes = [len(corpus.references) if size == "all" else int(size) for size in options.sizes.split(",")]
    print_heading(["", *chain.from_iterable((f"{size} a time, ms", "times as fast") for size in sizes)])
    for row in ROWS if options.references > 1 else [*ROWS, *OF_ONE_REFERENCE]:
        if options.tasks.lower() not in row.name.lower():
            continue
        contestants = [Contestant("ours", row.ours), Contestant(row.name, row.peer, row.tolerance)]
        cells = []
        for size in sizes:
            fresh = fresh_epoch(corpus, size, options.segments or row.segments, options)
            ours, theirs = map(min, seconds_of(row.name, contestants, fresh, options))
            cells += [f"{ours * 1e3:.1f}", f"{theirs / ours:.2f}"]
        print_row([row.name, *cells])


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--tasks", default="", help="a part of the names of the rows (all)")
    arguments.add_argument("--sizes", default="32,all", help="of the batches, apart by commas (%(default)s)")
    arguments.add_argument("--lines", type=int, default=1, help="how many make a segment (%(default)s)")
    arguments.add_argument("--segments", type=int, help="the first so many only")
    arguments.add_argument("--references", type=int, default=1, help="of each segment (%(default)s)")
    arguments.add_argument("--each", action="store_true", help="score each batch by itself")
    packages = "sacrebleu rouge_score rapidrouge rouge-score-rs rouge-rust pytorch-ignite torchmetrics nltk"
    packages += " bleuscore fastchrf"
    run(main, arguments, packages)
