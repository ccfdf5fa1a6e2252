"""Documents drawn instead of segments: what is drawn, and that documents of one segment change nothing."""

import random
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from paired import METRICS, OUTPUTS, REFERENCES, TESTS, counted, each_average, each_test
from sacrebleu.metrics import CHRF

from ngram_metrics import ChrF, ROUGEScore
from ngram_metrics.significance import paired_approximate_randomization, paired_bootstrap

#: Of different sizes, and not side by side.
DOCUMENTS = [f"document {index % 60 % 53}" for index in range(150)]
#: Rows that are means over references and no counts.
MEANS: Callable[..., Any] = lambda **options: ROUGEScore(rouge_keys="rougeL", accumulate="avg", **options)  # noqa: E731


@pytest.mark.covering
@each_average
@pytest.mark.parametrize("make", METRICS)
@example(labels=[1, 0])
@example(labels=[*range(30, 60), *range(30)])
@given(labels=st.integers(1, 60).flatmap(lambda size: st.permutations(range(size))))
def test_documents_of_one_segment_change_nothing_to_the_last_bit(make: Any, average: str, labels: list[int]):
    size = len(labels)
    systems = counted(make, {name: lines[:size] for name, lines in OUTPUTS.items()}, average=average)
    for test in TESTS.values():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("ngram_metrics._core.scoring.paired._FEW", 0)
            assert test(systems, "base", 50, clusters=labels) == test(systems, "base", 50)


@each_average
@pytest.mark.parametrize("make", METRICS)
def test_the_bootstrap_draws_what_an_interval_draws(make: Any, average: str):
    """Of one system, whose rows are then in the same order."""
    metric = counted(make, average=average, confidence=0.9)["base"]
    expected = {name: end.item() for name, end in metric.compute().items()}
    for value, found in paired_bootstrap({"base": metric}, "base", confidence=0.9)["base"].items():
        assert (found.low, found.high) == pytest.approx(
            (expected[f"{value}_low"], expected[f"{value}_high"]), abs=1e-12
        )


def _score(lines: list[str], targets: list[str], average: str) -> float:
    peer = CHRF()
    if average == "micro":
        return peer.corpus_score(lines, [targets]).score / 100
    each = [peer.sentence_score(line, [target]).score / 100 for line, target in zip(lines, targets, strict=True)]
    return sum(each) / len(each)


@each_average
@pytest.mark.parametrize("sizes", [[1, 2, 3, 4, 5], [1] * 5], ids=["documents", "segments"])
def test_the_randomization_of_few_documents_is_that_of_all_swaps_of_whole_documents(sizes: list[int], average: str):
    """The exact share, over all 2^5 swaps, of differences as large."""
    labels = [document for document, size in enumerate(sizes) for _ in range(size)]
    outputs = {name: lines[: len(labels)] for name, lines in OUTPUTS.items()}
    targets = REFERENCES[: len(labels)]
    clusters = None if max(sizes) == 1 else labels
    ours = paired_approximate_randomization(counted(ChrF, outputs, average=average), "base", 4000, clusters=clusters)

    def difference(name: str, swapped: tuple[bool, ...]) -> float:
        pair = (outputs[name], outputs["base"])
        mixed = [[pair[number ^ swapped[label]][place] for place, label in enumerate(labels)] for number in range(2)]
        return abs(_score(mixed[0], targets, average) - _score(mixed[1], targets, average))

    for name in ("alike", "close", "far"):
        all_swaps = [difference(name, swapped) for swapped in product((False, True), repeat=5)]
        share = sum(one >= all_swaps[0] - 1e-9 for one in all_swaps) / len(all_swaps)
        error = (share * (1 - share) / 4000) ** 0.5
        assert ours[name]["chrf"].p_value == pytest.approx(share, abs=4 * error + 1e-3)


@pytest.mark.covering
@each_average
@each_test
@pytest.mark.parametrize("make", [*METRICS, MEANS])
def test_neither_the_order_of_segments_nor_the_names_of_documents_matter(test: Any, make: Any, average: str):
    if make is MEANS and average == "micro":
        pytest.skip("a mean over references has no counts")
    systems = counted(make, average=average)
    alone, whole = test(systems, "base", 100), test(systems, "base", 100, clusters=DOCUMENTS)
    assert alone != whole
    order = random.Random(3).sample(range(len(REFERENCES)), len(REFERENCES))
    for name, metric in systems.items():
        metric.reset()
        for start in range(0, len(order), 40):  # in batches, too
            part = order[start : start + 40]
            metric.update([OUTPUTS[name][place] for place in part], [REFERENCES[place] for place in part])
    labels = np.array([hash(DOCUMENTS[place]) for place in order])
    assert test(systems, "base", 100) == alone
    assert test(systems, "base", 100, clusters=labels) == whole


@pytest.mark.parametrize(
    ("lines", "targets", "documents"),
    [
        # Of 2 characters 2 match, and of 4 none; or of 2 none, and of 4 two.
        (["ab", "wxyz", "xy", "abyz"], ["ab", "abcd", "ab", "abcd"], [0, 0, 1, 1]),
        (["ab", "ab", ""], ["ab", "ab", ""], [0, 1, 1]),
    ],
    ids=["other segments", "an empty segment"],
)
def test_documents_with_equal_counts_keep_no_order_of_their_own(
    lines: list[str], targets: list[str], documents: list[int]
):
    """The sums of their counts agree, and their means do not."""
    size = 60 * len(lines)
    labels = [2 * (place // len(lines)) + documents[place % len(lines)] for place in range(size)]

    def tested(order: list[int]) -> Any:
        outputs = {"base": [(lines * 60)[place] for place in order], "none": ["q"] * size}
        of_places = [(targets * 60)[place] for place in order]
        systems = counted(ChrF, outputs, of_places, char_order=1, average="macro")
        return paired_bootstrap(systems, "base", 100, clusters=[labels[place] for place in order])

    expected = tested(list(range(size)))
    for seed in range(5):
        assert tested(random.Random(seed).sample(range(size), size)) == expected


FEW: list[list[int]] = [[0] * 149 + [1], [place % 2 for place in range(150)], [place % 6 for place in range(150)]]


@each_average
@pytest.mark.parametrize(
    ("segments", "documents"),
    [*((segments, None) for segments in (1, 2, 3, 5, 8, 12)), *((150, documents) for documents in FEW)],
    ids=range(9),
)
def test_few_segments_or_documents_have_no_smaller_p_value_than_two_of_all_swaps(
    segments: int, documents: list[int] | None, average: str
):
    """All segments are better: of all 2^n swaps none and all give the measured difference, and no other does."""
    outputs = {"base": OUTPUTS["base"][:segments], "better": REFERENCES[:segments]}
    systems = counted(ChrF, outputs, average=average)
    count, unit = (segments, "segments") if documents is None else (len(set(documents)), "clusters")
    least = 2 / 2**count
    found = paired_approximate_randomization(systems, "base", clusters=documents)["better"]["chrf"].p_value
    assert found >= least
    assert found == pytest.approx(least, abs=4 * (least * (1 - least) / 10_000) ** 0.5 + 1e-4)
    assert segments > 1 or found == 1
    told = rf"^a bootstrap test needs at least 50 {unit} \(got: {count}\): with fewer its p-values"
    with pytest.warns(UserWarning, match=told) as seen:
        assert paired_bootstrap(systems, "base", clusters=documents)["better"]["chrf"].p_value >= least
    assert [warning.filename for warning in seen] == [__file__]


@pytest.mark.parametrize(
    ("clusters", "error", "words"),
    [
        (["a"] * 149, ValueError, "clusters has 149 labels and 'base' 150 segments: expected as many"),
        (["x"] * 150, ValueError, "clusters has the same label for all 150 segments, 'x': expected at least two"),
        (["a", "b", None] * 50, TypeError, "label 2 of clusters is None: expected the cluster of the segment"),
        ([1, float("nan")] * 75, TypeError, "label 1 of clusters is nan, and a NaN is not .*: expected a str or None"),
        ([["a"], ["b"]] * 75, TypeError, r"label 0 of clusters is \['a'\]: expected a hashable, such as a str"),
        (list(torch.arange(150)), TypeError, r"label 0 of clusters is tensor\(0\): expected a hashable, such as a"),
        ("ab" * 75, TypeError, "clusters is a str: expected a label for each segment"),
        (7, TypeError, "clusters is an int: expected a label for each segment"),
    ],
)
@each_test
def test_labels_that_name_no_documents_are_refused(test: Any, clusters: Any, error: type[Exception], words: str):
    with pytest.raises(error, match=f"^{words}"):
        test(counted(ChrF), "base", clusters=clusters)
