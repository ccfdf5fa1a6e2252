"""ROUGE in one call and over batches: torchmetrics' numbers, averages, ids, what it compiles to, what it refuses."""

import inspect
import sys
from itertools import chain
from unittest import mock

import numpy as np
import pytest
import rouge_oracle
import torch
import torchmetrics.functional.text.rouge as peer
from hypothesis import assume, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from rouge_oracle import KEYS
from torchmetrics.text import ROUGEScore as PeerROUGEScore

from ngram_metrics import ROUGEScore
from ngram_metrics.functional import rouge_score
from ngram_metrics.text import rouge_reader

#: Texts of which the rule leaves nothing are among those drawn; `text/test_hints.py` is about the warning.
pytestmark = pytest.mark.filterwarnings("ignore:ROUGE's rule for words")

#: Those of torchmetrics that need no model: its rougeLsum asks nltk's punkt for sentences.
WITHOUT_LSUM = ("rouge1", "rouge2", "rouge3", "rougeL")
NAMES = ("fmeasure", "precision", "recall")

PIECES = [*"ab", "run", "running", "The", "é", "\u212a", "😀", "2", "_", " ", " ", " ", ". ", "\n", "\r\n"]
texts = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
batches = st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=3)), min_size=1, max_size=4)
# The peer scores one key after another, sentence by sentence.
few = examples(max_examples=20)


def apart(batch):
    return [one for one, _ in batch], [several for _, several in batch]


def lines(text):
    return [line for line in text.split("\n") if line]


def full_stops(text):
    return text.split(". ")


def floats(named):
    return {key: value.tolist() for key, value in named.items()}


def close(expected, tolerance=1e-12):
    return pytest.approx(expected, rel=0, abs=tolerance, nan_ok=True)


def assert_same(one, other):
    assert list(one) == list(other)
    for key, value in one.items():
        assert value.equal(other[key]), key


# torchmetrics.


def tied_in_float32(batch, keys, words=rouge_oracle.summary):
    """Whether some best F has an equal in float32 that is another number in float64."""
    for hypothesis, references in batch:
        for key in keys:
            several = [
                rouge_oracle.scores(rouge_oracle.counts(key, words(hypothesis), words(one))).fmeasure
                for one in references
            ]
            if len({one for one in several if np.float32(one) == np.float32(max(several))}) > 1:
                return True
    return False


@pytest.mark.parametrize("accumulate", ["best", "avg"])
@pytest.mark.parametrize("stemmed", [False, True])
@few
@given(batches)
def test_scores_are_those_of_torchmetrics(stemmed, accumulate, batch):
    """In float32, which is why what it takes for equal is left to the next test."""
    assume(stemmed or accumulate == "avg" or not tied_in_float32(batch, WITHOUT_LSUM))
    preds, target = apart(batch)
    theirs = peer.rouge_score(preds, target, accumulate, stemmed, rouge_keys=WITHOUT_LSUM)
    ours = rouge_score(preds, target, accumulate, stemmed, rouge_keys=WITHOUT_LSUM)
    assert list(ours) == list(theirs)
    compared = [key for key in ours if not stemmed or accumulate == "avg" or key.endswith("fmeasure")]
    assert {k: ours[k].item() for k in compared} == close({k: theirs[k].item() for k in compared}, 1e-6)


def test_torchmetrics_breaks_ties_in_float32():
    """Of two F that differ in the last bit of float64 it takes the first, rouge_score and we the higher."""
    preds, target = ["a b c d"], [["a b c x y", "a b c d w x y z"]]
    assert tied_in_float32([(preds[0], target[0])], ["rouge1"])
    ours, theirs = (one(preds, target, rouge_keys="rouge1") for one in (rouge_score, peer.rouge_score))
    assert (ours["rouge1_precision"].item(), ours["rouge1_recall"].item()) == (1, 0.5)
    assert (theirs["rouge1_precision"].item(), theirs["rouge1_recall"].item()) == close((0.75, 0.6), 1e-6)
    assert ours["rouge1_fmeasure"].item() == close(theirs["rouge1_fmeasure"].item(), 1e-6)


@pytest.mark.parametrize("splitter", [lines, full_stops])
@few
@given(batches)
def test_with_its_own_sentences_rouge_lsum_is_that_of_torchmetrics(splitter, batch):
    preds, target = apart(batch)
    with mock.patch.object(peer, "_split_sentence", splitter):
        theirs = peer.rouge_score(preds, target, "avg", rouge_keys=("rougeLsum", "rouge1"))
    ours = rouge_score(preds, target, "avg", rouge_keys=("rougeLsum", "rouge1"), sentence_splitter=splitter)
    assert floats(ours) == close(floats(theirs), 1e-6)


def test_a_sentence_is_a_line_where_torchmetrics_asks_punkt():
    text, other = "a b. c d.\ne f.", "c d. a b.\ne f."
    by_line = rouge_score(text, other, rouge_keys="rougeLsum")["rougeLsum_fmeasure"]
    by_stop = rouge_score(text, other, rouge_keys="rougeLsum", sentence_splitter=full_stops)["rougeLsum_fmeasure"]
    assert (by_line.item(), by_stop.item()) == (close(4 / 6), 1)


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
        others = [one for one in others if one.kind is not inspect.Parameter.VAR_KEYWORD]
        for mine, its in zip(own, others, strict=False):
            assert (mine.name, mine.default, mine.kind) == (its.name, its.default, its.kind)
        rest = [one.name for one in own[len(others) :]]
        assert rest[:4] == ["average", "sentence_splitter", "sentence_separator_id", "pad_id"]


@pytest.mark.parametrize("several", [False, True])
def test_the_documented_example(several):
    preds, target = "My name is John", "Is your name John"
    given_to_both = (preds, target) if not several else ([preds], [[target]])
    with mock.patch.object(peer, "_split_sentence", lines):
        theirs = peer.rouge_score(*given_to_both)
    ours = rouge_score(*given_to_both)
    assert list(ours) == list(theirs) == [f"{key}_{name}" for key in ROUGE_DEFAULT for name in NAMES]
    assert floats(ours) == floats(theirs)
    assert [ours[f"{key}_fmeasure"].item() for key in ROUGE_DEFAULT] == [0.75, 0, 0.5, 0.5]
    assert {(one.dtype, one.shape) for one in ours.values()} == {(torch.float64, ())}


ROUGE_DEFAULT = ("rouge1", "rouge2", "rougeL", "rougeLsum")


@pytest.mark.parametrize(
    ("preds", "target"),
    [
        ("a b", "a c"),
        ("a b", ["a c", "b"]),
        (["a b"], ["a c"]),
        (["a b", "c"], ["a c", "d"]),
        (["a b", "c"], [["a c"], ["d", "c c"]]),
    ],
    ids=str,
)
def test_texts_are_told_apart_as_in_torchmetrics(preds, target):
    ours, theirs = (one(preds, target, rouge_keys=WITHOUT_LSUM) for one in (rouge_score, peer.rouge_score))
    assert floats(ours) == close(floats(theirs), 1e-6)


def test_keys_are_a_str_or_a_sequence_and_give_their_order():
    whole = rouge_score("a b\nc", "c\na", rouge_keys=KEYS)
    assert list(whole) == [f"{key}_{name}" for key in KEYS for name in NAMES]
    for keys in ("rougeL", ["rougeLsum", "rouge1"], ("rouge9", "rougeL", "rouge2")):
        some = rouge_score("a b\nc", "c\na", rouge_keys=keys)
        listed = [keys] if isinstance(keys, str) else keys
        assert list(some) == [f"{key}_{name}" for key in listed for name in NAMES]
        assert_same(some, {key: whole[key] for key in some})


# Averages.


def test_f_may_be_below_both_precision_and_recall_in_macro_and_not_in_micro():
    preds, target = ["a", "a b c d"], ["a b c d", "a"]
    macro, micro = (rouge_score(preds, target, rouge_keys="rouge1", average=one) for one in ("macro", "micro"))
    assert list(floats(macro).values()) == close([0.4, 0.625, 0.625])
    assert list(floats(micro).values()) == close([0.4, 0.4, 0.4])


# Ids.

SEPARATOR, PADDING, IGNORED = 9, 0, -100
id_summaries = st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=4), min_size=1, max_size=3)
id_batches = st.lists(st.tuples(id_summaries, st.lists(id_summaries, min_size=1, max_size=3)), min_size=1, max_size=4)


def with_separators(summary):
    return list(chain.from_iterable([*sentence, SEPARATOR] for sentence in summary))[:-1]


def row(document, width, at=0):
    """A document in a padded row, with padding also inside it."""
    filled = [*document[:at], PADDING, *document[at:], *[IGNORED] * width]
    return filled[:width]


def layouts(batch, width=16):
    """The same summaries as texts, as lists, as tensors, as padded tensors, and as padded ones beside lists."""
    text = [
        ("\n".join(" ".join(map(str, sentence)) for sentence in one) for one in side)
        for side in ([one for one, _ in batch], [other for _, several in batch for other in several])
    ]
    counts = [len(several) for _, several in batch]
    hypotheses, flat = (list(side) for side in text)
    each = iter(flat)
    yield hypotheses, [[next(each) for _ in range(count)] for count in counts], {}
    ids = {"sentence_separator_id": SEPARATOR, "pad_id": (PADDING, IGNORED)}
    preds = [with_separators(one) for one, _ in batch]
    target = [list(map(with_separators, several)) for _, several in batch]
    yield preds, target, ids
    yield [torch.tensor(one) for one in preds], [[torch.tensor(one) for one in several] for several in target], ids
    padded = torch.tensor([row(one, width, at=1) for one in preds])
    rows = [[row(one, width) for one in (*several, *[[]] * (3 - len(several)))] for several in target]
    yield padded, torch.tensor(rows), ids
    yield padded, target, ids
    yield padded.numpy().astype(np.int32), np.array(rows, dtype=np.int32), ids


@pytest.mark.parametrize("accumulate", ["best", "avg"])
@few
@given(id_batches)
def test_every_layout_scores_as_the_text_split_at_lines(accumulate, batch):
    several = [
        rouge_score(preds, target, accumulate, average="none", rouge_keys=KEYS, **options)
        for preds, target, options in layouts(batch)
    ]
    for other in several[1:]:
        assert_same(other, several[0])


def test_missing_references_never_win():
    """A row of padding alone is no reference; where all are, there is one, empty."""
    preds = torch.tensor([[1, 2, 0], [0, 0, 0], [1, 2, 0]])
    target = torch.tensor([[[0, 0], [3, 4], [0, 0]], [[0, 0], [0, 0], [1, 0]], [[0, 0], [0, 0], [0, 0]]])
    for accumulate in ("best", "avg"):
        scores = rouge_score(preds, target, accumulate, average="none", rouge_keys="rouge1", pad_id=0)
        assert scores["rouge1_fmeasure"].tolist() == [0, 0, 0]
    target[0, 2] = torch.tensor([1, 2])
    best, mean = (
        rouge_score(preds, target, one, average="none", rouge_keys="rouge1", pad_id=0) for one in ("best", "avg")
    )
    assert best["rouge1_recall"].tolist() == [1, 0, 0]
    assert mean["rouge1_recall"].tolist() == [0.5, 0, 0]
    corpus = rouge_score(preds, target, average="micro", rouge_keys="rouge1", pad_id=0)
    assert corpus["rouge1_recall"].item() == close(2 / 3)


def reward_batch(sentences, width, seed):
    ids = torch.Generator().manual_seed(seed)
    preds = torch.randint(0, 5, (sentences, width), generator=ids)
    return preds, torch.randint(0, 5, (sentences, 2, width + 1), generator=ids)


@pytest.mark.parametrize("accumulate", ["best", "avg"])
@pytest.mark.parametrize("keys", ["rouge1", "rouge2", "rougeL", "rougeLsum", ROUGE_DEFAULT], ids=str)
def test_rewards_never_wait_for_the_device(keys, accumulate):
    """On the meta device there are no data: whatever would have to read some raises."""
    preds, target = (one.to("meta") for one in reward_batch(3, 65, 0))
    preds = preds[:, :5]  # each token is a step; more than a word's positions stand on the other side
    for references, average, separator in ((target, "none", 4), (target[:, 0], "macro", 4), (target, "macro", None)):
        options = {"rouge_keys": keys, "sentence_separator_id": separator, "pad_id": (0, -100), "average": average}
        for value in rouge_score(preds, references, accumulate, **options).values():
            assert value.device.type == "meta"
            assert value.shape == ((3,) if average == "none" else ())


@pytest.mark.usefixtures("surroundings")
@pytest.mark.parametrize("accumulate", ["best", "avg"])
def test_the_surroundings_of_a_training_loop_change_no_score(accumulate):
    """In every layout: text, lists, 1-D tensors, padded tensors, and both together."""
    batch = [([[1, 2], [3, 4]], [[[3, 4], [1, 2, 2]], [[4]]]), ([[2]], [[[2, 1], [3]]])]
    numbers = [[rouge_oracle.rouge(key, *one, accumulate) for one in batch] for key in ROUGE_DEFAULT]
    with torch.device("cpu"):
        several = list(layouts(batch))
    for preds, target, options in several:
        got = rouge_score(preds, target, accumulate, average="none", **options)
        for key, expected in zip(ROUGE_DEFAULT, numbers, strict=True):
            for name in NAMES:
                assert got[f"{key}_{name}"].dtype == torch.float64
                assert got[f"{key}_{name}"].tolist() == close([getattr(one, name) for one in expected])


@pytest.mark.cuda
@pytest.mark.parametrize("separator", [None, 4])
def test_scores_are_the_same_on_cuda(separator):
    batch, options = reward_batch(50, 80, 0), {"average": "none", "sentence_separator_id": separator, "pad_id": 0}
    on_cuda = rouge_score(*(one.cuda() for one in batch), **options)
    assert {one.device.type for one in on_cuda.values()} == {"cuda"}
    for key, expected in rouge_score(*batch, **options).items():
        torch.testing.assert_close(on_cuda[key].cpu(), expected, rtol=0, atol=1e-12)
    text = rouge_score("a b\nc", "c\na", device="cuda")
    assert {one.device.type for one in text.values()} == {"cuda"}
    assert floats(text) == close(floats(rouge_score("a b\nc", "c\na")))


# Over batches.


@pytest.mark.parametrize("accumulate", ["best", "avg"])
@pytest.mark.parametrize("stemmed", [False, True])
def test_the_class_is_that_of_torchmetrics(accumulate, stemmed):
    options = {"use_stemmer": stemmed, "accumulate": accumulate, "rouge_keys": WITHOUT_LSUM}
    ours, theirs = ROUGEScore(**options), PeerROUGEScore(**options)
    for batch in (
        (["The runner runs home", ""], [["runners ran home", "the run"], ["a"]]),
        ("a b c", ["a c b", "b"]),
        (["running dogs"], ["a dog runs"]),
    ):
        assert floats(ours(*batch)) == close(floats(theirs(*batch)), 1e-6)
    assert list(ours.compute()) == list(theirs.compute())
    assert floats(ours.compute()) == close(floats(theirs.compute()), 1e-6)


@few
@given(batches)
def test_details_are_the_summed_counts_of_the_best_references(batch):
    metric = ROUGEScore(rouge_keys=KEYS, average="micro")
    metric.update(*apart(batch))
    summaries = [(rouge_oracle.summary(one), list(map(rouge_oracle.summary, several))) for one, several in batch]
    for number, key in enumerate(KEYS):
        several = [rouge_oracle.reduced(key, *one) for one in summaries]
        found = [part[number].item() for part in metric.details().values()]
        assert found == list(sum(several[1:], several[0]))


def test_ids_go_through_the_class():
    batch = reward_batch(4, 6, 0)
    metric = ROUGEScore(average="none", sentence_separator_id=4, pad_id=0)
    metric.update(*(one[:1] for one in batch))
    metric.update(*(one[1:] for one in batch))
    assert_same(metric.compute(), rouge_score(*batch, average="none", sentence_separator_id=4, pad_id=0))


# Errors.


@pytest.mark.parametrize("face", ["function", "class"])
def test_stemming_without_nltk_says_what_to_install(face, monkeypatch):
    rouge_reader._stem.cache_clear()
    monkeypatch.setitem(sys.modules, "nltk.stem.porter", None)
    with pytest.raises(ModuleNotFoundError, match=r"use_stemmer=True needs nltk.*'ngram-metrics\[stem\]'"):
        rouge_score("a", "a", use_stemmer=True) if face == "function" else ROUGEScore(use_stemmer=True)
    assert rouge_score("a", "a")["rouge1_fmeasure"] == 1


@pytest.mark.parametrize("options", [{"use_stemmer": True}, {"tokenizer": "13a"}, {"normalizer": str}], ids=str)
def test_a_batch_of_no_texts_takes_text_options(options):
    """The last batch of a rank may be empty."""
    metric = ROUGEScore(average="none", **options)
    metric.update([], [])
    metric.update(["a"], ["a"])
    assert metric.compute()["rouge1_fmeasure"].tolist() == [1]


def test_sentences_that_cannot_be_read_are_named():
    with pytest.raises(ValueError, match="preds has 2 sentences and target has 1 items"):
        rouge_score(["a", "b"], ["a"])
    with pytest.raises(ValueError, match="sentence 1 has no reference"):
        rouge_score(["a", "b"], [["a"], []])
    with pytest.raises(TypeError, match="reference 0 of sentence 1 is a list"):
        rouge_score(["a", "b"], ["a", [["b"]]])
    with pytest.raises(TypeError, match="normalizer returned a list for reference 0 of sentence 1: expected a str"):
        rouge_score(["a", "b"], ["c", "d"], normalizer=lambda text: ["d"] if text == "d" else text)
    with pytest.raises(TypeError, match="sentence_splitter returned a str for sentence 1, 'b': expected a sequence"):
        rouge_score(["a", "b"], ["c", "d"], sentence_splitter=lambda text: text if text == "b" else [text])
