"""BLEU, ROUGE, chrF and n-gram overlap for PyTorch training loops, on one exact counting module.

The metrics listed here are ``torchmetrics.Metric`` classes; ``evaluate`` compares several systems.
``ngram_metrics.ignite`` has the same metrics for pytorch-ignite. ``ngram_metrics.functional`` computes the same scores
in one call, and ``ngram_metrics.counting`` counts n-grams of token ids.

On a CPU, NumPy counts n-grams, and RapidFuzz computes common subsequences. On other devices and in compiled graphs,
torch does both. The counts are the same, which the tests check.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ngram_metrics._version import __version__ as __version__

if TYPE_CHECKING:
    from ngram_metrics import counting as counting
    from ngram_metrics import distributed as distributed
    from ngram_metrics import functional as functional
    from ngram_metrics import mbr as mbr
    from ngram_metrics import significance as significance
    from ngram_metrics._evaluation.evaluate import Evaluation as Evaluation
    from ngram_metrics._evaluation.evaluate import evaluate as evaluate
    from ngram_metrics._torchmetrics.grouped_metric import GroupedMetric as GroupedMetric
    from ngram_metrics._torchmetrics.metric_classes import Bleu as Bleu
    from ngram_metrics._torchmetrics.metric_classes import ChrF as ChrF
    from ngram_metrics._torchmetrics.metric_classes import NgramOverlap as NgramOverlap
    from ngram_metrics._torchmetrics.metric_classes import ROUGEScore as ROUGEScore

#: The module of each public name. It is imported when the name is first used.
_MODULES = {
    **dict.fromkeys(("Bleu", "ROUGEScore", "ChrF", "NgramOverlap"), "_torchmetrics.metric_classes"),
    "GroupedMetric": "_torchmetrics.grouped_metric",
    **dict.fromkeys(("evaluate", "Evaluation"), "_evaluation.evaluate"),
}
__all__ = list(_MODULES)
#: The public modules, each with a package that it needs.
_PUBLIC = {
    **dict.fromkeys(("functional", "counting", "distributed", "mbr", "significance"), "torch"),
    "hugging_face": "torch",
    **{name: name for name in ("ignite", "lightning")},
}


#: Names that other packages have for these metrics, with what to use here.
_THEIRS = {
    "BLEU": "use ngram_metrics.Bleu",
    "CHRF": "use ngram_metrics.ChrF",
    "SacreBLEUScore": "use ngram_metrics.Bleu; Bleu(smooth='none') gives the same number",
    "BLEUScore": "use ngram_metrics.Bleu; Bleu(tokenizer=None, smooth='none') gives the same number",
    "CHRFScore": "use ngram_metrics.ChrF; ChrF(word_order=2, eps_smoothing=True) gives the same number",
    **{
        name: f"use ngram_metrics.functional.{name}"
        for name in ("bleu_score", "rouge_score", "chrf_score", "ngram_overlap")
    },
}


def __getattr__(name: str) -> object:
    # Lazy, so that the command line answers --help without importing torch.
    value: object
    if name in _MODULES:
        value = getattr(import_module(f"ngram_metrics.{_MODULES[name]}"), name)
    elif name in _PUBLIC:
        value = import_module(f"ngram_metrics.{name}")
    elif name in _THEIRS:
        # `from ngram_metrics import BLEU` would replace the words of an AttributeError by its own.
        raise ImportError(f"ngram_metrics has no {name}: {_THEIRS[name]}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    # help() and inspect.getmembers() get every name in here, so leave out modules whose package is not installed.
    return sorted([*__all__, "__version__", *(name for name, framework in _PUBLIC.items() if find_spec(framework))])
