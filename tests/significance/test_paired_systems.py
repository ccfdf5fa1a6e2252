"""Paired tests, against sacrebleu's on the same outputs, and against plain loops."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from paired import OUTPUTS, REFERENCES, TESTS, counted, each_test
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore
from ngram_metrics import ignite as for_ignite
from ngram_metrics.significance import paired_approximate_randomization, paired_bootstrap

METRICS: dict[str, tuple[Callable[..., Any], Any]] = {
    "bleu": (lambda **options: Bleu(smooth="exp", tokenizer="13a", average="micro", **options), BLEU),
    "chrf": (lambda **options: ChrF(**options), CHRF),
}


@pytest.mark.parametrize(
    ("kind", "test", "draws", "rule"),
    [("bs", paired_bootstrap, 1000, {"alternative": "sacrebleu"}), ("ar", paired_approximate_randomization, 3000, {})],
    ids=TESTS,
)
@pytest.mark.parametrize("name", METRICS)
def test_p_values_means_and_intervals_are_sacrebleus_within_chance(
    name: str, kind: str, test: Callable[..., Any], draws: int, rule: dict[str, str]
):
    make, peer = METRICS[name]
    ours = test(counted(make), "base", draws, **rule)
    _, found = PairedTest(list(OUTPUTS.items()), {name: peer()}, [REFERENCES], kind, n_samples=draws)()
    (results,) = (column for heading, column in found.items() if heading != "System")
    p_values = []
    for system, result in zip(OUTPUTS, results, strict=True):
        comparison = ours[system][name]
        assert 100 * comparison.score == pytest.approx(result.score, abs=1e-9)
        if kind == "bs":
            half = 50 * (comparison.high - comparison.low)
            # The standard error of an end is 0.085 deviations, and an end lies 1.96 deviations from the mean.
            assert half == pytest.approx(result.ci, rel=0.15)
            assert 100 * comparison.mean == pytest.approx(result.mean, abs=0.1 * float(result.ci))
            assert comparison.low < comparison.mean < comparison.high
        else:
            assert comparison[2:] == (None, None, None)
        if system == "base":
            assert comparison.p_value is None
            continue
        error = (2 * result.p_value * (1 - result.p_value) / draws) ** 0.5
        assert comparison.p_value == pytest.approx(result.p_value, abs=4 * error + 2 / draws)
        p_values.append(result.p_value)
    assert min(p_values) < 0.01
    assert any(0.1 < p_value < 0.9 for p_value in p_values), "chance agrees with anything at the ends"


def _by_resampling(ours: np.ndarray, theirs: np.ndarray, draws: int) -> float:
    """The paired bootstrap over means, on scores of segments."""
    chance = np.random.default_rng(99)
    differences = []
    for _ in range(draws):
        drawn = chance.integers(len(ours), size=len(ours))
        differences.append(ours[drawn].mean() - theirs[drawn].mean())
    measured, centre = abs(ours.mean() - theirs.mean()), sum(differences) / draws
    return (sum(abs(one - centre) >= measured for one in differences) + 1) / (draws + 1)


def _by_swapping(ours: np.ndarray, theirs: np.ndarray, draws: int) -> float:
    """Approximate randomization over means, on scores of segments."""
    chance = np.random.default_rng(99)
    more = 0
    for _ in range(draws):
        swapped = chance.random(len(ours)) < 0.5
        first, second = np.where(swapped, theirs, ours), np.where(swapped, ours, theirs)
        more += abs(first.mean() - second.mean()) >= abs(ours.mean() - theirs.mean())
    return (more + 1) / (draws + 1)


@pytest.mark.parametrize(
    ("test", "plain"),
    [(paired_bootstrap, _by_resampling), (paired_approximate_randomization, _by_swapping)],
    ids=["bootstrap", "randomization"],
)
def test_means_over_segments_and_every_value_are_tested(test: Callable[..., Any], plain: Callable[..., float]):
    """ROUGE: precision, recall and F of two keys, each with its own p-value, against plain loops over rouge_score."""
    scorer = RougeScorer(["rouge1", "rougeL"])
    scored = {
        name: [scorer.score(target, line) for target, line in zip(REFERENCES, lines, strict=True)]
        for name, lines in OUTPUTS.items()
    }
    ours = test(counted(ROUGEScore, rouge_keys=("rouge1", "rougeL")), "base", 2000)
    for name in ("alike", "close", "far"):
        assert len(ours[name]) == 6
        for key in ("rouge1", "rougeL"):
            for part in ("precision", "recall", "fmeasure"):
                values = [np.array([getattr(scores[key], part) for scores in scored[each]]) for each in (name, "base")]
                expected = plain(*values, 2000)
                comparison = ours[name][f"{key}_{part}"]
                assert comparison.score == pytest.approx(values[0].mean(), abs=1e-12)
                error = (2 * expected * (1 - expected) / 2000) ** 0.5
                assert comparison.p_value == pytest.approx(expected, abs=4 * error + 1e-3)


@each_test
def test_either_of_two_systems_may_be_the_baseline(test: Callable[..., Any]):
    """With the same draws, to the last digit."""
    systems = counted(ROUGEScore, rouge_keys=("rouge1", "rougeL"))
    found = {baseline: test(systems, baseline, 300) for baseline in systems}
    for first, second in combinations(systems, 2):
        for value, comparison in found[first][second].items():
            assert comparison.p_value == found[second][first][value].p_value
            assert comparison.score == found[second][second][value].score
    p_values = {found[first][second]["rouge1_fmeasure"].p_value for first, second in combinations(systems, 2)}
    assert len(p_values) > 3


@each_test
def test_a_seed_says_it_all(test: Callable[..., Any]):
    systems = counted(ChrF)
    assert test(systems, "base", 200) == test(systems, "base", 200)
    assert test(systems, "base", 200, seed=1) == test(systems, "base", 200, seed=1)
    assert test(systems, "base", 200) != test(systems, "base", 200, seed=1)


@each_test
def test_ignites_metrics_are_tested_alike(test: Callable[..., Any]):
    systems = {name: for_ignite.ChrF(confidence=0.95) for name in OUTPUTS}
    for name, metric in systems.items():
        metric.update((OUTPUTS[name], REFERENCES))
    assert test(systems, "base", 100) == test(counted(ChrF), "base", 100)


def test_intervals_are_of_the_level_asked_for():
    systems = counted(ChrF)
    wide, narrow = (paired_bootstrap(systems, "base", 500, confidence=level)["far"]["chrf"] for level in (0.99, 0.5))
    assert wide.low < narrow.low < narrow.high < wide.high
    assert wide[:3] == narrow[:3]


@pytest.mark.parametrize(
    "make", [Bleu, ChrF, NgramOverlap, lambda **options: ROUGEScore(rouge_keys=["rougeL"], **options)]
)
@each_test
def test_segments_in_another_order_are_refused(test: Callable[..., Any], make: Callable[..., Any]):
    """Else a system that is the baseline with its lines sorted would not differ by more than chance."""
    lines, targets = zip(*sorted(zip(OUTPUTS["base"], REFERENCES, strict=True)), strict=True)
    systems = {
        **counted(make, {"base": OUTPUTS["base"]}),
        **counted(make, {"sorted": lines}, targets),
    }
    with pytest.raises(ValueError, match=r"^segment \d+ has another reference in 'sorted' than in 'base' \(reference_"):
        test(systems, "base", 40)


def test_the_segment_in_another_place_is_named():
    targets = [*["a b c"] * 41, "a", *["a b c"] * 18]
    systems = {
        **counted(Bleu, {"base": ["a b"] * 60}, ["a b c"] * 60),
        **counted(Bleu, {"other": ["a b"] * 60}, targets),
    }
    message = (
        r"^segment 41 has another reference in 'other' than in 'base' \(reference_length: 1 and 3\): "
        "expected the same segments in the same order$"
    )
    with pytest.raises(ValueError, match=message):
        paired_bootstrap(systems, "base")


@each_test
def test_errors_say_what_is_expected(test: Callable[..., Any]):
    systems = counted(ChrF)
    with pytest.raises(
        ValueError, match=r"unknown baseline 'best': expected one of \['base', 'alike', 'close', 'far'\]"
    ):
        test(systems, "best")
    for number in (0, "10"):
        with pytest.raises(ValueError, match=rf"must be an integer of at least [13] \(got: {number!r}\)"):
            test(systems, "base", number)
    with pytest.raises(TypeError, match=r"^seed is '12': expected an integer$"):
        test(systems, "base", seed="12")
    with pytest.raises(ValueError, match=r"^seed is too large: expected an integer from -2\^63 to 2\^64 - 1$"):
        test(systems, "base", seed=-(2**70))
    with pytest.raises(ValueError, match=r"unknown correction 'bonferroni': expected one of .None, 'holm'."):
        test(systems, "base", correction="bonferroni")
    short = counted(ChrF, {"short": OUTPUTS["base"][:7]})
    with pytest.raises(ValueError, match="'short' has 7 segments and 'base' 150: expected the same ones"):
        test({**systems, **short}, "base")
    with pytest.raises(ValueError, match="'other' is a metric with other settings than 'base'"):
        test({**systems, "other": ChrF(beta=1.0, confidence=0.95)}, "base")
    doubled = counted(ChrF, {"doubled": OUTPUTS["base"]}, [[reference, "x"] for reference in REFERENCES])
    with pytest.raises(ValueError, match=r"'doubled' was scored as nrefs:2\|.*, and 'base' as nrefs:1\|"):
        test({**systems, **doubled}, "base")
    with pytest.raises(ValueError, match="'base' has counted no segment"):
        test({"base": ChrF(confidence=0.95)}, "base")
    with pytest.raises(ValueError, match=r"this ChrF keeps sums only: construct it with confidence=0\.95"):
        test({"base": ChrF()}, "base")


@pytest.mark.parametrize(
    ("systems", "words"),
    [
        ({"a": 1}, "system 'a' is an int: expected a metric object of this package, such as ChrF"),
        ({"a": ChrF}, "system 'a' is the class ChrF: expected a metric object of this package"),
        ({"a": ChrF(confidence=0.95), "b": 0.5}, "system 'b' is a float: expected a metric object"),
        ([ChrF(confidence=0.95)], "systems is a list: expected a mapping of names to metrics"),
    ],
    ids=["number", "class", "second", "list"],
)
@each_test
def test_what_is_no_system_is_refused(test: Callable[..., Any], systems: Any, words: str):
    with pytest.raises(TypeError, match=words):
        test(systems, "a")


def test_a_level_or_an_alternative_that_is_none_is_refused():
    with pytest.raises(ValueError, match="confidence must be between 0 and 1"):
        paired_bootstrap(counted(ChrF), "base", confidence=95)
    with pytest.raises(ValueError, match=r"confidence must be at most 0\.9, .* that 20 resamples have \(got: 0\.95\)$"):
        paired_bootstrap(counted(ChrF), "base", 20)
    assert paired_bootstrap(counted(ChrF), "base", 2100, 0.999)
    with pytest.raises(ValueError, match=r"unknown alternative 'less': expected one of \['two-sided', 'sacrebleu'\]"):
        paired_bootstrap(counted(ChrF), "base", alternative="less")
