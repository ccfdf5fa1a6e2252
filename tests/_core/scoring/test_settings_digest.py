"""The digest of settings: no setting is forgotten, and a new one leaves saved states valid."""

from dataclasses import MISSING, dataclass, fields

import pytest

from ngram_metrics._core.metrics.gleu import GleuMeasure
from ngram_metrics._core.metrics.registry import REGISTRY, make_metric
from ngram_metrics._core.metrics.rouge import make_rouge
from ngram_metrics._core.scoring import settings_digest
from ngram_metrics._core.scoring.settings_digest import describe, digest

SCORERS = {name: make_metric(name) for name in REGISTRY}
SCORERS["mean of references"] = make_rouge(accumulate="avg")


@pytest.mark.parametrize("name", SCORERS)
def test_every_setting_of_a_metric_is_in_its_digest_or_has_a_default(name):
    for part in (SCORERS[name].reader, SCORERS[name].measure):
        row = settings_digest._DIGESTED.get(type(part))
        assert row, f"add a row to ngram_metrics/_core/scoring/settings_digest.py for {type(part).__name__}"
        _, always = row
        names = {field.name: field.default is not MISSING for field in fields(part)}
        assert set(always) <= set(names)
        assert all(has_default for setting, has_default in names.items() if setting not in always)


@dataclass(frozen=True)
class FoldedGleu(GleuMeasure):
    """GLEU with an option that the table does not list."""

    fold: bool = False


def test_a_new_option_is_digested_when_it_is_used_and_not_before(monkeypatch):
    row = settings_digest._DIGESTED[GleuMeasure]
    monkeypatch.setattr(settings_digest, "_DIGESTED", {**settings_digest._DIGESTED, FoldedGleu: row})
    assert digest(FoldedGleu(3)) == digest(GleuMeasure(3)) != digest(FoldedGleu(3, fold=True))
    assert describe(FoldedGleu(3)) == {"ngram": "3"}
    assert describe(FoldedGleu(3, fold=True)) == {"ngram": "3", "fold": "True"}


def test_a_measure_that_the_table_does_not_know_is_digested_with_all_its_settings():
    assert digest(FoldedGleu(3)) != digest(FoldedGleu(3, fold=True)) != digest(GleuMeasure(3))
    assert describe(FoldedGleu(3)) == {"ngram": "3", "fold": "False"}
