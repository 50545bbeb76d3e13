"""How a log is cut: batches stay small, and impressions of like size stand together."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.log.batch import LogBatch
from offrank.readers import tables
from offrank.readers.tables import MemoryTable
from tests.readers.plain import batches, contents


def ragged(sizes: np.ndarray) -> pa.Table:
    """A log with this many items per impression, each clicked as often as its place says."""
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    items = np.concatenate([np.arange(size) for size in sizes])
    lists = pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pa.array(items))
    return pa.table({"slate": lists, "clicks": lists})


def cells(batch: LogBatch) -> int:
    return batch.slates.size


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that a test can reach."""
    monkeypatch.setattr(tables, "MOST_ROWS", 1000)
    monkeypatch.setattr(tables, "_MOST_VALUES", 64_000)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", ["memory", "parquet", "feather", "stream"])
def test_no_batch_is_larger_than_the_limits(kind: str, tmp_path: Path) -> None:
    narrow, wide = ragged(np.full(5000, 3)), ragged(np.full(600, 320))
    for log, most in ((narrow, 1000), (wide, 100)):
        assert max(len(batch) for batch in batches(offrank.read_log(stored(log, kind, tmp_path)))) <= most


def stored(log: pa.Table, kind: str, folder: Path) -> pa.Table | Path:
    if kind == "parquet":
        pq.write_table(log, folder / "log.parquet")
        return folder / "log.parquet"
    if kind in {"feather", "stream"}:
        path = folder / "log.arrow"
        make = pa.ipc.new_file if kind == "feather" else pa.ipc.new_stream
        with make(str(path), log.schema) as writer:
            writer.write_table(log)
        return path
    return log


@pytest.mark.parametrize("kind", ["memory", "parquet", "feather", "stream"])
def test_padding_is_small(kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    sizes = np.where(rng.random(3000) < 0.01, 500, rng.integers(1, 10, 3000))
    found = batches(offrank.read_log(stored(ragged(sizes), kind, tmp_path)))
    assert sum(len(batch) for batch in found) == len(sizes)
    assert sum(map(cells, found)) < 3 * sizes.sum()


def test_like_rows_stay_in_one_batch() -> None:
    assert len(batches(offrank.read_log(ragged(np.arange(5, 15))))) == 1


def test_rows_keep_their_content_when_they_are_sorted_by_size() -> None:
    sizes = np.array([1, 100, 2, 90, 1, 1, 1, 1, 1, 1, 1, 1])
    assert [len(row["slate"]) for row in contents(offrank.read_log(ragged(sizes)))] == sizes.tolist()


def test_arrays_are_contiguous_and_belong_to_the_batch() -> None:
    sizes = np.array([1, 100, 2, 90, 1, 1, 1, 1, 1, 1])
    for log in (ragged(sizes), ragged(np.full(4, 3))):
        for batch in batches(offrank.read_log(log)):
            for array in (batch.slates, batch.clicks, batch.contexts.candidates, batch.contexts.size):
                assert array is not None
                assert array.flags.c_contiguous
                assert array.flags.writeable


def test_parts_of_a_table_in_memory() -> None:
    table = MemoryTable(ragged(np.full(10, 2)), part_rows=4)
    assert table.parts() == 3
    assert [len(piece.data) for part in range(3) for piece in table.pieces(part, ("slate",))] == [4, 4, 2]


def test_a_row_group_is_a_part(tmp_path: Path) -> None:
    pq.write_table(ragged(np.full(10, 2)), tmp_path / "log.parquet", row_group_size=4)
    assert offrank.read_log(tmp_path).parts() == 3


def test_a_record_batch_is_a_part(tmp_path: Path) -> None:
    log = ragged(np.full(10, 2))
    with pa.ipc.new_file(str(tmp_path / "log.arrow"), log.schema) as writer:
        writer.write_table(log, max_chunksize=4)
    assert offrank.read_log(tmp_path).parts() == 3


def test_errors_name_the_row_of_the_file_in_every_part(tmp_path: Path) -> None:
    log = pa.table({"slate": [[1]] * 9 + [[1, 1]], "clicks": [[0]] * 9 + [[0, 0]]})
    pq.write_table(log.slice(0, 3), tmp_path / "0.parquet")
    pq.write_table(log.slice(3), tmp_path / "1.parquet", row_group_size=4)
    with pytest.raises(offrank.OffrankError, match=r"1\.parquet, row 6 "):
        batches(offrank.read_log(tmp_path))


def test_a_file_that_is_written_anew_is_read_anew(tmp_path: Path) -> None:
    pq.write_table(ragged(np.full(10, 2)), tmp_path / "log.parquet", row_group_size=4)
    log = offrank.read_log(tmp_path)
    assert {len(row["slate"]) for row in contents(log)} == {2}
    pq.write_table(ragged(np.full(10, 30)), tmp_path / "log.parquet", row_group_size=4, compression="none")
    assert {len(row["slate"]) for row in contents(log)} == {30}
    assert {len(row["slate"]) for row in contents(pickle.loads(pickle.dumps(log)))} == {30}
