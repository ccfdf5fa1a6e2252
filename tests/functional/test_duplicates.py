"""Near duplicates, against rouge_score pair by pair: no pair is lost, whatever is ruled out before it is counted."""

import functools
import math
import random
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import torch
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from rouge_oracle import table
from rouge_score.rouge_scorer import RougeScorer
from systems import output, references

from ngram_metrics._core.counting.subsequence import subsequence_pairs
from ngram_metrics.functional import near_duplicates, rouge_score

#: Some texts are nearly equal, some are equal, some have no words, and some are much longer than others.
LINES = references(60)
TEXTS = [*LINES, *output(LINES[:30], 0.2, 1), *output(LINES[:15], 0.4, 2), LINES[3], "", "!?", " ".join(LINES[:20])]
random.Random(1).shuffle(TEXTS)

#: F of short texts.
FRACTIONS = [0.0, 0.25, 1 / 3, 0.4, 0.5, 4 / 7, 2 / 3, 0.75, 0.8, 6 / 7]
texts = st.lists(st.lists(st.sampled_from(["a", "b", "c", "de"]), max_size=9).map(" ".join), max_size=9)


@functools.cache
def _scores(texts: tuple[str, ...], stemmer: bool) -> list[tuple[int, int, float]]:
    scorer = RougeScorer(["rougeL"], use_stemmer=stemmer)
    return [(i, j, scorer.score(texts[i], texts[j])["rougeL"].fmeasure) for i, j in _pairs(texts)]


def _by_rouge_score(texts: list[str], threshold: float, stemmer: bool = False) -> list[tuple[int, int, float]]:
    return [scored for scored in _scores(tuple(texts), stemmer) if scored[2] > threshold]


def _pairs(texts: Sequence[Any]) -> list[tuple[int, int]]:
    return list(combinations(range(len(texts)), 2))


@pytest.mark.covering
@pytest.mark.parametrize("tile", [None, 7])
@pytest.mark.parametrize("buckets", [None, 1, 5])
@pytest.mark.parametrize("threshold", [0, 0.35, 0.7, 0.9])
def test_near_duplicates_are_those_of_rouge_score_to_the_last_bit(
    threshold: float, buckets: int | None, tile: int | None, monkeypatch: pytest.MonkeyPatch
):
    if tile is not None:
        monkeypatch.setattr(subsequence_pairs, "TILE", tile)
        monkeypatch.setattr(subsequence_pairs, "_LONG", 1)
    if buckets is not None:
        monkeypatch.setattr(subsequence_pairs, "LEAST_BUCKETS", buckets)
        monkeypatch.setattr(subsequence_pairs, "MOST_BUCKETS", buckets)
    expected = _by_rouge_score(TEXTS, threshold)
    assert expected
    assert near_duplicates(TEXTS, threshold) == expected
    if threshold == 0.7:  # the filter of Self-Instruct
        assert near_duplicates(TEXTS) == expected


@examples(
    *(
        {"texts": ["a b c", "a b", "c", "a b c de", "", "a b"], "threshold": threshold, "sizes": (size,) * 3}
        for threshold in (0.8, math.nextafter(0.8, 0))  # F of the first two
        for size in (1, 4)
    )
)
@given(
    texts=texts,
    threshold=st.sampled_from([*FRACTIONS, *(math.nextafter(fraction, 0) for fraction in FRACTIONS)])
    | st.floats(0, 0.999),
    sizes=st.tuples(*[st.integers(1, 4)] * 3),
)
def test_no_pair_at_the_threshold_is_lost_or_found(texts: list[str], threshold: float, sizes: tuple[int, int, int]):
    """Small numbers of few words, so that many F equal the threshold, which is not above it, or are just above it."""
    with pytest.MonkeyPatch.context() as patch:
        for name, size in zip(("TILE", "LEAST_BUCKETS", "_ALONE"), sizes, strict=True):
            patch.setattr(subsequence_pairs, name, size)
        assert near_duplicates(texts, threshold) == _by_rouge_score(texts, threshold)


@pytest.mark.parametrize("parts", [subsequence_pairs._PARTS, 1 << 24], ids=["float32", "float64"])
def test_a_pair_that_just_suffices_is_found(parts: int, monkeypatch: pytest.MonkeyPatch):
    """A text and its beginning share exactly what the bound says, for every fraction of short lengths.

    In parts so small the bounds of short texts are as precise as those of texts of 2^17 tokens, and need float64.
    """
    monkeypatch.setattr(subsequence_pairs, "_PARTS", parts)
    monkeypatch.setattr(subsequence_pairs, "_LONG", (1 << 23) // parts)
    ids = list(range(1, 24))
    for longer in range(1, 24):
        for shorter in range(1, longer + 1):
            score = rouge_score([ids[:longer]], [ids[:shorter]], rouge_keys="rougeL")["rougeL_fmeasure"].item()
            pair = [ids[:shorter], ids[:longer]]
            assert near_duplicates(pair, math.nextafter(score, 0)) == [(0, 1, score)]
            assert near_duplicates(pair, min(score, 0.999)) == ([] if score < 0.999 else [(0, 1, 1)])


@pytest.mark.parametrize(("tokens", "dtype"), [((1 << 17) - 1, np.float32), (1 << 17, np.float64)])
def test_bounds_of_long_texts_are_float64(tokens: int, dtype: type, monkeypatch: pytest.MonkeyPatch):
    """64 times 2^17 is 2^23: a sum of two such bounds in parts of 1 / 64 is exact in float32 below it."""
    dtypes, rounded_up = set(), subsequence_pairs._round_up
    monkeypatch.setattr(subsequence_pairs, "_round_up", lambda *args: (dtypes.add(args[1]), rounded_up(*args))[1])
    assert near_duplicates([[1] * tokens, [2, 3]]) == []
    assert dtypes == {dtype}


@pytest.mark.parametrize("kind", ["tokens", "ids", "wide ids", "arrays", "padded"])
def test_tokens_and_ids_are_compared_as_they_are(kind: str):
    words = [text.split() for text in TEXTS]
    numbers = {word: number for number, word in enumerate(sorted({word for text in words for word in text}), 1)}
    ids = [[numbers[word] for word in text] for text in words]
    wide = [[number * 10**15 for number in text] for text in ids]
    padded = torch.zeros(len(ids), max(map(len, ids)), dtype=torch.int64)
    for row, text in zip(padded, ids, strict=True):
        row[: len(text)] = torch.tensor(text)
    given: dict[str, Any] = {
        "tokens": words,
        "ids": ids,
        "wide ids": wide,
        "arrays": [np.array(text, np.int32) for text in ids],
        "padded": padded,
    }
    expected = []
    for first, second in _pairs(words):
        length = table(words[first], words[second])[-1][-1]
        sizes = len(words[first]), len(words[second])
        if length and 2 * length > 0.6 * sum(sizes):
            expected.append((first, second, pytest.approx(2 * length / sum(sizes), abs=1e-15)))
    assert near_duplicates(given[kind], 0.6, pad_id=0 if kind == "padded" else None) == expected


def test_how_text_is_read_is_that_of_rouge():
    lines = ["The cats are sitting", "the cat is sitting", "The Cat Sits!", "it sits, the cat", "it sat, the cat"]
    assert near_duplicates(lines, 0.6, use_stemmer=True) == _by_rouge_score(lines, 0.6, stemmer=True)
    for options in ({"tokenizer": "char"}, {"tokenizer": str.split}, {"normalizer": lambda text: text[:7]}):
        found = {(first, second): score for first, second, score in near_duplicates(lines, 0.4, **options)}
        assert found
        for first, second in _pairs(lines):
            scores = rouge_score(lines[first], lines[second], rouge_keys="rougeL", **options)
            score = scores["rougeL_fmeasure"].item()
            assert found.get((first, second)) == (score if score > 0.4 else None)


@pytest.mark.parametrize("times", [1, 12], ids=["short", "long"])
def test_most_pairs_are_ruled_out_before_they_are_counted(times: int, monkeypatch: pytest.MonkeyPatch):
    """Long texts too, in which the frequent words come again and again."""
    lines = references(400 * times, seed=5)
    joined = [" ".join(lines[start : start + times]) for start in range(0, len(lines), times)]
    counted, plain = [], subsequence_pairs._count_near

    def counting(*given: Any) -> Any:
        counted.append(len(given[-1]))
        return plain(*given)

    monkeypatch.setattr(subsequence_pairs, "_count_near", counting)
    near_duplicates(joined)
    assert sum(counted) < len(_pairs(joined)) / 8


def test_no_text_or_one_has_no_duplicate():
    for few in ([], [""], ["a b"], ["", ""], [[]]):
        assert near_duplicates(few) == []


def test_what_a_training_loop_has_set_changes_nothing(surroundings: None):
    assert near_duplicates(["a b c", "a b d", "c"], 0.5) == [(0, 1, 2 / 3)]


@pytest.mark.parametrize(
    ("given", "options", "error", "words"),
    [
        (["a"], {"threshold": 1}, ValueError, r"^threshold must be below 1, because no F is above 1 \(got: 1\)$"),
        (["a"], {"threshold": -0.1}, ValueError, r"^threshold must be at least 0 and finite \(got: -0.1\)$"),
        (["a"], {"threshold": "0.7"}, TypeError, r"^threshold must be a number \(got: '0.7'\)$"),
        ("a b", {}, TypeError, "^texts is a str, 'a b': expected a sequence of texts$"),
        (["a", 1], {}, TypeError, "hypothesis 1 of row 0"),
        (torch.ones(2, 3, dtype=torch.int64), {}, ValueError, "pad_id"),
        (["a"], {"tokenise": str.split}, TypeError, "unknown argument tokenise, did you mean tokenizer"),
    ],
)
def test_what_cannot_be_compared_is_refused(given: Any, options: Any, error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        near_duplicates(given, **options)
