"""The words of the page: their positions in texts, matched n-grams, and how well systems produce rare words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from ngram_metrics._core.basics.option_checks import RESAMPLES
from ngram_metrics._core.counting.documents import DocumentGroups, RaggedSides, RaggedTokens, host_counts
from ngram_metrics._core.counting.matched_positions import matched_positions
from ngram_metrics._core.scoring.resampling import bootstrap_weights, interval, row_order, weighted_sums
from ngram_metrics._core.text.input_types import Tokenizer
from ngram_metrics._core.text.numbering import number_in_order, number_tokens
from ngram_metrics._core.text.tokenizer_option import batch_tokenizer, rule_of
from ngram_metrics._core.text.word_bounds import Rule, character_chunks, counts_between
from ngram_metrics._core.text.word_reader import WordReader
from ngram_metrics._core.text.words import found_words
from ngram_metrics._evaluation.results import ComparisonPlan

#: Counts, positions, or indices.
Integers: TypeAlias = NDArray[np.int64]
Part = TypeVar("Part", str, list[int])
#: The longest order that is shown.
ORDERS = 4
#: The lowest frequency of each bucket.
_EDGES = (1, 2, 5, 10, 100, 1000)


class Words(NamedTuple):
    """Texts, split into words."""

    #: The texts after rewriting, as they were split into words.
    texts: list[str]
    #: For each text, numbers that lead from word to word, in UTF-16 units, as JavaScript counts. A negative number -n
    #: skips n units; any other number n is a word of n // 2 units after skipping n % 2 units.
    steps: list[list[int]]
    #: The words as numbers; the most frequent word is 0.
    tokens: RaggedTokens

    def ids(self) -> list[list[int]]:
        """Return the numbers of the words of each text."""
        return split(self.tokens.ids.tolist(), self.tokens.lengths.tolist())


def split_words(reader: WordReader, texts: Sequence[str]) -> Words:
    """Split texts into words as a reader does."""
    texts = list(reader.prepare(texts))
    rule = rule_of(reader.tokenizer)
    words = _split_by_rule(rule, texts) if rule is not None else _split_by_tokenizer(reader.tokenizer, texts)
    # Frequent words get small numbers.
    tokens = words.tokens
    ids = tokens.ids.numpy()
    rank = np.empty(tokens.id_bound, np.int64)
    rank[np.argsort(-np.bincount(ids, minlength=tokens.id_bound), kind="stable")] = np.arange(tokens.id_bound)
    return words._replace(tokens=tokens._replace(ids=torch.from_numpy(rank[ids])))


def _split_by_rule(rule: Rule, texts: list[str]) -> Words:
    prepared = list(rule.prepare(texts))
    steps: list[list[int]] = []
    words: list[bytes] = []
    lengths: list[int] = []
    for characters in character_chunks(prepared):
        begin, end, units = rule.words(characters)
        counts = counts_between(begin, characters.ends)
        # The position of each character in UTF-16.
        position = np.concatenate(([0], (1 + (characters.codes > 0xFFFF)).cumsum()))
        starts = position[np.concatenate(([0], characters.ends[:-1])) + 1]
        steps += _steps(position[begin], position[end], np.repeat(starts, counts), counts)
        words += found_words(characters, begin, end, units).to_bytes()
        lengths += counts.tolist()
    ids, bound = number_in_order(words)
    return Words(prepared, steps, RaggedTokens(torch.from_numpy(ids), host_counts(lengths), bound))


def _steps(begin: Integers, end: Integers, start: Integers, counts: Integers) -> list[list[int]]:
    """Return the steps of each text from the positions of all words, and of the starts of their texts."""
    gap = begin - np.maximum(start, np.concatenate((start[:1], end[:-1])))
    wide = gap > 1
    index = (wide + 1).cumsum() - 1
    steps = np.empty(int(index[-1]) + 1 if len(index) else 0, np.int64)
    steps[index] = 2 * (end - begin) + np.where(wide, 0, gap)
    steps[(index - 1)[wide]] = -gap[wide]
    owner = np.repeat(np.arange(len(counts)), counts)
    return split(steps.tolist(), np.bincount(owner, wide + 1, len(counts)).astype(np.int64).tolist())


def _split_by_tokenizer(tokenizer: Tokenizer | None, texts: list[str]) -> Words:
    """Return the tokens of an external tokenizer as words, separated by spaces; an id is shown as its token."""
    tokens = batch_tokenizer(tokenizer)(texts, lambda index: f"text {index}")
    by_id = getattr(tokenizer, "id_to_token", None) or getattr(tokenizer, "convert_ids_to_tokens", None) or str
    words = [[str(by_id(token) if isinstance(token, int) else token) for token in row] for row in tokens]
    widths = [[len(word.encode("utf-16-le", "surrogatepass")) // 2 for word in text_words] for text_words in words]
    steps = [[2 * width + (index > 0) for index, width in enumerate(text_widths)] for text_widths in widths]
    numbered = number_tokens(tokens, lambda index: f"text {index}")
    return Words(list(map(" ".join, words)), steps, numbered)


def match_words(hypotheses: RaggedTokens, references: DocumentGroups) -> tuple[list[str], list[str]]:
    """Return for each hypothesis and each reference the longest matched order at each word, as digits."""
    sides = matched_positions(RaggedSides(hypotheses, references), ORDERS)
    digits = [(orders + ord("0")).to(torch.uint8).numpy().tobytes().decode("ascii") for orders in sides]
    return split(digits[0], hypotheses.lengths.tolist()), split(digits[1], references.tokens.lengths.tolist())


def split(values: Part, lengths: Sequence[int]) -> list[Part]:
    """Split a list or a text into parts of these lengths."""
    parts = []
    start = 0
    for length in lengths:
        parts.append(values[start : start + length])
        start += length
    return parts


class _Counts(NamedTuple):
    """How often words occur in segments."""

    #: For each word of each segment, in order, the segment times the bound of the ids plus the id of the word.
    keys: Integers
    #: How often it occurs there.
    counts: Integers


def word_accuracy(
    hypotheses: Sequence[RaggedTokens], references: DocumentGroups, plan: ComparisonPlan, digits: int
) -> list[dict[str, object]]:
    """Return buckets of words by their frequency in the references, with the accuracy of each system.

    A word is wanted as often as in the reference of a segment that has it most often; its frequency is the sum over all
    segments. Matches are clipped by it, as in BLEU. The accuracy is F1, twice the matches divided by the words produced
    and wanted, as in compare-mt, in percent and with the ends of its interval.
    """
    segments = len(references.counts)
    bound = references.tokens.id_bound
    wanted = _count_wanted(references)
    frequency = np.bincount(wanted.keys % bound, wanted.counts, bound).astype(np.int64)
    # Words that are in no reference come before the first bucket.
    bucket = np.searchsorted(_EDGES, frequency, "right") - 1

    cluster = np.arange(segments) if plan.clusters is None else plan.clusters.numpy()
    clusters = plan.cluster_count or segments

    def sum_buckets(words: _Counts) -> Integers:
        """Return the counts of each cluster, or segment without clusters, in each bucket, ``(clusters, buckets)``."""
        word_bucket = bucket[words.keys % bound]
        cells = (cluster[words.keys // bound] * len(_EDGES) + word_bucket)[word_bucket >= 0]
        sums = np.bincount(cells, words.counts[word_bucket >= 0], clusters * len(_EDGES))
        return sums.reshape(clusters, len(_EDGES))

    wanted_sums = sum_buckets(wanted)
    parts = []
    for tokens in hypotheses:
        produced = _count_words(np.arange(segments), tokens)
        keys, ours, theirs = np.intersect1d(produced.keys, wanted.keys, assume_unique=True, return_indices=True)
        matches = _Counts(keys, np.minimum(produced.counts[ours], wanted.counts[theirs]))
        parts.append((sum_buckets(matches), sum_buckets(produced) + wanted_sums))
    values = torch.from_numpy(np.array(parts, np.float64)).permute(2, 0, 1, 3)  # (clusters, systems, 2, buckets)
    weights = bootstrap_weights(clusters, RESAMPLES, plan.seed)
    (drawn,) = weighted_sums(weights, values[row_order(values.flatten(1))])
    ends = interval(_f1(drawn), plan.confidence or 0.0)
    scores = torch.stack((_f1(values.sum(0)), *ends), -1).transpose(0, 1).tolist()  # (buckets, systems, 3)
    return [
        {
            "from": _EDGES[index],
            "to": _EDGES[index + 1] - 1 if index + 1 < len(_EDGES) else None,
            "words": int(words),
            "scores": [[round(100 * score, digits) for score in ends] for ends in scores[index]],
        }
        for index, words in enumerate(wanted_sums.sum(0))
        if words
    ]


def _f1(values: torch.Tensor) -> torch.Tensor:
    """Return F1 ``(..., buckets)`` from matches, and from words produced and wanted together, ``(..., 2, buckets)``."""
    matches, words = values.unbind(-2)
    return 2 * matches / words.clamp(min=1)


def _count_words(segment: Integers, tokens: RaggedTokens) -> _Counts:
    """Count the words of documents, each of which belongs to a segment."""
    owner = np.repeat(segment, tokens.lengths.numpy())
    return _Counts(*np.unique(owner * tokens.id_bound + tokens.ids.numpy(), return_counts=True))


def _count_wanted(references: DocumentGroups) -> _Counts:
    """Count each word of a segment in the reference that has it most often."""
    counts = references.counts.numpy()
    tokens = references.tokens
    documents = _count_words(np.arange(tokens.documents), tokens)
    segment = np.repeat(np.arange(len(counts)), counts)[documents.keys // tokens.id_bound]
    keys = segment * tokens.id_bound + documents.keys % tokens.id_bound
    order = np.lexsort((documents.counts, keys))
    # The last of equal keys has the highest count.
    last = np.append(np.flatnonzero(np.diff(keys[order])), len(keys) - 1)[: len(keys)]
    return _Counts(keys[order][last], documents.counts[order][last])
