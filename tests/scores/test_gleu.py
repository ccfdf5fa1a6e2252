"""GLEU against nltk's, whose corpus score of one sentence is its sentence score."""

import pytest
import torch
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
    hypotheses, references = [one for one, _ in batch], [several for _, several in batch]
    expected = [sentence_gleu(several, one, max_len=ngram) for one, several in batch]
    assert gleu_score(hypotheses, references, ngram).item() == corpus_gleu(references, hypotheses, max_len=ngram)
    assert gleu_score(hypotheses, references, ngram, average="none").tolist() == expected
    assert gleu_score(hypotheses, references, ngram, average="macro").item() == pytest.approx(
        sum(expected) / len(expected), abs=1e-12
    )


@given(st.lists(document, min_size=1, max_size=4))
def test_pairs_are_sentences(pool):
    expected = [[sentence_gleu([other], one) for other in pool] for one in pool]
    assert mbr.pairwise(Gleu(), [pool], [pool]).tolist() == [expected]


def test_padded_ids_are_counted_as_tokens():
    preds, target = (
        torch.tensor([[1, 2, 3, 0], [4, 4, 0, 0]]),
        torch.tensor([[[1, 2, 4], [0, 0, 0]], [[4, 0, 0], [4, 4, 4]]]),
    )
    tokens = ([[1, 2, 3], [4, 4]], [[[1, 2, 4]], [[4], [4, 4, 4]]])
    assert gleu_score(preds, target, pad_id=0, average="none").tolist() == gleu_score(*tokens, average="none").tolist()


@pytest.mark.parametrize(("ngram", "error"), [(0, ValueError), (1001, ValueError), (2.5, TypeError)])
def test_an_order_out_of_range_is_refused(ngram, error):
    with pytest.raises(error, match="ngram order must be"):
        Gleu(ngram)
