"""The balance heuristic: each row is judged against the mixture of all policies that served."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, get_args

import numpy as np

from ..errors import AbilityError, UsageError
from ..language.spelling import Spelled
from ..log.batch import Contexts, Floats, LogBatch
from ..log.source import Ability, Needs, ShownAbility, Source, refuse_once
from ..running.executors import Executor, run
from ..sums.base import Fold, Sample
from ..sums.moments import Moments, MomentsFold
from ..wording import Option, Wording
from .base import Fits, Policy, unable
from .by import By
from .mixture import MixedPolicy
from .policy_mixture import frozen, refuse_no_shares
from .registry import POLICIES


@dataclass(frozen=True)
class CountedShares(Fits):
    """The share of each arm among the impressions of a log, counted in one reading. values: [p], None before."""

    arms: By
    values: tuple[float, ...] | None = None

    def __repr__(self) -> str:
        return f"balanced({self.arms!r})"

    def fit(self, source: Source, executor: Executor | None = None) -> CountedShares:
        """Count the source, once."""
        if self.values is not None:
            return self
        refuse_once(source, "the shares of its rankers are counted first")
        return CountedShares(self.arms, run(source.select(self.arms.column_read), _SharesFold(self.arms), executor))


@POLICIES.register
@dataclass(frozen=True, repr=False)
class Balanced(Spelled, MixedPolicy):
    """Each row weighted against the mixture of all rankers of `arms`, whichever served it: the balance heuristic.

    Where the arm is drawn by chance, every estimator stays right, and its weights become smaller: no slate that any of
    the rankers often shows has a large one. Veach and Guibas (1995), Optimally combining sampling techniques for Monte
    Carlo rendering.

    Parameters:
        arms: the policies by value of a column: a `By`.
        shares: value -> its share of the impressions, by default counted in the log. Intervals take counted shares
            as known, and so are wider than they need be: where the arm is drawn by chance, counting takes from an
            estimate what varies between the arms, and leaves what varies within them.
        counted: the shares that were counted in the log; not given by hand.

    Raises:
        UsageError: `arms` is no `By`, or the shares are not those of its values.

    Examples:
        >>> offrank.Balanced(offrank.By("arm", {"A": offrank.Top("a_score"), "B": offrank.Top("b_score")}))
        balanced(by(arm, {A: top(a_score), B: top(b_score)}))
    """

    name: ClassVar[str] = "balanced"
    arms: By
    shares: Mapping[str, float] | None = field(default=None, kw_only=True)
    counted: CountedShares | None = field(default=None, kw_only=True, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.arms, By):
            remedy = "use balanced(by(arm, {A: top(a_score), B: top(b_score)}))"
            raise UsageError(f"balanced needs rankers that a column identifies, not {self.arms!r}", remedy)
        if self.shares is None:
            if self.counted is None:
                object.__setattr__(self, "counted", CountedShares(self.arms))
            return
        object.__setattr__(self, "shares", frozen(self.shares, "shares={A: 0.7, B: 0.3}"))
        if set(self.shares) != set(self.arms.policies):
            raise UsageError(
                f"{self!r}: the shares and the policies have different values", "give a share for each value"
            )
        refuse_no_shares(self, self.shares)

    @property
    def rankers(self) -> By:
        return self.arms

    @property
    def designed_shares(self) -> Mapping[str, float] | None:  # type: ignore[override]  # as were given
        return self.shares

    @property
    def mixed(self) -> tuple[Policy, ...]:
        return tuple(self.arms.policies.values())

    def mixed_shares(self, contexts: Contexts) -> Floats:
        """[p, n] the share of each ranker."""
        found = self._shares
        return np.repeat(np.array(found, np.float64)[:, None], len(contexts), axis=1)

    def reads(self, ability: Ability) -> Needs:
        return super().reads(ability) | self.arms.column_read

    def for_rows(self, batch: LogBatch) -> Policy:
        self.arms.refuse_unknown(batch)
        return self

    @property
    def _shares(self) -> tuple[float, ...]:
        if self.shares is not None:
            return tuple(self.shares[value] for value in self.arms.policies)
        if self.counted is None or self.counted.values is None:
            unable(self, "log_prob", "give shares={...}, or use it in a verb such as evaluate, which counts them first")
        return self.counted.values


@dataclass(frozen=True)
class _SharesFold(Fold):
    """Counts the impressions of each arm, each row divided by its inclusion."""

    arms: By

    def of(self, batch: LogBatch) -> Moments:
        self.arms.refuse_unknown(batch)
        each = self.arms.arms(batch.contexts)[:, None] == np.arange(len(self.arms.policies))
        return MomentsFold().of(Sample.of(each / batch.inclusion[:, None], batch.row))

    def result(self, found: Moments) -> tuple[float, ...]:
        return tuple((found.sums / found.sums.sum()).tolist())


def in_balance(logging: Policy) -> Policy:
    """The policy, or for rankers that sort the mixture of all, whoever served: alone they never show another list."""
    rankers: By | None = logging.rankers
    return Balanced(rankers) if rankers is logging and rankers.sorts else logging


def refuse_arm_targets(logging: Policy, targets: Iterable[Policy]) -> None:
    """Raise if rows are weighed by the mixture of all rankers, and a target depends on which of them served the row.

    Given the arm, a slate was drawn by its own ranker and not by the mixture, so that such a value would be biased.

    Raises:
        UsageError: one does.
    """
    rankers: By | None = logging.rankers
    if rankers is None or rankers is logging:
        return
    for target in targets:
        if target != logging and rankers.column in _keys(target):
            raise UsageError(
                f"{target!r} depends on {rankers.column!r}, so its rows cannot be weighted by all rankers together",
                Wording("weight each row by its own ranker: {}", Option("logging", repr(rankers))),
            )


def _keys(policy: Policy) -> frozenset[str]:
    for ability in get_args(ShownAbility):
        try:
            return policy.reads(ability).keys
        except AbilityError:
            continue
    return frozenset()
