"""Resampled corpora: the weights, the sums, the order of rows, and the ends of an interval."""

import random
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest
import torch
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import estimate_ci
from systems import output, references

from ngram_metrics import Bleu, ChrF, evaluate
from ngram_metrics._core.basics.option_checks import check_confidence
from ngram_metrics._core.metrics.rouge import make_rouge
from ngram_metrics._core.scoring import resampling
from ngram_metrics._core.scoring.paired import pair_rows, resample_scores
from ngram_metrics._core.scoring.resampling import bootstrap_weights, clusters_of, interval, swaps
from ngram_metrics.significance import paired_bootstrap

REFERENCES = references(60)
OUTPUT = output(REFERENCES, 0.3, seed=2)
#: From one sentence to many.
DOCUMENTS = [int(index**0.5) for index in range(60)]


def _all_draws(draw: Callable[[int, int, int], Iterator[torch.Tensor]], *arguments: int) -> torch.Tensor:
    return torch.cat([block.clone() for block in draw(*arguments)])


def _weights(sentences: int, resamples: int, seed: int) -> torch.Tensor:
    return _all_draws(bootstrap_weights, sentences, resamples, seed)


def _places(rows: torch.Tensor, numbers: Sequence[int]) -> list[list[int]]:
    """The sentences of each document, in the order of documents: that of the sums of their rows."""
    places = [[index for index, other in enumerate(numbers) if other == number] for number in sorted(set(numbers))]
    sums = torch.stack([rows[of_one].sum(0) for of_one in places])
    drawn = clusters_of(ChrF().scorer.measure, sums, "micro").values.tolist()
    return sorted(places, key=lambda of_one: drawn.index(rows[of_one].sum(0).tolist()))


@pytest.mark.parametrize("draw", [bootstrap_weights, swaps])
def test_a_seed_says_it_all_however_many_weights_are_made_at_a_time(draw, monkeypatch: pytest.MonkeyPatch):
    whole = _all_draws(draw, 11, 40, 5)
    assert not torch.equal(whole, _all_draws(draw, 11, 40, 6))
    for at_once in (1, 100, 11 * 13):
        monkeypatch.setattr(resampling, "WEIGHTS_AT_ONCE", at_once)
        assert len({*map(len, draw(11, 40, 5))}) <= 2
        assert _all_draws(draw, 11, 40, 5).equal(whole)


def test_a_seed_draws_what_it_always_drew():
    """Each resample draws as many segments from torch's generator as there are, and a trial swaps each by a coin."""
    drawn = torch.randint(300, (1000, 300), generator=torch.Generator().manual_seed(12345))
    counts = [torch.bincount(resample, minlength=300) for resample in drawn]
    assert _weights(300, 1000, 12345).equal(torch.stack(counts).float())
    swapped = torch.randint(2, (50, 20_000), generator=torch.Generator().manual_seed(1), dtype=torch.uint8)
    assert _all_draws(swaps, 20_000, 50, 1).equal(swapped.float())


@pytest.mark.parametrize("draw", [bootstrap_weights, swaps])
def test_many_draws_are_made_in_the_memory_of_one(draw, monkeypatch: pytest.MonkeyPatch):
    """New memory for each took 3 GB of 300,000 clusters."""
    monkeypatch.setattr(resampling, "WEIGHTS_AT_ONCE", 1)
    blocks = list(draw(11, 40, 5))
    assert len(blocks) == 5
    assert len({block.data_ptr() for block in blocks}) == 1


@pytest.mark.parametrize("average", ["micro", "macro"])
@pytest.mark.parametrize(
    ("ours", "peer"),
    [
        (
            lambda **options: Bleu(smooth="exp", tokenizer="13a", effective_order=True, **options),
            BLEU(effective_order=True),
        ),
        (lambda **options: ChrF(**options), CHRF()),
    ],
    ids=["BLEU", "chrF"],
)
@pytest.mark.parametrize("numbers", [None, DOCUMENTS], ids=["sentences", "documents"])
def test_a_resampled_score_is_that_of_the_texts_drawn(ours, peer, average: str, numbers: list[int] | None):
    """sacrebleu scores the corpora themselves, each sentence or document as often as it was drawn."""
    metric = ours(average=average, confidence=0.95)
    metric.update(OUTPUT, REFERENCES)
    rows, measure = metric.segment_rows(), metric.scorer.measure
    clusters = pair_rows(measure, average, rows.unsqueeze(1), None if numbers is None else torch.tensor(numbers))
    (scores,) = resample_scores([clusters], resamples=6, seed=8)
    places = _places(rows, range(len(rows)) if numbers is None else numbers)
    assert clusters.segments.tolist() == list(map(len, places))
    for weights, score in zip(_weights(len(places), 6, seed=8).int().tolist(), scores[:, 0].tolist(), strict=True):
        drawn = [index for of_one, weight in zip(places, weights, strict=True) for index in of_one * weight]
        hypotheses, targets = [OUTPUT[index] for index in drawn], [REFERENCES[index] for index in drawn]
        if average == "micro":
            expected = peer.corpus_score(hypotheses, [targets]).score
        else:
            each = [peer.sentence_score(one, [other]).score for one, other in zip(hypotheses, targets, strict=True)]
            expected = sum(each) / len(each)
        assert 100 * score == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("dtype", [torch.int64, torch.float64], ids=str)
@pytest.mark.parametrize("width", [1, 2, 18])
def test_rows_are_put_in_one_order_however_they_come(dtype: torch.dtype, width: int):
    """Also scores that differ in a few bits only, as 1/4, 1/2 and 1 do."""
    chance = random.Random(width)
    steps = [0, 1, 2, 3, 4, 8] if dtype == torch.int64 else [0.0, 0.125, 0.25, 0.5, 0.75, 1.0, 1 / 3]
    rows = torch.tensor([[chance.choice(steps) for _ in range(width)] for _ in range(3000)], dtype=dtype)
    measure = ChrF().scorer.measure  # a sum of rows has them as they are
    expected = clusters_of(measure, rows, "micro").values
    assert sorted(expected.tolist()) == sorted(rows.tolist())
    for seed in range(3):
        shuffled = rows[torch.randperm(len(rows), generator=torch.Generator().manual_seed(seed))]
        assert torch.equal(clusters_of(measure, shuffled, "micro").values, expected)


@pytest.mark.parametrize("sentences", [5, 700])
def test_the_last_bits_of_scores_move_no_draw(sentences: int):
    """Means over references differ by as much from device to device."""
    measure = make_rouge(rouge_keys=("rouge1", "rougeL"), accumulate="avg").measure
    generator = torch.Generator().manual_seed(sentences)
    # Twelfths: many scores are equal, and most are no binary fraction.
    rows = torch.randint(0, 13, (sentences, 6), generator=generator).double() / 12
    (expected,) = resample_scores([pair_rows(measure, "macro", rows.unsqueeze(1))], 200, 3)
    for _ in range(5):
        steps = torch.randint(-1, 2, rows.shape, generator=generator)
        near = torch.where(steps == 0, rows, torch.nextafter(rows, steps.double() * 9))
        assert not torch.equal(near, rows)
        (found,) = resample_scores([pair_rows(measure, "macro", near.unsqueeze(1))], 200, 3)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("resamples", [1, 2, 39, 40, 41, 1000])
def test_the_interval_is_sacrebleus_at_095(resamples: int):
    scores = np.random.default_rng(resamples).normal(size=resamples)
    low, high = interval(torch.from_numpy(scores), 0.95)
    _, half = estimate_ci(scores)
    assert (high - low).item() / 2 == pytest.approx(half, abs=1e-15)


@pytest.mark.parametrize(("confidence", "place"), [(0.95, 26), (0.9, 51), (0.99, 6), (0.5, 251), (0.998, 2)])
def test_the_ends_are_the_scores_that_many_places_from_the_ends(confidence: float, place: int):
    scores = [random.Random(place).random() for _ in range(1)] + list(np.random.default_rng(place).random(999))
    low, high = interval(torch.tensor(scores, dtype=torch.float64), confidence)
    assert low.item() == sorted(scores)[place - 1]
    assert high.item() == sorted(scores, reverse=True)[place - 1]


@pytest.mark.parametrize("resamples", [1, 2, 3, 1000])
def test_the_lower_end_is_never_above_the_higher(resamples: int):
    low, high = interval(torch.arange(resamples, dtype=torch.float64), 1e-15)
    assert low <= high


@pytest.mark.parametrize("confidence", [0, 1, 0.0, 1.0, 95, -0.5, float("nan"), True, "0.95"])
def test_a_confidence_that_is_no_level_is_refused(confidence):
    with pytest.raises(ValueError, match=r"confidence must be between 0 and 1, such as 0\.95"):
        check_confidence(confidence, "micro")


@pytest.mark.parametrize("confidence", [0.9981, 0.9985, 0.99999999])
@pytest.mark.parametrize(
    "call",
    [
        lambda confidence: ChrF(confidence=confidence),
        lambda confidence: evaluate(["a"], ["a"], confidence=confidence),
        lambda confidence: paired_bootstrap({"a": ChrF(confidence=0.95)}, "a", confidence=confidence),
    ],
)
def test_a_level_that_the_resamples_do_not_have_is_refused(call, confidence):
    words = rf"^confidence must be at most 0\.998, the highest level that 1000 resamples have \(got: {confidence}\)$"
    with pytest.raises(ValueError, match=words):
        call(confidence)
    check_confidence(0.998, "micro")
