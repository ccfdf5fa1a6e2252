"""What cannot be evaluated is told, with the name of what was given, before anything is counted."""

import math
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF

from ngram_metrics import Bleu, ChrF, ROUGEScore, evaluate
from ngram_metrics.functional import chrf_score

ONE = {"a": ["x"]}
TWO = {"a": ["x", "y"], "b": ["x", "y"]}


@pytest.mark.parametrize(
    ("systems", "references", "options", "words"),
    [
        ({}, ["x"], {}, "^systems is empty: expected at least one name with its segments$"),
        (
            [["x"]],
            ["x"],
            {},
            "^segment 0 of systems is a list: expected a text; pass several systems as a mapping of nam",
        ),
        ("x", ["x"], {}, "^systems is a str: expected a sequence of texts$"),
        ({"a": "x"}, ["x"], {}, "^system 'a' is a str: expected a sequence of texts$"),
        ({"a": [1]}, ["x"], {}, "^segment 0 of system 'a' is an int: expected a text$"),
        ({"a": [["x"]]}, ["x"], {}, r"^segment 0 of system 'a' is a list: expected a text; join words with ' '\.join"),
        ({"a": []}, [], {}, "^system 'a' has no segment: expected at least one$"),
        (
            {"a": ["x"], "b": []},
            ["x"],
            {},
            "^system 'b' has 0 segments and system 'a' has 1: expected the same number$",
        ),
        ({1: ["x"], "1": ["x"]}, ["x"], {}, "^systems has two names that look the same when written"),
        ({"a b": ["x"], "a\tb": ["x"]}, ["x"], {}, "^systems has two names that look the same when written"),
        (ONE, ["x", "y"], {}, "^reference list '1' has 2 segments and system 'a' has 1: expected the same number$"),
        (ONE, [["x"], []], {}, "^reference list '2' has 0 segments"),
        (TWO, {"r": ["x"]}, {}, "^reference list 'r' has 1 segment and system 'a' has 2"),
        (TWO, {}, {}, "^references is empty: expected at least one name"),
        (TWO, [["x"], []], {}, r"^segment 1 has no reference: its item of references is empty$"),
        (TWO, {"r": [["x"], []]}, {}, r"^segment 1 has no reference: its item of references is empty$"),
        (TWO, {"r": [["x"]]}, {}, "^reference list 'r' has 1 segment and system 'a' has 2"),
        (TWO, {"r": [["x"], 1]}, {}, r"^segment 0 of references\[1\] is an int: expected a text$"),
        (TWO, [["x"], [1]], {}, r"^segment 0 of references\[1\] is an int: expected a text$"),
        (TWO, [["x"], 1], {}, r"^references\[1\] is an int: expected a sequence of texts$"),
        (TWO, [["x", "y"], ["x", "y"]], {}, "^references has 2 lists of 2 texts, which may be .* expected a mapping"),
        (ONE, "x", {}, "^references is a str: expected a list of texts, several such lists, or a mapping"),
        (ONE, ["x"], {"confidence": 1}, "^confidence must be between 0 and 1"),
        (ONE, ["x"], {"test": "t"}, r"^unknown test 't': expected one of \['randomization', 'bootstrap'\]$"),
        (ONE, ["x"], {"correction": "c"}, "^unknown correction 'c': expected one of .'holm', 'none', None"),
        (ONE, ["x"], {"seed": 0.5}, "^seed is 0.5: expected an integer$"),
        (ONE, ["x"], {"baseline": "b"}, r"^unknown baseline 'b': expected one of \['a'\]$"),
        (TWO, ["x", None], {}, r"^segment 1 of references is a missing value, None: pass ''"),
        (TWO, [["x"], ["y", None]], {}, r"^segment 1 of references\[1\] is a missing value, None: pass ''"),
        ({"a": ["x", math.nan]}, ["x", "y"], {}, r"^segment 1 of system 'a' is a missing value, nan: pass ''"),
        ({"a": [b"x", b"y"]}, ["x", "y"], {}, r"^segment 0 of system 'a' is a bytes: .*; decode it with .decode\(\)$"),
        (
            map(str, "ab"),
            ["x", "y"],
            {},
            r"^systems is a map: expected a sequence of texts; convert it with list\(...\)$",
        ),
        (ONE, ["x"], {"metrics": "bleu,rougel"}, "^unknown metric 'rougel': .*; did you mean 'rougeL'"),
        (ONE, ["x"], {"metrics": "rougeL_recall"}, r'of .rougeL., .*\(rouge_keys="rougeL"\)\["rougeL_recall"\]$'),
        (
            ONE,
            ["x"],
            {"metrics": ["bleu", 1]},
            r"^metrics is \['bleu', 1\]: expected names, such as 'bleu,chrf', or a mapping",
        ),
        (ONE, ["x"], {"metrics": []}, r"^metrics is \[\]: expected .* objects, such as \{'bleu': Bleu\(\)\}$"),
        (ONE, ["x"], {"metrics": [ChrF()]}, r"^metrics is \[ChrF\(\)\]: .* such as \{'bleu': Bleu\(\)\}$"),
        (
            ONE,
            ["x"],
            {"metrics": "BLEU"},
            "^unknown metric 'BLEU': expected one or more of .*; did you mean 'bleu'\\?$",
        ),
        (ONE, ["x"], {"metrics": {}}, r"^metrics is \{\}: expected names, such as 'bleu,chrf', or a mapping"),
        (ONE, ["x"], {"metrics": ChrF()}, r"^metrics is ChrF.*: expected names, .* such as \{'bleu': Bleu\(\)\}$"),
        (ONE, ["x"], {"metrics": {"a": Bleu}}, "^metric 'a' is the class Bleu: expected a metric object"),
        (
            ONE,
            ["x"],
            {"metrics": {"a": Bleu(average="none")}},
            "^the metric 'a' has average='none', which gives a score for each segment",
        ),
        (ONE, ["x"], {"metrics": {"rouge1": Bleu(), "b": ROUGEScore()}}, "'rouge1' and 'b' both write 'rouge1'"),
        (
            ONE,
            ["x"],
            {"metrics": {"system": Bleu()}},
            "^metric 'system' would have the same name as the column 'system' of segm",
        ),
        (ONE, ["x"], {"metrics": {"rouge1_recall": Bleu(), "b": ROUGEScore()}}, "both write 'rouge1_recall'"),
        (
            TWO,
            ["x", "y"],
            {"groups": ["g"]},
            "^groups has 1 label and system 'a' has 2 segments: expected one label for each segment$",
        ),
        (TWO, ["x", "y"], {"groups": {"d": ["g"] * 3}}, "^groups 'd' has 3 labels and system 'a' has 2 segments"),
        (TWO, ["x", "y"], {"groups": [None, "None"]}, "^groups has two names that look the same when written"),
        (TWO, ["x", "y"], {"groups": ["", "(empty)"]}, "^groups has two names that look the same when written"),
        (["x"], ONE, {}, "^references has names but systems is a list without names, so the two look swapped: exp"),
        (TWO, ["x", "y"], {"groups": {1: "gg", "1": "gg"}}, "^groups has two names that look the same when written"),
        (TWO, ["x", "y"], {"groups": "gg"}, "^groups is a str: expected a label for each segment$"),
        (
            TWO,
            ["x", "y"],
            {"groups": ["g", []]},
            r"^label 1 of groups is \[\]: expected a hashable object, such as a str$",
        ),
        (
            TWO,
            ["x", "y"],
            {"clusters": ["c"]},
            "^clusters has 1 label and system 'a' has 2 segments: expected one label for each segment$",
        ),
        (TWO, ["x", "y"], {"clusters": ["c", " "]}, "^label 1 of clusters is blank: expected the cluster of the segme"),
        (
            TWO,
            ["x", "y"],
            {"clusters": {"d": "cd"}},
            r"^clusters is a dict: expected a label .*; pass a list of its",
        ),
        # The order of a set is that of no segment.
        ({"a": {"x", "y"}}, ["x", "y"], {}, "^system 'a' is a set: expected a sequence of texts"),
        (TWO, {"x", "y"}, {}, "^references is a set: expected a list of texts"),
        (TWO, ["x", "y"], {"groups": {"c", "d"}}, "^groups is a set: expected a label for each segment"),
        (TWO, ["x", "y"], {"clusters": frozenset("cd")}, "^clusters is a frozenset: expected a label for each segment"),
        (TWO, ["x", "y"], {"groups": [float("nan")] * 2}, "^label 0 of groups is nan, which is not equal to itse"),
    ],
)
def test_what_cannot_be_evaluated_is_told(systems, references, options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        evaluate(systems, references, **options)


def _frame(package: str, columns: dict[str, list[object]]) -> Any:
    module = pytest.importorskip(package, reason=f"{package} is optional, and not in every environment of the tests")
    return (module.table if package == "pyarrow" else module.DataFrame)(columns)


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_frame_is_a_mapping_of_its_columns(package: str):
    references = {"first": ["x y", "z"], "second": ["x", "y"]}
    expected = evaluate(TWO, references)
    found = evaluate(_frame(package, TWO), _frame(package, references))
    assert found.results == expected.results
    assert found.signatures == expected.signatures
    assert evaluate(_frame(package, {"mt": ["x", "y"]}), _frame(package, {"ref": ["x", "y"]})).results["mt"]


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_where_labels_are_due_a_table_is_refused_and_a_column_is_the_list_of_its_values(package: str):
    table = _frame(package, {"label": ["c", None]})
    for name in ("groups", "clusters"):
        with pytest.raises(TypeError, match=rf"^{name} is a \w+ of {package}: expected one of its columns, such as"):
            evaluate(TWO, ["x", "y"], **{name: table})
    assert list(evaluate(TWO, ["x", "y"], groups=table["label"]).groups) == ["c", None]
    with pytest.raises(TypeError, match=r"^label 1 of clusters is None: expected the cluster of the segment$"):
        evaluate(TWO, ["x", "y"], clusters=table["label"])
    with pytest.raises(TypeError, match=r"^segment 1 of references is a missing value, None: "):
        evaluate(["x", "y"], table["label"])


def test_tables_that_are_no_mapping_are_refused():
    lines = {"a": ["x"]}
    for table in (_frame("pyarrow", lines), _frame("polars", lines).lazy()):
        for systems, references in ((table, ["x"]), (lines, table)):
            with pytest.raises(TypeError, match=r"^(systems|references) is a (Table|LazyFrame) of .*expected one of"):
                evaluate(systems, references)
    with pytest.raises(TypeError, match=r"such as preds\.collect\(\)\['text'\]$"):
        chrf_score(table, ["x"])
    twice = _frame("pandas", {"a": ["x"], "b": ["x"]})
    twice.columns = ["a", "a"]
    with pytest.raises(ValueError, match=r"^systems has several columns named 'a': expected different names$"):
        evaluate(twice, ["x"])


def test_times_are_told_apart_by_the_nanosecond_or_refused():
    times = np.array([1, 2], "datetime64[ns]")
    assert list(evaluate(TWO, ["x", "y"], groups=times).groups) == list(times)
    polars = pytest.importorskip("polars", reason="polars is optional, and not in every environment of the tests")
    column = polars.Series(times)
    with pytest.raises(ValueError, match=r"^groups has times that differ by less than a microsecond: expected text or"):
        evaluate(TWO, ["x", "y"], groups=column)


def test_a_missing_value_of_pandas_is_none():
    pandas = pytest.importorskip("pandas", reason="pandas is optional, and not in every environment of the tests")
    for labels in ([pandas.NA, "c"], pandas.Series([pandas.NA, "c"], dtype="string")):
        assert list(evaluate(TWO, ["x", "y"], groups=labels).groups) == [None, "c"]
        with pytest.raises(TypeError, match=r"^label 0 of clusters is None: expected the cluster of the segment$"):
            evaluate(TWO, ["x", "y"], clusters=labels)


@pytest.mark.parametrize(
    ("metrics", "values"),
    [
        (["bleu", "chrf"], ["bleu", "chrf"]),
        ({"chrf": "chrf", "chrf_low": ChrF(), "value": ChrF()}, ["chrf", "chrf_low", "value"]),
        ("bleu, chrf++", ["bleu", "chrf++"]),
        ({"BLEU": "bleu", "mine": ChrF()}, ["BLEU", "mine"]),
        ("rougeL", ["rougeL"]),
        (("rouge1", "rougeLsum"), ["rouge1", "rougeLsum"]),
    ],
)
def test_metrics_have_several_spellings(metrics: Any, values: list[str]):
    found = evaluate(["a b"], ["a c"], metrics, confidence=None, correction="none")
    assert list(found.results["system"]) == values
    assert repr(found) == str(found)
    assert repr(found).startswith("system")
    scores = {"bleu": BLEU, "chrf": CHRF}
    for value, result in found.results["system"].items():
        if peer := scores.get(value.lower()):
            assert 100 * result.score == pytest.approx(peer().corpus_score(["a b"], [["a c"]]).score)
