"""From arguments to an exit code: 0, 1 an error, 2 wrong arguments, 3 a loss, 128 + the code of a signal."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr
from typing import TYPE_CHECKING, NoReturn

from ngram_metrics._cli.command_arguments import parse_mbr, parse_score
from ngram_metrics._cli.files import InputError, Source, open_source, read_segments, split_name
from ngram_metrics._core.basics.output import OutputError, open_output
from ngram_metrics._core.metrics.registry import make_metric
from ngram_metrics._core.text.messages import visible
from ngram_metrics._evaluation.result_tables import Style, format_outcome, terminal_width

if TYPE_CHECKING:
    from types import FrameType

    from ngram_metrics._core.scoring.scorer import Scorer
    from ngram_metrics._core.text.input_types import Tokenizer
    from ngram_metrics._evaluation.results import Outcome

_COMMANDS = ("score", "mbr")
#: The signals that end a command.
_SIGNALS = {signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, by default ``score``, and return the exit code, or raise SystemExit(2) for wrong arguments.

    ``arguments`` are the words after the name of the program, or None in the process of the command.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    command = words.pop(0) if words and words[0] in _COMMANDS else "score"
    with ExitStack() as stack:
        # By default signals end the process at once, and leave temporary files.
        stack.enter_context(_handle_signals([signal.SIG_DFL], _end))
        if sys.stderr is None:  # closed; print would write to standard output
            stack.enter_context(redirect_stderr(stack.enter_context(open(os.devnull, "w"))))
        try:
            losses = _run(command, words, ends=arguments is None)
        except KeyboardInterrupt:
            _tell("interrupted")
            return 130
        except (InputError, OutputError, ModuleNotFoundError) as error:
            _tell(str(error))
            return 1
        for loss in losses:
            _tell(loss)
    return 3 if losses else 0


def _run(command: str, words: Sequence[str], ends: bool) -> list[str]:
    """Run a command, and return a line for each reason to fail after its output is written."""
    options = (parse_mbr if command == "mbr" else parse_score)(words)
    with ExitStack() as stack:
        sources = [stack.enter_context(open_source(split_name(name), options.line_limit)) for name in options.inputs]
        if command == "score":
            # Opened first, so that an output that cannot be written is reported before the work.
            write = stack.enter_context(open_output(options.output))
            outcome, losses = _score(options, sources, ends)
            width = sys.maxsize if options.output else terminal_width()
            write(format_outcome(outcome, options.format, Style(options.digits, options.details, width)))
            return losses
        with _delay_signals(), _pause_collection(ends):
            from ngram_metrics._cli import mbr_command  # imports torch, which takes seconds
        stack.enter_context(_apply_run_options(options))
        mbr_command.run(options, make_scorers(options)[options.metric], *sources)
        return []


def _score(options: Namespace, sources: Sequence[Source], ends: bool) -> tuple[Outcome, list[str]]:
    """Return what ``score_command.score`` returns."""
    chunks = read_segments(sources, len(options.systems), len(options.references))
    with _delay_signals(), _pause_collection(ends):
        from ngram_metrics._cli import score_command
    with _apply_run_options(options):
        return score_command.score(options, make_scorers(options), chunks)


def make_scorers(options: Namespace) -> dict[str, Scorer]:
    """Return the metrics that the options name."""
    text_options = vars(options)
    if options.spm_model:
        text_options = {**text_options, "tokenizer": _load_model(options.spm_model)}
    return {name: make_metric(name, **text_options) for name in options.metrics}


def _load_model(path: str) -> Tokenizer:
    try:
        from sentencepiece import SentencePieceProcessor
    except ImportError as error:
        raise ModuleNotFoundError("--spm-model needs sentencepiece: pip install sentencepiece") from error
    try:
        with open(path, "rb") as file:
            return SentencePieceProcessor(model_proto=file.read())
    except OSError as error:
        raise InputError(f"--spm-model {path} cannot be read: {error.strerror}") from error
    except RuntimeError as error:
        raise InputError(f"--spm-model {path} is not a sentencepiece model") from error


def _end(code: int, _: object) -> NoReturn:
    raise SystemExit(128 + code)


@contextmanager
def _delay_signals() -> Iterator[None]:
    """Delay signals to the end of the ``with`` block, because Ctrl-C while numpy is imported becomes another error."""
    arrived: list[int] = []
    with _handle_signals([signal.default_int_handler, _end], lambda code, _: arrived.append(code)):
        yield
    for code in arrived:
        signal.raise_signal(code)


@contextmanager
def _handle_signals(old: Sequence[object], handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Replace ``old`` handlers of signals in a ``with`` block, if this is the main thread."""
    in_charge = threading.current_thread() is threading.main_thread()
    codes = [code for code in _SIGNALS if in_charge and signal.getsignal(code) in old]
    replaced = {code: signal.signal(code, handler) for code in codes}
    try:
        yield
    finally:
        for code, old_handler in replaced.items():
            signal.signal(code, old_handler)


@contextmanager
def _pause_collection(ends: bool) -> Iterator[None]:
    """Pause garbage collection, which takes a second for the objects of torch, and for them for good if all ends."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if ends:
            gc.freeze()
        if collects:
            gc.enable()


@contextmanager
def _apply_run_options(options: Namespace) -> Iterator[None]:
    """Set threads and warnings of one line, and restore them at the end."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(options.threads)
    try:
        with _one_line_warnings():
            yield
    finally:
        torch.set_num_threads(threads)


@contextmanager
def _one_line_warnings() -> Iterator[None]:
    """Write each warning once, in one line."""
    with warnings.catch_warnings():
        warnings.simplefilter("once", UserWarning)
        warnings.showwarning = lambda message, *_, **__: _tell(f"warning: {message}")
        yield


def _tell(what: str) -> None:
    """Write a line on standard error, whatever characters the names in it have."""
    print(f"ngram-metrics: {visible(' '.join(what.split()))}", file=sys.stderr)
