"""The states of every metric: saved, copied, merged, exact at every size, and with several samples a segment."""

import copy
import io
import math
import pickle
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import oracles
import pytest
import torch
import torchmetrics
from metrics.cases import CASES, TEXT, Case, assert_same, assert_same_states, each_kind_of_state, each_metric, states_of
from torchmetrics.aggregation import SumMetric

from ngram_metrics import Bleu, NgramOverlap


def _saved(metric: torchmetrics.Metric) -> dict[str, Any]:
    metric.persistent(True)
    return metric.state_dict()


each_copy = pytest.mark.parametrize(
    "copied",
    [torchmetrics.Metric.clone, copy.deepcopy, lambda metric: pickle.loads(pickle.dumps(metric))],
    ids=["clone", "copy", "pickle"],
)


Copying = Callable[[torchmetrics.Metric], torchmetrics.Metric]


@each_copy
@each_kind_of_state
def test_a_copy_holds_the_same(case: Case, average: str, copied: Copying):
    metric = case.filled(average, case.batches[:2])
    value = metric.compute()
    states = states_of(metric)
    twin = copied(metric)
    assert type(twin) is type(metric)
    assert_same_states(twin, states)
    assert twin.update_count == 2
    assert_same(twin.compute(), value)


@each_copy
@each_kind_of_state
def test_a_copy_counts_by_itself(case: Case, average: str, copied: Copying):
    metric = case.filled(average, case.batches[:2])
    states = states_of(metric)
    twin = copied(metric)
    twin.update(*case.batches[2])
    assert_same(twin.compute(), case.value(average))
    assert_same_states(metric, states)
    assert_same(metric.compute(), case.value(average, case.batches[:2]))


@each_copy
@each_kind_of_state
def test_a_copy_that_is_written_in_place_changes_no_default(case: Case, average: str, copied: Copying):
    twin = copied(case.filled(average))
    assert not any(state is twin._defaults[name] for name, state in twin.metric_state.items())


@each_copy
@each_kind_of_state
def test_a_copy_can_be_merged_into_its_original(case: Case, average: str, copied: Copying):
    metric = case.filled(average, case.batches[:2])
    twin = copied(metric)
    twin.update(*case.batches[2])
    metric.merge_state(twin)
    assert_same(metric.compute(), case.value(average, [*case.batches[:2], *case.batches]))


@each_copy
@each_kind_of_state
def test_a_reset_of_the_original_leaves_the_copy(case: Case, average: str, copied: Copying):
    metric = case.filled(average)
    twin = copied(metric)
    metric.reset()
    twin.update(*case.batches[1])
    assert_same(twin.compute(), case.value(average, [*case.batches, case.batches[1]]))


@each_copy
def test_a_copy_has_the_sentencepiece_model_of_its_tokenizer(copied: Callable[[Bleu], Bleu]):
    model = io.BytesIO()
    hypotheses, references = TEXT[0]
    texts = iter(str(TEXT).split(","))
    sentencepiece = pytest.importorskip("sentencepiece", reason="its models are tokenizers")
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=texts, model_writer=model, vocab_size=40, num_threads=1, minloglevel=2
    )
    metric = Bleu(tokenizer=sentencepiece.SentencePieceProcessor(model_proto=model.getvalue()))
    twin = copied(metric)
    for one in (metric, twin):
        one.update(hypotheses, references)
    assert twin.compute() == metric.compute() != Bleu()(hypotheses, references)
    assert twin.signature == metric.signature
    metric.merge_state(twin)
    assert metric.segments == 4


@each_metric
def test_states_are_saved_only_when_asked_for(case: Case, average: str):
    metric = case.filled(average)
    assert metric.state_dict() == {}
    metric.persistent(True)
    assert set(metric.state_dict()) == {*metric.metric_state, "saved_on"}
    metric.persistent(False)
    assert metric.state_dict() == {}


@each_metric
def test_each_state_is_saved_under_the_name_of_its_attribute(case: Case, average: str):
    metric = case.filled(average)
    for name, saved in _saved(metric).items():
        assert_same(saved, getattr(metric, name))


def _saved_and_read(metric: torchmetrics.Metric, folder: Path) -> dict[str, Any]:
    torch.save(_saved(metric), folder / "metric.pt")
    return torch.load(folder / "metric.pt", weights_only=True)


@each_metric
def test_a_new_metric_loads_what_was_saved_and_goes_on(case: Case, average: str, tmp_path: Path):
    saved = _saved_and_read(case.filled(average, case.batches[:2]), tmp_path)
    loaded = case.make(average)
    loaded.load_state_dict(saved)
    assert_same(loaded.compute(), case.value(average, case.batches[:2]))
    loaded.update(*case.batches[2])
    assert_same(loaded.compute(), case.value(average))


@each_metric
def test_what_a_metric_had_counted_is_replaced_by_what_it_loads(case: Case, average: str):
    saved = _saved(case.filled(average, case.batches[:2]))
    loaded = case.filled(average, case.batches[1:2])
    loaded.compute()
    loaded.load_state_dict(saved)
    assert_same(loaded.compute(), case.value(average, case.batches[:2]))


@each_metric
def test_the_states_of_a_metric_without_data_are_loaded(case: Case, average: str):
    loaded = case.filled(average)
    loaded.load_state_dict(_saved(case.make(average)))
    assert loaded.update_called
    loaded.update(*case.batches[2])
    assert_same(loaded.compute(), case.value(average, case.batches[2:]))


@each_metric
def test_a_state_dict_is_a_snapshot(case: Case, average: str):
    metric = case.filled(average, case.batches[:2])
    saved = _saved(metric)
    metric.update(*case.batches[2])
    metric.reset()
    loaded = case.make(average)
    loaded.load_state_dict(saved)
    assert_same(loaded.compute(), case.value(average, case.batches[:2]))


@each_metric
def test_a_metric_keeps_the_numbers_of_its_own_callables(case: Case, average: str, tmp_path: Path):
    """Those of another process have no number here."""
    loaded = case.make(average)
    numbers = loaded.settings[32:].clone()
    loaded.load_state_dict(_saved_and_read(case.filled(average), tmp_path))
    assert torch.equal(loaded.settings[32:], numbers)


@each_metric
def test_states_saved_while_they_are_synced_are_gone_on_from(case: Case, average: str):
    metric = case.filled(average, case.batches[:2])
    metric.persistent(True)
    with metric.sync_context(dist_sync_fn=lambda state, group=None: [state, state], distributed_available=lambda: True):
        saved = metric.state_dict()
    resumed = case.make(average)
    resumed.persistent(True)
    resumed.load_state_dict(saved)
    resumed.update(*case.batches[2])
    assert_same(resumed.compute(), case.value(average, [*case.batches[:2], *case.batches]))


def _check_refused(metric: torchmetrics.Metric, saved: Mapping[str, Any], reason: str) -> None:
    """Refused with a reason, and nothing is set, also where missing keys are allowed."""
    states = states_of(metric)
    count = metric.update_count
    computed = metric._computed
    for strict in (True, False):
        with pytest.raises(RuntimeError, match=reason):
            metric.load_state_dict(saved, strict=strict)
        assert_same_states(metric, states)
        assert metric.update_count == count
        assert metric._computed is computed


@each_metric
def test_load_refuses_other_settings(case: Case, average: str):
    metric = case.filled(average, case.batches[:1])
    metric.compute()
    assert case.others
    for change in case.others:
        saved = _saved(case.filled(average, **change))
        _check_refused(
            metric, saved, "whose settings differ from this .*'s: expected the same class, options and average"
        )


@each_metric
def test_load_refuses_other_averages(case: Case, average: str):
    metric = case.filled(average, case.batches[:1])
    for other in case.averages:
        if other != average:
            _check_refused(metric, _saved(case.filled(other)), "the states lack|whose settings differ")


@each_metric
def test_load_refuses_states_that_lack_one(case: Case, average: str):
    metric = case.filled(average, case.batches[:1])
    saved = _saved(case.filled(average))
    for name in saved:
        rest = {key: state for key, state in saved.items() if key != name}
        _check_refused(metric, rest, r"the states lack \[.*\]: expected")


@each_metric
def test_load_refuses_a_state_that_is_no_tensor(case: Case, average: str):
    metric = case.filled(average, case.batches[:1])
    saved = _saved(case.filled(average))
    for name in saved:
        words = rf"the saved state {name} is an? \w+: expected a tensor|whose settings differ"
        _check_refused(metric, {**saved, name: 5}, words)
        _check_refused(metric, {**saved, name: None}, words)
    if "rows" in saved:
        words = "the saved state rows is an int: expected a tensor"
        _check_refused(metric, {**saved, "rows": [*saved["rows"], 5]}, words)


@each_metric
def test_load_refuses_a_state_of_another_dtype_or_shape(case: Case, average: str):
    metric = case.filled(average, case.batches[:1])
    saved = _saved(case.filled(average))
    for name, state in saved.items():
        tensor = state[0] if name == "rows" else state
        words = f"the saved state {name} is torch.float16 of shape .*: expected torch|whose settings differ"
        _check_refused(metric, {**saved, name: tensor.half()}, words)
        words = f"the saved state {name} is torch.* of shape .*: expected torch|whose settings differ"
        _check_refused(metric, {**saved, name: torch.stack([tensor, tensor])}, words)


def test_load_refuses_the_rows_of_other_segments() -> None:
    """Intervals are of the rows, and scores of the sums, so these must be of the same segments."""
    metric = Bleu(confidence=0.95)
    metric.update(["a b", "c d"], ["a b", "c e"])
    saved = _saved(metric)
    words = r"the saved states have sums over 2 segments, but the counts of 1: expected the counts of every segment"
    _check_refused(metric, {**saved, "rows": [saved["rows"][0][:1]]}, words)


def test_a_metric_without_a_test_of_processes_computes_its_own_score() -> None:
    """As in torchmetrics, where the attribute may be None after construction."""
    metric = Bleu(ngram=1)
    metric.update(["a b"], ["a b"])
    metric.distributed_available_fn = None
    assert metric.compute() == 1


def test_a_subclass_may_join_processes_in_its_own_way() -> None:
    joined = []

    class Joining(Bleu):
        def sync(self, *args: object, **kwargs: object) -> None:
            joined.append(kwargs)

    metric = Joining()
    metric.update(["a b"], ["a b"])
    metric.compute()
    assert len(joined) == 1


@each_kind_of_state
def test_a_state_shares_the_memory_of_the_counts(case: Case, average: str):
    """Also after an update, and in a copy, which has its own. A reset forgets what was written."""
    metric = case.filled(average)
    twin = metric.clone()
    segments = int(metric.segments)
    row = metric.row.clone()
    metric.segments.mul_(3)
    metric.row.mul_(3)
    assert int(metric.segments) == 3 * segments
    assert torch.equal(metric.row, 3 * row)
    assert int(twin.segments) == segments
    twin.row.zero_()
    assert torch.equal(metric.row, 3 * row)
    metric.reset()
    assert not metric.segments.any()
    metric.row.add_(1)
    metric.reset()
    assert not metric.row.any()


def test_the_hash_of_a_metric_does_not_change_with_its_counts():
    metric = Bleu()
    before = hash(metric)
    metric.update(["the cat sat on the mat"], ["the cat is on the mat"])
    assert hash(metric) == before
    assert hash(Bleu()) != before


def test_states_that_are_written_in_place_are_what_was_counted() -> None:
    """As a caller's own ``all_reduce`` writes them, on a rank that has no data too."""
    counted = Bleu()
    metric = Bleu()
    counted.update(["the cat sat on the mat"], ["the cat is on the mat"])
    for name in ("segments", "kind", "reference_range", "row"):
        getattr(metric, name).copy_(getattr(counted, name))
    with pytest.warns(UserWarning, match="before the ``update`` method"):
        assert metric.compute() == counted.compute()
    for each in (metric, counted):
        each.update(["a b c d e"], ["a b c d x"])
    assert metric.compute() == counted.compute()


def test_a_subclass_adds_its_own_states_as_to_any_metric_of_torchmetrics() -> None:
    class WithLoss(Bleu):
        def __init__(self) -> None:
            super().__init__(compute_on_cpu=True)
            self.add_state("loss", torch.zeros(()), "sum")
            self.add_state("labels", torch.zeros(0, 3, dtype=torch.int64), "cat")

        def update(self, preds: Any, target: Any, loss: torch.Tensor) -> None:  # type: ignore[override]
            super().update(preds, target)
            self.loss = self.loss + loss

    metric = WithLoss()
    metric.update(["a b"], ["a b"], torch.ones((), requires_grad=True))
    assert metric.loss == 1
    assert not metric.loss.requires_grad
    metric.reset()
    assert metric.loss == 0
    assert metric.labels.shape == (0, 3)


each_incoming = pytest.mark.parametrize("incoming", ["metric", "states"])


def _incoming(metric: torchmetrics.Metric, incoming: str) -> Any:
    """What is passed to `merge_state`."""
    return metric if incoming == "metric" else metric.metric_state


@each_incoming
@each_metric
def test_the_segments_of_a_merged_metric_come_after_this_ones(case: Case, average: str, incoming: str):
    first, second = case.filled(average, case.batches[:2]), case.filled(average, case.batches[2:])
    first.compute()
    first.merge_state(_incoming(second, incoming))
    assert_same(first.compute(), case.value(average))
    assert first.update_count == 3


@each_metric
def test_the_states_of_two_ranks_are_merged(case: Case, average: str):
    first, second = case.filled(average, case.batches[:2]), case.filled(average, case.batches[2:])
    second.sync(dist_sync_fn=lambda state, group=None: [state, state], distributed_available=lambda: True)
    first.merge_state(second.metric_state)
    assert_same(first.compute(), case.value(average, [*case.batches, *case.batches[2:]]))


@each_incoming
@each_metric
def test_a_metric_that_is_merged_does_not_change(case: Case, average: str, incoming: str):
    """Then or later."""
    first, second = case.filled(average, case.batches[:2]), case.filled(average, case.batches[2:])
    states = states_of(second)
    first.merge_state(_incoming(second, incoming))
    first.update(*case.batches[0])
    assert_same_states(second, states)
    assert second.update_count == 1


@each_incoming
@each_metric
def test_what_was_merged_stays_if_the_other_is_reset(case: Case, average: str, incoming: str):
    first, second = case.filled(average, case.batches[:2]), case.filled(average, case.batches[2:])
    first.merge_state(_incoming(second, incoming))
    second.reset()
    assert_same(first.compute(), case.value(average))


@each_metric
def test_merge_with_a_metric_that_was_never_updated(case: Case, average: str):
    metric = case.filled(average)
    fresh = case.make(average)
    metric.merge_state(fresh)
    fresh.merge_state(metric)
    for merged in (metric, fresh):
        assert merged.update_count == len(case.batches)
        assert_same(merged.compute(), case.value(average))
    metric.reset()
    assert_same(fresh.compute(), case.value(average))


def _check_merge_refused(metric: torchmetrics.Metric, incoming: Any, words: str) -> None:
    """Refused with the words, and nothing is changed."""
    states = states_of(metric)
    count = metric.update_count
    value = metric.compute()
    with pytest.raises(ValueError, match=words):
        metric.merge_state(incoming)
    assert_same_states(metric, states)
    assert metric.update_count == count
    assert_same(metric.compute(), value)


@each_incoming
@each_metric
def test_merge_refuses_other_settings_and_averages(case: Case, average: str, incoming: str):
    assert case.others
    others = [case.make(average, **change) for change in case.others]
    others += [case.make(name) for name in case.averages if name != average]
    for other in others:
        other.update(*case.batches[0])
        words = r"whose settings differ from this .*'s: expected the same class, options and"
        _check_merge_refused(case.filled(average), _incoming(other, incoming), words)


@each_metric
def test_merge_refuses_states_that_lack_one(case: Case, average: str):
    metric = case.filled(average)
    states = states_of(metric)
    for name in states:
        rest = {key: state for key, state in states.items() if key != name}
        _check_merge_refused(metric, rest, rf"lack \['{name}'\]: expected the states")


@each_metric
def test_merge_refuses_what_is_no_metric_of_the_class(case: Case, average: str):
    _check_merge_refused(case.filled(average), SumMetric(), "instance of")
    _check_merge_refused(case.filled(average), [1], "dict or an instance of Metric")


BOUNDS = (2**24, 2**31, 2**53)


def near(case: Case, average: str, bound: int) -> Any:
    """A metric whose states are as if it had counted to 3 below the bound, in every count and in the segments."""
    metric = case.filled(average, [case.whole])
    for name in ("row", "segments"):
        state = getattr(metric, name)
        if state.dtype == torch.int64:
            setattr(metric, name, torch.full_like(state, bound - 3))
    return metric


@each_metric
def test_no_count_is_lost_at_a_bound(case: Case, average: str):
    """Where a float32, an int32 or a float64 would lose some: in updates, and in a merge of either into the other."""
    once = case.filled(average, [case.whole])
    counts = once.row.tolist()
    segments = int(once.segments)
    for bound in BOUNDS:
        metric = near(case, average, bound)
        for _ in range(3):
            metric.update(*case.whole)
        small = case.make(average)
        large = near(case, average, bound)
        for merged, other in ((case.make(average), large), (large, once), (small, large)):
            merged.merge_state(other)
        for total, times in ((metric, 3), (large, 1), (small, 1)):
            if total.row.dtype == torch.int64:  # some rows hold scores
                assert total.row.tolist() == [bound - 3 + times * count for count in counts]
            assert int(total.segments) == bound - 3 + times * segments
            assert (total.row.dtype, total.segments.dtype) == (once.row.dtype, torch.int64)


@pytest.mark.parametrize(
    "segments", [pytest.param(200_000, id="2*10^5"), pytest.param(10**7, id="10^7", marks=pytest.mark.slow)]
)
def test_the_mean_of_many_segments_is_that_of_an_exact_sum(segments: int):
    generator = torch.Generator().manual_seed(0)
    sides = torch.randint(1, 7, (2, 48, 6), generator=generator)  # 48 pairs of 6 ids without padding
    scores = [oracles.overlap(*oracles.overlap_counts(*pair, 1)) for pair in zip(*sides.tolist(), strict=True)]
    assert len(set(scores)) > 3
    metric = NgramOverlap(pad_id=0)
    seen = torch.zeros(48, dtype=torch.int64)
    for _ in range(20):
        # Uneven shares of the pairs, and another order in each batch.
        chosen = (torch.rand(segments // 20, generator=generator) ** 2 * 48).long()
        metric.update(*sides[:, chosen])
        seen += chosen.bincount(minlength=48)
    assert int(seen.sum()) == int(metric.segments) == segments
    # The exact sum, rounded once, of as many floats as there are segments.
    exact = math.fsum(score for score, times in zip(scores, seen.tolist(), strict=True) for _ in range(times))
    assert abs(metric.compute().item() - exact / segments) < 1e-9


(CASE,) = (case for case in CASES if case.name == "NgramOverlap-samples")
#: The same segments with two samples each, and with one that has no dimension of its own.
OTHER = CASE.whole[0][:, :2], CASE.whole[1]
SINGLE = CASE.whole[0][:, 0], CASE.whole[1]


each_mix = pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (CASE.whole, OTHER, "2 and with 3"),
        (OTHER, SINGLE, "1 and with 2"),
        (SINGLE, CASE.whole, "1 and with 3"),
        (SINGLE, (SINGLE[0][:, None], SINGLE[1]), "1 and with 1 (in three dimensions)"),
    ],
    ids=["3 and 2", "2 and no", "no and 3", "no and 1, which is another shape"],
)


@each_mix
def test_none_refuses_another_number_of_samples(first, second, words):
    """In an update and a merge, and goes on as if nothing had been; test_ranks.py has several processes."""
    metric = CASE.filled("none", [first])
    other = CASE.filled("none", [second])
    states = states_of(metric)
    value = metric.compute()
    for call in (
        lambda: metric.update(*second),
        lambda: metric(*second),
        lambda: metric.merge_state(other),
        lambda: metric.merge_state(other.metric_state),
    ):
        with pytest.raises(ValueError, match=re.escape(f"batches with {words} hypotheses per segment: average 'none'")):
            call()
        assert_same_states(metric, states)
        assert metric.update_count == 1
        assert_same(metric.compute(), value)
    metric.update(*first)
    assert_same(metric.compute(), torch.cat([value, value]))
    metric.reset()
    metric.update(*second)
    assert_same(metric.compute(), CASE.value("none", [second]))


@each_mix
@pytest.mark.parametrize("average", ["micro", "macro"])
def test_the_other_averages_take_any_numbers_of_samples(first, second, words, average):
    metric = CASE.filled(average, [first, second])
    merged = CASE.filled(average, [first])
    assert_same(merged.compute(), CASE.value(average, [first]))
    every = torch.cat([CASE.value("none", [batch]).flatten() for batch in (first, second)])
    assert metric.segments == len(every)
    if average == "macro":
        assert_same(metric.compute(), every.mean())
    merged.merge_state(CASE.filled(average, [second]))
    assert_same(merged.compute(), metric.compute())


def test_an_update_that_fails_or_has_no_segment_fixes_no_number_of_samples():
    metric = CASE.make("none")
    for call in (metric.update, metric):
        with pytest.raises(ValueError, match="expected references"):
            call(OTHER[0], OTHER[1][:1])
    metric.update([], [])
    metric.update(*CASE.whole)
    assert_same(metric.compute(), CASE.value("none"))


def test_a_copy_a_merged_and_a_loaded_metric_know_their_number_of_samples():
    metric = CASE.filled("none")
    merged = CASE.make("none")
    loaded = CASE.filled("none", [OTHER])
    metric.persistent(True)
    merged.merge_state(metric)
    loaded.load_state_dict(metric.state_dict())
    for known in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric)), merged, loaded):
        assert_same(known.compute(), CASE.value("none"))
        with pytest.raises(ValueError, match="batches with 2 and with 3 hypotheses"):
            known.update(*OTHER)
