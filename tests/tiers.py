"""How long tests compute, with the processes that they start: units, worlds, and what is not asked each time.

At night a test that is far too long without a mark fails the run; at other times it is named. A night leaves the table
of what takes longest together in `.pytest_cache/long.txt`, to be copied to `tests/long.txt`.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Generator, Iterable

import pytest

from tests.night import TABLE, WHOLE

UNIT, WORLD = 0.05, 1.0
"""CPU seconds: most tests take no more than a unit; one of a whole world of logs, models and answers at most that."""
LONGER = ("turns", "nightly", "slow")
"""The marks of tests that may take more."""
TOO_LONG = 10 * WORLD
"""CPU seconds without a mark that fail a night: the first test that needs a loop waits some 6 for its compilation."""
TOGETHER, EACH = 0.5, 0.04
"""CPU seconds of a test, with all its cases and of one of them, from which it stands in the table."""
MOST = 20
"""How many of those that should have such a mark are named."""


def _spent() -> float:
    return sum(os.times()[:4])


class Tiers:
    """Counts the CPU seconds of each test; in another process of xdist they come with its reports."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self.may_be_long: set[str] = set()
        self.since = _spent()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        self.since = _spent()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report, now = (yield), _spent()
        longer = any(item.get_closest_marker(mark) for mark in LONGER)
        report.user_properties += [("cpu", now - self.since), ("longer", longer)] if report.when else []
        self.since = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        told = dict(report.user_properties)
        self.spent[report.nodeid] += float(str(told.get("cpu", 0.0)))
        if told.get("longer"):
            self.may_be_long.add(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if WHOLE and session.exitstatus == pytest.ExitCode.OK and max(self.late().values(), default=0.0) > TOO_LONG:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def late(self) -> dict[str, float]:
        """CPU seconds of those that are too long for having no mark."""
        return late(self.spent, self.may_be_long)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for line in said(self.spent, self.may_be_long):
            terminalreporter.write_line(line)
        if WHOLE:
            cached = terminalreporter.config.rootpath / ".pytest_cache"
            cached.mkdir(exist_ok=True)
            (cached / TABLE.name).write_text("".join(table(self.spent)), encoding="utf-8")


def late(spent: dict[str, float], may_be_long: Iterable[str]) -> dict[str, float]:
    """CPU seconds of those above a world that are not said to be long, the longest first."""
    unmarked = spent.keys() - {*may_be_long}
    return {name: spent[name] for name in sorted(unmarked, key=lambda name: -spent[name]) if spent[name] > WORLD}


def table(spent: dict[str, float]) -> list[str]:
    """The lines of the table of what takes longest together, by name."""
    cases: dict[str, list[float]] = defaultdict(list)
    for name, seconds in spent.items():
        cases[name.partition("[")[0].partition("@")[0]].append(seconds)
    together = {name: sum(each) for name, each in sorted(cases.items()) if sum(each) >= EACH * len(each)}
    return [f"{seconds:.1f} {name}\n" for name, seconds in together.items() if seconds >= TOGETHER]


def said(spent: dict[str, float], may_be_long: Iterable[str]) -> list[str]:
    """What is told of the tests after a run. spent: CPU seconds by name."""
    tiers = {"units": (-1.0, UNIT), "worlds": (UNIT, WORLD), "longer": (WORLD, float("inf"))}
    within = {tier: [one for one in spent.values() if low < one <= high] for tier, (low, high) in tiers.items()}
    counted = (f"{sum(each):,.0f} s in {len(each):,} {tier}" for tier, each in within.items() if each)
    unmarked = late(spent, may_be_long)
    what = f"above {WORLD:g} s without a mark ({', '.join(LONGER)}); {TOO_LONG:g} s fail a night:"
    named = (f"  {seconds:5.1f} s  {name}" for name, seconds in [*unmarked.items()][:MOST])
    return ["CPU: " + ", ".join(counted), *[what][: len(unmarked)], *named]


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("OFFRANK_TESTS") and not config.option.collectonly:
        config.pluginmanager.register(Tiers(), "offrank tiers")
