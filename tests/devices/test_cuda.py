"""What must hold on a GPU: equal scores, no waiting, graphs. `pytest -m vulkan` runs all but the graphs.

`pytest -m cuda -n 0` imports no other file and no peer, so that it runs where only torch, torchmetrics and pytest are.
"""

import functools
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

import pytest
import torch
from crossings import no_crossings
from real_devices import assert_near, move, rounding, vulkan
from torch import Tensor

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore, functional, mbr

PADDING, SEPARATOR = 0, 4
PADDED = {"pad_id": (PADDING, -100)}


class Machine(NamedTuple):
    """Where a test runs, and what refuses to wait there."""

    device: torch.device
    never_waits: Callable[[], AbstractContextManager[None]]


@contextmanager
def _cuda_never_waits() -> Iterator[None]:
    mode = torch.cuda.get_sync_debug_mode()
    try:
        with warnings.catch_warnings():
            # torch warns once that the mode is a prototype.
            warnings.simplefilter("ignore", UserWarning)
            torch.cuda.set_sync_debug_mode("error")
        with no_crossings():
            yield
    finally:
        torch.cuda.set_sync_debug_mode(mode)


CUDA, VULKAN = (pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("cuda", "vulkan"))


@pytest.fixture(params=[CUDA, VULKAN])
def machine(request: pytest.FixtureRequest) -> Machine:
    if request.param == "vulkan":
        return Machine(vulkan(), no_crossings)
    return Machine(torch.device("cuda", 0), _cuda_never_waits)


def assert_same(actual: Any, expected: Any, device: torch.device, name: str = "") -> None:
    """Equal up to the rounding of scores of this name, the actual ones on the device."""
    assert_near(actual, expected, device, rounding(device, name))


def ids(seed: int, *shape: int) -> Tensor:
    """Few ids, padding and separators among them, so that all recur."""
    return torch.randint(-1, 6, shape, generator=torch.Generator().manual_seed(seed))


TEXT = (
    ["the cat sat on the mat", "a dog ran home", "über den Fluss!\nno more"],
    [["the cat sat on a mat", "a cat sat"], ["a dog ran away from home"], ["über dem Fluss", "no\nmore, no more", ""]],
)
LISTS = [[5, 7, 5, 8], [6], []], [[[5, 7, 8]], [[6, 7], [6]], [[1, 2]]]


def padded_ids(seed: int, width: int = 11) -> tuple[Tensor, Tensor]:
    return ids(seed, 5, width), ids(seed + 100, 5, 3, width + 1)


def wide(seed: int) -> tuple[Tensor, Tensor]:
    """Documents of several words of the table of subsequences, and keys of several sorts."""
    draw = torch.Generator().manual_seed(seed)
    return tuple(torch.randint(1, 1 << 40, shape, generator=draw) % 30_011 for shape in ((3, 150), (3, 2, 190)))


ROUGE_KEYS = ("rouge1", "rouge2", "rougeL", "rougeLsum")
METRICS: dict[str, tuple[type, dict[str, Any]]] = {
    "bleu": (Bleu, {"smooth": "exp"}),
    "bleu-micro": (Bleu, {"average": "micro", "ngram": 9}),
    "rouge": (ROUGEScore, {"rouge_keys": ROUGE_KEYS}),
    "rouge-avg": (ROUGEScore, {"rouge_keys": ROUGE_KEYS, "accumulate": "avg"}),
    "chrf": (ChrF, {"average": "none"}),
    "overlap": (NgramOverlap, {"ngram": 2}),
    "intervals": (ChrF, {"confidence": 0.9}),
}
each_metric = pytest.mark.parametrize("name", METRICS)


def _filled(name: str, batches: Any, device: Any, options: dict[str, Any]) -> Any:
    metric, settings = METRICS[name]
    made = metric(**settings, **options, device=device)
    for batch in batches:
        made.update(*batch)
    return made


@pytest.mark.covering
@each_metric
@pytest.mark.parametrize("kind", ["text", "lists", "padded", "wide"])
def test_metrics_score_as_on_the_cpu(machine: Machine, name: str, kind: str):
    batches = {"text": [TEXT, TEXT], "lists": [LISTS], "padded": [padded_ids(0), padded_ids(1)], "wide": [wide(0)]}[
        kind
    ]
    options = {} if kind == "text" else PADDED
    expected = _filled(name, batches, "cpu", options)
    metric = _filled(name, [move(machine.device, batch) for batch in batches], machine.device, options)
    assert_same(metric.compute(), expected.compute(), machine.device, name)
    assert_same(metric.to("cpu").compute(), expected.compute(), torch.device("cpu"))


@each_metric
def test_updates_of_padded_ids_and_compute_never_wait(machine: Machine, name: str):
    if name == "intervals":
        pytest.skip("intervals are drawn on the CPU")
    metric = _filled(
        name, [move(machine.device, padded_ids(0))], machine.device, PADDED
    )  # what is loaded once may be waited for
    batches = [move(machine.device, padded_ids(seed)) for seed in (1, 2)]
    with machine.never_waits():
        for batch in batches:
            metric.update(*batch)
        metric.compute()


def _score(function: str, **options: Any) -> Callable[..., Any]:
    return functools.partial(getattr(functional, function), average="none", **PADDED, **options)


def _get_score(preds: Tensor, target: Tensor) -> Tensor:
    return functional.get_score(target[:, 0], preds.unsqueeze(1), PADDING, 2)


REWARDS: dict[str, Callable[..., Any]] = {
    "bleu": _score("bleu_score", smooth="exp"),
    "bleu-effective": _score("bleu_score", effective_order=True, weights=(0.4, 0.3, 0.2, 0.1)),
    "rouge": _score("rouge_score", rouge_keys=ROUGE_KEYS[:3]),
    "rougeLsum": _score("rouge_score", rouge_keys="rougeLsum", sentence_separator_id=SEPARATOR),
    "chrf": _score("chrf_score"),
    "overlap": _score("ngram_overlap", ngram=2),
    "get_score": _get_score,
}
each_reward = pytest.mark.parametrize("reward", REWARDS)
#: Ids with ends of sentences go to the CPU, which no graph does.
each_reward_in_a_graph = pytest.mark.parametrize("reward", [name for name in REWARDS if name != "rougeLsum"])


@pytest.mark.covering(3)
@each_reward
def test_rewards_are_those_of_the_cpu(machine: Machine, reward: str):
    for batch in (padded_ids(0), padded_ids(1), wide(2)):
        assert_same(REWARDS[reward](*move(machine.device, batch)), REWARDS[reward](*batch), machine.device, reward)


@pytest.mark.parametrize("machine", [VULKAN], indirect=True)
@each_reward_in_a_graph
def test_a_reward_is_one_graph(machine: Machine, reward: str):
    compiled = torch.compile(REWARDS[reward], backend="aot_eager", fullgraph=True, dynamic=False)
    for batch in (padded_ids(0), padded_ids(1)):
        assert_same(compiled(*move(machine.device, batch)), REWARDS[reward](*batch), machine.device, reward)


@pytest.mark.covering(3)
@pytest.mark.parametrize("machine", [CUDA], indirect=True)
@each_reward_in_a_graph
def test_a_graph_scores_fresh_inputs_as_the_plain_call(machine: Machine, reward: str):
    call, static = REWARDS[reward], move(machine.device, padded_ids(0, width=70))
    # Warmed up on a stream of its own, as torch asks before a capture.
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        call(*static)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = call(*static)
    for seed in (1, 2):
        for room, side in zip(static, move(machine.device, padded_ids(seed, width=70)), strict=True):
            room.copy_(side)
        graph.replay()
        assert_same(captured, call(*padded_ids(seed, width=70)), machine.device)


ROWS = [["a b cd", "b a cd", "cd cd"], ["a b"], ["c", "", "a cd b a"]]
OTHERS = [["a cd b"], ["c", "a b"], [""]]
MEASURES: dict[str, tuple[type, dict[str, Any]]] = {
    "bleu": (Bleu, {"smooth": "exp"}),
    "chrf": (ChrF, {}),
    "chrf++": (ChrF, {"word_order": 2}),
}


@pytest.mark.covering(3)
@pytest.mark.parametrize("name", MEASURES)
def test_all_pairs_score_as_on_the_cpu(machine: Machine, name: str):
    metric, options = MEASURES[name]
    on_device, on_host = metric(**options, device=machine.device), metric(**options)
    for others in (ROWS, OTHERS):
        assert_same(mbr.pairwise(on_device, ROWS, others), mbr.pairwise(on_host, ROWS, others), machine.device, name)
    probabilities = [[1, 2, 3], [1], [2, 1, 1]]
    decoded, expected = (mbr.decode(each, ROWS, ROWS[:], probabilities) for each in (on_device, on_host))
    assert decoded.indices.tolist() == expected.indices.tolist()
    assert_same(decoded.expected_utilities, expected.expected_utilities, machine.device, name)


def test_ids_of_rows_are_scored_on_the_device_of_the_metric(machine: Machine):
    rows, others = ids(0, 3, 8, 12), ids(1, 3, 5, 9)
    on_device, on_host = Bleu(**PADDED, device=machine.device), Bleu(**PADDED)
    rows_there, others_there = move(machine.device, [rows, others])
    for one, other in ((rows_there, rows), (others_there, others)):
        assert_same(
            mbr.pairwise(on_device, rows_there, one), mbr.pairwise(on_host, rows, other), machine.device, "bleu"
        )
    assert mbr.decode(on_device, rows_there).hypotheses[0].device == machine.device


@pytest.mark.parametrize("function", [functional.pairwise_chrf, functional.aggregate_chrf])
def test_drop_ins_of_fastchrf_score_as_on_the_cpu(machine: Machine, function: Callable[..., Any]):
    for others in (ROWS, OTHERS):
        assert_same(function(ROWS, others, device=machine.device), function(ROWS, others), machine.device)


def test_padding_of_rows_stays_where_they_are(machine: Machine):
    rows = [torch.tensor([5]), torch.tensor([6, 7])]
    assert_same(functional.pad2max(move(machine.device, rows), 9), torch.tensor([[5, 9], [6, 7]]), machine.device)
