"""Words by rule: rouge_score's to the letter, and those of any script."""

import sys
import unicodedata

import pytest
import regex
import rouge_oracle
from hypothesis import example, given
from hypothesis import strategies as st
from rouge_score import tokenize
from rule_words import is_han_or_kana, is_southeast_asian, unicode_words, words_of

from ngram_metrics._core.text.word_bounds import NAMED, ROUGE
from ngram_metrics._core.text.word_rules import rouge_text, split_unicode

#: Letters whose lower case is in ASCII or longer than they are, digits of other scripts, and every kind of separator.
TRAPS = [
    "",
    "Don't stop, Zoë!",
    "snake_case __init__ a_1",
    "273 \u212a \u212aelvin \u212b \u00c5ngstrom",
    "İstanbul I\u0307 ı",
    "STRASSE straße ẞ ﬁne ﬀ",
    "e\u0301te\u0301 été cafe\u0301s",
    "ΟΔΟΣ ΣΑΣ",
    "１２３ ²³ ½ ٣٤ Ⅷ 3⁄4",
    "a\r\nb\rc\nd\u2028e\u2029f\x85g\x0bh\x0ci\x1cj\x1fk\tl\u00a0m\u3000n\u200bo",
    "a\u00adb a\u200db a\u200cb a\ufeffb",
    "😀a👩\u200d👩\u200d👧b🇩🇪",
    "\ud800a\udc00b\x00c",
    "1.5e-3 3,000.00 $5 x²",
    "मैं 東京 АБВ",
]
texts = st.text() | st.text(st.sampled_from("aZ09 _-\n\r\u212aİßﬁΣé\u0301\u2028\x85\x1c😀")) | st.sampled_from(TRAPS)


@given(texts)
def test_rouge_words_are_those_of_rouge_score(text):
    expected = tokenize.tokenize(text, None)
    assert words_of(ROUGE, [text]) == [expected]
    assert rouge_text(text).split() == expected
    assert rouge_oracle.words(text) == expected


@given(texts)
def test_the_text_that_is_split_is_that_of_torchmetrics(text):
    """Of one lone text, blanks at its ends and between words, never two."""
    from torchmetrics.functional.text.rouge import _normalize_and_tokenize_text

    seen = []
    _normalize_and_tokenize_text(text, tokenizer=lambda cleared: seen.append(cleared) or [])
    assert [rouge_text(text)] == seen


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Zoë's 東京!", ["zoë", "s", "東", "京"]),
        # Devanagari: vowel signs, virama and nukta are marks inside a word; the danda parts words.
        ("नमस्ते दुनिया। हिन्दी में पढ़ना", ["नमस्ते", "दुनिया", "हिन्दी", "में", "पढ़ना"]),
        ("বাংলা ভাষা, தமிழ் மொழி", ["বাংলা", "ভাষা", "தமிழ்", "மொழி"]),
        ("مُحَمَّد، السلام عليكم؟", ["مُحَمَّد", "السلام", "عليكم"]),
        ("Привет, МИР! Ёлка; поезд-экспресс", ["привет", "мир", "ёлка", "поезд", "экспресс"]),
        ("שָׁלוֹם עולם", ["שָׁלוֹם", "עולם"]),
        ("漢字かなカナ交じり文", list("漢字かなカナ交") + list("じり文")),
        ("私はABCとdef2です", ["私", "は", "abc", "と", "def2", "で", "す"]),
        ("한국어 텍스트", ["한국어", "텍스트"]),
        ("cafe\u0301 CAFÉ", ["café", "café"]),
        ("か\u3099 か", ["が", "か"]),
        # Iteration marks, the zero, Hangzhou digits and hentaigana are of these scripts too, though no name says so.
        ("二〇〇〇年", ["二", "〇", "〇", "〇", "年"]),
        ("人々〡〢いすゞヽヾ", list("人々〡〢いすゞヽヾ")),
        ("\U0001b002\U0001b003あ", ["\U0001b002", "\U0001b003", "あ"]),
        ("スーパーー Tシャツ", list("スーパーーTシャツ".lower())),
        # Half-width forms: a voiced sound mark is a character of its own.
        ("ｶﾞｯﾂｰ", list("ｶﾞｯﾂｰ")),
        # The full-width middle dot is punctuation; a mark that composes with nothing is no word.
        ("ア・イ ん\u3099", list("アイん")),
        # Thai, Lao, Burmese and Khmer: each letter with its marks; digits in a row; a mark begins no word.
        ("นั่งอยู่ที่นี่", ["นั่", "ง", "อ", "ยู่", "ที่", "นี่"]),
        ("ຢູ່ເທິງ ກ໊abcກ", ["ຢູ່", "ເ", "ທິ", "ງ", "ກ໊", "abc", "ກ"]),
        ("ကြောင်၊ ၁၂ကa", ["ကြော", "င်", "၁၂", "က", "a"]),
        ("ឆ្មា៥៥។ \u17b6ក", ["ឆ្", "មា", "៥៥", "ក"]),
        ("東ก\u0e49東\u0e49a", ["東", "ก\u0e49", "東", "\u0e49a"]),
        ("İstanbul", ["i\u0307stanbul"]),
        ("ΟΔΟΣ ΣΑΣ", ["οδος", "σας"]),
        ("a_b c-d e.f", ["a", "b", "c", "d", "e", "f"]),
        ("٣٤ १२ 12", ["٣٤", "१२", "12"]),
        ("😀 a😀b 👍", ["a", "b"]),
        ("👩\u200d👩\u200d👧 🇩🇪", []),
        # Two different emoji with a variation selector share no word: a mark without a letter is none.
        *((mark, []) for mark in ("❤\ufe0f", "\u0301", "☀\ufe0f \u20e3")),
        ("", []),
        (" \n\u2028\u3000", []),
    ],
    ids=ascii,
)
def test_words_of_any_script(text, words):
    assert words_of(NAMED["unicode"], [text]) == [words] == [unicode_words(text)] == [split_unicode(text)]


def test_han_and_kana_are_those_of_unicode():
    """Of all that this Python knows, and of all that is in our table, as a package with Unicode's data has it."""
    of_scripts = regex.compile(r"[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}]").match
    # Of planes 4 to 13 nothing is assigned.
    code_points = [*range(0x40000), *range(0xE0000, sys.maxunicode + 1, 0x100)]
    ours = {code_point for code_point in code_points if is_han_or_kana(chr(code_point))}
    known = {one for one in code_points if unicodedata.category(chr(one)) != "Cn"}
    expected = {one for one in ours | known if of_scripts(chr(one)) and regex.match(r"[\p{L}\p{N}]", chr(one))}
    assert ours == expected | {ord("･")}  # in the middle of the half-width forms
    assert len(ours) > 100_000


def test_southeast_asian_letters_are_those_of_unicode():
    of_scripts = regex.compile(r"[\p{sc=Thai}\p{sc=Lao}\p{sc=Myanmar}\p{sc=Khmer}]").match
    known = [one for one in map(chr, range(0x20000)) if unicodedata.category(one)[0] == "L"]
    assert [one for one in known if is_southeast_asian(one)] == [one for one in known if of_scripts(one)]


@example(["\U0002f800", "\u0958"])  # letters of which NFC makes others: an ideograph, a letter with its mark
@given(st.lists(st.text(st.characters(categories=["Ll", "Lo", "Nd"]), min_size=1, max_size=6)))
def test_words_apart_by_blanks_come_back(parts):
    """Of letters that have no lower case of their own, and of any script that has blanks; composed."""
    text = " ".join(part.lower() for part in parts)
    (joined,) = words_of(NAMED["unicode"], [text])
    assert "".join(joined) == unicodedata.normalize("NFC", text).replace(" ", "")
    assert words_of(NAMED["unicode"], [" ".join(joined)]) == [joined]
