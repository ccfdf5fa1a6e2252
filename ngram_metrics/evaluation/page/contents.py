"""The contents of the page, as values for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import torch

from ngram_metrics.counting.documents import DocumentGroups, host_counts
from ngram_metrics.evaluation.arguments import Texts
from ngram_metrics.evaluation.page.words import ORDERS, Words, matched, words_of
from ngram_metrics.evaluation.results import Result, Summary, Systems, of_part
from ngram_metrics.evaluation.system_counts import segment_values
from ngram_metrics.evaluation.tables import Style, written
from ngram_metrics.text.messages import visible
from ngram_metrics.text.word_reader import WordReader

#: The formats that the page can copy, and their titles.
COPIES = {"latex": "LaTeX", "markdown": "Markdown", "tsv": "TSV"}
_BUCKETS = 5


def page_data(systems: Systems, summary: Summary, texts: Texts, words: WordReader, style: Style) -> dict[str, Any]:
    """Return the data for the script of the page, from results with intervals; ``words`` splits texts into words."""
    sides, of_segments = _sides(texts, words), list(map(segment_values, systems.values()))
    of_baseline = summary.results[summary.baseline]
    return {
        "systems": list(map(visible, texts.systems)),
        "references": list(map(visible, texts.names)),
        "values": summary.values,
        "highest": {value: each.shown_scale * each.highest for value, each in of_baseline.items()},
        "signs": {value: 1 if better else -1 for value, better in summary.higher_is_better.items()},
        "orders": ORDERS,
        "digits": style.places,
        "entries": [
            {value: _rounded(result, style.places) for value, result in results.items()}
            for results in summary.results.values()
        ],
        "scores": {
            value: [
                [round(each.shown_scale * score, style.places) for score in scores[value]] for scores in of_segments
            ]
            for value, each in of_baseline.items()
        },
        "buckets": list(_buckets(systems, summary, sides["lengths"], style.places)),
        "copies": {form: written(summary, form, style) for form in COPIES},
        **sides,
    }


def _rounded(result: Result, digits: int) -> list[float]:
    """Return a score on the scale of tables, and the ends of its interval."""
    return [
        round(result.shown_scale * part, digits) for part in (result.score, result.low, result.high) if part is not None
    ]


def _buckets(systems: Systems, summary: Summary, lengths: Sequence[float], digits: int) -> Iterator[dict[str, Any]]:
    """Yield up to five buckets of similar size, by the length of the reference.

    Each has the shortest and the longest reference, the number of segments, and the score of each value and system with
    the ends of its interval: they show whether a system is weak on short or on long segments.
    """
    words = np.asarray(lengths)
    edges = np.unique(np.quantile(words, np.linspace(0, 1, _BUCKETS + 1)[1:-1], method="lower"))
    bucket = np.searchsorted(edges, words, "left")
    for number in np.unique(bucket):
        places = np.flatnonzero(bucket == number)
        results = of_part(systems, torch.from_numpy(places), summary.settings)
        yield {
            "from": words[places].min().item(),
            "to": words[places].max().item(),
            "sentences": len(places),
            "scores": {
                value: [_rounded(of_system[value], digits) for of_system in results.values()]
                for value in summary.values
            },
        }


def _sides(texts: Texts, reader: WordReader) -> dict[str, Any]:
    """Return the texts, their words, and the matched orders."""
    counts = host_counts(list(map(len, texts.references)))
    originals = [*chain.from_iterable(texts.references), *chain.from_iterable(texts.systems.values())]
    words = words_of(reader, originals)
    first, segments = int(counts.sum()), len(counts)
    groups = DocumentGroups(words.tokens.slice(0, first), counts)
    starts = range(first, len(originals), segments)
    streams = _streams(texts)
    hypothesis_orders, reference_orders = [], []
    for start in starts:
        of_system, of_references = matched(words.tokens.slice(start, start + segments), groups)
        hypothesis_orders.append(of_system)
        reference_orders.append([_at(of_references, stream, "") for stream in streams])
    shown: dict[str, list[Any]] = {"texts": words.texts, "steps": words.steps, "ids": words.ids()}
    missing: dict[str, Any] = {"texts": None, "steps": [], "ids": []}
    means = np.add.reduceat(words.tokens.lengths[:first].numpy(), (counts.cumsum(0) - counts).numpy()) / counts.numpy()
    return {
        "of_references": {
            name: [_at(values, stream, missing[name]) for stream in streams] for name, values in shown.items()
        },
        "of_systems": {name: [values[start : start + segments] for start in starts] for name, values in shown.items()},
        "hypothesis_orders": hypothesis_orders,
        "reference_orders": reference_orders,
        "lengths": [round(length, 1) for length in means.tolist()],
        "rewritten": _rewritten(originals, words, streams, starts),
    }


def _streams(texts: Texts) -> list[list[int | None]]:
    """Return for each name of a reference the place of this reference of each segment; None for a missing one."""
    places = iter(range(sum(map(len, texts.references))))
    of_segments = [[next(places) for _ in several] for several in texts.references]
    return [
        [several[number] if number < len(several) else None for several in of_segments]
        for number in range(len(texts.names))
    ]


def _at(values: Sequence[Any], stream: Sequence[int | None], missing: Any) -> list[Any]:
    return [missing if place is None else values[place] for place in stream]


def _rewritten(
    originals: Sequence[str], words: Words, streams: Sequence[Sequence[int | None]], starts: range
) -> dict[str, str]:
    """Return the original texts that were rewritten before they were split into words, by their place."""
    lists = {f"r{number}": stream for number, stream in enumerate(streams)}
    lists |= {f"s{number}": range(start, start + len(streams[0])) for number, start in enumerate(starts)}
    return {
        f"{name}:{segment}": originals[place]
        for name, places in lists.items()
        for segment, place in enumerate(places)
        if place is not None and originals[place].strip() != words.texts[place].strip()
    }
