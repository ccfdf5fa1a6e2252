"""The signature of a metric, in sacrebleu's format: everything that affects its score, with the package's version."""

from __future__ import annotations

from collections.abc import Mapping

from ngram_metrics._version import __version__

#: The order of the fields: sacrebleu's (Post 2018) for the fields that it has, and versions last.
SIGNATURE_FIELDS = (
    *("bs", "ar", "clusters", "seed", "test", "alternative", "correction"),
    *("avg", "unit", "case", "eff", "tok", "smooth", "order", "weights"),
    *("nc", "nw", "beta", "space"),
    *("keys", "multiref", "alpha", "norm", "stem", "split", "sep"),
    "pad",
)


def format_references(fewest: int, most: int) -> str:
    """Return the number of references of a segment: ``1``, ``1-4``, or ``?`` before any segment."""
    if most == 0:
        return "?"
    return str(most) if fewest == most else f"{fewest}-{most}"


def format_signature(settings: Mapping[str, str], references: str) -> str:
    """Return a signature from settings by field. Fields of other names, such as packages, come last.

    ``references`` is the number of references of a segment, such as ``1`` or ``1-4``.
    """
    fields = {"nrefs": references}
    fields |= {name: settings[name] for name in SIGNATURE_FIELDS if name in settings}
    fields |= {name: value for name, value in settings.items() if name not in SIGNATURE_FIELDS}
    return "|".join(f"{name}:{value}" for name, value in {**fields, "version": f"ngram_metrics-{__version__}"}.items())
