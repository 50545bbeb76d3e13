"""What a terminal shows while the program works."""

from __future__ import annotations

import pytest
from numba.core import event

from offrank.cli import running


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
