"""`offrank doctor`: versions and a self-test that notices a wrong answer."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numba.core import config

import offrank
from offrank.cli import doctor as module
from tests.cli.commands import call


def test_it_names_versions_and_finds_nothing_wrong() -> None:
    done = call("doctor", "--json")
    found = json.loads(done.stdout)
    assert done.exit_code == 0
    assert found["libraries"]["numpy"] == np.__version__
    assert found["installation"]["offrank"].startswith(offrank.__version__)
    assert [one["right"] for one in found["self-test"]] == [True] * 4


def test_a_wrong_answer_is_said_and_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(module._KNOWN, "ips", 2.0)
    done = call("doctor")
    assert done.exit_code == 1
    assert "WRONG: 2.33333333333, by hand 2 " in done.stdout


def test_an_extra_that_is_missing_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        if name == "duckdb":
            raise module.importlib.metadata.PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(module.importlib.metadata, "version", version)
    assert "duckdb        missing: pip install 'offrank[duckdb]'" in call("doctor").stdout


def test_where_compiled_code_is_kept_is_what_numba_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    assert str(tmp_path) in module._kept()
