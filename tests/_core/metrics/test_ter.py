"""TER against sacrebleu's: sentences and corpora to the last bit, and what is refused."""

import gc
import math
import pickle
import random
import sys
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from layouts import apart
from measures import MANY as MANY_EDITS
from measures import Measured, Settings, characters, of_settings
from measures import options as all_options
from metrics.apis import APIS
from metrics.cases import assert_same_states, states_of
from sacrebleu.metrics import TER
from sacrebleu.tokenizers.tokenizer_base import BaseTokenizer
from systems import output, references

import ngram_metrics
from ngram_metrics import Ter, evaluate, ignite
from ngram_metrics._core.metrics.ter import PARTS, TerMeasure, TextReader
from ngram_metrics.functional import ter_score
from ngram_metrics.hugging_face import Reward

REFERENCES = references(60)
SYSTEMS = {"base": output(REFERENCES, 0.4, seed=1), "other": output(REFERENCES, 0.2, seed=2)}
#: Sixteen references of each of a few sentences, of different lengths.
FEW = 12
MANY = [output(REFERENCES[:FEW], 0.3, seed) for seed in range(16)]

texts = st.lists(st.sampled_from(["a", "b", "c", "A.", "&lt;", "東京", "d e f"]), max_size=7).map(" ".join)
_OPTIONS = tuple(APIS["ter"].flags)
_of_ter = all_options(**{name: [False, True] for name in _OPTIONS})
chosen = st.sampled_from(_of_ter)


def _counts(settings: Settings, hypothesis: str, references: Sequence[str]) -> tuple:
    counted = TER(**settings).corpus_score([hypothesis], [[reference] for reference in references])
    mean = Fraction(counted.ref_length).limit_denominator(len(references))
    return counted.num_edits, math.floor(mean), int(mean % 1 * PARTS)


def _score(settings: Settings, counts: Sequence[int]) -> float:
    edits, words, fraction = counts
    mean = words + Fraction(fraction, PARTS)
    return float(edits / mean) if mean else float(edits > 0)


_pieces = st.sampled_from(["a", "A", "b", "c d e", "f.", "&amp;", "東京", "\n", ","])
MEASURED = Measured(
    make=of_settings(TerMeasure),
    reader=lambda settings: TextReader(splits=True),
    documents=st.lists(_pieces, max_size=6).map(" ".join),
    settings=chosen,
    counts=_counts,
    score=_score,
    variants=(_of_ter[0], _of_ter[-1]),
    perfect=st.tuples(chosen, characters),
    past_float32=(
        ({}, (MANY_EDITS - 1, MANY_EDITS, 0), (MANY_EDITS - 1) / MANY_EDITS),
        ({}, (MANY_EDITS, 0, MANY_EDITS * PARTS), 1.0),
    ),
    text_only=True,
)


def of_sentences(hypotheses, target, **options) -> list[float]:
    metric = TER(**options)
    return [metric.sentence_score(*pair).score for pair in zip(hypotheses, target, strict=True)]


@pytest.mark.filterwarnings("ignore:the texts have no spaces")
@given(
    st.lists(st.tuples(texts, st.integers(1, 22).flatmap(lambda n: st.lists(texts, min_size=n, max_size=n)))), chosen
)
def test_scores_of_sentences_are_sacrebleus_to_the_last_bit(batch, options):
    hypotheses, target = apart(batch)
    if batch:
        found = ter_score(hypotheses, target, average="none", **options)
        assert (100 * found).tolist() == of_sentences(hypotheses, target, **options)
        mean = ter_score(hypotheses, target, average="macro", **options).item()
        assert mean == pytest.approx(math.fsum(found.tolist()) / len(batch), rel=1e-15)


@pytest.mark.parametrize(
    ("number", "options"),
    [(1, {"normalized": True}), (2, {"no_punct": True, "case_sensitive": True}), (4, {}), (8, {}), (16, {})],
    ids=str,
)
def test_the_score_of_a_corpus_is_sacrebleus_to_the_last_bit(number, options):
    streams = MANY[:number]
    hypotheses, target = SYSTEMS["base"][:FEW], list(zip(*streams, strict=True))
    expected = TER(**options).corpus_score(hypotheses, streams).score
    metrics = [Ter(**options), ignite.Ter(**options)]
    for first in (0, 5, 10):
        batch = hypotheses[first : first + 5], target[first : first + 5]
        metrics[0].update(*batch)
        metrics[1].update(batch)
    assert [100 * float(metric.compute()) for metric in metrics] == [expected] * 2
    assert 100 * ter_score(hypotheses, target, **options).item() == expected


@pytest.mark.parametrize("number", [3, 7])
def test_means_of_lengths_that_binary_numbers_do_not_hold_are_added_exactly(number):
    streams = MANY[:number]
    hypotheses, target = SYSTEMS["base"][:FEW], list(zip(*streams, strict=True))
    edits = sum(TER().sentence_score(*pair).num_edits for pair in zip(hypotheses, target, strict=True))
    words = sum(Fraction(sum(len(reference.split()) for reference in references), number) for references in target)
    found = ter_score(hypotheses, target).item()
    assert found == edits / float(words)
    assert 100 * found == pytest.approx(TER().corpus_score(hypotheses, streams).score, rel=1e-14)
    parts = Ter()
    parts.update(hypotheses, target)
    assert {name: part.dtype for name, part in parts.details().items()} == dict.fromkeys(
        ("edits", "reference_length", "reference_fraction"), torch.int64
    )
    turned = list(range(len(hypotheses)))
    random.Random(0).shuffle(turned)
    assert ter_score([hypotheses[place] for place in turned], [target[place] for place in turned]).item() == found


def test_more_references_than_are_counted_exactly_are_refused():
    target = [["a b"], ["a", *["a b"] * 22]]
    metric = Ter()
    metric.update(["a"], ["a b"])
    before = states_of(metric)
    with pytest.raises(ValueError, match=r"^segment 1 has 23 references: TER takes up to 22$"):
        metric.update(["a", "b"], target)
    assert_same_states(metric, before)
    assert ter_score(["a", "b"], [target[0], target[1][1:]], average="none").tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("kind", "sentences"),
    [
        ("tokens", [["a", "b"]]),
        ("ids", [[1, 2]]),
        ("ids", [torch.tensor([1, 2])]),
        ("ids", torch.tensor([[1, 2]])),
        ("ids", np.array([[1, 2]])),
    ],
)
def test_tokens_and_ids_are_refused(kind, sentences):
    words = rf"^the segments are {kind}, and this metric takes text only: expected each as a str"
    metric = Ter()
    metric.update(["a"], ["a b"])
    before = states_of(metric)
    with pytest.raises(TypeError, match=words):
        metric.update(sentences, sentences)
    assert_same_states(metric, before)
    with pytest.raises(TypeError, match=words):
        ter_score(sentences, sentences)


def test_texts_without_blanks_give_a_warning_that_names_the_options():
    hypotheses, target = ["我们明天回来。"] * 3, ["我们明天早上回来。"] * 3
    with pytest.warns(UserWarning, match=r"a segment is one word. Pass normalized=True and asian_support=True, which"):
        assert ter_score(hypotheses, target).item() == 1
    assert ter_score(hypotheses, target, normalized=True, asian_support=True).item() == 2 / 9


@pytest.mark.parametrize("on", [(), *((name,) for name in _OPTIONS), _OPTIONS], ids=",".join)
def test_the_signature_has_the_fields_of_sacrebleus_in_its_order(on):
    options = dict.fromkeys(on, True)
    peer, metric = TER(**options), Ter(**options)
    peer.corpus_score(["a"], [["a"]])
    metric.update(["a"], ["a"])
    theirs = str(peer.get_signature()).replace("version:", "sacrebleu:").split("|")
    ours = metric.signature.split("|")
    assert [field for field in ours if field in theirs] == theirs
    assert [field for field in ours if field not in theirs] == [
        "avg:micro",
        "unit:text",
        f"version:ngram_metrics-{ngram_metrics.__version__}",
    ]


def test_without_sacrebleu_the_package_is_named(monkeypatch):
    made = pickle.loads(pickle.dumps(Ter()))
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    for call in (Ter, ignite.Ter, lambda: ter_score(["a"], ["a"]), lambda: evaluate(["a"], ["a"], "ter")):
        with pytest.raises(ModuleNotFoundError, match=r"^TER is counted by sacrebleu: pip install sacrebleu$"):
            call()
    assert made.higher_is_better is False


def test_what_looks_for_the_highest_score_refuses_it():
    with pytest.raises(ValueError, match="looks for the highest score, and a lower ter is better: expected a metric"):
        Reward(Ter())


def test_sacrebleus_tokenizer_is_made_once_for_each_set_of_options():
    """Its cache keeps each tokenizer alive that has read a text."""
    for options in ({}, {"normalized": True}):
        ter_score(["a"], ["b"], **options)
    gc.collect()
    before = sum(issubclass(type(value), BaseTokenizer) for value in gc.get_objects())
    for _ in range(3):
        for options in ({}, {"normalized": True}):
            metric = Ter(**options)
            metric.update(["a"], ["b"])
            metric.compute()
    gc.collect()
    assert sum(issubclass(type(one), BaseTokenizer) for one in gc.get_objects()) == before
