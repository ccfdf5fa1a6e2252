"""Words by rule: those of sacrebleu and rouge_score to the letter, and those of any script."""

import random
import sys
import unicodedata
from collections.abc import Callable, Iterable
from itertools import pairwise

import pytest
import regex
import rouge_oracle
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rouge_score import tokenize
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

from ngram_metrics._core.text import word_rules
from ngram_metrics._core.text.input_warnings import find_other_form
from ngram_metrics._core.text.word_rules import (
    CHRF_WORDS,
    END_OF_TEXT,
    HAN_AND_KANA_RANGES,
    ROUGE_WORDS,
    RULES,
    SOUTHEAST_ASIAN_RANGES,
    WordRule,
    rouge_text,
)

ALL_RULES = {**RULES, "rouge_score": ROUGE_WORDS, "chrF++": CHRF_WORDS}
AT_NIGHT = settings().max_examples >= 1000

ESCAPED = [
    *["<skipped>", "&quot;", "&amp;", "&lt;", "&gt;", "quot;", "lt;", "gt;", "amp;", "skipped>"],
    *"-\n a",
]
#: What a rule treats specially, and neighbours that decide.
TROUBLE = [
    *"..,,--&;:<>'\"()[]$+=/\\_#@*^`{|}~!?%0123459abzAZ  \t\n\r",
    *["<skipped>", "&amp;", "&quot;", "-\n", "1.2", "3,4", "...", "5-", "-6"],
    *"\x00\x0b\x0c\x1c\x1d\x1e\x1f\x85\u00a0\u1680\u2003\u2028\u2029\u202f\u3000\u200b\u200d\ufeff\ufe0f\u0301\u3099",
    *"éßİıſ\u212a\u212bΣςﬁ½²٣Ⅷ。、「」・･…„“–—€£¥§°×÷∑→中文々〇〡ー゛ｶﾞ한글नमस्ते١",
    *["ก", "\u0e49", "\u0e33", "ເກ\u0eca", "က", "\u103c", "၁", "ឆ", "\u17d2ម", "។"],
    *["\ud800", "\udfff", "😀", "👩\u200d👩", "\U0001d7d8", "\U00020000", "\U0010ffff", "\U000e0041", "\U0002f800"],
    *["\U0001d165", "\U00010100", "T\u0308\u0301", "internationalization"],
]


def is_within(ranges: Iterable[tuple[int, int]]) -> Callable[[str], bool]:
    codes = {code for first, last in ranges for code in range(first, last + 1)}
    return lambda character: ord(character) in codes


is_han_or_kana = is_within(HAN_AND_KANA_RANGES)
is_southeast_asian = is_within(SOUTHEAST_ASIAN_RANGES)


def tokenize_with_sacrebleu(name: str) -> Callable[[str], list[str]]:
    peer = BLEU(tokenize=name)
    return lambda text: peer._preprocess_segment(text).split()


def unicode_words(text: str) -> list[str]:
    """Letters and digits of any script with the marks and format characters after them; Han and kana apart; the letters
    of Thai, Lao, Burmese and Khmer apart."""
    words: list[str] = []
    before = "other"
    for character in unicodedata.normalize("NFC", text.lower()):
        category = unicodedata.category(character)
        if category[0] == "M" or (category == "Cf" and character != "\u200b"):
            if before in ("letter", "head"):
                words[-1] += character
        elif category[0] not in "LN" and not is_han_or_kana(character):
            before = "other"
        elif before == "letter" and not is_han_or_kana(character) and not is_southeast_asian(character):
            words[-1] += character
        else:
            words.append(character)
            before = "han" if is_han_or_kana(character) else "head" if is_southeast_asian(character) else "letter"
    return words


PEERS: dict[str | None, Callable[[str], list[str]]] = {
    **{name: tokenize_with_sacrebleu(name) for name in ("13a", "intl", "zh", "char", "none")},
    None: str.split,
    "unicode": unicode_words,
    "rouge_score": lambda text: tokenize.tokenize(text, None),
    "chrF++": CHRF()._remove_punctuation,
}
each_rule = pytest.mark.parametrize("name", PEERS)


def words_of(rule: WordRule, text: str) -> list[str]:
    *words, end = rule.words([text])
    assert end == END_OF_TEXT
    return words


def test_each_rule_has_a_peer():
    assert PEERS.keys() == ALL_RULES.keys()


@each_rule
@pytest.mark.parametrize("parts", [TROUBLE, ESCAPED, "., 1a-\n"], ids=["trouble", "escaped", "stops"])
def test_words_are_those_of_the_peer(name, parts):
    """2,000 texts for each rule, at night 10^6, read in portions of up to 200."""
    chance = random.Random(0)
    for _ in range(10_000 if AT_NIGHT else 20):
        texts = ["".join(chance.choices(parts, k=chance.randrange(12))) for _ in range(chance.randrange(200))]
        expected = [word for text in texts for word in (*PEERS[name](text), END_OF_TEXT)]
        assert ALL_RULES[name].words(texts) == expected


#: Planes 4 to 13 have no characters, and 15 and 16 are for private use.
_STEP = 1 if AT_NIGHT else 61
EVERY_CHARACTER = list(map(chr, [*range(0x20000), *range(0x20000, 0x40000, _STEP), *range(0xE0000, 0xF0000, _STEP)]))
#: All up to the first Chinese characters, and every 61st of the others.
SOME_CHARACTERS = [*EVERY_CHARACTER[:0x3410], *EVERY_CHARACTER[0x3410::61]]


@each_rule
@pytest.mark.parametrize(
    "characters", [SOME_CHARACTERS, pytest.param(EVERY_CHARACTER, marks=pytest.mark.slow)], ids=["some", "every"]
)
def test_a_character_is_of_the_class_that_the_peer_takes_it_for(name, characters):
    """``intl`` and ``unicode`` follow the Unicode data of this Python; that of the package ``regex`` may be newer."""
    is_newer = regex.compile(r"[\p{P}\p{S}\p{N}]").match
    known = [one for one in characters if unicodedata.category(one) != "Cn" or not is_newer(one)]
    text = " ".join(f"a{character}5{character}.5" for character in known)
    assert words_of(ALL_RULES[name], text) == PEERS[name](text)


@pytest.mark.parametrize(
    "name",
    [
        "13a",
        pytest.param("unicode", marks=pytest.mark.slow),
        pytest.param("intl", marks=pytest.mark.slow),
        pytest.param("zh", marks=pytest.mark.slow),
        pytest.param("chrF++", marks=pytest.mark.slow),
    ],
)
def test_long_runs_take_linear_time(name):
    """In quadratic time each run would take minutes."""
    runs = [".", ",.", "-", "!", "5.", "(5", "\u0301\u0316", "中", "ก\u0e49", "5\u0301"]
    text = " ".join(f"{run * 100_000}a ({run * 100_000}" for run in runs)
    assert "".join(words_of(ALL_RULES[name], text)).count("5") == text.count("5")


@given(st.text() | st.text(st.sampled_from("aZ09 _-\n\r\u212aİßﬁΣé\u0301\u2028\x85\x1c😀")))
def test_rouge_words_are_those_of_rouge_score_and_of_torchmetrics(text):
    from torchmetrics.functional.text.rouge import _normalize_and_tokenize_text

    expected = tokenize.tokenize(text, None)
    assert words_of(ROUGE_WORDS, text) == rouge_oracle.words(text) == rouge_text(text).split() == expected
    seen = []
    _normalize_and_tokenize_text(text, tokenizer=lambda cleared: seen.append(cleared) or [])
    assert [rouge_text(text)] == seen


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Zoë's 東京!", ["zoë", "s", "東", "京"]),
        # Devanagari: vowel signs, virama and nukta are marks inside a word; the danda parts words.
        ("नमस्ते दुनिया। हिन्दी में पढ़ना", ["नमस्ते", "दुनिया", "हिन्दी", "में", "पढ़ना"]),
        ("مُحَمَّد، السلام عليكم؟", ["مُحَمَّد", "السلام", "عليكم"]),
        ("Привет, МИР! Ёлка; поезд-экспресс", ["привет", "мир", "ёлка", "поезд", "экспресс"]),
        ("漢字かなカナ交じり文", list("漢字かなカナ交じり文")),
        ("私はABCとdef2です", ["私", "は", "abc", "と", "def2", "で", "す"]),
        ("한국어 텍스트", ["한국어", "텍스트"]),
        ("か\u3099 か", ["が", "か"]),
        # Iteration marks, the zero, Hangzhou digits and hentaigana are of these scripts too, though no name says so.
        ("人々〡〢いすゞヽヾ〇\U0001b002あ", list("人々〡〢いすゞヽヾ〇\U0001b002あ")),
        # Half-width forms: a voiced sound mark is a character of its own.
        ("ｶﾞｯﾂｰ", list("ｶﾞｯﾂｰ")),
        # The full-width middle dot is punctuation; a mark that composes with nothing is no word.
        ("ア・イ ん\u3099", list("アイん")),
        # Thai, Lao, Burmese and Khmer: each letter with its marks; digits in a row; a mark begins no word.
        ("นั่งอยู่ที่นี่", ["นั่", "ง", "อ", "ยู่", "ที่", "นี่"]),
        ("ຢູ່ເທິງ ກ໊abcກ", ["ຢູ່", "ເ", "ທິ", "ງ", "ກ໊", "abc", "ກ"]),
        ("ကြောင်၊ ၁၂ကa", ["ကြော", "င်", "၁၂", "က", "a"]),
        ("ឆ្មា៥៥។ \u17b6ក", ["ឆ្", "មា", "៥៥", "ក"]),
        ("東ก\u0e49東\u0e49a", ["東", "ก\u0e49", "東", "a"]),
        # Persian and Hindi have joiners inside words, and format characters part no word.
        ("کتاب\u200cها را می\u200cخوانم", ["کتاب\u200cها", "را", "می\u200cخوانم"]),
        ("क\u094d\u200dष श्री\u200dमान", ["क\u094d\u200dष", "श्री\u200dमान"]),
        ("zu\u00adsammen re\u2060do x\ufeffy", ["zu\u00adsammen", "re\u2060do", "x\ufeffy"]),
        ("ก\u200dข\u2060 ၁\u200c၂", ["ก\u200d", "ข\u2060", "၁\u200c၂"]),
        # Where no letter is before them, they are in no word; a zero-width space parts words.
        ("\ufeffthe (\u200fשלום\u200f) 中\u2060a ab\u200bcd", ["the", "שלום\u200f", "中", "a", "ab", "cd"]),
        ("❤\ufe0flove 👩\u200d🚀s \u0301a", ["love", "s", "a"]),
        ("İstanbul ΟΔΟΣ", ["i\u0307stanbul", "οδος"]),
        # T has no letter with a diaeresis, and t has.
        ("T\u0308\u0301", ["\u1e97\u0301"]),
        ("a_b c-d e.f ٣٤", ["a", "b", "c", "d", "e", "f", "٣٤"]),
        # Two different emoji with a variation selector share no word.
        ("❤\ufe0f a😀b 👩\u200d👩 🇩🇪 \u0301 ☀\ufe0f \u20e3", ["a", "b"]),
    ],
    ids=ascii,
)
def test_words_of_any_script(text, words):
    assert words_of(RULES["unicode"], text) == words == unicode_words(text)


def test_format_characters_part_words_where_uax_29_says_so():
    """The package ``regex`` knows the word boundaries of Unicode, of all scripts with blanks."""
    parts = regex.compile(r"(?w)\b").split
    formats = [one for one in EVERY_CHARACTER if unicodedata.category(one) in ("Cf", "Mn", "Mc", "Me")]
    assert len(formats) > 2000
    for one in formats:
        text = unicodedata.normalize("NFC", f"ab{one}cd")
        expected = [part for part in parts(text) if regex.search("[a-d]", part)]
        assert words_of(RULES["unicode"], text) == expected, hex(ord(one))


def test_han_and_kana_are_those_of_unicode():
    """Of all that this Python knows, and of all that is in our table, as a package with Unicode's data has it."""
    of_scripts = regex.compile(r"[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}]").match
    # Of planes 4 to 13 nothing is assigned.
    characters = list(map(chr, [*range(0x40000), *range(0xE0000, sys.maxunicode + 1, 0x100)]))
    ours = set(filter(is_han_or_kana, characters))
    known = {one for one in characters if unicodedata.category(one) != "Cn"}
    expected = {one for one in ours | known if of_scripts(one) and regex.match(r"[\p{L}\p{N}]", one)}
    assert ours == expected | {"･"}  # in the middle of the half-width forms
    assert len(ours) > 100_000


def test_southeast_asian_letters_are_those_of_unicode():
    of_scripts = regex.compile(r"[\p{sc=Thai}\p{sc=Lao}\p{sc=Myanmar}\p{sc=Khmer}]").match
    known = [one for one in map(chr, range(0x20000)) if unicodedata.category(one)[0] == "L"]
    assert [one for one in known if is_southeast_asian(one)] == [one for one in known if of_scripts(one)]


def test_chinese_characters_are_those_of_sacrebleu():
    assert [TokenizerZh._is_chinese_char(character) for character in ("→", "\U00020000")] == [True, False], (
        "sacrebleu reads its ranges of Chinese characters rightly now: follow it in CHINESE_RANGES, and move what "
        "docs/project/stability.md says of it into CHANGELOG.md, Scores changed"
    )


MARKS = [character for character in map(chr, range(0x3100)) if unicodedata.combining(character)]


@given(st.lists(st.text(MARKS, max_size=80) | st.text("aé\u1100\u1161\u11a8\U0001f600\u2126", max_size=2)).map("".join))
@example("a" + "\u0301\u0316" * 20 + "\U0001f600" + "\u0345\u3099" * 20)
def test_marks_in_any_order_are_composed_as_unicodedata_does(text):
    assert word_rules.compose(text) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize(
    "read",
    [RULES["unicode"].prepare, lambda text: find_other_form(text, ["a"]), lambda text: find_other_form("a", [text])],
)
def test_no_long_run_of_marks_is_left_to_be_ordered(monkeypatch, read):
    """``unicodedata`` exchanges neighbours, so that a run in the opposite order takes quadratic time."""
    normalized = []
    monkeypatch.setattr(word_rules.unicodedata, "normalize", lambda _, text: normalized.append(text) or text)
    read("a" + "\u0301\u0316" * 500 + "b" + "\u0345\u3099" * 500)
    normalized = [text for text in normalized if len(text) > 1000]
    classes = [unicodedata.combining(mark) for mark in normalized[-1]]
    assert len(classes) == 2002
    assert sum(first > second for first, second in pairwise(classes)) == 1  # where the second run begins
