"""What must hold on XLA, Vulkan and CUDA, devices that are real: the numbers of the CPU, and few copies.

`pytest -m xla`, `pytest -m vulkan` and `pytest -m cuda` run it. torch_xla 2.9 has no `searchsorted`: it calls the
CPU's, and reads the device for it. Where reads are counted, a comparison and a sum stand in for it. Left out on XLA:
subsequences of more than 55 tokens on either side, whose programs compile for minutes; `ngram_counts`, whose result has
as many rows as there are n-grams.

torchvulkan 0.2.1 has two faults, which the package does not run into. On the device "vulkan", with
``mask = torch.tensor([True, False, True, False])`` and ``numbers = torch.tensor([3, 4, 5, -6])``:

- ``mask + numbers`` is 3, 4, 5, 0, also with an ``alpha``; expected 4, 4, 6, -6, as ``numbers + mask`` is.
- ``numbers.ge_(4)`` writes one byte for each bool into the memory of the numbers: 65792, 4, 5, -6; expected 0, 1, 1, 0.
"""

import copy
import functools
import sys
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from crossings import crossings
from metrics.cases import CASES, Case, each_kind_of_state, states_of
from real_devices import (
    CLASSES,
    METRICS,
    assert_near,
    batch_of,
    device,
    each_class,
    each_metric_and_average,
    fixture_of,
    move,
    rounding,
)
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from ngram_metrics import Bleu, ChrF, GroupedMetric, ROUGEScore, functional, mbr
from ngram_metrics._core.basics.arrays import to_float
from ngram_metrics._core.counting import pairs
from ngram_metrics._core.scoring import pair_scores
from ngram_metrics.counting import clipped_matches, common_subsequence_lengths, ngram_counts
from ngram_metrics.significance import paired_approximate_randomization, paired_bootstrap

pytestmark = pytest.mark.filterwarnings("default")  # torch_xla deprecates what it uses itself
on_each = fixture_of("xla", "vulkan", "cuda")
on_xla = fixture_of("xla")
on_vulkan = fixture_of("vulkan")
#: XLA lacks operations that these have.
on_complete = fixture_of("vulkan", "cuda")
host = torch.device("cpu")
lengths = functools.partial(common_subsequence_lengths, pad_id=0)
_search = torch.searchsorted


def life(make: Callable[..., Any], batches: Any, here: Any, elsewhere: Any) -> tuple[list[Any], Any]:
    """The values of a metric that counts, is merged, saved, loaded, copied, moved and reset, and its states."""
    first, second, third = (move(here, batch) for batch in batches)
    metric = make(device=here)
    other = make(device=elsewhere)
    loaded = make(device=elsewhere)
    metric.persistent(True)
    loaded.persistent(True)
    values = [metric(*first)]
    metric.update(*second)
    other.update(*move(elsewhere, batches[2]))
    metric.merge_state(other)
    values.append(metric.compute())
    loaded.load_state_dict(metric.state_dict())
    copied = copy.deepcopy(metric)
    metric.reset()
    metric.update(*third)
    copied.update(*second)
    values += [metric.compute(), copied.compute(), loaded.to(here).compute()]
    return move("cpu", values), states_of(loaded.to("cpu"))


def assert_same_lives(make: Callable[..., Any], batches: Any, device: torch.device) -> None:
    expected = life(make, batches, "cpu", "cpu")
    apart = rounding(device, type(make(device="cpu")).__name__)
    for elsewhere in (device,) if device.type == "xla" else (device, "cpu"):
        assert_near(life(make, batches, device, elsewhere), expected, host, apart)


@each_metric_and_average
def test_metrics_go_through_their_lives_as_on_the_cpu(on_each: torch.device, name: str, average: str):
    batches = batch_of(0, None), batch_of(1, 3, wide=True), batch_of(2, 14)
    assert_same_lives(functools.partial(METRICS[name], average=average, pad_id=0), batches, on_each)


@pytest.fixture
def _own_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare and sum instead of searching: XLA has no search."""

    def search(ascending: Tensor, values: Tensor, *, right: bool = False, out_int32: bool = False) -> Tensor:
        if values.device.type != "xla":
            return _search(ascending, values, right=right, out_int32=out_int32)
        before = ascending.unsqueeze(-2)
        sought = values.unsqueeze(-1)
        is_before = (before <= sought) if right else (before < sought)
        return is_before.sum(-1, dtype=torch.int32 if out_int32 else torch.int64)

    monkeypatch.setattr(torch, "searchsorted", search)


@pytest.mark.usefixtures("_own_search")
@each_metric_and_average
def test_updates_read_nothing_and_compile_one_program_for_a_shape(on_xla: torch.device, name: str, average: str):
    import torch_xla
    from torch_xla.debug import metrics

    def programs_and_reads() -> tuple[int, ...]:
        torch_xla.sync()
        data = [metrics.metric_data(name) for name in ("CompileTime", "TransferFromDeviceTime")]
        return tuple(entry[0] if entry else 0 for entry in data)

    metric, expected = (METRICS[name](average=average, pad_id=0, device=device) for device in (on_xla, "cpu"))
    asked = []
    for seed, width in enumerate((12, 12, 12, 11, 11, 12)):
        batch = batch_of(seed, 3, width=width)
        there = move(on_xla, batch)
        before = programs_and_reads()
        metric.update(*there)
        asked.append(tuple(after - one for after, one in zip(programs_and_reads(), before, strict=True)))
        expected.update(*batch)
    print(f"{name}, {average}: programs compiled and reads of each update: {asked}")  # shown with -s
    # The first two: after a reset, and with states. The fourth is a new shape, if no other test had it.
    assert asked[2:] in ([(0, 0), (number, 0), (0, 0), (0, 0)] for number in (0, 1)), asked
    assert_near(metric.compute(), expected.compute(), on_xla, 1e-12)


@pytest.mark.parametrize("wide", [False, True])
def test_padded_ids_are_counted_as_on_the_cpu(on_each: torch.device, wide: bool):
    matches = functools.partial(clipped_matches, pad_id=0)
    for references, ngram in product((None, 3, 14), (1, 4, 9)):
        batch = batch_of(7, references, wide=wide)
        assert_near(matches(*move(on_each, batch), ngram), matches(*batch, ngram), on_each)
    batch = batch_of(8, None, wide=wide)
    assert_near(lengths(*move(on_each, batch)), lengths(*batch), on_each)


# What XLA cannot do, or not in time.


@pytest.mark.parametrize("width", [70, 700])
def test_subsequences_of_many_words_are_those_of_the_cpu(on_complete: torch.device, width: int):
    batch = batch_of(9, None, width=width)
    assert_near(lengths(*move(on_complete, batch)), lengths(*batch), on_complete)


@pytest.mark.parametrize("corpus", [False, True])
def test_ngrams_are_counted_as_on_the_cpu(on_complete: torch.device, corpus: bool):
    for order in (1, 3, 12):
        ids, _ = batch_of(order)
        counts = ngram_counts(ids.to(on_complete), order, 0, corpus)
        assert_near(counts, ngram_counts(ids, order, 0, corpus), on_complete)


@each_kind_of_state
def test_metrics_of_texts_go_through_their_lives_as_on_the_cpu(on_complete: torch.device, case: Case, average: str):
    assert_same_lives(functools.partial(case.make, average), case.batches, on_complete)


@pytest.mark.parametrize("case", [case for case in CASES if case.on_ids], ids=lambda case: case.name)
def test_surroundings_do_not_reach_the_scores(on_complete: torch.device, case: Case):
    average = case.averages[0]
    batches = [move(on_complete, batch) for batch in case.batches]
    expected = case.filled(average).compute()
    for around in (on_complete, torch.autocast(on_complete.type, torch.float16), torch.inference_mode()):
        with around:
            metric = case.filled(average, batches, device=on_complete)
            assert_near(metric.compute(), expected, on_complete, rounding(on_complete, case.name))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_metrics_of_ignite_return_the_numbers_of_the_cpu(on_complete: torch.device, case: Case):
    ignite = pytest.importorskip("ngram_metrics.ignite", reason="ignite is not installed", exc_type=ImportError)
    make = functools.partial(getattr(ignite, case.metric.__name__), average=case.averages[0], **case.options)
    here, there = make(), make(device=on_complete)
    for batch in case.batches:
        here.update(batch)
        there.update(move(on_complete, batch))
    apart = rounding(on_complete, case.name)
    assert there.compute() == pytest.approx(here.compute(), rel=apart, abs=apart)


def test_rows_that_are_computed_on_the_cpu_stay_there(on_complete: torch.device):
    metric = Bleu(average="none", compute_on_cpu=True)
    other = Bleu(average="none")
    metric.update(["a b"], [["a b"]])
    other.update(["a c"], [["a b"]])
    metric = metric.to(on_complete)
    metric.merge_state(other)
    assert [(rows.device.type, len(rows)) for rows in metric.rows] == [("cpu", 2)]
    assert len(metric.compute()) == 2


def test_an_empty_batch_of_lists_is_counted(on_complete: torch.device):
    for metric in (Bleu(device=on_complete), ChrF(device=on_complete), ROUGEScore(device=on_complete)):
        metric.update([], [])
        metric.update(["a b c d"], [["a b c d"]])
        assert {float(value) for value in tree_leaves(metric.compute())} == {1}


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_groups_are_counted_as_on_the_cpu(on_complete: torch.device, average: str):
    """Of texts and of ids, by labels and by indices on the device, an index out of range included."""
    labels = ["a", "b", "a", "a", "b", "c"]
    indices = torch.tensor([0, 1, 0, 0, 1, 2])
    here, there = (
        GroupedMetric(ChrF(average=average, pad_id=0, device=device), ["a", "b", "c"]) for device in (host, on_complete)
    )
    for batch in (batch_of(0, None), (["the cat sat"] * 6, ["the cat", "a cat sat", "the cat sat", "a", "b", "c"])):
        for metric in (here, there):
            metric.reset()
        for groups in (labels, indices):
            here.update(*batch, groups)
            there.update(*move(on_complete, (*batch, groups)))
        assert_near(there.compute(), here.compute(), on_complete, 1e-12)
        there.update(*move(on_complete, (*batch, indices + 1)))
        with pytest.raises(ValueError, match="1 indices of groups are out of range"):
            there.compute()


@each_class
def test_ids_in_tensors_of_the_device_come_to_the_host_in_one_copy(on_vulkan: torch.device, name: str):
    here, there = (METRICS[name](pad_id=0, device=device) for device in (host, on_vulkan))
    ids = [torch.arange(1, length) for length in (5, 9, 7, 1, 12)]
    batch = ids, [[one] for one in ids[::-1]]
    here.update(*batch)
    preds, target = move(on_vulkan, batch)
    with crossings() as crossed:
        there.update(preds, target)
    assert len(crossed) == 2, crossed  # and what was counted goes back
    assert_near(there.compute(), here.compute(), on_vulkan, rounding(on_vulkan, name))


@each_class
@pytest.mark.parametrize("options", [{}, {"average": "none"}, {"confidence": 0.9}])
def test_what_padded_ids_of_a_device_add_comes_to_states_of_the_cpu_in_one_copy(
    on_vulkan: torch.device, name: str, options: dict[str, Any]
):
    here, other = (METRICS[name](pad_id=0, **options) for _ in range(2))
    for seed, references in ((1, None), (2, 3)):
        batch = batch_of(seed, references)
        there = move(on_vulkan, batch)
        with crossings() as crossed:
            here.update(*there)
        assert len(crossed) == 1, crossed
        other.update(*batch)
    assert_near(here.compute(), other.compute(), host, 1e-12)


def test_padded_ids_beside_lists_come_to_the_host_in_one_copy(on_vulkan: torch.device):
    hypotheses = torch.arange(140).reshape(20, 7)
    lists = [[[1, 2, 3, 4]]] * 20
    expected = functional.bleu_score(hypotheses, lists, average="none", pad_id=0)
    there = hypotheses.to(on_vulkan)
    with crossings() as crossed:
        found = functional.bleu_score(there, lists, average="none", pad_id=0)
    assert len(crossed) == 1, crossed
    assert_near(found, expected, host, 1e-12)


def test_the_values_of_a_metric_of_ignite_come_to_the_host_in_one_copy(on_vulkan: torch.device):
    from ngram_metrics import ignite

    metric = ignite.ROUGEScore(average="micro", pad_id=0, device=on_vulkan, rouge_keys=("rouge1", "rouge2", "rougeL"))
    metric.update(move(on_vulkan, batch_of(1)))
    with crossings() as crossed:
        assert len(metric.compute()) == 9
    assert len(crossed) == 1, crossed


class _NoFloat64(TorchDispatchMode):
    """Refuses float64 on a device, as MPS does."""

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        results = function(*args, **(kwargs or {}))
        for one in tree_leaves(results):
            assert not (isinstance(one, Tensor) and one.device.type != "cpu" and one.dtype == torch.float64), function
        return results


@pytest.fixture
def _without_float64(monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of the package's functions, which ask for MPS: no device has float64."""

    def float_dtype(device: torch.device) -> torch.dtype:
        return torch.float64 if device.type == "cpu" else torch.float32

    def floats(counts: Any) -> Any:
        return to_float(counts) if isinstance(counts, np.ndarray) else counts.to(float_dtype(counts.device))

    for module in [module for name, module in sys.modules.items() if name.startswith("ngram_metrics")]:
        for name, function in (("float_dtype", float_dtype), ("to_float", floats)):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, function)


@pytest.mark.usefixtures("_without_float64")
@each_class
@pytest.mark.parametrize("average", ["micro", "macro"])
def test_batches_on_a_device_without_float64_have_the_score_of_the_cpu(
    on_vulkan: torch.device, name: str, average: str
):
    here, there = (METRICS[name](pad_id=0, average=average, device=device) for device in (host, on_vulkan))
    for seed in range(3):
        batch = batch_of(seed, None)
        here.update(*batch)
        with _NoFloat64():
            there.update(*move(on_vulkan, batch))
    with _NoFloat64():
        found = there.compute()
    for one, other in zip(tree_leaves(found), tree_leaves(here.compute()), strict=True):
        assert one.dtype == torch.float32
        assert one.item() == pytest.approx(other.item(), rel=1e-6)
    if average == "macro":
        assert (there.score_sum.dtype, there.score_sum.device.type) == (torch.float64, "cpu")


@pytest.mark.usefixtures("_without_float64")
def test_scores_of_references_are_added_up_by_groups_without_float64(on_vulkan: torch.device):
    """ROUGE of texts keeps the scores of each reference, in float64, and the indices are on the device."""
    metric = ROUGEScore(rouge_keys="rouge1", accumulate="avg")
    here, there = (GroupedMetric(copy.deepcopy(metric).to(device), ["a", "b"]) for device in (host, on_vulkan))
    texts = (
        ["the cat sat", "a dog", "the end"],
        [["the cat", "a cat sat"], ["a dog ran", "dogs"], ["an end", "the end"]],
    )
    indices = torch.tensor([0, 1, 0])
    here.update(*texts, indices)
    with _NoFloat64():
        there.update(*texts, indices.to(on_vulkan))
        found = there.compute()
    for name, value in here.compute().items():
        assert found[name].item() == pytest.approx(value.item(), rel=1e-6)


#: What each of two processes counts, with metrics of every kind of state.
SHARES = (
    (["the cat sat here", "a b"], [["the cat sat down"], ["a", "b a"]]),
    (["the dog ran home"], [["the dog ran", "the dog ran home"]]),
)
SUMS = [*product(CLASSES, ("micro",)), ("ChrF", "macro")]


def count_on_two_ranks() -> dict[str, Any]:
    """What a process computes of all shares, on the CPU."""
    vulkan = device("vulkan")
    values = {}
    for name, average in SUMS:
        metric = METRICS[name](average=average, device=vulkan)
        metric.update(*SHARES[torch.distributed.get_rank()])
        values[f"{name}-{average}"] = metric.compute()
        assert metric.row.device == vulkan
    return move("cpu", values)


def test_two_processes_compute_what_one_does(on_vulkan: torch.device):
    from ranks import on_ranks

    results = on_ranks(count_on_two_ranks, size=2)
    for name, average in SUMS:
        one = METRICS[name](average=average)
        for share in SHARES:
            one.update(*share)
        for found in results:
            assert_near(found[f"{name}-{average}"], one.compute(), host, rounding(on_vulkan, name))


# All pairs.

DOCUMENTS = torch.randint(1, 30, (2, 40, 9), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("name", ["Bleu", "ROUGEScore"])
def test_all_pairs_score_as_on_the_cpu(
    on_complete: torch.device, name: str, same: bool, cut: bool, monkeypatch: pytest.MonkeyPatch
):
    if cut:  # what a device takes in one piece, in many
        monkeypatch.setattr(pairs, "TABLE_CELLS", 5000)
        monkeypatch.setattr(pair_scores, "COUNTED_CELLS", 300)
        monkeypatch.setattr(pair_scores, "BLOCK_CELLS", 100)
    metric = {"Bleu": Bleu, "ROUGEScore": functools.partial(ROUGEScore, rouge_keys="rougeL")}[name]
    here, there = (metric(pad_id=0, device=device) for device in (host, on_complete))
    one_size = DOCUMENTS[:, :20], DOCUMENTS[:, :20] if same else DOCUMENTS[:, 20:]
    several: Any = [list(DOCUMENTS[0, :9]), list(DOCUMENTS[1, :2]), []], [list(DOCUMENTS[0, 9:12]), [], []]
    for rows in (one_size, several):
        found = mbr.pairwise(there, *move(on_complete, rows))
        assert_near(found, mbr.pairwise(here, *rows), on_complete, rounding(on_complete, name))
    assert mbr.decode(there, DOCUMENTS.to(on_complete)).hypotheses[0].device == on_complete


ROWS = [["a b cd", "b a cd", "cd cd"], ["a b"], ["c", "", "a cd b a"]]
OTHERS = [["a cd b"], ["c", "a b"], [""]]


@pytest.mark.parametrize(("metric", "options"), [(Bleu, {}), (ChrF, {}), (ChrF, {"word_order": 2})])
def test_all_pairs_of_texts_score_as_on_the_cpu(on_complete: torch.device, metric: Any, options: dict[str, Any]):
    there, here = metric(device=on_complete, **options), metric(**options)
    apart = rounding(on_complete, metric.__name__)
    for others in (ROWS, OTHERS):
        assert_near(mbr.pairwise(there, ROWS, others), mbr.pairwise(here, ROWS, others), on_complete, apart)
    found, expected = (mbr.decode(one, ROWS, ROWS[:], [[1, 2, 3], [1], [2, 1, 1]]) for one in (there, here))
    assert found.indices.tolist() == expected.indices.tolist()
    assert_near(found.expected_utilities, expected.expected_utilities, on_complete, apart)


@pytest.mark.parametrize("function", [functional.pairwise_chrf, functional.aggregate_chrf])
def test_drop_ins_of_fastchrf_score_as_on_the_cpu(on_complete: torch.device, function: Callable[..., Any]):
    for others in (ROWS, OTHERS):
        found = function(ROWS, others, device=on_complete)
        assert_near(found, function(ROWS, others), on_complete, 1e-12)


def test_rows_are_padded_where_they_are(on_complete: torch.device):
    rows = move(on_complete, [torch.tensor([5]), torch.tensor([6, 7])])
    assert_near(functional.pad2max(rows, 9), torch.tensor([[5, 9], [6, 7]]), on_complete)


@pytest.mark.filterwarnings("ignore:a bootstrap test needs")
@pytest.mark.parametrize("test", [paired_bootstrap, paired_approximate_randomization])
@pytest.mark.parametrize(("name", "average"), SUMS)
def test_paired_tests_find_what_they_find_on_the_cpu(on_complete: torch.device, test: Any, name: str, average: str):
    target = DOCUMENTS[0].unsqueeze(1)
    changed = {"base": 3, "close": 4, "far": 8}
    outputs = {system: target[:, 0].where(torch.arange(9) % 9 >= first, 7) for system, first in changed.items()}

    def compared(device: Any) -> Any:
        make = functools.partial(METRICS[name], average=average, pad_id=0, confidence=0.95, device=device)
        systems = {system: make() for system in outputs}
        for system, metric in systems.items():
            metric.update(*move(device, (outputs[system], target)))
        documents = [place // 3 for place in range(len(target))]
        return test(systems, "base", 50, clusters=documents), test(systems, "base", 50, correction="holm")

    found, expected = ([leaf for leaf in tree_leaves(compared(d)) if leaf is not None] for d in (on_complete, "cpu"))
    apart = rounding(on_complete, name)
    assert found == pytest.approx(expected, rel=apart, abs=apart)
