"""What the metrics of all frameworks share: a scorer, and the counts of all batches. No framework is imported here.

A class of a framework calls ``_begin`` in its constructor, replaces ``_counts`` in its ``update``, and says in
``_joined`` how the counts of all processes are obtained.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from ngram_metrics._core.basics.arrays import Array
from ngram_metrics._core.basics.option_checks import RESAMPLES, Average, checked_confidence
from ngram_metrics._core.basics.tensors import (
    call_outside_graphs,
    move_result,
    must_leave_graph,
    to_array,
    to_tensor,
)
from ngram_metrics._core.scoring.counts import Counts
from ngram_metrics._core.scoring.groups import (
    Grouping,
    add_up_groups,
    count_each_group,
    group_indices,
    select_groups,
)
from ngram_metrics._core.scoring.paired import interval_ends
from ngram_metrics._core.scoring.resampling import ENDS, SEED
from ngram_metrics._core.scoring.scorer import Scorer, Value
from ngram_metrics._core.scoring.settings import (
    Settings,
    describe_unequal,
    format_references,
    join_signatures,
    show_changed,
)
from ngram_metrics._core.text.input_types import Hypotheses, References
from ngram_metrics._core.text.messages import warn_user


class CountingMetric:
    """A scorer, the level of intervals, the labels of groups, and the counts of all batches."""

    #: The function that makes the scorer, whose defaults ``repr`` leaves out.
    _make: ClassVar[Callable[..., Scorer] | None] = None

    scorer: Scorer
    confidence: float | None
    #: The labels of groups that are counted separately; empty for a metric without groups.
    groups: tuple[str, ...]
    #: These groups, and how each is read.
    grouping: Grouping
    #: The suffixes of the name of each value in the dict that ``compute`` returns.
    suffixes: tuple[str, ...]
    #: Where the counts are.
    device: torch.device
    #: The counts of all batches.
    _counts: Counts
    #: The counts of no batch, in NumPy even if the other counts are on a device.
    _empty: Counts

    def _begin(self, scorer: Scorer, confidence: float | None = None, grouping: Grouping | None = None) -> None:
        """Set everything but the counts, or raise TypeError or ValueError for a bad level of confidence."""
        self.confidence = checked_confidence(confidence, scorer.average)
        self.scorer = scorer
        self.grouping = grouping or Grouping()
        self.groups = self.grouping.labels
        if self.groups:
            self.suffixes = self.grouping.suffixes
        else:
            self.suffixes = ("",) if confidence is None else ("", *ENDS)
        # The last group has the segments whose index is out of range.
        self._empty = scorer.no_counts(len(self.groups) + 1 if self.groups else None, confidence is not None)

    @property
    def average(self) -> Average:
        """How segments become one score: ``"micro"``, ``"macro"`` or ``"none"``."""
        return self.scorer.average

    def describe_settings(self) -> dict[str, object]:
        """Return everything that must be equal before counts are joined, by name."""
        kept = "sums" if self._empty.rows is None else "the counts of each segment"
        settings = {"class": type(self).__name__, **self.scorer.settings(), "kept": kept}
        return {**settings, **self.grouping.settings()} if self.groups else settings

    def _refuse_other_settings(self, differences: str = "") -> None:
        raise ValueError(
            f"these states come from a metric whose settings differ from this {type(self).__name__}'s: "
            f"expected the same class, options and average{differences}"
        )

    def _refuse_unequal(self, other: Settings) -> None:
        """Raise ValueError if another metric has other settings than this one, and name them."""
        if differences := describe_unequal(other, self.describe_settings()):
            self._refuse_other_settings(differences)

    def _count(self, preds: Hypotheses, target: References, groups: Any = None) -> None:
        """Count a batch, or raise TypeError or ValueError. ``torch.compile`` records only what torch counts."""
        if self._can_be_recorded(preds, target, groups):
            self._count_here(preds, target, groups)
        else:
            call_outside_graphs(self._count_here, preds, target, groups)

    def _can_be_recorded(self, preds: object, target: object, groups: object = None) -> bool:
        """Return whether ``torch.compile`` may record how a batch is counted."""
        if not self.scorer.reader.can_be_recorded(preds, target) or must_leave_graph(self.device):
            return False
        if self.grouping.scorers:  # counts in NumPy, group by group
            return False
        return groups is None or isinstance(groups, Tensor)

    def _count_here(self, preds: Hypotheses, target: References, groups: Any) -> None:
        """Count a batch in this graph, if there is one."""
        self._end_update(self._add_batch(preds, target, groups))

    def _end_update(self, counts: Counts) -> None:
        """Replace the counts, as the last step of an update."""
        self._counts = counts

    def _add_batch(self, preds: Hypotheses, target: References, groups: Any) -> Counts:
        """Return the counts with those of a batch, or raise TypeError or ValueError."""
        counts = self._counts
        is_first = counts.kind is None
        if self.groups:
            batch = self._count_groups(preds, target, groups, is_first)
        else:
            batch = self.scorer.add_up(self.scorer.count_batch(preds, target, is_first), counts.rows is not None)
        # The numbers of segments tell where counts are: they are integers, which any device has.
        if not (isinstance(counts.segments, np.ndarray) and isinstance(batch.segments, np.ndarray)):
            batch = self._send(batch)
            is_alike = type(batch.segments) is type(counts.segments) and type(batch.score_sum) is type(counts.score_sum)
            if not is_alike:
                counts = self._send(counts)  # before the first and after the last compiled update on a CPU
        return counts.merge(batch)

    def _count_groups(self, preds: Hypotheses, target: References, groups: Any, is_first: bool) -> Counts:
        """Return the sums of each group of a batch."""
        if self.grouping.scorers:
            counted, indices = count_each_group(self.grouping, preds, target, groups, is_first)
        else:
            counted = self.scorer.count_batch(preds, target, is_first)
            indices = group_indices(groups, self.groups, counted.segments)
        return add_up_groups(self.scorer, counted, indices, len(self.groups) + 1)

    def _send(self, counts: Counts) -> Counts:
        """Move counts to where the counts of this metric are."""
        return counts.to(self.device)

    def _value(self, counts: Counts) -> Value:
        """Return the value of counts on the device of the metric, or values by name."""
        if self.groups:
            return self._group_values(counts)
        self.scorer.warn_of_score(counts)
        score = self._move_scores(self.scorer.score(counts))
        if self.confidence is not None:
            return self._add_interval(score, counts, self.confidence)
        return self.scorer.name_values(score) if len(self.scorer.values) > 1 else score

    def _move_scores(self, scores: Array) -> Tensor:
        """Return scores on the device of the metric."""
        return move_result(to_tensor(scores), self.device)

    def _add_interval(self, score: Tensor, counts: Counts, confidence: float) -> dict[str, Tensor]:
        """Return the values by name, each with the ends of its interval."""
        low = high = score  # without segments
        rows = to_tensor(counts.all_rows()).cpu().numpy()
        if len(rows):
            ends = interval_ends(self.scorer.measure, self.average, rows, confidence)
            low, high = map(self._move_scores, ends)
        of_suffix = {}
        for suffix, scores in zip(self.suffixes, (score, low, high), strict=True):
            of_suffix[suffix] = self.scorer.name_values(scores)
        return {name + suffix: of_suffix[suffix][name] for name in self.scorer.values for suffix in self.suffixes}

    def _group_values(self, counts: Counts) -> dict[str, Tensor]:
        """Return the values of each group, their mean, and the value of all segments if all are read alike."""
        outside = 0 if getattr(counts.segments, "is_meta", False) else int(counts.segments[-1])
        if outside:
            raise ValueError(f"{outside} indices of groups are out of range: expected 0 to {len(self.groups) - 1}")
        labelled = select_groups(counts, lambda sums: sums[:-1])
        whole = select_groups(counts, lambda sums: sums.sum(0))
        self.scorer.warn_of_score(whole)
        scores = self._move_scores(self.scorer.score(labelled))
        parts = [scores, scores.nanmean(0, keepdim=True)]
        if not self.grouping.scorers:
            parts.append(self._move_scores(self.scorer.score(whole))[None])
        scores = torch.cat(parts)
        return {
            name + suffix: value
            for name, values in self.scorer.name_values(scores).items()
            for suffix, value in zip(self.suffixes, values, strict=True)
        }

    def _joined(self) -> Counts:
        """Return the counts of all processes."""
        raise NotImplementedError

    def _begins_empty(self, counts: Counts, saved_on: tuple[int, int], here: tuple[int, int]) -> bool:
        """Return whether saved counts are from another rank, and if so, warn that they are not loaded."""
        if saved_on == here or not np.any(to_tensor(counts.segments).cpu().numpy()):
            return False
        names = [f"rank {rank} of {ranks}" for rank, ranks in (saved_on, here)]
        warn_user(
            f"this {type(self).__name__} starts empty: its saved states are the counts of {names[0]}, but this is "
            f"{names[1]}. Run the validation again from its start"
        )
        return True

    def details(self) -> dict[str, Tensor]:
        """Return the parts of the corpus score by name, from the sums over all segments, for any ``average``.

        If each group is read by its own options, each group has its own parts, such as ``matches_de``.
        """
        row = self._joined().row
        if self.grouping.scorers:
            parts = self.scorer.parts(row[:-1])
            return {
                f"{name}_{label}": to_tensor(part)[index]
                for name, part in parts.items()
                for index, label in enumerate(self.groups)
            }
        parts = self.scorer.parts(to_array(to_tensor(row.reshape(-1, row.shape[-1]).sum(0))))
        return {name: to_tensor(part) for name, part in parts.items()}

    @property
    def signature(self) -> str:
        """All settings and versions that affect the score, in sacrebleu's format. Callables appear by name.

        ``nrefs`` is the number of references per segment so far, such as 1 or 1-4. It covers all processes: in a
        distributed run, read the signature on every process.
        """
        return self._sign(self._joined())

    def local_signature(self) -> str:
        """Return the signature for the segments of this process, without waiting for the others."""
        return self._sign(self._counts)

    def _sign(self, counts: Counts) -> str:
        negative, most = counts.reference_range.tolist()
        draws = {} if self.confidence is None else {"bs": str(RESAMPLES), "seed": str(SEED)}
        references = format_references(-negative, most)
        kind = counts.kind or "?"
        if self.grouping.scorers:
            scorers = zip(self.groups, self.grouping.scorers, strict=True)
            return join_signatures({label: scorer.signature(references, kind, draws) for label, scorer in scorers})
        return self.scorer.signature(references, kind, draws)

    def has_one_reference(self) -> bool:
        """Return whether each segment of all processes has exactly one reference."""
        return self._joined().reference_range.tolist() == [-1, 1]

    def segment_rows(self) -> Tensor:
        """Return the counts of each segment, ``(segments, fields)``, of all processes, rank by rank.

        They are int64, but float64 for ROUGE with ``accumulate="avg"``.

        Raises:
            ValueError: the metric has neither ``confidence`` nor average none, so it keeps only sums.
        """
        if self._empty.rows is None:
            raise ValueError(
                f"this {type(self).__name__} keeps only sums, not the counts of each segment: "
                "construct it with confidence=0.95"
            )
        return to_tensor(self._joined().all_rows())

    def _changed_settings(self) -> str:
        """Return the options that differ from the defaults of the class, as a call would pass them."""
        make = type(self)._make
        if make is None:
            return ""
        settings = {**self.scorer.settings(), "confidence": self.confidence}
        defaults = {**_default_settings(make, self.average), "confidence": None}
        return show_changed(settings, defaults, _parameters(type(self)))


@cache
def _default_settings(make: Callable[..., Scorer], average: Average) -> Mapping[str, object]:
    """Return the settings under default options. Those of BLEU depend on the average."""
    return {**make(average=average).settings(), "average": make().average}


def _parameters(cls: type) -> Iterable[str]:
    return inspect.signature(cls).parameters
