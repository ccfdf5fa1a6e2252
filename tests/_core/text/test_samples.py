"""Several hypotheses for each reference: each becomes a sentence of its own, beside its sentence's references."""

import re
from contextlib import nullcontext

import numpy as np
import pytest
import torch
from crossings import crossings
from layouts import encoded, numbered_segments, read_batch

from ngram_metrics._core.text.input_forms import read
from ngram_metrics._core.text.reader import WordReader

PRED = [[[5, 6, 7], [5, 0, 6]], [[8, 0, 0], [0, 0, 0]], [[5, 5, 5], [1, 2, 3]]]
TARGET = [[5, 6, 7, 0], [8, 9, 0, 0], [0, 0, 0, 0]]
#: The samples, each with the references.
SAMPLES = [
    ([5, 6, 7], [[5, 6, 7]]),
    ([5, 6], [[5, 6, 7]]),
    ([8], [[8, 9]]),
    ([], [[8, 9]]),
    ([5, 5, 5], [[]]),
    ([1, 2, 3], [[]]),
]
READER = WordReader(pad_id=0, samples=True)


@pytest.fixture(params=["numpy", "torch"], autouse=True)
def _way(request):
    """Torch counts on a CPU too while something records its operations."""
    with crossings() if request.param == "torch" else nullcontext():
        yield


@pytest.mark.parametrize("of_preds", [torch.tensor, np.array])
@pytest.mark.parametrize("of_target", [torch.tensor, np.array, list])
def test_each_sample_is_a_sentence_beside_the_reference(of_preds, of_target):
    expected = numbered_segments(SAMPLES)
    assert encoded(READER, of_preds(PRED), of_target(TARGET)) == expected
    if of_target is not list:  # in a list a negative id is an error
        negative = (
            of_preds([[[*row, -100] for row in rows] for rows in PRED]),
            of_target([[-1, *row] for row in TARGET]),
        )
        assert encoded(READER, *negative) == expected


@pytest.mark.parametrize(
    ("preds", "target"),
    [
        (["a b"], [["a b", "b"]]),
        ([["a"]], [["a"]]),
        ([[1, 2]], [[[1], [2, 3]]]),
        (torch.tensor([[1, 0]]), torch.tensor([[[1, 0], [2, 3]]])),
    ],
    ids=["text", "tokens", "ids", "padded"],
)
def test_anything_else_is_read_as_by_every_metric(preds, target):
    assert encoded(READER, preds, target) == encoded(WordReader(pad_id=0), preds, target)


@pytest.mark.parametrize(
    ("preds", "samples"),
    [
        (torch.zeros(2, 3, 4).long(), 3),
        (np.zeros((2, 3, 4), np.int64), 3),
        (torch.zeros(2, 0, 4).long(), 0),
        (torch.zeros(2, 4).long(), None),
        ([torch.zeros(4).long()] * 2, None),
        ([[1]] * 2, None),
        (["abc"] * 2, None),
    ],
)
def test_only_a_tensor_or_array_of_three_dimensions_holds_samples(preds, samples):
    target = preds if isinstance(preds, list) else torch.zeros(2, 4).long()
    leading_shape = getattr(read(preds, target, READER.sample_padding), "leading_shape", None)
    assert leading_shape == (None if samples is None else (2, samples))


IDS = torch.tensor(PRED)


@pytest.mark.parametrize(
    ("preds", "target", "options", "error", "words"),
    [
        (IDS, torch.tensor(TARGET[:2]), {}, ValueError, "preds has shape (3, 2, 3) and target (2, 4): expected refe"),
        (IDS, torch.zeros(3).long(), {}, ValueError, "target (3,): expected references (3, width) or (3, references, "),
        (IDS, torch.zeros(3, 1, 2, 3).long(), {}, ValueError, "target (3, 1, 2, 3): expected references"),
        (IDS, torch.zeros(3, 0, 3).long(), {}, ValueError, "expected at least one reference per segment"),
        (IDS.float(), torch.tensor(TARGET), {}, TypeError, "preds is a tensor of torch.float32"),
        (IDS, torch.tensor(TARGET).float(), {}, TypeError, "target is a tensor of torch.float32"),
        (IDS, torch.tensor(TARGET), {"pad_id": None}, ValueError, "a padded tensor of ids needs pad_id"),
        (IDS, torch.tensor(TARGET), {"tokenizer": list}, ValueError, "tokenizer is an option for text"),
        (IDS, torch.tensor(TARGET).to("meta"), {}, ValueError, "expected the same device"),
        # What is no padded tensor needs to become one; the words say so.
        (IDS, ["a", "b", "c"], {}, (TypeError, ValueError), "expected references (3, width)"),
        (IDS, [[[5], [6, 7]], [[8]], [[5]]], {}, (TypeError, ValueError), "expected references (3, width)"),
    ],
)
def test_what_cannot_be_read_is_refused(preds, target, options, error, words):
    with pytest.raises(error, match=re.escape(words)):
        read_batch(WordReader(**{"pad_id": 0, "samples": True, **options}), preds, target)


@pytest.mark.parametrize("nested", [False, True])
def test_a_negative_id_in_lists_beside_samples_is_an_error(nested):
    target = [[5, -7], [8, 9], [-100, 0]]
    several = [[row] for row in target] if nested else target
    with pytest.raises(ValueError, match="a reference of segment 2 has the id -100: expected indices of a vocab"):
        read_batch(WordReader(samples=True, pad_id=(0, -7)), IDS, several)
    assert read_batch(WordReader(samples=True, pad_id=(0, -7, -100)), IDS, several)
