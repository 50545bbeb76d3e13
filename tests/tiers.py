"""How long tests compute, with the processes that they start: units, worlds, and what is not asked each time."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Generator, Iterable

import pytest

UNIT, WORLD = 0.05, 1.0
"""CPU seconds: most tests take no more than a unit; one of a whole world of logs, models and answers at most that."""
LONGER = ("turns", "nightly", "slow")
"""The marks of tests that may take more."""
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

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for line in said(self.spent, self.may_be_long):
            terminalreporter.write_line(line)


def said(spent: dict[str, float], may_be_long: Iterable[str]) -> list[str]:
    """What is told of the tests after a run. spent: CPU seconds by name."""
    tiers = {"units": (-1.0, UNIT), "worlds": (UNIT, WORLD), "longer": (WORLD, float("inf"))}
    within = {tier: [one for one in spent.values() if low < one <= high] for tier, (low, high) in tiers.items()}
    counted = (f"{sum(each):,.0f} s in {len(each):,} {tier}" for tier, each in within.items() if each)
    late = {name: seconds for name, seconds in spent.items() if seconds > WORLD and name not in {*may_be_long}}
    slowest = sorted(late, key=lambda name: -late[name])[:MOST]
    heading = [f"above {WORLD:g} s without a mark ({', '.join(LONGER)}):"] if late else []
    return ["CPU: " + ", ".join(counted), *heading, *(f"  {late[name]:5.1f} s  {name}" for name in slowest)]


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("OFFRANK_TESTS") and not config.option.collectonly:
        config.pluginmanager.register(Tiers(), "offrank tiers")
