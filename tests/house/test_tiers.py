"""What is told of how long tests compute, and whose turn it is."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import night, tiers
from tests.tiers import said


def test_a_test_that_is_long_without_a_mark_is_named() -> None:
    spent = {"a": 0.05, "b": 0.06, "c": 1.0, "d": 1.1, "e": 3.0, "f": 2.0}
    assert said(spent, ["f"]) == [
        "CPU: 0 s in 1 units, 1 s in 2 worlds, 6 s in 3 longer",
        "above 1 s without a mark (turns, nightly, slow); 10 s fail a night:",
        "    3.0 s  e",
        "    1.1 s  d",
    ]
    assert said({"a": 0.01}, []) == ["CPU: 0 s in 1 units"]


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(night, "WHOLE", False)
    monkeypatch.setattr(night, "touched", frozenset)
    monkeypatch.setattr(night, "_known", lambda: True)
    return monkeypatch


def test_each_name_has_its_turn_once_in_so_many_commits(turns: pytest.MonkeyPatch) -> None:
    asked = []
    for number in range(3):
        turns.setattr(night, "turn", lambda number=number: number)
        asked.append({name for name in map(str, range(90)) if night.due(name, 3)})
    assert sorted(name for names in asked for name in names) == sorted(map(str, range(90)))
    assert min(map(len, asked)) > 10


def test_at_night_and_where_something_was_touched_it_is_always_asked(turns: pytest.MonkeyPatch) -> None:
    turns.setattr(night, "turn", lambda: 0)
    name = next(name for name in map(str, range(9)) if not night.due(name, 3))
    file, folder = Path("/a/b.py"), Path("/a")
    turns.setattr(night, "touched", lambda: frozenset([file]))
    assert [night.due(name, 3, one) for one in (file, folder, Path("/c"), Path("/a/b"))] == [True, True, False, False]
    turns.setattr(night, "touched", frozenset)
    turns.setattr(night, "WHOLE", True)
    assert night.due(name, 3)


def test_a_copy_without_commits_is_asked_whole(turns: pytest.MonkeyPatch) -> None:
    turns.setattr(night, "turn", lambda: 0)
    name = next(name for name in map(str, range(9)) if not night.due(name, 3))
    turns.setattr(night, "_SAID", "")
    turns.setattr(night, "_known", lambda: False)
    assert night.due(name, 3)


@pytest.mark.parametrize(("seconds", "whole", "fails"), [(10.1, True, True), (10.1, False, False), (9.9, True, False)])
def test_one_that_is_far_too_long_fails_a_night(
    monkeypatch: pytest.MonkeyPatch, seconds: float, whole: bool, fails: bool
) -> None:
    monkeypatch.setattr(tiers, "WHOLE", whole)
    counted, session = tiers.Tiers(), SimpleNamespace(exitstatus=pytest.ExitCode.OK)
    counted.spent |= {"a": seconds, "b": 19.0}
    counted.may_be_long.add("b")
    counted.pytest_sessionfinish(session)
    assert (session.exitstatus == pytest.ExitCode.TESTS_FAILED) == fails


def test_the_table_names_what_takes_longest_together() -> None:
    spent = {"a.py::b[1]": 0.3, "a.py::b[2]@group": 0.3, "a.py::c": 0.4, "a.py::d": 0.6} | {
        f"a.py::e[{place}]": 0.01 for place in range(90)
    }
    assert tiers.table(spent) == ["0.6 a.py::b\n", "0.6 a.py::d\n"]


def test_what_stands_in_the_table_is_there() -> None:
    for name in night.long():
        file, *_, function = name.split("::")
        assert f"def {function}(" in (night.ROOT / file).read_text(encoding="utf-8"), name
