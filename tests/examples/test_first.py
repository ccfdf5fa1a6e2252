"""The scripts that the pages of the frameworks show run as they are, and keep the best model."""

import json
import re
from pathlib import Path

import pytest
import sacrebleu
from programs import EXAMPLES, SUPPORT, TORCHRUN, start

from ngram_metrics.functional import bleu_score, chrf_score

#: The words of trl_program.py, by their ids.
WORDS = ["[PAD]", "[END]", "the", "cat", "sat", "on", "a", "mat"]


def printed(script: str, folder: Path, *options: str, launch: tuple[str, ...] = ()) -> str:
    folder.mkdir(exist_ok=True)
    return start(EXAMPLES / f"{script}.py", *options, launch=launch, folder=folder)


def chrf_by_epoch(text: str) -> list[float]:
    return [float(value) for value in re.findall(r"^epoch.*chrf': ([\d.]+)", text, re.MULTILINE)]


@pytest.mark.programs
@pytest.mark.parametrize("script", ["first_lightning", "first_ignite"])
def test_scores_rise_and_the_best_model_is_kept(script: str, tmp_path: Path):
    scores = chrf_by_epoch(printed(script, tmp_path))
    assert scores[0] < 0.5 < max(scores)
    assert len(scores) < 20  # stopped early
    assert len([path for path in tmp_path.rglob("*") if path.suffix in (".ckpt", ".pt")]) == 1
    # What the first run saved is no start of another.
    assert chrf_by_epoch(printed(script, tmp_path)) == scores


@pytest.mark.programs
def test_a_script_with_a_folder_of_checkpoints_runs_twice(tmp_path: Path):
    pytest.importorskip("accelerate")
    pytest.importorskip("transformers")
    first, second = (printed("first_trainer", tmp_path).splitlines()[-1] for _ in range(2))
    assert first == second


@pytest.mark.slow
def test_two_processes_score_what_one_does(tmp_path: Path):
    # The models go through other steps: what is compared is the best score, that of a model that has converged.
    alone = chrf_by_epoch(printed("first_ignite", tmp_path / "1"))
    together = chrf_by_epoch(printed("first_ignite", tmp_path / "2", launch=TORCHRUN))
    lightning = chrf_by_epoch(printed("first_lightning", tmp_path / "3", "--devices", "2"))
    assert max(alone) == max(together) == max(lightning)


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_trl_logs_the_rewards_that_one_process_gives_the_completions_of_all(processes: int, tmp_path: Path):
    pytest.importorskip("trl", reason="TRL brings pandas, pyarrow and datasets: it is installed by hand")
    start(SUPPORT / "trl_program.py", tmp_path, launch=TORCHRUN * (processes - 1), folder=tmp_path)
    ranks = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(processes)]
    assert [rank["processes"] for rank in ranks] == [processes] * processes
    for step, entry in enumerate(ranks[0]["log"]):
        calls = [rank["calls"][0][step] for rank in ranks]
        texts, ids, references = ([item for call in calls for item in call[part]] for part in range(3))
        assert len(texts) == 4 * processes
        alone = chrf_score(texts, references, average="none")
        assert entry["rewards/chrf/mean"] == pytest.approx(alone.mean().item(), abs=1e-6)
        answers = [[WORDS.index(word) for word in text.split()] for text in references]
        alone = bleu_score(ids, answers, smooth="add-k", average="none")
        assert entry["rewards/bleu/mean"] == pytest.approx(alone.mean().item(), abs=1e-6)
    assert len(ranks[0]["log"]) == 2


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("trainer", ["transformers", "sft"])
def test_a_causal_model_is_scored_by_what_it_generates(trainer: str, processes: int, tmp_path: Path):
    pytest.importorskip("trl", reason="TRL brings pandas, pyarrow and datasets: it is installed by hand")
    program = SUPPORT / "causal_program.py"
    text = start(program, tmp_path, trainer, launch=TORCHRUN * (processes - 1), folder=tmp_path)
    result = json.loads(re.search(r"^\{\"processes.*\}$", text, re.MULTILINE)[0])
    assert result["processes"] == processes
    assert [entry["eval_segments"] for entry in result["log"]] == [len(result["references"])] * len(result["log"])
    chrf = sacrebleu.corpus_chrf(result["texts"], [result["references"]]).score / 100
    assert chrf > 0.1
    scores = [entry["eval_chrf"] for entry in result["log"]]
    assert max(scores) == result["best"] == result["values"]["eval_chrf"] == pytest.approx(chrf, abs=1e-6)


ACCELERATE = ("-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2", "--main_process_port", "0")


@pytest.mark.programs
@pytest.mark.parametrize("launch", [TORCHRUN, ACCELERATE], ids=["torchrun", "own"])
def test_two_processes_of_accelerate_print_what_the_page_shows(launch: tuple[str, ...], tmp_path: Path):
    pytest.importorskip("accelerate")
    text = printed("first_accelerate", tmp_path, launch=launch)
    values = dict(re.findall(r"^(\w.*?) +(\{.*\})$", text, re.MULTILINE))
    assert list(values) == ["natural loop", "gathered", "own shares", "one process"]
    assert values["gathered"] == values["own shares"] == values["one process"]
    assert values["natural loop"] != values["one process"]
    page = (EXAMPLES.parent / "docs" / "guides" / "distributed.md").read_text(encoding="utf-8")
    assert "\n".join(f"{name:14} {scores}" for name, scores in values.items()) in page


@pytest.mark.programs
def test_what_goes_wrong_with_accelerate_goes_wrong_as_the_page_says(tmp_path: Path):
    pytest.importorskip("accelerate")
    text = start(SUPPORT / "accelerate_claims.py", launch=TORCHRUN, folder=tmp_path)
    claims = json.loads(re.search(r"^\{.*\}$", text, re.MULTILINE)[0])
    assert claims["segments"] == [56, 56]
    twice, once = claims["synchronized"], claims["alone"]
    assert twice["chrf"] == pytest.approx(once["chrf"], abs=1e-12)
    assert once["chrf_low"] < twice["chrf_low"] < twice["chrf_high"] < once["chrf_high"]
    assert claims["prepare"]
