"""Requests, items and clicks behind the tables of strangers; how the items were drawn is known."""

import datetime as dt
import hashlib
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Random = np.random.Generator
Grid = np.ndarray[Any, np.dtype[Any]]
DAY = dt.datetime(2024, 3, 1, 6, tzinfo=dt.UTC)
START = dt.datetime(2025, 3, 3, 6, tzinfo=dt.UTC)
WORDS = ("boots", "rain jacket", "tent", "red shoes", "lamp", "usb c hub", "desk", "mug", "yoga mat", "novel")


@dataclass
class Shown:
    """A candidate of a request; without a rank, it was not shown."""

    key: int
    rank: int | None
    score: float
    other: float = 0
    price: float = 0
    distance: float = 0
    click: int | None = 0
    order: int = 0
    dwell: float = 0
    chance: float = 0


@dataclass
class Request:
    """Who asked, when, by which arm, what was shown, with which chance, and all that was able to be.

    row: what the columns to the left hold.
    """

    n: int
    user: int = 0
    at: dt.datetime = START
    arm: str = "A"
    explored: int = 0
    query: Any = 0
    chance: float = 1
    candidates: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    others: list[float] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)
    able: list[Shown] = field(default_factory=list)
    row: dict[str, Any] = field(default_factory=dict)

    @property
    def pool(self) -> list[Shown]:
        """The candidates in the order in which they came, whatever was shown."""
        return [Shown(*one[:1], None, *one[1:]) for one in zip(self.candidates, self.scores, self.others, strict=True)]


def uid(*parts: object) -> str:
    """A UUID that the parts decide."""
    return str(uuid.UUID(hashlib.md5(repr(parts).encode()).hexdigest()))


def guid(number: int) -> str:
    return str(uuid.UUID(int=(number * 0x9E3779B97F4A7C15F39CC0605CEDC835 + 11) % 2**128))


def hashed(*parts: object) -> int:
    """A signed 64-bit hash that the parts decide."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:8], "big", signed=True)


def share(scores: list[float], place: int) -> float:
    """The softmax of scores in one place."""
    weights = np.exp(scores)
    return float(weights[place] / weights.sum())


def ms(at: dt.datetime) -> int:
    """Milliseconds since 1970."""
    return int(at.timestamp() * 1000)


def rows(n: int = 1500) -> Iterator[Request]:
    """Rows of a table that is no log."""
    return map(Request, range(n))


def picks(rng: Random, n: int, k: int, pool: int) -> Iterator[Request]:
    """Things with up to k unlike ones of a pool each, which nobody showed."""
    for number in range(n):
        keys = rng.choice(pool, int(rng.integers(k // 3 + 1, k + 1)), replace=False)
        yield Request(number, shown=[Shown(int(key), rank, 0) for rank, key in enumerate(keys)])


def fresh(how: str, seed: int, n: int = 400, k: int = 5, pool: int = 24, choice: int | None = 10) -> Iterator[Request]:
    """`n` requests for `k` of `choice` new candidates, drawn or sorted as `how` says; `choice` 0 is all of the pool."""
    rng = np.random.default_rng([seed, 26])
    base = rng.normal(size=pool)
    prices = np.round(np.exp(rng.normal(3, 0.6, pool)), 2)
    for number in range(n):
        candidates = rng.choice(pool, choice or pool, replace=False)
        score = np.round(base[candidates] + rng.normal(0, 0.7, len(candidates)), 4)
        other = np.round(rng.normal(size=len(candidates)), 4)
        distance = np.round(rng.gamma(2, 400, len(candidates)), 1)
        arm = "AB"[int(rng.integers(2))]
        user = int(rng.integers(n // 4 + 1))
        hidden = base[candidates] + 0.8 * np.sin(candidates * (user % 7 + 1))
        explored = int(rng.random() < 0.1)
        keys = {
            "hidden": hidden,
            "shuffle3": hidden,
            "rotate": -((candidates + number) % pool).astype(float),
            "names": -candidates.astype(float),
            "cheapest": -prices[candidates],
            "nearest": -distance,
            "ab": score if arm == "A" else other,
            "hidden_ab": hidden if arm == "A" else base[candidates],
            "uniform": 0 * score,
        }.get(how, score)
        order, chances = _drawn(how, keys, k, explored, rng)
        at = START + dt.timedelta(seconds=int(number * 67 + rng.integers(60)))
        word, chance = str(rng.choice(WORDS)), float(np.prod(chances))
        values = [candidates, score, other, prices[candidates], distance]
        able = list(zip(*(one.tolist() for one in values), strict=True))
        made = Request(number, user, at, arm, explored, word, chance, *(one.tolist() for one in values[:3]))
        for rank, (place, chance) in enumerate(zip(order, chances, strict=True)):
            liked = 1 / (1 + np.exp(1.2 - hidden[place])) / (1 + 0.4 * rank)
            click = int(rng.random() < liked)
            bought = int(click and rng.random() < 0.25)
            dwell = round(float(rng.exponential(40)), 1) if click else 0.0
            key, *known = able[place]
            made.shown.append(Shown(key, rank, *known, click, bought, dwell, chance))
        unseen = [Shown(one[0], None, one[1]) for place, one in enumerate(able) if place not in order]
        made.able = [*made.shown, *unseen]
        yield made


def _drawn(how: str, keys: Grid, k: int, explored: int, rng: Random) -> tuple[list[int], list[float]]:
    """The places shown, and the chance of each given those above it."""
    law = {"softmax": np.exp(keys), "cool": np.exp(2 * keys), "uniform": np.ones(len(keys))}.get(how)
    if how == "bucket" and explored:
        law = np.ones(len(keys))
    left = list(np.argsort(-keys, kind="stable"))
    order, chances = [], []
    for taken in range(k):
        share = np.eye(1, len(left))[0]
        if law is not None:
            share = law[left] / law[left].sum()
        elif how == "epsilon":
            share = 0.2 / len(left) + 0.8 * share
        elif how == "shuffle3" and taken < 3:
            share = np.where(np.arange(len(left)) < 3 - taken, 1 / (3 - taken), 0.0)
        place = int(rng.choice(len(left), p=share))
        chances.append(float(share[place]))
        order.append(int(left.pop(place)))
    return order, chances


def repeated(
    law: str,
    rng: Random,
    n: int = 1200,
    k: int = 5,
    pool: int = 8,
    queries: int = 40,
    users: int = 200,
    items: int = 150,
) -> Iterator[Request]:
    """Lists for queries that have the same candidates and scores each time.

    law: uniform, score (Plackett-Luce of it), sharp (with temperature .5), sorted, hidden (Plackett-Luce of a score
    that is not written), fixed (one list a query), personal (one list a user and query), daily (one list a query and
    day), epsilon (a tenth uniform, else sorted), arms (A sorted by the one, B by the other score), bucket (a twentieth
    of the requests is uniform, and told so).
    """
    appeal = rng.beta(1, 3, items)
    pools = [[int(one) for one in rng.choice(items, pool, replace=False)] for _ in range(queries)]
    scores, others = (
        [{item: round(float(rng.lognormal(0, 0.7)), 4) for item in pool} for pool in pools] for _ in range(2)
    )
    popular = rng.dirichlet(np.ones(queries) * 3)
    made: list[Request] = []
    for number in range(n):
        query, user, day = int(rng.choice(queries, p=popular)), int(rng.integers(users)), number // 200
        arm = "B" if rng.random() < (0.05 if law == "bucket" else 0.5) else "A"
        score, other, able = scores[query], others[query], sorted(pools[query])
        shown, chance = _shown(law, rng, (query, user, day, arm), pools[query], score, other, k)
        seen = appeal[shown] / np.sqrt(1 + np.arange(len(shown)))
        clicks = [int(one) for one in rng.random(len(shown)) < seen]
        each = {
            item: Shown(item, rank, score[item], other[item], click=click)
            for rank, (item, click) in enumerate(zip(shown, clicks, strict=True))
        }
        places = [each.get(item) or Shown(item, None, score[item], other[item], click=None) for item in able]
        told = [[one[item] for item in able] for one in (score, other)]
        who = (number, user, DAY + dt.timedelta(days=day, seconds=37 * number), arm, int(arm == "B"), query)
        made.append(Request(*who, chance, able, *told, list(each.values()), places))
    return iter(made)


def _shown(
    law: str, rng: Random, who: tuple[int, int, int, str], pool: list[int], score: Any, other: Any, k: int
) -> tuple[list[int], float]:
    """The items shown, and the probability of the list."""
    query, user, day, arm = who
    even = law == "uniform" or (law == "epsilon" and rng.random() < 0.1) or (law, arm) == ("bucket", "B")
    powers = {"score": 1, "sharp": 2}
    seeds = {"fixed": (query,), "personal": (query, user), "daily": (query, day)}
    if law in seeds:
        return [pool[at] for at in np.random.default_rng((7, *seeds[law])).permutation(len(pool))][:k], 1.0
    if not (even or law in powers or law == "hidden"):
        by = other if (law, arm) == ("arms", "B") else score
        return sorted(pool, key=lambda item: -by[item])[:k], 1.0
    power = 0 if even else powers.get(law, 0)
    weights = {item: 1 + item % 7 if law == "hidden" else score[item] ** power for item in pool}
    left, shown, chance = list(pool), [], 1.0
    for _ in range(min(k, len(pool))):
        shares = np.array([weights[item] for item in left])
        shares = shares / shares.sum()
        at = int(rng.choice(len(left), p=shares))
        chance *= float(shares[at])
        shown.append(left.pop(at))
    return shown, chance


LOOKED = np.array([1, 0.6, 0.42, 0.33, 0.27, 0.22])


@dataclass
class Rankers:
    """Rows of candidates with what they earn and what two rankers think of them; contexts repeat by `queries`."""

    rng: Random
    query: Grid
    user: Grid
    relevance: Grid
    old: Grid
    new: Grid

    @classmethod
    def of(cls, rng: Random, rows: int, items: int, queries: int = 0, noise: float = 0.5) -> "Rankers":
        log_odds = rng.normal(-1.2, 1, (queries or rows, items))
        old, new = (log_odds + noise * part * rng.normal(size=log_odds.shape) for part in (1.6, 1.0))
        query = rng.integers(0, queries, rows) if queries else np.arange(rows)
        return cls(
            rng, query, np.arange(rows), (1 / (1 + np.exp(-log_odds)))[query], old[query].round(4), new[query].round(4)
        )

    def drawn(self, temperature: float, k: int) -> Grid:
        """Slates drawn from the softmax of the old scores; a temperature of 0 draws from all alike."""
        scores = self.old / temperature if temperature else 0 * self.old
        return best(scores + self.rng.gumbel(size=scores.shape), k)

    def slates(self, law: str, k: int) -> tuple[Grid, Any]:
        """What was shown, and where what the law adds to the best was done.

        law: soft (with a temperature behind it), mix (so much in a hundred is uniform), swap (neighbours, half of the
        time), top3 (shuffled in .3 of the lists), teams (two rankers in turn), arms (half is the new ranker's), best;
        beta (drawn from a Beta of clicks and their lack, which are the two scores then).
        """
        shown, by = best(self.old, k), law.partition("/")
        chosen = np.zeros(len(shown), bool)
        if by[0] == "soft":
            return self.drawn(float(by[2]), k), chosen
        if by[0] == "mix":
            chosen = self.rng.random(len(shown)) < float(by[2]) / 100
            return np.where(chosen[:, None], self.drawn(0, k), shown), chosen
        if law == "beta":
            views = self.rng.integers(3, 40, self.old.shape)
            self.old = 1 + self.rng.binomial(views, self.relevance)
            self.new = 3 + views - self.old
            shown = best(self.rng.beta(self.old, self.new), k)
        if law == "swap":
            for at, swapped in zip((0, 2), self.rng.random((2, len(shown))) < 0.5, strict=True):
                shown[swapped, at : at + 2] = shown[swapped, at : at + 2][:, ::-1]
        if law == "top3":
            chosen = self.rng.random(len(shown)) < 0.3
            shown[chosen, :3] = self.rng.permuted(shown[chosen, :3], axis=1)
        if law == "arms":
            coins, self.user = self.rng.random(900) < 0.5, self.rng.integers(0, 900, len(shown))
            chosen = coins[self.user]
            shown = np.where(chosen[:, None], best(self.new, k), shown)
        if law == "teams":
            orders = [best(each, self.old.shape[1]).tolist() for each in (self.old, self.new)]
            shown = np.array([teams(self.rng, [order[row] for order in orders], k) for row in range(len(shown))])
        return shown, chosen


def teams(rng: Random, orders: list[list[int]], k: int) -> list[int]:
    """Two orders merged: each in turn gives its best that is left, if any is; a coin says who begins."""
    picked: list[int] = []
    while len(picked) < k:
        for team in rng.permutation(2):
            picked += [item for item in orders[team] if item not in picked][:1]
    return picked[:k]


def best(scores: Grid, slots: int) -> Grid:
    return np.argsort(-scores, axis=1)[:, :slots]


def chances(scores: Grid, slates: Grid) -> Grid:
    """The probability of each slot's item given those above it."""
    weights = np.take_along_axis(np.exp(scores), slates, axis=1)
    left = np.exp(scores).sum(axis=1, keepdims=True) - np.cumsum(weights, axis=1) + weights
    return weights / left


def ranked(
    law: str, rng: Random, n: int = 5000, k: int = 4, items: int = 6, queries: int = 0, noise: int = 50, cut: int = 0
) -> Iterator[Request]:
    """Lists of two rankers, as `Rankers.slates` draws them. cut: only so many of the k items are told."""
    made = Rankers.of(rng, n, items, queries, noise / 100)
    shown, chosen = made.slates(law, k)
    temperature = float(law.partition("/")[2] or 1) if law[:4] == "soft" else 1
    chance = chances(made.old / (temperature or np.inf), shown)
    told = shown[:, : cut or k]
    clicks = rng.random(told.shape) < np.take_along_axis(made.relevance, told, axis=1) * LOOKED[: told.shape[1]]
    for row in range(n):
        codes = (made.query[row] * items + np.arange(items)).tolist()
        scores, others = made.old[row].tolist(), made.new[row].tolist()
        able = [Shown(key, None, *one, click=None) for key, *one in zip(codes, scores, others, strict=True)]
        for rank, (place, click, p) in enumerate(
            zip(told[row], clicks[row].tolist(), chance[row].tolist(), strict=False)
        ):
            able[place].rank, able[place].click, able[place].chance = rank, int(click), p
        lists = codes, scores, others, [able[place] for place in told[row]], able
        who = row, int(made.user[row]), START + dt.timedelta(seconds=60 * row), "AB"[int(chosen[row])], int(chosen[row])
        yield Request(*who, int(made.query[row]), float(chance[row].prod()), *lists)
