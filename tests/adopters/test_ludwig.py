"""Ludwig derives from the metric and from its own class, which gathers in ``sync_context``."""

import json
from itertools import chain
from pathlib import Path

import pytest
from ludwig import SHARES, run
from torch import multiprocessing

from ngram_metrics.functional import bleu_score, rouge_score


def test_two_processes_compute_the_values_of_all_data(tmp_path: Path):
    multiprocessing.start_processes(run, (tmp_path,), nprocs=len(SHARES), start_method="forkserver")
    hypotheses, references = ([*chain(*side)] for side in zip(*SHARES, strict=True))
    expected = {"bleu": bleu_score(hypotheses, references).item()}
    expected |= {name: value.item() for name, value in rouge_score(hypotheses, references).items()}
    for rank in range(len(SHARES)):
        assert json.loads((tmp_path / f"{rank}.json").read_text()) == pytest.approx(expected, rel=1e-12)
