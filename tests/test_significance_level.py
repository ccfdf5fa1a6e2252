"""Two systems that differ by chance alone: how often a test calls them different, and an interval misses the truth."""

import random
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
import torch
from documentation import DOCS
from systems import output, references

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore
from ngram_metrics.significance import paired_approximate_randomization, paired_bootstrap

#: Each test simulates a thousand comparisons.
pytestmark = pytest.mark.slow

METRICS: dict[str, Callable[[], Any]] = {
    "bleu": lambda: Bleu(confidence=0.95),
    "chrf": lambda: ChrF(confidence=0.95),
    "overlap": lambda: NgramOverlap(confidence=0.95),
    "rouge": lambda: ROUGEScore(rouge_keys=("rouge1", "rougeL"), confidence=0.95),
}
DRAWS, REPEATS = 200, 1000
#: How often each of the three should call a difference significant, or miss the truth. p = (c + 1) / 201 is below 0.05
#: for ten values of c, from 0 to 9. An interval goes from the 6th lowest of 200 draws to the 6th highest: a value from
#: the same distribution is outside in 12 of 201 cases.
EXPECTED = {"bootstrap": 10 / 201, "randomization": 10 / 201, "interval": 12 / 201}
each_metric = pytest.mark.parametrize("name", METRICS)


class Population(NamedTuple):
    """Segments with the outputs of two systems, and the number of segments of each document."""

    outputs: tuple[list[str], list[str]]
    targets: list[str]
    sizes: torch.Tensor


def _shares(
    name: str, drawn_from: Population, drawn: int, told: bool, repeats: int = REPEATS
) -> dict[str, dict[str, float]]:
    """How often, for each value, the tests find a difference, and the interval misses the score of the population.

    A repeat draws documents from a population, and for each by a coin which of its two outputs is which system's. So
    both systems can be exchanged, and randomization is exact. `told` is whether the tests know the documents.
    """
    metrics, sizes = [METRICS[name](), METRICS[name]()], drawn_from.sizes
    for metric, lines in zip(metrics, drawn_from.outputs, strict=True):
        metric.update(lines, drawn_from.targets)
    first = metrics[0].segment_rows()
    second = metrics[1].segment_rows()
    scorer, signature = metrics[0].scorer, metrics[0].signature
    population = torch.cat((first, second))
    is_micro = scorer.average == "micro"
    truth = scorer.measure.score_rows((population.sum(0) if is_micro else population).numpy())
    expected = scorer.name_values(truth if is_micro else truth.mean(0))

    def system(rows: torch.Tensor) -> Any:
        return SimpleNamespace(
            scorer=scorer, signature=signature, has_one_reference=lambda: True, segment_rows=lambda: rows
        )

    # Each metric draws its own repeats: an unlucky seed would look like an error of all metrics.
    generator = torch.Generator().manual_seed(list(METRICS).index(name))
    starts = sizes.cumsum(0) - sizes
    counts = {value: [0, 0, 0] for value in expected}
    for _ in range(repeats):
        documents = torch.randint(len(sizes), (drawn,), generator=generator)
        coins = torch.randint(2, (drawn,), generator=generator) > 0
        of_drawn = sizes[documents]
        document = torch.arange(drawn).repeat_interleave(of_drawn)  # (segments,)
        place = torch.arange(len(document)) + (starts[documents] - of_drawn.cumsum(0) + of_drawn)[document]
        coin = coins[document].unsqueeze(1)
        of_systems = ((first, second), (second, first))
        pair = [torch.where(coin, one[place], other[place]) for one, other in of_systems]
        systems = dict(zip("ab", map(system, pair), strict=True))
        seed = int(torch.randint(1 << 32, (), generator=generator))
        options: dict[str, Any] = {"seed": seed, "clusters": document if told else None}
        resampled = paired_bootstrap(systems, "a", DRAWS, **options)["b"]
        swapped = paired_approximate_randomization(systems, "a", DRAWS, **options)["b"]
        for value, count in counts.items():
            count[0] += resampled[value].p_value < 0.05
            count[1] += swapped[value].p_value < 0.05
            count[2] += not resampled[value].low <= expected[value] <= resampled[value].high
    return {
        value: {kind: of_kind / repeats for kind, of_kind in zip(EXPECTED, count, strict=True)}
        for value, count in counts.items()
    }


def _tolerance(share: float) -> float:
    """How far the share of the repeats may be from the expected one: 3.5 standard errors."""
    return 3.5 * (share * (1 - share) / REPEATS) ** 0.5


def _assert_at_the_level(shares: dict[str, dict[str, float]]) -> None:
    for value, of_value in shares.items():
        for kind, expected in EXPECTED.items():
            assert of_value[kind] == pytest.approx(expected, abs=_tolerance(expected)), (value, kind)


@each_metric
def test_chance_alone_is_significant_as_often_as_the_level_says(name: str):
    targets = references(4000)
    outputs = output(targets, 0.3, 2), output(targets, 0.3, 3)
    alone = Population(outputs, targets, torch.ones(4000, dtype=torch.int64))
    _assert_at_the_level(_shares(name, alone, 200, told=False))


@pytest.mark.parametrize("longest", [7, 30])
@each_metric
def test_documents_of_segments_that_are_alike_are_drawn_whole(name: str, longest: int):
    """In each document one output is good and the other bad; drawn by segments, chance looks like a difference."""
    sizes = torch.randint(1, longest + 1, (1000,), generator=torch.Generator().manual_seed(4))
    targets = references(int(sizes.sum()))
    outputs: tuple[list[str], list[str]] = ([], [])
    start = 0
    for document, size in enumerate(sizes.tolist()):
        for number, lines in enumerate(outputs):
            changed = (0.1, 0.5)[(document + number) % 2]
            lines += output(targets[start : start + size], changed, 2 * document + number)
        start += size
    alike = Population(outputs, targets, sizes)
    _assert_at_the_level(_shares(name, alike, 100, told=True))
    for of_value in _shares(name, alike, 100, told=False, repeats=50).values():
        assert min(of_value.values()) > 0.15


#: The columns of the table on the page, by the names of values.
ON_PAGE: dict[str, Callable[..., Any]] = {
    "bleu": Bleu,
    "chrf": ChrF,
    "rougeL_fmeasure": lambda **options: ROUGEScore(rouge_keys="rougeL", **options),
}


def _read_page(segments: int) -> dict[str, float]:
    """How often an interval of so many segments misses the truth, by the names of values, as the page says."""
    page = (DOCS / "concepts" / "is_the_difference_real.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| {segments} \|(?: (\.\d+) \|)(?: (\.\d+) \|)(?: (\.\d+) \|)$", page, re.MULTILINE)
    return dict(zip(ON_PAGE, map(float, row), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("segments", [10, 30])
def test_intervals_of_few_segments_miss_the_truth_as_often_as_the_page_says(segments: int):
    targets = references(4000)
    lines = output(targets, 0.3, 2)
    chance = random.Random(segments)
    for value, expected in _read_page(segments).items():
        metric = ON_PAGE[value](confidence=0.95)
        metric.update(lines, targets)
        truth = metric.compute()[value].item()
        misses = 0
        for _ in range(REPEATS):
            drawn = chance.choices(range(len(targets)), k=segments)
            metric.reset()
            metric.update([lines[index] for index in drawn], [targets[index] for index in drawn])
            scores = metric.compute()
            misses += not scores[f"{value}_low"] <= truth <= scores[f"{value}_high"]
        assert misses / REPEATS == pytest.approx(expected, abs=_tolerance(expected)), value
