"""The entry point, with exit codes, and one line for each error and warning."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, suppress

from ngram_metrics._core.text.messages import visible

#: The exit code that shells give a program ended by Ctrl-C: 128 plus the number of the signal.
_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return the exit code: 0, 1 for an error, or 130 after Ctrl-C.

    ``arguments`` are the words after the name of the program, None for those of this process. For wrong arguments,
    SystemExit(2) is raised.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):  # the default encoding of a pipe in Windows may not encode names
        sys.stdout.reconfigure(encoding="utf-8")
    with _open_standard_error(), _one_line_warnings():
        try:
            # These imports take a second, during which Ctrl-C is one line too.
            from ngram_metrics._cli.arguments import parse_arguments
            from ngram_metrics._cli.command import run_command

            run_command(parse_arguments(arguments))
        except KeyboardInterrupt:
            _tell("interrupted")
            return _INTERRUPTED
        except (ValueError, OSError, ModuleNotFoundError) as error:
            _tell(str(error))
            return 1
    return 0


@contextmanager
def _open_standard_error() -> Iterator[None]:
    """Discard messages if standard error is closed; ``print`` and argparse would write them to standard output."""
    with ExitStack() as stack:
        if sys.stderr is None:
            stack.enter_context(redirect_stderr(stack.enter_context(open(os.devnull, "w", encoding="utf-8"))))
        yield


@contextmanager
def _one_line_warnings() -> Iterator[None]:
    """Write each warning once, in one line."""
    with warnings.catch_warnings():
        warnings.simplefilter("once", UserWarning)
        warnings.showwarning = lambda message, *_, **__: _tell(f"warning: {message}")
        yield


def _tell(what: str) -> None:
    """Write one line to standard error, with all characters visible."""
    with suppress(OSError):  # standard error is a pipe without a reader, or a full disk
        print(f"ngram-metrics: {visible(' '.join(what.split()))}", file=sys.stderr)
