"""The data of the page, as values for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from ngram_metrics._core.text.input_types import Tokenizer
from ngram_metrics._core.text.messages import visible
from ngram_metrics._core.text.reader import encode_tokens
from ngram_metrics._core.text.segments import Segments
from ngram_metrics._evaluation.evaluate_arguments import Texts
from ngram_metrics._evaluation.page.flags import TITLES, Flag, flags_of
from ngram_metrics._evaluation.page.page_words import match_words, split_words
from ngram_metrics._evaluation.result_tables import DIGITS, grouping_head, label_text
from ngram_metrics._evaluation.results import Outcome, Result
from ngram_metrics._evaluation.system_counts import CountsBySystem, segment_values


def page_data(
    systems: CountsBySystem,
    outcome: Outcome,
    texts: Texts,
    sources: Sequence[str] | None,
    tokenizer: Tokenizer | None,
) -> dict[str, object]:
    """Return the data for the script of the page. The results have intervals."""
    sides = _Sides(texts, tokenizer)
    system_scores = list(map(segment_values, systems.values()))
    # The mean number of words of the references of each segment.
    batch = sides.batches[0]
    lengths = batch.sum_references(batch.reference_lengths) / batch.count_references()
    return {
        "systems": list(map(visible, texts.systems)),
        "given": list(map(list(texts.systems).index, texts.given)),
        "references": list(map(visible, texts.names)),
        "values": outcome.values,
        "digits": DIGITS,
        "entries": [
            {value: _round_result(result) for value, result in results.items()} for results in outcome.results.values()
        ],
        "scores": {
            value: [[round(100 * score, DIGITS) for score in scores[value]] for scores in system_scores]
            for value in outcome.values
        },
        "lengths": [round(length, 1) for length in lengths.tolist()],
        "sources": sources,
        "columns": _columns(outcome),
        "flags": {
            "titles": {flag: title for flag, title in TITLES.items() if flag != Flag.SOURCE or sources is not None},
            "of_systems": flags_of(texts, sources, sides.batches, lengths),
        },
        **sides.texts(),
    }


def _round_result(result: Result) -> list[float]:
    """Return a score and the ends of its interval, rounded, from 0 to 100."""
    return [round(100 * part, DIGITS) for part in (result.score, result.low, result.high) if part is not None]


def _columns(outcome: Outcome) -> list[dict[str, object]]:
    """Return for each grouping its name, its labels, the label of each segment, and the scores if it is scored."""
    entries: list[dict[str, object]] = []
    for name, labels in outcome.grouping.items():
        indices = {label: index for index, label in enumerate(dict.fromkeys(labels))}
        groups = [
            {
                "segments": results[outcome.baseline][outcome.values[0]].segments,
                "scores": {
                    value: [_round_result(system_results[value]) for system_results in results.values()]
                    for value in outcome.values
                },
            }
            for results in outcome.grouped.get(name, {}).values()
        ]
        entries.append(
            {
                "name": visible(grouping_head(name)),
                "labels": [visible(label_text(label)) for label in indices],
                "of_segments": [indices[label] for label in labels],
                "groups": groups or None,
            }
        )
    return entries


class _Sides:
    """The words of references and of systems."""

    def __init__(self, texts: Texts, tokenizer: Tokenizer | None) -> None:
        segments = len(texts.references)
        self._originals = [*chain.from_iterable(texts.references), *chain.from_iterable(texts.systems.values())]
        self._words = split_words(tokenizer, self._originals)
        counts = np.array(list(map(len, texts.references)))
        first = int(counts.sum())
        #: The indices of the texts of each reference stream, -1 for a missing reference, and of each system.
        starts = counts.cumsum() - counts
        self._streams = [np.where(index < counts, starts + index, -1).tolist() for index in range(len(texts.names))]
        self._systems = [range(start, start + segments) for start in range(first, len(self._originals), segments)]
        #: The words of each system and of the references.
        words = self._words.words
        self.batches = [
            encode_tokens(Segments("tokens", words[system.start : system.stop], words[:first], counts.tolist()))
            for system in self._systems
        ]

    def texts(self) -> dict[str, object]:
        """Return the texts, their words, the matched orders, and the originals of rewritten texts."""
        words = self._words
        orders = list(map(match_words, self.batches))
        # The last item, index -1, stands for missing references.
        fields: dict[str, list[Any]] = {"texts": [*words.texts, None], "steps": [*words.steps, []]}
        lists: dict[str, Sequence[int]] = {f"r{index}": stream for index, stream in enumerate(self._streams)}
        lists |= {f"s{index}": system for index, system in enumerate(self._systems)}
        return {
            "of_references": {name: _pick(values, self._streams) for name, values in fields.items()},
            "of_systems": {name: _pick(values, self._systems) for name, values in fields.items()},
            "hypothesis_orders": [hypothesis_orders for hypothesis_orders, _ in orders],
            "reference_orders": [_pick([*reference_orders, ""], self._streams) for _, reference_orders in orders],
            "rewritten": {
                f"{name}:{segment}": self._originals[index]
                for name, indices in lists.items()
                for segment, index in enumerate(indices)
                if index >= 0 and self._originals[index].strip() != words.texts[index].strip()
            },
        }


def _pick(values: Sequence[object], streams: Sequence[Sequence[int]]) -> list[list[object]]:
    return [[values[index] for index in stream] for stream in streams]
