"""Outcomes beside the reward: another column with a number per impression, or a ratio of two means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from ..errors import UsageError
from ..findings.gate import Guardrail
from ..language.from_text import split_name
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
    """An outcome beside the reward, weighed by the weights of whole slates.

    name: how it is called. column: whose mean per impression it is: of numbers, `clicks` or `reward`. per: the column
    by whose mean that is divided; None where it is not.
    """

    name: str
    column: str
    per: str | None = None

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
        columns = {self.column} | ({self.per} if self.per else set())
        return Needs(frozenset(columns & {*_ROLES}), numbers=frozenset(columns - {*_ROLES}))

    def weighed_by(self, estimator: Estimator) -> bool:
        """Whether an estimator weighs it: one of whole slates without a model of the reward; a ratio, if it divides."""
        kind = estimator.kind
        if kind.outcome != "reward" or kind.predicts or kind.preselected:
            return False
        return self.per is None or kind.normalisation == "mean" or kind.weighs == "logged"

    def beside(self, batch: LogBatch) -> LogBatch:
        """The same impressions with this outcome as their reward, and no clicks; PER is a column of a ratio."""
        per = {} if self.per is None else {PER: _numbers(batch, self.per)}
        own = replace(batch, clicks=None, outcome=_numbers(batch, self.column), numbers={**batch.numbers, **per})
        own.known.update(known_of_policies(batch))
        return own


def _numbers(batch: LogBatch, column: str) -> Floats:
    if column == "clicks":
        return batch.click_sums.total
    return batch.reward if column == "reward" else batch.numbers[column]


@dataclass(frozen=True)
class OutcomeFold(TermsFold):
    """The sums of all estimates of an outcome beside the reward, by the probabilities of the same policies."""

    outcome: Outcome = field(kw_only=True)

    def add(self, part: Any, batch: LogBatch) -> Any:
        own = self.outcome.beside(batch)
        found = super().add(part, own)
        own.known.clear()  # what it holds refers to it
        return found


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
    def needs(self) -> Needs:
        """The columns that the outcomes read."""
        return reduce(Needs.__or__, (one.needs for one in self.outcomes), Needs())

    def to_dict(self) -> dict[str, Any]:
        """Return the arguments that it is made from, where there are any."""
        named = {one.name: str(one) for one in self.outcomes}
        rails = [str(one) for one in self.guardrails]
        return {name: one for name, one in (("outcomes", named), ("guardrails", rails)) if one}
