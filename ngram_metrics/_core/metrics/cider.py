r"""CIDEr-D (Vedantam et al. 2015), as pycocoevalcap computes what it calls CIDEr.

Definition. The weight of an n-gram is ``w = ln(S / max(1, f))``, where f of the S segments of a corpus of
references have the n-gram in one of their references. Let h and r be its counts in the hypothesis and a reference, and
d the difference of their lengths. For each order

.. math:: s_n = e^{-d^2 / 2 \sigma^2} \frac{\sum \min(w h, w r) \, w r}{\sqrt{\sum (w h)^2} \sqrt{\sum (w r)^2}}

.. math:: \text{CIDEr-D} = \frac{10}{N} \sum_{n=1}^{N} \overline{s_n}

with the mean over the references of a segment. The score of a corpus is the mean over its segments.

Conventions. Scores are from 0 to 10, in Python and in tables: papers report CIDEr 1.2 where this number is 1.2, or 120
for 100 times it. 0 / 0 is 0. An n-gram that the corpus does not have weighs as much as one of a single segment.
pycocoevalcap measures lengths in bigrams, which gives the same difference unless a text is empty and scores 0.

Differences from pycocoevalcap:

1. It splits texts by the Penn Treebank tokenizer of Java, in lower case and without punctuation. Here the tokenizer is
   an option, by default whitespace; tokenized texts score the same.
2. It always counts the document frequencies of the references that it is given. Here they are a table, so that scores
   of different batches, ranks and days are of the same scale. Without a table the function does the same.
3. It counts orders up to 4 only, whatever N is.
4. A corpus of one segment gives all n-grams the weight 0, and it returns 0 for any text; here it is an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from ngram_metrics._core.basics.option_checks import Average, checked_number, checked_order
from ngram_metrics._core.counting.documents import Batch, PaddedPairs, RaggedSides
from ngram_metrics._core.counting.weighted_matches import NgramWeights, padded_weighted_matches, ragged_weighted_matches
from ngram_metrics._core.document_frequency import DocumentFrequency
from ngram_metrics._core.scoring.measure import Layout, Measure, exponential
from ngram_metrics._core.scoring.references import count_references, pair_up, sum_over_references


class CiderStatistics(NamedTuple):
    """The similarity of a hypothesis and its references for each order, ``(..., orders)`` floating point, 0 to 1."""

    similarities: Tensor


@dataclass(frozen=True)
class CiderMeasure(Measure[CiderStatistics]):
    """CIDEr-D with a table of document frequencies.

    Attributes:
        document_frequency: the table; None for the references of each batch, which is then ragged.
        ngram: the longest order, at most the longest of the table.
        sigma: how many words a text may be longer or shorter, above 0.

    Raises:
        TypeError: a setting of another type.
        ValueError: a setting out of its range; a table of fewer than two segments, or of shorter orders.
    """

    document_frequency: DocumentFrequency | None
    ngram: int = 4
    sigma: float = 6.0

    row_dtype = torch.float64
    highest = 10.0
    score_bound = 16

    def __post_init__(self) -> None:
        object.__setattr__(self, "ngram", checked_order(self.ngram))
        object.__setattr__(self, "sigma", checked_number(self.sigma, "sigma"))
        if self.sigma == 0:
            raise ValueError("sigma must be greater than 0 (got: 0)")
        if self.document_frequency is None:
            return
        table = checked_table(self.document_frequency)
        if not table.segments:
            raise ValueError("document_frequency was counted in no segment: expected two segments or more")
        _refuse_one_segment(table.segments)
        if self.ngram > table.ngram:
            raise ValueError(
                f"document_frequency has the orders 1 to {table.ngram}, and ngram is {self.ngram}: expected a table of "
                "as many orders"
            )

    @property
    def layout(self) -> Layout[CiderStatistics]:
        return Layout(CiderStatistics, (self.ngram,))

    def statistics(self, batch: Batch) -> CiderStatistics:
        """Compare each hypothesis with its references: one row per segment."""
        pairs = pair_up(batch.sides)
        device = pairs.documents.hypotheses.ids.device
        weights = None
        if self.document_frequency is not None:
            _, keys, order_weights = self.document_frequency.to_device(device)
            weights = NgramWeights(keys[: self.ngram - 1], order_weights[: self.ngram])
        if isinstance(batch.sides, RaggedSides):
            if weights is None:
                _refuse_one_segment(pairs.segments)
            sums = ragged_weighted_matches(batch.sides, self.ngram, weights)
        else:
            assert isinstance(pairs.documents, PaddedPairs)
            assert weights is not None
            sums = padded_weighted_matches(pairs.documents, weights)
        hypothesis, reference = (side.lengths for side in pairs.documents)
        apart = (hypothesis - reference).to(sums.products.dtype)
        norms = sums.hypothesis_squares.sqrt() * sums.reference_squares.sqrt()
        similarities = sums.products / torch.where(norms > 0, norms, 1)
        # The square of sigma may be 0 or infinite.
        similarities = similarities * exponential(-(apart / self.sigma).square() / 2).unsqueeze(-1)
        count = count_references(pairs).unsqueeze(-1)
        return CiderStatistics(sum_over_references(similarities, pairs) / count)

    def score(self, statistics: CiderStatistics) -> Tensor:
        """Return CIDEr-D, from 0 to 10, for statistics of any leading shape."""
        return 10 * statistics.similarities.mean(-1)

    def parts(self, statistics: CiderStatistics) -> dict[str, Tensor]:
        """Return nothing: similarities are of a segment, and have no corpus counts."""
        return {}

    def signature(self) -> dict[str, str]:
        """Return the settings, with a digest of the table and the number of its segments as ``df``."""
        table = self.document_frequency
        frequencies = "batch" if table is None else f"{table.digest[:8]}[{table.segments}]"
        return {"order": str(self.ngram), "sigma": str(self.sigma), "df": frequencies}


def checked_table(table: object) -> DocumentFrequency:
    """Return a table, or raise TypeError for any other object."""
    if not isinstance(table, DocumentFrequency):
        raise TypeError(
            f"document_frequency is {type(table).__name__}: expected a table that functional.document_frequency returns"
        )
    return table


def _refuse_one_segment(segments: int) -> None:
    """Raise ValueError for a corpus of one segment, in which every n-gram weighs ln 1 = 0."""
    if segments == 1:
        raise ValueError(
            "the document frequencies are of one segment, in which every n-gram weighs 0: expected two segments or more"
        )


def refuse_micro(average: Average) -> None:
    """Raise ValueError for average micro: CIDEr-D sums no counts."""
    if average == "micro":
        raise ValueError(
            "CIDEr-D is a mean over segments, which leaves no counts to sum: expected average 'macro' or 'none'"
        )
