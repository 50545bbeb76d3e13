"""What `clicks fit`, `clicks evaluate`, `clicks harvest` and `select clicks` refuse, and what they say then."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.clicked import ITEMS, folder_of, sessions
from tests.cli.commands import call


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(tmp_path_factory)


def refused(*words: object) -> str:
    done = call(*words)
    assert done.exit_code in {1, 2}, done.output
    assert "what to do" in done.output or "Error" in done.output
    return done.output


def broken(folder: Path, **columns: Any) -> Path:
    table = sessions(50, 1, 1.0)
    for name, values in columns.items():
        table = table.drop_columns([name])
        if values is not None:
            table = table.append_column(name, pa.array(values))
    path = folder / "broken.parquet"
    pq.write_table(table, path)
    return path


def cut(path: Path, folder: Path) -> Path:
    """The beginning of a file."""
    (folder / "cut.json").write_text(path.read_text()[:500])
    return folder / "cut.json"


REFUSED: dict[str, tuple[Callable[[Path, Path], list[object]], str]] = {
    "unknown model": (
        lambda made, new: ["clicks", "fit", made / "test.parquet", "--model", "dbm", "-o", new / "m.json"],
        "unknown click model 'dbm'",
    ),
    "no clicks": (
        lambda made, new: ["clicks", "fit", broken(new, clicks=None), "--model", "dbn", "-o", new / "m.json"],
        "no column 'clicks'",
    ),
    "no folder": (
        lambda made, new: ["clicks", "fit", made / "test.parquet", "--model", "dbn", "-o", new / "no" / "m.json"],
        "there is no folder",
    ),
    "fractions": (
        lambda made, new: [
            "clicks", "fit", broken(new, clicks=[[0.5] * ITEMS] * 50), "--model", "dbn", "-o", new / "m.json",
        ],
        "is not whole",
    ),
    "no such queries": (
        lambda made, new: [
            "clicks", "fit", made / "test.parquet", "--model", "dbn", "-o", new / "m.json", "--by", "qeury",
        ],
        "the nearest name is 'query'",
    ),
    "no query": (
        lambda made, new: ["clicks", "evaluate", broken(new, query=None), "--model", made / "dbn.json"],
        "no column 'query'",
    ),
    "no model": (
        lambda made, new: ["clicks", "evaluate", made / "test.parquet", "--model", made / "test.parquet"],
        "is not a click model",
    ),
    "cut off": (
        lambda made, new: ["clicks", "evaluate", made / "test.parquet", "--model", cut(made / "dbn.json", new)],
        "its end is missing",
    ),
    "a curve of no clicks": (
        lambda made, new: ["clicks", "harvest", broken(new, clicks=[[0] * ITEMS] * 50)],
        "no clicked document",
    ),
    "no file": (
        lambda made, new: ["clicks", "evaluate", made / "test.parquet", "--model", made / "none.json"],
        "there is no click model",
    ),
    "twice": (
        lambda made, new: ["clicks", "evaluate", made / "test.parquet"] + ["--model", made / "dbn.json"] * 2,
        "two models are called 'dbn'",
    ),
    "no grades": (
        lambda made, new: ["clicks", "evaluate", made / "test.parquet", "--model", made / "dbn.json", "--labels", "g"],
        "no column 'g'",
    ),
    "several grades": (
        lambda made, new: [
            "clicks", "evaluate", broken(new, grade=[[float(i % 2)] * ITEMS for i in range(50)]),
            "--model", made / "dbn.json", "--labels", "grade", "--by", "query",
        ],
        "more than one grade",
    ),
    "negative grades": (
        lambda made, new: [
            "clicks", "evaluate", broken(new, grade=[[-1.0] * ITEMS] * 50), "--model", made / "dbn.json",
            "--labels", "grade",
        ],
        "below 0",
    ),
    "no strategy": (
        lambda made, new: [
            "select", "clicks", made / "test.parquet", "--model", made / "dbn.json", "--labels", "grade",
            "--strategy", "best",
        ],
        "best",
    ),
    "no policy": (
        lambda made, new: [
            "select", "clicks", made / "test.parquet", "--model", made / "dbn.json", "--labels", "grade",
            "--logging", "plackett_luce(scor)",
        ],
        "scor",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_work_is_told(name: str, folder: Path, tmp_path: Path) -> None:
    words, told = REFUSED[name]
    assert told in refused(*words(folder, tmp_path))
    assert not list(tmp_path.glob("m.json"))


def test_items_alone_have_no_queries_to_rank(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    call("clicks", "fit", folder / "train.parquet", "--model", "pbm", "-o", path, "--by", "none")
    words = ("clicks", "evaluate", folder / "test.parquet", "--model", path, "--labels", "grade")
    assert "name the column of the queries" in refused(*words).replace("\n", " ")
    assert call(*words, "--by", "query").exit_code == 0
