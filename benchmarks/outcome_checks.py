"""Faults of the outcome that the table alone shows: how often they are found, and how often healthy logs are blamed.

python benchmarks/outcome_checks.py outcome-checks [--logs 100] [--rows 500 2000 10000] [--write]
python benchmarks/outcome_checks.py own-clicks [--seeds 4] [--rows 1000 5000 20000] [--write]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import product

import numpy as np
import pyarrow as pa
from _page import markdown_head, markdown_row, run
from _worlds import lists
from trust_worlds.engine import Floats, given
from trust_worlds.world import HEALTHY as WORLDS
from trust_worlds.world import World

import offrank
from offrank.checks.row_inclusion import with_unread
from offrank.checks.score_leakage import KINDS, OwnClicksFold
from offrank.findings import cautions_for
from offrank.findings.log import LogEvidence
from offrank.findings.rows import OwnClicksEvidence, counted_here
from offrank.log.source import Needs
from offrank.running.executors import run as folded
from offrank.sums.base import Tee
from offrank.sums.outcome_shape import OutcomeShapeFold

ITEMS, SLOTS, QUERIES = 10, 4, 40
CURVE = np.array([1.0, 0.6, 0.4, 0.25])
CODES = ("clicks-on-top", "unclicked-rank", "two-units", "clicked-whole", "unread-rate", "same-log")


class Log:
    """A log of some rows, whose parts may be changed before it becomes a table."""

    def __init__(self, rows: int, seed: int, mean: float = 0.15) -> None:
        self.rng = rng = np.random.default_rng(seed)
        self.relevance = rng.beta(8 * mean, 8 * (1 - mean), (QUERIES, ITEMS))
        self.query = rng.integers(QUERIES, size=rows)
        self.slate = np.argsort(rng.random((rows, ITEMS)), axis=1)[:, :SLOTS]
        self.attraction = self.relevance[self.query[:, None], self.slate]
        self.curve, self.score = CURVE, self.relevance + rng.normal(0, 0.05, self.relevance.shape)
        self.columns: dict[str, Floats] = {}
        self.clicks = self.by_curve()

    def by_curve(self) -> Floats:
        return (self.rng.random(self.attraction.shape) < self.attraction * self.curve).astype(int)

    def order(self, order: Floats) -> None:
        """Each list in another order."""
        parts = (self.slate, self.attraction, self.clicks)
        self.slate, self.attraction, self.clicks = (np.take_along_axis(one, order, axis=1) for one in parts)

    def take(self, rows: Floats) -> None:
        self.query, self.slate, self.clicks = self.query[rows], self.slate[rows], self.clicks[rows]
        self.columns = {name: one[rows] for name, one in self.columns.items()}

    def table(self) -> pa.Table:
        first = self.query[:, None] * 100
        made = {"candidates": first + np.arange(ITEMS), "slate": first + self.slate, "clicks": self.clicks}
        made["score"] = self.score[self.query]
        return pa.table({name: lists(one) for name, one in made.items()} | {"query": self.query, **self.columns})

    def codes(self) -> set[str]:
        """What is said of its outcome, and of its score."""
        source = offrank.read_log(self.table())
        read = frozenset(["candidates", "clicks", "reward"])
        needs = Needs(read, scores=frozenset(["score"]), keys=frozenset(["query"]))
        folds = {"shape": OutcomeShapeFold(), **{of: OwnClicksFold(("score",), of) for of in KINDS}}
        found = folded(source.select(needs), Tee(folds))
        kept = with_unread(LogEvidence(), source).kept
        said = cautions_for(found["shape"], kept, *(found[of]["score"] for of in KINDS))
        return {one.code for one in said} & set(CODES)


Change = Callable[[Log], None]


def usual(log: Log) -> None:
    log.clicks = log.by_curve()


def cascade(log: Log) -> None:
    log.clicks = log.clicks * (np.cumsum(log.clicks, axis=1) == 1)


def dbn(log: Log) -> None:
    """Users go on with .9, and are satisfied by half of their clicks."""
    rng, looks = log.rng, np.ones(len(log.query), bool)
    for rank in range(SLOTS):
        log.clicks[:, rank] = looks & (rng.random(len(looks)) < log.attraction[:, rank])
        looks &= (rng.random(len(looks)) < 0.9) & ~((log.clicks[:, rank] > 0) & (rng.random(len(looks)) < 0.5))


def heavy_users(log: Log) -> None:
    """Users who click .1 to 5 times as much as others, with 30 rows each."""
    user = log.rng.integers(max(len(log.query) // 30, 1), size=len(log.query))
    much = log.rng.gamma(1.0, 1.0, user.max() + 1)[user]
    log.attraction = np.minimum(log.attraction * much[:, None], 1.0)
    log.clicks = log.by_curve()


def steep(log: Log) -> None:
    log.curve = np.array([1.0, 0.2, 0.05, 0.02])
    log.clicks = log.by_curve()


def by_relevance(log: Log) -> None:
    """A ranker that knows the truth sorts every list."""
    log.order(np.argsort(-log.attraction, axis=1))
    log.clicks = log.by_curve()


@given
def rewards(log: Log, amounts: Callable[[np.random.Generator, int], Floats]) -> None:
    log.columns["reward"] = log.clicks.sum(axis=1) * amounts(log.rng, len(log.query))


def many_prices(rng: np.random.Generator, n: int) -> Floats:
    """Prices that end in .99, the first ones sold most."""
    often = 1 / np.arange(1, 121)
    return rng.choice(np.maximum(np.round(np.exp(rng.normal(3, 1, 120))), 1) - 0.01, n, p=often / often.sum())


def two_kinds(dear: float, cheap: float, spread: float) -> Change:
    """Three of ten goods cost more. dear, cheap: means of logarithms."""
    return rewards(
        lambda rng, n: np.exp(np.where(rng.random(n) < 0.3, rng.normal(dear, spread, n), rng.normal(cheap, spread, n)))
    )


@given
def in_units(log: Log, factor: float, spread: float) -> None:
    """A tenth of the amounts is written in another unit."""
    rewards(lambda rng, n: np.exp(rng.normal(3, spread, n)))(log)
    log.columns["reward"] = np.where(log.rng.random(len(log.query)) < 0.1, factor, 1.0) * log.columns["reward"]


def sorted_by_clicks(log: Log) -> None:
    log.order(np.argsort(-log.clicks, axis=1, kind="stable"))


def late(log: Log) -> None:
    log.clicks = np.hstack([np.zeros((len(log.query), 1), int), log.clicks[:, :-1]])


@given
def robots(log: Log, share: float) -> None:
    they = log.rng.random((len(log.query), 1)) < share
    log.clicks = np.where(they, log.rng.random(log.clicks.shape) < 0.95, log.clicks).astype(int)


def thinned(log: Log) -> None:
    rate = np.where(log.clicks.any(axis=1), 1.0, 0.2)
    log.columns["keep_prob"] = rate
    log.take(np.flatnonzero(log.rng.random(len(rate)) < rate))


@given
def leak(log: Log, noise: float, *, here: bool = True) -> None:
    """A score that is the click rate of each item of a query, here or on another day, and noise."""
    day = log if here else Log(len(log.query), int(log.rng.integers(2**31)))
    if not here:
        day.attraction = log.relevance[day.query[:, None], day.slate]
        day.clicks = day.by_curve()
    cell = (day.query[:, None] * ITEMS + day.slate).ravel()
    shown, came = np.bincount(cell, minlength=400), np.bincount(cell, day.clicks.ravel(), 400)
    rate = (came / np.maximum(shown, 1)).reshape(QUERIES, ITEMS)
    log.score = rate + log.rng.normal(0, noise, rate.shape)


def stop_when_bored(log: Log) -> None:
    log.clicks = np.cumprod(log.rng.random(log.clicks.shape) < 0.6, axis=1)


HEALTHY: dict[str, Change] = {
    "users by a curve": usual,
    "a steep curve": steep,
    "one click (cascade)": cascade,
    "DBN": dbn,
    "users who click unlike much": heavy_users,
    "lists sorted by relevance": by_relevance,
    "log-normal amounts, sd 1": rewards(lambda rng, n: np.exp(rng.normal(3, 1, n))),
    "log-normal amounts, sd 2": rewards(lambda rng, n: np.exp(rng.normal(3, 2, n))),
    "Pareto amounts, index 1.1": rewards(lambda rng, n: rng.pareto(1.1, n) + 1),
    "gamma amounts, shape .3": rewards(lambda rng, n: rng.gamma(0.3, 10, n)),
    "counts": rewards(lambda rng, n: rng.poisson(2, n) + 1.0),
    "12 prices": rewards(lambda rng, n: rng.choice(np.round(np.exp(rng.normal(3, 1.5, 12)), 2), n)),
    "120 prices at .99": rewards(many_prices),
    "goods, and some 6 times as dear": two_kinds(4.8, 3, 0.7),
    "a score counted on another day": leak(0.0, here=False),
    "the same with noise, sd .05": leak(0.05, here=False),
}
FAULTS: dict[str, tuple[str, Change]] = {
    "sorted by clicks": ("clicks-on-top", sorted_by_clicks),
    "clicks a rank late": ("unclicked-rank", late),
    "a tenth in cents, log-normal, sd .5": ("two-units", in_units(100, 0.5)),
    "a tenth in cents, log-normal, sd 1": ("two-units", in_units(100, 1.0)),
    "a tenth times 7.5, sd .5": ("two-units", in_units(7.5, 0.5)),
    "robots, 7 % of the rows": ("clicked-whole", robots(0.07)),
    "robots, 2 % of the rows": ("clicked-whole", robots(0.02)),
    "thinned, the rate not named": ("unread-rate", thinned),
    "a score that counts these clicks": ("same-log", leak(0.0)),
    "the same with noise, sd .02": ("same-log", leak(0.02)),
    "the same with noise, sd .05": ("same-log", leak(0.05)),
    "the same with noise, sd .1": ("same-log", leak(0.1)),
}
ALIKE: dict[str, Change] = {
    "songs, heard until one is skipped": stop_when_bored,
    "two product lines": two_kinds(6.5, 2, 0.5),
}


def codes(change: Change, rows: int, logs: int) -> Iterator[set[str]]:
    """What is said of each log of these rows."""
    for seed in range(logs):
        log = Log(rows, seed)
        change(log)
        yield log.codes()


def alarms(changes: Mapping[str, Change], rows: tuple[int, ...], logs: int) -> dict[str, list[int]]:
    """How many of the healthy logs are blamed, by rows."""
    return {name: [sum(map(bool, codes(change, n, logs))) for n in rows] for name, change in changes.items()}


def outcome_checks(*, logs: int = 100, rows: tuple[int, ...] = (500, 2_000, 10_000)) -> Iterator[str]:
    """Tables of faults and of healthy logs.

    Each log shows four of ten items of a query in a uniform order. Healthy users look at ranks by a curve, stop at a
    click, or go on after one; they differ, and rewards are clicks, counts, prices or heavy amounts. A fault changes one
    thing. The last rows are healthy logs that nothing tells from faults.
    """
    sizes = [f"{n:,} rows" for n in rows]
    yield from (f"Found, in per cent of {logs} logs:", "")
    yield from markdown_head("fault", "finding", *sizes, left=2)
    for name, (code, change) in FAULTS.items():
        shares = (100 * sum(code in one for one in codes(change, n, logs)) / logs for n in rows)
        yield markdown_row(name, f"`{code}`", *(f"{share:.0f} %" for share in shares))
    yield from ("", f"False alarms, of {logs} healthy logs:", "")
    yield from markdown_head("healthy", *sizes)
    blamed = alarms(HEALTHY, rows, logs)
    yield from (markdown_row(name, *counts) for name, counts in blamed.items())
    together = f"{sum(map(sum, blamed.values()))} of {len(HEALTHY) * len(rows) * logs:,}"
    yield from ("", f"Together {together}. Not told from faults:", "")
    yield from markdown_head("healthy, and alike", *sizes)
    yield from (markdown_row(name, *counts) for name, counts in alarms(ALIKE, rows, logs).items())


FORMS: dict[str, Callable[[Floats, Floats], Floats]] = {
    "rate": lambda k, n: k / np.maximum(n, 1),
    "clicks": lambda k, n: k + 0 * n,
    "smoothed": lambda k, n: (k + 2) / (n + 40),
    "per cent, rounded": lambda k, n: np.round(100 * k / np.maximum(n, 1), 2),
    "logarithm": lambda k, n: np.log((k + 0.5) / np.maximum(n, 1)),
}


def counted(judged: pa.Table, day: pa.Table, *, by_query: bool) -> tuple[Floats, Floats]:
    """[n, m] clicks and impressions of each candidate of a log, as another one shows them."""
    ids, cells = _cells(judged, "candidates", by_query)
    _, shown = _cells(day, "slate", by_query)
    clicks = np.concatenate([np.asarray(row, float) for row in day["clicks"].to_pylist()])
    known, place = np.unique(shown, return_inverse=True)
    n, k = np.bincount(place).astype(float), np.bincount(place, weights=clicks)
    at = np.minimum(np.searchsorted(known, cells), len(known) - 1)
    there = known[at] == cells
    return np.where(there, k[at], 0.0).reshape(ids), np.where(there, n[at], 0.0).reshape(ids)


def _cells(log: pa.Table, column: str, by_query: bool) -> tuple[tuple[int, int], Floats]:
    """The shape of a column of lists, and the cell of each of its items; the first candidate tells the query."""
    rows, sets = log[column].to_pylist(), np.array(log["candidates"].to_pylist())
    items = np.concatenate([np.asarray(row, np.int64) for row in rows])
    query = np.repeat(sets.min(axis=1) * 1_000_003 + sets.sum(axis=1), [len(row) for row in rows])
    return (len(rows), len(rows[0])), items + 10_000_019 * query if by_query else items


def knows(log: pa.Table, column: str) -> list[OwnClicksEvidence]:
    """What a score knows of the clicks of a log, by item and by item of a candidate set."""
    source = offrank.read_log(log).select(Needs(frozenset(["candidates", "clicks"]), scores=frozenset([column])))
    every = folded(source, Tee({of: OwnClicksFold((column,), of) for of in KINDS}))
    return [one[column] for one in every.values() if column in one]  # no query is named


def looked_at(world: World, rows: int, seed: int) -> Iterator[tuple[str, list[OwnClicksEvidence]]]:
    """What is found, by the kind of score: the world's own, of another day, or of this one."""
    log, other = world.table(rows, seed), world.table(rows, seed + 1_000)
    for name in log.column_names:
        if name.endswith("_score"):
            yield "own", knows(log, name)
    for day, table in (("other day", other), ("this day", log)):
        for by_query in (False, True):
            k, n = counted(log, table, by_query=by_query)
            for form, made in FORMS.items():
                name = f"{form}, {'query and item' if by_query else 'item'}: {day}"
                yield name, knows(log.append_column("counted", pa.array(made(k, n).tolist())), "counted")
        for model in MODELS:
            learnt = relevances(log, table, model)
            yield f"{model}: {day}", knows(log.append_column("learnt", pa.array(learnt.tolist())), "learnt")


MODELS = {"pbm": offrank.clicks.PBM, "ubm": offrank.clicks.UBM, "dbn": offrank.clicks.DBN}


def relevances(judged: pa.Table, day: pa.Table, model: str) -> Floats:
    """[n, m] relevance of each candidate of a log by a click model that another one taught; the mean where unknown."""
    (shape, cells), (_, shown) = _cells(judged, "candidates", True), _cells(day, "slate", True)
    clicked = [[float(one > 0) for one in row] for row in day["clicks"].to_pylist()]
    offsets = pa.array(np.append(0, np.cumsum([len(row) for row in day["slate"].to_pylist()])), pa.int32())
    log = pa.table({"slate": pa.ListArray.from_arrays(offsets, pa.array(shown)), "clicks": clicked})
    told = pa.Table.from_batches(list(MODELS[model]().fit(log, by=None).predictions(offrank.read_log(log))))
    known = dict(zip(told["item"].to_pylist(), told["relevance"].to_pylist(), strict=True))
    mean = float(np.mean(list(known.values())))
    return np.array([known.get(cell, known.get(str(cell), mean)) for cell in cells.tolist()]).reshape(shape)


def own_clicks(*, seeds: int = 4, rows: tuple[int, ...] = (1_000, 5_000, 20_000)) -> Iterator[str]:
    """Scores that count the clicks of their own log, and scores that do not: how often `same-log` says so.

    For every healthy world: its own scores, and rates that were counted on another day, must not be convicted; those
    counted on the day itself should be; likewise the relevances of click models that were learnt on either day. `close`
    is the largest share of close neighbours of a score from elsewhere, of at least 20 pairs; `residual` the smallest
    mean square of its residual clicks, of at least 20 degrees of freedom.
    """
    scores, said, close, residual = Counter[tuple[str, int]](), Counter[tuple[str, int]](), 0.0, 1.0
    for world, n, seed in product(WORLDS, rows, range(seeds)):
        for name, every in looked_at(world, n, seed):
            scores[name, n] += 1
            said[name, n] += any(map(counted_here, every))
            if not name.endswith("this day"):
                close = max([close, *(one.close / one.pairs for one in every if one.pairs >= 20)])
                residual = min([residual, *(one.residual for one in every if one.freedom >= 20)])
    yield f"{len(WORLDS)} worlds, {seeds} logs of each size."
    yield ""
    yield from markdown_head("score", *(f"{n:,} rows" for n in rows))
    for name in dict.fromkeys(name for name, _ in scores):
        yield markdown_row(name, *(f"{said[name, n]} of {scores[name, n]}" for n in rows))
    yield ""
    yield f"From elsewhere: `close` at most {close:.3f}, `residual` at least {residual:.3f}."


COMMANDS = {outcome_checks: "outcome checks", own_clicks: "own clicks"}
if __name__ == "__main__":
    run(__file__, COMMANDS)
