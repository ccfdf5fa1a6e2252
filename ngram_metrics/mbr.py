"""Minimum Bayes risk decoding: score every hypothesis against every reference, and choose the best hypothesis.

MBR decoding chooses the hypothesis h with the highest expected utility, the sum of p(r) u(h, r). The references r are
samples from the model (Kumar and Byrne 2004; Eikema and Aziz 2020).

The utility is a metric that scores a pair from n-gram matches or from a longest common subsequence: ``Bleu``, ``ChrF``,
``NgramOverlap``, or ``ROUGEScore`` with a single key other than ``rougeLsum``. For ROUGE the utility is F;
``rouge["rougeL_recall"]`` makes it the recall.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from ngram_metrics._core.basics.arrays import Array
from ngram_metrics._core.basics.keywords import named_arguments
from ngram_metrics._core.basics.tensors import count_device, move_result, to_tensor
from ngram_metrics._core.scoring.pair_scores import make_empty, score_blocks, score_pools
from ngram_metrics._core.scoring.scorer import Metric, scorer_of
from ngram_metrics._core.text.foreign_values import list_column, list_on_host
from ngram_metrics._core.text.input_types import Rows
from ngram_metrics._core.text.messages import pluralize, shortened
from ngram_metrics._core.text.pool_reader import read_pools

__all__ = ["Decoded", "pairwise", "decode"]


class Utility(Metric, Protocol):
    """A metric of this package, for torchmetrics or ignite."""

    @property
    def device(self) -> torch.device:
        """Where pairs are counted."""


class Decoded(NamedTuple):
    """The result of MBR decoding. See the page "Minimum Bayes risk decoding".

    Attributes:
        hypotheses: the chosen hypothesis of each row, as it was passed.
        indices: ``(rows,)`` int64, the index of the chosen hypothesis in its row.
        expected_utilities: ``(rows,)`` float64 from 0 to 1 (float32 if the device has no float64), the expected utility
            of the chosen hypothesis.
    """

    hypotheses: list[Any]
    indices: Tensor
    expected_utilities: Tensor


@named_arguments
def pairwise(metric: Utility, hypotheses: Rows, references: Rows) -> Tensor | list[Tensor]:
    """Score every hypothesis of a row against every reference of that row.

    Args:
        metric: the score of a pair. Its ``average`` has no effect, and its states are neither read nor changed.
        hypotheses: a sequence of rows, each a sequence of texts, tokens or ids, or one padded id tensor
            ``(rows, documents, width)``. See the page "Minimum Bayes risk decoding".
        references: as many rows of references. If they are the same object as ``hypotheses``, or the same texts, they
            are counted only once.

    Returns:
        ``(rows, hypotheses, references)`` float64 from 0 to 1 (float32 if the device has no float64). If rows have
        different sizes, a list with ``(hypotheses, references)`` for each row.

    Raises:
        TypeError: an object that is not a metric of this package; documents that cannot be read.
        ValueError: a metric that does not score pairs; no rows, or different numbers of rows.

    Example:
        >>> from ngram_metrics import Bleu, mbr
        >>> mbr.pairwise(Bleu(ngram=2), [["a b c", "a b d"]], [["a b c", "x y z"]])
        tensor([[[1.0000, 0.0000],
                 [0.5774, 0.0000]]], dtype=torch.float64)
    """
    scorer = scorer_of(metric, "metric").segment_scorer()
    kinds = read_pools(scorer.reader, hypotheses, references)
    return score_pools(scorer.measure, kinds, scorer.pair_index, count_device(metric.device))


@named_arguments
def decode(
    metric: Utility,
    hypotheses: Rows,
    references: Rows | None = None,
    reference_probabilities: Sequence[Sequence[float] | Tensor] | Tensor | None = None,
) -> Decoded:
    """Choose the hypothesis of each row with the highest expected utility, the first on ties.

    Args:
        metric: the utility, as for ``pairwise``.
        hypotheses: rows of documents, at least one in each row.
        references: as many rows, with at least one reference in each. None if the hypotheses are also the references.
        reference_probabilities: for each row a number of at least 0 for each reference, not all 0. Only their
            proportions matter. None for equal probabilities, as for samples.

    Raises:
        TypeError, ValueError: the errors of ``pairwise``; a row without hypotheses or references, or with wrong
            probabilities. The message names the row.

    Example:
        >>> from ngram_metrics import ChrF, mbr
        >>> samples = ["the cat sat", "the cat sits", "a dog ran off"]
        >>> chosen = mbr.decode(ChrF(), [samples])
        >>> chosen.hypotheses, chosen.expected_utilities
        (['the cat sits'], tensor([0.5608], dtype=torch.float64))
    """
    if references is None:
        references = hypotheses
    scorer = scorer_of(metric, "metric").segment_scorer()
    kinds = read_pools(scorer.reader, hypotheses, references)
    heights, widths = kinds[0].hypotheses, kinds[0].references
    for name, counts in (("hypotheses", heights), ("references", widths)):
        if not counts.all():
            raise ValueError(f"row {int(counts.argmin())} has no {name}: expected at least one")
    device = count_device(metric.device)
    weights = _weights(reference_probabilities, widths.tolist())
    if device is not None:
        weights = move_result(to_tensor(weights), device)
    expected = make_empty((int(heights.sum()),), device)
    stops = heights.cumsum()
    for groups, rows, scores in score_blocks(scorer.measure, kinds, scorer.pair_index, device):
        chosen = weights[groups.start : groups.stop, None, : scores.shape[2]]
        utilities = (scores * chosen).sum(-1) / chosen.sum(-1)
        for group, group_utilities in zip(groups, utilities, strict=True):
            part = expected[stops[group] - heights[group] : stops[group]][rows]
            part[:] = group_utilities[: len(part)]
    expected = to_tensor(expected).cpu().numpy()
    rows_of = np.split(expected, stops[:-1])
    # On ties argmax returns the first index.
    indices = np.array([row.argmax() for row in rows_of])
    # list() first: some rows do not take integer indices, or read them as labels, as pandas columns do.
    documents = [list_column(row, "a row") for row in list_column(hypotheses, "hypotheses")]
    chosen_documents = [list(row)[index] for row, index in zip(documents, indices.tolist(), strict=True)]
    best = indices, expected[stops - heights + indices]
    return Decoded(chosen_documents, *(move_result(to_tensor(part), metric.device) for part in best))


def _weights(probabilities: Sequence[Sequence[float] | Tensor] | Tensor | None, counts: list[int]) -> Array:
    """Return the weight of each reference, 0 if missing, ``(rows, references)`` float64 from 0 to 1."""
    if probabilities is None:
        return (np.arange(max(counts)) < np.array(counts)[:, None]).astype(np.float64)
    flat = [row.reshape(-1) if isinstance(row, Tensor) else row for row in probabilities]
    rows = [_numbers(row, index) for index, row in enumerate(list_on_host(flat))]
    if len(rows) != len(counts):
        raise ValueError(
            f"reference_probabilities has {pluralize(len(rows), 'row')}: expected {len(counts)}, one for each row"
        )
    weights = np.zeros((len(rows), max(counts)))
    for index, (row, count) in enumerate(zip(rows, counts, strict=True)):
        if len(row) != count:
            raise ValueError(
                f"row {index} of reference_probabilities has {pluralize(len(row), 'number')}: expected {count}, one "
                "for each reference"
            )
        if not all(0 <= weight < math.inf for weight in row) or not any(row):
            raise ValueError(
                f"row {index} of reference_probabilities is {shortened(row)}: "
                "expected finite numbers of at least 0, not all 0"
            )
        numbers = np.array(row)
        # Only proportions matter. After this division even a sum of the largest floats is finite.
        weights[index, :count] = numbers / numbers.max()
    return weights


def _numbers(row: object, index: int) -> list[float]:
    try:
        numbers: list[float] = torch.as_tensor(row, dtype=torch.float64, device="cpu").reshape(-1).tolist()
    except OverflowError as error:
        raise ValueError(
            f"row {index} of reference_probabilities has a number above 1e308: expected finite numbers of at least 0"
        ) from error
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"row {index} of reference_probabilities is {shortened(row)}: expected numbers") from error
    return numbers
