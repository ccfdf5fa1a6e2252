"""The arguments of the command. They are checked before any file is read."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterable, Sequence
from typing import TextIO, get_args

from ngram_metrics._core.basics.option_checks import checked_level, refuse_equal_names
from ngram_metrics._core.metrics.registry import (
    METRIC_NAMES,
    entry_of,
    make_metric,
    takers_of,
    unknown_metric,
    values_of,
)
from ngram_metrics._core.text.rouge_reader import SentenceSeparator
from ngram_metrics._core.text.tokenizer_option import TokenizerName
from ngram_metrics._evaluation import DEFAULT_METRICS, FORMATS
from ngram_metrics._evaluation.files import split_field
from ngram_metrics._version import __version__

#: The options for text, by their names in the registry.
TEXT_OPTIONS = {
    "tokenizer": "--tokenizer",
    "lowercase": "--lowercase",
    "chrf_lowercase": "--chrf-lowercase",
    "stem": "--stem",
    "rouge_tokenizer": "--rouge-tokenizer",
    "sentence_separator": "--sentence-separator",
}
#: Options with one dash and several letters, which sacrebleu's command has too.
_ONE_DASH = ("-tok", "-lc")
_TESTS = ("randomization", "bootstrap")
_USAGE = "ngram-metrics SYSTEM... -r REFERENCE... [options]"
_DESCRIPTION = "Score files with one segment per line, and test systems against the first."
_FILES = """A FILE is text in UTF-8, which may be compressed with gzip, and - is standard input. FILE:answer is a field
of JSON lines, for references a text or a list of texts, and FILE:doc.answer a field of a field. NAME=FILE names a
system or a reference. Every word after -- is a system, even one that begins with a dash."""


def parse_arguments(words: Sequence[str] | None = None) -> Namespace:
    """Parse the words after the name of the program, by default those of this process, or exit with code 2.

    In the result ``systems`` and ``references`` are files by name, and ``baseline`` is the name of a system or None.
    """
    parser = _make_parser()
    options = _parse_words(parser, sys.argv[1:] if words is None else list(words))
    options.systems = _name_files(parser, "systems", options.files)
    options.references = _name_files(parser, "references", options.references)
    if options.baseline is not None:
        options.baseline = _find_baseline(parser, options.baseline, options.systems)
    if options.source and not options.report:
        parser.error("--source is only shown in the report: expected --report as well")
    if options.test and len(options.systems) == 1:
        parser.error(f"--test compares systems, but there is only one: {options.files[0]}")
    options.test = options.test or _TESTS[0]
    _check_text_options(parser, options)
    _check_files(parser, options)
    return options


def _parse_words(parser: ArgumentParser, words: list[str]) -> Namespace:
    """Parse the words, and refuse those that argparse would silently take for something else."""
    end = words.index("--") if "--" in words else len(words)
    words, systems = words[:end], words[end + 1 :]
    for word in words:
        # allow_abbrev=False still lets -l stand for -lc.
        for option in _ONE_DASH:
            if word not in ("", "-", option) and option.startswith(word):
                parser.error(f"unrecognized arguments: {word}; did you mean {option}?")
    options = parser.parse_intermixed_args(words)
    options.files += systems
    if not options.files:
        parser.error("the following arguments are required: SYSTEM")
    # -m bleu chrf, as in sacrebleu's command, would name a system chrf.
    metrics = [file for file in options.files if file in METRIC_NAMES and not os.path.exists(file)]
    if metrics:
        together = ",".join(dict.fromkeys([*options.metrics, *metrics]))
        parser.error(
            f"there is no file named {metrics[0]}; to name several metrics, separate them with commas: -m {together}"
        )
    return options


def _make_parser() -> ArgumentParser:
    parser = ArgumentParser("ngram-metrics", _USAGE, _DESCRIPTION, _FILES, allow_abbrev=False)
    add = parser.add_argument
    # One or more. _parse_words also counts the systems after --.
    add("files", nargs="*", metavar="SYSTEM", help="outputs of systems")
    add("-r", "--references", nargs="+", action="extend", required=True, metavar="FILE", help="one or more references")
    add("--baseline", metavar="NAME", help="the system that the others are compared with; default: the first")
    add("--version", action="version", version=f"ngram-metrics {__version__}")

    metrics = f"some of {', '.join(METRIC_NAMES)}; default: {','.join(DEFAULT_METRICS)}"
    add("-m", "--metrics", type=_parse_metrics, default=list(DEFAULT_METRICS), metavar="NAME,...", help=metrics)
    level = "add bootstrap intervals of this level; default: 0.95"
    add("-c", "--confidence", type=_parse_level, nargs="?", const=0.95, metavar="LEVEL", help=level)
    add("--test", choices=_TESTS, help="the paired test that compares systems; default: randomization")
    add("--groups", metavar="FILE", help="a label for each segment, such as its domain; adds the scores of each label")

    tokenizers = get_args(TokenizerName)
    defaults = ", ".join(
        f"{make_metric(name).reader.tokenizer or 'none'} for {name}" for name in takers_of("tokenizer")
    )
    splits = f"one of {', '.join(tokenizers)}; default: {defaults}"
    rouge_splits = (
        f"the same for {_list_takers('rouge_tokenizer')}; default: rouge_score's rule, which keeps a-z and 0-9"
    )
    lowercase = f"lowercase for {_list_takers('lowercase')}, as in sacrebleu; rouge lowercases by default"
    chrf_lowercase = f"lowercase for {_list_takers('chrf_lowercase')}"
    add("-tok", "--tokenizer", choices=tokenizers, metavar="NAME", help=splits)
    add("--rouge-tokenizer", choices=tokenizers, metavar="NAME", help=rouge_splits)
    add("-lc", "--lowercase", action="store_true", help=lowercase)
    add("--chrf-lowercase", action="store_true", help=chrf_lowercase)
    separates = f"for {_list_takers('sentence_separator')}, the text between two sentences, such as <q>"
    add("--sentence-separator", type=_parse_separator, metavar="TEXT", help=separates)
    add("--stem", action="store_true", help=f"stem words for {_list_takers('stem')}")

    add("-f", "--format", choices=FORMATS, default="table", help="default: table")
    digits = "digits after the decimal point; default: 2, but all in json"
    add("-w", "--digits", type=int, choices=range(16), metavar="N", help=digits)
    details = "add differences, p-values and the parts of scores, which json always has"
    add("--details", action="store_true", help=details)
    add("--segments", metavar="FILE", help="write the scores of every segment, as JSON lines")
    add("--report", metavar="FILE", help="write an HTML page that shows where systems are right and wrong")
    add("--source", metavar="FILE", help="the source texts, shown in the report")
    return parser


def _list_takers(option: str) -> str:
    return ", ".join(takers_of(option))


def _parse_metrics(text: str) -> list[str]:
    names = list(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in METRIC_NAMES:
            raise ArgumentTypeError(unknown_metric(name))
    try:
        refuse_equal_names((name, values_of(name)) for name in names)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error
    return names


def _parse_separator(text: str) -> SentenceSeparator:
    try:
        return SentenceSeparator(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error


def _parse_level(text: str) -> float:
    try:
        level = float(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is not a level such as 0.95: expected files before -c") from error
    try:
        checked_level(level)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error
    return level


def _name_files(parser: ArgumentParser, kind: str, words: Sequence[str]) -> dict[str, str]:
    """Return files by name: the NAME of ``NAME=FILE``, else the last part of the path, or the path if two end alike."""
    named = list(map(_split_name, words))
    last_parts = [os.path.basename(file) for name, file in named if not name]
    differ = len(set(last_parts)) == len(last_parts)
    files: dict[str, str] = {}
    for name, file in named:
        name = name or (os.path.basename(file) if differ else file)
        if name in files:
            parser.error(f"two {kind} have the name {name!r}: give them different names, as in NAME=FILE")
        files[name] = file
    return files


def _split_name(word: str) -> tuple[str, str]:
    """Split ``NAME=FILE``, unless a file with the whole name exists."""
    name, _, file = word.partition("=")
    if not file or "/" in name or any(map(os.path.exists, (word, split_field(word)[0]))):
        return "", word
    return name, file


def _find_baseline(parser: ArgumentParser, word: str, systems: dict[str, str]) -> str:
    """Return the name of the system that has this name or file."""
    for name, file in systems.items():
        if word in (name, file):
            return name
    parser.error(f"--baseline {word}: expected one of the systems {', '.join(systems)}")


def _check_text_options(parser: ArgumentParser, options: Namespace) -> None:
    """Exit with an error if an option for text has no effect on the metrics."""
    for option, flag in TEXT_OPTIONS.items():
        if getattr(options, option) and not any(option in entry_of(name).text_options for name in options.metrics):
            parser.error(f"{flag} is for {_list_takers(option)}, and has no effect on {', '.join(options.metrics)}")


def _check_files(parser: ArgumentParser, options: Namespace) -> None:
    """Exit with an error if standard input is read twice, or an output cannot be written or would overwrite a file."""
    files = [*options.systems.values(), *options.references.values(), *filter(None, (options.groups, options.source))]
    paths = [split_field(file)[0] for file in files]
    if paths.count("-") > 1:
        parser.error("standard input can be read only once, but - is given twice")
    inputs: list[str | int] = [path for path in paths if path != "-"]
    if "-" in paths:
        inputs += _list_descriptors([sys.stdin])
    printed = _list_descriptors([sys.stdout, sys.stderr])
    for flag, path in (("--segments", options.segments), ("--report", options.report)):
        if path is None:
            continue
        folder = os.path.dirname(path) or "."
        if os.path.isdir(path or ".") or not os.path.isdir(folder):
            parser.error(f"{flag} {path}: expected a file in a directory that exists")
        if not os.access(path if os.path.exists(path) else folder, os.W_OK):
            parser.error(f"{flag} {path}: permission denied; expected a file that you may write")
        if _is_one_of(path, inputs):
            parser.error(f"{flag} {path} would overwrite an input")
        if _is_one_of(path, printed):
            parser.error(f"{flag} {path} would overwrite the file that the results are printed to")
    if options.segments and options.report and _is_one_of(options.segments, [options.report]):
        parser.error(f"--segments and --report both write {options.report}: expected two files")


def _list_descriptors(streams: Iterable[TextIO | None]) -> list[int]:
    """Return the file descriptors of those standard streams that have one."""
    descriptors = []
    for stream in streams:
        if stream is None:  # closed by the shell
            continue
        try:
            descriptors.append(stream.fileno())
        except (OSError, ValueError):  # an object of Python, such as a StringIO
            continue
    return descriptors


def _is_one_of(path: str, files: Iterable[str | int]) -> bool:
    """Return whether ``path`` is one of these paths or open files. It may be the path of a file to be written.

    A device or a pipe does not count: nothing in it is overwritten.
    """
    exists = os.path.exists(path)
    if exists and not os.path.isfile(path):
        return False
    for file in files:
        if isinstance(file, str) and os.path.realpath(file) == os.path.realpath(path):
            return True
        if exists and os.path.exists(file) and os.path.samefile(path, file):
            return True
    return False
