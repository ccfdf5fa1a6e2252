"""Scores of summed columns: those of `functional` for each group, whatever the partition, the order and the engine."""

import math
from fractions import Fraction
from typing import Any

import pyarrow
import pytest
import torch
from column_tables import COLUMNS, ENGINES, METRICS, arrow, by_group, records
from draws import examples, fewer
from hypothesis import example, given
from hypothesis import strategies as st

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore, Ter, functional
from ngram_metrics._core.metrics.registry import make_metric
from ngram_metrics.columns import StatisticsColumns
from ngram_metrics.columns.metric_columns import MOST_SCORES, join_scores, split_scores

_texts = st.lists(st.sampled_from(["the", "cat", "sat", "on", "a", "mat", ".", "sits"]), max_size=8).map(" ".join)
_segments = st.lists(
    st.tuples(st.integers(0, 2), _texts, st.lists(_texts, min_size=1, max_size=3)), min_size=1, max_size=12
)


def expected(hypotheses: list[str], references: list[list[str]]) -> dict[str, tuple[float, str]]:
    """The values of each metric, and its average."""
    found: dict[str, tuple[float, str]] = {}
    for name, (case, average) in METRICS.items():
        value = case.function(average, (hypotheses, references))
        several = {f"{name}_{key}": one for key, one in value.items()} if isinstance(value, dict) else {name: value}
        found |= {key: (one.item(), average) for key, one in several.items()}
    return found


@pytest.mark.filterwarnings("ignore:the references:UserWarning")
@fewer(3)
@given(segments=_segments, data=st.data())
def test_any_partition_order_and_engine_gives_the_scores_of_functional_to_the_last_bit(segments: list, data: Any):
    groups, hypotheses, references = map(list, zip(*segments, strict=True))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(segments)), max_size=3)))
    shuffled = data.draw(st.permutations(segments))
    parts = [
        arrow(*zip(*part, strict=True))
        for start, end in zip([0, *cuts], [*cuts, len(segments)], strict=True)
        if (part := shuffled[start:end])
    ]
    whole = by_group(COLUMNS.scores(COLUMNS(arrow(groups, hypotheses, references)), by=["same", "group"]))
    partial = data.draw(st.booleans())
    counted = [COLUMNS.sums(part, by=["group", "same"]) if partial else COLUMNS(part) for part in parts]
    for engine, add in ENGINES.items():
        sums = add(counted, COLUMNS.names)
        assert by_group(COLUMNS.scores(sums, by=["same", "group"])) == whole, engine
        if engine != "columns":
            assert by_group(COLUMNS.scores(sums)) == whole, engine
    for group, row in whole.items():
        places = [place for place, label in enumerate(groups) if label == group]
        assert row.pop("segments") == len(places)
        scores = expected([hypotheses[place] for place in places], [references[place] for place in places])
        assert row.keys() == scores.keys()
        for name, (score, average) in scores.items():
            assert row[name] == score if average == "micro" else abs(row[name] - score) <= 1e-15 * max(1, score), name


def test_names_and_values_are_those_of_the_metrics():
    metrics = {"bleu": Bleu(), "chrf": ChrF(), "overlap": NgramOverlap(average="micro")}
    columns = StatisticsColumns(metrics, "mt", "ref")
    assert columns.names[:11] == [
        "segments",
        *(f"bleu_matches_{order}" for order in range(1, 5)),
        *(f"bleu_totals_{order}" for order in range(1, 5)),
        *("bleu_hypothesis_length", "bleu_reference_length"),
    ]
    assert len(StatisticsColumns({"bleu": Bleu(), "chrf": ChrF()}, "mt", "ref").names) == 29
    assert columns.names[-3:] == ["overlap_matches", "overlap_hypothesis_totals", "overlap_reference_totals"]
    rouge = StatisticsColumns({"r": ROUGEScore(rouge_keys="rougeL")}, "mt", "ref")
    assert rouge.names[1:3] == ["r_rougeL_fmeasure_high_bits", "r_rougeL_fmeasure_low_bits"]
    (row,) = records(rouge.scores(rouge.sums({"mt": ["a b"], "ref": ["a"]})))
    assert row == {
        "segments": 1,
        "r_rougeL_fmeasure": pytest.approx(2 / 3, abs=1e-16),
        "r_rougeL_precision": 0.5,
        "r_rougeL_recall": 1,
    }


def test_a_value_of_rouge_and_a_scorer_are_metrics_too():
    metrics = {"F": ROUGEScore()["rougeL_fmeasure"], "chrf": make_metric("chrf")}
    columns = StatisticsColumns(metrics, "mt", "ref")
    assert columns.names[1:3] == ["F_high_bits", "F_low_bits"]
    (row,) = records(columns.scores(columns.sums({"mt": ["a b"], "ref": ["a"]})))
    chrf = functional.chrf_score(["a b"], ["a"]).item()
    assert row == {"segments": 1, "F": pytest.approx(2 / 3, abs=1e-16), "chrf": chrf}


#: Those below 2^-10 have bits that are rounded away.
_scores = st.floats(0, 2, exclude_max=True) | st.integers(0, 2**53).map(lambda bits: bits * 2.0**-65)


_bounds = (0.0, 1.0, math.nextafter(2, 0), 2.0**-10, 2.0**-62, 0.75 * 2.0**-62, 1.5 * 2.0**-62)


@pytest.mark.parametrize("bits", [62, 51])
@examples(*({"score": score} for score in _bounds))
@given(score=_scores)
def test_the_parts_of_a_score_are_its_nearest_integer_and_fit_the_largest_sum(bits: int, score: float):
    """Scores that may be higher, up to 2,048 times, have fewer bits behind the point."""
    highest = 2 ** (63 - bits)
    score *= highest / 2
    parts = split_scores(torch.tensor(score, dtype=torch.float64), highest)
    high, low = parts.tolist()
    assert (high << 31) + low == round(Fraction(score) * 2**bits)
    assert max(high, low) * MOST_SCORES < 2**63
    found = join_scores(parts, highest).item()
    assert found == score if score == 0 or score >= highest * 2.0**-11 else abs(found - score) <= highest * 2.0**-64


def test_the_macro_average_of_ter_may_be_above_1():
    columns = StatisticsColumns({"ter": Ter(average="macro")}, "mt", "ref")
    rows = {"mt": ["a b c d e f g h i", "a", "a b"], "ref": ["x", "a b", "a b c"]}
    (found,) = records(columns.scores(columns.sums(rows)))
    assert found == {"segments": 3, "ter": pytest.approx((9 + 1 / 2 + 1 / 3) / 3, abs=1e-15)}
    with pytest.raises(ValueError, match=r"^row 1 has the ter 4096\.0: expected a score from 0 to below 4096$"):
        columns({"mt": ["a", "b " * 4096], "ref": ["a", "a"]})


@example(scores=[1.0] * 9, times=MOST_SCORES // 9)
@given(scores=st.lists(st.floats(0, 1), min_size=1, max_size=9), times=st.integers(1, MOST_SCORES // 9))
def test_a_mean_is_that_of_exact_arithmetic(scores: list[float], times: int):
    sums = split_scores(torch.tensor(scores, dtype=torch.float64), 2).sum(0) * times
    mean = join_scores(sums, 2).item() / (times * len(scores))
    assert abs(Fraction(mean) - sum(map(Fraction, scores)) / len(scores)) <= Fraction(1, 10**15)


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_the_mean_of_the_most_scores_that_are_0_or_1_is_exact(score: float):
    columns = StatisticsColumns({"bleu": Bleu(ngram=1)}, "mt", "ref")
    counted = columns.sums({"mt": ["a"], "ref": ["a" if score else "b"]})
    largest = {name: column * MOST_SCORES for name, column in counted.items()}
    assert records(columns.scores(largest)) == [{"segments": MOST_SCORES, "bleu": score}]


def test_a_group_is_scored_alike_among_few_and_many_groups():
    segments = [(f"{'a ' * (n % 7)}b c d e {n}", f"a b c d e {n % 5}") for n in range(700)]
    table = pyarrow.table({"mt": [hypothesis for hypothesis, _ in segments], "refs": [[two] for _, two in segments]})
    counted = COLUMNS(table)
    whole = records(COLUMNS.scores(counted.select(COLUMNS.names)))
    alone = [records(COLUMNS.scores(counted.slice(n, 1).select(COLUMNS.names)))[0] for n in range(0, 700, 37)]
    assert alone == whole[::37]


def test_a_batch_whose_references_are_all_empty_has_references():
    columns = StatisticsColumns({"bleu": Bleu(), "ter": Ter()}, "mt", "ref")
    among, alone = columns({"mt": ["a b", "c"], "ref": ["", "c"]}), columns({"mt": ["a b"], "ref": [""]})
    assert [among[name][0] for name in columns.names] == [alone[name][0] for name in columns.names]
