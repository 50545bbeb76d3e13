"""Evidence about a log just below and just above each threshold, and what is said of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from offrank.findings.arms import ArmsEvidence, ControlEvidence
from offrank.findings.log import Frequency, LogEvidence
from offrank.findings.mean_weight import GroupEvidence
from offrank.findings.odd_mean import LawEvidence
from offrank.findings.registry import FailedEvidence
from offrank.findings.row import Row
from offrank.findings.rows import KeptEvidence, SkippedEvidence
from offrank.findings.weights import RareEvidence
from offrank.sums.estimate import Interval
from tests.findings.rows import row


class Case(NamedTuple):
    """What is said of some evidence: a severity, or nothing."""

    code: str
    evidence: Any
    severity: str | None


def unfit(chance: float, **known: Any) -> LogEvidence:
    """A log that fits its logging policy with so little chance."""
    return LogEvidence(fit=Frequency(1, 10.0, 50.0, chance, lift=2.0), **known)


def weight(value: float, away: float = 0.0, **known: Any) -> Row:
    """A mean weight that is so many standard errors from 1; without a number, exactly known."""
    error = abs(value - 1) / away if away else 0.0
    return row(mean_weight=Interval(value, value - error, value + error, error), **known)


def uniform(value: float, away: float, **known: Any) -> LogEvidence:
    """A log in which the mean weight of uniform is so many standard errors from 1."""
    error = abs(value - 1) / away
    return LogEvidence(mean_weight=Interval(value, value - error, value + error, error), **known)


def law(*weights: Row, **known: Any) -> LawEvidence:
    """The mean weights of a run."""
    return LawEvidence(weights=tuple(("`ips` for top(new)", one) for one in weights), **known)


def group(value: float, chance: float, tested: int = 1) -> GroupEvidence:
    """One mean weight of a group."""
    return GroupEvidence(weights=(("`ips` for top(new)", Interval(value, 0.0, 9.0, 0.01), chance),), tested=tested)


def shares(away: float) -> ArmsEvidence:
    """An arm whose share of the impressions is so many standard errors from half."""
    share = Interval(0.52, 0.51, 0.53, 0.02 / away)
    return ArmsEvidence(shares={"B": (share, 0.5)})


def moved(away: float) -> ControlEvidence:
    """A control whose mean in an arm is so many standard errors from that of all rows."""
    return ControlEvidence(away={"A": Interval(0.0, -1.0, 1.0, 1.0), "B": Interval(-away, -9.0, 9.0, 1.0)})


#: The normal deviate of a twentieth of the tail beyond 3.3 (any table: .000483, .0000242).
ODD_OF_20 = 4.064
REFUTED_CHANCE = 0.0005 / 20
#: The normal deviate of two tails of .0005 / 20, and of half as much (any table).
REFUTING, REFUTING_TWO = 4.2148, 4.3687


#: 20 of 100 impressions without a click were kept, and all 50 with one.
KEPT: dict[str, Any] = {"rows": (20.0, 50.0), "impressions": (100.0, 50.0), "variance": (400.0, 0.0)}
ALL_CLICKED: dict[str, Any] = {"rows": (0.0, 100.0), "impressions": (0.0, 100.0)}

CASES = [
    Case("finding-failed", FailedEvidence(), None),
    Case("finding-failed", FailedEvidence(failed=("`long-slates` of package `mine` (KeyError: 'x')",)), "warning"),
    Case("rare-rewards", RareEvidence(16_000, 0.7, 200.0, 1.1), None),
    Case("rare-rewards", RareEvidence(16_000, 0.699, 200.0, 1.1), "warning"),
    Case("rare-rewards", RareEvidence(16_000, 0.1, 200.0, 0.0), "warning"),
    Case("sample-ratio", shares(3.28), None),
    Case("sample-ratio", shares(3.30), "serious"),
    Case("control-moved", moved(3.28), None),
    Case("control-moved", moved(3.30), "serious"),
    Case("control-moved", ControlEvidence(), None),
    Case("kept-by-outcome", KeptEvidence(apart=4.99), None),
    Case("kept-by-outcome", KeptEvidence(apart=5.01, impressions=(48_800.0, 1_200.0)), "note"),
    Case("kept-by-outcome", KeptEvidence(apart=9.0, totals={"all": 9.0}), "note"),
    Case("kept-by-outcome", KeptEvidence(apart=9.0, totals={"clicked": 1.0, "all": 9.0}), None),
    Case("kept-by-outcome", KeptEvidence(apart=9.0, clicks=False), None),
    Case("skipped", SkippedEvidence(rule="not-drawn", count=1), "note"),
    Case("left-out", KeptEvidence(read=1000), None),
    Case("left-out", KeptEvidence(read=998_999, left_out=1001, by_outcome=1001), "serious"),
    Case("left-out", KeptEvidence(read=999_001, left_out=999, by_outcome=999), "warning"),
    Case("left-out", KeptEvidence(read=990, left_out=10, tested=10, gap=4.01), "warning"),
    Case("left-out", KeptEvidence(read=990, left_out=10, tested=10, gap=-4.01), "warning"),
    Case("left-out", KeptEvidence(read=990, left_out=10, tested=10, gap=3.99), None),
    Case("left-out", KeptEvidence(read=990, left_out=10, tested=10, gap=-3.99), None),
    Case("left-out", KeptEvidence(read=998_999, left_out=1001), "warning"),
    Case("left-out", KeptEvidence(read=999_001, left_out=999), None),
    Case("left-out", KeptEvidence(read=998_999, left_out=1001, tested=2), None),
    Case("only-clicked-rows", KeptEvidence(**ALL_CLICKED), "serious"),
    Case("only-clicked-rows", KeptEvidence(**{**ALL_CLICKED, "rows": (0.0, 99.0)}), None),
    Case("only-clicked-rows", KeptEvidence(**{**ALL_CLICKED, "rows": (1.0, 100.0)}), None),
    Case("only-clicked-rows", KeptEvidence(**ALL_CLICKED, clicks=False), None),
    Case("only-clicked-rows", KeptEvidence(**ALL_CLICKED, totals={"clicked": 100.0, "all": 100.0}), None),
    Case("only-clicked-rows", KeptEvidence(**ALL_CLICKED, totals={"clicked": 100.0, "all": 101.0}), "serious"),
    Case("totals", KeptEvidence(**KEPT), None),
    Case("totals", KeptEvidence(**KEPT, totals={"all": 150.0 + 3.49 * 20}), None),
    Case("totals", KeptEvidence(**KEPT, totals={"all": 150.0 + 3.51 * 20}), "serious"),
    Case("totals", KeptEvidence(**KEPT, totals={"clicked": 50.0, "all": 150.0}), None),
    Case("totals", KeptEvidence(**KEPT, totals={"clicked": 50.0 / 1.00495}), None),
    Case("totals", KeptEvidence(**KEPT, totals={"clicked": 50.0 / 1.00505}), "serious"),
    Case("totals", KeptEvidence(**KEPT, totals={"clicked": 49.0, "all": 150.0}), "serious"),
    Case("huge-inverse-propensity", LogEvidence(), None),
    Case("huge-inverse-propensity", LogEvidence(largest_weight=99_900.0, impressions=1_000.0), None),
    Case("huge-inverse-propensity", LogEvidence(largest_weight=100_100.0, impressions=1_000.0), "warning"),
    Case("mean-weight", uniform(1.1, 3.29), None),
    Case("mean-weight", uniform(1.1, 3.31), "warning"),
    Case("mean-weight", uniform(1.1, REFUTING - 0.002), "warning"),
    Case("mean-weight", uniform(1.1, REFUTING + 0.002), "serious"),
    Case("mean-weight", uniform(1.00499, 9.0), None),
    Case("mean-weight", uniform(1.00501, 9.0), "serious"),
    Case("mean-weight", uniform(2.0, 9.0, sampling_factor=2.0), None),
    Case("unlisted-candidates", uniform(1.1, 9.0), None),
    Case("unlisted-candidates", uniform(1.1, 3.29, unlisted=True), None),
    Case("unlisted-candidates", uniform(1.1, 3.31, unlisted=True), "warning"),
    Case("unlisted-candidates", uniform(1.1, REFUTING + 0.002, unlisted=True), "serious"),
    Case("unlisted-candidates", uniform(0.9, 9.0, unlisted=True), None),
    Case("unlisted-candidates", uniform(2.0, 9.0, unlisted=True, sampling_factor=2.0), None),
    Case("unlisted-candidates", law(weight(1.1, 9.0)), None),
    Case("unlisted-candidates", law(weight(1.1, REFUTING - 0.002), unlisted=True), None),
    Case("unlisted-candidates", law(weight(1.1, REFUTING + 0.002), unlisted=True), "serious"),
    Case("unlisted-candidates", law(weight(0.9, 9.0, hidden=0.0), unlisted=True), None),
    Case("unlisted-candidates", law(weight(2.0, 9.0, sampling_factor=2.0), unlisted=True), None),
    Case("mean-weight", weight(1.1, ODD_OF_20 - 0.01, groups=20), None),
    Case("mean-weight", weight(1.1, ODD_OF_20 + 0.01, groups=20), "warning"),
    Case("mean-weight", weight(1.1, 5.01, groups=20), "serious"),
    Case("mean-weight", weight(39.0, 1.0, groups=2), None),
    Case("mean-weight", weight(41.0, 1.0, groups=2), "warning"),
    Case("mean-weight", weight(201.0, 1.0, groups=2), "serious"),
    Case("mean-weight", weight(0.2, 9.0, groups=20), None),
    Case("mean-weight", weight(0.2, 9.0, groups=20, tail_index=0.1), None),
    Case("mean-weight", GroupEvidence(), None),
    Case("mean-weight", group(1.5, REFUTED_CHANCE * 1.01), None),
    Case("mean-weight", group(1.5, REFUTED_CHANCE * 0.99), "serious"),
    Case("mean-weight", group(1.5, REFUTED_CHANCE * 0.99, tested=2), None),
    Case("mean-weight", group(1.5, REFUTED_CHANCE / 2 * 0.99, tested=2), "serious"),
    Case("mean-weight", group(1.00499, 1e-9), None),
    Case("mean-weight", group(1.00501, 1e-9), "serious"),
    Case("mean-weight", law(), None),
    Case("mean-weight", law(weight(1.1, REFUTING - 0.002)), None),
    Case("mean-weight", law(weight(1.1, REFUTING + 0.002)), "serious"),
    Case("mean-weight", law(weight(1.0, 0.0), weight(1.1, REFUTING + 0.002)), "serious"),
    Case("mean-weight", law(weight(1.1, REFUTING_TWO - 0.002), targets=2), None),
    Case("mean-weight", law(weight(1.1, REFUTING_TWO + 0.002), targets=2), "serious"),
    Case("mean-weight", law(weight(1.1, 2 * REFUTING - 0.01), copies=0.75), None),
    Case("mean-weight", law(weight(1.1, 2 * REFUTING + 0.01), copies=0.75), "serious"),
    Case("mean-weight", law(weight(0.9, 9.0)), None),  # too little support would do this
    Case("mean-weight", law(weight(0.9, REFUTING + 0.002, hidden=0.0)), "serious"),
    Case("mean-weight", law(weight(0.9, REFUTING - 0.002, hidden=0.0)), None),
    Case("mean-weight", law(weight(0.9, 9.0, hidden=0.06, unsupported=0.05)), None),
    Case("mean-weight", law(weight(1.00499, 9.0)), None),
    Case("mean-weight", law(weight(1.00501, 9.0)), "serious"),
    Case("mean-weight", law(weight(99.9, 1.0)), None),
    Case("mean-weight", law(weight(100.1, 1.0)), "serious"),
    Case("mean-weight", law(weight(1.1, 9.0, normalised=False)), None),
    Case("mean-weight", law(weight(0.9, 9.0, hidden=0.0, bounds="Clipping", control=0.9)), None),
    Case("mean-weight", law(weight(2.0, 9.0, sampling_factor=2.0)), None),
    Case("double-subsampling", law(weight(2.0, REFUTING - 0.01, sampling_factor=2.0)), None),
    Case("double-subsampling", law(weight(2.0, REFUTING + 0.01, sampling_factor=2.0)), "serious"),
    Case("double-subsampling", law(weight(2.0, 9.0, sampling_factor=1.2)), None),
    Case("mean-weight", uniform(1.1, 4.5, copies=0.5), None),  # 3.18 without the copies
    Case("mean-weight", uniform(0.9, 9.0, fit=Frequency(1, 1.0, 1.0, 1.0, lift=1.0), rows=1_000, ess=500.0), None),
    Case("mean-weight", uniform(0.9, 9.0, rows=1_000, ess=99.9), None),
    Case("mean-weight", uniform(0.9, 9.0, rows=1_000, ess=100.1), "warning"),
    Case("mean-weight", uniform(0.9, 4.99, rows=1_000, ess=500.0), None),
    Case("mean-weight", uniform(0.9, 5.01, rows=1_000, ess=500.0), "warning"),
    Case("mean-weight", uniform(0.99501, 9.0, rows=1_000, ess=500.0), None),
    Case("mean-weight", uniform(0.99499, 9.0, rows=1_000, ess=500.0), "warning"),
    Case("mean-weight", uniform(1.1, float("nan")), None),
    Case("double-subsampling", uniform(2.0, 3.29, sampling_factor=2.0), None),
    Case("double-subsampling", uniform(2.0, 3.31, sampling_factor=2.0), "serious"),
    Case("double-subsampling", uniform(0.9, 9.0, sampling_factor=1.2), None),
]
