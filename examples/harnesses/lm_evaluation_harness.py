"""Corpus scores for EleutherAI's lm-evaluation-harness, with the bootstrap's standard error in its stderr column.

    pip install -e . lm-eval

Copy this file beside the YAML of your task, whose column `reference` has a text or a list of texts:

    output_type: generate_until
    process_results: !function lm_evaluation_harness.process_results
    metric_list:
      - metric: chrf
        aggregation: !function lm_evaluation_harness.chrf
        higher_is_better: true
      - metric: chrf_stderr
        aggregation: !function lm_evaluation_harness.chrf_stderr

The harness computes a standard error of its own functions only. Its table looks for one under the name of the metric
with `_stderr` behind, so a second metric has this name. Keep the order: a later metric replaces the entry. Scores are
from 0 to 100, as the harness's own, and so is the standard error: the standard deviation of the scores of 1,000
resampled corpora.
"""

from __future__ import annotations

from typing import Any

from ngram_metrics import Bleu, ChrF
from ngram_metrics.significance import standard_error

#: An output and its references.
Item = tuple[str, list[str]]


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, Item]:
    """Return the output of a document for each metric."""
    references = [doc["reference"]] if isinstance(doc["reference"], str) else list(doc["reference"])
    return dict.fromkeys(["bleu", "bleu_stderr", "chrf", "chrf_stderr"], (results[0], references))


def bleu(items: list[Item]) -> float:
    """Return the BLEU of sacrebleu's settings."""
    return 100 * _counted(Bleu(), items).compute().item()


def bleu_stderr(items: list[Item]) -> float:
    """Return the standard error of BLEU."""
    return 100 * standard_error(_counted(Bleu(confidence=0.95), items))["bleu"]


def chrf(items: list[Item]) -> float:
    """Return chrF."""
    return 100 * _counted(ChrF(), items).compute().item()


def chrf_stderr(items: list[Item]) -> float:
    """Return the standard error of chrF."""
    return 100 * standard_error(_counted(ChrF(confidence=0.95), items))["chrf"]


def _counted(metric: Any, items: list[Item]) -> Any:
    outputs, references = zip(*items, strict=True)
    metric.update(list(outputs), list(references))
    return metric
