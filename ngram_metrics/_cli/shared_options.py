"""The options of all commands, the types of their values for argparse, and the checks of files."""

from __future__ import annotations

import argparse
import math
import os
import stat
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn, TextIO, TypeAlias, get_args

from ngram_metrics._cli.files import FilePart, parse_decimal, split_name
from ngram_metrics._core.basics.option_checks import check_confidence
from ngram_metrics._core.basics.output import open_output
from ngram_metrics._core.metrics.registry import make_metric, row_of, takers_of
from ngram_metrics._core.scoring.signature import __version__
from ngram_metrics._core.text.messages import did_you_mean, shortened, visible
from ngram_metrics._core.text.tokenizer_option import TokenizerName

TOKENIZERS: tuple[TokenizerName, ...] = get_args(TokenizerName)
_LONGEST_LINE = 10**7
#: Options by their names, with the help and how argparse parses them.
OptionRows: TypeAlias = Mapping[str, tuple[str, Mapping[str, Any]]]


def file_name(text: str) -> str:
    """Return the name of a file, which is empty if a shell variable is not set, and then refused."""
    if not text:
        raise argparse.ArgumentTypeError("'' is not the name of a file")
    return text


def parse_destination(text: str) -> str | None:
    """Return the name of a file to write, None for standard output."""
    return None if text in ("-", "/dev/stdout") else file_name(text)


#: How an option is parsed that takes a file to read, a file to write, or no value.
FILE: dict[str, object] = {"type": file_name, "metavar": "FILE"}
DESTINATION: dict[str, object] = {"type": parse_destination, "metavar": "FILE"}
FLAG: dict[str, object] = {"action": "store_true"}


class Parser(argparse.ArgumentParser):
    """A parser that takes options by their full names only, and ``-:2``, column 2 of standard input, as a file."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(**keywords, allow_abbrev=False)

    def add_options(self, files: OptionRows, scores: OptionRows, output: OptionRows) -> None:
        """Add the options of a command, whose names are separated by spaces, and the options of all commands."""
        limit_help = f"characters that a line may have; default: {_LONGEST_LINE}"
        text: OptionRows = {
            "--tokenizer -tok": (
                f"{', '.join(TOKENIZERS)}; default: {{}}",
                {"type": _parse_tokenizer, "metavar": "NAME"},
            ),
            "--spm-model": ("instead of --tokenizer: a sentencepiece model, for spBLEU", FILE),
            "--lowercase -lc": ("lowercase for {}, as in sacrebleu; rouge always lowercases", FLAG),
            "--chrf-lowercase": ("lowercase for {}", FLAG),
            "--stem": ("stem words for {}", FLAG),
        }
        others: OptionRows = {
            "--threads": ("threads of torch; default: 1", {**integer(1, 1024), "default": 1}),
            "--line-limit": (limit_help, integer(1, 10**9)),
            "--version": ("print the version", {"action": "version", "version": f"ngram-metrics {__version__}"}),
            "-h --help": ("print this", {"action": "help"}),
        }
        rows = {"files": files, "scores": scores, "how text is read": text, "output": output, "other options": others}
        for title, options in rows.items():
            group = self.add_argument_group(title)
            actions = [group.add_argument(*names.split(), help=text, **how) for names, (text, how) in options.items()]
            if options is text:
                self.text_actions = actions

    def format_help(self) -> str:
        # Which metrics take an option is in their files, which only this text needs.
        tokenizers = [f"{make_metric(name).reader.tokenizer or 'none'} for {name}" for name in takers_of("tokenizer")]
        for action in self.text_actions:
            listed = tokenizers if action.dest == "tokenizer" else takers_of(action.dest)
            action.help = str(action.help).format(_enumerate(listed)) if listed else action.help
        return super().format_help()

    def _parse_optional(self, arg_string: str):  # type: ignore[no-untyped-def]
        return None if arg_string.startswith("-:") else super()._parse_optional(arg_string)

    def _get_option_tuples(self, option_string):  # type: ignore[no-untyped-def]
        """Return a short option with a value, as -w2, but not -tok, which ``argparse`` finds by its beginning."""
        return [match for match in super()._get_option_tuples(option_string) if match[1] == option_string[:2]]

    def _check_value(self, action: argparse.Action, value: object) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            error.message += did_you_mean(str(value), action.choices or ())
            raise

    def _print_message(self, message: str, file: Any = None) -> None:
        if file is not sys.stdout:
            super()._print_message(message, file)
            return
        with open_output(None) as write:
            write(message)

    def error(self, message: str) -> NoReturn:
        """Exit with code 2 and a message, whatever characters the names in it have."""
        super().error(visible(message))


def parse_words(parser: Parser, words: Sequence[str], instead: Mapping[str, str]) -> argparse.Namespace:
    """Parse files and options in any order, and words after ``--`` as files, with advice ``instead`` of options."""
    end = words.index("--") if "--" in words else len(words)
    options, unknown = parser.parse_known_intermixed_args(list(words[:end]))
    names = [word.partition("=")[0] for word in unknown]
    for name in filter(instead.__contains__, names):
        parser.error(f"{name}: {instead[name]}")
    if unknown:
        suggested = did_you_mean(names[0], parser._option_string_actions)
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{suggested}")
    options.files += words[end + 1 :]
    return options


def check_files_and_text(parser: Parser, options: argparse.Namespace, destinations: Mapping[str, str | None]) -> None:
    """Exit with an error if files cannot be read and written together, or an option for text has no effect."""
    parts = [split_name(name) for name in options.inputs]
    if sum(part.path == "-" for part in parts) > 1:
        parser.error("standard input can be read once, and - is given twice")
    for part in parts:
        if part.column == 0:
            parser.error(f"{part.name}: columns are counted from 1")
    _check_text_options(parser, options)
    _check_destinations(parser, destinations, [*options.inputs, *filter(None, [options.spm_model])])


def _check_text_options(parser: Parser, options: argparse.Namespace) -> None:
    """Set the length of a line, and refuse options that have no effect on the metrics."""
    options.line_limit = options.line_limit or _LONGEST_LINE
    rows = [row_of(name) for name in options.metrics]
    for action in parser.text_actions:
        name = "tokenizer" if action.dest == "spm_model" else action.dest
        if getattr(options, action.dest) and not any(name in row.text_options for row in rows):
            takers = _enumerate(takers_of(name))
            metrics = _enumerate(options.metrics)
            parser.error(f"{action.option_strings[0]} is for {takers}, and does nothing for {metrics}")
    if options.spm_model and options.tokenizer:
        parser.error("--tokenizer and --spm-model: expected one of them")


def _parse_tokenizer(text: str) -> TokenizerName:
    if text not in TOKENIZERS:
        message = f"unknown tokenizer {text!r}: expected {', '.join(TOKENIZERS)}, or --spm-model for a model"
        raise argparse.ArgumentTypeError(message + did_you_mean(text, TOKENIZERS))
    return text


def integer(first: int, last: int) -> dict[str, object]:
    """Return how an option is parsed that takes an integer from ``first`` to ``last``."""

    def read(text: str) -> int:
        value = parse_decimal(text)
        if value is None or not first <= value <= last:
            raise argparse.ArgumentTypeError(f"{shortened(text)} is not an integer from {first} to {last}")
        return value

    return {"type": read, "metavar": "N"}


def parse_number(text: str) -> float:
    """Return a number, NaN for any other word."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def parse_level(text: str) -> float:
    """Parse the level of intervals."""
    value = parse_number(text)
    if not 0 < value < 1:
        remedy = f"; did you mean {value / 100:g}?" if 1 < value < 100 else ""
        if math.isnan(value):
            remedy = ", such as 0.95, nor the name of a file"
        raise argparse.ArgumentTypeError(f"{text!r} is not a level between 0 and 1{remedy}")
    try:
        check_confidence(value, "micro")
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return value


def parse_margin(text: str) -> float:
    """Parse a number of points of a table."""
    value = parse_number(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of points from 0, such as 0.5")
    return value


def _enumerate(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def check_different(parser: argparse.ArgumentParser, kind: str, names: Sequence[str]) -> None:
    """Exit with an error if a file is named twice, even by another path."""
    for index, name in enumerate(names):
        if any(is_same(name, other) for other in names[:index]):
            parser.error(f"the {kind} {name!r} is given twice")


def is_same(name: str, other: str) -> bool:
    """Return whether two names mean the same file and the same column or field."""
    return name == other or _resolve(name) == _resolve(other)


def _resolve(name: str) -> FilePart:
    part = split_name(name)
    return part._replace(name="", path="-" if part.path == "-" else os.path.abspath(part.path))


def _check_destinations(parser: Parser, paths: Mapping[str, str | None], inputs: Sequence[str]) -> None:
    """Exit with an error if a file to write, by its option, is also read, is written twice, or cannot be created."""
    read = {name: split_name(name).path for name in inputs}
    names = {_identify(None if path == "-" else path, sys.stdin): name for name, path in read.items()}
    for option, path in paths.items():
        if path is None and option != "--output":  # which is then standard output
            continue
        file = _identify(path, sys.stdout)
        written = "standard output" if path is None else f"{option} {path}"
        if file is not None and file in names:
            parser.error(f"{written} would overwrite {names[file]}")
        names[file] = option
        if path is not None and (os.path.isdir(path) or not os.path.isdir(os.path.dirname(path) or ".")):
            reason = "is a directory" if os.path.isdir(path) else "is in a directory that does not exist"
            parser.error(f"{written} {reason}: expected a file")


def _identify(path: str | None, stream: TextIO) -> tuple[int | str, ...] | None:
    """Return what identifies a file, or the stream without a path, or None for a terminal or pipe."""
    with suppress(AttributeError, OSError, ValueError):  # no such file; a stream that is closed, or not of a file
        status = os.fstat(stream.fileno()) if path is None else os.stat(path)
        return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None
    with suppress(OSError, ValueError):  # no such folder
        folder, name = os.path.split(os.path.realpath(path or ""))
        status = os.stat(folder)
        return (status.st_dev, status.st_ino, name) if path else None
    return None
