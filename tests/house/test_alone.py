"""offrank works without offrank-papers, and its wheel has none of it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.house.code import ROOT
from tests.verbs.logs import search

OTHERS = ("offrank", "__editable__", "_offrank", "_editable_impl_offrank")
"""Beginnings of the names by which the distributions of this repository are installed."""


def dependencies() -> Iterator[Path]:
    """What is installed beside this Python, but no distribution of this repository."""
    for folder in map(Path, sys.path):
        if folder.is_dir() and any(folder.glob("*.dist-info")):
            yield from (path for path in folder.iterdir() if not path.name.startswith(OTHERS))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages as `pip install offrank` leaves it, by links: the wheel's own and the dependencies."""
    folder = tmp_path_factory.mktemp("installed")
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    for path in (*(ROOT / name for name in told["wheel"]["packages"]), *dependencies()):
        link = folder / path.name
        if not link.exists():
            link.symlink_to(path)
    return folder


def python(installed: Path, *words: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run Python with these packages only: without those of its environment, and without the repository."""
    # -S: no site-packages, and so none of the files there that lead to an editable install
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    command = [sys.executable, "-S", "-P", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_offrank_is_there_and_offrank_papers_is_not(installed: Path) -> None:
    assert "papers" not in {path.name for path in (installed / "offrank").iterdir()}
    code = "import offrank, importlib.metadata as m; print(offrank.__file__, *m.entry_points(group='offrank.commands'))"
    assert python(installed, "-c", code).stdout.split() == [str(installed / "offrank" / "__init__.py")]
    done = python(installed, "-c", "import offrank_papers")
    assert done.stderr.splitlines()[-1] == "ModuleNotFoundError: No module named 'offrank_papers'"


def test_all_public_names_are_there(installed: Path) -> None:
    done = python(
        installed, "-c", "import offrank; print(*[getattr(offrank, name).__name__ for name in offrank.__all__])"
    )
    assert done.stderr == ""
    assert "reproduce" in done.stdout.split()


def test_evaluate_works(installed: Path, tmp_path: Path) -> None:
    pq.write_table(search(), tmp_path / "log.parquet")
    question = ("--target", "top(new_score)", "--logging", "plackett_luce(old_score)", "-e", "snips")
    done = python(installed, "-m", "offrank", "evaluate", "log.parquet", *question, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "snips" in done.stdout


def test_help_says_what_to_install(installed: Path) -> None:
    done = python(installed, "-m", "offrank", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "reproduce Not installed: pip install offrank-papers" in " ".join(done.stdout.split())
    assert "pip install offrank-papers" in python(installed, "-m", "offrank", "reproduce", "--help").stdout


def test_reproduce_is_one_error_that_says_what_to_install(installed: Path, tmp_path: Path) -> None:
    words = ("reproduce", "slates", "queries.txt", "--scale", "small", "-o", "made")
    done = python(installed, "-m", "offrank", *words, folder=tmp_path)
    remedy = "  what to do: pip install offrank-papers\n"
    error = f"error: reproduce needs the package offrank-papers, which is missing\n{remedy}"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", error)
    code = "import offrank; offrank.reproduce('slates')"
    last = python(installed, "-c", code, folder=tmp_path).stderr.splitlines()[-2:]
    assert last == [f"offrank.errors.MissingExtraError: {error.splitlines()[0].removeprefix('error: ')}", remedy[:-1]]
    assert list(tmp_path.iterdir()) == []
