"""How well systems produce the words that are rare in the references, and those that are frequent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from ngram_metrics.counting.documents import DocumentGroups, RaggedTokens
from ngram_metrics.evaluation.results import Settings
from ngram_metrics.scores.resampling import RESAMPLES, bootstrap_weights, interval, row_order, weighted_sums

#: The lowest frequency of each bucket.
_EDGES = (1, 2, 5, 10, 100, 1000)


class _Counts(NamedTuple):
    """How often words occur in segments.

    Attributes:
        keys: for each word of each segment, in order, the segment times the bound of the ids plus the id of the word.
        counts: how often it occurs there.
    """

    keys: NDArray[Any]
    counts: NDArray[Any]


def word_accuracy(
    hypotheses: Sequence[RaggedTokens], references: DocumentGroups, settings: Settings
) -> list[dict[str, Any]]:
    """Return buckets of words by their frequency in the references, with the accuracy of each system.

    A word is wanted as often as in the reference of a segment that has it most often; its frequency is the sum over all
    segments. Matches are clipped by it, as in BLEU. The accuracy is F1, twice the matches divided by the words produced
    and wanted, as in compare-mt.

    Returns:
        The buckets that have words: ``from`` and ``to``, their lowest and highest frequency, None for no highest;
        ``words``, the number of words wanted; ``scores``, for each system F1 from 0 to 1 with the ends of its interval.
    """
    segments, bound = len(references.counts), references.tokens.id_bound
    wanted = _of_references(references)
    frequency = np.bincount(wanted.keys % bound, wanted.counts, bound).astype(np.int64)
    # Words that are in no reference come before the first bucket.
    bucket = np.searchsorted(_EDGES, frequency, "right") - 1

    cluster = np.arange(segments) if settings.clusters is None else settings.clusters.numpy()
    clusters = settings.cluster_count or segments

    def summed(found: _Counts) -> NDArray[Any]:
        """Return the counts of what is drawn, segments or clusters of them, in each bucket: ``(clusters, buckets)``."""
        of_word = bucket[found.keys % bound]
        places = (cluster[found.keys // bound] * len(_EDGES) + of_word)[of_word >= 0]
        sums = np.bincount(places, found.counts[of_word >= 0], clusters * len(_EDGES))
        return sums.reshape(clusters, len(_EDGES))

    of_wanted, parts = summed(wanted), []
    for tokens in hypotheses:
        produced = _counted(np.arange(segments), tokens)
        parts.append((summed(_matches(produced, wanted)), summed(produced) + of_wanted))
    values = torch.from_numpy(np.array(parts, np.float64)).permute(2, 0, 1, 3)  # (clusters, systems, 2, buckets)
    weights = bootstrap_weights(clusters, RESAMPLES, settings.seed)
    (drawn,) = weighted_sums(weights, values[row_order(values.flatten(1))])
    ends = interval(_f1(drawn), settings.confidence or 0.0)
    scores = torch.stack((_f1(values.sum(0)), *ends), -1).transpose(0, 1).tolist()  # (buckets, systems, 3)
    return [
        {
            "from": _EDGES[number],
            "to": _EDGES[number + 1] - 1 if number + 1 < len(_EDGES) else None,
            "words": int(words),
            "scores": scores[number],
        }
        for number, words in enumerate(of_wanted.sum(0))
        if words
    ]


def _f1(values: torch.Tensor) -> torch.Tensor:
    """Return F1 ``(..., buckets)`` from matches, and from words produced and wanted together, ``(..., 2, buckets)``."""
    matches, words = values.unbind(-2)
    return 2 * matches / words.clamp(min=1)


def _counted(segment: NDArray[Any], tokens: RaggedTokens) -> _Counts:
    """Count the words of documents, each of which is of the given segment."""
    owner = np.repeat(segment, tokens.lengths.numpy())
    return _Counts(*np.unique(owner * tokens.id_bound + tokens.ids.numpy(), return_counts=True))


def _of_references(references: DocumentGroups) -> _Counts:
    """Count the words of references, for each segment in that reference that has most of a word."""
    counts, tokens = references.counts.numpy(), references.tokens
    documents = _counted(np.arange(tokens.documents), tokens)
    segment = np.repeat(np.arange(len(counts)), counts)[documents.keys // tokens.id_bound]
    keys = segment * tokens.id_bound + documents.keys % tokens.id_bound
    order = np.lexsort((documents.counts, keys))
    # The last of equal keys has the highest count.
    last = np.append(np.flatnonzero(np.diff(keys[order])), len(keys) - 1)[: len(keys)]
    return _Counts(keys[order][last], documents.counts[order][last])


def _matches(produced: _Counts, wanted: _Counts) -> _Counts:
    keys, ours, theirs = np.intersect1d(produced.keys, wanted.keys, assume_unique=True, return_indices=True)
    return _Counts(keys, np.minimum(produced.counts[ours], wanted.counts[theirs]))
