"""Every public name has a row in the table of cases: a new metric that lacks one fails here."""

import pytest
from metrics.apis import METRICS
from metrics.cases import CASES
from metrics.ignite_cases import IGNITE_CASES

import ngram_metrics
from ngram_metrics import ignite as for_ignite


@pytest.mark.parametrize("name", METRICS)
def test_every_class_has_rows_for_text_and_for_ids_and_every_average(name: str):
    metric = getattr(ngram_metrics, name)
    rows = [case for case in CASES if case.metric is metric]
    assert {case.on_ids for case in rows} == {False, True}, (
        f"add rows of CASES in tests/support/metrics/cases.py for {name}"
    )
    assert {average for case in rows for average in case.tried} == {
        average for case in rows for average in case.averages
    }


@pytest.mark.parametrize("name", sorted({*for_ignite.__all__} - {"ScoresHandler"}))
def test_every_class_for_ignite_has_a_row(name: str):
    rows = {ignite_case.metric for ignite_case in IGNITE_CASES}
    assert getattr(for_ignite, name) in rows, (
        f"add a row of IGNITE_CASES in tests/support/metrics/ignite_cases.py for {name}"
    )
