"""Clicks weighted by a click model, on logs of an A/B test of two rankers that sort: error, coverage, sessions saved.

Queries of RANKS items, each ranker an order by the grade with noise of its own, and half of the sessions each. What is
asked is by how much B earns more than A: by the difference of means, by the curve (`pbm`, `weights(pbm)`) and by
`weights(dbn)`, `weights(ubm)`, learnt from halves of the same log. Sessions saved: the squared error of the difference
of means over that of the estimator.

    python benchmarks/click_weights.py [--logs 40] [--sessions 40000] [--users dbn ubm] [--table PAGE]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from _page import generated
from _worlds import lists, table

import offrank
from offrank.clicks import Browsing, Cascading, ClickLaw, Independent

RANKS, QUERIES = 6, 60
ASKED = ("pbm", "weights(pbm)", "weights(dbn)", "weights(ubm)")


@dataclass(frozen=True)
class World:
    """attraction, satisfaction, a, b: [queries, items] of each item, and the scores of both rankers."""

    users: str
    attraction: np.ndarray
    satisfaction: np.ndarray
    a: np.ndarray
    b: np.ndarray

    @classmethod
    def of(cls, users: str, seed: int, likeness: float) -> World:
        rng = np.random.default_rng(seed)
        attraction = rng.beta(1.2, 3.0, (QUERIES, RANKS)) * 0.9 + 0.03
        satisfaction = np.clip(attraction + 0.2 * rng.standard_normal(attraction.shape), 0.05, 0.9)
        common = np.log(attraction) + rng.standard_normal(attraction.shape)
        a, b = (common + (1 - likeness) * rng.standard_normal(attraction.shape) for _ in range(2))
        return cls(users, attraction, satisfaction, a, b)

    def law(self, query: np.ndarray, slates: np.ndarray) -> ClickLaw:
        """How users click on slates [n, k] of items."""
        of, rank = self.attraction[query[:, None], slates], np.arange(RANKS)
        if self.users == "pbm":
            return Independent(of / (1 + rank) ** 0.7)
        if self.users == "ubm":
            last = np.arange(RANKS + 1)
            return Browsing(of, np.where(last <= rank[:, None], np.maximum(1.0 + rank[:, None] - last, 1) ** -0.6, 0.0))
        going = np.full(of.shape, 0.85)
        return Cascading(of, going * (1 - self.satisfaction[query[:, None], slates]), going)


def compared(world: World, sessions: int, seed: int) -> tuple[dict[str, tuple[float, float, float]], float]:
    """Estimator -> (error of B - A, its interval's low and high, both less the truth); and the truth."""
    rng = np.random.default_rng(seed)
    query = rng.integers(QUERIES, size=sessions)
    arm = rng.integers(2, size=sessions)
    both = [np.argsort(-score, axis=1)[query] for score in (world.a, world.b)]
    truth = float(np.subtract(*(world.law(query, one).marginal().sum(axis=1).mean() for one in both[::-1])))
    slates = np.where(arm[:, None] == 1, both[1], both[0])
    clicks = world.law(query, slates).sample(rng)
    codes = query[:, None] * RANKS + slates
    scores = {name: lists(score[query[:, None], slates]) for name, score in (("a", world.a), ("b", world.b))}
    log = table({"query": pa.array(query), "slate": lists(codes), "clicks": lists(clicks), **scores})
    means = [clicks[arm == one].sum(axis=1) for one in (0, 1)]
    away = float(means[1].mean() - means[0].mean()) - truth
    half = 1.96 * float(np.sqrt(sum(one.var(ddof=1) / len(one) for one in means)))
    found = {"difference of means": (away, away - half, away + half)}
    curve = offrank.clicks.PBM().fit(log).examination()
    assert curve is not None
    result = offrank.evaluate(
        log, {"b": "top(b)", "a": "top(a)"}, estimators=list(ASKED), examination=curve.tolist(), cluster=None
    )
    for name in ASKED:
        away = result.difference(("b", name), ("a", name))
        found[name] = away.value - truth, away.low - truth, away.high - truth
    return found, truth


def summary(found: list[dict[str, tuple[float, float, float]]], truth: float) -> list[str]:
    """A line per estimator."""
    lines = []
    means = np.array([one["difference of means"][0] for one in found])
    for name in found[0]:
        away, low, high = np.array([one[name] for one in found]).T
        saved = float((means**2).mean() / (away**2).mean())
        held = float(((low <= 0) & (high >= 0)).mean())
        lines.append(
            f"| `{name}` | {truth:+.4f} | {away.mean():+.4f} | {away.std(ddof=1):.4f} | {held:.2f} | {saved:.1f} |"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", type=int, default=40)
    parser.add_argument("--sessions", type=int, default=40_000)
    parser.add_argument("--likeness", type=float, default=0.5)
    parser.add_argument("--users", nargs="+", default=["dbn", "pbm", "ubm"])
    parser.add_argument("--table", type=Path, help="page whose table is to be replaced")
    given = parser.parse_args()
    heads = ("users", "estimator", "true B - A", "bias", "s.d.", "intervals that hold", "sessions saved")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for users in given.users:
        world = World.of(users, 1, given.likeness)
        logs = [compared(world, given.sessions, seed) for seed in range(given.logs)]
        truth = float(np.mean([one for _, one in logs]))
        lines += [f"| {users} {line}" for line in summary([one for one, _ in logs], truth)]
        print("\n".join(lines), flush=True)
    if given.table:
        generated(given.table, "click weights", lines, "benchmarks/click_weights.py")


if __name__ == "__main__":
    main()
