"""A metric is one row of the registry: what it says is so."""

import subprocess
import sys

import pytest

from ngram_metrics.cli.command_arguments import MBR_METRICS
from ngram_metrics.metric.definitions import make_metric
from ngram_metrics.metric.registry import REGISTRY, takers_of


@pytest.mark.parametrize("name", REGISTRY)
def test_a_row_says_what_the_metric_takes(name):
    row = REGISTRY[name]
    metric = make_metric(name)
    assert metric.measure.has_references == row.needs_references
    assert metric.average == row.average
    for option, value in {"tokenizer": "char", "lowercase": True, "chrf_lowercase": True, "stem": True}.items():
        is_taken = make_metric(name, **{option: value}) != metric
        assert is_taken == (name in takers_of(option)), option


@pytest.mark.parametrize("name", [*REGISTRY, "rouge1", "rougeL", "rougeLsum"])
def test_a_metric_scores_pairs_if_mbr_decoding_lists_it(name):
    scorer = make_metric(name)
    try:
        scores_pairs = bool(scorer.measure.pair_orders) and scorer.measure.higher_is_better
    except ValueError:
        scores_pairs = False
    assert scores_pairs == (name in MBR_METRICS)


def test_the_registry_imports_neither_torch_nor_numpy():
    program = "import sys, ngram_metrics.metric.registry; print(sorted({'torch', 'numpy'} & {*sys.modules}))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"
