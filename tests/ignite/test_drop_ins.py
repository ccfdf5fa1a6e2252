"""Bleu, Rouge, RougeN and RougeL are drop-ins: what ignite's own do, they do, but for a str, which is text."""

import functools
import inspect
from collections.abc import Callable, Sequence
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
batches = st.lists(st.tuples(documents, st.lists(documents, min_size=1, max_size=3)), min_size=1, max_size=4)
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


def _error(call: Callable[[], Any]) -> tuple[type, str]:
    try:
        call()
    except Exception as error:
        return type(error), str(error)
    raise AssertionError("expected an error")


def _both(name: str, **options: Any) -> tuple[Any, Any]:
    return getattr(ours, name)(**options), getattr(peers, name)(**options)


def _errors(call: Callable[[Any], Any], *both: Any) -> list[tuple[type, str]]:
    """The errors of a call with ours and with ignite's."""
    return [_error(functools.partial(call, one)) for one in both]


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


def _kept(rows: list[Any], make: Callable[[list[int]], Any]) -> Any:
    """Rows without their padding, and without those of padding alone."""
    if isinstance(rows[0], int):
        return make([row for row in rows if row > 0])
    return [kept for kept in (_kept(row, make) for row in rows) if len(kept)]


# The constructor


@each_class
def test_the_parameters_begin_with_those_of_ignite(name: str):
    mine, theirs = (list(inspect.signature(getattr(package, name)).parameters.values()) for package in (ours, peers))
    for parameter, peer in zip(mine, theirs, strict=False):
        assert (parameter.name, parameter.kind) == (peer.name, peer.kind)
        if peer.name == "output_transform":
            assert parameter.default("anything") == "anything"
        else:
            assert parameter.default == peer.default
    rest = mine[len(theirs) :]
    first, second, *of_bleu, last = (parameter.name for parameter in rest)
    assert (first, second, last) == ("pad_id", "tokenizer", "metrics_result_mode")
    assert name == "Bleu" or of_bleu == []
    assert {parameter.kind for parameter in rest} == {inspect.Parameter.KEYWORD_ONLY}


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
    mine, theirs = _errors(lambda module: getattr(module, name)(**arguments), ours, peers)
    assert mine == theirs


@pytest.mark.parametrize("name", ROUGE)
def test_an_alpha_that_is_no_number_is_an_error_in_words(name: str):
    with pytest.raises(TypeError, match=r"^alpha must be a number in interval \[0, 1\] \(got : 'a'\)$"):
        getattr(ours, name)(alpha="a")


@pytest.mark.parametrize(
    "arguments", [{"smooth": "unknown"}, {"smooth": None}, {"smooth": "x", "average": "x"}], ids=str
)
def test_an_unknown_smoothing_gets_the_words_of_ignite_and_more_names(arguments: dict[str, Any]):
    """It is looked at before the average, as in ignite."""
    (mine, words), (theirs, of_ignite) = _errors(lambda module: module.Bleu(**arguments), ours, peers)
    names, found = of_ignite.split("], got: ")
    assert mine is theirs
    assert words.startswith(f"{names}, ")
    assert words.endswith(f"], got: {found}")
    assert all(smooth in words for smooth in SMOOTHINGS)


@pytest.mark.parametrize(
    "arguments", [{"average": "unknown"}, {"average": None}, {"average": "x", "output_transform": 1}], ids=str
)
def test_an_unknown_average_is_told_the_averages_that_there_are(arguments: dict[str, Any]):
    """ignite has no average none, and says so where ours takes it."""
    (mine, words), (theirs, _) = _errors(lambda module: module.Bleu(**arguments), ours, peers)
    assert mine is theirs
    assert words.startswith(f"unknown average {arguments['average']!r}: expected one of ['micro', 'macro', 'none']")


# Values


@each_multiref
@given(st.sampled_from(ALPHAS), st.lists(batches, min_size=1, max_size=2))
def test_rouge_is_that_of_ignite(multiref: str, alpha: float, several: Any):
    batched = [([hypothesis for hypothesis, _ in batch], [references for _, references in batch]) for batch in several]
    for name, options in (("Rouge", {"variants": ["L", 1, 2, 4]}), ("RougeN", {"ngram": 3}), ("RougeL", {})):
        mine, theirs = (_value(metric, batched) for metric in _both(name, multiref=multiref, alpha=alpha, **options))
        _same(mine, theirs)


@each_multiref
@pytest.mark.parametrize(
    "variants", [None, [], ["L"], [1], [2, "L", 1], ("L", 9, 3), [1, 1, "L", "L"], [12], "L"], ids=str
)
def test_every_choice_of_variants_gives_the_keys_of_ignite_in_its_order(variants: Any, multiref: str):
    mine, theirs = (_value(metric, TOKENS) for metric in _both("Rouge", variants=variants, multiref=multiref))
    _same(mine, theirs)
    assert type(mine) is dict
    assert {type(value) for value in mine.values()} == {float}


@each_setting
def test_a_str_is_text(name: str, options: dict[str, Any]):
    """The one deliberate difference: ignite reads a str as its characters."""
    make = getattr(ours, name)
    assert_same(_value(make(**options), TEXT), _value(make(**options), TOKENS))
    _same(_value(make(tokenizer=list, **options), TEXT), _value(getattr(peers, name)(**options), TEXT))
    segment = "the cat sat on the mat"
    value = _value(make(**options), [(segment, [segment, "x"])])
    assert (max(value.values()) if isinstance(value, dict) else value) > 0


def test_text_is_split_at_blanks_and_not_changed():
    """Unlike ROUGEScore: ignite neither lowercases nor drops punctuation."""
    batches = [(["The cat."], [["the cat ."]])]
    assert _value(ours.RougeN(1), batches)["Rouge-1-R"] == 0
    assert _value(ours.RougeN(1, tokenizer="13a"), batches)["Rouge-1-R"] == pytest.approx(2 / 3)


@each_setting
def test_ids_count_as_their_tokens_in_every_form(name: str, options: dict[str, Any]):
    expected = _value(getattr(peers, name)(**options), TOKENS)
    for make in (list, torch.tensor):
        form = [tuple(_kept(side.tolist(), make) for side in batch) for batch in IDS]
        _same(_value(getattr(ours, name)(**options), form), expected)
    _same(_value(getattr(ours, name)(pad_id=(PADDING, IGNORED), **options), IDS), expected)


# The life of a metric


def test_unequal_numbers_get_the_words_of_ignite():
    """ignite says so for micro Bleu alone; elsewhere it is silent and drops the rest."""
    y_pred, y = TOKENS[0]
    for batch in [(y_pred, y[:1]), (y_pred[:1], y), ([], y), (y_pred, [])]:
        mine, theirs = _errors(lambda metric, batch=batch: metric.update(batch), *_both("Bleu", average="micro"))
        assert mine == theirs
        for name in ("Bleu", *ROUGE):
            assert _error(lambda name=name, batch=batch: getattr(ours, name)().update(batch)) == theirs


@each_setting
def test_an_engine_holds_what_it_holds_of_ignites(name: str, options: dict[str, Any]):
    mine, theirs = (_run(metric, TOKENS) for metric in _both(name, **options))
    assert list(mine) == list(theirs)
    _same(mine.pop("value"), theirs.pop("value"))
    _same(mine, theirs)
    named = [{"y_pred": y_pred, "y": y} for y_pred, y in TOKENS]
    _same(*(_run(metric, named)["value"] for metric in _both(name, **options)))


@pytest.mark.parametrize(
    ("name", "call"),
    [
        # A side that an output lacks, a usage that there is not, and what is no saved state.
        *(("Bleu", lambda metric, side=side: _run(metric, [{side: TOKENS[0][0]}])) for side in ("y", "y_pred")),
        *(("Bleu", lambda metric, usage=usage: _run(metric, TOKENS, usage=usage)) for usage in ("unknown", 1)),
        *(
            (name, lambda metric, saved=saved: metric.load_state_dict(saved))
            for name in ("Bleu", "RougeN", "RougeL")  # ignite's Rouge keeps metrics in a dict of its own
            for saved in (1, [1], {}, {"a": 1}, {"a": 1, "b": 2})
        ),
    ],
)
def test_a_wrong_call_gets_the_words_of_ignite(name: str, call: Callable[[Any], Any]):
    mine, theirs = _errors(call, *_both(name))
    assert mine == theirs
