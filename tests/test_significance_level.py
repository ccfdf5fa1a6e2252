"""Two systems that differ by chance alone: how often a test calls them different, and an interval misses the truth."""

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from systems import output, references

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore
from ngram_metrics.significance import paired_approximate_randomization, paired_bootstrap

METRICS: dict[str, Callable[[], Any]] = {
    "bleu": lambda: Bleu(confidence=0.95),
    "chrf": lambda: ChrF(confidence=0.95),
    "overlap": lambda: NgramOverlap(confidence=0.95),
    "rouge": lambda: ROUGEScore(rouge_keys=("rouge1", "rougeL"), confidence=0.95),
}
#: By default a corpus score of counts, and means of several values; BLEU alone takes half of the time of all.
EACH = [pytest.param(name, marks=() if name in ("chrf", "rouge") else pytest.mark.slow) for name in METRICS]
#: A level of 0.1 is seen with a chance of 0.8 by each value of each kind.
DRAWS, REPEATS = 200, 200


class Segment(NamedTuple):
    """The outputs of two systems, and their reference."""

    first: str
    second: str
    target: str


Document = list[Segment]


def _filled(name: str, lines: list[str], targets: list[str]) -> Any:
    metric = METRICS[name]()
    metric.update(lines, targets)
    return metric


def _shares(
    name: str, population: list[Document], drawn: int, told: bool, repeats: int = REPEATS
) -> dict[str, dict[str, float]]:
    """How often, for each value, the tests find a difference, and the interval misses the score of the population.

    A repeat draws documents from a population, and for each by a coin which of its two outputs is which system's.
    `told` is whether the tests know the documents.
    """
    chance = random.Random(1)
    segments = [segment for document in population for segment in document]
    both = [segment[side] for side in (0, 1) for segment in segments]
    truth = _filled(name, both, [segment.target for segment in segments] * 2).compute()
    shares: dict[str, dict[str, float]] = {}
    for repeat in range(repeats):
        lines: tuple[list[str], list[str]] = ([], [])
        targets, labels = [], []
        for label, document in enumerate(chance.choices(population, k=drawn)):
            coin = chance.randrange(2)
            lines[coin].extend(segment.first for segment in document)
            lines[1 - coin].extend(segment.second for segment in document)
            targets += [segment.target for segment in document]
            labels += [label] * len(document)
        systems = {"a": _filled(name, lines[0], targets), "b": _filled(name, lines[1], targets)}
        options: dict[str, Any] = {"seed": repeat, "clusters": labels if told else None}
        swapped = paired_approximate_randomization(systems, "a", DRAWS, **options)["b"]
        for value, resampled in paired_bootstrap(systems, "a", DRAWS, **options)["b"].items():
            share = shares.setdefault(value, {"bootstrap": 0, "randomization": 0, "interval": 0})
            share["bootstrap"] += (resampled.p_value < 0.05) / repeats
            share["randomization"] += (swapped[value].p_value < 0.05) / repeats
            share["interval"] += (not resampled.low <= truth[value] <= resampled.high) / repeats
    return shares


def _assert_at_the_level(shares: dict[str, dict[str, float]]) -> None:
    for value, of_value in shares.items():
        error = 2 * (0.05 * 0.95 / REPEATS) ** 0.5
        assert of_value == pytest.approx(dict.fromkeys(of_value, 0.05), abs=error), value


@pytest.mark.parametrize("name", EACH)
def test_chance_alone_is_significant_as_often_as_the_level_says(name: str):
    targets = references(4000)
    segments = map(Segment, output(targets, 0.3, 2), output(targets, 0.3, 3), targets)
    _assert_at_the_level(_shares(name, [[segment] for segment in segments], 200, told=False))


@pytest.mark.parametrize("longest", [7, pytest.param(30, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", EACH)
def test_documents_of_segments_that_are_alike_are_drawn_whole(name: str, longest: int):
    """In each document one output is good and the other bad; drawn by segments, chance looks like a difference."""
    chance = random.Random(4)
    population = []
    for document in range(1000):
        targets = references(chance.randint(1, longest), seed=document)
        good, bad = output(targets, 0.1, 2 * document), output(targets, 0.5, 2 * document + 1)
        sides = (good, bad) if document % 2 else (bad, good)
        population.append(list(map(Segment, *sides, targets)))
    _assert_at_the_level(_shares(name, population, 100, told=True))
    for of_value in _shares(name, population, 100, told=False, repeats=50).values():
        assert min(of_value.values()) > 0.15
