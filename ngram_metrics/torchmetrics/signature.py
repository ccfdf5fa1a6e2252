"""The signature: one line that says all that affects a score, after sacrebleu (Post 2018)."""

from __future__ import annotations

from importlib.metadata import version
from typing import Protocol

from torch import Tensor

from ngram_metrics.scores.resampling import RESAMPLES, SEED

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


class Signed(Protocol):
    """What reads, or what scores."""

    def signature(self) -> dict[str, str]:
        """Return the settings that affect the score, in words; what is no known field is a package and its version."""


def signature(reader: Signed, measure: Signed, average: str, confidence: float | None, references: Tensor) -> str:
    """Write a signature.

    Args:
        reader: how sentences are read.
        measure: the formula.
        average: how sentences become one score.
        confidence: the level of the interval; None where nothing is drawn.
        references: minus the smallest number of references a sentence has, and the largest, which is 0 before any data:
            written ``nrefs:?``.
    """
    settings = {"avg": average, **reader.signature(), **measure.signature()}
    if confidence is not None:
        settings |= {"bs": str(RESAMPLES), "seed": str(SEED)}
    fewest, most = (-references[0]).item(), references[1].item()
    number = "?" if most == 0 else str(most) if fewest == most else f"{fewest}-{most}"
    known = {name: settings[name] for name in _FIELDS if name in settings}
    packages = {name: value for name, value in settings.items() if name not in _FIELDS}
    fields = {"nrefs": number, **known, **packages, "version": version("ngram-metrics")}
    return "|".join(f"{name}:{value}" for name, value in fields.items())
