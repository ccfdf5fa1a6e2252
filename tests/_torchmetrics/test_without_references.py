"""A metric without references: alone, beside metrics that have them, in both frameworks, evaluate and the command."""

import json
from pathlib import Path
from typing import Any

import pytest
from ignite.engine import Engine
from torchmetrics import MetricCollection

from ngram_metrics import Bleu, Repetition, evaluate, mbr
from ngram_metrics import _cli as cli
from ngram_metrics.hugging_face import Reward
from ngram_metrics.ignite import Repetition as OfIgnite

TEXTS = ["so it goes so it goes", "so it goes", "a a a a a"]
VALUE = pytest.approx((1 / 4 + 0 + 2 / 3) / 3)


def test_it_needs_hypotheses_only_and_reads_no_references():
    metric = Repetition(ngram=3)
    assert metric(TEXTS).item() == VALUE
    for target in (None, ["one"], 5, [[]] * 3):
        metric.reset()
        metric.update(TEXTS, target)
        metric.update(preds=TEXTS, target=target)
        assert metric.compute().item() == VALUE
    with pytest.raises(TypeError, match=r"^Repetition.update: missing a required argument: 'preds'$"):
        metric.update()
    with pytest.raises(TypeError, match=r"^texts is an int"):
        metric.update(5)
    assert metric.compute().item() == VALUE
    assert metric.signature.startswith("avg:macro|unit:text|")


def test_beside_a_metric_with_references():
    collection = MetricCollection([Bleu(ngram=1), Repetition(ngram=3)])
    for count in (collection.update, collection):
        count(TEXTS, TEXTS)
        count(preds=TEXTS, target=TEXTS)
        assert collection.compute() == {"Bleu": 1.0, "Repetition": VALUE}
        collection.reset()


def test_in_an_engine_of_ignite():
    engine = Engine(lambda _, batch: (batch, None))
    OfIgnite(ngram=3, output_transform=lambda output: output).attach(engine, "loops")
    assert engine.run([TEXTS, TEXTS]).metrics["loops"] == VALUE
    metric = OfIgnite(ngram=3)
    metric.update((TEXTS, ["one"]))
    assert metric.compute() == VALUE


def test_systems_without_references():
    systems: dict[str, Any] = {"loops": ["a a a a a"] * 60, "goes": ["so it goes"] * 60}
    found = evaluate(systems, None, {"repetition": Repetition(ngram=2)})
    result = found.results["goes"]["repetition"]
    assert (result.score, result.wins, result.losses) == (0, 60, 0)
    assert result.p_value < 0.01
    assert "60 segments, no references, scores on a 0-100 scale" in str(found)
    assert evaluate(systems, None, "repetition").results["loops"]["repetition"].score == 0.5
    assert evaluate(systems, systems["goes"], "repetition,bleu").results["loops"]["repetition"].score == 0.5
    with pytest.raises(ValueError, match=r"^references is None, and the metric 'bleu' compares texts with references$"):
        evaluate(systems, None, "repetition,bleu")
    with pytest.raises(ValueError, match="the evaluation has none: expected references"):
        found.write_report("page.html")


def test_the_command_without_references(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any):
    monkeypatch.chdir(tmp_path)
    Path("loops").write_text("a a a a a\n" * 3)
    Path("goes").write_text("so it goes\n" * 3)
    for words in (["loops", "goes"], ["-i", "loops", "goes"]):
        assert cli.main([*words, "-m", "repetition", "-f", "json", "-c", "--segments", "lines.tsv"]) == 0
        printed = json.loads(capsys.readouterr().out)
        assert printed["references"] == []
        assert [each["repetition"]["score"] for each in printed["systems"].values()] == [50, 0]
        assert Path("lines.tsv").read_text().splitlines()[1:3] == ["1\tloops\t50.0", "1\tgoes\t0.0"]
    for words, told in (
        (["-m", "repetition,bleu"], "no reference: expected SYSTEM... -r REFERENCE"),
        ([], "no reference: expected SYSTEM... -r REFERENCE"),
        (
            ["-m", "repetition", "--report", "page.html"],
            "--report shows what matches the references, and there is none",
        ),
    ):
        with pytest.raises(SystemExit):
            cli.main(["loops", *words])
        assert told in capsys.readouterr().err


def test_what_looks_for_the_highest_score_refuses_it():
    for call in (lambda: mbr.decode(Repetition(), [["a", "b"]]), lambda: Reward(Repetition())):
        with pytest.raises(ValueError, match="looks for the highest score, and a lower repetition is better"):
            call()
    assert not Repetition.higher_is_better
