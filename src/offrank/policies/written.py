"""Policies given by logged probabilities of the shown slates only."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, NoReturn

import numpy as np

from ..errors import UsageError
from ..language.spelling import Spelled
from ..log.batch import Floats, LogBatch
from ..log.schema import WRITTEN
from ..log.source import Needs
from .base import Ability, no_column, unable
from .propensities import Propensities, ShownAbility, ShownPolicy
from .rank_law import RankLaw
from .registry import POLICIES

_WRITTEN: Mapping[ShownAbility, tuple[str, str, Ability]] = {
    "log_prob": ("propensity", "slate", "log_prob"),
    "slot_probs": ("slot_propensity", "slots", "slot_probs"),
    "rank_law": ("rank_propensity", "ranks", "rank_probs"),
}
"""The role of its column, the argument of `written` that names it, and the corresponding ability of a law."""


class WrittenPolicy(ShownPolicy):
    """The logged probabilities of the shown slates, the base of `Logged` and `Written`."""

    @property
    @abstractmethod
    def columns(self) -> Mapping[str, str]:
        """Role -> the name of the column in a batch."""

    @abstractmethod
    def refuse(self, ability: ShownAbility) -> NoReturn:
        """Raise the error for a probability that was not logged."""

    @property
    def any_slate(self) -> bool:
        return False

    def on(self, batch: LogBatch) -> Propensities:
        return _OfColumns(self, batch)


@POLICIES.register
@dataclass(frozen=True, repr=False)
class Logged(Spelled, WrittenPolicy):
    """The logging policy as the log itself describes it: `propensity`, `slot_propensity`, `rank_propensity`.

    Examples:
        >>> offrank.Logged()
        logged
    """

    name: ClassVar[str] = "logged"
    columns: ClassVar[Mapping[str, str]] = {role: role for role in WRITTEN}

    def shown_needs(self, ability: ShownAbility) -> Needs:
        return Needs(frozenset([_WRITTEN[ability][0]]))

    def refuse(self, ability: ShownAbility) -> NoReturn:
        role, _, wanted = _WRITTEN[ability]
        unable(
            self,
            wanted,
            f"it needs the column `{role}` for slates of several slots: if the scores behind them were logged, use "
            "plackett_luce(scores), epsilon(top(scores), 0.1) or swaps(top(scores), 0.9)",
        )


@POLICIES.register
@dataclass(frozen=True, repr=False)
class Written(Spelled, WrittenPolicy):
    """A policy whose probabilities of the shown slates are in columns of the log, for a ranker of any kind.

    Parameters:
        slate: a number per row, the probability of the shown slate; for ips.
        slots: a list beside the slate, the probability of each item given those above it; for rips, and by its
            product for ips.
        ranks: a list of lists, the probability of each displayed item at each rank; for ipm, interpol, pbm.

    Raises:
        UsageError: no column is named.

    Examples:
        >>> offrank.Written(slate="new_propensity")
        written(slate=new_propensity)
    """

    name: ClassVar[str] = "written"
    slate: str | None = field(default=None, kw_only=True)
    slots: str | None = field(default=None, kw_only=True)
    ranks: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if not self.columns:
            raise UsageError("written names no column", "name one: written(slate=new_propensity)")
        for column in (self.slate, self.slots, self.ranks):
            if column is not None and not isinstance(column, str):
                raise no_column(self, column)

    @property
    def columns(self) -> Mapping[str, str]:
        named = zip(WRITTEN, (self.slate, self.slots, self.ranks), strict=True)
        return {role: f"{role}:{column}" for role, column in named if column is not None}

    def shown_needs(self, ability: ShownAbility) -> Needs:
        role = _WRITTEN[ability][0]
        found = next((self.columns[one] for one in (role, *WRITTEN[role]) if one in self.columns), None)
        if found is None:
            self.refuse(ability)
        return Needs(written=frozenset([found]))

    def refuse(self, ability: ShownAbility) -> NoReturn:
        _, argument, wanted = _WRITTEN[ability]
        unable(self, wanted, f"log it in a column, and name that: written({argument}=...)")


def is_written(policy: object) -> bool:
    """Whether the policy is known by probabilities that were written in the log."""
    return isinstance(policy, WrittenPolicy)


def is_logged(policy: object) -> bool:
    """Whether the policy is the one that drew the log, known by the propensities of the log alone."""
    return isinstance(policy, Logged)


class _OfColumns(Propensities):
    """The logged probabilities of a batch; on a single slot, equivalent columns replace each other."""

    policy: WrittenPolicy

    @cached_property
    def log_prob(self) -> Floats:
        slate, slots = self._column("propensity"), self._column("slot_propensity")
        with np.errstate(divide="ignore"):
            if slate is not None:
                return np.log(slate)
            if slots is None:
                self.policy.refuse("log_prob")
            return np.asarray(np.log(slots).sum(axis=1))

    @cached_property
    def slot_probs(self) -> Floats:
        slots, slate = self._column("slot_propensity"), self._column("propensity")
        if slots is not None:
            return slots
        if slate is None or self.batch.slates.shape[1] > 1:
            self.policy.refuse("slot_probs")
        return slate[:, None]

    @cached_property
    def rank_law(self) -> RankLaw:
        ranks = self._column("rank_propensity")
        if ranks is not None:
            return RankLaw.of(ranks)
        if self.batch.slates.shape[1] > 1:
            self.policy.refuse("rank_law")
        return RankLaw.of(np.exp(self.log_prob)[:, None, None])

    def _column(self, role: str) -> Floats | None:
        return self.batch.shown.written.get(self.policy.columns.get(role, ""))
