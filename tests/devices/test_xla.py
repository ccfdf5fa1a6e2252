"""What must hold on XLA, a second device that is real: the numbers of the CPU, no reads, one program for a shape.

`pytest -m xla -n 0` imports no other file. torch_xla runs XLA on the CPU, with kernels, memory and counters of its own.
torch_xla 2.9 has no `searchsorted`: it calls the CPU's, and reads the device for it. Where reads are counted, a
comparison and a sum stand in for it.

Left out: subsequences of more than 55 tokens on either side, whose programs compile for minutes; `ngram_counts`, whose
result has as many rows as there are n-grams; `matched_orders`, which calls `cummax`, of which XLA 2.9 makes no program.
"""

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
from metrics.cases import assert_same, states_of
from torch import Tensor

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore
from ngram_metrics.counting import clipped_matches, common_subsequence_lengths

pytestmark = [pytest.mark.xla, pytest.mark.filterwarnings("default")]  # torch_xla deprecates what it uses itself
_search = torch.searchsorted


class Xla(NamedTuple):
    """The device, and what it has done so far."""

    device: torch.device
    sync: Callable[[], None]
    counters: Any

    def there(self, batch: Any) -> list[Tensor]:
        return [side.to(self.device) for side in batch]

    def programs_and_reads(self) -> tuple[int, int]:
        """How many programs were compiled, and how often the host read the device."""
        self.sync()
        data = [self.counters.metric_data(name) for name in ("CompileTime", "TransferFromDeviceTime")]
        programs, reads = (entry[0] if entry else 0 for entry in data)
        return programs, reads


@pytest.fixture(scope="module")
def xla() -> Xla:
    os.environ.setdefault("PJRT_DEVICE", "CPU")
    torch_xla = pytest.importorskip("torch_xla", reason="torch_xla is not installed", exc_type=ImportError)
    from torch_xla.debug import metrics

    return Xla(torch.device("xla"), torch_xla.sync, metrics)


def batch_of(seed: int, references: int | None = None, wide: bool = False, width: int = 12) -> tuple[Tensor, Tensor]:
    """Six segments of ids 1 to 5 with padding after them, or of ids near 2^62."""
    generator = torch.Generator().manual_seed(seed)
    shapes = (6, width), (6, width - 2) if references is None else (6, references, width - 2)
    sides = []
    for shape in shapes:
        ids = torch.randint(1, 6, shape, generator=generator)
        lengths = torch.randint(0, shape[-1] + 1, shape[:-1], generator=generator)
        sides.append(torch.where(torch.arange(shape[-1]) < lengths.unsqueeze(-1), ids + wide * 2**62, 0))
    return sides[0], sides[1]


ROUGE = {"rouge_keys": ("rouge1", "rouge2", "rougeL")}
#: Metrics, options, references, averages, and whether ids are wide.
CASES: dict[str, tuple[Any, dict[str, Any], int | None, tuple[str, ...], bool]] = {
    "BLEU": (Bleu, {"smooth": "exp"}, None, ("micro", "macro", "none"), False),
    "BLEU, 3 references": (Bleu, {"smooth": "floor"}, 3, ("micro", "macro", "none"), False),
    "BLEU, 14 references": (Bleu, {"smooth": "add-k"}, 14, ("micro",), False),
    "BLEU of order 9": (Bleu, {"ngram": 9, "smooth": "smooth1"}, 3, ("macro",), False),
    "BLEU, wide ids": (Bleu, {"smooth": "smooth2", "weights": (0.4, 0.3, 0.2, 0.1)}, None, ("none",), True),
    "BLEU, effective order": (Bleu, {"effective_order": True}, 3, ("none",), False),
    "ROUGE": (ROUGEScore, ROUGE, None, ("micro", "none"), False),
    "ROUGE, 3 references": (ROUGEScore, ROUGE, 3, ("macro",), False),
    "mean ROUGE, 14 references": (ROUGEScore, {"rouge_keys": "rouge2", "accumulate": "avg"}, 14, ("macro",), False),
    "chrF": (ChrF, {}, None, ("micro", "macro", "none"), False),
    "chrF, 3 references": (ChrF, {}, 3, ("macro",), False),
    "chrF of order 9": (ChrF, {"char_order": 9}, 14, ("none",), False),
    "overlap": (NgramOverlap, {"ngram": 2}, None, ("micro", "macro", "none"), False),
    "overlap, wide ids": (NgramOverlap, {"ngram": 1}, 3, ("none",), True),
}
each_case = pytest.mark.parametrize(
    ("name", "average"), [(name, average) for name, case in CASES.items() for average in case[3]]
)


def make(name: str, average: str, device: Any) -> Any:
    metric, options, *_ = CASES[name]
    return metric(average=average, pad_id=0, device=device, **options)


def batches(name: str) -> list[tuple[Tensor, Tensor]]:
    _, _, references, _, wide = CASES[name]
    return [batch_of(seed, references, wide) for seed in range(3)]


def on_host(value: Any) -> Any:
    return {key: one.cpu() for key, one in value.items()} if isinstance(value, dict) else value.cpu()


@each_case
def test_metrics_go_through_their_lives_as_on_the_cpu(xla: Xla, name: str, average: str):
    first, second, third = batches(name)
    values, states = {}, {}
    for device in ("cpu", xla.device):
        metric, other = make(name, average, device), make(name, average, device)
        metric.persistent(True)
        seen = [metric(*(side.to(device) for side in first))]
        metric.update(*(side.to(device) for side in second))
        other.update(*(side.to(device) for side in third))
        metric.merge_state(other)
        seen.append(metric.compute())
        loaded = make(name, average, device)
        loaded.persistent(True)
        loaded.load_state_dict(metric.state_dict())
        seen.append(loaded.compute())
        moved = loaded.to("cpu")
        seen.append(moved.compute())
        metric.reset()
        metric.update(*(side.to(device) for side in third))
        seen.append(metric.compute())
        values[str(device)], states[str(device)] = [on_host(value) for value in seen], states_of(moved)
    for actual, expected in zip(values[str(xla.device)], values["cpu"], strict=True):
        assert_same(actual, expected)
    if average == "micro":
        torch.testing.assert_close(states[str(xla.device)], states["cpu"], rtol=0, atol=0)


@pytest.fixture
def _own_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare and sum instead of searching: XLA has no search."""

    def search(ascending: Tensor, values: Tensor, *, right: bool = False) -> Tensor:
        if values.device.type != "xla":
            return _search(ascending, values, right=right)
        before, sought = ascending.unsqueeze(-2), values.unsqueeze(-1)
        return ((before <= sought) if right else (before < sought)).sum(-1)

    monkeypatch.setattr(torch, "searchsorted", search)


@pytest.mark.usefixtures("_own_search")
@each_case
def test_updates_read_nothing_and_compile_one_program_for_a_shape(xla: Xla, name: str, average: str):
    _, _, references, _, wide = CASES[name]
    metric, expected = (make(name, average, device) for device in (xla.device, "cpu"))
    asked = []
    for seed, width in enumerate((12, 12, 12, 11, 11, 12)):
        batch = batch_of(seed, references, wide, width)
        there = xla.there(batch)
        programs, reads = xla.programs_and_reads()
        metric.update(*there)
        after = xla.programs_and_reads()
        asked.append((after[0] - programs, after[1] - reads))
        expected.update(*batch)
    print(f"{name}, {average}: programs compiled and reads of each update: {asked}")  # shown with -s
    # The first two: after a reset, and with states. The fourth is a new shape, if no other test had it.
    assert asked[2:] in ([(0, 0), (number, 0), (0, 0), (0, 0)] for number in (0, 1)), asked
    assert_same(on_host(metric.compute()), on_host(expected.compute()))


@pytest.mark.parametrize("ngram", [1, 4, 9])
@pytest.mark.parametrize("references", [None, 3, 14])
@pytest.mark.parametrize("wide", [False, True])
def test_matches_are_those_of_the_cpu(xla: Xla, wide: bool, references: int | None, ngram: int):
    batch = batch_of(7, references, wide)
    counts = clipped_matches(*xla.there(batch), ngram=ngram, pad_id=0)
    for actual, expected in zip(counts, clipped_matches(*batch, ngram=ngram, pad_id=0), strict=True):
        assert actual.device.type == "xla"
        assert actual.cpu().equal(expected)


@pytest.mark.parametrize("wide", [False, True])
def test_subsequences_of_one_word_are_those_of_the_cpu(xla: Xla, wide: bool):
    batch = batch_of(8, wide=wide)
    lengths = common_subsequence_lengths(*xla.there(batch), pad_id=0)
    assert lengths.cpu().equal(common_subsequence_lengths(*batch, pad_id=0))
