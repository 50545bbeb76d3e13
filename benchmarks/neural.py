"""Neural click models: the search that chose their defaults, and sessions per second of an epoch.

The worlds: queries of ten documents with grades in the proportions of MSLR, a Plackett-Luce ranker that knows the
grades up to noise, and a user who clicks by position, or who reads as a DBN from the top, or (30 %) from the bottom.
Models learn from one log; their log-likelihood is that of another log of the same ranker, and of one in random order,
per session and less that of `ubm`, which learns from the same sessions.

    python benchmarks/neural.py [--sessions 20000] [--queries 300] [--models ncm cacm] [--speed 40000]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import offrank_papers.neural  # noqa: F401  which makes `ncm` and `cacm` known
from offrank.clicks import UBM, ClickModel, click_model
from offrank.clicks.documents import SlateDocuments
from offrank.clicks.laws import Cascading, ClickLaw, Independent, Mixed, Upward, log_probs
from offrank.clicks.sessions import Sessions, collapsed

K = 10
GRIDS: dict[str, list[str]] = {
    "ncm": [
        *(
            f"ncm(hidden={hidden}, rate={rate}, patience=5)"
            for hidden in (32, 64)
            for rate in (0.002, 0.005, 0.01, 0.02)
        ),
        *(f"ncm(hidden=64, rate=0.005, patience=5, prior={prior})" for prior in (0.05, 0.2, 0.4)),
        "ncm(hidden=64, rate=0.005, patience=5, batch=128)",
    ],
    "cacm": [
        *(f"cacm(rate={rate}, prior={prior}, patience=5)" for prior in (0.75, 1.5) for rate in (0.01, 0.02, 0.05)),
        "cacm(hidden=64, rate=0.02, patience=5)",
    ],
}
User = Callable[[np.ndarray], ClickLaw]
Drawn = tuple[SlateDocuments, np.ndarray, ClickLaw]


def relevance(grade: np.ndarray) -> np.ndarray:
    return 0.1 + 0.9 * (2**grade - 1) / 15


def pbm(grade: np.ndarray) -> ClickLaw:
    return Independent(relevance(grade) / np.arange(1, K + 1))


def mixture_dbn(grade: np.ndarray) -> ClickLaw:
    a = relevance(grade)
    readers = a, 0.8 * (1 - a / 2), np.full(a.shape, 0.8)
    return Mixed([Cascading(*readers), Upward(*readers)], np.array([0.7, 0.3]))


USERS: dict[str, User] = {"mixture_dbn": mixture_dbn, "pbm": pbm}


class World:
    """Queries, what the ranker thinks of their documents, and a user."""

    def __init__(self, user: User, queries: int) -> None:
        rng = np.random.default_rng(0)
        self.user, self.queries = user, queries
        self.grade = rng.choice(5, (queries, K), p=[0.55, 0.30, 0.10, 0.03, 0.02]).astype(float)
        self.score = self.grade + 0.5 * rng.standard_normal(self.grade.shape)

    def drawn(self, n: int, seed: int, spread: float = 1.0) -> Drawn:
        """(documents, clicks, the true law) of n sessions; an infinite spread is a random order."""
        rng = np.random.default_rng(seed)
        query = rng.integers(0, self.queries, n)
        order = np.argsort(-(self.score[query] / spread + rng.gumbel(size=(n, K))), axis=1)
        law = self.user(np.take_along_axis(self.grade[query], order, axis=1))
        return SlateDocuments(query[:, None] * K + order, np.ones(order.shape, np.bool_)), law.sample(rng), law

    def log(self, n: int, seed: int) -> Sessions:
        slots, click, _ = self.drawn(n, seed)
        document, size = slots.document.astype(np.int32), self.queries * K
        return collapsed(Sessions(document, click.astype(np.uint8), np.ones(n), size))


def fitted(model: ClickModel, data: Sessions, tests: list[Drawn]) -> tuple[list[np.ndarray], int, float]:
    """(log-probability of each session of each test [n], epochs or rounds, seconds)."""
    start = time.perf_counter()
    learnt = model.learn(model.from_sessions(data))
    seconds = time.perf_counter() - start
    return [log_probs(model.law(learnt.parameters, slots), c) for slots, c, _ in tests], learnt.rounds, seconds


def search(user: User, spellings: list[str], queries: int, n: int) -> None:
    """Print a row for each model, as soon as it is known."""
    world = World(user, queries)
    data, tests = world.log(n, 1), [world.drawn(20_000, 2), world.drawn(20_000, 3, np.inf)]
    base, _, seconds = fitted(UBM(), data, tests)
    means = ", ".join(f"{one.mean():.4f}" for one in base)
    print(
        f"\nUser {user.__name__}, {n:,} sessions of {queries:,} queries; ubm: {means} nats a session, {seconds:.1f} s\n"
    )
    print("| model | same ranker | random order | epochs | seconds |\n|---|--:|--:|--:|--:|", flush=True)
    truth = [log_probs(law, clicks) for _, clicks, law in tests]
    print(f"| the user | {_beside(truth, base)} | | |")
    for spelling in spellings:
        found, epochs, seconds = fitted(click_model(spelling), data, tests)
        print(f"| `{spelling}` | {_beside(found, base)} | {epochs} | {seconds:.0f} |", flush=True)


def _beside(found: list[np.ndarray], base: list[np.ndarray]) -> str:
    """Differences to `ubm`, with the standard error over sessions."""
    each = (one - other for one, other in zip(found, base, strict=True))
    return " | ".join(f"{away.mean():+.4f} ± {away.std(ddof=1) / np.sqrt(len(away)):.4f}" for away in each)


def rates(names: list[str], n: int) -> None:
    """An epoch after the first, which compiles."""
    data = World(pbm, 5000).log(n, 1)
    print("\n| model | hidden | batch | sessions/s of an epoch |\n|---|--:|--:|--:|")
    for name in names:
        for hidden in (32, 64):
            for batch in (256, 4096):
                said: list[float] = []
                model: Any = click_model(f"{name}(hidden={hidden}, batch={batch}, epochs=4, patience=9)")
                model.learn(data, say=lambda _, said=said: said.append(time.perf_counter()))
                print(f"| `{name}` | {hidden} | {batch:,} | {len(data) / np.diff(said).min():,.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=20_000, help="to learn from")
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--models", nargs="*", choices=list(GRIDS), default=list(GRIDS))
    parser.add_argument("--spellings", nargs="*", help="these models instead of the grid")
    parser.add_argument("--users", nargs="*", choices=list(USERS), default=list(USERS))
    parser.add_argument("--speed", type=int, default=0, help="sessions to measure speed with; 0: do not")
    asked = parser.parse_args()
    for user in (USERS[name] for name in asked.users):
        search(
            user,
            asked.spellings or [one for name in asked.models for one in GRIDS[name]],
            asked.queries,
            asked.sessions,
        )
    if asked.speed:
        rates(asked.models, asked.speed)


if __name__ == "__main__":
    main()
