"""The signature of an accumulator."""

from __future__ import annotations

from ngram_metrics.scores.resampling import RESAMPLES, SEED
from ngram_metrics.scores.signature import written
from ngram_metrics.torchmetrics.counted import kind_name
from ngram_metrics.torchmetrics.saving import Saving


def signature(metric: Saving) -> str:
    """Write the signature of a metric, whose states are those of all processes.

    ``nrefs`` is ``?`` before any data, as is ``unit``, what the sentences were given as.
    """
    settings = {"unit": kind_name(metric.counted), "avg": metric.average}
    settings |= metric.reader.signature() | metric.measure.signature()
    if metric.confidence is not None:
        settings |= {"bs": str(RESAMPLES), "seed": str(SEED)}
    fewest, most = (-metric.reference_range[0]).item(), metric.reference_range[1].item()
    number = "?" if most == 0 else str(most) if fewest == most else f"{fewest}-{most}"
    return written(number, settings)
