"""A run that was killed goes on from what was kept, to the same bytes; a log that changed meanwhile is noticed."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.checks.rows import CandidatesFold, ImpressionsFold, TiesFold
from offrank.clicks import click_model
from offrank.errors import StateError, UsageError
from offrank.log.source import Needs, stamp_of
from offrank.policies import policy
from offrank.readers.parquet_orc_arrow import ParquetTable
from offrank.running import CheckpointFolder, checkpoint, run
from offrank.running.identity import digest
from offrank.running.states import dumps, loads
from offrank.sums import BootstrapFold, MomentsFold
from offrank.sums.base import Fold
from offrank.sums.group_by import by_column

PARTS = 12


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng, rows = np.random.default_rng(0), 40 * PARTS
    slates = np.argsort(rng.random((rows, 4)), axis=1)[:, :3]
    table = {
        "slate": slates.tolist(),
        "candidates": [[0, 1, 2, 3]] * rows,
        "clicks": (rng.random((rows, 3)) < 0.3).astype(float).tolist(),
        "old": np.zeros((rows, 4)).tolist(),
        "new": rng.random((rows, 4)).tolist(),
        "query": rng.integers(0, 9, rows),
    }
    path = tmp_path_factory.mktemp("log") / "log.parquet"
    pq.write_table(pa.table(table), path, row_group_size=40)
    return path


def evaluated(log: Path, executor: Any) -> str:
    """The JSON but for when it was made and by which call."""
    how: dict[str, Any] = {"interval": "bootstrap", "cluster": None, "by": "query"}
    found = offrank.evaluate(str(log), "top(new)", "plackett_luce(old)", ["snips", "ipm"], **how, executor=executor)
    return re.sub(r'"(created|command)": "[^\n]*', "", found.to_json())


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """States are written after each part."""
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "PATIENCE", 0.0)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The parts that were read, as they are."""
    parts: list[int] = []
    pieces = ParquetTable.pieces

    def noted(self: ParquetTable, part: int, columns: tuple[str, ...]) -> Iterator[Any]:
        parts.append(part)
        yield from pieces(self, part, columns)

    monkeypatch.setattr(ParquetTable, "pieces", noted)
    return parts


def slowly(log: Path, folder: Path) -> None:
    """Evaluates in a child process, with some time for each part."""
    pieces = ParquetTable.pieces

    def slow(self: ParquetTable, part: int, columns: tuple[str, ...]) -> Iterator[Any]:
        time.sleep(0.02)
        yield from pieces(self, part, columns)

    ParquetTable.pieces = slow  # type: ignore[method-assign]
    with ThreadPoolExecutor(2) as threads:
        evaluated(log, CheckpointFolder(folder, threads))


def done(folder: Path) -> int:
    """The parts that are kept."""
    return max((loads(path.read_bytes())["done"] for path in folder.glob("[!.]*.state")), default=0)


@pytest.mark.turns(3)
@pytest.mark.usefixtures("often")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning", "ignore:os.fork:RuntimeWarning")
def test_a_killed_run_goes_on_to_the_same_bytes(log: Path, tmp_path: Path, read: list[int]) -> None:
    whole = evaluated(log, None)
    assert sorted(read) == list(range(PARTS))
    for parts in (0, 2, 5):
        child = get_context("fork").Process(target=slowly, args=(log, tmp_path))
        child.start()
        while done(tmp_path) < parts:
            assert child.is_alive()
            time.sleep(0.003)
        child.kill()
        child.join()
        assert child.exitcode == -signal.SIGKILL
    kept = done(tmp_path)
    assert 5 <= kept < PARTS
    read.clear()
    assert evaluated(log, CheckpointFolder(tmp_path)) == whole
    assert sorted(read) == list(range(kept, PARTS))
    assert len(list(tmp_path.glob("[!.]*"))) == 1


def rows(path: Path, executor: Any, fold: Any = None) -> int:
    found = run(offrank.read_log(path).select(Needs(frozenset(["clicks"]))), fold or ImpressionsFold(), executor)
    return int(found.n if fold is None else found[0])


def test_what_is_done_is_not_read_again_unless_that_is_said(log: Path, tmp_path: Path, read: list[int]) -> None:
    with ThreadPoolExecutor(1) as one:
        for keep, parts in ((CheckpointFolder(tmp_path), PARTS), (CheckpointFolder(tmp_path, one), PARTS)):
            assert rows(log, keep) == rows(log, keep) == 40 * PARTS
            assert len(read) == parts
        again = CheckpointFolder(tmp_path, one, fresh=True)
        assert rows(log, again) == rows(log, again) == 40 * PARTS
        assert len(read) == 2 * PARTS


def test_other_jobs_have_other_states(log: Path, tmp_path: Path) -> None:
    keep = CheckpointFolder(tmp_path)
    assert rows(log, keep) == rows(log, keep, CandidatesFold()) == 40 * PARTS
    first, second = (click_model("rctr").fit(str(log), executor=keep) for _ in range(2))
    assert first.documents.keys.tolist() == second.documents.keys.tolist()
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("what", ["size", "time", "column", "parts"])
def test_a_changed_log_is_noticed_and_named(log: Path, tmp_path: Path, what: str) -> None:
    path, keep = tmp_path / "log.parquet", tmp_path / "kept"
    table = pq.read_table(log).slice(0, 200)
    pq.write_table(table, path, row_group_size=40)
    assert rows(path, CheckpointFolder(keep)) == 200
    before = path.stat()
    if what == "size":
        pq.write_table(table.slice(0, 100), path, row_group_size=40)
    elif what == "time":
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    said = {"size": f"the size of {path} is .*, but was {before.st_size}", "time": f"the time of {path} is"}
    if what in said:
        with pytest.raises(StateError, match=said[what]) as caught:
            rows(path, CheckpointFolder(keep))
        assert "fresh=True" in caught.value.remedy
        assert "begin again: --fresh, or delete" in caught.value.said("command line")
        assert rows(path, CheckpointFolder(keep, fresh=True)) == (100 if what == "size" else 200)
        return
    # Of one size and time: what is within tells.
    table = table.rename_columns([{"new": "nev"}.get(name, name) for name in table.column_names])
    pq.write_table(
        table if what == "column" else pq.read_table(path), path, row_group_size=40 if what == "column" else 50
    )
    kept = next(keep.iterdir())
    found = loads(kept.read_bytes())
    found["stamp"] |= {
        name: value
        for name, value in stamp_of(offrank.read_log(path)).items()
        if "the size" in name or "the time" in name
    }
    kept.write_bytes(dumps(found))
    with pytest.raises(StateError, match="column 'ne[wv]' is" if what == "column" else "position of part 1 is"):
        rows(path, CheckpointFolder(keep))


def test_a_damaged_checkpoint_is_refused_by_name(log: Path, tmp_path: Path) -> None:
    rows(log, CheckpointFolder(tmp_path))
    [kept] = tmp_path.iterdir()
    kept.write_bytes(kept.read_bytes()[:-9])
    with pytest.raises(StateError, match=f"{kept.name} is damaged"):
        rows(log, CheckpointFolder(tmp_path))
    kept.write_bytes(dumps([1]))
    with pytest.raises(StateError, match="it is not a checkpoint"):
        rows(log, CheckpointFolder(tmp_path))


def test_a_log_whose_changes_nobody_notices_is_refused(log: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a change of the log could not be detected"):
        offrank.evaluate(pq.read_table(log), "top(new)", "plackett_luce(old)", executor=CheckpointFolder(tmp_path))


def test_states_that_cannot_be_kept_are_refused_before_much_was_read(log: Path, tmp_path: Path) -> None:
    with pytest.raises(StateError, match="with LogBatch cannot be saved"):
        run(offrank.read_log(log).select(Needs(frozenset(["clicks"]))), Batches(), CheckpointFolder(tmp_path))


class Batches(Fold):
    """Keeps everything."""

    def of(self, batch: Any) -> Any:
        return (batch,)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (policy("top(a)"), policy("top(b)")),
        (BootstrapFold(200, 0), BootstrapFold(200, 1)),
        (MomentsFold(), MomentsFold(((0, 1),))),
        (TiesFold((policy("plackett_luce(a)"),)), TiesFold((policy("plackett_luce(a, temperature=2)"),))),
        (np.arange(3), np.arange(3.0)),
        ([1, "2"], [1, 2]),
        (by_column("a"), by_column("b")),
        ({"a": 1}, {"a": 2}),
        (lambda x: x + 1, lambda x: x * 1),
    ],
)
def test_other_jobs_are_told_apart(one: Any, other: Any) -> None:
    assert digest(one) == digest(one) != digest(other)
