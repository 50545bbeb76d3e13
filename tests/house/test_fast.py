"""`make fast` runs a list of files: each is there, and no room of the code is left out."""

from __future__ import annotations

import pytest

from tests.house.code import PACKAGE, ROOT

LISTED = (ROOT / "tests" / "fast.txt").read_text(encoding="utf-8").splitlines()
ELSEWHERE = {"evaluation": "verbs", "inspection": "verbs", "testing": "exact"}
"""Rooms whose tests stand in another one's folder, or whose own take minutes."""
ROOMS = sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists())


@pytest.mark.parametrize("path", LISTED)
def test_a_listed_path_is_there(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_is_tested(room: str) -> None:
    folder = f"tests/{ELSEWHERE.get(room, room)}"
    assert any(path == folder or path.startswith(f"{folder}/") for path in LISTED)


def test_a_path_stands_once() -> None:
    assert len(set(LISTED)) == len(LISTED)
