"""A metric is one row of the registry: what it says is so."""

import re
import subprocess
import sys

import pytest

from ngram_metrics.cli.command_arguments import MBR_METRICS, mbr_parser, score_parser
from ngram_metrics.metric.definitions import make_metric
from ngram_metrics.metric.registry import REGISTRY, TEXT_OPTIONS, takers_of


@pytest.mark.parametrize("make_parser", [score_parser, mbr_parser])
def test_the_command_has_the_options_for_text_of_all_rows(make_parser):
    (group,) = [group for group in make_parser()._action_groups if group.title == "how text is read"]
    options = {action.dest for action in group._group_actions} - {"spm_model"}
    assert options == {*TEXT_OPTIONS}, "add the option to add_options in ngram_metrics/cli/shared_options.py"
    told = {action.dest: action.help for action in group._group_actions}
    for option in TEXT_OPTIONS:
        assert [name for name in takers_of(option) if name not in re.split(r"[ ,;]+", told[option])] == []
    for name in takers_of("tokenizer"):
        assert f"{REGISTRY[name].tokenizer or 'none'} for {name}" in told["tokenizer"]


@pytest.mark.parametrize("name", REGISTRY)
def test_a_row_says_what_the_metric_takes(name):
    row = REGISTRY[name]
    metric = make_metric(name)
    assert metric.measure.has_references == row.needs_references
    assert metric.average == row.average
    assert getattr(metric.reader, "tokenizer", None) == row.tokenizer
    for option in TEXT_OPTIONS:
        is_taken = make_metric(name, **{option: "char" if option == "tokenizer" else True}) != metric
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
