"""Cases of findings about randomness: what drew the log, and whether anything did."""

from __future__ import annotations

from typing import Any

from offrank.findings.log import LogEvidence, Repeats
from tests.findings import cases_outcome
from tests.findings.cases_log import Case


def repeating(chance: float, observed: float = 50.0, **known: Any) -> LogEvidence:
    """A log that repeats itself, in 100 pairs of which 10 are expected to be equal."""
    return LogEvidence(repeats=Repeats(pairs=100.0, observed=observed, expected=10.0, chance=chance), **known)


CASES = [
    *cases_outcome.CASES,
    Case("not-random", LogEvidence(), None),
    Case("not-random", repeating(0.00101), None),
    Case("not-random", repeating(0.00099), "serious"),
    Case("not-random", repeating(0.000_000_99, copies=0.5), "serious"),
    Case("not-random", repeating(0.000_001_01, copies=0.5), None),
    Case("not-random", repeating(1e-9, observed=19.01), "serious"),
    Case("not-random", repeating(1e-9, observed=18.99), "warning"),
    Case("unconfirmed-logging", LogEvidence(), None),
    Case("unconfirmed-logging", LogEvidence(unconfirmed=0.0), "warning"),
    Case("unconfirmed-logging", LogEvidence(unconfirmed=0.2), "warning"),
    Case("unconfirmed-logging", LogEvidence(unconfirmed=0.201), "serious"),
]
