"""`evaluate(bounds=True)` on logs of a ranker that sorts: how often the truth lies within, and how far apart ends are.

Each world has queries with one fixed list each, users who click an item at a rank with a probability of its own (`any`)
or by relevance and an examination curve (`curve`), and a new ranker that sorts otherwise. The truth is known exactly.

    python benchmarks/bounds.py [--worlds 1000] [--repeats 40]
"""

from __future__ import annotations

import argparse

import numpy as np
import pyarrow as pa

import offrank

ITEMS, RANKS, QUERIES = 6, 4, 30
CURVE = np.array([1.0, 0.6, 0.4, 0.3])


def judged(seed: int, users: str, repeats: int) -> list[tuple[bool, bool, float, float]]:
    """Per assumption that holds: the truth inside, its difference inside, the distance of the ends, the share shown.

    Queries are drawn, so that the truth is the mean over all queries, of which the log has QUERIES.
    """
    rng = np.random.default_rng(seed)
    many = 4_000
    relevance, old = rng.beta(1, 2, (many, ITEMS, 1)), rng.random((many, ITEMS))
    new = old + 0.5 * rng.standard_normal(old.shape)
    chance = relevance * CURVE if users == "curve" else rng.beta(1, 3, (many, ITEMS, RANKS))
    shown, wanted = (np.argsort(-score, axis=1)[:, :RANKS] for score in (old, new))
    every, rank = np.arange(many)[:, None], np.arange(RANKS)
    earned, logged = (chance[every, slate, rank].sum(axis=1).mean() for slate in (wanted, shown))
    query = np.repeat(rng.choice(many, QUERIES, replace=False), repeats)
    clicks = rng.random((len(query), RANKS)) < chance[query[:, None], shown[query], rank]
    log = pa.table(
        {
            "query": [f"q{one}" for one in query],
            "slate": shown[query].tolist(),
            "clicks": clicks.astype(int).tolist(),
            "candidates": [list(range(ITEMS))] * len(query),
            "new": new[query].tolist(),
        }
    )
    found = offrank.evaluate(log, "top(new)", bounds=True, examination=CURVE.tolist()).bounds["top(new)"]
    return [
        (
            one.lower.low <= earned <= one.upper.high,
            one.difference_lower.low <= earned - logged <= one.difference_upper.high,
            one.upper.value - one.lower.value,
            one.shown,
        )
        for one in found[: 2 if users == "curve" else 1]
    ]


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--worlds", type=int, default=1000)
    asked.add_argument("--repeats", type=int, default=40)
    options = asked.parse_args()
    print("users   assuming            truth inside   difference inside   ends apart   shown")
    for users, names in (("any", ["own item and rank"]), ("curve", ["own item and rank", "and the curve"])):
        worlds = [judged(seed, users, options.repeats) for seed in range(options.worlds)]
        for place, name in enumerate(names):
            inside, apart, width, shown = np.mean([world[place] for world in worlds], axis=0)
            print(f"{users:7} {name:19} {inside:12.3f} {apart:19.3f} {width:12.3f} {shown:7.2f}", flush=True)


if __name__ == "__main__":
    main()
