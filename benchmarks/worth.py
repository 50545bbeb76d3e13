"""What a log can tell: what its estimates are worth, what errors a plan forecasts, and bounds without randomness.

python benchmarks/worth.py worth [--logs 300] [--rows 5000] [--slots 2 5 10] [--worlds "rare clicks"]
python benchmarks/worth.py plan [--logs 500] [--write]
python benchmarks/worth.py bounds [--worlds 1000] [--repeats 40] [--users any curve slates dbn] [--workers 2]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
from _page import markdown_head, markdown_row, measured, run

import offrank
from offrank.estimators import estimator
from offrank.log.batch import Contexts, Floats, Integers, LogBatch, Shown
from offrank.policies import policy
from offrank.policies.propensities import propensities
from offrank_lab.forecast import MEANS, Forecast
from offrank_papers.like_log import LikeLog
from offrank_testing import MemorySource

ESTIMATORS = (
    *("logged", "ips", "snips", "pi", "wpi", "rips", "snrips", "snrips(normaliser=pooled)", "ipm", "snipm"),
    *("snipm(normaliser=pooled)", "interpol(window=1)", "sninterpol(window=1)", "pbm"),
)
WORLDS = {  # users, scale of the clicks, logging, whether slates are of unlike length
    "rare clicks": ("position", 0.15, "uniform", False),
    "many clicks": ("position", 1.0, "uniform", False),
    "clicks all but sure": ("position", 3.0, "uniform", False),
    "no position bias": ("item", 0.6, "plackett_luce(old)", False),
    "reads down to a click": ("cascade", 0.6, "plackett_luce(old)", False),
    "unlike users": ("eager", 0.6, "plackett_luce(old)", False),
    "unlike lengths": ("position", 0.6, "plackett_luce(old)", True),
}
QUERIES, TARGET = 50, policy("top(new)")


@dataclass(frozen=True)
class World:
    """Queries with `items` candidates, of which slates of `slots` (ragged: 1 to `slots`) are shown."""

    users: str
    scale: float
    logging: str
    ragged: bool
    slots: int
    items: int

    @cached_property
    def relevance(self) -> Floats:
        return np.minimum(self.scale * np.random.default_rng(1).beta(1.5, 3, (QUERIES, self.items)), 0.97)

    @cached_property
    def examination(self) -> Floats:
        ranks = np.arange(1, self.slots + 1)
        return ranks**-0.7 if self.users == "position" else np.ones(self.slots)

    def contexts(self, query: Integers) -> Contexts:
        noise = np.random.default_rng(2).normal(size=(2, QUERIES, self.items))
        merit = 3 * self.relevance / min(self.scale, 1)
        scores = {"old": np.exp(0.3 * merit + 0.5 * noise[0])[query], "new": (merit + 0.3 * noise[1])[query]}
        length = np.random.default_rng(3).integers(1, self.slots + 1, QUERIES)[query]
        n = len(query)
        items = np.tile(np.arange(self.items), (n, 1))
        return Contexts(items, np.full(n, self.items), length if self.ragged else np.full(n, self.slots), scores)

    def clicks(self, query: Integers, slates: Integers, rng: np.random.Generator) -> Floats:
        chance = np.where(slates >= 0, self.relevance[query[:, None], np.maximum(slates, 0)], 0.0)
        chance = chance * self.examination[: slates.shape[1]]
        if self.users == "eager":
            chance = chance * rng.choice([0.2, 1.0], (len(query), 1))
        clicks = (rng.random(slates.shape) < chance).astype(np.float64)
        if self.users == "cascade":
            clicks *= np.cumsum(clicks, axis=1) <= 1
        return clicks

    def batch(self, rows: int, shown_by: str, rng: np.random.Generator) -> LogBatch:
        query = rng.integers(QUERIES, size=rows)
        contexts = self.contexts(query)
        slates = policy(shown_by).sample(contexts, rng)
        clicks = self.clicks(query, slates, rng)
        return LogBatch(contexts, Shown(slates), clicks, None, np.ones(rows), np.arange(rows, dtype=np.uint64))

    def on_policy(self, shown_by: str) -> tuple[float, float]:
        """Mean and variance of the clicks of an impression of a policy."""
        earned = self.batch(400_000, shown_by, np.random.default_rng(5)).reward
        return float(earned.mean()), float(earned.var())


def estimates_of(world: World, names: list[str], logs: int, rows: int) -> Floats:
    """[3, logs, estimators] value, ess and effective number of mean weights; nan where there is no estimate."""
    rng, found = np.random.default_rng(7), np.full((3, logs, len(names)), np.nan)
    for log in range(logs):
        batch = world.batch(rows, world.logging, rng)
        given = offrank.evaluate(
            MemorySource((batch,)), TARGET, world.logging, names, examination=list(world.examination)
        ).estimates.given
        for place, name in enumerate(names):
            if ("top(new)", name) in given:
                one = given["top(new)", name]
                spread = one.mean_weight_interval.standard_error if one.mean_weight_interval else np.nan
                kish = rows / (1 + rows * spread**2 / one.mean_weight**2) if one.mean_weight else np.nan
                found[:, log, place] = one.value, one.ess, kish
    return found


def of_world(title: str, world: World, logs: int, rows: int) -> Iterator[str]:
    """The lines of a world."""
    names = [name for name in ESTIMATORS if name != "pbm" or (world.items == world.slots and not world.ragged)]
    found, (target, logging) = estimates_of(world, names, logs, rows), map(world.on_policy, ("top(new)", world.logging))
    yield f"\n{title}, {world.slots} slots of {world.items}: value {target[0]:.3f}\n"
    yield from markdown_head("estimator", "bias", "rmse", "truly worth", "reported", "ratio", "kish of mean weights")
    for name, each, ess, weights in zip(names, *(one.T for one in found), strict=True):
        if np.isnan(each).mean() > 0.5:
            yield markdown_row(f"`{name}`", *6 * ["no overlap"])
            continue
        mean, variance = logging if name == "logged" else target
        value = np.where(np.isnan(each), 0.0, each)
        true, told, kish = variance / value.var(ddof=1), np.nanmedian(ess), np.nanmedian(weights)
        rmse = np.sqrt(((value - mean) ** 2).mean())
        numbers = f"{true:,.0f}", f"{told:,.0f}", f"{told / true:.2f}", f"{kish:,.0f}"
        yield markdown_row(f"`{name}`", f"{value.mean() - mean:.4f}", f"{rmse:.4f}", *numbers)


def of_a_million() -> Iterator[str]:
    """By arithmetic: rare clicks, as frequent in each slot; uniform logging, ten candidates, a target that sorts."""
    yield "1,000,000 impressions are worth\n"
    yield from markdown_head("slots", "ips", "rips", "ipm")
    for slots in range(1, 6):
        prefixes = [np.prod(10 - np.arange(k + 1)) for k in range(slots)]  # 1 / P(the first slots agree)
        worth = 1 / prefixes[-1], slots / np.sum(prefixes), 1 / 10
        yield markdown_row(slots, *(f"{1e6 * share:,.0f}" for share in worth))


def worth(
    *,
    logs: int = 300,
    rows: int = 5000,
    slots: tuple[int, ...] = (2, 5, 10),
    worlds: tuple[str, ...] = tuple(WORLDS),
) -> Iterator[str]:
    """What estimates are worth in impressions of the target, truly and as reported, and how they are normalised.

    In many simulated logs of a small world: truly is the variance of one impression's reward under the target over the
    variance of the estimates; reported the median `ess`. `kish` is the effective number of the weights that are
    averaged over slots. `normaliser=pooled` stands beside a normaliser per slot.
    """
    yield from of_a_million()
    for many, title in product(slots, worlds):
        yield from of_world(title, World(*WORLDS[title], many, many + 2), logs, rows)


DESIGNS = (
    "epsilon(top(old), 0.05)",
    "epsilon(top(old), 0.2)",
    "swaps(top(old), 0.8)",
    "plackett_luce(old, temperature=1, log=True)",
    "epsilon(shuffled(top(old), 3, method=top), 0.2)",
    "epsilon(interleaved(top(old), top(new)), 0.2)",
    "mixture({top(old): 0.9, top(new): 0.1})",
    "mixture({top(old): 0.5, top(new): 0.5})",
)
EFFECTIVE, LEAST, MOST = 300, 2000, 40_000
RATES = np.array([0.4, 0.25, 0.16, 0.12])
PLANNED, PAGE, SHOWN, NEW, NOW = 500, 10, 4, "top(new)", "top(old)"


def planned() -> tuple[Contexts, np.ndarray]:
    rng = np.random.default_rng(2)
    relevance = rng.beta(2, 3, (PLANNED, PAGE))
    old = 3 * relevance + rng.normal(size=relevance.shape)
    scores = {"old": old, "new": old + 0.6 * rng.normal(size=old.shape)}
    each = np.full(PLANNED, PAGE), np.full(PLANNED, SHOWN)
    return Contexts(np.tile(np.arange(PAGE), (PLANNED, 1)), *each, scores), relevance


def estimates(users: LikeLog, name: str, rows: int, logs: int) -> np.ndarray:
    """[logs] the estimates of the difference by the terms of the estimator itself."""
    found = []
    for log in range(logs):
        sums = np.zeros((4, SHOWN))
        for batch in users.source(rows, log).batches(0):
            if name == MEANS:  # chance decides the arm; where both show one list, it is either
                of = [propensities(policy(one), batch).log_prob for one in (NEW, NOW)]
                share = users.logging.mixed_shares(batch.contexts)[1]
                chance = share * np.exp(of[0]) / (share * np.exp(of[0]) + (1 - share) * np.exp(of[1]))
                arm = np.random.default_rng([log, 4, int(batch.row[0])]).random(len(batch)) < chance
                sums[:, 0] += [batch.reward[arm].sum(), arm.sum(), batch.reward[~arm].sum(), (~arm).sum()]
                continue
            drawn = propensities(users.logging, batch)
            for at, one in ((0, NEW), (2, NOW)):
                terms = estimator(name).unnormalised.terms(batch, drawn, propensities(policy(one), batch))
                weights = terms.weights.weight
                each = weights.reshape(len(batch), -1)
                values = each * (batch.clicks if weights.ndim == 2 else batch.reward[:, None])
                sums[at, : each.shape[1]] += values.sum(axis=0)
                sums[at + 1, : each.shape[1]] += each.sum(axis=0)
            batch.known.clear()
        if name in ("ips", "ipm"):
            found.append((sums[0] - sums[2]).sum() / rows)
        else:  # each slot by its own mean weight; all lists have as many
            ratios = np.divide(sums[::2], sums[1::2], out=np.zeros((2, SHOWN)), where=sums[1::2] > 0).sum(axis=1)
            found.append(ratios[0] - ratios[1])
    return np.array(found)


def plan(*, logs: int = 500) -> Iterator[str]:
    """The errors that `plan` forecasts, against those of simulated logs: of their estimates, and as `evaluate` says.

    Lists of four of ten items for 500 queries; each item has a relevance of its own, click rates by rank are .4, .25,
    .16 and .12. Each design draws logs until there are some 300 effective impressions in each (at least 2,000 rows).
    The difference of target and production is estimated in each log by the terms of the estimator; their spread is the
    error.
    """
    contexts, relevance = planned()
    yield "| design | estimator | rows | effective | forecast of the error | of estimates | said by `evaluate` |"
    yield "|---|---|--:|--:|--:|--:|--:|"
    worst = 0.0
    for spelled in DESIGNS:
        design = policy(spelled)
        users = LikeLog(contexts, relevance, design, np.ones_like, RATES)
        clicks = relevance[:, :, None] * users.examination
        share = np.full(PLANNED, 1 / PLANNED)
        forecast = Forecast(contexts, share, clicks, users.examination, policy(NEW), policy(NOW))
        reward, _ = forecast.variance(forecast.additive(policy(NEW), 1.0, 0.0))
        for name in ("ips", "snips", "ipm", "snipm", MEANS):
            if name == MEANS and not forecast.arm(design):
                continue
            (target, _), (both, _) = map(forecast.variance, forecast.found(design, name))
            rows = max(LEAST, math.ceil(EFFECTIVE * target / reward))
            if rows > MOST:
                continue
            error = math.sqrt(both / rows)
            spread = float(estimates(users, name, rows, logs).std(ddof=1))
            told = "" if name == MEANS else said(users, spelled, name, rows) / error
            worst = max(worst, abs(told - 1)) if told else worst
            effective = f"{rows * reward / target:,.0f}"
            ratios = f"{spread / error:.3f}", f"{told:.3f}" if told else ""
            yield markdown_row(f"`{spelled}`", name, f"{rows:,}", effective, f"{error:.4f}", *ratios)
    yield ""
    noise = 1 / math.sqrt(2 * logs)
    yield (
        f"The last two columns are errors over the forecast: the standard deviation of the estimates of {logs:,} logs "
        f"(whose own standard error is {noise:.1%} or more), and the mean standard error of 50 of them, at most "
        f"{worst:.1%} off. Left out: what needs more than {MOST:,} rows for {EFFECTIVE} effective impressions."
    )


def said(users: LikeLog, design: str, name: str, rows: int) -> float:
    """The mean standard error of the difference in 50 logs."""
    each = (
        offrank.evaluate(users.source(rows, seed), {"new": NEW, "now": NOW}, design, name, cluster=None)
        for seed in range(50)
    )
    return float(np.mean([one.difference("new", "now", estimator=name).standard_error for one in each]))


ITEMS, RANKS, MANY, CURVE = 6, 4, 4_000, np.array([1.0, 0.6, 0.4, 0.3])
RANK, IN_LOG = np.arange(RANKS), 30
Clicks = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Of queries [n] and slates [n, k], the expected reward [n]; or rewards that were drawn."""
KINDS = {
    "any": ["own item and rank"],
    "curve": ["own item and rank", "and the curve"],
    "slates": ["range of rewards"],
    "dbn": ["the click model"],
}


def by_cell(rng: np.random.Generator, users: str) -> tuple[Clicks, Clicks]:
    """Users who click an item at a rank with a probability of its own."""
    relevance = rng.beta(1, 2, (MANY, ITEMS, 1))
    chance = relevance * CURVE if users == "curve" else rng.beta(1, 3, (MANY, ITEMS, RANKS))

    def clicked(query: np.ndarray, slate: np.ndarray) -> np.ndarray:
        return chance[query[:, None], slate, RANK]

    return (
        lambda query, slate: clicked(query, slate).sum(axis=1),
        lambda query, slate: rng.random(slate.shape) < clicked(query, slate),
    )


def by_slate(rng: np.random.Generator) -> tuple[Clicks, Clicks]:
    """Rewards from 0 to 1 of whole slates, each with a mean of its own."""
    part = rng.random((MANY, ITEMS, RANKS))

    def mean(query: np.ndarray, slate: np.ndarray) -> np.ndarray:
        return (np.sin(9 * part[query[:, None], slate, RANK].prod(axis=1) + query) + 1) / 2

    return mean, lambda query, slate: (rng.random(len(query)) < mean(query, slate)) * 1.0


def by_reading(rng: np.random.Generator) -> tuple[Clicks, Clicks]:
    """Users who read from the top: a click may satisfy, and others go on with a probability of .9."""
    attraction, satisfaction = rng.beta(1, 2, (MANY, ITEMS)), rng.beta(1, 1, (MANY, ITEMS))

    def mean(query: np.ndarray, slate: np.ndarray) -> np.ndarray:
        reached, total = np.ones(len(query)), np.zeros(len(query))
        for item in slate.T:
            a, s = attraction[query, item], satisfaction[query, item]
            total += reached * a
            reached *= 0.9 * (1 - a * s)
        return total

    def drawn(query: np.ndarray, slate: np.ndarray) -> np.ndarray:
        reads, clicks = np.ones(len(query), bool), np.zeros(slate.shape)
        for rank, item in enumerate(slate.T):
            clicks[:, rank] = reads & (rng.random(len(query)) < attraction[query, item])
            left = (clicks[:, rank] == 1) & (rng.random(len(query)) < satisfaction[query, item])
            reads &= ~left & (rng.random(len(query)) < 0.9)
        return clicks

    return mean, drawn


def table(query: np.ndarray, slate: np.ndarray, earned: np.ndarray, **scores: np.ndarray) -> pa.Table:
    """A log of slates, with clicks or rewards."""
    return pa.table(
        {
            "query": [f"q{one}" for one in query],
            "slate": slate.tolist(),
            "clicks" if earned.ndim == 2 else "reward": (earned.astype(int) if earned.ndim == 2 else earned).tolist(),
            "candidates": [list(range(ITEMS))] * len(query),
            **{name: score[query].tolist() for name, score in scores.items()},
        }
    )


def bounded(task: tuple[str, int, int]) -> list[tuple[float, ...]]:
    """Per assumption that holds: whether the truth, and its differences, lie inside; how far ends are apart; the shown.

    Queries are drawn, so that the truth is the mean over all queries, of which the log has IN_LOG.
    """
    users, seed, repeats = task
    rng = np.random.default_rng(seed)
    makes: dict[str, Callable[[], tuple[Clicks, Clicks]]] = {
        "slates": lambda: by_slate(rng),
        "dbn": lambda: by_reading(rng),
    }
    mean, drawn = makes.get(users, lambda: by_cell(rng, users))()
    old = rng.random((MANY, ITEMS))
    noise = 0.1 if users == "slates" else 0.5
    new, other = (old + noise * rng.standard_normal(old.shape) for _ in range(2))
    shown, wanted, beside = (np.argsort(-score, axis=1)[:, :RANKS] for score in (old, new, other))
    logged, earned, against = (mean(np.arange(MANY), slate).mean() for slate in (shown, wanted, beside))
    some = rng.choice(MANY, IN_LOG, replace=False)
    query = np.repeat(some, repeats)
    log = table(query, shown[query], drawn(query, shown[query]), new=new, other=other)
    how: dict[str, Any] = {"bounds": True}
    how |= {"reward_range": [0, 1]} if users == "slates" else {}
    how |= {"examination": CURVE.tolist()} if users == "curve" else {}
    if users == "dbn":
        past = np.repeat(some, 200)
        slate = np.argsort(rng.random((len(past), RANKS)), axis=1)
        how |= {"click_model": offrank.clicks.DBN().fit(table(past, slate, drawn(past, slate)))}
    alone = offrank.evaluate(log, "top(new)", **how).bounds["top(new)"]
    pairs = offrank.compare(log, ["top(other)", "top(new)"], **how).bounds["top(new)"]
    return [
        (
            one.lower.low <= earned <= one.upper.high,
            one.difference_lower.low <= earned - logged <= one.difference_upper.high,
            pair.difference_lower.low <= earned - against <= pair.difference_upper.high,
            one.upper.value - one.lower.value,
            pair.difference_upper.value - pair.difference_lower.value,
            one.shown,
        )
        for one, pair in list(zip(alone, pairs, strict=True))[-len(KINDS[users]) :]
    ]


def bounds(
    *, worlds: int = 1000, repeats: int = 40, users: tuple[str, ...] = tuple(KINDS), workers: int = 1
) -> Iterator[str]:
    """Bounds on logs of a ranker that sorts: how often the truth lies within, and how far apart ends are.

    Each world has queries with one fixed list each, and two new rankers that sort otherwise. Users click an item at a
    rank with a probability of its own (`any`), by relevance and an examination curve (`curve`), or as a dynamic
    Bayesian network (`dbn`), which was learnt from another log of the same queries, where four of the six items were
    shown in random order; or slates earn rewards of their own, from 0 to 1 (`slates`). The truth is known exactly.
    """
    heads = ("truth inside", "less log inside", "less other inside", "ends apart", "of pairs", "shown")
    yield from markdown_head("users", "assuming", *heads, left=2)
    for who in users:
        found = [one for _, one in measured(bounded, ((who, seed, repeats) for seed in range(worlds)), workers)]
        for name, means in zip(KINDS[who], np.mean(found, axis=0), strict=True):
            yield markdown_row(who, name, *(f"{one:.3f}" for one in means))


COMMANDS = {worth: "", plan: "plan", bounds: ""}
if __name__ == "__main__":
    run(__file__, COMMANDS)
