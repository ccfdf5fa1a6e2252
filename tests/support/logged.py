"""What the tests of loggers share: how TensorBoard shows a text, its event files, and the rows that are expected."""

import re
import warnings
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from ngram_metrics.functional import chrf_score

pytest.importorskip("tensorboard", reason="its files are read")

with warnings.catch_warnings():
    # TensorBoard's own imports use what others deprecate.
    warnings.simplefilter("ignore")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.plugin_util import markdown_to_safe_html


def cells(markdown: str) -> list[list[str]]:
    """The rows that TensorBoard shows of a text, the header first."""
    rows = re.findall(r"<tr>(.*?)</tr>", markdown_to_safe_html(markdown), re.DOTALL)
    shown = [re.findall(r"<t[hd]>(?:<pre>)?(.*?)(?:</pre>)?</t[hd]>", row, re.DOTALL) for row in rows]
    return [[unescape(cell.replace("<br>", "\n")) for cell in row] for row in shown]


def samples_of(markdown: str) -> list[list[str]]:
    """Each hypothesis with its reference and its chrF, where a table has the columns of three metrics."""
    header, *rows = cells(markdown)
    assert header == COLUMNS
    return [[hypothesis, reference, chrf] for _, hypothesis, reference, chrf, _, _ in rows]


COLUMNS = ["line", "hypothesis", "references", "chrf", "bleu", "rouge"]


def expected(written: Sequence[str], references: Sequence[str], number: int) -> list[list[str]]:
    """The first segments with their chrF, and as many of the others with the lowest."""
    scores = chrf_score(written, references, average="none").tolist()
    others = sorted(range(number, len(written)), key=scores.__getitem__)[:number]
    lines = [*range(len(written))[:number], *others]
    return [[written[line], references[line], f"{scores[line]:.4f}"] for line in lines]


def events(folder: Path | str) -> Any:
    return EventAccumulator(str(folder)).Reload()


def texts(folder: Path | str, name: str) -> list[tuple[int, str]]:
    """The texts of a name with their steps."""
    found = events(folder).Tensors(f"{name}/text_summary")
    return [(text.step, text.tensor_proto.string_val[0].decode()) for text in found]
