"""The metrics as pytorch-ignite metrics: the options, defaults and numbers of their namesakes in ``ngram_metrics``.

``Bleu(output_transform=..., device=..., metrics_result_mode=..., tokenizer="zh")``: every option is passed by keyword.
``update`` takes ``(y_pred, y)`` or ``{"y_pred": ..., "y": ...}``: hypotheses, and for each its reference or a list of
references, as text, tokens, ids, or padded id tensors. ``output_transform`` turns an engine's output into this form.
``device`` is where the counts are. Text and lists are counted on the CPU, padded ids on their own device.

``compute`` returns a float from 0 to 1, for average none a float64 tensor ``(segments,)``, and for several values a
dict by their names, such as ``chrf``, ``chrf_low`` and ``chrf_high`` with ``confidence``. Before any data it raises
``NotComputableError``. If a metric has several values, their names in ``engine.state.metrics`` begin with the name
passed to ``attach``, such as ``rouge_rouge1_fmeasure``. ``metrics_result_mode`` is ignite's: ``"flatten"`` writes these
values, ``"named"`` writes one dict under the name passed to ``attach``, and ``"both"``, the default, writes both. It
leaves out the dict if a value has the same name.

``ngram_metrics.ignite.drop_in`` has the classes of ``ignite.metrics.nlp`` with ignite's parameters and numbers.
"""

from __future__ import annotations

from typing import NoReturn

from ngram_metrics.ignite import drop_in as drop_in
from ngram_metrics.ignite.handler import ScoresHandler
from ngram_metrics.ignite.metric_classes import Bleu, ChrF, GroupedMetric, NgramOverlap, ROUGEScore

__all__ = ["Bleu", "ROUGEScore", "ChrF", "NgramOverlap", "GroupedMetric", "ScoresHandler"]


def __getattr__(name: str) -> NoReturn:
    """Say where the classes of ignite are."""
    if name in ("Rouge", "RougeN", "RougeL"):
        raise ImportError(
            f"ngram_metrics.ignite has no {name}: use ngram_metrics.ignite.drop_in.{name}, which has ignite's "
            "parameters, or ngram_metrics.ignite.ROUGEScore"
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
