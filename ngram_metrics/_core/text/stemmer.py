"""Porter's stemmer (Porter 1980, "An algorithm for suffix stripping") with nltk's extensions, as rouge_score uses it.

The stems are those of ``nltk.stem.porter.PorterStemmer()``, in its default mode, word for word.

The letters a, e, i, o and u are vowels, and so is a y after a consonant. All others are consonants. The measure of a
stem is the number of times that a consonant follows a vowel. A rule replaces a suffix if the measure of the part before
it is large enough. Each of the steps 2, 3 and 4 tries only the rule with the longest suffix of the word.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache

#: A suffix, the number of letters to cut off, and what replaces them.
_SuffixRule = tuple[str, int, str]

_IRREGULAR = {
    "sky": "sky", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news", "inning": "inning",
    "innings": "inning", "outing": "outing", "outings": "outing", "canning": "canning", "cannings": "canning",
    "howe": "howe", "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip


#: What ``str.translate`` writes for a letter: v for a vowel, c for a consonant, y for a y.
_KINDS = defaultdict(lambda: "c", {**dict.fromkeys(map(ord, "aeiou"), "v"), ord("y"): "y"})


def _parse_rules(written: str) -> dict[str, list[_SuffixRule]]:
    """Return rules by the last two letters of their suffix, so that only a few are tried on a word.

    They are written ``suffix>replacement``, longer suffixes first. The letters before ``|`` belong to the suffix, but
    stay.
    """
    rules: dict[str, list[_SuffixRule]] = {}
    for rule in written.split():
        suffix, replacement = rule.split(">")
        condition, _, cut = suffix.rpartition("|")
        rules.setdefault(cut[-2:], []).append((condition + cut, len(cut), replacement))
    return rules


#: The rules of steps 2 to 4, and the measure that each step needs. nltk tries one rule before step 2.
_STEPS = (
    (_parse_rules("alli>al"), 1),
    (_parse_rules("""
        ational>ate tional>tion enci>ence anci>ance izer>ize bli>ble entli>ent eli>e ousli>ous ization>ize ation>ate
        ator>ate alism>al iveness>ive fulness>ful ousness>ous aliti>al iviti>ive biliti>ble fulli>ful l|ogi>og"""), 1),
    (_parse_rules("icate>ic ative> alize>al iciti>ic ical>ic ful> ness>"), 1),
    (_parse_rules("""al> ance> ence> er> ic> able> ible> ant> ement> ment> ent> s|ion> t|ion> ou> ism> ate> iti> ous>
        ive> ize>"""), 2),
)  # fmt: skip


@lru_cache(maxsize=1 << 16)
def rouge_stem(word: str) -> str:
    """Return the stem of a ``str`` as rouge_score does: words of up to three characters do not change."""
    return porter_stem(word) if len(word) > 3 else word


def porter_stem(word: str) -> str:
    """Return the stem of a word, in lower case.

    Example:
        >>> from ngram_metrics._core.text.stemmer import porter_stem
        >>> [porter_stem(word) for word in ("running", "generously", "relational", "skies")]
        ['run', 'gener', 'relat', 'sky']
    """
    stem = str.lower(word)
    if stem in _IRREGULAR:
        return _IRREGULAR[stem]
    if len(word) <= 2:
        return stem
    if stem[-1] == "s":
        stem = _cut_plural(stem)
    if stem[-2:] == "ed" or stem[-3:] == "ing":
        stem = _cut_tense(stem)
    if stem[-1:] == "y" and len(stem) > 2 and _kinds(stem[:-1])[-1] == "c":
        stem = stem[:-1] + "i"
    for rules, measure in _STEPS:
        for suffix, cut, replacement in rules.get(stem[-2:], ()):
            if stem.endswith(suffix):
                if _measure(stem[:-cut]) >= measure:
                    stem = stem[:-cut] + replacement
                break
    if stem[-1:] == "e":
        kinds = _kinds(stem[:-1])
        measure = kinds.count("vc")
        if measure > 1 or (measure == 1 and not _ends_short(stem[:-1], kinds)):
            stem = stem[:-1]
    if stem[-2:] == "ll" and _measure(stem[:-1]) > 1:
        stem = stem[:-1]
    return stem


def _cut_plural(word: str) -> str:
    """Step 1a, for words that end in s."""
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]  # dies, flies
    if word.endswith("sses"):
        return word[:-2]
    return word if word.endswith("ss") else word[:-1]


def _cut_tense(word: str) -> str:
    """Step 1b, for words that end in ed or ing."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]  # died, spied
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    stem = word[:-2] if word.endswith("d") else word[:-3]
    kinds = _kinds(stem)
    if "v" not in kinds:
        return word
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if kinds[-1] == "c" and stem[-1] == stem[-2:-1]:
        return stem if stem[-1] in "lsz" else stem[:-1]
    return stem + "e" if kinds.count("vc") == 1 and _ends_short(stem, kinds) else stem


def _measure(stem: str) -> int:
    return _kinds(stem).count("vc")


def _kinds(stem: str) -> str:
    """Return v for each vowel and c for each consonant."""
    kinds = stem.translate(_KINDS)
    if "y" not in kinds:
        return kinds
    letters = []
    before = "v"
    for kind in kinds:
        if kind == "y":
            kind = "c" if before == "v" else "v"
        letters.append(kind)
        before = kind
    return "".join(letters)


def _ends_short(stem: str, kinds: str) -> bool:
    """Return whether a stem ends as "hop" does, or is as short as "us": Porter's condition o, and nltk's addition."""
    return (kinds.endswith("cvc") and stem[-1] not in "wxy") or kinds == "vc"
