"""Policies given by logged probabilities of the shown slates only."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NoReturn, final

import numpy as np

from ..errors import UsageError
from ..language.spelling import Spelled
from ..log.batch import Floats, LogBatch
from ..log.schema import WRITTEN
from ..log.source import Ability, Needs
from .base import refuse_no_column, unable
from .propensities import ShownPolicy, propensities
from .rank_law import RankLaw
from .registry import POLICIES

_WRITTEN: Mapping[Ability, tuple[str, str]] = {
    "log_prob": ("propensity", "slate"),
    "slot_probs": ("slot_propensity", "slots"),
    "rank_law": ("rank_propensity", "ranks"),
}
"""The role of its column, and the argument of `written` that names it."""


class WrittenPolicy(ShownPolicy):
    """The logged probabilities of the shown slates; on a single slot, equivalent columns replace each other."""

    any_slate: ClassVar[bool] = False
    written: ClassVar[bool] = True

    @property
    @abstractmethod
    def columns(self) -> Mapping[str, str]:
        """Role -> the name of the column in a batch."""

    @abstractmethod
    def remedy(self, role: str, argument: str) -> str:
        """What to do where the column of a role is missing, which `written` names in an argument."""

    @final
    def refuse(self, ability: Ability) -> NoReturn:
        """Raise the error for a probability that was not logged."""
        if ability not in _WRITTEN:
            self.law(ability)
        unable(self, ability, self.remedy(*_WRITTEN[ability]))

    @final
    def shown_slate(self, batch: LogBatch) -> Floats:
        """[n] log of the probability of the shown slate, or of the product of those of its slots."""
        slate, slots = self._column(batch, "propensity"), self._column(batch, "slot_propensity")
        with np.errstate(divide="ignore"):
            if slate is not None:
                return np.log(slate)
            if slots is None:
                self.refuse("log_prob")
            return np.asarray(np.log(slots).sum(axis=1))

    @final
    def shown_slots(self, batch: LogBatch) -> Floats:
        """[n, k] probability of each shown slot given the slots above; 1 on pads."""
        slots, slate = self._column(batch, "slot_propensity"), self._column(batch, "propensity")
        if slots is not None:
            return slots
        if slate is None or batch.slates.shape[1] > 1:
            self.refuse("slot_probs")
        return slate[:, None]

    @final
    def shown_ranks(self, batch: LogBatch) -> RankLaw:
        """The probability of each shown item at each rank."""
        ranks = self._column(batch, "rank_propensity")
        if ranks is not None:
            return RankLaw.of(ranks)
        if batch.slates.shape[1] > 1:
            self.refuse("rank_law")
        return RankLaw.of(np.exp(propensities(self, batch).log_prob)[:, None, None])

    def _column(self, batch: LogBatch, role: str) -> Floats | None:
        return batch.shown.written.get(self.columns.get(role, ""))


@POLICIES.register
@dataclass(frozen=True, repr=False)
class Logged(Spelled, WrittenPolicy):
    """The logging policy as the log itself describes it: `propensity`, `slot_propensity`, `rank_propensity`.

    Examples:
        >>> offrank.Logged()
        logged
    """

    name: ClassVar[str] = "logged"
    logged: ClassVar[bool] = True
    columns: ClassVar[Mapping[str, str]] = {role: role for role in WRITTEN}

    def reads(self, ability: Ability) -> Needs:
        if ability not in _WRITTEN:
            self.refuse(ability)
        return Needs(frozenset([_WRITTEN[ability][0]]))

    def remedy(self, role: str, argument: str) -> str:
        return (
            f"it needs the column `{role}` for slates of several slots: if the scores behind them were logged, use "
            "plackett_luce(scores), epsilon(top(scores), 0.1) or swaps(top(scores), 0.9)"
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
        refuse_no_column(self, *(column for column in (self.slate, self.slots, self.ranks) if column is not None))

    @property
    def columns(self) -> Mapping[str, str]:
        named = zip(WRITTEN, (self.slate, self.slots, self.ranks), strict=True)
        return {role: f"{role}:{column}" for role, column in named if column is not None}

    def reads(self, ability: Ability) -> Needs:
        if ability not in _WRITTEN:
            self.refuse(ability)
        role = _WRITTEN[ability][0]
        found = next((self.columns[one] for one in (role, *WRITTEN[role]) if one in self.columns), None)
        if found is None:
            self.refuse(ability)
        return Needs(written=frozenset([found]))

    def remedy(self, role: str, argument: str) -> str:
        return f"log it in a column, and name that: written({argument}=...)"
