"""A version of torchmetrics that was not out when the package was made."""

import importlib
import warnings

import pytest
import torchmetrics

import ngram_metrics._torchmetrics
from ngram_metrics import Bleu


@pytest.mark.parametrize(
    ("version", "warns"),
    [("1.9.0", False), ("1.9.3", False), ("1.6.2", False), ("1.10.0", True), ("2.0.0rc1", True), ("unknown", False)],
)
def test_a_newer_torchmetrics_gets_one_warning(monkeypatch, version, warns):
    monkeypatch.setattr(torchmetrics, "__version__", version)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        importlib.reload(ngram_metrics._torchmetrics)
        Bleu().update(["a"], ["a"])
    assert [version in str(warning.message) for warning in caught] == [True] * warns
