"""The measures in one call: a batch in every layout and every average, options, and what is refused."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from all_measures import MEASURES
from draws import fewer
from hypothesis import given
from hypothesis import strategies as st
from layouts import apart, inputs
from measures import Measured, Settings, options
from metrics.apis import APIS, COMPLETE
from oracles import close
from rouge_oracle import KEYS
from sacrebleu.metrics import BLEU, CHRF

from ngram_metrics.functional import bleu_score, chrf_score, ngram_overlap, rouge_score


@dataclass(frozen=True)
class Called:
    """A measure in one call.

    Attributes:
        function: the call.
        measured: the measure.
        default: the average that is meant where none is named.
        options: some for the call, and the settings of the measure that they stand for.
        between: what stands between the tokens of a text; nothing where a text is its tokens.
        names: what each id is in a text, from 1 on.
    """

    function: Callable[..., Any]
    measured: Measured
    default: str
    options: tuple[tuple[dict[str, Any], Settings], ...]
    between: str = " "
    names: str = "abc"

    def __call__(self, *batch: Any, **chosen: Any) -> torch.Tensor:
        """The score; of ROUGE's dict the values side by side, ``(..., keys, 3)``."""
        found = self.function(*batch, **chosen)
        if not isinstance(found, dict):
            return found
        keys = dict.fromkeys(name.partition("_")[0] for name in found)
        parts = ("precision", "recall", "fmeasure")
        return torch.stack([torch.stack([found[f"{key}_{part}"] for part in parts], -1) for key in keys], -2)

    def text(self, ids: list[int]) -> str:
        return self.between.join(self.names[token_id - 1] for token_id in ids)

    def expected(self, settings: Settings, batch: list, average: str) -> np.ndarray:
        """The scores of ids in plain Python."""
        read = (lambda ids: list(map(str, ids))) if self.measured.of_text is list else self.text
        return self.measured.expected(
            settings, [(read(hypothesis), list(map(read, references))) for hypothesis, references in batch], average
        )

    def layouts(self, batch: list) -> Iterator[tuple[Any, Any, dict[str, Any]]]:
        for name, layout in inputs(batch, self.text).items():
            # Of lines, only an id alone can end a sentence.
            are_words = self.between and self.names[-1] != "\n"
            if name != "tokens" or are_words:
                yield layout


_BLEU = (
    *options(smooth=["no_smooth", "add-k", "exp"], effective_order=[False]),
    {"ngram": 2, "smooth": "exp", "effective_order": True},
)
_CHRF = ({}, {"eps_smoothing": True}, {"char_order": 2, "beta": 1}, {"char_order": 3, "eps_smoothing": True})
FUNCTIONS = {
    "bleu": Called(bleu_score, MEASURES["bleu"], "micro", tuple((settings, settings) for settings in _BLEU)),
    "rouge": Called(
        rouge_score,
        MEASURES["rouge"],
        "macro",
        (({"rouge_keys": KEYS}, {}), ({"rouge_keys": ("rouge2", "rougeLsum")}, {"keys": ("rouge2", "rougeLsum")})),
    ),
    "rouge of lines": Called(
        rouge_score, MEASURES["rouge"], "macro", (({"rouge_keys": KEYS, "sentence_separator_id": 3}, {}),), names="ab\n"
    ),
    "mean rouge": Called(
        lambda *batch, **chosen: rouge_score(*batch, accumulate="avg", **chosen),
        MEASURES["mean rouge"],
        "macro",
        (({"rouge_keys": KEYS, "sentence_separator_id": 3}, {}),),
        names="ab\n",
    ),
    "chrf": Called(chrf_score, MEASURES["chrf"], "micro", tuple((one, one) for one in _CHRF), between=""),
}
#: The others have the settings of their measures as options.
FUNCTIONS |= {
    name: Called(
        api.function, MEASURES[name], api.options["average"], tuple((one, one) for one in MEASURES[name].variants)
    )
    for name, api in APIS.items()
    if api in COMPLETE and name not in FUNCTIONS and name in MEASURES
}
each = pytest.mark.parametrize("called", FUNCTIONS.values(), ids=FUNCTIONS)


_documents = st.lists(st.integers(1, 3), max_size=7)
# An empty reference among several cannot be told from a missing one in a padded tensor.
_references = st.lists(_documents, min_size=1, max_size=1) | st.lists(_documents.filter(bool), min_size=1, max_size=3)
batches = st.lists(st.tuples(_documents, _references), min_size=1, max_size=5)
one_reference = st.lists(st.tuples(_documents, st.tuples(_documents).map(list)), min_size=1, max_size=5)


def check(called: Called, chosen: dict[str, Any], settings: Settings, batch: list, average: str) -> None:
    """Compare all layouts: the first with plain Python, the others with the first, to the last bit."""
    expected = called.expected(settings, batch, average)
    first = None
    for preds, target, padding in called.layouts(batch):
        scores = called(preds, target, average=average, **padding, **chosen)
        assert (scores.dtype, scores.device.type) == (torch.float64, "cpu")
        if first is None:
            first = scores
            assert scores.numpy() == called.measured.close(expected)
            if average == called.default:
                assert called(preds, target, **chosen).equal(first)
        assert scores.equal(first)


@each
@fewer(4)
@given(data=st.data(), batch=batches | one_reference)
def test_every_layout_and_average_scores_as_plain_python(called, data, batch):
    chosen, settings = data.draw(st.sampled_from(called.options))
    for average in called.measured.averages:
        check(called, chosen, settings, batch, average)


@each
def test_one_sentence_needs_no_list(called):
    one, several = [1, 2, 1, 3], [[3, 2], [1, 2, 1]]
    text, references = called.text(one), list(map(called.text, several))
    chosen, settings = called.options[0]
    for target, read in ((references[0], several[:1]), (references, several)):
        score = called(text, target, **chosen)
        expected = called.expected(settings, [(one, read)], called.default)
        assert score.shape == expected.shape
        assert score.numpy() == called.measured.close(expected)
    assert called(text, references, average="none", **chosen).shape == (1, *expected.shape)


@pytest.mark.parametrize("pad_id", [None, (), []])
@each
def test_padded_ids_without_their_padding_and_of_no_fitting_shape_are_refused(called, pad_id):
    ids = torch.tensor([[1, 2, 0]])
    for one, other in product((ids, ids.numpy(), ids.tolist()), repeat=2):
        if one is other and isinstance(one, list):
            continue
        with pytest.raises(ValueError, match=r"needs pad_id, .*, or -1 if all are; none was given$"):
            called(one, other, pad_id=pad_id)
    if called.function is not ngram_overlap:  # which takes samples
        with pytest.raises(ValueError, match=r"preds has shape \(1, 1, 3\)"):
            called(ids[None], ids, pad_id=0)


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
