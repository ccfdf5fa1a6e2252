"""Flags: each sign of trouble is found, and nothing else."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from report_pages import data_of

from ngram_metrics import evaluate
from ngram_metrics._core.text.reader import encode_tokens
from ngram_metrics._core.text.segments import Segments
from ngram_metrics._evaluation.page.flags import repetitions

EMPTY, SOURCE, REPEATED, LENGTH, FORM = 1, 2, 4, 8, 16


def said_again(words: list[int]) -> int:
    """Runs of up to three words said twice in a row, and four words that were there before."""
    runs = sum(
        words[place : place + order] == words[place + order : place + 2 * order]
        for order in (1, 2, 3)
        for place in range(len(words) - 2 * order + 1)
    )
    fours = [tuple(words[place : place + 4]) for place in range(len(words) - 3)]
    return runs + len(fours) - len(set(fours))


WORDS = st.lists(st.sampled_from("abc"), max_size=12)


@example([([], [])] * 3)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=4))
def test_repetitions_are_those_that_a_loop_finds(pairs):
    hypotheses, references = map(list, zip(*pairs, strict=True))
    batch = encode_tokens(Segments("tokens", hypotheses, references, [1] * len(pairs)))
    assert np.array_equal(repetitions(batch), [said_again(words) for pair in pairs for words in pair])


@pytest.mark.parametrize(
    ("output", "references", "source", "flags"),
    [
        ("it rains", ["it rains"], "es regnet", 0),
        ("", ["it rains"], "es regnet", EMPTY),
        ("  ", ["it rains"], " ", EMPTY),
        ("", [""], "", EMPTY),
        ("es regnet ", ["it rains"], "es regnet", SOURCE),
        ("New York", ["New York City", "New York"], "New York", 0),
        ("it rains rains", ["it rains"], "", REPEATED),
        ("so so la la", ["so so la la", "x"], "", 0),
        ("it is it is it", ["is it is it"], "", REPEATED),
        ("a b c a b c", ["d e f g h"], "", REPEATED),
        ("a b c d x a b c d", ["d e f g h i j"], "", REPEATED),
        ("a b c x a b c", ["d e f g h i j"], "", 0),
        ("a b", ["a b c d"], "", 0),
        ("a b", ["a b c d e"], "", LENGTH),
        ("a b c d", ["a", "a b c"], "", 0),
        ("a b c d e", ["a", "a b c"], "", LENGTH),
        ("it rains rains", ["it rains rains", "it it rains rains"], "", 0),
        ("a a b b", ["a a b c d", "x y z z"], "", REPEATED),
        ("a a b c", ["a a b c d", "x y z z"], "", 0),
        ("Gr\u00f6\u00dfe", ["Gro\u0308\u00dfe"], "", FORM),
        ("Gro\u0308\u00dfe", ["x", "Gr\u00f6\u00dfe"], "", FORM),
        ("Gr\u00f6\u00dfe", ["Gro\u0308\u00dfe", "Gr\u00f6\u00dfe"], "", 0),
        ("Gr\u00f6\u00dfe", ["Gro\u0308sse"], "", 0),
        ("Gr\u00f6\u200b\u00dfe", ["Gr\u00f6\u00dfe"], "", FORM),
        ("Gr\u00f6\u00dfe", ["\ufeffGro\u0308\u00dfe"], "", FORM),
        ("die Gr\u00f6\u00dfe z\u00e4hlt", ["a Gro\u0308\u00dfe x"], "", FORM),
        ("la la la la", ["x"], "la la la la", SOURCE | REPEATED | LENGTH),
    ],
)
@pytest.mark.filterwarnings("ignore:.*another Unicode form", "ignore:.*differ in an invisible character")
def test_an_output_is_flagged_for_what_it_is(tmp_path, output, references, source, flags):
    systems = {"one": [output, "fine", "fine"], "two": ["fine", output, "fine"]}
    evaluate(systems, {"r": [references] * 3}).write_report(tmp_path / "page.html", sources=[source] * 3)
    found = data_of(tmp_path / "page.html")["flags"]["of_systems"]
    assert (int(found[0][0], 32), int(found[1][1], 32)) == (flags, flags)


def test_without_sources_no_output_is_compared_with_one(tmp_path):
    evaluate(["x"], ["y"]).write_report(tmp_path / "page.html")
    assert list(data_of(tmp_path / "page.html")["flags"]["titles"]) == ["1", "4", "8", "16"]
