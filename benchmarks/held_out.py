"""A policy judged by the log that it was learnt from, and by the third that was held out of it.

Logs of a small world whose features are mostly noise: five products, one a little better, each with four features of
600 that say nothing. A policy is learnt from each log and judged by snips: by the whole log, by its held-out third
(`held_out=`), and on fresh impressions, which is the truth. And `same-log` is counted: on the log itself, on a
shuffled copy within a larger log, on the held-out third, and on another log of the same world.

    python benchmarks/held_out.py [--logs 200] [--rows 3000]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import offrank

EARNS = np.array([0.1, 0.1, 0.1, 0.1, 0.13])
NOISE = 600


def log(seed: int, rows: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    items = len(EARNS)
    shown = rng.integers(0, items, rows)
    noise = rng.integers(items, items + NOISE, (rows, items, 4))
    own = np.tile(np.arange(items)[:, None], (rows, 1, 1))
    return pa.table(
        {
            "slate": shown[:, None].tolist(),
            "clicks": (rng.random(rows) < EARNS[shown]).astype(float)[:, None].tolist(),
            "candidates": np.tile(np.arange(items), (rows, 1)).tolist(),
            "features": np.concatenate([own, noise], axis=2).tolist(),
            "propensity": np.full(rows, 1 / items),
        }
    )


def truth(policy: offrank.Linear, fresh: Any) -> float:
    source = fresh.select(policy.reads("rank_probs"))
    chances = [policy.rank_probs(one.contexts, one.contexts.candidates)[:, :, 0] @ EARNS for one in source.batches(0)]
    return float(np.concatenate(chances).mean())


def judged(given: Any, policy: offrank.Linear, right: float, **options: Any) -> tuple[float, bool, bool]:
    """(estimate, whether its interval holds the truth, whether same-log is told)."""
    found = offrank.evaluate(given, policy, estimators="snips", **options)["snips"]
    told = any(one.code == "same-log" for one in found.warnings)
    return found.value, found.low <= right <= found.high, told


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--logs", type=int, default=200)
    asked.add_argument("--rows", type=int, default=3_000)
    given = asked.parse_args()
    fresh, rows = offrank.read_log(log(10_000, 20_000)), given.rows
    found: dict[str, list[tuple[float, bool, bool]]] = {}
    truths = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(given.logs):
            table, other, path = log(seed, rows), log(seed + 5_000, rows), Path(folder) / "policy.npz"
            offrank.learn(table, "ips", path, bits=10, test=False)
            policy = offrank.Linear(str(path), greedy=True)
            right = truth(policy, fresh)
            truths.append(right)
            shuffled = pa.concat_tables([other, table]).take(np.random.default_rng(seed).permutation(2 * rows))
            cases: dict[str, tuple[Any, dict[str, Any]]] = {
                "the log itself": (table, {}),
                "held-out third": (table, {"held_out": path}),
                "shuffled with another log": (shuffled, {}),
                "another log": (other, {}),
            }
            for name, (judge, options) in cases.items():
                found.setdefault(name, []).append(judged(judge, policy, right, **options))
    print(f"{given.logs} logs of {rows:,} rows; logged {EARNS.mean():.3f}, truth of the policies {np.mean(truths):.3f}")
    print(f"{'judged by':28}{'mean estimate':>15}{'95 % holds truth':>18}{'same-log':>10}")
    for name, rows_of in found.items():
        value, holds, told = (float(np.mean([one[i] for one in rows_of])) for i in range(3))
        print(f"{name:28}{value:15.3f}{holds:18.0%}{told:10.0%}")


if __name__ == "__main__":
    main()
