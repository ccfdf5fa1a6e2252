"""What runs by default of a grid: few of its cases, in which everything occurs that occurs in any."""

from itertools import product

import pytest
from covering import covering

AXES = (["Bleu", "ChrF", "NgramOverlap", "ROUGEScore"], ["text", "ids"], ["micro", "macro", "none"])


@pytest.mark.parametrize("start", range(0, 24, 5))
def test_every_word_occurs_in_as_few_cases_as_the_longest_axis_has_values(start: int):
    ids = ["-".join(words) for words in product(*AXES)]
    chosen = covering(ids[start:] + ids[:start])
    assert len(chosen) == 4
    assert {word for one in chosen for word in one.split("-")} == {word for axis in AXES for word in axis}


def test_a_test_without_cases_runs():
    assert covering([""]) == {""}
