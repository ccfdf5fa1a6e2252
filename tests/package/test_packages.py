"""Where packages are missing, the tests stop before they begin."""

from importlib import metadata
from typing import Any

import pytest


def test_all_missing_packages_are_named_at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    missing = ["torch-ngram", "hypothesis", "PyYAML", "pytorch-ignite"]
    discover = metadata.Distribution.discover
    monkeypatch.setattr(
        metadata.Distribution, "discover", lambda *, name: [] if name in missing else discover(name=name)
    )
    conftest: Any = request.config.pluginmanager.get_plugin(str(request.config.rootpath / "tests" / "conftest.py"))
    with pytest.raises(pytest.UsageError) as caught:
        conftest.pytest_configure(request.config)
    assert str(caught.value) == (
        "the tests need pytorch-ignite, hypothesis, torch-ngram, PyYAML: pip install -e '.[test]'"
    )
