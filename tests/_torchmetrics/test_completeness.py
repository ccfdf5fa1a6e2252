"""Every public name has a row in the table of cases: a new metric that lacks one fails here."""

import pytest
from metrics.apis import METRICS, TEXT_ONLY
from metrics.cases import CASES, scores_of
from metrics.ignite_cases import IGNITE_CASES

import ngram_metrics
from ngram_metrics import ignite as for_ignite


@pytest.mark.parametrize("name", METRICS)
def test_every_class_has_rows_for_text_and_for_ids_and_every_average(name: str):
    metric = getattr(ngram_metrics, name)
    rows = [case for case in CASES if case.metric is metric]
    kinds = {False} if metric in TEXT_ONLY else {False, True}
    assert {case.on_ids for case in rows} == kinds, f"add rows of CASES in tests/support/metrics/cases.py for {name}"
    assert {average for case in rows for average in case.tried} == {
        average for case in rows for average in case.averages
    }


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", METRICS)
def test_a_class_has_the_direction_and_the_ends_of_its_measure(name: str):
    """Six words for one are more than 1 where edits are divided by words of references."""
    metric = getattr(ngram_metrics, name)
    counted = metric()
    measure = counted.scorer.measure
    assert metric.higher_is_better is measure.higher_is_better, f"set higher_is_better of {name}"
    counted.update(["birds sing in the old tree"], [["cat"]])
    score = max(map(float, scores_of(counted.compute())))
    assert metric.plot_upper_bound == (None if score > 1 else 1), f"set plot_upper_bound of {name}"


@pytest.mark.parametrize("name", sorted({*for_ignite.__all__} - {"ScoresHandler"}))
def test_every_class_for_ignite_has_a_row(name: str):
    rows = {ignite_case.metric for ignite_case in IGNITE_CASES}
    assert getattr(for_ignite, name) in rows, (
        f"add a row of IGNITE_CASES in tests/support/metrics/ignite_cases.py for {name}"
    )
