"""A row for each metric that ``evaluate``, the command and the lists of metrics know by name, without torch.

``ngram_metrics.metric.definitions.make_metric`` makes a metric from its row.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ngram_metrics.basics.option_checks import DEFAULT_ROUGE_KEYS, ROUGE_KEYS, Average

_NONE: Mapping[str, str] = MappingProxyType({})


class MetricRow(NamedTuple):
    """What is known of a metric before it is made.

    Attributes:
        title: its name as papers write it; in lower case, the name by which it is known here.
        function: the function of ``ngram_metrics.metric.definitions`` that makes it.
        text_options: the options for text that it takes, as the command names them, and their names in that function.
        options: the options by which it differs from other metrics of its function.
        average: the average of its function.
        tokenizer: the tokenizer of its function, if it takes one; None splits at whitespace.
        pair_names: the names under which it scores pairs, for MBR decoding; ROUGE has one for each key.
        needs_references: whether hypotheses are compared with references.
        python_cost: the nanoseconds that a character takes more in plain Python than in arrays; None if only arrays
            count it.
    """

    title: str
    function: str
    text_options: Mapping[str, str] = _NONE
    options: Mapping[str, Any] = _NONE
    average: Average = "micro"
    tokenizer: str | None = None
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


_TOKENIZER = {"tokenizer": "tokenizer"}
_CHRF_LOWERCASE = {"chrf_lowercase": "lowercase"}
#: The metrics by their names.
REGISTRY = {
    row.title.lower(): row
    for row in (
        MetricRow(
            "BLEU",
            "bleu",
            {**_TOKENIZER, "lowercase": "lowercase"},
            tokenizer="13a",
            pair_names=("bleu",),
            python_cost=120,
        ),
        MetricRow("chrF", "chrf", _CHRF_LOWERCASE, pair_names=("chrf",), python_cost=370),
        MetricRow("chrF++", "chrf", _CHRF_LOWERCASE, {"word_order": 2}, pair_names=("chrf++",), python_cost=440),
        MetricRow(
            "ROUGE",
            "rouge",
            {"stem": "use_stemmer"},
            average="macro",
            pair_names=("rouge1", "rouge2", "rougeL"),
            python_cost=120,
        ),
        MetricRow("overlap", "overlap", _TOKENIZER, average="macro", pair_names=("overlap",), python_cost=105),
        MetricRow("GLEU", "gleu", _TOKENIZER, pair_names=("gleu",), python_cost=120),
        MetricRow("TER", "ter"),
        MetricRow("repetition", "repetition", _TOKENIZER, average="macro", needs_references=False, python_cost=80),
    )
}
#: All names that mean a metric: a key of ROUGE is ROUGE of this key alone.
METRIC_NAMES = (*REGISTRY, *ROUGE_KEYS)
#: All options for text, as the command names them.
TEXT_OPTIONS = tuple(dict.fromkeys(option for row in REGISTRY.values() for option in row.text_options))


def row_of(name: str) -> MetricRow:
    """Return the row of a metric, which the keys of ROUGE share."""
    return REGISTRY["rouge" if name in ROUGE_KEYS else name]


def values_of(name: str) -> tuple[str, ...]:
    """Return the names of the values that tables show of a metric."""
    return DEFAULT_ROUGE_KEYS if name == "rouge" else (name,)


def takers_of(text_option: str) -> tuple[str, ...]:
    """Return the names of the metrics that take an option for text."""
    return tuple(name for name, row in REGISTRY.items() if text_option in row.text_options)
