"""The report: one HTML page that shows where systems are right and wrong.

The page is a single file. It makes no requests, and reading it needs only a browser. Its numbers are those of the
command line, from the same code.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence

from ngram_metrics.evaluation import DEFAULT_METRICS
from ngram_metrics.evaluation.evaluate import evaluate
from ngram_metrics.evaluation.page import check_installed
from ngram_metrics.metrics import make_metric
from ngram_metrics.options import named_arguments
from ngram_metrics.scorer import Metric, Scorer
from ngram_metrics.text.inputs import Tokenizer

__all__ = ["write_report"]


@named_arguments
def write_report(
    path: str | os.PathLike[str],
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str] | Sequence[Sequence[str]],
    metrics: Mapping[str, Metric | Scorer] | None = None,
    title: str | None = None,
    confidence: float = 0.95,
    tokenizer: Tokenizer | None = "13a",
    sources: Sequence[str] | None = None,
    columns: Mapping[str, Sequence[Hashable]] | None = None,
) -> None:
    """Score systems, test them against the first, and write all results as one HTML page.

    Args:
        path: the path of the page; an existing file is replaced when the page is complete.
        systems: the segments of each system by its name; the first is the baseline.
        references: the reference of each segment, or several such lists, each as long as the systems.
        metrics: metrics by name, such as ``{"BLEU-2": Bleu(ngram=2, average="micro")}``. Their settings are used, and
            their counts do not change. By default sacrebleu's BLEU, and chrF.
        title: the title of the page; None for the names of the systems.
        confidence: the level of the bootstrap intervals, between 0 and 1.
        tokenizer: splits texts into words, where matches are shown and for the default BLEU; see
            ``ngram_metrics.text.tokenizer_option``.
        sources: the source of each segment, which is shown beside it; an output that equals it is flagged.
        columns: a label for each segment by the name of the column, such as ``{"domain": [...], "id": [...]}``. The
            segments are filtered by them; each label of a column with at most 50 is scored as a corpus.

    Raises:
        TypeError: systems that are not a mapping of names to segments; an object that is not a metric of this package;
            segments or sources that are not text; columns that are not a mapping of names to labels.
        ValueError: no system or no segment; systems, references, sources or columns of different lengths; a metric
            with average none; two metrics with the same name for a value; a level out of its range.
        OSError: the file cannot be written; an existing file does not change.
        ModuleNotFoundError: Jinja2 is not installed (extra ``report``).

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from ngram_metrics.report import write_report
        >>> path = Path(tempfile.mkdtemp()) / "report.html"
        >>> write_report(path, {"base": ["a cat sat"], "new": ["the cat sat"]}, ["the cat sat down"])
        >>> path.read_text(encoding="utf-8").startswith("<!doctype html>")
        True
    """
    check_installed()
    if confidence is None:
        raise TypeError("confidence is None: expected the level of the intervals, such as 0.95")
    default: dict[str, Metric | Scorer] = {
        name: make_metric(name, "none" if tokenizer is None else tokenizer) for name in DEFAULT_METRICS
    }
    evaluation = evaluate(systems, references, default if metrics is None else metrics, confidence=confidence)
    evaluation.write_report(path, title, tokenizer, sources, columns)
