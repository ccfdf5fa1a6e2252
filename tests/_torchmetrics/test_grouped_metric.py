"""A metric of groups has the values that a metric of each group and one of all segments have."""

import copy
import math
import pickle
from collections.abc import Sequence
from typing import Any

import pytest
import sacrebleu
import torch
from crossings import crossings, no_crossings
from metrics.cases import Batch, Case, assert_same, assert_same_states, each_metric_of_one_value, joined, states_of
from torch import Tensor
from torchmetrics import MetricCollection
from torchmetrics.wrappers import MetricTracker

from ngram_metrics import Bleu, ChrF, GroupedMetric, NgramOverlap, ROUGEScore

LABELS = ["de", "fr", "cs"]
PREDS = ["das alte Haus steht leer", "la maison est vide", "das Haus ist leer", "c'est une vieille maison bleue"]
TARGET = ["das alte Haus ist leer", "la maison est belle", "das Haus war leer", "c'est une vieille maison rouge"]
GROUPS = ["de", "fr", "de", "fr"]


def filled(metric: Any, groups: Any = GROUPS) -> GroupedMetric:
    grouped = GroupedMetric(metric, LABELS)
    grouped.update(PREDS, TARGET, groups)
    return grouped


def take(batch: Batch, chosen: Sequence[bool]) -> Batch:
    """The segments of a batch that are chosen."""
    if isinstance(batch[0], Tensor):
        mask = torch.tensor(chosen)
        return batch[0][mask], batch[1][mask]
    preds = [text for text, is_chosen in zip(batch[0], chosen, strict=True) if is_chosen]
    target = [texts for texts, is_chosen in zip(batch[1], chosen, strict=True) if is_chosen]
    return preds, target


@each_metric_of_one_value
def test_each_group_has_the_values_of_a_metric_of_its_own(case: Case, average: str):
    """In two of three groups, over several batches, of text, padded ids and samples."""
    grouped = GroupedMetric(case.make(average), LABELS)
    groups: list[str] = []
    for batch in case.batches:
        labels = [LABELS[(len(groups) + position) % 2] for position in range(len(batch[0]))]
        grouped.update(*batch, labels)
        groups += labels
    whole = joined(case.batches)
    expected = {}
    for label in LABELS[:2]:
        values = case.value(average, [take(whole, [group == label for group in groups])])
        expected |= {(name, label): value for name, value in named(case, values).items()}
    totals = named(case, case.value(average))
    actual = grouped.compute()
    assert list(actual) == [f"{name}_{suffix}" for name in totals for suffix in (*LABELS, "mean", "all")]
    for name, total in totals.items():
        of_groups = [expected[name, label] for label in LABELS[:2]]
        assert_same([actual[f"{name}_{label}"] for label in LABELS[:2]], of_groups)
        assert_same(actual[f"{name}_mean"], (of_groups[0] + of_groups[1]) / 2)
        assert_same(actual[f"{name}_all"], total)
        assert actual[f"{name}_cs"].isnan()


def named(case: Case, values: Any) -> dict[str, Tensor]:
    return values if isinstance(values, dict) else dict.fromkeys(case.make("micro").scorer.values, values)


def test_the_scores_of_languages_are_those_of_sacrebleu():
    texts = {label: [(h, r) for h, r, g in zip(PREDS, TARGET, GROUPS, strict=True) if g == label] for label in LABELS}
    for metric, peer in ((ChrF(), sacrebleu.corpus_chrf), (Bleu(), sacrebleu.corpus_bleu)):
        (name,) = metric.scorer.values
        values = filled(metric).compute()
        scores = []
        for label in LABELS[:2]:
            hypotheses, references = zip(*texts[label], strict=True)
            scores.append(peer(hypotheses, [references]).score / 100)
            assert values[f"{name}_{label}"].item() == pytest.approx(scores[-1], abs=1e-12)
        assert values[f"{name}_mean"].item() == pytest.approx(sum(scores) / 2, abs=1e-12)
        assert values[f"{name}_all"].item() == pytest.approx(peer(PREDS, [TARGET]).score / 100, abs=1e-12)


def test_before_any_segment_only_the_score_of_all_is_that_of_the_metric():
    for metric, empty in ((ChrF(), 0.0), (ROUGEScore(rouge_keys="rougeL")["rougeL_fmeasure"], math.nan)):
        grouped = GroupedMetric(metric, LABELS)
        grouped.update([], [], [])
        with pytest.warns(UserWarning, match="no segment"):
            values = grouped.compute()
        *of_groups, total = values.values()
        assert all(value.isnan() for value in of_groups)
        assert_same(total, torch.tensor(empty, dtype=torch.float64))


def test_labels_may_be_indices():
    expected = filled(ChrF()).compute()
    for groups in ([0, 1, 0, 1], torch.tensor([0, 1, 0, 1]), torch.tensor([0, 1, 0, 1], dtype=torch.uint8).numpy()):
        assert_same(filled(ChrF(), groups).compute(), expected)


def test_a_call_returns_the_values_of_its_batch_and_counts_it():
    grouped = GroupedMetric(ChrF(), LABELS)
    for pair in range(2):
        batch = (PREDS[2 * pair : 2 * pair + 2], TARGET[2 * pair : 2 * pair + 2], GROUPS[2 * pair : 2 * pair + 2])
        alone = GroupedMetric(ChrF(), LABELS)
        alone.update(*batch)
        torch.testing.assert_close(grouped(*batch), alone.compute(), equal_nan=True, rtol=0, atol=0)
    torch.testing.assert_close(grouped.compute(), filled(ChrF()).compute(), equal_nan=True, rtol=0, atol=0)


def test_a_value_of_several_is_named_by_its_own_name():
    grouped = filled(ROUGEScore(rouge_keys=("rouge1", "rougeL"))["rougeL_fmeasure"])
    assert list(grouped.compute()) == [f"rougeL_fmeasure_{suffix}" for suffix in (*LABELS, "mean", "all")]
    whole = filled(ROUGEScore(rouge_keys=("rouge1", "rougeL"))).compute()
    for name, value in grouped.compute().items():
        assert_same(value, whole[name])


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        (["de", "it", "fr", "fr"], ValueError, r"label 1 of groups is 'it': expected one of \['de', 'fr', 'cs'\]"),
        ([0, 1, 3, 0], ValueError, "label 2 of groups is 3: expected one of .*, or an index below 3"),
        ([0, -1, 1, 0], ValueError, "label 1 of groups is -1"),
        (["de"], ValueError, "groups has 1 label and the batch has 4 segments"),
        ("de", TypeError, "groups is a str: expected a label for each segment"),
    ],
)
def test_a_wrong_label_of_a_batch_is_named_and_counts_nothing(groups: Any, error: type, message: str):
    grouped = filled(ChrF(average="macro"))
    states = states_of(grouped)
    for count in (grouped.update, grouped.forward):
        with pytest.raises(error, match=message):
            count(PREDS, TARGET, groups)
        assert_same_states(grouped, states)


@pytest.mark.parametrize(
    ("metric", "labels", "error", "message"),
    [
        (
            ChrF(),
            ["de", "mean"],
            ValueError,
            "groups has the label 'mean': expected one that is not blank, 'mean' or 'all'",
        ),
        (ChrF(), ["all"], ValueError, "groups has the label 'all'"),
        (ChrF(), [" "], ValueError, "groups has the label ' '"),
        (ChrF(), ["de", "de"], ValueError, "expected at least one label, and each label only once"),
        (ChrF(), [], ValueError, "expected at least one label"),
        (ChrF(), [1], TypeError, "groups has the label 1: expected a str"),
        (ChrF(), "de", TypeError, r'groups is a str: expected a list of labels, such as \["de", "fr"\]'),
        (GroupedMetric(ChrF(), ["de"]), ["de"], ValueError, "has groups of its own: expected a metric without"),
        (ChrF(average="none"), ["de"], ValueError, "expected average 'micro' or 'macro', and no confidence"),
        (ChrF(confidence=0.9), ["de"], ValueError, r"ChrF\(confidence=0\.9\): expected average"),
        (ChrF, ["de"], TypeError, "metric is the class ChrF: expected a metric object"),
    ],
)
def test_a_metric_without_groups_is_refused(metric: Any, labels: Any, error: type, message: str):
    with pytest.raises(error, match=message):
        GroupedMetric(metric, labels)


def test_groups_on_a_device_are_not_read():
    ids = torch.ones(4, 5, dtype=torch.int64, device="meta")
    grouped = GroupedMetric(Bleu(average="macro", pad_id=0, device="meta"), LABELS)
    with no_crossings():
        for _ in range(2):
            grouped.update(ids, ids, torch.zeros(4, dtype=torch.int64, device="meta"))
        assert {value.shape for value in grouped.compute().values()} == {()}


def test_an_index_out_of_range_on_a_device_is_an_error_of_compute():
    grouped = GroupedMetric(ChrF(), LABELS)
    with crossings():  # here indices are not read, as on a device
        grouped.update(PREDS, TARGET, torch.tensor([0, 1, 3, -1]))
        with pytest.raises(
            ValueError, match=r"groups is a tensor of shape \(2,\): expected \(4,\), an index for each segment"
        ):
            grouped.update(PREDS, TARGET, torch.tensor([0, 1]))
    assert grouped.segments.tolist() == [1, 1, 0, 2]
    with pytest.raises(ValueError, match="2 indices of groups are out of range: expected 0 to 2"):
        grouped.compute()


def test_samples_belong_to_the_group_of_their_segment():
    samples = torch.tensor([[[1, 2], [1, 3]], [[4, 5], [4, 5]]])
    references = torch.tensor([[1, 2], [4, 5]])
    grouped = GroupedMetric(NgramOverlap(average="macro", pad_id=0), ["a", "b"])
    grouped.update(samples, references, ["a", "b"])
    assert {name: value.item() for name, value in grouped.compute().items()} == {
        "ngram_overlap_a": 0.75,
        "ngram_overlap_b": 1.0,
        "ngram_overlap_mean": 0.875,
        "ngram_overlap_all": 0.875,
    }


def test_in_a_collection_other_groups_are_another_metric():
    """And metrics without groups leave the labels out."""
    groupings = {"languages": ["de", "fr"], "lengths": ["short", "long"]}
    collection = MetricCollection({name: GroupedMetric(ChrF(), labels) for name, labels in groupings.items()})
    collection.update(PREDS, TARGET, groups=[0, 1, 0, 1])
    collection.update(PREDS, TARGET, groups=[0, 1, 0, 1])
    assert len(collection.compute_groups) == 2
    mixed = MetricCollection({"chrf": ChrF(), "languages": GroupedMetric(ChrF(), ["de", "fr"])})
    mixed.update(PREDS, TARGET, groups=GROUPS)
    values = mixed.compute()
    assert_same(values["chrf"], values["chrf_all"])


def test_a_metric_is_copied_saved_merged_and_reset():
    grouped = filled(ChrF(average="macro"))
    expected = grouped.compute()
    for other in (copy.deepcopy(grouped), pickle.loads(pickle.dumps(grouped)), grouped.clone()):
        assert_same(other.compute(), expected)
        assert repr(other) == "GroupedMetric(ChrF(average='macro'), ['de', 'fr', 'cs'])"
    grouped.persistent(True)
    loaded = GroupedMetric(ChrF(average="macro"), LABELS)
    loaded.load_state_dict(grouped.state_dict())
    assert_same(loaded.compute(), expected)
    with pytest.raises(RuntimeError, match="come from a metric whose settings differ"):
        GroupedMetric(ChrF(average="macro"), ["de", "fr", "it"]).load_state_dict(grouped.state_dict())
    loaded.merge_state(grouped)
    assert loaded.segments.tolist() == [4, 4, 0, 0]
    assert_same(loaded.forward(PREDS, TARGET, GROUPS), expected)
    assert loaded.segments.tolist() == [6, 6, 0, 0]
    loaded.reset()
    assert loaded.segments.tolist() == [0, 0, 0, 0]


def test_the_options_of_the_metric_hold():
    grouped = filled(ChrF(sync_on_compute=False, compute_with_cache=False))
    assert not grouped.sync_on_compute
    assert grouped.signature == ChrF().signature.replace("nrefs:?", "nrefs:1").replace("unit:?", "unit:text")
    metric = ChrF()
    metric.update(PREDS, TARGET)
    assert_same(grouped.details(), metric.details())


def test_a_value_can_be_tracked_over_epochs():
    tracker = MetricTracker(GroupedMetric(ChrF(), LABELS)["chrf_mean"], maximize=True)
    for hypotheses in (PREDS, TARGET, PREDS):
        tracker.increment()
        tracker.update(hypotheses, TARGET, GROUPS)
    assert tracker.best_metric(return_step=True) == (1.0, 1)
    with pytest.raises(KeyError, match="'chrf' is not a value of this metric: expected one of"):
        GroupedMetric(ChrF(), LABELS)["chrf"]
