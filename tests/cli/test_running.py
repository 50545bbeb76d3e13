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


def shown(*steps: tuple[float, Callable[[Pace], None]], workers: int = 1) -> list[dict[str, Any]]:
    """What is shown after each step, each at a time in seconds."""
    clock, every = [0.0], list[dict[str, Any]]()
    pace = Pace(lambda **what: every.append(what), lambda: clock[0], workers)
    for seconds, step in steps:
        clock[0] = seconds
        step(pace)
    return every


def test_rows_their_rate_and_the_time_left_are_shown() -> None:
    """The rate is that of the rows after the first, which came after 1 second of opening."""
    rows = [lambda pace, rows=rows: pace.read(rows) for rows in (1000, 4000, 1_995_000)]
    early, later, part, many, last = shown(
        (1.0, rows[0]), (2.5, rows[1]), (5.0, lambda pace: pace(1, 4)), (11.0, rows[2]), (21.0, lambda pace: pace(4, 4))
    )
    assert early == later == {"rate": ""}
    assert part == {"completed": 1, "total": 4, "rate": "5,000 rows, 1,000/s", "left": "0:00:15 left"}  # 15,000 rows
    assert many == {"rate": "2.0 million rows, 0.20 million/s"}
    assert last == {"completed": 4, "total": 4, "rate": "2.0 million rows, 0.10 million/s", "left": ""}


def test_a_second_reading_and_one_from_a_checkpoint_have_a_pace_of_their_own() -> None:
    whole = [(4.0, lambda pace: pace(2, 2)), (10.0, lambda pace: pace.read(500)), (15.0, lambda pace: pace.read(500))]
    assert shown(*whole)[-1] == {"rate": "1,000 rows, 100/s"}
    unread = shown((4.0, lambda pace: pace(2, 2)), (9.0, lambda pace: pace(1, 3)))
    assert unread[-1] == {"completed": 1, "total": 3, "rate": "", "left": "0:00:10 left"}
    assert shown((5.0, lambda pace: pace(91, 100)), (10.0, lambda pace: pace(92, 100)))[-1]["left"] == "0:00:40 left"


def seconds(left: str) -> int:
    """The seconds of a text such as `0:00:15 left`."""
    hours, minutes, rest = left.removesuffix(" left").split(":")
    return 3600 * int(hours) + 60 * int(minutes) + int(rest)


@pytest.mark.parametrize("workers", [1, 4, 16])
@pytest.mark.parametrize("compiling", [0, 60])
def test_the_time_left_is_within_a_factor_of_two_of_the_truth(workers: int, compiling: int) -> None:
    """Workers read 64 equal parts of ten batches, a second for each batch, after opening and compiling.

    As long as half is to come: at the end all are at the end of their parts, where half of them should be.
    """
    steps: list[tuple[float, Callable[[Pace], None]]] = []
    rounds, end = 64 // workers, compiling + 10 * 64 // workers
    for batch in range(1, 10 * rounds + 1):
        steps += [(compiling + batch, lambda pace: pace.read(1000))] * workers
        if batch % 10 == 0:
            each = range((batch // 10 - 1) * workers + 1, batch // 10 * workers + 1)
            steps += [(compiling + batch, lambda pace, one=one: pace(one, 64)) for one in each]
    told = [(end - now, one) for (now, _), one in zip(steps, shown(*steps, workers=workers), strict=True)]
    early = [(truth, seconds(one["left"])) for truth, one in told if one.get("left") and truth >= (end - compiling) / 2]
    assert len(early) >= 31
    assert all(truth / 2 < left < 2 * truth for truth, left in early), early
