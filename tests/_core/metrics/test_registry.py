"""A metric is one row of the registry: its options and defaults are the same wherever it is called."""

import importlib
import importlib.resources
import inspect
from types import ModuleType

import pytest
from metrics.apis import APIS, Api, options
from metrics.cases import CASES
from torchmetrics import Metric

import ngram_metrics
from ngram_metrics._cli.arguments import parse_arguments
from ngram_metrics._core.metrics.registry import REGISTRY, make_metric, takers_of
from ngram_metrics._core.text.rouge_reader import SentenceSeparator

TEXT_OPTIONS = {option for row in REGISTRY.values() for option in row.text_options}


def test_the_command_has_the_options_for_text_of_all_rows():
    assert vars(parse_arguments(["a", "-r", "b"])).keys() >= TEXT_OPTIONS, (
        "add the option to ngram_metrics/_cli/arguments.py"
    )


@pytest.mark.parametrize("name", REGISTRY)
def test_a_row_says_what_the_metric_takes(name):
    metric = make_metric(name)
    settings = {"tokenizer": "char", "rouge_tokenizer": "char", "sentence_separator": SentenceSeparator("<q>")}
    for option in TEXT_OPTIONS:
        is_taken = make_metric(name, **{option: settings.get(option, True)}) != metric
        assert is_taken == (name in takers_of(option)), option


def test_every_entry_of_every_file_is_in_the_registry():
    files = importlib.resources.files("ngram_metrics._core.metrics").iterdir()
    modules = [f"ngram_metrics._core.metrics.{file.name[:-3]}" for file in files if file.name.endswith(".py")]
    entries = [entry for module in modules for entry in getattr(importlib.import_module(module), "ENTRIES", ())]
    assert sorted(entry.title.lower() for entry in entries) == sorted(REGISTRY)


each_api = pytest.mark.parametrize("api", APIS.values(), ids=APIS)


def test_every_public_metric_class_is_in_the_table_of_the_tests():
    public = {name: getattr(ngram_metrics, name) for name in ngram_metrics.__all__}
    classes = {name for name, value in public.items() if isinstance(value, type) and issubclass(value, Metric)}
    in_table = {api.metric.__name__ for api in APIS.values()}
    assert in_table == classes - {"GroupedMetric"}, "add a line to tests/support/metrics/apis.py"


def test_every_metric_of_the_registry_is_in_the_table_of_the_tests():
    names = {name for name, entry in REGISTRY.items() if not entry.options}  # chrF++ is chrF with an option
    assert {*APIS} == names, (
        "add a class to _torchmetrics/metric_classes.py and ngram_metrics/__init__.py, a function to "
        "functional/score_functions.py and functional/__init__.py, and a line to tests/support/metrics/apis.py"
    )


@each_api
def test_every_class_has_cases_that_run_by_default(api: Api):
    averages = [case.by_default for case in CASES if case.metric is api.metric]
    assert any(averages), "add a row to tests/support/metrics/cases.py"


def test_every_average_runs_by_default():
    assert {average for case in CASES for average in case.by_default} == {"micro", "macro", "none"}


@each_api
def test_a_class_scores_with_the_scorer_of_its_metric(api: Api):
    assert api.metric().scorer == api.entry.make()


@each_api
def test_a_metric_of_the_registry_has_a_class_for_ignite(api: Api, ignite_classes: ModuleType):
    name = api.metric.__name__
    assert name in ignite_classes.__all__, f"add {name} to ngram_metrics/ignite/__init__.py"


@each_api
def test_every_api_has_the_options_and_the_defaults_of_the_function_that_makes_the_metric(api: Api):
    expected = api.options
    differing = {
        "_torchmetrics/metric_classes.py": options(api.metric).items() ^ expected.items(),
        "functional/score_functions.py": options(api.function).items() ^ expected.items(),
    }
    assert {file: names for file, names in differing.items() if names} == {}, (
        f"give these the options of {api.entry.make.__name__}"
    )


@each_api
def test_a_class_of_ignite_has_the_options_of_the_function_that_makes_the_metric(api: Api, ignite_classes: ModuleType):
    of_ignite = getattr(ignite_classes, api.metric.__name__)
    assert options(of_ignite) == api.options


@each_api
def test_the_types_of_the_options_are_those_of_the_function_that_makes_the_metric(api: Api):
    """They are what mypy knows of a class of ignite."""
    module = importlib.import_module(api.entry.make.__module__)
    (types,) = [value for name, value in vars(module).items() if name.endswith("Options")]
    parameters = inspect.signature(api.entry.make).parameters.values()
    expected = {parameter.name: parameter.annotation for parameter in parameters}
    assert {name: annotation.__forward_arg__ for name, annotation in types.__annotations__.items()} == expected


@each_api
def test_no_option_of_the_function_that_makes_the_metric_is_passed_by_position(api: Api):
    kinds = {parameter.kind for parameter in inspect.signature(api.entry.make).parameters.values()}
    assert kinds == {inspect.Parameter.KEYWORD_ONLY}
