"""The sampler that gives each process its share of the segments."""

import json
import re

import pytest
from programs import SUPPORT, start
from torch.utils.data import DataLoader, DistributedSampler

from ngram_metrics.distributed import UnrepeatedSampler


@pytest.mark.parametrize("ranks", [1, 2, 3, 8])
@pytest.mark.parametrize("length", [0, 1, 7, 8])
def test_each_segment_is_on_one_rank(length: int, ranks: int):
    segments = [f"segment {index}" for index in range(length)]
    samplers = [UnrepeatedSampler(segments, ranks, rank) for rank in range(ranks)]
    shares = [
        [segment for batch in DataLoader(segments, 2, sampler=sampler) for segment in batch] for sampler in samplers
    ]
    assert shares == [segments[rank::ranks] for rank in range(ranks)]
    assert [len(sampler) for sampler in samplers] == [len(share) for share in shares]


def test_without_a_process_group_one_process_has_all_segments():
    sampler = UnrepeatedSampler(range(7))
    assert list(sampler) == list(range(7))
    assert len(sampler) == 7


def test_frameworks_that_would_add_a_sampler_keep_it():
    assert isinstance(UnrepeatedSampler([]), DistributedSampler)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rank": 1}, "num_replicas is None and rank is 1: expected both numbers, or none"),
        ({"num_replicas": 2}, "num_replicas is 2 and rank is None: expected both"),
        ({"num_replicas": 2, "rank": 2}, r"rank 2, rank should be in the interval \[0, 1\]"),
    ],
)
def test_a_wrong_rank_raises(options: dict[str, int], message: str):
    with pytest.raises(ValueError, match=message):
        UnrepeatedSampler([], **options)


@pytest.mark.programs
def test_processes_that_lightning_spawns_count_each_segment_once():
    """The loader is made in the parent, whose rank is 0 and which knows of no other process."""
    printed = start(SUPPORT / "spawned_program.py")
    values = json.loads(re.search(r"^\{.*\}$", printed, re.MULTILINE)[0])
    assert values["val/bleu"] == pytest.approx(values["sacrebleu"], abs=1e-6)
    assert 0.1 < values["sacrebleu"] < 0.9
    assert values["segments"] == 7
