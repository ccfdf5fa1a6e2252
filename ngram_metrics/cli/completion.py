"""Completion for shells: a script that shtab makes of a parser, once; nothing of it runs when the command does."""

from __future__ import annotations

import argparse

SHELLS = ("bash", "zsh", "tcsh")


def print_completion(parser: argparse.ArgumentParser, shell: str) -> None:
    """Print the script for a shell, and end."""
    try:
        import shtab
    except ImportError:
        parser.error("--print-completion needs shtab: pip install 'ngram-metrics[cli]'")
    for action in parser._actions:
        if action.metavar == "FILE":
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(parser, shell))
    parser.exit()
