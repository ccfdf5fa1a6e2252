"""The numbers: sacrebleu's command on the same files, and those of ``evaluate`` and of the functions."""

import json
import sys
from pathlib import Path

import pytest
from commands import (
    BASE,
    OTHER,
    REFERENCES,
    SECOND,
    failing,
    leaves_files_open,
    of_sacrebleu,
    printed,
    report,
    scores,
    write,
)

from ngram_metrics import ROUGEScore, evaluate
from ngram_metrics import _cli as cli
from ngram_metrics.functional import rouge_score

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


NEPALI = (
    "पूर्व प्रधानमन्त्री शिंजो आबेको हत्याले जापान छ।",
    "पूर्व प्रधानमन्त्री शिंजो आबेको हत्याले जापान स्तब्ध छ।",
)


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
    "options",
    [
        [],
        ["-lc"],
        ["-lc", "--chrf-lowercase"],
        *(["-tok", name] for name in ("13a", "intl", "zh", "char", "none")),
        ["-lc", "-tok", "intl"],
    ],
    ids=" ".join,
)
def test_options_and_several_references_are_sacrebleus(options: list[str], folder: Path, capsys, monkeypatch):
    write(folder / "base.txt", [f"{line} Zoë, 5.5 東京" if number % 2 else line for number, line in enumerate(BASE)])
    write(folder / "ref2.txt", [line.upper() if number % 3 else "東京" for number, line in enumerate(SECOND)])
    expected = of_sacrebleu(monkeypatch, "ref.txt", "ref2.txt", "-i", "base.txt", "-m", "bleu", "chrf", *options)
    found = scores(capsys, "base.txt", "-r", "ref.txt", "ref2.txt", *options)
    assert found == pytest.approx({"bleu": expected["BLEU"], "chrf": expected["chrF2"]}, abs=1e-11)


def test_words_are_stemmed_for_rouge(folder: Path, capsys):
    write(folder / "base.txt", ["the cats ran"])
    write(folder / "ref.txt", ["the cat ran"])
    for options, score in (([], 200 / 3), (["--stem"], 100)):
        shown = report(capsys, "base.txt", "-r", "ref.txt", "-m", "rouge1", *options)
        assert shown["systems"]["base.txt"]["rouge1"]["score"] == pytest.approx(score)
        assert ("stem:porter" in shown["signatures"]["rouge1"]) == bool(options)


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
    metrics = {metric: ROUGEScore(rouge_keys=metric, tokenizer=tokenizer)}
    assert evaluate([hypothesis], [reference], metrics).results["system"][metric].score == pytest.approx(score)


@pytest.mark.parametrize("form", ["table", "json"])
def test_the_segments_of_each_label_are_scored(form: str, folder: Path, capsys):
    labels = ["news" if index % 3 else "talks" for index in range(len(BASE))]
    write(folder / "domains.txt", labels)
    write(folder / "domains.jsonl", [json.dumps({"domain": label}) for label in labels])
    expected = evaluate({"base.txt": BASE}, {"ref.txt": REFERENCES}, groups=labels, confidence=None)
    wanted = f"{expected}\n" if form == "table" else expected.to_json()
    assert "talks" in wanted
    (folder / "windows.txt").write_bytes("".join(f"{label}\r\n" for label in labels).encode())
    for groups in ("domains.txt", "windows.txt", "domains.jsonl:domain"):
        assert printed(capsys, "base.txt", "-r", "ref.txt", "--groups", groups, "-f", form) == wanted


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
