"""What a hypothesis and its references share, counted in plain Python: n-grams and common subsequences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from itertools import chain, repeat
from typing import Any, NamedTuple

Tokens = Sequence[Hashable]


class RougeText(NamedTuple):
    """A text as ROUGE counts it: its words and, for ROUGE-Lsum, the words of each of its sentences."""

    words: Tokens
    sentences: Sequence[Tokens] = ()


#: More characters of a hypothesis and its references are counted as slices, up to an order: each order joins its own.
_LONG_TEXTS, _SLICED_ORDERS = 50_000, 10
#: They follow the last token, and differ from every token and from each other.
_END_OF_HYPOTHESIS = object()
_END_OF_REFERENCE = object()


def match_ngrams(hypothesis: Tokens, references: Sequence[Tokens], orders: int) -> list[int]:
    """Return for each order how many n-grams match, each at most as often as one reference has it."""
    if len(references) == 1:
        return match_each(hypothesis, references, orders)[0]
    others = [token for reference in references for token in (*reference, _END_OF_REFERENCE)]
    return _match([*hypothesis, _END_OF_HYPOTHESIS], others, orders, _most_in_one(references))


def match_each(hypothesis: Tokens, references: Sequence[Tokens], orders: int) -> list[list[int]]:
    """Return for each reference by itself how many n-grams match in each order."""
    is_long = isinstance(hypothesis, str) and len(hypothesis) + sum(map(len, references)) > _LONG_TEXTS
    if is_long and orders <= _SLICED_ORDERS:
        return _match_slices([hypothesis, *references], orders)
    tokens = [*hypothesis, _END_OF_HYPOTHESIS]
    return [_match(tokens, [*reference, _END_OF_REFERENCE], orders, len) for reference in references]


def _match_slices(texts: Sequence[Any], orders: int) -> list[list[int]]:
    """Return what ``match_each`` returns for a long text, by ``Counter``: positions in lists would leave the cache."""
    matches: list[list[int]] = [[] for _ in texts[1:]]
    for order in range(1, orders + 1):
        # Joined one by one, each n-gram is freed before the next, unless it is new.
        slices = (zip(*(text[start:] for start in range(order)), strict=False) for text in texts)
        counts, *others = (Counter(map("".join, ngrams)) for ngrams in slices)
        for row, other in zip(matches, others, strict=True):
            row.append(sum(map(min, other.values(), map(counts.get, other, repeat(0)))))
    return matches


def _match(tokens: Tokens, others: Tokens, orders: int, most: Callable[[Sequence[int]], int]) -> list[int]:
    """Return the matches of each order.

    The positions where equal n-grams begin, in the hypothesis and in the references, are a group. The next token splits
    it into the groups of n-grams that are longer by one, and a group with positions on one side only is done. Most
    groups soon have a single position on a side, which is followed token by token.

    Args:
        tokens: of the hypothesis, and its end.
        others: of the reference or of all references, each with its end.
        orders: the longest order.
        most: returns how many of some positions are in the reference that has most of them.
    """
    matches = [0] * orders
    groups: list[tuple[Sequence[int], Sequence[int]]] = [(range(len(tokens)), range(len(others)))]
    for order in range(orders):
        longer: list[tuple[Sequence[int], Sequence[int]]] = []
        for positions, other_positions in groups:
            here: dict[Hashable, list[int]] = {}
            for position in positions:
                token = tokens[position + order]
                if token in here:
                    here[token].append(position)
                else:
                    here[token] = [position]
            there: dict[Hashable, list[int]] = {}
            for position in other_positions:
                token = others[position + order]
                if token in there:
                    there[token].append(position)
                elif token in here:
                    there[token] = [position]
            for token, right in there.items():
                left = here[token]
                if len(left) == 1 == len(right):  # most, so that they come first
                    single, position, length = left[0], right[0], order
                    while length < orders and tokens[single + length] == others[position + length]:
                        matches[length] += 1
                        length += 1
                    continue
                if len(left) == 1:
                    single, several, followed, followers = left[0], right, tokens, others
                elif len(right) == 1:
                    single, several, followed, followers = right[0], left, others, tokens
                else:
                    matches[order] += min(len(left), most(right))
                    longer.append((left, right))
                    continue
                length = order
                while len(several) > 1 and length < orders:
                    matches[length] += 1
                    length += 1
                    token = followed[single + length]
                    several = [position for position in several if followers[position + length] == token]
                if len(several) == 1:
                    position = several[0]
                    while length < orders and followed[single + length] == followers[position + length]:
                        matches[length] += 1
                        length += 1
        groups = longer
    return matches


def _most_in_one(references: Sequence[Tokens]) -> Callable[[Sequence[int]], int]:
    """Return the function that counts positions in the reference that has most of them."""
    owner = [index for index, reference in enumerate(references) for _ in range(len(reference) + 1)]
    return lambda positions: max(Counter([owner[position] for position in positions]).values())


def subsequence_length(first: Tokens, second: Tokens) -> int:
    """Return the length of a longest common subsequence (Hyyrö 2004).

    A row of the table is an integer, whose bits are 0 where the length grows from a token of ``second`` to the next.
    """
    if len(first) < len(second):
        first, second = second, first
    row = full = (1 << len(second)) - 1
    for mask in filter(None, map(_places(second).get, first)):
        both = row & mask
        row = (row + both | row - both) & full
    return len(second) - row.bit_count()


def match_words(hypothesis: Tokens, reference: Tokens) -> int:
    """Return the clipped matches of single tokens in a short pair."""
    return _clip([*filter(None, map(_places(reference).get, hypothesis))])


def match_short_pair(hypothesis: Tokens, reference: Tokens) -> tuple[int, int, int]:
    """Return the clipped matches of orders 1 and 2 and the length of a longest common subsequence, in one pass.

    The bits of an n-gram of the hypothesis are the positions where equal n-grams end in the reference.
    """
    get = _places(reference).get
    row = full = (1 << len(reference)) - 1
    words: list[int] = []
    bigrams: list[int] = []
    before = 0
    for token in hypothesis:
        mask = get(token, 0)
        if mask:
            both = row & mask  # as in subsequence_length
            row = (row + both | row - both) & full
            words.append(mask)
            if bigram := before + before & mask:
                bigrams.append(bigram)
        before = mask
    return _clip(words), _clip(bigrams), len(reference) - row.bit_count()


def _clip(ngrams: Sequence[int]) -> int:
    """Return how many n-grams match, from the positions of each in the reference, as the bits of an integer."""
    distinct = {*ngrams}
    if len(distinct) == len(ngrams):
        return len(ngrams)
    # An n-gram with one bit occurs once in the reference.
    return sum(min(ngrams.count(bits), bits.bit_count()) if bits & (bits - 1) else 1 for bits in distinct)


def union_hits(hypothesis: Sequence[Tokens], reference: Sequence[Tokens]) -> int:
    """Return the hits of ROUGE-Lsum, see ``_core.counting.subsequence.union``.

    A row has the bits of all sentences of the reference, and a gap after each, which stays 0 and absorbs the carry.
    """
    if len(hypothesis) == 1 == len(reference):
        return subsequence_length(hypothesis[0], reference[0])
    places = _places([token for sentence in reference for token in (*sentence, _END_OF_REFERENCE)])
    gaps = places.pop(_END_OF_REFERENCE, 0)
    inside = gaps ^ ((1 << gaps.bit_length()) - 1)
    fills, distance, free = [], 1, inside
    while free:
        fills.append((distance, free))
        free &= free >> distance
        distance *= 2
    union = 0
    for sentence in {*map(tuple, hypothesis)}:
        row = inside
        steps = []
        mask = 0
        for token in sentence:
            before, mask = mask, places.get(token, 0)
            if mask:
                both = row & mask  # as in subsequence_length
                row = (row + both | row - both) & inside
            elif not before:
                continue  # tokens without a match move the walk once
            steps.append((mask, mask | row ^ inside))
        # The walk back stops at or below its position at the token itself, which it takes, or where the row grows.
        reach = inside if row != inside else 0
        for mask, candidates in reversed(steps):
            reach &= candidates
            if not reach:
                break
            for distance, free in fills:
                reach |= reach >> distance & free
            if mask:
                taken = (reach >> 1 & inside ^ reach) & mask
                union |= taken
                reach ^= taken
    had = Counter(chain.from_iterable(hypothesis))
    return sum(min((union & bits).bit_count(), had[token]) for token, bits in places.items())


def _places(tokens: Tokens) -> dict[Hashable, int]:
    """Return the positions of each token as the bits of an integer."""
    positions: dict[Hashable, int] = {}
    bit = 1
    for token in tokens:
        if token in positions:
            positions[token] |= bit
        else:
            positions[token] = bit
        bit += bit
    return positions


def list_totals(length: int, orders: int) -> list[int]:
    """Return the number of n-grams of each order."""
    return [length - order if length > order else 0 for order in range(orders)]
