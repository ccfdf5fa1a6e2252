"""The outputs of a training as systems: a folder of steps, or files by name."""

import json
from pathlib import Path

import pytest
from report_pages import data_of

from ngram_metrics import evaluate

REFERENCES = [["the cat sat on the mat"], ["it was asleep"], ["a dog ran home"]]
SOURCES = ["le chat", "il dormait", "un chien"]
WRITTEN = {
    "step-90": ["the cat", "it was", "a dog"],
    "step-500": ["the cat sat", "it was asleep", "a dog"],
    "step-1000": ["the cat sat on the mat", "it was asleep", "a dog ran"],
}


def write(folder: Path, references: list[list[str]] = REFERENCES) -> Path:
    """Write the outputs of three steps as the callbacks do."""
    folder.mkdir(parents=True)
    for name, texts in WRITTEN.items():
        keys = ("source", "hypothesis", "references")
        rows = zip(SOURCES, texts, references, strict=True)
        lines = [json.dumps(dict(zip(keys, row, strict=True))) for row in rows]
        (folder / f"{name}.jsonl").write_text("\n".join(lines))
    return folder


def test_the_steps_of_a_folder_are_systems_in_their_order(tmp_path: Path):
    folder = write(tmp_path / "outputs")
    (folder / "test").mkdir()
    result = evaluate(str(folder), metrics="chrf")
    assert list(result.results) == ["step-90", "step-500", "step-1000"]
    assert result.to_json() == evaluate(WRITTEN, {"1": REFERENCES}, "chrf").to_json()
    result.write_report(tmp_path / "page.html")
    assert "il dormait" in (tmp_path / "page.html").read_text(encoding="utf-8")
    result.write_report(tmp_path / "page.html", sources=["a", "b", "c"])
    assert "il dormait" not in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("others", ["", '"source": null, '])
def test_a_segment_without_a_source_leaves_the_others_theirs(others: str, tmp_path: Path):
    rest = '"hypothesis": "a b", "references": ["a b"]}\n'
    (tmp_path / "step-1.jsonl").write_text('{"source": "le chat", ' + rest + "{" + others + rest)
    evaluate(tmp_path, metrics="chrf", confidence=None).write_report(tmp_path / "page.html")
    assert data_of(tmp_path / "page.html")["sources"] == ["le chat", ""]
    (tmp_path / "step-1.jsonl").write_text(("{" + others + rest) * 2)
    evaluate(tmp_path, metrics="chrf", confidence=None).write_report(tmp_path / "page.html")
    assert data_of(tmp_path / "page.html")["sources"] is None


@pytest.mark.parametrize("references", [[["a", "b", "c"]] * 3, [["a"], ["b", "c"], ["d"]]], ids=["equal", "ragged"])
def test_files_of_several_runs_have_names_and_several_references(references: list[list[str]], tmp_path: Path):
    files = {run: write(tmp_path / run, references) / "step-500.jsonl" for run in ("base", "tuned")}
    result = evaluate(files, metrics="chrf", confidence=None)
    expected = dict.fromkeys(files, WRITTEN["step-500"])
    streams = [*zip(*references, strict=True)] if len({*map(len, references)}) == 1 else None
    given = references if streams is None else {str(index): texts for index, texts in enumerate(streams, 1)}
    assert result.to_json() == evaluate(expected, given, "chrf", confidence=None).to_json()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"hypothesis": "a", "references": []}', r"line 2: 'references' is \[\]"),
        ('{"hypothesis": "a", "references": [1]}', "line 2: 'references' is "),
        ('{"hypothesis": null, "references": ["b"]}', "line 2: 'hypothesis' is None"),
        ('{"source": 5, "hypothesis": "a", "references": ["b"]}', "line 2: 'source' is 5: expected a string"),
        ('{"references": ["b"]}', "line 2: .* has no field 'hypothesis'"),
        ("the cat", "line 2: 'the cat' is not JSON"),
    ],
)
def test_a_line_that_is_no_output_is_named(line: str, words: str, tmp_path: Path):
    (tmp_path / "step-1.jsonl").write_text('{"hypothesis": "a", "references": ["b"]}\n' + line + "\n")
    with pytest.raises((ValueError, TypeError), match=words):
        evaluate(tmp_path)


def test_what_is_no_outputs_is_told(tmp_path: Path):
    for systems in ({"a": ["the cat"]}, ["the cat"], None):
        with pytest.raises(
            TypeError, match=r"^references is None and systems is .*: expected references, or systems that"
        ):
            evaluate(systems)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"has no files such as step-500\.jsonl"):
        evaluate(tmp_path)
    for name in ("val", "test"):
        write(tmp_path / "training" / name)
    with pytest.raises(ValueError, match=r"training has no files .* \(perhaps one of its folders: test, val\)$"):
        evaluate(tmp_path / "training")
    first, second = write(tmp_path / "a"), write(tmp_path / "b", [*REFERENCES[:2], ["another"]])
    files = {"a": first / "step-90.jsonl", "b": second / "step-90.jsonl"}
    with pytest.raises(ValueError, match=r"b.step-90\.jsonl and the first file differ in their references or sources"):
        evaluate(files)
    with pytest.raises(ValueError, match=r"none\.jsonl cannot be read"):
        evaluate({"a": tmp_path / "none.jsonl"})
