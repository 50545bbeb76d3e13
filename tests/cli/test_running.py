"""What a terminal shows while the program works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from numba.core import event

from offrank.cli import running
from offrank.cli.pace import Pace


def test_compiling_is_shown_after_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([0.0, 0.9, 1.0, 1.3, 5.0, 5.2, 5.4, 6.0])
    monkeypatch.setattr(running.time, "monotonic", lambda: next(seconds))
    shown = ["reading"]
    unwatch = running._watch_compiler(shown.append, lambda: shown[-1])
    for _ in range(2):  # .9 and .3 seconds
        with event.trigger_event("numba:compile"):
            assert shown[-1] == "reading"
    with event.trigger_event("numba:compile"), event.trigger_event("numba:compile"):  # one within the other
        assert shown[-1] == "compiling, once on this machine"
    assert shown[-1] == "reading"
    unwatch()
    with event.trigger_event("numba:compile"):
        assert shown[-1] == "reading"


def shown(*steps: tuple[float, Callable[[Pace], None]]) -> list[dict[str, Any]]:
    """What is shown after each step, each at a time in seconds."""
    clock, every = [0.0], list[dict[str, Any]]()
    pace = Pace(lambda **what: every.append(what), lambda: clock[0])
    for seconds, step in steps:
        clock[0] = seconds
        step(pace)
    return every


def test_rows_their_rate_and_the_time_left_are_shown() -> None:
    rows = [lambda pace, rows=rows: pace.read(rows) for rows in (1000, 4000, 1_995_000)]
    early, later, part, many, last = shown(
        (1.0, rows[0]), (2.5, rows[1]), (4.0, lambda pace: pace(1, 4)), (8.0, rows[2]), (9.0, lambda pace: pace(4, 4))
    )
    assert early == {"rate": ""}
    assert later == {"rate": "5,000 rows, 2,000/s"}
    assert part == {"completed": 1, "total": 4, "rate": "5,000 rows, 1,250/s", "left": "0:00:12 left"}
    assert many == {"rate": "2.0 million rows, 0.25 million/s"}
    assert last == {"completed": 4, "total": 4, "rate": "2.0 million rows, 0.22 million/s", "left": ""}


def test_a_second_reading_and_one_from_a_checkpoint_have_a_pace_of_their_own() -> None:
    whole = [(4.0, lambda pace: pace(2, 2)), (10.0, lambda pace: pace.read(500)), (15.0, lambda pace: pace.read(500))]
    assert shown(*whole)[-1] == {"rate": "1,000 rows, 200/s"}
    unread = shown((4.0, lambda pace: pace(2, 2)), (9.0, lambda pace: pace(1, 3)))
    assert unread[-1] == {"completed": 1, "total": 3, "rate": "", "left": "0:00:10 left"}
    assert shown((5.0, lambda pace: pace(91, 100)), (10.0, lambda pace: pace(92, 100)))[-1]["left"] == "0:00:40 left"
