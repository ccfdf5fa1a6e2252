"""Small batches are counted in plain Python, others in arrays or in torch: the same counts and scores in each way."""

import warnings
from collections.abc import Callable
from itertools import product
from typing import Any
from unittest import mock

import pytest
import torch
from crossings import crossings
from draws import fewer
from hypothesis import given
from hypothesis import strategies as st
from layouts import apart
from metrics.apis import APIS
from torch.utils._python_dispatch import TorchDispatchMode

from ngram_metrics import Bleu
from ngram_metrics._core.metrics.bleu import BleuMeasure, make_bleu
from ngram_metrics._core.metrics.chrf import make_chrf
from ngram_metrics._core.metrics.overlap import make_overlap
from ngram_metrics._core.metrics.registry import REGISTRY, make_metric
from ngram_metrics._core.metrics.rouge import Reducer, RougeMeasure, make_rouge
from ngram_metrics._core.scoring.rows import PYTHON_ROWS, score_corpora, score_rows
from ngram_metrics._core.scoring.scorer import Counted, Scorer
from ngram_metrics._core.text.word_reader import WordReader
from ngram_metrics._core.text.word_rules import SPLITTERS
from ngram_metrics._torchmetrics.states import range_of

KEYS = ("rouge1", "rouge3", "rougeL", "rougeLsum")


def of_ignite(multiref: Reducer, alpha: float) -> Scorer:
    """ROUGE as in ignite: of several references that with the highest recall, or the sum of all."""
    values = {"recall": (0, 1), "F": (0, 2)}
    return Scorer(WordReader(pad_id=(0, -1)), RougeMeasure(("L", 1, 2), multiref, alpha), "macro", values)


#: Options that are for texts only.
OF_TEXTS: dict[str, Scorer] = {
    **{f"bleu {name}": make_bleu(tokenizer=name) for name in ("13a", "intl", "zh", "char", "unicode", "none")},
    "bleu lower": make_bleu(ngram=2, tokenizer="13a", lowercase=True, average="micro"),
    "chrf++": make_chrf(word_order=2, lowercase=True, average="none"),
    "chrf whitespace": make_chrf(char_order=3, whitespace=True, eps_smoothing=True),
    "rouge stemmed": make_rouge(use_stemmer=True, rouge_keys=KEYS),
    "rouge unicode": make_rouge(tokenizer="unicode", rouge_keys=KEYS[:3], average="none"),
    "rouge splitter": make_rouge(sentence_splitter=str.splitlines),
    "overlap function": make_overlap(tokenizer=str.split),
}
#: What reads text, tokens and ids; ids below 0 are no tokens in padded tensors, and 0 is none anywhere.
SCORERS: dict[str, Scorer] = {
    **{name: api.row.make(pad_id=(0, -1)) for name, api in APIS.items() if "pad_id" in api.options},
    "bleu": make_bleu(smooth="exp", pad_id=(0, -1)),
    "bleu of one": make_bleu(effective_order=True, weights=[0.5, 0.1, 0.3, 0.3], average="none", pad_id=(0, -1)),
    "rouge": make_rouge(rouge_keys=KEYS, pad_id=(0, -1)),
    "rouge corpus": make_rouge(rouge_keys=KEYS[:2], average="micro", pad_id=(0, -1)),
    "rouge separated": make_rouge(rouge_keys=KEYS, sentence_separator_id=3, pad_id=(0, -1)),
    "rouge below 0": make_rouge(rouge_keys=KEYS, sentence_separator_id=-1, pad_id=0),
    "rouge average": make_rouge(accumulate="avg", rouge_keys="rouge1", pad_id=(0, -1)),
    "rouge recall": of_ignite("best_recall", 0.3),
    "rouge weighed": of_ignite("best", 0.0),
    "rouge sum": of_ignite("sum", 0.7),
    "overlap": make_overlap(2, average="none", pad_id=(0, -1)),
}
TEXT = st.lists(st.sampled_from(["a", "b.", "B", "runs", "1,5", "é", "中", "\n", " ", "&amp;", "a-b"]), max_size=9).map(
    " ".join
)
TOKENS = st.lists(st.sampled_from("abc"), max_size=9)
IDS = st.lists(st.sampled_from([1, 1, 2, 3, 0, -1]), max_size=9)
KINDS: dict[str, Any] = {
    "text": TEXT,
    "tokens": TOKENS,
    "ids": IDS,
    "tensors": IDS.map(lambda ids: torch.tensor(ids, dtype=torch.int64)),
}


def ways(scorer: Scorer, count: Callable[..., Any], *sides: Any) -> list[Any]:
    """What is counted in arrays, in plain Python, and in torch, as padded ids on a device are."""
    found = []
    for limit in (0, 10**9 if scorer.python_limit("ids") else 0):
        with mock.patch.object(Scorer, "python_limit", return_value=limit):
            found.append(count(*sides))
    # Torch counts on a CPU too while something records its operations.
    with crossings():
        found.append(count(*sides))
    return found


def check(scorer: Scorer, preds: Any, target: Any) -> None:
    """All ways have the same rows, references and kind, and the same score but for its last bit."""

    def counted(*sides: Any) -> Counted:
        return scorer.count(*sides)

    arrays, *others = ways(scorer, counted, preds, target)
    for other in others:
        torch.testing.assert_close(other.stack_rows(), arrays.stack_rows(), rtol=0, atol=1e-15)
        torch.testing.assert_close(torch.as_tensor(other.sum_rows()), arrays.stack_rows().sum(0), rtol=0, atol=1e-15)
        assert len(other.rows) == len(arrays.rows)
        ranges = (torch.as_tensor(range_of(one.references)) for one in (other, arrays))
        assert torch.equal(*ranges)
        assert (other.kind, other.leading_shape) == (arrays.kind, arrays.leading_shape)
    scores, *others = ways(scorer, scorer, preds, target)
    for other in others:
        torch.testing.assert_close(other, scores, rtol=1e-15, atol=1e-15)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", [*OF_TEXTS, *SCORERS])
@fewer(2)
@given(st.data())
def test_all_ways_count_and_score_the_same(name: str, data: st.DataObject):
    document = KINDS["text" if name in OF_TEXTS else data.draw(st.sampled_from(list(KINDS)))]
    sentence = st.tuples(document, st.lists(document, min_size=1, max_size=3))
    drawn = data.draw(st.lists(sentence, min_size=1, max_size=4))
    check({**OF_TEXTS, **SCORERS}[name], *apart(drawn))


@pytest.mark.parametrize("name", SCORERS)
@fewer(2)
@given(st.data())
def test_all_ways_count_and_score_padded_ids(name: str, data: st.DataObject):
    sentences, references, width = (data.draw(st.integers(1, most)) for most in (4, 3, 7))

    def ids(*shape: int) -> torch.Tensor:
        count = torch.Size(shape).numel()
        drawn = data.draw(st.lists(st.sampled_from([1, 1, 2, 3, 0, -1, -2]), min_size=count, max_size=count))
        return torch.tensor(drawn).reshape(shape)

    check(SCORERS[name], ids(sentences, width), ids(sentences, references, width))


@pytest.mark.parametrize("name", SCORERS)
def test_rows_of_either_number_have_the_same_scores(name: str):
    """Few rows are scored in plain Python, more in arrays, and zeros in both."""
    scorer = SCORERS[name]
    rows = scorer.count(["a b c d", "x", ""], ["a b c e", "x", "y"]).stack_rows()
    many = rows.repeat(9, 1)
    expected = scorer.scores(many)
    for found in (score_rows(scorer.measure, rows), score_rows(scorer.measure, many)[:3]):
        assert (found.dtype, found.shape) == (torch.float64, expected[:3].shape)
        assert torch.allclose(found, expected[:3], rtol=1e-15, atol=1e-15)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The functions of BLEU's measure that were called, of those that count and score in one of the ways."""
    called: list[str] = []
    for way in ("count_in_python", "statistics", "score_in_python", "score"):
        function = getattr(BleuMeasure, way)
        patched = lambda *args, _function=function, _way=way: called.append(_way) or _function(*args)  # noqa: E731
        monkeypatch.setattr(BleuMeasure, way, patched)
    return called


def test_few_counts_and_sums_of_counts_are_scored_in_plain_python_and_others_in_arrays(calls: list[str]):
    """Their last bits may differ, so each sum is scored the same way wherever it comes from."""
    scorer = SCORERS["bleu"]
    few = scorer.count(["a b"] * PYTHON_ROWS, ["a c"] * PYTHON_ROWS).stack_rows()
    more = scorer.count(["a b"] * (PYTHON_ROWS + 1), ["a c"] * (PYTHON_ROWS + 1)).stack_rows()
    for score, expected in (
        (lambda: score_rows(scorer.measure, few), ["score_in_python"] * PYTHON_ROWS),
        (lambda: score_rows(scorer.measure, more), ["score"]),
        (lambda: score_rows(scorer.measure, few.tolist()), ["score_in_python"] * PYTHON_ROWS),
        (lambda: score_rows(scorer.measure, more.tolist()), ["score"]),
        (lambda: score_rows(scorer.measure, few.double()), ["score"]),
        (lambda: score_rows(scorer.measure, few[:0]), ["score"]),
        (lambda: score_rows(scorer.measure, few.reshape(4, -1, 10)), ["score_in_python"] * PYTHON_ROWS),
        (lambda: score_corpora(scorer.measure, more, 1, "micro"), ["score_in_python"] * len(more)),
        (lambda: score_corpora(scorer.measure, few.double(), 1, "micro"), ["score"]),
    ):
        calls.clear()
        score()
        assert calls == expected


#: The metrics that count in plain Python, and each way of finding words in texts.
LIMITED = {
    **{name: make_metric(name) for name in REGISTRY if make_metric(name).python_limit("text")},
    **{f"overlap {tokenizer}": make_overlap(tokenizer=tokenizer) for tokenizer in SPLITTERS},
    **{f"{name} char": REGISTRY[name].make(tokenizer="char") for name in ("bleu", "rouge")},
}
LIMITS = [*product(LIMITED, ["text"]), *((name, "ids") for name in REGISTRY if name in LIMITED and name != "chrf++")]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("name", "kind"), LIMITS)
@fewer(10)
@given(data=st.data(), excess=st.sampled_from([-1, 0, 1]))
def test_a_batch_on_either_side_of_the_limit_counts_as_its_segments_do(
    name: str, kind: str, data: st.DataObject, excess: int
):
    scorer = LIMITED[name]
    document, token = (TEXT, "a") if kind == "text" else (st.lists(st.sampled_from([1, 1, 2, 3]), max_size=9), [1])
    drawn = data.draw(st.lists(st.tuples(document, st.lists(document, min_size=1, max_size=3)), max_size=4))
    batch = [(token * 5, [token * 4, token * 3]), *drawn]

    def size_of(segments: list[Any]) -> int:
        return sum(size(one) + sum(map(size, several)) for one, several in segments)

    # Of Chinese text each character is a word, and the limit of zh is in bytes.
    size = (lambda text: len(text.encode())) if kind == "text" and "zh" in name else len
    limit = scorer.python_limit(kind)
    copies = (limit - 20) // size_of(batch)
    alone = [scorer.count([one], [several]).stack_rows() for one, several in batch]
    batch = batch * copies
    batch.append((token * (limit + excess - size_of(batch) - 1), [token]))
    rest = scorer.count([batch[-1][0]], [batch[-1][1]]).stack_rows()
    with pytest.MonkeyPatch.context() as patch:
        calls: list[str] = []
        for way in ("count_in_python", "statistics"):
            function = getattr(type(scorer.measure), way)
            patched = lambda *args, _function=function, _way=way: calls.append(_way) or _function(*args)  # noqa: E731
            patch.setattr(type(scorer.measure), way, patched)
        counted = scorer.count(*map(list, zip(*batch, strict=True)))
    assert {*calls} == {"count_in_python" if excess < 0 else "statistics"}
    assert counted.stack_rows().equal(torch.cat([*alone * copies, rest]))


class Seen(TorchDispatchMode):
    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return function(*args, **(kwargs or {}))


def test_few_sentences_alone_are_counted_in_plain_python(calls: list[str]):
    """Texts of as many characters as the limit are counted in arrays, as other tokens than str and a trace are."""
    limit, most = (Bleu().scorer.python_limit(kind) for kind in ("text", "ids"))
    characters, chinese = (Bleu(tokenizer=name).scorer.python_limit("text") for name in ("char", "zh"))
    one_id = torch.ones(1, 1, dtype=torch.int64)
    cases: list[tuple[str, Any, Any, dict[str, Any]]] = [
        ("count_in_python", ["a" * (limit - 2)], ["b"], {}),
        ("statistics", ["a" * (limit - 1)], ["b"], {}),
        ("statistics", [""] * limit, ["b"] * limit, {}),
        ("count_in_python", ["a" * (characters - 2)], ["b"], {"tokenizer": "char"}),
        ("statistics", ["a" * (characters - 1)], ["b"], {"tokenizer": "char"}),
        ("count_in_python", ["中" * (chinese // 3 - 1)], ["b"], {"tokenizer": "zh"}),
        ("statistics", ["中" * (chinese // 3)], ["b"], {"tokenizer": "zh"}),
        ("statistics", ["\ud800" * (chinese // 3)], ["b"], {"tokenizer": "zh"}),
        ("count_in_python", "a b", ["a b", "a c"], {}),
        ("statistics", ["a b"], ["a b"], {"tokenizer": str.split}),
        ("count_in_python", [["a"] * (most - 2)], [["a"]], {}),
        ("statistics", [["a"] * (most - 1)], [["a"]], {}),
        ("count_in_python", [[1, 2]], [torch.tensor([1, 2])], {}),
        ("statistics", [[("a",), None]], [[("a",)]], {}),
        ("count_in_python", one_id.expand(1, most - 2), one_id, {"pad_id": 0}),
        ("statistics", one_id.expand(1, most - 1), one_id, {"pad_id": 0}),
    ]
    for way, preds, target, options in cases:
        calls.clear()
        Bleu(**options).update(preds, target)
        assert {*calls} == {way}
    calls.clear()
    with Seen():
        Bleu(pad_id=0).update(torch.tensor([[1, 2]]), torch.tensor([[1, 2]]))
    assert calls == ["statistics"]


@pytest.mark.parametrize(
    ("name", "hypotheses", "references"),
    [
        ("bleu 13a", ["a b .", "c d ."] * 3, ["a b.", "c d."] * 3),
        ("bleu", ["我们今天去公园散步"], ["他们今天去公园散步"]),
        ("rouge", ["привет мир"], ["привет"]),
        ("bleu", ["the cat sat"], [["the", "cat"]]),
        ("bleu", [["the cat sat"]], [["the cat"]]),
        ("rouge recall", ["我们今天去公园散步"], [["他们今天去公园散步", "我们"]]),
    ],
)
def test_all_ways_warn_of_the_same(name: str, hypotheses: Any, references: Any):
    scorer = {**OF_TEXTS, **SCORERS}[name]

    def warned() -> list[str]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            scorer.count(hypotheses, references)
        return [str(warning.message) for warning in caught]

    arrays, plain, in_torch = ways(scorer, warned)
    assert arrays == plain == in_torch
    assert len(arrays) == 1


@pytest.mark.parametrize(
    ("name", "preds", "target"),
    [
        ("bleu lower", [["a"]], [["a"]]),
        ("bleu lower", torch.tensor([[1]]), torch.tensor([[1]])),
        ("bleu", [[1, -5]], [[1]]),
        ("bleu", [[1, 2]], [torch.tensor([1, -5])]),
        ("bleu", [["a", {}]], [["a"]]),
        ("bleu", [["a"]], [[["a"], [[]]]]),
        ("chrf", [["ab"]], [["a"]]),
        ("chrf++", [["a"]], [["a"]]),
        ("chrf whitespace", torch.tensor([[1]]), torch.tensor([[1]])),
        ("overlap function", [[1]], [[1]]),
        ("chrf whitespace", [["ab"]], [["a"]]),
    ],
)
def test_all_ways_refuse_the_same(name: str, preds: Any, target: Any):
    scorer = {**OF_TEXTS, **SCORERS}[name]

    def refused() -> tuple[type, str]:
        with pytest.raises((TypeError, ValueError)) as caught:
            scorer.count(preds, target)
        return caught.type, str(caught.value)

    arrays, plain, in_torch = ways(scorer, refused)
    assert arrays == plain == in_torch


@pytest.mark.parametrize("weights", [[1e15, 1e15], [0, 1e15], [1e-300, 1e15], [1e15, 1e-300], [1e-320, 1e-320]])
@pytest.mark.parametrize(
    ("smooth", "value"), [("floor", 1.0), ("floor", 1e-320), ("add-k", 1e15), ("add-k", 1e-320), ("exp", None)]
)
@pytest.mark.parametrize("effective_order", [False, True])
def test_the_largest_and_the_smallest_settings_give_scores_from_0_to_1_in_every_way(
    weights, smooth, value, effective_order
):
    options = {"ngram": 2, "weights": weights, "smooth": smooth, "smooth_value": value}
    scorer = make_bleu(**options, effective_order=effective_order, average="none")
    for hypothesis, reference in (("a b", "a c"), ("a b", "a b"), ("a", "a b"), ("a b c d", "b a c"), ("a", "b")):
        scores = [score.item() for score in ways(scorer, scorer, [hypothesis], [reference])]
        assert scores == [pytest.approx(scores[0], rel=1e-12)] * 3
        assert 0 <= scores[0] <= 1
