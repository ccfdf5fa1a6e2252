"""From arguments to an exit code: 0; 1 if the work cannot be done, 2 for wrong arguments, 130 after Ctrl-C."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr

from ngram_metrics.cli import mbr_arguments, score_arguments
from ngram_metrics.cli.errors import InputError, OutputError
from ngram_metrics.cli.interruption import interruption_waits
from ngram_metrics.cli.mbr_arguments import MbrOptions
from ngram_metrics.cli.output import tell
from ngram_metrics.cli.paths import place_of
from ngram_metrics.cli.score_arguments import ScoreOptions
from ngram_metrics.cli.sources import check_readable

_COMMANDS = ("score", "mbr")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, by default ``score``, and return the exit code; wrong arguments raise SystemExit with 2."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    command = words.pop(0) if words and words[0] in _COMMANDS else "score"
    with ExitStack() as stack:
        if sys.stderr is None:  # closed; print would write to standard output
            stack.enter_context(redirect_stderr(stack.enter_context(open(os.devnull, "w"))))
        try:
            _run((mbr_arguments if command == "mbr" else score_arguments).parse(words))
        except KeyboardInterrupt:
            tell("interrupted")
            return 130
        except (InputError, OutputError, ModuleNotFoundError) as error:
            tell(str(error))
            return 1
    return 0


def _run(options: MbrOptions | ScoreOptions) -> None:
    check_readable([place_of(name) for name in options.inputs], options.line_limit)
    with interruption_waits(), _kept_for_good():
        # torch is imported here, which takes seconds.
        from ngram_metrics.cli import mbr, score
        from ngram_metrics.cli.surroundings import surroundings

    with surroundings(options):
        if isinstance(options, MbrOptions):
            mbr.run(options)
        else:
            score.run(options)


@contextmanager
def _kept_for_good() -> Iterator[None]:
    """Keep imported objects out of garbage collection: scanning torch repeatedly takes a second."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if collects:
            gc.enable()
