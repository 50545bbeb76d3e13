"""What may happen to a log while it is being written, for better or worse: to users, slates, clicks, rows, columns."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from .engine import Draft, Engine, Floats, Law, given

DAYS = 14

# What was shown is not what was drawn --------------------------------------------------------------------------------


@given
def swap(draft: Draft, one: int, two: int, share: float = 1.0) -> None:
    rows = np.flatnonzero(draft.some(share))
    draft.slate[np.ix_(rows, [one, two])] = draft.slate[np.ix_(rows, [two, one])]


def shuffle(draft: Draft) -> None:
    draft.slate = draft.rng.permuted(draft.slate, axis=1)


def turn_over(draft: Draft) -> None:
    draft.slate = draft.slate[:, ::-1].copy()


@given
def pin(draft: Draft, share: float) -> None:
    """The first candidate stands on top; the others move down."""
    rows = draft.some(share)
    where = np.where(draft.slate == 0, -1.0, np.arange(draft.slate.shape[1]))
    pinned = np.take_along_axis(draft.slate, where.argsort(axis=1), axis=1)
    missing = (pinned[:, 0] != 0)[:, None]
    pushed = np.concatenate([np.zeros((len(pinned), 1), np.int64), pinned[:, :-1]], axis=1)
    draft.slate[rows] = np.where(missing, pushed, pinned)[rows]


def reload(draft: Draft) -> None:
    """Every second impression is one that was shown before, once more."""
    draft.keep(np.repeat(np.arange(len(draft.query)), 2)[: len(draft.query)])


# What was written is not what was shown or clicked -------------------------------------------------------------------


@given
def propensities(draft: Draft, law: Law, factor: float = 1.0, *, slots: bool = True) -> None:
    """Written propensities of a slate, and of its slots if they are right. factor: by which the former is wrong."""
    prefixes = law.prefixes(draft.engine, draft.query, draft.slate)
    draft.columns["propensity"] = np.minimum(prefixes[:, -1] * factor, 1.0)
    if factor == 1 and slots:
        above = np.concatenate([np.ones((len(prefixes), 1)), prefixes[:, :-1]], axis=1)
        draft.columns["slot_propensity"] = prefixes / above


def of_the_set(draft: Draft) -> None:
    """The propensity as if the order within the slate did not matter."""
    propensities(Law(), float(math.factorial(draft.engine.slots)))(draft)


def mixed_up(draft: Draft) -> None:
    """Propensities joined to the wrong rows."""
    propensities(Law(), slots=False)(draft)
    draft.columns["propensity"] = np.roll(draft.columns["propensity"], 1)


def of_two_kinds(draft: Draft) -> None:
    """Propensities that are right on average over the hidden kinds of a query."""
    half, law = draft.engine.queries, Law("insider_score")
    twin = (draft.query + half) % (2 * half)
    both = [law.prefixes(draft.engine, query, draft.slate)[:, -1] for query in (draft.query, twin)]
    draft.columns["propensity"] = (both[0] + both[1]) / 2


@given
def subsample(draft: Draft, keep: float, column: str = "inclusion") -> None:
    """Rows without a click are kept with this probability, and a column may say so."""
    rate = np.where(draft.clicks.any(axis=1), 1.0, keep)
    if column:
        draft.columns[column] = rate
    draft.keep(draft.rng.random(len(rate)) < rate)


def clicked_only(draft: Draft) -> None:
    draft.keep(draft.clicks.any(axis=1))


def one_arm(draft: Draft) -> None:
    """Half of the rows has the propensities of another arm, of a hotter policy."""
    propensities(Law())(draft)
    right = dict(draft.columns)
    propensities(Law(temperature=2.0))(draft)
    other = draft.some(0.5)
    for name in ("propensity", "slot_propensity"):
        mine, theirs = np.asarray(right[name]), np.asarray(draft.columns[name])
        draft.columns[name] = np.where(other[:, None] if mine.ndim == 2 else other, theirs, mine)


@given
def drop(draft: Draft, column: str) -> None:
    del draft.columns[column]


def inclusion_twice(draft: Draft) -> None:
    propensities(Law(), slots=False)(draft)
    draft.columns["propensity"] = np.asarray(draft.columns["propensity"]) * draft.columns["inclusion"]


def inclusion_inverted(draft: Draft) -> None:
    column = np.asarray(draft.columns["inclusion"])
    draft.columns["inclusion"] = np.where(column == 1, column.min(), 1.0)


@given
def bottom_first(draft: Draft, column: str) -> None:
    draft.columns[column] = draft.columns[column][:, ::-1]


def one_rank_late(draft: Draft) -> None:
    draft.clicks = np.concatenate([np.zeros_like(draft.clicks[:, :1]), draft.clicks[:, :-1]], axis=1)


@given
def double(draft: Draft, share: float) -> None:
    """The first rows are written once more."""
    n = len(draft.query)
    draft.keep(np.concatenate([np.arange(n), np.arange(int(share * n))]))


@given
def bots(draft: Draft, share: float) -> None:
    """In so many rows everything is clicked."""
    draft.clicks = np.where(draft.some(share)[:, None], 1.0, draft.clicks)


@given
def reward(draft: Draft, factor: float, noise: float = 0.0) -> None:
    """A column of what the slate earned: the clicks in another unit, with noise."""
    clicks = draft.clicks.sum(axis=1)
    draft.columns["reward"] = factor * clicks + noise * draft.rng.normal(size=len(clicks))


def prices(draft: Draft) -> None:
    """Clicks earn unlike much, 1 on average."""
    draft.clicks = draft.clicks * draft.rng.gamma(2.0, 0.5, size=draft.clicks.shape)


def leak(draft: Draft) -> None:
    """The new ranker's score knows what was clicked."""
    found = np.array(draft.columns["near_score"])
    known = np.take_along_axis(found, draft.slate, axis=1) * np.exp(draft.clicks)
    np.put_along_axis(found, draft.slate, known, axis=1)
    draft.columns["near_score"] = found


def shown_only(draft: Draft) -> None:
    """Candidates that were not shown are not in the log."""
    del draft.columns["candidates"]
    for name in [name for name in draft.columns if name.endswith("_score")]:
        draft.columns[name] = np.take_along_axis(draft.columns[name], draft.slate, axis=1)


def cut(draft: Draft) -> None:
    """Slates of unlike lengths."""
    chances = draft.engine.lengths
    draft.columns["length"] = draft.rng.choice(np.arange(1, len(chances) + 1), len(draft.query), p=chances)


def tell_query(draft: Draft) -> None:
    draft.columns["query"] = draft.query


# Healthy logs may look so ---------------------------------------------------------------------------------------------


def dated(draft: Draft) -> None:
    """The day of each row; rows are in the order of time."""
    days = np.datetime64("2025-03-01") + (draft.time * DAYS).astype(int)
    draft.columns["date"] = days.astype(str)


def sorted_by_query(draft: Draft) -> None:
    draft.keep(np.argsort(draft.query, kind="stable"))


@given
def of_users(draft: Draft, visits: float, more: float) -> None:
    """Users come `visits` times on average; half of them click `more` times more than the mean, half less."""
    user = draft.by_users(visits)
    factor = 1 + more * draft.rng.choice([-1.0, 1.0], size=user.max() + 1)
    draft.click(factor[user][:, None])


@given
def revenue(draft: Draft, kind: str, amount: float) -> None:
    """What a list earns: each click `amount` in the mean, log-normal, a count, or what the item costs."""
    clicks = draft.clicks
    if kind == "item":
        each = draft.of_engine("worth")
    elif kind == "count":
        each = 1.0 + draft.rng.poisson(amount - 1, size=clicks.shape)
    else:
        each = amount * np.exp(0.8 * draft.rng.normal(size=clicks.shape) - 0.32)
    draft.columns["reward"] = (clicks * each).sum(axis=1)


# Faults of the outcome ------------------------------------------------------------------------------------------------


def low_clicks_lost(draft: Draft) -> None:
    """Half of the clicks below the first rank is not written."""
    clicks = draft.clicks.copy()
    clicks[:, 1:] *= draft.rng.random(clicks[:, 1:].shape) < 0.5
    draft.clicks = clicks


@given
def robots(draft: Draft, share: float, visits: float = 8.0) -> None:
    """So many of the users click nearly everything."""
    user = draft.by_users(visits)
    robot = (draft.rng.random(user.max() + 1) < share)[user]
    eager = draft.rng.random(draft.clicks.shape) < 0.93
    draft.clicks = np.where(robot[:, None], eager, draft.clicks).astype(float)


@given
def not_there_yet(draft: Draft, share: float) -> None:
    """Of the last part of the rows ever fewer clicks have arrived."""
    arrived = np.clip((1 - draft.time) / share, 0.1, 1)
    draft.clicks = draft.clicks * (draft.rng.random(draft.clicks.shape) < arrived[:, None])


@given
def other_currency(draft: Draft, factor: float) -> None:
    """A tenth of the rewards is written in another currency."""
    draft.columns["reward"] = np.asarray(draft.columns["reward"]) * np.where(draft.some(0.1), factor, 1.0)


@given
def drift(draft: Draft, later: Engine) -> None:
    """In the second half users like what they like in another engine."""
    half = (draft.time >= 0.5)[:, None]
    draft.click(relevance=np.where(half, draft.of_engine("relevance", later), draft.of_engine("relevance")))


@dataclass(frozen=True)
class SoldOut:
    """The stock of two items in five runs out after `part` of what the whole log would sell of them."""

    part: float

    def __call__(self, draft: Draft) -> None:
        item, engine = draft.engine.items[draft.query[:, None], draft.slate].ravel(), draft.engine
        sold = draft.clicks.ravel() > 0
        number = np.zeros(len(item), int)  # of which sale this is, of its item
        for one in np.unique(item[sold]):
            mine = np.flatnonzero((item == one) & sold)
            number[mine] = np.arange(len(mine))
        pool, mean = len(np.unique(engine.items)), engine.columns["relevance"].mean()
        stock = int(
            self.part * len(draft.query) * engine.slots * mean / pool
        )  # if what is shown had the mean relevance
        draft.clicks = draft.clicks * ((item % 5 >= 2) | (number < stock)).reshape(draft.clicks.shape)


def top_alone(draft: Draft) -> None:
    """Only the first half of each list is written."""
    kept = (draft.slate.shape[1] + 1) // 2
    draft.slate = draft.slate[:, :kept]
    for name in ("slate", "clicks"):
        draft.columns[name] = draft.columns[name][:, :kept]


def clicked_on_top(draft: Draft) -> None:
    """Lists are written with the clicked items first."""
    order = np.argsort(-draft.clicks, axis=1, kind="stable")
    draft.slate = np.take_along_axis(draft.slate, order, axis=1)
    for name in ("slate", "clicks"):
        draft.columns[name] = np.take_along_axis(draft.columns[name], order, axis=1)


@given
def leaking(draft: Draft, column: str, noise: float = 0.05) -> None:
    """A score is the click rate of each item of a query in these very rows, with a little noise."""
    clicks, shown = (np.zeros((draft.engine.queries, draft.engine.candidates)) for _ in range(2))
    where = draft.query[:, None], draft.slate
    np.add.at(clicks, where, draft.clicks)
    np.add.at(shown, where, 1.0)
    score = np.divide(clicks, shown, out=np.zeros_like(clicks), where=shown > 0)
    draft.columns[column] = (score + noise * draft.rng.normal(size=score.shape))[draft.query]


@dataclass(frozen=True)
class Leaked(Law):
    """The ranker whose scores stand in a log that names the query of each row."""

    log: pa.Table | None = None

    def weights(self, engine: Engine) -> Floats:
        """[queries, candidates] as they are written."""
        assert self.log is not None
        found = engine.columns[self.column] * 1e-9
        found[self.log["query"].to_numpy()] = np.stack(self.log[self.column].to_numpy(zero_copy_only=False))
        return found


# Experiments ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Arms:
    """An experiment: each row (or user, if the log names users) is one of two rankers' at random."""

    laws: tuple[Law, Law]
    share: float = 0.5
    visits: float = 0.0
    more: float = 0.0

    def __call__(self, draft: Draft) -> None:
        second, factor = draft.some(self.share), np.ones(len(draft.query))
        if self.visits:
            user = draft.by_users(self.visits)
            second = (draft.rng.random(user.max() + 1) < self.share)[user]
            factor = (1 + self.more * draft.rng.choice([-1.0, 1.0], size=user.max() + 1))[user]
        self.show(draft, second)
        draft.click(factor[:, None])

    def show(self, draft: Draft, second: np.ndarray) -> None:
        """Each row shows what its arm draws."""
        for arm, law in enumerate(self.laws):
            rows = np.flatnonzero(second == arm)
            draft.slate[rows] = law.draw(draft.engine, draft.query[rows], draft.rng)
        draft.columns["slate"] = draft.engine.items[draft.query[:, None], draft.slate]
        draft.columns["arm"] = np.where(second, "B", "A")


@dataclass(frozen=True)
class Ramped(Arms):
    """A tenth of the rows is B's in the first week, half of them in the second, when users click twice as much."""

    def __call__(self, draft: Draft) -> None:
        second = draft.time >= 0.5
        self.show(draft, draft.rng.random(len(second)) < np.where(second, 0.5, 0.1))
        draft.click(np.where(second, 4 / 3, 2 / 3)[:, None])


@dataclass(frozen=True)
class SlowerArm(Arms):
    """Of the second arm's lists, so many are left before anything is clicked, since they come late."""

    left: float = 0.15

    def __call__(self, draft: Draft) -> None:
        super().__call__(draft)
        leaves = (draft.columns["arm"] == "B") & draft.some(self.left)
        draft.clicks = draft.clicks * ~leaves[:, None]


@dataclass(frozen=True)
class BothArms(Arms):
    """Two users in five are given an arm anew at each visit, and click less once they have seen the second."""

    def __call__(self, draft: Draft) -> None:
        super().__call__(draft)
        user = np.asarray(draft.columns["user"])
        torn = (draft.rng.random(user.max() + 1) < 0.4)[user]
        second = np.where(torn, draft.some(0.5), draft.columns["arm"] == "B")
        self.show(draft, second)
        first = np.full(user.max() + 1, len(user))
        np.minimum.at(first, user[second], np.flatnonzero(second))
        draft.click(np.where(torn & (np.arange(len(user)) > first[user]), 0.4, 1.0)[:, None])
