"""Compiled loops are kept in files; without them, or with wrong ones, they are compiled again."""

from __future__ import annotations

import errno
import os
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from numba.core import config

from offrank.language import compiled

DAMAGE = {
    "empty": lambda _: b"",
    "half": lambda data: data[: len(data) // 2],
    "noise": lambda data: b"\x07" * len(data),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Compiled code goes there, and nothing was told yet."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiled, "_told", [])
    return tmp_path


def doubled() -> Any:
    """The same function again, as the next process would have it."""

    def twice(x):  # type: ignore[no-untyped-def]
        return 2 * x

    return compiled.njit()(twice)


def stored(folder: Path) -> dict[str, Path]:
    return {path.suffix: path for path in folder.rglob("*.nb?")}


def test_code_is_compiled_once(folder: Path) -> None:
    for hits in (0, 1):
        function = doubled()
        assert function(3) == 6
        assert sum(function.stats.cache_hits.values()) == hits
    assert sorted(stored(folder)) == [".nbc", ".nbi"]


@pytest.mark.parametrize("suffix", [".nbc", ".nbi"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_written_again(damage: str, suffix: str, folder: Path) -> None:
    assert doubled()(3) == 6
    path = stored(folder)[suffix]
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    for hits in (0, 1):
        function = doubled()
        assert function(3) == 6
        assert sum(function.stats.cache_hits.values()) == hits


@pytest.mark.parametrize("suffix", ["", ".nbc", ".nbi"])
def test_a_full_disk_is_told_once_and_costs_time_only(
    suffix: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever file it is that does not fit; with the last, one that is damaged cannot be mended."""
    assert doubled()(3) == 6
    for path in [path for kind, path in stored(folder).items() if suffix != ".nbi" or kind == suffix]:
        path.write_bytes(b"")

    def full(old: str, new: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), new)

    monkeypatch.setattr("numba.core.caching.os.replace", full)
    for message in [r"cannot be stored in .* \(No space left on device\).*set NUMBA_CACHE_DIR", ""]:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            assert doubled()(3) == 6
        assert [bool(re.search(message, str(one.message))) for one in found] == [True] * bool(message)
    assert not list(folder.rglob("*.tmp.*"))
