"""Errors that end a command with one line and exit code 1."""

from __future__ import annotations


class InputError(Exception):
    """An error in the input files, described in a sentence for the user."""


class OutputError(Exception):
    """An error in writing to a file or to standard output."""
