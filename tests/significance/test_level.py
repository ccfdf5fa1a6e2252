"""Two systems that differ by chance alone: how often a test calls them different, and an interval misses the truth."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from systems import output, references

from ngram_metrics import Bleu, ChrF, Gleu, NgramOverlap, ROUGEScore
from ngram_metrics.significance import paired_approximate_randomization, paired_bootstrap

METRICS: dict[str, Callable[[], Any]] = {
    "bleu": lambda: Bleu(average="micro", smooth="exp", tokenizer="13a", confidence=0.95),
    "chrf": lambda: ChrF(confidence=0.95),
    "gleu": lambda: Gleu(confidence=0.95),
    "overlap": lambda: NgramOverlap(confidence=0.95),
    "rouge": lambda: ROUGEScore(rouge_keys=("rouge1", "rougeL"), confidence=0.95),
}
SENTENCES, DRAWS, REPEATS = 200, 500, 400


#: By default a corpus score of counts, and means of several values; BLEU alone takes half of the time of all.
EACH = [pytest.param(name, marks=() if name in ("chrf", "rouge") else pytest.mark.slow) for name in METRICS]


@pytest.mark.parametrize("name", EACH)
def test_chance_alone_is_significant_as_often_as_the_level_says(name: str):
    """A repeat draws sentences from a population, and by a coin which of two outputs is which system's."""
    targets = references(4000)
    metrics = [METRICS[name](), METRICS[name]()]
    for seed, metric in enumerate(metrics, 2):
        metric.update(output(targets, 0.3, seed), targets)
    first, second = (metric.sentence_rows() for metric in metrics)
    scorer, signature = metrics[0].scorer, metrics[0].signature
    population = torch.cat((first, second))
    is_micro = scorer.average == "micro"
    truth = scorer.scores(population.sum(0) if is_micro else population)
    expected = scorer.named(truth if is_micro else truth.mean(0))

    def system(rows: torch.Tensor) -> Any:
        return SimpleNamespace(scorer=scorer, signature=signature, sentence_rows=lambda: rows)

    generator = torch.Generator().manual_seed(1)
    counts = {value: [0, 0, 0] for value in expected}
    for repeat in range(REPEATS):
        drawn = torch.randint(len(targets), (SENTENCES,), generator=generator)
        coin = torch.randint(2, (SENTENCES, 1), generator=generator) > 0
        pair = [torch.where(coin, first[drawn], second[drawn]), torch.where(coin, second[drawn], first[drawn])]
        systems = dict(zip("ab", map(system, pair), strict=True))
        resampled = paired_bootstrap(systems, "a", DRAWS, seed=repeat)["b"]
        swapped = paired_approximate_randomization(systems, "a", DRAWS, seed=repeat)["b"]
        for value, count in counts.items():
            count[0] += resampled[value].p_value < 0.05
            count[1] += swapped[value].p_value < 0.05
            count[2] += not resampled[value].low <= expected[value] <= resampled[value].high
    for value, count in counts.items():
        shares = dict(zip(("bootstrap", "randomization", "interval"), (one / REPEATS for one in count), strict=True))
        assert shares == pytest.approx(dict.fromkeys(shares, 0.05), abs=3 * (0.05 * 0.95 / REPEATS) ** 0.5), value
