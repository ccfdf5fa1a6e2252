"""The inputs of the frozen scores, by name: hypotheses and references, and the functions that a setting may name.

inputs.json has the texts, each input with what it is about. A name such as "several: padded" is the input "several" in
the form "padded". Like rows, inputs are only added: a change of one would change the numbers of all its rows.
"""

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

Texts = list[str]
References = list[str | Texts]

# The forms: the same texts as tokens and ids.

#: Ids that stand for no token: padding, begin, end. The id between sentences is the next.
PADDING, BEGIN, END, SEPARATOR = range(4)


def encode_all(encode: Callable[[str], Any], texts: Texts, references: References) -> Any:
    """Encode all texts; one empty reference becomes a list of one, because ``[]`` would be no reference."""
    listed: list[Any] = []
    for target in references:
        if isinstance(target, str):
            encoded = encode(target)
            listed.append(encoded if len(encoded) else [encoded])
        else:
            listed.append([encode(text) for text in target])
    return [encode(text) for text in texts], listed


def tokens(texts: Texts, references: References) -> Any:
    return encode_all(str.split, texts, references)


def ids(texts: Texts, references: References, by_line: bool = False) -> Any:
    """Lists of ids, one for each word; with ``by_line`` a separator for an end of line."""
    numbers: dict[str, int] = {}

    def encode(text: str) -> list[int]:
        words = text.replace("\n", " \n ").split(" ") if by_line else text.split()
        return [SEPARATOR if word == "\n" else numbers.setdefault(word, len(numbers) + 4) for word in words if word]

    return encode_all(encode, texts, references)


def tensors(texts: Texts, references: References) -> Any:
    """A 1-D tensor for each segment and each reference."""

    def convert(side: Any) -> Any:
        if side and isinstance(side[0], list):
            return [convert(one) for one in side]
        return torch.tensor(side, dtype=torch.int64)

    hypotheses, listed = ids(texts, references)
    return [convert(one) for one in hypotheses], [convert(one) for one in listed]


def padded(texts: Texts, references: References, by_line: bool = False, pad: int = PADDING) -> Any:
    """Hypotheses ``(segments, width)``, and references ``(segments, width)`` or ``(segments, references, width)``."""
    hypotheses, listed = ids(texts, references, by_line)
    targets = [target if isinstance(target[0], list) else [target] for target in listed]
    most = max(map(len, targets))
    width = max(len(one) for target in targets for one in target)
    target = torch.stack([fill(target + [[]] * (most - len(target)), width, pad) for target in targets])
    return fill(hypotheses, max(map(len, hypotheses)), pad), target if most > 1 else target[:, 0]


def fill(rows: list[list[int]], width: int, pad: int = PADDING) -> torch.Tensor:
    return torch.tensor([row + [pad] * (width - len(row)) for row in rows], dtype=torch.int64)


def several_pads(texts: Texts, references: References) -> Any:
    """Padding on the left too, and ids of begin and end around each row, and so also around missing references."""

    def surround(rows: torch.Tensor) -> torch.Tensor:
        column = torch.ones_like(rows[..., :1])
        return torch.cat((column * PADDING, column * BEGIN, rows, column * END), -1)

    hypotheses, target = padded(texts, references)
    return surround(hypotheses), surround(target)


def arrays(texts: Texts, references: References) -> Any:
    """Arrays of NumPy, padded by -100, as trainers give them."""
    hypotheses, target = padded(texts, references, pad=-100)
    return np.asarray(hypotheses.to(torch.int32)), np.asarray(target.to(torch.int32))


def samples(texts: Texts, references: References) -> Any:
    """Three hypotheses for each reference: its own, the same with the first token behind the padding, and the next."""
    hypotheses, target = padded(texts, references)
    return torch.stack((hypotheses, hypotheses.roll(-1, 1), hypotheses.roll(-1, 0)), 1), target


def id_rows(hypotheses: list[Texts], references: list[Texts]) -> Any:
    """Rows of documents as lists of ids."""
    flat = [text for side in (hypotheses, references) for row in side for text in row]
    encoded = iter(ids(flat, [])[0])
    return tuple([[next(encoded) for _ in row] for row in side] for side in (hypotheses, references))


FORMS: dict[str, Callable[..., Any]] = {
    "tokens": tokens,
    "ids": ids,
    "ids by line": partial(ids, by_line=True),
    "tensors": tensors,
    "padded": padded,
    "padded by line": partial(padded, by_line=True),
    "several pads": several_pads,
    "arrays": arrays,
    "samples": samples,
    "id rows": id_rows,
}

#: Hypotheses and references, by the names of the inputs.
TEXTS: dict[str, tuple[Any, Any]] = {
    name: (parts["hypotheses"], parts["references"])
    for name, parts in json.loads(Path(__file__).with_name("inputs.json").read_text(encoding="utf-8")).items()
}


def read_input(name: str) -> Any:
    """Return the hypotheses and the references of an input, "several", or of one in a form, "several: padded"."""
    text, _, form = name.partition(": ")
    return FORMS[form](*TEXTS[text]) if form else TEXTS[text]


# What a setting may name.


def keep_letters(text: str) -> str:
    return re.sub(r"[^\w\s]", "", text.casefold())


def split_at_punctuation(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text)


def split_sentences(text: str) -> list[str]:
    return [sentence for sentence in re.split(r"(?<=[.!?])\s+", text) if sentence]


CALLABLES = {function.__name__: function for function in (keep_letters, split_at_punctuation, split_sentences)}
