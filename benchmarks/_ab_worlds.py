"""Worlds of A/B tests of two rankers that sort: rankers, users, and the logs of both, for `ab_tests.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Shown = NDArray[np.int64]
Clicks = NDArray[np.bool_]
QUERIES, ITEMS, SLOTS = 60, 14, 6
LIKENESS = {"alike": (0.99, 1.1), "near": (0.95, 1.35), "unlike": (0.2, 1.35), "apart": (0.2, 1.35)}
"""Correlation of what both rankers add to the relevance of an item, and how much more of that the second knows."""
APART = "apart"
"""The second of these rankers shows nothing that the first one does."""
CURVE = 1 / np.arange(1, SLOTS + 1) ** 0.8


@dataclass(frozen=True, eq=False)
class World:
    """relevance [q, i], and the scores of both rankers [2, q, i]."""

    relevance: Floats
    scores: Floats

    @classmethod
    def of(cls, likeness: str) -> World:
        """A world: the second ranker knows more of the relevance than the first."""
        rng, (rho, more) = np.random.default_rng([5, list(LIKENESS).index(likeness)]), LIKENESS[likeness]
        relevance, common = rng.beta(1.2, 3.5, (QUERIES, ITEMS)), rng.normal(size=(QUERIES, ITEMS))
        known = (relevance - relevance.mean()) / relevance.std()
        own = rng.normal(size=(2, QUERIES, ITEMS))
        noise = 2 * (rho * common + np.sqrt(1 - rho**2) * own)
        scores = np.array([1.0, more])[:, None, None] * known + noise
        if likeness == APART:
            np.put_along_axis(scores[1], np.argsort(-scores[0], axis=1)[:, :SLOTS], -100.0, axis=1)
        return cls(relevance, scores)

    @cached_property
    def lists(self) -> Shown:
        """[2, q, k] what each ranker shows."""
        return np.argsort(-self.scores, axis=2)[:, :, :SLOTS]

    @property
    def shared(self) -> float:
        """The share of the items that both rankers show."""
        one, other = self.lists
        return float(np.mean([len(set(a) & set(b)) / SLOTS for a, b in zip(one, other, strict=True)]))

    def truth(self, users: str) -> float:
        """What the second ranker earns more than the first: the expected clicks of all lists, exactly."""
        test, every = USERS[users], np.arange(QUERIES)[:, None]
        first, second = (test.expected(self.relevance[every, lists]).mean() for lists in self.lists)
        return float((second - first) * np.exp(test.spread**2 / 2))


def position(shown: Floats, rng: np.random.Generator) -> Clicks:
    """Users who look at a rank with a fixed probability."""
    return rng.random(shown.shape) < CURVE * shown


def by_position(shown: Floats) -> Floats:
    """[n] their expected clicks."""
    return (CURVE * shown).sum(axis=1)


GOOD, BAD = np.linspace(0.98, 0.8, SLOTS), np.linspace(0.35, 0.08, SLOTS)


def trust(shown: Floats, rng: np.random.Generator) -> Clicks:
    """Users who click more on what stands high, whatever it is (Agarwal and others 2019)."""
    return rng.random(shown.shape) < 0.8 * CURVE * (GOOD * shown + BAD * (1 - shown))


def by_trust(shown: Floats) -> Floats:
    """[n] their expected clicks."""
    return (0.8 * CURVE * (GOOD * shown + BAD * (1 - shown))).sum(axis=1)


Stays = Callable[[int, Floats, bool], Floats]
"""The chance to read on after an item at a rank, whether clicked or not."""


def reading(shown: Floats, rng: np.random.Generator, stays: Stays) -> Clicks:
    """Users who read on until they stop."""
    clicked, reads = np.zeros(shown.shape, np.bool_), np.ones(len(shown), np.bool_)
    for rank in range(SLOTS):
        each = shown[:, rank]
        clicked[:, rank] = reads & (rng.random(len(shown)) < each)
        reads &= rng.random(len(shown)) < np.where(clicked[:, rank], stays(rank, each, True), stays(rank, each, False))
    return clicked


def by_reading(shown: Floats, stays: Stays) -> Floats:
    """[n] their expected clicks."""
    found, reads = np.zeros(len(shown)), np.ones(len(shown))
    for rank in range(SLOTS):
        each = shown[:, rank]
        found += reads * each
        reads *= each * stays(rank, each, True) + (1 - each) * stays(rank, each, False)
    return found


def satisfied(_: int, shown: Floats, clicked: bool) -> Floats:
    """Of the dynamic Bayesian network."""
    return 0.88 * (0.65 - 0.6 * shown if clicked else np.ones(len(shown)))


def dependent(rank: int, shown: Floats, clicked: bool) -> Floats:
    """Of the dependent click model."""
    return np.full(len(shown), 0.95 * (0.65 - 0.08 * rank if clicked else 1.0))


def disappointed(_: int, shown: Floats, clicked: bool) -> Floats:
    """Of users who leave at a poor item."""
    return np.full(len(shown), 0.95) if clicked else 0.45 + 0.5 * shown


def looks(rank: int, last: int) -> float:
    """The chance that a user looks at a rank whose last click was there (-1: none)."""
    return float(1 / (1 + 0.45 * rank) if last < 0 else 0.9 / max(rank - last, 1) ** 0.6 / (1 + 0.1 * rank))


def browsing(shown: Floats, rng: np.random.Generator) -> Clicks:
    """Users whose attention falls with the rank and with the distance to their last click."""
    clicked, last = np.zeros(shown.shape, np.bool_), np.full(len(shown), -1)
    for rank in range(SLOTS):
        attention = np.array([looks(rank, each) for each in range(-1, rank)] or [looks(0, -1)])
        clicked[:, rank] = rng.random(len(shown)) < attention[last + 1] * shown[:, rank]
        last[clicked[:, rank]] = rank
    return clicked


def by_browsing(shown: Floats) -> Floats:
    """[n] their expected clicks."""
    found, last = np.zeros(len(shown)), np.eye(1, SLOTS + 1) * np.ones((len(shown), 1))
    for rank in range(SLOTS):
        clicks = last[:, : rank + 1] * shown[:, [rank]] * [looks(rank, each) for each in range(-1, rank)]
        found += clicks.sum(axis=1)
        last[:, : rank + 1] -= clicks
        last[:, rank + 1] = clicks.sum(axis=1)
    return found


def mixture(shown: Floats, rng: np.random.Generator) -> Clicks:
    """Half of the users are position-based, half satisfied by what they click."""
    return np.where(rng.random((len(shown), 1)) < 0.5, position(shown, rng), reading(shown, rng, satisfied))


def by_mixture(shown: Floats) -> Floats:
    """[n] their expected clicks."""
    return (by_position(shown) + by_reading(shown, satisfied)) / 2


def compares(shown: Floats) -> Floats:
    """[n, k] the chances of a click of users who look at the next item before."""
    below = np.concatenate([shown[:, 1:], np.zeros((len(shown), 1))], axis=1)
    return CURVE * shown * (1 - 0.7 * below)


def comparing(shown: Floats, rng: np.random.Generator) -> Clicks:
    """Users who look at the next item before they click: they do not read from the top."""
    return rng.random(shown.shape) < compares(shown)


def best_of_list(shown: Floats, rng: np.random.Generator) -> Clicks:
    """Users who see the whole list, and click the best item or none."""
    best = np.arange(SLOTS) == np.argmax(shown, axis=1)[:, None]
    return best & (rng.random(shown.shape) < 0.9 * shown)


def bottom_up(shown: Floats, rng: np.random.Generator) -> Clicks:
    """Users who read upwards, until they are satisfied."""
    return reading(shown[:, ::-1], rng, satisfied)[:, ::-1]


def of_many(shown: Floats) -> Floats:
    """[n] the expected clicks of users who like all items between never and twice as much: see `shown_to`."""
    return by_position(np.where(shown < 0.5, shown, 1 - 1 / (4 * np.maximum(shown, 0.5))))


@dataclass(frozen=True)
class Test:
    """Who clicks how, and how the test is made.

    clicks: of lists [n, k] of relevances; expected: [n] their number. share: of the second arm. sessions: of a user,
    who always meets one arm. spread: of the logarithm of a price.
    """

    clicks: Callable[[Floats, np.random.Generator], Clicks]
    expected: Callable[[Floats], Floats]
    share: float = 0.5
    sessions: int = 1
    spread: float = 0.0

    @classmethod
    def reading(cls, stays: Stays) -> Test:
        """Of users who read on until they stop."""
        return cls(partial(reading, stays=stays), partial(by_reading, stays=stays))


USERS: dict[str, Test] = {
    "PBM": Test(position, by_position),
    "DBN": Test.reading(satisfied),
    "DCM": Test.reading(dependent),
    "UBM": Test(browsing, by_browsing),
    "trust-biased": Test(trust, by_trust),
    "mixture": Test(mixture, by_mixture),
    "comparing": Test(comparing, lambda shown: compares(shown).sum(axis=1)),
    "bored": Test.reading(disappointed),
    "best of list": Test(best_of_list, lambda shown: 0.9 * shown.max(axis=1)),
    "bottom up": Test(bottom_up, lambda shown: by_reading(shown[:, ::-1], satisfied)),
    "clustered": Test(position, of_many, sessions=40),
    "90 : 10": Test(comparing, lambda shown: compares(shown).sum(axis=1), share=0.1),
    "revenue": Test(position, by_position, spread=1.5),
}


def shown_to(test: Test, shown: Floats, user: Shown, rng: np.random.Generator) -> Floats:
    """What the items of a list are to this user: where users have several sessions, some like more of all of them."""
    return shown if test.sessions == 1 else np.minimum(shown * 2 * rng.random(user.max() + 1)[user][:, None], 1.0)


class Alike(NamedTuple):
    """Different sessions: query, arm, clicks [t, k], how many there are, and of: [n] the number of each session's."""

    query: Shown
    arm: Shown
    clicks: Shown
    count: Floats
    of: Shown


@dataclass(frozen=True, eq=False)
class Drawn:
    """The sessions of one A/B test, n of each, and clicks [n, k]. reward: None where it is the clicks."""

    world: World
    query: Shown
    user: Shown
    arm: Shown
    clicks: Clicks
    reward: Floats | None
    test: Test

    @classmethod
    def of(cls, world: World, users: str, sessions: int, seed: int) -> Drawn:
        """Draw them."""
        rng, test = np.random.default_rng([seed, list(USERS).index(users)]), USERS[users]
        query, user = rng.integers(0, QUERIES, sessions), np.arange(sessions) // test.sessions
        arm = (rng.random(user.max() + 1) < test.share)[user].astype(int)
        shown = world.relevance[query[:, None], world.lists[arm, query]]
        clicks = test.clicks(shown_to(test, shown, user, rng), rng)
        paid = (clicks * np.exp(test.spread * rng.normal(size=clicks.shape))).sum(axis=1) if test.spread else None
        return cls(world, query, user, arm, clicks, paid, test)

    @property
    def alike(self) -> Alike:
        """Each different session once."""
        kinds = 1 << SLOTS
        code = (self.query * 2 + self.arm) * kinds + (self.clicks * (1 << np.arange(SLOTS))).sum(axis=1)
        times = np.bincount(code, minlength=QUERIES * 2 * kinds)
        some = np.flatnonzero(times)
        number = np.empty(len(times), np.int64)
        number[some] = np.arange(len(some))
        clicks = some[:, None] >> np.arange(SLOTS) & 1
        return Alike(some // kinds // 2, some // kinds % 2, clicks, times[some].astype(float), number[code])

    @property
    def table(self) -> pa.Table:
        """The log."""
        made = {
            name: pa.FixedSizeListArray.from_arrays(values.ravel(), values.shape[1])
            for name, values in (
                ("candidates", np.tile(np.arange(ITEMS), (len(self.query), 1))),
                ("slate", self.world.lists[self.arm, self.query]),
                ("clicks", self.clicks.astype(np.int8)),
                ("a_score", self.world.scores[0][self.query]),
                ("b_score", self.world.scores[1][self.query]),
            )
        }
        if self.reward is not None:
            made["reward"] = pa.array(self.reward)
        return pa.table({"query": self.query, "user": self.user, "arm": np.where(self.arm, "B", "A"), **made})
