"""All pairs, MBR decoding, aggregates and paired tests on an accelerator: the CPU's numbers, and what is asked for."""

import pytest
import torch
from pretend.comparing import assert_equal, there
from pretend.device import DEVICE, accelerator
from pretend.log import LAUNCH, TO_HOST, WAIT

from ngram_metrics import ChrF, mbr
from ngram_metrics.functional import aggregate_chrf

ROWS = [["the cat sat on the mat", "the cat sits", "a dog ran"], ["a bird", "a bird sings", "birds sing sing sing"]]
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
