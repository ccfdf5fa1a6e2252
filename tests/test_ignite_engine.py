"""What an ignite engine holds: several metrics of one class, every option of ours, one kind of input."""

import warnings

import pytest
import torch
from ignite.engine import Engine

import ngram_metrics.ignite as faces
from ngram_metrics.functional import bleu_score
from ngram_metrics.scores.bleu import SMOOTHINGS

BATCH = (["the cat sat on the mat", "a dog ran"], [["the cat is on the mat"], ["a dog ran home", "the dog ran"]])


def _after_an_epoch(**attached):
    engine = Engine(lambda engine, batch: batch)
    for name, metric in attached.items():
        metric.attach(engine, name)
    return engine.run([BATCH]).metrics


def _value(metric):
    metric.update(BATCH)
    return metric.compute()


@pytest.mark.parametrize("smooth", SMOOTHINGS)
@pytest.mark.parametrize("average", ["micro", "macro"])
def test_bleu_takes_every_smoothing(smooth, average):
    assert float(_value(faces.Bleu(smooth=smooth, average=average))) == bleu_score(
        *BATCH, smooth=smooth, average=average
    )


@pytest.mark.parametrize(
    "options",
    [
        {"smooth": "floor", "smooth_value": 0.3},
        {"weights": (0.5, 0.5, 0, 0), "smooth": "exp"},
        {"effective_order": True, "smooth": "exp"},
        {"lowercase": True},
    ],
)
def test_bleu_takes_our_options_by_keyword(options):
    assert float(_value(faces.Bleu(**options))) == bleu_score(*BATCH, **options)
    with pytest.raises(TypeError):
        faces.Bleu(4, "exp", lambda output: output, "cpu", "macro", None)


def test_an_unknown_smoothing_gets_the_beginning_of_ignites_words():
    with pytest.raises(ValueError, match=r"^Smooth is not valid \(expected: \['no_smooth', 'smooth1', 'nltk_smooth2'"):
        faces.Bleu(smooth="none at all")


@pytest.mark.parametrize("confidence", [None, 0.9])
def test_two_metrics_of_one_class_keep_their_values(confidence):
    plain, plus = faces.ChrF(), faces.ChrF(word_order=2, confidence=confidence)
    metrics = _after_an_epoch(chrf=plain, chrfpp=plus)
    assert metrics["chrf"] == _value(faces.ChrF())
    expected = _value(faces.ChrF(word_order=2, confidence=confidence))
    if confidence is None:
        assert metrics == {"chrf": metrics["chrf"], "chrfpp": expected}
    else:
        named = {f"chrfpp{end}": expected[f"chrf{end}"] for end in ("", "_low", "_high")}
        assert metrics == {"chrf": metrics["chrf"], **named}


def test_values_by_key_follow_the_name():
    metrics = _after_an_epoch(first=faces.ROUGEScore(rouge_keys="rouge1"), second=faces.ROUGEScore(rouge_keys="rougeL"))
    assert metrics["first_rouge1_fmeasure"] == metrics["first"]["rouge1_fmeasure"]
    assert metrics["second_rougeL_recall"] == metrics["second"]["rougeL_recall"]
    assert "rouge1_fmeasure" not in metrics


def test_drop_ins_warn_where_they_share_a_key():
    engine = Engine(lambda engine, batch: batch)
    first = faces.Rouge(variants=[1, "L"])
    first.attach(engine, "rouge")
    with pytest.warns(UserWarning, match=r"both write \['Rouge-1-P', 'Rouge-1-R', 'Rouge-1-F'\]"):
        faces.RougeN(1).attach(engine, "rouge1")


def test_drop_ins_do_not_warn_without_a_cause():
    engine = Engine(lambda engine, batch: batch)
    first = faces.RougeN(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first.attach(engine, "rouge1")
        faces.RougeN(2).attach(engine, "rouge2")
        first.attach(engine, "again")
        first.detach(engine)
        faces.RougeN(1).attach(engine, "rouge1")
        faces.RougeN(1).attach(Engine(lambda engine, batch: batch), "rouge1")


@pytest.mark.parametrize("arguments", [BATCH, ("text",), (None,)])
def test_update_takes_one_pair(arguments):
    with pytest.raises(TypeError, match=r"update takes one argument, a pair: expected metric\.update"):
        faces.Bleu().update(*arguments)


def test_a_state_of_another_shape_is_refused_and_sets_nothing():
    metric, other = faces.ChrF(), faces.ChrF()
    metric.update(BATCH)
    before, saved = metric.compute(), other.state_dict()
    (states,) = saved.values()
    states[0]["row"] = torch.zeros(3, dtype=torch.int64)
    with pytest.raises(ValueError, match=r"the saved state row is torch.int64 of shape \(3,\): expected"):
        metric.load_state_dict(saved)
    assert metric.compute() == before
