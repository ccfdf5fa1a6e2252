"""The digest of settings: no setting is forgotten, and a new one leaves saved states valid."""

import copy
from dataclasses import dataclass, fields

import pytest

from ngram_metrics._core.metrics.overlap import OverlapMeasure
from ngram_metrics._core.metrics.registry import REGISTRY, make_metric
from ngram_metrics._core.metrics.rouge import make_rouge
from ngram_metrics._core.scoring.settings_digest import describe, digest

SCORERS = {name: make_metric(name) for name in REGISTRY}
SCORERS["mean of references"] = make_rouge(accumulate="avg")


@pytest.mark.parametrize("name", SCORERS)
def test_every_setting_of_a_metric_is_in_its_digest_and_in_its_description(name):
    for part in (SCORERS[name].reader, SCORERS[name].measure):
        assert describe(part).keys() == {field.name for field in fields(part)}
        assert digest(copy.copy(part)) == digest(part)
        for field in fields(part):
            other = copy.copy(part)
            object.__setattr__(other, field.name, "another value")
            assert digest(other) != digest(part)
            assert describe(other)[field.name] == "'another value'"


def test_a_new_option_is_digested_when_it_is_used_and_not_before():
    @dataclass(frozen=True)
    class Folded(OverlapMeasure):
        fold: bool = False

    assert digest(Folded(3)) != digest(OverlapMeasure(3))  # another class
    Folded.__name__ = "OverlapMeasure"
    assert digest(Folded(3)) == digest(OverlapMeasure(3)) != digest(Folded(3, fold=True))
    assert describe(Folded(3)) == {"ngram": "3", "fold": "False"}
