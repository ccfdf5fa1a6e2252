"""Code written for Hugging Face's ``evaluate``: the methods that it calls, and the value of its ``sacrebleu``."""

import pytest
from documentation import run_recipe
from sacrebleu.metrics import BLEU, CHRF
from systems import output, references

from ngram_metrics import ChrF

REFERENCES = references(31), output(references(31), 0.1, seed=2)
WRITTEN = output(REFERENCES[0], 0.2, seed=1)
#: A list for each segment, as ``evaluate`` takes them.
LISTS = [list(texts) for texts in zip(*REFERENCES, strict=True)]


def test_batches_have_the_value_of_its_sacrebleu():
    """metrics/sacrebleu/sacrebleu.py of evaluate 0.4 turns the lists round and calls ``sacrebleu.corpus_bleu``."""
    metric = run_recipe("Code written for evaluate")["metric"]
    for start in range(0, len(WRITTEN), 8):
        metric.add_batch(predictions=WRITTEN[start : start + 8], references=LISTS[start : start + 8])
    assert metric.compute() == {"score": pytest.approx(BLEU().corpus_score(WRITTEN, REFERENCES).score, rel=1e-12)}


def test_compute_takes_a_corpus_and_begins_with_none_of_the_last_one():
    metric = run_recipe("Code written for evaluate")["metric"]
    metric.compute(predictions=WRITTEN, references=LISTS)
    theirs = BLEU().corpus_score(WRITTEN[:9], [texts[:9] for texts in REFERENCES]).score
    assert metric.compute(predictions=WRITTEN[:9], references=LISTS[:9]) == {"score": pytest.approx(theirs, rel=1e-12)}


def test_another_metric_has_the_value_of_its_chrf():
    """metrics/chrf/chrf.py of evaluate 0.4 calls ``sacrebleu.CHRF``."""
    metric = run_recipe("Code written for evaluate")["LoadedMetric"](ChrF())
    theirs = CHRF().corpus_score(WRITTEN, REFERENCES).score
    assert metric.compute(predictions=WRITTEN, references=LISTS) == {"score": pytest.approx(theirs, rel=1e-12)}
