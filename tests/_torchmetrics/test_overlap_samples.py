"""NgramOverlap of several hypotheses for each reference: what is more than in the tests of every metric."""

import copy
import pickle
import re

import pytest
import torch
from metrics.cases import CASES, assert_same, assert_same_states, states_of
from torch import Tensor

from ngram_metrics import NgramOverlap
from ngram_metrics._torchmetrics.states import pack_states

(CASE,) = (case for case in CASES if case.name == "NgramOverlap-samples")
#: The same sentences with two samples each, and with one that has no dimension of its own.
OTHER = CASE.whole[0][:, :2], CASE.whole[1]
SINGLE = CASE.whole[0][:, 0], CASE.whole[1]


def test_one_sample_is_still_a_column():
    preds, target = CASE.whole
    assert CASE.value("none", [(preds[:, :1], target)]).shape == (6, 1)
    assert CASE.value("none", [(preds[:, 0], target)]).shape == (6,)
    one = preds[:1, :1], target[:1]
    assert CASE.make("none")(*one).shape == CASE.value("none", [one]).shape == (1, 1)


# Different numbers of samples


def synced(metrics: list[NgramOverlap]) -> Tensor:
    """What the first metric computes where the others stand in other processes."""

    def gather(buffer: Tensor, group: object = None) -> list[Tensor]:
        """One tensor of bytes of each rank: what comes before the states, and a byte behind them, is equal on all."""
        before = buffer[: len(buffer) - len(pack_states(metrics[0].saved_states(), buffer.device)) - 1]
        return [
            torch.cat((before, pack_states(metric.saved_states(), buffer.device), buffer[-1:])) for metric in metrics
        ]

    metrics[0].distributed_available_fn = lambda: True
    metrics[0].dist_sync_fn = gather
    return metrics[0].compute()


each_mix = pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (CASE.whole, OTHER, "2 and of 3"),
        (OTHER, SINGLE, "1 and of 2"),
        (SINGLE, CASE.whole, "1 and of 3"),
        (SINGLE, (SINGLE[0][:, None], SINGLE[1]), "1 and of 1 (in three dimensions)"),
    ],
    ids=["3 and 2", "2 and no", "no and 3", "no and 1, which is another shape"],
)


@each_mix
def test_none_refuses_another_number_of_samples(first, second, words):
    """In an update, a merge, and of several processes, and goes on as if nothing had been."""
    metric, other = CASE.filled("none", [first]), CASE.filled("none", [second])
    states, value = states_of(metric), metric.compute()
    for call in (
        lambda: metric.update(*second),
        lambda: metric(*second),
        lambda: metric.merge_state(other),
        lambda: metric.merge_state(other.metric_state),
    ):
        with pytest.raises(
            ValueError, match=re.escape(f"batches of {words} hypotheses per segment: average 'none' ex")
        ):
            call()
        assert_same_states(metric, states)
        assert metric.update_count == 1
        assert_same(metric.compute(), value)
    for processes in ((first, second), (second, first)):
        with pytest.raises(ValueError, match="average 'none' expects the same number in all batches"):
            synced([CASE.filled("none", [batch]) for batch in processes])
    metric.update(*first)
    assert_same(metric.compute(), torch.cat([value, value]))
    metric.reset()
    metric.update(*second)
    assert_same(metric.compute(), CASE.value("none", [second]))


@each_mix
@pytest.mark.parametrize("average", ["micro", "macro"])
def test_the_other_averages_take_any_numbers_of_samples(first, second, words, average):
    metric, merged = CASE.filled(average, [first, second]), CASE.filled(average, [first])
    assert_same(merged.compute(), CASE.value(average, [first]))
    every = torch.cat([CASE.value("none", [batch]).flatten() for batch in (first, second)])
    assert metric.segments == len(every)
    if average == "macro":
        assert_same(metric.compute(), every.mean())
    merged.merge_state(CASE.filled(average, [second]))
    assert_same(merged.compute(), metric.compute())


def test_an_update_that_fails_or_has_no_sentence_fixes_no_number_of_samples():
    metric = CASE.make("none")
    for call in (metric.update, metric):
        with pytest.raises(ValueError, match="expected references"):
            call(OTHER[0], OTHER[1][:1])
    metric.update([], [])
    metric.update(*CASE.whole)
    assert_same(metric.compute(), CASE.value("none"))


def test_a_copy_a_merged_and_a_loaded_metric_know_their_number_of_samples():
    metric, merged, loaded = CASE.filled("none"), CASE.make("none"), CASE.filled("none", [OTHER])
    metric.persistent(True)
    merged.merge_state(metric)
    loaded.load_state_dict(metric.state_dict())
    for known in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric)), merged, loaded):
        assert_same(known.compute(), CASE.value("none"))
        with pytest.raises(ValueError, match="batches of 2 and of 3 hypotheses"):
            known.update(*OTHER)


@pytest.mark.filterwarnings("ignore:The ``compute`` method:UserWarning")
def test_processes_have_their_samples_in_one_table():
    assert_same(synced([CASE.filled("none", [batch]) for batch in CASE.batches]), CASE.value("none"))
    for processes in ([CASE.make("none"), CASE.filled("none")], [CASE.filled("none"), CASE.make("none")]):
        assert_same(synced(processes), CASE.value("none"))
