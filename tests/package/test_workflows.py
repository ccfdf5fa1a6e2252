"""The workflows are well formed, and run what CONTRIBUTING.md and `.ci/run` say, with the floors of pyproject.toml."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from packages import PROJECT

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
if not FILES:
    pytest.skip("no workflows here: they are no part of the sdist", allow_module_level=True)


def workflow(name: str) -> dict[str, Any]:
    # BaseLoader leaves everything text: YAML would read the key `on` as true.
    return yaml.load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text(), yaml.BaseLoader)


def commands(job: dict[str, Any]) -> list[str]:
    return [step["run"] for step in job["steps"] if "run" in step]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_workflow_is_well_formed(path: Path):
    content = workflow(path.stem)
    assert content.keys() >= {"name", "on", "jobs", "permissions"}
    assert content["name"] == path.stem
    for job in content["jobs"].values():
        assert int(job["timeout-minutes"]) > 0
        assert job["runs-on"]
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            if "actions/checkout@" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] == "false"
    text = path.read_text()
    # A version can be moved to other code, a digest cannot.
    for action in re.findall(r"uses: (.*)", text):
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)
    assert "://" not in text  # no host but what the actions need by name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_nothing_is_installed_that_was_uploaded_in_the_last_two_days(path: Path):
    content = workflow(path.stem)
    assert content["env"]["PIP_UPLOADED_PRIOR_TO"] == "P2D"
    for job in content["jobs"].values():
        installed = [command for command in commands(job) if "pip install" in command]
        if any("-c constraints.txt" not in command for command in installed):
            # Older versions of pip do not know the variable.
            assert installed[0] == 'python -m pip install --upgrade "pip>=26.1"'


def test_every_push_and_pull_request_runs_the_gate():
    tests = workflow("test")
    assert {"push", "pull_request", "schedule"} <= tests["on"].keys()
    assert commands(tests["jobs"]["gate"]) == [".ci/run"]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_the_gate_runs_every_check_that_contributors_are_told_to_run():
    section = (ROOT / "CONTRIBUTING.md").read_text().partition("\n## Check\n")[2].partition("\n## ")[0]
    checks = re.findall(r"^    (\S.*)$", section, re.MULTILINE)
    assert {f"python -m pytest --numprocesses=logical{chosen}" for chosen in ("", " -m grid", " -m programs")} <= set(
        checks
    )
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


def test_every_python_that_the_package_names_is_run():
    named = re.findall(r"Programming Language :: Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert PROJECT["requires-python"] == f">={named[0]}"
    jobs = workflow("test")["jobs"]
    run = [entry["python"] for entry in jobs["versions"]["strategy"]["matrix"]["include"]]
    run += [
        step["with"]["python-version"] for step in jobs["gate"]["steps"] if "python-version" in step.get("with", {})
    ]
    assert sorted(run) == sorted(named)


def test_what_is_left_out_by_default_is_run_elsewhere():
    jobs = workflow("test")["jobs"]
    assert any(
        command.startswith('python -m pytest --numprocesses=logical -W default -m "not slow and not engines"')
        for command in commands(jobs["versions"])
    )
    night = jobs["nightly"]
    assert 'python -m pytest --numprocesses=logical -m "slow or grid"' in commands(night)
    assert "python -m pytest -m engines" in commands(night)
    assert "python -m pytest --numprocesses=logical --hypothesis-profile=nightly" in commands(night)


def test_who_reports_a_score_is_asked_for_the_signature():
    forms = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"))
    assert len(forms) == 3
    for path in forms:
        form = yaml.load(path.read_text(), yaml.BaseLoader)
        fields = {field["id"]: field for field in form["body"]}
        assert "metric.signature" in fields["signature"]["attributes"]["description"]
        # Without a metric there is no signature.
        assert ("validations" in fields["signature"]) == (path.stem != "error")
