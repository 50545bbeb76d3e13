"""What was counted of a log and is known of a target, by which the assumptions that fit them are named."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from ..checks.rows import Impressions
from ..errors import AbilityError
from ..findings.untested import FROM_ELSEWHERE, RARE, Assumption, Facts
from ..policies.base import Ability
from ..policies.fit import learnt_rows
from ..policies.propensities import AnyPolicy, law_needs
from .counts import Counts

_LAWS: tuple[Ability, ...] = ("rank_probs", "log_prob")
_ALIKE = "query"
"""Rows of one query may be those of different users, who know nothing of each other."""


def facts_of_log(impressions: Impressions, tested: frozenset[Assumption], users: Iterable[str], days: bool) -> Facts:
    """Return what is known of a log. users: columns of dependent rows. days: whether it has rows of several days."""
    shown, clicked = impressions.ranks[:, [1, 2]].sum(axis=0) if len(impressions.ranks) else (0.0, 0.0)
    return Facts(
        tested=tested,
        sampled=abs(impressions.estimated - impressions.n) > 1e-9 * impressions.n,
        rare=bool(clicked < RARE * shown),
        recurs=any(name != _ALIKE for name in users),
        days=days,
    )


def facts_of(summary: Counts, logging: AnyPolicy, targets: Iterable[AnyPolicy]) -> Facts:
    """Return what is known of a log and of some targets: these may know its clicks if they read columns of their own.

    If they were learnt by offrank, or only read what the logging policy reads, that is known.
    """
    own = [one for one in targets if not learnt_rows(one) and not _read(one) <= _read(logging)]
    tested = summary.facts.tested if own else summary.facts.tested | {FROM_ELSEWHERE}
    return replace(summary.facts, tested=tested, scored=bool(own), rewards=not summary.rewards_are_clicks)


def _read(policy: AnyPolicy) -> frozenset[str]:
    """Return the scores, rankings and written probabilities that a policy reads."""
    found: frozenset[str] = frozenset()
    for ability in _LAWS:
        with suppress(AbilityError):
            needed = law_needs(policy, ability)
            found |= needed.scores | needed.rankings | needed.written
    return found
