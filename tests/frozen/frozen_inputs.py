"""The inputs of the frozen scores, by name: hypotheses and references, and the functions that a setting may name.

inputs.json has the texts, each input with what it is about. A name such as "several: padded" is the input "several" in
the form "padded". Like rows, inputs are only added: a change of one would change the numbers of all its rows.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

Texts = list[str]
References = list[str | Texts]

#: Hypotheses and references, by the names of the inputs.
WRITTEN: dict[str, tuple[Texts, References]] = {
    name: (parts["hypotheses"], parts["references"])
    for name, parts in json.loads(Path(__file__).with_name("inputs.json").read_text(encoding="utf-8")).items()
}
SHORT, SEVERAL, PUNCTUATION = WRITTEN["short"], WRITTEN["several"], WRITTEN["punctuation"]
SCRIPTS, SUMMARIES, TWELVE = WRITTEN["scripts"], WRITTEN["summaries"], WRITTEN["twelve"]


def make_long() -> tuple[Texts, References]:
    """A text of 640 words, one of 45 and a short one: sizes that are far apart in one batch."""
    words = " ".join([*SHORT[0], *PUNCTUATION[1], *TWELVE[1][0], *SUMMARIES[0]]).split()
    count = len(words)
    hypothesis = [words[(7 * index + index // 40) % count] for index in range(320)] + words[:160] + words[-160:]
    reference = words[:150] + [words[(7 * index) % count] for index in range(330)] + words[-140:]
    lines = [" ".join(side[start : start + 40]) for side in (hypothesis, reference) for start in range(0, 620, 40)]
    half = len(lines) // 2
    middle = " ".join(words[20:65]), " ".join(words[25:50] + words[10:30])
    return ["\n".join(lines[:half]), middle[0], "a stone wall"], ["\n".join(lines[half:]), middle[1], "the stone wall"]


def make_many() -> tuple[Texts, References]:
    """240 segments of 1 to 30 words, of which every fifth has two references."""
    words = " ".join([*SHORT[0], *SUMMARIES[0], *PUNCTUATION[0]]).split()

    def piece(start: int, length: int) -> list[str]:
        return [words[(start + index) % len(words)] for index in range(length)]

    hypotheses: Texts = []
    references: References = []
    for segment in range(240):
        length = 1 + segment * 7 % 30
        text = piece(segment * 11, length)
        hypotheses.append(" ".join(text))
        other = text[: length // 2] + piece(segment, segment % 4) + text[length // 2 + segment % 3 :]
        reference = " ".join(other) or "nothing"
        references.append([reference, " ".join(piece(segment * 11 + 1, length))] if segment % 5 == 0 else reference)
    return hypotheses, references


def make_systems() -> tuple[dict[str, Texts], Texts]:
    """Three systems on the same 60 segments: one loses words, one repeats them, one changes the case of letters."""
    segments = [(SHORT[1] + PUNCTUATION[1] + SUMMARIES[1][2:])[index % 15] for index in range(60)]
    references = [f"{text} {index % 7} of {index % 4}" for index, text in enumerate(segments)]
    words = [text.split() for text in references]
    systems = {
        "losing": [" ".join(text[:2] + text[3 + index % 3 :]) for index, text in enumerate(words)],
        "repeating": [" ".join(text[: 1 + index % 5] + text) for index, text in enumerate(words)],
        "lowering": [
            " ".join(text).lower().replace("e", "E" if index % 2 else "e") for index, text in enumerate(words)
        ],
    }
    return systems, references


#: Rows of hypotheses and references for all pairs: of one size, and of several.
EQUAL_ROWS = (
    [[*SHORT[0][:3], *SEVERAL[1][2]], SCRIPTS[0][:6]],
    [SHORT[1][:3], [SCRIPTS[0][0], "我们昨天看见三只白鹭", "昨日、川で"]],
)
UNEQUAL_ROWS = ([SHORT[0], [""], [*TWELVE[1][0], *TWELVE[0]]], [SEVERAL[1][0], ["", "a"], TWELVE[1][0][:4]])
SINGLE_ROW = ([TWELVE[1][0]], [TWELVE[1][0]])
LONG_ROWS = ([[*make_long()[0], *SUMMARIES[0]]], [[*make_long()[1], *SHORT[1]]])


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


def ids_by_line(texts: Texts, references: References) -> Any:
    return ids(texts, references, by_line=True)


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


def padded_by_line(texts: Texts, references: References) -> Any:
    return padded(texts, references, by_line=True)


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
    "ids by line": ids_by_line,
    "tensors": tensors,
    "padded": padded,
    "padded by line": padded_by_line,
    "several pads": several_pads,
    "arrays": arrays,
    "samples": samples,
    "id rows": id_rows,
}

TEXTS: dict[str, tuple[Any, Any]] = {
    **WRITTEN,
    "long": make_long(),
    "many": make_many(),
    "nothing": ([], []),
    "equal rows": EQUAL_ROWS,
    "unequal rows": UNEQUAL_ROWS,
    "single row": SINGLE_ROW,
    "long rows": LONG_ROWS,
    "systems": make_systems(),
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
