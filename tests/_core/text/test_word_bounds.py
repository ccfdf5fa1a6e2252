"""Rules find the words that the peers find; and equal words get equal ids, whatever the alphabet and the length."""

import random
import re
import sys
import unicodedata
from itertools import chain, islice, pairwise

import numpy as np
import pytest
import regex
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rule_words import PEERS, RULES, assert_numbered, one_sentence, words_of
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

from ngram_metrics import functional
from ngram_metrics._core.text import numbering, word_bounds, word_rules, words
from ngram_metrics._core.text.input_warnings import find_other_form
from ngram_metrics._core.text.word_bounds import NAMED, ROUGE, WHITESPACE, character_chunks
from ngram_metrics._core.text.words import number_words

each_rule = pytest.mark.parametrize("name", RULES)

#: What the rules treat in a way of its own, and neighbours that decide.
TROUBLE = [
    *"..,,--&;:<>'\"()[]$+=/\\_#@*^`{|}~!?%0123459abzAZ  \t\n\r",
    *["<skipped>", "&amp;", "&quot;", "&lt;", "&gt;", "&amp;quot;", "-\n", "1.2", "3,4", "...", "5-", "-6"],
    *"\x00\x0b\x0c\x1c\x1d\x1e\x1f\x85\u00a0\u1680\u2003\u2028\u2029\u202f\u3000\u200b\u200d\ufeff\ufe0f\u0301\u3099",
    *"éßİıſ\u212a\u212bΣςﬁ½²٣Ⅷ。、「」・…„“–—€£¥§°×÷∑→中文々〇〡ー゛ｶﾞ한글नमस्ते١",
    *["ก", "\u0e49", "\u0e33", "ເກ\u0eca", "က", "\u103c", "၁", "ឆ", "\u17d2ម", "។"],
    *["\ud800", "\udfff", "😀", "👩\u200d👩", "\U0001d7d8", "\U00020000", "\U0010ffff", "\U000e0041", "\U0002f800"],
    *["internationalization", "abcdefgh", "abcdefghi", "Donaudampfschifffahrtsgesellschaft"],
]


@each_rule
def test_words_are_those_of_the_peer(name):
    """4,000 texts for each rule, at night 10^6."""
    rounds = 250 if settings().max_examples >= 1000 else 1
    chance = random.Random(0)
    for _ in range(rounds):
        texts = ["".join(chance.choices(TROUBLE, k=chance.randrange(12))) for _ in range(4000)]
        assert words_of(RULES[name], texts) == list(map(PEERS[name], texts))


#: But for planes 4 to 13, of which nothing is assigned, and 15 and 16 for private use; of the planes of ideographs and
#: of 14 some only but at night: so many take seconds.
_STEP = 1 if settings().max_examples >= 1000 else 61
_OF_PLANES = [*range(0x20000), *range(0x20000, 0x40000, _STEP), *range(0xE0000, 0xF0000, _STEP)]
EVERY = "".join(
    map(chr, sorted({*_OF_PLANES, 0x2A6D6, 0x2F800, 0x2FA1D, *range(0xE0000, 0xE0200), 0x3FFFE, sys.maxunicode}))
)
CODES = np.array(list(map(ord, EVERY)))


def classes_of(rule):
    """The class of each code point; of those left out that of an unassigned one."""
    (characters,) = character_chunks([EVERY])
    found = rule.classes(characters)[1:-1]
    classes = np.full(sys.maxunicode + 1, found[EVERY.index("\U0003fffe")])
    classes[CODES] = found
    return classes


def test_whitespace_is_what_python_splits_at():
    table = classes_of(WHITESPACE)
    assert [code for code in range(sys.maxunicode + 1) if not table[code]] == [
        ord(character) for character in EVERY if character.isspace()
    ]


def test_classes_of_intl_are_those_of_the_package_that_sacrebleu_asks():
    """Of all that this Python knows and holds in the class that the package does."""
    table = classes_of(NAMED["intl"])
    for category, expected in (("P", word_bounds.STOP), ("S", word_bounds.ALONE), ("N", word_bounds.NUMBER)):
        theirs = {ord(match[0]) for match in regex.finditer(rf"\p{{{category}}}", EVERY)}
        ours = set(np.flatnonzero(table == expected).tolist())
        assert {code for code in theirs ^ ours if unicodedata.category(chr(code)) != "Cn"} == set()


def test_intl_differs_from_sacrebleu_in_characters_that_this_python_does_not_know():
    """There are none in a Python as new as the package ``regex``."""
    newer = [match[0] for match in regex.finditer(r"[\p{P}\p{S}]", EVERY) if unicodedata.category(match[0]) == "Cn"]
    words = words_of(NAMED["intl"], [f"a{character}b" for character in newer])
    assert words == [[f"a{character}b"] for character in newer]
    assert all(len(PEERS["intl"](f"a{character}b")) > 1 for character in newer)


MARKS = [character for character in EVERY[:0x3100] if unicodedata.combining(character)]


@given(st.lists(st.text(MARKS, max_size=80) | st.text("aé\u1100\u1161\u11a8\U0001f600\u2126", max_size=2)).map("".join))
@example("a" + "\u0301\u0316" * 20 + "\U0001f600" + "\u0345\u3099" * 20)
def test_marks_in_any_order_are_composed_as_unicodedata_does(text):
    assert word_rules.compose(text) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize(
    "read",
    [
        lambda text: NAMED["unicode"].prepare([text]),
        lambda text: functional.bleu_score([text], ["a"], tokenizer="unicode"),
        lambda text: functional.rouge_score([text], ["a"], tokenizer="unicode"),
        lambda text: find_other_form(text, ["a"]),
        lambda text: find_other_form("a", [text]),
    ],
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


def test_the_characters_of_a_category_are_found_among_few(monkeypatch):
    """All that Unicode has, but a tenth of the code points is asked for."""
    asked = []
    monkeypatch.setattr(word_rules, "chr", lambda code: asked.append(code) or chr(code), raising=False)
    word_rules._categories.cache_clear()
    classes = word_rules._categories()
    assert len(asked) < 0x110000 // 10
    for letter, written in classes.items():
        theirs = [character for character in EVERY if unicodedata.category(character)[0] == letter]
        assert re.findall(f"[{written}]", EVERY) == theirs


def test_text_is_lowercased_before_it_is_composed():
    """T has no letter with a diaeresis, and t has."""
    for found in (words_of(NAMED["unicode"], ["T\u0308\u0301"])[0], word_rules.SPLITTERS["unicode"]("T\u0308\u0301")):
        assert found == ["\u1e97\u0301"]


def test_chinese_characters_are_those_of_sacrebleu():
    assert [TokenizerZh._is_chinese_char(character) for character in ("→", "\U00020000")] == [True, False], (
        "sacrebleu reads its ranges of Chinese characters rightly now: follow it in CHINESE_RANGES, and move what "
        "docs/project/stability.md says of it into CHANGELOG.md, Scores changed"
    )
    table = classes_of(NAMED["zh"])
    theirs = [
        code
        for code in [*range(0x80, 0xD800), *range(0xE000, 0x11000), 0x20000, 0x2A6D6, 0x2F800, 0x2FA1D, 0x10FFFF]
        if TokenizerZh._is_chinese_char(chr(code)) and not chr(code).isspace()
    ]
    assert [code for code in theirs if table[code] != word_bounds.ALONE] == []
    assert np.count_nonzero(table[0x80:] == word_bounds.ALONE) == len([code for code in theirs if code < 0x11000])


def test_lower_case_letters_of_ascii_come_from_two_characters_outside_it():
    table = classes_of(ROUGE)
    folded = {chr(code): chr(table[code]) for code in np.flatnonzero(table).tolist() if code > 127}
    assert folded == {"\u212a": "k"}
    longer = [character for character in EVERY if len(character.lower()) > 1]
    assert longer == ["\u0130"]  # the other one: its lower case are two characters, and it is written out before


@pytest.mark.parametrize("name", ["none", "13a", "rouge_score", "chrF++"])
@given(st.data())
def test_few_characters_beyond_ascii_are_taken_as_bytes(name, data):
    """But not blanks, and what becomes a letter of ASCII. ROUGE's rule reads others as bytes from the start."""
    plain = st.text(st.sampled_from("ab1.,-& \n"), min_size=40, max_size=60)
    plainer, stranger = "é„中٣😀\ud800", "\x85\u2003\u3000\u212a"
    rare = st.sampled_from(plainer + data.draw(st.sampled_from(["", stranger])))
    texts = data.draw(st.lists(st.tuples(plain, rare, plain, rare).map("".join), min_size=1, max_size=4))
    assert words_of(RULES[name], texts) == list(map(PEERS[name], texts))
    (characters,) = character_chunks(RULES[name].prepare(texts))
    if name != "rouge_score" and not set(stranger).intersection("".join(texts)):
        simple = RULES[name].simplify(characters)
        assert simple.ascii
        assert simple.units[simple.ends].tolist() == [ord("\n")] * len(texts)


#: With the second all values share a slot, with the third many do.
FACTORS = [words.FIBONACCI, np.uint64(0), np.uint64(1 << 50)]


@pytest.fixture(params=[0, 10**9], ids=["windows", "dict"])
def few(monkeypatch, request):
    """Numbered by windows or in a dict, whatever the number of words."""
    monkeypatch.setattr(words, "FEW", request.param)


@pytest.mark.parametrize("factor", FACTORS, ids=hex)
@pytest.mark.usefixtures("few")
def test_words_that_differ_in_one_byte_at_any_place(monkeypatch, factor):
    monkeypatch.setattr(words, "FIBONACCI", factor)
    length = 70
    found = ["a" * size for size in range(1, length)]
    found += [
        "a" * at + "b" + "a" * (size - at - 1)
        for size in (7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 69)
        for at in range(size)
    ]
    found += ["\x00" * size for size in range(1, 20)]
    # Once, and twice: the place of the last equal word is then that of the first one, or another.
    for shown in (found, found * 2):
        texts = [" ".join(shown)]
        read = number_words(WHITESPACE, texts, one_sentence(texts))
        assert_numbered(shown, read.ids.tolist(), read.id_bound)


def test_words_of_a_million_characters():
    long = "ab" * 500_000
    texts = [long, long[:-1] + "c", long, f"{long}a x"]
    read = number_words(WHITESPACE, texts, one_sentence(texts))
    assert_numbered([1, 2, 1, 3, 4], read.ids.tolist(), read.id_bound)


def test_each_distinct_word_is_stemmed_once():
    found, asked = [f"{number:0{9 + number % 60}}" for number in range(2000)], []
    texts = [" ".join(found * 2)]
    read = number_words(WHITESPACE, texts, one_sentence(texts), stem=lambda word: asked.append(word) or word)
    assert_numbered(found * 2, read.ids.tolist(), read.id_bound)
    assert sorted(asked) == sorted(found)


@pytest.mark.covering
@each_rule
@pytest.mark.parametrize("texts", [[], [""], ["", ""], [" ", "\n"], ["-"]])
def test_texts_without_words(name, texts):
    read = number_words(RULES[name], texts, one_sentence(texts))
    assert read.lengths.tolist() == [len(PEERS[name](text)) for text in texts]
    assert (read.ids.dtype, read.lengths.dtype) == (torch.int64, torch.int64)


@pytest.mark.covering
@each_rule
@pytest.mark.parametrize("budget", [1, 40, 1000, 10**6])
def test_words_of_a_sentence_share_ids_wherever_texts_are_cut(monkeypatch, name, budget):
    monkeypatch.setattr(word_bounds, "CHARACTERS", budget)
    chance = random.Random(3)
    columns = [[1] * 60, [1] * 60, [chance.randrange(4) for _ in range(60)]]
    texts = ["".join(chance.choices(TROUBLE, k=chance.randrange(9))) for _ in range(sum(map(sum, columns)))]
    found = list(map(PEERS[name], texts))
    read = number_words(RULES[name], texts, list(map(np.array, columns)))
    assert read.lengths.tolist() == list(map(len, found))
    ids = read.ids.split(read.lengths.tolist())
    rest, first = iter(zip(found, ids, strict=True)), []
    for column in columns:
        first.append([list(islice(rest, count)) for count in column])
    for sentence in zip(*first, strict=True):
        documents = list(chain.from_iterable(sentence))
        words_of_sentence = [word for words_of_text, _ in documents for word in words_of_text]
        assert_numbered(words_of_sentence, [int(one) for _, of_text in documents for one in of_text], read.id_bound)


@pytest.mark.parametrize("budget", [1, 12, 10**6])
def test_lines_of_several_columns_are_documents(monkeypatch, budget):
    monkeypatch.setattr(word_bounds, "CHARACTERS", budget)
    texts = ["a b\nc", "", "\n", "d\r\ne f\n\ng", "x", "y\n"]
    read = number_words(WHITESPACE, texts, [np.array([1, 1, 1]), np.array([2, 0, 1])], by_line=True)
    assert read.lengths.tolist() == [len(line.split()) for text in texts for line in text.split("\n")]


@each_rule
@pytest.mark.usefixtures("few")
def test_words_and_stems_do_not_depend_on_how_they_are_numbered(name):
    chance = random.Random(2)
    texts = ["".join(chance.choices(TROUBLE, k=chance.randrange(30))) for _ in range(500)]
    for shown in (texts, [text.encode("ascii", "ignore").decode() for text in texts]):
        found = list(map(PEERS[name], shown))
        assert words_of(RULES[name], shown) == found
        stems = number_words(RULES[name], shown, one_sentence(shown), stem=lambda word: word[:2])
        assert_numbered([word[:2] for text in found for word in text], stems.ids.tolist(), stems.id_bound)


@example([0, 7], 0)
@example([0, 8], 0)
@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 40), max_size=12), st.integers(0, 3))
def test_numbers_of_integers_are_dense(values, repeats):
    """Beside a table up to four times their number, all others are sorted."""
    values = values + [abs(one) % 41 for one in values] * repeats
    for shown in (values, [value for value in values if 0 <= value < 4 * len(values)]):
        number, distinct = numbering.number_values(np.array(shown, np.int64))
        assert_numbered(shown, number.tolist(), distinct)
        assert distinct == len(set(shown))
