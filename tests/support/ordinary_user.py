"""A user whom the permissions of files stop, also where the tests run as root."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

#: The user and the group `nobody` of most systems.
_NOBODY = 65534


@pytest.fixture
def folder_of_ordinary_user() -> Iterator[Path]:
    """An empty folder of a user who is not root. The test runs as this user."""
    with tempfile.TemporaryDirectory() as name:  # tmp_path lies in a folder that only its owner may enter
        if os.geteuid() != 0:
            yield Path(name)
            return
        os.chown(name, _NOBODY, _NOBODY)
        os.setresgid(_NOBODY, _NOBODY, 0)
        os.setresuid(_NOBODY, _NOBODY, 0)
        try:
            yield Path(name)
        finally:
            os.setresuid(0, 0, 0)
            os.setresgid(0, 0, 0)
