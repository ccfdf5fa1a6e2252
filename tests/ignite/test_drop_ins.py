"""The drop-ins Bleu, Rouge, RougeN and RougeL behave as ignite's own classes, but read a str as text."""

import inspect
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from metrics.cases import IDS, IGNORED, PADDING, TEXT, Batch, assert_same

from ngram_metrics._core.metrics.bleu import SMOOTHINGS

pytest.importorskip("ignite", reason="the classes for ignite are tested")

import ignite
from ignite.engine import Engine
from ignite.metrics import nlp as peers

from ngram_metrics.ignite import drop_in as ours

not_old = pytest.mark.skipif(
    tuple(map(int, ignite.__version__.split(".")[:3])) < (0, 5, 5), reason="ignite before 0.5.5 says it in other words"
)
ROUGE = ["Rouge", "RougeN", "RougeL"]
ALPHAS = [0, 0.3, 0.5, 1]
#: TEXT in the form that ignite takes: tokens, and a list of references for each segment.
TOKENS: tuple[Batch, ...] = tuple(
    (
        [hypothesis.split() for hypothesis in preds],
        [[reference.split() for reference in references] for references in target],
    )
    for preds, target in TEXT
)
documents = st.lists(st.sampled_from("abc"), max_size=8)
drawn_batches = st.lists(st.tuples(documents, st.lists(documents, min_size=1, max_size=3)), min_size=1, max_size=4)
#: Each class under settings that both packages have.
SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("Bleu", {"ngram": 2, "smooth": "smooth1"}),
    ("Bleu", {"ngram": 2, "average": "micro"}),
    ("Rouge", {"multiref": "best"}),
    ("Rouge", {"alpha": 0.5}),
    ("RougeN", {"ngram": 2}),
    ("RougeN", {"ngram": 1, "multiref": "best"}),
    ("RougeL", {}),
    ("RougeL", {"multiref": "best"}),
]
each_setting = pytest.mark.parametrize(("name", "options"), SETTINGS, ids=str)
each_class = pytest.mark.parametrize("name", ["Bleu", *ROUGE])
each_multiref = pytest.mark.parametrize("multiref", ["average", "best"])


def _error_of(call: Callable[[], Any]) -> tuple[type, str]:
    """The type and the words of the error that a call raises."""
    try:
        call()
    except Exception as error:
        return type(error), str(error)
    raise AssertionError("expected an error")


def _both(name: str, **options: Any) -> tuple[Any, Any]:
    return getattr(ours, name)(**options), getattr(peers, name)(**options)


def _value(metric: Any, batches: Sequence[Any]) -> Any:
    for batch in batches:
        metric.update(batch)
    return metric.compute()


def _run(metric: Any, batches: Sequence[Any], **attach: Any) -> dict[str, Any]:
    engine = Engine(lambda engine, batch: batch)
    metric.attach(engine, "value", **attach)
    return dict(engine.run(batches, max_epochs=2).metrics)


def _same(mine: Any, theirs: Any) -> None:
    if isinstance(theirs, dict):
        assert list(mine) == list(theirs)
        assert mine == pytest.approx(dict(theirs), rel=0, abs=1e-12)
    else:  # ignite divides in float32 where nothing is smoothed
        assert float(mine) == pytest.approx(float(theirs), rel=1e-6, abs=1e-12)


def _without_padding(rows: list[Any], make: Callable[[list[int]], Any]) -> Any:
    """Rows of ids, however nested, without the ids of padding, and without rows that are nothing but padding."""
    if isinstance(rows[0], int):
        return make([token for token in rows if token not in (PADDING, IGNORED)])
    inner = [_without_padding(row, make) for row in rows]
    return [row for row in inner if len(row) > 0]


# The constructor


def _parameters(package: ModuleType, name: str) -> list[inspect.Parameter]:
    return list(inspect.signature(getattr(package, name)).parameters.values())


@each_class
def test_the_parameters_begin_with_those_of_ignite(name: str):
    of_ignite = [(parameter.name, parameter.kind) for parameter in _parameters(peers, name)]
    of_ours = [(parameter.name, parameter.kind) for parameter in _parameters(ours, name)]
    assert of_ours[: len(of_ignite)] == of_ignite


@each_class
def test_the_defaults_are_those_of_ignite(name: str):
    defaults = {parameter.name: parameter.default for parameter in _parameters(ours, name)}
    for parameter in _parameters(peers, name):
        if parameter.name == "output_transform":  # a function of each package, which returns what it is given
            assert defaults["output_transform"]("anything") == "anything"
        else:
            assert defaults[parameter.name] == parameter.default


@each_class
def test_parameters_that_ignite_does_not_have_are_keywords(name: str):
    added = _parameters(ours, name)[len(_parameters(peers, name)) :]
    assert {parameter.kind for parameter in added} == {inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize("name", ROUGE)
def test_rouge_has_three_parameters_that_ignite_does_not_have(name: str):
    added = _parameters(ours, name)[len(_parameters(peers, name)) :]
    assert [parameter.name for parameter in added] == ["pad_id", "tokenizer", "metrics_result_mode"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Bleu", {"ngram": 0}),
        ("Bleu", {"ngram": -1}),
        ("Bleu", {"ngram": 0, "smooth": "unknown", "average": "unknown"}),
        ("Bleu", {"device": "unknown"}),
        *[(name, {"alpha": alpha}) for name in ROUGE for alpha in (-0.1, 1.5, float("nan"))],
        *[(name, {"multiref": multiref}) for name in ROUGE for multiref in ("mean", None)],
        *[(name, {"alpha": 2, "multiref": "mean"}) for name in ROUGE],
        *[pytest.param(name, {"output_transform": 1}, marks=not_old) for name in ("Bleu", *ROUGE)],
        ("RougeN", {"ngram": 0}),
        ("RougeN", {"ngram": -3}),
        ("RougeN", {"ngram": 0, "multiref": "mean"}),
        *[("Rouge", {"variants": some}) for some in ([0], ["L", -1], ["l"], [1, "Lsum"], [1.5], [None], "Lsum")],
        ("Rouge", {"variants": ["L", "x"], "alpha": 2}),
    ],
    ids=str,
)
def test_wrong_arguments_get_the_words_of_ignite(name: str, arguments: dict[str, Any]):
    assert _error_of(lambda: getattr(ours, name)(**arguments)) == _error_of(lambda: getattr(peers, name)(**arguments))


@pytest.mark.parametrize("name", ROUGE)
def test_an_alpha_that_is_no_number_is_a_type_error_that_says_so(name: str):
    with pytest.raises(TypeError, match=r"^alpha must be a number in interval \[0, 1\] \(got : 'a'\)$"):
        getattr(ours, name)(alpha="a")


@pytest.mark.parametrize(
    "arguments", [{"smooth": "unknown"}, {"smooth": None}, {"smooth": "x", "average": "x"}], ids=str
)
def test_an_unknown_smoothing_gets_the_words_of_ignite_and_more_names(arguments: dict[str, Any]):
    """The smoothing is checked before the average. The message lists the names, and ends in the value."""
    kind, words = _error_of(lambda: ours.Bleu(**arguments))
    kind_of_ignite, words_of_ignite = _error_of(lambda: peers.Bleu(**arguments))
    names, found = words_of_ignite.split("], got: ")
    assert kind is kind_of_ignite
    assert words.startswith(f"{names}, ")
    assert words.endswith(f"], got: {found}")
    assert all(smooth in words for smooth in SMOOTHINGS)


@pytest.mark.parametrize(
    "arguments", [{"average": "unknown"}, {"average": None}, {"average": "x", "output_transform": 1}], ids=str
)
def test_the_error_of_an_unknown_average_lists_the_averages(arguments: dict[str, Any]):
    """The words are not ignite's, which has no average none."""
    kind, words = _error_of(lambda: ours.Bleu(**arguments))
    kind_of_ignite, _ = _error_of(lambda: peers.Bleu(**arguments))
    assert kind is kind_of_ignite
    assert words.startswith(f"unknown average {arguments['average']!r}: expected one of ['micro', 'macro', 'none']")


# Values


@each_multiref
@given(st.sampled_from(ALPHAS), st.lists(drawn_batches, min_size=1, max_size=2))
def test_rouge_is_that_of_ignite(multiref: str, alpha: float, drawn: Any):
    batched = [([hypothesis for hypothesis, _ in batch], [references for _, references in batch]) for batch in drawn]
    for name, options in (("Rouge", {"variants": ["L", 1, 2, 4]}), ("RougeN", {"ngram": 3}), ("RougeL", {})):
        mine, theirs = _both(name, multiref=multiref, alpha=alpha, **options)
        _same(_value(mine, batched), _value(theirs, batched))


@each_multiref
@pytest.mark.parametrize(
    "variants", [None, [], ["L"], [1], [2, "L", 1], ("L", 9, 3), [1, 1, "L", "L"], [12], "L"], ids=str
)
def test_every_choice_of_variants_gives_the_keys_of_ignite_in_its_order(variants: Any, multiref: str):
    mine, theirs = _both("Rouge", variants=variants, multiref=multiref)
    _same(_value(mine, TOKENS), _value(theirs, TOKENS))


def test_rouge_computes_a_dict_of_floats():
    value = _value(ours.Rouge(), TOKENS)
    assert type(value) is dict
    assert {type(score) for score in value.values()} == {float}


@each_setting
def test_a_str_is_text(name: str, options: dict[str, Any]):
    """The one deliberate difference: ignite reads a str as its characters."""
    make = getattr(ours, name)
    assert_same(_value(make(**options), TEXT), _value(make(**options), TOKENS))


@each_setting
def test_with_tokenizer_equal_to_list_a_str_is_read_as_in_ignite(name: str, options: dict[str, Any]):
    mine = getattr(ours, name)(tokenizer=list, **options)
    theirs = getattr(peers, name)(**options)
    _same(_value(mine, TEXT), _value(theirs, TEXT))


@each_setting
def test_a_bare_str_is_a_batch_of_one_segment(name: str, options: dict[str, Any]):
    text = "the cat sat on the mat"
    alone = _value(getattr(ours, name)(**options), [(text, [text, "x"])])
    assert_same(alone, _value(getattr(ours, name)(**options), [([text], [[text, "x"]])]))


def test_text_is_split_at_blanks_and_not_changed():
    """Unlike ROUGEScore: ignite neither lowercases nor drops punctuation."""
    batches = [(["The cat."], [["the cat ."]])]
    assert _value(ours.RougeN(1), batches)["Rouge-1-R"] == 0
    assert _value(ours.RougeN(1, tokenizer="13a"), batches)["Rouge-1-R"] == pytest.approx(2 / 3)


@each_setting
@pytest.mark.parametrize("make", [list, torch.tensor])
def test_ids_without_padding_count_as_their_tokens(name: str, options: dict[str, Any], make: Callable[..., Any]):
    batches = [tuple(_without_padding(side.tolist(), make) for side in batch) for batch in IDS]
    _same(_value(getattr(ours, name)(**options), batches), _value(getattr(peers, name)(**options), TOKENS))


@each_setting
def test_padded_ids_count_as_their_tokens(name: str, options: dict[str, Any]):
    mine = getattr(ours, name)(pad_id=(PADDING, IGNORED), **options)
    _same(_value(mine, IDS), _value(getattr(peers, name)(**options), TOKENS))


# The life of a metric


Y_PRED, Y = TOKENS[0]
#: More hypotheses than references, fewer, and none of either.
each_unequal_batch = pytest.mark.parametrize(
    "batch", [(Y_PRED, Y[:1]), (Y_PRED[:1], Y), ([], Y), (Y_PRED, [])], ids=["2 and 1", "1 and 2", "0 and 2", "2 and 0"]
)


@each_unequal_batch
def test_unequal_numbers_get_the_words_of_ignite(batch: Batch):
    mine, theirs = _both("Bleu", average="micro")
    assert _error_of(lambda: mine.update(batch)) == _error_of(lambda: theirs.update(batch))


@each_unequal_batch
@each_class
def test_unequal_numbers_are_refused_by_every_class(batch: Batch, name: str):
    of_ignite = peers.Bleu(average="micro")  # the only class of ignite that does not drop the rest in silence
    metric = getattr(ours, name)()
    assert _error_of(lambda: metric.update(batch)) == _error_of(lambda: of_ignite.update(batch))


@each_setting
def test_the_metrics_of_an_engine_have_ignites_keys_and_values(name: str, options: dict[str, Any]):
    mine, theirs = _both(name, **options)
    values = _run(mine, TOKENS)
    of_ignite = _run(theirs, TOKENS)
    assert list(values) == list(of_ignite)
    # A dict is there as a whole, and each of its values by itself.
    _same(values.pop("value"), of_ignite.pop("value"))
    _same(values, of_ignite)


@each_setting
def test_an_output_may_be_a_dict_of_y_pred_and_y(name: str, options: dict[str, Any]):
    mine, theirs = _both(name, **options)
    named = [{"y_pred": y_pred, "y": y} for y_pred, y in TOKENS]
    _same(_run(mine, named)["value"], _run(theirs, named)["value"])


@pytest.mark.parametrize("side", ["y", "y_pred"])
def test_an_output_that_lacks_a_side_gets_the_words_of_ignite(side: str):
    mine, theirs = _both("Bleu")
    output = {side: Y_PRED}
    assert _error_of(lambda: _run(mine, [output])) == _error_of(lambda: _run(theirs, [output]))


@pytest.mark.parametrize("usage", ["unknown", 1])
def test_an_unknown_usage_gets_the_words_of_ignite(usage: Any):
    mine, theirs = _both("Bleu")
    assert _error_of(lambda: _run(mine, TOKENS, usage=usage)) == _error_of(lambda: _run(theirs, TOKENS, usage=usage))


@pytest.mark.parametrize("name", ["Bleu", "RougeN", "RougeL"])  # ignite's Rouge keeps metrics in a dict of its own
@pytest.mark.parametrize("saved", [1, [1], {}, {"a": 1}, {"a": 1, "b": 2}], ids=str)
def test_what_is_no_saved_state_gets_the_words_of_ignite(name: str, saved: Any):
    mine, theirs = _both(name)
    assert _error_of(lambda: mine.load_state_dict(saved)) == _error_of(lambda: theirs.load_state_dict(saved))
