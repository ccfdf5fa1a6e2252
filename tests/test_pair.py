"""One pair in plain Python against `functional`: the same counts, the same scores, the same errors."""

import inspect
import random
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from metrics.apis import APIS, TEXT_ONLY

from ngram_metrics import pair
from ngram_metrics._core.basics.option_checks import ROUGE_KEYS, SMOOTHINGS
from ngram_metrics._core.scoring import scorer
from ngram_metrics.pair import Unusual, read

PAIRS = {name: api for name, api in APIS.items() if api.pair}
FUNCTIONAL = {name: api.function for name, api in PAIRS.items()}
NAMES = list(FUNCTIONAL)
#: `functional` would count few sentences by the functions that are tested here.
ARRAYS = mock.patch.object(scorer.Scorer, "is_counted_in_python", return_value=False)
#: Without the decorator, so that what is unusual is an error and not a call of `functional`.
PLAIN: dict[str, Callable[..., Any]] = {name: inspect.unwrap(getattr(pair, name)) for name in NAMES}
#: The kinds of documents that each reads.
KINDS = {name: ["text"] if api.metric in TEXT_ONLY else ["text", "tokens", "ids"] for name, api in PAIRS.items()}
Choose = Callable[[Sequence[Any]], Any]

#: Whatever a rule for words looks at: escapes, runs of stops, numbers of other scripts, every kind of blank, marks,
#: letters whose lower case is longer, and halves of surrogate pairs.
PIECES = [
    *["the cat ", "running ", "sat ", "a b ", "b", "the ", "on the mat.", "Don't", " a", "ab", "cat\n"],
    *["&amp;", "&quot;", "&lt;", "&", "<skipped>", "-\n", "\n", "..", ".", ",", "5.", "3.14", "..5", "1,000", "5", "-"],
    *[" ", "\t", "\r", "\x0b", "\u00a0", "\u3000", "\x1c", "\x1f", "\x85", "\u2028", "\u200d", "\ufeff"],
    *["\x00", "\x7f", "_", "'"],
    *["é", "e\u0301", "\u0301", "\u0308", "ß", "Σ", "İ", "\u212a", "٣", "४", "½", "²", "€", "«", "。", "，", "！"],
    *["１", "中", "文", "ん\u3099", "ア", "・", "ｶﾞ", "\U00020000", "😀", "\U0001f1e9", "\ud800", "\udfff", "!"],
]


def at_stops(text: str) -> list[str]:
    return text.split(".")


TOKENIZERS = [None, "13a", "intl", "zh", "char", "none", "unicode", str.split, list, at_stops]
#: For documents of ids: nothing but -100 is dropped, or another id too.
PADDING = [-100, (-100, 3), [0, -100]]


def shouted(text: str) -> str:
    return text.upper().replace("Σ", " ")


def document(kind: str, choose: Choose) -> Any:
    if kind == "text":
        return "".join(choose(PIECES) for _ in range(choose(range(12))))
    return [choose("abc" if kind == "tokens" else [1, 1, 2, 3, 0, -100]) for _ in range(choose(range(9)))]


def sentence(kind: str, choose: Choose) -> tuple[Any, Any]:
    """A hypothesis, and a reference or several, the first of which resembles it."""
    hypothesis = document(kind, choose)
    near = document(kind, choose) if choose([False, True]) else hypothesis[: choose(range(9))] + document(kind, choose)
    further = [document(kind, choose) for _ in range(choose([0, 0, 1, 2]))]
    return hypothesis, near if near and not further and choose([False, True]) else [near, *further]


def options_of(name: str, kind: str, choose: Choose) -> dict[str, Any]:
    """Options for documents of a kind, each with a few values."""
    flags, takes = [False, False, True], inspect.signature(PLAIN[name]).parameters
    given: dict[str, Any] = {} if kind != "ids" else {"pad_id": choose(PADDING)}
    if kind == "text" and "tokenizer" in takes:
        given["tokenizer"] = choose(TOKENIZERS)
    if name == "bleu":
        given |= {"ngram": choose(range(1, 7)), "smooth": choose(SMOOTHINGS), "effective_order": choose(flags)}
        if given["smooth"] in ("floor", "add-k"):
            given["smooth_value"] = choose([None, 0, 0.01, 0.5, 1, *([3] if given["smooth"] == "add-k" else [])])
        weights = [choose([0, 0.1, 0.25, 1.0]) for _ in range(given["ngram"])]
        given |= {"weights": weights} if choose(flags) and any(weights) else {}
    elif name == "chrf":
        given |= {
            "char_order": choose(range(1, 8)),
            "beta": choose([0, 0.5, 1, 2, 3.0]),
            "eps_smoothing": choose(flags),
        }
        given |= {"word_order": choose([0, 0, 1, 2])} if kind == "text" else {}
        given |= {"char_order": 0} if given.get("word_order") and choose(flags) else {}
    elif name == "rouge":
        keys = [choose(list(ROUGE_KEYS)) for _ in range(3)]
        given |= {"rouge_keys": choose([tuple(keys), "rougeLsum", ["rouge1", "rouge2", "rougeL", "rougeLsum"]])}
        given |= {"accumulate": choose(["best", "avg"])}
        given |= {"sentence_separator_id": choose([None, 2, -7, -100, -100])} if kind == "ids" else {}
    elif "ngram" in takes:
        given["ngram"] = choose(range(1, 6))
    if kind == "text":
        given |= {flag: choose(flags) for flag in PAIRS[name].flags if flag not in given}
        if name == "rouge":
            given |= {"normalizer": choose([None, None, str, shouted])}
            given |= {"sentence_splitter": choose([None, None, str.splitlines, at_stops])}
    return given


def check(name: str, choose: Choose, sentences: int) -> None:
    """Compare the scores of a batch, sentence by sentence; the fields of ROUGE are in the same order."""
    kind = choose(["text", *KINDS[name]])
    options, batch = options_of(name, kind, choose), [sentence(kind, choose) for _ in range(sentences)]
    with ARRAYS:
        scores = FUNCTIONAL[name](*map(list, zip(*batch, strict=True)), average="none", **options)
    rows = zip(*(value.tolist() for value in scores.values()), strict=True) if name == "rouge" else scores.tolist()
    for one, expected in zip(batch, rows, strict=True):
        found = PLAIN[name](*one, **options)
        if name == "rouge":
            assert list(found) == list(scores)
            found = tuple(found.values())
        assert found == pytest.approx(expected, rel=1e-15, abs=1e-15), (name, one, options)


@pytest.mark.parametrize("name", NAMES)
def test_every_option_is_drawn(name):
    choose = random.Random(1).choice
    drawn = {option for kind in KINDS[name] * 99 for option in options_of(name, kind, choose)}
    missing = {*inspect.signature(PLAIN[name]).parameters} - {"hypothesis", "references"} - drawn
    assert not missing, f"add the options of {name} to options_of in tests/test_pair.py"


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", NAMES)
@given(st.data())
def test_scores_are_those_of_functional(name, data):
    check(name, lambda values: data.draw(st.sampled_from(values)), 3)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("texts", [10_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_scores_of_many_texts_are_those_of_functional(texts):
    """Every night those of another seed; a sentence has 2.75 documents on average."""
    seed = texts if texts < 1_000_000 else random.randrange(1 << 40)
    chance = random.Random(seed)
    for _ in range(texts // 27):
        check(chance.choice(NAMES), chance.choice, 10)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("name", "hypothesis", "references", "options"),
    [
        ("bleu", torch.tensor([5, 6, 0]), [torch.tensor([5, 6]), [5, 7]], {"pad_id": 0, "ngram": 2, "smooth": "exp"}),
        ("bleu", np.array(["a", "b"]), ["a", "b"], {"ngram": np.int64(2)}),
        ("rouge", [np.int32(4), 5], np.array([4, 6]), {"rouge_keys": "rougeL", "pad_id": np.int64(4)}),
        ("overlap", [("a", 1), ("b", 2)], [("a", 1)], {}),
        ("gleu", [True, None], [[True], [None, True]], {}),
        ("chrf", np.str_("abc"), "abd", {"beta": np.float32(1)}),
        ("bleu", "a b c", "a b d", {"ngram": 2, "weights": np.array([1, 2])}),
    ],
    ids=range(7),
)
def test_what_is_unusual_is_scored_by_functional(name, hypothesis, references, options):
    scores = FUNCTIONAL[name]([hypothesis], [references], average="none", **options)
    found = getattr(pair, name)(hypothesis, references, **options)
    assert found == ({key: value.item() for key, value in scores.items()} if name == "rouge" else scores.item())


def test_ids_that_may_all_have_one_hash_are_left_to_functional():
    for ids in ([5, 1 << 63], [((1 << 61) - 1) << 3]):
        with pytest.raises(Unusual):
            read(ids, [5], None)
    assert read([(1 << 63) - 1], [5], None) == (False, [[(1 << 63) - 1], [5]])


@pytest.mark.parametrize("separator", ["\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
@pytest.mark.parametrize("options", [{}, {"normalizer": str}, {"tokenizer": "unicode"}, {"tokenizer": "none"}])
def test_only_a_newline_ends_a_sentence_of_a_summary(separator, options):
    """As two sentences, the reference would have both words of the hypothesis, whatever their order."""
    hypothesis, reference = "b a", f"a{separator}b"
    scores = pair.rouge(hypothesis, reference, rouge_keys="rougeLsum", **options)
    assert scores["rougeLsum_fmeasure"] == 0.5
    assert pair.rouge(hypothesis, "a\nb", rouge_keys="rougeLsum", **options)["rougeLsum_fmeasure"] == 1


def wrong(result: Any) -> Callable[[str], Any]:
    return lambda text: result


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("name", "hypothesis", "references", "options"),
    [
        # Documents.
        *(("bleu", *both, {}) for both in [("a", []), ("a", ["b", 1]), ("a", None), ("a", [["b"]]), (5, 5)]),
        *(("bleu", *both, {}) for both in [("a", b"a"), (["a"], []), ((), "a"), ({}, "a")]),
        *(("chrf", *both, {}) for both in [(["ab"], ["a"]), (["a"], "a"), ([1], ["a"]), ([1], [[1], ["a"]])]),
        *(("rouge", *both, {}) for both in [([1.0], [1]), ([1, -1], [1]), ([], []), ([[1]], [1]), (["a", 1], ["a"])]),
        *(("gleu", *both, {}) for both in [(None, "a"), (["a"], [["a"], "b"]), (["a"], ["a", []])]),
        *(("gleu", *both, {}) for both in [(torch.rand(2), [1]), ([1], torch.ones(1, 2)), ("a", {"a"})]),
        ("overlap", [1], [[1], [2, -7]], {"pad_id": -100}),
        ("overlap", ["a"], ["a"], {"tokenizer": ""}),
        # Settings.
        *(("bleu", "a", "a", {"ngram": order}) for order in (0, 1001, 2.0, "4", True, None)),
        *(("bleu", "a", "a", {"smooth": smooth}) for smooth in ("floor2", True, None, ["exp"])),
        *(("bleu", "a", "a", {"smooth": "floor", "smooth_value": value}) for value in (-1, float("inf"), "1", 1.5)),
        ("bleu", "a", "a", {"smooth": "add-k", "smooth_value": 1e16}),
        ("bleu", "a", "a", {"smooth_value": 0.1}),
        *((name, "a", "a", {"ngram": 0, "tokenizer": "13A"}) for name in ("bleu", "gleu", "overlap")),
        *(("bleu", "a", "a", {"weights": weights}) for weights in ([1], [0] * 4, [-1, 1, 1, 1], 4, "abcd", [None] * 4)),
        ("bleu", "a", "a", {"weights": [1, 1, 1, 1e300]}),
        *(("bleu", "a", "a", {"tokenizer": tokenizer}) for tokenizer in ("13A", "flores200", 13, "gpt2")),
        *(("bleu", "a b", "a", {"tokenizer": wrong(result)}) for result in ("a", None, iter("a"), [["a"]])),
        *((name, "a b", "a", {"tokenizer": wrong([["a"]])}) for name in ("rouge", "gleu")),
        *((name, "a", ["b", ""], {"tokenizer": lambda text: [text] if text else None}) for name in ("bleu", "rouge")),
        *(("bleu", [1], [1], options) for options in ({"tokenizer": str.split}, {"lowercase": True}, {"pad_id": "0"})),
        *(("bleu", [1], [1], {"pad_id": pad}) for pad in (1 << 63, [0, 1 << 63], -(1 << 63) - 1)),
        *(("gleu", "a", "a", {"pad_id": pad}) for pad in (True, 1.0, [0.5], {1}, "1")),
        *(("chrf", "a", "a", options) for options in ({"char_order": 0}, {"word_order": -1}, {"beta": "2"})),
        ("chrf", "a", "a", {"beta": 1e16}),
        *(("chrf", [1], [1], options) for options in ({"whitespace": True}, {"word_order": 2}, {"char_order": 1e3})),
        *(("rouge", "a", "a", {"rouge_keys": keys}) for keys in ("rouge10", (), ["rougel"], {"rouge1"}, None, [1])),
        *(("rouge", "a", "a", options) for options in ({"accumulate": "mean"}, {"sentence_separator_id": 1.5})),
        *(("rouge", "a", "a", {option: "x"}) for option in ("normalizer", "sentence_splitter", "tokenizer")),
        *(("rouge", "a", "a", {"normalizer": wrong(result)}) for result in (None, b"a")),
        *(("rouge", "a", "a", {"sentence_splitter": wrong(result)}) for result in ("a", 3, ["a", 3])),
        ("rouge", "a", "a", {"use_stemmer": True, "tokenizer": wrong([1, 2])}),
        *(("rouge", ["a"], ["a"], options) for options in ({"use_stemmer": True}, {"normalizer": str})),
    ],
)  # fmt: skip
def test_errors_are_those_of_functional_which_is_not_asked(name, hypothesis, references, options):
    """It is asked only where a function of the caller reads the texts."""
    with pytest.raises((TypeError, ValueError)) as expected:
        FUNCTIONAL[name]([hypothesis], [references], average="none", **options)
    asking = mock.patch.object(pair, "_call_functional", wraps=pair._call_functional)
    with asking as asked, pytest.raises(type(expected.value)) as found:
        getattr(pair, name)(hypothesis, references, **options)
    assert asked.called == (type(hypothesis) is str and any(map(callable, options.values())))
    assert re.sub("0x[0-9a-f]+", "", str(found.value)) == re.sub("0x[0-9a-f]+", "", str(expected.value))


@pytest.mark.parametrize(
    ("name", "option", "right", "equal"),
    [
        *(("bleu", "ngram", 4, 4.0), ("gleu", "ngram", 1, True), ("overlap", "ngram", 1, True)),
        *(("chrf", "word_order", 1, True), ("rouge", "use_stemmer", True, 1)),
    ],
)
def test_what_equals_a_right_option_but_is_of_another_type_is_refused_after_it(name, option, right, equal):
    getattr(pair, name)("a b", "a b", **{option: right})
    with pytest.raises(TypeError, match=rf"must be .* \(got: {equal}\)"):
        getattr(pair, name)("a b", "a b", **{option: equal})


def test_tokenizers_of_other_packages_are_called_as_in_functional():
    tokenizers = pytest.importorskip("tokenizers")
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"cat": 0, "the": 1, "?": 2}, unk_token="?"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    for name in ("bleu", "rouge", "gleu", "overlap"):
        options = {"tokenizer": words, **({"rouge_keys": ["rouge2", "rougeLsum"]} if name == "rouge" else {"ngram": 2})}
        expected = FUNCTIONAL[name](["the cat, the cat"], [["the cat", "a the cat"]], average="none", **options)
        found = PLAIN[name]("the cat, the cat", ["the cat", "a the cat"], **options)
        expected = {key: value.item() for key, value in expected.items()} if name == "rouge" else expected.item()
        assert found == pytest.approx(expected, rel=1e-15)


#: Every function with every kind of document and of tokenizer, and what is wrong; then once more in a child.
PROGRAM = """
import os, sys, ngram_metrics

assert "pair" in dir(ngram_metrics)
pair = ngram_metrics.pair

def scores():
    for tokenizer in (None, "13a", "intl", "zh", "char", "none", "unicode", str.split):
        yield pair.bleu("The cat sat.", ["A cat!", "The cat."], tokenizer=tokenizer, smooth="exp")
        yield pair.rouge("The cats sat.", "A cat\\nsat", tokenizer=tokenizer, use_stemmer=True)
    yield pair.chrf("abc", ["abd", "\\ud800"], word_order=2)
    yield pair.gleu(["a", "b"], [["a"], ["b", "a"]])
    yield pair.overlap([5, 6, 0], [5, 6], ngram=2, pad_id=0)
    for hypothesis, references in (("a", []), (None, "x"), (["a", 1], ["a"]), ([1, -1], [1]), (["ab"], ["a"]), (5, 5)):
        try:
            pair.chrf(hypothesis, references)
        except (TypeError, ValueError) as error:
            yield str(error)
    try:
        pair.bleu("a", "a", pad_id="0")
    except TypeError as error:
        yield str(error)

expected = list(scores())
assert len(expected) == 16 + 3 + 7
assert not {"torch", "numpy"} & set(sys.modules), sorted(sys.modules)
child = os.fork() if hasattr(os, "fork") else 0
if child == 0:
    assert list(scores()) == expected
else:
    assert os.waitpid(child, 0)[1] == 0
"""


def test_neither_torch_nor_numpy_is_imported_and_a_child_goes_on():
    process = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert (process.returncode, process.stderr) == (0, "")


def test_threads_do_not_disturb_one_another():
    choose = random.Random(1).choice
    texts = [(document("text", choose), document("text", choose)) for _ in range(200)]
    for function in (pair.bleu, pair.chrf, pair.rouge):
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(function, *zip(*texts, strict=True))) == [function(*both) for both in texts]
