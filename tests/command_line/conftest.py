"""The folder that the command line runs in."""

from pathlib import Path

import pytest
from commands import FILES, write


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two systems and two references."""
    monkeypatch.chdir(tmp_path)
    for name, lines in FILES.items():
        write(tmp_path / name, lines)
    return tmp_path
