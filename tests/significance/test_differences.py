"""The interval of a difference, and the smallest difference that can be detected."""

import random
from typing import Any

import numpy as np
import pytest
import torch
from paired import OUTPUTS, REFERENCES, counted
from sacrebleu.metrics import BLEU, CHRF
from systems import output, references

from ngram_metrics import Bleu, ChrF, ROUGEScore, evaluate
from ngram_metrics._core.scoring.resampling import bootstrap_weights, swaps
from ngram_metrics.significance import matrix, paired_systems
from ngram_metrics.significance.comparisons import compare_with_first
from ngram_metrics.significance.paired_systems import pair_rows, pair_systems

METRICS: dict[str, Any] = {"bleu": (Bleu, BLEU), "chrf": (ChrF, CHRF)}


def _resampled_differences(peer: Any, lines: list[str], base: list[str], draws: int) -> np.ndarray:
    """The differences of resampled corpora, from the counts that sacrebleu keeps for each segment."""
    ours, theirs = (np.array(peer._extract_corpus_statistics(texts, [REFERENCES])) for texts in (lines, base))
    chance = np.random.default_rng(7)
    differences = []
    for _ in range(draws):
        drawn = chance.integers(len(ours), size=len(ours))
        scores = [peer._compute_score_from_stats(counts[drawn].sum(0).tolist()).score for counts in (ours, theirs)]
        differences.append(scores[0] - scores[1])
    return np.array(differences) / 100


@pytest.mark.parametrize("name", METRICS)
def test_intervals_and_detectable_differences_are_those_of_resampled_counts_of_sacrebleu(name: str):
    make, peer = METRICS[name]
    found = evaluate(OUTPUTS, REFERENCES, {name: make()}).results
    for system in ("alike", "close", "far"):
        result = found[system][name]
        expected = _resampled_differences(peer(), OUTPUTS[system], OUTPUTS["base"], 2000)
        spread = expected.std()
        # The standard error of an end is 0.085 deviations of 1,000 draws, and that of a deviation 2.2 %.
        assert result.difference_low == pytest.approx(np.quantile(expected, 0.025), abs=0.4 * spread)
        assert result.difference_high == pytest.approx(np.quantile(expected, 0.975), abs=0.4 * spread)
        assert result.detectable == pytest.approx(2.8 * spread, rel=0.12)
        assert result.difference_low < result.difference < result.difference_high
    base = found["base"][name]
    assert (base.difference_low, base.difference_high, base.detectable) == (None, None, None)


def test_equal_systems_differ_by_nothing_in_all_resamples():
    systems = {"base": OUTPUTS["base"], "far": OUTPUTS["far"], "same": list(OUTPUTS["base"])}
    found = evaluate(systems, REFERENCES, "bleu,rouge").results["same"]
    for result in found.values():
        assert (result.difference_low, result.difference_high, result.detectable) == (0, 0, 0)


@pytest.mark.parametrize("clusters", [None, [index // 3 for index in range(150)]], ids=["segments", "clusters"])
def test_intervals_of_differences_depend_on_no_order(clusters: Any):
    order = random.Random(3).sample(range(150), 150)
    shuffled = {name: [lines[index] for index in order] for name, lines in OUTPUTS.items()}
    labels = None if clusters is None else [clusters[index] for index in order]
    found = evaluate(OUTPUTS, REFERENCES, "bleu,rouge", clusters=clusters).results
    again = evaluate(shuffled, [REFERENCES[index] for index in order], "bleu,rouge", clusters=labels).results
    for system, values in found.items():
        for value, result in values.items():
            other = again[system][value]
            parts = [(each.difference_low, each.difference_high, each.detectable) for each in (result, other)]
            assert parts[0] == parts[1]


def test_without_a_level_there_is_no_interval_and_groups_have_no_detectable_difference():
    found = evaluate(OUTPUTS, REFERENCES, "chrf", confidence=None).results["far"]["chrf"]
    assert found.difference is not None
    assert (found.difference_low, found.difference_high, found.detectable) == (None, None, None)
    groups = evaluate(OUTPUTS, REFERENCES, "chrf", groups=[index % 2 for index in range(150)]).groups
    for results in groups.values():
        result = results["far"]["chrf"]
        assert result.difference_low < result.difference < result.difference_high
        assert (result.detectable, result.p_value) == (None, None)


class _Simulation:
    """Samples of segments from a population, with two systems whose scores of the whole population are known."""

    def __init__(self, make: Any, changed: float) -> None:
        texts = references(3000, seed=5)
        metrics = [make(confidence=0.95), make(confidence=0.95)]
        for metric, share, seed in zip(metrics, (0.3, changed), (1, 2), strict=True):
            metric.update(output(texts, share, seed), texts)
        self.scorer = metrics[0].scorer
        self.rows = [metric.segment_rows() for metric in metrics]
        base, other = (pair_rows(self.scorer, [rows], None).corpus_scores.item() for rows in self.rows)
        self.difference = other - base

    def samples(self, size: int, repeats: int) -> Any:
        generator = torch.Generator().manual_seed(11)
        for repeat in range(repeats):
            drawn = torch.randint(3000, (size,), generator=generator)
            tested = pair_rows(self.scorer, [rows[drawn] for rows in self.rows], None)
            (differences,) = compare_with_first([tested], "bootstrap", None, 0.95, repeat)
            yield differences


@pytest.mark.parametrize("name", METRICS)
def test_intervals_of_differences_hold_the_true_difference_as_often_as_their_level_says(name: str):
    simulation = _Simulation(METRICS[name][0], 0.27)
    inside = [
        found["difference_low"].item() <= simulation.difference <= found["difference_high"].item()
        for found in simulation.samples(200, 150)
    ]
    # The standard error of the share is 1.8 %; intervals of 0.85 are seen with a chance of 0.98.
    assert 0.91 <= sum(inside) / len(inside) <= 0.985


@pytest.mark.parametrize("name", METRICS)
def test_a_detectable_difference_is_found_in_four_of_five_cases(name: str):
    """The size of the samples makes the true difference the detectable one."""
    simulation = _Simulation(METRICS[name][0], 0.26)
    spread = np.mean([found["standard_error"].item() for found in simulation.samples(200, 20)])
    size = round(200 * (2.8 * spread / simulation.difference) ** 2)
    assert 50 < size < 1000
    found = [each["p_value"].item() < 0.05 for each in simulation.samples(size, 150)]
    # The standard error of the share is 3.3 %; a power of 0.6 is seen with a chance of 0.99.
    assert 0.72 <= sum(found) / len(found) <= 0.88


def test_ranks_follow_by_hand_from_all_pairs():
    systems = {"a": output(REFERENCES, 0.3, 1), "b": output(REFERENCES, 0.3, 2), "c": output(REFERENCES, 0.05, 3)}
    found = evaluate(systems, REFERENCES, "chrf,overlap")
    for value in ("chrf", "overlap"):
        p_values = found.pairs[value]
        assert p_values["a"]["b"] > 0.05 > max(p_values["c"].values())
        assert found.results["c"][value].score > found.results["a"][value].score
        assert found.ranks[value] == {"a": (2, 3), "b": (2, 3), "c": (1, 1)}
    one = evaluate(systems["a"], REFERENCES, "chrf")
    assert (one.pairs, one.ranks) == ({}, {})


@pytest.mark.parametrize("test", ["randomization", "bootstrap"])
def test_all_pairs_are_those_of_the_matrix_drawn_once_for_all_metrics(test: Any):
    found = evaluate(OUTPUTS, REFERENCES, "chrf,rougeL", test=test, confidence=None, correction=None).pairs
    for name, value, systems in (
        ("chrf", "chrf", counted(ChrF)),
        ("rougeL", "rougeL_fmeasure", counted(ROUGEScore, rouge_keys="rougeL")),
    ):
        assert found[name] == matrix(systems, test, correction=None)[value]


@pytest.mark.parametrize("draw", [swaps, bootstrap_weights])
@pytest.mark.parametrize("huge", [0, 1 << 24])
def test_sums_are_exact_whatever_the_size_of_counts(draw: Any, huge: int, monkeypatch: pytest.MonkeyPatch):
    """Also under autocast, which computes float32 products in bfloat16, and with one row that float32 cannot hold."""
    tested = pair_systems(counted(ChrF), "base", None)
    values = tested.values.clone()
    values[7, 1] += huge + 1
    tested = paired_systems.Paired(tested.scorer, values, tested.segments, tested.unit)
    weights = next(draw(150, 100, 1))
    expected = np.einsum("dc,csw->dsw", weights.numpy().astype(object), values.numpy().astype(object)).astype(float)
    with torch.autocast("cpu", torch.bfloat16):
        (found,) = tested.sums(weights)
    assert np.array_equal(found.numpy(), expected)
    assert (tested._integers[1] == 0) is (huge == 0)
