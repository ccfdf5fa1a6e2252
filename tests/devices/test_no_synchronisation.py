"""Padded ids are counted without ever waiting for the device, and a score of each segment is one graph.

On ``meta``, a device without data, ``no_crossings`` refuses every copy and every read, and
``torch.compile(fullgraph=True)`` refuses whatever depends on a value. `pytest -m vulkan` and `pytest -m cuda` run the
first and the compiled scores on these devices too, and CUDA captures graphs of them.
"""

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from crossings import crossings, no_crossings
from metrics.apis import FUNCTIONS
from metrics.cases import CASES, Case, assert_same, assert_same_states, named_pairs, states_of
from real_devices import (
    METRICS,
    assert_near,
    batch_of,
    capture,
    each_metric_and_average,
    fixture_of,
    move,
    no_waiting,
    rounding,
)
from torch import Tensor
from torch._dynamo.testing import CompileCounterWithBackend
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_leaves
from torchmetrics import MetricCollection

from ngram_metrics import Bleu, ChrF, NgramOverlap
from ngram_metrics.functional import bleu_score, get_score, ngram_overlap

#: Where nothing may wait, and where scores are compiled.
quiet = fixture_of("meta", "vulkan", "cuda")
compiled_for = fixture_of("cpu", "vulkan", "cuda")
on_cuda = fixture_of("cuda")


@each_metric_and_average
def test_padded_ids_are_counted_and_scored_without_crossing_between_host_and_device(
    quiet: torch.device, name: str, average: str
):
    metric = METRICS[name](average=average, device=quiet, pad_id=0)
    shapes = ((3, None), (2, 1), (3, 14), (2, 14))  # so many that nine orders need two keys
    batches = [move(quiet, batch_of(0, references, segments=segments)) for segments, references in shapes]
    if quiet.type != "meta":
        for batch in batches:  # what is loaded once may be waited for
            metric(*batch)
        metric.reset()
    with no_waiting(quiet):
        values = []
        for batch in batches:
            metric.update(*batch)
            values += [metric.compute(), metric(*batch)]
        if name != "ROUGEScore-avg":
            metric.details()
        metric.reset()
        metric.update(*batches[1])
    assert {value.device for value in tree_leaves(values)} == {quiet}


@pytest.mark.parametrize("average", ["micro", "macro", "none"])
def test_a_collection_with_compute_groups_counts_without_crossing(average: str):
    """At each update torchmetrics reads the states of one metric of a group, and sets them on the others."""
    options = {"average": average, "pad_id": 0}
    collection = MetricCollection({"a": Bleu(**options), "b": Bleu(**options), "c": ChrF(**options)})
    collection.update(*batch_of(0, 2))  # forms the groups, for which states are compared
    assert list(collection.compute_groups.values()) == [["a", "b"], ["c"]]
    collection.to("meta")
    for metric in collection.values(copy_state=False):
        metric.reset()
    batch = move("meta", batch_of(0, 2))
    with no_crossings():
        for _ in range(2):
            collection.update(*batch)


@pytest.mark.parametrize("average", ["micro", "macro", "none"])
@pytest.mark.parametrize("samples", [1, 4])
def test_samples_are_counted_without_crossing(average: str, samples: int):
    metric = NgramOverlap(average=average, device="meta", pad_id=0)
    batch = move("meta", batch_of(0, None, samples))
    with no_crossings():
        metric.update(*batch)
        metric.compute()


@pytest.mark.parametrize("name", METRICS)
def test_padded_ids_with_an_interval_are_counted_without_crossing(name: str):
    """Intervals are drawn on the CPU, so ``compute`` waits."""
    metric = METRICS[name](average="macro", confidence=0.9, device="meta", pad_id=0)
    batch = move("meta", batch_of(0))
    with no_crossings():
        metric.update(*batch)


TEXT = ["the cat sat on the mat", "a dog ran home", ""], [["the cat sat", "a cat"], ["a dog", ""], ["a"]]
LISTS = [[5, 7, 5, 8], [6], []], [[[5, 7, 8], [5]], [[6, 7], [6]], [[1, 2]]]


@each_metric_and_average
@pytest.mark.parametrize("batch", [TEXT, LISTS], ids=["text", "lists"])
def test_what_the_host_counts_goes_to_the_device_in_one_copy(name: str, average: str, batch: Any):
    metric = METRICS[name](average=average, device="meta", pad_id=0 if batch is LISTS else None)
    for times in (1, 20):
        with crossings() as crossed:
            metric.update(*(side * times for side in batch))
        assert crossed == ["aten._to_copy.default: copies between the host and the device"]
    # Rows that were views would be saved with all that was sent beside them.
    assert all(rows.untyped_storage().nbytes() == rows.nbytes for rows in metric.metric_state.get("rows", ()))


# One graph a shape.

SMALL = {"segments": 3, "width": 6}
#: A score of each segment, as rewards are, or of all, and what its batches are beside the seed.
REWARDS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    **{
        name: (functools.partial(FUNCTIONS[make.func], average="none", pad_id=0, **make.keywords), SMALL)
        for name, make in METRICS.items()
    },
    "corpus bleu": (functools.partial(bleu_score, average="micro", pad_id=0), {**SMALL, "references": None}),
    "samples": (functools.partial(ngram_overlap, ngram=2, average="none", pad_id=0), {**SMALL, "samples": 2}),
    "get_score": (
        lambda preds, target: get_score(target, preds, 0, 2),
        {**SMALL, "samples": 2, "references": None},
    ),
}
#: BLEU is compiled by default, the others if slow tests run too.
each_reward = pytest.mark.parametrize(
    "reward", [pytest.param(name, marks=() if name == "Bleu" else pytest.mark.slow) for name in REWARDS]
)


def _call_compiled(reward: str, backend: str, device: torch.device, calls: int = 20) -> None:
    call, shapes = REWARDS[reward]
    counter = CompileCounterWithBackend(backend)
    # A graph for each shape: one for all shapes takes several times as long to trace.
    compiled = torch.compile(call, fullgraph=True, dynamic=False, backend=counter)
    for seed in range(calls):
        batch = batch_of(seed, **shapes)
        assert_near(compiled(*move(device, batch)), call(*batch), device, rounding(device, reward))
    assert counter.frame_count == 1


@pytest.mark.usefixtures("compiling")
@each_reward
def test_twenty_batches_of_one_shape_are_compiled_once(compiled_for: torch.device, reward: str):
    if compiled_for.type == "cpu":
        _call_compiled(reward, "eager", compiled_for)
    else:
        _call_compiled(reward, "aot_eager", compiled_for, calls=2)


@each_reward
def test_tracing_leaves_no_side_effects(reward: str):
    call, data = REWARDS[reward]
    traced = make_fx(torch.func.functionalize(call))(*batch_of(0, **data))
    assert_same(traced(*batch_of(1, **data)), call(*batch_of(1, **data)))


@pytest.mark.slow
@pytest.mark.usefixtures("compiling")
@each_reward
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # what the code generator itself uses
def test_generated_code_scores_the_same(reward: str):
    _call_compiled(reward, "inductor", torch.device("cpu"))


@pytest.mark.slow
@pytest.mark.usefixtures("compiling")
@pytest.mark.parametrize(
    ("case", "average"),
    # Sentences of ids are compared on the CPU, outside of a graph.
    named_pairs(
        lambda case, average: case.on_ids and not {"confidence", "sentence_separator_id"} & case.options.keys(),
    ),
)
def test_training_steps_that_update_a_metric_are_one_graph_also_after_a_reset(case: Case, average: str):
    counter = CompileCounterWithBackend("eager")
    metric = case.make(average)
    eager = case.make(average)
    batch = case.batches[0]

    def step(preds: Tensor, target: Tensor) -> Tensor:
        metric.update(preds, target)
        return preds.sum()

    compiled = torch.compile(step, fullgraph=True, dynamic=False, backend=counter)
    for _ in range(2):
        metric.reset()
        eager.reset()
        for _ in range(2):
            compiled(*batch)
            eager.update(*batch)
            # Torch scores in a graph, and NumPy outside of it: the last bit may differ.
            torch.testing.assert_close(metric.compute(), eager.compute(), rtol=1e-12, atol=0)
    # One for a batch after a reset, and one for all others.
    assert counter.frame_count == 2
    with pytest.raises(ValueError, match="this metric was given"):
        metric.update(["text"], ["text"])


@pytest.mark.slow
@pytest.mark.usefixtures("compiling")
def test_a_step_that_resets_a_metric_and_counts_a_batch_without_segments_is_one_graph():
    case = next(case for case in CASES if case.on_ids)
    metric = case.make("micro")
    eager = case.make("micro")
    preds, target = case.batches[0]

    @functools.partial(torch.compile, fullgraph=True, dynamic=False, backend="eager")
    def step(*sizes: int) -> None:
        metric.reset()
        for size in sizes:
            metric.update(preds[:size], target[:size])

    for sizes in ((0,), (2, 0)):
        step(*sizes)
        eager.reset()
        for size in sizes:
            eager.update(preds[:size], target[:size])
        assert_same_states(metric, states_of(eager))


@each_reward
def test_a_captured_graph_scores_fresh_inputs_as_the_plain_call(on_cuda: torch.device, reward: str):
    call, shapes = REWARDS[reward]
    shapes = {**shapes, "width": 70}  # two words of the table of subsequences
    replay = capture(call, move(on_cuda, batch_of(0, **shapes)))
    for seed in (1, 2):
        batch = batch_of(seed, **shapes)
        assert_near(replay(*move(on_cuda, batch)), call(*batch), on_cuda, 1e-12)
