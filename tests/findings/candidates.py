"""Candidates for an answer, as tables of cases write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from offrank import Caution, Estimate
from offrank.estimators.named import estimator
from offrank.findings.row import EstimatorKind, Row
from offrank.findings.verdict import Verdict, verdict
from offrank.sums.estimate import Interval
from tests.findings.rows import with_kind

LOG = Interval(0.40, 0.39, 0.41, 0.005)


def estimate(value: float, half: float, *warnings: Caution, away: float | None = None) -> Estimate:
    """An estimate +- half; the difference to the log has the half-width `away`, else the same."""
    difference = Interval(value - 0.4, value - 0.4 - (away or half), value - 0.4 + (away or half), (away or half) / 2)
    return Estimate(
        value, value - half, value + half, half / 2, 5000, 900.0, 1.0, 0.01, difference=difference, warnings=warnings
    )


def caution(severity: Any, code: str = "low-ess") -> Caution:
    return Caution(code, severity, f"Statement of {code}.", "Do.")


def assumed(name: str) -> frozenset[str]:
    return estimator(name).kind.assumes


def one(name: str, value: float, half: float, *warnings: Caution, **fields: Any) -> Row:
    """A candidate of a named estimator."""
    change = value / 0.4 - 1
    relative = Interval(change, change - half / 0.4, change + half / 0.4, half / 0.8)
    kind = EstimatorKind(assumes=fields.pop("assumes", None) or assumed(name), logging="log_prob")
    return with_kind(Row(name, name, kind, estimate(value, half, *warnings), LOG, relative), fields)


def judged(*candidates: Row, about_log: Sequence[Caution] = (), **fields: Any) -> Verdict:
    found = verdict("t", candidates, about_log, **fields)
    assert found is not None
    return found


def hidden(name: str, value: float, half: float, *warnings: Caution, **fields: Any) -> Row:
    return one(name, value, half, *warnings, asked=False, **fields)


WARNING, SERIOUS, NOTE = (caution(severity) for severity in ("warning", "serious", "note"))
ITEMS = assumed("ipm")
CLICKS = one("ips", 0.5, 0.09, caution("note", "clicks-not-reward"), outcome="clicks")
IPM, INTERPOL = "ipm", "interpol(window=2, examination=[1, 0.5, 0.3])"
SNIPS = one("snips", 0.5, 0.08, base="ips", normalisation="mean")
