"""What n-gram overlap says in numbers to look at."""

from measures import MEASURES

OVERLAP = MEASURES["overlap"]


def test_each_of_equal_n_grams_counts_once():
    """An n-gram of one side is the partner of one of the other side, and of no more."""
    assert OVERLAP.scored({"ngram": 1}, [(list("aaab"), [list("ac")])], "none").tolist() == [2 * 1 / 6]
    assert OVERLAP.scored({"ngram": 1}, [(list("aaaa"), [list("aab")])], "none").tolist() == [2 * 2 / 7]
    assert OVERLAP.scored({"ngram": 2}, [(list("aaaa"), [list("aab")])], "none").tolist() == [2 * 1 / 5]


def test_of_equally_good_references_the_first_counts():
    hypothesis, few, many = "abcd", "abxy", "abcdpqrsxyzw"
    for references, expected in (
        ([few, many], [2, 4, 4]),
        ([many, few], [4, 4, 12]),
        (["", "x", many, few], [4, 4, 12]),
    ):
        statistics = OVERLAP.statistics({}, [(list(hypothesis), list(map(list, references)))])
        assert [field.item() for field in statistics] == expected
