"""SpeechBrain's statistics of a stage: those of all processes, each of which validates its share.

It needs torchaudio, whose wheels on PyPI load only beside the CUDA build of torch, and a torchaudio that does not load
breaks transformers. So no extra installs it.

It is imported in processes of its own: it replaces the constructor of torch's DataLoader, as Lightning does, and has
modules that raise when hypothesis looks into them.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
from documentation import run_recipe
from ranks import on_ranks
from sacrebleu.metrics import BLEU
from systems import output, references

from ngram_metrics import Bleu

pytestmark = pytest.mark.engines

REFERENCES = references(31), output(references(31), 0.1, seed=2)
WRITTEN = output(REFERENCES[0], 0.2, seed=1)
UTTERANCES = [
    {"id": str(number), "predict": written, "targets": [first, second]}
    for number, (written, first, second) in enumerate(zip(WRITTEN, *REFERENCES, strict=True))
]


def stage_value() -> dict[str, Any]:
    """Evaluate by a Brain, and return its value, and how many utterances this process had."""
    import speechbrain

    recipe = run_recipe("SpeechBrain")

    class Recognizer(speechbrain.Brain):
        def compute_forward(self, batch: dict[str, Any], stage: Any) -> list[str]:
            return batch["predict"]

        def compute_objectives(self, predictions: list[str], batch: dict[str, Any], stage: Any) -> torch.Tensor:
            # The loader has turned the references of each utterance into a list for each reference.
            self.bleu_metric.append(batch["id"], predictions, batch["targets"])
            return torch.zeros(())

        def on_stage_start(self, stage: Any, epoch: int | None = None) -> None:
            self.bleu_metric = recipe["CorpusStats"](Bleu())

        def on_stage_end(self, stage: Any, stage_loss: float, epoch: int | None = None) -> None:
            self.value = self.bleu_metric.summarize("BLEU")

    brain = Recognizer(modules={"decoder": torch.nn.Linear(1, 1)}, run_opts={"device": "cpu"})
    loader = recipe["share_of_each_process"](UTTERANCES)
    brain.evaluate(UTTERANCES, test_loader_kwargs=loader, progressbar=False)
    return {"value": brain.value, "utterances": len(brain.bleu_metric.ids)}


def stats_of_the_second_stage(file_name: str) -> dict[str, Any]:
    """Return the statistics of a stage after another one, which are also written to a file."""
    stats = run_recipe("SpeechBrain")["CorpusStats"](Bleu())
    stats.append(["first"], ["the cat sat on the mat"], [["the cat is on the mat"]])
    stats.clear()
    stats.append(["second"], ["it rains in the old town"], [["it rains in the old town"]])
    summary = stats.summarize()
    with open(file_name, "w", encoding="utf-8") as file:
        stats.write_stats(file)
    return {"ids": stats.ids, **summary}


@pytest.fixture(autouse=True)
def _speechbrain() -> None:
    if find_spec("speechbrain") is None:  # otherwise this would import it here
        pytest.importorskip("speechbrain", reason="its stages run")


def expected_value() -> float:
    return BLEU().corpus_score(WRITTEN, REFERENCES).score


def test_a_stage_has_the_value_of_sacrebleu():
    (result,) = on_ranks(stage_value, size=1)
    assert result == {"value": pytest.approx(expected_value(), rel=1e-12), "utterances": len(UTTERANCES)}


def test_two_processes_have_the_value_of_all_utterances():
    values = on_ranks(stage_value, size=2)
    assert [value["utterances"] for value in values] == [16, 15]
    assert [value["value"] for value in values] == pytest.approx([expected_value()] * 2, rel=1e-12)


def test_a_stage_begins_without_the_utterances_of_the_last_one(tmp_path: Path):
    (result,) = on_ranks(stats_of_the_second_stage, str(tmp_path / "stats.txt"), size=1)
    assert result == {"ids": ["second"], "BLEU": pytest.approx(100)}
    assert (tmp_path / "stats.txt").read_text(encoding="utf-8").startswith("{'BLEU': 100")
