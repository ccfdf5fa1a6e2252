"""One system is counted in plain Python, and what is written is the same to the last byte as from arrays."""

import gzip
import io
import json
import os
import subprocess
import sys
import unicodedata
import warnings
from pathlib import Path

import pytest
from commands import BASE, REFERENCES, SECOND, printed, write

from ngram_metrics import _cli as cli
from ngram_metrics._cli import files, score_in_python
from ngram_metrics._cli.command_arguments import parse_score
from ngram_metrics._core.metrics.registry import REGISTRY, row_of
from ngram_metrics._evaluation import FORMATS

#: The costs of the metrics that plain Python scores.
COSTS = {name: row.python_cost for name, row in REGISTRY.items() if row.python_cost is not None}
METRICS = ",".join(COSTS)
#: Lines that a rule for words, or a warning, treats in another way than others.
ODD = ["", " ", "a", "Größe", "1,000.5 e.g. - end.", "don't && &quot;stop&quot; <skipped>", "ends .", "... !!! ???"]
ODD += [
    "\u4e16\u754c 3\u00b75",
    "tab\tand\u00a0space",
    "\u0130 \u212a",
    "A\u0308\u0301 o\u0323\u0302",
    "x" * 300,
    "the " * 90,
]


def _run(capsysbinary, arguments: list[str]) -> tuple[int, bytes, bytes]:
    """The exit code, standard output and standard error of a command."""
    warnings.onceregistry.clear()  # type: ignore[attr-defined]
    code = cli.main(arguments)
    captured = capsysbinary.readouterr()
    return code, captured.out, captured.err


def _check_equal(capsysbinary, monkeypatch, arguments: list[str]) -> tuple[int, bytes, bytes]:
    """Compare both ways, the second of which imports torch after the first lines, and return what they wrote."""
    ways = []
    score = score_in_python.score
    monkeypatch.setattr(score_in_python, "score", lambda *given: (ways.append("python"), score(*given))[1])
    in_python = _run(capsysbinary, arguments)
    assert ways == ["python"]
    with monkeypatch.context() as patch:
        patch.setattr(score_in_python, "COST_OF_TORCH", -1)
        assert _run(capsysbinary, arguments) == in_python
    assert ways == ["python"]
    return in_python


@pytest.mark.covering
@pytest.mark.parametrize("metric", [*COSTS, "rouge3", "rougeL", "rougeLsum"])
@pytest.mark.parametrize("tokenizer", [None, "13a", "none", "zh", "intl", "char", "unicode"])
def test_odd_lines_score_the_same(metric: str, tokenizer: str | None, folder: Path, capsysbinary, monkeypatch):
    taken = row_of(metric).text_options
    options = ["--tokenizer", tokenizer] if tokenizer is not None and "tokenizer" in taken else []
    if tokenizer not in (None, "13a"):
        options += [f"--{option.replace('_', '-')}" for option in taken if option != "tokenizer"]
    write(folder / "base.txt", [*ODD, *ODD, *BASE[:20]])
    write(folder / "ref.txt", [*ODD, *reversed(ODD), *REFERENCES[:20]])
    write(folder / "ref2.txt", [*reversed(ODD), *ODD, *SECOND[:20]])
    for references in (["ref.txt"], ["ref.txt", "ref2.txt"]):
        arguments = ["base.txt", "-r", *references, "-m", metric, *options, "-f", "json", "--threads", "2"]
        assert _check_equal(capsysbinary, monkeypatch, arguments)[0] == 0


@pytest.mark.parametrize(
    ("hypotheses", "references", "told"),
    [
        (["the cat", "a dog"], [["the", "a"], ["cat", "dog"]], "single words"),
        (["a b c", "d e f"], [["a b x", "a b y"], ["d e x", "d e y"]], "sacrebleu's streams"),
        (
            ["\u6211\u4eec\u90fd\u5f88\u9ad8\u5174\u89c1\u5230\u4f60"] * 2,
            [["\u6211\u4eec\u90fd\u5f88\u9ad8\u5174\u89c1\u5230\u4f60"] * 2],
            "no spaces between words",
        ),
        (["it is .", "they are ."], [["it is.", "they are."]], "look tokenized"),
        (["\u043c\u044b \u0442\u0443\u0442", "a"], [["\u043c\u044b", "a"]], "keeps only a-z and 0-9"),
        (["die Größe", "a"], [[unicodedata.normalize("NFD", "die Größe"), "a"]], "another Unicode form"),
        (["\ufeffa b", "c"], [["a b", "c"]], "byte order mark"),
    ],
)
def test_warnings_are_the_same(hypotheses, references, told: str, folder: Path, capsysbinary, monkeypatch):
    write(folder / "base.txt", hypotheses)
    names = [f"r{index}" for index in range(len(references))]
    for name, lines in zip(names, references, strict=True):
        write(folder / name, lines)
    code, out, err = _check_equal(capsysbinary, monkeypatch, ["base.txt", "-r", *names, "-m", METRICS])
    assert code == 0
    assert out
    assert told in err.decode()


def test_errors_come_after_the_lines_before_them(folder: Path, capsysbinary, monkeypatch):
    monkeypatch.setattr(files, "CHUNK", 10)
    write(folder / "bad.txt", "\n".join([*(["it is ."] * 15), "a\xff"]).encode("latin1"))
    write(folder / "few.txt", ["it is ."] * 15)
    write(folder / "ref.txt", ["it is."] * 16)
    for name, told in (("bad.txt", "line 16: byte 2 of the line"), ("few.txt", "different numbers of lines")):
        code, out, err = _check_equal(capsysbinary, monkeypatch, [name, "-r", "ref.txt"])
        assert (code, out) == (1, b"")
        assert "look tokenized" in err.decode()
        assert told in err.decode()
        assert err.count(b"\n") == 2


def test_blank_lines_are_not_read_ahead_for_ever():
    blank = files.FileSegments(1, [[""] * 2048], [[""]] * 2048, [])
    options = parse_score(["base.txt", "-r", "ref.txt", "-m", "overlap"])
    cost = score_in_python.cost_per_character(options)
    is_small, chunks = score_in_python.read_ahead(iter([blank] * 200), cost)
    assert not is_small
    assert list(chunks) == [blank] * 200


@pytest.mark.parametrize(
    "options",
    [*("-c", "--segments s.tsv", "--report p.html", "other.txt", "-m bleu,ter", "-m rouge,ter"), "--spm-model m"],
)
def test_what_plain_python_does_not_have_is_left_to_arrays(options: str, folder: Path):
    assert score_in_python.cost_per_character(parse_score(["base.txt", "-r", "ref.txt"])) is not None
    assert score_in_python.cost_per_character(parse_score(["base.txt", *options.split(), "-r", "ref.txt"])) is None


_LIGHT = """
import sys
from ngram_metrics._cli import main
assert main(["base.txt", "-r", "ref.txt", "-m", sys.argv[1], "-f", sys.argv[2], "-o", "out"]) == 0
heavy = {"torch", "numpy", "rapidfuzz", "hashlib", "importlib.metadata"} & set(sys.modules)
assert not heavy, heavy
"""


@pytest.mark.parametrize("form", FORMATS)
def test_neither_torch_nor_numpy_is_imported(form: str, folder: Path):
    subprocess.run([sys.executable, "-c", _LIGHT, METRICS, form], check=True, cwd=folder)


def test_the_mean_of_scores_is_exact(folder: Path, capsys, monkeypatch):
    """The mean of ROUGE depends neither on the order of lines nor on where they are cut."""
    arguments = ["base.txt", "-r", "ref.txt", "-m", "rouge,overlap", "-f", "tsv"]
    expected = printed(capsys, *arguments)
    order = sorted(range(len(BASE)), key=lambda index: BASE[index])
    write(folder / "base.txt", [BASE[index] for index in order])
    write(folder / "ref.txt", [REFERENCES[index] for index in order])
    for chunk in (7, 2048):
        monkeypatch.setattr(files, "CHUNK", chunk)
        assert printed(capsys, *arguments) == expected
        with monkeypatch.context() as patch:
            patch.setattr(score_in_python, "COST_OF_TORCH", -1)
            assert printed(capsys, *arguments) == expected


#: Every option that plain Python takes.
OPTIONS = (
    *("", "--tokenizer none", "--tokenizer intl", "--lowercase", "--chrf-lowercase", "--stem", "--line-limit 2000"),
    *("--threads 2", "--digits 0", "-w 15 --details", "-o written", "-r ref.txt ref2.txt"),
)


def _open_pipe(content: bytes) -> io.TextIOWrapper:
    """The end of a pipe that has this content, which is read once."""
    assert len(content) < 1 << 16  # what fits into a pipe before it is read
    reading, writing = os.pipe()
    os.write(writing, content)
    os.close(writing)
    return open(reading, encoding="utf-8")


@pytest.mark.covering
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("source", ["file", "pipe", "gzip in a pipe", "column", "field"])
@pytest.mark.parametrize("option", OPTIONS)
def test_both_sides_of_the_break_even_write_the_same_bytes(
    option: str, source: str, form: str, folder: Path, capsysbinary, monkeypatch
):
    hypotheses = [f"{line} ." for line in BASE[:25]]
    texts = [*hypotheses, *REFERENCES[:25], *(SECOND[:25] if "ref2" in option else [])]
    for name, lines in {"base.txt": hypotheses, "ref.txt": REFERENCES[:25], "ref2.txt": SECOND[:25]}.items():
        write(folder / name, lines)
    write(folder / "table.tsv", [f"{index}\t{line}" for index, line in enumerate(hypotheses)])
    write(folder / "lines.jsonl", [json.dumps({"mt": line}) for line in hypotheses])
    content = (folder / "base.txt").read_bytes()
    names = {"file": "base.txt", "column": "table.tsv:2", "field": "lines.jsonl:mt"}
    arguments = [names.get(source, "-"), "-m", METRICS, "-f", form, *option.split()]
    arguments += [] if "-r" in arguments else ["-r", "ref.txt"]
    lengths = [max(len(text), 30) for text in texts]
    cost = sum(COSTS.values()) * sum(lengths) * (1 + max(lengths) / 20_000)
    ways = []
    score = score_in_python.score
    monkeypatch.setattr(score_in_python, "score", lambda *given: (ways.append("python"), score(*given))[1])
    outcomes = []
    for beyond in (1, 0, -1):
        warnings.onceregistry.clear()  # type: ignore[attr-defined]
        monkeypatch.setattr(score_in_python, "COST_OF_TORCH", cost + beyond)
        with _open_pipe(gzip.compress(content) if source.startswith("gzip") else content) as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            code = cli.main(arguments)
        written = folder / "written"
        outcomes.append((code, *capsysbinary.readouterr(), written.read_bytes() if written.exists() else b""))
        written.unlink(missing_ok=True)
    assert ways == ["python", "python"]  # below and at the break-even
    assert outcomes[0] == outcomes[1] == outcomes[2]
    code, out, err, written_bytes = outcomes[0]
    assert code == 0
    assert bool(written_bytes) == (option == "-o written") != bool(out)
    assert (b"look tokenized" in err) == (option not in ("--tokenizer none", "--tokenizer intl"))
    assert form == "tsv" or (out + written_bytes).count(b"nrefs:") == len(COSTS) - 1
