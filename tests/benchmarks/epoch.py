"""An epoch of validation, or one batch after another, against the packages that this one replaces.

Goal: in batches of 32, as in a training loop, 5 times as fast as every other package.

How to run: ``python tests/benchmarks/epoch.py FOLDER --threads 1 --clock cpu``, with the group ``bench`` installed.
FOLDER holds ``reference.txt`` and ``systems/*.txt``. ``--each --sizes 1,2,4,32`` scores each batch of so many segments
by itself, as a reward is scored; by default it prints the table of speeds in the README. ``--tasks wrapper --sizes
1,8,32,128`` compares with a metric around sacrebleu, and ``--lines 10 --segments 20`` with documents of ten lines.

What it does: our metric counts an epoch in updates of 32 segments, and in one update; then it computes the score of the
corpus. ignite and torchmetrics do the same. sacrebleu and rouge_score keep no counts: they get all texts at the end,
which is their fastest way. With ``--each`` ours and theirs are reset before each batch and asked for its score.
torchmetrics' chrF is timed with the first 512 segments.

What it checks: all scores agree in every repeat, within 1e-9, or 1e-5 where a peer counts in float32, or 1e-4 for
torchmetrics' chrF, which leaves out the reference of a segment that has no match.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean
from typing import Any, NamedTuple

import torch
from harness import (
    Batch,
    Contestant,
    Corpus,
    documents,
    fresh_batch,
    layout,
    parser,
    read_corpus,
    run_pinned,
    seconds_of,
)
from ignite.metrics import Bleu as IgniteBleu
from ignite.metrics import Rouge as IgniteRouge
from rouge_score.rouge_scorer import RougeScorer
from rouge_score_rs.rouge_scorer import RougeScorer as RustScorer
from sacrebleu.metrics import BLEU, CHRF
from torchmetrics import Metric
from torchmetrics.text import CHRFScore, SacreBLEUScore
from torchmetrics.text import ROUGEScore as TorchmetricsROUGE

from ngram_metrics import Bleu, ChrF, ROUGEScore
from ngram_metrics.ignite import Bleu as OurIgniteBleu
from ngram_metrics.ignite import Rouge as OurIgniteRouge

KEYS = ("rouge1", "rouge2", "rougeL")
FLOAT32, WITHOUT_MATCH = 1e-5, 1e-4
#: From the input of a contestant to a call that returns the score, or the scores of all batches.
Way = Callable[[Batch], Callable[[], Any]]


class Row(NamedTuple):
    """What is scored, with our way for batches of some size, each scored by itself or not, and the peer's."""

    name: str
    ours: Callable[[int, bool], Way]
    peer: Callable[[int, bool], Way]
    tolerance: float = 1e-9
    segments: int | None = None


def value_of(score: Any) -> float:
    """Return a score, of ROUGE the F of ROUGE-L."""
    if isinstance(score, dict):
        score = score.get("rougeL_fmeasure", score.get("Rouge-L-F"))
    return float(score)


def parts_of(batch: Batch, size: int, tokens: bool) -> list[tuple[Any, Any]]:
    """Cut an epoch into batches, of split texts for ``tokens``."""
    hypotheses: list[Any] = batch.hypotheses
    references: list[Any] = batch.references
    if tokens:
        hypotheses = [text.split() for text in hypotheses]
        references = [[text.split() for text in texts] for texts in references]
    starts = range(0, len(hypotheses), size)
    return [(hypotheses[start : start + size], references[start : start + size]) for start in starts]


def in_updates(metric: Callable[[], Any], tokens: bool = False) -> Callable[[int, bool], Way]:
    """Count an epoch in updates of some size; a metric for ignite takes pairs of split texts."""

    def of_size(size: int, each: bool) -> Way:
        def prepare(batch: Batch) -> Callable[[], Any]:
            made, parts = metric(), parts_of(batch, size, tokens)

            def call() -> Any:
                values = []
                for part in parts:
                    made.update(part) if tokens else made.update(*part)
                    if each:
                        values.append(value_of(made.compute()))
                        made.reset()
                return values if each else value_of(made.compute())

            return call

        return prepare

    return of_size


def at_the_end(score: Callable[[list[str], list[str]], float]) -> Callable[[int, bool], Way]:
    """Score all texts of the epoch in one call, whatever the size of its batches, or each batch."""

    def of_size(size: int, each: bool) -> Way:
        def prepare(batch: Batch) -> Callable[[], Any]:
            parts = parts_of(batch, size if each else len(batch.hypotheses), tokens=False)
            sides = [(hypotheses, [texts[0] for texts in references]) for hypotheses, references in parts]
            return lambda: [score(*side) for side in sides] if each else score(*sides[0])

        return prepare

    return of_size


def rouge_of_each(hypotheses: list[str], references: list[str]) -> float:
    scorer = RougeScorer(list(KEYS))
    scores = [scorer.score(*texts)["rougeL"].fmeasure for texts in zip(references, hypotheses, strict=True)]
    return fmean(scores)


def rouge_in_rust(hypotheses: list[str], references: list[str]) -> float:
    return fmean(scores["rougeL"].fmeasure for scores in RustScorer(list(KEYS)).score_batch(references, hypotheses))


class Wrapper(Metric):
    """sacrebleu's counts of each batch, summed in states of torchmetrics, as packages do that wrap it."""

    def __init__(self) -> None:
        super().__init__()
        self.bleu = BLEU()
        for name, size in (("counts", 4), ("totals", 4), ("lengths", 2)):
            self.add_state(name, torch.zeros(size, dtype=torch.int64), "sum")

    def update(self, preds: list[str], target: list[list[str]]) -> None:
        score = self.bleu.corpus_score(preds, [[texts[0] for texts in target]])
        self.counts += torch.tensor(score.counts)
        self.totals += torch.tensor(score.totals)
        self.lengths += torch.tensor([score.sys_len, score.ref_len])

    def compute(self) -> float:
        return BLEU.compute_bleu(self.counts.tolist(), self.totals.tolist(), *self.lengths.tolist()).score / 100


ROUGE = in_updates(lambda: ROUGEScore(rouge_keys=KEYS))
VARIANTS: dict[str, Any] = {"variants": [1, 2, "L"], "multiref": "best"}
ROWS = [
    Row(
        "ignite.metrics.Bleu",
        in_updates(lambda: OurIgniteBleu(smooth="smooth1", average="micro"), tokens=True),
        in_updates(lambda: IgniteBleu(smooth="smooth1", average="micro"), tokens=True),
    ),
    Row(
        "ignite.metrics.Rouge",
        in_updates(lambda: OurIgniteRouge(**VARIANTS), tokens=True),
        in_updates(lambda: IgniteRouge(**VARIANTS), tokens=True),
    ),
    Row("torchmetrics SacreBLEUScore", in_updates(Bleu), in_updates(SacreBLEUScore), FLOAT32),
    Row("torchmetrics ROUGEScore", ROUGE, in_updates(lambda: TorchmetricsROUGE(rouge_keys=KEYS)), FLOAT32),
    Row(
        "torchmetrics CHRFScore",
        in_updates(lambda: ChrF(eps_smoothing=True)),
        in_updates(lambda: CHRFScore(n_word_order=0)),
        WITHOUT_MATCH,
        512,
    ),
    Row("sacrebleu BLEU", in_updates(Bleu), at_the_end(lambda h, r: BLEU().corpus_score(h, [r]).score / 100)),
    Row("sacrebleu CHRF", in_updates(ChrF), at_the_end(lambda h, r: CHRF().corpus_score(h, [r]).score / 100)),
    Row("rouge_score", ROUGE, at_the_end(rouge_of_each)),
    Row("rouge-score-rs (Rust)", ROUGE, at_the_end(rouge_in_rust)),
    Row("a wrapper of sacrebleu", in_updates(Bleu), in_updates(Wrapper)),
]


def main(options: Any) -> None:
    corpus = read_corpus(options.folder)
    references, *systems = (documents(lines, options.lines) for lines in (corpus.references, *corpus.systems))
    corpus = Corpus(references[: options.segments], systems)
    print(f"{sum(map(len, map(str.split, corpus.references))) / len(corpus.references):.0f} words in a segment")
    sizes = [len(corpus.references) if size == "all" else int(size) for size in options.sizes.split(",")]
    table = [["", *(cell for size in sizes for cell in (f"{size} at a time, ms", "times as fast"))]]
    for row in ROWS:
        if options.tasks.lower() not in row.name.lower():
            continue
        cells = [row.name]
        for size in sizes:
            ways = row.ours(size, options.each), row.peer(size, options.each)
            contestants = [Contestant("ours", ways[0]), Contestant(row.name, ways[1], row.tolerance)]
            seconds = seconds_of(
                row.name, contestants, fresh_batch(corpus, segments=options.segments or row.segments), options
            )
            ours, theirs = map(min, seconds)
            cells += [f"{ours * 1e3:.1f}", f"{theirs / ours:.2f}"]
        table.append(cells)
    print(f"\n{layout(table)}", flush=True)


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--tasks", default="", help="a word in the names of the rows (all)")
    arguments.add_argument("--sizes", default="32,all", help="of the batches, apart by commas (%(default)s)")
    arguments.add_argument("--lines", type=int, default=1, help="how many make a segment (%(default)s)")
    arguments.add_argument("--segments", type=int, help="the first so many only")
    arguments.add_argument("--each", action="store_true", help="score each batch by itself")
    run_pinned(main, arguments, "sacrebleu rouge_score rouge-score-rs pytorch-ignite torchmetrics")
