"""Outcomes beside the reward: another column of numbers, per impression or per item, or a ratio of two means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from ..errors import RowError, UsageError
from ..findings.gate import Guardrail
from ..language.from_text import split_name
from ..log import rules
from ..log.batch import Floats, LogBatch
from ..log.source import Needs
from ..policies.propensities import known_of_policies
from .base import Estimator
from .fold import TermsFold
from .layout import PER

Outcomes = str | Iterable[str] | Mapping[str, str]

_ROLES = ("clicks", "reward")
"""The outcomes that a log has by these names, which are no columns of numbers."""


@dataclass(frozen=True)
class Outcome:
    """An outcome beside the reward.

    name: how it is called. column: whose mean per impression it is: of numbers, `clicks` or `reward`. per: the column
    by whose mean that is divided; None where it is not. lists: those of them with a number per item shown.
    """

    name: str
    column: str
    per: str | None = None
    lists: frozenset[str] = field(default=frozenset(), kw_only=True)

    @classmethod
    def of(cls, name: str, text: object) -> Outcome:
        """Return the outcome of a text, `revenue` or `revenue / clicks`.

        Raises:
            UsageError: it is neither.
        """
        parts = [part.strip() for part in text.split("/")] if isinstance(text, str) else [""]
        if not all(parts) or len(parts) > 2:
            raise UsageError(f"{text!r} is no outcome", "name a column, or the ratio of two: 'revenue / clicks'")
        return cls(name.strip() or " / ".join(parts), *parts)

    def __str__(self) -> str:
        return self.column if self.per is None else f"{self.column} / {self.per}"

    @property
    def sums(self) -> str:
        """The name of what is counted for it."""
        return f"terms of {self.name}"

    @property
    def unit(self) -> str:
        """The unit of its mean."""
        return f"{self.column} per impression" if self.per is None else str(self)

    @property
    def needs(self) -> Needs:
        """The columns that it reads."""
        numbers = self.columns - {*_ROLES}
        return Needs(self.columns & {*_ROLES}, numbers=numbers - self.lists, item_numbers=numbers & self.lists)

    @property
    def columns(self) -> frozenset[str]:
        """The columns that it is made of."""
        return frozenset(filter(None, (self.column, self.per)))

    @property
    def of_items(self) -> bool:
        """Whether each item shown has its own, which is weighed as clicks are; sums over slates are weighed as one."""
        return self.columns <= self.lists | {"clicks"}

    def of_log(self, of_items: Callable[[str], bool]) -> Outcome:
        """The same outcome of a log. of_items: whether a column of it has a number per item shown."""
        return replace(self, lists=frozenset(filter(of_items, self.columns - {*_ROLES})))

    def weighed_by(self, estimator: Estimator) -> bool:
        """Whether an estimator weighs it, as one without a model of the reward or of clicks; a ratio, if it divides."""
        kind = estimator.kind
        if kind.predicts or kind.preselected or (kind.outcome == "clicks" and (kind.model or not self.of_items)):
            return False
        return self.per is None or kind.normalisation in ("mean", "slot") or kind.weighs == "logged"

    def beside(self, batch: LogBatch) -> LogBatch:
        """The same impressions with this outcome as their clicks, or reward if not of items; PER is of a ratio."""
        earned = self._numbers(batch, self.column)
        clicks, reward = (earned, None) if self.of_items else (None, earned)
        per = {} if self.per is None else {PER: self._numbers(batch, self.per)}
        found = replace(batch, clicks=clicks, outcome=reward, numbers={**batch.numbers, **per})
        found.known.update(known_of_policies(batch))
        return found

    def _numbers(self, batch: LogBatch, column: str) -> Floats:
        """[n] numbers of impressions, or [n, k] if it is of items."""
        known: Any = {"clicks": batch.clicks, **batch.numbers}
        found: Floats = batch.reward if column == "reward" else known[column]
        return found if self.of_items or found.ndim == 1 else found.sum(axis=1)


@dataclass(frozen=True)
class OutcomeFold(TermsFold):
    """The sums of all estimates of an outcome beside the reward, by the probabilities of the same policies."""

    outcome: Outcome = field(kw_only=True)

    def add(self, part: Any, batch: LogBatch) -> Any:
        own = self.outcome.beside(batch)
        if own.clicks is not None and any(one.estimator.kind.outcome == "clicks" for one in self.layout.pairs):
            self._refuse_losses(own)
        found = super().add(part, own)
        own.known.clear()  # what it holds refers to it
        return found

    def _refuse_losses(self, own: LogBatch) -> None:
        """Raise if an item has a number below 0, which no estimator of clicks takes."""
        for column, each in ((self.outcome.column, own.clicks), (self.outcome.per, own.numbers.get(PER))):
            if each is not None and (below := (each < 0).any(axis=1)).any():
                said, remedy = (
                    "is below 0 for an item, and clicks are not",
                    "ask estimators of whole slates alone: snips",
                )
                row = int(own.row[below.argmax()]) - own.base
                raise RowError(own.file, row, str(column), rules.BAD_CLICKS.code, said, remedy)


def outcomes_of(given: Outcomes | None) -> tuple[Outcome, ...]:
    """Return outcomes from their texts, each with or without a name: `revenue`, `NAME=revenue / clicks`.

    Raises:
        UsageError: one is none, or two have one name.
    """
    texts = [given] if isinstance(given, str) else given or ()
    pairs = texts.items() if isinstance(texts, Mapping) else [split_name(one, "") for one in texts]
    found = tuple(Outcome.of(name, text) for name, text in pairs)
    names = [one.name for one in found]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"two outcomes are called {twice[0]!r}", "give each its own name: NAME=revenue")
    return found


@dataclass(frozen=True)
class Scorecard:
    """What is asked beside the reward: other outcomes, and guardrails on some of them."""

    outcomes: tuple[Outcome, ...] = ()
    guardrails: tuple[Guardrail, ...] = ()

    @classmethod
    def of(cls, outcomes: Outcomes | None, guardrails: str | Iterable[str] | None) -> Scorecard:
        """Return what is asked by texts; a guardrail on something that is not named adds it to the outcomes.

        Raises:
            UsageError: one of them is none.
        """
        found = outcomes_of(outcomes)
        rails = tuple(map(Guardrail.of, [guardrails] if isinstance(guardrails, str) else guardrails or ()))
        known = {key: one.name for one in found for key in (str(one), one.name)}
        for rail in rails:
            if rail.outcome not in known and (made := Outcome.of("", rail.outcome)).name not in known:
                found, known = (*found, made), {**known, made.name: made.name}
        named = (known.get(one.outcome) or Outcome.of("", one.outcome).name for one in rails)
        return cls(found, tuple(replace(one, outcome=name) for one, name in zip(rails, named, strict=True)))

    @property
    def lists(self) -> frozenset[str]:
        """The columns of the outcomes that have a number per item shown."""
        return frozenset(name for one in self.outcomes for name in one.lists)

    def of_log(self, of_items: Callable[[str], bool]) -> Scorecard:
        """The same of a log. of_items: whether a column of it has a number per item shown."""
        return replace(self, outcomes=tuple(one.of_log(of_items) for one in self.outcomes))

    @property
    def needs(self) -> Needs:
        """The columns that the outcomes read."""
        return reduce(Needs.__or__, (one.needs for one in self.outcomes), Needs())

    def to_dict(self) -> dict[str, Any]:
        """Return the arguments that it is made from, where there are any."""
        named = {one.name: str(one) for one in self.outcomes}
        rails = [str(one) for one in self.guardrails]
        return {name: one for name, one in (("outcomes", named), ("guardrails", rails)) if one}
