"""The examples of training do what their first lines say: scores, files, going on, one process or two."""

import csv
import json
import re
from pathlib import Path

import pytest
from documentation import DOCS, blocks
from programs import EXAMPLES, TORCHRUN, example, only, run, start

from ngram_metrics.functional import chrf_score

HUGGING_FACE = (DOCS / "guides" / "hugging_face.md").read_text(encoding="utf-8")


def printed(script: str, folder: Path, *options: str, launch: tuple[str, ...] = ()) -> str:
    folder.mkdir(exist_ok=True)
    return start(EXAMPLES / f"{script}.py", *options, launch=launch, folder=folder)


def score_lines(text: str) -> list[str]:
    return re.findall(r"^epoch \d+ \{.*\}$", text, re.MULTILINE)


def chrf_by_epoch(text: str) -> list[float]:
    return [float(value) for value in re.findall(r"^epoch.*chrf': ([\d.]+)", text, re.MULTILINE)]


def output_on_page(guide: str, first_word: str) -> str:
    """The output that a guide shows, in the block that begins with a word."""
    (output,) = (block for block in blocks(DOCS / "guides" / f"{guide}.md", "text") if block.startswith(first_word))
    return output


@pytest.mark.slow
@pytest.mark.parametrize("framework", ["lightning", "ignite"])
def test_scores_rise_and_the_best_model_is_kept(framework: str, tmp_path: Path):
    script = f"first_{framework}"
    text = printed(script, tmp_path)
    lines = [f"{line}\n" for line in score_lines(text)]
    assert "".join(lines[:3]) == output_on_page(framework, "epoch")
    scores = chrf_by_epoch(text)
    assert scores[0] < 0.5 < max(scores)
    assert len(scores) < 20  # stopped early
    assert len([path for path in tmp_path.rglob("*") if path.suffix in (".ckpt", ".pt")]) == 1
    # What the first run saved is no start of another.
    assert chrf_by_epoch(printed(script, tmp_path)) == scores


@pytest.mark.slow
def test_a_script_with_a_folder_of_checkpoints_runs_twice(tmp_path: Path):
    pytest.importorskip("accelerate", reason="the Trainer needs it")
    pytest.importorskip("transformers", reason="its Trainer runs")
    first, second = (printed("first_trainer", tmp_path).splitlines()[-1] for _ in range(2))
    assert first == second
    assert f"The last line of the first command is `{first}`." in HUGGING_FACE


@pytest.mark.slow
@pytest.mark.parametrize(
    ("framework", "launch", "options"), [("ignite", TORCHRUN, ()), ("lightning", (), ("--devices", "2"))]
)
def test_two_processes_print_what_one_does(
    framework: str, launch: tuple[str, ...], options: tuple[str, ...], tmp_path: Path
):
    """Both train the same model, so all scores of every epoch are equal, not only the best one."""
    alone = printed(f"first_{framework}", tmp_path / "1")
    together = printed(f"first_{framework}", tmp_path / "2", *options, launch=launch)
    assert score_lines(together) == score_lines(alone)
    # A perfect model scores 1.0 even if segments are lost or counted twice.
    assert 0 < chrf_by_epoch(alone)[0] < 1


@pytest.mark.slow
@pytest.mark.parametrize("script", ["first_grpo", "first_causal"])
def test_a_script_with_trl_runs_and_logs_scores(script: str, tmp_path: Path):
    pytest.importorskip("trl", reason="the script trains with TRL")
    text = printed(script, tmp_path, "--out", str(tmp_path))
    assert "chrf" in text
    if script == "first_causal":
        assert f"On one process each ends with `{text.splitlines()[-1]}`." in HUGGING_FACE


ACCELERATE = ("-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2", "--main_process_port", "0")


@pytest.mark.slow
@pytest.mark.parametrize("launch", [TORCHRUN, ACCELERATE], ids=["torchrun", "own"])
def test_two_processes_of_accelerate_print_what_the_page_shows(launch: tuple[str, ...], tmp_path: Path):
    pytest.importorskip("accelerate", reason="the Trainer needs it")
    text = printed("first_accelerate", tmp_path, launch=launch)
    values = dict(re.findall(r"^(\w.*?) +(\{.*\})$", text, re.MULTILINE))
    assert list(values) == ["natural loop", "gathered", "own shares", "one process"]
    assert values["gathered"] == values["own shares"] == values["one process"]
    assert values["natural loop"] != values["one process"]
    lines = [f"{name:14} {scores}\n" for name, scores in values.items()]
    assert "".join(lines) == output_on_page("distributed", "natural loop")


SENTENCES = "120"  # of which 15 to validate with: enough for scores above 0 after an epoch or two


@pytest.fixture(scope="module")
def ignite_run():
    return example("ignite_run")


@pytest.fixture(scope="module")
def lightning_run():
    return example("lightning_run")


@pytest.mark.slow
def test_ignite_keeps_the_best_model_and_goes_on_with_the_scores_it_had(ignite_run, tmp_path: Path, capsys):
    options = ("--sentences", SENTENCES, "--device", "cpu", "--out", tmp_path)
    run(ignite_run, *options, "--epochs", 1)
    printed = capsys.readouterr().out
    (first,) = re.findall(r"^epoch  1   (bleu .*)$", printed, re.MULTILINE)
    assert 0 < float(re.search(r"chrf ([\d.]+)", first)[1]) < 1
    assert only(tmp_path, "best_*").name in printed

    run(ignite_run, *options, "--epochs", 3, "--patience", 1, "--resume")
    printed = capsys.readouterr().out
    # The counts of the validation were in the checkpoint: the same scores without validating again.
    assert f"goes on after epoch 1   {first}\n" in printed
    scores = {1: float(first.split()[1])}
    scores |= {int(a): float(b) for a, b in re.findall(r"^epoch +(\d+)   bleu ([\d.]+)", printed, re.MULTILINE)}
    assert list(scores) == list(range(1, len(scores) + 1))
    assert len(scores) in (2, 3)
    assert ("stopped: no better BLEU in 1 epochs" in printed) == (len(scores) == 2)

    # Of each kind one file: those of the first run were replaced.
    epoch = max(scores, key=scores.get)
    assert only(tmp_path, "best_*").name == f"best_model_{epoch}_bleu={scores[epoch]:.4f}.pt"
    assert only(tmp_path, "last_*").name == f"last_checkpoint_{len(scores)}.pt"


def report_of(path: Path) -> dict:
    (data,) = re.findall(r'id="data">(.*?)</script>', path.read_text(encoding="utf-8"))
    return json.loads(data)


@pytest.mark.slow
def test_restore_text_draws_and_reports_its_epochs(tmp_path: Path, capsys):
    module = example("restore_text")
    run(module, "--sentences", SENTENCES, "--epochs", 2, "--device", "cpu", "--out", tmp_path)
    printed = capsys.readouterr().out
    shown = report_of(tmp_path / "restore_text.html")
    assert shown["systems"] == ["epoch 2", "epoch 1"]
    references = module.prepare(int(SENTENCES)).validation
    assert sorted(shown["of_references"]["texts"][0]) == sorted(references)
    (chrf,) = re.findall(r"^epoch  2 .* chrF ([\d.]+)", printed, re.MULTILINE)
    assert shown["entries"][0]["chrf"][0] == pytest.approx(100 * float(chrf), abs=0.06)
    assert (tmp_path / "restore_text.png").is_file()


def check_lightning(module, folder: Path, printed: str, epochs: int, processes: int) -> None:
    """Compare what was logged with what the best model writes, scored here, in one process."""
    with open(only(folder, "scores/version_0/metrics.csv")) as file:
        rows = [row for row in csv.DictReader(file) if row["val/chrf"]]
    assert [int(row["epoch"]) for row in rows] == list(range(epochs))
    best = max(rows, key=lambda row: float(row["val/chrf"]))
    path = only(folder, "epoch*.ckpt")
    assert f"the best model: {path}" in printed

    model = module.VowelRestorer.load_from_checkpoint(path).eval()
    sentences = module.prepare(int(SENTENCES)).validation
    written, references = [], []
    for rank in range(processes):
        for source, _, texts in module.make_batches(sentences[rank::processes], model.characters, 64):
            written += model.characters.decode(model.network.greedy(source))
            references += texts
    assert sorted(references) == sorted(sentences)
    collection = model.metrics.clone()
    collection.update(written, references)
    for name, value in collection.compute().items():
        assert float(best[name]) == pytest.approx(value.item(), abs=1e-6)
    assert float(best["val/chrf"]) == pytest.approx(chrf_score(written, references, average="micro").item(), abs=1e-6)
    assert float(best["val/chrf"]) > 0


@pytest.mark.slow
def test_lightning_logs_the_scores_and_keeps_the_best_model(tmp_path: Path, lightning_run, capsys):
    run(lightning_run, "--sentences", SENTENCES, "--epochs", 2, "--out", tmp_path)
    printed = capsys.readouterr().out
    check_lightning(lightning_run, tmp_path, printed, epochs=2, processes=1)
    assert len(re.findall(r"epoch \d   val/bleu", printed)) == 2


@pytest.mark.slow
def test_lightning_logs_the_scores_of_all_sentences_in_two_processes(tmp_path: Path, lightning_run):
    options = ("--sentences", SENTENCES, "--devices", 2, "--out", tmp_path)
    check_lightning(
        lightning_run, tmp_path, start(Path(lightning_run.__file__), "--epochs", 1, *options), 1, processes=2
    )
    printed = start(Path(lightning_run.__file__), "--epochs", 2, *options, "--resume")
    assert re.findall(r"epoch (\d)   val/bleu", printed) == ["1"]


@pytest.fixture(scope="module")
def reward():
    return example("reward")


@pytest.mark.slow
def test_both_rewards_rise(reward, capsys):
    run(reward, "--device", "cpu", "--steps", 40, "--every", 20)
    lines = re.findall(r"step +(\d+)   chrF ([\d.]+)   BLEU ([\d.]+)", capsys.readouterr().out)
    assert [int(step) for step, *_ in lines] == [0, 20, 40]
    for first, last in zip(lines[0][1:], lines[-1][1:], strict=True):
        assert float(last) > float(first) + 0.3
