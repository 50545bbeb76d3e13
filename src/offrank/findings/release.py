"""The release rule: whether a learnt policy may replace the policy that drew the log.

A policy is released at level 1 - a if each of these conditions holds. If one of the two intervals is right, a policy
that is no better is released in at most a of all logs (an intersection-union test: Berger 1982).

1. The verdict is usable, and its two-sided interval of the paired difference to the log, at level 1 - 2 a, lies above
   0: its lower end is a one-sided bound at level 1 - a.
2. At least `FEW` effective rewarded impressions carry it: of fewer, an interval says little.
3. Unless the logging policy is known to show all that the policy shows, the same holds for the difference in which all
   that is missing from the log earns the least logged reward. A self-normalised estimate assumes that it earns as much
   as the rest, so that a policy looks better for showing what the log does not have.
4. The difference stays above 0 with one more impression of the largest reward: a log without it may be luck.
5. If its estimate assumes something of users, the less assuming ones did not see nothing earned where they should have.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..language.assumptions import in_words
from ..language.formatting import Span, rough
from ..sums.estimate import Interval, Known
from .reasons import Reason
from .verdict import Verdict

FEW = 10.0
"""Effective rewarded impressions. Of five all may favour either policy by chance (benchmarks/release.py)."""
UNDECIDED, WORSE = "undecided", "worse"
"""The codes of the reasons that the interval contains 0, or lies below it."""
MISSING = "missing-weight"
"""The code of the reason that the policy may be worse if what the log does not show earns little."""
RARE = "rare-rewards"
"""The code of the reason that one more impression of the largest reward would undo the difference."""
NOTHING_EARNED = "nothing-earned"
"""The code of the reason that no impression with what the policy shows earned anything."""


@dataclass(frozen=True)
class Release:
    """Whether a policy may replace the one that drew the log.

    - released: whether it is better than the logged policy with probability `level`.
    - difference: per impression, paired; each end is a one-sided bound at `level`. None if no estimate can be used.
    - missing: the same if what the log does not show earned the least logged reward; None if nothing can be missing.
    - estimator, assumes: where the difference is from, and its assumptions about users.
    - reasons: why it is not released; otherwise the reasons for care.

    Examples:
        >>> shown = {"candidates": [0, 1], "features": [[0], [1]], "propensity": 0.5}
        >>> log = [{**shown, "slate": [row % 2], "clicks": [int(row % 5 < 1 + row % 2)]} for row in range(9000)]
        >>> learnt = offrank.learn(log, "poem", "policy.npz", epochs=2, bits=12)
        >>> learnt.release.released, learnt.release.level
        (True, 0.95)
    """

    released: bool
    level: float
    difference: Known = None
    missing: Known = None
    estimator: str | None = None
    assumes: frozenset[str] = frozenset()
    reasons: tuple[Reason, ...] = ()

    @property
    def headline(self) -> str:
        """The decision in one sentence, with its number."""
        codes, away = ", ".join(one.code for one in self.reasons), self.difference
        if self.released and away is not None:
            given = f" if {in_words(self.assumes)}" if self.assumes else ""
            care = f" Use with care: {codes}." if codes else ""
            said = f"{_signed(away)} per impression, at least {_signed(away, away.low)}, by {self.estimator}"
            return f"Better than the logged policy with probability {self.level:g}{given}: {said}.{care}"
        if away is None:
            return (
                "Do not ship: the held-out last third cannot tell whether it is better than the logged policy "
                f"({codes})."
            )
        how = "worse" if away.high < 0 else "not shown to be better"
        ends = Span.of(away).interval(signed=True)
        said = f"{_signed(away)} per impression, from {ends}, by {self.estimator}"
        return f"Do not ship: {how} than the logged policy with probability {self.level:g}: {said} ({codes})."

    def to_dict(self) -> dict[str, Any]:
        """The decision as plain values."""
        return {
            "released": self.released,
            "level": self.level,
            "headline": self.headline,
            "estimator": self.estimator,
            "assumes": sorted(self.assumes),
            "difference": None if self.difference is None else self.difference.to_dict(),
            "missing": None if self.missing is None else self.missing.to_dict(),
            "reasons": [{**asdict(one), "estimators": list(one.estimators)} for one in self.reasons],
        }


def release(
    level: float,
    verdict: Verdict,
    rewarded: float = math.inf,
    missing: Interval | None = None,
    one_more: float = 0.0,
    others: tuple[Reason, ...] = (),
) -> Release:
    """The decision at this level.

    verdict: with intervals at level 2 level - 1. rewarded: effective number of rewarded impressions behind its
    estimate. missing: as in `Release`, at the same level. one_more: what one more impression of the largest reward
    adds to the logged mean. others: reasons against it, from other estimates.
    """
    away = verdict.difference
    if away is None or not verdict.usable:
        return Release(False, level, reasons=verdict.reasons)
    against = [*_against(level, verdict, away, rewarded, missing), *others]
    if away.low > 0 and not away.low > one_more:
        text = (
            f"One more impression with the largest reward would add {rough(one_more)} to the logged mean, which is "
            "as much as the lead."
        )
        against.append(Reason(RARE, text, "Log more: rewards are too rare for their size.", (str(verdict.estimator),)))
    reasons = tuple(against) or verdict.reasons
    return Release(not against, level, away, missing, verdict.estimator, verdict.assumes, reasons)


def nothing_earned(estimator: str, rows: float, expected: float) -> Reason:
    """The reason that none of so many impressions earned anything. expected: how many of the logging policy would."""
    text = (
        f"None of about {rows:,.0f} impressions that match the policy has a reward, although about {expected:.0f} "
        "were expected."
    )
    remedy = "Do not rely on the assumption about users: log more, or test the policy online first."
    return Reason(NOTHING_EARNED, text, remedy, (estimator,))


def _signed(away: Interval, end: float | None = None) -> str:
    """Format a difference, or an end of its interval."""
    span = Span.of(away)
    return (span if end is None else replace(span, value=end)).number(signed=True)


def _against(level: float, verdict: Verdict, away: Interval, rewarded: float, missing: Interval | None) -> list[Reason]:
    """The reasons not to release a policy with a usable verdict."""
    names, found = (str(verdict.estimator),), []
    if not away.low > 0:
        least = verdict.detectable and rough(verdict.detectable)
        more = f" The smallest difference that such a log detects with a power of 80 % is {least}." if least else ""
        text = (
            f"With probability {level:g}, the difference is only known to exceed {_signed(away, away.low)} per "
            f"impression.{more}"
        )
        code = WORSE if away.high < 0 else UNDECIDED
        found.append(Reason(code, text, "Log more, or learn a policy that is further ahead.", names))
    if away.low > 0 and rewarded < FEW:
        text = f"It is based on about {rewarded:.0f} rewarded impressions, all of which may favour it by chance."
        found.append(Reason("few-rewards", text, "Log more.", names))
    if missing is not None and away.low > 0 and not missing.low > 0:
        text = (
            "The log does not show everything that the policy shows, and the missing part may earn less than the "
            "rest: if it earned the smallest logged reward, the difference is only known to exceed "
            f"{_signed(missing, missing.low)}."
        )
        remedy = "Log more randomly, name the logging policy, or learn a policy closer to it."
        found.append(Reason(MISSING, text, remedy, names))
    return found
