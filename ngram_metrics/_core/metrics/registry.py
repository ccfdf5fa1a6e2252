"""The metrics that ``evaluate``, the command and the lists of metrics know by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from ngram_metrics._core.basics.option_checks import DEFAULT_ROUGE_KEYS, ROUGE_KEYS
from ngram_metrics._core.scoring.scorer import MetricRow, Scorer
from ngram_metrics._core.text.input_types import Tokenizer

#: The file of each metric.
_FILES = {"bleu": "bleu", "chrf": "chrf", "chrf++": "chrf", "rouge": "rouge", "overlap": "overlap"}


class _Registry(Mapping[str, MetricRow]):
    """The row of each metric by its name, from its file, which is imported when the row is asked for."""

    def __getitem__(self, name: str) -> MetricRow:
        rows: tuple[MetricRow, ...] = import_module(f"ngram_metrics._core.metrics.{_FILES[name]}").ROWS
        (row,) = (row for row in rows if row.title.lower() == name)
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(_FILES)

    def __len__(self) -> int:
        return len(_FILES)


REGISTRY = _Registry()
#: All names that mean a metric: a key of ROUGE is ROUGE of this key alone.
METRIC_NAMES = (*_FILES, *ROUGE_KEYS)


def row_of(name: str) -> MetricRow:
    """Return the row of a metric, which the keys of ROUGE share."""
    return REGISTRY["rouge" if name in ROUGE_KEYS else name]


def values_of(name: str) -> tuple[str, ...]:
    """Return the names of the values that tables show of a metric."""
    return DEFAULT_ROUGE_KEYS if name == "rouge" else (name,)


def takers_of(text_option: str) -> tuple[str, ...]:
    """Return the names of the metrics that take an option for text."""
    return tuple(name for name, row in REGISTRY.items() if text_option in row.text_options)


def make_metric(name: str, **text_options: Tokenizer | bool | None) -> Scorer:
    """Return a metric with this name, one of ``METRIC_NAMES``, or raise KeyError.

    A metric takes the options for text that its row names, and leaves out the others. It has its own default for an
    option that is missing or None.
    """
    row = row_of(name)
    given = {parameter: text_options.get(option) for option, parameter in row.text_options.items()}
    options = {**row.options, **{parameter: value for parameter, value in given.items() if value is not None}}
    if name in ROUGE_KEYS:
        options["rouge_keys"] = name
    return row.make(**options).rename(name)
