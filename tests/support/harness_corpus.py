"""Outputs with two references each, and their scores, for the tests of the adapters for harnesses."""

import random
from typing import Any

from ngram_metrics import Bleu, ChrF
from ngram_metrics.significance import standard_error

WORDS = [
    *("the", "a", "cat", "dog", "house", "garden", "letter"),
    *("box", "saw", "found", "under", "late", "asleep", "rain"),
]


def made_up(segments: int = 40) -> tuple[list[str], list[list[str]]]:
    """Outputs, each with two references."""
    chance = random.Random(5)
    references = [[" ".join(chance.choices(WORDS, k=chance.randint(4, 12))) for _ in range(2)] for _ in range(segments)]
    outputs = [
        " ".join(word if chance.random() < 0.7 else chance.choice(WORDS) for word in segment_references[0].split())
        for segment_references in references
    ]
    return outputs, references


OUTPUTS, REFERENCES = made_up()
SINGLE = [references[0] for references in REFERENCES]


def expected(metric: Any) -> tuple[float, float]:
    """The score and its standard error, from 0 to 100."""
    metric.update(OUTPUTS, REFERENCES)
    ((name, error),) = standard_error(metric).items()
    return 100 * metric.compute()[name].item(), 100 * error


EXPECTED = {"bleu": expected(Bleu(confidence=0.95)), "chrf": expected(ChrF(confidence=0.95))}
