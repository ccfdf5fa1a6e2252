"""The numbers of the official scripts on newstest2017 English-German, which sacrebleu's tests list.

The texts are not part of the project: ``NGRAM_METRICS_WMT17`` names a folder with ``reference.txt`` and
``systems/*.txt``, one segment a line.
"""

import functools
import os
from pathlib import Path
from typing import NamedTuple

import pytest

from ngram_metrics import Bleu
from ngram_metrics.functional import bleu_score, chrf_score
from ngram_metrics.significance import paired_approximate_randomization, paired_bootstrap

FOLDER = os.environ.get("NGRAM_METRICS_WMT17")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER, reason="NGRAM_METRICS_WMT17 names no folder with newstest2017 English-German"),
]
BASELINE = "LIUM-NMT.4900"


class Published(NamedTuple):
    """What mteval-v13a and chrF++.py print, and p-values of the difference from the baseline.

    Attributes:
        moses: of Moses' bootstrap with 2,000 resamples, one-sided.
        multeval: of MultEval's randomization with 10,000 trials, two-sided.
    """

    bleu: float
    chrf: float
    moses: float = 0.0
    multeval: float = 0.0001


PUBLISHED = {
    "C-3MA.4959": Published(22.67, 51.9533),
    "FBK.4870": Published(26.33, 54.7152, 0.01267, 0.0218),
    "KIT.4950": Published(26.08, 55.7629, 0.02233, 0.0410),
    "LIUM-NMT.4900": Published(26.60, 55.9284),
    "LMU-nmt-reranked.4934": Published(27.11, 56.3908, 0.04383, 0.09029),
    "LMU-nmt-single.4893": Published(26.56, 55.9216, 0.20783, 0.58494),
    "PROMT-Rule-based.4735": Published(16.61, 50.3511),
    "RWTH-nmt-ensemble.4921": Published(26.02, 55.6116, 0.01167, 0.0207),
    "SYSTRAN.4847": Published(26.71, 55.5758, 0.20983, 0.59914),
    "TALP-UPC.4834": Published(21.24, 51.6860),
    "online-A.0": Published(20.80, 52.0023),
    "online-B.0": Published(26.65, 56.2633, 0.38100, 0.94111),
    "online-F.0": Published(15.45, 49.2588),
    "online-G.0": Published(18.16, 51.5871),
    "uedin-nmt.4722": Published(28.30, 57.7227),
    "xmu.4910": Published(26.69, 55.9642, 0.25483, 0.71073),
}


@functools.cache
def lines(name: str) -> list[str]:
    return (Path(FOLDER) / f"{name}.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("system", PUBLISHED)
def test_bleu_and_chrf_are_the_published_ones(system: str):
    texts, references = lines(f"systems/{system}"), lines("reference")
    assert f"{100 * bleu_score(texts, references):.2f}" == f"{PUBLISHED[system].bleu:.2f}"
    kept = [text.replace("\xa0", "_") for text in texts]  # chrF++.py counts a no-break space, which one system writes
    assert f"{100 * chrf_score(kept, references):.4f}" == f"{PUBLISHED[system].chrf:.4f}"


def test_p_values_are_those_of_moses_and_multeval():
    """Within what the draws of two programs differ by; sacrebleu's tests allow as much."""
    metrics = {system: Bleu(tokenizer="none", confidence=0.95) for system in PUBLISHED}
    for system, metric in metrics.items():
        metric.update(lines(f"systems/{system}"), lines("reference"))
    drawn = paired_bootstrap(metrics, BASELINE, resamples=2000, alternative="sacrebleu")
    swapped = paired_approximate_randomization(metrics, BASELINE)
    for system in PUBLISHED.keys() - {BASELINE}:
        assert drawn[system]["bleu"].p_value == pytest.approx(PUBLISHED[system].moses, abs=0.01)
        assert swapped[system]["bleu"].p_value == pytest.approx(PUBLISHED[system].multeval, abs=0.01)
