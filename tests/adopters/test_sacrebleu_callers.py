"""OpenNMT-py, eole and JoeyNMT call sacrebleu in one function."""

import pytest
from documentation import run_recipe
from sacrebleu import corpus_bleu
from systems import output, references

REFERENCES = references(31)
WRITTEN = output(REFERENCES, 0.2, seed=1)


def test_the_functions_have_the_value_of_sacrebleu():
    recipe = run_recipe("OpenNMT-py, eole and JoeyNMT")
    theirs = corpus_bleu(WRITTEN, [REFERENCES]).score
    assert recipe["compute_score"](None, WRITTEN, REFERENCES) == pytest.approx(theirs, rel=1e-12)
    by_characters = corpus_bleu(WRITTEN, [REFERENCES], tokenize="char").score
    assert recipe["bleu"](WRITTEN, REFERENCES, tokenize="char") == pytest.approx(by_characters, rel=1e-12)
