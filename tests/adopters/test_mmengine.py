"""MMEngine's evaluator: the metric has the segments of all processes, without those that the sampler repeated."""

from pathlib import Path
from typing import Any

import pytest
from documentation import run_recipe
from ranks import on_ranks
from sacrebleu.metrics import BLEU
from systems import output, references

REFERENCES = references(31), output(references(31), 0.1, seed=2)
WRITTEN = output(REFERENCES[0], 0.2, seed=1)
SAMPLES = [
    {"pred_text": written, "gt_text": [first, second]}
    for written, first, second in zip(WRITTEN, *REFERENCES, strict=True)
]


@pytest.fixture(autouse=True)
def _mmengine() -> None:
    pytest.importorskip("mmengine", reason="its evaluator runs")


def evaluated(folder: str) -> dict[str, Any]:
    """Evaluate the samples that MMEngine's sampler gives this process, and return the values and their number."""
    from mmengine.dataset import DefaultSampler
    from mmengine.evaluator import Evaluator

    run_recipe("MMEngine")
    evaluator = Evaluator({"type": "CorpusBleu", "collect_dir": folder})
    indices = list(DefaultSampler(SAMPLES, shuffle=False))
    for start in range(0, len(indices), 5):
        batch = [SAMPLES[index] for index in indices[start : start + 5]]
        evaluator.process(data_samples=batch, data_batch=None)
    return {"values": evaluator.evaluate(size=len(SAMPLES)), "samples": len(indices)}


def expected_values() -> dict[str, Any]:
    return {"text/bleu": pytest.approx(BLEU().corpus_score(WRITTEN, REFERENCES).score / 100, rel=1e-12)}


def test_a_configured_evaluator_has_the_value_of_sacrebleu(tmp_path: Path):
    assert evaluated(str(tmp_path)) == {"values": expected_values(), "samples": len(SAMPLES)}


def test_two_processes_have_the_value_without_repeated_samples(tmp_path: Path):
    for result in on_ranks(evaluated, str(tmp_path / "results"), size=2):
        assert result == {"values": expected_values(), "samples": 16}
