"""What a release takes besides the package: recipe, citation, pins, and workflows that do what CONTRIBUTING.md says."""

import re
from pathlib import Path
from typing import Any

import pytest
from packages import OLDEST_COMPILER, PROJECT, PYPROJECT

import ngram_metrics

pytest.importorskip("yaml", reason="the workflows are read")

import yaml

ROOT = Path(__file__).parents[2]
if not (ROOT / ".github").is_dir():
    pytest.skip("no recipe and no workflows here: they are no part of the sdist", allow_module_level=True)
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


def workflow(name: str) -> dict[str, Any]:
    # BaseLoader leaves everything text: YAML would read the key `on` as true.
    return yaml.load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text(), yaml.BaseLoader)


def test_the_gate_runs_every_check_that_contributors_are_told_to_run():
    section = (ROOT / "CONTRIBUTING.md").read_text().partition("\n## Check\n")[2].partition("\n## ")[0]
    checks = re.findall(r"^    (\S.*)$", section, re.MULTILINE)
    assert len(checks) == 8
    gate = (ROOT / ".ci" / "run").read_text()
    for check in checks:
        program, _, options = check.partition(" ")
        assert f'"$bin/{program}" {options}'.strip() in gate


def test_the_oldest_versions_are_the_floors():
    matrix = {entry["name"]: entry for entry in workflow("test")["jobs"]["versions"]["strategy"]["matrix"]["include"]}
    project = (ROOT / "pyproject.toml").read_text()
    floors = dict(re.findall(r'"(numpy|torch|torchmetrics|pytorch-ignite)>=([\d.]+)"', project))
    pins = dict(pin.split("==") for pin in matrix["oldest"]["pins"].split())
    assert pins.keys() == floors.keys()
    for name, floor in floors.items():
        assert f"{pins[name]}.".startswith(f"{floor}.")
    assert PROJECT["requires-python"] == f">={matrix['oldest']['python']}"
    assert matrix["newest"]["pins"] == ""


def test_compiled_steps_are_run_with_the_first_torch_in_which_they_work():
    compiler = "{}.{}".format(*OLDEST_COMPILER)
    matrix = workflow("test")["jobs"]["versions"]["strategy"]["matrix"]["include"]
    assert f"torch=={compiler}.*" in [entry["pins"] for entry in matrix]
    assert f"with torch {compiler} or newer" in (ROOT / "docs" / "guides" / "rewards.md").read_text()


def test_every_python_that_the_package_names_is_run():
    named = re.findall(r"Programming Language :: Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert PROJECT["requires-python"] == f">={named[0]}"
    jobs = workflow("test")["jobs"]
    run = [entry["python"] for entry in jobs["versions"]["strategy"]["matrix"]["include"]]
    run += [
        step["with"]["python-version"] for step in jobs["gate"]["steps"] if "python-version" in step.get("with", {})
    ]
    assert sorted(run) == sorted(named)


ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "ngram_metrics"


def test_the_package_is_source_only():
    """Nothing that the linter cannot read, such as an extension module or a pickle, but the page of the report."""
    page = {path for path in (SOURCE / "_evaluation" / "page").iterdir() if path.suffix in (".css", ".html", ".js")}
    others = {path for path in SOURCE.rglob("*") if path.is_file()} - page
    assert {path.suffix or path.name for path in others} <= {".py", ".pyc", ".typed"}


def normalized(requirement: str) -> str:
    """The name of a distribution in a requirement."""
    return re.sub("[-_.]+", "-", re.match(r"[A-Za-z0-9._-]+", requirement).group()).lower()


def test_what_the_checks_install_is_pinned():
    """All that the package, its extras and its groups ask for by name, but for what only the benchmarks need."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = list(filter(None, (line.partition("#")[0].strip() for line in lines)))
    assert [pin for pin in pins if not re.match(r"[\w.-]+==[\w.!+-]+(; python_version (>=|<) \"3\.11\")?$", pin)] == []
    groups = {name: group for name, group in PYPROJECT["dependency-groups"].items() if name != "bench"}
    wanted = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values(), *groups.values()]
    names = {normalized(requirement) for requirements in wanted for requirement in requirements}
    assert names - set(map(normalized, pins)) == {"ngram-metrics"}
