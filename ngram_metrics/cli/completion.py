"""Completion for shells: shtab makes a script from the parsers once; completing does not run the command."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from ngram_metrics.cli.output import InputError

SHELLS = ("bash", "zsh", "tcsh")


def script(parser: argparse.ArgumentParser, commands: Mapping[str, argparse.ArgumentParser], shell: str) -> str:
    """Return the script for a shell.

    Args:
        parser: the parser of the default command; the others are added to it.
        commands: parsers by the names of their commands.
        shell: one of :data:`SHELLS`.

    Raises:
        InputError: shtab is not installed.
    """
    try:
        import shtab
    except ImportError as error:
        raise InputError("--print-completion needs shtab: pip install shtab") from error
    named = parser.add_subparsers()
    for name, of_command in commands.items():
        # Commands without a help text are left out.
        named.add_parser(name, help=of_command.description, parents=[of_command], add_help=False)
    for action in [action for known in (parser, *named.choices.values()) for action in known._actions]:
        if action.metavar in ("FILE", "SAMPLES"):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    return str(shtab.complete(parser, shell))
