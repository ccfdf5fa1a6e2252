"""The version of the package.

It is written here, not read from the metadata of the installed package, so that the command starts fast.
"""

__version__ = "0.1.0"
