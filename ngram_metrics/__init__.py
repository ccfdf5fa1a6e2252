"""BLEU, ROUGE, chrF, n-gram overlap and GLEU for PyTorch training loops, on one exact counting module.

The classes named here are ``torchmetrics.Metric``; :mod:`ngram_metrics.ignite` has the same for pytorch-ignite, and
:mod:`ngram_metrics.functional` the same in one call.
"""

from importlib.metadata import version

from ngram_metrics.torchmetrics.bleu import Bleu as Bleu
from ngram_metrics.torchmetrics.chrf import ChrF as ChrF
from ngram_metrics.torchmetrics.gleu import Gleu as Gleu
from ngram_metrics.torchmetrics.overlap import NgramOverlap as NgramOverlap
from ngram_metrics.torchmetrics.rouge import ROUGEScore as ROUGEScore

__all__ = ["Bleu", "ROUGEScore", "ChrF", "NgramOverlap", "Gleu"]
__version__ = version("ngram-metrics")
