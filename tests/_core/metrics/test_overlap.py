"""The overlap against plain Python; tests/functional/test_replacements.py compares it with torch_ngram."""

import oracles
from hypothesis import given
from hypothesis import strategies as st
from layouts import apart
from oracles import close

from ngram_metrics._core.metrics.overlap import make_overlap

documents = st.lists(st.sampled_from("abc"), max_size=9)
batches = st.lists(st.tuples(documents, st.lists(documents, min_size=1, max_size=4)), min_size=1, max_size=5)


@given(batches, st.integers(1, 7))
def test_counts_and_scores_are_those_of_plain_python(batch, ngram):
    """Those of the best reference, the first of equally good ones."""
    expected = []
    for hypothesis, references in batch:
        rows = [oracles.overlap_counts(hypothesis, reference, ngram) for reference in references]
        expected.append(max(rows, key=lambda row: oracles.overlap(*row)))
    scorer, corpus = (make_overlap(ngram=ngram, average=average) for average in ("none", "micro"))
    counted = scorer.count_batch(*apart(batch))
    assert counted.rows.tolist() == list(map(list, expected))
    assert scorer.score(scorer.add_up(counted)).tolist() == close([oracles.overlap(*row) for row in expected])
    assert corpus.score(corpus.add_up(counted)) == close(oracles.overlap(*oracles.summed(expected)))
