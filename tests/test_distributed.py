"""Checkpoints of several processes: each rank goes on from its own counts, also where their number is another.

What the processes do is in tests/support/metrics/all_ranks.py.
"""

import functools
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.multiprocessing
import torchmetrics
from metrics import all_ranks, ranks
from metrics.all_ranks import METRICS, share_of
from metrics.cases import TEXT, assert_same

from ngram_metrics import Bleu, ChrF
from ngram_metrics.distributed import AllRanks


def start(size: int, folder: Path, of_rank: Callable[..., Any], *arguments: Any) -> list[dict[str, Any]]:
    """What so many processes do, each with its rank and their number."""
    (folder / "meeting").unlink(missing_ok=True)
    for rank in range(size):
        (folder / f"{rank}.pt").unlink(missing_ok=True)
    work = functools.partial(_with, of_rank, arguments)
    torch.multiprocessing.start_processes(ranks.run, (work, size, folder), nprocs=size, start_method="forkserver")
    return [torch.load(folder / f"{rank}.pt", weights_only=True) for rank in range(size)]


def _with(of_rank: Callable[..., Any], arguments: tuple[Any, ...], rank: int, size: int) -> Any:
    return of_rank(rank, size, *arguments)


each_size = pytest.mark.parametrize("size", [2, 3])
#: What each rank found, by the number of processes; they are started when first asked for.
Results = Callable[[int], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("all_ranks")


@pytest.fixture(scope="module")
def first(folder: Path) -> Results:
    """Of processes that save; one without a process group saves too."""
    all_ranks.save(folder, 0, 1)
    return functools.cache(lambda size: start(size, folder, all_ranks.first, folder))


@pytest.fixture(scope="module")
def second(folder: Path, first: Results) -> Results:
    """Of processes that go on from what others have saved; one without a process group too."""

    def results(size: int) -> list[dict[str, Any]]:
        for number in (2, 3):
            first(number)
        if size == 1:
            return [{f"from {number}": all_ranks.resume(folder, number, 0, 1) for number in (1, 2, 3)}]
        return start(size, folder, all_ranks.second, folder, (1, 2, 3))

    return functools.cache(results)


def expected(saved_by: int, processes: int) -> dict[str, Any]:
    """What one process computes of the same batches, rank by rank."""
    metrics = all_ranks.made()
    if saved_by == processes:
        for rank in range(processes):
            all_ranks.count(metrics, [*share_of(0, rank, processes), *share_of(1, rank, processes)])
    else:
        for rank in range(saved_by):
            all_ranks.count(metrics, share_of(0, rank, saved_by))
        for rank in range(processes):
            all_ranks.count(metrics, share_of(1, rank, processes))
    return all_ranks.computed(metrics)


@pytest.mark.programs
@pytest.mark.parametrize("saved_by", [1, 2, 3])
@pytest.mark.parametrize("processes", [1, 2, 3])
@pytest.mark.parametrize("name", METRICS)
def test_a_run_goes_on_to_the_value_of_one_that_did_not_stop(second: Results, saved_by: int, processes: int, name: str):
    wanted = expected(saved_by, processes)[name]
    for of_rank in second(processes):
        assert_same(of_rank[f"from {saved_by}"][name], wanted)


@pytest.mark.programs
@each_size
@pytest.mark.parametrize("batches", [0, 40])
def test_a_state_dict_takes_two_collectives_and_a_collection_computes_with_two_for_each_metric(
    first: Results, size: int, batches: int
):
    for of_rank in first(size):
        for of in ("", " of a collection"):
            assert of_rank[f"collectives{of}, {batches}"] == {"all_gather": 2}
        several = len(METRICS) - 1  # all but that of ignite
        assert of_rank[f"collectives of its compute, {batches}"] == {"metrics": several, "all_gather": 2 * several}
        # A rank without updates saves with the others.
        assert of_rank["unlike"]["updated on all but one"] == ["ngram_metrics"]


OTHERS = "ValueError: the metric '' has other settings on rank {0} than on rank 0"


@pytest.mark.programs
@each_size
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("settings", f"{OTHERS} (ngram is 4 on rank 0 and 3 on rank {{0}})"),
        ("names", "ValueError: rank {} has the metrics ['a'], and rank 0 ['b']: expected the same"),
        ("more", "ValueError: rank {} has the metrics ['a', 'b'], and rank 0 ['a']: expected the same"),
        ("class", f"{OTHERS} (class is 'ChrF' on rank 0 and 'Bleu' on rank {{0}};"),
        ("synchronized", "ValueError: the metric '' of rank {} has the states of all ranks: call unsync() first"),
        # The last rank cannot read its states, and no other waits for it.
        ("broken", "RuntimeError: rank {} cannot read its states: AttributeError: 'NoneType' object has no attribute"),
        (
            "changed",
            "RuntimeError: rank {} cannot read its states: TypeError: the metric 'a' is a Linear: expected one",
        ),
        ("compute", "RuntimeError: rank {} cannot read its states: RuntimeError: Sizes of tensors must match"),
        ("state_dict of ignite", "RuntimeError: rank {} cannot read its states: RuntimeError: Sizes of tensors must"),
    ],
)
def test_ranks_that_differ_raise_together(first: Results, size: int, name: str, words: str):
    *others, last = (of_rank["unlike"][name] for of_rank in first(size))
    for error in others:
        assert error.startswith(words.format(size - 1))
    assert last == others[0].removeprefix(f"RuntimeError: rank {size - 1} cannot read its states: ")


@pytest.mark.programs
@each_size
@pytest.mark.parametrize("name", ["part", "none"])
def test_metrics_of_a_part_of_the_ranks_go_on_with_their_own_counts(first: Results, size: int, name: str):
    for of_rank in first(size):
        found = of_rank["in groups"][name]
        assert_same(found["resumed"], found["saved"])
        if name == "part":
            words = "ValueError: these states of ChrF, whose process_group has not all ranks, are those of 1 processes"
            assert found["error"].startswith(words)


@pytest.mark.programs
@each_size
def test_the_metrics_of_a_trainer_wait_for_no_other_rank(first: Results, size: int):
    metric = ChrF(pad_id=0, confidence=0.9)
    ids = torch.tensor([[5, 6, 7, 0], [5, 6, 8, 9], [1, 2, 3, 4]])
    metric.update(ids, ids.flip(0))
    wanted = {name: float(value) for name, value in metric.compute().items()}
    for of_rank in first(size):
        values = of_rank["of a trainer"]["values"]
        assert list(values.values()) == list(wanted.values())  # an interval of everything twice is narrower
        assert of_rank["of a trainer"]["collectives"] == {}


@pytest.mark.programs
@each_size
def test_a_plain_state_of_a_rank_of_another_group_is_not_taken(first: Results, size: int):
    for rank, of_rank in enumerate(first(size)):
        for owner, found in of_rank["in groups"]["plain"].items():
            segments = len(TEXT[0][0]) if owner == rank else 0
            assert (found["segments"], len(found["warnings"])) == (segments, 0 if owner == rank else 1)


@pytest.mark.programs
@pytest.mark.parametrize("saved_by", [1, 2, 3])
@pytest.mark.parametrize("processes", [2, 3])
def test_metrics_that_do_not_synchronize_go_on_with_their_own_counts(second: Results, saved_by: int, processes: int):
    whole = all_ranks.unsynced("everything", 0, 1).compute()
    for rank, of_rank in enumerate(second(processes)):
        assert_same(of_rank[f"everything from {saved_by}"], whole)
        shares = of_rank[f"shares from {saved_by}"]
        if saved_by == processes:
            assert_same(shares, all_ranks.computed({"": all_ranks.unsynced("shares", rank, processes)})[""])
        else:  # one rank alone has counted everything, several have it on the first
            assert_same(shares, whole if saved_by == 1 or rank == 0 else whole[:0])


@pytest.mark.programs
@pytest.mark.parametrize("saved_by", [2, 3])
@pytest.mark.parametrize("processes", [2, 3])
def test_torchs_own_checkpoints_take_the_states_of_all_ranks_beside_the_model_and_mix_those_in_it(
    second: Results, saved_by: int, processes: int
):
    metric, before = METRICS["none"](), METRICS["none"]()
    for rank in range(saved_by):
        all_ranks.count({"": metric}, share_of(0, rank, saved_by))
    for rank in range(processes):
        all_ranks.count({"": before}, TEXT[: rank + 1])
    for of_rank in second(processes):
        found = of_rank[f"dcp, {saved_by}"]
        assert_same(found["of all"], metric.compute())
        assert "these states have another checksum than their entry saved_by: " in found["own"]
        assert "ngram_metrics.distributed.AllRanks(metrics)" in found["own"]
        assert_same(found["kept"], before.compute())
        assert found["weight"] == 1


def segments_of(rank: int, processes: int) -> int:
    return sum(len(preds) for preds, _ in share_of(0, rank, processes))


@pytest.mark.programs
@each_size
@pytest.mark.parametrize(
    ("name", "is_taken_by"),
    [
        ("own", lambda rank, size: True),
        ("of rank 0", lambda rank, size: rank == 0 and size == 2),  # two have saved it
        ("alone", lambda rank, size: rank == 0),
        ("not synchronized", lambda rank, size: True),
        ("empty", lambda rank, size: True),
        ("synchronized", lambda rank, size: rank == 0),
    ],
)
def test_a_plain_state_is_taken_by_the_rank_that_saved_it(second: Results, size: int, name: str, is_taken_by: Any):
    """One of all counts by rank 0, and any where nothing is synchronized."""
    whole = sum(segments_of(rank, size) for rank in range(size))
    of_zero = {"of rank 0": segments_of(0, 2), "not synchronized": segments_of(0, 2), "empty": 0}
    for rank, of_rank in enumerate(second(size)):
        found, is_taken = of_rank[f"plain, {name}"], is_taken_by(rank, size)
        segments = segments_of(rank, size) if name == "own" else of_zero.get(name, whole)
        assert found["segments"] == (segments if is_taken else 0)
        assert len(found["warnings"]) == (name == "of rank 0" and not is_taken)


@pytest.mark.programs
def test_the_warning_of_a_state_of_another_rank_says_what_to_do(second: Results):
    (words,) = second(2)[1]["plain, of rank 0"]["warnings"]
    assert words.startswith("these states of ChrF are the share of rank 0 of 2, and this is rank 1 of 2: the states ")
    assert "ngram_metrics.distributed.AllRanks(metrics)" in words


@pytest.mark.programs
@pytest.mark.parametrize(("name", "size", "counted_by"), [("own", 2, 2), ("alone", 2, 1), ("alone", 3, 1)])
def test_what_ranks_have_taken_adds_up_to_all(second: Results, name: str, size: int, counted_by: int):
    metric = METRICS["interval"]()
    for rank in range(counted_by):
        all_ranks.count({"": metric}, share_of(0, rank, counted_by))
    for of_rank in second(size):
        assert_same(of_rank[f"plain, {name}"]["value"], metric.compute())


@pytest.mark.programs
def test_shares_are_merged_in_a_single_process_which_is_warned(folder: Path, first: Results):
    first(2)
    metric = METRICS["interval"]()
    for rank in range(2):
        share = METRICS["interval"]()
        share.persistent(True)
        saved = torch.load(folder / f"plain-{rank}-of-2.pt", weights_only=True)
        with pytest.warns(UserWarning, match=rf"share of rank {rank} of 2, and this is a single process: "):
            share.load_state_dict(saved)
        metric.merge_state(share)
    whole = METRICS["interval"]()
    all_ranks.count({"": whole}, share_of(0, 0, 1))
    assert_same(metric.compute(), whole.compute())


def test_equal_shares_of_two_ranks_count_twice_in_one_process():
    metric = ChrF()
    metric.update(["a cat", "a dog"], ["the cat", "the dog"])
    share = metric.own_share([metric.saved_states()] * 2)
    assert int(share["segments"]) == 4
    assert torch.equal(share["row"], 2 * metric.row)


def test_the_setting_that_differs_is_named_with_both_values():
    metric = ChrF(beta=3, word_order=2, lowercase=True)
    metric.persistent(True)
    words = r"other settings than this ChrF: expected .*average \(lowercase was True, and is False here; beta was 3"
    with pytest.raises(RuntimeError, match=words):
        ChrF(word_order=2).load_state_dict(metric.state_dict())
    with pytest.raises(ValueError, match=words):
        ChrF(word_order=2).merge_state(metric)
    with pytest.raises(ValueError, match=words):
        AllRanks(ChrF(word_order=2)).load_state_dict(AllRanks(metric).state_dict())


def test_what_is_not_of_all_ranks_is_refused_and_changes_nothing():
    metric = Bleu()
    metric.update(*TEXT[0])
    state = AllRanks({"a": metric}).state_dict()
    ((key, content),) = state.items()
    for metrics, wrong, error, words in (
        ({"a": metric}, {}, TypeError, "a NoneType under 'ngram_metrics': expected the dict that AllRanks.state_dict"),
        ({"a": metric}, {key: "text"}, TypeError, "a str under 'ngram_metrics': expected the dict"),
        ({"a": metric}, [content], TypeError, "a NoneType under 'ngram_metrics': expected the dict"),
        (
            {"a": metric},
            {key: content[:-1]},
            ValueError,
            r"\d+ bytes with another checksum: expected all that AllRanks",
        ),
        ({"a": metric}, {key: b""}, ValueError, "0 bytes with another checksum"),
        ({"a": metric}, {key: bytes(8)}, ValueError, "8 bytes with another checksum"),
        ({"a": metric, "b": metric}, state, ValueError, r"the states are those of \['a'\]: expected those"),
    ):
        with pytest.raises(error, match=words):
            AllRanks(metrics).load_state_dict(wrong)
        assert int(metric.segments) == len(TEXT[0][0])
    with pytest.raises(TypeError, match=r"the name 0 is an int: expected a str"):
        AllRanks({0: metric, "a": metric})
    for other in (torchmetrics.text.BLEUScore(), {"b": torchmetrics.text.BLEUScore()}, {"b": 5}, 5):
        with pytest.raises(TypeError, match=r"the metric '\w*' is an? \w+: expected one of ngram_metrics"):
            AllRanks(other)


def test_no_changed_byte_is_taken_and_no_metric_changes():
    metrics = {"a": Bleu(), "b": ChrF(average="none")}
    loaded = {"a": Bleu(), "b": ChrF(average="none")}
    for metric in metrics.values():
        metric.update(*TEXT[0])
    ((key, content),) = AllRanks(metrics).state_dict().items()
    for position in range(len(content)):
        changed = bytearray(content)
        changed[position] ^= 1
        with pytest.raises(ValueError, match="with another checksum: expected all that AllRanks saved, unchanged"):
            AllRanks(loaded).load_state_dict({key: bytes(changed)})
    assert not any(int(metric.segments) for metric in loaded.values())


def test_states_loaded_into_a_synchronized_metric_stay():
    metric, synchronized = Bleu(), Bleu()
    metric.update(*TEXT[0])
    synchronized.update(*TEXT[1])
    synchronized.sync(dist_sync_fn=lambda state, group=None: [state, state], distributed_available=lambda: True)
    AllRanks(synchronized).load_state_dict(AllRanks(metric).state_dict())
    synchronized.update(*TEXT[1])
    assert int(synchronized.segments) == len(TEXT[0][0]) + len(TEXT[1][0])


@pytest.mark.programs
def test_killed_processes_go_on_from_their_checkpoint_to_the_last_digit(tmp_path: Path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    wanted = start(2, whole, all_ranks.epoch, whole, None)
    with pytest.raises(torch.multiprocessing.ProcessExitedException) as stopped:
        start(2, killed, all_ranks.epoch, killed, 3)
    assert stopped.value.signal_name == signal.SIGKILL.name
    assert torch.load(killed / "epoch.pt", weights_only=True)["step"] == 3
    for found, of_rank in zip(start(2, killed, all_ranks.epoch, killed, None), wanted, strict=True):
        torch.testing.assert_close(found, of_rank, rtol=0, atol=0, equal_nan=True)
