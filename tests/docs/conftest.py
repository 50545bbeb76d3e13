"""The folder that the pages and CONTRIBUTING.md work in, made once."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from tests.cli.commands import call


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as `offrank demo` leaves it."""
    folder = tmp_path_factory.mktemp("demo")
    with contextlib.chdir(folder):
        assert call("demo", "--quiet").exit_code == 0
    return folder
