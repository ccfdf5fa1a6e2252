"""Padded ids are counted without ever waiting for the device, and a score of each sentence is one graph.

The pretend accelerator sees every copy and every wait, and ``torch.compile(fullgraph=True)`` refuses whatever depends
on a value.
"""

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from metrics.cases import CASES, FUNCTIONS, Case, assert_same
from pretend.comparing import assert_equal, there
from pretend.device import DEVICE, accelerator
from pretend.log import TO_DEVICE, TO_HOST, WAIT, Log
from torch import Tensor
from torch._dynamo.testing import CompileCounterWithBackend

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore
from ngram_metrics.functional import (
    bleu_score,
    chrf_score,
    distinct,
    get_score,
    gleu_score,
    matched_orders,
    ngram_overlap,
    repetition,
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


@contextmanager
def _never_waits(log: Log) -> Iterator[None]:
    """Neither copies between the host and the device, nor waits for it."""
    log.clear()
    yield
    assert log.counts[:3] == (0, 0, 0), log.lines(TO_DEVICE, TO_HOST, WAIT)


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
        with _never_waits(log):
            for batch in batches:
                metric.update(*batch)
            value = metric.compute()
            if case.has_details:
                metric.details()
            metric(*first)
            metric.reset()
        # A CPU scores few rows in plain Python, which may differ in the last bit.
        assert_equal(value, expected, 1e-15)


@pytest.mark.parametrize("data", [{}, {"references": None}, {"sentences": 0}], ids=str)
def test_matched_orders_ask_for_nothing_that_waits(data: Mapping[str, Any]):
    options = {"ngram": 30, "pad_id": (PADDING, -100)}
    expected = matched_orders(*batch_of(1, **data), **options)
    with accelerator() as log:
        batch = tuple(map(there, batch_of(1, **data)))
        with _never_waits(log):
            orders = matched_orders(*batch, **options)
        assert_equal(orders, expected)


@pytest.mark.parametrize("average", ["none", "macro"])
def test_diversity_of_samples_asks_for_nothing_that_waits(average: str):
    samples, _ = batch_of(1, samples=2)
    for function in (distinct, repetition):
        expected = function(samples, 2, average, pad_id=PADDING)
        with accelerator() as log:
            ids = there(samples)
            with _never_waits(log):
                scores = function(ids, 2, average, pad_id=PADDING)
            assert_equal(scores, expected)


# One graph a shape.


def _each_sentence(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    return functools.partial(function, **{"average": "none", "pad_id": PADDING, **options})


#: A score of each sentence, or of all, and what its batches are beside the seed.
REWARDS: dict[str, tuple[Callable[[Tensor, Tensor], Any], dict[str, Any]]] = {
    "bleu": (_each_sentence(bleu_score, smooth="exp"), {}),
    "corpus bleu": (functools.partial(bleu_score, smooth="exp", average="micro", pad_id=PADDING), {}),
    "bleu-effective": (
        _each_sentence(bleu_score, effective_order=True, weights=(0.4, 0.3, 0.2, 0.1), pad_id=(PADDING, -100)),
        {"references": None},
    ),
    "bleu-micro": (
        lambda preds, target: bleu_score(preds, target, average="micro", smooth="exp", pad_id=PADDING),
        {"references": None},
    ),
    "rouge": (_each_sentence(rouge_score, rouge_keys=ROUGE_KEYS[:3]), {"width": 4}),
    "rougeLsum": (_each_sentence(rouge_score, rouge_keys="rougeLsum", sentence_separator_id=SEPARATOR), {"width": 4}),
    "mean rouge": (_each_sentence(rouge_score, rouge_keys="rouge1", accumulate="avg"), {"width": 4}),
    "chrf": (_each_sentence(chrf_score), {}),
    "gleu": (_each_sentence(gleu_score), {}),
    "repetition": (lambda preds, _: repetition(preds, 2, "none", pad_id=PADDING), {"samples": 2}),
    "distinct": (lambda preds, _: distinct(preds, 2, "none", pad_id=PADDING), {"samples": 2}),
    "overlap": (_each_sentence(ngram_overlap, ngram=2), {"samples": 2}),
    "get_score": (lambda preds, target: get_score(target, preds, PADDING, 2), {"samples": 2, "references": None}),
    "matched_orders": (functools.partial(matched_orders, pad_id=PADDING), {}),
}
each_reward = pytest.mark.parametrize("reward", REWARDS)


def test_every_function_of_padded_ids_has_a_row():
    rows = {call.func for call, _ in REWARDS.values() if isinstance(call, functools.partial)}
    functions = {FUNCTIONS[case.metric] for case in CASES if case.on_ids and case.has_references}
    missing = {function.__name__ for function in functions - rows}
    assert not missing, "add rows to REWARDS in tests/devices/test_no_synchronisation.py"


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
