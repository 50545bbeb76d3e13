"""What a killed process leaves unfinished is removed by the next run, and nothing else is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from offrank.language.files import atomic_write, scratch, write_text

HOLD = """
from offrank.language.files import atomic_write
with atomic_write("a.txt") as temporary:
    temporary.write_text("half")
    print("up", flush=True)
    input()
"""


def old(*paths: Path) -> None:
    for path in paths:
        os.utime(path, (0, 0))


def test_what_a_killed_writer_left_is_removed_by_the_next_and_not_before(tmp_path: Path) -> None:
    writer = subprocess.Popen([sys.executable, "-c", HOLD], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"up\n"
    [unfinished] = tmp_path.iterdir()
    old(unfinished)
    write_text(tmp_path / "a.txt", "new")
    assert unfinished.read_text() == "half"  # somebody is still at work
    writer.send_signal(signal.SIGKILL)
    writer.communicate()
    write_text(tmp_path / "a.txt", "newer")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_files_of_other_names_young_ones_and_links_are_left_alone(tmp_path: Path) -> None:
    other, near, hidden = (tmp_path / name for name in (".00000000.b.txt", ".0000000g.a.txt", ".a.txt"))
    for path in (other, near, hidden):
        path.write_text("kept")
    link, young = tmp_path / ".00000001.a.txt", tmp_path / ".00000002.a.txt"
    link.symlink_to(other)
    old(other, near, hidden)
    young.write_text("just begun")
    write_text(tmp_path / "a.txt", "new")
    assert len(list(tmp_path.iterdir())) == 6


def test_folders_that_were_left_are_removed(tmp_path: Path) -> None:
    left = tmp_path / "offrank-0123abcd"
    left.mkdir()
    (left / "rows.arrow").write_text("x")
    (tmp_path / "offrank-demo").mkdir()
    old(left, tmp_path / "offrank-demo")
    with scratch(tmp_path, "offrank-") as folder:
        assert {path.name for path in tmp_path.iterdir()} == {"offrank-demo", folder.name}
    assert [path.name for path in tmp_path.iterdir()] == ["offrank-demo"]


def test_where_there_are_no_locks_files_are_written_and_nothing_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("offrank.language.files.fcntl", None)
    left = tmp_path / ".00000000.a.txt"
    left.write_text("half")
    old(left)
    with atomic_write(tmp_path / "a.txt") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "a.txt").read_text() == "new"
    assert left.exists()
