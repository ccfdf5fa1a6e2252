"""The table of all metrics: their classes for torchmetrics, settings, and data to feed them.

What every metric must do is tested over this table. A row says with which averages it runs by default, and with which
others if slow tests run too. apis.py has the functions of the classes; ignite_cases.py has the classes for ignite.
"""

import copy
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pytest
import torch
import torchmetrics
from metrics.apis import FUNCTIONS
from torch import Tensor

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore

Batch = tuple[Any, Any]

#: Three batches of different sizes, lower-case and without punctuation, with one reference or several.
TEXT: tuple[Batch, ...] = (
    (
        ["the cat sat on the mat", "a dog ran home"],
        [["the cat sat on a mat", "a cat sat on the mat today"], ["a dog ran away from home"]],
    ),
    (["there is a bird in the tree"], [["a bird is in the tree", "there is a bird in a tree", "there is a bird"]]),
    (
        ["birds sing in the old tree", "the cat sleeps", "we see the old dog"],
        [
            ["birds sing in an old tree today"],
            ["the cat sleeps on the mat"],
            ["we see the very old dog run", "they saw an old dog run by", "we see the dog"],
        ],
    ),
)
#: Capitals, punctuation and a plural: here it matters how text is read.
PRINTED_TEXT: Batch = (["The Cats sat, on the mat!"], [["the cat sat on the mat !"]])

PADDING, IGNORED, RARE = 0, -100, 99
_WIDTH, _REFERENCES = 9, 3
_NUMBERS = {word: number for number, word in enumerate(sorted(set(re.findall(r"\w+", str(TEXT)))), 1)}


def _row(text: str, padding: int) -> list[int]:
    ids = [_NUMBERS[word] for word in text.split()]
    return ids + [padding] * (_WIDTH - len(ids))


def _padded(batch: Batch) -> Batch:
    """The same segments as padded ids: hypotheses (segments, width), references (segments, references, width)."""
    preds, target = batch
    rows = [
        [_row(reference, IGNORED) for reference in references + [""] * (_REFERENCES - len(references))]
        for references in target
    ]
    return torch.tensor([_row(hypothesis, PADDING) for hypothesis in preds]), torch.tensor(rows)


IDS = tuple(map(_padded, TEXT))
#: The word "bird", in the middle of a segment.
SEPARATOR = _NUMBERS["bird"]
#: An id that only some settings take for padding.
RARE_IDS: Batch = (
    torch.tensor([[1, RARE, 2, 3, 4, 5, 6, 0, 0]]),
    torch.tensor([[[1, 2, 3, 4, 5, 6, 0, 0, 0], [0] * _WIDTH, [0] * _WIDTH]]),
)


def _samples(batch: Batch) -> Batch:
    """Three hypotheses a segment: the ids, those without the first, and those without the second and the third."""
    preds, target = batch
    kept = torch.ones(3, preds.shape[1], dtype=torch.bool)
    kept[1, 0] = kept[2, 1:3] = False
    return preds.unsqueeze(1).where(kept, PADDING), target  # (segments, samples, width)


SAMPLES = tuple(map(_samples, IDS))
#: The cache of ``Case.value``, by case, average and indices of batches.
_values: dict[tuple[str, str, tuple[int, ...]], Any] = {}


@dataclass(frozen=True)
class Case:
    """A metric class, settings, and data.

    Attributes:
        name: names the case in a test's id.
        metric: the class.
        batches: at least three, the second of one segment. All segments score differently.
        telling: a batch that tells the settings of `others` apart.
        options: the settings.
        others: changed settings that score `batches` the same, but `telling` differently.
        by_default: the averages that the properties run over by default.
        slow: further ones; all cases together try every path with every average.
    """

    name: str
    metric: type[torchmetrics.Metric]
    batches: tuple[Batch, ...]
    telling: Batch
    options: Mapping[str, Any]
    others: tuple[Mapping[str, Any], ...]
    by_default: tuple[str, ...]
    slow: tuple[str, ...]

    @property
    def before_data(self) -> float:
        """The score before any data."""
        return math.nan if self.metric is ROUGEScore else 0.0

    @property
    def averages(self) -> tuple[str, ...]:
        """Those the metric has under these settings."""
        none = () if self.options.get("confidence") else ("none",)
        return ("micro", "macro", *none) if self.has_details else ("macro", *none)

    @property
    def has_details(self) -> bool:
        """False for means over references, which have no counts."""
        return self.options.get("accumulate") != "avg"

    @property
    def on_ids(self) -> bool:
        return isinstance(self.batches[0][0], Tensor)

    @property
    def nothing(self) -> Batch:
        """A batch without a segment."""
        preds, target = self.batches[0]
        return preds[:0], target[:0]

    @property
    def whole(self) -> Batch:
        """All batches as one."""
        return joined(self.batches)

    def shape(self, average: str, segments: int | None = None) -> tuple[int, ...]:
        """The shape of the scores of so many segments, by default of all; some have several samples each."""
        if average != "none":
            return ()
        number = len(self.whole[0]) if segments is None else segments
        return (number, *self.batches[0][0].shape[1:-1]) if self.on_ids else (number,)

    def make(self, average: str, **options: Any) -> torchmetrics.Metric:
        settings = {**self.options, "average": average, **options}
        return self.metric(**settings)

    def filled(self, average: str, batches: Sequence[Batch] | None = None, **options: Any) -> torchmetrics.Metric:
        """A metric that has seen the batches, by default all."""
        metric = self.make(average, **options)
        for batch in self.batches if batches is None else batches:
            metric.update(*batch)
        return metric

    def value(self, average: str, batches: Sequence[Batch] | None = None, **options: Any) -> Any:
        """What a metric computes for the batches joined into one; cached if all are batches of this case."""
        batches = self.batches if batches is None else batches
        numbers = tuple(n for batch in batches for n, known in enumerate(self.batches) if batch is known)
        if len(numbers) < len(batches) or options:
            return self.filled(average, [joined(batches)], **options).compute()
        key = self.name, average, numbers
        if key not in _values:
            _values[key] = self.filled(average, [joined(batches)]).compute()
        return _values[key]

    def function(self, average: str, batch: Batch) -> Any:
        """What the function of the class returns; there are no intervals."""
        options = {name: value for name, value in self.options.items() if name != "confidence"}
        return FUNCTIONS[self.metric](*batch, average=average, **options)


PADDED = {"pad_id": (PADDING, IGNORED)}
MORE_PADDING = {"pad_id": (PADDING, IGNORED, RARE)}


def _text(
    name: str,
    metric: type,
    options: Mapping[str, Any],
    *others: Mapping[str, Any],
    by_default: str = "",
    slow: str = "",
) -> Case:
    """A row for text."""
    return Case(name, metric, TEXT, PRINTED_TEXT, options, others, tuple(by_default.split()), tuple(slow.split()))


def _ids(
    name: str,
    metric: type,
    options: Mapping[str, Any],
    *others: Mapping[str, Any],
    by_default: str = "",
    slow: str = "",
) -> Case:
    """A row for padded ids."""
    options = {**PADDED, **options}
    others = (MORE_PADDING, *others)
    return Case(name, metric, IDS, RARE_IDS, options, others, tuple(by_default.split()), tuple(slow.split()))


_LOWERCASE = {"lowercase": True}
_STEMMED = {"use_stemmer": True}
_13A = {"tokenizer": "13a"}
_SUMS = {"confidence": None}
#: What ignite's class has other defaults for.
_BLEU = {"smooth": "exp", "effective_order": False, "tokenizer": "13a"}
_ROUGE = {"rouge_keys": ("rouge2", "rougeL")}
_LSUM = {"rouge_keys": ("rouge1", "rougeLsum"), "sentence_separator_id": SEPARATOR}
_AVG = {"rouge_keys": ("rouge2", "rougeL"), "accumulate": "avg"}
_INTERVAL = {"confidence": 0.95}
CASES = (
    _text(
        "Bleu-text",
        Bleu,
        {**_BLEU, "ngram": 2},
        _LOWERCASE,
        {"tokenizer": None},
        by_default="micro",
        slow="macro none",
    ),
    _ids("Bleu-ids", Bleu, {**_BLEU, "ngram": 3, "smooth": "floor"}, slow="macro"),
    _ids("Bleu-ids-interval", Bleu, {**_BLEU, **_INTERVAL, "ngram": 2}, _SUMS, by_default="macro"),
    _text("ROUGEScore-text", ROUGEScore, _ROUGE, _STEMMED, by_default="macro", slow="micro none"),
    _ids("ROUGEScore-ids", ROUGEScore, _LSUM, slow="micro"),
    _ids("ROUGEScore-ids-avg", ROUGEScore, _AVG, slow="macro none"),
    _text(
        "ROUGEScore-text-avg-interval",
        ROUGEScore,
        {**_AVG, **_INTERVAL},
        _STEMMED,
        _SUMS,
        by_default="macro",
    ),
    _text("ChrF-text", ChrF, {"word_order": 2}, _LOWERCASE, by_default="none", slow="micro"),
    _text("ChrF-text-interval", ChrF, _INTERVAL, _LOWERCASE, _SUMS, slow="micro"),
    _ids("ChrF-ids", ChrF, {"char_order": 3}, slow="macro"),
    _text("NgramOverlap-text", NgramOverlap, {"ngram": 2}, _13A, slow="micro macro"),
    _ids("NgramOverlap-ids", NgramOverlap, {"ngram": 1}, slow="none"),
    Case(
        "NgramOverlap-samples",
        NgramOverlap,
        batches=SAMPLES,
        telling=_samples(RARE_IDS),
        options={**PADDED, "ngram": 1},
        others=(MORE_PADDING,),
        by_default=("none",),
        slow=("macro",),
    ),
)
PAIRS = {f"{case.name}-{average}": (case, average) for case in CASES for average in (*case.by_default, *case.slow)}
#: A case of each kind of state (sums, several sums, rows, rows of scores): enough for what is only done to states.
KINDS_OF_STATE = ("Bleu-text-micro", "ROUGEScore-text-macro", "ChrF-text-none", "ROUGEScore-text-avg-interval-macro")


def named_pairs(choose: Callable[[Case, str], bool] = lambda case, average: True) -> list[Any]:
    """The rows that are chosen, each with one average, as parameters of a test."""
    return [
        pytest.param(case, average, id=name, marks=() if average in case.by_default else pytest.mark.slow)
        for name, (case, average) in PAIRS.items()
        if choose(case, average)
    ]


def named_cases(choose: Callable[[Case], bool] = lambda case: True) -> list[Any]:
    """The rows that are chosen, whatever their averages, as parameters of a test."""
    return [
        pytest.param(case, id=case.name, marks=() if case.by_default else pytest.mark.slow)
        for case in CASES
        if choose(case)
    ]


each_metric = pytest.mark.parametrize(("case", "average"), named_pairs())
each_kind_of_state = pytest.mark.parametrize(
    ("case", "average"), [pytest.param(*PAIRS[name], id=name) for name in KINDS_OF_STATE]
)
each_metric_of_one_value = pytest.mark.parametrize(
    ("case", "average"), named_pairs(lambda case, average: average != "none" and "confidence" not in case.options)
)


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


def states_of(metric: Any) -> dict[str, Any]:
    """A copy of all states; of a metric for ignite what it saves."""
    if not isinstance(metric, torchmetrics.Metric):
        return copy.deepcopy(metric.state_dict())
    return {
        name: [one.clone() for one in state] if isinstance(state, list) else state.clone()
        for name, state in metric.metric_state.items()
    }


def assert_same_states(metric: Any, states: Mapping[str, Any]) -> None:
    """Bit by bit."""
    torch.testing.assert_close(states_of(metric), dict(states), rtol=0, atol=0)
