"""What is free is read from the machine and from memory groups of both versions, and what does not fit is refused."""

from __future__ import annotations

import multiprocessing
import sys
import threading
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from offrank.clicks import DBN, PBM
from offrank.clicks.count_table import CountTable
from offrank.clicks.documents import session_needs
from offrank.clicks.sessions import SessionsFold
from offrank.errors import LogError
from offrank.readers.log import read_log
from offrank.running import memory
from offrank.running.executors import run

GIB = 1 << 30
ROWS = [{"query": n, "slate": [0, 1, 2], "clicks": [n % 2, 0, 1]} for n in range(1000)]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with 8 GiB free, and no memory group."""
    for name, path in (("_MACHINE", "meminfo"), ("_OWN", "own"), ("_GROUPS", "groups")):
        monkeypatch.setattr(memory, name, tmp_path / path)
    (tmp_path / "meminfo").write_text(f"MemTotal: 1 kB\nMemAvailable: {8 << 20} kB\n")
    return tmp_path


def group(folder: Path, names: tuple[str, str, str], limit: object, used: int, cached: int = 0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, number in zip(names, (limit, used), strict=False):
        (folder / name).write_text(f"{number}\n")
    (folder / "memory.stat").write_text(f"anon 1\n{names[2]} {cached}\n")


SECOND, FIRST = memory._FILES


def test_a_machine_tells_what_is_free(machine: Path) -> None:
    assert memory.available() == 8 * GIB
    (machine / "meminfo").unlink()
    assert memory.available() == float("inf")


def test_the_tightest_group_decides(machine: Path) -> None:
    (machine / "own").write_text("0::/outer/inner\n")
    group(machine / "groups" / "outer" / "inner", SECOND, "max", 5 * GIB)
    assert memory.available() == 8 * GIB
    group(machine / "groups" / "outer", SECOND, 4 * GIB, 3 * GIB, GIB // 2)
    assert memory.available() == 1.5 * GIB


def test_groups_of_the_first_version(machine: Path) -> None:
    (machine / "own").write_text("5:devices:/a\n4:memory:/a/b\n")
    group(machine / "groups" / "memory" / "a", FIRST, 3 * GIB, GIB)
    assert memory.available() == 2 * GIB
    group(machine / "groups" / "devices" / "a", FIRST, 1, 0)
    assert memory.available() == 2 * GIB


@pytest.mark.parametrize(("limits", "left"), [((4, None), 3.0), ((None, 2), 1.5), ((4, 2), 1.5), ((None, None), 8.0)])
def test_limits_of_the_process_itself_count(
    machine: Path, monkeypatch: pytest.MonkeyPatch, limits: tuple[int | None, int | None], left: float
) -> None:
    resource = pytest.importorskip("resource")
    (machine / "status").write_text("Name:\tpython\nGroups:\t\nVmSize:\t1048576 kB\nVmData:\t 524288 kB\n")
    monkeypatch.setattr(memory, "_STATUS", machine / "status")
    most = dict(zip((resource.RLIMIT_AS, resource.RLIMIT_DATA), limits, strict=True))
    soft = {one: resource.RLIM_INFINITY if limit is None else limit * GIB for one, limit in most.items()}
    monkeypatch.setattr(resource, "getrlimit", lambda which: (soft[which], resource.RLIM_INFINITY))
    assert memory.available() == left * GIB


@pytest.mark.parametrize("model", [PBM(), DBN()])
def test_a_log_of_too_many_pairs_is_refused_before_they_are_learnt_from(machine: Path, model: PBM | DBN) -> None:
    model.fit(ROWS)
    (machine / "meminfo").write_text("MemAvailable: 400 kB\n")
    with pytest.raises(LogError, match=r"pairs of query and item.* GiB more of memory, and 0\.0 GiB") as told:
        model.fit(ROWS)
    assert "by item alone" in told.value.remedy
    model.fit(ROWS, by=None)  # three documents


@pytest.mark.parametrize(("documents", "fits"), [(1_000, True), (5_000, False)])
def test_what_learning_needs_is_told_by_documents_not_by_blocks_of_their_ranks(
    machine: Path, documents: int, fits: bool
) -> None:
    (machine / "meminfo").write_text("MemAvailable: 500 kB\n")
    keys, counts = np.zeros((5_000, 3), np.int64), np.zeros((5_000, 8, 2), np.uint8)
    keys[:, 0], keys[:, 2] = np.divmod(np.arange(5_000), documents)
    counts[:, 0] = 1
    table = CountTable().add_blocks(keys[:2_500], counts[:2_500])
    with nullcontext() if fits else pytest.raises(LogError, match="2,500 pairs of query and item"):
        table.add_blocks(keys[2_500:], counts[2_500:])


@pytest.mark.parametrize(
    ("by", "free", "fits"), [("query", 5, True), ("query", 3, False), (None, 15, True), (None, 5, False)]
)
def test_what_sessions_need_is_less_where_documents_are_learnt_some_queries_after_others(
    machine: Path, by: str | None, free: int, fits: bool
) -> None:
    """31,000 sessions of one document each: 110 bytes each where there are queries, else 430; 15 for each rank."""
    (machine / "meminfo").write_text(f"MemAvailable: {free * 1000} kB\n")
    rows = np.arange(31_000)
    table = pa.table({"query": rows, "slate": [[one] for one in rows], "clicks": [[one % 2] for one in rows]})
    with nullcontext() if fits else pytest.raises(LogError, match="31,000 pairs of query and item"):
        run(read_log(table).select(session_needs(by)), SessionsFold(by))


def what_threads_have_freed_is_given_back() -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    def used(wait: threading.Barrier) -> None:
        some = [np.ones(1 << 16) for _ in range(60)]  # half a megabyte each: of the thread's own arena
        wait.wait()
        del some

    with memory.large_given_back(1 << 30):  # all is kept
        memory._limit(1 << 30, 32 << 20)
        wait = threading.Barrier(2)
        each = [threading.Thread(target=used, args=(wait,)) for _ in range(2)]
        for thread in each:
            thread.start()
        for thread in each:
            thread.join()
        before = resident()
        assert memory.given_back("found") == "found"
        assert before - resident() > 30 << 20


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc alone says what it keeps")
def test_what_threads_have_freed_is_given_back() -> None:
    """In a process of its own: one that has done much else holds arenas that others use."""
    fresh = multiprocessing.get_context("spawn").Process(target=what_threads_have_freed_is_given_back)
    fresh.start()
    fresh.join()
    assert fresh.exitcode == 0
