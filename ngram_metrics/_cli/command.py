"""What the command does: read files, evaluate, and write the results."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from itertools import chain

from ngram_metrics._cli.arguments import TEXT_OPTIONS
from ngram_metrics._core.basics.output import write_file
from ngram_metrics._core.metrics.registry import make_metric
from ngram_metrics._core.text.input_warnings import OptionNames, name_options
from ngram_metrics._evaluation.evaluate import Evaluation, evaluate
from ngram_metrics._evaluation.files import read_segments
from ngram_metrics._evaluation.page import check_installed, check_size
from ngram_metrics._evaluation.result_tables import Style, terminal_width

_OPTION_NAMES = OptionNames(
    tokenizer="--tokenizer ",
    rouge_tokenizer="--rouge-tokenizer ",
    sentences="pass --sentence-separator TEXT, with the text between two sentences",
)


def run_command(options: Namespace) -> None:
    """Read all files, evaluate, and write the results.

    Raises:
        ValueError, OSError: a file that cannot be read or written.
        ModuleNotFoundError: an option that needs a package that is not installed.
    """
    optional = [file for file in (options.groups, options.source) if file is not None]
    columns = iter(read_segments([*options.systems.values(), *optional], list(options.references.values())))
    systems = dict(zip(options.systems, columns, strict=False))
    groups = None if options.groups is None else next(columns)
    sources = None if options.source is None else next(columns)
    references = dict(zip(options.references, columns, strict=True))
    if options.report is not None:
        # Before the scores, which may take long.
        check_installed()
        check_size(systems, chain.from_iterable(references.values()))
    text_options = {option: getattr(options, option) for option in TEXT_OPTIONS}
    metrics = {name: make_metric(name, **text_options) for name in options.metrics}

    with name_options(_OPTION_NAMES):
        result = evaluate(
            systems, references, metrics, options.baseline, options.confidence, options.test, groups=groups
        )
    if options.segments is not None:
        write_file(options.segments, "".join(f"{line}\n" for line in _list_segments(result)))
    if options.report is not None:
        result.write_report(
            options.report, tokenizer=options.tokenizer or options.rouge_tokenizer or "13a", sources=sources
        )
    style = Style(options.digits, options.details, terminal_width())
    print(result._format(options.format, style), end="", flush=True)


def _list_segments(result: Evaluation) -> Iterator[str]:
    """Yield a line of JSON for each segment and system, with scores from 0 to 100."""
    columns = result.segments()
    segments = columns.pop("segment")
    systems = columns.pop("system")
    for row, (segment, system) in enumerate(zip(segments, systems, strict=True)):
        scores = {name: 100 * values[row] for name, values in columns.items()}
        yield json.dumps({"line": segment + 1, "system": system, **scores})
