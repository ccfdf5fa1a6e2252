"""All pairs of systems: each tested against each, with p-values corrected for their number."""

import pickle
from itertools import combinations, permutations
from typing import Any

import pytest
from oracles import holm
from paired import OUTPUTS, REFERENCES, counted
from systems import output

from ngram_metrics import ChrF, NgramOverlap, ROUGEScore
from ngram_metrics._core.basics.output import Progress
from ngram_metrics._core.scoring.resampling import swaps
from ngram_metrics.significance import (
    PValue,
    comparisons,
    matrix,
    p_values,
    paired_approximate_randomization,
    paired_bootstrap,
    paired_systems,
)

TESTS = {"bootstrap": paired_bootstrap, "randomization": paired_approximate_randomization}
each_test = pytest.mark.parametrize("test", TESTS)


@each_test
def test_each_value_is_corrected_for_the_number_of_systems_without_the_baseline(test: str):
    systems = counted(ROUGEScore, rouge_keys=("rouge1", "rougeL"))
    plain, corrected = (TESTS[test](systems, "close", 400, correction=kind) for kind in (None, "holm"))
    others = ["base", "alike", "far"]
    for value in plain["base"]:
        expected = holm([plain[name][value].p_value for name in others])
        assert [corrected[name][value].p_value for name in others] == pytest.approx(expected, abs=1e-15)
        assert corrected["close"][value] == plain["close"][value]
        assert corrected["far"][value]._replace(p_value=None) == plain["far"][value]._replace(p_value=None)
    assert any(plain[name][value].p_value != corrected[name][value].p_value for name in others for value in plain[name])


@pytest.mark.parametrize("average", ["micro", "macro"])
@each_test
def test_a_matrix_is_every_system_tested_against_every_other(test: str, average: str):
    """With the same draws to the last digit, whichever of the two is the baseline.

    A pair of the randomization that is not significant stops where 500 draws have counted.
    """
    systems = counted(ROUGEScore, rouge_keys=("rouge1", "rougeL"), average=average)
    most = {"bootstrap": 1200, "randomization": 10_000}[test]
    found = matrix(systems, test, correction=None)
    assert len(found) == 6
    for baseline in systems:
        expected = TESTS[test](systems, baseline, most)
        for value, table in found.items():
            assert list(table) == list(systems)
            assert table[baseline].keys() == systems.keys() - {baseline}
            for name, p_value in table[baseline].items():
                if p_value.draws == most:
                    assert p_value == expected[name][value].p_value
                else:
                    assert p_value == 500 / p_value.draws
                    assert test == "randomization"


def test_a_pair_stops_at_the_draw_that_is_the_500th_to_count():
    systems = counted(ROUGEScore, rouge_keys="rougeL")
    (far, *_), *stopped = sorted(
        (p_value.draws, value, one, other, p_value)
        for value, table in matrix(systems, correction=None).items()
        for one, other in combinations(systems, 2)
        for p_value in [table[one][other]]
    )[::-1]
    assert far == 10_000
    stopped = [entry for entry in stopped if entry[0] < far]
    assert len(stopped) >= 6
    for draws, value, one, other, p_value in stopped[::2]:
        for last, counts in ((0, 499), (1, 500)):  # without the draw at which it stops, and with it
            found = paired_approximate_randomization(systems, one, draws - 1 + last)[other][value].p_value
            assert found == (counts + 1) / (draws + last)
        assert p_value == 500 / draws


def test_the_draws_of_a_p_value_are_beside_it():
    p_value = pickle.loads(pickle.dumps(matrix(counted(ChrF))["chrf"]["base"]["far"]))
    assert (type(p_value), p_value.draws) == (PValue, 10_000)
    assert p_value == matrix(counted(ChrF))["chrf"]["base"]["far"]


@each_test
def test_twice_the_systems_take_as_many_draws_for_a_pair(test: str, monkeypatch: pytest.MonkeyPatch):
    """They have 4.2 times as many pairs, none of which is significant; draws for all pairs would take 18 times."""
    scored = []
    score = paired_systems.Paired.score
    monkeypatch.setattr(
        paired_systems.Paired, "score", lambda *given: scored.append(given[1][..., 0].numel()) or score(*given)
    )
    rows = []
    for size in (12, 24):
        systems = counted(ChrF, {str(seed): output(REFERENCES[:60], 0.3, seed) for seed in range(size)})
        scored.clear()
        matrix(systems, test)
        rows.append(sum(scored))
    assert rows[1] < 5 * rows[0]
    assert rows[1] <= {"randomization": 2 * 276 * 5_000, "bootstrap": 24 * 25_001}[test]


@each_test
def test_a_bar_counts_the_draws(test: str, monkeypatch: pytest.MonkeyPatch):
    bars = []

    class Bar(Progress):
        def __init__(self, unit: str, total: int) -> None:
            super().__init__(unit, total)
            bars.append([unit, total])

        def update(self, count: int) -> None:
            super().update(count)
            bars[-1].append(count)

    monkeypatch.setattr(comparisons, "Progress", Bar)
    matrix(counted(ChrF), test)
    ((unit, total, *counts),) = bars
    assert (unit, total, sum(counts)) == ("draws", *[{"bootstrap": 1200, "randomization": 10_000}[test]] * 2)


def test_the_default_is_randomization_with_holms_correction_over_pairs():
    systems = counted(ChrF)
    plain, corrected = matrix(systems, "randomization", None)["chrf"], matrix(systems)["chrf"]
    pairs = list(combinations(systems, 2))
    assert [corrected[a][b] for a, b in pairs] == pytest.approx(holm([plain[a][b] for a, b in pairs]))
    assert all(corrected[a][b] == corrected[b][a] for a, b in permutations(systems, 2))
    assert matrix(systems, seed=1) != matrix(systems)


@each_test
def test_many_pairs_are_drawn_for_often_enough_to_be_significant(test: str):
    """Of 120 pairs, 1,000 draws would never find one: 120 / 1,001 > .05. A pair that is not significant stops."""
    outputs = {str(number): output(REFERENCES[:60], 0.06 * number, seed=number) for number in range(16)}
    systems = counted(NgramOverlap, outputs)
    plain, corrected = (matrix(systems, test, kind)["ngram_overlap"] for kind in (None, "holm"))
    draws = 200 * 120
    for table in plain.values():
        for p_value in table.values():
            if p_value.draws < draws:
                assert p_value == 500 / p_value.draws
            else:
                assert p_value * (draws + 1) == pytest.approx(round(p_value * (draws + 1)), abs=1e-6)
                assert test == "bootstrap" or p_value * (draws + 1) < 501
    assert corrected["0"]["15"] == pytest.approx(120 / (draws + 1))


@each_test
def test_parts_of_draws_and_pairs_give_the_p_values_of_all_at_once(test: str, monkeypatch: pytest.MonkeyPatch):
    systems = counted(ChrF)
    expected = matrix(systems, test)
    for module in (paired_systems, p_values):
        monkeypatch.setattr(module, "NUMBERS_AT_ONCE", 2000)  # 27 draws, then 4 of 6 pairs of them
    assert matrix(systems, test) == expected


def test_the_sums_of_few_segments_are_not_made_all_at_once():
    """Of two segments all draws fit one block of weights, whose sums would take gigabytes for many systems."""
    tested = paired_systems.pair_systems(
        counted(ChrF, {name: lines[:2] for name, lines in OUTPUTS.items()}), "base", None
    )
    blocks = [sums.numel() for weights in swaps(2, 10_000, 1) for sums in tested.sums(weights)]
    assert len(blocks) > 1
    assert sum(blocks) == 10_000 * tested.values[0].numel()
    assert max(blocks) <= paired_systems.NUMBERS_AT_ONCE


def test_the_bootstrap_of_a_matrix_warns_of_few_segments():
    few = counted(ChrF, {name: lines[:20] for name, lines in OUTPUTS.items()})
    with pytest.warns(UserWarning, match=r"^a bootstrap test needs at least 50 segments \(got: 20\)") as seen:
        matrix(few, "bootstrap")
    assert [warning.filename for warning in seen] == [__file__]
    matrix(few)


def test_what_cannot_be_a_matrix_is_refused():
    systems = counted(ChrF)
    one: dict[str, Any] = {"base": systems["base"]}
    with pytest.raises(ValueError, match=r"expected at least two \(got: \['base'\]\)"):
        matrix(one)
    with pytest.raises(ValueError, match=r"unknown test 'sign': expected one of \['randomization', 'bootstrap'\]"):
        matrix(systems, "sign")
    with pytest.raises(
        ValueError, match=r"unknown correction 'none': expected one of .None, 'holm'.; did you mean None"
    ):
        matrix(systems, correction="none")
    with pytest.raises(TypeError, match="systems is a list: expected a mapping of names to metrics"):
        matrix([systems["base"]])
