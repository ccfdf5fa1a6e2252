"""Padded ids are counted without ever waiting for the device, and a score of each sentence is one graph.

Three ways to hold it without a GPU. On the ``meta`` device there are no data, so a step that reads a value raises. Of
every operation that torch is asked for, a dispatch mode sees the name, its tags and where its results lie. And
``torch.compile(fullgraph=True)`` refuses whatever depends on a value.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from faces.cases import CASES, Batch, Case, assert_same, scores_of
from torch import Tensor
from torch._dynamo.testing import CompileCounterWithBackend
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import ngram_metrics.ignite as faces
from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore
from ngram_metrics.functional import (
    bleu_score,
    chrf_score,
    get_score,
    gleu_score,
    matched_orders,
    ngram_overlap,
    rouge_score,
)

ROUGE_KEYS = ("rouge1", "rouge2", "rougeL", "rougeLsum")
PADDING, SEPARATOR = 0, 4
#: Operations that copy a Python number or sequence into a tensor: on an accelerator the copy is waited for.
FROM_PYTHON = {"lift", "lift_fresh", "lift_fresh_copy"}


class NoSynchronisation(TorchDispatchMode):
    """Raises at the first operation that would wait for a device, or leave it.

    Args:
        device: where all results have to lie.
    """

    def __init__(self, device: str):
        super().__init__()
        self.device, self.seen = device, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        self.seen += 1
        name = function._schema.name.partition("::")[2]
        if name in FROM_PYTHON:
            raise AssertionError(f"{function} makes a tensor of a Python object")
        if self._depends_on_data(function, args):
            raise AssertionError(f"{function} waits for the device")
        results = function(*args, **kwargs)
        for result in tree_leaves(results):
            if isinstance(result, Tensor) and result.device.type != self.device:
                raise AssertionError(f"{function} gives a tensor on {result.device}: expected {self.device}")
        return results

    @staticmethod
    def _depends_on_data(function, args) -> bool:
        if function is torch.ops.aten.index.Tensor:
            # Tagged whatever the index is: the size of what integers select is known, that of a mask is not.
            return any(one is not None and one.dtype in (torch.bool, torch.uint8) for one in args[1])
        return bool({torch.Tag.dynamic_output_shape, torch.Tag.data_dependent_output} & set(function.tags))


def batch_of(seed: int, sentences: int = 3, width: int = 6, references: int | None = 2, samples: int | None = None):
    """Ids -1 and 0 (padding) to 4 (between sentences), so that n-grams, padding and separators all recur."""
    generator = torch.Generator().manual_seed(seed)
    shape = (sentences, width) if samples is None else (sentences, samples, width)
    # One more than the hypotheses' width: none of the two is taken for the other.
    other = (sentences, width + 1) if references is None else (sentences, references, width + 1)
    return tuple(torch.randint(-1, 5, size, generator=generator) for size in (shape, other))


def _case(metric: type, average: str, options: Mapping[str, Any], **data: Any) -> tuple[Case, str]:
    """What the table of cases has not: other settings, random ids, one reference, no sentence."""
    batches = tuple(batch_of(seed, **data) for seed in range(3))
    name = "-".join([metric.__name__, *options, *data])
    return Case(name, metric, batches, batches[0], {"pad_id": (PADDING, -100), **options}), average


#: Metrics on padded ids, each with an average. Intervals are drawn on the CPU.
COUNTED = (
    *((case, average) for case in CASES for average in case.tried if case.on_ids and "confidence" not in case.options),
    _case(Bleu, "micro", {"smooth": "smooth1"}),
    _case(Bleu, "none", {"smooth": "exp", "weights": (0.5, 0.3, 0.2, 0)}),
    _case(Bleu, "macro", {}, sentences=0),
    _case(Bleu, "macro", {}, references=None),
    _case(ROUGEScore, "macro", {"rouge_keys": ROUGE_KEYS}),
    _case(ROUGEScore, "none", {"rouge_keys": ROUGE_KEYS, "sentence_separator_id": SEPARATOR}),
    _case(ROUGEScore, "macro", {"accumulate": "avg", "rouge_keys": ROUGE_KEYS, "sentence_separator_id": SEPARATOR}),
    _case(ChrF, "micro", {}),
    _case(ChrF, "none", {"eps_smoothing": True}, references=None),
    _case(NgramOverlap, "micro", {"ngram": 2}),
    _case(NgramOverlap, "none", {}, samples=2),
)
each_counted = pytest.mark.parametrize(
    ("case", "average"), [pytest.param(case, average, id=f"{case.name}-{average}") for case, average in COUNTED]
)


def _on(device: str, batches: Sequence[Batch]) -> list[Batch]:
    return [tuple(side.to(device) for side in batch) for batch in batches]


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (lambda ids: ids[ids > 0], r"index\.Tensor waits for the device"),
        (lambda ids: ids.max().item(), r"_local_scalar_dense.* waits for the device"),
        (lambda ids: bool((ids > 0).any()), r"waits for the device|is_nonzero"),
        (lambda ids: torch.unique(ids), r"_unique2.* waits for the device"),
        (lambda ids: ids.nonzero(), r"nonzero.* waits for the device"),
        (lambda ids: torch.repeat_interleave(ids[0]), r"repeat_interleave.* waits for the device"),
        (lambda ids: ids + torch.tensor([1, 2, 3]), r"lift_fresh.* makes a tensor of a Python object"),
        (lambda ids: ids.to("meta"), r"_to_copy.* gives a tensor on meta: expected cpu"),
        (lambda ids: torch.zeros(3, device="meta"), r"zeros.* gives a tensor on meta: expected cpu"),
    ],
    ids=["mask", "item", "bool", "unique", "nonzero", "repeat_interleave", "from-a-list", "to", "elsewhere"],
)
def test_the_watch_sees_every_way_to_wait_for_a_device(step: Callable[[Tensor], Any], words: str):
    ids = torch.tensor([[1, 2, 0]])
    with pytest.raises(AssertionError, match=words), NoSynchronisation("cpu"):
        step(ids)


def test_the_watch_lets_pass_what_is_known_without_the_data():
    ids = torch.tensor([[1, 2, 0]])
    with NoSynchronisation("cpu") as watch:
        ids[torch.arange(1)]
        torch.where(ids > 0, ids, 0).cumsum(-1)
        torch.sort(ids.double() * 0.5)
    assert watch.seen > 5


@each_counted
def test_update_and_compute_ask_for_nothing_that_waits(case: Case, average: str):
    for device in ("cpu", "meta"):
        metric, (first, *batches) = case.make(average, device=device), _on(device, case.batches)
        metric.update(*first)  # its kind is noted on the CPU
        with NoSynchronisation(device) as watch:
            for batch in batches:
                metric.update(*batch)
            value = metric.compute()
        assert watch.seen > 0
        expected = case.filled(average).compute()
        if device == "cpu":
            assert_same(value, expected)
        for scores, real in zip(scores_of(value), scores_of(expected), strict=True):
            assert (scores.device.type, scores.dtype, scores.shape) == (device, torch.float64, real.shape)
    if case.has_details:
        assert {part.device.type for part in metric.details().values()} == {"meta"}
    for scores in scores_of(metric(*batches[0])):
        assert scores.device.type == "meta"
    metric.reset()
    assert metric.row.device.type == "meta"


@each_counted
def test_update_of_ignite_faces_asks_for_nothing_that_waits(case: Case, average: str):
    if (case.metric, average) == (Bleu, "none"):
        return  # as ignite's own, it has none
    metric = getattr(faces, case.metric.__name__)(average=average, **case.options)
    metric.update(case.batches[0])
    with NoSynchronisation("cpu") as watch:
        for batch in case.batches[1:]:
            metric.update(batch)
    assert watch.seen > 0


@each_counted
def test_functions_ask_for_nothing_that_waits(case: Case, average: str):
    for device in ("cpu", "meta"):
        (batch,) = _on(device, case.batches[:1])
        with NoSynchronisation(device):
            value = case.function(average, batch)
        assert {scores.device.type for scores in scores_of(value)} == {device}


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_get_score_asks_for_nothing_that_waits(device: str):
    ((preds, target),) = _on(device, [batch_of(1, samples=2, references=None)])
    with NoSynchronisation(device):
        matrix = get_score(target, preds, PADDING, 2)
    assert (matrix.shape, matrix.device.type) == ((3, 2), device)


@pytest.mark.parametrize("data", [{}, {"references": None}, {"sentences": 0}], ids=str)
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_matched_orders_ask_for_nothing_that_waits(device: str, data: Mapping[str, Any]):
    ((preds, target),) = _on(device, [batch_of(1, **data)])
    with NoSynchronisation(device):
        orders = matched_orders(preds, target, ngram=30, pad_id=(PADDING, -100))
    assert (orders.shape, orders.dtype, orders.device.type) == (preds.shape, torch.int64, device)


# One graph a shape.


@dataclass(frozen=True)
class Reward:
    """A score of each sentence.

    Attributes:
        name: names it in a test's id.
        call: from hypotheses and references to the scores.
        data: what its batches are, beside the seed.
    """

    name: str
    call: Callable[[Tensor, Tensor], Any]
    data: Mapping[str, Any] = field(default_factory=dict)

    def batch(self, seed: int) -> tuple[Tensor, Tensor]:
        return batch_of(seed, **self.data)


def _reward(name: str, function: Callable[..., Any], options: Mapping[str, Any] | None = None, **data: Any) -> Reward:
    settings = {"average": "none", "pad_id": PADDING, **(options or {})}
    return Reward(name, lambda preds, target: function(preds, target, **settings), data)


_EFFECTIVE = {"effective_order": True, "weights": (0.4, 0.3, 0.2, 0.1), "pad_id": (PADDING, -100)}
_LSUM = {"rouge_keys": "rougeLsum", "sentence_separator_id": SEPARATOR}
REWARDS = (
    _reward("bleu", bleu_score, {"smooth": "exp"}),
    _reward("bleu-effective", bleu_score, _EFFECTIVE, references=None),
    _reward("rouge", rouge_score, {"rouge_keys": ROUGE_KEYS[:3]}, width=4),
    _reward("rougeLsum", rouge_score, _LSUM, width=4),
    _reward("mean rouge", rouge_score, {"rouge_keys": "rouge1", "accumulate": "avg"}, width=4),
    _reward("chrf", chrf_score),
    _reward("gleu", gleu_score),
    _reward("overlap", ngram_overlap, {"ngram": 2}, samples=2),
    Reward(
        "get_score",
        lambda preds, target: get_score(target, preds, PADDING, 2),
        {"samples": 2, "references": None},
    ),
    Reward("matched_orders", lambda preds, target: matched_orders(preds, target, pad_id=PADDING)),
)
each_reward = pytest.mark.parametrize("reward", [pytest.param(one, id=one.name) for one in REWARDS])


@contextmanager
def _nothing_compiled_before() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def _twenty_calls(reward: Reward, backend: str) -> None:
    with _nothing_compiled_before():
        counter = CompileCounterWithBackend(backend)
        # A graph for each shape: one for all shapes takes several times as long to trace.
        compiled = torch.compile(reward.call, fullgraph=True, dynamic=False, backend=counter)
        for seed in range(20):
            batch = reward.batch(seed)
            assert_same(compiled(*batch), reward.call(*batch))
        assert counter.frame_count == 1


@each_reward
def test_twenty_batches_of_one_shape_are_compiled_once(reward: Reward):
    _twenty_calls(reward, "eager")


@pytest.mark.slow
@each_reward
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # what the code generator itself uses
def test_generated_code_scores_the_same(reward: Reward):
    _twenty_calls(reward, "inductor")
