"""Neural click models: sessions per second of an epoch, and test perplexity beside the position-based model.

The world: queries of ten documents with grades in the proportions of MSLR, a Plackett-Luce ranker that knows the grades
up to noise, and a user who clicks by position or who reads from the top and may stop.

    python benchmarks/neural.py [--sessions 50000] [--speed 40000] [--queries 5000] [--models ncm cacm]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from offrank.clicks import CACM, NCM, PBM, ClickModel
from offrank.clicks.documents import SlateDocuments
from offrank.clicks.laws import Cascading, ClickLaw, Independent, chance_of
from offrank.clicks.sessions import Sessions, collapsed

K = 10
User = Callable[[np.ndarray], ClickLaw]


def by_position(grade: np.ndarray) -> ClickLaw:
    return Independent((0.1 + 0.9 * (2**grade - 1) / 15) / np.arange(1, K + 1))


def from_the_top(grade: np.ndarray) -> ClickLaw:
    attraction = 0.1 + 0.9 * (2**grade - 1) / 15
    return Cascading(attraction, 0.9 * (1 - attraction / 2), np.full(attraction.shape, 0.9))


class World:
    """Queries, what the ranker thinks of their documents, and a user."""

    def __init__(self, user: User, queries: int) -> None:
        rng = np.random.default_rng(0)
        self.user, self.queries = user, queries
        self.grade = rng.choice(5, (queries, K), p=[0.55, 0.30, 0.10, 0.03, 0.02]).astype(float)
        self.score = self.grade + 0.5 * rng.standard_normal(self.grade.shape)

    def sessions(self, n: int, seed: int, spread: float = 1.0) -> tuple[np.ndarray, np.ndarray, ClickLaw]:
        """(documents, clicks, the true law); an infinite spread is a random order."""
        rng = np.random.default_rng(seed)
        query = rng.integers(0, self.queries, n)
        order = np.argsort(-(self.score[query] / spread + rng.gumbel(size=(n, K))), axis=1)
        law = self.user(np.take_along_axis(self.grade[query], order, axis=1))
        return query[:, None] * K + order, law.sample(rng), law

    def log(self, n: int, seed: int) -> Sessions:
        document, click, _ = self.sessions(n, seed)
        return collapsed(Sessions(document.astype(np.int32), click.astype(np.uint8), np.ones(n), self.queries * K))


def perplexity(chance: np.ndarray, clicks: np.ndarray) -> float:
    return float((2 ** -np.log2(chance_of(chance, clicks)).mean(axis=0)).mean())


def rates(world: World, models: list[type[ClickModel]], n: int) -> None:
    """An epoch after the first, which compiles: the difference of a fit of three epochs and one of one."""
    data = world.log(n, 1)
    table = Table(title=f"Sessions per second of an epoch, {n:,} sessions of {K} ranks", title_justify="left")
    for heading in ("model", "hidden", "batch", "sessions/s"):
        table.add_column(heading, justify="right")
    for model in models:
        for hidden in (32, 64):
            for batch in (256, 4096):
                said: list[float] = []
                maker: Any = model
                maker(hidden=hidden, batch=batch, epochs=4, patience=9).learn(
                    data, say=lambda _, said=said: said.append(time.perf_counter())
                )
                table.add_row(model.name, str(hidden), f"{batch:,}", f"{len(data) / np.diff(said).min():,.0f}")
    Console(width=100).print(table)


def qualities(user: User, models: list[type[ClickModel]], queries: int, n: int) -> None:
    world = World(user, queries)
    data, title = world.log(n, 1), f"Conditional perplexity, user {user.__name__}, {n:,} sessions"
    table = Table(title=title, title_justify="left")
    for heading in ("model", "fit s", "epochs", "same policy", "random order"):
        table.add_column(heading, justify="right")
    tests = world.sessions(20_000, 2), world.sessions(20_000, 3, np.inf)
    for maker in [PBM, *models]:
        model: Any = maker()
        start = time.perf_counter()
        learnt = model.learn(model.from_sessions(data))
        seconds = time.perf_counter() - start
        found = [
            model.law(learnt.parameters, SlateDocuments(d, np.full(d.shape, True))).conditional(c) for d, c, _ in tests
        ]
        numbers = [perplexity(chance, test[1]) for chance, test in zip(found, tests, strict=True)]
        table.add_row(model.name, f"{seconds:.1f}", str(learnt.rounds), *(f"{number:.5f}" for number in numbers))
    truth = [perplexity(law.conditional(clicks), clicks) for _, clicks, law in tests]
    table.add_row("the user", "", "", *(f"{number:.5f}" for number in truth))
    Console(width=100).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=50_000, help="to learn from, for perplexity")
    parser.add_argument("--speed", type=int, default=40_000, help="sessions to measure speed with")
    parser.add_argument("--queries", type=int, default=5000)
    parser.add_argument("--models", nargs="*", choices=["ncm", "cacm"], default=["ncm", "cacm"])
    asked = parser.parse_args()
    models: list[type[ClickModel]] = [model for model in (NCM, CACM) if model.name in asked.models]
    rates(World(by_position, asked.queries), models, asked.speed)
    for user in (by_position, from_the_top):
        qualities(user, models, asked.queries, asked.sessions)


if __name__ == "__main__":
    main()
