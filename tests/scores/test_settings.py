"""Settings out of their range or of another type are refused at once, by the measure, its function and its class."""

import math

import numpy as np
import pytest

from ngram_metrics import Bleu, ChrF, Gleu, NgramOverlap, ROUGEScore
from ngram_metrics.functional import bleu_score, chrf_score, gleu_score, ngram_overlap, rouge_score
from ngram_metrics.scores.bleu import BleuMeasure
from ngram_metrics.scores.chrf import ChrfMeasure
from ngram_metrics.scores.gleu import GleuMeasure
from ngram_metrics.scores.overlap import OverlapMeasure
from ngram_metrics.scores.rouge import MeanRougeMeasure, RougeMeasure, rouge_measure
from ngram_metrics.scores.rouge_keys import checked_keys

#: For each measure: itself, in one call, and as a class.
FACES = {
    "bleu": (BleuMeasure, bleu_score, Bleu),
    "rouge": (None, rouge_score, ROUGEScore),
    "chrf": (ChrfMeasure, chrf_score, ChrF),
    "overlap": (OverlapMeasure, ngram_overlap, NgramOverlap),
    "gleu": (GleuMeasure, gleu_score, Gleu),
}
#: Settings of how text is read and how scores are averaged, which a measure does not know.
OF_CALLS = {"average", "tokenizer", "lowercase", "pad_id"}
KNOWN = r"\['rouge1', .*'rouge9', 'rougeL', 'rougeLsum'\]"
ORDERS = {
    0: (ValueError, r"greater than zero \(got: 0\)"),
    -1: (ValueError, r"greater than zero \(got: -1\)"),
    1001: (ValueError, r"at most 1000 \(got: 1001\)"),
    2**40: (ValueError, r"at most 1000 \(got: 1099511627776\)"),
    2.5: (TypeError, r"an integer \(got: 2.5\)"),
    2.0: (TypeError, r"an integer \(got: 2.0\)"),
    True: (TypeError, r"an integer \(got: True\)"),
    None: (TypeError, r"an integer \(got: None\)"),
    "2": (TypeError, r"an integer \(got: '2'\)"),
}
REFUSED = [
    *(
        (name, {"ngram": order}, error, f"ngram order must be {words}")
        for name in ("bleu", "overlap", "gleu")
        for order, (error, words) in ORDERS.items()
    ),
    *(
        (
            name,
            {"average": average},
            ValueError,
            f"unknown average {average!r}: expected one of .'micro', 'macro', 'none'",
        )
        for name in FACES
        for average in ("mean", None)
    ),
    *(
        (name, {"tokenizer": "words"}, ValueError, "unknown tokenizer 'words': expected one of")
        for name in ("bleu", "rouge", "overlap", "gleu")
    ),
    ("rouge", {"tokenizer": 3}, TypeError, "tokenizer is a int: expected None"),
    *(
        (name, {"pad_id": pad_id}, TypeError, "pad_id is .*: expected an integer, a sequence of integers, or None")
        for name in FACES
        for pad_id in ("0", b"0", 1.5, [0, "1"], [0.5], True, [True], [None], {0: 1}, object)
    ),
    (
        "bleu",
        {"smooth": "smooth3"},
        ValueError,
        r"Smooth is not valid \(expected: \['no_smooth', .*'exp'\], got: smooth3",
    ),
    ("bleu", {"smooth": None}, ValueError, r"Smooth is not valid \(.*, got: None\)$"),
    ("bleu", {"smooth": True}, ValueError, r".*, got: True\): torchmetrics' smooth=True .* as 'add-k' and 'smooth2'"),
    ("bleu", {"smooth": False}, ValueError, r".*, got: False\): .* and its smooth=False is 'no_smooth'$"),
    ("bleu", {"smooth": "exp", "smooth_value": 1}, ValueError, r"is for \['floor', 'add-k'\], not for smooth='exp'"),
    ("bleu", {"smooth_value": 0}, ValueError, r"smooth_value is for \['floor', 'add-k'\], not for smooth='no_smooth'"),
    *(
        (
            "bleu",
            {"smooth": name, "smooth_value": value},
            ValueError,
            rf"smooth_value must be at least 0 .*\(got: {value}\)",
        )
        for name, value in (("floor", -0.1), ("add-k", math.inf), ("add-k", math.nan))
    ),
    *(
        (
            "bleu",
            {"smooth": "floor", "smooth_value": value},
            TypeError,
            f"smooth_value must be a number .got: '{value}'",
        )
        for value in ("x", "1")
    ),
    ("bleu", {"weights": [0.5, 0.5]}, ValueError, r"weights must be one for each of 4 orders \(got: 2\)"),
    ("bleu", {"ngram": 2, "weights": [1, 1, 1]}, ValueError, r"weights must be one for each of 2 orders \(got: 3\)"),
    ("bleu", {"weights": []}, ValueError, r"weights must be one for each of 4 orders \(got: 0\)"),
    *(
        (
            "bleu",
            {"ngram": 2, "weights": [1, weight]},
            ValueError,
            rf"weights\[1\] must be at least 0 .*got: {weight}\)",
        )
        for weight in (-1, math.nan, math.inf)
    ),
    ("bleu", {"ngram": 2, "weights": [0, 0.0]}, ValueError, r"weights must not all be 0 \(got: \[0.0, 0.0\]\)"),
    ("bleu", {"weights": "abcd"}, TypeError, r"weights\[0\] must be a number \(got: 'a'\)"),
    ("bleu", {"ngram": 2, "weights": [1, None]}, TypeError, r"weights\[1\] must be a number \(got: None\)"),
    ("bleu", {"weights": 0.25}, TypeError, r"weights must be a sequence of 4 numbers \(got: 0.25\)"),
    ("chrf", {"char_order": -1}, ValueError, r"char_order must be at least 0 \(got: -1\)"),
    ("chrf", {"word_order": -2}, ValueError, r"word_order must be at least 0 \(got: -2\)"),
    ("chrf", {"char_order": 1001}, ValueError, r"char_order must be at most 1000 \(got: 1001\)"),
    ("chrf", {"word_order": 2**40}, ValueError, r"word_order must be at most 1000 \(got: 1099511627776\)"),
    ("chrf", {"char_order": 0}, ValueError, r"char_order and word_order are both 0: expected at least one order"),
    ("chrf", {"char_order": 6.0}, TypeError, r"char_order must be an integer \(got: 6.0\)"),
    ("chrf", {"word_order": True}, TypeError, r"word_order must be an integer \(got: True\)"),
    ("chrf", {"char_order": None}, TypeError, r"char_order must be an integer \(got: None\)"),
    *(
        ("chrf", {"beta": beta}, ValueError, rf"beta must be at least 0 and finite \(got: {beta}\)")
        for beta in (-1, -0.5, math.inf, math.nan)
    ),
    *(("chrf", {"beta": beta}, TypeError, rf"beta must be a number \(got: {beta!r}\)") for beta in ("2", None)),
    ("rouge", {"rouge_keys": "rouge0"}, ValueError, f"unknown rouge key 'rouge0': expected one of {KNOWN}"),
    (
        "rouge",
        {"rouge_keys": ("rouge1", "rouge10")},
        ValueError,
        f"unknown rouge key 'rouge10': expected one of {KNOWN}",
    ),
    ("rouge", {"rouge_keys": "rougel"}, ValueError, "unknown rouge key 'rougel'"),
    ("rouge", {"rouge_keys": ""}, ValueError, "unknown rouge key ''"),
    ("rouge", {"rouge_keys": [1]}, ValueError, "unknown rouge key 1"),
    ("rouge", {"rouge_keys": ()}, ValueError, f"no rouge key: expected some of {KNOWN}"),
    *(
        (
            "rouge",
            {"rouge_keys": keys},
            TypeError,
            f"rouge_keys is a {type(keys).__name__}: expected a key or a sequence",
        )
        for keys in (None, {"rouge1"}, 1)
    ),
    ("rouge", {"accumulate": "mean"}, ValueError, r"unknown accumulate 'mean': expected one of \['best', 'avg'\]"),
    ("rouge", {"accumulate": None}, ValueError, "unknown accumulate None"),
    (
        "rouge",
        {"accumulate": "avg", "average": "micro"},
        ValueError,
        "accumulate='avg' averages scores.*expected average 'macro' or 'none'",
    ),
    ("rouge", {"normalizer": "lower"}, TypeError, "normalizer is a str: expected a callable"),
    ("rouge", {"sentence_splitter": ["\n"]}, TypeError, "sentence_splitter is a list: expected a callable"),
    *(
        ("rouge", {"sentence_separator_id": one}, TypeError, "sentence_separator_id is .*: expected an integer or None")
        for one in (0.5, "9", [9, 8], True)
    ),
]


@pytest.mark.parametrize(("name", "options", "error", "words"), REFUSED, ids=lambda one: str(one)[:50])
def test_what_a_setting_cannot_be_is_refused_before_any_sentence_is_read(name, options, error, words):
    measure, function, metric = FACES[name]
    with pytest.raises(error, match=words):
        function(None, None, **options)
    with pytest.raises(error, match=words):
        metric(**options)
    if measure is not None and not OF_CALLS & options.keys():
        with pytest.raises(error, match=words):
            measure(**options)


def test_numbers_of_numpy_are_the_same_settings():
    ours = BleuMeasure(np.int64(3), "floor", np.float32(0.5))
    assert ours == BleuMeasure(3, "floor", 0.5)
    assert type(ours.smooth_value) is float
    assert OverlapMeasure(np.int64(2)) == OverlapMeasure(2)
    assert type(OverlapMeasure(np.int64(2)).ngram) is int


def test_a_lone_key_and_a_sequence_of_keys():
    assert checked_keys("rougeL") == ("rougeL",)
    assert checked_keys(["rougeL", "rouge1"]) == ("rougeL", "rouge1")
    assert checked_keys(iter(("rouge9",))) == ("rouge9",)
    assert rouge_measure("rougeL", "best", "micro") == RougeMeasure(("L",))
    assert rouge_measure(["rouge2"], "avg", "none") == MeanRougeMeasure((2,))
    assert RougeMeasure((1,), alpha=0.5) != RougeMeasure((1,))


@pytest.mark.parametrize("order", [0, 2**40, 2.0])
def test_an_order_of_rouge_out_of_its_range_is_refused(order):
    error, words = ORDERS[order]
    with pytest.raises(error, match=f"ngram order must be {words}"):
        RougeMeasure((1, order, "L"))
    assert RougeMeasure((1000, "L", "Lsum")).variants == (1000, "L", "Lsum")
