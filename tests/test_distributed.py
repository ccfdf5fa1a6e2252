"""Two and four real processes count as one: uneven shards, a rank without data, settings that differ.

Both frameworks share one process group, so that the processes are started once; what they do is in faces/ranks.py.
"""

import multiprocessing
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.multiprocessing
from faces import ranks
from faces.cases import TEXT, Batch, Case, assert_same, joined, scores_of

#: What each rank wrote down, for each number of ranks.
Results = dict[int, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder: Path = tmp_path_factory.mktemp("ranks")
    # Processes forked from one that has imported all this start in a fraction of the time.
    multiprocessing.set_forkserver_preload(["ignite.engine", "ngram_metrics.ignite", "lightning.pytorch"])
    torch.multiprocessing.start_processes(
        ranks.run, (folder,), nprocs=max(ranks.WORLD_SIZES), start_method="forkserver"
    )
    return {
        size: [torch.load(folder / f"{size}-{rank}.pt", weights_only=True) for rank in range(size)]
        for size in ranks.WORLD_SIZES
    }


def _flat(shards: list[list[Batch]]) -> list[Batch]:
    """All batches, rank by rank."""
    return [batch for shard in shards for batch in shard]


def _shards(size: int, sharding: str, batches: tuple[Batch, ...]) -> list[list[Batch]]:
    return [ranks.chosen(batches, numbers) for numbers in ranks.SHARDS[size][sharding]]


each_size = pytest.mark.parametrize("size", sorted(ranks.WORLD_SIZES))
each_sharding = pytest.mark.parametrize(
    ("size", "sharding"),
    [
        pytest.param(size, sharding, id=f"{size} ranks, {sharding}")
        for size in sorted(ranks.SHARDS)
        for sharding in ranks.SHARDS[size]
    ],
)
each_ignite = pytest.mark.parametrize("name", ranks.IGNITE)


def _metrics(sharded: bool) -> pytest.MarkDecorator:
    """Each number of ranks, perhaps each sharding, with each metric and average that it is run for."""
    return pytest.mark.parametrize(
        ("size", "sharding", "case", "average") if sharded else ("size", "case", "average"),
        [
            pytest.param(*where, case, average, id=f"{size} ranks, {case.name}-{average}, {where[-1]}")
            for size in sorted(ranks.SHARDS)
            for where in ([(size, sharding) for sharding in ranks.SHARDS[size]] if sharded else [(size,)])
            for case in ranks.CASES_OF[size]
            for average in case.averages
        ],
    )


each_sharded_metric, each_metric = _metrics(sharded=True), _metrics(sharded=False)


@each_size
def test_there_are_as_many_ranks_as_asked_for(results: Results, size: int):
    assert [one["world_size"] for one in results[size]] == [size] * size


@each_sharded_metric
def test_every_rank_computes_the_value_of_one_process(
    results: Results, case: Case, average: str, size: int, sharding: str
):
    batches = _flat(_shards(size, sharding, case.batches))
    for of_rank in results[size]:
        result = of_rank[f"{sharding}/{case.name}-{average}"]
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


@each_sharded_metric
def test_a_rank_goes_on_from_its_own_states(results: Results, case: Case, average: str, size: int, sharding: str):
    shards = _shards(size, sharding, case.batches)
    expected = case.value(average, _flat([[*shard, case.batches[0]] for shard in shards]))
    for of_rank in results[size]:
        result = of_rank[f"{sharding}/{case.name}-{average}"]
        assert_same(result["after another batch"], expected)
        assert result["after"] == result["local"]


@each_sharded_metric
def test_only_a_rank_never_updated_warns(results: Results, case: Case, average: str, size: int, sharding: str):
    for of_rank, shard in zip(results[size], _shards(size, sharding, case.batches), strict=True):
        warned = of_rank[f"{sharding}/{case.name}-{average}"]["warnings"]
        if shard:
            assert warned == []
        else:
            assert len(warned) == 1
            assert "was called before the ``update`` method" in warned[0]


@each_metric
def test_sync_on_step_gives_the_value_of_the_step_over_all_ranks(results: Results, case: Case, average: str, size: int):
    of_ranks = [ranks.chosen(case.batches, numbers) for numbers in ranks.STEPS[size]]
    expected = [case.value(average, list(step)) for step in zip(*of_ranks, strict=True)]
    expected.append(case.value(average, _flat(of_ranks)))
    for of_rank in results[size]:
        for value, wanted in zip(of_rank[f"on step/{case.name}-{average}"], expected, strict=True):
            assert_same(value, wanted)


@each_metric
def test_without_sync_a_rank_computes_its_own_value_and_waits_for_nobody(
    results: Results, case: Case, average: str, size: int
):
    for rank, of_rank in enumerate(results[size]):
        result = of_rank[f"alone/{case.name}-{average}"]
        assert_same(result["value"], case.value(average, ranks.chosen(case.batches, [rank % len(case.batches)])))
        assert result["collectives"] == {}


#: Gathers and barriers of one compute of the torchmetrics faces, at most; docs/distributed.md says so.
_MOST_GATHERS, _MOST_BARRIERS = 16, 10


@each_metric
def test_a_compute_calls_as_many_collectives_for_200_sentences_as_for_none(
    results: Results, case: Case, average: str, size: int
):
    name = f"{case.name}-{average}"
    calls = results[size][0][f"collectives/{name}"]
    assert set(calls) == {"all_gather", "barrier"}
    assert calls["all_gather"] <= _MOST_GATHERS
    assert calls["barrier"] <= _MOST_BARRIERS
    for of_rank in results[size]:
        assert of_rank[f"collectives/{name}"] == calls
        for sharding in ranks.SHARDS[size]:
            assert of_rank[f"{sharding}/{name}"]["collectives"] == calls


@each_size
@each_ignite
def test_a_compute_of_ignite_calls_as_many_collectives_for_200_sentences_as_for_a_few(
    results: Results, name: str, size: int
):
    # The settings by themselves first, then the states: of averages other than micro one more, and before one of two
    # dimensions, rows or the sums of several values, its length.
    table = name.endswith("none") or (name.startswith(("Rouge", "ROUGE")) and not name.endswith("micro"))
    calls = {"all_gather": 7 + (not name.endswith("micro")) + table}
    for of_rank in results[size]:
        assert of_rank[f"collectives/ignite-{name}"] == calls
        for sharding, shards in ranks.SHARDS[size].items():
            if any(shards):  # without data there is nothing to gather
                assert of_rank[f"{sharding}/ignite-{name}"]["collectives"] == calls


@each_size
def test_collectives_of_a_metric_that_gathers_each_sentence_are_all_counted(results: Results, size: int):
    for of_rank in results[size]:
        assert of_rank["collectives/torchmetrics"]["all_gather"] == 3 * 10


def _ignite_value(name: str, batches: list[Batch]) -> Any:
    metric = ranks.ignite_metric(name)
    for batch in batches:
        metric.update(batch)
    return ranks.ignite_value(metric)


def _assert_same_in_ignite(value: Any, expected: Any) -> None:
    """Equal words, or equal numbers to 1e-12."""
    if isinstance(expected, str):
        assert value == expected
    else:
        assert_same(value, expected)


@each_sharding
@each_ignite
def test_every_rank_of_ignite_computes_the_value_of_one_process(results: Results, name: str, size: int, sharding: str):
    shards = _shards(size, sharding, TEXT)
    expected = _ignite_value(name, _flat(shards))
    continued = _ignite_value(name, _flat([[*shard, TEXT[0]] for shard in shards]))
    for of_rank in results[size]:
        result = of_rank[f"{sharding}/ignite-{name}"]
        _assert_same_in_ignite(result["value"], expected)
        _assert_same_in_ignite(result["again"], expected)
        _assert_same_in_ignite(result["after another batch"], continued)
        _assert_same_in_ignite(result["loaded, after another batch"], continued)


@each_size
@each_ignite
def test_attached_to_an_engine_every_rank_reports_the_value_of_one_process(results: Results, name: str, size: int):
    expected = _ignite_value(name, _flat(_shards(size, next(iter(ranks.SHARDS[size])), TEXT)))
    if isinstance(expected, torch.Tensor) and expected.dim() == 0:
        expected = expected.item()  # as an engine reports one number
    for of_rank in results[size]:
        assert_same(of_rank[f"attached/{name}"], expected)


@each_sharding
@pytest.mark.parametrize("name", ranks.CONFIDENT)
def test_every_rank_has_the_intervals_the_signature_and_the_p_values_of_one_process(
    results: Results, name: str, size: int, sharding: str
):
    metrics = ranks.confident_metrics(name)
    for batch in _flat(_shards(size, sharding, TEXT)):
        ranks.count_confidently(metrics, *batch)
    expected = ranks.confident_values(metrics)
    for of_rank in results[size]:
        result = of_rank[f"{sharding}/confident-{name}"]
        assert_same(result["value"], expected["value"])
        assert result["ignite"] == pytest.approx(expected["ignite"], abs=1e-12, nan_ok=True)
        assert result["signatures"] == expected["signatures"]
        assert list(result["tests"]) == list(expected["tests"])
        for test, compared in expected["tests"].items():
            for value, numbers in compared.items():
                assert result["tests"][test][value] == pytest.approx(numbers, abs=1e-12)


@each_size
@pytest.mark.parametrize(
    "difference", [*ranks.UNLIKE_RANKS, *(f"ignite, {name}" for name in ranks.UNLIKE_RANKS_OF_IGNITE)]
)
def test_ranks_of_other_settings_raise_before_anything_else_is_gathered(results: Results, difference: str, size: int):
    for rank, of_rank in enumerate(results[size]):
        found = of_rank["unlike"][difference]
        assert found["error"].startswith("ValueError: the ranks hold metrics of different settings: expected the same")
        # torchmetrics gathers the shape of a state before the state.
        assert found["collectives"]["all_gather"] == (1 if difference.startswith("ignite") else 2)
        assert found["kept"]
        assert found["sentences"] == 2 * len(TEXT[rank % len(TEXT)][0])


@each_size
@pytest.mark.parametrize("of", ["torchmetrics", "ignite"])
@pytest.mark.parametrize("name", ["Bleu", "ROUGEScore", "ChrF", "NgramOverlap"])
def test_ranks_of_other_kinds_raise(results: Results, of: str, name: str, size: int):
    for rank, of_rank in enumerate(results[size]):
        found = of_rank["unlike kinds"][f"{of}, {name}"]
        assert found["error"].startswith("ValueError: one metric was given text and ids: expected one kind from reset")
        assert found["kept"]
        batch = ranks.OF_IDS if rank == size - 1 else TEXT[rank % len(TEXT)]
        assert found["sentences"] == 2 * len(batch[0])


def test_every_rank_of_a_trainer_computes_the_value_of_one_process(results: Results):
    fit = [ranks.TRAINER_VALIDATION["fit"], ranks.TRAINER_TRAINING]
    expected = []
    for shards in [*fit, *fit, ranks.TRAINER_VALIDATION["validate"]]:
        collection = ranks.collection()
        collection.update(*joined(_flat([ranks.chosen(TEXT, numbers) for numbers in shards])))
        expected.append(collection.compute())
    for of_rank in results[2]:
        assert_same(of_rank["trainer"]["values"], expected)
        for logged, values in zip(of_rank["trainer"]["logged"], (expected[2], expected[4]), strict=True):
            assert float(logged) == pytest.approx(float(values[ranks.TRAINER_ALONE]), abs=1e-6)
