"""The keys of ROUGE: what they count, and the names of their values. Imports no torch, as ``ngram_metrics.pair``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import Literal, TypeAlias

from ngram_metrics.scores.options import check_choice

#: All keys.
RougeKey: TypeAlias = Literal[
    "rouge1", "rouge2", "rouge3", "rouge4", "rouge5", "rouge6", "rouge7", "rouge8", "rouge9", "rougeL", "rougeLsum"
]
#: The order of n-grams, or the kind of subsequence, that a key counts.
ROUGE_KEYS: dict[str, int | str] = {
    **{f"rouge{order}": order for order in range(1, 10)},
    "rougeL": "L",
    "rougeLsum": "Lsum",
}

#: The last parts of the names of a key's values, the first of which people report, with their places in a score.
ROUGE_VALUES = {"fmeasure": 2, "precision": 0, "recall": 1}


def checked_keys(rouge_keys: RougeKey | Sequence[RougeKey]) -> tuple[RougeKey, ...]:
    """Return ``rouge_keys`` as a tuple; a str is one key.

    Raises:
        TypeError: neither a key nor a sequence of keys.
        ValueError: no key, or an unknown key.
    """
    if not isinstance(rouge_keys, Iterable) or isinstance(rouge_keys, Set):
        raise TypeError(f"rouge_keys is {rouge_keys!r}: expected a key or a sequence of keys")
    keys: tuple[RougeKey, ...] = (rouge_keys,) if isinstance(rouge_keys, str) else tuple(rouge_keys)
    if not keys:
        raise ValueError(f"no rouge key: expected some of {list(ROUGE_KEYS)}")
    for key in keys:
        check_choice("rouge key", key, ROUGE_KEYS)
    return keys


def value_places(rouge_keys: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return torchmetrics' names of all values, ``rouge1_fmeasure`` and so on, and their places in a score.

    A score has for each key its precision, recall and F.
    """
    return {
        f"{key}_{name}": (number, column)
        for number, key in enumerate(rouge_keys)
        for name, column in ROUGE_VALUES.items()
    }
