"""BLEU, ROUGE, chrF, n-gram overlap and GLEU for PyTorch training loops, on one exact counting module.

The classes listed here are ``torchmetrics.Metric`` classes. :mod:`ngram_metrics.ignite` has the same metrics for
pytorch-ignite, :mod:`ngram_metrics.functional` the same scores in one call, and :mod:`ngram_metrics.pair` those of one
hypothesis, without torch.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ngram_metrics.torchmetrics.bleu import Bleu as Bleu
    from ngram_metrics.torchmetrics.chrf import ChrF as ChrF
    from ngram_metrics.torchmetrics.gleu import Gleu as Gleu
    from ngram_metrics.torchmetrics.overlap import NgramOverlap as NgramOverlap
    from ngram_metrics.torchmetrics.rouge import ROUGEScore as ROUGEScore

    __version__: str

__all__ = ["Bleu", "ROUGEScore", "ChrF", "NgramOverlap", "Gleu"]
_MODULES = {"Bleu": "bleu", "ROUGEScore": "rouge", "ChrF": "chrf", "NgramOverlap": "overlap", "Gleu": "gleu"}


def __getattr__(name: str) -> object:
    # A name is imported when it is first used: the command line answers --help without importing torch.
    value: object
    if name in _MODULES:
        from importlib import import_module

        value = getattr(import_module(f"ngram_metrics.torchmetrics.{_MODULES[name]}"), name)
    elif name == "__version__":
        from importlib.metadata import version

        value = version("ngram-metrics")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
