"""Rows of documents: what each layout is read as, when both sides are one, and the words of every refusal."""

from collections import UserList, deque
from itertools import product

import numpy as np
import pytest
import torch
from layouts import numbered, segments_of

from ngram_metrics._core.text.pool_reader import read_pools
from ngram_metrics._core.text.reader import CharacterReader, WordReader
from ngram_metrics._core.text.rouge_reader import RougeReader


def listed(pools):
    """The hypotheses and the references of each row as lists of ids, numbered by row."""
    documents = (numbered([first, *others]) for first, others in segments_of(pools.documents))
    for hypotheses, references in zip(pools.hypotheses.tolist(), pools.references.tolist(), strict=True):
        row = next(documents) if hypotheses or references else []
        yield [row[:hypotheses], row if pools.is_same else row[hypotheses:]]


def seen(reader, hypotheses, references):
    """The rows, for the first kind of token."""
    return list(listed(read_pools(reader, hypotheses, references)[0]))


HYPOTHESES = [[[5, 7], [5]], [], [[7, 7, 9]]]
REFERENCES = [[[9]], [[5, 5], []], [[7], [9], [5, 7]]]
AS_NUMBERED = [numbered(list(row)) for row in zip(HYPOTHESES, REFERENCES, strict=True)]


def texts(rows):
    return [[" ".join(map(str, document)) for document in row] for row in rows]


def padded_rows(rows, make=torch.tensor):
    """A padded tensor a row, each of its own width, with padding before and after the ids."""
    return [
        make([[0, *document, *[0] * (4 - len(document))] for document in row]) if row else make(np.zeros((0, 3), int))
        for row in rows
    ]


#: By the kind of the documents, what makes rows of a layout from lists of ids.
LAYOUTS = {
    "text": [
        texts,
        lambda rows: tuple(map(tuple, texts(rows))),
        lambda rows: [np.array(row, dtype=object) for row in texts(rows)],
        lambda rows: deque(map(UserList, texts(rows))),
        lambda rows: {n: dict(enumerate(row)).values() for n, row in enumerate(texts(rows))}.values(),
    ],
    "tokens": [lambda rows: [[list(map(str, document)) for document in row] for row in rows]],
    "ids": [
        lambda rows: rows,
        lambda rows: [[torch.tensor(document, dtype=torch.int32) for document in row] for row in rows],
        lambda rows: [[np.array(document, dtype=np.int16) for document in row] for row in rows],
        padded_rows,
        lambda rows: padded_rows(rows, np.array),
    ],
}


@pytest.mark.parametrize("kind", LAYOUTS)
def test_every_layout_is_read_alike_beside_every_other(kind):
    for make, make_other in product(LAYOUTS[kind], repeat=2):
        assert seen(WordReader(pad_id=0), make(HYPOTHESES), make_other(REFERENCES)) == AS_NUMBERED
    for other in LAYOUTS.keys() - {kind}:
        for make, make_other in product(LAYOUTS[kind], LAYOUTS[other]):
            with pytest.raises(TypeError, match="expected all "):
                read_pools(WordReader(pad_id=0), make(HYPOTHESES), make_other(REFERENCES))


@pytest.mark.parametrize("make", [torch.tensor, np.array])
@pytest.mark.parametrize("beside", [lambda row: row, lambda row: list(map(torch.tensor, row))], ids=["lists", "1-D"])
def test_negative_ids_are_padding_in_padded_rows_and_an_error_elsewhere(make, beside):
    hypotheses = [make([[1, -100, 2], [-1, -2, -100]]), beside([[2, 0]])]
    found = seen(WordReader(pad_id=0), hypotheses, [beside([[2]]), make([[-5, 1]])])
    assert found == [[[[0, 1], []], [[1]]], [[[0]], [[1]]]]
    for reader in (WordReader(pad_id=0), RougeReader(pad_id=0, sentence_separator_id=-3), CharacterReader(pad_id=0)):
        with pytest.raises(
            ValueError,
            match="reference 1 of row 0 has the id -100, which is negative: expected ids",
        ):
            read_pools(reader, hypotheses, [beside([[2], [-100, 1]]), beside([[1]])])


def test_every_reader_reads_rows():
    rows = [["a b", "b"], ["c"]]
    expected = [[[[0, 1], [1]], [[2]]], [[[0]], [[1, 2], [2]]]]
    for reader in (WordReader(), RougeReader(sentences=False), RougeReader(), WordReader(samples=True)):
        assert seen(reader, rows, rows[::-1]) == expected
    kinds = read_pools(CharacterReader(words=True), rows, rows[::-1])
    assert [list(listed(kind)) for kind in kinds] == [expected] * 2
    assert len(read_pools(CharacterReader(), rows, rows)) == 1


def test_texts_that_are_the_same_are_read_once():
    rows = [["a b", "c"], [], ["a"]]
    for others in (rows, [list(row) for row in rows], tuple(np.array(row, dtype=object) for row in rows)):
        for pools in read_pools(CharacterReader(words=True), rows, others):
            assert pools.is_same
            assert pools.documents.lengths.tolist() == [2, 1, 1]
            assert pools.hypotheses.tolist() == pools.references.tolist() == [2, 0, 1]
    # The same texts in other rows, in another order, and others.
    for others in ([["a b", "c"], ["a"], []], [["c", "a b"], [], ["a"]], [["a b", "c"], [], ["A"]]):
        (pools,) = read_pools(CharacterReader(), rows, others)
        assert not pools.is_same
        assert pools.references.tolist() == list(map(len, others))


def test_ids_are_read_once_where_the_object_is_the_same():
    ids = torch.tensor([[[1, 2], [3, 0]]])
    (pools,) = read_pools(WordReader(pad_id=0), ids, ids)
    assert pools.is_same
    assert list(listed(pools)) == [[[[0, 1], [2]]] * 2]


ROW = torch.zeros(2, 3).long()


@pytest.mark.parametrize(
    ("hypotheses", "references", "error", "words"),
    [
        ([], [], ValueError, "hypotheses or references is empty: expected at least one row in each"),
        (ROW[None, :0], ROW[None][:0], ValueError, "hypotheses or references is empty"),
        (
            [["a"]],
            [["a"], ["b"]],
            ValueError,
            "hypotheses has 1 row and references has 2: expected the same number of rows",
        ),
        (ROW, [[[1]]], ValueError, r"hypotheses has shape \(2, 3\): expected \(rows, documents, width\)"),
        ([ROW[0]], [[[1]]], ValueError, r"row 0 of hypotheses is a tensor of shape \(3,\): expected \(documents, w"),
        ([[[1]]], [ROW[None].numpy()], ValueError, r"row 0 of references is a tensor of shape \(1, 2, 3\)"),
        ([[ROW[:1]]], [[[1]]], ValueError, r"hypothesis 0 of row 0 is a tensor of shape \(1, 3\): expected 1-D"),
        # What is no row.
        ("ab", [["a"]], TypeError, "hypotheses is a str: expected a sequence of rows"),
        ([["a"]], None, TypeError, "references is a NoneType: expected a sequence of rows"),
        ({"a": 1}, [["a"]], TypeError, r"hypotheses is a dict: expected .*; pass a list of its values$"),
        ((row for row in [["a"]]), [["a"]], TypeError, r"hypotheses is a generator: .*; convert it with list\(...\)$"),
        ([iter(["a"])], [["a"]], TypeError, r"row 0 of hypotheses is a list_iterator.*; convert it with list\(...\)$"),
        (["ab"], [["a"]], TypeError, "row 0 of hypotheses is a str, 'ab': expected a sequence of documents"),
        ([["a"], ["b"]], [["a"], "b"], TypeError, "row 1 of references is a str, 'b'"),
        # What is no document; test_input_forms.py has all that it cannot be.
        (
            [["a"], ["b", None]],
            [["a"], ["b"]],
            TypeError,
            r"hypothesis 1 of row 1 is a missing value, None: pass ''",
        ),
        ([[1, 2]], [["a"]], TypeError, "hypothesis 0 of row 0 is an int, 1: expected a str, a sequence of tokens, or"),
        ([[["a"]], []], [[], ["b"]], TypeError, "reference 0 of row 1 is a str, 'b', but the first segment is tokens"),
        (
            ROW[None].float(),
            [[[1]]],
            TypeError,
            "hypotheses is a tensor of torch.float32: expected token ids of an int",
        ),
        ([[[1]]], [ROW.float()], TypeError, "row 0 of references is a tensor of torch.float32"),
    ],
)
def test_what_is_no_row_or_document_is_refused_by_name_and_place(hypotheses, references, error, words):
    with pytest.raises(error, match=words):
        read_pools(WordReader(pad_id=0), hypotheses, references)


@pytest.mark.parametrize(
    ("hypotheses", "references", "place"),
    [
        ([["a"], ["b", "bad"]], [["c"], ["d"]], "hypothesis 1 of row 1"),
        ([[], ["b"]], [["c", "d"], ["e", "bad"]], "reference 1 of row 1"),
    ],
)
@pytest.mark.parametrize("bad", [[["a list"]], 5], ids=["no hashable", "no tokens"])
@pytest.mark.parametrize("reader", [WordReader, RougeReader])
def test_what_a_tokenizer_got_wrong_is_named_by_its_row(reader, bad, hypotheses, references, place):
    def tokenizer(text):
        return bad if text == "bad" else list(text)

    with pytest.raises(TypeError, match=place):
        read_pools(reader(tokenizer=tokenizer), hypotheses, references)
