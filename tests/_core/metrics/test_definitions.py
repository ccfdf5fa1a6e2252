"""The options of a metric and their defaults are the same wherever it is called."""

import pytest
from metrics.apis import APIS, METRICS, Api, options

from ngram_metrics import ignite

#: The defaults of ignite's own Bleu, for which ours is a drop-in.
OF_IGNITE = {"smooth": "no_smooth", "average": "macro", "effective_order": False, "tokenizer": None}

each_api = pytest.mark.parametrize("api", APIS.values(), ids=APIS)


@each_api
def test_a_metric_of_the_registry_has_a_class_for_each_framework_and_a_function(api: Api):
    make = api.entry.make.__name__
    assert api.metric, f"add a class that calls {make} to _torchmetrics/metric_classes.py and ngram_metrics/__init__.py"
    assert api.function, f"add a function that calls {make} to functional/score_functions.py and functional/__init__.py"
    name = api.metric.__name__
    assert name in ignite.__all__, f"add {name} to ngram_metrics/ignite/__init__.py"


def test_every_class_is_of_a_metric_of_the_registry():
    assert {api.metric.__name__ for api in APIS.values() if api.metric} == {*METRICS}


@each_api
def test_every_api_has_the_options_and_the_defaults_of_the_function_that_makes_the_metric(api: Api):
    expected = api.options
    of_ignite = getattr(ignite, api.metric.__name__)
    drop_in = OF_IGNITE if of_ignite is ignite.Bleu else {}
    differing = {
        "_torchmetrics/metric_classes.py": options(api.metric).items() ^ expected.items(),
        "functional/score_functions.py": options(api.function).items() ^ expected.items(),
        "ignite/__init__.py": options(of_ignite).items() ^ (expected | drop_in).items(),
    }
    assert {file: names for file, names in differing.items() if names} == {}, (
        f"give these the options of {api.entry.make.__name__}"
    )
