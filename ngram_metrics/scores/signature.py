"""The signature: one line that says all that affects a score, after sacrebleu (Post 2018)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version

#: The order of the fields, which is sacrebleu's where it has them; versions come last.
FIELDS = (
    "bs",
    "ar",
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


def written(references: str, settings: Mapping[str, str]) -> str:
    """Write a signature.

    Args:
        references: how many a sentence has, as ``1``, ``1-4``, or ``?`` before any data.
        settings: by their names; what is none of :data:`FIELDS` is a package and its version.
    """
    known = {name: settings[name] for name in FIELDS if name in settings}
    packages = {name: value for name, value in settings.items() if name not in FIELDS}
    fields = {"nrefs": references, **known, **packages, "version": version("ngram-metrics")}
    return "|".join(f"{name}:{value}" for name, value in fields.items())
