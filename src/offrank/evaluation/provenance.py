"""Which parts of an evaluation were learnt, and from which rows; facts by which assumptions are named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from ..checks.rows import Impressions
from ..checks.score_leakage import KINDS, OwnClicksFold
from ..errors import AbilityError
from ..findings.reasons import FROM_ELSEWHERE, RARE_CLICKS, Assumption, Facts
from ..findings.rows import OwnClicksEvidence, TrainingEvidence, counted_here
from ..log.source import Ability, Needs
from ..policies.base import Policy, is_policy
from ..policies.fit import learnt_rows
from ..running.quantities import Quantity
from ..sums.fingerprint import Fingerprint, FingerprintFold
from ..sums.same_log import share_learnt

Part = Any
"""A target or an estimator."""
_LAWS: tuple[Ability, ...] = ("rank_probs", "log_prob")
_ALIKE = "query"
"""Rows of one query may be those of different users, who know nothing of each other."""


@dataclass(frozen=True)
class Provenance:
    """Fingerprints of the training rows of learnt parts.

    - curve, curve_rows: the examination curve of the evaluation, and the rows of the click model that gave it.
    - shares: share of the evaluated rows in each fingerprint; known after the log was read.
    - counted: what the scores of targets know of the clicks of the log, by column; likewise.
    - shown: targets that were counted in what the log shows.
    """

    curve: tuple[float, ...] | None = None
    curve_rows: Fingerprint | None = None
    shares: Mapping[Fingerprint, float] = field(default_factory=dict)
    counted: Mapping[str, OwnClicksEvidence] = field(default_factory=dict)
    shown: frozenset[Policy] = frozenset()

    def of(self, *parts: Part) -> Iterator[Fingerprint]:
        """Collect from targets and estimators and the parts that they wrap, each once."""
        found: list[Fingerprint] = []
        for part in parts:
            found += learnt_rows(part) if is_policy(part) else filter(None, [part.kind.learnt])
        curves = [part.kind.curve for part in parts if not is_policy(part)]
        if self.curve is not None and self.curve_rows is not None and self.curve in curves:
            found.append(self.curve_rows)
        yield from dict.fromkeys(found)

    def quantities(
        self, parts: Iterable[Any], learnt: Iterable[Fingerprint], read: frozenset[str]
    ) -> Iterator[Quantity]:
        """Yield what compares the log with fingerprints and scores; nothing if nothing was learnt.

        learnt: the fingerprints of the parts. read: the columns of scores that are read; what no estimate asks for is
        not.
        """
        for index, one in enumerate(learnt):
            yield Quantity(f"rows {index}", FingerprintFold.beside(one))
        scores = tuple(sorted({name for one in parts for name in _scores(one)} & read))
        for of in KINDS if scores else ():
            yield Quantity(of, OwnClicksFold(scores, of))

    def judged(self, parts: Iterable[Any], found: Mapping[str, Any]) -> Provenance:
        """Return the same with what was found out about the parts, from what was counted."""
        shares = {one: share_learnt(one, found[f"rows {i}"]) for i, one in enumerate(self.of(*parts))}
        known = [one for of in KINDS for one in found.get(of, {}).values() if counted_here(one)]
        return replace(self, shares=shares, counted={one.column: one for one in reversed(known)})

    def evidence(self, target: Any, estimator: Any) -> tuple[TrainingEvidence | OwnClicksEvidence, ...]:
        """Return the worst evidence about the learnt parts of an estimate."""
        policy, model = (self._share(target), self._share(estimator)) if self.shares else (0.0, 0.0)
        policy = max(policy, float(target in self.shown))
        counted = (self.counted[name] for part in (target, estimator) for name in _scores(part) if name in self.counted)
        return (TrainingEvidence(share=max(policy, model), policy=policy >= model), *islice(counted, 1))

    def _share(self, part: Any) -> float:
        return max((self.shares.get(one, 0.0) for one in self.of(part)), default=0.0)


NOTHING = Provenance()


def _scores(part: Part) -> Iterator[str]:
    """Return the columns of scores that a target, or the reward model of an estimator, reads."""
    if not is_policy(part):
        yield from part.kind.predictions
        return
    for needed in _needed(part):
        yield from sorted(needed.scores)


def _needed(policy: Policy) -> Iterator[Needs]:
    """Return what the laws of a policy read, as far as it has them."""
    for ability in _LAWS:
        with suppress(AbilityError):
            yield policy.law(ability).reads(ability)


def facts_of_log(impressions: Impressions, tested: frozenset[Assumption], users: Iterable[str], days: bool) -> Facts:
    """Return what is known of a log. users: columns of dependent rows. days: whether it has rows of several days."""
    shown, clicked = impressions.ranks[:, [1, 2]].sum(axis=0) if len(impressions.ranks) else (0.0, 0.0)
    return Facts(
        tested=tested,
        sampled=abs(impressions.estimated - impressions.n) > 1e-9 * impressions.n,
        rare=bool(clicked < RARE_CLICKS * shown),
        recurs=any(name != _ALIKE for name in users),
        days=days,
    )


def facts_of(known: Facts, logging: Policy, targets: Iterable[Policy]) -> Facts:
    """Return what is known of a log and of some targets: these may know its clicks if they read columns of their own.

    If they were learnt by offrank, or only read what the logging policy reads, that is known.
    """
    own = [one for one in targets if not learnt_rows(one) and not {*_columns(one)} <= {*_columns(logging)}]
    tested = known.tested if own else known.tested | {FROM_ELSEWHERE}
    return replace(known, tested=tested, scored=bool(own))


def _columns(policy: Policy) -> Iterator[str]:
    """Return the scores, rankings and written probabilities that a policy reads."""
    for needed in _needed(policy):
        yield from (*needed.scores, *needed.rankings, *needed.written)
