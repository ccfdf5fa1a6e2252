"""Intervals and paired tests: sacrebleu's within chance, and those of the metrics exactly."""

import json
import re
from pathlib import Path

import pytest
from commands import BASE, FILES, OTHER, REFERENCES, failing, printed, report, write
from sacrebleu.metrics import BLEU, CHRF

from ngram_metrics import Bleu, ChrF, ROUGEScore, evaluate
from ngram_metrics import _cli as cli


def test_intervals_are_sacrebleus_within_chance(folder: Path, capsys):
    found = report(capsys, "base.txt", "-r", "ref.txt", "--confidence")["systems"]["base.txt"]
    for name, peer in (("bleu", BLEU()), ("chrf", CHRF())):
        expected = peer.corpus_score(BASE, [REFERENCES], n_bootstrap=1000)
        assert (found[name]["high"] - found[name]["low"]) / 2 == pytest.approx(float(expected._ci), rel=0.15)


@pytest.mark.parametrize("confidence", [None, 0.9])
def test_intervals_and_signatures_are_those_of_the_metrics_whoever_is_beside(confidence, folder: Path, capsys):
    level = [] if confidence is None else ["-c", str(confidence)]
    together = report(capsys, "base.txt", "other.txt", "-r", "ref.txt", "-m", "bleu,rouge,chrf", *level)
    for system, lines in (("base.txt", BASE), ("other.txt", OTHER)):
        alone = report(capsys, system, "-r", "ref.txt", "-m", "bleu,rouge,chrf", *level)
        expected = {}
        for name, metric in {"bleu": Bleu, "rouge": ROUGEScore, "chrf": ChrF}.items():
            counted = metric(confidence=confidence)
            counted.update(lines, REFERENCES)
            value = counted.compute()
            named = value if isinstance(value, dict) else {name: value}
            expected |= {key.replace("_fmeasure", ""): 100 * one.item() for key, one in named.items()}
            assert alone["signatures"][name] == counted.signature
        ends = {"score": "", "low": "_low", "high": "_high"} if confidence else {"score": ""}
        for value, entry in together["systems"][system].items():
            for found in (entry, alone["systems"][system][value]):
                assert {key: found[key] for key in ends} == pytest.approx(
                    {key: expected[value + end] for key, end in ends.items()}, abs=1e-9
                )


def test_the_bootstrap_of_few_lines_warns_once(folder: Path, capsys):
    for name in ("base.txt", "other.txt", "ref.txt"):
        write(folder / name, FILES[name][:49])
    assert cli.main(["base.txt", "other.txt", "-r", "ref.txt", "--test", "bootstrap"]) == 0
    assert capsys.readouterr().err.startswith("ngram-metrics: warning: a bootstrap test needs at least 50 segments")
    printed(capsys, "base.txt", "other.txt", "-r", "ref.txt")


def test_signatures_tell_what_was_asked_for(folder: Path, capsys):
    words = ["base.txt", "-r", "ref.txt", "ref2.txt", "-lc", "-m", "bleu,chrf++,rouge", "--stem"]
    signatures = report(capsys, *words)["signatures"]
    assert "nrefs:2|avg:micro|unit:text|case:lc|eff:no|tok:13a|smooth:exp" in signatures["bleu"]
    assert "nw:2" in signatures["chrf++"]
    assert "stem:porter" in signatures["rouge"]
    assert "bs:" not in "".join(signatures.values())


#: What a signature says of the test by default.
TEST = {"test": "randomization", "alternative": "two-sided", "correction": "holm"}


@pytest.mark.parametrize(
    ("options", "told", "draws"),
    [
        ([], "randomization test with Holm's correction", {"ar": "10000", "seed": "12345", **TEST}),
        (
            ["-c", "--correction", "none"],
            "randomization test, not corrected",
            {"bs": "1000", "ar": "10000", "seed": "12345", **TEST, "correction": "none"},
        ),
        (
            ["--test", "bootstrap"],
            "bootstrap test with Holm's correction",
            {"bs": "1000", "seed": "12345", **TEST, "test": "bootstrap"},
        ),
    ],
)
def test_the_table_and_the_signatures_name_the_test_that_was_made(options, told, draws, folder: Path, capsys):
    words = ["base.txt", "other.txt", "-r", "ref.txt", "-m", "chrf", *options]
    assert f"\n+ better, - worse than base.txt: p < 0.05, paired {told}\n" in printed(capsys, *words)
    fields = dict(field.split(":") for field in report(capsys, *words)["signatures"]["chrf"].split("|"))
    assert {name: fields[name] for name in ("bs", "ar", "seed", *TEST) if name in fields} == draws


LABELS = ["news" if index % 3 else "talks" for index in range(len(BASE))]
DOCUMENTS = [f"document {index // 4}" for index in range(len(BASE))]


@pytest.mark.covering
@pytest.mark.parametrize("systems", [{"base.txt": BASE}, {"base.txt": BASE, "other.txt": OTHER}], ids=len)
@pytest.mark.parametrize("options", [[], ["-c", "0.9"]], ids=str)
def test_columns_are_groups_in_all_formats(systems: dict[str, list[str]], options: list[str], folder: Path, capsys):
    write(folder / "domains", LABELS)
    write(folder / "documents", DOCUMENTS)
    groups = {"domain": LABELS, "document": DOCUMENTS}
    confidence = 0.9 if options else None
    expected = evaluate(systems, REFERENCES, groups=groups, confidence=confidence)
    arguments = [*systems, "-r", "ref.txt", *options, "--column", "domain=domains", "--column", "document=documents"]
    found = report(capsys, *arguments)
    wanted = json.loads(expected.to_json())
    assert found["groups"] == wanted["groups"]
    assert found["systems"] == wanted["systems"]
    assert printed(capsys, *arguments, "-f", "tsv") == expected.to_tsv()
    table = printed(capsys, *arguments)
    assert "news" in table
    assert "document 3" in table


def test_clusters_are_drawn_as_evaluate_draws_them(folder: Path, capsys):
    write(folder / "documents", DOCUMENTS)
    expected = json.loads(evaluate({"base.txt": BASE, "other.txt": OTHER}, REFERENCES, clusters=DOCUMENTS).to_json())
    found = report(capsys, "base.txt", "other.txt", "-r", "ref.txt", "-c", "--clusters", "documents")
    assert found["systems"] == expected["systems"]
    assert found["clusters"] == expected["clusters"] == 30
    write(folder / "table", [f"{label}\t{index}" for index, label in enumerate(DOCUMENTS)])
    assert report(capsys, "base.txt", "other.txt", "-r", "ref.txt", "-c", "--clusters", "table:1") == found
    write(folder / "documents", ["one"] * len(BASE))
    told = failing(capsys, "base.txt", "-r", "ref.txt", "-c", "--clusters", "documents")
    assert told == "documents: clusters has the same label for all 120 segments, 'one': expected at least two clusters"
    write(folder / "documents", ["one", "two", " ", *DOCUMENTS[3:]])
    told = failing(capsys, "base.txt", "-r", "ref.txt", "-c", "--clusters", "documents")
    assert told == "documents, line 3: the line is blank: expected the document of the segment"


def test_clusters_stand_beside_labels_and_sources(folder: Path, capsys):
    sources = [f"source {index}" for index in range(len(BASE))]
    for name, lines in {"documents": DOCUMENTS, "domains": LABELS, "sources": sources}.items():
        write(folder / name, lines)
    beside = {"groups": {"domain": LABELS}, "clusters": DOCUMENTS}
    expected = json.loads(evaluate({"base.txt": BASE, "other.txt": OTHER}, REFERENCES, **beside).to_json())
    arguments = ["--column", "domain=domains", "--clusters", "documents", "--source", "sources", "--report", "page"]
    found = report(capsys, "base.txt", "other.txt", "-r", "ref.txt", "-c", *arguments)
    for name in ("systems", "groups", "clusters"):
        assert found[name] == expected[name]
    page = (folder / "page").read_text(encoding="utf-8")
    assert '"sources":["source 0","source 1",' in page
    assert '"name":"domain","labels":["talks","news"]' in page


def _fails(capsys, *arguments: str) -> tuple[int, str, list[str]]:
    code = cli.main([*arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err.splitlines()


@pytest.mark.parametrize("options", ["", "-c 0.8", "-c --correction none", "-f json"])
def test_a_loss_ends_with_3_after_the_same_output(options: str, folder: Path, capsys):
    better = ["other.txt", "base.txt", "-r", "ref.txt", *options.split()]
    expected = printed(capsys, "base.txt", "other.txt", *better[2:])
    assert _fails(capsys, "base.txt", "other.txt", *better[2:], "--fail-if-worse", "0") == (0, expected, [])
    expected = printed(capsys, *better)
    code, out, told = _fails(capsys, *better, "--fail-if-worse", "0")
    assert (code, out) == (3, expected)
    values = ["bleu", "chrf"]
    systems = {"other.txt": OTHER, "base.txt": BASE}
    results = evaluate(systems, REFERENCES, ",".join(values), confidence=0.8 if "0.8" in options else 0.95).results
    for value, line in zip(values, told, strict=True):
        assert line.startswith(f"ngram-metrics: base.txt is worse than other.txt by more than 0 {value}: difference ")
        result = results["base.txt"][value]
        ends = [result.difference, result.difference_low, result.difference_high]
        numbers = [float(number) / 100 for number in re.findall(r"[+-]\d+\.\d\d", line)]
        assert numbers == pytest.approx(ends, abs=5.1e-5)
        # The better end of the interval decides.
        best = -100 * ends[2]
        for margin, is_told in ((best - 0.001, True), (best + 0.001, False)):
            lines = _fails(capsys, *better, "--fail-if-worse", str(margin))[2]
            assert any(f" {value}: difference" in line for line in lines) == is_told


def test_a_loss_is_told_after_the_file_is_written(folder: Path, capsys):
    code, out, told = _fails(
        capsys, "other.txt", "base.txt", "-r", "ref.txt", "-m", "chrf", "--fail-if-worse", "0.5", "-o", "out"
    )
    assert (code, out, len(told)) == (3, "", 1)
    assert "chrf" in (folder / "out").read_text()


def test_equal_systems_are_no_loss(folder: Path, capsys):
    assert _fails(capsys, "base.txt", "again=base.txt:1", "-r", "ref.txt", "--fail-if-worse", "0")[::2] == (0, [])


def test_ranks_are_those_of_all_segments_and_groups_have_none(folder: Path, capsys):
    write(folder / "domain.txt", ["news", "talk"] * (len(BASE) // 2) + ["news"] * (len(BASE) % 2))
    arguments = ("base.txt", "other.txt", "-r", "ref.txt", "-m", "bleu", "-c", "--column", "domain=domain.txt")
    lines = printed(capsys, *arguments, "--details", "-f", "tsv").splitlines()
    rows = [dict(zip(lines[0].split("\t"), line.split("\t"), strict=True)) for line in lines[1:]]
    assert {row["group"] for row in rows} == {"", "domain=news", "domain=talk"}
    for row in rows:
        ranks = row["first_rank"], row["last_rank"]
        assert ranks == ("", "") if row["group"] else all(rank in {"1", "2"} for rank in ranks)
