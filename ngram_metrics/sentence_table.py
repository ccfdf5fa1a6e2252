"""The first sentences of a run with their scores, as a table, for the loggers of every framework.

The score of a sentence is, for average macro, the one that goes into the mean. For average micro it is that of the
sentence's own counts, for BLEU with effective order, as on the command line and in sacrebleu.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from torch import Tensor

from ngram_metrics.text.door import Sentences, read
from ngram_metrics.text.messages import visible
from ngram_metrics.text.reader import pad_ids

#: Of values that come in threes, F is shown, by the name of all, as on the command line.
_LEFT_OUT, _F = ("_precision", "_recall", "-P", "-R"), "_fmeasure"
#: What is markup inside a line of Markdown or HTML. TensorBoard does not let a backslash protect all of it.
_MARKUP = str.maketrans({character: f"&#{ord(character)};" for character in "&<>|\\`*_[]~"})


class SentenceTable:
    """The first sentences since the last ``clear``, a row each.

    Args:
        metrics: of this package, for either framework, by name; their states are neither read nor changed.
        kind: what they must be instances of.
        sentences: how many are kept, 0 for none.

    Attributes:
        columns: ``hypothesis``, ``references``, and the name of each score.
        rows: texts, of several references a line each, and scores in 0..1.

    Raises:
        TypeError: a metric of another kind, such as one value of ROUGE.
        ValueError: no metric, or one with ``average="none"``; a negative number of sentences.
    """

    def __init__(self, metrics: Mapping[str, Any], kind: type[Any], sentences: int) -> None:
        if sentences < 0 or not metrics:
            raise ValueError(f"{len(metrics)} metrics and sentences={sentences}: expected 1 or more, and 0 or more")
        for name, metric in metrics.items():
            if not isinstance(metric, kind):
                found, wanted = type(metric).__name__, f"{kind.__module__}.{kind.__name__}"
                raise TypeError(f"the metric {name} is a {found}: expected a whole metric of this package, a {wanted}")
            if metric.average == "none":
                raise ValueError(f"the metric {name} has average='none': expected one that computes a single number")
        self._metrics, self._sentences = metrics, sentences
        self._padding = pad_ids(next(iter(metrics.values())).reader.pad_id)
        self.columns: list[str] = []
        self.rows: list[list[str | float]] = []

    def clear(self) -> None:
        """Forget all rows."""
        self.rows = []

    def add(self, preds: Any, target: Any) -> None:
        """Add the first sentences of a batch, as ``update`` of a metric takes it, while there are not enough.

        Raises:
            TypeError, ValueError: sentences that cannot be read; several hypotheses for a sentence.
        """
        missing = self._sentences - len(self.rows)
        if missing <= 0:
            return
        if getattr(preds, "ndim", 2) == 3:  # NgramOverlap counts samples
            raise ValueError("several hypotheses for each sentence: expected one, or sentences=0, which shows none")
        preds, target = (side if isinstance(side, str) else side[:missing] for side in (preds, target))
        scores: dict[str, list[float]] = {}
        for name, metric in self._metrics.items():
            scores |= sentence_scores(name, metric, preds, target)
        texts = _texts(preds, target, self._padding)
        self.columns = ["hypothesis", "references", *scores]
        self.rows += [[*text, *row] for text, row in zip(texts, zip(*scores.values(), strict=True), strict=True)]

    def markdown(self, signatures: Mapping[str, str]) -> str:
        """Return the table in Markdown, and the signatures by the names of the metrics below it. No text is cut."""
        # A backtick would end the code.
        lines = [f"- {_escaped(name)}: `{text.replace('`', '_')}`" for name, text in signatures.items()]
        if self.rows:
            marks = ["--:", ":--", ":--", *["--:"] * (len(self.columns) - 2)]
            body = [[str(number), *map(_cell, row)] for number, row in enumerate(self.rows, 1)]
            header = ["", *self.columns[:2], *map(_unbroken, self.columns[2:])]
            lines = [*(f"| {' | '.join(row)} |" for row in (header, marks, *body)), "", *lines]
        return "\n".join(lines)


def sentence_scores(name: str, metric: Any, preds: Any, target: Any) -> dict[str, list[float]]:
    """Return the score of each sentence, by the name of the metric, or of each of its values behind that name."""
    measure = metric.measure.sentence_measure if metric.average == "micro" else metric.measure
    scores = measure.score(measure.statistics(metric.reader.read(preds, target, metric.device)))
    shown = {part: values for part, values in metric.named_scores(scores).items() if not part.endswith(_LEFT_OUT)}
    return {
        name if len(shown) == 1 else f"{name}_{part.removesuffix(_F)}": values.tolist()
        for part, values in shown.items()
    }


def _texts(preds: Any, target: Any, padding: Sequence[int]) -> list[tuple[str, str]]:
    """Return each hypothesis with its references, a line each."""
    sentences = read(preds, target)
    of_sentences = iter(sentences.references)  # of padded ids
    if isinstance(sentences, Sentences):
        flat = iter(sentences.references)
        of_sentences = (list(islice(flat, count)) for count in sentences.counts)
    return [
        # A row of padding is no reference.
        (_text(hypothesis, padding), "\n".join(filter(None, (_text(each, padding) for each in references))))
        for hypothesis, references in zip(sentences.hypotheses, of_sentences, strict=True)
    ]


def _text(document: Any, padding: Sequence[int]) -> str:
    """Return text in which all can be seen; tokens, or ids without padding, apart by blanks."""
    if not isinstance(document, str):
        tokens = document.tolist() if isinstance(document, Tensor) else document
        # A negative id is padding, too.
        ids = (each for each in tokens if each not in padding and not (isinstance(each, int) and each < 0))
        document = " ".join(map(str, ids))
    return "\n".join(map(visible, document.split("\n")))


def _cell(value: str | float) -> str:
    return _escaped(value) if isinstance(value, str) else _unbroken(f"{value:.4f}")


def _unbroken(text: str) -> str:
    # Beside long texts TensorBoard breaks a number after each digit.
    return f"<pre>{_escaped(text)}</pre>"


def _escaped(text: str) -> str:
    """Return text in which nothing is markup and no line ends a row of a table."""
    return text.translate(_MARKUP).replace("\n", "<br>")
