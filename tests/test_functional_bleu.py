"""BLEU in one call: the averages, what it compiles to, and what it refuses."""

import oracles
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ngram_metrics.functional import bleu_score

documents = st.lists(st.sampled_from("abc"), max_size=8)
batches = st.lists(st.tuples(documents, st.lists(documents, min_size=1, max_size=3)), min_size=1, max_size=5)


@given(batches, st.sampled_from(["no_smooth", "add-k", "exp"]))
def test_averages_are_those_of_plain_python(batch, smooth):
    preds, target = [one for one, _ in batch], [several for _, several in batch]
    expected = [oracles.sentence_bleu(*one, smooth=smooth) for one in batch]
    assert bleu_score(preds, target, smooth=smooth, average="none").tolist() == pytest.approx(expected, rel=1e-12)
    macro = sum(expected) / len(expected)
    assert bleu_score(preds, target, smooth=smooth, average="macro").item() == pytest.approx(macro, rel=1e-12)
    assert bleu_score(preds, target, smooth=smooth).item() == pytest.approx(macro, rel=1e-12)
    micro = oracles.corpus_bleu(batch, smooth=smooth)
    assert bleu_score(preds, target, smooth=smooth, average="micro").item() == pytest.approx(micro, rel=1e-12)


@given(batches)
def test_text_tokens_and_ids_score_the_same(batch):
    preds, target = [one for one, _ in batch], [several for _, several in batch]
    options = {"smooth": "exp", "average": "none", "effective_order": True}
    expected = bleu_score(preds, target, **options)
    texts = [" ".join(one) for one in preds], [[" ".join(one) for one in several] for several in target]
    assert bleu_score(*texts, **options).equal(expected)
    ids = [list(map(ord, one)) for one in preds], [[list(map(ord, one)) for one in several] for several in target]
    assert bleu_score(*ids, **options).equal(expected)
    padded = torch.full((len(batch), 8), -100), torch.full((len(batch), 3, 8), -100)
    for i, (one, several) in enumerate(zip(*ids, strict=True)):
        padded[0][i, 8 - len(one) :] = torch.tensor(one, dtype=torch.int64)
        for j, other in enumerate(several):
            padded[1][i, j, : len(other)] = torch.tensor(other, dtype=torch.int64)
    scores = bleu_score(*padded, **options, pad_id=-100)
    # An empty reference among several cannot be told from a missing one in a padded tensor.
    whole = [all(several) or len(several) == 1 for several in target]
    assert scores[whole].equal(expected[whole])


def test_one_sentence_needs_no_list():
    hypothesis, reference = "the cat is on the mat", "the cat is on a mat"
    score = bleu_score(hypothesis, reference, ngram=2)
    assert score.shape == ()
    assert score.item() == pytest.approx(oracles.sentence_bleu(hypothesis.split(), [reference.split()], 2))
    assert bleu_score("a b", ["c", "a b"], ngram=2) == 1
    assert bleu_score("a b", ["c", "a b"], ngram=2, average="none").shape == (1,)


def test_options_reach_the_score():
    preds, target = ["The cat, it sat."], ["the cat it sat"]
    assert bleu_score(preds, target, ngram=1) == 0.25 * 1
    assert bleu_score(preds, target, ngram=1, lowercase=True) == 0.5
    assert (
        bleu_score(preds, target, ngram=1, lowercase=True, tokenizer=lambda text: text.replace(",", "").split(" "))
        == 0.75
    )
    assert bleu_score(["a b"], ["a c"], ngram=2, weights=[1, 0]) == 0.5
    assert bleu_score(["a b"], ["a c"], ngram=2, smooth="floor", smooth_value=0.5) == 0.5
    assert bleu_score(["a"], ["a"]) == 0
    assert bleu_score(["a"], ["a"], effective_order=True) == 1


def test_no_sentence_scores_0():
    assert bleu_score([], []) == 0
    assert bleu_score([], [], average="micro") == 0
    assert bleu_score([], [], average="none").shape == (0,)
    nothing = torch.zeros(0, 4, dtype=torch.int64)
    for average in ("macro", "micro"):
        assert bleu_score(nothing, nothing, average=average, pad_id=0) == 0


def reward_batch(sentences, width, seed):
    ids = torch.Generator().manual_seed(seed)
    preds = torch.randint(0, 4, (sentences, width), generator=ids)
    return preds, torch.randint(0, 4, (sentences, 2, width + 1), generator=ids)


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_averages_compile_into_one_graph(average):
    torch._dynamo.reset()
    batch, options = reward_batch(3, 7, 0), {"pad_id": [0, -100], "average": average, "weights": (0.5, 0.3, 0.2, 0)}
    compiled = torch.compile(bleu_score, fullgraph=True, backend="eager")
    assert compiled(*batch, **options).equal(bleu_score(*batch, **options))


@pytest.mark.usefixtures("surroundings")
@pytest.mark.parametrize("average", ["none", "macro", "micro"])
def test_the_surroundings_of_a_training_loop_change_no_score(average):
    """In every layout: text, lists, 1-D tensors, a padded tensor, and both together."""
    preds, target = [[5, 6, 7, 6], [6, 6, 0, 0]], [[[5, 6, 7, 5], [6, 7, 0, 0]], [[6, 0, 0, 0], [5, 6, 6, 7]]]
    bare = [[one for one in row if one] for row in preds], [[[i for i in row if i] for row in rows] for rows in target]
    scores = [oracles.sentence_bleu(*one, 2) for one in zip(*bare, strict=True)]
    micro = oracles.corpus_bleu(zip(*bare, strict=True), 2)
    expected = {"none": scores, "macro": sum(scores) / 2, "micro": micro}[average]
    flat = [torch.tensor(row, device="cpu") for row in preds]
    several = [[torch.tensor(row, device="cpu") for row in rows] for rows in target]
    padded = torch.tensor(preds, device="cpu"), torch.tensor(target, device="cpu")
    texts = [" ".join(map(str, row)) for row in bare[0]], [[" ".join(map(str, row)) for row in r] for r in bare[1]]
    for one, other in ((preds, target), (flat, several), padded, (padded[0], several), (flat, target)):
        score = bleu_score(one, other, ngram=2, average=average, pad_id=0)
        assert score.tolist() == pytest.approx(expected, rel=1e-12)
        assert score.dtype == torch.float64
    assert bleu_score(*texts, ngram=2, average=average).tolist() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("average", ["none", "macro", "micro"])
def test_rewards_never_wait_for_the_device(average):
    """On the meta device there are no data: whatever would have to read some raises."""
    batch = [one.to("meta") for one in reward_batch(3, 7, 0)]
    score = bleu_score(*batch, pad_id=0, average=average)
    assert score.device.type == "meta"
    assert score.shape == ((3,) if average == "none" else ())


@pytest.mark.cuda
def test_scores_are_the_same_on_cuda():
    batch = reward_batch(50, 20, 0)
    on_cuda = [one.cuda() for one in batch]
    score = bleu_score(*on_cuda, pad_id=0, smooth="exp", average="none")
    assert score.device.type == "cuda"
    torch.testing.assert_close(score.cpu(), bleu_score(*batch, pad_id=0, smooth="exp", average="none"))
    text = bleu_score(["a b c"], ["a b d"], ngram=2, device="cuda")
    assert text.device.type == "cuda"
    assert text.item() == pytest.approx(bleu_score(["a b c"], ["a b d"], ngram=2).item())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ngram": 0}, r"ngram order must be greater than zero \(got: 0\)"),
        (
            {"smooth": "laplace"},
            r"Smooth is not valid \(expected: \['no_smooth'.*'floor', 'add-k', 'exp'\], got: laplace",
        ),
        ({"average": "mean"}, r"unknown average 'mean': expected one of \['micro', 'macro', 'none'\]"),
        ({"average": None}, r"unknown average None: expected one of"),
        ({"weights": [1]}, r"weights must be one for each of 4 orders \(got: 1\)"),
        ({"weights": [1, 1, 1, -1]}, r"weights\[3\] must be at least 0 and finite \(got: -1\)"),
        ({"smooth_value": 1}, r"smooth_value is for \['floor', 'add-k'\], not for smooth='no_smooth'"),
        ({"tokenizer": "words"}, r"unknown tokenizer 'words': expected one of"),
    ],
    ids=repr,
)
def test_a_setting_out_of_its_range_is_refused_before_any_sentence_is_read(options, words):
    with pytest.raises(ValueError, match=words):
        bleu_score(None, None, **options)
