"""What `python -m build` makes is what users install: whole, nothing else in it, and it works from elsewhere."""

import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from packages import PROJECT
from programs import only

import ngram_metrics

ROOT = Path(__file__).parents[2]
VERSION = ngram_metrics.__version__
#: The package in the working tree, by path: compiled files are no part of it.
SOURCES = {
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "ngram_metrics").rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
}

# Says where the package came from, scores once with each metric, imports every module that needs no framework, and runs
# the command.
SMOKE = """
import importlib, pathlib
from importlib.metadata import entry_points
import ngram_metrics
from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore

print(ngram_metrics.__file__)
for metric in (Bleu(), ChrF(), NgramOverlap(), ROUGEScore(rouge_keys="rougeL")["rougeL_fmeasure"]):
    print(metric(["the cat sat on the mat"], [["the cat sat on the mat", "a cat"]]).item())
root = pathlib.Path(ngram_metrics.__file__).parent
paths = [path.relative_to(root).with_suffix("") for path in root.rglob("*.py")]
for parts in (path.parts for path in paths if path.parts[0] not in ("ignite", "lightning")):
    importlib.import_module(".".join(["ngram_metrics", *parts]).removesuffix(".__init__"))
print(len(paths))
(command,) = entry_points(group="console_scripts", name="ngram-metrics")
command.load()(["--version"])
"""

#: What each extra is for, in a line that fails without it.
EXTRAS = {
    "ignite": "import ngram_metrics.ignite",
    "tokenizers": "[functional.bleu_score(['a'], ['a'], tokenizer=name) for name in ('ja-mecab', 'ko-mecab')]",
    "spm": "import sentencepiece; Bleu(tokenizer=sentencepiece.SentencePieceProcessor())",
    "plot": "metric = ChrF(); metric.update(['a b'], ['a b']); metric.plot()[0].savefig('plot.png')",
    "report": "evaluate(['a b'], ['a c']).write_report('page.html')",
    "lightning": "import ngram_metrics.lightning",
    "tensorboard": "from torch.utils.tensorboard import SummaryWriter; SummaryWriter('runs').add_text('a', 'b')",
    "cli": "import tqdm",
}
#: The variables of this process, without what would let another Python find its packages.
OUTSIDE = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def _run(command: Sequence[object], **options: object) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=900, **options)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the sdist and with the wheel, which is built from the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    # Without isolation nothing is fetched: what [build-system] asks for is in the extra `test-all`.
    _run([sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT])
    return folder


def _check_smoke(output: str, installed: Path) -> None:
    file, *values, modules, command = output.splitlines()
    assert Path(file).resolve().is_relative_to(installed.resolve())  # and not the tree that this test lies in
    assert list(map(float, values)) == pytest.approx([1.0] * 4)
    assert int(modules) == len([path for path in SOURCES if path.endswith(".py")])
    assert command == f"ngram-metrics {VERSION}"


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(dist: Path):
    with zipfile.ZipFile(only(dist, f"ngram_metrics-{VERSION}-py3-none-any.whl")) as wheel:
        names = set(wheel.namelist())
        info = f"ngram_metrics-{VERSION}.dist-info"
        metadata = wheel.read(f"{info}/METADATA").decode()
    assert "ngram_metrics/py.typed" in names
    of_package = {name for name in names if not name.startswith(info)}
    assert of_package == SOURCES
    of_info = {f"{info}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")}
    assert names - of_package == of_info
    assert "License-Expression: Apache-2.0" in metadata
    # What is installed without any extra.
    required = re.findall(r"^Requires-Dist: ([^;\n]+)$", metadata, re.MULTILINE)
    needed = {"numpy", "rapidfuzz", "torch", "torchmetrics", "typing-extensions"}
    assert {re.match(r"[\w-]+", requirement)[0].replace("_", "-") for requirement in required} == needed


@pytest.mark.slow
def test_the_sdist_holds_what_is_needed_to_build_and_to_test(dist: Path):
    with tarfile.open(only(dist, f"ngram_metrics-{VERSION}.tar.gz")) as sdist:
        names = {member.name.partition("/")[2] for member in sdist.getmembers() if member.isfile()}
    assert names >= SOURCES
    assert names >= {"LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "constraints.txt", "PKG-INFO"}
    # The tests come along for those who package it for a distribution, with the documents and examples they run.
    assert names >= {
        "conftest.py",
        "tests/conftest.py",
        "tests/support/metrics/cases.py",
        "tests/package/search_site.mjs",
    }
    assert names >= {"examples/restore_text.py", "docs/metrics/bleu.md"}
    folders = {name.partition("/")[0] for name in names if "/" in name}
    assert folders == {"ngram_metrics", "tests", "docs", "examples"}
    assert not [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".whl", ".tar.gz"))]


@pytest.mark.slow
def test_the_installed_wheel_works_away_from_the_source(dist: Path, tmp_path: Path):
    target = tmp_path / "installed"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    # Nothing is fetched.
    options = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--no-compile", "--target", target]
    _run([sys.executable, "-m", "pip", "install", *options, only(dist, "*.whl")])
    files = {path.relative_to(target).as_posix() for path in (target / "ngram_metrics").rglob("*") if path.is_file()}
    assert files == SOURCES
    assert (target / "bin" / "ngram-metrics").is_file()
    # What is in PYTHONPATH comes before the tree that an editable install points to.
    surroundings = {**os.environ, "PYTHONPATH": str(target)}
    _check_smoke(_run([sys.executable, "-c", SMOKE], cwd=elsewhere, env=surroundings), target)


def _pip_install(python: Path, wanted: object) -> None:
    """Install with the versions of the checks."""
    options = ["--quiet", "--disable-pip-version-check", "-c", ROOT / "constraints.txt"]
    _run([python, "-m", "pip", "install", *options, wanted], env=OUTSIDE)


@pytest.fixture(scope="module")
def alone(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment with the wheel and what it asks for."""
    folder = tmp_path_factory.mktemp("alone")
    venv.create(folder, with_pip=True)
    _pip_install(folder / "bin" / "python", only(dist, "*.whl"))
    return folder / "bin" / "python"


@pytest.mark.engines
def test_the_wheel_alone_works_in_an_empty_environment(alone: Path, tmp_path: Path):
    _check_smoke(_run([alone, "-c", SMOKE], cwd=tmp_path, env=OUTSIDE), alone.parents[1])
    _run([alone, "-m", "pip", "check"], env=OUTSIDE)


@pytest.mark.engines
@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_alone_is_enough_for_what_it_is_for(extra: str, alone: Path, dist: Path, tmp_path: Path):
    folder = tmp_path / "venv"
    venv.create(folder, with_pip=True)
    # What the package itself asks for is not installed again: torch is large.
    (packages,) = folder.glob("lib/python*/site-packages")
    (beneath,) = alone.parents[1].glob("lib/python*/site-packages")
    (packages / "beneath.pth").write_text(f"{beneath}\n")
    python = folder / "bin" / "python"
    program = [python, "-c", f"from ngram_metrics import Bleu, ChrF, evaluate, functional; {EXTRAS[extra]}"]
    if extra != "report":  # torch brings Jinja2 too
        assert subprocess.run(program, cwd=tmp_path, env=OUTSIDE, capture_output=True, check=False).returncode != 0
    _pip_install(python, f"ngram-metrics[{extra}] @ {only(dist, '*.whl').as_uri()}")
    _run(program, cwd=tmp_path, env=OUTSIDE)


def test_every_extra_for_users_is_tried():
    # `.ci/run` installs what the README's two commands need, and what all tests do.
    assert EXTRAS.keys() | {"example", "test", "test-all"} == PROJECT["optional-dependencies"].keys()
