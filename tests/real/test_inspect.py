"""What `inspect` says of real logs, and that the command which it prints gives a number."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

import offrank
from tests.cli.commands import call

#: file -> format, rows, the logging policy to name, and how far it is known
LOGS = {
    "open-bandit/random/men": ("open_bandit", 10_000, "uniform", "written"),
    "open-bandit/bts/all": ("open_bandit", 10_000, "logged", "written"),
    "criteo-nips17/criteo_first2000.txt.gz": ("criteo", 2_000, "logged", "written, not tested"),
    "yandex-relpred/oneQueryTrain": ("yandex", 244, None, "unknown"),
}


@pytest.mark.parametrize("name", LOGS)
def test_a_real_log(name: str, shared_data: Path, tmp_path: Path) -> None:
    found = offrank.inspect(shared_data / name)
    assert (found.format, found.rows, found.logging.policy, found.logging.status) == LOGS[name]
    out = tmp_path / "out.json"
    if found.next is None:
        assert call(*shlex.split(found.command)[1:-1], out, "--quiet").exit_code == 0
        return
    done = call(*shlex.split(found.command)[1:], "--quiet", "--json", out)
    assert (done.exit_code, done.output) == (0, "")
    assert all(row["value"] > 0 for row in json.loads(out.read_text())["estimates"])
    assert all(one["trust"] != "none" for one in json.loads(out.read_text())["verdicts"].values())
