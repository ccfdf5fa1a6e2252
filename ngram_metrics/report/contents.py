"""The contents of the page, as values for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from itertools import chain
from typing import Any

import torch

from ngram_metrics.cli.arguments import ScoreOptions
from ngram_metrics.cli.entries import Report
from ngram_metrics.cli.formats import written
from ngram_metrics.cli.tally import Tally
from ngram_metrics.counting.token_batch import DocumentGroups
from ngram_metrics.report.buckets import buckets
from ngram_metrics.report.words import ORDERS, matched, words_of
from ngram_metrics.text.messages import visible
from ngram_metrics.text.word_reader import WordReader

#: The formats that the page can copy, and their titles.
COPIES = {"latex": "LaTeX", "markdown": "Markdown", "tsv": "TSV"}


class Contents:
    """All results of systems.

    Args:
        options: the options of the command line for the same numbers; ``confidence`` is set.
        words: splits texts into words, where matches are shown.
        tallies: for each system the same metrics, the baseline first, with the counts of each sentence.
        texts: the sentences of each system.
        references: lists of references.
        found: the command line's report for these options.

    Attributes:
        report: ``found``.
    """

    def __init__(
        self,
        options: ScoreOptions,
        words: WordReader,
        tallies: Mapping[str, Sequence[Tally]],
        texts: Mapping[str, Sequence[str]],
        references: Sequence[Sequence[str]],
        found: Report,
    ) -> None:
        self._options, self._words, self._tallies = options, words, tallies
        self._texts, self._references, self.report = texts, references, found

    @property
    def digits(self) -> int:
        """The digits of scores after the decimal point."""
        return 2 if self._options.digits is None else self._options.digits

    def as_json(self) -> dict[str, Any]:
        """Return the data for the script of the page."""
        sides = self._sides()
        level = self._options.confidence
        assert level is not None
        return {
            "systems": list(map(visible, self._texts)),
            "references": list(map(visible, self._options.references)),
            "values": list(next(iter(self.report["systems"].values()))),
            "orders": ORDERS,
            "digits": self.digits,
            "entries": [
                {
                    value: [round(number, self.digits) for number in (entry["score"], entry["low"], entry["high"])]
                    for value, entry in entries.items()
                }
                for entries in self.report["systems"].values()
            ],
            "scores": self._sentence_scores(),
            "buckets": buckets(self._tallies, sides["lengths"], level, self.digits),
            "copies": {name: self._copied(name) for name in COPIES},
            **sides,
        }

    def _copied(self, name: str) -> str:
        options = copy(self._options)
        options.format = name
        return written(self.report, options)

    def _sentence_scores(self) -> dict[str, list[list[float]]]:
        """Return the scores of the sentences, for each value and each system, rounded to the digits that are shown."""
        found: dict[str, list[list[float]]] = {}
        for of_system in self._tallies.values():
            for tally in of_system:
                scores = tally.sentence_scores(tally.sentence_rows())
                for value in tally.metric.values:
                    found.setdefault(value, []).append([round(100 * score, self.digits) for score in scores[value]])
        return found

    def _sides(self) -> dict[str, Any]:
        """Return the texts, their words, and the matched orders."""
        count, sentences = len(self._references), len(self._references[0])
        originals = [
            *chain.from_iterable(zip(*self._references, strict=True)),
            *chain.from_iterable(self._texts.values()),
        ]
        words = words_of(self._words, originals)
        first = count * sentences
        groups = DocumentGroups(words.tokens.slice(0, first), torch.full((sentences,), count, device="cpu"))
        hypothesis_orders, reference_orders = [], []
        for start in range(first, len(originals), sentences):
            of_system, of_references = matched(words.tokens.slice(start, start + sentences), groups)
            hypothesis_orders.append(of_system)
            reference_orders.append([of_references[number::count] for number in range(count)])
        lengths = words.tokens.lengths[:first].view(sentences, count).double().mean(1)
        shown: dict[str, list[Any]] = {"texts": words.texts, "steps": words.steps, "ids": words.ids()}
        return {
            "of_references": {
                name: [values[number:first:count] for number in range(count)] for name, values in shown.items()
            },
            "of_systems": {
                name: [values[start : start + sentences] for start in range(first, len(originals), sentences)]
                for name, values in shown.items()
            },
            "hypothesis_orders": hypothesis_orders,
            "reference_orders": reference_orders,
            "lengths": [round(length, 1) for length in lengths.tolist()],
            "rewritten": self._rewritten(originals, words.texts, first),
        }

    def _rewritten(self, originals: Sequence[str], shown: Sequence[str], first: int) -> dict[str, str]:
        """Return the original texts that were rewritten before they were split into words, by their place."""
        count, sentences = len(self._references), len(self._references[0])
        found = {}
        for place, (before, after) in enumerate(zip(originals, shown, strict=True)):
            if before is not after and before.strip() != after.strip():
                if place < first:
                    found[f"r{place % count}:{place // count}"] = before
                else:
                    found[f"s{(place - first) // sentences}:{(place - first) % sentences}"] = before
        return found
