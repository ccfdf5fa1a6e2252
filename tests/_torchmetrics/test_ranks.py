"""Three real processes count as one: uneven shards, ranks without data, settings that differ.

Both frameworks share one process group, so that the processes are started once; what they do is in
tests/support/metrics/ranks.py.
"""

import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.multiprocessing
from metrics import ranks
from metrics.cases import TEXT, Batch, assert_same, joined, scores_of

from ngram_metrics import Bleu
from ngram_metrics.functional import chrf_score

#: What each rank wrote down.
Results = list[dict[str, Any]]

# Processes forked from one that has imported all this start in a fraction of the time.
multiprocessing.set_forkserver_preload(["ignite.engine", "ngram_metrics.ignite"])


def _of_ranks(of_rank: Callable[[int, int], Any], size: int, folder: Path) -> list[dict[str, Any]]:
    """What so many processes do."""
    torch.multiprocessing.start_processes(ranks.run, (of_rank, size, folder), nprocs=size, start_method="forkserver")
    return [torch.load(folder / f"{rank}.pt", weights_only=True) for rank in range(size)]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return _of_ranks(ranks.results, ranks.SIZE, tmp_path_factory.mktemp("ranks"))


def _flat(shards: list[list[Batch]]) -> list[Batch]:
    """All batches, rank by rank."""
    return [batch for shard in shards for batch in shard]


def _shards(sharding: str, batches: tuple[Batch, ...]) -> list[list[Batch]]:
    return [ranks.chosen(batches, numbers) for numbers in ranks.SHARDS[sharding]]


#: The collectives of one compute: of the lengths, and of the states; docs/guides/distributed.md says so.
COLLECTIVES = {"all_gather": 2}
each_sharding = pytest.mark.parametrize("sharding", ranks.SHARDS)
each_name = pytest.mark.parametrize("name", ranks.PAIRS)
each_ignite_name = pytest.mark.parametrize("name", ranks.IGNITE)


@each_sharding
@each_name
def test_every_rank_computes_the_value_of_one_process(results: Results, sharding: str, name: str):
    """And its details and its signature; a rank goes on from its own states, and only one never updated warns."""
    case, average = ranks.PAIRS[name]
    shards = _shards(sharding, case.batches)
    batches, here = _flat(shards), case.filled(average, _flat(shards))
    continued = case.value(average, _flat([[*shard, case.batches[0]] for shard in shards]))
    for of_rank, shard in zip(results, shards, strict=True):
        result = of_rank[f"{sharding}/{name}"]
        if batches:
            assert_same(result["value"], case.value(average, batches))
            assert_same(result["details"], here.details() if case.has_details else {})
        else:
            expected = torch.full((0,) if average == "none" else (), case.before_data, dtype=torch.float64)
            for scores in scores_of(result["value"]):
                assert_same(scores, expected)
        assert result["signature"] == here.signature
        assert_same(result["cached"], result["value"])
        assert_same(result["after another batch"], continued)
        assert result["after"] == result["local"]
        assert result["collectives"] == COLLECTIVES
        assert len(result["warnings"]) == (0 if shard else 1)
        assert all("was called before the ``update`` method" in words for words in result["warnings"])


@each_name
def test_sync_on_step_gives_the_value_of_the_step_over_all_ranks(results: Results, name: str):
    case, average = ranks.PAIRS[name]
    of_ranks = [ranks.chosen(case.batches, numbers) for numbers in ranks.STEPS]
    expected = [case.value(average, list(step)) for step in zip(*of_ranks, strict=True)]
    expected.append(case.value(average, _flat(of_ranks)))
    for of_rank in results:
        for value, wanted in zip(of_rank[f"on step/{name}"], expected, strict=True):
            assert_same(value, wanted)


@each_sharding
@each_ignite_name
def test_every_rank_of_ignite_computes_the_value_of_one_process(results: Results, sharding: str, name: str):
    ignite_case, shards = ranks.IGNITE[name], _shards(sharding, TEXT)
    here = ignite_case.filled(_flat(shards))
    expected, signature = ranks.ignite_value(here), here.signature
    continued = ignite_case.filled(_flat([[*shard, TEXT[0]] for shard in shards])).compute()
    for of_rank in results:
        result = of_rank[f"{sharding}/ignite-{name}"]
        for found, wanted in (
            (result["value"], expected),
            (result["after another batch"], continued),
            (result["loaded, after another batch"], continued),
        ):
            if isinstance(wanted, str):  # an error
                assert found == wanted
            else:
                assert_same(found, wanted)
        assert result["signature"] == signature
        assert result["collectives"] == COLLECTIVES


@pytest.mark.parametrize("framework", ["torchmetrics", "ignite"])
def test_every_rank_has_the_values_of_the_groups_of_all(results: Results, framework: str):
    numbers = [number for of_rank in ranks.SHARDS["uneven"] for number in of_rank]
    batches = ranks.chosen(TEXT, numbers)
    expected = {}
    for number in range(len(TEXT)):
        of_group = [batch for batch, group in zip(batches, numbers, strict=True) if group == number]
        expected[f"chrf_batch{number}"] = chrf_score(*joined(of_group)).item()
    expected["chrf_mean"] = sum(expected.values()) / len(TEXT)
    expected["chrf_all"] = chrf_score(*joined(batches)).item()
    for of_rank in results:
        values = {name: float(value) for name, value in of_rank["grouped"][framework].items()}
        assert values == pytest.approx(expected, abs=1e-12)


def test_saved_states_are_loaded_on_the_rank_that_saved_them_only(results: Results):
    """Of others nothing is taken, and the warning names both."""
    for rank, of_rank in enumerate(results):
        for owner, found in enumerate(of_rank["saved"]["after those of each rank"]):
            if owner == rank:
                assert found == {"segments": len(TEXT[rank][0]), "warnings": []}
                continue
            assert found["segments"] == 0
            (words,) = found["warnings"]
            assert words.startswith(
                f"this Bleu begins empty: its saved states hold the counts of rank {owner} of {ranks.SIZE}, "
                f"and this is rank {rank} of {ranks.SIZE}. Run the validation again"
            )


def test_saved_states_of_all_ranks_together_are_loaded_on_none(results: Results):
    for rank, of_rank in enumerate(results):
        found = of_rank["saved"]["after those of all"]
        assert found["segments"] == 0
        (words,) = found["warnings"]
        assert f"the counts of rank 0 of 1, and this is rank {rank} of {ranks.SIZE}" in words


def test_states_that_count_once_on_any_rank_are_loaded_without_a_warning(results: Results):
    """Those without a segment, and those of a metric that adds up no ranks."""
    for of_rank in results:
        assert of_rank["saved"]["after no counts"] == {"segments": 0, "warnings": []}
        assert of_rank["saved"]["without sync"] == {"segments": len(TEXT[0][0]), "warnings": []}


def test_saved_states_of_one_of_several_ranks_are_not_loaded_by_a_single_process(results: Results):
    metric = Bleu(confidence=0.9)
    metric.update(*TEXT[0])
    with pytest.warns(UserWarning, match=rf"the counts of rank 1 of {ranks.SIZE}, and this is rank 0 of 1\."):
        metric.load_state_dict(results[1]["saved"]["states"])
    assert not metric.update_called
    assert int(metric.segments) == 0
    metric.update(*TEXT[0])
    assert int(metric.segments) == len(TEXT[0][0])


@pytest.mark.filterwarnings("ignore:a bootstrap test needs")
def test_every_rank_has_the_p_values_of_one_process(results: Results):
    expected = ranks.p_values(_flat(_shards("uneven", TEXT)))
    for of_rank in results:
        assert of_rank["p-values"].keys() == expected.keys()
        for test, numbers in expected.items():
            assert of_rank["p-values"][test] == pytest.approx(numbers, abs=1e-12)


@pytest.mark.parametrize("difference", [*ranks.UNLIKE_RANKS, "ignite"])
def test_ranks_of_other_settings_raise_together(results: Results, difference: str):
    for rank, of_rank in enumerate(results):
        found = of_rank["unlike"][difference]
        assert found["error"].startswith(
            "ValueError: the ranks have metrics with different settings: expected the same"
        )
        assert found["collectives"] == COLLECTIVES
        assert found["kept"]
        assert found["segments"] == 2 * len(TEXT[rank][0])


@pytest.mark.parametrize("of", ["torchmetrics", "ignite"])
@pytest.mark.parametrize("name", ["Bleu", "ROUGEScore"])
def test_ranks_of_other_kinds_raise(results: Results, of: str, name: str):
    for rank, of_rank in enumerate(results):
        found = of_rank["unlike kinds"][f"{of}, {name}"]
        assert found["error"].startswith("ValueError: one metric was given text and ids: expected one of them from")
        assert found["kept"]
        batch = ranks.OF_IDS if rank == ranks.SIZE - 1 else TEXT[rank]
        assert found["segments"] == 2 * len(batch[0])
