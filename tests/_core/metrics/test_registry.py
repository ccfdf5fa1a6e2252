"""A metric is one row of the registry: what it says is so."""

import importlib
import importlib.resources
import inspect
import re
import subprocess
import sys

import pytest

from ngram_metrics._cli.command_arguments import mbr_metrics, mbr_parser, score_parser
from ngram_metrics._core.metrics.registry import REGISTRY, make_metric, takers_of

TEXT_OPTIONS = {option for row in REGISTRY.values() for option in row.text_options}

TOKENIZERS = {
    name: inspect.signature(row.make).parameters["tokenizer"].default or "none"
    for name, row in REGISTRY.items()
    if "tokenizer" in row.text_options
}


@pytest.mark.parametrize("make_parser", [score_parser, mbr_parser])
def test_the_command_has_the_options_for_text_of_all_rows(make_parser):
    (group,) = [group for group in make_parser()._action_groups if group.title == "how text is read"]
    options = {action.dest for action in group._group_actions} - {"spm_model"}
    assert options == TEXT_OPTIONS, "add the option to add_options in ngram_metrics/_cli/shared_options.py"


@pytest.mark.parametrize("make_parser", [score_parser, mbr_parser])
def test_the_help_of_an_option_names_the_metrics_that_take_it(make_parser):
    parser = make_parser()
    parser.format_help()
    told = {action.dest: action.help for action in parser.text_actions}
    for option in TEXT_OPTIONS:
        assert [name for name in takers_of(option) if name not in re.split(r"[ ,;]+", told[option])] == []
    defaults = re.findall(r"(\S+) for (\w+)", told["tokenizer"].partition("default: ")[2])
    assert {name: default for default, name in defaults} == TOKENIZERS


@pytest.mark.parametrize("name", REGISTRY)
def test_a_row_says_what_the_metric_takes(name):
    metric = make_metric(name)
    for option in TEXT_OPTIONS:
        is_taken = make_metric(name, **{option: "char" if option == "tokenizer" else True}) != metric
        assert is_taken == (name in takers_of(option)), option


@pytest.mark.parametrize("name", [*REGISTRY, "rouge1", "rougeL", "rougeLsum"])
def test_a_metric_scores_pairs_if_mbr_decoding_lists_it(name):
    scorer = make_metric(name)
    try:
        scores_pairs = bool(scorer.measure.pair_orders)
    except ValueError:
        scores_pairs = False
    assert scores_pairs == (name in mbr_metrics())


def test_every_row_of_every_file_is_in_the_registry():
    files = importlib.resources.files("ngram_metrics._core.metrics").iterdir()
    modules = [f"ngram_metrics._core.metrics.{file.name[:-3]}" for file in files if file.name.endswith(".py")]
    rows = [row for module in modules for row in getattr(importlib.import_module(module), "ROWS", ())]
    assert sorted(row.title.lower() for row in rows) == sorted(REGISTRY)


HEAVY = "sorted({'torch', 'numpy', 'rapidfuzz', 'hashlib', 'importlib.metadata', 'difflib'} & {*sys.modules})"


def test_no_row_imports_torch_or_numpy():
    program = (
        f"import sys; from ngram_metrics._core.metrics.registry import REGISTRY; [*REGISTRY.values()]; print({HEAVY})"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_row_imports_the_file_of_its_metric_only():
    program = (
        "import sys; from ngram_metrics._core.metrics.registry import REGISTRY; REGISTRY['chrf++']; "
        "print(sorted(name for name in sys.modules if name.startswith('ngram_metrics._core.metrics.')))"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed == "['ngram_metrics._core.metrics.chrf', 'ngram_metrics._core.metrics.registry']\n"
