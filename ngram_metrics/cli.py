"""The command line: score files of sentences, one a line, and compare systems.

::

    ngram-metrics hypotheses.txt reference.txt
    ngram-metrics hypotheses.txt reference1.txt reference2.txt -m bleu chrf rouge --confidence
    ngram-metrics baseline.txt reference.txt --systems ours.txt theirs.txt --format json
    decode ... | ngram-metrics - reference.txt

Scores are printed in 0..100, and are those of sacrebleu and rouge_score on the same files.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from itertools import islice, zip_longest
from typing import Any, BinaryIO

import torch

from ngram_metrics import Bleu, ChrF, Gleu, NgramOverlap, ROUGEScore, __version__
from ngram_metrics.scores.resampling import RESAMPLES
from ngram_metrics.significance import TRIALS, Comparison, paired_approximate_randomization, paired_bootstrap
from ngram_metrics.torchmetrics.accumulator import Accumulator

#: Lines counted at a time.
CHUNK = 4096
#: A difference with a smaller p-value is marked.
SIGNIFICANT = 0.05
_METRICS = ("bleu", "chrf", "chrf++", "rouge", "overlap", "gleu")
_TESTS: dict[str, Callable[..., dict[str, dict[str, Comparison]]]] = {
    "bootstrap": paired_bootstrap,
    "randomization": paired_approximate_randomization,
}


class OptionError(Exception):
    """What is wrong with an option."""


class InputError(Exception):
    """What is wrong with the files, in a sentence for whoever gave them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code: 0, or 1 where the files cannot be scored. Wrong options exit with 2."""
    options = _parser().parse_args(arguments)
    paths = [options.hypotheses, *options.systems]
    if len(set(paths)) < len(paths):
        _parser().error("a system is given twice")
    if [*paths, *options.references].count("-") > 1:
        _parser().error("only one file can be read from standard input")
    try:
        systems = {path: _new_metrics(options, keep=len(paths) > 1) for path in paths}
    except OptionError as error:
        _parser().error(str(error))
    except ModuleNotFoundError as error:
        return _failed(error)
    try:
        sentences = _count(systems, options.references)
        report = _report(systems, sentences, options)
    except (InputError, OSError) as error:
        return _failed(error)
    try:
        print(json.dumps(report, indent=2) if options.format == "json" else _table(report), flush=True)
    except BrokenPipeError:
        # Whoever read has closed the pipe; Python would try once more at its exit, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def _failed(error: Exception) -> int:
    print(f"ngram-metrics: {error}", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ngram-metrics", description="Score sentences, one a line, in UTF-8.")
    parser.add_argument("hypotheses", help="a system's output; - for standard input")
    parser.add_argument("references", nargs="+", help="one or more files with a reference for each line")
    parser.add_argument(
        "-s", "--systems", nargs="+", default=[], metavar="FILE", help="more systems, tested against the first"
    )
    parser.add_argument(
        "-m", "--metrics", nargs="+", default=["bleu", "chrf"], choices=_METRICS, help="default: bleu chrf"
    )
    parser.add_argument(
        "-c",
        "--confidence",
        nargs="?",
        type=_level,
        const=0.95,
        metavar="LEVEL",
        help="print intervals, by default 0.95",
    )
    parser.add_argument("--test", choices=_TESTS, default="bootstrap", help="the paired test, default: bootstrap")
    parser.add_argument("--tokenizer", default="13a", help="one of sacrebleu's, not for chrf and rouge, default: 13a")
    parser.add_argument(
        "-lc", "--lowercase", action="store_true", help="for bleu, as sacrebleu's; rouge does so anyway"
    )
    parser.add_argument("--chrf-lowercase", action="store_true", help="for chrf and chrf++")
    parser.add_argument("--stem", action="store_true", help="for rouge: stem words")
    parser.add_argument("--device", default="cpu", help="where to count, default: cpu")
    parser.add_argument("--format", choices=("table", "json"), default="table", help="default: table")
    parser.add_argument("--version", action="version", version=f"ngram-metrics {__version__}")
    return parser


def _level(text: str) -> float:
    try:
        level = float(text)
    except ValueError:
        level = math.nan
    if not 0 < level < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no level between 0 and 1")
    return level


def _new_metrics(options: argparse.Namespace, keep: bool) -> dict[str, Accumulator]:
    """Return new metrics by their names; ``keep`` asks for the counts of each sentence, for the paired test."""
    try:
        torch.zeros((), device=options.device).item()
    except (RuntimeError, AssertionError) as error:  # AssertionError: how a build without CUDA says so
        raise OptionError(f"--device {options.device}: {error}") from error
    common = {"device": options.device, "confidence": options.confidence or (0.95 if keep else None)}
    made: dict[str, Callable[[], Accumulator]] = {
        "bleu": lambda: Bleu(
            smooth="exp", average="micro", tokenizer=options.tokenizer, lowercase=options.lowercase, **common
        ),
        "chrf": lambda: ChrF(lowercase=options.chrf_lowercase, **common),
        "chrf++": lambda: ChrF(word_order=2, lowercase=options.chrf_lowercase, **common),
        "rouge": lambda: ROUGEScore(use_stemmer=options.stem, **common),
        "overlap": lambda: NgramOverlap(tokenizer=options.tokenizer, **common),
        "gleu": lambda: Gleu(tokenizer=options.tokenizer, **common),
    }
    try:
        return {name: made[name]() for name in dict.fromkeys(options.metrics)}
    except ValueError as error:  # an unknown tokenizer
        raise OptionError(f"--tokenizer: {error}") from error


def _count(systems: dict[str, dict[str, Accumulator]], references: Sequence[str]) -> int:
    """Read all files side by side, and return the number of lines."""
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise InputError("this command needs tqdm: pip install 'ngram-metrics[cli]'") from error
    paths, count = [*systems, *references], 0
    with ExitStack() as stack, tqdm(unit=" lines", delay=2, disable=None) as progress:
        lines = _side_by_side(paths, [stack.enter_context(_opened(path)) for path in paths])
        while chunk := list(islice(lines, CHUNK)):
            columns = list(zip(*chunk, strict=True))
            targets = list(zip(*columns[len(systems) :], strict=True))
            for metrics, hypotheses in zip(systems.values(), columns, strict=False):
                for metric in metrics.values():
                    metric.update(list(hypotheses), targets)
            progress.update(len(chunk))
            count += len(chunk)
    if count == 0:
        raise InputError(f"{paths[0]} is empty: expected at least one line")
    return count


def _opened(path: str) -> AbstractContextManager[BinaryIO]:
    # Standard input is not ours to close.
    return nullcontext(sys.stdin.buffer) if path == "-" else open(path, "rb")


def _side_by_side(paths: Sequence[str], files: Sequence[BinaryIO]) -> Iterator[tuple[str, ...]]:
    """Yield a line of each file at a time; raise where one has more than another."""
    for number, raw in enumerate(zip_longest(*files), 1):
        if None in raw:
            counts = [number - (line is None) + sum(1 for _ in file) for line, file in zip(raw, files, strict=True)]
            told = ", ".join(f"{path} has {count}" for path, count in zip(paths, counts, strict=True))
            raise InputError(f"the files have different numbers of lines: {told}")
        yield tuple(_decoded(line, path, number) for line, path in zip(raw, paths, strict=True))


def _decoded(line: bytes, path: str, number: int) -> str:
    try:
        return line.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}, line {number}: byte {error.start + 1} of the line, 0x{line[error.start]:02x}, is not UTF-8"
        ) from error


def _report(systems: dict[str, dict[str, Accumulator]], sentences: int, options: argparse.Namespace) -> dict[str, Any]:
    """Return all that is printed: for each system and value score, interval and p-value, the scores in 0..100."""
    baseline = next(iter(systems))
    values: dict[str, dict[str, dict[str, float]]] = {path: {} for path in systems}
    for name in next(iter(systems.values())):
        metrics = {path: of_system[name] for path, of_system in systems.items()}
        tested = _TESTS[options.test](metrics, baseline) if len(systems) > 1 else {}
        for path, metric in metrics.items():
            computed = _by_name(metric)
            for value in _reported(computed):
                shown = name if name in ("chrf++", "overlap") else value.removesuffix("_fmeasure")
                entry = {"score": 100 * computed[value]}
                if options.confidence is not None:
                    entry |= {end: 100 * computed[f"{value}_{end}"] for end in ("low", "high")}
                if path != baseline:
                    chance = tested[path][value].p_value
                    assert chance is not None
                    entry["p_value"] = chance
                values[path][shown] = entry
    report: dict[str, Any] = {"sentences": sentences, "systems": values}
    if len(systems) > 1:
        report |= {"baseline": baseline, "test": options.test}
    if options.confidence is not None:
        report["confidence"] = options.confidence
    report["signatures"] = {name: _signature(metric, report, options) for name, metric in systems[baseline].items()}
    return report


def _signature(metric: Accumulator, report: dict[str, Any], options: argparse.Namespace) -> str:
    """Return a signature of what is printed: the rows are kept for either test, and resampled not for both."""
    if report.get("test") != "randomization":
        return metric.signature
    resamples = f"bs:{RESAMPLES}|"
    shown = resamples if options.confidence is not None else ""
    return metric.signature.replace(resamples, f"{shown}ar:{TRIALS}|")


def _by_name(metric: Accumulator) -> dict[str, float]:
    computed = metric.compute()
    if isinstance(computed, torch.Tensor):
        computed = metric.named_scores(computed)
    return {name: float(value) for name, value in computed.items()}


def _reported(computed: dict[str, float]) -> list[str]:
    """Return the values that have a column: of ROUGE, F."""
    return [name for name in computed if not name.endswith(("_low", "_high", "_precision", "_recall"))]


def _table(report: dict[str, Any]) -> str:
    systems = report["systems"]
    header = ["system", *next(iter(systems.values()))]
    rows = [[path, *map(_cell, values.values())] for path, values in systems.items()]
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if number == 0 else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [header, *rows]
    ]
    notes = [f"{report['sentences']} sentences, scores in 0..100"]
    if "confidence" in report:
        notes.append(f"[low, high]: {100 * report['confidence']:g}% bootstrap interval")
    if "test" in report:
        notes.append(f"* differs from {report['baseline']}, p < {SIGNIFICANT}, paired {report['test']} test")
    signatures = [f"{name}: {text}" for name, text in report["signatures"].items()]
    return "\n".join([*lines, "", *notes, *signatures])


def _cell(entry: dict[str, float]) -> str:
    interval = f" [{entry['low']:.2f}, {entry['high']:.2f}]" if "low" in entry else ""
    mark = "*" if entry.get("p_value", 1.0) < SIGNIFICANT else " "
    return f"{entry['score']:.2f}{interval}{mark}"


if __name__ == "__main__":
    sys.exit(main())
