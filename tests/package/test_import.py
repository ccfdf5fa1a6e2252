"""What importing the package brings in, and what the package says of itself."""

import importlib
import importlib.metadata
import subprocess
import sys
import types
from pathlib import Path

import pytest
import torchmetrics

import ngram_metrics


def run(program: str, folder: Path) -> list[str]:
    """What a program prints in a new interpreter."""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


#: torchmetrics imports some of these. What it brought is forgotten, and seen if it comes again.
WITHOUT_OPTIONAL = """
import sys
import torchmetrics

OPTIONAL = {"ignite", "nltk", "sacrebleu", "transformers", "tokenizers", "matplotlib", "lightning", "pytorch_lightning"}
def imported():
    return {name for name in sys.modules if name.partition(".")[0] in OPTIONAL}

for name in imported():
    del sys.modules[name]
import ngram_metrics
for name in ngram_metrics.__all__:
    getattr(ngram_metrics, name)
print(imported())
"""


@pytest.mark.slow
def test_importing_the_package_imports_no_optional_package(tmp_path: Path):
    assert run(WITHOUT_OPTIONAL, tmp_path) == ["set()"]


WITHOUT_TORCH = """
import sys
from ngram_metrics import evaluate, significance
from ngram_metrics._cli import main

systems = {"a": ["a cat.", "b"], "b": ["a", "b c"]}
result = evaluate(systems, [["a cat", "c"], ["b"]], "bleu,chrf++,rouge,overlap", groups=["x", "y"], clusters=["c", "d"])
result.write_report("page.html")
print(result.to_latex(), result.to_json(), result.segments(), file=open("lines.txt", "w"))
main(["lines.txt", "b=lines.txt", "-r", "lines.txt", "-c", "-f", "json", "--segments", "s.jsonl", "--report", "p.html"])
print("torch" in sys.modules)
import ngram_metrics.mbr
print("torch" in sys.modules)
"""


@pytest.mark.slow
def test_systems_are_evaluated_without_torch(tmp_path: Path):
    """By the function and by the command; decoding, which asks for a device, imports it."""
    assert run(WITHOUT_TORCH, tmp_path)[-2:] == ["False", "True"]


@pytest.mark.parametrize(
    ("package", "installed", "words"),
    [
        ("ignite", None, "needs pytorch-ignite: pip install pytorch-ignite"),
        ("ignite", types.ModuleType("ignite"), "needs pytorch-ignite: pip install pytorch-ignite"),  # another package
        ("lightning", None, "needs lightning: pip install lightning"),
    ],
)
def test_without_its_framework_a_module_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, package: str, installed: types.ModuleType | None, words: str
):
    for name in list(sys.modules):
        if name.partition(".")[0] == package or name.startswith(f"ngram_metrics.{package}"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, installed)  # None: to import it raises
    with pytest.raises(ModuleNotFoundError, match=words) as caught:
        importlib.import_module(f"ngram_metrics.{package}")
    assert str(caught.value.name).partition(".")[0] == package


def test_version_is_that_of_the_installed_package():
    assert ngram_metrics.__version__ == importlib.metadata.version("ngram-metrics")


def test_the_error_for_a_metric_of_the_other_framework_says_where_its_own_is():
    with pytest.raises(
        AttributeError, match=r"^this Bleu is a torchmetrics metric: for ignite, import Bleu from ngram"
    ):
        ngram_metrics.Bleu().attach(None, "bleu")
    for metric in (ngram_metrics.ignite.Bleu(), ngram_metrics.ignite.drop_in.Rouge()):
        with pytest.raises(
            ValueError, match=r"^Value ngram_metrics\.ignite\.[\w.]+\(.*not an instance of `torchmetrics"
        ):
            torchmetrics.MetricCollection({"b": metric})


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("BLEU", "use ngram_metrics.Bleu$"),
        ("CHRF", "use ngram_metrics.ChrF$"),
        ("SacreBLEUScore", r"use ngram_metrics.Bleu; Bleu\(smooth='none'\) gives"),
        ("BLEUScore", r"use ngram_metrics.Bleu; Bleu\(tokenizer=None, smooth='none'\)"),
        ("CHRFScore", r"use ngram_metrics.ChrF; ChrF\(word_order=2, eps_smoothing=True\)"),
        ("bleu_score", "use ngram_metrics.functional.bleu_score$"),
    ],
)
def test_the_name_of_another_package_says_what_to_import(name: str, advice: str):
    with pytest.raises(ImportError, match=f"^ngram_metrics has no {name}: {advice}"):
        exec(f"from ngram_metrics import {name}")
    assert name not in dir(ngram_metrics)
