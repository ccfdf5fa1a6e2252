"""The metrics in one call: every layout and average, options for text, and any text beside sacrebleu."""

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from draws import fewer
from hypothesis import given
from hypothesis import strategies as st
from layouts import apart, inputs
from metrics.apis import COMPLETE, Api
from oracles import close
from rouge_oracle import KEYS
from sacrebleu.metrics import BLEU, CHRF
from torch import Tensor

from ngram_metrics import ChrF, ROUGEScore
from ngram_metrics.functional import bleu_score, chrf_score, ngram_overlap, rouge_score

#: A separator of sentences is an id and a line break, so that every layout has the same sentences.
OPTIONS: dict[str, dict[str, Any]] = {"ROUGEScore": {"rouge_keys": KEYS, "sentence_separator_id": 3}}
NAMES = {"ROUGEScore": "ab\n"}
each_api = pytest.mark.parametrize("api", COMPLETE, ids=lambda api: api.name)

_documents = st.lists(st.integers(1, 3), max_size=7)
# An empty reference among several cannot be told from a missing one in a padded tensor.
_references = st.lists(_documents, min_size=1, max_size=1) | st.lists(_documents.filter(bool), min_size=1, max_size=3)
one_reference = st.lists(st.tuples(_documents, st.tuples(_documents).map(list)), min_size=1, max_size=5)
batches = st.lists(st.tuples(_documents, _references), min_size=1, max_size=5) | one_reference


def text_of(api: Api, ids: list[int]) -> str:
    """Ids as words of one letter or, for chrF, as letters."""
    return ("" if api.metric is ChrF else " ").join(NAMES.get(api.metric.__name__, "abc")[one - 1] for one in ids)


def scores_of(api: Api, *batch: Any, **options: Any) -> Tensor:
    """The scores; of ROUGE's dict the values side by side."""
    found = api.function(*batch, **OPTIONS.get(api.metric.__name__, {}), **options)
    return torch.stack(list(found.values()), -1) if isinstance(found, dict) else found


@pytest.mark.filterwarnings("ignore:ROUGE's rule for words")
@each_api
@fewer(4)
@given(batch=batches)
def test_every_layout_has_one_score_to_the_last_bit_and_that_of_the_class(api, batch):
    layouts = inputs(batch, lambda ids: text_of(api, ids))
    if api.metric in (ChrF, ROUGEScore):  # tokens are letters, or have no line breaks
        del layouts["tokens"]
    for average in ("micro", "macro", "none"):
        metric = api.metric(average=average, **OPTIONS.get(api.metric.__name__, {}))
        expected = metric(*layouts["text"][:2])
        expected = torch.stack(list(expected.values()), -1) if isinstance(expected, dict) else expected
        for preds, target, padding in layouts.values():
            scores = scores_of(api, preds, target, average=average, **padding)
            assert (scores.dtype, scores.device.type) == (torch.float64, "cpu")
            assert scores.equal(expected)


@each_api
def test_one_segment_needs_no_list(api):
    text, references = text_of(api, [1, 2, 1, 2]), [text_of(api, ids) for ids in ([2, 2], [1, 2, 1])]
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
        with pytest.raises(ValueError, match=r"a padded tensor of ids needs pad_id.*none was given"):
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
    for kind, sentences in [*(("ids", token_id) for token_id in ids), ("tokens", [["a"]])]:
        words = f"^{next(iter(option))} is an option for text, but the segments are {kind}"
        with pytest.raises(ValueError, match=words):
            function(sentences, sentences, pad_id=0, **option)
    with pytest.warns(UserWarning, match="^no segment was counted") as warned:
        function([], [], **option)  # the last batch of a rank may be empty
    assert [warning.filename for warning in warned] == [__file__]


#: Code points that are easily lost, joined or taken for something else.
ODD_CHARACTERS = [
    *"\x00\t\n\r\x0b\x1c\x85\xa0\u2028\u3000\ufeff",  # NUL, and what may or may not part words
    *"\ud800\udbff\udc00\udfff\ufffe\uffff",  # halves of surrogate pairs, and what is no character
    *"\u200b\u200d\u202a\u202e\u2066\u2069\u061c",  # of no width, and those that turn the direction
    *"\u0301\u0345\ufe0f\u0130\u0131\u017f\u212a\ufb01ßΣς",  # marks, and what changes its length with its case
    *"\u0378\U000e0001\U000f0000\U0010fffd\U0010ffff",  # unassigned, tags, private planes
    *"😀東א\u0e01",
]
ANY_CHARACTER = st.characters() | st.integers(0, 0x10FFFF).map(chr)


@st.composite
def batches_of_texts(draw: st.DrawFn) -> Any:
    """Few different odd characters in a batch, so that they meet."""
    odd = draw(st.lists(st.sampled_from(ODD_CHARACTERS) | ANY_CHARACTER, min_size=2, max_size=6))
    text = st.text(st.sampled_from([*"ab B.-  \ud800\udfff", *odd]), max_size=16)
    return draw(st.lists(st.tuples(text, st.lists(text, min_size=1, max_size=3)), min_size=5, max_size=15))


@pytest.mark.filterwarnings("ignore:the texts have no spaces", "ignore:most hypotheses")
@fewer(2)
@given(batch=batches_of_texts())
def test_any_text_as_sacrebleu(batch):
    """Both at a score of each segment, and BLEU at the corpus as well."""
    preds, target = apart(batch)
    for settings in ({"whitespace": True}, {"word_order": 2, "lowercase": True}):
        peer = CHRF(**settings)
        expected = [peer.sentence_score(hypothesis, references).score / 100 for hypothesis, references in batch]
        assert chrf_score(preds, target, average="none", **settings).tolist() == close(expected, 1e-10)
    peer = BLEU(tokenize="none", effective_order=True)
    expected = [peer.sentence_score(hypothesis, references).score / 100 for hypothesis, references in batch]
    ours = bleu_score(preds, target, average="none", tokenizer=None)
    assert ours.tolist() == close(expected, 1e-10)
    most = max(map(len, target))
    streams = [[row[i] if i < len(row) else None for row in target] for i in range(most)]
    corpus = BLEU(tokenize="none", smooth_method="floor").corpus_score(preds, streams).score / 100
    assert bleu_score(preds, target, smooth="floor", tokenizer=None).item() == close(corpus, 1e-10)
