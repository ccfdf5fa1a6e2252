"""The command line, run on files, against sacrebleu's command line on the same files."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sacrebleu.sacrebleu
import torch
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest
from systems import output, references

import ngram_metrics
from ngram_metrics import NgramOverlap, cli

REFERENCES = references(120)
SECOND = output(REFERENCES, 0.4, seed=3)
OUTPUTS = {"base.txt": output(REFERENCES, 0.3, seed=10), "other.txt": output(REFERENCES, 0.2, seed=11)}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder the command runs in, with the files of three sides."""
    monkeypatch.chdir(tmp_path)
    for name, lines in {**OUTPUTS, "ref.txt": REFERENCES, "ref2.txt": SECOND}.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return tmp_path


def _report(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert cli.main([*arguments, "--format", "json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return json.loads(captured.out)


def _scores(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, float]:
    """The scores of the only system."""
    ((_, values),) = _report(capsys, *arguments)["systems"].items()
    return {name: entry["score"] for name, entry in values.items()}


class _Stream(io.StringIO):
    def fileno(self) -> int:
        return 1


def _of_sacrebleu(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> dict[str, float]:
    """What sacrebleu's command prints, with 10 digits."""
    stream = _Stream()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", ["sacrebleu", *arguments, "-w", "10", "-f", "json", "--no-color"])
        patch.setattr(sys, "stdin", stream)
        patch.setattr(sys, "stdout", stream)
        # It opens the descriptors of both anew, to set their encoding.
        patch.setattr(sacrebleu.sacrebleu, "open", lambda *args, **options: stream, raising=False)
        sacrebleu.sacrebleu.main()
    printed = json.loads(stream.getvalue())
    return {one["name"]: one["score"] for one in (printed if isinstance(printed, list) else [printed])}


def _write(path: Path, content: bytes | list[str]) -> None:
    path.write_bytes(content if isinstance(content, bytes) else "".join(f"{line}\n" for line in content).encode())


#: What base.txt and ref.txt hold.
FILES: dict[str, tuple[str, str]] = {
    "as usual": tuple("".join(f"{line}\n" for line in lines) for lines in (OUTPUTS["base.txt"], REFERENCES)),
    "carriage returns": ("the cat sat.\r\nA dog ran!\r\n", "the cat sat.\r\nA dog ran off!\r\n"),
    "carriage returns on one side": ("the cat sat.\r\nA dog ran!\r\n", "the cat sat.\nA dog!\n"),
    "a carriage return inside": ("the cat\rsat.\nA dog ran!\n", "the cat sat.\nA dog ran off!\n"),
    "no last newline": ("the cat sat.\nA dog ran!", "the cat sat.\nA dog ran off!\n"),
    "empty lines": ("the cat sat on it.\n\n\nA dog ran!\n", "the cat sat on it.\n\nso it is\n\n"),
    "blanks at the ends": ("  the cat sat. \t\n\xa0A dog ran!\n", "the cat sat.\nA dog ran off! \n"),
    "rarer separators": ("the cat\u2028sat.\nA\x0bdog\x0cran!\n", "the cat sat.\nA\x85dog ran\x1c off!\n"),
    "a byte order mark": ("\ufeffthe cat sat.\nA dog ran!\n", "the cat sat.\nA dog ran!\n"),
    "other scripts": ("東京は、雨。\nZoë läuft 5,5 km.\n", "東京は晴れ。\nZoë lief 5,5 km.\n"),
}


#: sacrebleu's command leaves files open.
leaves_files_open = pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")


@leaves_files_open
@pytest.mark.parametrize("files", FILES.values(), ids=FILES)
def test_scores_are_sacrebleus_on_the_same_files(files, folder: Path, capsys, monkeypatch):
    for name, content in zip(("base.txt", "ref.txt"), files, strict=True):
        _write(folder / name, content.encode())
    ours = _scores(capsys, "base.txt", "ref.txt", "-m", "bleu", "chrf", "chrf++")
    theirs = _of_sacrebleu(monkeypatch, "ref.txt", "-i", "base.txt", "-m", "bleu", "chrf")
    theirs |= _of_sacrebleu(monkeypatch, "ref.txt", "-i", "base.txt", "-m", "chrf", "--chrf-word-order", "2")
    assert list(ours.values()) == pytest.approx([theirs[name] for name in ("BLEU", "chrF2", "chrF2++")], abs=1e-8)


@leaves_files_open
def test_several_references_lowercase_and_tokenizers_are_sacrebleus(folder: Path, capsys, monkeypatch):
    _write(folder / "ref2.txt", [line.upper() if number % 3 else "" for number, line in enumerate(SECOND)])
    theirs = ["ref.txt", "ref2.txt", "-i", "base.txt", "-m", "bleu", "chrf"]
    for ours, options in (
        ([], []),
        (["-lc"], ["-lc"]),
        (["-lc", "--chrf-lowercase"], ["-lc", "--chrf-lowercase"]),
        (["--lowercase", "--tokenizer", "intl"], ["-lc", "-tok", "intl"]),
        (["--tokenizer", "char"], ["-tok", "char"]),
    ):
        found = _scores(capsys, "base.txt", "ref.txt", "ref2.txt", *ours)
        expected = _of_sacrebleu(monkeypatch, *theirs, *options)
        assert found == pytest.approx({"bleu": expected["BLEU"], "chrf": expected["chrF2"]}, abs=1e-8)


@pytest.mark.parametrize("stem", [False, True])
def test_rouge_is_that_of_rouge_score(stem: bool, folder: Path, capsys):
    keys = ("rouge1", "rouge2", "rougeL", "rougeLsum")
    scorer = RougeScorer(keys, use_stemmer=stem)
    found = _scores(capsys, "base.txt", "ref.txt", "ref2.txt", "-m", "rouge", *(["--stem"] if stem else []))
    scored = [
        scorer.score_multi(several, line)
        for line, *several in zip(OUTPUTS["base.txt"], REFERENCES, SECOND, strict=True)
    ]
    means = {key: 100 * sum(one[key].fmeasure for one in scored) / len(scored) for key in keys}
    assert found == pytest.approx(means, abs=1e-9)


def test_every_metric_has_its_column(folder: Path, capsys):
    found = _scores(capsys, "base.txt", "ref.txt", "-m", "rouge", "bleu", "overlap", "chrf++", "chrf", "bleu")
    assert list(found) == ["rouge1", "rouge2", "rougeL", "rougeLsum", "bleu", "overlap", "chrf++", "chrf"]
    overlap = NgramOverlap(tokenizer="13a")
    overlap.update(OUTPUTS["base.txt"], REFERENCES)
    assert found["overlap"] == pytest.approx(100 * overlap.compute().item())


def test_files_longer_than_a_chunk_score_the_same(folder: Path, capsys, monkeypatch):
    arguments = ["base.txt", "ref.txt", "-m", "bleu", "chrf", "rouge", "--confidence"]
    expected = _report(capsys, *arguments)
    for chunk in (1, 7, 119):
        monkeypatch.setattr(cli, "CHUNK", chunk)
        found = _report(capsys, *arguments)
        for name, entry in expected["systems"]["base.txt"].items():
            assert found["systems"]["base.txt"][name] == pytest.approx(entry, abs=1e-9)


def test_standard_input_is_read_and_left_open(folder: Path, capsys, monkeypatch):
    expected = _scores(capsys, "base.txt", "ref.txt")
    for arguments, name in ((["-", "ref.txt"], "base.txt"), (["base.txt", "-"], "ref.txt")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((folder / name).read_bytes())))
        assert _scores(capsys, *arguments) == expected
        assert not sys.stdin.buffer.closed


def test_intervals_are_sacrebleus_within_chance(folder: Path, capsys):
    report = _report(capsys, "base.txt", "ref.txt", "-m", "bleu", "chrf", "--confidence")
    assert report["confidence"] == 0.95
    for name, peer in (("bleu", BLEU()), ("chrf", CHRF())):
        entry = report["systems"]["base.txt"][name]
        expected = peer.corpus_score(OUTPUTS["base.txt"], [REFERENCES], n_bootstrap=1000)
        assert (entry["high"] - entry["low"]) / 2 == pytest.approx(float(expected._ci), rel=0.15)
        assert entry["low"] < entry["score"] < entry["high"]
    narrow = _report(capsys, "base.txt", "ref.txt", "--confidence", "0.5")
    assert narrow["confidence"] == 0.5
    assert narrow["systems"]["base.txt"]["bleu"]["low"] > report["systems"]["base.txt"]["bleu"]["low"]


@pytest.mark.parametrize(("test", "kind"), [("bootstrap", "bs"), ("randomization", "ar")])
def test_systems_are_tested_against_the_first(test: str, kind: str, folder: Path, capsys):
    _write(folder / "alike.txt", alike := output(REFERENCES, 0.3, seed=12))
    report = _report(capsys, "base.txt", "ref.txt", "-s", "other.txt", "alike.txt", "-m", "chrf", "--test", test)
    assert report["baseline"] == "base.txt"
    assert report["test"] == test
    assert list(report["systems"]) == ["base.txt", "other.txt", "alike.txt"]
    assert list(report["systems"]["base.txt"]["chrf"]) == ["score"]
    draws = {"bs": 1000, "ar": 10_000}[kind]
    named = [*OUTPUTS.items(), ("alike.txt", alike)]
    _, found = PairedTest(named, {"chrf": CHRF()}, [REFERENCES], kind, n_samples=min(draws, 2000))()
    for (name, _), result in zip(named[1:], found["chrF2"][1:], strict=True):
        entry = report["systems"][name]["chrf"]
        assert entry["score"] == pytest.approx(float(result.score), abs=1e-9)
        assert entry["p_value"] == pytest.approx(result.p_value, abs=0.09)


def test_the_table_marks_what_differs(folder: Path, capsys):
    same = folder / "same.txt"
    same.write_bytes((folder / "base.txt").read_bytes())
    arguments = ["base.txt", "ref.txt", "-s", "other.txt", "same.txt", "-m", "bleu", "chrf", "--confidence"]
    report = _report(capsys, *arguments)
    assert cli.main(arguments) == 0
    header, *rows = capsys.readouterr().out.split("\n")
    assert header.split() == ["system", "bleu", "chrf"]
    for row, (name, values) in zip(rows, report["systems"].items(), strict=False):
        cells = "  ".join(f"{one['score']:.2f} [{one['low']:.2f}, {one['high']:.2f}]" for one in values.values())
        mark = "*" if name == "other.txt" else " "
        expected = f"{name} {cells}".replace("]", f"]{mark}")
        assert row.split() == expected.split()
    assert rows[4:7] == [
        "120 sentences, scores in 0..100",
        "[low, high]: 95% bootstrap interval",
        "* differs from base.txt, p < 0.05, paired bootstrap test",
    ]
    assert rows[7:9] == [f"{name}: {text}" for name, text in report["signatures"].items()]
    assert report["systems"]["same.txt"]["bleu"]["p_value"] == 1
    assert len({len(row) for row in (rows[0] + " ", rows[1])}) == 1, "columns are aligned"


def test_signatures_tell_what_was_asked_for(folder: Path, capsys):
    signatures = _report(capsys, "base.txt", "ref.txt", "ref2.txt", "-lc", "-m", "bleu", "chrf++", "rouge", "--stem")[
        "signatures"
    ]
    assert "nrefs:2|avg:micro|unit:text|case:lc|eff:no|tok:13a|smooth:exp" in signatures["bleu"]
    assert "nw:2" in signatures["chrf++"]
    assert "stem:porter" in signatures["rouge"]
    assert "bs:" not in "".join(signatures.values())


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_signatures_name_the_draws_of_what_is_printed_only(test: str, folder: Path, capsys):
    signature = _report(capsys, "base.txt", "ref.txt", "-s", "other.txt", "-m", "chrf", "--test", test)["signatures"][
        "chrf"
    ]
    fields = dict(field.split(":") for field in signature.split("|"))
    assert {name: fields[name] for name in ("bs", "ar", "seed") if name in fields} == {
        "bootstrap": {"bs": "1000", "seed": "12345"},
        "randomization": {"ar": "10000", "seed": "12345"},
    }[test]


def _failing(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What the command says of files that cannot be scored: one line, and nothing else."""
    assert cli.main(list(arguments)) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("ngram-metrics: ")
    assert captured.err.count("\n") == 1
    return captured.err.removeprefix("ngram-metrics: ").strip()


@pytest.mark.parametrize("chunk", [2, 4096])
@pytest.mark.parametrize(("base", "other"), [(5, 3), (3, 5), (0, 5), (5, 0), (5, 6)])
def test_unequal_files_are_told_with_their_counts(base: int, other: int, chunk: int, folder: Path, capsys, monkeypatch):
    monkeypatch.setattr(cli, "CHUNK", chunk)
    _write(folder / "base.txt", ["a b"] * base)
    _write(folder / "ref.txt", ["a b"] * other)
    _write(folder / "ref2.txt", ["a b"] * 5)
    assert _failing(capsys, "base.txt", "ref.txt", "ref2.txt") == (
        f"the files have different numbers of lines: base.txt has {base}, ref.txt has {other}, ref2.txt has 5"
    )


def test_bytes_that_are_not_utf8_are_told_with_their_line(folder: Path, capsys):
    _write(folder / "ref.txt", "\n".join(REFERENCES[:99]).encode() + b"\nZo\xeb ran.\n" + b"a\n" * 20)
    assert _failing(capsys, "base.txt", "ref.txt") == "ref.txt, line 100: byte 3 of the line, 0xeb, is not UTF-8"


def test_files_that_cannot_be_read_are_named(folder: Path, capsys):
    assert "missing.txt" in _failing(capsys, "base.txt", "missing.txt")
    (folder / "empty.txt").touch()
    assert _failing(capsys, "empty.txt", "empty.txt") == "empty.txt is empty: expected at least one line"


def test_a_missing_package_is_named_with_its_extra(folder: Path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert _failing(capsys, "base.txt", "ref.txt") == "this command needs tqdm: pip install 'ngram-metrics[cli]'"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["base.txt"], "the following arguments are required: references"),
        (["base.txt", "ref.txt", "-m", "meteor"], "invalid choice: 'meteor'"),
        (["base.txt", "ref.txt", "--confidence", "95"], "'95' is no level between 0 and 1"),
        (["base.txt", "ref.txt", "--confidence", "high"], "'high' is no level between 0 and 1"),
        (["base.txt", "ref.txt", "--tokenizer", "14a"], "unknown tokenizer '14a'"),
        (["base.txt", "ref.txt", "--device", "gpu"], "--device gpu: "),
        (["base.txt", "ref.txt", "--device", "meta"], "--device meta: "),
        (["-", "-"], "only one file can be read from standard input"),
        (["base.txt", "ref.txt", "-s", "base.txt"], "a system is given twice"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else "",
)
def test_wrong_options_exit_with_2_and_say_why(arguments: list[str], told: str, folder: Path, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    assert stopped.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert told in captured.err


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_a_device_that_is_not_there_is_a_wrong_option(folder: Path, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["base.txt", "ref.txt", "--device", "cuda"])
    assert stopped.value.code == 2
    assert "--device cuda: " in capsys.readouterr().err


@pytest.mark.cuda
def test_a_gpu_gives_the_same_numbers(folder: Path, capsys):
    arguments = ["base.txt", "ref.txt", "-s", "other.txt", "-m", "bleu", "chrf", "rouge", "--confidence"]
    expected, found = _report(capsys, *arguments), _report(capsys, *arguments, "--device", "cuda")
    for path, values in expected["systems"].items():
        for name, entry in values.items():
            assert found["systems"][path][name] == pytest.approx(entry, abs=1e-9)


def test_version_and_help(capsys):
    for option, told in (("--version", f"ngram-metrics {ngram_metrics.__version__}"), ("--help", "hypotheses")):
        with pytest.raises(SystemExit) as stopped:
            cli.main([option])
        assert stopped.value.code == 0
        assert told in capsys.readouterr().out


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_long_input_has_a_progress_bar_on_a_terminal(folder: Path, capsys, monkeypatch):
    import tqdm

    bar = tqdm.tqdm
    monkeypatch.setattr(tqdm, "tqdm", lambda **options: bar(**{**options, "delay": 0}))
    monkeypatch.setattr(sys, "stderr", terminal := _Terminal())
    assert cli.main(["base.txt", "ref.txt"]) == 0
    assert "120 lines" in terminal.getvalue()


def test_the_command_as_a_process(folder: Path):
    """The exit code and nothing but the report, as a shell sees them; here of an error."""
    command = [sys.executable, "-m", "ngram_metrics.cli", "-", "ref.txt"]
    content = (folder / "base.txt").read_bytes().split(b"\n")[0]
    done = subprocess.run(command, input=content, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode().strip() == (
        "ngram-metrics: the files have different numbers of lines: - has 1, ref.txt has 120"
    )


def test_a_reader_that_has_gone_is_no_error_in_python(folder: Path):
    command = f"{sys.executable} -u -m ngram_metrics.cli base.txt ref.txt -m chrf | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("", "")


def test_a_level_is_printed_as_it_was_given(folder: Path, capsys):
    assert cli.main(["base.txt", "ref.txt", "-m", "chrf", "-c", "0.975"]) == 0
    assert "97.5% bootstrap interval" in capsys.readouterr().out
