"""ROUGE in one call and over batches: torchmetrics' numbers, averages, ids, what it compiles to, what it refuses."""

import inspect
import re
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
import rouge_oracle
import torchmetrics.functional.text.rouge as peer
from draws import fewer
from hypothesis import assume, given
from hypothesis import strategies as st
from layouts import apart
from oracles import close
from rouge_score import rouge_scorer
from torchmetrics.text import ROUGEScore as PeerROUGEScore

from ngram_metrics import ROUGEScore
from ngram_metrics.functional import rouge_score

#: Texts of which the rule leaves nothing are among those drawn; `test_input_warnings.py` is about the warning.
pytestmark = pytest.mark.filterwarnings("ignore:ROUGE's rule for words")

#: Those of torchmetrics that need no model: its rougeLsum asks nltk's punkt for sentences.
WITHOUT_LSUM = ("rouge1", "rouge2", "rouge3", "rougeL")

PIECES = [*"ab", "run", "running", "The", "é", "\u212a", "😀", "2", "_", " ", " ", " ", ". ", "\n", "\r\n"]
texts = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
batches = st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=3)), min_size=1, max_size=4)
# The peer scores one key after another, sentence by sentence.
few = fewer(4)


def lines(text):
    return [line for line in text.split("\n") if line]


def full_stops(text):
    return text.split(". ")


def floats(named):
    return {key: value.tolist() for key, value in named.items()}


def tied_in_float32(batch, keys, words=rouge_oracle.summary):
    """Whether some best F has an equal in float32 that is another number in float64."""
    for hypothesis, references in batch:
        for key in keys:
            several = [
                rouge_oracle.scores(rouge_oracle.counts(key, words(hypothesis), words(reference))).fmeasure
                for reference in references
            ]
            if len({one for one in several if np.float32(one) == np.float32(max(several))}) > 1:
                return True
    return False


@pytest.mark.parametrize("accumulate", ["best", "avg"])
@pytest.mark.parametrize("stemmed", [False, True])
@few
@given(batches)
def test_scores_are_those_of_torchmetrics(stemmed, accumulate, batch):
    """It breaks ties in float32: those are left to test_rouge.py of the metric, where rouge_score does as we do."""
    assume(stemmed or accumulate == "avg" or not tied_in_float32(batch, WITHOUT_LSUM))
    preds, target = apart(batch)
    theirs = peer.rouge_score(preds, target, accumulate, stemmed, rouge_keys=WITHOUT_LSUM)
    ours = rouge_score(preds, target, accumulate, stemmed, rouge_keys=WITHOUT_LSUM)
    assert list(ours) == list(theirs)
    compared = [key for key in ours if not stemmed or accumulate == "avg" or key.endswith("fmeasure")]
    assert {k: ours[k].item() for k in compared} == close({k: theirs[k].item() for k in compared}, 1e-6)


@pytest.mark.parametrize("splitter", [lines, full_stops])
@few
@given(batches)
def test_with_its_own_sentences_rouge_lsum_is_that_of_torchmetrics(splitter, batch):
    preds, target = apart(batch)
    with mock.patch.object(peer, "_split_sentence", splitter):
        theirs = peer.rouge_score(preds, target, "avg", rouge_keys=("rougeLsum", "rouge1"))
    ours = rouge_score(preds, target, "avg", rouge_keys=("rougeLsum", "rouge1"), sentence_splitter=splitter)
    assert floats(ours) == close(floats(theirs), 1e-6)


@pytest.mark.parametrize(
    "options",
    [
        {"normalizer": str.upper},
        {"normalizer": lambda text: text.replace("a", " ")},
        {"tokenizer": str.split},
        {"tokenizer": list},
        {"tokenizer": lambda text: text.split("n")},
        {"normalizer": str, "tokenizer": lambda text: text.split(" ")},
        {"normalizer": str.lower, "use_stemmer": True},
        {"tokenizer": str.split, "use_stemmer": True},
    ],
    ids=range(8),
)
@few
@given(batches)
def test_callables_are_used_as_torchmetrics_uses_them(options, batch):
    preds, target = apart(batch)
    theirs = peer.rouge_score(preds, target, "avg", rouge_keys=WITHOUT_LSUM, **options)
    ours = rouge_score(preds, target, "avg", rouge_keys=WITHOUT_LSUM, **options)
    assert floats(ours) == close(floats(theirs), 1e-6)


def test_the_parameters_begin_with_those_of_torchmetrics():
    for ours, theirs in ((rouge_score, peer.rouge_score), (ROUGEScore, PeerROUGEScore)):
        own, others = (list(inspect.signature(one).parameters.values()) for one in (ours, theirs))
        others = [parameter for parameter in others if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
        for mine, its in zip(own, others, strict=False):
            assert (mine.name, mine.default, mine.kind) == (its.name, its.default, its.kind)
        rest = [one.name for one in own[len(others) :]]
        assert rest[:4] == ["average", "sentence_splitter", "sentence_separator_id", "pad_id"]


def test_an_empty_word_of_a_tokenizer_is_dropped_as_in_torchmetrics_and_kept_in_rouge_score():
    def split(text: str) -> list[str]:
        return text.split(" ")

    pair = "the  cat", "the  dog"
    options = {"rouge_keys": "rouge1", "tokenizer": split, "normalizer": str}
    theirs = peer.rouge_score(*pair, **options)["rouge1_fmeasure"]
    assert rouge_score(*pair, **options)["rouge1_fmeasure"] == theirs == 1 / 2
    scorer = rouge_scorer.RougeScorer(["rouge1"], tokenizer=SimpleNamespace(tokenize=split))
    assert scorer.score(*pair)["rouge1"].fmeasure == 2 / 3


@pytest.mark.parametrize("key", ["rougeW", "rougew", "ROUGE-W-1.2", "rougeS", "rougeSU4", "ROUGE-S*"])
def test_rouge_w_and_rouge_s_are_said_to_be_left_out(key):
    with pytest.raises(ValueError, match=rf"^{re.escape(key)} is not offered: neither rouge_score nor .*'rouge1'"):
        rouge_score("a", "a", rouge_keys=key)


@pytest.mark.parametrize(
    ("key", "meant"),
    [("L", "rougeL"), ("1", "rouge1"), ("rougel", "rougeL"), ("Lsum", "rougeLsum"), ("ROUGE-2", "rouge2")],
)
def test_a_key_in_other_words_is_named(key, meant):
    with pytest.raises(ValueError, match=rf"^unknown rouge key '{key}': expected one of .*; did you mean '{meant}'\?$"):
        rouge_score("a", "a", rouge_keys=key)
