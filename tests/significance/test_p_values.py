"""Holm's correction of p-values for the number of comparisons."""

import numpy as np
import oracles
import pytest
import torch

from ngram_metrics.significance import p_values


def test_holms_correction_is_that_of_the_paper():
    """Worked by hand: .01 x 4, .02 x 3, then .03 x 2 and .04 x 1, which is raised to .06."""
    corrected = p_values.holm(torch.tensor([0.04, 0.01, 0.03, 0.02], dtype=torch.float64))
    assert corrected.tolist() == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert p_values.holm(torch.tensor([0.9, 0.6], dtype=torch.float64)).tolist() == [1, 1]


@pytest.mark.parametrize("comparisons", [0, 1, 2, 7])
def test_holms_correction_is_that_of_a_loop_for_each_value(comparisons: int):
    chances = np.round(np.random.default_rng(comparisons).random((comparisons, 2, 3)), 1)  # with ties
    corrected = p_values.holm(torch.from_numpy(chances)).numpy()
    assert corrected.shape == chances.shape
    for index in np.ndindex(2, 3):
        column = (slice(None), *index)
        assert corrected[column].tolist() == pytest.approx(oracles.holm(chances[column].tolist()), abs=1e-15)
