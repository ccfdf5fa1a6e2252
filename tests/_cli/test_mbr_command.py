"""``ngram-metrics mbr``: the hypothesis of the highest mean score against all, by the peers' scores of pairs."""

import gzip
import json
from functools import cache
from pathlib import Path

import pytest
from commands import REFERENCES, failing, printed, write
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF
from systems import output

from ngram_metrics._cli import files, mbr_command

#: Of each segment five hypotheses.
SAMPLES = [list(several) for several in zip(*(output(REFERENCES[:30], 0.3, seed) for seed in range(5)), strict=True)]
LINES = [line for samples in SAMPLES for line in samples]
SCORES = {
    "chrf": lambda line, other: CHRF().sentence_score(line, [other]).score,
    "chrf++": lambda line, other: CHRF(word_order=2).sentence_score(line, [other]).score,
    "bleu": lambda line, other: BLEU(effective_order=True).sentence_score(line, [other]).score,
    "rouge2": lambda line, other: 100 * RougeScorer(["rouge2"]).score(other, line)["rouge2"].fmeasure,
}


@cache
def _score(metric: str, line: str, other: str) -> float:
    return SCORES[metric](line, other)


def _chosen(metric: str, weights: list[list[float]] | None = None) -> list[tuple[str, int, float]]:
    found = []
    for number, several in enumerate(SAMPLES):
        of_row = weights[number] if weights else [1.0] * len(several)
        utilities = [
            sum(weight * _score(metric, line, other) for other, weight in zip(several, of_row, strict=True))
            / sum(of_row)
            for line in several
        ]
        best = max(range(len(several)), key=lambda index: round(utilities[index], 9))
        found.append((several[best], best, utilities[best]))
    return found


@pytest.mark.parametrize(("chunk", "chunk_bytes"), [(7, 1 << 22), (256, 1 << 22), (256, 1)])
@pytest.mark.parametrize("metric", SCORES)
def test_the_choice_is_that_of_the_peers_scores(
    metric: str, chunk: int, chunk_bytes: int, folder: Path, capsys, monkeypatch
):
    monkeypatch.setattr(mbr_command, "CHUNK", chunk)
    monkeypatch.setattr(files, "CHUNK_BYTES", chunk_bytes)
    write(folder / "samples.txt", LINES)
    write(folder / "samples.jsonl", [json.dumps(samples) for samples in SAMPLES])
    expected = _chosen(metric)
    text = "".join(f"{line}\n" for line, _, _ in expected)
    assert printed(capsys, "mbr", "samples.txt", "-k", "5", "-m", metric) == text
    assert printed(capsys, "mbr", "samples.jsonl", "--metric", metric) == text
    shown = printed(capsys, "mbr", "samples.jsonl", "-m", metric, "-f", "jsonl").splitlines()
    for line, (hypothesis, index, utility) in zip(shown, expected, strict=True):
        assert json.loads(line) == pytest.approx(
            {"hypothesis": hypothesis, "index": index, "expected_utility": utility}, abs=1e-9
        )


@pytest.mark.parametrize("end", [" ", "\t", " \u3000 "])
def test_the_blank_at_the_end_of_a_hypothesis_is_written(end: str, folder: Path, capsys):
    lines = [f"the cat sat{end}", "a dog", " the cat sat down" + end, "   "]
    write(folder / "samples.txt", lines)
    write(folder / "samples.jsonl", [json.dumps(lines[:2]), json.dumps(lines[2:])])
    assert printed(capsys, "mbr", "samples.txt", "-k", "2") == f"{lines[0]}\n{lines[2]}\n"
    assert printed(capsys, "mbr", "samples.jsonl") == f"{lines[0]}\n{lines[2]}\n"


def test_what_no_line_of_text_holds_is_written_as_json(folder: Path, capsys):
    for chosen in ("\ud800 the cat", "the\ncat"):
        write(folder / "samples.jsonl", [json.dumps([chosen, chosen])])
        line = json.loads(printed(capsys, "mbr", "samples.jsonl", "--format", "jsonl"))
        assert line["hypothesis"] == chosen


@pytest.mark.parametrize("chunk_bytes", [1, 1 << 22])
def test_weights_are_those_of_the_references(chunk_bytes: int, folder: Path, capsys, monkeypatch):
    monkeypatch.setattr(files, "CHUNK_BYTES", chunk_bytes)
    weights = [[float((number * index) % 7 + 1) for index in range(5)] for number in range(len(SAMPLES))]
    expected = [line for line, _, _ in _chosen("chrf", weights)]
    assert expected != [line for line, _, _ in _chosen("chrf")]
    write(folder / "samples.txt", LINES)
    write(folder / "weights.txt", [str(weight) for row in weights for weight in row])
    write(folder / "samples.jsonl", [json.dumps({"s": s, "w": w}) for s, w in zip(SAMPLES, weights, strict=True)])
    by_line = printed(capsys, "mbr", "samples.txt", "-k", "5", "--weights", "weights.txt")
    assert by_line.splitlines() == expected
    assert printed(capsys, "mbr", "samples.jsonl:s", "--weights", "samples.jsonl:w") == by_line


@pytest.mark.parametrize("place", [0, 255, 256, 299])
def test_a_wrong_weight_is_told_with_its_line(place: int, folder: Path, capsys):
    """Whichever chunk of segments it is in."""
    write(folder / "lines", ["a"] * 600)
    write(folder / "weights", ["-1" if number == 2 * place + 1 else "1" for number in range(600)])
    told = failing(capsys, "mbr", "lines", "-k", "2", "--weights", "weights", "-o", "out")
    assert told == f"weights, line {2 * place + 1}: expected weights from 0 to 1e308, not all 0 for a segment"
    write(folder / "weights", ["x" if number == 2 * place + 1 else "1" for number in range(600)])
    told = failing(capsys, "mbr", "lines", "-k", "2", "--weights", "weights", "-o", "out")
    assert told == f"weights, line {2 * place + 2}: 'x' is not a number"
    write(folder / "samples", ['["a", "b"]'] * 300)
    for wrong, expected in (
        ("[1, -1]", "expected weights from 0 to 1e308"),
        ("[1]", "1 weight: expected 2, one for each"),
    ):
        write(folder / "weights", [wrong if number == place else "[1, 1]" for number in range(300)])
        told = failing(capsys, "mbr", "samples", "--weights", "weights", "-o", "out")
        assert told.startswith(f"weights, line {place + 1}: {expected}")


def test_files_are_packed_and_output_goes_to_a_file_or_for_a_dash_to_standard_output(folder: Path, capsys):
    write(folder / "samples.gz", gzip.compress("".join(f"{line}\n" for line in LINES).encode()))
    assert printed(capsys, "mbr", "samples.gz", "-k", "5", "-o", "chosen.txt") == ""
    assert (folder / "chosen.txt").read_text().splitlines() == [line for line, _, _ in _chosen("chrf")]
    assert printed(capsys, "mbr", "samples.gz", "-k", "5", "--output", "-") == (folder / "chosen.txt").read_text()
    assert not (folder / "-").exists()


def test_options_reach_the_metric(folder: Path, capsys):
    write(folder / "samples.txt", ["A B", "A B", "a b", "a b", "a b"])
    assert printed(capsys, "mbr", "samples.txt", "-k", "5") == "a b\n"
    assert printed(capsys, "mbr", "samples.txt", "-k", "5", "--chrf-lowercase") == "A B\n"
    assert printed(capsys, "mbr", "samples.txt", "-k", "5", "-m", "bleu", "-lc") == "A B\n"


@pytest.mark.parametrize(
    ("content", "arguments", "told"),
    [
        ("a\nb\nc\n", "-k 2", "n has 3 lines: expected a multiple of 2, for -k 2"),
        ("", "-k 2", "n is empty: expected at least one segment"),
        ("a\n", "", "n, line 1: 'a' is not JSON: expected JSON lines"),
        ('["a"]\n[]\n', "", "n, line 2: expected a list of strings, or pass -k for lines of text"),
        ('["a"]\n"a"\n', "", "n, line 2: expected a list of strings"),
        ('["a"]\n["a", 5]\n', "", "n, line 2: expected a list of strings"),
        (f'["a"{100_000 * ",1"}]\n'.replace("1", '""'), "", "n, line 1: 100001 hypotheses: expected at most 100000"),
        ('["a\\nb"]\n', "", "the hypothesis chosen for segment 1 has several lines: pass --format jsonl"),
        ('["\\ud800"]\n', "", "the hypothesis chosen for segment 1 has an unpaired surrogate: pass --format jsonl"),
        ('["a"]\n["b"]\n', "--weights w", "w, line 2: 2 weights: expected 1, one for each hypothesis"),
        ('["a"]\n["b"]\n["c"]\n', "--weights w", "n and w have different numbers of lines: 3 and 2"),
        ('["a"]\n["b", "c"]\n', "--weights v", "v, line 2: expected weights from 0 to 1e308, not all 0 for a segment"),
        ('["a"]\n["b", "c"]\n', "--weights t", "t, line 1: expected weights from 0 to 1e308"),
        ('["a"]\n["b"]\n', "--weights r", "r, line 2: expected weights from 0 to 1e308"),
        ("a\nb\n", "-k 2 --weights s", "s, line 1: expected weights from 0 to 1e308"),
        ("a\nb\n", "-k 2 --weights w", "w, line 1: '[1]' is not a number"),
        ("a\nb\n", "-k 2 --weights u", "u, line 1: expected weights from 0 to 1e308, not all 0 for a segment"),
    ],
)
def test_files_that_cannot_be_decoded_are_told(content: str, arguments: str, told: str, folder: Path, capsys):
    for name, text in {
        "o": "as it was",
        "n": content,
        "w": "[1]\n[1, 2]\n",
        "v": "[1]\n[0, 0]\n",
        "u": "0\n0\n",
        "t": f"[{10**400}]\n[1, 2]\n",
        "s": f"{10**400}\n1\n",
        "r": "[1]\n5\n",
    }.items():
        (folder / name).write_text(text)
    assert failing(capsys, "mbr", "n", *arguments.split(), "-o", "o").startswith(told)
    assert (folder / "o").read_text() == "as it was"
