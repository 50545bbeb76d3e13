"""What `inspect` says of real logs, and that the command which it prints gives a number."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

import offrank
from tests.cli.commands import call

#: file -> format, rows, the logging policy to name
LOGS = {
    "open-bandit/random/men": ("open_bandit", 10_000, "uniform"),
    "yandex-relpred/oneQueryTrain": ("yandex", 244, "counted(by=query)"),
}


@pytest.mark.parametrize("name", LOGS)
def test_a_real_log(name: str, shared_data: Path, tmp_path: Path) -> None:
    found = offrank.inspect(shared_data / name)
    assert (found.format, found.rows, found.logging) == LOGS[name]
    done = call(*shlex.split(found.command)[1:], "--quiet", "--json", tmp_path / "out.json")
    assert (done.exit_code, done.output) == (0, "")
    assert all(row["value"] > 0 for row in json.loads((tmp_path / "out.json").read_text())["estimates"])
