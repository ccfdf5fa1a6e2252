"""The signature: one line with everything that affects a score, as in sacrebleu (Post 2018)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version

#: The order of the fields: sacrebleu's for the fields that it has; versions are last.
FIELDS = (
    "bs",
    "ar",
    "seed",
    "test",
    "alternative",
    "correction",
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
    """Return a signature.

    Args:
        references: the number of references per sentence, such as ``1`` or ``1-4``, or ``?`` before any data.
        settings: values by name; a name that is not in :data:`FIELDS` is a package, with its version.
    """
    known = {name: settings[name] for name in FIELDS if name in settings}
    packages = {name: value for name, value in settings.items() if name not in FIELDS}
    fields = {"nrefs": references, **known, **packages, "version": version("ngram-metrics")}
    return "|".join(f"{name}:{value}" for name, value in fields.items())
