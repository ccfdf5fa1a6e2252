"""The sampler that gives each process its share of the segments."""

import json
import re

import pytest
from programs import EXAMPLES, SUPPORT, TORCHRUN, start
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


@pytest.mark.programs
def test_each_loop_of_the_page_counts_the_segments_as_its_table_says():
    """On two processes; where each segment counts once, the score is that of sacrebleu."""
    pytest.importorskip("accelerate")
    pytest.importorskip("transformers")
    page = EXAMPLES.parent / "docs" / "guides" / "distributed.md"
    printed = start(SUPPORT / "seven_segments.py", page, launch=TORCHRUN)
    loops = json.loads(re.search(r"^\{.*\}$", printed, re.MULTILINE)[0])
    table = page.read_text(encoding="utf-8").partition("| is each segment counted once? |\n|---|---|\n")[2]
    answers = re.findall(r"^\| (.*) \| (yes|no)\b.* \|$", table.partition("\n\n")[0], re.MULTILINE)
    expected = loops.pop("sacrebleu")
    assert [loop for loop, _ in answers] == list(loops)
    for loop, answer in answers:
        assert loops[loop]["segments"] == (7 if answer == "yes" else 8), loop
        assert (loops[loop]["bleu"] == pytest.approx(expected, abs=1e-6)) == (answer == "yes"), loop


@pytest.mark.programs
@pytest.mark.parametrize("allowed", [False, True])
def test_lightning_takes_no_share_without_a_segment(allowed: bool):
    """It refuses one, or if told not to, the other rank waits for it as long as it lives."""
    printed = start(SUPPORT / "one_segment.py", *["allowed"] * allowed, launch=TORCHRUN)
    first, second = sorted(map(json.loads, re.findall(r"^\{.*\}$", printed, re.MULTILINE)), key=lambda of: of["rank"])
    assert second["batches"] == 0
    assert "Connection closed by peer" in first["error"] or "reset by peer" in first["error"]
    assert ("within local rank has zero length" in second["error"]) == (not allowed)
