"""What is no evidence to the paired tests: ties, few segments, and draws that do not differ."""

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from paired import OUTPUTS, REFERENCES, TESTS, counted, each_average, each_test
from sacrebleu.metrics import CHRF
from sacrebleu.significance import PairedTest

from ngram_metrics import Bleu, ChrF, NgramOverlap
from ngram_metrics._core.scoring.paired import bootstrap_p_values, pair_rows, resample_scores
from ngram_metrics.significance import paired_approximate_randomization, paired_bootstrap


@each_average
def test_no_resample_that_differs_is_no_evidence(average: str):
    """Sixty times one segment: every resample has the measured difference, which tells nothing about its spread."""
    outputs = {"base": ["the cat sat on mat"] * 60, "better": ["the cat sat on the mat"] * 60}
    systems = counted(ChrF, outputs, ["the cat sat on the mat."] * 60, average=average)
    assert paired_bootstrap(systems, "base", 100)["better"]["chrf"].p_value == 1
    assert paired_bootstrap(systems, "base", 100, alternative="sacrebleu")["better"]["chrf"].p_value == 1 / 101


@each_average
def test_systems_that_differ_in_one_segment_do_not_differ_by_more_than_chance(average: str):
    """Each swap gives the measured difference, one way or the other, whatever the last bits of its sum.

    A resample has the segment as often as chance has it, so that some resamples differ, and no difference is certain.
    A system beside them that is the baseline itself changes nothing.
    """
    for changed in range(8):
        lines = list(OUTPUTS["base"])
        lines[changed] = "so it is."
        outputs = {"base": OUTPUTS["base"], "same": OUTPUTS["base"], "one": lines}
        systems = counted(ChrF, outputs, average=average)
        assert paired_approximate_randomization(systems, "base", 500)["one"]["chrf"].p_value == 1
        found = paired_bootstrap(systems, "base", 500)["one"]["chrf"].p_value
        assert 0.05 < found < 0.9


@each_average
@each_test
def test_identical_systems_do_not_differ(test: Callable[..., Any], average: str):
    """Where sacrebleu gives 1 / (n + 1), as if they surely did."""
    outputs = {"base": OUTPUTS["base"], "same": list(OUTPUTS["base"])}
    for make in (Bleu, ChrF, NgramOverlap):
        for comparison in test(counted(make, outputs, average=average), "base")["same"].values():
            assert comparison.p_value == 1
    _, found = PairedTest(list(outputs.items()), {"chrf": CHRF()}, [REFERENCES], "bs", n_samples=100)()
    assert found["chrF2"][1].p_value == pytest.approx(1 / 101)


@each_test
def test_small_scores_are_not_equal_for_being_small(test: Callable[..., Any]):
    """What is rounding depends on the scores: these are about 1e-20."""
    options = {"average": "macro", "smooth": "floor", "smooth_value": 1e-27, "weights": [0.25, 0, 0, 0.75]}
    outputs = {"base": ["x"] * 60, "small": ["a b c d"] * 30 + ["x"] * 30}
    found = test(counted(Bleu, outputs, ["a y"] * 60, **options), "base", 200)["small"]["bleu"]
    assert 0 < found.score < 1e-18
    assert found.p_value == 1 / 201


def test_a_difference_that_is_as_large_but_for_rounding_counts_and_not_by_sacrebleus_rule():
    """Two of 60 segments are right. Of two resamples with a and b of them, (a - b) / 2 is compared with 2."""
    systems = counted(NgramOverlap, {"none": ["x"] * 60, "some": ["w"] * 2 + ["x"] * 58}, ["w"] * 60)
    ties = 0
    rows = np.stack([metric.segment_rows().numpy() for metric in systems.values()], 1)
    tested = pair_rows(systems["none"].scorer.measure, "macro", rows)
    for seed in range(200):
        (scores,) = resample_scores([tested], 2, seed)
        apart = round(60 * abs(scores[0, 1] - scores[1, 1]).item())
        ties += apart == 4
        (p_value,) = bootstrap_p_values(tested, scores, "sacrebleu")
        assert p_value.item() == pytest.approx((1 + (apart > 4)) / 3)
        # Both are (a - b) / 2 from their mean.
        (p_value,) = bootstrap_p_values(tested, scores)
        assert p_value.item() == pytest.approx(1 if apart == 0 else (1 + 2 * (apart >= 4)) / 3)
    assert ties > 5


def test_scores_that_are_equal_but_for_rounding_do_not_differ():
    """One system's segments in the other's order: their means differ in the last bit at most.

    With several references nobody can tell from the counts that the segments are others.
    """
    lines, targets = OUTPUTS["far"], [[reference, reference] for reference in REFERENCES]
    systems = {"base": ChrF(average="macro", confidence=0.95), "moved": ChrF(average="macro", confidence=0.95)}
    order = random.Random(5).sample(range(len(lines)), len(lines))
    systems["base"].update(lines, targets)
    systems["moved"].update([lines[index] for index in order], [targets[index] for index in order])
    for test in TESTS.values():
        assert test(systems, "base")["moved"]["chrf"].p_value == 1


def test_the_bootstrap_warns_of_few_segments_at_the_callers_line():
    few, enough = (counted(ChrF, {name: lines[:count] for name, lines in OUTPUTS.items()}) for count in (49, 50))
    with pytest.warns(UserWarning, match=r"^a bootstrap test needs at least 50 segments \(got: 49\)") as seen:
        paired_bootstrap(few, "base", 40)
    assert [warning.filename for warning in seen] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paired_bootstrap(enough, "base", 40)
        paired_approximate_randomization(few, "base", 10)
