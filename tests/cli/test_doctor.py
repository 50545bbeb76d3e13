"""`offrank doctor`: versions and a self-test that notices a wrong answer."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core import config

import offrank
from offrank.cli import doctor as module
from offrank.errors import pip_install
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
            raise importlib.metadata.PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert f"duckdb        missing: {pip_install('duckdb')}" in call("doctor").stdout


def test_where_compiled_code_is_kept_is_what_numba_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    assert str(tmp_path) in module._kept()


def test_what_is_known_is_printed_before_the_self_test_begins(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a new installation it compiles for some time: who waits sees what for."""
    printed = list[str]()

    def slow() -> Iterator[dict[str, Any]]:
        for what in ("one", "two"):
            printed.append(capsys.readouterr().out)
            yield {"what": what, "value": 1.0, "known": 1.0, "right": True, "seconds": 0.0}

    monkeypatch.setattr(module, "_self_test", slow)
    module.doctor.callback(as_json=False)
    first, second = printed
    assert "numpy" in first
    assert first.splitlines()[-1] == "Self-test (the first on a machine compiles loops, for some ten seconds)"
    assert second.split() == ["one", "right:", "1,", "by", "hand", "1", "(0.0", "s)"]
