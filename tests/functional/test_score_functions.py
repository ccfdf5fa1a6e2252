"""The metrics in one call: every layout and average, what options need text, and ROUGE beside torchmetrics."""

import inspect
from itertools import product
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
import torch
import torchmetrics.functional.text.rouge as peer
from draws import fewer
from hypothesis import given
from hypothesis import strategies as st
from layouts import PADDING, apart, padded
from metrics.apis import COMPLETE
from oracles import close
from rouge_oracle import KEYS
from rouge_score import rouge_scorer
from torchmetrics.text import ROUGEScore as PeerROUGEScore

from ngram_metrics import ChrF, ROUGEScore
from ngram_metrics.functional import bleu_score, chrf_score, ngram_overlap, rouge_score

#: Texts of which the rule leaves nothing are among those drawn; `test_input_warnings.py` is about the warning.
pytestmark = pytest.mark.filterwarnings("ignore:ROUGE's rule for words")

each_api = pytest.mark.parametrize("api", COMPLETE, ids=lambda api: api.name)
#: An id that ends a sentence, which is a line break in a text, so that every layout has the same sentences.
SEPARATOR = 3
_documents = st.lists(st.integers(1, 3), max_size=7)
# An empty reference among several cannot be told from a missing one in a padded tensor.
_references = st.lists(_documents, min_size=1, max_size=1) | st.lists(_documents.filter(bool), min_size=1, max_size=3)
one_reference = st.lists(st.tuples(_documents, st.tuples(_documents).map(list)), min_size=1, max_size=5)
batches = st.lists(st.tuples(_documents, _references), min_size=1, max_size=5) | one_reference


def options_of(api):
    return {"rouge_keys": KEYS, "sentence_separator_id": SEPARATOR} if api.metric is ROUGEScore else {}


def text_of(api, ids):
    """Ids as words of one letter or, for chrF, as letters."""
    letters = {1: "a", 2: "b", SEPARATOR: "\n" if api.metric is ROUGEScore else "c"}
    return ("" if api.metric is ChrF else " ").join(letters[one] for one in ids)


def layouts_of(api, batch):
    """A batch of ids as text, as tokens, and as ids; tests/_core/text/test_reader.py has more layouts of ids."""

    def each(read):
        return [read(ids) for ids, _ in batch], [list(map(read, several)) for _, several in batch]

    rows = padded(batch, gaps=True)
    lists = apart(batch)
    layouts = [each(lambda ids: text_of(api, ids)), lists, rows, (rows[0], lists[1])]
    layouts.append(tuple(side.numpy().astype(np.int32) for side in rows))
    if rows[1].shape[1] == 1:
        layouts.append((rows[0], rows[1][:, 0]))
    if api.metric not in (ChrF, ROUGEScore):  # whose tokens are letters, or have no line breaks
        layouts.append(each(lambda ids: text_of(api, ids).split()))
    return layouts


def stacked(found):
    """Of ROUGE's dict the values side by side."""
    return torch.stack(list(found.values()), -1) if isinstance(found, dict) else found


def scores_of(api, *batch, **options):
    return stacked(api.function(*batch, **options_of(api), **options))


@each_api
@fewer(4)
@given(batch=batches)
def test_every_layout_has_one_score_to_the_last_bit_and_that_of_the_class(api, batch):
    layouts = layouts_of(api, batch)
    for average in ("micro", "macro", "none"):
        expected = stacked(api.metric(average=average, **options_of(api))(*layouts[0]))
        for preds, target in layouts:
            scores = scores_of(api, preds, target, average=average, pad_id=PADDING)
            assert (scores.dtype, scores.device.type) == (torch.float64, "cpu")
            assert scores.equal(expected)


@each_api
def test_one_segment_needs_no_list(api):
    text = text_of(api, [1, 2, 1, 2])
    references = [text_of(api, ids) for ids in ([2, 2], [1, 2, 1])]
    for target, listed in ((references[0], references[:1]), (references, references)):
        assert scores_of(api, text, target).equal(scores_of(api, [text], [listed]))
    assert scores_of(api, text, references, average="none").shape[0] == 1


@pytest.mark.parametrize("pad_id", [None, (), []])
@each_api
def test_padded_ids_without_their_padding_and_of_no_fitting_shape_are_refused(api, pad_id):
    ids = torch.tensor([[1, 2, 0]])
    for one, other in product((ids, ids.numpy(), ids.tolist()), repeat=2):
        if one is other and isinstance(one, list):
            continue
        with pytest.raises(
            ValueError,
            match=r"a padded tensor of ids was given without pad_id: pass .* if nothing is padded, pass pad_id=-1",
        ):
            scores_of(api, one, other, pad_id=pad_id)
    if api.function is not ngram_overlap:  # which takes samples
        with pytest.raises(ValueError, match=r"preds has shape \(1, 1, 3\)"):
            scores_of(api, ids[None], ids, pad_id=0)


@pytest.mark.parametrize(
    ("function", "option"),
    [
        *((chrf_score, one) for one in ({"word_order": 2}, {"lowercase": True}, {"whitespace": True})),
        *((rouge_score, one) for one in ({"use_stemmer": True}, {"normalizer": str}, {"tokenizer": list})),
        (rouge_score, {"sentence_splitter": str.splitlines}),
        (bleu_score, {"lowercase": True}),
        (bleu_score, {"tokenizer": list, "lowercase": True}),
    ],
)
def test_options_for_text_are_refused_for_what_is_no_text(function, option):
    ids = [[[1]], [torch.tensor([1])], torch.tensor([[1]]), np.array([[1]])]
    for kind, segments in [*(("ids", token_id) for token_id in ids), ("tokens", [["a"]])]:
        name = next(iter(option))
        default = inspect.signature(function).parameters[name].default
        unset = None if name == "tokenizer" else default  # None splits at whitespace, and leaves tokens as they are
        words = f"^{name} is an option for text, but the segments are {kind}: expected texts, or {name}={unset}$"
        with pytest.raises(ValueError, match=words):
            function(segments, segments, pad_id=0, **option)
    with pytest.warns(UserWarning, match="^no segments were counted") as warned:
        function([], [], **option)  # the last batch of a rank may be empty
    assert [warning.filename for warning in warned] == [__file__]


#: Those of torchmetrics that need no model: its rougeLsum asks nltk's punkt for sentences.
WITHOUT_LSUM = ("rouge1", "rouge2", "rouge3", "rougeL")

PIECES = [*"ab", "run", "running", "The", "é", "\u212a", "😀", "2", "_", " ", " ", " ", ". ", "\n", "\r\n"]
rouge_texts = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
rouge_batches = st.lists(st.tuples(rouge_texts, st.lists(rouge_texts, min_size=1, max_size=3)), min_size=1, max_size=4)
# The peer scores one key after another, segment by segment.
few = fewer(4)


def lines(text):
    return [line for line in text.split("\n") if line]


def full_stops(text):
    return text.split(". ")


def floats(named):
    return {key: value.tolist() for key, value in named.items()}


@pytest.mark.parametrize("accumulate", ["best", "avg"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"use_stemmer": True},
        {"normalizer": str.upper},
        {"normalizer": lambda text: text.replace("a", " ")},
        {"tokenizer": str.split},
        {"tokenizer": list},
        {"tokenizer": lambda text: text.split("n")},
        {"normalizer": str, "tokenizer": lambda text: text.split(" ")},
        {"normalizer": str.lower, "use_stemmer": True},
        {"tokenizer": str.split, "use_stemmer": True},
    ],
    ids=range(10),
)
@few
@given(batch=rouge_batches)
def test_scores_are_those_of_torchmetrics(options, accumulate, batch):
    """Of the best reference F alone: torchmetrics breaks ties in float32, and may take another one of the same F."""
    preds, target = apart(batch)
    theirs = peer.rouge_score(preds, target, accumulate=accumulate, rouge_keys=WITHOUT_LSUM, **options)
    ours = rouge_score(preds, target, accumulate=accumulate, rouge_keys=WITHOUT_LSUM, **options)
    assert list(ours) == list(theirs)
    compared = [key for key in ours if accumulate == "avg" or key.endswith("fmeasure")]
    assert {key: ours[key].item() for key in compared} == close({key: theirs[key].item() for key in compared}, 1e-6)


@pytest.mark.parametrize("splitter", [lines, full_stops])
@few
@given(rouge_batches)
def test_with_its_own_sentences_rouge_lsum_is_that_of_torchmetrics(splitter, batch):
    preds, target = apart(batch)
    with mock.patch.object(peer, "_split_sentence", splitter):
        theirs = peer.rouge_score(preds, target, "avg", rouge_keys=("rougeLsum", "rouge1"))
    ours = rouge_score(preds, target, "avg", rouge_keys=("rougeLsum", "rouge1"), sentence_splitter=splitter)
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
