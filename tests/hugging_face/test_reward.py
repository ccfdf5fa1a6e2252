"""`Reward`: the score of each completion, as GRPOTrainer passes them."""

import pickle

import pytest

from ngram_metrics import Bleu, ChrF, ROUGEScore
from ngram_metrics.functional import bleu_score, chrf_score, rouge_score
from ngram_metrics.hugging_face import Reward

TEXTS = ["the cat sat on the mat", "it was asleep", "a dog ran off"]
REFERENCES = ["the cat is on the mat", "it was fast asleep", "a dog ran"]


def conversation(text):
    return [{"role": "user", "content": "go on"}, {"role": "assistant", "content": text}]


@pytest.mark.parametrize("completions", [TEXTS, list(map(conversation, TEXTS))], ids=["texts", "conversations"])
@pytest.mark.parametrize(
    "references", [REFERENCES, [[reference, "a cat"] for reference in REFERENCES]], ids=["one", "several"]
)
def test_completions_are_rewarded_one_by_one(completions, references):
    reward = pickle.loads(pickle.dumps(Reward(Bleu(smooth="add-k"))))
    found = reward(prompts=["go on"] * 3, completions=completions, completion_ids=[[1]] * 3, reference=references)
    assert found == bleu_score(TEXTS, references, smooth="add-k", average="none").tolist()
    assert [type(each) for each in found] == [float] * 3
    assert reward.__name__ == "bleu"
    talks = [
        list(map(conversation, reference)) if isinstance(reference, list) else conversation(reference)
        for reference in references
    ]
    assert reward(completions=completions, reference=talks) == found
    first, *_ = found
    without = [references[0], None, None]
    assert reward(completions=completions, reference=without) == [first, None, None]
    assert reward(completions=completions, reference=[None] * 3) == [None] * 3
    pandas = pytest.importorskip("pandas", reason="pandas is optional, and not in every environment of the tests")
    column = pandas.Series(["the cat sat", None, None])  # NaN stands for None
    assert reward(completions=completions, reference=column)[1:] == [None, None]


def test_ids_of_completions_are_rewarded():
    reward = Reward(ChrF(), references="wanted", from_ids=True)
    assert reward(completion_ids=[[5], [5]], wanted=[None, [5]]) == [None, 1]
    ids = [[5, 6, 7], [5]]
    wanted = [[5, 6, 8], [[5], [6]]]
    assert reward(completions=["?", "?"], completion_ids=ids, wanted=wanted) == [
        chrf_score([hypothesis], [reference], average="none").item()
        for hypothesis, reference in zip(ids, wanted, strict=True)
    ]


def test_one_value_of_several_is_the_reward():
    reward = Reward(ROUGEScore(rouge_keys=("rouge1", "rougeL"))["rougeL_recall"])
    expected = rouge_score(TEXTS, REFERENCES, rouge_keys="rougeL", average="none")["rougeL_recall"]
    assert reward(completions=TEXTS, reference=REFERENCES) == expected.tolist()
    assert reward.__name__ == "rougeL_recall"


def test_completions_of_another_language_are_told_at_each_call():
    reward = Reward(ROUGEScore(rouge_keys="rouge1")["rouge1_fmeasure"])
    for _ in range(2):
        with pytest.warns(UserWarning, match="more than 3 % of the words have other letters"):
            reward(completions=["Die Größe überrascht alle"], reference=["Diese Größe ist schön"])


NO_TEXT = "expected text, or messages whose last one from the assistant has text$"


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"completions": ["a"], "target": ["a"]}, ValueError, r"no column 'reference': .*\['target'\]"),
        ({"completions": ["a"]}, ValueError, r"no column 'reference': call reward\(completions=\["),
        ({"completions": ["a", 5], "reference": ["a", "b"]}, TypeError, "completion 1 is 5: expected text"),
        ({"completions": [["a", "b"]], "reference": ["a"]}, TypeError, "completion 0 is .*'b'"),
        (
            {"completions": ["a"], "reference": [["a", None]]},
            TypeError,
            r"the reference of completion 0 is a missing value, None",
        ),
        *(
            ({"completions": ["a", text], "reference": ["a", "a"]}, TypeError, f"^completion 1 is .*: {NO_TEXT}")
            for text in (
                conversation(5),
                conversation(["a"]),
                conversation([{"type": "text", "text": None}]),
                ["a", {"role": "assistant", "content": "a"}],
                [],
            )
        ),
        *(
            ({"completions": ["a"], "reference": [text]}, TypeError, f"^the reference of completion 0 is .*: {NO_TEXT}")
            for text in (
                conversation(None),
                conversation([{"type": "image"}]),
                [{"role": "user", "content": "a"}],
                [],
            )
        ),
        (
            {"completions": ["a"], "reference": []},
            ValueError,
            "^completions has 1 item and reference has 0: expected as",
        ),
        (
            {"completion_ids": [[1]], "reference": ["a"]},
            ValueError,
            r"^completions has 0 items and .* \(from_ids is False\)$",
        ),
    ],
)
def test_what_cannot_be_rewarded_is_refused(given, error, message):
    with pytest.raises(error, match=message):
        Reward(ChrF())(**given)


@pytest.mark.parametrize("given", [{"completions": ["a"], "reference": [[1]]}, {"reference": [None]}])
def test_as_many_ids_as_references_are_rewarded(given):
    words = r"^completion_ids has 0 items and reference has 1: .* \(from_ids is True\)$"
    with pytest.raises(ValueError, match=words):
        Reward(ChrF(), from_ids=True)(**given)


def test_a_completion_without_content_is_an_empty_text():
    called = [{"role": "assistant", "tool_calls": ["search"]}]
    pictured = conversation([{"type": "image"}])
    completions = [conversation(None), called, pictured, conversation("a b")]
    assert Reward(ChrF())(completions=completions, reference=["a b"] * 4) == [0, 0, 0, 1]


def test_the_text_of_a_tool_is_not_rewarded():
    asking = {"role": "assistant", "content": None, "tool_calls": ["search"]}
    found = {"role": "tool", "content": "a b"}
    answering = {"role": "assistant", "content": "a b"}
    completions = [[asking, found], [asking, found, answering], [answering, asking, found], [answering, found]]
    assert Reward(ChrF())(completions=completions, reference=["a b"] * 4) == [0, 1, 0, 1]
    assert Reward(ChrF())(completions=["a b"], reference=[[answering, found]]) == [1]


def test_a_message_without_a_role_is_the_assistants():
    assert Reward(ChrF())(completions=[[{"content": "a b"}]], reference=[[{"content": "a b"}]]) == [1]


def test_the_texts_of_a_content_in_parts_are_joined():
    parts = [{"type": "text", "text": "the c"}, {"type": "image"}, {"type": "text", "text": "at sat"}]
    completions, references = [conversation(parts), "the cat sat"], ["the cat sat", conversation(parts)]
    assert Reward(ChrF())(completions=completions, reference=references) == [1, 1]


def test_a_metric_of_several_values_is_no_reward():
    words = r"^metric computes several values, \['rouge1_.*such as metric\['rouge1_fmeasure'\]$"
    with pytest.raises(ValueError, match=words):
        Reward(ROUGEScore())


def test_columns_are_rewarded_as_lists_and_a_table_is_refused():
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is optional, and not in every environment of the tests")
    pandas = pytest.importorskip("pandas", reason="pandas is optional, and not in every environment of the tests")
    reward = Reward(ChrF())
    texts = pyarrow.chunked_array([["a b"], ["c d"]])
    references = pyarrow.chunked_array([["a b", None]])
    assert reward(completions=texts, reference=references) == [1, None]
    table = pandas.DataFrame({"text": ["a b"]})
    for completions, reference in ((table, ["text"]), (["text"], table)):
        with pytest.raises(TypeError, match=r" is a DataFrame of pandas: expected one of its columns, such as "):
            reward(completions=completions, reference=reference)
    with pytest.raises(TypeError, match=r"^completion_ids is a DataFrame of pandas: expected one of its columns"):
        Reward(ChrF(), from_ids=True)(completion_ids=table, reference=[[1]])
