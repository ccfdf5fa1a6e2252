"""States that an earlier version saved: they load and are counted on; its pickles are refused in a sentence.

``earlier_states.pt`` was written by the version before metrics held a scorer: for each metric the state_dict and a
pickle after the first batch, the value, and the value after the second batch.
"""

import pickle
from pathlib import Path
from typing import Any

import pytest
import torch

import ngram_metrics
from ngram_metrics import ignite

FIRST = (
    ["the cat sat on the mat", "a dog ran"],
    [["the cat sat on a mat", "a cat is on the mat"], ["the dog ran home"]],
)
SECOND = (["it rains"], [["it rains today", "rain"]])
METRICS = {
    "bleu": lambda: ngram_metrics.Bleu.sacrebleu(confidence=0.9),
    "rouge": lambda: ngram_metrics.ROUGEScore(rouge_keys=("rouge1", "rougeL", "rougeLsum")),
    "chrf": lambda: ngram_metrics.ChrF(word_order=2, average="none"),
    "ignite_chrf": lambda: ignite.ChrF(confidence=0.9),
}
SAVED: dict[str, Any] = torch.load(Path(__file__).with_name("earlier_states.pt"), weights_only=True)
each = pytest.mark.parametrize("name", SAVED)


def plain(value: Any) -> Any:
    """A value as Python numbers."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return value.tolist() if isinstance(value, torch.Tensor) else value


@each
def test_states_load_and_go_on(name: str):
    metric: Any = METRICS[name]()
    if name.startswith("ignite"):
        metric.load_state_dict(SAVED[name]["state_dict"])
    else:
        metric.persistent(True)
        metric.load_state_dict(SAVED[name]["state_dict"])
    assert plain(metric.compute()) == SAVED[name]["first"]
    metric.update(SECOND) if name.startswith("ignite") else metric.update(*SECOND)
    assert plain(metric.compute()) == SAVED[name]["after"]
    again: Any = METRICS[name]()
    for batch in (FIRST, SECOND):
        again.update(batch) if name.startswith("ignite") else again.update(*batch)
    assert plain(again.compute()) == SAVED[name]["after"]


@each
def test_a_pickle_is_refused_in_a_sentence(name: str):
    with pytest.raises(ValueError, match=r"^this \w+ was pickled by an earlier version of ngram_metrics: load its "):
        pickle.loads(SAVED[name]["pickle"])
