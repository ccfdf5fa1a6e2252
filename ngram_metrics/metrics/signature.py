"""The signature: one line that says all that affects a score, after sacrebleu (Post 2018)."""

from __future__ import annotations

from importlib.metadata import version

from torch import Tensor

#: The order of the fields, which is sacrebleu's where it has them; versions come last.
_FIELDS = (
    "bs",
    "seed",
    "avg",
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


def signature(settings: dict[str, str], references: Tensor) -> str:
    """Write a signature.

    Args:
        settings: by the name of their field; what is no known field is a package and its version.
        references: minus the smallest number of references a sentence has, and the largest, which is 0 before any data:
            written ``nrefs:?``.
    """
    fewest, most = (-references[0]).item(), references[1].item()
    number = "?" if most == 0 else str(most) if fewest == most else f"{fewest}-{most}"
    known = {name: settings[name] for name in _FIELDS if name in settings}
    packages = {name: value for name, value in settings.items() if name not in _FIELDS}
    fields = {"nrefs": number, **known, **packages, "version": version("ngram-metrics")}
    return "|".join(f"{name}:{value}" for name, value in fields.items())
