"""The row of a metric, in its file: what ``evaluate``, the command and the lists of metrics know about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ngram_metrics._core.basics.option_checks import Average
from ngram_metrics._core.scoring.scorer import Scorer

_NONE: Mapping[str, str] = MappingProxyType({})


class MetricRow(NamedTuple):
    """What is known of a metric before it is made.

    Attributes:
        title: its name as papers write it; in lower case, the name by which it is known here.
        make: the function that makes it.
        text_options: the options for text that it takes, as the command names them, and their names in that function.
        options: the options by which it differs from other metrics that it makes.
        average: the average of its function.
        pair_names: the names under which it scores pairs, for MBR decoding; ROUGE has one for each key.
        needs_references: whether hypotheses are compared with references.
        python_cost: the nanoseconds that a character takes more in plain Python than in arrays; None if only arrays
            count it.
    """

    title: str
    make: Callable[..., Scorer]
    text_options: Mapping[str, str] = _NONE
    options: Mapping[str, Any] = _NONE
    average: Average = "micro"
    pair_names: tuple[str, ...] = ()
    needs_references: bool = True
    python_cost: int | None = None

    def text_parameters(self, text_options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options for text that the function takes, by the names of its parameters, but for None."""
        return {
            name: text_options[option]
            for option, name in self.text_options.items()
            if text_options.get(option) is not None
        }
