"""The rows of scores.json: how they are read, recomputed and compared, and how rows are added.

A row is what is called, its settings, the name of its input in ``frozen_inputs``, and the numbers that came out: the
``values``, and for a class also its ``details``. Rows are only added, from lines of JSON without numbers::

    echo '{"call": "Bleu", "settings": {"ngram": 2}, "input": "short"}' | python tests/frozen/frozen_scores.py
"""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from frozen_inputs import CALLABLES, read_input

import ngram_metrics
from ngram_metrics import counting, evaluate, functional, mbr

Row = dict[str, Any]
SCORES = Path(__file__).with_name("scores.json")
#: What is frozen of each result of ``evaluate``.
RESULT_FIELDS = (
    *("score", "low", "high", "difference", "difference_low", "difference_high", "p_value", "wins", "ties", "losses"),
)


def read_rows(path: Path = SCORES) -> list[Row]:
    return json.loads(path.read_text(encoding="utf-8"))


def is_class(row: Row) -> bool:
    return "." not in row["call"] and row["call"] != "evaluate"


def key_of(row: Row) -> str:
    """What a row is about, in words, which is also the name of its test."""
    settings = [f"{name}={json.dumps(value)}" for name, value in row["settings"].items()]
    return f"{row['call']}({', '.join(settings)}) of {row['input']}"


def settings_of(row: Row) -> dict[str, Any]:
    """The settings, with the functions that they name."""
    settings = row["settings"].items()
    return {name: CALLABLES.get(value, value) if isinstance(value, str) else value for name, value in settings}


def compute(row: Row, batch_sizes: Sequence[int] = ()) -> Row:
    """Return the numbers of a row; for a class the batches may have these sizes, over and over, instead of one."""
    call = row["call"]
    settings = settings_of(row)
    hypotheses, references = read_input(row["input"])
    if is_class(row):
        metric = getattr(ngram_metrics, call)(**settings)
        for batch in batches(len(hypotheses), batch_sizes):
            metric.update(hypotheses[batch], references[batch])
        numbers = {"values": plain(metric.compute())}
        if settings.get("accumulate") != "avg":  # which averages scores, and has no counts of the corpus
            numbers["details"] = plain(metric.details())
        return numbers
    values: Any
    if call == "mbr.pairwise":
        metric = getattr(ngram_metrics, settings.pop("metric"))(**settings)
        values = mbr.pairwise(metric, hypotheses, references)
    elif call == "evaluate":
        results = evaluate(hypotheses, references, **settings).results
        values = {
            system: {
                value: {name: getattr(result, name) for name in RESULT_FIELDS} for value, result in by_value.items()
            }
            for system, by_value in results.items()
        }
    else:
        module, _, name = call.partition(".")
        function = getattr({"functional": functional, "counting": counting}[module], name)
        values = function(hypotheses, references, **settings)
    return {"values": plain(values)}


def batches(segments: int, sizes: Sequence[int]) -> Iterator[slice]:
    """Cut segments into batches of sizes that repeat; without sizes all are one batch."""
    start = count = 0
    while start < segments or not count:
        size = sizes[count % len(sizes)] if sizes else segments
        yield slice(start, start + size)
        start = start + size
        count = count + 1


def plain(value: Any) -> Any:
    """Return numbers as JSON has them: tensors as lists, and names for the fields of a tuple."""
    if isinstance(value, torch.Tensor | np.ndarray):
        return value.tolist()
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list | tuple) else value


def numbers(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each number, 0 for None, with its place: the names and indices that lead to it, and its type."""
    if isinstance(value, dict | list):
        for name, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(part, f"{place}.{name}")
    else:
        yield f"{place} {type(value).__name__}", 0 if value is None else value


def add_rows(asked: Iterable[Row], path: Path = SCORES) -> None:
    """Add rows with their numbers, after the rows of the same call; raise ValueError for one that is there already."""
    rows = read_rows(path)
    present = set(map(key_of, rows))
    for row in asked:
        if row.keys() != {"call", "settings", "input"}:
            raise ValueError(f"a row has {list(row)}: expected call, settings and input")
        if key_of(row) in present:
            raise ValueError(f"{key_of(row)} is there already: rows do not change")
        present.add(key_of(row))
        rows.append({**row, **compute(row)})
    rows.sort(key=lambda row: row["call"])
    lines = ",\n".join(json.dumps(row) for row in rows)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    add_rows(json.loads(line) for line in sys.stdin)
