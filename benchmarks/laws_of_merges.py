"""CPU microseconds per row that the laws of interleaved lists and of constraints take, by the size of the lists.

Run: python benchmarks/laws_of_merges.py
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import numpy as np

from offrank.log.batch import Contexts
from offrank.policies import policy
from offrank.policies.base import all_items

POLICIES = (
    "interleaved(top(a), top(b))",
    "interleaved(top(a), top(b), method=balanced)",
    "interleaved(top(a), top(b), method=probabilistic)",
    "pinned(plackett_luce(a), ad)",
    "filtered(plackett_luce(a), stock)",
    "distinct(plackett_luce(a), brand)",
    "distinct(top(a), brand)",
)
#: (candidates, slots, rows, rows of pairs)
SIZES = ((5, 5, 4000, 400), (10, 5, 2000, 100), (20, 10, 200, 2))


def main() -> None:
    print(
        "CPU us per row                                          log_prob  slot_probs  rank_probs  pair_probs  sample"
    )
    for spelling in POLICIES:
        for candidates, slots, rows, pairs in SIZES:
            heavy = "probabilistic" in spelling and candidates > 10
            row = seconds(spelling, contexts(candidates, slots, 1 if heavy else rows), 0 if heavy else pairs)
            print(f"{spelling:<50} {candidates:>2} x {slots:<2}" + "".join(f" {1e6 * one:>10,.1f}" for one in row))


def contexts(candidates: int, slots: int, rows: int) -> Contexts:
    """Rows of unlike scores, so that no two share a law."""
    rng = np.random.default_rng(0)
    a = rng.exponential(size=(rows, candidates))
    scores = {
        "a": a,
        "b": a * rng.exponential(size=(rows, candidates)),
        "ad": 2.0 * (np.arange(candidates) == rng.integers(0, candidates, (rows, 1))),
        "stock": (np.arange(candidates) % 5 > 0).astype(float),
        "brand": (np.arange(candidates) % max(slots + 2, candidates // 2)).astype(float),
    }
    scores["stock"], scores["brand"] = (np.tile(scores[name], (rows, 1)) for name in ("stock", "brand"))
    items = np.tile(np.arange(candidates), (rows, 1))
    return Contexts(items, np.full(rows, candidates), np.full(rows, slots), scores)


def seconds(spelling: str, here: Contexts, pairs: int) -> list[float]:
    """Seconds per row of each ability, the best of three; nan where nothing is asked."""
    found, items = policy(spelling), all_items(here)
    slates, few = found.sample(here, np.random.default_rng(1)), here.take(np.arange(pairs))
    abilities: list[tuple[Callable[[], object], int]] = [
        (lambda: found.log_prob(here, slates), len(here)),
        (lambda: found.slot_probs(here, slates), len(here)),
        (lambda: found.rank_probs(here, items), len(here)),
        (lambda: found.pair_probs(few), pairs),
        (lambda: found.sample(here, np.random.default_rng(1)), len(here)),
    ]
    return [min(map(timed, [ask] * 3)) / rows if rows else float("nan") for ask, rows in abilities]


def timed(ask: Callable[[], object]) -> float:
    start = process_time()
    ask()
    return process_time() - start


if __name__ == "__main__":
    main()
