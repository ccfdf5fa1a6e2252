"""The scripts that the pages of the frameworks show run as they are, and keep the best model."""

import re
from pathlib import Path

import pytest
from programs import EXAMPLES, TORCHRUN, start


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
@pytest.mark.parametrize("script", ["first_grpo", "first_causal"])
def test_a_script_with_trl_runs_and_logs_scores(script: str, tmp_path: Path):
    pytest.importorskip("trl", reason="TRL brings pandas, pyarrow and datasets: it is installed by hand")
    assert "chrf" in printed(script, tmp_path, "--out", str(tmp_path))


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
