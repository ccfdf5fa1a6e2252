"""The segments of an evaluation with their scores: samples for loggers, and the file that ``evaluate`` reads.

For average macro the score of a segment is the one that enters the mean. For average micro it is the score of the
segment's counts, with effective order for BLEU, as on the command line and in sacrebleu.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice, zip_longest
from typing import Any

from torch import Tensor, distributed
from torchmetrics.metric import CompositionalMetric

from ngram_metrics._core.basics.option_checks import checked_bool, pad_ids, refuse_average_none, refuse_equal_names
from ngram_metrics._core.basics.output import write_file
from ngram_metrics._core.basics.tensors import to_tensor
from ngram_metrics._core.scoring.groups import Grouping, count_each_group
from ngram_metrics._core.scoring.items import computes_several, is_ours, whole_metric
from ngram_metrics._core.scoring.scorer import Scorer
from ngram_metrics._core.text.foreign_values import tensor_types
from ngram_metrics._core.text.input_forms import read
from ngram_metrics._core.text.input_types import Document, Hypotheses, References
from ngram_metrics._core.text.messages import pluralize, type_name, visible
from ngram_metrics._core.text.segments import Segments

#: Markup characters in a line of Markdown or HTML. In TensorBoard a backslash does not escape all of them.
_MARKUP = str.maketrans({character: f"&#{ord(character)};" for character in "&<>|\\`*_[]~"})


class Outputs:
    """The segments since the last ``clear``: those of this process, and after ``finish`` those of all processes.

    The ``metrics`` must be of the ``metric_class``, values of such metrics, or arithmetic such as ``100 * Bleu()``.

    Args:
        metrics: the metrics by name.
        metric_class: the class of metrics of the framework.
        samples: how many of the first segments are samples, and how many of the worst.
        folder: the folder of the files; None to write none. Without samples and a folder no segment is kept.
        details: whether ``finish`` computes the brevity penalty and the length ratio of BLEU.

    Attributes:
        segments: for each segment its source if it has one, hypothesis, references and scores, as for a line of JSON.
        details: the brevity penalty and the length ratio of BLEU by name.
        signatures: the signatures by the names of the metrics.
    """

    def __init__(
        self,
        metrics: Mapping[str, Any],
        metric_class: type,
        samples: int,
        folder: str | os.PathLike[str] | None = None,
        details: bool = False,
    ) -> None:
        if not metrics:
            raise ValueError("metrics is empty: expected at least one metric")
        if samples < 0:
            raise ValueError(f"samples must be at least 0 (got: {samples})")
        self._metrics = metrics
        self._samples = samples
        self._folder = folder
        self._has_details = checked_bool(details, "details")
        self.is_kept = samples > 0 or folder is not None
        refuse_equal_names(
            [("a segment", ["source", "hypothesis", "references"]), *((name, [name]) for name in metrics)]
        )
        for name, metric in metrics.items():
            parts = _parts(metric)
            if not parts or not all(isinstance(whole_metric(part), metric_class) for part in parts):
                package = metric_class.__module__.removesuffix(".metric").removesuffix("._torchmetrics.accumulator")
                actual = f"{type_name(metric)} of {type(metric).__module__.partition('._')[0]}"
                raise TypeError(
                    f"the metric {name} is {actual}: expected a metric of {package}, or arithmetic with such metrics"
                )
            for part in parts:
                refuse_average_none(name, part)
        self._padding = pad_ids(_parts(next(iter(metrics.values())))[0].scorer.reader.pad_id)
        self.segments: list[dict[str, Any]] = []
        self.details: dict[str, Tensor] = {}
        self.signatures: dict[str, str] = {}

    def clear(self) -> None:
        """Forget all segments."""
        self.segments = []

    def add(
        self,
        preds: Hypotheses,
        target: References,
        sources: Sequence[str | None] | None = None,
        groups: Any = None,
    ) -> None:
        """Score a batch as ``update`` takes it, and keep it. Metrics without groups leave the groups out.

        Raises ValueError for several hypotheses per segment, or unless there is one source for each segment, and
        TypeError for a source that is neither text nor None.
        """
        if not self.is_kept or not len(preds):
            return
        if getattr(preds, "ndim", 2) == 3:  # the samples of NgramOverlap
            raise ValueError("preds has several hypotheses for each segment: expected one, or samples=0 and no outputs")
        hypotheses, references = _texts(preds, target, self._padding)
        columns: dict[str, Sequence[Any]] = {"hypothesis": hypotheses, "references": references}
        for name, metric in self._metrics.items():
            columns |= {
                title: scores.tolist() for title, scores in _score_segments(name, metric, preds, target, groups).items()
            }
        if sources is not None:
            columns = {"source": _checked_sources(sources, len(hypotheses)), **columns}
        self.segments += [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def finish(self, is_shared: bool = True) -> None:
        """Compute details and signatures, and join the segments of all processes. All processes have to call it.

        The first segments of each process come first, which restores the order of a distributed sampler. ``is_shared``
        is False if each process already has all segments.
        """
        self.signatures = {
            name: ", ".join(dict.fromkeys(str(part.signature) for part in _parts(metric)))
            for name, metric in self._metrics.items()
        }
        if self._has_details:
            self.details = {key: value for name in self._metrics for key, value in self._length_details(name).items()}
        if is_shared and self.is_kept and distributed.is_available() and distributed.is_initialized():
            shares: list[Any] = [None] * distributed.get_world_size()
            distributed.all_gather_object(shares, self.segments)
            self.segments = [segment for segments in zip_longest(*shares) for segment in segments if segment]

    def _length_details(self, name: str) -> dict[str, Tensor]:
        values: dict[str, Tensor] = {}
        for part in _parts(self._metrics[name]):
            details = whole_metric(part).details()
            if "brevity_penalty" in details:
                penalty = details["brevity_penalty"]
                ratio = details["hypothesis_length"].to(penalty) / details["reference_length"]
                values |= {f"{name}_brevity_penalty": penalty, f"{name}_length_ratio": ratio}
        return values

    @property
    def columns(self) -> list[str]:
        """The names of the columns of ``rows``. There are sources if any segment has one."""
        return ["line", *max(self.segments, key=len)] if self.segments else []

    @property
    def rows(self) -> list[list[str | float]]:
        """The samples: the first segments, then the others with the lowest score in the first metric.

        A row has the line in the file, the texts, with one line per reference, and the scores.
        """
        lines = range(len(self.segments))
        worst = sorted(lines[self._samples :], key=lambda line: _numbers(self.segments[line])[0])[: self._samples]
        titles = self.columns[1:]
        return [
            [line + 1, *(_make_visible(self.segments[line].get(title, "")) for title in titles)]
            for line in (*lines[: self._samples], *worst)
        ]

    def markdown(self) -> str:
        """Return the samples in Markdown, and below them the signature of each metric. No text is cut."""
        # A backtick would end the code span.
        lines = [f"- {_escape(name)}: `{text.replace('`', '_')}`" for name, text in self.signatures.items()]
        rows = self.rows
        if rows:
            marks = [":--" if isinstance(value, str) else "--:" for value in rows[0]]
            scores = len(_numbers(self.segments[0]))
            header = [*self.columns[:-scores], *map(_prevent_breaks, self.columns[-scores:])]
            body = [[str(line), *map(_cell, values)] for line, *values in rows]
            lines = [*(f"| {' | '.join(row)} |" for row in (header, marks, *body)), "", *lines]
        return "\n".join(lines)

    def write(self, step: int, subfolder: str = "") -> None:
        """Write a line of JSON for each segment to ``step-<step>.jsonl`` in the folder or a subfolder of it."""
        if self._folder is not None:
            folder = os.path.join(self._folder, subfolder)
            os.makedirs(folder, exist_ok=True)
            lines = (f"{json.dumps(segment, ensure_ascii=False)}\n" for segment in self.segments)
            write_file(os.path.join(folder, f"step-{step}.jsonl"), "".join(lines))


def _parts(metric: Any) -> list[Any]:
    """Return the metrics of this package in arithmetic such as ``100 * Bleu()``. A metric is its only part.

    The list is empty for a metric that cannot score single segments.
    """
    if is_ours(metric):
        return [metric]
    _, operands = _arithmetic(metric)
    parts = [_parts(operand) for operand in operands if not isinstance(operand, (int, float, Tensor))]
    if not all(parts) or any(map(computes_several, chain(*parts))):
        return []
    return [*chain(*parts)]


def _arithmetic(metric: Any) -> tuple[Any, list[Any]]:
    """Return the function and the operands of arithmetic in either framework, or None and no operands."""
    if isinstance(metric, CompositionalMetric):
        return metric.op, [operand for operand in (metric.metric_a, metric.metric_b) if operand is not None]
    if {"function", "args"} <= getattr(metric, "__dict__", {}).keys():  # a MetricsLambda of ignite
        return metric.function, metric.args
    return None, []


def _checked_sources(sources: Sequence[str | None], segments: int) -> list[str]:
    """Return the source of each segment, empty for None, or raise TypeError or ValueError."""
    listed = [sources] if isinstance(sources, str) else list(sources)
    if len(listed) != segments:
        raise ValueError(
            f"the batch has {pluralize(segments, 'segment')} and {pluralize(len(listed), 'source')}: expected "
            "one source for each segment"
        )
    for index, source in enumerate(listed):
        if source is not None and not isinstance(source, str):
            raise TypeError(f"the source of segment {index} is {type_name(source)}: expected a text, or None")
    return ["" if source is None else source for source in listed]


def _score_segments(name: str, metric: Any, preds: Hypotheses, target: References, groups: Any) -> dict[str, Tensor]:
    """Return the scores of each segment, by titles that begin with ``name``."""
    if is_ours(metric):
        scorer: Scorer = metric.scorer.segment_scorer()
        grouping: Grouping = whole_metric(metric).grouping
        if grouping.scorers:
            batch, _ = count_each_group(grouping, preds, target, groups, is_first=False)
            scores = scorer.score(scorer.add_up(batch))
        else:
            scores = scorer.score_batch(preds, target, is_first=False)
        values = scorer.name_values(scores)
        titles = {title: name if len(scorer.titles) == 1 else f"{name}_{title}" for title in scorer.titles}
        return {titles[title]: to_tensor(values[value]) for title, value in scorer.titles.items()}
    function, operands = _arithmetic(metric)
    arguments = [
        _score_segments(name, operand, preds, target, groups)[name] if _parts(operand) else operand
        for operand in operands
    ]
    return {name: function(*arguments)}


def _texts(preds: Hypotheses, target: References, padding: Sequence[int]) -> tuple[list[str], list[list[str]]]:
    """Return the hypothesis and the references of each segment."""
    segments = read(preds, target)
    references: Iterable[Iterable[Document]] = segments.references  # of padded ids
    if isinstance(segments, Segments):
        remaining = iter(segments.references)
        references = [list(islice(remaining, count)) for count in segments.reference_counts]
    texts = [[_text(document, padding) for document in documents] for documents in references]
    if not isinstance(segments, Segments):  # a row of padding is not a reference, unless it is the only one
        texts = [list(filter(None, documents)) or [""] for documents in texts]
    return [_text(document, padding) for document in segments.hypotheses], texts


def _text(document: Document, padding: Sequence[int]) -> str:
    """Return text, or tokens or ids without padding, separated by spaces."""
    if isinstance(document, str):
        return document
    tokens = document.tolist() if isinstance(document, tensor_types()) else document
    # A negative id is padding too.
    tokens = [token for token in tokens if token not in padding and not (isinstance(token, int) and token < 0)]
    return " ".join(map(str, tokens))


def _numbers(segment: Mapping[str, Any]) -> list[float]:
    return [value for value in segment.values() if isinstance(value, float)]


def _make_visible(value: str | list[str] | float) -> str | float:
    """Return text with all characters visible, and one line for each reference."""
    if isinstance(value, float):
        return value
    lines = "\n".join([value] if isinstance(value, str) else value).split("\n")
    return "\n".join(map(visible, lines))


def _cell(value: str | float) -> str:
    return _escape(value) if isinstance(value, str) else _prevent_breaks(f"{value:.4f}")


def _prevent_breaks(text: str) -> str:
    # In a row with long texts TensorBoard breaks a number after each digit.
    return f"<pre>{_escape(text)}</pre>"


def _escape(text: str) -> str:
    """Return text with its markup escaped and without newlines, which would end a row of the table."""
    return text.translate(_MARKUP).replace("\n", "<br>")
