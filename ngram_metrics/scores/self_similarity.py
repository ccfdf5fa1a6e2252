r"""How much the texts of a corpus resemble each other: self-BLEU and self-repetition.

Self-BLEU (Zhu et al. 2018, "Texygen: A Benchmarking Platform for Text Generation Models") is the mean BLEU of each text
with all other texts as its references. The number of each text is that of nltk's ``sentence_bleu``, with the smoothings
and conventions of ``ngram_metrics.scores.bleu``.

Self-repetition (Salkar et al. 2022, "Self-Repetition in Abstractive Neural Summarizers") counts for each distinct
n-gram of a text the other texts that have it. With r the sum of a text over its n-grams, and T texts,

.. math:: \text{self-repetition} = \frac{1}{T} \sum \ln(1 + r)

Conventions. Lower is more varied. Self-BLEU is from 0 to 1; self-repetition is at least 0 and has no upper bound, since
it grows with the number and the length of the texts. A text that is shorter than the order adds 0 to self-repetition.
One text has no other: its self-BLEU and its self-repetition are 0, as are those of no text. N-grams never cross the
border of two texts.

No text is compared with another. An n-gram of a text matches as often as it occurs in one other text at most: that is
the largest count of the n-gram in a text, or the second largest if the text itself has the largest. So the time grows
with the number of words and not of pairs of texts.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ngram_metrics.counting.corpus import CorpusNgrams, corpus_ngrams
from ngram_metrics.counting.documents import RaggedTokens
from ngram_metrics.counting.matches import ngram_totals
from ngram_metrics.scores.bleu import BleuStatistics
from ngram_metrics.scores.measure import score_dtype


def self_bleu_statistics(texts: RaggedTokens, ngram: int) -> BleuStatistics:
    """Count the matches of each text with all other texts, up to the order ``ngram``; this waits for the device.

    Args:
        texts: at least two texts, with one vocabulary.
        ngram: the longest order.
    """
    device, number = texts.ids.device, texts.documents
    matches = [_matches(ngrams, number) for ngrams in corpus_ngrams(texts, ngram)]
    return BleuStatistics(
        matches=torch.stack(matches, -1),  # (texts, orders)
        totals=ngram_totals(texts.lengths, ngram).to(device),
        hypothesis_length=texts.lengths.to(device),
        reference_length=_closest_other_length(texts.lengths).to(device),
    )


def _matches(ngrams: CorpusNgrams, texts: int) -> Tensor:
    """Return for each text its n-grams, each at most as often as the other text has it that has most of it."""
    most, owner, second = (field.index_select(0, ngrams.ngram) for field in ngrams.largest())
    elsewhere = torch.where(ngrams.document == owner, second, most)
    return ngrams.by_document(torch.minimum(ngrams.times, elsewhere), texts)


def _closest_other_length(lengths: Tensor) -> Tensor:
    """Return for each of at least two texts the length of another that is nearest to its own; of two, the shorter."""
    ascending, order = lengths.sort()
    # Sorted, the nearest other length is a neighbour's.
    none = ascending.new_full((1,), torch.iinfo(torch.int64).max // 2)
    below = ascending - torch.cat((-none, ascending[:-1]))  # how far it is
    above = torch.cat((ascending[1:], none)) - ascending
    nearest = torch.where(below <= above, ascending - below, ascending + above)
    return torch.empty_like(lengths).index_copy_(0, order, nearest)


def repeated_elsewhere(texts: RaggedTokens, ngram: int) -> Tensor:
    """Return for each text the sum over its distinct n-grams of the other texts that have them, ``(texts,)`` int64.

    This waits for the device.
    """
    *_, ngrams = corpus_ngrams(texts, ngram)
    others = ngrams.documents().index_select(0, ngrams.ngram) - 1
    return ngrams.by_document(others, texts.documents)


def self_repetition_score(repeated: Tensor) -> Tensor:
    """Return self-repetition ``()``, from the counts of each text, ``(texts,)``."""
    return repeated.to(score_dtype(repeated.device)).log1p().sum() / max(1, len(repeated))
