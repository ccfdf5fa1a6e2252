"""The arguments of ``score`` and ``mbr``, parsed and checked without opening files or importing torch."""

from __future__ import annotations

import argparse
import math
import os
import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from ngram_metrics._cli.files import split_name
from ngram_metrics._cli.shared_options import (
    DESTINATION,
    FILE,
    FLAG,
    OptionRows,
    Parser,
    check_different,
    check_files_and_text,
    file_name,
    integer,
    is_same,
    parse_level,
    parse_margin,
    parse_number,
    parse_words,
)
from ngram_metrics._core.basics.option_checks import refuse_equal_names
from ngram_metrics._core.metrics.registry import METRIC_NAMES, REGISTRY, values_of
from ngram_metrics._core.text.messages import did_you_mean
from ngram_metrics._evaluation import DEFAULT_METRICS, FORMATS

TESTS = ("randomization", "bootstrap")
CORRECTIONS = ("holm", "none")
MBR_FORMATS = ("text", "jsonl")
_DEVICE = re.compile(r"cpu|(cuda|xpu|mps)(:\d+)?")
#: The most hypotheses of a segment, all pairs of which are compared.
MOST_HYPOTHESES = 100_000
DEFAULT_LEVEL = 0.95
_USAGE = """ngram-metrics SYSTEM... -r REFERENCE... [options]
       ngram-metrics REFERENCE... -i SYSTEM... [options]
       ngram-metrics mbr SAMPLES... [options]"""
_DESCRIPTION = "Score files with one segment per line, and test systems against the first."
_FILES = """A FILE is text in UTF-8, which may be compressed with gzip or xz. FILE:2 is its second tab-separated column,
FILE:answer a field of JSON lines, and - is standard input. NAME=FILE names a system or a reference."""
_MBR_USAGE = "ngram-metrics mbr SAMPLES [options]"
_MBR_DESCRIPTION = """Choose from several hypotheses the one that agrees best with all of them: minimum Bayes risk
decoding, where each hypothesis is a reference for the others."""
_MBR_FILES = """With -k N, SAMPLES has N lines for each segment. Without it, SAMPLES is JSON lines: each line is a list
of strings, or with FILE:field an object with such a list. It may be compressed with gzip or xz, and - is standard
input."""
#: Options that do not exist here, most of them sacrebleu's, and what to use instead.
_INSTEAD = {
    **dict.fromkeys(("-b", "--score-only"), "expected -f tsv or -f json, for programs"),
    "--sentences": "expected --segments",
    "--device": "expected no device: text is counted on the CPU",
    **dict.fromkeys(("-t", "--test-set"), "expected files: no test set is downloaded"),
    **dict.fromkeys(("-l", "--language-pair"), "expected no option for the language; -lc lowercases"),
    **dict.fromkeys(("--paired-bs", "-pbs"), "expected --test bootstrap; several systems are always tested"),
    **dict.fromkeys(("--paired-ar", "-par"), "expected no option: several systems are tested by randomization"),
}


class NamedFile(NamedTuple):
    """A system or a reference on the command line, which is named by a part of its path if it has no name."""

    file: str
    name: str | None = None


def score_parser() -> Parser:
    """Return the parser of ``score``."""
    parser = Parser(prog="ngram-metrics", usage=_USAGE, description=_DESCRIPTION, epilog=_FILES, add_help=False)
    files: OptionRows = {
        "files": ("outputs of systems; with -i, the references", {**FILE, "nargs": "*"}),
        "-r --references": ("one or more references for each segment", {**FILE, "nargs": "+", "action": "extend"}),
        "-i --input": ("outputs of systems", {**FILE, "nargs": "+", "action": "extend"}),
        "--baseline": ("the system that the others are tested against, or its NAME; default: the first", FILE),
    }
    metrics_help = f"some of {', '.join(METRIC_NAMES)}; default: {','.join(DEFAULT_METRICS)}"
    level_help = f"add bootstrap intervals; default level: {DEFAULT_LEVEL}"
    clusters_help = "the document of each segment, one label per line: intervals and tests draw whole documents"
    worse_help = (
        "exit with code 3 if the whole interval of a difference is worse than the baseline by more than MARGIN points"
    )
    scores: OptionRows = {
        "-m --metrics": (metrics_help, {"type": _parse_metrics, "action": "extend", "metavar": "NAME,..."}),
        "-c --confidence": (level_help, {"type": parse_level, "metavar": "[LEVEL]"}),
        "--test": ("the paired test of several systems; default: randomization", {"choices": TESTS}),
        "--correction": ("correct p-values for the number of systems; default: holm", {"choices": CORRECTIONS}),
        "--clusters": (clusters_help, FILE),
        "--fail-if-worse": (worse_help, {"type": parse_margin, "metavar": "MARGIN"}),
    }
    column_help = "a label for each segment, such as its domain: adds the scores of each label, and filters to --report"
    column = {"dest": "columns", "type": parse_column, "action": "append", "default": [], "metavar": "NAME=FILE"}
    output: OptionRows = {
        "-f --format": ("default: table", {"choices": FORMATS, "default": "table"}),
        "-w --digits": ("digits after the point; default: 2, in json and tsv all", integer(0, 15)),
        "--details": ("add the parts of scores, p-values and ranks; json and tsv have the first two", FLAG),
        "-o --output": ("write the table here; default: standard output", DESTINATION),
        "--segments": ("write the scores of every segment, to .tsv or .jsonl", FILE),
        "--report": ("write an HTML page that shows where systems are right and wrong", FILE),
        "--source": ("the source texts, shown in --report", FILE),
        "--column": (column_help, column),
    }
    parser.add_options(files, scores, output)
    return parser


def mbr_metrics() -> tuple[str, ...]:
    """Return the names of the metrics that score pairs."""
    return tuple(name for row in REGISTRY.values() for name in row.pair_names)


def mbr_parser() -> Parser:
    """Return the parser of ``mbr``."""
    parser = Parser(
        prog="ngram-metrics mbr", usage=_MBR_USAGE, description=_MBR_DESCRIPTION, epilog=_MBR_FILES, add_help=False
    )
    files: OptionRows = {
        "files": ("the hypotheses", {"nargs": "*", "type": file_name, "metavar": "SAMPLES"}),
        "-k": ("lines per segment", integer(1, MOST_HYPOTHESES)),
        "--weights": ("a weight for each hypothesis, in a file of the same form", FILE),
    }
    scores: OptionRows = {
        "-m --metric": ("the utility; default: chrf", {"choices": mbr_metrics(), "default": "chrf"}),
        "--device": ("where to count, such as cuda; default: cpu", {"type": _parse_device, "default": "cpu"}),
    }
    format_help = "one line per segment, or JSON lines with index and expected utility; default: text"
    output: OptionRows = {
        "-f --format": (format_help, {"choices": MBR_FORMATS, "default": "text"}),
        "-o --output": ("default: standard output", DESTINATION),
    }
    parser.add_options(files, scores, output)
    return parser


def parse_score(words: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments of ``score``, or exit with code 2 if they are wrong.

    ``systems``, the baseline first, and ``references`` are their names. ``inputs`` are the files of the systems, the
    references, the source, the columns and the clusters, in this order.
    """
    parser = score_parser()
    options = parse_words(parser, _join_values(words), _INSTEAD)
    options.metrics = list(dict.fromkeys(options.metrics or DEFAULT_METRICS))
    try:
        refuse_equal_names((name, values_of(name)) for name in options.metrics)
    except ValueError as error:
        parser.error(str(error))
    systems, references = _find_sides(parser, options)
    options.systems = name_files(parser, "systems", systems)
    options.references = name_files(parser, "references", references)
    column_files = [file for _, file in options.columns]
    beside = [file for file in (options.source, *column_files, options.clusters) if file is not None]
    if options.source and not options.report:
        parser.error("--source is for the page: expected --report too")
    if options.clusters and options.confidence is None and len(options.systems) == 1:
        parser.error("--clusters is for intervals and tests, and there is neither: expected -c, or several systems")
    check_names(parser, "columns", [name for name, _ in options.columns])
    options.inputs = [*(named.file for named in (*systems, *references)), *beside]
    for name in ("test", "correction", "baseline", "fail_if_worse"):
        if getattr(options, name) is not None and len(options.systems) == 1:
            option = name.replace("_", "-")
            parser.error(f"--{option} is for several systems, and there is one: {options.systems[0]}")
    options.test = options.test or TESTS[0]
    options.correction = options.correction or CORRECTIONS[0]
    if options.segments and not options.segments.endswith((".tsv", ".jsonl")):
        parser.error(f"--segments {options.segments}: expected a name that ends in .tsv or .jsonl")
    destinations = {"--output": options.output, "--segments": options.segments, "--report": options.report}
    check_files_and_text(parser, options, destinations)
    return options


def parse_mbr(words: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments of ``mbr``, or exit with code 2 if they are wrong."""
    parser = mbr_parser()
    options = parse_words(parser, words, {})
    if len(options.files) != 1:
        parser.error(f"expected SAMPLES, one file of hypotheses, and got {', '.join(options.files) or 'none'}")
    (options.samples,) = options.files
    options.metrics = [options.metric]
    options.inputs = [options.samples, *filter(None, [options.weights])]
    check_files_and_text(parser, options, {"--output": options.output})
    return options


def _join_values(words: Sequence[str]) -> list[str]:
    """Join ``-c`` with a level after it, and ``-m`` with names of metrics, so that neither takes a file as a value."""
    joined: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            return [*joined, word, *left]
        if word in ("-c", "--confidence"):
            word += f"={left.pop(0) if left and _may_be_level(left[0]) else DEFAULT_LEVEL}"
        joined.append(word)
        if word in ("-m", "--metrics") and left:
            names = [left.pop(0)]
            while left and left[0] in METRIC_NAMES:
                names.append(left.pop(0))
            joined.append(",".join(names))
    return joined


def _may_be_level(word: str) -> bool:
    """Return whether a word after ``-c`` is a number, or neither an option nor a file."""
    path = split_name(parse_file(word).file).path
    return not math.isnan(parse_number(word)) or not (word.startswith("-") or path == "-" or os.path.exists(path))


def _find_sides(
    parser: argparse.ArgumentParser, options: argparse.Namespace
) -> tuple[list[NamedFile], list[NamedFile]]:
    """Return the systems, the baseline first, and the references."""
    if options.input and options.references:
        if options.files:
            parser.error(f"with -i and -r, {options.files[0]!r} is neither a system nor a reference")
        systems, references = options.input, options.references
    elif options.input:
        systems, references = options.input, options.files
    else:
        systems, references = options.files, options.references or []
    if not references:
        parser.error("no reference: expected SYSTEM... -r REFERENCE..., or REFERENCE... -i SYSTEM...")
    if not systems and not options.baseline:
        parser.error("no system: the files after -r are references; expected SYSTEM... -r REFERENCE...")
    all_systems, all_references = (list(map(parse_file, words)) for words in (systems, references))
    check_different(parser, "system", [system.file for system in all_systems])
    check_different(parser, "reference", [reference.file for reference in all_references])
    baseline = parse_file(options.baseline) if options.baseline else all_systems[0]
    same_file = [system for system in all_systems if is_same(system.file, baseline.file)]
    same_name = [system for system in all_systems if system.name == baseline.file and not os.path.exists(baseline.file)]
    baseline = next(iter(same_file or same_name), baseline)
    others = [system for system in all_systems if system is not baseline]
    return [baseline, *others], all_references


def _parse_metrics(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in METRIC_NAMES:
            message = f"unknown metric {name!r}: expected some of {','.join(METRIC_NAMES)}"
            raise argparse.ArgumentTypeError(message + did_you_mean(name, METRIC_NAMES))
    return names


def parse_file(word: str) -> NamedFile:
    """Split NAME=FILE, unless a file with the whole name exists."""
    name, _, file = word.partition("=")
    if not name or not file or "/" in name or any(map(os.path.exists, (word, split_name(word).path))):
        return NamedFile(word)
    return NamedFile(file, name)


def name_files(parser: argparse.ArgumentParser, kind: str, files: Sequence[NamedFile]) -> list[str]:
    """Return the name of each system or reference, or the part of its path that tells it from others without one."""
    folders = [os.path.normpath(named.file).split(os.sep) for named in files if named.name is None]
    most = min(map(len, folders), default=1) - 1
    first = min(most, _count_equal(folders))
    last = min(most - first, _count_equal([path[::-1] for path in folders]))
    names = []
    for named in files:
        path = os.path.normpath(named.file).split(os.sep)
        names.append("/".join(path[first : len(path) - last]) if named.name is None else named.name)
    check_names(parser, kind, names)
    return names


def check_names(parser: argparse.ArgumentParser, kind: str, names: Sequence[str]) -> None:
    """Exit with an error if two systems, references or columns, as ``kind`` says, have the same name."""
    for name in names:
        if names.count(name) > 1:
            parser.error(f"two {kind} have the name {name!r}: expected different names, as NAME=FILE gives them")


def parse_column(text: str) -> tuple[str, str]:
    """Split NAME=FILE for a column, which needs both."""
    name, _, file = text.partition("=")
    if not name or not file:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=FILE, such as domain=domains.txt")
    return name, file


def _count_equal(paths: Sequence[Sequence[str]]) -> int:
    """Return how many parts all paths have in common at the beginning."""
    return len(list(takewhile(lambda parts: len({*parts}) == 1, zip(*paths, strict=False))))


def _parse_device(text: str) -> str:
    if not _DEVICE.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a device: expected cpu, cuda, cuda:1, xpu or mps")
    return text
