"""The arguments of ``ngram-metrics mbr``, parsed and checked without opening files or importing torch."""

from __future__ import annotations

from collections.abc import Sequence

from ngram_metrics.cli.options import (
    Options,
    Parser,
    add_run_options,
    add_text_options,
    check_text_options,
    integer,
    parsed,
)
from ngram_metrics.cli.paths import check_inputs, check_written, destination, file_name

METRICS = ("bleu", "chrf", "chrf++", "rouge1", "rouge2", "overlap", "gleu")
FORMATS = ("text", "jsonl")
_USAGE = "ngram-metrics mbr SAMPLES [options]"
_DESCRIPTION = """Choose from several hypotheses the one that agrees best with all of them: minimum Bayes risk decoding,
where each hypothesis is a reference for the others."""
_FILES = """SAMPLES has k lines per sentence with -k, else JSON lines: each a list of strings, or with FILE:field an
object that contains one. Plain or packed by gzip or xz; - is standard input."""


class MbrOptions(Options):
    """The options of all commands, and those of ``mbr`` only."""

    samples: str
    k: int | None
    weights: str | None
    metric: str


def parser() -> Parser:
    """Return the parser."""
    made = Parser(
        prog="ngram-metrics mbr",
        usage=_USAGE,
        description=_DESCRIPTION,
        epilog=_FILES,
        allow_abbrev=False,
        add_help=False,
    )
    files = made.add_argument_group("files")
    files.add_argument("files", nargs="*", type=file_name, metavar="SAMPLES", help="the hypotheses")
    files.add_argument("-k", type=integer(1, 100_000), metavar="N", help="lines per sentence")
    files.add_argument(
        "--weights", type=file_name, metavar="FILE", help="a number for each hypothesis, in a file of the same form"
    )
    made.add_argument_group("scores").add_argument(
        "-m", "--metric", choices=METRICS, default="chrf", help="the utility, default: chrf"
    )
    add_text_options(made)
    report = made.add_argument_group("output")
    report.add_argument(
        "-f",
        "--format",
        choices=FORMATS,
        default="text",
        help="one line per sentence, or JSON lines with index and expected utility; default: text",
    )
    report.add_argument("-o", "--output", type=destination, metavar="FILE", help="default: standard output")
    add_run_options(made)
    return made


def parse(words: Sequence[str]) -> MbrOptions:
    """Parse arguments; exit with code 2 if they are wrong.

    Returns:
        ``inputs``, all files that are read; ``metrics``, a list of one; and the other options by name.
    """
    made = parser()
    options = parsed(made, words, MbrOptions())
    if len(options.files) != 1:
        made.error(f"expected SAMPLES, one file of hypotheses, and got {', '.join(options.files) or 'none'}")
    (options.samples,), options.metrics = options.files, [options.metric]
    options.inputs = [options.samples, *filter(None, [options.weights])]
    check_inputs(made, options.inputs)
    check_text_options(made, options, options.metrics)
    check_written(made, {"--output": options.output}, [*options.inputs, *filter(None, [options.spm_model])])
    return options
