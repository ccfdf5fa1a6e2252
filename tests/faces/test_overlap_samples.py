"""NgramOverlap of several hypotheses for each reference: what is more than in the tests of every metric."""

import copy
import pickle
import re

import pytest
import torch
from faces.cases import assert_same, assert_same_states, states_of
from torch import Tensor
from torchmetrics import MetricCollection

from ngram_metrics import NgramOverlap
from ngram_metrics.functional import ngram_overlap

AVERAGES = ["micro", "macro", "none"]
each_average = pytest.mark.parametrize("average", AVERAGES)
OPTIONS = {"ngram": 2, "pad_id": (0, -100)}


def batch_of(sentences: int, samples: int, seed: int) -> tuple[Tensor, Tensor]:
    """Ids of few values with padding among them, and two references a sentence."""
    ids = torch.Generator().manual_seed(seed)
    preds = torch.randint(0, 4, (sentences, samples, 7), generator=ids)
    return preds, torch.randint(0, 4, (sentences, 2, 9), generator=ids)


BATCHES = (batch_of(3, 2, 0), batch_of(1, 2, 1), batch_of(2, 2, 2))
WHOLE = tuple(torch.cat(parts) for parts in zip(*BATCHES, strict=True))
OTHER = batch_of(2, 3, 3)
SINGLE = (OTHER[0][:, 0], OTHER[1])


def make(average: str, **options: object) -> NgramOverlap:
    return NgramOverlap(**{**OPTIONS, "average": average, **options})


def filled(average: str, batches=BATCHES) -> NgramOverlap:
    metric = make(average)
    for batch in batches:
        metric.update(*batch)
    return metric


def expected(average: str, batch=WHOLE) -> Tensor:
    return ngram_overlap(*batch, average=average, **OPTIONS)


def test_the_sample_batches_tell_sentences_and_samples_apart():
    """Else a test on their order would hold nothing."""
    scores = expected("none")
    assert scores.shape == (6, 2)
    assert len(scores.flatten().unique()) > 6
    assert not scores.equal(scores.flip(0))
    assert not scores.equal(scores.flip(1))


@each_average
@pytest.mark.parametrize("batches", [BATCHES, [WHOLE]], ids=["several updates", "one update"])
def test_batches_count_as_one_batch(average, batches):
    value = filled(average, batches).compute()
    assert_same(value, expected(average))
    assert value.shape == ((6, 2) if average == "none" else ())


def test_macro_is_the_mean_over_all_hypotheses():
    assert_same(filled("macro").compute(), expected("none").mean())
    metric = filled("macro", [*BATCHES, OTHER, SINGLE])
    every = torch.cat([expected("none", one).flatten() for one in (WHOLE, OTHER, SINGLE)])
    assert_same(metric.compute(), every.mean())
    assert metric.sentences == len(every)


def test_micro_counts_every_hypothesis_once():
    flat = WHOLE[0].flatten(0, 1), WHOLE[1].repeat_interleave(2, 0)
    assert_same(filled("micro").compute(), expected("micro", flat))
    assert_same(filled("micro").details(), filled("micro", [flat]).details())


def test_one_sample_is_still_a_column():
    batch = WHOLE[0][:, :1], WHOLE[1]
    metric = filled("none", [batch])
    assert metric.compute().shape == (6, 1)
    assert filled("none", [(WHOLE[0][:, 0], WHOLE[1])]).compute().shape == (6,)
    one = tuple(part[:1] for part in batch)
    assert make("none")(*one).shape == (1, 1)
    assert filled("none", [one]).compute().shape == (1, 1)


@each_average
def test_forward_returns_the_score_of_its_batch(average):
    metric = make(average)
    for seen, batch in enumerate(BATCHES):
        assert_same(metric(*batch), expected(average, batch))
        so_far = tuple(torch.cat(parts) for parts in zip(*BATCHES[: seen + 1], strict=True))
        assert_same(metric.compute(), expected(average, so_far))
    named = make(average)
    assert_same(named(target=WHOLE[1], preds=WHOLE[0]), expected(average))
    named = make(average)
    named.update(target=WHOLE[1], preds=WHOLE[0])
    assert_same(named.compute(), expected(average))


# Different numbers of samples.

MIXES = [(BATCHES[0], OTHER), (BATCHES[0], SINGLE), (SINGLE, OTHER), (SINGLE, (SINGLE[0][:, None], SINGLE[1]))]
each_mix = pytest.mark.parametrize(
    ("first", "second"), MIXES, ids=["2 and 3", "2 and no", "no and 3", "no and 1, which is another shape"]
)


@each_mix
@pytest.mark.parametrize("call", ["update", "forward"])
def test_none_refuses_another_number_of_samples_before_it_counts(first, second, call):
    metric = filled("none", [first])
    states, value = states_of(metric), metric.compute()
    with pytest.raises(ValueError, match="hypotheses a sentence: average 'none' expects all batches alike"):
        getattr(metric, call)(*second)
    assert_same_states(metric, states)
    assert metric.update_count == 1
    assert_same(metric.compute(), value)
    # It goes on as if nothing had been, and after a reset takes the other.
    metric.update(*first)
    assert_same(metric.compute(), torch.cat([value, value]))
    metric.reset()
    metric.update(*second)
    assert_same(metric.compute(), expected("none", second))


@each_mix
def test_none_refuses_to_merge_another_number_of_samples(first, second):
    metric, other = filled("none", [first]), filled("none", [second])
    for incoming in (other, other.metric_state):
        states = states_of(metric)
        with pytest.raises(ValueError, match="average 'none' expects all batches alike"):
            metric.merge_state(incoming)
        assert_same_states(metric, states)
        assert_same(metric.compute(), expected("none", first))


def test_the_words_name_both_numbers():
    metric = filled("none")
    with pytest.raises(ValueError, match=re.escape("batches of 2 and of 3 hypotheses a sentence")):
        metric.update(*OTHER)


def test_the_words_tell_a_column_of_one_sample_from_sentences_alone():
    metric = filled("none", [SINGLE])
    with pytest.raises(ValueError, match=r"batches of (1|one) and of 1 \(in three dimensions\) hypotheses"):
        metric.update(SINGLE[0][:, None], SINGLE[1])


@each_mix
@pytest.mark.parametrize("average", ["micro", "macro"])
def test_the_other_averages_take_any_numbers_of_samples(first, second, average):
    metric = filled(average, [first, second])
    every = torch.cat([expected("none", one).flatten() for one in (first, second)])
    assert metric.sentences == len(every)
    if average == "macro":
        assert_same(metric.compute(), every.mean())
    merged = filled(average, [first])
    merged.merge_state(filled(average, [second]))
    assert_same(merged.compute(), metric.compute())


def test_an_update_that_fails_fixes_no_number_of_samples():
    metric = make("none")
    with pytest.raises(ValueError, match="expected references"):
        metric.update(OTHER[0], OTHER[1][:1])
    with pytest.raises(ValueError, match="expected references"):
        metric(OTHER[0], OTHER[1][:1])
    metric.update(*WHOLE)
    assert_same(metric.compute(), expected("none"))
    with pytest.raises(ValueError, match="expected references"):
        metric(WHOLE[0], WHOLE[1][:1])
    with pytest.raises(ValueError, match="expects all batches alike"):
        metric.update(*OTHER)
    assert_same(metric.compute(), expected("none"))


# reset, copies, merges, state_dict.


def test_nothing_has_no_score():
    for metric in (make("none"), filled("none", [tuple(part[:0] for part in WHOLE)])):
        if not metric.update_called:
            with pytest.warns(UserWarning, match="was called before the ``update`` method"):
                assert metric.compute().shape == (0,)
        else:
            assert metric.compute().shape == (0, 2)
    none_each = WHOLE[0][:, :0], WHOLE[1]
    assert filled("none", [none_each]).compute().numel() == 0
    assert filled("macro", [none_each]).compute() == 0


@each_average
def test_reset_forgets(average):
    metric = filled(average, [OTHER])
    metric.reset()
    metric.update(*WHOLE)
    assert_same(metric.compute(), expected(average))


@each_average
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))], ids=["copy", "pickle"])
def test_a_copy_goes_on_by_itself(average, copied):
    metric = filled(average, BATCHES[:1])
    twin = copied(metric)
    metric.reset()
    for batch in BATCHES[1:]:
        twin.update(*batch)
    assert_same(twin.compute(), expected(average))
    if average == "none":
        with pytest.raises(ValueError, match="batches of 2 and of 3 hypotheses"):
            twin.update(*OTHER)


@each_average
@pytest.mark.parametrize("by", ["metric", "states"])
def test_merged_metrics_are_one_that_saw_both(average, by):
    metric, other = filled(average, BATCHES[:1]), filled(average, BATCHES[1:])
    before = states_of(other)
    metric.merge_state(other if by == "metric" else other.metric_state)
    assert_same(metric.compute(), expected(average))
    assert_same_states(other, before)
    if average == "none":
        with pytest.raises(ValueError, match="batches of 2 and of 3 hypotheses"):
            metric.update(*OTHER)


@each_average
def test_merging_with_a_metric_without_data_changes_nothing(average):
    metric = filled(average)
    metric.merge_state(make(average))
    assert_same(metric.compute(), expected(average))
    empty = make(average)
    empty.merge_state(metric)
    assert_same(empty.compute(), expected(average))
    empty.update(*WHOLE)
    twice = tuple(torch.cat([part, part]) for part in WHOLE)
    assert_same(empty.compute(), expected(average, twice))


@each_average
@pytest.mark.parametrize("before", [(), (OTHER,)], ids=["new", "used"])
def test_a_state_dict_restores(average, before):
    """Also into a metric that has seen another number of samples."""
    metric = filled(average)
    metric.persistent(True)
    saved = metric.state_dict()
    restored = filled(average, before)
    restored.load_state_dict(saved)
    assert_same(restored.compute(), expected(average))
    restored.update(*WHOLE)
    twice = tuple(torch.cat([part, part]) for part in WHOLE)
    assert_same(restored.compute(), expected(average, twice))


def test_a_state_dict_keeps_the_number_of_samples():
    metric = filled("none")
    metric.persistent(True)
    restored = make("none")
    restored.load_state_dict(metric.state_dict())
    with pytest.raises(ValueError, match="batches of 2 and of 3 hypotheses"):
        restored.update(*OTHER)


def test_in_a_collection_each_metric_keeps_its_shape():
    """Metrics that count the same share one state; those of another order do not."""
    metrics = {"one": make("none", ngram=1), "two": make("none"), "again": make("none"), "mean": make("macro")}
    collection = MetricCollection(dict(metrics))
    for batches in (BATCHES, [OTHER]):
        for batch in batches:
            collection.update(*batch)
        whole = tuple(torch.cat(parts) for parts in zip(*batches, strict=True))
        values = collection.compute()
        assert_same(values["two"], expected("none", whole))
        assert_same(values["again"], expected("none", whole))
        assert_same(values["one"], ngram_overlap(*whole, average="none", ngram=1, pad_id=(0, -100)))
        assert_same(values["mean"], expected("macro", whole))
        collection.reset()


# Several processes, of which this one pretends to be the first.


def synced(metrics: list[NgramOverlap]) -> Tensor:
    """What the first metric computes where the others stand in other processes."""
    states = [{**one.metric_state, "rows": one._all_rows()} for one in metrics]
    # The settings are gathered by themselves before all states.
    names = iter(["settings", *metrics[0]._reductions])

    def gather(_: Tensor, group: object = None) -> list[Tensor]:
        name = next(names)
        return [state[name] for state in states]

    metrics[0].distributed_available_fn = lambda: True
    metrics[0].dist_sync_fn = gather
    return metrics[0].compute()


def test_processes_have_their_samples_in_one_table():
    assert_same(synced([filled("none", [one]) for one in BATCHES]), expected("none"))


@pytest.mark.filterwarnings("ignore:The ``compute`` method:UserWarning")
def test_a_process_without_data_takes_the_shape_of_the_others():
    assert_same(synced([make("none"), filled("none")]), expected("none"))
    assert_same(synced([filled("none"), make("none")]), expected("none"))


@pytest.mark.parametrize("second", [OTHER, SINGLE], ids=["2 and 3", "2 and no"])
def test_processes_with_different_numbers_of_samples_are_refused(second):
    with pytest.raises(ValueError, match="average 'none' expects all batches alike"):
        synced([filled("none"), filled("none", [second])])
    with pytest.raises(ValueError, match="average 'none' expects all batches alike"):
        synced([filled("none", [second]), filled("none")])


@pytest.mark.cuda
def test_samples_on_cuda():
    metric = make("none", device="cuda")
    for preds, target in BATCHES:
        metric.update(preds.cuda(), target.cuda())
    value = metric.compute()
    assert value.device.type == "cuda"
    assert_same(value.cpu(), expected("none"))
