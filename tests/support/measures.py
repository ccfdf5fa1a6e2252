"""The measures, each beside what it counts and scores in plain Python: what the tests of formulas and calls run over.

The entry of a new measure stands in the test of its file, as `MEASURED` of tests/_core/metrics/test_gleu.py does, where
all_measures.py finds it; no test is copied.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import oracles
import pytest
import rouge_oracle
import torch
from hypothesis import strategies as st
from layouts import apart, read_batch
from oracles import BleuCounts, summed
from rouge_oracle import KEYS

from ngram_metrics._core.basics.option_checks import ROUGE_KEYS, SMOOTHINGS
from ngram_metrics._core.metrics.bleu import BleuMeasure
from ngram_metrics._core.metrics.chrf import ChrfMeasure
from ngram_metrics._core.metrics.overlap import OverlapMeasure
from ngram_metrics._core.metrics.repetition import RepetitionMeasure
from ngram_metrics._core.metrics.rouge import MeanRougeMeasure, RougeMeasure
from ngram_metrics._core.scoring.measure import AnyMeasure
from ngram_metrics._core.text.character_reader import CharacterReader
from ngram_metrics._core.text.rouge_reader import RougeReader
from ngram_metrics._core.text.word_reader import WordReader

CPU = torch.device("cpu")
VARIANTS = tuple(ROUGE_KEYS.values())

Settings = dict[str, Any]
Batch = Sequence[tuple[Any, Sequence[Any]]]

# Two or three words in short sentences: ties, repeats, orders without a match and without an n-gram all occur.
tokens = st.lists(st.sampled_from("abc"), max_size=9)
#: Few letters; spaces of several kinds, and what looks like one and is none.
characters = st.text(st.sampled_from("aaabbAİ(.- \t\n\u00a0\u3000\u200b\u0301😀"), max_size=12)
#: Words that stem alike, letters with a lower case in ASCII, marks, emoji, and every character that may end a line:
#: for rouge_score only "\n" does.
_PIECES = [
    *["run", "running", "runs", "The", "the", "cats", "cat", "a", "b", "1", "2nd", "a_b", "don't", "__"],
    *["\u212aelvin", "kelvin", "İ", "i", "é", "e\u0301", "ß", "😀", "👩\u200d👧", "東京", "\u0301", "."],
    *[" ", " ", " ", "\n", "\n", "\n\n", "\r\n", "\r", "\t", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"],
]
#: Few words and many lines: long common subsequences of which several are equally long.
_repeats = st.lists(st.sampled_from(["a ", "b ", "c ", "\n"]), max_size=24).map("".join)
summaries = (
    st.lists(st.sampled_from(_PIECES), max_size=16).map("".join)
    | _repeats
    | st.sampled_from(["", " ", "\n", "a", "\n\na b\n", "the cat\nthe cat\nthe cat"])
)


def batches_of(documents: st.SearchStrategy, references: int = 4) -> st.SearchStrategy:
    """One to five sentences, each with one reference or several."""
    reference_lists = st.lists(documents, min_size=1, max_size=references)
    return st.lists(st.tuples(documents, reference_lists), min_size=1, max_size=5)


def weights_of(order: int) -> st.SearchStrategy:
    """No weights, or one an order, not all of them 0."""
    weights = st.lists(st.sampled_from([0, 0.1, 0.25, 1.0]), min_size=order, max_size=order)
    return st.none() | weights.filter(any)


@st.composite
def bleu_settings(draw: Any, smoothings: Sequence[str] = SMOOTHINGS, weighted: bool = True) -> Settings:
    name, order = draw(st.sampled_from(smoothings)), draw(st.integers(1, 6))
    values = {"floor": [None, 0, 0.01, 0.5, 1], "add-k": [None, 0, 0.01, 0.5, 1, 3]}.get(name, [None])
    value = draw(st.sampled_from(values))
    weights = draw(weights_of(order)) if weighted else None
    return {
        "ngram": order,
        "smooth": name,
        "smooth_value": value,
        "weights": weights,
        "effective_order": draw(st.booleans()),
    }


_orders = st.tuples(st.integers(0, 8), st.integers(0, 3)).filter(any)
chrf_settings = st.fixed_dictionaries(
    {
        "char_order": st.integers(1, 8),
        "word_order": st.integers(0, 3),
        "beta": st.sampled_from([0, 0.5, 1, 2, 3]),
        "lowercase": st.booleans(),
        "whitespace": st.booleans(),
        "eps_smoothing": st.booleans(),
    }
) | _orders.map(lambda both: {"char_order": both[0], "word_order": both[1]})


def options(**each: Sequence[Any]) -> tuple[Settings, ...]:
    """Every combination of the values of some settings."""
    return tuple(dict(zip(each, values, strict=True)) for values in product(*each.values()))


def averaged_score(measure: AnyMeasure, statistics: Any, average: str) -> torch.Tensor:
    """The formula in arrays: of summed statistics, of each segment, or the mean of the segments' scores."""
    if average == "micro":
        return measure.score(type(statistics)(*(field.sum(0) for field in statistics)))
    scores = measure.score(statistics)
    return scores if average == "none" else scores.sum(0) / max(1, len(scores))


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
        perfect: settings, and documents that score 1 against themselves under them; None if no text is compared.
        past_float32: settings, counts that float32 does not hold, and their score.
        tolerance: how far a score may lie from that in plain Python, in proportion.
        averages: those it has.
        choice_is_exact: whether plain Python rounds as the code does where it chooses between references.
        text_only: whether tokens and ids are refused.
    """

    make: Callable[[Settings], AnyMeasure]
    reader: Callable[[Settings], Any]
    documents: st.SearchStrategy
    settings: st.SearchStrategy
    counts: Callable[[Settings, Any, Sequence[Any]], tuple]
    score: Callable[[Settings, Sequence[Any]], Any]
    variants: tuple[Settings, ...]
    of_text: Callable[[str], Any] = str
    perfect: st.SearchStrategy | None = None
    past_float32: tuple[tuple[Settings, tuple, Any], ...] = ()
    tolerance: float = 1e-12
    averages: tuple[str, ...] = ("none", "macro", "micro")
    choice_is_exact: bool = True
    text_only: bool = False

    @property
    def higher_is_better(self) -> bool:
        return self.make({}).higher_is_better

    @property
    def batches(self) -> st.SearchStrategy:
        return batches_of(self.documents)

    def statistics(self, settings: Settings, batch: Batch) -> Any:
        return self.make(settings).statistics(read_batch(self.reader(settings), *apart(batch)))

    def scored(self, settings: Settings, batch: Batch, average: str) -> torch.Tensor:
        return averaged_score(self.make(settings), self.statistics(settings, batch), average)

    def expected(self, settings: Settings, batch: Batch, average: str) -> np.ndarray:
        """The scores in plain Python."""
        rows = [self.counts(settings, *segment) for segment in batch]
        if average == "micro":
            return np.array(self.score(settings, summed(rows)))
        scores = np.array([self.score(settings, row) for row in rows])
        return scores if average == "none" else scores.sum(0) / len(rows)

    def close(self, expected: Any) -> Any:
        return pytest.approx(np.array(expected), rel=self.tolerance, abs=1e-300)


def _bleu_score(settings: Settings, counts: Sequence[Any]) -> float:
    names = {"smooth": "smooth", "smooth_value": "value", "weights": "weights", "effective_order": "effective_order"}
    return oracles.bleu(BleuCounts(*counts), **{names[name]: settings[name] for name in names & settings.keys()})


def _overlap_counts(settings: Settings, hypothesis: Any, references: Sequence[Any]) -> tuple:
    rows = [oracles.overlap_counts(hypothesis, reference, settings.get("ngram", 1)) for reference in references]
    return oracles.first_best(rows, oracles.overlap)


def _repetition_counts(settings: Settings, text: Any, references: Sequence[Any]) -> tuple:
    found = oracles.ngrams(text, settings.get("ngram", 4))
    return len(found), found.total()


def _chrf_counts(settings: Settings, hypothesis: str, references: Sequence[str]) -> tuple:
    rows = [oracles.chrf_counts(hypothesis, reference, **settings) for reference in references]
    return oracles.first_best(rows, lambda *row: oracles.chrf(*row, **settings))


def _keys(settings: Settings) -> tuple[str, ...]:
    return settings.get("keys", KEYS)


def _rouge_counts(settings: Settings, hypothesis: str, references: Sequence[str]) -> tuple:
    summary, summaries = rouge_oracle.summary(hypothesis), list(map(rouge_oracle.summary, references))
    how = settings.get("reducer", "best"), settings.get("alpha")
    return tuple(zip(*(rouge_oracle.reduced(key, summary, summaries, *how) for key in _keys(settings)), strict=True))


def _rouge_score(settings: Settings, counts: Sequence[Any]) -> list:
    rows = [rouge_oracle.Counts(*row) for row in zip(*counts, strict=True)]
    return [list(rouge_oracle.scores(row, settings.get("alpha"))) for row in rows]


def _mean_rouge_counts(settings: Settings, hypothesis: str, references: Sequence[str]) -> tuple:
    summary, summaries = rouge_oracle.summary(hypothesis), list(map(rouge_oracle.summary, references))
    return tuple(zip(*(rouge_oracle.rouge(key, summary, summaries, "avg") for key in _keys(settings)), strict=True))


def _rouge_variants(settings: Settings) -> tuple[int | str, ...]:
    return tuple(ROUGE_KEYS[key] for key in _keys(settings))


def _chrf_reader(settings: Settings) -> CharacterReader:
    read = {name: settings[name] for name in ("lowercase", "whitespace", "pad_id") if name in settings}
    return CharacterReader(**read, words=settings.get("word_order", 0) > 0)


def of_settings(make: Callable[..., Any], *names: str, without: Sequence[str] = ()) -> Callable[[Settings], Any]:
    """Make a measure or a reader of those of the settings that it knows: the named ones, or all but some."""
    return lambda settings: make(
        **{name: value for name, value in settings.items() if (name in names if names else name not in without)}
    )


#: The first integer that float32 does not hold.
MANY = 2**24 + 1
long_tokens = st.lists(st.sampled_from("abc"), min_size=7, max_size=9)
of_order = st.fixed_dictionaries({"ngram": st.integers(1, 7)})
_three_words = characters.filter(lambda text: len(text.split()) > 2)
_NINE_WORDS = "\na b c d e f g h i"

#: Those whose entries share what is above.
MEASURES = {
    "BLEU": Measured(
        make=of_settings(BleuMeasure, without=["pad_id"]),
        reader=of_settings(WordReader, "pad_id"),
        documents=tokens,
        settings=bleu_settings(),
        counts=lambda settings, hypothesis, references: oracles.bleu_counts(
            hypothesis, references, settings.get("ngram", 4)
        ),
        score=_bleu_score,
        variants=(
            *options(smooth=SMOOTHINGS, effective_order=[False, True]),
            *options(smooth=["none", "add-k"], effective_order=[False, True], weights=[(0.5, 0.3, 0.2, 0)]),
            *options(ngram=[1, 6], smooth=["exp"]),
        ),
        of_text=list,
        perfect=st.tuples(bleu_settings(weighted=False), long_tokens),
        past_float32=(
            ({"ngram": 1}, ([MANY], [2 * MANY], MANY * 2, MANY * 2), 0.5),
            ({"ngram": 1}, ([MANY - 1], [MANY], MANY, MANY), (MANY - 1) / MANY),
        ),
    ),
    "ROUGE": Measured(
        make=lambda settings: RougeMeasure(
            _rouge_variants(settings), settings.get("reducer", "best"), settings.get("alpha")
        ),
        reader=of_settings(RougeReader, "pad_id"),
        documents=summaries,
        settings=st.sampled_from(options(reducer=["best", "best_recall", "sum"], alpha=[None, 0, 0.3, 0.5, 1])),
        counts=_rouge_counts,
        score=_rouge_score,
        variants=options(reducer=["best", "best_recall", "sum"], alpha=[None, 0, 0.5, 1]),
        perfect=st.tuples(st.just({}), summaries.map(lambda text: text + _NINE_WORDS)),
        past_float32=(({"keys": ("rouge1",)}, ([2**40], [2**41], [2**40]), [[0.5, 1, 2 / 3]]),),
    ),
    "mean ROUGE": Measured(
        make=lambda settings: MeanRougeMeasure(_rouge_variants(settings)),
        reader=of_settings(RougeReader, "pad_id"),
        documents=summaries,
        settings=st.just({}),
        counts=_mean_rouge_counts,
        score=lambda settings, scores: [list(row) for row in zip(*scores, strict=True)],
        variants=({},),
        perfect=st.tuples(st.just({}), summaries.map(lambda text: text + _NINE_WORDS)),
        averages=("none", "macro"),
    ),
    "chrF": Measured(
        make=of_settings(ChrfMeasure, without=["pad_id", "lowercase", "whitespace"]),
        reader=_chrf_reader,
        documents=characters,
        settings=chrf_settings,
        counts=_chrf_counts,
        score=lambda settings, counts: oracles.chrf(*counts, **settings),
        variants=(
            *options(eps_smoothing=[False, True], char_order=[1, 6, 9]),
            *options(eps_smoothing=[False, True], word_order=[2]),
            {"beta": 0},
            {"whitespace": True},
        ),
        # Under epsilon smoothing it takes n-grams of every order.
        perfect=st.tuples(chrf_settings.map(lambda settings: {**settings, "eps_smoothing": False}), _three_words)
        | st.tuples(
            chrf_settings.map(lambda settings: {**settings, "eps_smoothing": True}),
            _three_words.map(lambda text: 2 * text + " abc de fg"),
        ),
        past_float32=tuple(
            ({"char_order": 1, "eps_smoothing": eps}, ([MANY - 1], [MANY], [MANY]), (MANY - 1) / MANY)
            for eps in (False, True)
        ),
        tolerance=1e-10,
        choice_is_exact=False,
    ),
    "overlap": Measured(
        make=of_settings(OverlapMeasure, without=["pad_id"]),
        reader=of_settings(WordReader, "pad_id"),
        documents=tokens,
        settings=of_order,
        counts=_overlap_counts,
        score=lambda settings, counts: oracles.overlap(*counts),
        variants=options(ngram=[1, 2, 3, 9]),
        of_text=list,
        perfect=st.tuples(of_order, long_tokens),
        past_float32=(({}, (MANY - 1, MANY, MANY), (MANY - 1) / MANY),),
    ),
    "repetition": Measured(
        make=of_settings(RepetitionMeasure, without=["pad_id"]),
        reader=of_settings(WordReader, "pad_id"),
        documents=tokens,
        settings=of_order,
        counts=_repetition_counts,
        score=lambda settings, counts: 1 - counts[0] / counts[1] if counts[1] else 0.0,
        variants=options(ngram=[1, 4, 9]),
        of_text=str.split,
        past_float32=(({}, (1, MANY), (MANY - 1) / MANY),),
    ),
}
