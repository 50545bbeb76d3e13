"""A PostgreSQL on this machine, for a test."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def postgres() -> Iterator[Postgres]:
    """A server of its own that listens to no network; the test is skipped where there is none, but not in CI."""
    found = shutil.which("initdb")
    homes = [Path(found).resolve().parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not homes:
        if os.environ.get("CI") == "true":
            pytest.fail("there is no PostgreSQL: scripts/ensure-postgres")
        pytest.skip("there is no PostgreSQL: scripts/ensure-postgres")
    folder = Path(tempfile.mkdtemp(prefix="offrank-pg-"))
    try:
        if os.geteuid() == 0:  # a server refuses to be root
            shutil.chown(folder, "postgres")
        server = Postgres(homes[-1], folder)
        server.run("initdb", "-D", str(folder / "data"), "-A", "trust", "-U", "postgres", "--no-sync")
        options = f"-k {folder} -c listen_addresses= -c fsync=off"
        server.run("pg_ctl", "-D", str(folder / "data"), "-w", "-o", options, "-l", str(folder / "log"), "start")
        try:
            yield server
        finally:
            server.run("pg_ctl", "-D", str(folder / "data"), "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


class Postgres:
    """A server. home: of its programs; folder: of its data and its socket."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home, self.folder = home, folder

    def run(self, program: str, *words: str, text: str = "") -> str:
        """What one of its programs prints."""
        who = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        done = subprocess.run(
            [*who, str(self.home / program), *words],
            input=text,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def query(self, text: str) -> str:
        """The result of a query, as CSV with names."""
        asked = ("-h", str(self.folder), "-U", "postgres", "-d", "postgres", "--csv", "-v", "ON_ERROR_STOP=1", "-q")
        return self.run("psql", *asked, text=text)
