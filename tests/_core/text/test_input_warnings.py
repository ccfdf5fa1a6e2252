"""Warnings of what is almost surely meant otherwise, and what must not be warned of."""

import re
import sys
import warnings
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from layouts import read_batch
from torchmetrics import MetricCollection

from ngram_metrics import Bleu, ChrF, GroupedMetric, ROUGEScore, evaluate, functional, ignite, mbr
from ngram_metrics import _cli as cli
from ngram_metrics._core.text.input_forms import read
from ngram_metrics._core.text.input_warnings import _FIRST_BYTES, _WITHOUT_BLANKS
from ngram_metrics._core.text.reader import WordReader
from ngram_metrics._core.text.rouge_reader import RougeReader
from ngram_metrics._core.text.tokenizer_option import batch_tokenizer

#: With any options of the command line too: otherwise the tests of what must not be warned of could not fail.
pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize(
    ("preds", "target"),
    [
        (["the cat sat"], [["the", "cat", "sat"]]),
        ("the cat sat", ["the", "cat", "sat"]),
        (["the cat sat"], [("a", "cat", "sat", "down")]),
        (["the cat sat"], [np.array(["the", "cat"])]),
        (["x y", "the cat sat"], [["a", "dog"], ["the", " cat\n", "sat"]]),
    ],
)
def test_references_that_are_the_words_of_one_are_warned_of(preds, target):
    with pytest.warns(UserWarning, match="single words, and a hypothesis has several of them: a list of str in targ"):
        read(preds, target)


@pytest.mark.parametrize(
    ("preds", "target"),
    [
        # Answers of one word, one or with their other spellings, beside an answer of several.
        (["it was Paris"], ["Paris"]),
        (["it was Paris"], [["Paris"]]),
        (["it was Paris"], [["Paris", "paris", "Parigi", "Paris"]]),
        (["in 1912 or so", "no"], [["1912", "MCMXII"], ["no", "nope"]]),
        (["cat"], [["cat", "dog"]]),
        # One of the references is a text of several words, or a segment has only one.
        (["the cat sat"], [["the", "cat", "cat sat"]]),
        (["the cat sat", "a b"], [["the", "cat"], ["a b", "c"]]),
        (["the cat sat", "a b"], [["the", "cat"], ["a"]]),
        # A script without blanks.
        (["我喜欢猫"], [["我喜欢猫", "我爱猫"]]),
        # Tokens are what they say.
        ([["the", "cat", "sat"]], [["the", "cat", "sat"]]),
        ([["the", "cat", "sat"]], [[["the"], ["cat"]]]),
        ([[1, 2]], [[[1], [2]]]),
        ([""], [["", ""]]),
        ([], []),
    ],
)
def test_ordinary_references_are_not_warned_of(preds, target):
    read(preds, target)


UNREAD = (["слово"], ["東京", "नमस्ते 。"], ["!?", "Zürich 東京", "é"])


@pytest.mark.parametrize("texts", UNREAD)
@pytest.mark.parametrize("options", [{}, {"tokenizer": str.split}, {"sentences": False}, {"use_stemmer": True}])
def test_a_text_of_which_the_ascii_rule_leaves_nothing_is_warned_of(texts, options):
    for preds, target in ((["a"] * len(texts), texts), (texts, [["a", "b"]] * len(texts))):
        with pytest.warns(UserWarning, match="a text without words scores 0: tokenizer='unicode' keeps"):
            read_batch(RougeReader(**options), preds, target)


@pytest.mark.parametrize(
    ("texts", "options"),
    [
        *(([texts], {}) for texts in (["", " \n"], ["!?", "…"], ["👍", "a 東京"], ["_", "Zürich"])),
        *((UNREAD, options) for options in ({"tokenizer": "unicode"}, {"normalizer": str}, {"tokenizer": "char"})),
    ],
)
def test_texts_of_which_all_or_some_letters_stay_and_texts_without_any_are_not_warned_of(texts, options):
    for several in texts:
        read_batch(RougeReader(**options), several, several)


@pytest.mark.parametrize("name", ["bert-base-uncased", "facebook/bart-large", "gpt2"])
def test_the_name_of_a_model_says_to_pass_its_tokenizer(name):
    words = rf"of a model, pass its tokenizer, such as AutoTokenizer.from_pretrained\('{name}'"
    with pytest.raises(ValueError, match=words):
        batch_tokenizer(name)


MAT = "the cat sat on the mat"
ONE_TOKEN = "is one token with spaces; a text is a str: pass 'the cat sat' instead of"


@pytest.mark.parametrize("reader", [WordReader(), RougeReader()])
@pytest.mark.parametrize(
    ("preds", "target", "name"),
    [
        ([[MAT]], [[MAT]], "segment 0"),
        ([(MAT,), ()], [[[MAT], ["a dog"]], [["a dog"]]], "segment 0"),
        ([[], ["a\nb"]], [["a b"], [["a\tb"]]], "segment 1"),
        ([[]], [["a b"]], "reference 0 of segment 0"),
        ([["the", "cat"], ["a"]], [["the cat"], ["a dog"]], "reference 0 of segment 0"),
        ([["the cat"]], [["the", "cat"]], "segment 0"),
        (np.array([[MAT]]), np.array([[MAT]]), "segment 0"),
    ],
)
def test_texts_as_tokens_are_warned_of(reader, preds, target, name):
    with pytest.warns(UserWarning, match=f"^{name} {ONE_TOKEN}"):
        read_batch(reader, preds, target)


def test_texts_as_tokens_are_warned_of_in_rows():
    with pytest.warns(UserWarning, match=f"^hypothesis 0 of row 0 {ONE_TOKEN}"):
        mbr.pairwise(Bleu(), [[[MAT]]], [[["a b"]]])


@pytest.mark.parametrize(
    ("preds", "target"),
    [
        ([[" the"], ["cat "]], [[" the"], [" dog"]]),
        ([["the", "cat"]], [["cat"]]),
        ([["New York"], ["Paris"]], [["Paris"], ["Paris"]]),
        ([["the"], []], [[[]], [[]]]),
        ([["\n\n"], [" "], [""]], [["\n\n"], [" "], [""]]),
        ([["New York"], ["Paris"]], [["Paris"], ["New York"]]),
        ([["New York", "is"]], [["New York"]]),
        ([["New York"]], [["New York", "is"]]),
        ([[("a b",)]], [[("a b",)]]),
        ([[b"a b"]], [[b"a b"]]),
        ([[], []], [[[]], [[]]]),
    ],
)
def test_tokens_are_not_warned_of(preds, target):
    read_batch(WordReader(), preds, target)


UNSPLIT = [
    "猫坐在垫子上",
    "我喜欢猫。",
    "私は毎日コンピューターを使っています。",
    "แมวนั่งอยู่บนเสื่อ",
    "ឆ្មាអង្គុយលើកម្រាល",
    "我家里有很多小cat和大dog。",
]


@pytest.mark.parametrize("text", UNSPLIT)
@pytest.mark.parametrize("tokenizer", [None, "none", "13a", "intl"])
def test_a_script_without_blanks_is_warned_of(text, tokenizer):
    for preds, target in (([text], [text]), (["a b"], [text]), ([text], [[text, "a b"]])):
        for reader in (WordReader, RougeReader)[: 1 + (tokenizer is not None)]:
            with pytest.warns(
                UserWarning, match="a segment is one word. Pass tokenizer='zh' for Chinese, 'ja-mecab' for"
            ):
                read_batch(reader(tokenizer=tokenizer), preds, target)


TEXTS = {"Russian": "слово", "Chinese": "我家里有很多小猫 " * 4, "tokenized": "a cat sat ."}


@pytest.mark.parametrize(
    ("metric", "text", "cure"),
    [
        ("rouge1", "Russian", "{rouge}'unicode' keeps letters and digits of all scripts"),
        ("bleu", "Chinese", "Pass {words}'zh' for Chinese"),
        ("bleu", "tokenized", "pass {words}'none' for text that is tokenized"),
    ],
)
def test_a_warning_names_the_option_of_its_api(metric, text, cure, tmp_path, capsys):
    batch = [TEXTS[text]], [TEXTS[text]]
    calls = {
        "rouge1": [
            lambda: ROUGEScore()(*batch),
            lambda: functional.rouge_score(*batch),
            lambda: ignite.ROUGEScore().update(batch),
            lambda: mbr.decode(ROUGEScore()["rouge1_fmeasure"], batch[:1]),
        ],
        "bleu": [
            lambda: Bleu()(*batch),
            lambda: functional.bleu_score(*batch),
            lambda: ignite.Bleu(tokenizer="13a").update(batch),
            lambda: mbr.decode(Bleu(), batch[:1]),
        ],
    }
    for call in calls[metric]:
        with pytest.warns(UserWarning, match=re.escape(cure.format(rouge="tokenizer=", words="tokenizer="))):
            call()
    option = "a metric object in metrics= with tokenizer="
    with pytest.warns(UserWarning, match=re.escape(cure.format(rouge=option, words=option))):
        evaluate(*batch, metric)

    (tmp_path / "texts").write_text(f"{TEXTS[text]}\n", encoding="utf-8")
    assert cli.main([f"{tmp_path}/texts", "-r", f"r={tmp_path}/texts", "-m", metric]) == 0
    assert cure.format(rouge="--rouge-tokenizer ", words="--tokenizer ") in capsys.readouterr().err


@pytest.mark.parametrize("text", UNSPLIT)
@pytest.mark.parametrize("tokenizer", ["zh", "char", "unicode", list])
def test_a_tokenizer_that_splits_a_script_without_blanks_is_not_warned_of(text, tokenizer):
    read_batch(WordReader(tokenizer), [text], [text])


@pytest.mark.parametrize(
    "texts",
    [
        ["北京", "猫", "澳大利亚"],
        ["コンピューター"],
        ["แมว", "มหาวิทยาลัย"],
        ["我 喜欢 猫 。", "中华人民共和国 万岁"],
        ["彼 は コンピューター を 使う"],
        ["Он сказал", "Zürich", "ὁ ἄνθρωπος", "ж" * 99, "नमस्ते दुनिया", "한국어 문장입니다"],
        ["BBBB笤", "internationalization化"],
        ["He wrote 我喜欢北京天安门 on the wall of the house"],
        ["👍👍👍👍👍👍👍👍👍👍👍👍👍", ""],
        [],
    ],
)
@pytest.mark.parametrize("tokenizer", [None, "13a"])
def test_single_words_and_words_between_blanks_are_not_warned_of(texts, tokenizer):
    read_batch(WordReader(tokenizer), texts, texts)


TOKENIZED = ["the cat sat .", "a dog , too .", "yes"]


def test_hypotheses_that_look_tokenized_are_warned_of():
    for reader in (WordReader("13a"), WordReader("13a", lowercase=True)):
        with pytest.warns(UserWarning, match="most hypotheses end in ' .', so they look tokenized, and the tokenizer"):
            read_batch(reader, TOKENIZED, ["the cat sat.", "a dog, too.", "yes"])


@pytest.mark.parametrize(
    ("tokenizer", "preds"),
    [(None, TOKENIZED), ("intl", TOKENIZED), ("13a", [*TOKENIZED, "no."]), ("13a", ["the cat.", "a ...", "."])],
)
def test_other_hypotheses_do_not_look_tokenized(tokenizer, preds):
    read_batch(WordReader(tokenizer), preds, TOKENIZED + preds[3:])


STREAMS = [
    ["the cat sat on the mat", "a dog ran away fast", "she reads old books"],
    ["the cat was on the mat", "the dog ran off fast", "she reads many old books"],
    ["a cat sat on the mat", "a dog ran off", "she has read old books"],
]


@pytest.mark.parametrize("size", [2, 3])
def test_streams_of_references_are_warned_of_once(size):
    streams = [stream[:size] for stream in STREAMS[:size]]
    hypotheses = ["the cat sat on a mat", "a dog ran off fast", "she reads books"][:size]
    with pytest.warns(UserWarning, match=r"as sacrebleu's streams of references have: .* Pass list\(zip\(") as warned:
        read(hypotheses, streams)
    assert len(warned) == 1
    right = list(zip(*streams, strict=True))
    # Not even where the hypotheses are in a wrong order or the same, or the references are.
    for order in permutations(hypotheses):
        for references in permutations(right):
            read(list(order), list(references))
    for hypothesis in hypotheses:
        read([hypothesis] * size, right)
        read([hypothesis] * size, streams)
    read(hypotheses, [[""] * size] * size)
    # Nor where the texts of an item are more like one another than like a hypothesis.
    read(["a b", "c d"], [["a b p q r s", "c d p q r s"]] * 2)


@given(st.integers(2, 4), st.data())
def test_right_references_are_not_warned_of(size, data):
    words = st.lists(st.sampled_from("abcdefgh"), max_size=5).map(" ".join)
    texts = data.draw(st.lists(words, min_size=size, max_size=size))
    # The references of a segment have its words: they are like one another.
    read(data.draw(st.lists(words, min_size=size, max_size=size)), [[text + " x"] * size for text in texts])


#: Texts, what is found in them, and how it is removed.
MARKED = [
    (["the ca@@ t sa@@ t on the ma@@ t"] * 4, "'@@ '", r", as by text.replace\('@@ ', ''\)$"),
    (["▁the ▁ca t ▁sat", "▁on ▁the", "a mat"], "'▁'", r", as by text.replace\(' ', ''\).replace\('▁', ' '\)$"),
    (["the cat ##s sat", "a dog", "it rains"], "'##'", r", as by text.replace\(' ##', ''\)$"),
    (["<s>the cat sat on the mat"], "'<s>'", "$"),
    (["the cat</s>", "a dog", "it rains"], "'</s>'", "$"),
    (["the cat <pad> <pad>"], "'<pad>'", "$"),
    (["[CLS] the cat [SEP]"], r"'\[CLS\]'", "$"),
    (["the cat<|im_end|>"] * 2 + ["a dog"] * 4, r"'<\|im_end\|>'", "$"),
]


@pytest.mark.parametrize(("texts", "marker", "cure"), MARKED)
def test_markers_of_subwords_and_special_tokens_are_warned_of(texts, marker, cure):
    words = rf"a third of the texts hold {marker}, a subword .* skip_special_tokens=True, or remove the markers{cure}"
    calls = [
        lambda preds, target: Bleu().update(preds, target),
        lambda preds, target: GroupedMetric(ROUGEScore(), ["a"]).update(preds, target, ["a"] * len(preds)),
        lambda preds, target: ignite.ChrF().update((preds, target)),
        functional.ngram_overlap,
        lambda preds, target: evaluate(preds, target, "chrf"),
        lambda preds, target: mbr.pairwise(ChrF(), [preds], [target]),
    ]
    others = ["the dog sat down on the grass"] * len(texts)
    for preds, target in ((texts, texts), (texts, others), (others, texts)):
        for call in calls:
            with pytest.warns(UserWarning, match=words) as warned:
                call(preds, target)
            assert len(warned) == 1


ORDINARY = [
    ["## Title\n\nText", "##Title", "### Part ##", "Siehe Abschnitt ## unten"],
    ["@@ -1,3 +1,4 @@ def f():", "@@@ -1 -1 +1 @@@ x", "@@count = 1", "a@@b"],
    ["x = 1  ##comment", "#define F(a, b) a##b", "a < b > c", "x[0] <| y", "vector<string> s;"],
    ["▁▂▃▅▂▇", "cpu ▁▂▃", "▁", "a ▁ b"],
    ["[1] siehe [SEPT]", "<p>Größe</p>", "<unk> token", "[MASK]"],
    ["我喜欢猫。", "他在家。", "今天下雨。", "好的。"],
    ["你好", "今天下雨", "他在家", "真的吗?"],
    ["สวัสดีครับ", "ขอบคุณมาก", "ไปไหนมา", "จริงหรือ?"],
    ["the cat sat on the mat", "no </s>", "it is a dog", "it rains"],
    ["yes", "no", "yes", "no", "maybe", "unknown"],
    ["Paris", "London", "Rome", "U.S."],
    ["for", "against", "neutral", "unknown"],
    ["x.org/a", "x.org/b", "x.org/c", "x.org/d?"],
    ["Paris", "1912", "blue", "the", "Berlin.", "42", "Goethe", "red", "Rome"],
    ["der", "die", "das", "der"],
    ["on", "off", "a", "b", "to", "is", "und", "de", "es"],
    ["cat", "dog", "bird", "fish"],
    ["good.", "bad.", "fine.", "right."],
    ["the", "cat", "sat"],
    ["the cat", "sat", "on", "the"],
]


@pytest.mark.parametrize("texts", ORDINARY)
def test_ordinary_texts_hold_no_markers_and_are_no_words_of_one_sentence(texts):
    functional.chrf_score(texts, texts)
    ChrF().update(texts, [[text, text] for text in texts])
    mbr.pairwise(ChrF(), [texts], [texts[::-1]])


@pytest.mark.parametrize(
    ("hypothesis", "reference"),
    [
        ("the cat sat on the mat", "the cat sat on a mat"),
        ("Colorless green ideas sleep furiously.", "Colorless blue ideas sleep soundly."),
        ("सब ठीक है यहाँ", "सब ठीक है अब"),
    ],
)
def test_the_words_of_one_sentence_are_warned_of(hypothesis, reference):
    preds, target = hypothesis.split(), reference.split()
    words = r"each text is one word, which is read as a segment by itself, .* \[\['the', 'cat', 'sat'\]\]$"
    calls = [
        lambda preds, target: Bleu().update(preds, target),
        lambda preds, target: ignite.ChrF().update((preds, target)),
        functional.chrf_score,
        lambda preds, target: evaluate(preds, target, "chrf"),
    ]
    for call in calls:
        for references in (target, [[word] for word in target]):
            with pytest.warns(UserWarning, match=words) as warned:
                call(preds, references)
            assert len(warned) == 1
    hint = "; if preds are the words of one sentence, pass it as one text"
    for references in ([target], target[1:]):
        with pytest.raises(ValueError, match=hint):
            functional.bleu_score(preds, references)
    assert functional.bleu_score([preds], [preds]) == 1


def test_only_the_first_update_is_looked_at():
    metric = ChrF()
    metric.update(["the cat"], ["the cat"])
    metric.update(["the cat </s>"], ["the cat"])
    metric.reset()
    with pytest.warns(UserWarning, match="'</s>'"):
        metric.update(["the cat </s>"], ["the cat"])


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_bleu_without_any_hypothesis_of_four_words_is_warned_of(average):
    options = {"average": average, "effective_order": False}
    short = ["it is", "yes it is"], ["it is", "yes it is so"]
    metric, of_ignite = Bleu(**options), ignite.Bleu(average=average)
    words = "^BLEU is 0 because no hypothesis has 4 tokens: effective_order=True .*, ngram= .* mean of sentence BLEU$"
    for part in ([side[:1] for side in short], short):
        metric.update(*part)
        of_ignite.update(part)
    for call in (
        lambda: [metric.compute() for _ in range(2)],
        lambda: GroupedMetric(Bleu(**options), ["a"])(*short, ["a", "a"]),
        of_ignite.compute,
        lambda: metric(*short),
        lambda: evaluate(*short, {"bleu": Bleu(**options)}),
        *([lambda: functional.bleu_score(*short)] if average == "micro" else []),
    ):
        with pytest.warns(UserWarning, match=words) as warned:
            call()
        assert len(warned) == 1
    for preds, changes in (
        (["yes it is so"], {}),  # long enough
        (["no"], {}),  # without a match
        ([""], {}),
        (["yes it is"], {"effective_order": True}),
        (["yes it is"], {"ngram": 3}),
        (["yes it is"], {"smooth": "smooth2"}),
    ):
        right = Bleu(**{**options, **changes})
        right.update(preds, ["yes it is so"])
        right.compute()


def test_a_warning_names_the_line_of_the_user():
    batch = [[MAT]], [[MAT]]
    metric, of_ignite = Bleu(ngram=1), ignite.Bleu(ngram=1)
    several = MetricCollection({"bleu": Bleu(ngram=1), "rouge": ROUGEScore()})
    calls = [
        lambda: metric.update(*batch),
        lambda: metric(*batch),
        lambda: several(*batch),
        lambda: of_ignite.update(batch),
        lambda: functional.bleu_score(*batch, ngram=1),
        lambda: mbr.decode(metric, batch[:1]),
        lambda: functional.bleu_score(["the cat sat down"], [["the", "cat", "sat"]]),
        lambda: functional.rouge_score(["слово"], ["слово"]),
        lambda: evaluate({"base": [MAT], "tuned": [MAT]}, [MAT], test="bootstrap"),
    ]
    for call in calls:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("default")
            for _ in range(2):
                call()
        assert {(warning.filename, warning.lineno) for warning in warned} == {(__file__, call.__code__.co_firstlineno)}
        assert len(warned) == len({str(warning.message) for warning in warned}) == 1


def test_tokens_that_chrf_refuses_are_not_warned_of():
    with pytest.raises(TypeError, match="this metric counts characters"):
        ChrF().update([[MAT]], [[MAT]])


def test_a_letter_of_a_script_without_blanks_begins_with_one_of_the_bytes_that_are_looked_for():
    letters = re.compile("|".join(expression for expression, _ in _WITHOUT_BLANKS))
    found = filter(letters.match, map(chr, range(sys.maxunicode + 1)))
    assert {letter.encode()[0] for letter in found} == {*_FIRST_BYTES}
