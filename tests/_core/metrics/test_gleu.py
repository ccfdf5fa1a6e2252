"""GLEU against nltk's, whose corpus score of one sentence is its sentence score."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.gleu_score import corpus_gleu, sentence_gleu

from ngram_metrics import Gleu, mbr
from ngram_metrics.functional import gleu_score

# Few words, so that n-grams recur and references tie.
document = st.lists(st.sampled_from("abc"), max_size=9)
batches = st.lists(st.tuples(document, st.lists(document, min_size=1, max_size=3)), min_size=1, max_size=5)


@given(batches, st.integers(1, 6))
def test_corpora_and_sentences_are_nltks(batch, ngram):
    hypotheses, references = [hypothesis for hypothesis, _ in batch], [references for _, references in batch]
    expected = [sentence_gleu(references, hypothesis, max_len=ngram) for hypothesis, references in batch]
    assert gleu_score(hypotheses, references, ngram).item() == corpus_gleu(references, hypotheses, max_len=ngram)
    assert gleu_score(hypotheses, references, ngram, average="none").tolist() == expected
    assert gleu_score(hypotheses, references, ngram, average="macro").item() == pytest.approx(
        sum(expected) / len(expected), abs=1e-12
    )


@given(st.lists(document, min_size=1, max_size=4))
def test_pairs_are_sentences(pool):
    expected = [[sentence_gleu([other], candidate) for other in pool] for candidate in pool]
    assert mbr.pairwise(Gleu(), [pool], [pool]).tolist() == [expected]
