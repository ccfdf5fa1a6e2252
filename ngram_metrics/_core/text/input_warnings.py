"""Warnings for input that can be read but is almost certainly a mistake, and hints for errors.

The text of a warning hardly depends on the batch, so that Python's default filter shows it once per line of code. To
stay cheap, a check looks at only a few texts, or stops at the first correct one.

Each warning has one caller, which knows everything that the warning looks at:

* ``Reader.read`` calls ``warn_of_input_form``: for every metric, only this caller has hypotheses with their references.
* ``Reader.encode``, through which the rows of ``mbr`` go too, calls ``warn_of_markers`` and, for tokens,
  ``warn_of_texts_as_tokens``.
* ``warn_of_texts`` of a reader knows how its words are split: ``warn_of_another_tokenizer``, and the warnings of
  ``_core.text.rouge_warnings``.
* ``evaluate`` calls ``warn_of_other_form``, which looks at every text of a system.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain, islice, product, repeat
from typing import Any, NamedTuple
from unicodedata import is_normalized

from ngram_metrics._core.text.messages import NameOf, shortened, warn_user
from ngram_metrics._core.text.word_rules import compose

#: Letters and punctuation of scripts without spaces between words: Han and Hiragana; Thai, Lao, Burmese and Khmer. The
#: numbers say how many between two spaces are too many for a word, on average. Katakana alone is often one word.
_WITHOUT_BLANKS = (
    ("[\u3001-\u3002\u3041-\u309f\u3400-\u4dbf\u4e00-\u9fff\uff01-\uff1f]", 5),
    ("[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff]", 12),
)
#: The first bytes of these letters in UTF-8. Few other letters begin with one of them.
_FIRST_BYTES = bytes([0xE0, 0xE1, *range(0xE3, 0xEA), 0xEF])
#: Subword markers and special tokens, but not headings, comments, hunks of diffs and bars of charts.
_MARKER = re.compile(
    r"""(?<=[^\s@])@@[ ]
    | (?<!\S)▁(?=\w)
    | (?<=\w[ ])[#][#](?=\w)
    | (?<=[a-z])Ġ(?=\w) | (?<!\S)Ġ(?=\w+[ ]Ġ\w)                   # in Maltese, a word may begin with it
    | </?s>
    | (?<!\#include[ ])<(?:pad|unk|bos|eos|mask|cls|sep|extra_id_\d+|start_of_turn|end_of_turn)>
    | \[(?:CLS|SEP|PAD|UNK|MASK|BOS|EOS|/?INST)\]
    | <\|[\w-]+\|>""",
    re.VERBOSE,
)
#: Every marker contains one of these parts. Searching for them is cheaper than the expression.
_PARTS_OF_MARKERS = ("@@ ", "▁", " ##", "Ġ", "<", "[")
#: Text that HTML strikes out, after other text. A model puts its marker ``<s>`` before a text.
_STRUCK_OUT = re.compile(r"(?<=[^\s>])\s*<s>[^<]*</s>")
#: How to remove a subword marker.
_REMOVED_BY = {
    "@@ ": ", for example with text.replace('@@ ', '')",
    "▁": ", for example with text.replace(' ', '').replace('▁', ' ')",
    "##": ", for example with text.replace(' ##', '')",
    "Ġ": ", for example with text.replace(' ', '').replace('Ġ', ' ')",
}
#: Frequent words of many languages that are hardly ever a whole text, such as an answer or a label.
_WORD_OF_SENTENCES = re.compile(
    "the|of|was|are|with|that|this|from|der|das|ist|und|nicht|eine|mit|auf|von|den|les|des|est|une|dans|que|"
    "pour|los|las|del|por|para|con|não|uma|com|che|della|per|non|het|een|van|и|в|не|на|что|και|του|των|על|של|את|"
    "في|من|على|के|है|में"
)
#: A zero-width space, the marks of either direction, a soft hyphen and a byte order mark. Other format characters, such
#: as the joiners of Persian and Hindi, make a different word.
_INVISIBLE = re.compile("[\u200b\u200e\u200f\u00ad\ufeff]")
#: The ends of a sentence. Only its last word has one.
_ENDS = (".", "!", "?", "।", "؟")
_SENTENCE_FORM = (
    "pass the sentence as one text, 'the cat sat', or its words as a list in a list, [['the', 'cat', 'sat']]"
)
#: How many hypotheses and references are searched for scripts without spaces, and how many characters of each.
_FEW_TEXTS, _FEW_CHARACTERS = 4, 60
#: How many texts are searched for markers, and hypotheses for a full stop at the end.
_MANY_TEXTS = 100
#: The most hypotheses for which target is compared with streams of references.
_STREAMS = 8


class OptionNames(NamedTuple):
    """How the caller's API writes the options that warnings name."""

    #: The option for a tokenizer. A value in quotes follows.
    tokenizer: str = "tokenizer="
    #: The same for ROUGE.
    rouge_tokenizer: str = "tokenizer="
    #: How to mark the sentences of ROUGE-Lsum.
    sentences: str = "put each sentence on a line of its own, or pass a sentence_splitter"


_OPTION_NAMES: ContextVar[OptionNames | None] = ContextVar("_OPTION_NAMES", default=None)


@contextmanager
def name_options(names: OptionNames) -> Iterator[None]:
    """Name these options in warnings. The outermost caller decides, such as the command, which calls ``evaluate``."""
    reset = _OPTION_NAMES.set(_OPTION_NAMES.get() or names)
    try:
        yield
    finally:
        _OPTION_NAMES.reset(reset)


def option_names() -> OptionNames:
    """Return how the outermost caller writes its options."""
    return _OPTION_NAMES.get() or OptionNames()


def warn_of_input_form(
    hypotheses: Sequence[str], references: Sequence[str], reference_counts: Sequence[int], is_first: bool
) -> None:
    """Warn of texts that look like another form of input: words of one text, or transposed references.

    ``reference_counts`` is the number of references of each hypothesis. Single words are looked at in the first batch
    only.
    """
    _warn_of_split_references(hypotheses, references, reference_counts)
    _warn_of_transposed_references(hypotheses, references, reference_counts)
    if is_first:
        _warn_of_words_as_texts(hypotheses, references)


def _warn_of_split_references(
    hypotheses: Sequence[str], references: Sequence[str], reference_counts: Sequence[int]
) -> None:
    """Warn if the references of every segment look like the words of one reference.

    They do if each segment has several references of one word each, and a hypothesis contains two different ones.
    Alternative spellings of an answer do not.
    """
    if min(reference_counts, default=0) < 2 or any(len(reference.split()) != 1 for reference in references):
        return
    remaining = iter(references)
    for hypothesis, count in zip(hypotheses, reference_counts, strict=True):
        words = {reference.strip() for reference in islice(remaining, count)}
        if len(words.intersection(hypothesis.split())) > 1:
            warn_user(
                "the references of each segment are single words, and a hypothesis contains several of them. A list of "
                "str in target is a list of references: pass a reference as one text, such as 'the cat sat', or pass "
                "both references and hypotheses as lists of tokens"
            )
            return


def warn_of_markers(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    """Warn if at least a third of the hypotheses, or of the references, contain subword markers or special tokens."""
    for texts in (hypotheses[:_MANY_TEXTS], references[:_MANY_TEXTS]):
        joined = "\n".join(texts)
        if any(part in joined for part in _PARTS_OF_MARKERS):
            markers = [marker[0] for text in texts if (marker := _MARKER.search(_STRUCK_OUT.sub("", text)))]
            if markers and 3 * len(markers) >= len(texts):
                warn_user(
                    f"at least a third of the texts contain {markers[0]!r}, a subword marker or special token that "
                    "counts as text: decode ids with skip_special_tokens=True, or remove the markers"
                    + _REMOVED_BY.get(markers[0], "")
                )
                return


def _warn_of_words_as_texts(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    """Warn if the texts look like the words of one sentence: frequent words, or a full stop only after the last one.

    Answers and labels of one word do not look like that: if they are frequent words, most of them are. Neither do texts
    in scripts without spaces between words.
    """
    if not (_are_words(hypotheses) and _are_words(references)):
        return
    words = [*hypotheses, *references]
    joined = " ".join(words)
    if any(re.search(letters, joined) for letters, _ in _WITHOUT_BLANKS):
        return
    ends = [[_ends_sentence(word) for word in side] for side in (hypotheses, references)]
    frequent = sum(_WORD_OF_SENTENCES.fullmatch(word) is not None for word in words)
    has_frequent_words = len(words) <= 8 * frequent and 3 * frequent <= 2 * len(words)
    if has_frequent_words or all(side[-1] and not any(side[:-1]) for side in ends):
        warn_user(
            "each text is one word and is read as a segment of its own, but together they look like the words of one "
            f"sentence: {_SENTENCE_FORM}"
        )


def _ends_sentence(word: str) -> bool:
    """Return whether a word has a mark at its end and none inside, as abbreviations and addresses have."""
    has_mark_inside = any(mark in word[:-1] for mark in "./:@")
    return word.endswith(_ENDS) and not has_mark_inside


def sentence_hint(preds: Sequence[object]) -> str:
    """Return a hint for an error if ``preds`` may be the words of one sentence, else ``""``."""
    return f"; if preds are the words of one sentence, {_SENTENCE_FORM}" if _are_words(preds) else ""


def _are_words(texts: Sequence[object]) -> bool:
    """Return whether there are at least four different texts, all without spaces."""
    return all(isinstance(text, str) and " " not in text for text in texts) and len(set(texts)) >= 4


def transposition_hint(preds: Sequence[object], target: Sequence[object]) -> str:
    """Return a hint for an error if the items of ``target`` are sacrebleu's streams of references, else ``""``."""
    if not preds or not target:
        return ""
    is_text = isinstance(preds[0], str)
    for stream in target:
        if not isinstance(stream, (list, tuple)) or len(stream) != len(preds):
            return ""
        if not (isinstance(stream[0], str) if is_text else isinstance(stream[0], list) or hasattr(stream[0], "ndim")):
            return ""
    return (
        "; target looks like sacrebleu's format, in which an item has one reference for every segment: "
        "pass list(zip(*target))"
    )


def _warn_of_transposed_references(
    hypotheses: Sequence[str], references: Sequence[str], reference_counts: Sequence[int]
) -> None:
    """Warn if the items of ``target`` are streams: the first text of each item belongs to the first hypothesis.

    sacrebleu takes references in this form, and torch's default collate function makes such batches. That shows only if
    there are as many items as texts in each. Then the texts resemble the hypothesis at their position more than twice
    as much as that of their item, and texts at one position resemble each other more than twice as much as those of one
    item.
    """
    size = len(hypotheses)
    if not 2 <= size <= _STREAMS or any(count != size for count in reference_counts):
        return
    hypothesis_words = [set(text.split()) for text in hypotheses]
    words = [set(text.split()) for text in references]
    items = [words[first : first + size] for first in range(0, size * size, size)]
    # A text whose position is that of its item belongs to the same hypothesis either way.
    others = [(item, position) for item, position in product(range(size), repeat=2) if item != position]
    as_given = sum(_likeness(items[item][position], hypothesis_words[item]) for item, position in others)
    as_streams = sum(_likeness(items[item][position], hypothesis_words[position]) for item, position in others)
    if as_streams <= 2 * as_given:
        return
    inside_items = sum(_likeness(items[item][position], items[item][item]) for item, position in others)
    at_positions = sum(_likeness(items[item][position], items[position][position]) for item, position in others)
    if at_positions > 2 * inside_items:
        warn_user(
            "each item of target has one text for every hypothesis, as in sacrebleu's format and in batches of torch's "
            "default collate function. Here an item of target has the references of one segment: pass "
            "list(zip(*target))"
        )


def _likeness(words: set[str], others: set[str]) -> float:
    """Return the share of the words of both texts that they have in common (Jaccard)."""
    return len(words & others) / max(1, len(words | others))


def warn_of_texts_as_tokens(
    hypotheses: Sequence[Sequence[Hashable]], references: Sequence[Sequence[Hashable]], name_of: NameOf
) -> None:
    """Warn if every document of a side is empty or one token with spaces inside, like ``["the cat"]``.

    ``[" the"]`` has none inside. If the other side has tokens with spaces inside too, they are intended.
    """
    # The sides that look as intended.
    others = [side for side in (hypotheses, references) if not all(map(_is_empty_or_one_text, side))]
    if len(others) == 2:
        return
    for side in others:
        if any(map(_has_blanks_inside, chain.from_iterable(side))):
            return
    for index, document in enumerate(chain(hypotheses, references)):
        if _is_one_text(document):
            warn_user(
                f"{name_of(index)} is a list of one token with spaces, which matches as a whole or not at all: pass a "
                "text as 'the cat sat', not as ['the cat sat']"
            )
            return


def _is_empty_or_one_text(document: Sequence[Hashable]) -> bool:
    return len(document) == 0 or _is_one_text(document)


def _is_one_text(document: Sequence[Hashable]) -> bool:
    return len(document) == 1 and _has_blanks_inside(document[0])


def _has_blanks_inside(token: object) -> bool:
    return isinstance(token, str) and len(token.split(None, 1)) > 1


def warn_of_another_tokenizer(
    tokenizer: object, hypotheses: Sequence[str], references: Sequence[str], is_rouge: bool = False
) -> None:
    """Warn if the ``tokenizer`` does not suit the texts."""
    names = option_names()
    option = names.rouge_tokenizer if is_rouge else names.tokenizer
    if tokenizer in (None, "none", "13a", "intl"):
        _warn_of_unsplit_texts(option, hypotheses, references)
    first = hypotheses[:_MANY_TEXTS]
    if tokenizer == "13a" and 2 * sum(map(str.endswith, first, repeat(" ."))) > len(first):  # as in sacrebleu
        warn_user(
            "most hypotheses end in ' .', so they look tokenized, but the tokenizer 13a expects text that is not: "
            f"detokenize the texts, or pass {option}'none' for tokenized text"
        )


def _warn_of_unsplit_texts(option: str, hypotheses: Sequence[str], references: Sequence[str]) -> None:
    """Warn of texts that are mostly in a script without spaces. The tokenizer splits at spaces."""
    few = [text[:_FEW_CHARACTERS] for texts in (hypotheses, references) for text in texts[:_FEW_TEXTS]]
    joined = " ".join(few)
    encoded = joined.encode("utf-8", "surrogatepass")
    if len(encoded.translate(None, _FIRST_BYTES)) == len(encoded):
        return  # cheaper than the search
    for letters, shortest in _WITHOUT_BLANKS:
        parts = joined.split() if re.search(letters, joined) else []
        counts = [count for part in parts if (count := len(re.findall(letters, part)))]
        if counts and sum(counts) >= shortest * len(counts) and 2 * sum(counts) > sum(map(len, parts)):
            warn_user(
                "the texts have no spaces between words, but this tokenizer splits at spaces, so a whole phrase counts "
                f"as one word: pass {option}'zh' for Chinese, 'ja-mecab' for Japanese, 'unicode' for Thai, or 'char' "
                "for any script"
            )
            return


class OtherForm(NamedTuple):
    """A word that looks like a word of a reference but is a different one."""

    word: str
    reference_word: str


def warn_of_other_form(texts: Sequence[str], references: Sequence[Sequence[str]], name: str, first: int = 0) -> bool:
    """Warn of the first word that looks like a word of its reference, and return whether there is one.

    The two words have different Unicode forms, or differ in an invisible character. The warning names a text by
    ``name`` and its index, which starts at ``first``.
    """
    if not may_have_other_forms(chain(texts, *references)):
        return False
    for index, (text, text_references) in enumerate(zip(texts, references, strict=True), first):
        other_form = find_other_form(text, text_references)
        if other_form is None:
            continue
        invisible = _INVISIBLE.search("".join(other_form))
        if invisible is None:
            difference = (
                f"{shortened(other_form.word)} has a different Unicode form in the reference, composed or decomposed, "
                "so the two count as different words: convert both texts, for example with uconv -x NFC or "
                "unicodedata.normalize"
            )
        else:
            difference = (
                f"{shortened(other_form.word)} and {shortened(other_form.reference_word)} of the reference differ in "
                "an invisible character, so they count as different words: remove it from both texts, for example with "
                f"text.replace({invisible[0]!a}, '')"
            )
        warn_user(f"{name} {index}: {difference}")
        return True
    return False


def may_have_other_forms(texts: Iterable[str]) -> bool:
    """Return whether any text is not in the form NFC, or has an invisible character."""
    joined = "\n".join(texts)
    return not is_normalized("NFC", joined) or _INVISIBLE.search(joined) is not None


def find_other_form(text: str, references: Sequence[str]) -> OtherForm | None:
    """Return the first word of the text that looks like a word of a reference but is a different one, or None."""
    if not may_have_other_forms((text, *references)):
        return None
    reference_words = dict.fromkeys(chain(*map(str.split, references)))
    by_look = {_remove_invisible(word): word for word in reference_words}
    for word in text.split():
        look = _remove_invisible(word)
        if word not in reference_words and look and look in by_look:
            return OtherForm(word, by_look[look])
    return None


def _remove_invisible(word: str) -> str:
    """Return the form NFC of a word, without invisible characters."""
    return compose(_INVISIBLE.sub("", word))


def look_swapped(preds: Any, target: Any) -> bool:
    """Return whether ``preds`` look like references of ``target``: one level deeper, not counting lists of words."""
    depth = _depth(preds)
    if hasattr(preds, "ndim") or depth - _depth(target) != 1:  # three dimensions are samples
        return False
    if depth == 1:
        return isinstance(target, str) and all(isinstance(text, str) for text in preds)
    return len(preds) == len(target) and (depth > 2 or any(map(_has_blanks_inside, preds[0])))


def _depth(value: object) -> int:
    """Return how deep a str, a number or a token is nested, at most 4: 1 for ``["a b"]``."""
    depth = 0
    while isinstance(value, (list, tuple)) and depth < 4:
        depth += 1
        value = value[0] if value else None
    return depth + int(getattr(value, "ndim", 0))
