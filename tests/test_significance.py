"""Paired tests: sacrebleu's numbers and plain loops, what is no evidence, differences, Holm's correction, documents."""

import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
import torch
from draws import fewer
from hypothesis import example, given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest
from systems import output, references

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore, evaluate
from ngram_metrics._core.scoring.paired import bootstrap_p_values, correct, pair_rows, resample_scores
from ngram_metrics._core.scoring.resampling import bootstrap_weights, swaps
from ngram_metrics.significance import paired_approximate_randomization, paired_bootstrap

pytest.importorskip("ignite", reason="the classes for ignite are tested")

from ngram_metrics import ignite as for_ignite

REFERENCES = references(150)
#: Some close to the baseline, one far from it.
OUTPUTS = {
    "base": output(REFERENCES, 0.30, seed=10),
    "alike": output(REFERENCES, 0.30, seed=21),
    "close": output(REFERENCES, 0.29, seed=12),
    "far": output(REFERENCES, 0.2, seed=13),
}
TESTS: dict[str, Callable[..., Any]] = {
    "bootstrap": paired_bootstrap,
    "randomization": paired_approximate_randomization,
}
each_test = pytest.mark.parametrize("test", TESTS.values(), ids=TESTS)
each_average = pytest.mark.parametrize("average", ["micro", "macro"])
TWO_KEYS = {"rouge_keys": ("rouge1", "rougeL")}
TWO_VALUES = partial(ROUGEScore, **TWO_KEYS)
#: One value or several, over the sums of counts or over segments.
METRICS: list[Callable[..., Any]] = [Bleu, ChrF, TWO_VALUES]


def counted(
    make: Callable[..., Any],
    outputs: Mapping[str, Sequence[str]] = OUTPUTS,
    references: Sequence[Any] = REFERENCES,
    confidence: float | None = 0.95,
    **options: Any,
) -> dict[str, Any]:
    """A metric for each system, which has seen its output."""
    systems = {name: make(confidence=confidence, **options) for name in outputs}
    for name, metric in systems.items():
        metric.update(outputs[name], references[: len(outputs[name])])
    return systems


#: Our class and sacrebleu's.
OF_SACREBLEU: dict[str, Any] = {"bleu": (Bleu, BLEU), "chrf": (ChrF, CHRF)}


@pytest.mark.parametrize(
    ("kind", "test", "draws", "rule"),
    [("bs", paired_bootstrap, 1000, {"alternative": "sacrebleu"}), ("ar", paired_approximate_randomization, 3000, {})],
    ids=TESTS,
)
@pytest.mark.parametrize("name", [pytest.param("bleu", marks=pytest.mark.slow), "chrf"])
def test_p_values_means_and_intervals_are_sacrebleus_within_chance(
    name: str, kind: str, test: Callable[..., Any], draws: int, rule: dict[str, str]
):
    make, peer = OF_SACREBLEU[name]
    ours = test(counted(make), "base", draws, **rule)
    _, found = PairedTest(list(OUTPUTS.items()), {name: peer()}, [REFERENCES], kind, n_samples=draws)()
    (results,) = (column for heading, column in found.items() if heading != "System")
    p_values = []
    for system, result in zip(OUTPUTS, results, strict=True):
        comparison = ours[system][name]
        assert 100 * comparison.score == pytest.approx(result.score, abs=1e-9)
        if kind == "bs":
            half = 50 * (comparison.high - comparison.low)
            # The standard error of an end is 0.085 deviations, and an end lies 1.96 deviations from the mean.
            assert half == pytest.approx(result.ci, rel=0.15)
            assert 100 * comparison.mean == pytest.approx(result.mean, abs=0.1 * float(result.ci))
            assert comparison.low < comparison.mean < comparison.high
        else:
            assert comparison[2:] == (None, None, None)
        if system == "base":
            assert comparison.p_value is None
            continue
        error = (2 * result.p_value * (1 - result.p_value) / draws) ** 0.5
        assert comparison.p_value == pytest.approx(result.p_value, abs=4 * error + 2 / draws)
        p_values.append(result.p_value)
    assert min(p_values) < 0.01
    assert any(0.1 < p_value < 0.9 for p_value in p_values), "chance agrees with anything at the ends"


def _by_resampling(differences: np.ndarray, draws: int) -> float:
    """The paired bootstrap over means, on the differences of segments."""
    drawn = np.random.default_rng(99).integers(len(differences), size=(draws, len(differences)))
    means = differences[drawn].mean(1)
    return (sum(abs(means - means.mean()) >= abs(differences.mean())) + 1) / (draws + 1)


def _by_swapping(differences: np.ndarray, draws: int) -> float:
    """Approximate randomization over means, on the differences of segments: to swap one is to turn its sign."""
    signs = np.random.default_rng(99).choice([-1, 1], (draws, len(differences)))
    return (sum(abs((signs * differences).mean(1)) >= abs(differences.mean())) + 1) / (draws + 1)


@pytest.mark.parametrize(
    ("test", "plain"), [(paired_bootstrap, _by_resampling), (paired_approximate_randomization, _by_swapping)], ids=TESTS
)
def test_means_over_segments_and_every_value_are_tested(test: Callable[..., Any], plain: Callable[..., float]):
    """ROUGE: precision, recall and F of two keys, each with its own p-value, against draws of scores of rouge_score."""
    scorer = RougeScorer(TWO_KEYS["rouge_keys"])
    scored = {
        name: [scorer.score(target, line) for target, line in zip(REFERENCES, lines, strict=True)]
        for name, lines in OUTPUTS.items()
    }
    found = test(counted(ROUGEScore, **TWO_KEYS), "base", 2000)
    for name, value in product(("alike", "close", "far"), found["far"]):
        key, part = value.split("_")
        ours, base = (np.array([getattr(scores[key], part) for scores in scored[each]]) for each in (name, "base"))
        expected = plain(ours - base, 2000)
        assert found[name][value].score == pytest.approx(ours.mean(), abs=1e-12)
        error = (2 * expected * (1 - expected) / 2000) ** 0.5
        assert found[name][value].p_value == pytest.approx(expected, abs=4 * error + 1e-3)
    assert len(found["far"]) == 6


@each_test
def test_either_of_two_systems_may_be_the_baseline(test: Callable[..., Any]):
    """With the same draws, to the last digit."""
    systems = counted(ROUGEScore, **TWO_KEYS)
    found = {baseline: test(systems, baseline, 300) for baseline in systems}
    for first, second in combinations(systems, 2):
        for value, comparison in found[first][second].items():
            assert comparison.p_value == found[second][first][value].p_value
            assert comparison.score == found[second][second][value].score
    p_values = {found[first][second]["rouge1_fmeasure"].p_value for first, second in combinations(systems, 2)}
    assert len(p_values) > 3


@each_test
def test_ignites_metrics_are_tested_alike(test: Callable[..., Any]):
    systems = {name: for_ignite.ChrF(confidence=0.95) for name in OUTPUTS}
    for name, metric in systems.items():
        metric.update((OUTPUTS[name], REFERENCES))
    assert test(systems, "base", 100) == test(counted(ChrF), "base", 100)


@pytest.mark.parametrize("make", [Bleu, ChrF, NgramOverlap, partial(ROUGEScore, rouge_keys=["rougeL"])])
@each_test
def test_segments_in_another_order_are_refused(test: Callable[..., Any], make: Callable[..., Any]):
    """Else a system that is the baseline with its lines sorted would not differ by more than chance."""
    lines, targets = zip(*sorted(zip(OUTPUTS["base"], REFERENCES, strict=True)), strict=True)
    systems = {
        **counted(make, {"base": OUTPUTS["base"]}),
        **counted(make, {"sorted": lines}, targets),
    }
    with pytest.raises(ValueError, match=r"^segment \d+ has another reference in 'sorted' than in 'base' \(reference_"):
        test(systems, "base", 40)


SYSTEMS = counted(ChrF)
SHORT = counted(ChrF, {"short": OUTPUTS["base"][:7]})
DOUBLED = counted(ChrF, {"doubled": OUTPUTS["base"]}, [[reference, "x"] for reference in REFERENCES])


@pytest.mark.parametrize(
    ("systems", "error", "words"),
    [
        (SYSTEMS | SHORT, ValueError, "'short' has 7 segments and 'base' has 150: expected the same segments"),
        (SYSTEMS | DOUBLED, ValueError, r"'doubled' was scored as nrefs:2\|.*, and 'base' as nrefs:1\|"),
        (
            SYSTEMS | {"b": ChrF(beta=1.0, confidence=0.95)},
            ValueError,
            "'b' is a metric whose settings differ from 'base'",
        ),
        ({"base": ChrF(confidence=0.95)}, ValueError, "'base' has counted no segment"),
        (
            {"base": ChrF()},
            ValueError,
            r"this ChrF keeps only sums, not the counts of each segment: construct it with confidence=0\.95",
        ),
        ({"base": 1}, TypeError, "system 'base' is an int: expected a metric object of this package, such as ChrF"),
        ({"base": ChrF}, TypeError, "system 'base' is the class ChrF: expected a metric object of this package"),
        (SYSTEMS | {"b": 0.5}, TypeError, "system 'b' is a float: expected a metric object"),
        (list(SYSTEMS.values()), TypeError, "systems is a list: expected a mapping of names to metrics"),
    ],
    ids=range(9),
)
@each_test
def test_systems_that_cannot_be_compared_are_refused(test: Any, systems: Any, error: type[Exception], words: str):
    with pytest.raises(error, match=f"^{words}"):
        test(systems, "base")


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"baseline": "x"}, ValueError, r"unknown baseline 'x': expected one of \['base', 'alike', 'close', 'far'\]"),
        ({"seed": -(2**70)}, ValueError, r"seed is too large: expected an integer from -2\^63 to 2\^64 - 1$"),
        ({"correction": "x"}, ValueError, "unknown correction 'x': expected one of .'holm', 'none', None."),
        (
            {"clusters": ["a"] * 149},
            ValueError,
            "clusters has 149 labels and 'base' has 150 segments: expected one label for each segment",
        ),
        ({"clusters": ["x"] * 150}, ValueError, "clusters has the same label for all 150 segments, 'x': expected at "),
        (
            {"clusters": list(torch.arange(150))},
            TypeError,
            r"label 0 of clusters is tensor\(0\): expected a hashable object, ",
        ),
    ],
    ids=range(6),
)
@each_test
def test_wrong_options_are_refused(test: Any, options: dict[str, Any], error: type[Exception], words: str):
    arguments = {"systems": SYSTEMS, "baseline": "base", **options}
    with pytest.raises(error, match=f"^{words}"):
        test(**arguments)


#: The fewest draws that each test takes.
LEAST_DRAWS = {paired_bootstrap: 3, paired_approximate_randomization: 1}


@pytest.mark.parametrize("draws", [0, "10"])
@each_test
def test_too_few_draws_are_refused(test: Any, draws: Any):
    least = LEAST_DRAWS[test]
    with pytest.raises(ValueError, match=rf"must be an integer of at least {least} \(got: {draws!r}\)"):
        test(SYSTEMS, "base", draws)


@each_test
def test_the_fewest_draws_are_taken(test: Any):
    # The ends of an interval of 30 % are two of three draws.
    options = {"confidence": 0.3} if test is paired_bootstrap else {}
    assert test(SYSTEMS, "base", LEAST_DRAWS[test], **options)


def test_a_wrong_confidence_or_alternative_is_refused():
    for resamples, level, words in (
        (1000, 95, "confidence must be between 0 and 1"),
        (20, 0.95, r"confidence must be at most 0\.9, .* that 20 resamples allow \(got: 0\.95\)$"),
    ):
        with pytest.raises(ValueError, match=words):
            paired_bootstrap(SYSTEMS, "base", resamples, level)
    assert paired_bootstrap(SYSTEMS, "base", 2100, 0.999)
    with pytest.raises(ValueError, match=r"unknown alternative 'less': expected one of \['two-sided', 'sacrebleu'\]"):
        paired_bootstrap(SYSTEMS, "base", alternative="less")


@each_average
def test_equal_resamples_are_no_evidence(average: str):
    """Sixty times one segment: every resample has the measured difference, which tells nothing about its spread."""
    outputs = {"base": ["the cat sat on mat"] * 60, "better": ["the cat sat on the mat"] * 60}
    systems = counted(ChrF, outputs, ["the cat sat on the mat."] * 60, average=average)
    assert paired_bootstrap(systems, "base", 100)["better"]["chrf"].p_value == 1
    assert paired_bootstrap(systems, "base", 100, alternative="sacrebleu")["better"]["chrf"].p_value == 1 / 101


@each_average
def test_systems_that_differ_in_one_segment_do_not_differ_by_more_than_chance(average: str):
    """Each swap gives the measured difference, one way or the other, whatever the last bits of its sum.

    A resample has the segment as often as chance has it, so that some resamples differ, and no difference is certain.
    A system beside them that is the baseline itself changes nothing.
    """
    for changed in range(8):
        lines = list(OUTPUTS["base"])
        lines[changed] = "so it is."
        outputs = {"base": OUTPUTS["base"], "same": OUTPUTS["base"], "one": lines}
        systems = counted(ChrF, outputs, average=average)
        assert paired_approximate_randomization(systems, "base", 500)["one"]["chrf"].p_value == 1
        found = paired_bootstrap(systems, "base", 500)["one"]["chrf"].p_value
        assert 0.05 < found < 0.9


@each_average
@each_test
def test_identical_systems_do_not_differ(test: Callable[..., Any], average: str):
    """Where sacrebleu gives 1 / (n + 1), as if they surely did."""
    outputs = {"base": OUTPUTS["base"], "same": list(OUTPUTS["base"])}
    for make in (Bleu, ChrF, NgramOverlap):
        for comparison in test(counted(make, outputs, average=average), "base")["same"].values():
            assert comparison.p_value == 1
    _, found = PairedTest(list(outputs.items()), {"chrf": CHRF()}, [REFERENCES], "bs", n_samples=100)()
    assert found["chrF2"][1].p_value == pytest.approx(1 / 101)


@each_test
def test_the_tolerance_for_rounding_is_relative(test: Callable[..., Any]):
    """What is rounding depends on the scores: these are about 1e-20."""
    options = {"average": "macro", "smooth": "floor", "smooth_value": 1e-27, "weights": [0.25, 0, 0, 0.75]}
    outputs = {"base": ["x"] * 60, "small": ["a b c d"] * 30 + ["x"] * 30}
    found = test(counted(Bleu, outputs, ["a y"] * 60, **options), "base", 200)["small"]["bleu"]
    assert 0 < found.score < 1e-18
    assert found.p_value == 1 / 201


def test_a_difference_equal_but_for_rounding_counts_except_under_sacrebleus_rule():
    """Two of 60 segments are right. If two resamples draw them a and b times, (a - b) / 2 is compared with 2."""
    systems = counted(NgramOverlap, {"none": ["x"] * 60, "some": ["w"] * 2 + ["x"] * 58}, ["w"] * 60)
    ties = 0
    rows = np.stack([metric.segment_rows().numpy() for metric in systems.values()], 1)
    tested = pair_rows(systems["none"].scorer.measure, "macro", rows)
    for seed in range(200):
        (scores,) = resample_scores([tested], 2, seed)
        apart = round(60 * abs(scores[0, 1] - scores[1, 1]).item())
        ties += apart == 4
        (p_value,) = bootstrap_p_values(tested, scores, "sacrebleu")
        assert p_value.item() == pytest.approx((1 + (apart > 4)) / 3)
        # Both are (a - b) / 2 from their mean.
        (p_value,) = bootstrap_p_values(tested, scores)
        assert p_value.item() == pytest.approx(1 if apart == 0 else (1 + 2 * (apart >= 4)) / 3)
    assert ties > 5


def test_scores_that_are_equal_but_for_rounding_do_not_differ():
    """One system's segments in the other's order: their means differ in the last bit at most.

    With several references nobody can tell from the counts that the segments are others.
    """
    order = random.Random(5).sample(range(150), 150)
    targets = [[reference, reference] for reference in REFERENCES]
    systems = counted(ChrF, {"base": OUTPUTS["far"]}, targets, average="macro")
    moved = {"moved": [OUTPUTS["far"][place] for place in order]}
    systems |= counted(ChrF, moved, [targets[place] for place in order], average="macro")
    for test in TESTS.values():
        assert test(systems, "base")["moved"]["chrf"].p_value == 1


def test_the_bootstrap_warns_below_fifty_segments_and_randomization_never():
    few, enough = (counted(ChrF, {name: lines[:count] for name, lines in OUTPUTS.items()}) for count in (49, 50))
    with pytest.warns(UserWarning, match=r"^a bootstrap test needs at least 50 segments \(got: 49\)"):
        paired_bootstrap(few, "base", 40)
    paired_bootstrap(enough, "base", 40)
    paired_approximate_randomization(few, "base", 10)


@pytest.mark.parametrize("name", OF_SACREBLEU)
def test_intervals_of_differences_are_those_of_resampled_counts_of_sacrebleu(name: str):
    make, peer_class = OF_SACREBLEU[name]
    peer = peer_class()
    draws = np.random.default_rng(7).integers(150, size=(2000, 150))

    def resampled(lines: list[str]) -> np.ndarray:
        counts = np.array(peer._extract_corpus_statistics(lines, [REFERENCES]))
        return np.array([peer._compute_score_from_stats(counts[draw].sum(0).tolist()).score for draw in draws]) / 100

    found = evaluate(OUTPUTS, REFERENCES, {name: make()}).results
    for system in ("alike", "close", "far"):
        result = found[system][name]
        expected = resampled(OUTPUTS[system]) - resampled(OUTPUTS["base"])
        # The standard error of an end is 0.085 deviations of 1,000 draws.
        ends = np.quantile(expected, [0.025, 0.975])
        error = 0.4 * expected.std()
        assert [result.difference_low, result.difference_high] == pytest.approx(ends, abs=error)
        assert result.difference_low < result.difference < result.difference_high
    assert found["base"][name].difference_low is found["base"][name].difference_high is None


@pytest.mark.parametrize("draw", [swaps, bootstrap_weights])
@pytest.mark.parametrize("huge", [0, 1 << 17, 1 << 24])
def test_sums_are_exact_whatever_the_size_of_counts(draw: Any, huge: int):
    rows = np.stack([metric.segment_rows().numpy() for metric in counted(ChrF).values()], 1)
    rows[7, 1] += huge + 1
    tested = pair_rows(ChrF().scorer.measure, "micro", rows)
    assert np.array_equal(np.sort(tested.values, 0), np.sort(rows, 0))
    weights = next(draw(150, 100, 1))
    expected = np.einsum("dc,csw->dsw", weights.astype(object), tested.values.astype(object))
    ((sums, segments),) = tested.blocks(weights)
    assert np.array_equal(sums, expected.astype(float))
    assert np.array_equal(segments[:, 0], weights.sum(1))


def holm(p_values: list[float]) -> list[float]:
    """Holm's correction: p-value i of n, ascending, times n - i; then at least those before it, and at most 1."""
    ordered = sorted(p_values)
    products = [(p_value, (len(ordered) - index) * p_value) for index, p_value in enumerate(ordered)]
    return [min(1.0, max(product for other, product in products if other <= p_value)) for p_value in p_values]


def test_holms_correction_is_that_of_the_paper():
    """Worked by hand: .01 x 4, .02 x 3, then .03 x 2 and .04 x 1, which is raised to .06; and none is above 1."""
    chances = np.array([[0.04, 0.9], [0.01, 0.6], [0.03, 0.6], [0.02, 1]])
    assert correct(chances, "holm") == pytest.approx(np.array([[0.06, 1], [0.04, 1], [0.06, 1], [0.06, 1]]))


@each_test
def test_each_value_is_corrected_for_the_number_of_systems_without_the_baseline(test: Any):
    systems = counted(ROUGEScore, **TWO_KEYS)
    plain, same, corrected = (test(systems, "close", 400, correction=kind) for kind in (None, "none", "holm"))
    assert same == plain
    others = ["base", "alike", "far"]
    for value in plain["base"]:
        expected = holm([plain[name][value].p_value for name in others])
        assert [corrected[name][value].p_value for name in others] == pytest.approx(expected, abs=1e-15)
        assert corrected["close"][value] == plain["close"][value]
        assert corrected["far"][value]._replace(p_value=None) == plain["far"][value]._replace(p_value=None)
    assert any(plain[name][value].p_value != corrected[name][value].p_value for name in others for value in plain[name])


#: Of different sizes, and not side by side.
DOCUMENTS = [f"document {index % 60 % 53}" for index in range(150)]
#: Rows that are means over references and no counts.
MEANS = partial(ROUGEScore, rouge_keys="rougeL", accumulate="avg")


@pytest.mark.filterwarnings("ignore:a bootstrap test needs at least 50")
@pytest.mark.parametrize(
    ("make", "average"),
    [
        (Bleu, "micro"),
        (ChrF, "macro"),
        (TWO_VALUES, "macro"),
        pytest.param(Bleu, "macro", marks=pytest.mark.slow),
        pytest.param(ChrF, "micro", marks=pytest.mark.slow),
        pytest.param(TWO_VALUES, "micro", marks=pytest.mark.slow),
    ],
)
@example(labels=[1, 0])
@example(labels=[*range(30, 60), *range(30)])
@fewer(5)
@given(labels=st.integers(1, 60).flatmap(lambda size: st.permutations(range(size))))
def test_documents_of_one_segment_change_nothing_to_the_last_bit(make: Any, average: str, labels: list[int]):
    systems = counted(make, {name: lines[: len(labels)] for name, lines in OUTPUTS.items()}, average=average)
    for test in TESTS.values():
        assert test(systems, "base", 50, clusters=labels) == test(systems, "base", 50)


@each_average
@pytest.mark.parametrize("make", METRICS)
def test_the_bootstrap_draws_what_an_interval_draws(make: Any, average: str):
    """Of one system, whose rows are then in the same order, and which has no p-value to correct."""
    metric = counted(make, average=average, confidence=0.9)["base"]
    expected = metric.compute()
    for value, found in paired_bootstrap({"base": metric}, "base", confidence=0.9, correction="holm")["base"].items():
        ends = [expected[f"{value}_{end}"].item() for end in ("low", "high")]
        assert [found.low, found.high] == pytest.approx(ends, abs=1e-12)


@pytest.mark.parametrize("average", ["micro", pytest.param("macro", marks=pytest.mark.slow)])
@pytest.mark.parametrize("sizes", [[1, 2, 3, 4, 5], [1] * 5], ids=["documents", "segments"])
def test_the_randomization_of_few_documents_is_that_of_all_swaps_of_whole_documents(sizes: list[int], average: str):
    """The exact share, over all 2^5 swaps, of differences as large."""
    labels = [document for document, size in enumerate(sizes) for _ in range(size)]
    outputs = {name: lines[: len(labels)] for name, lines in OUTPUTS.items()}
    targets = REFERENCES[: len(labels)]
    peer = CHRF()
    clusters = None if max(sizes) == 1 else labels
    ours = paired_approximate_randomization(counted(ChrF, outputs, average=average), "base", 4000, clusters=clusters)

    def score(lines: list[str]) -> float:
        if average == "micro":
            return peer.corpus_score(lines, [targets]).score
        return np.mean(
            [peer.sentence_score(*pair).score for pair in zip(lines, [[one] for one in targets], strict=True)]
        )

    def difference(name: str, swapped: tuple[bool, ...]) -> float:
        pair = (outputs[name], outputs["base"])
        mixed = [[pair[number ^ swapped[label]][place] for place, label in enumerate(labels)] for number in range(2)]
        return abs(score(mixed[0]) - score(mixed[1]))

    for name in ("alike", "close", "far"):
        all_swaps = [difference(name, swapped) for swapped in product((False, True), repeat=5)]
        share = sum(one >= all_swaps[0] - 1e-7 for one in all_swaps) / len(all_swaps)
        error = (share * (1 - share) / 4000) ** 0.5
        assert ours[name]["chrf"].p_value == pytest.approx(share, abs=4 * error + 1e-3)


@each_test
@pytest.mark.parametrize(
    ("make", "average"),
    [
        (Bleu, "micro"),
        (MEANS, "macro"),
        pytest.param(Bleu, "macro", marks=pytest.mark.slow),
        pytest.param(ChrF, "micro", marks=pytest.mark.slow),
        pytest.param(ChrF, "macro", marks=pytest.mark.slow),
        pytest.param(TWO_VALUES, "micro", marks=pytest.mark.slow),
        pytest.param(TWO_VALUES, "macro", marks=pytest.mark.slow),
    ],
)
def test_neither_the_order_of_segments_nor_the_names_of_documents_matter(test: Any, make: Any, average: str):
    systems = counted(make, average=average)
    alone = test(systems, "base", 100)
    whole = test(systems, "base", 100, clusters=DOCUMENTS)
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
def test_the_order_of_documents_with_equal_counts_is_irrelevant(
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
    told = rf"^a bootstrap test needs at least 50 {unit} \(got: {count}\): with fewer, its p-values"
    with pytest.warns(UserWarning, match=told) as seen:
        assert paired_bootstrap(systems, "base", clusters=documents)["better"]["chrf"].p_value >= least
    assert [warning.filename for warning in seen] == [__file__]
