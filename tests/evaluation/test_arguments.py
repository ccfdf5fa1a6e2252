"""What cannot be evaluated is told, with the name of what was given, before anything is counted."""

import pytest

from ngram_metrics import Bleu, ChrF, ROUGEScore, evaluate

ONE = {"a": ["x"]}
TWO = {"a": ["x", "y"], "b": ["x", "y"]}


@pytest.mark.parametrize(
    ("systems", "references", "options", "words"),
    [
        ({}, ["x"], {}, "^systems is empty: expected at least one name with its segments$"),
        ([["x"]], ["x"], {}, "^segment 0 of systems is a list: expected a text$"),
        ("x", ["x"], {}, "^systems is a str: expected a sequence of texts$"),
        ({"a": "x"}, ["x"], {}, "^system 'a' is a str: expected a sequence of texts$"),
        ({"a": [1]}, ["x"], {}, "^segment 0 of system 'a' is an int: expected a text$"),
        ({"a": []}, [], {}, "^system 'a' has no segment: expected at least one$"),
        ({"a": ["x"], "b": []}, ["x"], {}, "^system 'b' has 0 segments and system 'a' 1: expected the same number$"),
        ({1: ["x"], "1": ["x"]}, ["x"], {}, "^systems has two names that are written alike"),
        (ONE, ["x", "y"], {}, "^reference list '1' has 2 segments and system 'a' 1: expected the same number$"),
        (ONE, [["x"], []], {}, "^reference list '2' has 0 segments"),
        (TWO, {"r": ["x"]}, {}, "^reference list 'r' has 1 segment and system 'a' 2"),
        (TWO, {}, {}, "^references is empty: expected at least one name"),
        (TWO, [["x"], []], {}, r"^segment 1 has no reference: its item of references is empty$"),
        (TWO, [["x"], [1]], {}, r"^segment 0 of references\[1\] is an int: expected a text$"),
        (TWO, [["x"], 1], {}, r"^references\[1\] is an int: expected a sequence of texts$"),
        (TWO, [["x", "y"], ["x", "y"]], {}, "^references has 2 lists of 2 texts, which may be .* expected a mapping"),
        (ONE, "x", {}, "^references is a str: expected a list of texts, several such lists, or a mapping"),
        (ONE, ["x"], {"confidence": 1}, "^confidence must be between 0 and 1"),
        (ONE, ["x"], {"test": "t"}, r"^unknown test 't': expected one of \['randomization', 'bootstrap'\]$"),
        (ONE, ["x"], {"correction": "bonferroni"}, "^unknown correction 'bonferroni': expected 'holm' or None$"),
        (ONE, ["x"], {"seed": 0.5}, "^seed is 0.5: expected an integer$"),
        (ONE, ["x"], {"baseline": "b"}, r"^unknown baseline 'b': expected one of \['a'\]$"),
        (ONE, ["x"], {"metrics": "bleu,rougeL"}, "^unknown metric 'rougeL': expected rouge, which has all four$"),
        (ONE, ["x"], {"metrics": {}}, "^metrics is {}: expected names, or a mapping of names to metric objects$"),
        (ONE, ["x"], {"metrics": ChrF()}, "^metrics is ChrF.*: expected names, or a mapping"),
        (ONE, ["x"], {"metrics": {"a": Bleu}}, "^metric 'a' is the class Bleu: expected a metric object"),
        (ONE, ["x"], {"metrics": {"a": Bleu(average="none")}}, "^metric 'a' has average 'none': expected 'micro'"),
        (ONE, ["x"], {"metrics": {"a": ROUGEScore(), "b": ROUGEScore()}}, "both write 'rouge1'"),
        (ONE, ["x"], {"metrics": {"rouge1": Bleu(), "b": ROUGEScore()}}, "'rouge1' and 'b' both write 'rouge1'"),
        (TWO, ["x", "y"], {"groups": ["g"]}, "^groups has 1 label and system 'a' 2 segments: expected as many$"),
        (TWO, ["x", "y"], {"groups": {"d": ["g"] * 3}}, "^groups 'd' has 3 labels and system 'a' 2 segments"),
        (TWO, ["x", "y"], {"groups": [None, "None"]}, "^groups has two names that are written alike"),
        (TWO, ["x", "y"], {"groups": {1: "gg", "1": "gg"}}, "^groups has two names that are written alike"),
        (TWO, ["x", "y"], {"groups": "gg"}, "^groups is a str: expected a label for each segment$"),
        (TWO, ["x", "y"], {"groups": ["g", []]}, r"^label 1 of groups is \[\]: expected a hashable, such as a str$"),
        (TWO, ["x", "y"], {"clusters": ["c"]}, "^clusters has 1 label and system 'a' 2 segments: expected as many$"),
        (TWO, ["x", "y"], {"clusters": ["c", None]}, "^label 1 of clusters is None: expected the cluster of the segm"),
        (TWO, ["x", "y"], {"clusters": ["c", "c"]}, "^clusters has the same label for all 2 segments, 'c': expected"),
        (TWO, ["x", "y"], {"clusters": {"d": "cd"}}, "^clusters is a dict: expected a label for each segment$"),
        (TWO, ["x", "y"], {"groups": [float("nan")] * 2}, "^label 0 of groups is nan: expected a hashable"),
    ],
)
def test_what_cannot_be_evaluated_is_told(systems, references, options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        evaluate(systems, references, **options)


def test_one_reference_of_one_segment_is_the_same_both_ways():
    assert evaluate(["x"], [["x"]], confidence=None).results == evaluate(["x"], ["x"], confidence=None).results
