"""The options of a metric and their defaults are the same wherever it is called."""

import pytest
from metrics.apis import APIS, METRICS, Api, options

from ngram_metrics import ignite, pair

#: The defaults of ignite's own Bleu, for which ours is a drop-in.
OF_IGNITE = {"smooth": "no_smooth", "average": "macro", "effective_order": False, "tokenizer": None}

each_api = pytest.mark.parametrize("api", APIS.values(), ids=APIS)


@each_api
def test_a_metric_of_the_registry_has_a_class_for_each_framework_and_a_function(api: Api):
    make = api.row.make.__name__
    assert api.metric, f"add a class that calls {make} to _torchmetrics/metric_classes.py and ngram_metrics/__init__.py"
    assert api.function, f"add a function that calls {make} to functional/score_functions.py and functional/__init__.py"
    name = api.metric.__name__
    assert name in ignite.__all__, f"add {name} to ngram_metrics/ignite/__init__.py"
    assert (api.pair is None) == (api.name not in pair.__all__)


def test_every_class_and_every_function_of_pair_is_of_a_metric_of_the_registry():
    assert {api.metric.__name__ for api in APIS.values() if api.metric} == {*METRICS}
    assert {*pair.__all__} <= {*APIS}, "name a function of pair as its metric is named in the registry"


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
    if api.pair is not None:  # a pair has no average
        of_pair = {name: default for name, default in expected.items() if name != "average"}
        differing["pair.py"] = options(api.pair).items() ^ of_pair.items()
    assert {file: names for file, names in differing.items() if names} == {}, (
        f"give these the options of {api.row.make.__name__}"
    )
    if api.pair is not None:
        assert list(options(api.pair)) == [name for name in options(api.function) if name != "average"]
