"""The adapters for harnesses, in the real packages; those of verl and of NeMo Gym need none to be called."""

import asyncio
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import programs
import pytest
import sacrebleu
from documentation import DOCS, blocks
from harness_corpus import EXPECTED, OUTPUTS, REFERENCES, SINGLE
from oracles import close
from spm_model import trained

from ngram_metrics import ChrF, pair
from ngram_metrics.columns import StatisticsColumns
from ngram_metrics.functional import chrf_score, ter_score

HARNESSES = programs.EXAMPLES / "harnesses"


def needs(host: str, adapter: str) -> Any:
    """The adapter, if its host is installed."""
    pytest.importorskip(host, reason=f"{host} is not installed")
    return programs.example(f"harnesses/{adapter}")


def test_verl_calls_a_reward_with_keywords():
    reward = programs.example("harnesses/verl_reward").compute_score
    for output, references in zip(OUTPUTS[:5], REFERENCES, strict=False):
        for truth in (references[0], references, np.array(references, dtype=object)):
            found = reward(data_source="translation", solution_str=output, ground_truth=truth, extra_info={})
            compared = [truth] if isinstance(truth, str) else references
            chrf = pair.chrf(output, compared, beta=1.0)
            bleu = pair.bleu(output, compared, smooth="add-k", tokenizer="13a")
            assert found == {"score": (chrf + bleu) / 2, "chrf": chrf, "bleu": bleu}


def test_the_reward_of_verl_imports_no_torch():
    """Not for an array of references either, which is what verl reads from Parquet files."""
    program = """
import runpy, sys, numpy
reward = runpy.run_path(sys.argv[1])["compute_score"]
reward("", "a b c", numpy.array(["a b", "a b c"], dtype=object))
sys.exit("torch" in sys.modules)
"""
    subprocess.run([sys.executable, "-c", program, str(HARNESSES / "verl_reward.py")], check=True)


@pytest.mark.harnesses
def test_verl_loads_the_reward_from_its_file():
    pytest.importorskip("verl", reason="verl is not installed")
    from omegaconf import OmegaConf
    from verl.trainer.ppo.reward import get_custom_reward_fn

    path = str(HARNESSES / "verl_reward.py")
    chosen = {"path": path, "name": "compute_score", "reward_kwargs": {}}
    reward = get_custom_reward_fn(OmegaConf.create({"reward": {"custom_reward_function": chosen}}))
    found = reward(data_source="", solution_str=OUTPUTS[0], ground_truth=REFERENCES[0], extra_info={})
    assert found["chrf"] == pair.chrf(OUTPUTS[0], REFERENCES[0], beta=1.0)


@pytest.fixture
def flores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model of sentencepiece in the place of the one that sacrebleu would download."""
    from sacrebleu.tokenizers import tokenizer_spm

    (tmp_path / "models").mkdir()
    (tmp_path / "models" / Path(tokenizer_spm.SPM_MODELS["flores200"]["url"]).name).write_bytes(trained())
    monkeypatch.setattr(tokenizer_spm, "SACREBLEU_DIR", str(tmp_path))


def test_the_functions_for_nemo_gym_are_sacrebleus(flores: None):
    ours = programs.example("harnesses/nemo_gym_scores")
    streams = list(zip(*REFERENCES, strict=True))
    for tokenizer in ("13a", "zh", "flores200"):
        theirs = sacrebleu.corpus_bleu(OUTPUTS, streams, tokenize=tokenizer).score
        assert ours.corpus_bleu(OUTPUTS, streams, tokenize=tokenizer).score == close(theirs)
        for output, references in zip(OUTPUTS, REFERENCES, strict=True):
            theirs = sacrebleu.sentence_bleu(output, references, tokenize=tokenizer).score
            assert ours.sentence_bleu(output, references, tokenize=tokenizer).score == close(theirs)
    assert ours.corpus_chrf(OUTPUTS, streams).score == close(sacrebleu.corpus_chrf(OUTPUTS, streams).score)
    for output, references in zip(OUTPUTS, REFERENCES, strict=True):
        theirs = sacrebleu.sentence_chrf(output, references).score
        assert ours.sentence_chrf(output, references).score == close(theirs)


def of_nemo_gym(app: Any) -> tuple[list[float], dict[str, float]]:
    """The rewards of all rollouts, and the scores of the language pairs, by the server that NeMo Gym has."""
    from nemo_gym.openai_utils import NeMoGymResponse
    from nemo_gym.server_utils import ServerClient

    config = app.WmtTranslationResourcesServerConfig(
        host="localhost", port=1, entrypoint="", name="", domain="other", compute_comet=False
    )
    server = app.WmtTranslationResourcesServer(config=config, server_client=mock.Mock(spec=ServerClient))
    tasks = []
    for index, (output, reference) in enumerate(zip(OUTPUTS, SINGLE, strict=True)):
        content = [{"annotations": [], "text": f"so it is</think>{output}", "type": "output_text"}]
        message = {"id": "0", "content": content, "role": "assistant", "status": "completed", "type": "message"}
        options = {"parallel_tool_calls": False, "tool_choice": "auto", "tools": []}
        response = NeMoGymResponse(id="0", created_at=0, model="", object="response", output=[message], **options)
        request = app.WmtTranslationVerifyRequest(
            responses_create_params={"input": [{"role": "user", "content": ""}]},
            response=response,
            text="",
            translation=reference,
            source_language="en",
            target_language="de" if index % 2 else "fr",
        )
        tasks.append([asyncio.run(server.verify(request)).model_dump()])
    return [task[0]["reward"] for task in tasks], server.compute_metrics(tasks)


@pytest.mark.harnesses
def test_the_server_of_nemo_gym_has_the_same_rewards_and_scores(flores: None, monkeypatch: pytest.MonkeyPatch):
    ours = needs("nemo_gym", "nemo_gym_scores")
    # The server is a program, which finds its neighbours in its own folder.
    (package,) = import_module("resources_servers.wmt_translation").__path__
    monkeypatch.syspath_prepend(package)
    app = import_module("app")
    rewards, scores = of_nemo_gym(app)
    assert ours.replace_scores(app) == ["sentence_chrf", "corpus_chrf", "corpus_spbleu"]
    found, counted = of_nemo_gym(app)
    assert found == [close(reward) for reward in rewards]
    assert counted == {name: close(score) for name, score in scores.items()}
    assert {"en->de/chrF", "en->fr/spBLEU", "xx->xx/chrF"} <= counted.keys()
    assert min(found) < 0.9 < max(found)


def of_lighteval(metric: Any, references: list[list[str]], draws: int = 1000) -> dict[str, float]:
    """The row of a task in lighteval's results."""
    from lighteval.logging.info_loggers import MetricsLogger
    from lighteval.metrics import apply_metric
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.requests import Doc

    docs = [Doc(query="", choices=golds, gold_index=list(range(len(golds)))) for golds in references]
    logger = MetricsLogger()
    for found in apply_metric([ModelResponse(text=[output]) for output in OUTPUTS], docs, [metric]):
        logger.log("task|0", found)

    class Task:
        aggregation = staticmethod(metric.get_corpus_aggregations)

    logger.aggregate({"task|0": Task()}, bootstrap_iters=draws)
    return dict(logger.metric_aggregated["task|0"])


@pytest.mark.harnesses
def test_lighteval_scores_all_sentences_by_our_metrics_and_the_first_by_its_own():
    ours = needs("lighteval", "lighteval_metrics")
    from lighteval.metrics.metrics import Metrics

    for name, score in (("chrf", chrf_score), ("ter", ter_score)):
        found = of_lighteval(getattr(ours, name.upper()), [[reference] for reference in SINGLE])
        assert found[name] == pytest.approx(100 * score(OUTPUTS, SINGLE).item(), abs=1e-9)
        # lighteval 0.13.0 passes the references of a sentence where sacrebleu expects one of every sentence: it scores
        # the first output with the references of all. Where this fails, it has been mended, and the page is wrong.
        theirs = of_lighteval(Metrics[name].value, [[reference] for reference in SINGLE], draws=0)
        assert theirs[name] == pytest.approx(100 * score(OUTPUTS[:1], [SINGLE]).item(), abs=1e-9)
        assert abs(theirs[name] - found[name]) > 1


@pytest.mark.harnesses
def test_lighteval_gets_every_reference_and_a_standard_error_for_its_table():
    ours = needs("lighteval", "lighteval_metrics")
    for name, (score, error) in EXPECTED.items():
        metric = getattr(ours, name.upper())
        # No third entry: lighteval draws none of its own.
        assert of_lighteval(metric, REFERENCES) == {name: score, f"{name}_stderr": error}
        assert "nrefs:2|bs:1000|seed:12345|avg:micro" in str(metric.corpus_level_fn)


@pytest.mark.harnesses
def test_lighteval_is_told_that_several_outputs_have_no_score():
    ours = needs("lighteval", "lighteval_metrics")
    from lighteval.metrics.sample_preparator import GenerativeCorpusMetricInput

    items = [GenerativeCorpusMetricInput(golds=["a"], preds=["a", "b"])]
    with pytest.raises(ValueError, match="a document has 2 outputs: expected one"):
        ours.CHRF.corpus_level_fn.compute_corpus(items)


@pytest.mark.harnesses
@pytest.mark.parametrize("kind", ["pandas", "pyarrow"])
def test_a_stage_of_nemo_curator_adds_counts(kind: str):
    ours = needs("nemo_curator", "nemo_curator_stage")
    import pandas
    import pyarrow
    from nemo_curator.tasks import DocumentBatch

    columns = StatisticsColumns({"chrf": ChrF()}, preds="mt", target="text")
    stage = ours.CountStage(columns)
    frame = pandas.DataFrame({"mt": OUTPUTS, "text": SINGLE})
    data = frame if kind == "pandas" else pyarrow.Table.from_pandas(frame)
    batches = [DocumentBatch("made up", data[:25], _metadata={"from": "a test"}), DocumentBatch("made up", data[25:])]
    tasks = [stage.process(batch) for batch in batches]
    assert type(tasks[0].data) is type(data)
    assert tasks[0]._metadata == {"from": "a test"}
    assert set(stage.outputs()[1]) < set(tasks[0].get_columns())
    (row,) = columns.scores(pyarrow.concat_tables(task.to_pyarrow() for task in tasks), by=()).to_pylist()
    assert row == {"segments": len(OUTPUTS), "chrf": chrf_score(OUTPUTS, SINGLE).item()}


def of_page(line: str) -> dict[str, Any]:
    """What the one block of the page with this line defines."""
    (code,) = (code for code in blocks(DOCS / "guides" / "harnesses.md", "python") if line in code)
    names: dict[str, Any] = {}
    exec(code, names)
    return names


def test_the_reward_for_openrlhf_scores_the_answer_alone():
    found = of_page("def reward_func(")["reward_func"](
        ["Say it. So it is.<|im_end|>", "Say it. So"], ["Say it. "] * 2, ["So it is.", "So it is."]
    )
    assert found["rewards"].tolist() == close([1, pair.chrf("So", "So it is.", beta=1.0)], 1e-6)
    assert found["scores"] is found["extra_logs"]["chrf"] is found["rewards"]


@pytest.mark.harnesses
def test_dspy_calls_the_metric_in_threads():
    dspy = pytest.importorskip("dspy", reason="dspy is not installed")

    class Program(dspy.Module):
        def forward(self, index: int) -> Any:
            return dspy.Prediction(answer=OUTPUTS[index])

    examples = [
        dspy.Example(index=index, answer=reference).with_inputs("index") for index, reference in enumerate(SINGLE)
    ]
    found = dspy.Evaluate(devset=examples, metric=of_page("prediction.answer")["chrf"], num_threads=4)(Program())
    expected = [pair.chrf(output, reference) for output, reference in zip(OUTPUTS, SINGLE, strict=True)]
    assert [score for _, _, score in found.results] == expected


@pytest.mark.harnesses
def test_google_adk_judges_every_turn_and_their_mean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("google.adk", reason="google-adk is not installed")
    from google.adk.evaluation.eval_case import Invocation
    from google.adk.evaluation.eval_config import EvalConfig, get_eval_metrics_from_config
    from google.adk.evaluation.evaluator import EvalStatus
    from google.adk.evaluation.metric_evaluator_registry import register_custom_metrics_from_config
    from google.genai.types import Content, Part

    def turns(texts: list[str]) -> list[Any]:
        user = Content(parts=[Part(text="")])
        return [Invocation(user_content=user, final_response=Content(parts=[Part(text=text)])) for text in texts]

    (code,) = (code for code in blocks(DOCS / "guides" / "harnesses.md", "python") if "google.adk" in code)
    (tmp_path / "my_metrics.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    config = EvalConfig.model_validate(
        {"criteria": {"chrf": 0.7}, "custom_metrics": {"chrf": {"code_config": {"name": "my_metrics.chrf"}}}}
    )
    (metric, *_) = get_eval_metrics_from_config(config)
    evaluator = register_custom_metrics_from_config(config).get_evaluator(metric)
    found = asyncio.run(evaluator.evaluate_invocations(turns(OUTPUTS), turns(SINGLE)))
    expected = [pair.chrf(output, reference) for output, reference in zip(OUTPUTS, SINGLE, strict=True)]
    statuses = [EvalStatus.PASSED if score >= 0.7 else EvalStatus.FAILED for score in expected]
    assert [result.score for result in found.per_invocation_results] == expected
    assert [result.eval_status for result in found.per_invocation_results] == statuses
    assert (found.overall_score, found.overall_eval_status) == (sum(expected) / len(expected), EvalStatus.FAILED)
    assert set(statuses) == {EvalStatus.PASSED, EvalStatus.FAILED}
