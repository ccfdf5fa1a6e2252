"""The inputs of the frozen scores, by name: hypotheses and references, and the functions that a setting may name.

A name such as "several: padded" is the input "several" in the form "padded". Like rows, inputs are only added: a change
of one would change the numbers of all its rows.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

Texts = list[str]
References = list[str | Texts]

#: Hypotheses with one reference each: nearly right, reordered, equal, short, nothing in common.
SHORT = (
    [
        "The lighthouse keeper wrote the weather down every evening before supper .",
        "Before the storm came, the boats had all been pulled onto the beach.",
        "Nobody remembers who planted the old walnut tree.",
        "Yes.",
        "A heron stood still in the shallow water and waited for the fish to come back, as herons do.",
        "green paint dries slowly",
    ],
    [
        "The lighthouse keeper wrote down the weather every evening, before supper.",
        "All the boats had been pulled onto the beach before the storm came.",
        "Nobody remembers who planted the old walnut tree.",
        "Yes, of course.",
        "In the shallow water a heron stood still and waited for fish, as herons do.",
        "Seven ships left at noon",
    ],
)

#: Hypotheses that are shorter than their references, and share no n-gram of order 3 with them.
DISTANT = (
    ["the river was high that spring", "they sold two old boats", "snow on the roofs"],
    [
        "that spring the water of the river rose high above its banks",
        "two boats, both old, were what they had sold",
        "on roofs the snow lay for a week",
    ],
)

#: The hypotheses of ``SHORT`` with one to three references, two of them as far from the hypothesis in length.
SEVERAL = (
    SHORT[0],
    [
        [
            "The lighthouse keeper wrote down the weather every evening, before supper.",
            "Every evening before supper the keeper of the lighthouse noted the weather.",
        ],
        "All the boats had been pulled onto the beach before the storm came.",
        [
            "Nobody remembers who planted the tree.",
            "No one remembers any more who planted the old walnut tree.",
            "The old walnut tree: nobody knows who planted it.",
        ],
        ["Yes, of course.", "Yes."],
        [
            "In the shallow water a heron stood still and waited for fish, as herons do.",
            "As herons do, it stood in the water and waited.",
            "A heron waited for the fish to come back, and stood still in the shallow water.",
        ],
        ["Green paint takes long to dry", "Seven ships left at noon", "the green paint dries slowly"],
    ],
)

#: What tokenizers treat each in their own way: punctuation, numbers, entities, hyphens and ends of lines.
PUNCTUATION = (
    [
        "It cost $1,250.75 (about 1.100,50 euros), didn't it?",
        "She said: &quot;Bread &amp; butter, 3-4 times a week...&quot; &lt;twice&gt;",
        "A state-of-the-art kiln, 2nd-hand; fired at 1,200°C!",
        "e-mail: a.b@example.org, http://example.org/a_b?c=1#d",
        "The head-\nline ended here, <skipped> and went on: 5/6 + 7% = ?",
        "NASA's U.S. office -- 10:45 a.m. -- isn't No.1, it's #2!!!",
    ],
    [
        "It cost $1,250.75, about 1,100.50 euros, did it not?",
        'She said: "Bread & butter, three to four times a week ..." <twice>',
        "A state of the art kiln, second-hand, fired at 1,200 °C!",
        "E-mail a.b@example.org or see http://example.org/a_b?c=1",
        "The headline ended here and went on: 5/6 + 7 % = ?",
        "NASA's US office, 10:45 a. m., is not No. 1; it's # 2!",
    ],
)

#: Scripts: with and without spaces, from right to left, with vowel signs.
SCRIPTS = (
    [
        "Die Brücke über den Fluß wurde 1893 gebaut, größer als die alte.",
        "L’été dernier, nous avons mangé des crêpes « à la ferme ».",
        "Старый мост построили в 1893 году, и он ещё стоит.",
        "Η γέφυρα χτίστηκε το 1893 και στέκει ακόμη.",
        "我们昨天在河边看见了三只白鹭，它们在等鱼。",
        "昨日、川のそばでサギを三羽見ました。",
        "어제 강가에서 백로 세 마리를 보았다.",
        "بُنِيَ الجسر القديم عام 1893، وما زال قائمًا.",
        "הגשר הישן נבנה בשנת 1893.",
        "पुराना पुल 1893 में बना था।",
        "สะพานเก่าสร้างเมื่อปี 1893",
    ],
    [
        "Die Brücke über den Fluss wurde 1893 gebaut und ist größer als die alte.",
        ["L'été dernier nous avons mangé des crêpes à la ferme.", "Nous avons mangé « des crêpes » l’été dernier."],
        "Старый мост был построен в 1893 году и всё ещё стоит.",
        "Η παλιά γέφυρα χτίστηκε το 1893 και ακόμη στέκει.",
        ["昨天我们在河边看到三只白鹭在等鱼。", "我们昨天看见三只白鹭，它们在河边等鱼！"],
        "昨日川のそばで三羽のサギを見た。",
        "어제 우리는 강가에서 백로를 세 마리 보았다.",
        "بني الجسر القديم في عام 1893 وما زال قائما.",
        "הגשר הישן נבנה ב־1893.",
        "पुराना पुल 1893 में बनाया गया था।",
        "สะพานเก่านี้สร้างเมื่อปี 1893",
    ],
)

#: Characters that are rare: combining marks, emoji, U+0130, spaces of several kinds, controls, symbols, a surrogate.
CHARACTERS = (
    [
        "cafe\u0301 and nai\u0308ve, cafe\u0301 again",
        "well done 👍🏽 👨‍👩‍👧 🇳🇴 !",
        "\u0130stanbul ISTANBUL \u0131stanbul STRASSE straße ΣΟΦΟΣ",
        "one\u00a0two\u3000three\u2009four\u200bfive\u2028six",
        "tab\tfeed\x0cunit\x1fgroup\x1dnext\x85bell\x07end\x00",
        "x→y, a ≤ b; 3∑4 — “quoted”… ½ ² ⅷ",
        "rare \U00020000\U00020001, old\uf900\uf901 and ｆｕｌｌ　ｗｉｄｔｈ",
        "broken \ud800 pair \udc00",
        "\ufeffmark ᾳ ﬁne ǅ",
    ],
    [
        "caf\u00e9 and na\u00efve, cafe\u0301 once more",
        "well done 👍 👨‍👩‍👧‍👦 🇳🇴!",
        "i\u0307stanbul istanbul Istanbul strasse STRASSE σοφος",
        "one two three four five six",
        "tab feed unit group next bell end",
        "x→z, a≤b; 3 ∑ 4 - “quoted” … ½ 2 viii",
        "rare \U00020000\U00020002, old \uf900\uf902, ｆｕｌｌ width",
        "broken \ud800 pair \udc01",
        "mark ᾼ fine ǆ",
    ],
)

#: No text, nothing but blanks, and fewer tokens than orders, on either side.
EMPTY = (
    ["", "", "a", "  \n ", "a b", "a b c d e", "!", "the same two", "one two three"],
    ["", "not empty", "", "blank", "a b", "e d c b a", ["?", "!"], ["", "the same"], ["one", "one two three four", ""]],
)

#: Tokens that occur several times, so that matches are clipped, and orders up to 9 match.
REPEATED = (
    [
        "round and round and round and round and round it goes",
        "no no no no no no no no no no no",
        "la la la , la la la la , la",
        "one two three four five six seven eight nine ten eleven twelve",
    ],
    [
        ["round and round it goes and round and round", "it goes round and round and round and round and round"],
        ["no no yes no no no", "no no no no no no no no no no"],
        "la la , la la la , la la la la",
        [
            "zero one two three four five six seven eight nine ten",
            "two three four five six seven eight nine ten eleven",
        ],
    ],
)

#: Several sentences each, one a line, in another order in the references.
SUMMARIES = (
    [
        "The ferry was late again.\nPassengers waited in the rain for an hour.\nThe captain blamed the tide.",
        "Prices rose by 3 percent.\nBread and milk rose most.",
        "The museum opens in May. It shows maps, and the ships that used them.",
        "One line\n\n\nand another line after blank ones\n",
        "Studies were studied by studious students.\nThe students' studies ended happily.",
    ],
    [
        "The captain blamed the tide, and not the engine.\nThe ferry was an hour late.\nIn the rain passengers waited.",
        [
            "Bread and milk rose most.\nAll prices rose, by 3 percent.",
            "Prices of milk rose\nby 3 percent\nand bread too.",
        ],
        "In May the museum opens.\nIt shows maps.\nIt shows ships that used maps.",
        "and another line\none line",
        "A student happily studies.\nStudents studied the study until it was ended.",
    ],
)

#: One text with 12 references, and one with a single reference.
TWELVE = (
    ["the grey cat slept on the warm stone wall all afternoon", "it rained"],
    [
        [
            "the grey cat slept all afternoon on the warm wall",
            "all afternoon the cat slept on the stone wall",
            "a grey cat was asleep on the warm stone wall",
            "on the wall a cat slept",
            "the cat slept on the warm stones",
            "the warm stone wall was where the cat slept",
            "grey cat , warm wall",
            "the grey cat lay on the stone wall all day and slept",
            "that afternoon the grey cat slept on a wall",
            "all afternoon long",
            "the grey cat slept on the warm stone wall every afternoon",
            "cats sleep",
        ],
        "it rained all day",
    ],
)


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
    "short": SHORT,
    "distant": DISTANT,
    "several": SEVERAL,
    "punctuation": PUNCTUATION,
    "scripts": SCRIPTS,
    "characters": CHARACTERS,
    "empty": EMPTY,
    "repeated": REPEATED,
    "summaries": SUMMARIES,
    "twelve": TWELVE,
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
