"""Padded ids are counted without ever waiting for the device, and a score of each sentence is one graph.

The pretend accelerator sees every copy and every wait, and ``torch.compile(fullgraph=True)`` refuses whatever depends
on a value.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from metrics.apis import COMPLETE
from metrics.cases import CASES, Case, assert_same, assert_same_states, named_pairs, states_of
from pretend.comparing import assert_equal, there
from pretend.device import DEVICE, accelerator
from pretend.log import TO_DEVICE, TO_HOST, WAIT
from torch import Tensor
from torch._dynamo.testing import CompileCounterWithBackend
from torch.fx.experimental.proxy_tensor import make_fx

from ngram_metrics.functional import (
    bleu_score,
    get_score,
    ngram_overlap,
    rouge_score,
)

ROUGE_KEYS = ("rouge1", "rouge2", "rougeL", "rougeLsum")
PADDING, SEPARATOR = 0, 4


def batch_of(seed: int, sentences: int = 3, width: int = 6, references: int | None = 2, samples: int | None = None):
    """Ids -1 and 0 (padding) to 4 (between sentences), so that n-grams, padding and separators all recur."""
    generator = torch.Generator().manual_seed(seed)
    shape = (sentences, width) if samples is None else (sentences, samples, width)
    # One more than the hypotheses' width: none of the two is taken for the other.
    other = (sentences, width + 1) if references is None else (sentences, references, width + 1)
    return tuple(torch.randint(-1, 5, size, generator=generator) for size in (shape, other))


#: Intervals are drawn on the CPU.
each_counted = pytest.mark.parametrize(
    ("case", "average"), named_pairs(lambda case, average: case.on_ids and "confidence" not in case.options)
)


@pytest.mark.covering
@pytest.mark.filterwarnings("ignore:no segment was counted")
@each_counted
def test_metrics_ask_for_nothing_that_waits(case: Case, average: str):
    expected = case.filled(average).compute()
    with accelerator() as log:
        metric, (first, *batches) = (
            case.make(average, device=DEVICE),
            [tuple(map(there, batch)) for batch in case.batches],
        )
        metric.update(*first)  # what is loaded once may be waited for
        log.clear()
        for batch in batches:
            metric.update(*batch)
        value = metric.compute()
        if case.has_details:
            metric.details()
        metric(*first)
        metric.reset()
        assert log.counts[:3] == (0, 0, 0), log.lines(TO_DEVICE, TO_HOST, WAIT)
        # A CPU scores few rows in plain Python, which may differ in the last bit.
        assert_equal(value, expected, 1e-15)


# One graph a shape.


def _each_sentence(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    return functools.partial(function, **{"average": "none", "pad_id": PADDING, **options})


#: A score of each sentence, or of all, and what its batches are beside the seed.
REWARDS: dict[str, tuple[Callable[[Tensor, Tensor], Any], dict[str, Any]]] = {
    **{api.name: (_each_sentence(api.function), {}) for api in COMPLETE},
    "bleu": (_each_sentence(bleu_score, smooth="exp"), {}),
    "corpus bleu": (functools.partial(bleu_score, smooth="exp", average="micro", pad_id=PADDING), {"references": None}),
    "bleu-effective": (
        _each_sentence(bleu_score, effective_order=True, weights=(0.4, 0.3, 0.2, 0.1), pad_id=(PADDING, -100)),
        {"references": None},
    ),
    "rouge": (_each_sentence(rouge_score, rouge_keys=ROUGE_KEYS[:3]), {"width": 4}),
    "rougeLsum": (_each_sentence(rouge_score, rouge_keys="rougeLsum", sentence_separator_id=SEPARATOR), {"width": 4}),
    "mean rouge": (_each_sentence(rouge_score, rouge_keys="rouge1", accumulate="avg"), {"width": 4}),
    "overlap": (_each_sentence(ngram_overlap, ngram=2), {"samples": 2}),
    "get_score": (lambda preds, target: get_score(target, preds, PADDING, 2), {"samples": 2, "references": None}),
}
each_reward = pytest.mark.parametrize("reward", REWARDS)


@pytest.fixture
def compiling() -> Iterator[None]:
    """Nothing is compiled before or after."""
    if torch.__version__.startswith("2.4."):
        pytest.skip("torch.compile of torch 2.4 cannot trace how input is read")
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def _twenty_calls(reward: str, backend: str) -> None:
    call, data = REWARDS[reward]
    counter = CompileCounterWithBackend(backend)
    # A graph for each shape: one for all shapes takes several times as long to trace.
    compiled = torch.compile(call, fullgraph=True, dynamic=False, backend=counter)
    for seed in range(20):
        batch = batch_of(seed, **data)
        assert_same(compiled(*batch), call(*batch))
    assert counter.frame_count == 1


@pytest.mark.covering(3)
@pytest.mark.usefixtures("compiling")
@each_reward
def test_twenty_batches_of_one_shape_are_compiled_once(reward: str):
    _twenty_calls(reward, "eager")


@pytest.mark.covering(3)
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
    _twenty_calls(reward, "inductor")


@pytest.mark.covering(3)
@pytest.mark.usefixtures("compiling")
@pytest.mark.parametrize(
    ("case", "average"),
    [
        pytest.param(case, average, id=f"{case.name}-{average}")
        for case in {case.metric: case for case in CASES if case.on_ids and "confidence" not in case.options}.values()
        for average in case.averages
    ],
)
def test_training_steps_that_update_a_metric_are_one_graph_also_after_a_reset(case: Case, average: str):
    counter = CompileCounterWithBackend("eager")
    metric, eager = case.make(average), case.make(average)
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
            torch.testing.assert_close(metric.compute(), eager.compute(), rtol=0, atol=0)
    # One for a batch after a reset, and one for all others.
    assert counter.frame_count == 2
    with pytest.raises(ValueError, match="one metric was given"):
        metric.update(["text"], ["text"])


def test_a_step_that_resets_a_metric_and_counts_a_batch_without_segments_is_one_graph():
    case = next(case for case in CASES if case.on_ids)
    metric, eager = case.make("micro"), case.make("micro")
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
