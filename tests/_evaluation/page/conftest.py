"""The folder that the command line runs in."""

from commands import folder as folder
