"""The contents of the page, as values for JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ngram_metrics._core.counting.documents import DocumentGroups, host_counts
from ngram_metrics._core.text.messages import visible
from ngram_metrics._core.text.word_reader import WordReader
from ngram_metrics._evaluation.evaluate_arguments import Texts
from ngram_metrics._evaluation.page.flags import TITLES, Flag, flags_of
from ngram_metrics._evaluation.page.page_words import ORDERS, Integers, match_words, split_words, word_accuracy
from ngram_metrics._evaluation.result_tables import Style, format_outcome, grouping_head, label_text
from ngram_metrics._evaluation.results import Outcome, Result, Results
from ngram_metrics._evaluation.system_counts import Systems, score_part, segment_values
from ngram_metrics.significance.comparisons import PValue

#: The formats that the page can copy, and their titles.
COPIES = {"latex": "LaTeX", "markdown": "Markdown", "tsv": "TSV"}
_BUCKETS = 5
#: With this many systems there is one pair, which the table of systems already has.
_FEW = 2
_P_DIGITS = 4


def page_data(
    systems: Systems,
    outcome: Outcome,
    texts: Texts,
    sources: Sequence[str] | None,
    words: WordReader,
    style: Style,
) -> dict[str, object]:
    """Return the data for the script of the page from results with intervals."""
    plan = outcome.plan
    digits = style.places
    sides = _Sides(texts, words)
    system_scores = list(map(segment_values, systems.values()))
    lengths = sides.lengths()
    return {
        "systems": list(map(visible, texts.systems)),
        "references": list(map(visible, texts.names)),
        "values": outcome.values,
        "signs": {value: 1 if better else -1 for value, better in outcome.higher_is_better.items()},
        "orders": ORDERS,
        "digits": digits,
        "test": {"name": plan.test, "corrected": plan.correction == "holm"},
        "entries": [
            {value: _round_result(result, digits) for value, result in results.items()}
            for results in outcome.results.values()
        ],
        "p_values": _list_pairs(outcome, lambda p_value: round(p_value, _P_DIGITS)),
        "draws": _list_pairs(outcome, lambda p_value: p_value.draws),
        "scores": {
            value: [[round(100 * score, digits) for score in scores[value]] for scores in system_scores]
            for value in outcome.values
        },
        "lengths": [round(length, 1) for length in lengths.tolist()],
        "buckets": [
            {
                "from": lengths[segments].min().item(),
                "to": lengths[segments].max().item(),
                **_list_scores(
                    score_part(systems, torch.from_numpy(segments), plan, compared=False), outcome.values, digits
                ),
            }
            for segments in _length_buckets(lengths)
        ],
        "accuracy": word_accuracy(sides.hypotheses, sides.references, plan, digits),
        "sources": sources,
        "columns": _columns(outcome, digits),
        "flags": {
            "titles": {flag: title for flag, title in TITLES.items() if flag != Flag.SOURCE or sources is not None},
            "of_systems": flags_of(texts, sources, sides.hypotheses, sides.references, lengths),
        },
        "copies": {form: format_outcome(outcome, form, style) for form in COPIES},
        **sides.texts(),
    }


def _round_result(result: Result, digits: int) -> list[float]:
    """Return a score on the scale of tables, and the ends of its interval."""
    return [round(100 * part, digits) for part in (result.score, result.low, result.high) if part is not None]


def _list_pairs(outcome: Outcome, part: Callable[[PValue], float]) -> dict[str, list[list[float | None]]]:
    """Return a part of the p-values of all pairs of systems for each value, None on the diagonal."""
    if len(outcome.results) <= _FEW:
        return {}
    return {
        value: [[None if first == second else part(table[first][second]) for second in table] for first in table]
        for value, table in outcome.pairs.items()
    }


def _length_buckets(lengths: NDArray[np.float64]) -> list[Integers]:
    """Return the segments of up to five buckets of similar size, by the length of the reference."""
    edges = np.unique(np.quantile(lengths, np.linspace(0, 1, _BUCKETS + 1)[1:-1], method="lower"))
    bucket = np.searchsorted(edges, lengths, "left")
    return [np.flatnonzero(bucket == index) for index in np.unique(bucket)]


def _list_scores(results: Results, values: Sequence[str], digits: int) -> dict[str, object]:
    """Return the number of segments, and the scores of each value and system with the ends of their intervals."""
    scores = {
        value: [_round_result(system_results[value], digits) for system_results in results.values()] for value in values
    }
    return {"segments": next(iter(results.values()))[values[0]].segments, "scores": scores}


def _columns(outcome: Outcome, digits: int) -> list[dict[str, object]]:
    """Return the name of each grouping, its labels, their index for each segment, and their scores if they are few."""
    entries: list[dict[str, object]] = []
    for name, labels in outcome.grouping.items():
        indices = {label: index for index, label in enumerate(dict.fromkeys(labels))}
        groups = outcome.grouped.get(name)
        scores = groups and [_list_scores(results, outcome.values, digits) for results in groups.values()]
        entries.append(
            {
                "name": visible(grouping_head(name)),
                "labels": [visible(label_text(label)) for label in indices],
                "of_segments": [indices[label] for label in labels],
                "groups": scores,
            }
        )
    return entries


class _Sides:
    """The words of references and of systems."""

    def __init__(self, texts: Texts, reader: WordReader) -> None:
        counts = host_counts(list(map(len, texts.references)))
        self._originals = [*chain.from_iterable(texts.references), *chain.from_iterable(texts.systems.values())]
        self._words = split_words(reader, self._originals)
        first = int(counts.sum())
        starts = range(first, len(self._originals), len(counts))
        #: The indices of the texts of each name of a reference, -1 where one is missing, and of each system.
        places = [counts.cumsum(0) - counts + index for index in range(len(texts.names))]
        self._streams = [place.where(index < counts, -1).tolist() for index, place in enumerate(places)]
        self._systems = [range(start, start + len(counts)) for start in starts]
        tokens = self._words.tokens
        self.hypotheses = [tokens.slice(start, start + len(counts)) for start in starts]
        self.references = DocumentGroups(tokens.slice(0, first), counts)

    def lengths(self) -> NDArray[np.float64]:
        """Return the mean number of words of the references of each segment."""
        counts = self.references.counts.numpy()
        words = np.add.reduceat(self.references.tokens.lengths.numpy(), counts.cumsum() - counts)
        return words / counts

    def texts(self) -> dict[str, object]:
        """Return the texts, their words, the matched orders, and the originals of texts that were rewritten."""
        words = self._words
        orders = [match_words(tokens, self.references) for tokens in self.hypotheses]
        # The last item is for a missing reference.
        fields: dict[str, list[Any]] = {
            "texts": [*words.texts, None],
            "steps": [*words.steps, []],
            "ids": [*words.ids(), []],
        }
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
