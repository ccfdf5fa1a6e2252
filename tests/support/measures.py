"""The measures, each beside what it counts and scores in plain Python: what the tests of formulas and calls run over.

The entry of a new measure stands in the test of its file, as `MEASURED` of tests/_core/metrics/test_chrf.py does, where
all_measures.py finds it; no test is copied.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import oracles
import pytest
from hypothesis import strategies as st
from layouts import apart
from oracles import summed

from ngram_metrics._core.metrics.overlap import OverlapMeasure
from ngram_metrics._core.scoring.measure import AnyMeasure
from ngram_metrics._core.scoring.scorer import Scorer
from ngram_metrics._core.text.reader import WordReader

Settings = dict[str, Any]
Batch = Sequence[tuple[Any, Sequence[Any]]]

# Two or three words in short segments: ties, repeats, orders without a match and without an n-gram all occur.
tokens = st.lists(st.sampled_from("abc"), max_size=9)
#: Few letters; spaces of several kinds, and what looks like one and is none.
characters = st.text(st.sampled_from("aaabbAİ(.- \t\n\u00a0\u3000\u200b\u0301😀"), max_size=12)


def batches_of(documents: st.SearchStrategy, references: int = 4) -> st.SearchStrategy:
    """One to five segments, each with one reference or several."""
    reference_lists = st.lists(documents, min_size=1, max_size=references)
    return st.lists(st.tuples(documents, reference_lists), min_size=1, max_size=5)


def options(**each: Sequence[Any]) -> tuple[Settings, ...]:
    """Every combination of the values of some settings."""
    return tuple(dict(zip(each, values, strict=True)) for values in product(*each.values()))


@dataclass(frozen=True)
class Measured:
    """A measure, what it reads, and what it counts and scores in plain Python.

    Attributes:
        make: from settings to the measure; those of the reader are let pass.
        reader: from settings to the reader.
        documents: what a hypothesis or a reference may be.
        settings: those it may have.
        counts: in plain Python, from settings, a hypothesis and its references to the fields of one row.
        score: in plain Python, from settings and fields to the score.
        variants: settings that differ in their steps, one or more for each step of the code.
        of_text: from a text to a document.
        of_ids: from ids, 1 or larger, to a document that has the same counts.
        tolerance: how far a score may lie from that in plain Python, in proportion.
        averages: those it has.
        choice_is_exact: whether plain Python rounds as the code does where it chooses between references.
    """

    make: Callable[[Settings], AnyMeasure]
    reader: Callable[[Settings], Any]
    documents: st.SearchStrategy
    settings: st.SearchStrategy
    counts: Callable[[Settings, Any, Sequence[Any]], tuple]
    score: Callable[[Settings, Sequence[Any]], Any]
    variants: tuple[Settings, ...]
    of_text: Callable[[str], Any] = str
    of_ids: Callable[[Sequence[int]], Any] = list
    tolerance: float = 1e-12
    averages: tuple[str, ...] = ("none", "macro", "micro")
    choice_is_exact: bool = True

    @property
    def batches(self) -> st.SearchStrategy:
        return batches_of(self.documents)

    def scorer(self, settings: Settings, average: str = "none") -> Scorer:
        return Scorer(self.reader(settings), self.make(settings), average, {"score": ()})

    def rows(self, settings: Settings, batch: Batch) -> np.ndarray:
        return self.scorer(settings).count(*apart(batch)).rows

    def scored(self, settings: Settings, batch: Batch, average: str) -> np.ndarray:
        scorer = self.scorer(settings, average)
        return scorer.score(scorer.count(*apart(batch)))

    def expected_rows(self, settings: Settings, batch: Batch) -> np.ndarray:
        """The rows in plain Python."""
        return np.array([np.hstack(self.counts(settings, *segment)) for segment in batch])

    def expected(self, settings: Settings, batch: Batch, average: str) -> np.ndarray:
        """The scores in plain Python."""
        rows = [self.counts(settings, *segment) for segment in batch]
        if average == "micro":
            return np.array(self.score(settings, summed(rows)))
        scores = np.array([self.score(settings, row) for row in rows])
        return scores if average == "none" else scores.sum(0) / len(rows)

    def close(self, expected: Any) -> Any:
        return pytest.approx(np.array(expected), rel=self.tolerance, abs=1e-300)


def _overlap_counts(settings: Settings, hypothesis: Any, references: Sequence[Any]) -> tuple:
    rows = [oracles.overlap_counts(hypothesis, reference, settings.get("ngram", 1)) for reference in references]
    return oracles.first_best(rows, oracles.overlap)


def of_settings(make: Callable[..., Any], *names: str, without: Sequence[str] = ()) -> Callable[[Settings], Any]:
    """Make a measure or a reader of those of the settings that it knows: the named ones, or all but some."""
    return lambda settings: make(
        **{name: value for name, value in settings.items() if (name in names if names else name not in without)}
    )


of_order = st.fixed_dictionaries({"ngram": st.integers(1, 7)})
#: Those that have no test of their own in tests/_core/metrics.
MEASURES = {
    "overlap": Measured(
        make=of_settings(OverlapMeasure, without=["pad_id"]),
        reader=of_settings(WordReader, "pad_id"),
        documents=tokens,
        settings=of_order,
        counts=_overlap_counts,
        score=lambda settings, counts: oracles.overlap(*counts),
        variants=options(ngram=[1, 2, 3, 9]),
        of_text=list,
    ),
}
