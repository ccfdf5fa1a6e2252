"""The outputs of a training: one file for each step, with a line of JSON for each segment."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from ngram_metrics._core.text.messages import type_name
from ngram_metrics._evaluation.files import read_lines


def read_outputs(systems: object) -> tuple[dict[str, list[str]], list[list[str]], list[str] | None]:
    """Return the hypotheses of each file by name, and the references and the sources of the segments.

    The sources are None if the files have none.

    Raises:
        TypeError: an object that is neither a folder nor a mapping of names to files.
        ValueError: a file that cannot be read, or that has other references or sources than the first one.
    """
    paths = _list_steps(os.fsdecode(systems)) if isinstance(systems, (str, os.PathLike)) else systems
    if not isinstance(paths, Mapping) or not all(isinstance(path, (str, os.PathLike)) for path in paths.values()):
        raise TypeError(
            f"references is None and systems is {type_name(systems)}: expected references, or a folder with outputs of "
            "a training, or a mapping of names to such files"
        )
    hypotheses: dict[str, list[str]] = {}
    references: list[list[str]] = []
    sources: list[str] | None = None
    for name, path in paths.items():
        first = references, sources
        hypotheses[name], references, sources = _read(os.fsdecode(path))
        if len(hypotheses) > 1 and (references, sources) != first:
            raise ValueError(f"{path} has other references or sources than the first file: expected the same segments")
    return hypotheses, references, sources


def _list_steps(folder: str) -> dict[str, str]:
    """Return the files of a folder in the order of their steps, by their names without the suffix."""
    files = [name for name in (os.listdir(folder) if os.path.isdir(folder) else []) if name.endswith(".jsonl")]
    if not files:
        raise ValueError(f"{folder} is no folder with files such as step-500.jsonl: expected the outputs of a training")
    files.sort(key=lambda name: [int(digits) for digits in re.findall(r"\d+", name)])
    return {name.removesuffix(".jsonl"): os.path.join(folder, name) for name in files}


def _read(path: str) -> tuple[list[str], list[list[str]], list[str] | None]:
    """Return the hypotheses, the references and the sources of a file."""
    hypotheses = read_lines(f"{path}:hypothesis")
    references = read_lines(f"{path}:references", may_be_lists=True)
    try:
        return hypotheses, references, read_lines(f"{path}:source")
    except ValueError:  # the file has no sources
        return hypotheses, references, None
