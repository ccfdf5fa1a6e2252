"""``ngram-metrics mbr``: choose the hypothesis of each segment with the highest expected utility."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple, TypeGuard

import torch

from ngram_metrics._cli.command_arguments import MOST_HYPOTHESES
from ngram_metrics._cli.files import InputError, Source, read_in_step
from ngram_metrics._core.basics.output import Progress, open_output
from ngram_metrics._core.scoring.scorer import Scorer
from ngram_metrics._core.text.messages import pluralize
from ngram_metrics.mbr import Decoded, decode

#: Segments decoded at a time.
CHUNK = 256


class _Utility(NamedTuple):
    """A metric that scores pairs, and the device for it."""

    scorer: Scorer
    device: torch.device


def run(options: Namespace, scorer: Scorer, samples: Source, weights: Source | None = None) -> None:
    """Decode, and write one line per segment."""
    try:
        torch.zeros((), device=options.device).item()
    except (RuntimeError, AssertionError) as error:  # a build without CUDA raises AssertionError
        raise InputError(f"--device {options.device}: there is no such device") from error
    utility = _Utility(scorer, torch.device(options.device))
    with open_output(options.output) as write, Progress("segments") as bar:
        done = 0
        for rows, row_weights in _read_rows(samples, weights, options.k):
            decoded = decode(utility, rows, None, row_weights)
            write("".join(f"{line}\n" for line in _format_lines(decoded, options.format, done)))
            done += len(rows)
            bar.update(len(rows))
        if done == 0:
            raise InputError(f"{options.samples} is empty: expected at least one segment")


def _read_rows(
    samples: Source, weights: Source | None, k: int | None
) -> Iterator[tuple[list[list[str]], list[list[float]] | None]]:
    """Yield the hypotheses of a few segments at a time, and their weights."""
    if weights is None:
        while rows := _read_texts(samples, k):
            yield rows, None
        return
    done = 0
    readers = (partial(_read_texts, samples, k), partial(_read_weights, weights, k))
    for rows, row_weights in read_in_step((samples, weights), readers):
        if len(rows) != len(row_weights):
            names = f"{samples.part.name} and {weights.part.name}"
            counts = f"{samples.count_rest()} and {weights.count_rest()}"
            raise InputError(f"{names} have different numbers of lines: {counts}")
        for line, (texts, text_weights) in enumerate(zip(rows, row_weights, strict=True), done + 1):
            if len(texts) != len(text_weights):
                count = pluralize(len(text_weights), "weight")
                raise weights.error(line, f"{count}: expected {len(texts)}, one for each hypothesis")
        yield rows, row_weights
        done += len(rows)


def _read_items(
    source: Source, k: int | None, parse: Callable[[Source, str, int], object]
) -> Iterator[tuple[int, object]]:
    """Yield the line and the items of each next segment: k lines that ``parse`` reads, or a value of JSON."""
    first_line = source.line + 1
    if k is None:
        yield from enumerate(source.values(CHUNK), first_line)
        return
    items = [parse(source, text, line) for line, text in enumerate(source.chunk(CHUNK * k, k), first_line)]
    if len(items) % k:
        lines = pluralize(source.line, "line")
        raise InputError(f"{source.part.name} has {lines}: expected a multiple of {k}, for -k {k}")
    for start in range(0, len(items), k):
        yield first_line + start, items[start : start + k]


def _read_texts(source: Source, k: int | None) -> list[list[str]]:
    rows = []
    for line, row in _read_items(source, k, lambda _, text, __: text):
        if not isinstance(row, list) or not row or not all(isinstance(text, str) for text in row):
            raise source.error(line, "expected a list of strings, or pass -k for lines of text")
        if len(row) > MOST_HYPOTHESES:
            raise source.error(line, f"{len(row)} hypotheses: expected at most {MOST_HYPOTHESES}")
        rows.append(row)
    return rows


def _read_weights(source: Source, k: int | None) -> list[list[float]]:
    rows = []
    for line, row in _read_items(source, k, _parse_weight):
        if not _are_weights(row):
            raise source.error(line, "expected weights from 0 to 1e308, not all 0 for a segment")
        rows.append(row)
    return rows


def _parse_weight(source: Source, text: str, line: int) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise source.error(line, f"{text[:60]!r} is not a number") from error


def _are_weights(row: object) -> TypeGuard[list[float]]:
    if not isinstance(row, list) or not all(type(weight) in (int, float) for weight in row):
        return False
    return all(0 <= weight <= sys.float_info.max for weight in row) and any(row)


def _format_lines(decoded: Decoded, form: str, done: int) -> Iterator[str]:
    columns = (decoded.hypotheses, decoded.indices.tolist(), decoded.expected_utilities.tolist())
    for segment, (text, index, utility) in enumerate(zip(*columns, strict=True), done + 1):
        if form == "jsonl":
            values = {"hypothesis": text, "index": index, "expected_utility": 100 * utility}
            yield json.dumps(values, ensure_ascii=False)
        elif "\n" in text or text != text.encode(errors="ignore").decode():
            reason = "several lines" if "\n" in text else "an unpaired surrogate"
            raise InputError(f"the hypothesis chosen for segment {segment} has {reason}: pass --format jsonl")
        else:
            yield text
