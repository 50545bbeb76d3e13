"""Shapes of outcomes just below and just above each threshold, and what is said of them."""

from __future__ import annotations

from typing import Any

from offrank.findings.rows import KeptEvidence, RobotsEvidence, UnreadRate
from offrank.sums.outcome_shape import OutcomeShape
from tests.findings.cases_log import Case


def ordered(**known: Any) -> OutcomeShape:
    """1,000 clicks below the first rank, of which 49 stand below an item without a click, in 500 lists."""
    return OutcomeShape(**{"below": 1000.0, "jumps": 49.5, "partial": 500.0, **known})


def silent(likely: float, rank: int = 3) -> OutcomeShape:
    """A rank without the clicks that the next one lets expect."""
    return OutcomeShape(rank=rank, likely=likely, shown=1000.0)


def humps(**known: Any) -> OutcomeShape:
    """Two clear humps, a tenth of the amounts in the smaller one."""
    return OutcomeShape(**{"factor": 100.0, "smaller": 0.1, "valley": 0.0, "alike": 0.9, "values": 30, **known})


def whole(**known: Any) -> OutcomeShape:
    """100 of 1,000 lists were clicked whole, where 10 are usual."""
    return OutcomeShape(**{"whole": 100.0, "usual": 10.0, "lists": 1000.0, "carried": 0.4, **known})


def robots(**known: Any) -> RobotsEvidence:
    """70 of 1,000 users click everything, and hardly anyone nearly so much."""
    return RobotsEvidence(**{"users": 1000, "robots": 0.07, "fewer": 0.001, "clearer": 20.0, "carried": 0.4, **known})


CASES = [
    Case("no-clicks", KeptEvidence(rows=(999.0, 0.0)), None),
    Case("no-clicks", KeptEvidence(rows=(1000.0, 0.0)), "serious"),
    Case("no-clicks", KeptEvidence(rows=(1000.0, 1.0)), None),
    Case("no-clicks", KeptEvidence(rows=(1000.0, 0.0), clicks=False), None),
    Case("filtered-by-outcome", KeptEvidence(), None),
    Case("filtered-by-outcome", KeptEvidence(filtered="clicks > 0"), "warning"),
    Case("unread-rate", KeptEvidence(), None),
    Case("unread-rate", KeptEvidence(unread=UnreadRate(low=0.05)), "serious"),
    Case("clicks-on-top", OutcomeShape(), None),
    Case("clicks-on-top", ordered(), "warning"),
    Case("clicks-on-top", ordered(jumps=50.5), None),
    Case("clicks-on-top", ordered(below=60.0, jumps=0.0), "warning"),
    Case("clicks-on-top", ordered(below=59.0, jumps=0.0), None),
    Case("clicks-on-top", ordered(all_of=249.0), "warning"),
    Case("clicks-on-top", ordered(all_of=251.0), None),
    Case("unclicked-rank", OutcomeShape(), None),
    Case("unclicked-rank", silent(59.5), None),
    Case("unclicked-rank", silent(60.5), "warning"),
    Case("unclicked-rank", silent(60.5, rank=1), "serious"),
    Case("two-units", OutcomeShape(), None),
    Case("two-units", humps(factor=7.9), None),
    Case("two-units", humps(factor=8.1), "warning"),
    Case("two-units", humps(smaller=0.0199), None),
    Case("two-units", humps(smaller=0.0201), "warning"),
    Case("two-units", humps(valley=0.599), "warning"),
    Case("two-units", humps(valley=0.601), None),
    Case("two-units", humps(valley=0.5, alike=0.795), None),
    Case("two-units", humps(valley=0.5, alike=0.805), "warning"),
    Case("two-units", humps(alike=0.695), None),
    Case("two-units", humps(alike=0.705), "warning"),
    Case("two-units", humps(values=9.9), None),
    Case("two-units", humps(values=10), "warning"),
    Case("clicked-whole", RobotsEvidence(), None),
    Case("clicked-whole", robots(clearer=4.95), None),
    Case("clicked-whole", robots(clearer=5.05), "warning"),
    Case("clicked-whole", robots(robots=0.00495), None),
    Case("clicked-whole", robots(robots=0.00505), "warning"),
    Case("clicked-whole", robots(robots=0.299), "warning"),
    Case("clicked-whole", robots(robots=0.301), None),
    Case("clicked-whole", robots(fewer=0.0174), "warning"),
    Case("clicked-whole", robots(fewer=0.0176), None),
    Case("clicked-whole", OutcomeShape(), None),
    Case("clicked-whole", whole(whole=29.7, usual=1.0), None),
    Case("clicked-whole", whole(whole=30.0, usual=1.0), "warning"),
    Case("clicked-whole", whole(usual=24.9), "warning"),
    Case("clicked-whole", whole(usual=25.1), None),
    Case("clicked-whole", whole(lists=19_900.0), "warning"),
    Case("clicked-whole", whole(lists=20_100.0), None),
]
