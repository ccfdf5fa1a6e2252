"""One metric counts one kind of input from reset to compute, whatever is done with it; and shows its settings."""

import copy

import pytest
import torch
from faces.cases import CASES, IDS, TEXT, assert_same

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore

WITH_TEXT = [case for case in CASES if case.batches is TEXT]
each_text_case = pytest.mark.parametrize("case", WITH_TEXT, ids=lambda case: case.name)
WORDS = r"one metric was given text and ids: expected one kind from reset to compute, on all processes"


def _of_ids(case, average="macro"):
    """A metric of the same settings that has counted ids."""
    metric = case.make(average)
    metric.update([row[row > 0].tolist() for row in IDS[0][0]], [[[1, 2]]] * len(IDS[0][0]))
    return metric


def _takes_ids(case):
    return not any(case.options.get(name) for name in ("word_order", "lowercase", "tokenizer", "use_stemmer"))


@each_text_case
def test_an_update_of_another_kind_is_refused(case):
    if not _takes_ids(case):
        pytest.skip("these settings are for text alone")
    metric = case.filled("macro")
    for update in (metric.update, metric.forward):
        with pytest.raises(ValueError, match=WORDS):
            update([[1, 2]], [[[1, 2]]])
    assert_same(metric.compute(), case.value("macro"))


@each_text_case
def test_a_merge_of_another_kind_is_refused(case):
    if not _takes_ids(case):
        pytest.skip("these settings are for text alone")
    metric = case.filled("macro")
    with pytest.raises(ValueError, match=WORDS):
        metric.merge_state(_of_ids(case))
    assert_same(metric.compute(), case.value("macro"))


@each_text_case
def test_a_checkpoint_remembers_its_kind(case):
    if not _takes_ids(case):
        pytest.skip("these settings are for text alone")
    metric, loaded = case.filled("macro"), case.make("macro")
    metric.persistent(True)
    loaded.load_state_dict(metric.state_dict())
    with pytest.raises(ValueError, match=WORDS):
        loaded.update([[1, 2]], [[[1, 2]]])


def test_ranks_of_different_kinds_are_refused():
    metric, other = Bleu(), Bleu()
    metric.update(["a b"], ["a b"])
    other.update([[1, 2]], [[1, 2]])
    states = {name: getattr(other, name) for name in metric._defaults}

    def gathered(state, group=None):
        name = next((name for name in metric._defaults if getattr(metric, name) is state), None)
        return [state, state if name is None else states[name]]

    with pytest.raises(ValueError, match=WORDS):
        metric.sync(dist_sync_fn=gathered, distributed_available=lambda: True)
    assert metric.compute() == 0


def test_ranks_of_different_levels_are_refused_before_anything_is_joined():
    first, second = ChrF(confidence=0.9), ChrF(confidence=0.95)
    digests = []
    for metric in (first, second):
        metric.update(["a b"], ["a b c"])
        with pytest.raises(KeyboardInterrupt):
            metric.sync(
                dist_sync_fn=lambda state, group=None: _note(digests, state), distributed_available=lambda: True
            )
    with pytest.raises(
        ValueError, match="the ranks hold metrics of different settings: expected the same class, options, average and "
    ):
        first.sync(dist_sync_fn=lambda state, group=None: digests, distributed_available=lambda: True)
    assert len(first.rows) == 1


def _note(digests, state):
    digests.append(state)
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "options", [{"average": "none"}, {"confidence": 0.9}, {"average": "none", "compute_on_cpu": True}]
)
def test_rows_of_another_device_go_to_where_the_own_ones_are(options, monkeypatch):
    """The meta device stands for another one. It has no data, so the settings cannot be compared there."""
    ids = torch.tensor([[1, 2, 3]])
    metric, other = (ChrF(device=device, pad_id=0, **options) for device in ("meta", "cpu"))
    other.update(ids, ids)
    monkeypatch.setattr(metric, "_check_settings", lambda settings: None)
    metric.merge_state(other)
    assert [rows.device.type for rows in metric.rows] == ["cpu" if "compute_on_cpu" in options else "meta"]
    assert metric.row.device.type == "meta"


def test_the_signature_names_the_kind():
    metric = NgramOverlap(pad_id=0)
    with pytest.warns(UserWarning, match="before the ``update`` method"):
        metric.compute()
    assert "|unit:?|" in metric.signature
    for batch, unit in (((["a b"], ["a b"]), "text"), (([["a", "b"]], [["a"]]), "tokens"), (([[1, 2]], [[1]]), "ids")):
        metric.reset()
        metric.update([], [])
        metric.update(*batch)
        assert f"|unit:{unit}|" in metric.signature
        assert f"|unit:{unit}|" in copy.deepcopy(metric).signature


@pytest.mark.parametrize(
    ("metric", "shown"),
    [
        (Bleu(), "Bleu()"),
        (Bleu(smooth="exp", average="micro", tokenizer="13a"), "Bleu(smooth='exp', average='micro', tokenizer='13a')"),
        (Bleu(2, weights=[1, 2], device="cpu"), "Bleu(ngram=2, weights=(1.0, 2.0))"),
        (ChrF(word_order=2, pad_id=[0, 1], confidence=0.9), "ChrF(word_order=2, pad_id=(0, 1), confidence=0.9)"),
        (
            ROUGEScore(rouge_keys="rougeL", normalizer=str.lower),
            "ROUGEScore(normalizer=str.lower, rouge_keys=('rougeL',))",
        ),
        (ROUGEScore(accumulate="avg"), "ROUGEScore(accumulate='avg')"),
    ],
)
def test_a_metric_shows_the_settings_that_differ(metric, shown):
    assert repr(metric) == shown
