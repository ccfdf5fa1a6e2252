"""What a caller may not give as `preds` and `target`: the words of every refusal."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch

from ngram_metrics import ChrF, functional, mbr
from ngram_metrics._core.text.foreign_values import list_values
from ngram_metrics._core.text.input_forms import read
from ngram_metrics.counting import clipped_matches

SAMPLES = r"samples: flatten them to \(segments \* samples, width\), and repeat the references of each segment$"
MISSING = r"pass '' for a missing prediction, .* as by \[r for r in references if r is not None\]$"


@pytest.mark.parametrize(
    ("preds", "target", "words"),
    [
        # Different numbers.
        (["a", "b"], ["a"], r"preds has 2 segments and target has 1 item"),
        (torch.zeros(2, 3).long(), torch.zeros(1, 3).long(), r"preds has 2 segments and target has 1: expected refere"),
        # Transposed, as for sacrebleu: a list for each stream of references.
        (["a b", "c"], [["a", "c d"]], r"target has 1 item: .*pass list\(zip\(\*target\)\)$"),
        (["a", "b"], [["c", "d"]] * 3, r"target has 3 items: .*; target looks like sacrebleu's list of reference str"),
        ([["a"], ["b", "c"]], [[["a"], ["b"]]], r"target has 1 item: .*pass list\(zip"),
        (["a", "b"], [["c", "d"], "d", ["e", "f"]], r"target has 3 items: .* for each segment$"),
        (["a", "b"], [["c", "d", "e"]], r"target has 1 item: .* for each segment$"),
        ([["a"], ["b"]], [["a", "b"]], r"target has 1 item: .* for each segment$"),
        (["a", "b"], [], r"target has 0 items: .* for each segment$"),
        (torch.zeros(2, 3).long(), [[1]], r"preds has 2 segments and target has 1 item"),
        # No reference.
        (["a", "b"], ["a", []], r"segment 1 has no reference: its item of target is \[\].* written \[''\]"),
        ("a", [], r"segment 0 has no reference.* written \[''\]"),
        ([["a"]], [[]], r"segment 0 has no reference.* written \[\[\]\]"),
        (torch.zeros(2, 3).long(), torch.zeros(2, 0, 3).long(), r"\(2, 0, 3\): expected at least one reference"),
        # Shapes.
        (torch.zeros(2, 2, 3).long(), torch.zeros(2, 3).long(), rf"preds has shape \(2, 2, 3\): .*{SAMPLES}"),
        (np.zeros((2, 2, 3), int), torch.zeros(2, 2, 3).long(), rf"preds has shape \(2, 2, 3\): .*{SAMPLES}"),
        (torch.zeros(2, 2, 3).long(), [[1, 2], [3]], rf"because the other side is a sequence; {SAMPLES}"),
        (torch.zeros(3).long(), torch.zeros(3).long(), r"preds has shape \(3,\).*a single segment of ids goes into a"),
        (torch.zeros(2, 3).long(), torch.zeros(2).long(), r"target has shape \(2,\): expected \(segments, width\) or"),
        (torch.zeros(2, 3).long(), torch.zeros(2, 1, 1, 3).long(), r"target has shape \(2, 1, 1, 3\)"),
        (torch.zeros(3).long(), [[1]], r"preds has shape \(3,\): expected \(segments, width\), because the other side"),
        ([[1], [2]], torch.zeros(2, 2, 3).long(), r"target has shape \(2, 2, 3\): expected \(segments, width\), bec"),
        ([torch.zeros(1, 3).long()], [[1]], r"segment 0 is a tensor of shape \(1, 3\): expected 1-D ids"),
        ([[1]], [[torch.zeros(1, 3).long()]], r"reference 0 of segment 0 is a tensor of shape \(1, 3\)"),
    ],
)
def test_numbers_and_shapes_that_do_not_fit_are_refused(preds, target, words):
    with pytest.raises(ValueError, match=words):
        read(preds, target)


@pytest.mark.parametrize(
    ("preds", "target", "words"),
    [
        # Kinds that differ, either way round.
        (["a b"], [[["a", "b"]]], r"reference 0 of segment 0 is a list, \['a', 'b'\], but"),
        (
            ["a b"],
            [[1, 2]],
            r"reference 0 of segment 0 is an int, 1, but the first segment is text: expected all text, or all tokens "
            r"or ids; 'the cat' is text, and \['the', 'cat'\] are tokens$",
        ),
        (["a b"], torch.tensor([[1]]), r"reference 0 of segment 0 is a Tensor.* but the first segment is text"),
        (["a b"], [torch.tensor([1])], r"reference 0 of segment 0 is a Tensor.* but the first segment is text"),
        ([["a", "b"]], ["a b"], r"reference 0 of segment 0 is a str, 'a b', but the first segment is tokens or ids"),
        ([["a"], ["b"]], [["a"], [["b"], "c"]], r"reference 1 of segment 1 is a str, 'c'"),
        ([["a", "b"]], torch.tensor([[1, 2]]), r"reference 0 of segment 0 holds ids, .* segment 0 holds tokens"),
        ([["a"]], [[1, 2]], r"reference 0 of segment 0 holds ids, such as 1, but segment 0 .*, such as 'a': expected "),
        ([[], [1], ["a"]], [[[]], [1], ["a"]], r"segment 2 holds tokens, such as 'a', but segment 1 holds ids"),
        ([["a"], ["b", 1]], [["a"], ["b"]], r"segment 1 holds ids, such as 1, but segment 0 holds tokens, such as 'a'"),
        ([["a"]], [[["a"], ["b", np.int8(1)]]], r"reference 1 of segment 0 holds ids, such as .*1"),
        ([[1, 2]], [["1", "2"]], r"reference 0 of segment 0 holds tokens, such as '1', but segment 0 holds ids"),
        (torch.tensor([[1, 2]]), [["1", "2"]], r"reference 0 of segment 0 holds tokens, .* but segment 0 holds ids"),
        ([["a"], "b"], [["a"], ["b"]], r"segment 1 is a str, 'b', but the first segment is tokens or ids"),
        # One string where segments are due.
        (["abc", "d"], "abc", r"target is a str: expected a sequence with one item per segment"),
        ([["a"]], "abc", r"reference 0 of segment 0 is a str, 'abc', but the first segment is tokens or ids"),
        # Numbers that are no ids.
        (torch.zeros(1, 2), torch.zeros(1, 2), r"preds is a tensor of torch.float32: expected token ids of an integer"),
        (torch.zeros(1, 2).long(), torch.zeros(1, 2), r"target is a tensor of torch.float32"),
        (torch.zeros(1, 2).bool(), torch.zeros(1, 2).long(), r"preds is a tensor of torch.bool"),
        (torch.zeros(1, 2).cfloat(), torch.zeros(1, 2).long(), r"preds is a tensor of torch.complex64"),
        (np.zeros((1, 2)), np.zeros((1, 2)), r"preds is a tensor of torch.float64"),
        ([torch.zeros(2)], [[1]], r"segment 0 is a tensor of torch.float32"),
        ([[1]], [[torch.zeros(2)]], r"reference 0 of segment 0 is a tensor of torch.float32"),
        ([[1.0, 2.0]], [[1, 2]], r"segment 0 holds 1.0, a float: expected token ids, which are integers, or tokens"),
        ([[1, 2]], [[1, 2.5]], r"reference 0 of segment 0 holds 2.5, a float"),
        ([[np.float32(1)]], [[1]], r"segment 0 holds .*1.0.*, a float32"),
        ([["a"], ["a", 2.5]], [["a"], ["a"]], r"segment 1 holds 2.5, a float"),
        # Tensors as tokens.
        ([[1]], [[torch.tensor(1)]], r"reference 0 of segment 0 holds a Tensor as a token"),
        ([torch.tensor([1]), [torch.tensor(2)]], [[1], [2]], r"segment 1 holds a Tensor as a token: expected hashable"),
        ([["a"], torch.tensor([1])], [["a"], ["b"]], r"segment 1 holds ids, such as 1, but segment 0 holds tokens"),
        ([["a"]], [[["a"], [["b"]]]], r"reference 1 of segment 0 holds a list as a token"),
        # What is no sequence, or not of segments.
        (b"a b", b"a b", r"preds is a bytes: expected a sequence with one item per segment; pass its .decode\(\)$"),
        ([b"a b"], [b"a b"], r"segment 0 is a bytes, b'a b': expected a str, .* or 1-D ids; pass its .decode\(\)$"),
        ([["a"]], [b"a"], r"reference 0 of segment 0 is a bytes"),
        ({"a b": 1}, ["a b"], r"preds is a dict: expected a sequence .*; pass list\(...\) of its values$"),
        ((text for text in ["a b"]), ["a b"], r"preds is a generator: expected .*; pass list\(...\) of it$"),
        (["a b"], [(one for one in ["a b"])], r"reference 0 of segment 0 is a generator"),
        ([iter(["a"])], [["a"]], r"segment 0 is a list_iterator.*; pass list\(...\) of it$"),
        (["a"], None, r"target is a NoneType"),
        (["a", None], ["a", "b"], rf"^a missing value \(None\) at segment 1: {MISSING}"),
        ([None, "a"], ["a", "b"], rf"^a missing value \(None\) at segment 0: {MISSING}"),
        (["a"], [["b", None]], rf"^a missing value \(None\) at reference 1 of segment 0: {MISSING}"),
        (["a", "b"], ["a", math.nan], rf"^a missing value \(nan\) at reference 0 of segment 1: {MISSING}"),
        (["a", "b"], [*zip(["a", "b"], ["c", pd.NA], strict=True)], r"^a missing value \(<NA>\) at reference 1 of seg"),
        ([["a"], ["b"]], [["a"], [None, ["b"]]], rf"^a missing value \(None\) at reference 0 of segment 1: {MISSING}"),
        ([[1], None], [[1], [2]], rf"^a missing value \(None\) at segment 1: {MISSING}"),
        (5, 5, r"preds is an int: expected a sequence"),
        ([5], [5], r"segment 0 is an int, 5: expected a str, .* 1-D ids; a single segment of ids goes into a list$"),
        (
            [[5, 6]],
            [np.int64(5)],
            r"reference 0 of segment 0 is an int, .*; a single segment of ids goes into a list$",
        ),
    ],
)
def test_what_is_no_segment_is_refused_by_name_and_place(preds, target, words):
    with pytest.raises(TypeError, match=words):
        read(preds, target)


def test_a_segment_that_is_too_long_for_a_message_is_cut():
    with pytest.raises(TypeError) as error:
        read([["a"]], ["x" * 10_000])
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    ("target", "preds"),
    [
        ("the cat", ["a cat", "the cat"]),
        (["the cat"], [["a cat", "the cat"]]),
        (["the cat", "a"], [["a cat"], ["a"]]),
        (["the cat"], [np.array(["a cat", "the cat"])]),
        ([["the", "cat"]], [[["a", "cat"], ["the", "cat"]]]),
        ([[1, 2]], [[[1], [2]]]),
        ([torch.tensor([1, 2])], [[torch.tensor([1])]]),
    ],
)
def test_references_as_preds_are_named(preds, target):
    read(target, preds)
    with pytest.raises((TypeError, ValueError), match=r"; preds and target look swapped$"):
        read(preds, target)


CYCLE: list = []
CYCLE.append(CYCLE)


@pytest.mark.parametrize(
    ("preds", "target"),
    [
        ([["the", "cat"]], ["the cat"]),
        ([["the", "cat"], "a b"], ["the cat", "a b"]),
        (["a"], {"a": 1}),
        (["a"], (text for text in ["a"])),
        ([[1, 2]], [1, 2]),
        ([], ["a"]),
        ([1, 5, 9], "a b"),
        (torch.tensor([1, 5, 9]), "a b"),
        ([[[1, 5, 9], [1, 5]]], [[1, 5, 9], [1, 5]]),
        ([["a b", "c d"]], ["a b", "c d"]),
        ([CYCLE], ["a b"]),
        (CYCLE, CYCLE),
        (torch.zeros(2, 3, 4, 5).long(), torch.zeros(2, 4).long()),
        (torch.zeros(2, 2, 3).long(), torch.zeros(2, 3).long()),
        (np.zeros((2, 2, 3), int), [[1, 2], [1, 3]]),
        (torch.zeros(3).long(), torch.zeros(3).long()),
    ],
    ids=range(16),
)
def test_other_mistakes_are_not_said_to_be_swapped(preds, target):
    with pytest.raises((TypeError, ValueError), match="expected") as error:
        read(preds, target)
    assert "swapped" not in str(error.value)


FRAMES = {
    "pandas": pd.DataFrame({"mt": ["a b", "c"]}),
    "polars": pl.DataFrame({"mt": ["a b", "c"]}),
    "pyarrow": pa.table({"mt": ["a b", "c"]}),
    "a pyarrow batch": pa.RecordBatch.from_pydict({"mt": ["a b", "c"]}),
    "a subclass": type("GeoDataFrame", (pd.DataFrame,), {})({"mt": ["a b", "c"]}),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize(
    "call",
    [
        lambda frame: functional.chrf_score(frame, ["a", "b"]),
        lambda frame: functional.chrf_score(["a", "b"], frame),
        lambda frame: functional.chrf_score(["a"], [frame]),
        lambda frame: functional.bleu_score([frame], [["a"]]),
        lambda frame: functional.pairwise_chrf(frame, [["a"]]),
        lambda frame: functional.pairwise_chrf([["a"]], [frame]),
        lambda frame: mbr.decode(ChrF(), frame),
        lambda frame: functional.chrf_score("a", frame),
        lambda frame: list_values(frame, "labels"),
    ],
)
def test_a_table_of_several_columns_is_refused_and_a_column_is_asked_for(call, frame):
    with pytest.raises(TypeError, match=r"is a \w+ of (pandas|polars|pyarrow): expected one of its columns, such as "):
        call(frame)


@pytest.mark.parametrize(
    "ids",
    [
        torch.nested.nested_tensor([torch.arange(2), torch.arange(1)], layout=torch.jagged),
        torch.arange(4).reshape(2, 2).to_sparse(),
    ],
    ids=["nested", "sparse"],
)
def test_a_tensor_that_is_not_dense_is_refused(ids: torch.Tensor):
    for count in (functional.bleu_score, clipped_matches):
        with pytest.raises(TypeError, match="preds is a nested, quantized or sparse tensor: expected a dense one"):
            count(ids, ids, pad_id=9)
