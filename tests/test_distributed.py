"""Two real processes count as one: uneven shards, a rank without data, settings that differ.

Both frameworks share one process group, so that the processes are started once; what they do is in metrics/ranks.py.
"""

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.multiprocessing
from metrics import ranks
from metrics.cases import TEXT, Batch, Case, assert_same, each_metric, scores_of

from ngram_metrics.ignite import Bleu as IgniteBleu

RANKS = range(ranks.WORLD_SIZE)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What each rank wrote down."""
    folder: Path = tmp_path_factory.mktemp("ranks")
    torch.multiprocessing.spawn(ranks.run, (folder,), nprocs=ranks.WORLD_SIZE)
    return [torch.load(folder / f"{rank}.pt", weights_only=True) for rank in RANKS]


def _shards(name: str, batches: tuple[Batch, ...]) -> list[tuple[Batch, ...]]:
    return [batches[shard] for shard in ranks.SHARDS[name]]


each_sharding = pytest.mark.parametrize("sharding", ranks.SHARDS)


def test_there_are_two_ranks(results: list[dict[str, Any]]):
    assert [one["world_size"] for one in results] == [2, 2]


@each_sharding
@each_metric
def test_every_rank_computes_the_value_of_one_process(
    results: list[dict[str, Any]], case: Case, average: str, sharding: str
):
    batches = [batch for shard in _shards(sharding, case.batches) for batch in shard]
    for rank in RANKS:
        result = results[rank][f"{sharding}/{case.name}-{average}"]
        if batches:
            expected = case.value(average, batches)
            if case.has_details:
                assert_same(result["details"], case.filled(average, batches).details())
            assert_same(result["value"], expected)
        else:
            shape = (0,) if average == "none" else ()
            expected = torch.full(shape, case.before_data, dtype=torch.float64)
            for scores in scores_of(result["value"]):
                assert_same(scores, expected)
        assert_same(result["cached"], result["value"])
        assert_same(result["again"], result["value"])


@each_sharding
@each_metric
def test_a_rank_goes_on_from_its_own_states(results: list[dict[str, Any]], case: Case, average: str, sharding: str):
    another = case.batches[:1]
    batches = [batch for shard in _shards(sharding, case.batches) for batch in (*shard, *another)]
    expected = case.value(average, batches)
    for rank in RANKS:
        result = results[rank][f"{sharding}/{case.name}-{average}"]
        assert_same(result["after another batch"], expected)
        assert result["after"] == result["local"]


@each_sharding
@each_metric
def test_only_a_rank_without_data_warns(results: list[dict[str, Any]], case: Case, average: str, sharding: str):
    for rank in RANKS:
        warned = results[rank][f"{sharding}/{case.name}-{average}"]["warnings"]
        if _shards(sharding, case.batches)[rank]:
            assert warned == []
        else:
            assert len(warned) == 1
            assert "was called before the ``update`` method" in warned[0]


@each_metric
def test_sync_on_step(results: list[dict[str, Any]], case: Case, average: str):
    expected = case.value(average, case.batches[:2])
    for rank in RANKS:
        for value in results[rank][f"on step/{case.name}-{average}"]:
            assert_same(value, expected)


def _ignite_value(settings: dict[str, Any], batches: list[Batch]) -> Any:
    metric = IgniteBleu(**settings)
    for batch in batches:
        metric.update(batch)
    return metric.compute()


each_ignite = pytest.mark.parametrize("average", ranks.IGNITE_SETTINGS)


@each_sharding
@each_ignite
def test_ignite(results: list[dict[str, Any]], average: str, sharding: str):
    settings = ranks.IGNITE_SETTINGS[average]
    shards = _shards(sharding, TEXT)
    batches = [batch for shard in shards for batch in shard]
    continued = _ignite_value(settings, [batch for shard in shards for batch in (*shard, TEXT[0])])
    for rank in RANKS:
        result = results[rank][f"{sharding}/ignite-{average}"]
        if batches:
            expected = _ignite_value(settings, batches)
        else:
            expected = "Bleu must have at least one example before it can be computed." if average == "macro" else 0.0
        if isinstance(expected, str):
            assert result["value"] == expected
        else:
            assert_same(result["value"], expected)
            assert_same(result["again"], expected)
        assert_same(result["after another batch"], continued)
        assert_same(result["loaded, after another batch"], continued)


@each_ignite
def test_ignite_attached(results: list[dict[str, Any]], average: str):
    expected = _ignite_value(ranks.IGNITE_SETTINGS[average], list(TEXT))
    for rank in RANKS:
        assert results[rank][f"attached/{average}"] == pytest.approx(float(expected), abs=1e-12, rel=0)


@pytest.mark.parametrize("difference", ranks.UNLIKE_RANKS)
def test_ranks_of_other_settings_raise(results: list[dict[str, Any]], difference: str):
    for rank in RANKS:
        error = results[rank]["unlike"][difference]
        assert error.startswith("ValueError: the ranks hold metrics of different settings: expected the same"), error
