"""The scripts at the top of the pages of the frameworks: one process and two write the same, of each segment once."""

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest
import sacrebleu
from documentation import DOCS, blocks
from logged import events, texts
from programs import TORCHRUN, start
from rouge_score.rouge_scorer import RougeScorer

#: The prefix of the values of each framework, and the file of its outputs.
FRAMEWORKS = {
    "lightning": ("val", "outputs/val/step-0.jsonl"),
    "ignite": ("validation", "outputs/step-1.jsonl"),
    "hugging_face": ("eval", "outputs/step-0.jsonl"),
}


def script(framework: str) -> str:
    (code,) = (code for code in blocks(DOCS / "guides" / f"{framework}.md", "python") if "\nSEGMENTS = " in code)
    return code


def segments(framework: str) -> list[tuple[str, str, str]]:
    """The sources, hypotheses and references of a script, as they stand there."""
    return re.findall(r'^    \("(.*)", "(.*)", "(.*)"\),$', script(framework), re.MULTILINE)


def run(framework: str, processes: int, folder: Path) -> str:
    """Run a script, and return what it prints."""
    program = folder / "script.py"
    program.write_text(script(framework).replace("devices=1", f"devices={processes}"), encoding="utf-8")
    # Lightning starts its processes itself.
    launch = TORCHRUN if processes > 1 and framework != "lightning" else ()
    return start(program, launch=launch, folder=folder)


def expected_lines(framework: str) -> list[dict[str, Any]]:
    rouge = RougeScorer(["rougeL"])
    bleu = sacrebleu.BLEU(effective_order=True)
    return [
        {
            "source": source,
            "hypothesis": hypothesis,
            "references": [reference],
            "bleu": pytest.approx(bleu.sentence_score(hypothesis, [reference]).score),
            "rougeL": pytest.approx(rouge.score(reference, hypothesis)["rougeL"].fmeasure),
        }
        for source, hypothesis, reference in segments(framework)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.filterwarnings("ignore:It is recommended to enable `effective_order`")
def test_a_script_logs_and_writes_all_segments(framework: str, processes: int, tmp_path: Path):
    if framework == "hugging_face" and importlib.util.find_spec("accelerate") is None:
        pytest.skip("the Trainer needs accelerate")
    prefix, file = FRAMEWORKS[framework]
    printed = run(framework, processes, tmp_path)
    lines = (tmp_path / file).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == expected_lines(framework)
    if framework == "lightning":
        assert f"{lines[0]}\n" in blocks(DOCS / "guides" / "lightning.md", "text")

    _, hypotheses, references = map(list, zip(*segments(framework), strict=True))
    bleu = sacrebleu.corpus_bleu(hypotheses, [references])
    assert re.search(rf"^{Path(file).stem} .* {bleu.score:.2f} \[", printed, re.MULTILINE)
    rouge = [line["rougeL"].expected for line in expected_lines(framework)]
    expected = {"bleu": bleu.score, "bleu_brevity_penalty": bleu.bp, "rougeL": sum(rouge) / len(rouge)}
    expected["bleu_length_ratio"] = bleu.sys_len / bleu.ref_len
    (log,) = {path.parent for path in (tmp_path / "runs").rglob("events.*")}
    logged = events(log)
    for name, value in expected.items():
        (point,) = logged.Scalars(f"{prefix}/{name}")
        assert point.value == pytest.approx(value, rel=1e-6)
    ((_, table),) = texts(log, f"{prefix}/samples")
    # The first two, and the worst two of the others.
    scores = [line["bleu"].expected for line in expected_lines(framework)]
    worst = sorted(range(2, len(scores)), key=scores.__getitem__)[:2]
    assert re.findall(r"^\| (\d) \|", table, re.MULTILINE) == [str(line + 1) for line in (0, 1, *worst)]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_scripts_have_the_same_segments(framework: str):
    assert len(segments(framework)) == 7
    assert segments(framework) == segments("lightning")
