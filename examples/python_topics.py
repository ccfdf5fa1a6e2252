"""Sentences that every Python installation brings along, and the task made of them.

`pydoc_data.topics` holds the texts that `help("while")` and its like print: the reference manual
of the Python language. `sentences` takes the prose out of them; `without_vowels` makes the task:
give the vowels back.

    >>> without_vowels("A break statement ends the loop.")
    'A brk sttmnt ends th lp.'

The text differs a little from one Python version to the next, and the scores of a run with it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from pydoc_data.topics import topics

# A line's indentation, a list bullet counted in, and its text: the length of the first is the
# column in which the text begins.
LINE = re.compile(r"(?P<indentation>\s*(?:(?:[*-]|\d+\.)\s+)?)(?P<text>.*)")
BULLET = re.compile(r"\s*(?:[*-]|\d+\.)\s+$")
# A sentence of prose: from a capital letter to a full stop, no digits, operators or underscores
# between, so that no code comes along.
PROSE = re.compile(r"[A-Z][A-Za-z ,;:'()-]*\.")
SENTENCE_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z])")
MARK_UP = re.compile(r"""[*"`]|\s\[\d+\]""")  # emphasis, code quotes, footnotes such as [2]
PLAIN_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")


def sentences(longest: int = 90, fewest_words: int = 4) -> list[str]:
    """All prose sentences of at most `longest` characters, each once, in alphabetical order.

    Many topics repeat the text of others. The order makes a run independent of theirs.
    """
    found = set()
    for text in topics.values():
        for paragraph in paragraphs(text.translate(PLAIN_QUOTES)):
            for sentence in SENTENCE_END.split(paragraph):
                if (
                    PROSE.fullmatch(sentence)
                    and sentence.count("(") == sentence.count(")")
                    and len(sentence) <= longest
                    and len(sentence.split()) >= fewest_words
                ):
                    found.add(sentence)
    return sorted(found)


def paragraphs(text: str) -> Iterator[str]:
    """Runs of lines whose text begins in the same column, each run joined to one line.

    A blank line, a bullet or another indentation starts a new one, so that headings, code and list
    items do not flow into the sentences around them.
    """
    lines: list[str] = []
    column = 0
    for line in text.splitlines():
        indentation, words = LINE.match(line).groups()
        if not words or BULLET.match(indentation) or len(indentation) != column:
            yield join_lines(lines)
            lines = []
        if words:
            lines.append(words)
            column = len(indentation)
    yield join_lines(lines)


def join_lines(lines: Iterable[str]) -> str:
    """One line without mark-up; a word broken at its hyphen is made whole ("left-" and "hand")."""
    text = re.sub(r"(?<=\w)-\n(?=\w)", "-", "\n".join(lines))
    return " ".join(MARK_UP.sub("", text).split())


def split_sentences(
    all_sentences: list[str], most: int | None = None, validation_share: float = 1 / 8
) -> tuple[list[str], list[str]]:
    """Two lists, (training, validation), with no sentence in both.

    Drawn in the same way in every run, whatever its seed; `most` keeps so many sentences only.
    """
    shuffled = random.Random(0).sample(all_sentences, len(all_sentences))[:most]
    validation_count = max(1, round(validation_share * len(shuffled)))
    return shuffled[validation_count:], shuffled[:validation_count]


def pieces(sentence: str, most_words: int = 4) -> list[str]:
    """The sentence cut into pieces of 1 to `most_words` words, the cuts drawn with `random`."""
    words = sentence.split()
    cut: list[str] = []
    while words:
        count = random.randint(1, most_words)
        cut.append(" ".join(words[:count]))
        words = words[count:]
    return cut


def without_vowels(sentence: str) -> str:
    """Every word keeps its first character and loses the vowels after it."""
    return re.sub(r"(?<=\S)[aeiou]", "", sentence)
