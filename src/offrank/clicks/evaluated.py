"""How well click models predict the clicks of a log: numbers with their doubt, and differences between models."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import RenderableType

from ..errors import UsageError
from ..folds.estimate import Caution, Interval, PlacedCaution
from ..formatting import with_half
from ..frames import Tabular
from ..inference.spread import Spread
from . import text
from .layout import QUANTITIES, Layout, Quantity, statistic
from .sessions import Tally

RANKED = ("perplexity_at_rank", "conditional_perplexity_at_rank")
"""Quantities that are told for each rank."""


@dataclass(frozen=True, repr=False)
class Evaluated:
    """How well a click model, or a simulated user, predicts the clicks of a log. Each number has its interval.

    - log_likelihood: mean per session, in nats, of the probability of all its clicks together; -inf where the model
      says that some session cannot happen.
    - perplexity: mean over ranks of 2^(mean loss in bits at the rank), each click predicted before anything is known
      of its session (Eq. 2 and 3 of paper cmip-debiasedness). 1 is perfect, 2 is a coin.
    - conditional_perplexity: the same, each click predicted given the clicks above it.
    - perplexity_at_rank, conditional_perplexity_at_rank: [k] of each rank, over the sessions that have it.
    - sessions: read; sessions_at_rank: [k] that have this rank, each divided by its inclusion probability.
    - unseen: share of the shown documents that the model has not learnt from; None where it learns from no documents.
    - impossible: sessions that the model gives probability 0. confidence: level of the intervals.
    """

    log_likelihood: Interval
    perplexity: Interval
    conditional_perplexity: Interval
    perplexity_at_rank: tuple[Interval, ...]
    conditional_perplexity_at_rank: tuple[Interval, ...]
    sessions: int
    sessions_at_rank: tuple[float, ...]
    unseen: float | None
    impossible: int
    tally: Tally
    cautions: tuple[Caution, ...] = ()
    confidence: float = 0.95

    def __repr__(self) -> str:
        return f"Evaluated(perplexity {with_half(self.perplexity)}, {self.sessions:,} sessions)"

    def __str__(self) -> str:
        return text.rendered(self._parts()).rstrip()

    def _parts(self) -> Iterator[RenderableType | str]:
        yield _read(self)
        yield from _table({"": self})
        yield from text.reading(self.tally)
        yield from text.told({"": self.cautions})

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain lists, dicts and numbers (None for what is not finite)."""
        numbers: dict[str, Any] = {name: getattr(self, name).to_dict() for name in QUANTITIES}
        return {
            **numbers,
            **{name: [one.to_dict() for one in getattr(self, name)] for name in RANKED},
            "sessions": self.sessions,
            "sessions_at_rank": list(self.sessions_at_rank),
            "unseen": self.unseen,
            "impossible": self.impossible,
            "tally": asdict(self.tally),
            "cautions": [asdict(caution) for caution in self.cautions],
        }


@dataclass(frozen=True, repr=False)
class Evaluations(Mapping[str, Evaluated], Tabular):
    """Several models on the same sessions, by name; `difference` compares two of them pair by pair."""

    found: Mapping[str, Evaluated]
    spread: Spread = field(repr=False)

    headings = ("model", "quantity", "rank", "value", "difference")

    def __getitem__(self, name: str) -> Evaluated:
        return self.found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __repr__(self) -> str:
        return f"Evaluations({', '.join(self.found)})"

    def __str__(self) -> str:
        return text.rendered(self._parts()).rstrip()

    def _parts(self) -> Iterator[RenderableType | str]:
        first = next(iter(self.values()))
        yield _read(first)
        yield from _table(self)
        yield from text.reading(first.tally)
        yield from text.told({name: one.cautions for name, one in self.items()})

    def difference(self, left: str, right: str, quantity: Quantity = "perplexity") -> Interval:
        """left - right of a quantity on the same sessions: their covariance is taken into account.

        Raises:
            UsageError: no such model or quantity.
        """
        if quantity not in QUANTITIES:
            raise UsageError(f"{quantity!r} is not compared", "say " + ", ".join(QUANTITIES))
        for name in (left, right):
            if name not in self.found:
                raise UsageError(f"no model is called {name!r}", "the models are " + ", ".join(self.found))
        value = getattr(self[left], quantity).value - getattr(self[right], quantity).value
        if not math.isfinite(value):
            return Interval(value, -math.inf, math.inf, math.inf)
        names, layout = list(self.found), Layout(len(self.found))
        both = [statistic(layout, names.index(name), quantity, self.spread) for name in (left, right)]
        return self.spread.difference(*both)

    def records(self) -> list[dict[str, Any]]:
        """A row per model and quantity, then those at each rank; differences are to the first model."""
        first, rows = next(iter(self.found)), []
        for name, one in self.found.items():
            for quantity in QUANTITIES:
                away = None if name == first else self.difference(name, first, quantity).to_dict()
                rows.append(_row(name, quantity, None, getattr(one, quantity)) | {"difference": away})
        for name, one in self.found.items():
            for ranked in RANKED:
                rows += [_row(name, ranked, rank, at) for rank, at in enumerate(getattr(one, ranked), 1)]
        return rows

    @property
    def findings(self) -> tuple[PlacedCaution, ...]:
        """What to know of each model."""
        return tuple(PlacedCaution(each, model=name) for name, one in self.found.items() for each in one.cautions)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain lists, dicts and numbers; differences are to the first model."""
        first, *others = self.found
        return {
            "models": {name: one.to_dict() for name, one in self.found.items()},
            "differences": {
                name: {quantity: self.difference(name, first, quantity).to_dict() for quantity in QUANTITIES}
                for name in others
            },
        }


def _table(found: Mapping[str, Evaluated]) -> Iterator[RenderableType]:
    """Each quantity of each model."""
    rows = ([name, *(with_half(getattr(one, quantity)) for quantity in QUANTITIES)] for name, one in found.items())
    yield text.table("", ["model", *(quantity.replace("_", " ") for quantity in QUANTITIES)], rows)


def _row(model: str, quantity: str, rank: int | None, found: Interval) -> dict[str, Any]:
    return {"model": model, "quantity": quantity, "rank": rank, **found.to_dict(), "difference": None}


def _read(one: Evaluated) -> str:
    return f"{one.sessions:,} sessions, {100 * one.confidence:g} % intervals"
