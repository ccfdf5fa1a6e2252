"""One place has the numbers: those of `evaluate`, the command and the page are equal to the last bit."""

import json
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from commands import BASE, OTHER, REFERENCES, SECOND, report, write
from commands import folder as folder
from paired import TESTS, counted
from report_pages import data_of
from sacrebleu.metrics import BLEU, CHRF
from systems import output

from ngram_metrics import Bleu, ChrF, ROUGEScore, evaluate, functional
from ngram_metrics._core.metrics.registry import REGISTRY
from ngram_metrics.ignite import ChrF as IgniteChrF
from ngram_metrics.significance import paired_bootstrap

SYSTEMS = {"base": BASE, "other": OTHER}
#: Of different lengths, and not side by side.
ARTICLES = [f"article {index % 70 % 52}" for index in range(120)]
LABELS = [("news", "talk", "rare")[index % 7 % 3 if index else 2] for index in range(120)]


@pytest.mark.parametrize(("count", "names"), [(2, ",".join(REGISTRY)), (16, "bleu,rouge")])
def test_numbers_are_those_of_the_command_and_of_the_page(count: int, names: str, folder: Path, capsys):
    systems = {f"{number}.txt": output(REFERENCES, number / 40, number) for number in range(count)}
    for name, lines in systems.items():
        write(folder / name, lines)
    words = [*systems, "-r", "ref.txt", "ref2.txt", "-m", names, "-c", "0.9"]
    rounded = report(capsys, *words, "-w", "2", "--report", "page.html", "--segments", "lines.jsonl")
    found = evaluate(systems, {"ref.txt": REFERENCES, "ref2.txt": SECOND}, names, confidence=0.9)
    full = report(capsys, *words)
    assert json.loads(found.to_json()) == full
    scores = {
        system: {value: entry["score"] for value, entry in each.items()} for system, each in full["systems"].items()
    }
    assert {s: {value: 100 * each.score for value, each in r.items()} for s, r in found.results.items()} == scores
    page = data_of(folder / "page.html")
    for entries, results in zip(page["entries"], rounded["systems"].values(), strict=True):
        assert entries == {value: [each[name] for name in ("score", "low", "high")] for value, each in results.items()}
    lines = [json.loads(line) for line in (folder / "lines.jsonl").read_text().splitlines()]
    columns = found.segments()
    assert [line["line"] - 1 for line in lines] == columns.pop("segment")
    assert [line["system"] for line in lines] == columns.pop("system")
    assert {name: [line[name] for line in lines] for name in lines[0] if name not in ("line", "system")} == {
        name: [100 * score for score in scores] for name, scores in columns.items()
    }


@pytest.mark.parametrize(
    "references",
    [
        [REFERENCES, SECOND],
        list(zip(REFERENCES, SECOND, strict=True)),
        {"first": REFERENCES, "second": SECOND},
        [[first, second] for first, second in zip(REFERENCES, SECOND, strict=True)],
    ],
    ids=["lists", "tuples of segments", "mapping", "lists of segments"],
)
def test_references_have_any_form(references):
    found = evaluate({"system": BASE}, references, "bleu", confidence=None).results["system"]["bleu"]
    expected = BLEU().corpus_score(BASE, [REFERENCES, SECOND])
    assert 100 * found.score == pytest.approx(expected.score, abs=1e-11)
    assert found.precisions == pytest.approx([value / 100 for value in expected.precisions])
    assert (found.hypothesis_length, found.reference_length) == (expected.sys_len, expected.ref_len)
    assert (found.brevity_penalty, found.ratio) == pytest.approx((expected.bp, expected.ratio))


def test_without_a_word_in_the_references_no_length_is_compared():
    found = evaluate(["a b"], [""], "bleu", confidence=None).results["system"]["bleu"]
    assert (found.score, found.ratio, found.brevity_penalty) == (0, 0, 1)


def test_segments_may_have_different_numbers_of_references(tmp_path: Path):
    references = [
        [first, second] if index % 2 else first
        for index, (first, second) in enumerate(zip(REFERENCES, SECOND, strict=True))
    ]
    found = evaluate(SYSTEMS, references)
    metric = Bleu(average="micro", smooth="exp", tokenizer="13a")
    metric.update(BASE, [[reference] if isinstance(reference, str) else reference for reference in references])
    assert found.results["base"]["bleu"].score == metric.compute().item()
    assert found.signatures["bleu"].startswith("nrefs:1-2|")
    found.write_report(tmp_path / "page.html")
    data = data_of(tmp_path / "page.html")
    assert data["references"] == ["1", "2"]
    texts, orders = data["of_references"]["texts"][1], [of_system[1] for of_system in data["reference_orders"]]
    assert texts == [second if index % 2 else None for index, second in enumerate(SECOND)]
    for index, steps in enumerate(data["of_references"]["steps"][1]):
        assert {len(steps) / 2} == {len(of_system[index]) for of_system in orders}
        counts = [len(of_stream[index]) / 2 for of_stream in data["of_references"]["steps"]]
        assert data["lengths"][index] == round(sum(counts) / (1 + index % 2), 1)


@pytest.mark.parametrize("metric", ["bleu", "chrf", "rouge"])
def test_groups_are_corpora_of_their_own(metric: str):
    found = evaluate(
        SYSTEMS, [REFERENCES, SECOND], metric, groups={"domain": LABELS, "half": [i < 60 for i in range(120)]}
    )
    assert list(found.groups) == ["domain", "half"]
    assert list(found.groups["domain"]) == list(dict.fromkeys(LABELS))
    assert evaluate(SYSTEMS, [REFERENCES, SECOND], metric, groups=LABELS).groups == found.groups["domain"]
    for name, labels in (("domain", LABELS), ("half", [i < 60 for i in range(120)])):
        for label, results in found.groups[name].items():
            inside = [index for index, other in enumerate(labels) if other == label]
            parts = {system: [lines[index] for index in inside] for system, lines in SYSTEMS.items()}
            references = [[lines[index] for index in inside] for lines in (REFERENCES, SECOND)]
            alone = evaluate(parts, references, metric).results
            for system, values in alone.items():
                for value, expected in values.items():
                    wanted = {part: each for part, each in expected.as_dict().items() if part != "p_value"}
                    got = results[system][value].as_dict()
                    assert got.pop("precisions", ()) == pytest.approx(wanted.pop("precisions", ()))
                    assert got == pytest.approx(wanted, abs=1e-12)
                    assert got["segments"] == len(inside)
    entries = json.loads(found.to_json())["groups"]["half"]["True"]["other"]
    for value, result in found.groups["half"][True]["other"].items():
        assert (entries[value]["score"], entries[value]["segments"]) == (100 * result.score, 60)


def test_wins_ties_and_losses_are_those_of_sacrebleus_segments():
    systems = {"base": BASE, "other": [*BASE[:40], *OTHER[40:]], "worse": output(REFERENCES, 0.6, 5)}
    found = evaluate(systems, REFERENCES)
    for value, peer in (("bleu", BLEU(effective_order=True)), ("chrf", CHRF())):
        of_systems = {
            name: [peer.sentence_score(one, [other]).score for one, other in zip(lines, REFERENCES, strict=True)]
            for name, lines in systems.items()
        }
        for name in ("other", "worse"):
            apart = [ours - base for ours, base in zip(of_systems[name], of_systems["base"], strict=True)]
            ties = sum(abs(each) < 1e-9 for each in apart)
            wins = sum(each >= 1e-9 for each in apart)
            result = found.results[name][value]
            assert (result.wins, result.ties, result.losses) == (wins, ties, 120 - wins - ties)
            assert result.difference == result.score - found.results["base"][value].score
        assert found.results["base"][value].wins is None


def test_metrics_are_those_that_were_given_and_stay_as_they_are():
    rouge, chrf = ROUGEScore(rouge_keys=("rouge1", "rougeL"), use_stemmer=True), IgniteChrF(word_order=2)
    metrics = {"BLEU-2": Bleu(ngram=2), "ROUGE": rouge, "recall": rouge["rougeL_recall"], "chrF++": chrf}
    found = evaluate(BASE, REFERENCES, metrics, confidence=None)
    results = found.results["system"]
    assert list(results) == ["BLEU-2", "rouge1", "rougeL", "recall", "chrF++"]
    assert list(found.signatures) == list(metrics)
    expected = functional.rouge_score(BASE, REFERENCES, use_stemmer=True)
    for key in ("rouge1", "rougeL"):
        parts = (results[key].score, results[key].precision, results[key].recall)
        wanted = [expected[f"{key}_{name}"].item() for name in ("fmeasure", "precision", "recall")]
        assert parts == pytest.approx(wanted, abs=1e-15)
    assert results["recall"].score == results["rougeL"].recall
    assert results["recall"].precision is None
    assert results["BLEU-2"].score == pytest.approx(functional.bleu_score(BASE, REFERENCES, ngram=2).item(), abs=1e-15)
    assert rouge.update_count == 0


@pytest.mark.parametrize("correction", ["holm", None])
@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_the_test_is_the_one_asked_for(test: str, correction: str | None):
    systems = {**SYSTEMS, "alike": output(REFERENCES, 0.3, seed=12)}
    expected = TESTS[test](counted(ChrF, systems, REFERENCES), "base", seed=7, correction=correction)
    found = evaluate(systems, REFERENCES, "chrf", test=test, correction=correction, seed=7)
    for name in ("other", "alike"):
        assert found.results[name]["chrf"].p_value == expected[name]["chrf"].p_value
    told = f"test:{test}|alternative:two-sided|correction:{correction or 'none'}|"
    assert told in found.signatures["chrf"]
    assert "seed:7|" in found.signatures["chrf"]
    assert f"paired {test} test{'' if correction else ', not corrected'}" in str(found)


def _known(results, *without: str):
    """The parts of all results but those that clusters change."""
    return {
        (system, value): {name: part for name, part in result.as_dict().items() if name not in without}
        for system, of_system in results.items()
        for value, result in of_system.items()
    }


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_clusters_are_drawn_for_intervals_and_tests_and_nothing_else(test: str):
    outputs = {"base": BASE, "alike": output(REFERENCES, 0.3, seed=12)}
    options: dict[str, Any] = {"metrics": "bleu,rouge", "confidence": 0.9, "test": test, "seed": 7}
    found, plain = evaluate(outputs, REFERENCES, clusters=ARTICLES, **options), evaluate(outputs, REFERENCES, **options)
    drawn = ("low", "high", "difference_low", "difference_high", "p_value")
    assert _known(found.results, *drawn) == _known(plain.results, *drawn)
    assert found.segments() == plain.segments()
    for name, value, make in (("bleu", "bleu", Bleu), ("rouge1", "rouge1_fmeasure", ROUGEScore)):
        systems = counted(make, outputs, REFERENCES, confidence=0.9)
        expected = TESTS[test](systems, "base", seed=7, correction="holm", clusters=ARTICLES)["alike"]
        assert found.results["alike"][name].p_value == expected[value].p_value
        assert found.results["alike"][name].p_value != plain.results["alike"][name].p_value
        for system, metric in systems.items():
            alone = paired_bootstrap({system: metric}, system, confidence=0.9, seed=7, clusters=ARTICLES)[system][value]
            ends = found.results[system][name]
            assert (ends.low, ends.high) == pytest.approx((alone.low, alone.high), abs=1e-12)
            assert (ends.low, ends.high) != (plain.results[system][name].low, plain.results[system][name].high)
    assert "|clusters:52|seed:7|" in found.signatures["rouge"]
    assert json.loads(found.to_json())["clusters"] == 52
    assert "[low, high]: 90% bootstrap interval of 52 clusters\n+ better, - worse than base: p < 0.05" in str(found)
    assert f"paired {test} test of 52 clusters" in str(found)
    assert "cluster" not in f"{plain}{plain.to_json()}"


def test_to_pandas_has_a_row_for_each_system_and_value():
    pandas = pytest.importorskip("pandas", reason="pandas is optional, and not in every environment of the tests")
    frame = evaluate(pandas.DataFrame(SYSTEMS)["base"], pandas.Series(REFERENCES), "bleu,rouge").to_pandas()
    assert list(frame["value"]) == ["bleu", "rouge1", "rouge2", "rougeL", "rougeLsum"]
    frame = evaluate(SYSTEMS, REFERENCES).to_pandas()
    assert list(frame["system"]) == ["base", "base", "other", "other"]
    found = evaluate(SYSTEMS, REFERENCES).results["other"]["chrf"]
    assert {**frame.iloc[2].dropna()} == {"system": "other", "value": "chrf", **found.as_dict()}


def test_a_group_without_a_label_does_not_look_like_all_segments():
    pytest.importorskip("pandas", reason="pandas is optional, and not in every environment of the tests")
    systems = {"base": ["a b", "c"], "other": ["a b", "d"]}
    found = evaluate(systems, ["a b", "c"], "chrf", confidence=None, groups=["", "news"])
    assert list(found.to_pandas()["group"]) == ["", "", "(empty)", "(empty)", "news", "news"]
    assert str(found).splitlines()[5].split()[0] == "(empty)"
    named = evaluate(systems, ["a b", "c"], "chrf", confidence=None, groups={"domain": ["", "news"]})
    assert list(named.to_pandas()["group"])[2] == "domain=(empty)"


def test_a_word_in_another_unicode_form_is_warned_of_once():
    composed, decomposed = (unicodedata.normalize(form, "die Größe") for form in ("NFC", "NFD"))
    systems = {"a": ["the cat", decomposed], "b": ["the cat", composed], "c": [composed, composed]}
    told = "^system 'b', segment 1: 'Größe' has another Unicode form than in the refer"
    with pytest.warns(UserWarning, match=told) as seen:
        evaluate(systems, ["the cat", decomposed], "chrf", confidence=None)
    assert [warning.filename for warning in seen] == [__file__]


def test_to_pandas_without_pandas_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match=r"^to_pandas needs pandas: pip install pandas$"):
        evaluate(["a"], ["a"], confidence=None).to_pandas()


def test_segments_whose_scores_differ_in_the_last_bit_are_ties():
    """F of 2 words of 5 with 1 match, and of 10 with 2, is 1/3 both times."""
    base, other = ["w0 x0 x1 x2"], ["w0 w1 x0 x1 x2 x3 x4 x5 x6 x7"]
    found = evaluate({"base": base, "other": other}, ["w0 w1"], {"rouge": ROUGEScore(rouge_keys="rouge1")})
    result = found.results["other"]["rouge1"]
    assert result.difference is not None
    assert 0 < abs(result.difference) < 1e-15
    assert (result.wins, result.ties, result.losses) == (0, 1, 0)


def test_a_cluster_has_in_a_group_the_segments_of_the_group():
    found = evaluate(OTHER, REFERENCES, "chrf", confidence=0.95, groups=LABELS, clusters=ARTICLES)
    for label, results in found.groups.items():
        inside = [index for index, other in enumerate(LABELS) if other == label]
        lines, references, articles = ([side[index] for index in inside] for side in (OTHER, REFERENCES, ARTICLES))
        assert results == evaluate(lines, references, "chrf", confidence=0.95, clusters=articles).results
