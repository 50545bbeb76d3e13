"""Bounds on logs of a ranker that sorts: how often the truth lies within, and how far apart ends are.

Each world has queries with one fixed list each, and two new rankers that sort otherwise. Users click an item at a rank
with a probability of its own (`any`), by relevance and an examination curve (`curve`), or as a dynamic Bayesian network
(`dbn`), which was learnt from another log of the same queries, where four of the six items were shown in random order;
or slates earn rewards of their own, from 0 to 1 (`slates`). The truth is known exactly.

    python benchmarks/bounds.py [--worlds 1000] [--repeats 40] [--users any curve slates dbn]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

import offrank

ITEMS, RANKS, QUERIES, MANY = 6, 4, 30, 4_000
CURVE = np.array([1.0, 0.6, 0.4, 0.3])
RANK = np.arange(RANKS)
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


def judged(seed: int, users: str, repeats: int) -> list[tuple[float, ...]]:
    """Per assumption that holds: whether the truth, and its differences, lie inside; how far ends are apart; the shown.

    Queries are drawn, so that the truth is the mean over all queries, of which the log has QUERIES.
    """
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
    some = rng.choice(MANY, QUERIES, replace=False)
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


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--worlds", type=int, default=1000)
    asked.add_argument("--repeats", type=int, default=40)
    asked.add_argument("--users", nargs="+", choices=list(KINDS), default=list(KINDS))
    options = asked.parse_args()
    print("users   assuming            truth inside  less log inside  less other inside  ends apart  of pairs   shown")
    for users in options.users:
        worlds = []
        for seed in range(options.worlds):
            worlds.append(judged(seed, users, options.repeats))
            if seed % 100 == 99:
                print(users, seed + 1, np.mean(worlds, axis=0).round(4).tolist(), file=sys.stderr, flush=True)
        for place, name in enumerate(KINDS[users]):
            inside, log, other, width, pair, shown = np.mean([world[place] for world in worlds], axis=0)
            print(f"{users:7} {name:19} {inside:12.3f} {log:16.3f} {other:18.3f} ", end="")
            print(f"{width:11.3f} {pair:9.3f} {shown:7.2f}", flush=True)


if __name__ == "__main__":
    main()
