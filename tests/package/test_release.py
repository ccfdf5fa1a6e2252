"""What a release takes besides the package names its version, its dependencies and its programs."""

import re
from pathlib import Path

import pytest
from packages import PROJECT

import ngram_metrics

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
if not (ROOT / "conda").is_dir():
    pytest.skip("no recipe here: it is no part of the sdist", allow_module_level=True)
RECIPE = yaml.load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"), yaml.BaseLoader)


def test_the_recipe_the_citation_and_the_changelog_are_of_this_package_and_version():
    citation = yaml.load((ROOT / "CITATION.cff").read_text(encoding="utf-8"), yaml.BaseLoader)
    assert citation.keys() >= {"cff-version", "message", "title"}
    assert citation["license"] == PROJECT["license"]
    assert {"name": citation["authors"][0]["name"]} in PROJECT["authors"]
    (first, *_) = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert {RECIPE["context"]["version"], citation["version"], first} == {ngram_metrics.__version__}


def test_the_recipe_has_the_dependencies_and_the_program_of_the_package():
    oldest = PROJECT["requires-python"].removeprefix(">=")
    expected = {re.sub("^torch(?=>)", "pytorch", dependency) for dependency in PROJECT["dependencies"]}
    python, *others = RECIPE["requirements"]["run"]
    assert (RECIPE["context"]["python_min"], python) == (oldest, "python >=${{ python_min }}")
    assert {dependency.replace(" ", "") for dependency in others} == expected
    assert RECIPE["build"]["python"]["entry_points"] == [
        f"{name} = {function}" for name, function in PROJECT["scripts"].items()
    ]
    assert RECIPE["about"]["license"] == PROJECT["license"]
