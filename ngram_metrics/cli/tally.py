"""The counts of one metric for one system: sums, and the counts of each sentence if a test needs them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor

from ngram_metrics.cli.metrics import Metric
from ngram_metrics.scores.measure import AnyMeasure
from ngram_metrics.scores.options import Average
from ngram_metrics.scores.rows import pack, row_width, unpack
from ngram_metrics.scores.signature import written


class Tally:
    """The counts of a system, on the CPU; a system of :mod:`ngram_metrics.significance`.

    Args:
        metric: the metric.
        references: the number of references per sentence.
        keep: whether the counts of each sentence are kept, and not only their sums.
    """

    def __init__(self, metric: Metric, references: int, keep: bool) -> None:
        self.metric, self._references, self._keep = metric, references, keep
        self.sentences = 0
        self._row = torch.zeros(row_width(metric.measure.layout), dtype=metric.measure.row_dtype)
        self._score_sum = torch.zeros(metric.measure.score_shape, dtype=torch.float64)
        self._rows: list[Tensor] = []

    def count(self, hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> Tensor:
        """Count sentences, and return their packed statistics ``(sentences, fields)``."""
        measure = self.metric.measure
        batch = self.metric.reader.read(hypotheses, references, self.metric.device)
        rows = pack(measure.statistics(batch), measure.layout).cpu()
        self._add(rows)
        return rows

    def part(self, sentences: Tensor) -> Tally:
        """Return the counts of the sentences with these indices, one-dimensional int64; needs ``keep``."""
        part = Tally(self.metric, self._references, keep=True)
        part._add(self.sentence_rows()[sentences])
        return part

    def _add(self, rows: Tensor) -> None:
        measure = self.metric.measure
        self._row += rows.sum(0)
        self.sentences += len(rows)
        if self.average == "macro":
            self._score_sum += measure.score(unpack(rows, measure.layout)).sum(0)
        if self._keep:
            self._rows.append(rows)

    def scores(self) -> dict[str, float]:
        """Return the values of the corpus, in 0..1."""
        measure = self.metric.measure
        if self.average == "macro":
            score = self._score_sum / self.sentences
        else:
            score = measure.score(unpack(self._row, measure.layout))
        return {name: value.item() for name, value in self.named_scores(score).items()}

    def parts(self) -> dict[str, Tensor]:
        """Return the parts of the corpus score."""
        return self.metric.measure.parts(unpack(self._row, self.metric.measure.layout))

    def sentence_scores(self, rows: Tensor) -> dict[str, list[float]]:
        """Return the values of sentences, in 0..1, from the statistics that :meth:`count` returned."""
        measure = self.metric.sentence_measure
        scores = self.named_scores(measure.score(unpack(rows, measure.layout)))
        return {name: values.tolist() for name, values in scores.items()}

    @property
    def measure(self) -> AnyMeasure:
        """What was counted, and the score."""
        return self.metric.measure

    @property
    def average(self) -> Average:
        """How the sentences become one score."""
        return self.metric.average

    @property
    def settings(self) -> Tensor:
        """The same for metrics with the same settings; here all metrics of one name have these."""
        return torch.zeros(1)

    @property
    def signature(self) -> str:
        """Everything that affects the score, without the draws of a test."""
        return self.signature_with({})

    def signature_with(self, draws: dict[str, str]) -> str:
        """Return the signature with the numbers of draws and their seed."""
        settings = self.metric.reader.signature() | self.metric.measure.signature()
        return written(str(self._references), {"unit": "text", "avg": self.average, **settings, **draws})

    @cached_property
    def _all_rows(self) -> Tensor:
        return torch.cat(self._rows)

    def sentence_rows(self) -> Tensor:
        """Return the packed statistics, ``(sentences, fields)``."""
        return self._all_rows

    def named_scores(self, score: Tensor) -> dict[str, Tensor]:
        """Return scores ``(..., *score_shape)`` by name."""
        return self.metric.named_scores(score)
