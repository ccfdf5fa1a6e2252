"""What ends a command with one line and exit code 1."""

from __future__ import annotations


class InputError(Exception):
    """What is wrong with the files, in a sentence for whoever named them."""


class OutputError(Exception):
    """What is wrong with the place that was written to."""
