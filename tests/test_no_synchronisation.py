"""Padded ids are counted without ever waiting for the device, and a score of each sentence is one graph.

Three ways to hold it without a GPU. On the ``meta`` device there are no data, so a step that reads a value raises. Of
every operation that torch is asked for, a dispatch mode sees the name, its tags and where its results lie. And
``torch.compile(fullgraph=True)`` refuses whatever depends on a value.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from faces.cases import assert_same, scores_of
from torch import Tensor
from torch._dynamo.testing import CompileCounterWithBackend
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import ngram_metrics.ignite as faces
from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore
from ngram_metrics.functional import bleu_score, chrf_score, get_score, ngram_overlap, rouge_score

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


@dataclass(frozen=True)
class Counted:
    """A metric on padded ids.

    Attributes:
        name: names it in a test's id.
        metric: its class.
        face: its class for ignite.
        options: its settings.
        averages: those it has under them.
        data: what its batches are, beside the seed.
    """

    name: str
    metric: type
    face: type
    options: Mapping[str, Any]
    averages: tuple[str, ...] = ("micro", "macro", "none")
    data: Mapping[str, Any] = field(default_factory=dict)

    def make(self, average: str, device: str):
        return self.metric(average=average, device=device, **self.options)

    def batch(self, seed: int, device: str = "cpu"):
        return tuple(side.to(device) for side in batch_of(seed, **self.data))


ROUGE = {"rouge_keys": ROUGE_KEYS, "pad_id": (PADDING, -100)}
COUNTED = (
    Counted("bleu", Bleu, faces.Bleu, {"smooth": "smooth1", "pad_id": PADDING}),
    Counted("bleu-exp-weights", Bleu, faces.Bleu, {"smooth": "exp", "weights": (0.5, 0.3, 0.2, 0), "pad_id": PADDING}),
    Counted("bleu-no-sentence", Bleu, faces.Bleu, {"pad_id": PADDING}, data={"sentences": 0}),
    Counted("bleu-one-reference", Bleu, faces.Bleu, {"pad_id": PADDING}, data={"references": None}),
    Counted("rouge", ROUGEScore, faces.ROUGEScore, ROUGE),
    Counted("rouge-separator", ROUGEScore, faces.ROUGEScore, {**ROUGE, "sentence_separator_id": SEPARATOR}),
    Counted(
        "rouge-separator-avg",
        ROUGEScore,
        faces.ROUGEScore,
        {**ROUGE, "sentence_separator_id": SEPARATOR, "accumulate": "avg"},
        averages=("macro", "none"),
    ),
    Counted("chrf", ChrF, faces.ChrF, {"pad_id": PADDING}),
    Counted("chrf-eps", ChrF, faces.ChrF, {"pad_id": PADDING, "eps_smoothing": True}, data={"references": None}),
    Counted("overlap", NgramOverlap, faces.NgramOverlap, {"ngram": 2, "pad_id": PADDING}),
    Counted("overlap-samples", NgramOverlap, faces.NgramOverlap, {"pad_id": PADDING}, data={"samples": 2}),
)
each_counted = pytest.mark.parametrize(
    ("counted", "average"),
    [pytest.param(one, average, id=f"{one.name}-{average}") for one in COUNTED for average in one.averages],
)
each_device = pytest.mark.parametrize("device", ["cpu", "meta"])


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


@each_device
@each_counted
def test_update_and_compute_ask_for_nothing_that_waits(counted: Counted, average: str, device: str):
    metric = counted.make(average, device)
    batches = [counted.batch(seed, device) for seed in range(3)]
    metric.update(*batches[0])  # the first one's kind is noted on the CPU
    with NoSynchronisation(device) as watch:
        for batch in batches[1:]:
            metric.update(*batch)
        value = metric.compute()
    assert watch.seen > 0
    for scores in scores_of(value):
        assert (scores.device.type, scores.dtype) == (device, torch.float64)
        assert scores.dim() == (average == "none") * (2 if "samples" in counted.data else 1)


@each_counted
def test_what_is_watched_scores_the_same_as_unwatched(counted: Counted, average: str):
    watched, free = (counted.make(average, "cpu") for _ in range(2))
    for metric in (watched, free):
        metric.update(*counted.batch(2))
    for seed in range(2):
        free.update(*counted.batch(seed))
        batch = counted.batch(seed)
        with NoSynchronisation("cpu"):
            watched.update(*batch)
    assert_same(watched.compute(), free.compute())


@each_counted
def test_update_of_ignite_faces_asks_for_nothing_that_waits(counted: Counted, average: str):
    if counted.face is faces.Bleu and average == "none":
        return  # as ignite's own, it has none
    metric = counted.face(average=average, **counted.options)
    batches = [counted.batch(seed) for seed in range(3)]
    metric.update(batches[0])
    with NoSynchronisation("cpu") as watch:
        for batch in batches[1:]:
            metric.update(batch)
    assert watch.seen > 0


@pytest.mark.parametrize(
    ("average", "references", "device"),
    [("micro", 3, "cpu"), ("macro", None, "cpu"), ("none", 3, "cpu"), ("none", None, "cpu"), ("none", None, "meta")],
)
def test_functions_ask_for_nothing_that_waits(average: str, references: int | None, device: str):
    preds, target = (side.to(device) for side in batch_of(0, references=references))
    samples = batch_of(1, samples=2)[0].to(device)
    rouge = {**ROUGE, "average": average, "sentence_separator_id": SEPARATOR}
    with NoSynchronisation(device):
        values = [
            bleu_score(preds, target, pad_id=PADDING, smooth="add-k", average=average),
            bleu_score(preds, target, pad_id=PADDING, effective_order=True, average=average),
            chrf_score(preds, target, pad_id=PADDING, average=average),
            ngram_overlap(preds, target, pad_id=PADDING, average=average),
            *rouge_score(preds, target, **rouge).values(),
        ]
        matrix = get_score(target if references is None else target[:, 0], samples, PADDING, 2)
    assert {value.device.type for value in values} == {device}
    assert {value.shape for value in values} == {(3,) if average == "none" else ()}
    assert matrix.shape == (3, 2)


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


def _bleu(preds: Tensor, target: Tensor) -> Tensor:
    return bleu_score(preds, target, smooth="exp", average="none", pad_id=PADDING)


def _bleu_of_effective_orders(preds: Tensor, target: Tensor) -> Tensor:
    weights = (0.4, 0.3, 0.2, 0.1)
    return bleu_score(preds, target, average="none", pad_id=(PADDING, -100), effective_order=True, weights=weights)


def _rouge(preds: Tensor, target: Tensor) -> dict[str, Tensor]:
    return rouge_score(preds, target, rouge_keys=ROUGE_KEYS[:3], average="none", pad_id=PADDING)


def _rouge_lsum(preds: Tensor, target: Tensor) -> dict[str, Tensor]:
    options = {"sentence_separator_id": SEPARATOR, "pad_id": PADDING}
    return rouge_score(preds, target, rouge_keys="rougeLsum", average="none", **options)


def _chrf(preds: Tensor, target: Tensor) -> Tensor:
    return chrf_score(preds, target, average="none", pad_id=PADDING)


def _overlap(preds: Tensor, target: Tensor) -> Tensor:
    return ngram_overlap(preds, target, ngram=2, average="none", pad_id=PADDING)


def _get_score(preds: Tensor, target: Tensor) -> Tensor:
    return get_score(target, preds, PADDING, 2)


REWARDS = (
    Reward("bleu", _bleu),
    Reward("bleu-effective", _bleu_of_effective_orders, {"references": None}),
    Reward("rouge", _rouge, {"width": 4}),
    Reward("rougeLsum", _rouge_lsum, {"width": 4}),
    Reward("chrf", _chrf),
    Reward("overlap", _overlap, {"samples": 2}),
    Reward("get_score", _get_score, {"samples": 2, "references": None}),
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


# On a GPU.


@contextmanager
def _synchronisation_is_an_error() -> Iterator[None]:
    mode = torch.cuda.get_sync_debug_mode()
    try:
        with warnings.catch_warnings():
            # torch warns once that the mode is a prototype.
            warnings.simplefilter("ignore", UserWarning)
            torch.cuda.set_sync_debug_mode("error")
        yield
    finally:
        torch.cuda.set_sync_debug_mode(mode)


@pytest.mark.cuda
@each_counted
def test_on_cuda_update_and_compute_make_no_synchronisation(counted: Counted, average: str):
    metric, here = counted.make(average, "cuda"), counted.make(average, "cpu")
    batches = [counted.batch(seed, "cuda") for seed in range(3)]
    metric.update(*batches[0])  # what is loaded once may be waited for
    with _synchronisation_is_an_error():
        for batch in batches[1:]:
            metric.update(*batch)
        value = metric.compute()
    for seed in range(3):
        here.update(*counted.batch(seed))
    for scores, expected in zip(scores_of(value), scores_of(here.compute()), strict=True):
        assert_same(scores.cpu(), expected)


@pytest.mark.cuda
@each_reward
def test_a_cuda_graph_scores_fresh_inputs_as_eager(reward: Reward):
    inputs = [side.cuda() for side in reward.batch(0)]
    # Warmed up on a stream of its own, as torch asks before a capture.
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            reward.call(*inputs)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = reward.call(*inputs)
    for seed in range(1, 6):
        fresh = [side.cuda() for side in reward.batch(seed)]
        for static, one in zip(inputs, fresh, strict=True):
            static.copy_(one)
        graph.replay()
        assert_same(captured, reward.call(*fresh))
