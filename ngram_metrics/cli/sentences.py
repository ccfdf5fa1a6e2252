"""``--sentences``: the scores of every sentence in 0..100, one line per sentence and system."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from ngram_metrics.cli.cells import plain


class SentenceLines:
    """Lines of a tab-separated table, or JSON lines; each has the number of its sentence, from 1."""

    def __init__(self, as_json: bool) -> None:
        self._as_json, self._number = as_json, 0

    def of(self, scores: Mapping[str, Sequence[Mapping[str, Sequence[float]]]]) -> str:
        """Return the next lines, from the values of the sentences in 0..1, for each system and each metric."""
        return "".join(f"{line}\n" for line in self._lines(scores))

    def _lines(self, scores: Mapping[str, Sequence[Mapping[str, Sequence[float]]]]) -> Iterator[str]:
        named = {
            system: {name: values for of_metric in of_system for name, values in of_metric.items()}
            for system, of_system in scores.items()
        }
        names = list(next(iter(named.values())))
        if self._number == 0 and not self._as_json:
            yield "\t".join(["line", "system", *names])
        for sentence in zip(*(zip(*values.values(), strict=True) for values in named.values()), strict=True):
            self._number += 1
            for system, of_system in zip(named, sentence, strict=True):
                yield self._line(system, names, [100 * score for score in of_system])

    def _line(self, system: str, names: Sequence[str], scores: Sequence[float]) -> str:
        if self._as_json:
            values = dict(zip(names, scores, strict=True))
            return json.dumps({"line": self._number, "system": system, **values})
        return "\t".join([str(self._number), plain(system), *map(repr, scores)])
