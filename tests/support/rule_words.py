"""The words that a rule finds, read back from its arrays; and the words of the peers, a text at a time."""

import unicodedata
from collections.abc import Callable, Sequence
from itertools import islice

import numpy as np
from rouge_score import tokenize
from sacrebleu.metrics import BLEU, CHRF

from ngram_metrics._core.text.word_bounds import CHRF_WORDS, NAMED, ROUGE, Rule, character_chunks
from ngram_metrics._core.text.word_rules import WORD_RULES
from ngram_metrics._core.text.words import number_words

RULES = {**NAMED, "rouge_score": ROUGE, "chrF++": CHRF_WORDS}


def one_sentence(texts: Sequence[str]) -> list[np.ndarray]:
    """All texts in one column of a single sentence, so that all words are compared."""
    return [np.array([len(texts)])]


def words_of(rule: Rule, texts: Sequence[str], by_line: bool = False) -> list[list[str]]:
    """The words of each text, and whether equal ids and equal words are the same."""
    found = []
    for characters in character_chunks(rule.prepare(texts)):
        begin, end, units = rule.words(characters)
        if units is characters.units and not characters.ascii:
            begin, end = characters.character_starts()[begin], characters.character_starts()[end]
        bytes_ = units.tobytes()
        places = zip(begin.tolist(), end.tolist(), strict=True)
        found += [bytes_[first:last].decode("utf-8", "surrogatepass") for first, last in places]
    numbered = number_words(rule, texts, one_sentence(texts), by_line)
    assert_numbered(found, numbered.ids.tolist(), numbered.id_bound)
    words = iter(found)
    documents = [list(islice(words, length)) for length in numbered.lengths.tolist()]
    assert next(words, None) is None
    return documents


def assert_numbered(words: Sequence[object], ids: Sequence[int], bound: int) -> None:
    """Equal words have equal ids, and different words different ones."""
    pairs = set(zip(words, ids, strict=True))
    assert len(pairs) == len(set(words)) == len(set(ids))
    assert all(0 <= number < bound for number in ids)


#: Whether a character is a letter or digit of Han, Hiragana or Katakana, or a letter of Thai, Lao, Burmese or Khmer;
#: ``test_word_rules`` checks both.
is_han_or_kana = WORD_RULES["unicode"].symbols.has
is_southeast_asian = WORD_RULES["unicode"].heads.has


def unicode_words(text: str) -> list[str]:
    """Letters, digits and marks of any script; Han and kana apart; the letters of Thai, Lao, Burmese and Khmer apart
    with their marks; what consists of marks is no word."""
    spaced = ""
    has_head = False
    for character in unicodedata.normalize("NFC", text.lower()):
        category = unicodedata.category(character)[0]
        if category == "M":
            spaced += character
            continue
        parts = " " if has_head or is_southeast_asian(character) else ""
        has_head = is_southeast_asian(character)
        spaced += parts + (f" {character} " if is_han_or_kana(character) else character if category in "LN" else " ")
    return [word for word in spaced.split() if any(unicodedata.category(letter)[0] != "M" for letter in word)]


def of_sacrebleu(name: str) -> Callable[[str], list[str]]:
    peer = BLEU(tokenize=name)
    return lambda text: peer._preprocess_segment(text).split()


PEERS: dict[str, Callable[[str], list[str]]] = {
    **{name: of_sacrebleu(name) for name in ("13a", "intl", "zh", "char", "none")},
    "unicode": unicode_words,
    "rouge_score": lambda text: tokenize.tokenize(text, None),
    "chrF++": CHRF()._remove_punctuation,
}
