"""What a hypothesis and its references share, counted in plain Python: n-grams and common subsequences."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence
from functools import cache
from itertools import chain, pairwise, repeat
from typing import Any, NamedTuple

Tokens = Sequence[Hashable]


class RougeText(NamedTuple):
    """A text as ROUGE counts it: its words and, for ROUGE-Lsum, the words of each of its sentences."""

    words: Tokens
    sentences: Sequence[Tokens] = ()


#: More characters of a hypothesis and its references are counted as slices, up to an order: each order joins its own.
_LONG_TEXTS, _SLICED_ORDERS = 50_000, 10
#: They bound documents and sentences, and differ from every token and from each other.
_END_OF_HYPOTHESIS, _END_OF_REFERENCE, _START_OF_SENTENCE = object(), object(), object()


def match_ngrams(hypothesis: Tokens, references: Sequence[Tokens], orders: int) -> list[int]:
    """Return for each order how many n-grams match, each at most as often as one reference has it."""
    if len(references) == 1:
        return match_each(hypothesis, references, orders)[0]
    matches = [0] * orders
    _match(hypothesis, references, [matches] * len(references))
    return matches


def match_each(hypothesis: Tokens, references: Sequence[Tokens], orders: int) -> list[list[int]]:
    """Return for each reference by itself how many n-grams match in each order."""
    is_long = isinstance(hypothesis, str) and len(hypothesis) + sum(map(len, references)) > _LONG_TEXTS
    if is_long and orders <= _SLICED_ORDERS:
        return _match_slices([hypothesis, *references], orders)
    rows = [[0] * orders for _ in references]
    _match(hypothesis, references, rows)
    return rows


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


def _match(hypothesis: Tokens, references: Sequence[Tokens], rows: Sequence[list[int]]) -> None:
    """Add the matches with each reference to its row, which has a 0 for each order.

    One list as the row of all references gets the matches with any of them, as ``match_ngrams`` counts them.

    The positions where equal n-grams begin, in all texts, are a group. The next token splits it into the groups of
    n-grams that are longer by one, and a group without positions on both sides is done. Most groups soon have a single
    position in the hypothesis, which is followed token by token.
    """
    tokens = [*hypothesis, _END_OF_HYPOTHESIS]
    middle = len(tokens)
    ends = []
    for reference in references:
        tokens.extend(reference)
        tokens.append(_END_OF_REFERENCE)
        ends.append(len(tokens))
    row = rows[0]
    row_of: list[list[int]] = []  # of each position in the references, unless all have one row
    if rows[-1] is not row:
        for several, reference in zip(rows, references, strict=True):
            row_of += [several] * (len(reference) + 1)
    orders = len(row)
    groups: list[Sequence[int]] = [range(len(tokens))]
    for order in range(orders):
        if not groups:
            break
        last = tokens[order:]
        longer: list[Sequence[int]] = []
        for group in groups:
            found: dict[Hashable, list[int]] = {}
            for position in group:
                token = last[position]
                if token in found:
                    found[token].append(position)
                elif position < middle:
                    found[token] = [position]
            for same in found.values():
                if same[-1] < middle:
                    continue
                if len(same) == 2:  # most
                    single, position = same
                    if row_of:
                        row = row_of[position - middle]
                    row[order] += 1
                    length = order + 1
                    while length < orders and tokens[single + length] == tokens[position + length]:
                        row[length] += 1
                        length += 1
                elif same[1] >= middle:
                    single, *several = same
                    before = None
                    for position in several:
                        if row_of:
                            row = row_of[position - middle]
                        if row is not before:
                            before, longest = row, order
                        length = order + 1
                        while length < orders and tokens[single + length] == tokens[position + length]:
                            length += 1
                        while longest < length:
                            row[longest] += 1
                            longest += 1
                else:
                    longer.append(same)
                    start = left = bisect_left(same, middle)
                    if not row_of:
                        right = len(same) - left
                        if len(ends) > 1:
                            stops = [bisect_left(same, end, left) for end in ends]
                            right = max(stop - start for start, stop in pairwise([left, *stops]))
                        row[order] += left if left < right else right
                        continue
                    for row, end in zip(rows, ends, strict=True):
                        stop = bisect_left(same, end, start)
                        row[order] += left if left + start < stop else stop - start
                        start = stop
        groups = longer


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
    row = full = (1 << len(reference)) - 1
    words: list[int] = []
    bigrams: list[int] = []
    before = 0
    for mask in map(_places(reference).get, hypothesis, repeat(0)):
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

    A row has the bits of the tokens of all reference sentences that the hypothesis has, and a gap before each sentence,
    which stays 0 and absorbs the carry. The walk back reads the bits mirrored: its next position in each sentence is
    then the lowest bit, which one subtraction finds.
    """
    if len(hypothesis) == 1 == len(reference):
        return subsequence_length(hypothesis[0], reference[0])
    had = Counter(chain.from_iterable(hypothesis))
    tokens: list[Hashable] = []
    for sentence in reference:
        tokens.append(_START_OF_SENTENCE)
        tokens += filter(had.__contains__, sentence)
    tokens += [_START_OF_SENTENCE] * (8 - len(tokens) % 8)  # whole bytes can be mirrored; at least one
    places, mirrored = _places(tokens), _places(tokens[::-1])
    gaps = mirrored[_START_OF_SENTENCE]
    inside = (1 << len(tokens)) - 1 ^ places[_START_OF_SENTENCE]
    mirrored_bytes = _mirrored_bytes()
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
                steps.append((mirrored[token], row))
            elif before:
                steps.append((0, row))  # tokens without a match move the walk once
        # The walk back stops at or below its position at the token itself, which it takes, or where the row grows.
        reach = -1
        for mask, row in reversed(steps):
            grows = (row ^ inside).to_bytes(len(tokens) // 8, "little").translate(mirrored_bytes)
            candidates = (mask | int.from_bytes(grows, "big")) & reach
            if not candidates:
                break
            # The lowest candidate of each sentence is in both, and the bits of its sentence above it are in one.
            above = gaps - candidates
            taken = candidates & above & mask
            reach = (candidates | above) ^ taken
            union |= taken
    often = [token for token, count in Counter(tokens).items() if count > had[token]]  # which may be hit too often
    return union.bit_count() - sum(max(0, (union & mirrored[token]).bit_count() - had[token]) for token in often)


@cache
def _mirrored_bytes() -> bytes:
    """Return each byte with its bits in reverse order."""
    return bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


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
    totals = list(range(length, max(0, length - orders), -1))
    return totals if length >= orders else totals + [0] * (orders - length)
