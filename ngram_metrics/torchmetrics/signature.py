"""The signature: one line that says all that affects a score, after sacrebleu (Post 2018)."""

from __future__ import annotations

from importlib.metadata import version

from ngram_metrics.scores.resampling import RESAMPLES, SEED
from ngram_metrics.torchmetrics.counted import kind_name
from ngram_metrics.torchmetrics.saving import Saving

#: The order of the fields, which is sacrebleu's where it has them; versions come last.
_FIELDS = (
    "bs",
    "seed",
    "avg",
    "unit",
    "case",
    "eff",
    "tok",
    "smooth",
    "order",
    "weights",
    "nc",
    "nw",
    "beta",
    "space",
    "keys",
    "multiref",
    "alpha",
    "norm",
    "stem",
    "split",
    "sep",
    "pad",
)


def signature(metric: Saving) -> str:
    """Write the signature of a metric, whose states are those of all processes.

    What its reader and its measure name, and is no known field, is a package and its version. ``nrefs`` is ``?`` before
    any data, as is ``unit``, what the sentences were given as.
    """
    settings = {"unit": kind_name(metric.counted), "avg": metric.average}
    settings |= metric.reader.signature() | metric.measure.signature()
    if metric.confidence is not None:
        settings |= {"bs": str(RESAMPLES), "seed": str(SEED)}
    fewest, most = (-metric.reference_range[0]).item(), metric.reference_range[1].item()
    number = "?" if most == 0 else str(most) if fewest == most else f"{fewest}-{most}"
    known = {name: settings[name] for name in _FIELDS if name in settings}
    packages = {name: value for name, value in settings.items() if name not in _FIELDS}
    fields = {"nrefs": number, **known, **packages, "version": version("ngram-metrics")}
    return "|".join(f"{name}:{value}" for name, value in fields.items())
