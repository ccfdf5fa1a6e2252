"""Padded ids are counted in NumPy or in torch, and scored in either; compiled steps score what eager ones do."""

from typing import Any

import numpy as np
import pytest
import torch
from crossings import crossings
from draws import fewer
from hypothesis import given
from hypothesis import strategies as st
from layouts import apart
from metrics.apis import APIS

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore
from ngram_metrics._core.metrics.bleu import make_bleu
from ngram_metrics._core.metrics.chrf import make_chrf
from ngram_metrics._core.metrics.overlap import make_overlap
from ngram_metrics._core.metrics.rouge import Reducer, RougeMeasure, make_rouge
from ngram_metrics._core.scoring.scorer import Scorer
from ngram_metrics._core.text.reader import WordReader
from ngram_metrics.functional import rouge_score

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
    "rouge without separator": make_rouge(rouge_keys=KEYS[:3], sentence_separator_id=3, pad_id=(0, -1)),
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
IDS = st.lists(st.sampled_from([1, 1, 2, 3, 0, -1]), max_size=9)
KINDS: dict[str, Any] = {
    "text": TEXT,
    "tokens": st.lists(st.sampled_from("abc"), max_size=9),
    "ids": IDS,
    "tensors": IDS.map(lambda ids: torch.tensor(ids, dtype=torch.int64)),
}


def near(found: Any, expected: Any) -> None:
    """Equal but for the last bit."""
    torch.testing.assert_close(torch.as_tensor(found), torch.as_tensor(expected), rtol=1e-15, atol=1e-15)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", [*OF_TEXTS, *SCORERS])
@fewer(2)
@given(st.data())
def test_a_batch_counts_and_scores_as_its_segments_do(name: str, data: st.DataObject):
    """Also one of more documents than are read together."""
    scorer = {**OF_TEXTS, **SCORERS}[name]
    document = KINDS["text" if name in OF_TEXTS else data.draw(st.sampled_from(list(KINDS)))]
    segment = st.tuples(document, st.lists(document, min_size=1, max_size=3))
    segments = data.draw(st.lists(segment, min_size=1, max_size=4))
    copies = data.draw(st.sampled_from([1, 1, 70]))
    alone = np.concatenate([scorer.count([one], [several]).rows for one, several in segments] * copies)
    counted = scorer.count(*apart(segments * copies))
    np.testing.assert_array_equal(counted.rows, alone)
    references = [len(several) for _, several in segments]
    assert counted.reference_range.tolist() == [-min(references), max(references)]
    rows = alone.sum(0) if scorer.average == "micro" else alone
    scores = scorer.measure.score_rows(rows)
    near(scorer.score(counted), scores.mean(0) if scorer.average == "macro" else scores)


@pytest.mark.parametrize("name", SCORERS)
@fewer(2)
@given(st.data())
def test_padded_ids_have_the_same_counts_and_scores_in_numpy_and_in_torch(name: str, data: st.DataObject):
    scorer = SCORERS[name]
    segments, references, width = (data.draw(st.integers(1, most)) for most in (4, 3, 7))

    def ids(*shape: int) -> torch.Tensor:
        count = torch.Size(shape).numel()
        drawn = data.draw(st.lists(st.sampled_from([1, 1, 2, 3, 0, -1, -2]), min_size=count, max_size=count))
        return torch.tensor(drawn).reshape(shape)

    sides = ids(segments, width), ids(segments, references, width)
    arrays = scorer.count(*sides)
    # Torch counts on a CPU too while something records its operations.
    with crossings():
        tensors = scorer.count(*sides)
    assert isinstance(tensors.rows, torch.Tensor) == scorer.reader.can_stay_padded
    near(tensors.rows, arrays.rows)
    assert tensors.reference_range.tolist() == arrays.reference_range.tolist()
    assert (tensors.kind, tensors.leading_shape) == (arrays.kind, arrays.leading_shape)
    near(scorer.score(tensors), scorer.score(arrays))


@pytest.mark.parametrize("weights", [[1e15, 1e15], [0, 1e15], [1e-300, 1e15], [1e15, 1e-300], [1e-320, 1e-320]])
@pytest.mark.parametrize(
    ("smooth", "value"), [("floor", 1.0), ("floor", 1e-320), ("add-k", 1e15), ("add-k", 1e-320), ("exp", None)]
)
@pytest.mark.parametrize("effective_order", [False, True])
def test_the_largest_and_the_smallest_settings_give_scores_from_0_to_1(weights, smooth, value, effective_order):
    options = {"ngram": 2, "weights": weights, "smooth": smooth, "smooth_value": value}
    scorer = make_bleu(**options, effective_order=effective_order, average="none")
    pairs = [("a b", "a c"), ("a b", "a b"), ("a", "a b"), ("a b c d", "b a c"), ("a", "b")]
    counted = scorer.count(*zip(*pairs, strict=True))
    arrays = scorer.score(counted).tolist()
    tensors = scorer.score(counted._replace(rows=torch.from_numpy(counted.rows))).tolist()
    assert tensors == pytest.approx(arrays, rel=1e-12)
    assert all(0 <= score <= 1 for score in arrays)


@pytest.mark.parametrize("tiny", [1e-30, 1e-39, 1e-300])
def test_tiny_settings_keep_their_ratios(tiny: float):
    added = make_bleu(ngram=2, smooth="add-k", smooth_value=tiny)
    assert added.score(added.count(["a"], ["a"])) == 1  # k / k in the order without n-grams
    weighed = make_bleu(ngram=2, weights=[tiny, 1], effective_order=True)
    assert weighed.score(weighed.count(["a", "b"], ["a", "c"])) == pytest.approx(0.5, rel=1e-12)


TEXT = ["the cat sat\non the mat", "a dog ran"], [["the cat\nsat on a mat", "a cat"], ["a dog ran home"]]
LISTS = [[1, 2, 9, 3], [4]], [[[2, 9, 1, 3], [1, 2]], [[4, 5]]]
SUMMARIES = torch.tensor([[1, 2, 9, 3, 1, 0], [4, 9, 4, 0, 0, 0]]), torch.tensor([[[2, 1, 9, 1]], [[4, 4, 9, 9]]])
OUTSIDE = {
    "Bleu of text": (Bleu, {}, TEXT),
    "ChrF of text": (ChrF, {"average": "macro"}, TEXT),
    "ROUGEScore of text": (ROUGEScore, {}, TEXT),
    "Bleu of lists": (Bleu, {"average": "none"}, LISTS),
    "NgramOverlap of lists": (NgramOverlap, {}, LISTS),
    "Bleu of rows beside lists": (Bleu, {"pad_id": 0}, (SUMMARIES[0], LISTS[1])),
    "ROUGEScore of summaries": (ROUGEScore, {"pad_id": 0, "sentence_separator_id": 9}, SUMMARIES),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_compiled_step_counts_outside_of_its_graph_what_numpy_counts(name: str):
    make, options, batch = OUTSIDE[name]
    metric, eager = make(**options), make(**options)
    torch.compiler.reset()

    @torch.compile(backend="eager")
    def step(loss: torch.Tensor, preds: Any, target: Any) -> torch.Tensor:
        halved = loss / 2
        metric.update(preds, target)
        return halved + 1

    for _ in range(3):
        assert step(torch.tensor(4.0), *batch) == 3
        eager.update(*batch)
    torch.testing.assert_close(metric.compute(), eager.compute(), rtol=1e-12, atol=0)
    assert metric.signature == eager.signature
    with pytest.raises(ValueError, match="expected"):
        step(torch.tensor(4.0), batch[0], batch[1][:1])
    torch.testing.assert_close(metric.compute(), eager.compute(), rtol=1e-12, atol=0)


def test_a_function_in_a_compiled_step_has_the_eager_score():
    torch.compiler.reset()
    for batch, options in ((TEXT, {}), (SUMMARIES, {"pad_id": 0, "sentence_separator_id": 9})):
        compiled = torch.compile(lambda *sides: rouge_score(*sides, **options), backend="eager")  # noqa: B023
        torch.testing.assert_close(compiled(*batch), rouge_score(*batch, **options), rtol=1e-12, atol=0)
