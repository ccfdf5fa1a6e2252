"""The options of a metric and their defaults are the same wherever it is called."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from metrics.cases import METRICS

import ngram_metrics
from ngram_metrics import functional, ignite, pair
from ngram_metrics._core.metrics.bleu import make_bleu
from ngram_metrics._core.metrics.chrf import make_chrf
from ngram_metrics._core.metrics.gleu import make_gleu
from ngram_metrics._core.metrics.overlap import make_overlap
from ngram_metrics._core.metrics.repetition import make_repetition
from ngram_metrics._core.metrics.rouge import make_rouge
from ngram_metrics._core.metrics.ter import make_ter

#: The function that makes a metric, and its names as a class, in functional, in ignite and in pair.
FACES = [
    (make_bleu, "Bleu", "bleu_score", "Bleu", "bleu"),
    (make_rouge, "ROUGEScore", "rouge_score", "ROUGEScore", "rouge"),
    (make_chrf, "ChrF", "chrf_score", "ChrF", "chrf"),
    (make_overlap, "NgramOverlap", "ngram_overlap", "NgramOverlap", "overlap"),
    (make_gleu, "Gleu", "gleu_score", "Gleu", "gleu"),
    (make_ter, "Ter", "ter_score", "Ter", None),
    (make_repetition, "Repetition", "repetition", "Repetition", None),
]
#: What a face has beside the options of the metric.
INPUT = {"preds", "target", "texts", "hypothesis", "references"}
OF_FRAMEWORKS = {"device", "confidence", "output_transform", "metrics_result_mode"}
#: The defaults of ignite's own Bleu, for which ours is a drop-in.
OF_IGNITE = {"smooth": "no_smooth", "average": "macro", "effective_order": False, "tokenizer": None}


def options(face: Callable[..., Any]) -> dict[str, Any]:
    parameters = inspect.signature(face).parameters.values()
    assert all(parameter.kind is not parameter.VAR_POSITIONAL for parameter in parameters)
    return {
        parameter.name: parameter.default
        for parameter in parameters
        if parameter.kind is not parameter.VAR_KEYWORD and parameter.name not in INPUT | OF_FRAMEWORKS
    }


def test_every_class_and_every_function_of_pair_has_a_row():
    _, of_classes, _, of_ignite, of_pair = map(set, zip(*FACES, strict=True))
    assert of_classes == of_ignite == {*METRICS}, "add a row to FACES in tests/_core/metrics/test_make_py"
    assert of_pair - {None} == {*pair.__all__}, "name the function of pair in FACES of this file"


@pytest.mark.parametrize(("make", "of_class", "of_function", "of_ignite", "of_pair"), FACES)
def test_every_face_has_the_options_and_the_defaults_of_the_function_that_makes_the_metric(
    make, of_class, of_function, of_ignite, of_pair
):
    expected = options(make)
    assert options(getattr(ngram_metrics, of_class)) == expected
    assert options(getattr(functional, of_function)) == expected
    assert options(getattr(ignite, of_ignite)) == expected | (OF_IGNITE if of_ignite == "Bleu" else {})
    if of_pair is not None:  # a pair has no average
        expected = {name: default for name, default in expected.items() if name != "average"}
        assert list(options(getattr(pair, of_pair)).items()) == [
            (name, expected[name]) for name in options(getattr(functional, of_function)) if name != "average"
        ]
        assert options(getattr(pair, of_pair)) == expected
