"""BLEU, ROUGE, chrF and n-gram overlap for PyTorch training loops, on one exact counting module.

The classes named here are ``torchmetrics.Metric``; :mod:`ngram_metrics.ignite` has the same for pytorch-ignite, and
:mod:`ngram_metrics.functional` the same in one call.
"""

from importlib.metadata import version

from ngram_metrics.metrics.bleu import Bleu as Bleu
from ngram_metrics.metrics.chrf import ChrF as ChrF
from ngram_metrics.metrics.overlap import NgramOverlap as NgramOverlap
from ngram_metrics.metrics.rouge import ROUGEScore as ROUGEScore

__all__ = ["Bleu", "ROUGEScore", "ChrF", "NgramOverlap"]
__version__ = version("ngram-metrics")
