r"""Minimum Bayes risk decoding: every hypothesis scored against every reference, and the best chosen.

Of several hypotheses, MBR decoding takes the one with the highest expected utility under a set of samples from the
model, the references (Kumar and Byrne 2004; Eikema and Aziz 2020):

.. math:: \hat h = \arg\max_h \sum_r p(r) \, u(h, r)

The utility is any metric whose score of a pair is a function of n-gram matches: ``Bleu``, ``ROUGEScore`` with one key
of n-grams, ``ChrF``, ``NgramOverlap``. All pairs are counted at once, see :mod:`ngram_metrics.counting.all_pairs`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from ngram_metrics.scores.all_pairs import pair_scores, score_blocks
from ngram_metrics.scores.measure import AnyMeasure, measure_of, score_dtype
from ngram_metrics.text.groups import read_rows
from ngram_metrics.text.inputs import Groups
from ngram_metrics.text.messages import shortened
from ngram_metrics.text.reader import Reader

__all__ = ["Decoded", "pairwise", "decode"]


class Utility(Protocol):
    """A metric of this package, from either framework."""

    @property
    def reader(self) -> Reader:
        """How a document is read."""

    @property
    def measure(self) -> AnyMeasure:
        """What is counted, and the score."""

    @property
    def device(self) -> torch.device:
        """Where text is counted."""


class Decoded(NamedTuple):
    """What MBR decoding chose.

    Attributes:
        hypotheses: the hypothesis of each row, as it was given.
        indices: ``(rows,)`` int64, its number in the row.
        expected_utilities: ``(rows,)`` in 0..1, its expected utility.
    """

    hypotheses: list[Any]
    indices: Tensor
    expected_utilities: Tensor


def pairwise(metric: Utility, hypotheses: Groups, references: Groups) -> Tensor | list[Tensor]:
    """Score every hypothesis of a row against every reference of that row.

    Args:
        metric: the score of a pair; its ``average`` does not matter, and its states are neither read nor changed.
        hypotheses: rows of documents, see :mod:`ngram_metrics.text.groups`.
        references: as many rows; the same object, or the same texts, are counted once.

    Returns:
        ``(rows, hypotheses, references)`` in 0..1, float64 where the device has it; of rows of different sizes a list
        with ``(hypotheses, references)`` for each.

    Raises:
        TypeError, ValueError: documents that cannot be read; a metric without a score of pairs.

    Example:
        >>> from ngram_metrics import Bleu, mbr
        >>> mbr.pairwise(Bleu(ngram=2), [["a b c", "a b d"]], [["a b c", "x y z"]])
        tensor([[[1.0000, 0.0000],
                 [0.5774, 0.0000]]], dtype=torch.float64)
    """
    return pair_scores(measure_of(metric, "metric"), read_rows(metric.reader, hypotheses, references, metric.device))


def decode(
    metric: Utility,
    hypotheses: Groups,
    references: Groups | None = None,
    reference_probabilities: Sequence[Sequence[float] | Tensor] | Tensor | None = None,
) -> Decoded:
    """Choose the hypothesis of each row with the highest expected utility, the first of equally high ones.

    Args:
        metric: the utility, as for :func:`pairwise`.
        hypotheses: rows of documents, at least one in each.
        references: as many rows, at least one reference in each; None where the hypotheses are the references too.
        reference_probabilities: for each row a number of at least 0 for each reference, not all 0; what counts is their
            proportion. None for equal ones, as of samples.

    Raises:
        TypeError, ValueError: as :func:`pairwise`; a row without hypotheses or references, or with probabilities that
            do not fit, by its number.

    Example:
        >>> from ngram_metrics import ChrF, mbr
        >>> samples = ["the cat sat", "the cat sits", "a dog ran off"]
        >>> chosen = mbr.decode(ChrF(), [samples])
        >>> chosen.hypotheses, chosen.expected_utilities
        (['the cat sits'], tensor([0.5608], dtype=torch.float64))
    """
    if references is None:
        references = hypotheses
    measure = measure_of(metric, "metric")
    kinds = read_rows(metric.reader, hypotheses, references, metric.device)
    own, others = kinds[0]
    for name, side in (("hypotheses", own), ("references", others)):
        empty = (side.counts == 0).nonzero()
        if len(empty):
            raise ValueError(f"row {int(empty[0])} has no {name}: expected at least one")
    device = own.tokens.ids.device
    weights = _weights(reference_probabilities, others.counts.tolist()).to(score_dtype(device)).to(device)
    totals = weights.sum(-1)
    heights = own.counts.tolist()
    expected: list[list[Tensor]] = [[] for _ in heights]
    for block in score_blocks(measure, kinds):
        groups = slice(*block.groups)
        sums = (block.scores * weights[groups, : block.scores.shape[2]].unsqueeze(1)).sum(-1)
        utilities = sums / totals[groups].unsqueeze(1)
        for group, of_rows in zip(range(*block.groups), utilities, strict=True):
            expected[group].append(of_rows[: heights[group]])
    # Of equal maxima, torch.max names the first.
    best = [torch.cat(parts).max(0) for parts in expected]
    indices = torch.stack([part.indices for part in best])
    # By position: a row may have no integer indexing, or index by label, as a pandas column does.
    chosen = [list(row)[index] for row, index in zip(hypotheses, indices.tolist(), strict=True)]
    return Decoded(chosen, indices, torch.stack([part.values for part in best]))


def _weights(probabilities: Sequence[Sequence[float] | Tensor] | Tensor | None, counts: list[int]) -> Tensor:
    """Return the weight of each reference, ``(rows, references)`` float64 in 0..1 on the CPU; 0 for a missing one."""
    if probabilities is None:
        probabilities = [[1.0] * count for count in counts]
    rows = [_numbers(row, index) for index, row in enumerate(_on_host(probabilities))]
    if len(rows) != len(counts):
        raise ValueError(f"reference_probabilities has {len(rows)} rows: expected {len(counts)}, one for each row")
    weights = torch.zeros(len(rows), max(counts), dtype=torch.float64, device="cpu")
    for index, (row, count) in enumerate(zip(rows, counts, strict=True)):
        if len(row) != count:
            raise ValueError(f"row {index} of reference_probabilities has {len(row)} numbers: expected {count}")
        if not all(0 <= number < math.inf for number in row) or not any(row):
            raise ValueError(
                f"row {index} of reference_probabilities is {shortened(row)}: "
                "expected finite numbers of at least 0, not all 0"
            )
        numbers = torch.tensor(row, dtype=torch.float64, device="cpu")
        # Only their proportion counts: so the sum of the largest numbers that there are is finite, too.
        weights[index, :count] = numbers / numbers.max()
    return weights


def _on_host(rows: Sequence[Sequence[float] | Tensor] | Tensor) -> Sequence[Sequence[float] | Tensor] | Tensor:
    """Return rows in the CPU's memory; from a device in one copy, because each is waited for."""
    if isinstance(rows, Tensor):
        return rows.cpu()
    tensors = [row.reshape(-1) for row in rows if isinstance(row, Tensor)]
    if len(tensors) < len(rows) or len({row.device for row in tensors}) != 1:
        return rows
    return torch.cat(tensors).cpu().split(list(map(len, tensors)))


def _numbers(row: object, index: int) -> list[float]:
    try:
        numbers: list[float] = torch.as_tensor(row, dtype=torch.float64, device="cpu").reshape(-1).tolist()
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"row {index} of reference_probabilities is {shortened(row)}: expected numbers") from error
    return numbers
