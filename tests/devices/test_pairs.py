"""All pairs, MBR decoding, aggregates and paired tests on an accelerator: the CPU's numbers, and what is asked for."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from pretend.comparing import assert_equal, there
from pretend.device import DEVICE, accelerator
from pretend.log import LAUNCH, TO_HOST, WAIT

from ngram_metrics import Bleu, ChrF, Gleu, NgramOverlap, ROUGEScore, mbr
from ngram_metrics._core.counting import all_pairs
from ngram_metrics._core.counting import documents as documents_module
from ngram_metrics._core.counting.subsequence import subsequence_pairs as subsequences
from ngram_metrics.functional import aggregate_chrf
from ngram_metrics.significance import matrix, paired_approximate_randomization, paired_bootstrap

ROWS = [["the cat sat on the mat", "the cat sits", "a dog ran"], ["a bird", "a bird sings", "birds sing sing sing"]]
DOCUMENTS = torch.randint(1, 30, (2, 40, 9), generator=torch.Generator().manual_seed(1))


@pytest.fixture(params=["whole", "cut"])
def _bounds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a device takes in one piece, and the same in many."""
    if request.param == "cut":
        monkeypatch.setattr(all_pairs, "ACCELERATOR_LISTED_PAIRS", 50)
        monkeypatch.setattr(all_pairs, "BLOCK_CELLS", 500)
    # Everything listed, so that these bounds are reached.
    monkeypatch.setattr(all_pairs, "PAIR_COST", 0)


@pytest.mark.usefixtures("_bounds")
def test_listed_pairs_score_as_on_the_cpu():
    rows = DOCUMENTS[:, :20], DOCUMENTS[:, 20:]
    expected = mbr.pairwise(Bleu(pad_id=0, smooth="exp"), *rows)
    with accelerator():
        assert_equal(mbr.pairwise(Bleu(pad_id=0, smooth="exp", device=DEVICE), *map(there, rows)), expected)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("same", [True, False])
def test_subsequences_of_all_pairs_are_those_of_the_cpu(same: bool, whole: bool, monkeypatch: pytest.MonkeyPatch):
    if not whole:
        monkeypatch.setattr(subsequences, "BLOCK_PAIRS", 150)
        monkeypatch.setattr(documents_module, "ACCELERATOR_SLOTS", 1000)
    one_size = DOCUMENTS[:, :20], DOCUMENTS[:, :20] if same else DOCUMENTS[:, 20:]
    several: Any = [list(DOCUMENTS[0, :9]), list(DOCUMENTS[1, :2]), []], [list(DOCUMENTS[0, 9:12]), [], []]
    for rows in (one_size, several):
        metric = ROUGEScore(rouge_keys="rougeL", pad_id=0)
        expected = mbr.pairwise(metric, *rows)
        with accelerator():
            on_device = ROUGEScore(rouge_keys="rougeL", pad_id=0, device=DEVICE)
            given = [there(side) if rows is one_size else [list(map(there, row)) for row in side] for side in rows]
            assert_equal(mbr.pairwise(on_device, *given), expected)


METRICS: dict[str, Callable[..., Any]] = {
    "bleu": lambda **options: Bleu(smooth="exp", **options),
    "chrf": lambda **options: ChrF(**options),
    "gleu": lambda **options: Gleu(average="macro", **options),
    "overlap": lambda **options: NgramOverlap(ngram=2, **options),
    "rouge": lambda **options: ROUGEScore(rouge_keys=("rouge1", "rougeL"), **options),
}


@pytest.mark.covering
@pytest.mark.filterwarnings("ignore:a bootstrap test needs")
@pytest.mark.parametrize("test", [paired_bootstrap, paired_approximate_randomization])
@pytest.mark.parametrize("metric", METRICS)
def test_paired_tests_find_what_they_find_on_the_cpu(test: Callable[..., Any], metric: str):
    target = DOCUMENTS[0].unsqueeze(1)
    changed = {"base": 3, "close": 4, "far": 8}
    outputs = {name: target[:, 0].where(torch.arange(9) % 9 >= first, 7) for name, first in changed.items()}

    def compared(device: Any) -> Any:
        systems = {name: METRICS[metric](pad_id=0, confidence=0.95, device=device) for name in outputs}
        for name, system in systems.items():
            batch = outputs[name], target
            system.update(*map(there, batch) if device == DEVICE else batch)
        documents = [place // 3 for place in range(len(target))]
        drawn = test(systems, "base", 50, clusters=documents)
        return drawn, test(systems, "base", 50, correction="holm"), matrix(systems)

    expected = compared("cpu")
    with accelerator():
        assert compared(DEVICE) == expected


# What is asked of the device.


def test_probabilities_of_references_come_to_the_host_in_one_copy():
    rows = [["a b", "b a c"], ["c d", "d", "c"], ["a"]] * 5
    numbers = [torch.rand(len(row), generator=torch.Generator().manual_seed(3)) for row in rows]
    expected = mbr.decode(ChrF(), rows, rows, numbers)
    with accelerator() as log:
        metric = ChrF(device=DEVICE)
        asked = []
        as_rows = [there(row.unsqueeze(0)) for row in numbers]
        for probabilities in (numbers, list(map(there, numbers)), as_rows):
            log.clear()
            decoded = mbr.decode(metric, rows, rows, probabilities)
            asked.append(log.count(TO_HOST))
            assert_equal(decoded.expected_utilities, expected.expected_utilities)
        assert asked[1] == asked[2] == asked[0] + 1


def documents(number: int) -> torch.Tensor:
    return torch.randint(1, 900, (1, number, 24), generator=torch.Generator().manual_seed(2)).to(DEVICE)


@pytest.mark.parametrize("number", [32, 96])
def test_all_pairs_stay_within_their_budget(number: int):
    with accelerator() as log:
        hypotheses, references = documents(number), documents(number + 1)[:, 1:]
        metric = ChrF(pad_id=0, device=DEVICE)
        log.clear()
        mbr.pairwise(metric, hypotheses, references)
        # Six orders, each with the sizes of what is shared, in a table and in a list, to be waited for.
        assert log.counts[0] <= 6
        assert log.count(TO_HOST) <= 1, log.lines(TO_HOST)
        assert log.count(WAIT) <= 85, log.lines(WAIT).most_common(5)
        assert log.count(LAUNCH) <= 1060, log.lines(LAUNCH).most_common(5)


def test_aggregates_stay_within_their_budget():
    with accelerator() as log:
        for rows in (ROWS, ROWS * 20):
            log.clear()
            aggregate_chrf(rows, rows[::-1], device=DEVICE)
            assert log.counts[0] <= 19
            assert log.count(TO_HOST) <= 1
            # Two an order: which n-grams are shared, and how many of them there are.
            assert log.count(WAIT) <= 15, log.lines(WAIT).most_common(5)
            assert log.count(LAUNCH) <= 340
