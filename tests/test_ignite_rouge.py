"""The ignite faces of ROUGE: Rouge, RougeN and RougeL are ignite's own, ROUGEScore is the face of torchmetrics."""

import inspect
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from ignite.engine import Engine
from ignite.exceptions import NotComputableError
from ignite.metrics import RunningAverage
from ignite.metrics import nlp as peers
from ignite.metrics.metric import BatchWise, EpochWise

from ngram_metrics import ROUGEScore
from ngram_metrics import ignite as ours
from ngram_metrics.functional import rouge_score

CLASSES = ["Rouge", "RougeN", "RougeL"]
ALPHAS = [0, 0.3, 0.5, 1]
VARIANTS = [None, [], ["L"], [1], [2, "L", 1], ("L", 9, 3), [1, 1, "L", "L"], [12], "L"]

documents = st.lists(st.sampled_from("abc"), max_size=8)
batches = st.lists(st.tuples(documents, st.lists(documents, min_size=1, max_size=3)), min_size=1, max_size=4)

TEXT: list[Any] = [
    (["the cat sat on the mat", "a dog"], [["the cat sat on a mat", "a cat sat"], ["a dog ran home"]]),
    (["there is a bird"], [["a bird is in the tree", "there is a tree", "there is a bird"]]),
]
TOKENS: list[Any] = [
    ([one.split() for one in y_pred], [[one.split() for one in several] for several in y]) for y_pred, y in TEXT
]
VOCABULARY = {
    word: 1 + i
    for i, word in enumerate(sorted({w for y_pred, y in TEXT for t in [y_pred, *y] for s in t for w in s.split()}))
}

each_class = pytest.mark.parametrize("name", CLASSES)
each_multiref = pytest.mark.parametrize("multiref", ["average", "best"])


def _error(call: Callable[[], Any]) -> tuple[type, str]:
    try:
        call()
    except Exception as error:
        return type(error), str(error)
    raise AssertionError("expected an error")


def _both(name: str, **options: Any) -> tuple[Any, Any]:
    return getattr(ours, name)(**options), getattr(peers, name)(**options)


def _value(metric: Any, several: Sequence[Any]) -> Any:
    for batch in several:
        metric.update(batch)
    return metric.compute()


def _run(metric: Any, several: Sequence[Any], name: str = "rouge", **attach: Any) -> dict[str, Any]:
    engine = Engine(lambda engine, batch: batch)
    metric.attach(engine, name, **attach)
    return dict(engine.run(several).metrics)


def _same(mine: Any, theirs: Any) -> None:
    assert list(mine) == list(theirs)
    assert mine == pytest.approx(dict(theirs), rel=0, abs=1e-12)


def _ids(batch: Any) -> Any:
    y_pred, y = batch
    return (
        [[VOCABULARY[word] for word in one] for one in y_pred],
        [[[VOCABULARY[word] for word in one] for one in several] for several in y],
    )


def _padded(batch: Any, width: int = 8) -> Any:
    y_pred, y = _ids(batch)
    most = max(map(len, y))
    rows = [[*several, *[[]] * (most - len(several))] for several in y]
    return (
        torch.tensor([one + [0] * (width - len(one)) for one in y_pred]),
        torch.tensor([[one + [-100] * (width - len(one)) for one in several] for several in rows]),
    )


# The constructor.


@each_class
def test_the_parameters_begin_with_those_of_ignite(name: str):
    mine, theirs = (list(inspect.signature(getattr(one, name)).parameters.values()) for one in (ours, peers))
    for own, peer in zip(mine, theirs, strict=False):
        assert (own.name, own.kind) == (peer.name, peer.kind)
        if peer.name == "output_transform":
            assert own.default("anything") == "anything"
        else:
            assert own.default == peer.default
    rest = mine[len(theirs) :]
    assert [parameter.name for parameter in rest] == ["pad_id", "tokenizer"]
    assert {parameter.kind for parameter in rest} == {inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        *[(name, {"alpha": alpha}) for name in CLASSES for alpha in (-0.1, 1.5, float("nan"))],
        *[(name, {"multiref": one}) for name in CLASSES for one in ("mean", None)],
        *[(name, {"alpha": 2, "multiref": "mean"}) for name in CLASSES],
        *[(name, {"output_transform": 1}) for name in CLASSES],
        ("RougeN", {"ngram": 0}),
        ("RougeN", {"ngram": -3}),
        ("RougeN", {"ngram": 0, "multiref": "mean"}),
        ("Rouge", {"variants": [0]}),
        ("Rouge", {"variants": ["L", -1]}),
        ("Rouge", {"variants": ["l"]}),
        ("Rouge", {"variants": [1, "Lsum"]}),
        ("Rouge", {"variants": [1.5]}),
        ("Rouge", {"variants": [None]}),
        ("Rouge", {"variants": "Lsum"}),
        ("Rouge", {"variants": ["L", "x"], "alpha": 2}),
    ],
    ids=str,
)
def test_wrong_arguments_get_the_words_of_ignite(name: str, arguments: dict[str, Any]):
    mine, theirs = (_error(lambda one=one: getattr(one, name)(**arguments)) for one in (ours, peers))
    assert mine == theirs


def test_an_order_is_a_number():
    """`RougeN("L")` is no other name of RougeL: ignite raises a TypeError."""
    with pytest.raises((TypeError, ValueError)):
        ours.RougeN("L")  # type: ignore[arg-type]


# Values.


@each_multiref
@pytest.mark.parametrize("alpha", ALPHAS)
@given(st.lists(batches, min_size=1, max_size=2))
def test_values_are_those_of_ignite(multiref: str, alpha: float, several: Any):
    batched = [([one for one, _ in batch], [references for _, references in batch]) for batch in several]
    for name, options in (("Rouge", {"variants": ["L", 1, 2, 4]}), ("RougeN", {"ngram": 3}), ("RougeL", {})):
        mine, theirs = (_value(one, batched) for one in _both(name, multiref=multiref, alpha=alpha, **options))
        _same(mine, theirs)


@each_multiref
@pytest.mark.parametrize("variants", VARIANTS, ids=str)
def test_every_choice_of_variants_gives_the_keys_of_ignite_in_its_order(variants: Any, multiref: str):
    mine, theirs = (_value(one, TOKENS) for one in _both("Rouge", variants=variants, multiref=multiref))
    _same(mine, theirs)
    assert type(mine) is dict
    assert {type(value) for value in mine.values()} == {float}


@pytest.mark.parametrize(
    ("name", "options", "keys"),
    [
        ("RougeN", {}, ["Rouge-4-P", "Rouge-4-R", "Rouge-4-F"]),
        ("RougeN", {"ngram": 2}, ["Rouge-2-P", "Rouge-2-R", "Rouge-2-F"]),
        ("RougeL", {}, ["Rouge-L-P", "Rouge-L-R", "Rouge-L-F"]),
        ("Rouge", {}, [f"Rouge-{variant}-{letter}" for variant in (1, 2, 4, "L") for letter in "PRF"]),
    ],
)
def test_the_names_of_the_values(name: str, options: dict[str, Any], keys: list[str]):
    mine, theirs = (_value(one, TOKENS) for one in _both(name, **options))
    assert list(mine) == keys
    _same(mine, theirs)


def test_best_is_by_recall_and_average_adds_up_the_counts():
    """As in ignite, and unlike rouge_score: a short reference wins; by default F is the recall."""
    batch = [([list("abcde")], [[list("a"), list("abcdxy")]])]
    assert _value(ours.RougeN(1, multiref="best"), batch) == pytest.approx(
        {"Rouge-1-P": 0.2, "Rouge-1-R": 1.0, "Rouge-1-F": 1.0}
    )
    assert _value(ours.RougeN(1), batch) == pytest.approx({"Rouge-1-P": 0.5, "Rouge-1-R": 5 / 7, "Rouge-1-F": 5 / 7})
    best = rouge_score(*batch[0], rouge_keys="rouge1")
    assert best["rouge1_recall"].item() == pytest.approx(2 / 3)


@pytest.mark.parametrize("batch", [([[]], [[[]]]), ([["a"]], [[[]]]), ([[]], [[["a"], []]]), ([["a"]], [[["b"]]])])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_what_shares_nothing_is_0(batch: Any, alpha: float):
    mine, theirs = (_value(one, [batch]) for one in _both("Rouge", alpha=alpha))
    _same(mine, theirs)
    assert not any(mine.values())


@each_class
def test_any_hashable_is_a_token(name: str):
    tokens = [("a", 1), None, b"x", "x y", ("a", 1)]
    batch = ([tokens, tokens[:2]], [[tokens[::-1], tokens[1:]], [tokens]])
    mine, theirs = (_value(one, [batch]) for one in _both(name, multiref="best"))
    _same(mine, theirs)


@each_class
@each_multiref
def test_a_str_is_text(name: str, multiref: str):
    """The one deliberate difference: ignite reads a str as its characters."""
    expected = _value(getattr(ours, name)(multiref=multiref), TOKENS)
    assert _value(getattr(ours, name)(multiref=multiref), TEXT) == expected
    characters, theirs = getattr(ours, name)(multiref=multiref, tokenizer=list), getattr(peers, name)(multiref=multiref)
    _same(_value(characters, TEXT), _value(theirs, TEXT))
    assert _value(getattr(ours, name)(), [("a b c d e", ["a b c d e", "x"])]).popitem()[1] > 0


def test_text_is_split_at_blanks_and_not_changed():
    """Unlike ROUGEScore: ignite neither lowercases nor drops punctuation."""
    assert _value(ours.RougeN(1), [(["The cat."], [["the cat ."]])])["Rouge-1-R"] == 0
    assert _value(ours.RougeN(1, tokenizer="13a"), [(["The cat."], [["the cat ."]])])["Rouge-1-R"] == pytest.approx(
        2 / 3
    )


# Ids.


@each_class
@each_multiref
def test_ids_count_as_their_tokens_in_every_form(name: str, multiref: str):
    expected = _value(getattr(peers, name)(multiref=multiref), TOKENS)
    make = getattr(ours, name)
    lists = list(map(_ids, TOKENS))
    _same(_value(make(multiref=multiref), lists), expected)
    tensors = [
        ([torch.tensor(one) for one in y_pred], [[torch.tensor(one) for one in several] for several in y])
        for y_pred, y in lists
    ]
    _same(_value(make(multiref=multiref), tensors), expected)
    padded = list(map(_padded, TOKENS))
    _same(_value(make(multiref=multiref, pad_id=(0, -100)), padded), expected)
    through_engine = _run(make(multiref=multiref, pad_id=(0, -100)), padded)
    _same(through_engine["rouge"], expected)


def test_lists_of_tensors_are_not_unrolled():
    """By default ignite hands a metric the pairs of (list of tensors, list of tensors) one by one, batched."""
    firsts = [(y_pred, [several[:1] for several in y]) for y_pred, y in TOKENS]
    expected = _value(peers.Rouge(), firsts)
    outputs = [
        ([torch.tensor(one) for one in y_pred], [torch.tensor(one) for (one,) in y]) for y_pred, y in map(_ids, firsts)
    ]
    _same(_run(ours.Rouge(), outputs)["rouge"], expected)


@each_class
def test_padded_tensors_need_pad_id(name: str):
    rows = torch.ones(2, 3, dtype=torch.long)
    with pytest.raises(ValueError, match="a padded tensor of ids needs pad_id"):
        getattr(ours, name)().update((rows, rows))


# The life of a metric.


@each_class
def test_compute_before_data_gets_the_words_of_ignite(name: str):
    mine, theirs = _both(name)
    assert _error(mine.compute) == _error(theirs.compute)
    with pytest.raises(NotComputableError, match="Rouge metric must have at least one example before being computed"):
        mine.compute()
    mine.update(TOKENS[0])
    mine.reset()
    assert _error(mine.compute) == _error(theirs.compute)


@each_class
def test_unequal_numbers_are_an_error_and_leave_what_was_counted(name: str):
    """ignite drops the rest in silence."""
    metric = getattr(ours, name)()
    metric.update(TOKENS[0])
    before = metric.compute()
    y_pred, y = TOKENS[0]
    for wrong in ((y_pred, y[:1]), (y_pred[:1], y), ([], y), (y_pred, [])):
        with pytest.raises(ValueError, match="nb of candidates should be equal to nb of reference lists"):
            metric.update(wrong)
    with pytest.raises(ValueError, match="sentence 0 has no reference"):
        metric.update(([["a"]], [[]]))
    assert metric.compute() == before
    _same(_value(metric, TOKENS[1:]), _value(getattr(peers, name)(), TOKENS))


@each_class
def test_a_dict_of_values_is_flattened_by_the_engine_as_that_of_ignite(name: str):
    mine, theirs = (_run(one, TOKENS) for one in _both(name, multiref="best"))
    assert list(mine) == list(theirs)
    assert mine["rouge"] == {key: value for key, value in mine.items() if key != "rouge"}
    _same(mine["rouge"], theirs["rouge"])


@pytest.mark.parametrize("usage", [EpochWise(), BatchWise()], ids=lambda usage: type(usage).__name__)
@each_class
def test_usages_give_what_ignite_gives(name: str, usage: Any):
    mine, theirs = (_run(one, TOKENS, usage=usage) for one in _both(name))
    _same(mine["rouge"], theirs["rouge"])


@each_class
def test_outputs_as_a_dict_and_transformed(name: str):
    expected = _value(getattr(peers, name)(), TOKENS)
    _same(_run(getattr(ours, name)(), [{"y_pred": y_pred, "y": y} for y_pred, y in TOKENS])["rouge"], expected)
    metric = getattr(ours, name)(output_transform=lambda output: output["words"])
    _same(_run(metric, [{"words": batch, "loss": 1.0} for batch in TOKENS])["rouge"], expected)


@each_class
def test_one_value_of_several(name: str):
    """`metric["Rouge-L-F"]` picks a value, for arithmetic and running averages."""
    for variant in {"Rouge": ["Rouge-2-R"], "RougeN": ["Rouge-4-P"], "RougeL": ["Rouge-L-F"]}[name]:
        mine, theirs = (_run(one[variant] * 100, TOKENS)["rouge"] for one in _both(name))
        assert mine == pytest.approx(theirs, abs=1e-10)


def test_a_running_average_of_one_value():
    mine, theirs = (_run(RunningAverage(one["Rouge-1-F"], alpha=0.5), TOKENS)["rouge"] for one in _both("Rouge"))
    assert mine == pytest.approx(theirs, abs=1e-12)


@each_class
@each_multiref
def test_a_state_dict_goes_on_where_it_was_saved(name: str, multiref: str):
    def make() -> Any:
        return getattr(ours, name)(multiref=multiref)

    metric = make()
    metric.update(TOKENS[0])
    saved = metric.state_dict()
    metric.update(TOKENS[1])
    metric.reset()
    loaded = make()
    loaded.update(TOKENS[1])
    loaded.load_state_dict(saved)
    _same(loaded.compute(), _value(make(), TOKENS[:1]))
    _same(_value(loaded, TOKENS[1:]), _value(getattr(peers, name)(multiref=multiref), TOKENS))


@each_class
def test_a_wrong_state_dict_gets_the_words_of_ignite(name: str):
    """Rouge's own keeps metrics in a dict of its own; those of RougeN and RougeL are compared."""
    peer = peers.RougeL() if name == "Rouge" else getattr(peers, name)()
    for saved in (1, {}, {"a": 1}):
        assert _error(lambda s=saved: getattr(ours, name)().load_state_dict(s)) == _error(
            lambda s=saved: peer.load_state_dict(s)
        )


# ROUGEScore: the face of torchmetrics' parameters.

KEYS = ("rouge1", "rouge2", "rougeL", "rougeLsum")
CONFIGURATIONS: list[tuple[dict[str, Any], list[Any]]] = [
    ({}, TEXT),
    ({"accumulate": "avg", "rouge_keys": "rouge2"}, TEXT),
    ({"use_stemmer": True, "rouge_keys": ["rougeLsum", "rouge1"]}, [(["cats\nrunning"], [["run\ncat", "x"]]), *TEXT]),
    ({"tokenizer": list, "normalizer": str, "sentence_splitter": str.split}, TEXT),
    ({"tokenizer": "unicode"}, [(["Ёлка 東京\nZoë"], ["zoë\nёлка"])]),
    ({"pad_id": (0, -100), "sentence_separator_id": 3}, list(map(_padded, TOKENS))),
    ({"sentence_separator_id": 3}, list(map(_ids, TOKENS))),
]


def _averages(options: dict[str, Any]) -> list[str]:
    return ["macro", "none"] if options.get("accumulate") == "avg" else ["macro", "micro", "none"]


EACH = [
    pytest.param(options, several, average, id=f"{number}-{average}")
    for number, (options, several) in enumerate(CONFIGURATIONS)
    for average in _averages(options)
]


def _expected(options: dict[str, Any], several: Sequence[Any], average: str) -> dict[str, Any]:
    metric = ROUGEScore(**options, average=average)
    for y_pred, y in several:
        metric.update(y_pred, y)
    return {key: value.tolist() for key, value in metric.compute().items()}


def _lists(value: dict[str, Any]) -> dict[str, Any]:
    return {key: one.tolist() if isinstance(one, torch.Tensor) else one for key, one in value.items()}


def _same_lists(mine: dict[str, Any], expected: dict[str, Any]) -> None:
    assert list(mine) == list(expected)
    for key, value in _lists(mine).items():
        assert value == pytest.approx(expected[key], rel=0, abs=1e-12)


def test_the_parameters_are_those_of_the_torchmetrics_face():
    mine, others = (list(inspect.signature(one).parameters.values()) for one in (ours.ROUGEScore, ROUGEScore))
    others = [one for one in others if one.name not in ("device", "kwargs")]
    assert [(one.name, one.default) for one in mine[: len(others)]] == [(one.name, one.default) for one in others]
    assert [one.name for one in mine[len(others) :]] == ["output_transform", "device"]


@pytest.mark.parametrize(("options", "several", "average"), EACH)
def test_values_are_those_of_the_torchmetrics_face(options: dict[str, Any], several: list[Any], average: str):
    expected = _expected(options, several, average)
    value = _value(ours.ROUGEScore(**options, average=average), several)
    _same_lists(value, expected)
    if average == "none":
        sentences = sum(len(y_pred) for y_pred, _ in several)
        assert {(one.dtype, one.shape) for one in value.values()} == {(torch.float64, (sentences,))}
    else:
        assert {type(one) for one in value.values()} == {float}
    attached = _run(ours.ROUGEScore(**options, average=average), several)
    _same_lists(attached.pop("rouge"), expected)
    _same_lists(attached, {f"rouge_{key}": one for key, one in expected.items()})


@pytest.mark.parametrize(("options", "several", "average"), EACH)
def test_a_state_dict_of_any_average_goes_on_where_it_was_saved(
    options: dict[str, Any], several: list[Any], average: str
):
    metric = ours.ROUGEScore(**options, average=average)
    for batch in several[:1]:
        metric.update(batch)
    saved = metric.state_dict()
    metric.reset()
    loaded = ours.ROUGEScore(**options, average=average)
    loaded.update(several[0])
    loaded.load_state_dict(saved)
    _same_lists(loaded.compute(), _expected(options, several[:1], average))
    _same_lists(_value(loaded, several[1:]), _expected(options, several, average))


@given(st.lists(batches, min_size=1, max_size=3))
def test_none_gives_a_score_a_sentence_in_the_order_of_updates(several: Any):
    batched = [([one for one, _ in batch], [references for _, references in batch]) for batch in several]
    whole = [list(chain.from_iterable(side)) for side in zip(*batched, strict=True)]
    value = _value(ours.ROUGEScore(average="none"), batched)
    for key, expected in rouge_score(*whole, average="none").items():
        assert value[key].equal(expected)


def test_output_transform_of_the_face():
    metric = ours.ROUGEScore(rouge_keys="rouge1", output_transform=lambda output: (output["summary"], output["of"]))
    value = _run(metric, [{"summary": ["a b"], "of": [["a c", "a"]]}], "scores")
    assert value == {
        "scores_rouge1_fmeasure": pytest.approx(2 / 3),
        "scores_rouge1_precision": 0.5,
        "scores_rouge1_recall": 1.0,
        "scores": pytest.approx({"rouge1_fmeasure": 2 / 3, "rouge1_precision": 0.5, "rouge1_recall": 1.0}),
    }


@pytest.mark.parametrize("average", ["macro", "micro", "none"])
def test_the_face_raises_before_data(average: str):
    with pytest.raises(NotComputableError, match="ROUGEScore must have at least one example before it can be computed"):
        ours.ROUGEScore(average=average).compute()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rouge_keys": "rouge0"}, r"unknown rouge key 'rouge0': expected one of \['rouge1', .*'rougeLsum'\]"),
        ({"rouge_keys": []}, "no rouge key: expected some of"),
        ({"accumulate": "sum"}, r"unknown accumulate 'sum': expected one of \['best', 'avg'\]"),
        ({"average": "mean"}, r"unknown average 'mean': expected one of \['micro', 'macro', 'none'\]"),
        ({"accumulate": "avg", "average": "micro"}, "expected average 'macro' or 'none'"),
        ({"tokenizer": "words"}, "unknown tokenizer 'words'"),
    ],
    ids=str,
)
def test_a_setting_out_of_its_range_is_refused(options: dict[str, Any], words: str):
    with pytest.raises(ValueError, match=words):
        ours.ROUGEScore(**options)
