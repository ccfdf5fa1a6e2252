"""Which systems are the steps of one training."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

#: A step in the name of a system: ``epoch 3``, ``step-500``, ``checkpoint_1000``. The word before it is its unit.
_STEP = re.compile(r"(?i)(epoch|step|iteration|iter|checkpoint|ckpt)[ =_-]?(\d+)")
_NUMBER = re.compile(r"\d+")


class Steps(NamedTuple):
    """The steps of a training: what is counted, such as ``epoch``, and the number of each system."""

    unit: str
    numbers: list[int]


def find_steps(names: Sequence[str]) -> Steps | None:
    """Return the steps that systems are named after, or None if they are not the steps of one training.

    The names of steps are the same except for their numbers, and the numbers ascend. If a name has several steps, as in
    ``epoch=3-step=500``, the last one counts.

    >>> find_steps(["epoch 1", "epoch 2", "epoch 10"])
    Steps(unit='epoch', numbers=[1, 2, 10])
    >>> find_steps(["base/step-500.jsonl", "tuned/step-900.jsonl"]) is None
    True
    >>> find_steps(["model-7b", "model-13b"]) is None
    True
    """
    if len(names) < 2 or len({_NUMBER.sub("", name) for name in names}) > 1:
        return None
    matches = [list(_STEP.finditer(name)) for name in names]
    if not all(matches):
        return None
    numbers = [int(of_name[-1][2]) for of_name in matches]
    if any(later <= earlier for earlier, later in pairwise(numbers)):
        return None
    return Steps(matches[0][-1][1].lower(), numbers)
