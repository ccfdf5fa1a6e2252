"""ROUGE once more in plain Python: counters, a table filled cell by cell, and rouge_score's walk back through it.

Written to be read, without a line of the package. A summary is a list of sentences, a sentence a list of tokens.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import chain
from string import ascii_lowercase, digits
from typing import NamedTuple

from oracles import overlap_counts

Sentence = Sequence[Hashable]
Summary = Sequence[Sentence]

KEYS = tuple(f"rouge{n}" for n in (*range(1, 10), "L", "Lsum"))


class Counts(NamedTuple):
    """What a hypothesis and a reference share, and what each has in all."""

    matches: int
    hypothesis: int
    reference: int


class Scores(NamedTuple):
    precision: float
    recall: float
    fmeasure: float


def words(text: str) -> list[str]:
    """rouge_score's: of the text in lower case, the runs of a-z and 0-9."""
    return "".join(one if one in ascii_lowercase + digits else " " for one in text.lower()).split()


def summary(text: str) -> list[list[str]]:
    """The words of each line; only a line feed ends one."""
    return [words(line) for line in text.split("\n") if line]


def table(reference: Sentence, hypothesis: Sentence) -> list[list[int]]:
    """Cell (i, j) is the length of a longest common subsequence of the first i and the first j tokens."""
    rows = [[0] * (len(hypothesis) + 1)]
    for token in reference:
        above = rows[-1]
        row = [0]
        for j, other in enumerate(hypothesis):
            row.append(above[j] + 1 if token == other else max(above[j + 1], row[j]))
        rows.append(row)
    return rows


def chosen_positions(reference: Sentence, hypothesis: Sentence) -> set[int]:
    """Positions in the reference of the one longest common subsequence that rouge_score takes."""
    lengths = table(reference, hypothesis)
    positions = set()
    i, j = len(reference), len(hypothesis)
    while i and j:
        if reference[i - 1] == hypothesis[j - 1]:
            i, j = i - 1, j - 1
            positions.add(i)
        elif lengths[i][j - 1] > lengths[i - 1][j]:
            j -= 1
        else:
            i -= 1
    return positions


def union_hits(hypothesis: Summary, reference: Summary) -> int:
    """Tokens of the reference in any of the subsequences, each at most as often as the hypothesis has it."""
    hit: Counter = Counter()
    for sentence in reference:
        positions = set().union(*(chosen_positions(sentence, one) for one in hypothesis))
        hit.update(sentence[position] for position in positions)
    return (hit & Counter(chain.from_iterable(hypothesis))).total()


def counts(key: str, hypothesis: Summary, reference: Summary) -> Counts:
    """The counts of one key; all but rougeLsum join the sentences."""
    whole = list(chain.from_iterable(hypothesis))
    other = list(chain.from_iterable(reference))
    if key == "rougeLsum":
        return Counts(union_hits(hypothesis, reference), len(whole), len(other))
    if key == "rougeL":
        return Counts(table(other, whole)[-1][-1], len(whole), len(other))
    return Counts(*overlap_counts(whole, other, int(key.removeprefix("rouge"))))


def scores(found: Counts, alpha: float | None = None) -> Scores:
    """Precision, recall and F1, or with alpha ignite's F."""
    if found.matches == 0:
        return Scores(0.0, 0.0, 0.0)
    precision, recall = found.matches / found.hypothesis, found.matches / found.reference
    if alpha is None:
        return Scores(precision, recall, 2 * precision * recall / (precision + recall))
    return Scores(precision, recall, precision * recall / ((1 - alpha) * precision + alpha * recall))
