"""States that version 0.1.0 saved are loaded and counted on. Compatibility begins with them.

``states_0_1_0.pt`` has the states of ``METRICS`` after the first batch. A release that changes what is saved adds a
file of its own: ``python tests/_torchmetrics/test_saved_states.py FILE`` writes it.
"""

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore
from ngram_metrics._torchmetrics.accumulator import Accumulator

TEXTS = (["The cats sat, on the mats!", "a dog ran home"], [["the cat sat on a mat.", "a cat"], ["The dog's running."]])
MORE = (["it rains 3.5 mm"], [["It rains today", "3.5 mm of rain"]])
METRICS: dict[str, Any] = {
    "bleu": Bleu(),
    "mean bleu of lowercased text": Bleu(average="macro", lowercase=True, confidence=0.9),
    "bleu of two orders, smoothed": Bleu(ngram=2, smooth="add-k", smooth_value=0.5, weights=[1, 3], tokenizer="zh"),
    "rouge": ROUGEScore(use_stemmer=True),
    "rouge of each segment": ROUGEScore(rouge_keys=("rouge2", "rougeL"), average="none"),
    "rouge, mean of references": ROUGEScore(accumulate="avg", confidence=0.95),
    "chrf": ChrF(),
    "chrf++": ChrF(word_order=2, average="none", whitespace=True),
    "overlap": NgramOverlap(2, tokenizer=str.split),
}


def filled(name: str, *batches: Any) -> Accumulator[Any]:
    metric: Accumulator[Any] = METRICS[name].clone()
    metric.persistent(True)
    for batch in batches:
        metric.update(*batch)
    return metric


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("version", ["0_1_0"])
def test_saved_states_are_loaded_and_counted_on(version: str, name: str):
    saved = torch.load(Path(__file__).with_name(f"states_{version}.pt"), weights_only=True)
    metric = filled(name)
    metric.load_state_dict(saved[name])
    torch.testing.assert_close(metric.compute(), filled(name, TEXTS).compute(), rtol=0, atol=0)
    metric.update(*MORE)
    torch.testing.assert_close(metric.compute(), filled(name, TEXTS, MORE).compute(), rtol=1e-12, atol=0)


if __name__ == "__main__":
    torch.save({name: dict(filled(name, TEXTS).state_dict()) for name in METRICS}, sys.argv[1])
