"""Resampled corpora: the weights, the sums, the order of rows, and the ends of an interval."""

import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import estimate_ci
from systems import output, references

from ngram_metrics import Bleu, ChrF
from ngram_metrics._core.basics.option_checks import checked_level
from ngram_metrics._core.metrics.rouge import make_rouge
from ngram_metrics._core.scoring.paired import pair_rows, resample_scores
from ngram_metrics._core.scoring.resampling import bootstrap_weights, clusters_of, interval, swaps

REFERENCES = references(60)
OUTPUT = output(REFERENCES, 0.3, seed=2)
#: From one segment to many.
DOCUMENTS = [int(index**0.5) for index in range(60)]


def _all_draws(draw: Callable[[int, int, int], Iterator[np.ndarray]], *arguments: int) -> np.ndarray:
    return np.concatenate([block.copy() for block in draw(*arguments)])


def _places(measure: Any, rows: np.ndarray, average: Any, numbers: Sequence[int]) -> list[list[int]]:
    """The segments of each document, in the order in which documents are drawn: found by what each sums to."""
    places = [[index for index, other in enumerate(numbers) if other == number] for number in sorted(set(numbers))]
    values = rows if average == "micro" else measure.score_rows(rows).reshape(len(rows), -1)
    by_sum = {np.round(values[of_one].sum(0), 9).tobytes(): of_one for of_one in places}
    clusters = clusters_of(measure, rows, average, np.array(numbers))
    return [by_sum[np.round(sums.astype(values.dtype), 9).tobytes()] for sums in clusters.values]


@pytest.mark.parametrize("seed", [12345, -1, -(1 << 63), (1 << 64) - 1])
def test_a_seed_draws_what_torch_draws(seed: int):
    """Each resample draws as many segments as there are, and a trial swaps each by a coin, in several blocks."""
    drawn = torch.randint(1000, (1200, 1000), generator=torch.Generator().manual_seed(seed))
    counts = [torch.bincount(resample, minlength=1000) for resample in drawn]
    assert np.array_equal(_all_draws(bootstrap_weights, 1000, 1200, seed), torch.stack(counts))
    swapped = torch.randint(2, (20, 100_000), generator=torch.Generator().manual_seed(seed), dtype=torch.uint8)
    assert np.array_equal(_all_draws(swaps, 100_000, 20, seed), swapped)


@pytest.mark.parametrize("average", ["micro", "macro"])
@pytest.mark.parametrize(
    ("metric", "peer"),
    [(partial(Bleu, effective_order=True), BLEU(effective_order=True)), (ChrF, CHRF())],
    ids=["BLEU", "chrF"],
)
@pytest.mark.parametrize("numbers", [None, DOCUMENTS], ids=["segments", "documents"])
def test_a_resampled_score_is_that_of_the_texts_drawn(metric, peer, average: str, numbers: list[int] | None):
    """sacrebleu scores the corpora themselves, each segment or document as often as it was drawn."""
    scorer = metric(average=average).scorer
    rows = scorer.count_batch(OUTPUT, REFERENCES).rows
    measure = scorer.measure
    clusters = pair_rows(measure, average, rows[:, None], None if numbers is None else np.array(numbers))
    (scores,) = resample_scores([clusters], resamples=6, seed=8)
    places = _places(measure, rows, average, range(len(rows)) if numbers is None else numbers)
    assert clusters.segments.tolist() == list(map(len, places))
    resamples = _all_draws(bootstrap_weights, len(places), 6, 8).astype(int)
    for weights, score in zip(resamples.tolist(), scores[:, 0].tolist(), strict=True):
        drawn = [index for of_one, weight in zip(places, weights, strict=True) for index in of_one * weight]
        hypotheses = [OUTPUT[index] for index in drawn]
        targets = [REFERENCES[index] for index in drawn]
        if average == "micro":
            expected = peer.corpus_score(hypotheses, [targets]).score
        else:
            each = [peer.sentence_score(one, [other]).score for one, other in zip(hypotheses, targets, strict=True)]
            expected = sum(each) / len(each)
        assert 100 * score == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@pytest.mark.parametrize("keys", [1, 6])
def test_rows_are_put_in_one_order_however_they_come(dtype: type, keys: int):
    """Also scores that differ in a few bits only, as 1/4, 1/2 and 1 do."""
    chance = np.random.default_rng(keys)
    steps = [0, 1, 2, 3, 4, 8] if dtype == np.int64 else [0.0, 0.125, 0.25, 0.5, 0.75, 1.0, 1 / 3]
    accumulate, average = ("best", "micro") if dtype == np.int64 else ("avg", "macro")
    measure = make_rouge(rouge_keys=[f"rouge{key}" for key in range(1, keys + 1)], accumulate=accumulate).measure
    rows = chance.choice(np.array(steps, dtype), (3000, 3 * keys))
    expected = clusters_of(measure, rows, average).values
    assert len(np.unique(expected, axis=0)) == len(np.unique(rows, axis=0))
    for _ in range(3):
        assert np.array_equal(clusters_of(measure, chance.permutation(rows), average).values, expected)


@pytest.mark.parametrize("segments", [5, 700])
def test_the_last_bits_of_scores_move_no_draw(segments: int):
    """Means over references differ by as much from device to device."""
    measure = make_rouge(rouge_keys=("rouge1", "rougeL"), accumulate="avg").measure
    chance = np.random.default_rng(segments)
    # Twelfths: many scores are equal, and most are no binary fraction.
    rows = chance.integers(0, 13, (segments, 6)) / 12
    (expected,) = resample_scores([pair_rows(measure, "macro", rows[:, None])], resamples=200, seed=3)
    for _ in range(5):
        steps = chance.integers(-1, 2, rows.shape)
        near = np.where(steps == 0, rows, np.nextafter(rows, steps * 9.0))
        assert not np.array_equal(near, rows)
        (found,) = resample_scores([pair_rows(measure, "macro", near[:, None])], resamples=200, seed=3)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("resamples", [1, 2, 39, 40, 41, 1000])
def test_the_interval_is_sacrebleus_at_095(resamples: int):
    scores = np.random.default_rng(resamples).normal(size=resamples)
    low, high = interval(scores, 0.95)
    _, half = estimate_ci(scores)
    assert (high - low).item() / 2 == pytest.approx(half, abs=1e-15)


@pytest.mark.parametrize(("confidence", "place"), [(0.95, 26), (0.9, 51), (0.99, 6), (0.5, 251), (0.998, 2)])
def test_the_ends_are_the_scores_that_many_places_from_the_ends(confidence: float, place: int):
    scores = np.random.default_rng(place).random(1000)
    low, high = interval(scores, confidence)
    assert low.item() == sorted(scores)[place - 1]
    assert high.item() == sorted(scores, reverse=True)[place - 1]


@pytest.mark.parametrize("confidence", [0, 1, 0.0, 1.0, 95, -0.5, float("nan")])
def test_a_confidence_that_is_no_level_is_refused(confidence):
    with pytest.raises(ValueError, match=r"confidence must be between 0 and 1, such as 0\.95"):
        checked_level(confidence)


@pytest.mark.parametrize("confidence", [True, np.True_, "0.95", [0.95]])
def test_a_confidence_that_is_no_number_is_refused_as_it_was_written(confidence):
    words = re.escape(f"confidence must be a number between 0 and 1, such as 0.95 (got: {confidence!r})")
    with pytest.raises(TypeError, match=words):
        checked_level(confidence)


@pytest.mark.parametrize("confidence", [0.95, np.float32(0.95), np.float64(0.95), Fraction(19, 20), torch.tensor(0.95)])
def test_a_confidence_may_be_a_number_of_any_type(confidence):
    level = checked_level(confidence)
    assert type(level) is float
    assert level == pytest.approx(0.95, rel=1e-7)


@pytest.mark.parametrize("resamples", [1, 2, 3, 1000])
def test_the_lower_end_is_never_above_the_higher(resamples: int):
    low, high = interval(np.arange(resamples, dtype=np.float64), 1e-15)
    assert low <= high
