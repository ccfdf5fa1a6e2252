"""Every metric takes every sequence that the input forms promise, in small batches and in large ones."""

from collections import UserList, deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from draws import fewer
from hypothesis import example, given
from hypothesis import strategies as st
from metrics.apis import METRICS
from metrics.cases import assert_same

import ngram_metrics


class Tokens(Sequence):
    """A sequence without slices and without any other method."""

    def __init__(self, items: Sequence[Any]) -> None:
        self._items = list(items)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: int) -> Any:
        if not isinstance(index, int):
            raise TypeError("expected an integer")
        return self._items[index]


def object_array(items: Sequence[Any]) -> Any:
    array = np.empty(len(items), dtype=object)
    array[:] = [list(item) if isinstance(item, Sequence) and not isinstance(item, str) else item for item in items]
    return array


#: What holds the segments, the references of a segment, or the tokens of a segment, made from a list.
SEQUENCES: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "deque": deque,
    "UserList": UserList,
    "Sequence": Tokens,
    "object array": object_array,
}
#: What holds the tokens of a segment alone, by their kind.
FORMS = {"text": {}, "tokens": {"array": np.array}, "ids": {"array": np.array, "tensor": torch.tensor}}
#: One character each, so that chrF takes the words as tokens.
HYPOTHESES = ["a b a b", "c a"]
REFERENCES = [["a b b", "b a"], ["c a d"]]


def read_as(kind: str, text: str) -> Any:
    words = text.split()
    return {"text": text, "tokens": words, "ids": [*map(ord, words)]}[kind]


CASES = [pytest.param(name, kind, id=f"{name}-{kind}") for name in METRICS for kind in FORMS]


@pytest.mark.parametrize(("name", "kind"), CASES)
@example("deque", "deque", "deque", 1)
@example("Sequence", "Sequence", "Sequence", 200)
@fewer(10)
@given(
    st.sampled_from([*SEQUENCES]),
    st.sampled_from([name for name in SEQUENCES if name != "tuple"]),
    st.sampled_from([*SEQUENCES, "array", "tensor"]),
    st.sampled_from([1, 200]),
)
def test_every_sequence_scores_as_a_list_in_small_and_in_large_batches(
    name: str, kind: str, outer: str, item: str, inner: str, copies: int
) -> None:
    metric = getattr(ngram_metrics, name)
    document = {**SEQUENCES, **FORMS[kind]}.get(inner, deque)
    if kind == "text":
        document = str
    given = [document(read_as(kind, text)) for text in HYPOTHESES]
    several = [SEQUENCES[item]([document(read_as(kind, text)) for text in texts]) for texts in REFERENCES]
    hypotheses = [read_as(kind, text) for text in HYPOTHESES]
    references = [[read_as(kind, text) for text in texts] for texts in REFERENCES]

    counted = metric(average="macro")
    expected = counted(hypotheses * copies, references * copies)
    assert_same(counted(SEQUENCES[outer](given * copies), SEQUENCES[outer](several * copies)), expected)
