"""What may happen to users, clicks and rows of a log, for better or worse: all but its law."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from .engine import Engine, Floats, Law
from .log import Draft, Step

DAYS = 14


def _shown(draft: Draft, engine: Engine | None = None) -> Floats:
    """[n, slots] relevance of what is shown."""
    return np.asarray((engine or draft.engine).columns["relevance"][draft.query[:, None], draft.slate])


def _clicked(draft: Draft, relevance: Floats) -> None:
    """Users click anew."""
    draft.columns["clicks"] = draft.users.click(relevance, draft.rng)


def _share_of_time(draft: Draft) -> Floats:
    """[n] 0 in the first row, almost 1 in the last."""
    return np.arange(len(draft.query)) / len(draft.query)


def _users(draft: Draft, visits: float) -> np.ndarray:
    """[n] numbers of users, who come so often on average."""
    n = len(draft.query)
    return np.asarray(draft.rng.integers(max(int(n / visits), 2), size=n))


# Healthy logs may look so ---------------------------------------------------------------------------------------------


def dated(draft: Draft) -> None:
    """The day of each row; rows are in the order of time."""
    days = np.datetime64("2025-03-01") + (_share_of_time(draft) * DAYS).astype(int)
    draft.columns["date"] = days.astype(str)


def sorted_by_query(draft: Draft) -> None:
    """Rows of a query follow one another."""
    draft.keep(np.argsort(draft.query, kind="stable"))


@dataclass(frozen=True)
class OfUsers:
    """Users come `visits` times on average; half of them click `more` times more than the mean, half less."""

    visits: float
    more: float

    def __call__(self, draft: Draft) -> None:
        user = _users(draft, self.visits)
        factor = 1 + self.more * draft.rng.choice([-1.0, 1.0], size=user.max() + 1)
        draft.columns["user"] = user
        _clicked(draft, _shown(draft) * factor[user][:, None])


@dataclass(frozen=True)
class Arms:
    """An experiment: each row (or user, if the log names users) is one of two rankers' at random."""

    laws: tuple[Law, Law]
    share: float = 0.5
    visits: float = 0.0
    more: float = 0.0

    def __call__(self, draft: Draft) -> None:
        n = len(draft.query)
        second, factor = draft.rng.random(n) < self.share, np.ones(n)
        if self.visits:
            user = _users(draft, self.visits)
            second = (draft.rng.random(user.max() + 1) < self.share)[user]
            factor = (1 + self.more * draft.rng.choice([-1.0, 1.0], size=user.max() + 1))[user]
            draft.columns["user"] = user
        self.show(draft, second)
        _clicked(draft, _shown(draft) * factor[:, None])

    def show(self, draft: Draft, second: np.ndarray) -> None:
        """Each row shows what its arm draws."""
        for arm, law in enumerate(self.laws):
            rows = np.flatnonzero(second == arm)
            draft.slate[rows] = law.draw(draft.engine, draft.query[rows], draft.rng)
        draft.columns["slate"] = draft.engine.items[draft.query[:, None], draft.slate]
        draft.columns["arm"] = np.where(second, "B", "A")


@dataclass(frozen=True)
class Revenue:
    """What a list earns: each click `amount` in the mean, log-normal, a count, or what the item costs."""

    kind: str
    amount: float

    def __call__(self, draft: Draft) -> None:
        clicks = np.asarray(draft.columns["clicks"])
        if self.kind == "item":
            each = draft.engine.columns["worth"][draft.query[:, None], draft.slate]
        elif self.kind == "count":
            each = 1 + draft.rng.poisson(self.amount - 1, size=clicks.shape)
        else:
            each = self.amount * np.exp(0.8 * draft.rng.normal(size=clicks.shape) - 0.32)
        draft.columns["reward"] = (clicks * each).sum(axis=1)


# Faults of the outcome ------------------------------------------------------------------------------------------------


def low_clicks_lost(draft: Draft) -> None:
    """Half of the clicks below the first rank is not written."""
    clicks = np.asarray(draft.columns["clicks"]).copy()
    clicks[:, 1:] *= draft.rng.random(clicks[:, 1:].shape) < 0.5
    draft.columns["clicks"] = clicks


def kept_by_outcome(keep: float, column: str = "") -> Step:
    """Rows without a click are kept with this probability, and a column that nobody names may say so."""

    def step(draft: Draft) -> None:
        clicked = np.asarray(draft.columns["clicks"]).any(axis=1)
        rate = np.where(clicked, 1.0, keep)
        if column:
            draft.columns[column] = rate
        draft.keep(draft.rng.random(len(clicked)) < rate)

    return step


def robots(share: float, visits: float = 8.0) -> Step:
    """So many of the users click nearly everything."""

    def step(draft: Draft) -> None:
        user = _users(draft, visits)
        robot = (draft.rng.random(user.max() + 1) < share)[user]
        clicks = np.asarray(draft.columns["clicks"])
        draft.columns["user"] = user
        draft.columns["clicks"] = np.where(robot[:, None], draft.rng.random(clicks.shape) < 0.93, clicks).astype(float)

    return step


def not_there_yet(share: float) -> Step:
    """Of the last part of the rows ever fewer clicks have arrived."""

    def step(draft: Draft) -> None:
        arrived = np.clip((1 - _share_of_time(draft)) / share, 0.1, 1)
        clicks = np.asarray(draft.columns["clicks"])
        draft.columns["clicks"] = clicks * (draft.rng.random(clicks.shape) < arrived[:, None])

    return step


def other_currency(factor: float) -> Step:
    """A tenth of the rewards is written in another currency."""

    def step(draft: Draft) -> None:
        reward = np.asarray(draft.columns["reward"])
        draft.columns["reward"] = reward * np.where(draft.rng.random(len(reward)) < 0.1, factor, 1.0)

    return step


def drift(later: Engine) -> Step:
    """In the second half users like what they like in another engine."""

    def step(draft: Draft) -> None:
        half = (_share_of_time(draft) >= 0.5)[:, None]
        _clicked(draft, np.where(half, _shown(draft, later), _shown(draft)))

    return step


@dataclass(frozen=True)
class SoldOut:
    """The stock of two items in five runs out after `part` of what the whole log would sell of them."""

    part: float

    def __call__(self, draft: Draft) -> None:
        item = np.asarray(draft.engine.items[draft.query[:, None], draft.slate])
        clicks = np.asarray(draft.columns["clicks"])
        flat, sold = item.ravel(), clicks.ravel() > 0
        number = np.zeros(len(flat), int)  # of which sale this is, of its item
        for one in np.unique(flat[sold]):
            mine = np.flatnonzero((flat == one) & sold)
            number[mine] = np.arange(len(mine))
        kept = (flat % 5 >= 2) | (number < self.stock(draft.engine, len(draft.query)))
        draft.columns["clicks"] = clicks * kept.reshape(clicks.shape)

    def stock(self, engine: Engine, rows: int) -> int:
        """Pieces of each item: a mean item's share of the clicks, if what is shown had the mean relevance."""
        pool = len(np.unique(engine.items))
        return int(self.part * rows * engine.slots * engine.columns["relevance"].mean() / pool)


def top_alone(draft: Draft) -> None:
    """Only the first half of each list is written."""
    kept = (draft.slate.shape[1] + 1) // 2
    draft.slate = draft.slate[:, :kept]
    for name in ("slate", "clicks"):
        draft.columns[name] = draft.columns[name][:, :kept]


def clicked_on_top(draft: Draft) -> None:
    """Lists are written with the clicked items first."""
    order = np.argsort(-np.asarray(draft.columns["clicks"]), axis=1, kind="stable")
    draft.slate = np.take_along_axis(draft.slate, order, axis=1)
    for name in ("slate", "clicks"):
        draft.columns[name] = np.take_along_axis(draft.columns[name], order, axis=1)


def leaking(column: str, noise: float = 0.05) -> Step:
    """A score is the click rate of each item of a query in these very rows, with a little noise."""

    def step(draft: Draft) -> None:
        clicks, shown = (np.zeros((draft.engine.queries, draft.engine.candidates)) for _ in range(2))
        where = draft.query[:, None], draft.slate
        np.add.at(clicks, where, np.asarray(draft.columns["clicks"]))
        np.add.at(shown, where, 1.0)
        score = np.divide(clicks, shown, out=np.zeros_like(clicks), where=shown > 0)
        draft.columns[column] = (score + noise * draft.rng.normal(size=score.shape))[draft.query]

    return step


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


# Faults of an experiment ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ramped(Arms):
    """A tenth of the rows is B's in the first week, half of them in the second, when users click twice as much."""

    def __call__(self, draft: Draft) -> None:
        second = _share_of_time(draft) >= 0.5
        self.show(draft, draft.rng.random(len(second)) < np.where(second, 0.5, 0.1))
        _clicked(draft, _shown(draft) * np.where(second, 4 / 3, 2 / 3)[:, None])


@dataclass(frozen=True)
class SlowerArm(Arms):
    """Of the second arm's lists, so many are left before anything is clicked, since they come late."""

    left: float = 0.15

    def __call__(self, draft: Draft) -> None:
        super().__call__(draft)
        leaves = (draft.columns["arm"] == "B") & (draft.rng.random(len(draft.query)) < self.left)
        draft.columns["clicks"] = np.asarray(draft.columns["clicks"]) * ~leaves[:, None]


@dataclass(frozen=True)
class BothArms(Arms):
    """Two users in five are given an arm anew at each visit, and click less once they have seen the second."""

    def __call__(self, draft: Draft) -> None:
        super().__call__(draft)
        user = np.asarray(draft.columns["user"])
        torn = (draft.rng.random(user.max() + 1) < 0.4)[user]
        second = np.where(torn, draft.rng.random(len(user)) < 0.5, draft.columns["arm"] == "B")
        self.show(draft, second)
        first = np.full(user.max() + 1, len(user))
        np.minimum.at(first, user[second], np.flatnonzero(second))
        seen = torn & (np.arange(len(user)) > first[user])
        _clicked(draft, _shown(draft) * np.where(seen, 0.4, 1.0)[:, None])
