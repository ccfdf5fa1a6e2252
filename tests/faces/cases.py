"""The metric classes, with data to feed them: what the tests of the lifecycle run over.

A new metric class is a new entry of CASES, once for text and once for padded ids; no test is copied.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import pytest
import torch
import torchmetrics
from torch import Tensor

from ngram_metrics import Bleu, ChrF, Gleu, NgramOverlap, ROUGEScore

Batch = tuple[Any, Any]

#: Three batches of different sizes, lower-case and without punctuation, with one reference or several.
TEXT: tuple[Batch, ...] = (
    (
        ["the cat sat on the mat", "a dog ran home"],
        [["the cat sat on a mat", "a cat sat on the mat today"], ["a dog ran away from home"]],
    ),
    (
        ["there is a bird in the tree"],
        [["a bird is in the tree", "there is a bird in a tree", "there is a bird"]],
    ),
    (
        ["birds sing in the old tree", "the cat sleeps", "we see the old dog"],
        [
            ["birds sing in an old tree today"],
            ["the cat sleeps on the mat"],
            ["we see the old dog run", "they saw an old dog run by", "the old dog"],
        ],
    ),
)
#: Capitals and punctuation: here it matters how text is read.
PRINTED_TEXT: Batch = (["The Cat sat, on the mat!"], [["the cat sat on the mat !"]])

PADDING, IGNORED, RARE = 0, -100, 99
_WIDTH, _REFERENCES = 9, 3


def _ids(sentence: str, vocabulary: Mapping[str, int], padding: int) -> list[int]:
    ids = [vocabulary[word] for word in sentence.split()]
    return ids + [padding] * (_WIDTH - len(ids))


def _padded(batches: Sequence[Batch]) -> tuple[Batch, ...]:
    """The same sentences as padded ids: hypotheses (sentences, width), references (sentences, references, width)."""
    texts = [text for preds, target in batches for text in (*preds, *(one for several in target for one in several))]
    vocabulary = {word: 1 + number for number, word in enumerate(sorted({word for t in texts for word in t.split()}))}
    assert RARE not in vocabulary.values()
    return tuple(
        (
            torch.tensor([_ids(one, vocabulary, PADDING) for one in preds]),
            torch.tensor(
                [
                    [_ids(one, vocabulary, IGNORED) for one in several + [""] * (_REFERENCES - len(several))]
                    for several in target
                ]
            ),
        )
        for preds, target in batches
    )


IDS = _padded(TEXT)
#: An id that only some settings take for padding.
RARE_IDS: Batch = (
    torch.tensor([[1, RARE, 2, 3, 4, 5, 6, 0, 0]]),
    torch.tensor([[[1, 2, 3, 4, 5, 6, 0, 0, 0], [0] * _WIDTH, [0] * _WIDTH]]),
)


@dataclass(frozen=True)
class Case:
    """A metric class, settings, and data.

    Attributes:
        name: names the case in a test's id.
        metric: the class.
        batches: at least three, the second of one sentence, so that every sentence has a score of its own.
        options: the settings.
        others: changes of the settings under which the batches count the same, and `telling` does not.
        telling: a batch that tells those settings apart.
        before_data: the score before any data.
        averages: those the metric has under these settings.
        has_details: whether it has details under them.
    """

    name: str
    metric: type[torchmetrics.Metric]
    batches: tuple[Batch, ...]
    telling: Batch
    options: Mapping[str, Any] = field(default_factory=dict)
    others: tuple[Mapping[str, Any], ...] = ()
    before_data: float = 0.0
    averages: tuple[str, ...] = ("micro", "macro", "none")
    has_details: bool = True

    @property
    def whole(self) -> Batch:
        """All batches as one."""
        return joined(self.batches)

    @property
    def refused(self) -> Batch:
        """A batch that cannot be read: fewer items in target than sentences."""
        preds, target = self.batches[0]
        return preds, target[:-1]

    def make(self, average: str, **options: Any) -> torchmetrics.Metric:
        return self.metric(**{**self.options, "average": average, **options})

    def filled(self, average: str, batches: Sequence[Batch] | None = None, **options: Any) -> torchmetrics.Metric:
        """A metric that has seen the batches, by default all."""
        metric = self.make(average, **options)
        for batch in self.batches if batches is None else batches:
            metric.update(*batch)
        return metric

    def value(self, average: str, batches: Sequence[Batch] | None = None, **options: Any) -> Any:
        """What a metric computes that has seen the batches joined into one."""
        return self.filled(average, [joined(self.batches if batches is None else batches)], **options).compute()


CASES = (
    Case(
        "Bleu-text",
        Bleu,
        TEXT,
        telling=PRINTED_TEXT,
        options={"ngram": 2, "smooth": "exp"},
        others=({"lowercase": True}, {"tokenizer": "13a"}),
    ),
    Case(
        "Bleu-ids",
        Bleu,
        IDS,
        telling=RARE_IDS,
        options={"ngram": 3, "smooth": "floor", "pad_id": (PADDING, IGNORED)},
        others=({"pad_id": (PADDING, IGNORED, RARE)},),
    ),
    Case(
        "ROUGEScore-text",
        ROUGEScore,
        TEXT,
        telling=(["the cats sat"], [["the cat sat"]]),
        options={"rouge_keys": ("rouge1", "rouge2", "rougeL")},
        others=({"use_stemmer": True},),
        before_data=math.nan,
    ),
    Case(
        "ROUGEScore-ids",
        ROUGEScore,
        IDS,
        telling=RARE_IDS,
        options={"accumulate": "avg", "rouge_keys": ("rouge2", "rougeL"), "pad_id": (PADDING, IGNORED)},
        others=({"pad_id": (PADDING, IGNORED, RARE)},),
        before_data=math.nan,
        averages=("macro", "none"),
        has_details=False,
    ),
    Case(
        "ChrF-text",
        ChrF,
        TEXT,
        telling=PRINTED_TEXT,
        options={"word_order": 2},
        others=({"lowercase": True},),
    ),
    Case(
        "ChrF-ids",
        ChrF,
        IDS,
        telling=RARE_IDS,
        options={"char_order": 3, "pad_id": (PADDING, IGNORED)},
        others=({"pad_id": (PADDING, IGNORED, RARE)},),
    ),
    Case(
        "NgramOverlap-text",
        NgramOverlap,
        TEXT,
        telling=PRINTED_TEXT,
        options={"ngram": 2},
        others=({"tokenizer": "13a"},),
    ),
    Case(
        "NgramOverlap-ids",
        NgramOverlap,
        IDS,
        telling=RARE_IDS,
        options={"ngram": 1, "pad_id": (PADDING, IGNORED)},
        others=({"pad_id": (PADDING, IGNORED, RARE)},),
    ),
    Case(
        "Gleu-text",
        Gleu,
        TEXT,
        telling=PRINTED_TEXT,
        others=({"tokenizer": "13a"},),
    ),
    Case(
        "Gleu-ids",
        Gleu,
        IDS,
        telling=RARE_IDS,
        options={"ngram": 3, "pad_id": (PADDING, IGNORED)},
        others=({"pad_id": (PADDING, IGNORED, RARE)},),
    ),
)

ON_IDS = tuple(case for case in CASES if isinstance(case.batches[0][0], Tensor))


def _pairs(cases: Sequence[Case], averages: Sequence[str] | None = None) -> list[Any]:
    return [
        pytest.param(case, average, id=f"{case.name}-{average}")
        for case in cases
        for average in case.averages
        if averages is None or average in averages
    ]


each_metric = pytest.mark.parametrize(("case", "average"), _pairs(CASES))
each_metric_on_ids = pytest.mark.parametrize(("case", "average"), _pairs(ON_IDS))
each_metric_of_one_value = pytest.mark.parametrize(("case", "average"), _pairs(CASES, ["micro", "macro"]))
each_metric_with_details = pytest.mark.parametrize(
    ("case", "average"), _pairs([case for case in CASES if case.has_details])
)
each_case = pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])


def joined(batches: Sequence[Batch]) -> Batch:
    """Several batches as one."""
    preds, target = zip(*batches, strict=True)
    if isinstance(preds[0], Tensor):
        return torch.cat(preds), torch.cat(target)
    return list(chain.from_iterable(preds)), list(chain.from_iterable(target))


def scores_of(value: Any) -> list[Tensor]:
    """The tensors of a value, which is one or a dict of them."""
    return list(value.values()) if isinstance(value, Mapping) else [value]


def assert_same(actual: Any, expected: Any) -> None:
    """Equal to 1e-12, of one dtype, shape and device."""
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-12, equal_nan=True)


def states_of(metric: torchmetrics.Metric) -> dict[str, Any]:
    """A copy of all states."""
    return {
        name: [one.clone() for one in state] if isinstance(state, list) else state.clone()
        for name, state in metric.metric_state.items()
    }


def assert_same_states(metric: torchmetrics.Metric, states: Mapping[str, Any]) -> None:
    """Bit by bit."""
    torch.testing.assert_close(states_of(metric), dict(states), rtol=0, atol=0)
