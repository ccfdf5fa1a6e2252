"""GLEU against nltk's, whose corpus score of one sentence is its sentence score."""

from collections.abc import Sequence
from typing import Any

import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from measures import MANY, Measured, Settings, batches_of, long_tokens, of_order, of_settings, options, tokens
from nltk.translate.gleu_score import corpus_gleu, sentence_gleu

from ngram_metrics import Gleu, mbr
from ngram_metrics._core.metrics.gleu import GleuMeasure
from ngram_metrics._core.text.word_reader import WordReader
from ngram_metrics.functional import gleu_score


def _counts(settings: Settings, hypothesis: Any, references: Sequence[Any]) -> tuple:
    rows = []
    for reference in references:
        orders = (oracles.overlap_counts(hypothesis, reference, n + 1) for n in range(settings.get("ngram", 4)))
        found, *both = map(sum, zip(*orders, strict=True))
        rows.append((found, max(both)))  # of the side that has more
    # nltk leaves out a reference where neither side has an n-gram.
    return oracles.first_best(rows, lambda matches, ngrams: matches / ngrams if ngrams else -1)


MEASURED = Measured(
    make=of_settings(GleuMeasure, without=["pad_id"]),
    reader=of_settings(WordReader, "pad_id"),
    documents=tokens,
    settings=of_order,
    counts=_counts,
    score=lambda settings, counts: counts[0] / counts[1] if counts[1] else 0.0,
    variants=options(ngram=[1, 4, 9]),
    of_text=list,
    perfect=st.tuples(of_order, long_tokens),
    past_float32=(({}, (MANY - 1, MANY), (MANY - 1) / MANY),),
)


@given(batches_of(tokens, references=3), st.integers(1, 6))
def test_corpora_and_sentences_are_nltks(batch, ngram):
    hypotheses, references = [hypothesis for hypothesis, _ in batch], [references for _, references in batch]
    expected = [sentence_gleu(references, hypothesis, max_len=ngram) for hypothesis, references in batch]
    assert gleu_score(hypotheses, references, ngram).item() == corpus_gleu(references, hypotheses, max_len=ngram)
    assert gleu_score(hypotheses, references, ngram, average="none").tolist() == expected
    assert gleu_score(hypotheses, references, ngram, average="macro").item() == pytest.approx(
        sum(expected) / len(expected), abs=1e-12
    )


@given(st.lists(tokens, min_size=1, max_size=4))
def test_pairs_are_sentences(pool):
    expected = [[sentence_gleu([other], candidate) for other in pool] for candidate in pool]
    assert mbr.pairwise(Gleu(), [pool], [pool]).tolist() == [expected]
