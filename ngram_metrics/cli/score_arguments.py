"""The arguments of ``ngram-metrics score``, parsed and checked without opening files or importing torch."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence

from ngram_metrics.cli import mbr_arguments
from ngram_metrics.cli.completion import SHELLS, script
from ngram_metrics.cli.options import (
    Options,
    Parser,
    add_run_options,
    add_text_options,
    check_text_options,
    integer,
    parsed,
    printing,
)
from ngram_metrics.cli.paths import check_different, check_inputs, check_written, destination, file_name, is_same
from ngram_metrics.text.messages import did_you_mean

METRICS = ("bleu", "chrf", "chrf++", "rouge", "overlap", "gleu")
FORMATS = ("table", "json", "tsv", "markdown", "latex")
TESTS = ("randomization", "bootstrap")
CORRECTIONS = ("holm", "none")
_LEVEL = "0.95"
_USAGE = """ngram-metrics SYSTEM... -r REFERENCE... [options]
       ngram-metrics REFERENCE... -i SYSTEM... [options]
       ngram-metrics mbr SAMPLES... [options]"""
_DESCRIPTION = "Score files with one sentence per line, and test systems against the first."
_FILES = """A FILE is text in UTF-8, plain or packed by gzip or xz; FILE:2 is its second tab-separated column;
FILE:answer is a field of JSON lines; - is standard input."""


class ScoreOptions(Options):
    """The options of all commands, and those of ``score`` only; the first of ``systems`` is the baseline."""

    input: list[str] | None
    references: list[str]
    systems: list[str]
    baseline: str | None
    confidence: float | None
    test: str
    correction: str
    digits: int | None
    details: bool
    sentences: str | None
    report: str | None


def parser() -> Parser:
    """Return the parser."""
    made = Parser(
        prog="ngram-metrics", usage=_USAGE, description=_DESCRIPTION, epilog=_FILES, allow_abbrev=False, add_help=False
    )
    files = made.add_argument_group("files")
    files.add_argument(
        "files", nargs="*", type=file_name, metavar="FILE", help="outputs of systems; with -i, the references"
    )
    for names, told in ((("-r", "--references"), "one or more references"), (("-i", "--input"), "outputs of systems")):
        files.add_argument(*names, nargs="+", action="extend", type=file_name, metavar="FILE", help=told)
    files.add_argument(
        "--baseline", type=file_name, metavar="FILE", help="the system that others are tested against, if not the first"
    )
    scores = made.add_argument_group("scores")
    scores.add_argument(
        "-m",
        "--metrics",
        type=_metrics,
        action="extend",
        metavar="NAME,...",
        help=f"some of {', '.join(METRICS)}; default: bleu,chrf",
    )
    scores.add_argument(
        "-c", "--confidence", type=_level, metavar="[LEVEL]", help="bootstrap intervals; default level: 0.95"
    )
    scores.add_argument("--test", choices=TESTS, help="the paired test of several systems; default: randomization")
    scores.add_argument(
        "--correction", choices=CORRECTIONS, help="of p-values, for the number of systems; default: holm"
    )
    add_text_options(made)
    report = made.add_argument_group("output")
    report.add_argument("-f", "--format", choices=FORMATS, default="table", help="default: table")
    report.add_argument("-w", "--digits", type=integer(0, 15), metavar="N", help="default: 2; for json and tsv, all")
    report.add_argument("--details", action="store_true", help="the parts of scores, and p-values; json has them")
    report.add_argument(
        "-o", "--output", type=destination, metavar="FILE", help="where the report goes; default: standard output"
    )
    report.add_argument(
        "--sentences", type=file_name, metavar="FILE", help="scores of every sentence, to FILE.tsv or FILE.jsonl"
    )
    report.add_argument(
        "--report", type=file_name, metavar="FILE", help="an HTML page that shows where systems are right and wrong"
    )
    add_run_options(made).add_argument(
        "--print-completion", choices=SHELLS, action=printing(_completion), help="print a script for a shell"
    )
    return made


def _completion(_: argparse.ArgumentParser, shell: str) -> str:
    # From new parsers: the parser that is running has set its files aside.
    return script(parser(), {"score": parser(), "mbr": mbr_arguments.parser()}, shell)


def parse(words: Sequence[str]) -> ScoreOptions:
    """Parse arguments; exit with code 2 if they are wrong.

    Returns:
        ``systems``, the baseline first; ``references``; ``inputs``, which are both; ``metrics``; and the other options
        by name.
    """
    made = parser()
    options = parsed(made, _joined(words), ScoreOptions())
    options.metrics = list(dict.fromkeys(options.metrics or ("bleu", "chrf")))
    options.systems, options.references = _sides(made, options)
    options.inputs = [*options.systems, *options.references]
    check_inputs(made, options.inputs)
    check_text_options(made, options, options.metrics)
    for name in ("test", "correction", "baseline"):
        if getattr(options, name) and len(options.systems) == 1:
            made.error(f"--{name} is for several systems, and there is one: {options.systems[0]}")
    options.test, options.correction = options.test or TESTS[0], options.correction or CORRECTIONS[0]
    if options.sentences and not options.sentences.endswith((".tsv", ".jsonl")):
        made.error(f"--sentences {options.sentences}: expected a name that ends in .tsv or .jsonl")
    read = [*options.inputs, *filter(None, [options.spm_model])]
    written = {"--output": options.output, "--sentences": options.sentences, "--report": options.report}
    check_written(made, written, read)
    return options


def _joined(words: Sequence[str]) -> list[str]:
    """Join ``-c`` with a level after it, and ``-m`` with names of metrics, so that neither takes a file as a value."""
    joined: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            return [*joined, word, *left]
        if word in ("-c", "--confidence"):
            word += f"={left.pop(0) if left and _is_number(left[0]) else _LEVEL}"
        joined.append(word)
        if word in ("-m", "--metrics") and left:
            names = [left.pop(0)]
            while left and left[0] in METRICS:
                names.append(left.pop(0))
            joined.append(",".join(names))
    return joined


def _sides(made: argparse.ArgumentParser, options: ScoreOptions) -> tuple[list[str], list[str]]:
    """Return the systems, the baseline first, and the references."""
    if options.input and options.references:
        if options.files:
            made.error(f"with -i and -r, {options.files[0]!r} is neither a system nor a reference")
        systems, references = options.input, options.references
    elif options.input:
        systems, references = options.input, options.files
    else:
        systems, references = options.files, options.references
    if not references:
        made.error("no reference: expected SYSTEM... -r REFERENCE..., or REFERENCE... -i SYSTEM...")
    if not systems and not options.baseline:
        made.error("no system: the files after -r are references; expected SYSTEM... -r REFERENCE...")
    baseline = options.baseline or systems[0]
    # A glob may contain the baseline too.
    others = [path for path in systems if not is_same(path, baseline)]
    check_different(made, "system", others)
    check_different(made, "reference", references)
    return [baseline, *others], references


def _metrics(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in METRICS:
            told = f"unknown metric {name!r}: expected some of {','.join(METRICS)}"
            raise argparse.ArgumentTypeError(told + did_you_mean(name, METRICS))
    return names


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _level(text: str) -> float:
    level = float(text) if _is_number(text) else math.nan
    if not 0 < level < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a level between 0 and 1")
    return level
