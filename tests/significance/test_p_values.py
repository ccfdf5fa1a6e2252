"""Holm's correction of p-values for the number of comparisons."""

from typing import Any

import numpy as np
import oracles
import pytest
from paired import counted, each_test

from ngram_metrics import ROUGEScore
from ngram_metrics._core.scoring.paired import correct


def test_holms_correction_is_that_of_the_paper():
    """Worked by hand: .01 x 4, .02 x 3, then .03 x 2 and .04 x 1, which is raised to .06."""
    corrected = correct(np.array([0.04, 0.01, 0.03, 0.02]), "holm")
    assert corrected.tolist() == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert correct(np.array([0.9, 0.6]), "holm").tolist() == [1, 1]


@pytest.mark.parametrize("comparisons", [0, 1, 2, 7])
def test_holms_correction_is_that_of_a_loop_for_each_value(comparisons: int):
    chances = np.round(np.random.default_rng(comparisons).random((comparisons, 2, 3)), 1)  # with ties
    corrected = correct(chances, "holm")
    assert corrected.shape == chances.shape
    for index in np.ndindex(2, 3):
        column = (slice(None), *index)
        assert corrected[column].tolist() == pytest.approx(oracles.holm(chances[column].tolist()), abs=1e-15)


@each_test
def test_each_value_is_corrected_for_the_number_of_systems_without_the_baseline(test: Any):
    systems = counted(ROUGEScore, rouge_keys=("rouge1", "rougeL"))
    plain, corrected = (test(systems, "close", 400, correction=kind) for kind in (None, "holm"))
    others = ["base", "alike", "far"]
    for value in plain["base"]:
        expected = oracles.holm([plain[name][value].p_value for name in others])
        assert [corrected[name][value].p_value for name in others] == pytest.approx(expected, abs=1e-15)
        assert corrected["close"][value] == plain["close"][value]
        assert corrected["far"][value]._replace(p_value=None) == plain["far"][value]._replace(p_value=None)
    assert any(plain[name][value].p_value != corrected[name][value].p_value for name in others for value in plain[name])
