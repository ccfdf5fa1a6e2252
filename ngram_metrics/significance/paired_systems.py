"""Several systems on the same segments: their counts, checked and side by side, and their sums under weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ngram_metrics._core.basics.option_checks import check_choice
from ngram_metrics._core.scoring.resampling import bootstrap_weights, clusters_of
from ngram_metrics._core.scoring.rows import score_corpora, unpack
from ngram_metrics._core.scoring.scorer import Metric, Scorer, scorer_of
from ngram_metrics._core.scoring.settings_digest import digest
from ngram_metrics._core.text.labels import Labels, cluster_numbers
from ngram_metrics._core.text.messages import pluralize, type_name

#: float32 has all integers up to this one.
_FLOAT32_INTEGERS = 1 << 24
#: Numbers computed at a time, 8 bytes each, which limits memory.
NUMBERS_AT_ONCE = 1 << 18


class System(Metric, Protocol):
    """A metric with the counts of a system's output, for each segment."""

    @property
    def signature(self) -> str:
        """Everything that affects the score, with the number of references."""

    def has_one_reference(self) -> bool:
        """Return whether each segment of all processes has exactly one reference."""

    def segment_rows(self) -> Tensor:
        """Return the packed statistics ``(segments, fields)`` of all processes."""


@dataclass(frozen=True)
class Paired:
    """Several systems on the same segments.

    Attributes:
        scorer: the metric of all systems.
        values: ``(clusters, systems, width)``, the values whose sums give scores, summed over each cluster, which is a
            segment if none are given.
        segments: ``(clusters,)`` float64, the number of segments of each cluster.
        unit: what is drawn, ``"segments"`` or ``"clusters"``.
    """

    scorer: Scorer
    values: Tensor
    segments: Tensor
    unit: str

    def score(self, sums: Tensor, segments: Tensor | None = None) -> Tensor:
        """Return the scores ``(..., *score_shape)`` of sums ``(..., width)`` over ``segments``, None for all."""
        counts = self.segments.sum() if segments is None else segments
        scores = score_corpora(self.scorer.measure, sums, counts.unsqueeze(-1), self.scorer.average)
        return scores.reshape((*sums.shape[:-1], *self.scorer.measure.score_shape))

    @cached_property
    def totals(self) -> Tensor:
        """The sums of each system, ``(systems, width)``."""
        return self.values.sum(0)

    @cached_property
    def corpus_scores(self) -> Tensor:
        """The score of each system, ``(systems, *score_shape)``."""
        return self.score(self.totals)

    def sums(self, weights: Tensor) -> Iterator[Tensor]:
        """Yield blocks of sums ``(draws, systems, width)`` under rows of weights ``(draws, clusters)`` float32.

        The weights are whole numbers whose sum for a draw is at most ``clusters``.
        """
        systems = self.values.shape[1]
        _, count, order = self._columns
        for rows in weights.to(self.values.device).split(self.draws_at_once):
            products = self._multiply(rows)  # (draws, columns)
            differing = products[:, : systems * count].unflatten(1, (systems, count))
            shared = products[:, None, systems * count :].expand(-1, systems, -1)
            yield torch.cat((differing, shared), 2).index_select(2, order)

    def count_segments(self, weights: Tensor) -> Tensor:
        """Return the number of segments of each resampled corpus, ``(draws, 1)`` float64."""
        if self.unit == "segments":  # each draws as many as there are
            return self.segments.sum().expand(len(weights), 1)
        return weights.to(self.segments) @ self.segments.unsqueeze(1)

    @cached_property
    def draws_at_once(self) -> int:
        """The number of draws whose sums are computed together."""
        return max(1, NUMBERS_AT_ONCE // self.values[0].numel())

    @cached_property
    def _columns(self) -> tuple[Tensor, int, Tensor]:
        """All values in two dimensions, ``(clusters, columns)``, with columns that all systems share once, at the end.

        The others are the columns in which systems differ, whose number for each system follows, then the position
        of each column in this order, ``(width,)`` int64. Shared are, for example, the lengths of references.
        """
        is_shared = (self.values == self.values[:, :1]).flatten(0, 1).all(0)
        differing = (~is_shared).nonzero()[:, 0]
        order = torch.cat((differing, is_shared.nonzero()[:, 0])).argsort()
        columns = torch.cat((self.values.index_select(2, differing).flatten(1), self.values[:, 0, is_shared]), 1)
        return columns, len(differing), order

    @cached_property
    def _integers(self) -> tuple[NDArray[np.float32], float] | None:
        """The columns as float32 and their largest sum of absolute values, 0 if no sum can reach 2^24.

        None on other devices than a CPU, and for values that are not integers, whose products may round.
        """
        columns, *_ = self._columns
        if columns.device.type != "cpu" or not torch.equal(columns, columns.round()):
            return None
        sizes = columns.abs()
        if len(sizes) * sizes.max().item() < _FLOAT32_INTEGERS:
            return columns.numpy().astype(np.float32), 0.0
        return columns.numpy().astype(np.float32), sizes.sum(0).max().item()

    def _multiply(self, weights: Tensor) -> Tensor:
        """Return weights ``(draws, clusters)`` by columns, ``(draws, columns)`` float64."""
        # Integers are exact in float32 too, in half the time; by numpy, because torch may compute float32 products in
        # bfloat16, as under autocast.
        if self._integers is not None:
            columns, sum_of_sizes = self._integers
            if sum_of_sizes == 0 or weights.max().item() * sum_of_sizes < _FLOAT32_INTEGERS:
                return torch.from_numpy((weights.numpy() @ columns).astype(np.float64))
        return weights.to(torch.float64) @ self._columns[0]


def resample_scores(
    tested: Sequence[Paired], resamples: int, seed: int, progress: Callable[[int], object] = lambda draws: None
) -> list[Tensor]:
    """Return for each metric the scores of all systems in the same corpora, ``(resamples, systems, *score_shape)``.

    ``progress`` is called with the number of draws that a metric has scored.
    """
    scores: list[list[Tensor]] = [[] for _ in tested]
    for weights in bootstrap_weights(len(tested[0].values), resamples, seed):
        for paired, drawn in zip(tested, scores, strict=True):
            segments = paired.count_segments(weights)
            for sums, counts in zip(paired.sums(weights), segments.split(paired.draws_at_once), strict=True):
                drawn.append(paired.score(sums, counts))
                progress(len(sums))
    return list(map(torch.cat, scores))


def list_names(systems: Mapping[str, System]) -> list[str]:
    """Return the names of systems, or raise TypeError if they are not a mapping."""
    if not isinstance(systems, Mapping):
        raise TypeError(f"systems is {type_name(systems)}: expected a mapping of names to metrics")
    return list(systems)


def pair_systems(systems: Mapping[str, System], baseline: str, clusters: Labels | None) -> Paired:
    """Return the values of all systems, in an order of clusters that does not depend on the input order.

    Raises the errors of ``ngram_metrics.significance.paired_bootstrap``.
    """
    check_choice("baseline", baseline, list_names(systems))
    scorers = {name: scorer_of(system, f"system {name!r}") for name, system in systems.items()}
    settings = {
        name: digest(scorer.reader, scorer.measure, scorer.average, list(scorer.values.items()))
        for name, scorer in scorers.items()
    }
    signature = systems[baseline].signature
    for name, system in systems.items():
        if settings[name] != settings[baseline]:
            raise ValueError(f"{name!r} is a metric with other settings than {baseline!r}: expected the same ones")
        if system.signature != signature:
            # The numbers of references differ.
            raise ValueError(
                f"{name!r} was scored as {system.signature}, and {baseline!r} as {signature}: expected the same"
            )
    rows = {name: system.segment_rows() for name, system in systems.items()}
    segments = len(rows[baseline])
    if segments == 0:
        raise ValueError(f"{baseline!r} has counted no segment: expected at least one")
    for name, system_rows in rows.items():
        if len(system_rows) != segments:
            raise ValueError(
                f"{name!r} has {pluralize(len(system_rows), 'segment')} and {baseline!r} {segments}: "
                "expected the same ones"
            )
    if systems[baseline].has_one_reference():
        _check_references(rows, scorers[baseline], baseline)
    numbers = None if clusters is None else cluster_numbers(clusters, repr(baseline), segments)
    return pair_rows(systems[baseline].scorer, list(rows.values()), numbers)


def pair_rows(scorer: Scorer, rows: Sequence[Tensor], clusters: Tensor | None) -> Paired:
    """Return the values of systems with these rows, each ``(segments, fields)``.

    ``clusters`` are the numbers of the segments' clusters, ``(segments,)`` int64 on the CPU.
    """
    joined = torch.stack([system_rows.to(rows[0].device) for system_rows in rows], 1)
    values, segments = clusters_of(scorer.measure, joined, scorer.average, clusters)
    return Paired(scorer, values, segments, "segments" if clusters is None else "clusters")


def _check_references(rows: Mapping[str, Tensor], scorer: Scorer, baseline: str) -> None:
    """Raise ValueError if counts show that two systems have different references for a segment.

    Each segment has one reference: which of several is counted would depend on the hypothesis.
    """
    counts = {
        name: scorer.measure.reference_counts(unpack(system_rows, scorer.measure.layout))
        for name, system_rows in rows.items()
    }
    for count_name, expected in counts[baseline].items():
        for name, system_counts in counts.items():
            actual = system_counts[count_name].to(expected.device)
            differing = (actual != expected).reshape(len(expected), -1).any(1)
            if differing.any():
                segment = int(differing.to(torch.uint8).argmax())
                raise ValueError(
                    f"segment {segment} has another reference in {name!r} than in {baseline!r} ({count_name}: "
                    f"{actual[segment].tolist()} and {expected[segment].tolist()}): "
                    "expected the same segments in the same order"
                )
