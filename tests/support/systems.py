"""Made-up systems: references, and outputs that are the references with some words changed."""

import random

_WORDS = [a + b for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u", "ara", "eni", "olu")]


def references(segments: int, seed: int = 1) -> list[str]:
    """Segments of 4 to 19 words, of which a few are frequent, and a full stop."""
    chance = random.Random(seed)
    weights = [1 / rank for rank in range(1, len(_WORDS) + 1)]
    return [
        " ".join(chance.choices(_WORDS, weights, k=chance.randint(4, 19))).capitalize() + "." for _ in range(segments)
    ]


def output(sources: list[str], changed: float, seed: int) -> list[str]:
    """The same segments with the given share of words replaced, left out or said twice."""
    chance = random.Random(seed)
    lines = []
    for source in sources:
        words: list[str] = []
        for word in source.split():
            kind = chance.choice("rld") if chance.random() < changed else ""
            words += {"": [word], "r": [chance.choice(_WORDS)], "l": [], "d": [word, word]}[kind]
        lines.append(" ".join(words) or "so.")
    return lines
