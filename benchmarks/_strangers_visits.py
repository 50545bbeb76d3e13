"""Lists as other people's systems showed them: who drew them is known; and how such people write them down."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Row = dict[str, Any]
Random = np.random.Generator


@dataclass(frozen=True)
class Visit:
    """One list. shown: the items, top first; pool: all candidates in an order of their own; score: item -> number.

    hidden: a score that nobody writes down. chance: the probability of the list, as far as it is known.
    """

    number: int
    query: int
    user: int
    day: int
    arm: str
    pool: list[int]
    shown: list[int]
    clicks: list[int]
    score: Mapping[int, float]
    other: Mapping[int, float]
    chance: float


Law = Callable[[Random, "Visit"], tuple[Sequence[int], float]]


def _by_weight(rng: Random, pool: list[int], weights: Mapping[int, float], slots: int) -> tuple[list[int], float]:
    """Draw a list one slot after the other, by weight. Return it and its probability."""
    left, shown, chance = list(pool), [], 1.0
    for _ in range(min(slots, len(pool))):
        shares = np.array([weights[item] for item in left])
        shares = shares / shares.sum()
        at = int(rng.choice(len(left), p=shares))
        chance *= float(shares[at])
        shown.append(left.pop(at))
    return shown, chance


def _best(pool: list[int], score: Mapping[int, float]) -> list[int]:
    return sorted(pool, key=lambda item: -score[item])


@dataclass(frozen=True)
class World:
    """How visits come about.

    law: uniform, score (Plackett-Luce of it), sharp (with temperature .5), sorted, hidden (Plackett-Luce of a score
    that is not written), fixed (one list a query), personal (one list a user and query), daily (one list a query and
    day), epsilon (a tenth uniform, else sorted), arms (A sorted by the one, B by the other score), bucket (a twentieth
    of the visits is uniform, and told so).
    """

    law: str = "uniform"
    visits: int = 1200
    slots: int = 5
    pool: int = 8
    queries: int = 40
    items: int = 150
    users: int = 200
    clicks: float = 0.5

    def draw(self, rng: Random) -> list[Visit]:
        """Draw all visits."""
        appeal = rng.beta(1, 3, self.items)
        pools = [[int(one) for one in rng.choice(self.items, self.pool, replace=False)] for _ in range(self.queries)]
        scores = [{item: round(float(rng.lognormal(0, 0.7)), 4) for item in pool} for pool in pools]
        others = [{item: round(float(rng.lognormal(0, 0.7)), 4) for item in pool} for pool in pools]
        popular = rng.dirichlet(np.ones(self.queries) * 3)
        made = []
        for number in range(self.visits):
            query, user, day = int(rng.choice(self.queries, p=popular)), int(rng.integers(self.users)), number // 200
            pool = pools[query]
            arm = "B" if rng.random() < (0.05 if self.law == "bucket" else 0.5) else "A"
            shown, chance = self._shown(rng, (query, user, day, arm), pool, scores[query], others[query])
            seen = appeal[shown] * self.clicks * 2 / np.sqrt(1 + np.arange(len(shown)))
            clicks = [int(one) for one in rng.random(len(shown)) < seen]
            made.append(
                Visit(number, query, user, day, arm, sorted(pool), shown, clicks, scores[query], others[query], chance)
            )
        return made

    def _shown(self, rng: Random, who: tuple[int, int, int, str], pool: list[int], score: Any, other: Any) -> Any:
        query, user, day, arm = who
        even = dict.fromkeys(pool, 1.0)
        if (
            self.law == "uniform"
            or (self.law == "epsilon" and rng.random() < 0.1)
            or (self.law, arm) == ("bucket", "B")
        ):
            return _by_weight(rng, pool, even, self.slots)
        if self.law == "score":
            return _by_weight(rng, pool, score, self.slots)
        if self.law == "sharp":
            return _by_weight(rng, pool, {item: one**2 for item, one in score.items()}, self.slots)
        if self.law == "hidden":
            return _by_weight(rng, pool, {item: 1 + item % 7 for item in pool}, self.slots)
        seeds = {"fixed": (query,), "personal": (query, user), "daily": (query, day)}
        if self.law in seeds:
            fixed = np.random.default_rng((7, *seeds[self.law]))
            return [pool[at] for at in fixed.permutation(len(pool))][: self.slots], 1.0
        by = other if (self.law, arm) == ("arms", "B") else score
        return _best(pool, by)[: self.slots], 1.0


def by_item(
    visits: list[Visit], write: Callable[[Visit, int, int | None, int | None], Row], *, pool: bool = False
) -> list[Row]:
    """Return a row per shown item, or per candidate: write(visit, item, place from 0 or None, click or None)."""
    rows = []
    for one in visits:
        places = {item: at for at, item in enumerate(one.shown)}
        for item in one.pool if pool else one.shown:
            at = places.get(item)
            rows.append(write(one, item, at, None if at is None else one.clicks[at]))
    return rows


def shuffled(rows: list[Row], rng: Random) -> list[Row]:
    """Return the rows in any order."""
    return [rows[at] for at in rng.permutation(len(rows))]
