"""chrF in one call: the averages, ids as characters, what it compiles to, and what it refuses."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import CHRF

from ngram_metrics.functional import chrf_score

texts = st.text("ab ", max_size=8)
batches = st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=3)), min_size=1, max_size=5)
words = st.text("ab", max_size=8)
word_batches = st.lists(st.tuples(words, st.lists(words, min_size=1, max_size=3)), min_size=1, max_size=5)


def parted(batch):
    return [one for one, _ in batch], [several for _, several in batch]


def sentence_scores(batch, **options):
    return [CHRF(**options).sentence_score(*one).score / 100 for one in batch]


def corpus_score(batch, **options):
    streams = [[several[i] if i < len(several) else None for _, several in batch] for i in range(3)]
    streams = [stream for stream in streams if any(one is not None for one in stream)]
    return CHRF(**options).corpus_score([one for one, _ in batch], streams).score / 100


def close(expected):
    return pytest.approx(expected, rel=1e-10, abs=1e-300)


def id_of(character):
    return ord(character) - ord("a") + 5


def padded(rows, width, before=0):
    """Rows of ids, at most ``width``, with padding before each, between any two ids, and after them."""
    spread = [[-100] * before + [part for one in row for part in (one, 0)] for row in rows]
    return [row + [0] * (2 * width + before - len(row)) for row in spread]


@given(batches, st.sampled_from([{}, {"word_order": 2}, {"eps_smoothing": True}, {"char_order": 2, "beta": 1}]))
def test_averages_are_those_of_sacrebleu(batch, options):
    expected = sentence_scores(batch, **options)
    assert chrf_score(*parted(batch), average="none", **options).tolist() == close(expected)
    assert chrf_score(*parted(batch), average="macro", **options).item() == close(sum(expected) / len(expected))
    for average in ({"average": "micro"}, {}):
        assert chrf_score(*parted(batch), **average, **options).item() == close(corpus_score(batch, **options))


@given(word_batches, st.booleans())
def test_ids_score_as_the_characters_they_stand_for(batch, eps_smoothing):
    """Lists, 1-D tensors, and padded with the padding anywhere."""
    preds, target = parted(batch)
    options = {"eps_smoothing": eps_smoothing, "average": "none"}
    expected = chrf_score(preds, target, **options)
    ids = [list(map(id_of, one)) for one in preds], [[list(map(id_of, one)) for one in several] for several in target]
    assert chrf_score(*ids, **options).equal(expected)
    tensors = [[torch.tensor(one, dtype=torch.int64) for one in several] for several in (ids[0], *ids[1])]
    assert chrf_score(tensors[0], tensors[1:], **options).equal(expected)
    with_padding = [padded([one], 8, 2)[0] for one in ids[0]], [padded(several, 8) for several in ids[1]]
    assert chrf_score(*with_padding, **options, pad_id=(0, -100)).equal(expected)
    count = max(map(len, target))
    preds_tensor = torch.tensor(padded(ids[0], 8, 3))
    target_tensor = torch.tensor([padded(several + [[]] * (count - len(several)), 8) for several in ids[1]])
    scores = chrf_score(preds_tensor, target_tensor, **options, pad_id=(0, -100))
    # An empty reference among several cannot be told from a missing one in a padded tensor; under epsilon smoothing it
    # may be the better of two that both score about 0.
    whole = [all(several) or len(several) == 1 for several in target]
    assert scores[whole].equal(expected[whole])
    if not eps_smoothing:
        assert scores.equal(expected)


@given(word_batches, st.integers(0, 3), st.integers(0, 3))
def test_padding_anywhere_changes_nothing(batch, before, after):
    """Not even the last bit."""
    ids = [list(map(id_of, one)) for one, _ in batch], [list(map(id_of, several[0])) for _, several in batch]
    rows = [torch.tensor(padded(side, 8 + after, before)) for side in ids]
    for average in ("micro", "macro", "none"):
        expected = chrf_score(ids[0], [[one] for one in ids[1]], average=average)
        assert chrf_score(*rows, average=average, pad_id=[-100, 0]).equal(expected)


def test_one_sentence_needs_no_list():
    score = chrf_score("the cat is on the mat", "the cat is on a mat")
    assert score.shape == ()
    assert score.item() == close(corpus_score([("the cat is on the mat", ["the cat is on a mat"])]))
    assert chrf_score("a b", ["c", "a b"]) == 1
    assert chrf_score("a b", ["c", "a b"], average="none").shape == (1,)


def test_options_reach_the_score():
    pair = ("The Cat, it sat.", ["the cat it sat on a mat"])
    changes = [{"char_order": 3}, {"word_order": 2}, {"beta": 1}, {"lowercase": True}, {"whitespace": True}]
    for options in ({}, *changes, {"eps_smoothing": True, "char_order": 14}, {"char_order": 0, "word_order": 1}):
        score = chrf_score(pair[0], pair[1], **options).item()
        assert score == close(corpus_score([pair], **options))
        if options:
            assert abs(score - corpus_score([pair])) > 1e-4
    assert chrf_score([[1, 2, 9]], [[1, 2]], char_order=1, pad_id=9) == 1


@pytest.mark.parametrize("options", [{}, {"word_order": 2}, {"lowercase": True}, {"whitespace": True}], ids=str)
def test_no_sentence_scores_0(options):
    assert chrf_score([], [], **options) == 0
    assert chrf_score([], [], average="macro", **options) == 0
    assert chrf_score([], [], average="none", **options).shape == (0,)


def test_no_padded_sentence_scores_0():
    nothing = torch.zeros(0, 4, dtype=torch.int64)
    for average in ("macro", "micro"):
        assert chrf_score(nothing, nothing, average=average, pad_id=0) == 0
    assert chrf_score(nothing, nothing, average="none", pad_id=0).shape == (0,)


# Rewards: padded ids that already lie on a device.


def reward_batch(sentences, width, seed):
    ids = torch.Generator().manual_seed(seed)
    preds = torch.randint(0, 4, (sentences, width), generator=ids)
    return preds, torch.randint(0, 4, (sentences, 2, width + 1), generator=ids)


@pytest.mark.parametrize(("average", "references"), [("macro", 1), ("micro", 2)])
def test_averages_compile_into_one_graph(average, references):
    torch._dynamo.reset()
    options = {"pad_id": [0, -100], "average": average, "eps_smoothing": True, "char_order": 3, "beta": 0.5}
    compiled = torch.compile(chrf_score, fullgraph=True, backend="eager")
    preds, target = reward_batch(3, 7, 0)
    batch = preds, target if references > 1 else target[:, 0]
    assert compiled(*batch, **options).equal(chrf_score(*batch, **options))


@pytest.mark.parametrize("average", ["none", "macro", "micro"])
def test_rewards_never_wait_for_the_device(average):
    """On the meta device there are no data: whatever would have to read some raises."""
    batch = [one.to("meta") for one in reward_batch(3, 7, 0)]
    for eps_smoothing in (False, True):
        score = chrf_score(*batch, pad_id=0, average=average, eps_smoothing=eps_smoothing)
        assert (score.device.type, score.dtype) == ("meta", torch.float64)
        assert score.shape == ((3,) if average == "none" else ())


@pytest.mark.usefixtures("surroundings")
@pytest.mark.parametrize("average", ["none", "macro", "micro"])
def test_the_surroundings_of_a_training_loop_change_no_score(average):
    """In every layout: text, lists, 1-D tensors, a padded tensor, and both together."""
    texts = [("aabac", ["aabca", "ba"]), ("bb", ["b", "cabb"])]
    expected = {"none": sentence_scores(texts), "micro": corpus_score(texts)}
    expected["macro"] = sum(expected["none"]) / 2
    ids = [list(map(id_of, one)) for one, _ in texts], [[list(map(id_of, r)) for r in several] for _, several in texts]
    flat = [torch.tensor(row, device="cpu") for row in ids[0]]
    several = [[torch.tensor(row, device="cpu") for row in rows] for rows in ids[1]]
    rows = torch.tensor(padded(ids[0], 5), device="cpu"), torch.tensor([padded(one, 5) for one in ids[1]], device="cpu")
    for one, other in (parted(texts), ids, (flat, several), rows, (rows[0], several), (flat, ids[1])):
        score = chrf_score(one, other, average=average, pad_id=0)
        assert (score.dtype, score.device.type) == (torch.float64, "cpu")
        assert score.tolist() == close(expected[average])


@pytest.mark.cuda
def test_scores_are_the_same_on_cuda():
    batch = reward_batch(50, 20, 0)
    score = chrf_score(*(one.cuda() for one in batch), pad_id=0, average="none")
    assert score.device.type == "cuda"
    torch.testing.assert_close(score.cpu(), chrf_score(*batch, pad_id=0, average="none"))
    text = chrf_score(["a b c"], ["a b d"], word_order=2, device="cuda")
    assert text.device.type == "cuda"
    assert text.item() == close(corpus_score([("a b c", ["a b d"])], word_order=2))


# What is refused.


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"char_order": 0}, r"char_order and word_order are both 0: expected at least one order"),
        ({"char_order": -1}, r"char_order must be at least 0 \(got: -1\)"),
        ({"word_order": -2}, r"word_order must be at least 0 \(got: -2\)"),
        ({"beta": -1.0}, r"beta must be at least 0 and finite \(got: -1.0\)"),
        ({"average": "mean"}, r"unknown average 'mean': expected one of \['micro', 'macro', 'none'\]"),
        ({"average": None}, r"unknown average None: expected one of"),
    ],
    ids=repr,
)
def test_a_setting_out_of_its_range_is_refused_before_any_sentence_is_read(options, words):
    with pytest.raises(ValueError, match=words):
        chrf_score(None, None, **options)


@pytest.mark.parametrize("name", ["word_order", "lowercase", "whitespace"])
@pytest.mark.parametrize(
    ("preds", "target"),
    [
        (torch.tensor([[1, 2]]), torch.tensor([[1, 2]])),
        ([[1, 2]], [[1, 2]]),
        ([torch.tensor([1])], [torch.tensor([1])]),
    ],
    ids=["padded", "lists", "tensors"],
)
def test_options_for_text_are_refused_together_with_ids(preds, target, name):
    with pytest.raises(ValueError, match=f"{name} is an option for text, but the sentences are ids"):
        chrf_score(preds, target, pad_id=0, **{name: True if name != "word_order" else 2})


def test_a_padded_tensor_without_its_padding_is_refused():
    with pytest.raises(ValueError, match="a padded tensor of ids needs pad_id"):
        chrf_score(torch.tensor([[1, 2]]), torch.tensor([[1, 2]]))
    with pytest.raises(ValueError, match=r"preds has shape \(1, 1, 2\)"):
        chrf_score(torch.tensor([[[1, 2]]]), torch.tensor([[1, 2]]), pad_id=0)
