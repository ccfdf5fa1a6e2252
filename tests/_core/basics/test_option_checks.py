"""Settings out of their range or of another type are refused at once: by the measure, its function and both classes."""

import inspect
import math
import re

import numpy as np
import pytest
from metrics.apis import APIS
from nltk.tokenize import NLTKWordTokenizer

import ngram_metrics
from ngram_metrics._core.metrics.bleu import BleuMeasure
from ngram_metrics._core.metrics.chrf import ChrfMeasure
from ngram_metrics._core.metrics.overlap import OverlapMeasure
from ngram_metrics._core.metrics.rouge import MeanRougeMeasure, RougeMeasure, checked_keys, make_rouge
from ngram_metrics.functional import chrf_score

KNOWN = r"\['rouge1', .*'rouge9', 'rougeL', 'rougeLsum'\]"
SMOOTHED = "smooth='floor' or smooth='add-k'"
#: What an order, a level of detail or padding cannot be, whatever the measure, and the words of the error.
ORDERS = {
    ValueError: [(0, "greater than zero"), (-1, "greater than zero"), (1001, "at most 1000"), (2**40, "at most 1000")],
    TypeError: [(order, "an integer") for order in (2.5, 2.0, True, None, "2")],
}
PADDING = ("0", b"0", 1.5, [0, "1"], [0.5], True, [True], [None], {0: 1}, object)
#: For each kind of error and each measure, settings and the words.
REFUSED = {
    ValueError: {
        "bleu": [
            ({"smooth": "smooth3"}, r"Smooth is not valid \(expected: \['no_smooth', .*'exp'\], got: smooth3\)$"),
            ({"smooth": True}, r".*, got: True\): torchmetrics' smooth=True .* as 'add-k' and 'smooth2'"),
            ({"smooth": False}, r".*, got: False\): .* and its smooth=False is 'no_smooth'$"),
            (
                {"smooth": "exp", "smooth_value": 1},
                f"smooth_value has no effect with smooth='exp': expected {SMOOTHED}$",
            ),
            ({"smooth_value": 0}, f"smooth_value has no effect with smooth='exp': expected {SMOOTHED}$"),
            ({"smooth": "floor", "smooth_value": -0.1}, r"smooth_value must be at least 0 .*\(got: -0.1\)"),
            (
                {"smooth": "floor", "smooth_value": 1.01},
                r"at most 1 \(got: 1.01\): a larger one would give precisions",
            ),
            ({"smooth": "add-k", "smooth_value": math.nan}, r"smooth_value must be at least 0 .*\(got: nan\)"),
            (
                {"smooth": "add-k", "smooth_value": 2e15},
                r"at most 1e\+15 \(got: 2000000000000000.0\): precisions are then 1",
            ),
            ({"weights": [0.5, 0.5]}, r"weights must have one number for each of the 4 orders \(got: 2 numbers\)"),
            (
                {"ngram": 2, "weights": [1, 1, 1]},
                r"weights must have one number for each of the 2 orders \(got: 3 numbers\)",
            ),
            ({"ngram": 2, "weights": [1, -1]}, r"weights\[1\] must be at least 0 .*got: -1\)"),
            ({"ngram": 2, "weights": [1, math.inf]}, r"weights\[1\] must be at least 0 .*got: inf\)"),
            ({"ngram": 2, "weights": [0, 0.0]}, r"weights must not all be 0 \(got: \[0.0, 0.0\]\)"),
            ({"ngram": 2, "weights": [1, 1e300]}, r"weights\[1\] must be at most 1e\+15 \(got: 1e\+300\)"),
        ],
        "chrf": [
            ({"char_order": -1}, r"char_order must be at least 0 \(got: -1\)"),
            ({"word_order": -2}, r"word_order must be at least 0 \(got: -2\)"),
            ({"char_order": 1001}, r"char_order must be at most 1000 \(got: 1001\)"),
            ({"word_order": 2**40}, r"word_order must be at most 1000 \(got: 1099511627776\)"),
            ({"char_order": 0}, r"char_order and word_order are both 0: expected at least one order"),
            ({"beta": -0.5}, r"beta must be at least 0 and finite \(got: -0.5\)"),
            ({"beta": math.nan}, r"beta must be at least 0 and finite \(got: nan\)"),
            ({"beta": 10**400}, r"beta must be at least 0 and finite \(got: inf\)"),
            ({"beta": 1e200}, r"beta must be at most 1e\+15 \(got: 1e\+200\): F is then already the recall"),
        ],
        "rouge": [
            ({"rouge_keys": "rouge0"}, f"unknown rouge key 'rouge0': expected one of {KNOWN}"),
            ({"rouge_keys": ("rouge1", "rouge10")}, f"unknown rouge key 'rouge10': expected one of {KNOWN}"),
            ({"rouge_keys": ""}, "unknown rouge key ''"),
            (
                {"rouge_keys": "rougeL_fmeasure"},
                r"unknown rouge key 'rougeL_fmeasure': .*; it is a value of 'rougeL', whose score is F. In "
                r'Python, use ROUGEScore\(rouge_keys="rougeL"\)\["rougeL_fmeasure"\]$',
            ),
            ({"rouge_keys": [1]}, "unknown rouge key 1"),
            ({"rouge_keys": ()}, f"rouge_keys is empty: expected at least one of {KNOWN}"),
            *(
                ({"rouge_keys": key}, rf"^{re.escape(key)} is not available: like rouge_score, .*'rouge1'")
                for key in ("rougeW", "rougew", "ROUGE-W-1.2", "rougeS", "rougeSU4", "ROUGE-S*")
            ),
            *(
                ({"rouge_keys": key}, rf"^unknown rouge key '{key}': expected one of .*; did you mean '{meant}'\?$")
                for key, meant in {"L": "rougeL", "1": "rouge1", "rougel": "rougeL", "ROUGE-2": "rouge2"}.items()
            ),
            ({"rouge_keys": "Lsum"}, r"; did you mean 'rougeLsum'\?$"),
            ({"accumulate": "mean"}, r"unknown accumulate 'mean': expected one of \['best', 'avg'\]"),
            (
                {"accumulate": "avg", "average": "micro"},
                "'avg' averages the scores of .* expected average='macro' or 'none'$",
            ),
        ],
    },
    TypeError: {
        "bleu": [
            ({"smooth": "floor", "smooth_value": "1"}, "smooth_value must be a number .got: '1'"),
            ({"weights": "abcd"}, r"weights\[0\] must be a number \(got: 'a'\)"),
            ({"ngram": 2, "weights": [1, None]}, r"weights\[1\] must be a number \(got: None\)"),
            ({"weights": 0.25}, r"weights must be a sequence of 4 numbers \(got: 0.25\)"),
        ],
        "chrf": [
            ({"char_order": 6.0}, r"char_order must be an integer \(got: 6.0\)"),
            ({"word_order": True}, r"word_order must be an integer \(got: True\)"),
            ({"beta": "2"}, r"beta must be a number \(got: '2'\)"),
        ],
        "rouge": [
            ({"rouge_keys": None}, "^rouge_keys is None: expected a key or a sequence"),
            ({"rouge_keys": {"rouge1"}}, "^rouge_keys is {'rouge1'}: expected a key or a sequence"),
            ({"tokenizer": 3}, "tokenizer is an int: expected None"),
            ({"tokenizer": NLTKWordTokenizer()}, "Hugging Face tokenizer; pass its method tokenizer.tokenize$"),
            ({"pad_id": [0, None]}, "a tokenizer without this special token has None as its id: leave it out$"),
            ({"normalizer": "lower"}, "normalizer is a str: expected a callable"),
            ({"sentence_splitter": ["\n"]}, "sentence_splitter is a list: expected a callable"),
            ({"sentence_separator_id": [9, 8]}, "sentence_separator_id is .*: expected an integer or None"),
            ({"sentence_separator_id": True}, "sentence_separator_id is .*: expected an integer or None"),
        ],
    },
}
for name, api in APIS.items():
    REFUSED[ValueError].setdefault(name, [])
    REFUSED[TypeError].setdefault(name, [])
    for average in ("mean", None):
        words = f"unknown average {average!r}: expected one of .'micro', 'macro', 'none'"
        REFUSED[ValueError][name].append(({"average": average}, words))
    for pad_id in PADDING if "pad_id" in api.options else ():
        words = "pad_id is .*: expected an integer, a sequence of integers, or None"
        REFUSED[TypeError][name].append(({"pad_id": pad_id}, words))
    REFUSED[TypeError][name] += [
        ({option: value}, rf"^{option} must be True or False \(got: {value!r}\)$")
        for option in api.flags
        for value in ("False", "german", 0, 1, *([None] if option != "effective_order" else []))
    ]
    if "tokenizer" in api.options:
        REFUSED[ValueError][name].append(({"tokenizer": "words"}, "unknown tokenizer 'words': expected one of"))
    if "ngram" in api.options:
        for error, orders in ORDERS.items():
            REFUSED[error][name] += [
                ({"ngram": order}, rf"ngram order must be {words} \(got: {order!r}\)") for order, words in orders
            ]


each_refusal = pytest.mark.parametrize(
    ("name", "options", "error", "words"),
    [
        (name, options, error, words)
        for error, measures in REFUSED.items()
        for name, rows in measures.items()
        for options, words in rows
    ],
    ids=lambda one: str(one)[:50],
)


@each_refusal
def test_what_a_setting_cannot_be_is_refused_before_any_segment_is_read(name, options, error, words):
    api = APIS[name]
    with pytest.raises(error, match=words):
        api.function(None, None, **options)
    with pytest.raises(error, match=words):
        api.metric(**options)
    measure = type(api.entry.make().measure)
    if name != "rouge" and options.keys() <= inspect.signature(measure).parameters.keys():
        with pytest.raises(error, match=words):
            measure(**options)


@each_refusal
def test_a_class_of_ignite_refuses_the_same_settings(name, options, error, words, ignite_classes):
    api = APIS[name]
    metric = getattr(ignite_classes, api.metric.__name__)
    with pytest.raises(error, match=words):
        metric(**options)


def test_numbers_of_numpy_are_the_same_settings():
    ours = BleuMeasure(np.int64(3), "floor", np.float32(0.5))
    assert ours == BleuMeasure(3, "floor", 0.5)
    assert type(ours.smooth_value) is float
    assert OverlapMeasure(np.int64(2)) == OverlapMeasure(2)
    assert type(OverlapMeasure(np.int64(2)).ngram) is int


def test_booleans_of_numpy_are_the_same_settings():
    for value in (True, False):
        assert ChrfMeasure(eps_smoothing=np.bool_(value)) == ChrfMeasure(eps_smoothing=value)
        assert repr(ngram_metrics.Bleu(lowercase=np.bool_(value))) == repr(ngram_metrics.Bleu(lowercase=value))
    ids = np.array([[1, 2]])
    assert chrf_score(ids, ids, lowercase=np.False_, pad_id=0) == 1  # False: not an option for text that is set


def test_a_lone_key_and_a_sequence_of_keys():
    assert checked_keys("rougeL") == ("rougeL",)
    assert checked_keys(["rougeL", "rouge1"]) == ("rougeL", "rouge1")
    assert checked_keys(iter(("rouge9",))) == ("rouge9",)
    assert make_rouge(rouge_keys="rougeL", average="micro").measure == RougeMeasure(("L",))
    assert make_rouge(rouge_keys=["rouge2"], accumulate="avg", average="none").measure == MeanRougeMeasure((2,))
    assert RougeMeasure((1,), alpha=0.5) != RougeMeasure((1,))


def test_an_order_of_rouge_out_of_its_range_is_refused():
    for order, words in [*ORDERS[ValueError], (2.0, "an integer")]:
        with pytest.raises((ValueError, TypeError), match=f"ngram order must be {words}"):
            RougeMeasure((1, order, "L"))
    assert RougeMeasure((1000, "L", "Lsum")).variants == (1000, "L", "Lsum")


def test_the_limits_themselves_are_settings():
    assert BleuMeasure(1000).ngram == OverlapMeasure(1000).ngram == 1000
    assert ChrfMeasure(1000, 1000, 1e15).pair_orders == (1000, 1000)
    assert BleuMeasure(2, "floor", 1.0, [1e15, 0]).weights == (1e15, 0)
    assert BleuMeasure(2, "add-k", 1e15).smooth_value == 1e15


@pytest.mark.parametrize("sign", [1, -1])
def test_an_integer_that_python_does_not_write_is_shown(sign: int):
    huge = sign * 10**5000
    for words, wrong in (("pad_id has the id -?0x", {"pad_id": huge}), (r"ngram order must be .*0x", {"ngram": huge})):
        with pytest.raises(ValueError, match=words):
            ngram_metrics.Bleu(**wrong)
