"""What the command prints: sacrebleu's numbers on the same files, and the tables and the page of `evaluate`."""

import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sacrebleu.sacrebleu
from commands import BASE, OTHER, REFERENCES, SECOND, failing, printed, refused, report, scores, write

from ngram_metrics import Bleu, ROUGEScore, evaluate
from ngram_metrics import _cli as cli
from ngram_metrics.functional import rouge_score

#: sacrebleu's command leaves files open.
leaves_files_open = pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")


class _Stream(io.StringIO):
    def fileno(self) -> int:
        return 1


def of_sacrebleu(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> dict[str, float]:
    """What sacrebleu's command prints, with 13 digits."""
    stream = _Stream()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", ["sacrebleu", *arguments, "-w", "13", "-f", "json", "--no-color"])
        patch.setattr(sys, "stdin", stream)
        patch.setattr(sys, "stdout", stream)
        # It opens the descriptors of both anew, to set their encoding.
        patch.setattr(sacrebleu.sacrebleu, "open", lambda *args, **options: stream, raising=False)
        sacrebleu.sacrebleu.main()
    shown = json.loads(stream.getvalue())
    return {one["name"]: one["score"] for one in (shown if isinstance(shown, list) else [shown])}


#: A hypothesis and a reference, a line each or more.
FILES: dict[str, tuple[bytes | list[str], bytes | list[str]]] = {
    "as usual": (BASE, REFERENCES),
    "carriage returns on one side": (b"the cat sat.\r\nA dog ran!\r\n", b"the cat sat.\nA dog!\n"),
    "a carriage return inside": (b"the cat\rsat.\nA dog ran!\n", b"the cat sat.\nA dog ran off!\n"),
    "no last newline": (b"the cat sat.\nA dog ran!", b"the cat sat.\nA dog ran off!\n"),
    "empty lines": (b"the cat sat on it.\n\n\nA dog ran!\n", b"the cat sat on it.\n\nso it is\n\n"),
    "blanks at the ends": (b"  the cat sat. \t\n\xc2\xa0A dog ran!\n", b"the cat sat.\nA dog ran off! \n"),
    "a NUL": (b"the c\x00t sat on it\nA dog ran\n", b"the c\x00t sat on it\nA \x00 dog ran\n"),
    "rarer separators": (["the cat\u2028sat.", "A\x0bdog\x0cran!"], ["the cat sat.", "A\x85dog ran\x1c off!"]),
    "other scripts": (["東京は、雨。", "Zoë läuft 5,5 km."], ["東京は晴れ。", "Zoë lief 5,5 km."]),
}


@leaves_files_open
@pytest.mark.parametrize(("hypotheses", "references"), FILES.values(), ids=FILES)
def test_scores_are_sacrebleus_on_the_same_files(hypotheses, references, folder: Path, capsys, monkeypatch):
    write(folder / "base.txt", hypotheses)
    write(folder / "ref.txt", references)
    ours = scores(capsys, "base.txt", "-r", "ref.txt", "-m", "bleu,chrf,chrf++")
    theirs = of_sacrebleu(monkeypatch, "ref.txt", "-i", "base.txt", "-m", "bleu", "chrf")
    theirs |= of_sacrebleu(monkeypatch, "ref.txt", "-i", "base.txt", "-m", "chrf", "--chrf-word-order", "2")
    assert list(ours.values()) == pytest.approx([theirs[name] for name in ("BLEU", "chrF2", "chrF2++")], abs=1e-11)


@leaves_files_open
@pytest.mark.parametrize(
    "arguments", ["", "-lc", "-lc --chrf-lowercase", "-tok 13a", "-tok intl -lc", "-tok zh", "-tok char", "-tok none"]
)
def test_options_and_several_references_are_sacrebleus(arguments: str, folder: Path, capsys, monkeypatch):
    options = arguments.split()
    write(folder / "base.txt", [f"{line} Zoë, 5.5 東京" if number % 2 else line for number, line in enumerate(BASE)])
    write(folder / "ref2.txt", [line.upper() if number % 3 else "東京" for number, line in enumerate(SECOND)])
    expected = of_sacrebleu(monkeypatch, "ref.txt", "ref2.txt", "-i", "base.txt", "-m", "bleu", "chrf", *options)
    found = scores(capsys, "base.txt", "-r", "ref.txt", "ref2.txt", *options)
    assert found == pytest.approx({"bleu": expected["BLEU"], "chrf": expected["chrF2"]}, abs=1e-11)


NEPALI = (
    "पूर्व प्रधानमन्त्री शिंजो आबेको हत्याले जापान छ।",
    "पूर्व प्रधानमन्त्री शिंजो आबेको हत्याले जापान स्तब्ध छ।",
)


@pytest.mark.parametrize(
    ("tokenizer", "metric", "hypothesis", "reference", "score"),
    [
        # https://github.com/google/adk-python/issues/4122: 4 of 6 and of 5 words, 7 of 11 and of 9 characters.
        ("none", "rouge1", "これ は テスト 候補 の 応答", "これ は テスト の 正解", 8 / 11),
        ("unicode", "rouge1", "これ は テスト 候補 の 応答", "これ は テスト の 正解", 14 / 20),
        ("char", "rouge1", "これ は テスト 候補 の 応答", "これ は テスト の 正解", 14 / 20),
        # https://github.com/huggingface/datasets/issues/851
        ("unicode", "rouge1", "тест тест привет", "тест тест пока", 2 / 3),
        ("unicode", "rouge2", "тест тест привет", "тест тест пока", 1 / 2),
        # The text of https://github.com/huggingface/evaluate/issues/256, and without one of its 8 words.
        ("unicode", "rouge1", *NEPALI, 14 / 15),
        ("none", "rouge2", *NEPALI, 10 / 13),
        ("unicode", "rougeL", *NEPALI, 14 / 15),
        ("zh", "rouge1", "今天天气好。", "今天天气很好。", 12 / 13),
        ("unicode", "rouge1", "今天天气好。", "今天天气很好。", 10 / 11),
        ("char", "rouge1", "สวัสดี", "สวัสดี", 1),  # https://github.com/google/adk-python/issues/3111
        ("unicode", "rouge1", "สวัสดี", "สวัสดี", 1),
        # An Arabic noun without and with its article: 3 of 4 words.
        ("unicode", "rouge1", "قرأت كتاب جديد، أمس", "قرأت الكتاب جديد أمس.", 3 / 4),
        # A Korean particle, and a postposition with it: 2 of 3 and of 4 words.
        ("unicode", "rouge1", "고양이가 매트에 앉았다.", "고양이가 매트 위에 앉았다!", 4 / 7),
    ],
)
def test_rouge_of_other_scripts(tokenizer, metric, hypothesis, reference, score, folder: Path, capsys):
    write(folder / "base.txt", [hypothesis])
    write(folder / "ref.txt", [reference])
    options = ["-m", f"bleu,{metric}", "-tok", "char", "--rouge-tokenizer", tokenizer]
    assert scores(capsys, "base.txt", "-r", "ref.txt", *options)[metric] == pytest.approx(100 * score)
    values = rouge_score([hypothesis], [reference], rouge_keys=metric, tokenizer=tokenizer)
    assert values[f"{metric}_fmeasure"].item() == pytest.approx(score)


#: Two sentences in either order: the same sentences, and a longest common subsequence of 3 of 6 words.
SENTENCES = ["the cat sat", "it slept well"]


@pytest.mark.parametrize("separator", ["<q>", " ||| ", "[SEP]", "</s>"])
def test_a_text_separates_sentences_of_rouge_and_is_no_word(separator: str, folder: Path, capsys):
    write(folder / "base.txt", [separator.join(SENTENCES)])
    write(folder / "ref.txt", [separator.join(SENTENCES[::-1])])
    words = ["base.txt", "-r", "ref.txt", "-m", "rouge", "--sentence-separator", separator]
    expected = {"rouge1": 100, "rouge2": 80, "rougeL": 50, "rougeLsum": 100}
    assert scores(capsys, *words) == pytest.approx(expected)
    assert scores(capsys, *words, "--stem", "--rouge-tokenizer", "none") == pytest.approx(expected)


def test_line_feeds_in_json_lines_separate_sentences_too(folder: Path, capsys):
    hypothesis, reference = "a b\nc d<q>e f", "e f<q>c d\na b"
    for name, text in (("base.jsonl", hypothesis), ("ref.jsonl", reference)):
        write(folder / name, [json.dumps({"text": text})])
    words = ["base.jsonl:text", "-r", "ref.jsonl:text", "-m", "rougeLsum", "--sentence-separator", "<q>"]
    assert scores(capsys, *words) == {"rougeLsum": 100}


def test_other_metrics_read_the_separator_as_text(folder: Path, capsys):
    write(folder / "base.txt", ["the cat<q>sat"])
    write(folder / "ref.txt", ["the cat sat"])
    words = ["base.txt", "-r", "ref.txt", "-m", "chrf,rouge1", "--sentence-separator", "<q>"]
    found = scores(capsys, *words)
    assert found["rouge1"] == 100
    assert found["chrf"] == scores(capsys, "base.txt", "-r", "ref.txt", "-m", "chrf")["chrf"] < 100


def test_the_signature_names_the_separator(folder: Path, capsys):
    for separator, written in (("<q>", "<q>"), (" | ", " [U+007C] "), ("\u200e", "[U+200E]")):
        words = ["base.txt", "-r", "ref.txt", "-m", "rougeLsum", "--sentence-separator", separator]
        signature = report(capsys, *words)["signatures"]["rougeLsum"]
        assert f"|split:lines,{written}|" in signature


def test_a_separator_that_does_nothing_is_refused(folder: Path, capsys):
    words = ["base.txt", "-r", "ref.txt", "--sentence-separator"]
    assert refused(capsys, *words, "<q>", "-m", "bleu") == (
        "--sentence-separator is for rouge, and has no effect on bleu"
    )
    told = "argument --sentence-separator: the sentence separator is empty: expected the text between two"
    assert refused(capsys, *words, "", "-m", "rouge").startswith(told)


@pytest.mark.parametrize("form", ["table", "json", "markdown", "latex"])
def test_the_results_are_those_of_evaluate_in_each_form(form: str, folder: Path, capsys):
    """Also of groups, whose labels are a file."""
    labels = ["news" if index % 3 else "talks" for index in range(len(BASE))]
    write(folder / "labels.jsonl", [json.dumps({"domain": label}) for label in labels])
    write(folder / "labels.txt", "".join(f"{label}\r\n" for label in labels).encode())
    found = evaluate(
        {"base.txt": BASE, "other.txt": OTHER}, {"ref.txt": REFERENCES}, "bleu,rougeL", confidence=0.9, groups=labels
    )
    forms = {"table": f"{found}\n", "json": found.to_json(), "markdown": found.to_markdown(), "latex": found.to_latex()}
    words = ["base.txt", "other.txt", "-r", "ref.txt", "-m", "bleu,rougeL", "-c", "0.9", "-f", form]
    for groups in ("labels.txt", "labels.jsonl:domain"):
        assert printed(capsys, *words, "--groups", groups) == forms[form]


@pytest.mark.parametrize(
    ("options", "metrics", "tokenizer"),
    [
        ("-m chrf", "chrf", "13a"),
        ("-m overlap", "overlap", "13a"),
        ("-m bleu --tokenizer none", {"bleu": Bleu(tokenizer="none")}, "none"),
        ("-m rouge1 --stem", {"rouge1": ROUGEScore(rouge_keys="rouge1", use_stemmer=True)}, "13a"),
        ("-m rouge1 --rouge-tokenizer char", {"rouge1": ROUGEScore(rouge_keys="rouge1", tokenizer="char")}, "char"),
    ],
    ids=str,
)
def test_the_page_and_the_segments_are_those_of_evaluate(options, metrics, tokenizer, folder: Path, capsys):
    """The page shows the words of the tokenizer that is named, or of 13a."""
    words = [*options.split(), "-c", "--source", "ref2.txt", "--report", "page.html", "--segments", "lines.jsonl"]
    printed(capsys, "base.txt", "other.txt", "-r", "ref.txt", *words)
    found = evaluate({"base.txt": BASE, "other.txt": OTHER}, {"ref.txt": REFERENCES}, metrics)
    found.write_report("expected.html", tokenizer=tokenizer, sources=SECOND)
    assert Path("page.html").read_bytes() == Path("expected.html").read_bytes()
    columns = found.segments()
    lines = [json.loads(line) for line in Path("lines.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line.pop("line") - 1 for line in lines] == columns.pop("segment")
    assert [line.pop("system") for line in lines] == columns.pop("system")
    for name, column in columns.items():
        assert [line[name] for line in lines] == [100 * score for score in column]


def test_a_warning_is_one_line(folder: Path, capsys):
    for name, lines in {"base.txt": BASE, "other.txt": OTHER, "ref.txt": REFERENCES}.items():
        write(folder / name, lines[:49])
    assert cli.main(["base.txt", "other.txt", "-r", "ref.txt", "--test", "bootstrap"]) == 0
    told = capsys.readouterr().err
    assert told.startswith("ngram-metrics: warning: a bootstrap test needs at least 50 segments")
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    ("package", "options"), [("jinja2", "--report page.html"), ("MeCab", "-m bleu -tok ja-mecab")], ids=str
)
def test_a_missing_package_is_named(package: str, options: str, folder: Path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    assert "pip install" in failing(capsys, "base.txt", "-r", "ref.txt", *options.split())


@pytest.mark.parametrize("references", ["long.txt", pytest.param("long.jsonl:refs", marks=pytest.mark.slow)])
def test_a_report_of_too_many_texts_is_refused_before_anything_is_scored(
    references: str, folder: Path, capsys, monkeypatch
):
    monkeypatch.setattr("ngram_metrics._cli.command.evaluate", None)
    write(folder / "long.txt", ["a"] * 100_001)
    write(folder / "long.jsonl", ['{"refs": ["a"]}'] * 100_001)
    assert failing(capsys, "long.txt", "-r", f"ref={references}", "--report", "page.html") == (
        "a report has at most 200,000 texts, and 1 system and the references have 200,002: expected fewer segments, "
        "such as a sample of them, or fewer systems"
    )


ARGUMENTS = ["base.txt", "other.txt", "-r", "ref.txt", "-m", "bleu,rouge", "-c"]
VALUES = ["bleu", "rouge1", "rouge2", "rougeL", "rougeLsum"]


def _cell(entry: dict, digits: int = 2) -> str:
    shown = [f"{entry[name]:.{digits}f}" for name in ("score", "low", "high")]
    mark = "" if entry.get("p_value", 1) >= 0.05 else "+" if entry["difference"] > 0 else "-"
    return f"{shown[0]} [{shown[1]}, {shown[2]}]{mark}"


def test_details_are_in_the_table_by_value(folder: Path, capsys):
    found = report(capsys, *ARGUMENTS)
    assert found["confidence"] == 0.95
    blocks = printed(capsys, *ARGUMENTS, "--details").split("\n\n")
    assert len(blocks) == len(VALUES) + 1
    lines = [[re.split(r" {2,}", line) for line in block.splitlines()] for block in blocks[:-1]]
    details = [*(f"precision{order}" for order in range(1, 5)), "BP", "ratio", "hyp_len", "ref_len"]
    assert lines[0][0] == ["system", "bleu", "difference", "p", *details]
    assert lines[1][0] == ["system", "rouge1", "difference", "p", "precision", "recall"]
    entry = found["systems"]["other.txt"]["bleu"]
    assert lines[0][2] == [
        "other.txt",
        _cell(entry),
        f"{entry['difference']:+.2f} [{entry['difference_low']:.2f}, {entry['difference_high']:.2f}]",
        f"{entry['p_value']:.4f}",
        *(f"{precision:.2f}" for precision in entry["precisions"]),
        f"{entry['brevity_penalty']:.3f}",
        f"{entry['ratio']:.3f}",
        str(entry["hypothesis_length"]),
        str(entry["reference_length"]),
    ]
    entry = found["systems"]["base.txt"]["rouge1"]
    assert lines[1][1] == ["base.txt", _cell(entry), f"{entry['precision']:.2f}", f"{entry['recall']:.2f}"]


def test_a_table_wider_than_the_terminal_is_laid_out_by_value(folder: Path, capsys, monkeypatch):
    whole = printed(capsys, *ARGUMENTS)
    width = max(map(len, whole.partition("\n\n")[0].splitlines()))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    assert printed(capsys, *ARGUMENTS) == whole
    monkeypatch.setenv("COLUMNS", str(width - 1))
    *blocks, notes = printed(capsys, *ARGUMENTS).split("\n\n")
    assert [block.split()[1] for block in blocks] == VALUES
    assert all(len(line) < width for block in blocks for line in block.splitlines())
    assert notes == whole.partition("\n\n")[2]


@pytest.mark.parametrize("digits", [0, 5])
def test_digits(digits: int, folder: Path, capsys):
    full = report(capsys, *ARGUMENTS)["systems"]["other.txt"]["bleu"]
    short = report(capsys, *ARGUMENTS, "--digits", str(digits))["systems"]["other.txt"]["bleu"]
    assert short["score"] == round(full["score"], digits)
    assert short["precisions"] == [round(precision, digits) for precision in full["precisions"]]
    assert short["p_value"] == full["p_value"]
    assert short["hypothesis_length"] == full["hypothesis_length"]
    assert _cell(full, digits) in printed(capsys, *ARGUMENTS, "-w", str(digits))


def test_the_table_is_utf8_whatever_the_encoding_of_standard_output(folder: Path, monkeypatch):
    write(folder / "東京.txt", (folder / "base.txt").read_bytes())
    stream = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr(sys, "stdout", stream)
    assert cli.main(["東京.txt", "-r", "ref.txt"]) == 0
    assert "東京.txt" in stream.buffer.getvalue().decode("utf-8")


def test_a_name_that_is_no_unicode_is_shown_with_its_code_point(folder: Path, capsys):
    name = os.fsdecode(b"Zo\xeb.txt")
    write(folder / name, (folder / "base.txt").read_bytes())
    assert "Zo[U+DCEB].txt" in printed(capsys, name, "-r", "ref.txt")
    assert name in json.loads(printed(capsys, name, "-r", "ref.txt", "-f", "json"))["systems"]


class _InterruptedStream(io.BytesIO):
    """A stream of a user who presses Ctrl-C instead of typing."""

    def read(self, size: int | None = -1) -> bytes:
        signal.raise_signal(signal.SIGINT)
        return super().read(size)


class _InterruptedImport:
    """A finder of modules whose user presses Ctrl-C."""

    def find_spec(self, *_: object) -> None:
        signal.raise_signal(signal.SIGINT)


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Let Ctrl-C interrupt: a process that a shell has started in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("during", ["reading", "importing"])
def test_ctrl_c_ends_the_command_with_one_line(during: str, folder: Path, capsys, monkeypatch):
    if during == "reading":
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(_InterruptedStream()))
    else:
        monkeypatch.delitem(sys.modules, "ngram_metrics._cli.command")
        monkeypatch.setattr(sys, "meta_path", [_InterruptedImport()])
    assert cli.main(["-", "-r", "ref.txt"]) == 130
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "ngram-metrics: interrupted\n")


def test_no_error_is_printed_to_standard_output(folder: Path, capsys, monkeypatch):
    """Also if standard error is closed, as by ``2>&-`` in a shell."""
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", None)
        assert cli.main(["missing.txt", "-r", "ref.txt"]) == 1
        with pytest.raises(SystemExit, match="2"):
            cli.main(["base.txt", "-r", "ref.txt", "-f", "jsno"])
        assert sys.stderr is None
    assert capsys.readouterr().out == ""


def test_results_are_printed_with_standard_error_closed(folder: Path, capsys, monkeypatch):
    expected = printed(capsys, "base.txt", "-r", "ref.txt")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", None)
        assert printed(capsys, "base.txt", "-r", "ref.txt") == expected


class _FullStream(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")


def test_an_error_has_its_exit_code_where_standard_error_cannot_be_written(folder: Path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", _FullStream())
        assert cli.main(["missing.txt", "-r", "ref.txt"]) == 1


@pytest.mark.slow
@pytest.mark.usefixtures("ctrl_c")
def test_a_program_that_ctrl_c_ends_has_exit_code_130(folder: Path):
    os.mkfifo(folder / "pipe")
    command = [sys.executable, "-m", "ngram_metrics", "pipe", "-r", "ref.txt"]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with program, open(folder / "pipe", "wb"):  # waits until the program reads the pipe
        program.send_signal(signal.SIGINT)
        out, err = program.communicate()
    assert (program.returncode, out, err) == (130, "", "ngram-metrics: interrupted\n")
