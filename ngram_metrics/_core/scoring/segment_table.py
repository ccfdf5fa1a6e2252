"""The first segments of a run with their scores, as a table, for the loggers of every framework.

For average macro the score of a segment is the one in the mean. For average micro it is the score of the segment's
counts, for BLEU with effective order, as on the command line and in sacrebleu.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from ngram_metrics._core.basics.option_checks import pad_ids, refuse_average_none
from ngram_metrics._core.scoring.scorer import Scorer
from ngram_metrics._core.text.foreign_values import tensor_types
from ngram_metrics._core.text.input_forms import Segments, read
from ngram_metrics._core.text.input_types import Document, Hypotheses, References
from ngram_metrics._core.text.messages import type_name, visible

#: Markup characters in a line of Markdown or HTML. In TensorBoard a backslash does not escape all of them.
_MARKUP = str.maketrans({character: f"&#{ord(character)};" for character in "&<>|\\`*_[]~"})


class SegmentTable:
    """The first segments since the last ``clear``, one per row, up to a number of ``segments``.

    The ``metrics``, whose states are neither read nor changed, must be of the class ``kind``, or values of such.

    Attributes:
        columns: ``hypothesis``, ``references``, and the name of each score.
        rows: the texts, with one line per reference, and scores from 0 to 1.
    """

    def __init__(self, metrics: Mapping[str, Any], kind: type, segments: int) -> None:
        if segments < 0 or not metrics:
            raise ValueError(f"{len(metrics)} metrics and segments={segments}: expected at least 1 and at least 0")
        for name, metric in metrics.items():
            if not isinstance(metric, kind) and not isinstance(getattr(metric, "whole", None), kind):
                package = kind.__module__.removesuffix(".metric").removesuffix("._torchmetrics.accumulator")
                actual = f"{type_name(metric)} of {type(metric).__module__}"
                raise TypeError(f"the metric {name} is {actual}: expected a metric of {package}")
            refuse_average_none(name, metric)
        self._metrics = metrics
        self._size = segments
        self._padding = pad_ids(next(iter(metrics.values())).scorer.reader.pad_id)
        self.columns: list[str] = []
        self.rows: list[list[str | float]] = []

    def clear(self) -> None:
        """Forget all rows."""
        self.rows = []

    def add(self, preds: Hypotheses, target: References) -> None:
        """Add the first segments of a batch, as ``update`` takes it, until there are enough.

        Several hypotheses for a segment raise ValueError.
        """
        missing = self._size - len(self.rows)
        if missing <= 0 or not len(preds):
            return
        if getattr(preds, "ndim", 2) == 3:  # the samples of NgramOverlap
            raise ValueError("several hypotheses for each segment: expected one, or segments=0, which shows none")
        if not isinstance(preds, str):  # a str is one segment, and all of target is its references
            preds = preds[:missing]
            target = target if isinstance(target, str) else target[:missing]
        scores: dict[str, list[float]] = {}
        for name, metric in self._metrics.items():
            scorer: Scorer = metric.scorer.segment_scorer()
            values = scorer.name_values(scorer.score(scorer.count(preds, target)))
            for title, value in scorer.titles.items():
                scores[name if len(scorer.titles) == 1 else f"{name}_{title}"] = values[value].tolist()
        texts = _texts(preds, target, self._padding)
        self.columns = ["hypothesis", "references", *scores]
        self.rows += [[*text, *row] for text, row in zip(texts, zip(*scores.values(), strict=True), strict=True)]

    def markdown(self, signatures: Mapping[str, str]) -> str:
        """Return the table in Markdown, and below it the signatures by the names of the metrics. No text is cut."""
        # A backtick would end the code span.
        lines = [f"- {_escape(name)}: `{text.replace('`', '_')}`" for name, text in signatures.items()]
        if self.rows:
            marks = ["--:", ":--", ":--", *["--:"] * (len(self.columns) - 2)]
            body = [[str(position), *map(_cell, row)] for position, row in enumerate(self.rows, 1)]
            header = ["", *self.columns[:2], *map(_prevent_breaks, self.columns[2:])]
            lines = [*(f"| {' | '.join(row)} |" for row in (header, marks, *body)), "", *lines]
        return "\n".join(lines)


def _texts(preds: Hypotheses, target: References, padding: Sequence[int]) -> list[tuple[str, str]]:
    """Return each hypothesis with its references, one line per reference."""
    segments = read(preds, target)
    references: Iterable[Iterable[Document]] = segments.references  # of padded ids
    if isinstance(segments, Segments):
        remaining = iter(segments.references)
        references = [list(islice(remaining, count)) for count in segments.counts]
    return [
        # A row of padding is not a reference.
        (_text(hypothesis, padding), "\n".join(filter(None, (_text(document, padding) for document in documents))))
        for hypothesis, documents in zip(segments.hypotheses, references, strict=True)
    ]


def _text(document: Document, padding: Sequence[int]) -> str:
    """Return text with all characters visible, or tokens or ids without padding, separated by spaces."""
    if not isinstance(document, str):
        tokens = document.tolist() if isinstance(document, tensor_types()) else document
        # A negative id is padding too.
        tokens = [token for token in tokens if token not in padding and not (isinstance(token, int) and token < 0)]
        document = " ".join(map(str, tokens))
    return "\n".join(map(visible, document.split("\n")))


def _cell(value: str | float) -> str:
    return _escape(value) if isinstance(value, str) else _prevent_breaks(f"{value:.4f}")


def _prevent_breaks(text: str) -> str:
    # In a row with long texts TensorBoard breaks a number after each digit.
    return f"<pre>{_escape(text)}</pre>"


def _escape(text: str) -> str:
    """Return text with its markup escaped and without newlines, which would end a row of the table."""
    return text.translate(_MARKUP).replace("\n", "<br>")
