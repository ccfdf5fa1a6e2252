"""A metric is one row of the registry: what it says is so."""

import importlib
import importlib.resources

import pytest

from ngram_metrics._cli.arguments import parse_arguments
from ngram_metrics._core.metrics.registry import REGISTRY, make_metric, takers_of

TEXT_OPTIONS = {option for row in REGISTRY.values() for option in row.text_options}


def test_the_command_has_the_options_for_text_of_all_rows():
    assert vars(parse_arguments(["a", "-r", "b"])).keys() >= TEXT_OPTIONS, (
        "add the option to ngram_metrics/_cli/arguments.py"
    )


@pytest.mark.parametrize("name", REGISTRY)
def test_a_row_says_what_the_metric_takes(name):
    metric = make_metric(name)
    for option in TEXT_OPTIONS:
        is_taken = make_metric(name, **{option: "char" if option.endswith("tokenizer") else True}) != metric
        assert is_taken == (name in takers_of(option)), option


def test_every_entry_of_every_file_is_in_the_registry():
    files = importlib.resources.files("ngram_metrics._core.metrics").iterdir()
    modules = [f"ngram_metrics._core.metrics.{file.name[:-3]}" for file in files if file.name.endswith(".py")]
    entries = [entry for module in modules for entry in getattr(importlib.import_module(module), "ENTRIES", ())]
    assert sorted(entry.title.lower() for entry in entries) == sorted(REGISTRY)
