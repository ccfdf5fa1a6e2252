"""Warnings of texts that ROUGE probably does not read as intended: it drops letters, or finds no ends of sentences."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import chain

from ngram_metrics._core.text.input_warnings import option_names
from ngram_metrics._core.text.messages import warn_user

#: How many hypotheses, and how many references, are searched for letters that ROUGE drops, and for ends of sentences.
_FIRST_TEXTS = 50
#: There is a warning if ROUGE's rule drops letters of at least this many different words, and of more than this
#: percentage of all words. In German news the percentage is 9, and in English below 1.
_FEWEST_LOST_WORDS, _LOST_PERCENT = 3, 3
#: The variation selectors and the enclosing keycap, marks that make an emoji of another character.
_MARKS_OF_EMOJI = {*map(chr, range(0xFE00, 0xFE10)), "\u20e3"}
#: A character that ROUGE's rule keeps. The last two contain an ASCII letter in lower case.
_KEPT_BY_ROUGE = re.compile("[a-zA-Z0-9\u0130\u212a]")
#: The end of a sentence, and the first character of the next one. A full stop belongs to an abbreviation after a short
#: word with a capital, as in "Mr. Smith" and "U.S. Senate", and to an ordinal after a number, as in "3. Oktober".
_END_OF_SENTENCE = re.compile(r"(?:[!?]|(?:\b[^\W\d_A-Z]\w{2,}|\b\w{5,})\.) (\w)")
#: Every end of a sentence contains one of these.
_SENTENCE_MARKS = (". ", "! ", "? ")


def warn_of_dropped_letters(
    tokenizer: object, hypotheses: Sequence[str], references: Sequence[str], is_first: bool
) -> None:
    """Warn if ROUGE's rule cuts many words of the first batch, or leaves no words of a text with letters or digits.

    The rule keeps only a-z and 0-9. If ``tokenizer`` is not None, it gets the rest of a text, and there is a warning
    only of texts without any words.
    """
    rule = "ROUGE's rule for words keeps only a-z and 0-9, but"
    cure = f"pass {option_names().rouge_tokenizer}'unicode'"
    if is_first and tokenizer is None and _lose_words([*hypotheses[:_FIRST_TEXTS], *references[:_FIRST_TEXTS]]):
        warn_user(f"{rule} more than {_LOST_PERCENT} % of the words have other letters: {cure} to keep them")
        return
    has_words = _KEPT_BY_ROUGE.search
    if all(map(has_words, hypotheses)) and all(map(has_words, references)):
        return
    without_words = [text for text in chain(hypotheses, references) if not has_words(text)]
    if any(any(map(str.isalnum, text)) for text in without_words):
        cure += ", which keeps letters and digits of all scripts"
        if tokenizer is not None:
            cure += ", or keep your own tokenizer and pass normalizer=str, so that it gets the original text"
        warn_user(f"{rule} some texts have none of these and score 0: {cure}")


def _lose_words(texts: Sequence[str]) -> bool:
    """Return whether ROUGE's rule drops letters of many words.

    A word is a run of letters, marks and digits of any script, in lower case.
    """
    text = "\n".join(texts).lower()
    if text.isascii():
        return False
    # A text has few different characters, so each is looked up once.
    categories = {character: unicodedata.category(character)[0] for character in set(text) - _MARKS_OF_EMOJI}
    dropped = {character for character, category in categories.items() if category in "LM" and not character.isascii()}
    if not dropped:
        return False
    separators = [character for character, category in categories.items() if category not in "LMN"]
    table = {**dict.fromkeys(map(ord, separators), " "), **dict.fromkeys(map(ord, _MARKS_OF_EMOJI), None)}
    words = text.translate(table).split()
    lost = [word for word in words if not word.isascii() and not dropped.isdisjoint(word)]
    return len(set(lost)) >= _FEWEST_LOST_WORDS and 100 * len(lost) > _LOST_PERCENT * len(words)


def warn_of_unsplit_sentences(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    """Warn if no text has several lines, and more than half of the references have several sentences.

    ROUGE-Lsum then compares whole texts, as ROUGE-L does. Only the first texts are looked at.
    """
    first_references = references[:_FIRST_TEXTS]
    joined = "\t".join(chain(hypotheses[:_FIRST_TEXTS], first_references))
    # A search of each text takes much longer, and few batches of short texts need it.
    if "\n" in joined or not any(mark in joined for mark in _SENTENCE_MARKS):
        return
    if 2 * sum(map(_has_several_sentences, first_references)) > len(first_references):
        warn_user(
            "rougeLsum compares sentences, but the texts have several sentences on one line, so its scores equal those "
            f"of rougeL: {option_names().sentences}"
        )


def _has_several_sentences(text: str) -> bool:
    return any(end[1].isupper() for end in _END_OF_SENTENCE.finditer(text))
