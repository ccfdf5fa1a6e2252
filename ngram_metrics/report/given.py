"""The arguments of :func:`~ngram_metrics.report.write_report`, checked, and counted as on the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch

from ngram_metrics.cli.arguments import CORRECTIONS, TESTS, ScoreOptions
from ngram_metrics.cli.metrics import Metric, chosen
from ngram_metrics.cli.tally import Tally
from ngram_metrics.scores.measure import measure_of
from ngram_metrics.scores.options import refuse_equal_names
from ngram_metrics.scores.resampling import ENDS
from ngram_metrics.text.inputs import Tokenizer
from ngram_metrics.text.messages import counted, visible
from ngram_metrics.text.word_reader import WordReader

if TYPE_CHECKING:
    from ngram_metrics.torchmetrics.accumulator import Accumulator

#: Sentences counted at a time.
_AT_ONCE = 2048


def checked_sides(
    systems: Mapping[str, Sequence[str]], references: Sequence[str] | Sequence[Sequence[str]]
) -> tuple[dict[str, list[str]], list[list[str]]]:
    """Return the sentences of each system, and lists of references, all of the same length.

    Raises:
        TypeError: systems that are not a mapping, or sentences that are not text.
        ValueError: no system, two equal names, no sentence, or different lengths.
    """
    if not isinstance(systems, Mapping):
        raise TypeError(f"systems is a {type(systems).__name__}: expected a mapping of names to sentences")
    if not systems:
        raise ValueError("systems is empty: expected at least one name with its sentences")
    if len(set(map(str, systems))) < len(systems):
        raise ValueError(f"systems has two names that are written alike: {list(systems)}")
    texts = {str(name): _sentences(f"system {name!r}", sentences) for name, sentences in systems.items()}
    if isinstance(references, str) or not isinstance(references, Sequence):
        raise TypeError(f"references is a {type(references).__name__}: expected a list of texts, or several such lists")
    several = [references] if not references or isinstance(references[0], str) else references
    lists = [
        _sentences(f"reference list {number}", sentences_of_list) for number, sentences_of_list in enumerate(several)
    ]
    first, sentences = next(iter(texts.items()))
    if not sentences:
        raise ValueError(f"system {first!r} has no sentence: expected at least one")
    others = {f"system {name!r}": of_system for name, of_system in texts.items()}
    others |= {f"reference list {number}": sentences_of_list for number, sentences_of_list in enumerate(lists)}
    for name, other in others.items():
        if len(other) != len(sentences):
            told = f"{name} has {counted(len(other), 'sentence')} and system {first!r} {len(sentences)}"
            raise ValueError(f"{told}: expected the same number")
    return texts, lists


def _sentences(name: str, sentences: object) -> list[str]:
    if isinstance(sentences, str) or not isinstance(sentences, Sequence):
        raise TypeError(f"{name} is a {type(sentences).__name__}: expected a sequence of texts")
    for index, text in enumerate(sentences):
        if not isinstance(text, str):
            raise TypeError(f"sentence {index} of {name} is a {type(text).__name__}: expected a text")
    return list(sentences)


def report_options(systems: list[str], references: list[str], confidence: float) -> ScoreOptions:
    """Return the options of the command line for the same numbers."""
    return ScoreOptions(
        systems=systems,
        references=references,
        confidence=confidence,
        test=TESTS[0],
        correction=CORRECTIONS[0],
        digits=None,
        details=False,
    )


def checked_words(tokenizer: Tokenizer | None) -> WordReader:
    """Return the reader of words; raises as :class:`~ngram_metrics.text.word_reader.WordReader` does."""
    return WordReader("none" if tokenizer is None else tokenizer)


def chosen_metrics(metrics: Mapping[str, Accumulator] | None, tokenizer: Tokenizer | None) -> list[Metric]:
    """Return the metrics as objects of the command line.

    Raises:
        TypeError: not a mapping of names to metrics.
        ValueError: a metric with average none, or two metrics with the same name for a value.
    """
    if metrics is None:
        options = ScoreOptions(metrics=["bleu", "chrf"], tokenizer=tokenizer, spm_model=None, device="cpu")
        options.lowercase = options.chrf_lowercase = options.stem = False
        return chosen(options)
    if not isinstance(metrics, Mapping) or not metrics:
        raise TypeError(f"metrics is {type(metrics).__name__}: expected a mapping of names to metric objects")
    found = [_metric(visible(str(name)), metric) for name, metric in metrics.items()]
    # The page shows the interval of every value.
    ends = ("", *ENDS)
    refuse_equal_names(
        [(metric.name, [f"{value}{end}" for value in metric.values for end in ends]) for metric in found]
    )
    return found


def _metric(name: str, metric: Accumulator) -> Metric:
    measure = measure_of(metric, f"metric {name!r}")
    if metric.average == "none":
        raise ValueError(f"metric {name!r} has average 'none': expected 'micro' or 'macro'")
    keys = tuple(getattr(metric, "rouge_keys", ()))
    return Metric(name, metric.reader, measure, metric.average, torch.device("cpu"), keys)


def tallied(
    texts: Mapping[str, Sequence[str]], references: Sequence[Sequence[str]], metrics: Sequence[Metric]
) -> dict[str, list[Tally]]:
    """Return the tallies of all systems, with the counts of each sentence."""
    several = list(zip(*references, strict=True))
    tallies = {name: [Tally(metric, len(references), keep=True) for metric in metrics] for name in texts}
    for name, of_system in tallies.items():
        for first in range(0, len(several), _AT_ONCE):
            part = slice(first, first + _AT_ONCE)
            for tally in of_system:
                tally.count(texts[name][part], several[part])
    return tallies
