"""``--spm-model``: sacrebleu's flores200 given that model, and what is no model."""

import hashlib
from pathlib import Path

import pytest
from commands import failing, leaves_files_open, of_sacrebleu, report, write
from sacrebleu.tokenizers import tokenizer_spm
from spm_model import trained

pytest.importorskip("sentencepiece")


@leaves_files_open
def test_scores_are_sacrebleus_given_the_model(folder: Path, capsys, monkeypatch):
    model = trained()
    (folder / "models").mkdir()
    path = folder / "models" / Path(tokenizer_spm.SPM_MODELS["flores200"]["url"]).name
    write(path, model)
    monkeypatch.setattr(tokenizer_spm, "SACREBLEU_DIR", str(folder))
    files = ["ref.txt", "ref2.txt", "-i", "base.txt", "-m", "bleu"]
    expected = of_sacrebleu(monkeypatch, *files, "-tok", "flores200")
    found = report(capsys, *files, "--spm-model", str(path))
    assert found["systems"]["base.txt"]["bleu"]["score"] == pytest.approx(expected["BLEU"], abs=1e-11)
    assert f"tok:spm[{hashlib.sha256(model).hexdigest()[:8]}]" in found["signatures"]["bleu"]


def test_what_is_no_model_is_told(folder: Path, capsys):
    words = ["base.txt", "-r", "ref.txt", "--spm-model"]
    assert failing(capsys, *words, "missing") == "--spm-model missing cannot be read: No such file or directory"
    assert failing(capsys, *words, "ref.txt") == "--spm-model ref.txt is not a sentencepiece model"
