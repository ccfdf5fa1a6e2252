"""The signature of an accumulator."""

from __future__ import annotations

from ngram_metrics.scores.resampling import RESAMPLES, SEED
from ngram_metrics.scores.signature import written
from ngram_metrics.torchmetrics.counted import kind_name
from ngram_metrics.torchmetrics.saving import Saving


def signature(metric: Saving) -> str:
    """Return the signature of a metric that holds the states of all processes.

    Before any data ``nrefs`` and ``unit``, the kind of input, are ``?``.
    """
    settings = {"unit": kind_name(metric.counted), "avg": metric.average}
    settings |= metric.reader.signature() | metric.measure.signature()
    if metric.confidence is not None:
        settings |= {"bs": str(RESAMPLES), "seed": str(SEED)}
    fewest, most = (-metric.reference_range[0]).item(), metric.reference_range[1].item()
    number = "?" if most == 0 else str(most) if fewest == most else f"{fewest}-{most}"
    return written(number, settings)
