"""Flags: each sign of trouble is found, and nothing else."""

import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from report_pages import data_of

from ngram_metrics import evaluate
from ngram_metrics._core.text.reader import encode_tokens
from ngram_metrics._core.text.segments import Segments
from ngram_metrics._evaluation.page.flags import count_repetitions

EMPTY, SOURCE, REPEATED, LENGTH, FORM = 1, 2, 4, 8, 16


def said_again(words: list[int]) -> int:
    """Places where up to three words end for the fourth time in a row, or more words for the second time."""
    count = 0
    for period in range(1, len(words) // 2 + 1):
        copies = 4 if period <= 3 else 2
        for end in range(copies * period, len(words) + 1):
            run = words[end - period : end]
            count += words[end - copies * period : end] == run * copies
    return count


WORDS = st.lists(st.sampled_from("ab"), max_size=20)


@example([([], [])] * 3)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=4))
def test_repetitions_are_counted_as_by_a_loop(pairs):
    hypotheses, references = map(list, zip(*pairs, strict=True))
    batch = encode_tokens(Segments("tokens", hypotheses, references, [1] * len(pairs)))
    assert np.array_equal(count_repetitions(batch), [said_again(words) for pair in pairs for words in pair])


#: An output, its references, its source, and its flags.
OUTPUTS = [
    ("it rains", ["it rains"], "es regnet", 0),
    ("", ["it rains"], "es regnet", EMPTY),
    ("  ", ["it rains"], " ", EMPTY),
    ("", [""], "", EMPTY),
    ("es regnet ", ["it rains"], "es regnet", SOURCE),
    ("New York", ["New York City", "New York"], "New York", 0),
    # What ordinary short texts do.
    ("I think that that is it ...", ["I think it is that"], "", 0),
    ("no, no, no, he said", ["no, he said to me"], "", 0),
    ("I want to go out because I want to go home", ["I want to leave because I want my home"], "", 0),
    # Loops.
    ("so it rains rains rains rains", ["so it rains here a lot"], "", REPEATED),
    ("it is it is it is it is", ["is it is it is it"], "", REPEATED),
    ("the same as for the same as for", ["as it was for the others"], "", REPEATED),
    ("the same as it the same as for", ["as it was for the others"], "", 0),
    ("so so so so la", ["so so so so la", "x x x"], "", 0),
    ("a b", ["a b c d"], "", 0),
    ("a b", ["a b c d e"], "", LENGTH),
    ("a b c d", ["a", "a b c"], "", 0),
    ("a b c d e", ["a", "a b c"], "", LENGTH),
    ("so so so so so la", ["so so so so la la", "so so so la la la"], "", REPEATED),
    ("so so so so la", ["so so la", "la la la la so"], "", 0),
    ("Gr\u00f6\u00dfe", ["Gro\u0308\u00dfe"], "", FORM),
    ("Gro\u0308\u00dfe", ["x", "Gr\u00f6\u00dfe"], "", FORM),
    ("Gr\u00f6\u00dfe", ["Gro\u0308\u00dfe", "Gr\u00f6\u00dfe"], "", 0),
    ("Gr\u00f6\u00dfe", ["Gro\u0308sse"], "", 0),
    ("Gr\u00f6\u200b\u00dfe", ["Gr\u00f6\u00dfe"], "", FORM),
    ("Gr\u00f6\u00dfe", ["\ufeffGro\u0308\u00dfe"], "", FORM),
    ("die Gr\u00f6\u00dfe z\u00e4hlt", ["a Gro\u0308\u00dfe x"], "", FORM),
    ("la la la la", ["x"], "la la la la", SOURCE | REPEATED | LENGTH),
]


@pytest.fixture(scope="module")
def flags_on_a_page(tmp_path_factory: pytest.TempPathFactory) -> list[list[int]]:
    """The flags of two systems on a page: the outputs are the first half of one, and the second half of the other."""
    outputs = [output for output, _, _, _ in OUTPUTS]
    others = ["fine"] * len(outputs)
    systems = {"one": outputs + others, "two": others + outputs}
    references = 2 * [references for _, references, _, _ in OUTPUTS]
    sources = 2 * [source for _, _, source, _ in OUTPUTS]
    page = tmp_path_factory.mktemp("flags") / "page.html"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*different Unicode form")
        warnings.filterwarnings("ignore", ".*differ in an invisible character")
        evaluate(systems, references, "overlap", confidence=None).write_report(page, sources=sources)
    return [[int(flags, 32) for flags in of_system] for of_system in data_of(page)["flags"]["of_systems"]]


@pytest.mark.parametrize(
    ("index", "flags"),
    [pytest.param(index, flags, id=ascii(output)) for index, (output, _, _, flags) in enumerate(OUTPUTS)],
)
def test_an_output_is_flagged_for_what_it_is(flags_on_a_page: list[list[int]], index: int, flags: int):
    first, second = flags_on_a_page
    assert first[index] == flags
    assert second[len(OUTPUTS) + index] == flags


def test_without_sources_no_output_is_compared_with_one(tmp_path):
    evaluate(["x"], ["y"]).write_report(tmp_path / "page.html")
    assert list(data_of(tmp_path / "page.html")["flags"]["titles"]) == ["1", "4", "8", "16"]
