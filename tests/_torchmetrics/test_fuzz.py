"""Anything that may be given as text, tokens or ids is counted as plain loops over counters count it.

Hypothesis draws batches of sentences, each with its references.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import oracles
import pytest
import rouge_oracle
import torch
from draws import fewer
from hypothesis import given
from hypothesis import strategies as st
from layouts import apart
from oracles import close
from sacrebleu.metrics import BLEU, CHRF

from ngram_metrics.functional import bleu_score, chrf_score, rouge_score

#: Segments in an example: on the average this many.
SENTENCES = 10
#: An example has many segments.
few = fewer(2)


def batches_of(sentence: st.SearchStrategy, references: int = 3) -> st.SearchStrategy:
    """Hypotheses, each with a few references or one."""
    segment = st.tuples(sentence, st.lists(sentence, min_size=1, max_size=references))
    return st.lists(segment, min_size=SENTENCES - 5, max_size=SENTENCES + 5)


def rouge_columns(keys: Sequence[str], summaries: Any) -> dict[str, list[float]]:
    """What the plain loops score, as the function names it."""
    scores = {key: [rouge_oracle.rouge(key, *summary) for summary in summaries] for key in keys}
    return {
        f"{key}_{name}": [getattr(score, name) for score in segment_scores]
        for key, segment_scores in scores.items()
        for name in ("fmeasure", "precision", "recall")
    }


def check_documents(batch: Sequence[tuple[Any, Sequence[Any]]], layouts: Sequence[tuple[Any, Any, dict]]) -> None:
    """Compare BLEU and ROUGE, which read them in two ways, with the plain loops.

    Args:
        batch: the documents, for the loops.
        layouts: the same documents as hypotheses, references and options of reading.
    """
    bleu = [oracles.sentence_bleu(*segment, smooth="exp") for segment in batch]
    corpus = oracles.corpus_bleu(batch, smooth="add-k")
    keys = ("rouge1", "rouge3", "rougeL")
    rouge = rouge_columns(keys, [([hypothesis], [[other] for other in references]) for hypothesis, references in batch])
    for preds, target, options in layouts:
        plain = {"effective_order": False, "tokenizer": None, **options}
        assert bleu_score(preds, target, smooth="exp", average="none", **plain).tolist() == close(bleu)
        assert bleu_score(preds, target, smooth="add-k", average="micro", **plain).item() == close(corpus)
        ours = rouge_score(preds, target, rouge_keys=keys, average="none", **options)
        assert {name: scores.tolist() for name, scores in ours.items()} == {n: close(v) for n, v in rouge.items()}


# Text: any code point, and besides often those that are easily lost, joined or taken for something else.

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
    return draw(batches_of(st.text(st.sampled_from([*"ab B.-  \ud800\udfff", *odd]), max_size=16)))


@pytest.mark.filterwarnings(
    "ignore:ROUGE's rule for words", "ignore:the texts have no spaces", "ignore:most hypotheses"
)
@few
@given(batch=batches_of_texts())
def test_words_of_any_text(batch):
    preds, target = apart(batch)
    words = [(hypothesis.split(), [other.split() for other in references]) for hypothesis, references in batch]
    summaries = [
        (rouge_oracle.summary(hypothesis), list(map(rouge_oracle.summary, references)))
        for hypothesis, references in batch
    ]
    keys = ("rouge1", "rouge2", "rougeL", "rougeLsum")
    ours = rouge_score(preds, target, rouge_keys=keys, average="none")
    assert {name: scores.tolist() for name, scores in ours.items()} == {
        name: close(values) for name, values in rouge_columns(keys, summaries).items()
    }
    bleu = [oracles.sentence_bleu(*segment, 3, smooth="smooth2") for segment in words]
    plain = {"average": "none", "effective_order": False, "tokenizer": None}
    assert bleu_score(preds, target, 3, "smooth2", **plain).tolist() == close(bleu)


@pytest.mark.filterwarnings("ignore:the texts have no spaces", "ignore:most hypotheses")
@few
@given(batch=batches_of_texts())
def test_any_text_as_sacrebleu(batch):
    """Both at a score of each sentence, and BLEU at the corpus as well."""
    preds, target = apart(batch)
    for options in ({"whitespace": True}, {"word_order": 2, "lowercase": True}):
        peer = CHRF(**options)
        expected = [peer.sentence_score(hypothesis, references).score / 100 for hypothesis, references in batch]
        assert chrf_score(preds, target, average="none", **options).tolist() == close(expected, 1e-10)
    peer = BLEU(tokenize="none", effective_order=True)
    expected = [peer.sentence_score(hypothesis, references).score / 100 for hypothesis, references in batch]
    ours = bleu_score(preds, target, average="none", tokenizer=None)
    assert ours.tolist() == close(expected, 1e-10)
    most = max(map(len, target))
    streams = [[row[i] if i < len(row) else None for row in target] for i in range(most)]
    corpus = BLEU(tokenize="none", smooth_method="floor").corpus_score(preds, streams).score / 100
    assert bleu_score(preds, target, smooth="floor", tokenizer=None).item() == close(corpus, 1e-10)


# Tokens: any hashables but numbers, which are ids, or refused.

ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.complex_numbers(allow_nan=False, max_magnitude=1e3),
    st.text(st.sampled_from("a\ud800\x00"), max_size=2),
    st.binary(max_size=2),
    st.sampled_from([int, len, Ellipsis, "1", b"1"]),
)
NUMBERS = st.integers(-2, 2) | st.integers() | st.floats(allow_nan=False) | st.sampled_from([10**40, 0.0, -0.0, 1.0])
HASHABLES = st.one_of(
    ATOMS,
    st.tuples(ATOMS | NUMBERS, ATOMS | NUMBERS),
    st.frozensets(st.integers(0, 2), max_size=2),
    st.tuples(st.tuples(st.integers(0, 1)), st.text("ab", max_size=1)),
)


@st.composite
def batches_of_hashables(draw: st.DrawFn) -> Any:
    """Few different tokens in a batch, so that they recur."""
    vocabulary = draw(st.lists(HASHABLES, min_size=1, max_size=6))
    sentences = batches_of(st.lists(st.sampled_from(vocabulary), max_size=9))
    # The words make the batch one of tokens: tuples alone may be sentences too.
    return [(["one", "word"], [["word"]]), *draw(sentences)]


@few
@given(batch=batches_of_hashables())
def test_tokens_of_any_hashable(batch):
    preds, target = apart(batch)
    check_documents(batch, [(preds, target, {}), (list(map(tuple, preds)), target, {})])


# Ids: all of int64 that are not negative, as lists, as 1-D tensors, as padded rows.

EXTREME = [0, 1, 2, 2**63 - 1, 2**63 - 2, 2**62, 2**62 + 1, 2**53 + 1, 2**53, 2**32, 2**31, 2**31 - 1, 2**16, 255]
NEGATIVE = [-1, -100, -(2**63), -(2**63) + 1, -(2**31)]
PADDING = 7


@st.composite
def batches_of_ids(draw: st.DrawFn) -> Any:
    """Few different ids in a batch, none of which is padding."""
    any_id = st.sampled_from(EXTREME) | st.integers(0, 2**63 - 1).filter(lambda token: token != PADDING)
    vocabulary = draw(st.lists(any_id, min_size=1, max_size=5))
    return draw(batches_of(st.lists(st.sampled_from(vocabulary), max_size=10)))


def padded_rows(documents: Sequence[Sequence[int]], width: int, separator: int | None = None) -> list[list[int]]:
    """Rows with padding before, between and behind the ids: of two kinds, and negative ids that nobody has named."""
    odd = [token for token in NEGATIVE if token != separator]
    rows = [
        [part for index, token in enumerate(document) for part in (token, odd[(token + index) % len(odd)])]
        for document in documents
    ]
    return [[PADDING, *row, *[PADDING] * (2 * width - len(row))] for row in rows]


def as_padded(batch: Any, separator: int | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    preds, target = apart(batch)
    width = max(map(len, [*preds, *(reference for row in target for reference in row)]))
    most = max(map(len, target))
    references = [padded_rows(row + [[]] * (most - len(row)), width, separator) for row in target]
    return torch.tensor(padded_rows(preds, width, separator)), torch.tensor(references)


def without_empty_references(batch: Any) -> Any:
    """What a padded tensor can tell: a row of padding beside another reference is a missing one."""
    return [(hypothesis, [other for other in references if other] or [[]]) for hypothesis, references in batch]


@few
@given(batch=batches_of_ids())
def test_ids_of_the_whole_range(batch):
    preds, target = apart(batch)
    tensors = [torch.tensor(hypothesis, dtype=torch.int64) for hypothesis in preds]
    tensor_rows = [[torch.tensor(reference, dtype=torch.int64) for reference in references] for references in target]
    dropped = {"pad_id": PADDING}
    layouts = [(preds, target, {}), (tensors, tensor_rows, dropped), (tensors, target, dropped)]
    check_documents(batch, layouts)
    kept = without_empty_references(batch)
    check_documents(kept, [(*as_padded(kept), dropped)])

    # Characters of sacrebleu's for the ids: distinct ones for distinct ids.
    named: dict[int, str] = {}

    def text(document: Sequence[int]) -> str:
        return "".join(named.setdefault(token, chr(0x4E00 + len(named))) for token in document)

    expected = [CHRF().sentence_score(text(hypothesis), list(map(text, row))).score / 100 for hypothesis, row in kept]
    assert chrf_score(*apart(kept), average="none").tolist() == close(expected, 1e-10)
    assert chrf_score(*as_padded(kept), average="none", **dropped).tolist() == close(expected, 1e-10)


@st.composite
def batches_of_summaries(draw: st.DrawFn) -> Any:
    """Documents of few extreme ids, one of which parts sentences and may be negative; it is the first of the pair."""
    vocabulary = draw(st.lists(st.sampled_from(EXTREME), min_size=2, max_size=5, unique=True))
    separator = draw(st.sampled_from([vocabulary[0], *NEGATIVE]))
    documents = st.lists(st.sampled_from([separator] * 3 + vocabulary * 2), max_size=12)
    return separator, draw(batches_of(documents, references=2))


def split_at(separator: int, document: Sequence[int]) -> list[list[int]]:
    """The sentences of a document, without the empty ones."""
    return [list(part) for is_end, part in groupby(document, lambda token: token == separator) if not is_end]


@few
@given(example=batches_of_summaries())
def test_sentences_of_ids_of_the_whole_range(example):
    separator, batch = example
    options = {"sentence_separator_id": separator, "rouge_keys": ("rouge2", "rougeLsum"), "average": "none"}

    def expected(some: Any) -> dict[str, Any]:
        summaries = [
            (split_at(separator, hypothesis), [split_at(separator, other) for other in references])
            for hypothesis, references in some
        ]
        return {name: close(values) for name, values in rouge_columns(options["rouge_keys"], summaries).items()}

    ours = rouge_score(*apart(batch), **options)
    assert {name: scores.tolist() for name, scores in ours.items()} == expected(batch)
    kept = without_empty_references(batch)
    ours = rouge_score(*as_padded(kept, separator), pad_id=PADDING, **options)
    assert {name: scores.tolist() for name, scores in ours.items()} == expected(kept)
