"""A row for each metric that ``evaluate``, the command and the lists of metrics know by name, without torch.

``ngram_metrics.metrics.make_metric`` makes a metric from its row.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

_NONE: Mapping[str, str] = MappingProxyType({})


class MetricRow(NamedTuple):
    """What is known of a metric before it is made.

    Attributes:
        title: its name as papers write it.
        function: the function of ``ngram_metrics.metrics`` that makes it.
        text_options: the options for text that it takes, as the command names them, and their names in that function.
        options: its other options.
        pair_names: the names under which it scores pairs, for MBR decoding; of ROUGE those of its keys.
        needs_references: whether hypotheses are compared with references.
    """

    title: str
    function: str
    text_options: Mapping[str, str] = _NONE
    options: Mapping[str, object] = _NONE
    pair_names: tuple[str, ...] = ()
    needs_references: bool = True


_TOKENIZER = {"tokenizer": "tokenizer"}
_CHRF_LOWERCASE = {"chrf_lowercase": "lowercase"}
#: The metrics by their names.
REGISTRY = {
    "bleu": MetricRow(
        "BLEU", "bleu", {**_TOKENIZER, "lowercase": "lowercase"}, {"average": "micro", "smooth": "exp"}, ("bleu",)
    ),
    "chrf": MetricRow("chrF", "chrf", _CHRF_LOWERCASE, pair_names=("chrf",)),
    "chrf++": MetricRow("chrF++", "chrf", _CHRF_LOWERCASE, {"word_order": 2}, ("chrf++",)),
    "rouge": MetricRow("ROUGE", "rouge", {"stem": "use_stemmer"}, pair_names=("rouge1", "rouge2", "rougeL")),
    "overlap": MetricRow("overlap", "overlap", _TOKENIZER, pair_names=("overlap",)),
    "gleu": MetricRow("GLEU", "gleu", _TOKENIZER, pair_names=("gleu",)),
    "ter": MetricRow("TER", "ter"),
    "repetition": MetricRow("repetition", "repetition", _TOKENIZER, needs_references=False),
}


def takers_of(text_option: str) -> tuple[str, ...]:
    """Return the names of the metrics that take an option for text."""
    return tuple(name for name, row in REGISTRY.items() if text_option in row.text_options)
