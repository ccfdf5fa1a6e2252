"""The metrics by name, for ``evaluate`` and the command."""

from __future__ import annotations

from collections.abc import Mapping

from ngram_metrics._core.basics.option_checks import did_you_mean
from ngram_metrics._core.metrics import bleu, chrf, overlap, rouge
from ngram_metrics._core.metrics.rouge import DEFAULT_ROUGE_KEYS, ROUGE_KEYS, advise_on_value
from ngram_metrics._core.scoring.scorer import MetricEntry, Scorer
from ngram_metrics._core.text.input_types import Tokenizer

#: The entry of each metric, by name.
REGISTRY: Mapping[str, MetricEntry] = {
    entry.title.lower(): entry for metric in (bleu, chrf, rouge, overlap) for entry in metric.ENTRIES
}
#: All names of metrics. A key of ROUGE is ROUGE with this key only.
METRIC_NAMES = (*REGISTRY, *ROUGE_KEYS)


def entry_of(name: str) -> MetricEntry:
    """Return the entry of a metric. The keys of ROUGE share one."""
    return REGISTRY["rouge" if name in ROUGE_KEYS else name]


def values_of(name: str) -> tuple[str, ...]:
    """Return the names of the values that tables show of a metric."""
    return DEFAULT_ROUGE_KEYS if name == "rouge" else (name,)


def takers_of(text_option: str) -> tuple[str, ...]:
    """Return the names of the metrics that take an option for text."""
    return tuple(name for name, entry in REGISTRY.items() if text_option in entry.text_options)


def unknown_metric(name: str) -> str:
    """Return the error for a name that is not one of ``METRIC_NAMES``."""
    advice = advise_on_value(name) or did_you_mean(name, METRIC_NAMES)
    return f"unknown metric {name!r}: expected one or more of {','.join(METRIC_NAMES)}{advice}"


def make_metric(name: str, **text_options: Tokenizer | bool | None) -> Scorer:
    """Return a metric by its name, one of ``METRIC_NAMES``, or raise KeyError.

    A metric takes the options for text that its entry names, and ignores the others. An option that is missing or None
    keeps the default of the metric.
    """
    entry = entry_of(name)
    options = dict(entry.options)
    for option, parameter in entry.text_options.items():
        if text_options.get(option) is not None:
            options[parameter] = text_options[option]
    if name in ROUGE_KEYS:
        options["rouge_keys"] = name
    return entry.make(**options).rename(name)
