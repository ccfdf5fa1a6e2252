"""Warnings of what is almost surely meant otherwise, and what must not be warned of."""

import re
import sys
import warnings
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import DataLoader
from torchmetrics import MetricCollection

from ngram_metrics import Bleu, ChrF, GroupedMetric, ROUGEScore, evaluate, functional, mbr
from ngram_metrics import _cli as cli
from ngram_metrics._core.text.input_warnings import _FIRST_BYTES, _WITHOUT_BLANKS
from ngram_metrics.functional import ngram_overlap, rouge_score

#: With any options of the command line too: otherwise the tests of what must not be warned of could not fail.
pytestmark = pytest.mark.filterwarnings("error")

MAT = "the cat sat on the mat"
TOKENIZED = ["the cat sat .", "a dog , too .", "yes"]
UNSPLIT = [
    *("猫坐在垫子上", "我喜欢猫。", "私は毎日コンピューターを使っています。", "แมวนั่งอยู่บนเสื่อ", "ឆ្មាអង្គុយលើកម្រាល"),
    "我家里有很多小cat和大dog。",
]
SPLIT_WARNING = "single words, and a hypothesis contains several of them. A list of str in targ"
ONE_TOKEN = (
    "^{} is a list of one token with spaces, which matches as a whole or not at all: pass a text as 'the cat sat'"
)
SPACES_WARNING = "so a whole phrase counts as one word: pass tokenizer='zh' for Chinese, 'ja-mecab' for"
WORDS_WARNING = r"each text is one word and is read as a segment of its own, .* \[\['the', 'cat', 'sat'\]\]$"
MARKER_WARNING = r"a third of the texts contain {}, a subword .* skip_special_tokens=True, or remove the markers{}"
#: Texts, the marker in them, and the advice to remove it.
MARKED = [
    (["the ca@@ t sa@@ t on the ma@@ t"] * 4, "'@@ '", r", for example with text.replace\('@@ ', ''\)$"),
    (
        ["▁the ▁ca t ▁sat", "▁on ▁the", "a mat"],
        "'▁'",
        r", for example with text.replace\(' ', ''\).replace\('▁', ' '\)$",
    ),
    (["the cat ##s sat", "a dog", "it rains"], "'##'", r", for example with text.replace\(' ##', ''\)$"),
    (["<s>the cat sat on the mat"], "'<s>'", "$"),
    (["the cat</s>", "a dog", "it rains"], "'</s>'", "$"),
    (["the cat <pad> <pad>"], "'<pad>'", "$"),
    (["[CLS] the cat [SEP]"], r"'\[CLS\]'", "$"),
    (["the Ġcat Ġsat"], "'Ġ'", r", for example with text.replace\(' ', ''\).replace\('Ġ', ' '\)$"),
    (["theĠcatĠsat", "a dog", "it rains"], "'Ġ'", ".*$"),
    *(
        ([f"the cat {token}", "a dog", "it rains"], re.escape(repr(token)), "$")
        for token in ("<unk>", "<eos>", "<mask>", "<end_of_turn>", "<extra_id_17>", "[UNK]", "[MASK]", "[/INST]")
    ),
    (["<s>the cat</s>"], "'<s>'", "$"),
    (["the cat</s><s>a dog</s>"], "'</s>'", "$"),
    (["the cat</s> <pad>"], "'</s>'", "$"),
    (["the cat<|im_end|>"] * 2 + ["a dog"] * 4, r"'<\|im_end\|>'", "$"),
]
OTHERS = ["the dog sat down on the grass"] * 6
#: Hypotheses, references, and the words of the one warning.
WARNED = [
    # The words of one reference, as its references.
    (["the cat sat"], [["the", "cat", "sat"]], SPLIT_WARNING),
    ("the cat sat", ["the", "cat", "sat"], SPLIT_WARNING),
    (["the cat sat"], [("a", "cat", "sat", "down")], SPLIT_WARNING),
    (["the cat sat"], [np.array(["the", "cat"])], SPLIT_WARNING),
    (["x y", "the cat sat"], [["a", "dog"], ["the", " cat\n", "sat"]], SPLIT_WARNING),
    # Texts as tokens.
    ([[MAT]], [[MAT]], ONE_TOKEN.format("segment 0")),
    ([(MAT,), ()], [[[MAT], ["a dog"]], [["a dog"]]], ONE_TOKEN.format("segment 0")),
    ([[], ["a\nb"]], [["a b"], [["a\tb"]]], ONE_TOKEN.format("segment 1")),
    ([[]], [["a b"]], ONE_TOKEN.format("reference 0 of segment 0")),
    ([["the", "cat"], ["a"]], [["the cat"], ["a dog"]], ONE_TOKEN.format("reference 0 of segment 0")),
    ([["the cat"]], [["the", "cat"]], ONE_TOKEN.format("segment 0")),
    (np.array([[MAT]]), np.array([[MAT]]), ONE_TOKEN.format("segment 0")),
    # A script without spaces.
    *(([text], [text], SPACES_WARNING) for text in UNSPLIT),
    *((["a b"], [text], SPACES_WARNING) for text in UNSPLIT),
    *(([text], [[text, "a b"]], SPACES_WARNING) for text in UNSPLIT),
    # Subwords and special tokens, on either side.
    *((texts, texts, MARKER_WARNING.format(*marker)) for texts, *marker in MARKED),
    *((texts, OTHERS[: len(texts)], MARKER_WARNING.format(*marker)) for texts, *marker in MARKED),
    *((OTHERS[: len(texts)], texts, MARKER_WARNING.format(*marker)) for texts, *marker in MARKED),
    # The words of one sentence.
    *(
        (hypothesis.split(), references, WORDS_WARNING)
        for hypothesis, reference in (
            (MAT, "the cat sat on a mat"),
            ("Colorless green ideas sleep furiously.", "Colorless blue ideas sleep soundly."),
            ("सब ठीक है यहाँ", "सब ठीक है अब"),
        )
        for references in (reference.split(), [[word] for word in reference.split()])
    ),
]


@pytest.mark.parametrize(("preds", "target", "words"), WARNED)
def test_a_likely_mistake_warns_once(preds, target, words):
    with pytest.warns(UserWarning, match=words) as warned:
        ngram_overlap(preds, target)
    assert len(warned) == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda preds, target: Bleu().update(preds, target),
        lambda preds, target: GroupedMetric(ROUGEScore(), ["a"]).update(preds, target, ["a"] * len(preds)),
        lambda preds, target: evaluate(preds, target, "chrf"),
        rouge_score,
    ],
)
def test_every_api_warns_once(call):
    texts, *marker = MARKED[4]
    for preds, target, words in (
        (texts, OTHERS[:3], MARKER_WARNING.format(*marker)),
        (MAT.split(), MAT.split()[::-1], WORDS_WARNING),
    ):
        with pytest.warns(UserWarning, match=words) as warned:
            call(preds, target)
        assert len(warned) == 1


def test_a_class_of_ignite_warns_once(ignite_classes):
    with pytest.warns(UserWarning, match=WORDS_WARNING) as warned:
        ignite_classes.ChrF().update((MAT.split(), MAT.split()[::-1]))
    assert len(warned) == 1


def test_rouge_and_pairwise_warn_too():
    with pytest.warns(UserWarning, match=ONE_TOKEN.format("segment 0")):
        rouge_score([[MAT]], [[MAT]])
    with pytest.warns(UserWarning, match=ONE_TOKEN.format("hypothesis 0 of row 0")):
        mbr.pairwise(Bleu(), [[[MAT]]], [[["a b"]]])
    for texts, *marker in MARKED:
        for sides in (([texts], [OTHERS]), ([OTHERS], [texts])):
            with pytest.warns(UserWarning, match=MARKER_WARNING.format(*marker)):
                mbr.pairwise(ChrF(), *sides)


def same(*texts):
    return [*texts], [*texts]


#: Hypotheses and references of which there is nothing to warn.
ORDINARY = [
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
    ([""], [["", ""]]),
    # Tokens are what they say.
    ([["the", "cat", "sat"]], [["the", "cat", "sat"]]),
    ([["the", "cat", "sat"]], [[["the"], ["cat"]]]),
    ([[1, 2]], [[[1], [2]]]),
    ([[" the"], ["cat "]], [[" the"], [" dog"]]),
    ([["the", "cat"]], [["cat"]]),
    ([["the"], []], [[[]], [[]]]),
    ([["\n\n"], [" "], [""]], [["\n\n"], [" "], [""]]),
    ([["New York"], ["Paris"]], [["Paris"], ["Paris"]]),
    ([["New York"], ["Paris"]], [["Paris"], ["New York"]]),
    ([["New York", "is"]], [["New York"]]),
    ([["New York"]], [["New York", "is"]]),
    ([[("a b",)]], [[("a b",)]]),
    ([[b"a b"]], [[b"a b"]]),
    ([[], []], [[[]], [[]]]),
    # Single words of a script without spaces, words between spaces, and other scripts.
    (["我喜欢猫"], [["我喜欢猫", "我爱猫"]]),
    same("北京", "猫", "澳大利亚"),
    same("コンピューター"),
    same("แมว", "มหาวิทยาลัย"),
    same("我 喜欢 猫 。", "中华人民共和国 万岁"),
    same("彼 は コンピューター を 使う"),
    same("Он сказал", "Zürich", "ὁ ἄνθρωπος", "ж" * 99, "नमस्ते दुनिया", "한국어 문장입니다"),
    same("BBBB笤", "internationalization化"),
    same("He wrote 我喜欢北京天安门 on the wall of the house"),
    same("👍👍👍👍👍👍👍👍👍👍👍👍👍", ""),
    # What looks like a marker.
    same("## Title\n\nText", "##Title", "### Part ##", "Siehe Abschnitt ## unten"),
    same("@@ -1,3 +1,4 @@ def f():", "@@@ -1 -1 +1 @@@ x", "@@count = 1", "a@@b"),
    same("x = 1  ##comment", "#define F(a, b) a##b", "a < b > c", "x[0] <| y", "vector<string> s;"),
    same("▁▂▃▅▂▇", "cpu ▁▂▃", "▁", "a ▁ b"),
    same("[1] siehe [SEPT]", "<p>Größe</p>", "<unknown> token", "[mask]"),
    same("it was <s>20</s> now 15 euros", "it was <s>20</s>", "<b>now</b> only <s>20</s> 15"),
    same("#include <pad>", "#include <mask>"),
    same("Ġimgħa", "il-Ġimgħa t-Tajba", "Ġorġ u Ġanni", "L-AĠENZIJA"),
    same("the cat sat on the mat", "no </s>", "it is a dog", "it rains"),
    # Answers and labels of one word.
    same("yes", "no", "yes", "no", "maybe", "unknown"),
    same("Paris", "London", "Rome", "U.S."),
    same("for", "against", "neutral", "unknown"),
    same("x.org/a", "x.org/b", "x.org/c", "x.org/d?"),
    same("Paris", "1912", "blue", "the", "Berlin.", "42", "Goethe", "red", "Rome"),
    same("der", "die", "das", "der"),
    same("on", "off", "a", "b", "to", "is", "und", "de", "es"),
    same("cat", "dog", "bird", "fish"),
    (["on", "with", "from", "that"], ["on", "with", "that", "from"]),
    same("the", "of", "was", "with", "it"),
    same("good.", "bad.", "fine.", "right."),
    same("the", "cat", "sat"),
    same("the cat", "sat", "on", "the"),
]


@pytest.mark.parametrize(("preds", "target"), ORDINARY)
@pytest.mark.parametrize("tokenizer", [None, "13a"])
def test_ordinary_input_is_not_warned_of(tokenizer, preds, target):
    ngram_overlap(preds, target, tokenizer=tokenizer)
    if isinstance(preds[0], str):
        ChrF().update(preds, target)
        mbr.pairwise(ChrF(), [preds], [preds[::-1]])


@pytest.mark.parametrize("text", UNSPLIT)
def test_a_script_without_spaces_is_warned_of_where_the_tokenizer_splits_at_spaces(text):
    for tokenizer in ("none", "13a", "intl"):
        for function in (ngram_overlap, rouge_score):
            with pytest.warns(UserWarning, match=SPACES_WARNING):
                function([text], [text], tokenizer=tokenizer)
    for tokenizer in ("zh", "char", "unicode", list):
        ngram_overlap([text], [text], tokenizer=tokenizer)


@pytest.mark.parametrize(
    "texts",
    [
        ["我喜欢猫。", "他在家。", "今天下雨。", "好的。"],
        ["你好", "今天下雨", "他在家", "真的吗?"],
        ["สวัสดีครับ", "ขอบคุณมาก", "ไปไหนมา", "จริงหรือ?"],
    ],
)
def test_texts_of_a_script_without_spaces_are_no_words_of_one_sentence(texts):
    functional.chrf_score(texts, texts)


@pytest.mark.parametrize(
    ("metric", "text", "cure"),
    [
        ("rouge1", "слово", "pass {rouge}'unicode', which keeps letters and digits of all scripts"),
        ("bleu", "我家里有很多小猫 " * 4, "pass {words}'zh' for Chinese"),
        ("bleu", "a cat sat .", "pass {words}'none' for tokenized text"),
    ],
)
def test_a_warning_names_the_option_of_its_api(metric, text, cure, tmp_path, capsys):
    batch = [text], [text]
    is_rouge = metric == "rouge1"
    ours = ROUGEScore(rouge_keys="rouge1") if is_rouge else Bleu()
    for call in (
        lambda: ours(*batch),
        lambda: (rouge_score if is_rouge else functional.bleu_score)(*batch),
        lambda: mbr.decode(ours, batch[:1]),
    ):
        with pytest.warns(UserWarning, match=re.escape(cure.format(rouge="tokenizer=", words="tokenizer="))):
            call()
    option = "a metric object in metrics= with tokenizer="
    with pytest.warns(UserWarning, match=re.escape(cure.format(rouge=option, words=option))):
        evaluate(*batch, metric)
    (tmp_path / "texts").write_text(f"{text}\n", encoding="utf-8")
    assert cli.main([f"{tmp_path}/texts", "-r", f"r={tmp_path}/texts", "-m", metric]) == 0
    assert cure.format(rouge="--rouge-tokenizer ", words="--tokenizer ") in capsys.readouterr().err


def test_a_warning_of_a_class_of_ignite_names_its_option(ignite_classes):
    text = ["a cat sat ."]
    with pytest.warns(UserWarning, match="pass tokenizer='none' for tokenized text"):
        ignite_classes.Bleu(tokenizer="13a").update((text, text))
    with pytest.warns(UserWarning, match="tokenizer='unicode', which keeps letters and digits of all scripts"):
        ignite_classes.ROUGEScore().update((["слово"], ["слово"]))


def test_hypotheses_that_look_tokenized_are_warned_of():
    for lowercase in (False, True):
        with pytest.warns(UserWarning, match="most hypotheses end in ' .', so they look tokenized, but the tokenizer"):
            functional.bleu_score(TOKENIZED, ["the cat sat.", "a dog, too.", "yes"], lowercase=lowercase)
    for tokenizer in (None, "intl"):
        functional.bleu_score(TOKENIZED, TOKENIZED, tokenizer=tokenizer)
    for preds in ([*TOKENIZED, "no."], ["the cat.", "a ...", "."]):
        functional.bleu_score(preds, TOKENIZED + preds[3:])


STREAMS = [
    ["the cat sat on the mat", "a dog ran away fast", "she reads old books"],
    ["the cat was on the mat", "the dog ran off fast", "she reads many old books"],
    ["a cat sat on the mat", "a dog ran off", "she has read old books"],
]


@pytest.mark.parametrize("size", [2, 3])
def test_streams_of_references_are_warned_of_once(size):
    streams = [stream[:size] for stream in STREAMS[:size]]
    hypotheses = ["the cat sat on a mat", "a dog ran off fast", "she reads books"][:size]
    words = r"as in sacrebleu's format and in batches .*: pass list\(zip\("
    with pytest.warns(UserWarning, match=words) as warned:
        ngram_overlap(hypotheses, streams)
    assert len(warned) == 1
    right = list(zip(*streams, strict=True))
    # Not even where the hypotheses are in a wrong order or the same, or the references are.
    for order in permutations(hypotheses):
        for references in permutations(right):
            ngram_overlap(list(order), list(references))
    for hypothesis in hypotheses:
        ngram_overlap([hypothesis] * size, right)
        ngram_overlap([hypothesis] * size, streams)
    ngram_overlap(hypotheses, [[""] * size] * size)
    # Nor where the texts of an item are more like one another than like a hypothesis.
    ngram_overlap(["a b", "c d"], [["a b p q r s", "c d p q r s"]] * 2)


def list_each(samples):
    """A batch with the references of each segment in a list, as the pages collate them."""
    return tuple(map(list, zip(*samples, strict=True)))


def test_references_that_the_default_collate_function_transposed_are_warned_of():
    segments = [
        ("the cat sat on the mat today", ["the cat sat on the mat", "a cat sat there"]),
        ("a dog ran home very fast", ["the dog ran home fast", "a dog ran"]),
    ]
    hypotheses, transposed = next(iter(DataLoader(segments, 2)))
    with pytest.warns(UserWarning, match="batches of torch's default collate function"):
        ngram_overlap(hypotheses, transposed)
    hypotheses, right = next(iter(DataLoader(segments, 2, collate_fn=list_each)))
    assert list(zip(*transposed, strict=True)) == list(map(tuple, right))
    ngram_overlap(hypotheses, right)


@given(st.integers(2, 4), st.data())
def test_right_references_are_not_warned_of(size, data):
    words = st.lists(st.sampled_from("abcdefgh"), max_size=5).map(" ".join)
    texts = data.draw(st.lists(words, min_size=size, max_size=size))
    # The references of a segment have its words: they are like one another.
    ngram_overlap(data.draw(st.lists(words, min_size=size, max_size=size)), [[text + " x"] * size for text in texts])


def test_an_error_hints_at_the_words_of_one_sentence():
    preds = MAT.split()
    for references in ([preds], preds[1:]):
        with pytest.raises(ValueError, match="; if preds are the words of one sentence, pass the sentence as one text"):
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
    metric = Bleu(**options)
    advice = {"micro": "ngram, or average='macro', the mean of sentence BLEU$", "macro": "ngram$"}[average]
    words = (
        f"^BLEU is 0 because every hypothesis has fewer than 4 tokens: .* effective_order=True, .*, or a lower {advice}"
    )
    for part in ([side[:1] for side in short], short):
        metric.update(*part)
    for call in (
        lambda: [metric.compute() for _ in range(2)],
        lambda: GroupedMetric(Bleu(**options), ["a"])(*short, ["a", "a"]),
        lambda: metric(*short),
        lambda: evaluate(*short, {"bleu": Bleu(**options)}),
        lambda: functional.bleu_score(*short, **options),
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
        settings = {**options, **changes}
        right = Bleu(**settings)
        right.update(preds, ["yes it is so"])
        right.compute()


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_ignites_bleu_without_any_hypothesis_of_four_words_is_warned_of(average, ignite_classes):
    metric = ignite_classes.Bleu(average=average, effective_order=False)
    metric.update((["it is", "yes it is"], ["it is", "yes it is so"]))
    with pytest.warns(UserWarning, match="^BLEU is 0 because every hypothesis has fewer than 4 tokens") as warned:
        metric.compute()
    assert len(warned) == 1


def check_line(call):
    """Of two calls the first warns once, and names the line of the caller."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("default")
        for _ in range(2):
            call()
    assert {(warning.filename, warning.lineno) for warning in warned} == {(__file__, call.__code__.co_firstlineno)}
    assert len(warned) == 1


def test_a_warning_of_ignite_names_the_line_of_the_user(ignite_classes):
    metric = ignite_classes.Bleu(ngram=1)
    check_line(lambda: metric.update(([[MAT]], [[MAT]])))


def test_a_warning_names_the_line_of_the_user():
    batch = [[MAT]], [[MAT]]
    metric = Bleu(ngram=1)
    several = MetricCollection({"bleu": Bleu(ngram=1), "rouge": ROUGEScore()})
    calls = [
        lambda: metric.update(*batch),
        lambda: metric(*batch),
        lambda: several(*batch),
        lambda: functional.bleu_score(*batch, ngram=1),
        lambda: mbr.decode(metric, batch[:1]),
        lambda: functional.bleu_score(["the cat sat down"], [["the", "cat", "sat"]]),
        lambda: functional.rouge_score(["слово"], ["слово"]),
        lambda: evaluate({"base": [MAT], "tuned": [MAT]}, [MAT], test="bootstrap"),
    ]
    for call in calls:
        check_line(call)


def test_tokens_that_chrf_refuses_are_not_warned_of():
    with pytest.raises(TypeError, match="this metric counts characters"):
        ChrF().update([[MAT]], [[MAT]])


def test_a_letter_of_a_script_without_spaces_begins_with_one_of_the_bytes_that_are_looked_for():
    letters = re.compile("|".join(expression for expression, _ in _WITHOUT_BLANKS))
    matching = filter(letters.match, map(chr, range(sys.maxunicode + 1)))
    assert {letter.encode()[0] for letter in matching} == {*_FIRST_BYTES}
