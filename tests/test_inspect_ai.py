"""The scorer in inspect_ai: in a made-up host, and in the real one, which finds it by its entry point."""

import asyncio
import subprocess
import sys
from math import nan
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from harness_corpus import EXPECTED, OUTPUTS, REFERENCES

from ngram_metrics import ChrF
from ngram_metrics.columns import StatisticsColumns
from ngram_metrics.functional import chrf_score


class MadeUpScore(SimpleNamespace):
    """inspect_ai's ``Score``."""

    @classmethod
    def unscored(cls) -> Any:
        return cls(value=nan)


def made_up_host() -> dict[str, ModuleType]:
    """What the package imports of inspect_ai 0.3: decorators that return what they decorate, and classes."""
    host, of_scores, of_solvers = map(ModuleType, ("inspect_ai", "inspect_ai.scorer", "inspect_ai.solver"))
    of_scores.metric = of_scores.scorer = lambda **options: lambda function: function
    of_scores.Score = MadeUpScore
    of_scores.SampleScore = lambda score, sample_id=None: SimpleNamespace(score=score, sample_id=sample_id)
    of_scores.Metric = of_scores.Scorer = of_scores.Target = of_solvers.TaskState = object
    return {module.__name__: module for module in (host, of_scores, of_solvers)}


@pytest.fixture(autouse=True, params=["made up", pytest.param("installed", marks=pytest.mark.harnesses)])
def inspect_ai(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "installed":
        pytest.importorskip("inspect_ai", reason="inspect_ai is not installed")
        return
    modules = made_up_host()
    # Set before it is deleted, so that what the test imports is forgotten after it.
    for name, module in (*modules.items(), ("ngram_metrics.inspect_ai", modules["inspect_ai"])):
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "ngram_metrics.inspect_ai")


#: Tests in which the host runs.
in_the_host = pytest.mark.parametrize(
    "inspect_ai", [pytest.param("installed", marks=pytest.mark.harnesses)], indirect=True
)


def run_task(tmp_path: Path, scorer: Any, epochs: int = 1) -> Any:
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.solver import solver

    @solver
    def made() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            state.output.completion = OUTPUTS[int(state.input_text)] + " again" * (state.epoch - 1)
            return state

        return solve

    samples = [Sample(input=str(number), target=several) for number, several in enumerate(REFERENCES)]
    task = Task(dataset=samples, solver=made(), scorer=scorer, epochs=epochs)
    (log,) = eval(task, model="mockllm/model", log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    return log


def values_of(log: Any) -> dict[str, float]:
    (found,) = log.results.scores
    return {name: metric.value for name, metric in found.metrics.items()}


def check_scores(values: dict[str, float]) -> None:
    metric = ChrF(confidence=0.95)
    metric.update(OUTPUTS, REFERENCES)
    expected = {name: value.item() for name, value in metric.compute().items()}
    assert expected["chrf_low"] < expected["chrf_high"]
    assert {name: values[name] for name in expected} == expected
    assert values["segments"] == len(OUTPUTS)
    assert values["bleu"] == pytest.approx(EXPECTED["bleu"][0] / 100, abs=1e-15)


@in_the_host
def test_inspect_adds_the_counts_of_samples(tmp_path: Path):
    from ngram_metrics.inspect_ai import corpus_counts

    check_scores(values_of(run_task(tmp_path, corpus_counts())))


@in_the_host
def test_inspect_finds_the_scorer_by_its_name(tmp_path: Path):
    from inspect_ai.log import read_eval_log

    log = run_task(tmp_path, None)
    command = [sys.executable, "-m", "inspect_ai", "score", log.location, "--scorer", "ngram_metrics/corpus_counts"]
    subprocess.run([*command, "--overwrite"], check=True, capture_output=True, cwd=tmp_path)
    check_scores(values_of(read_eval_log(log.location)))


@in_the_host
def test_inspect_adds_the_counts_of_epochs_and_averages_none(tmp_path: Path):
    from ngram_metrics.inspect_ai import corpus_counts

    outputs = [output + again for output in OUTPUTS for again in ("", " again")]
    references = [several for several in REFERENCES for _ in range(2)]
    found = values_of(run_task(tmp_path, corpus_counts(), epochs=2))
    # A sample is drawn with its epochs.
    columns = StatisticsColumns({"chrf": ChrF()}, preds="output", target="references")
    sample = [number for number in range(len(OUTPUTS)) for _ in range(2)]
    sums = columns.sums({"output": outputs, "references": references, "sample": sample}, by="sample")
    scores = columns.scores(sums, confidence=0.95, by=())
    assert {name: found[name] for name in scores} == {name: one[0].item() for name, one in scores.items()}
    assert scores["segments"].tolist() == [len(outputs)]
    assert scores["chrf"].item() == chrf_score(outputs, references).item()


def test_counts_that_were_averaged_are_refused():
    from inspect_ai.scorer import SampleScore, Score

    from ngram_metrics.inspect_ai import COLUMNS, corpus_scores

    value = dict.fromkeys(COLUMNS.names, 2.5)
    with pytest.raises(TypeError, match="float"):
        corpus_scores()([SampleScore(score=Score(value=value), sample_id=1)])


def counts_of_samples() -> Any:
    """The counts of each sample, by name."""
    from ngram_metrics.inspect_ai import corpus_counts

    count = corpus_counts()
    scores = [
        asyncio.run(count(SimpleNamespace(output=SimpleNamespace(completion=output)), references))
        for output, references in zip(OUTPUTS, REFERENCES, strict=True)
    ]
    assert [score.answer for score in scores] == OUTPUTS
    return [score.value for score in scores]


def test_scores_that_name_no_sample_are_samples_of_their_own():
    from inspect_ai.scorer import SampleScore, Score

    from ngram_metrics.inspect_ai import corpus_scores

    check_scores(corpus_scores()([SampleScore(score=Score(value=value)) for value in counts_of_samples()]))


def test_a_sample_that_was_not_scored_is_named():
    from inspect_ai.scorer import SampleScore, Score

    from ngram_metrics.inspect_ai import corpus_scores

    scores = [SampleScore(score=Score(value=value), sample_id="first") for value in counts_of_samples()[:1]]
    scores.append(SampleScore(score=Score.unscored(), sample_id="second"))
    with pytest.raises(ValueError, match=r"^sample 'second' has no counts: its score is nan$"):
        corpus_scores()(scores)
