"""How often healthy logs are said to repeat themselves, and how often fixed, hidden and cached ones are.

Six documents of each query, three slots, clicks of a position-based user; few queries, or a long tail of them. Healthy
logs are uniform or drawn by scores, also with hidden personal scores and written propensities, and with retries.
A false alarm is `not-random` in `offrank.evaluate`; at most one healthy log in a thousand may have it.

    python benchmarks/repeats.py [--logs 40]
"""

from __future__ import annotations

import argparse

import numpy as np
import pyarrow as pa
from _worlds import lists
from rich.console import Console
from rich.table import Table

import offrank

ITEMS, SLOTS = 6, 3
HEALTHY = ("uniform", "scores", "sharp", "personal", "retries")
FAULTY = ("fixed", "hidden", "fifth", "two rankers", "user")
ROWS = (200, 2_000, 10_000)


def world(kind: str, rows: int, tail: bool, seed: int) -> tuple[pa.Table, str]:
    """Return a log, and the policy that is said to have drawn it."""
    rng = np.random.default_rng([seed, rows, tail])
    query = rng.zipf(1.6, rows) % 100_000 if tail else rng.integers(0, 40, rows)
    _, query = np.unique(query, return_inverse=True)
    merit = rng.normal(size=(query.max() + 1, ITEMS))
    score = np.exp(0.7 * merit + 0.5 * rng.normal(size=merit.shape))
    noise, user = rng.gumbel(size=(rows, ITEMS)), rng.integers(0, max(rows // 5, 1), rows)
    own = rng.normal(size=(user.max() + 1, 50, ITEMS))[user, query % 50]
    log_weights = {"uniform": 0 * merit, "scores": np.log(score), "sharp": 4 * np.log(score), "retries": 0 * merit}
    weights = np.log(score)[query] + 2 * own if kind == "personal" else log_weights.get(kind, 0 * merit)[query]
    order = np.argsort(-weights - noise, axis=1)
    drawn = {
        "fixed": merit[query],
        "hidden": merit[query] + 0.7 * noise,
        "fifth": np.where(rng.random((rows, 1)) < 0.2, merit[query], noise),
        "two rankers": np.where(rng.random((rows, 1)) < 0.5, merit[query], score[query]),
        "user": own,
    }
    slate = np.argsort(-drawn[kind], axis=1)[:, :SLOTS] if kind in drawn else order[:, :SLOTS]
    clicks = rng.random(slate.shape) < np.take_along_axis(merit[query] > 0, slate, axis=1) / np.arange(2, SLOTS + 2)
    shown = np.take_along_axis(np.exp(weights - weights.max(axis=1, keepdims=True)), order, axis=1)
    chance = (shown / shown[:, ::-1].cumsum(axis=1)[:, ::-1])[:, :SLOTS].prod(axis=1)
    items = query[:, None] * ITEMS + np.arange(ITEMS)
    made = {"slate": lists(np.take_along_axis(items, slate, axis=1)), "candidates": lists(items)}
    made |= {"clicks": lists(clicks.astype(np.int64)), "query": pa.array(query), "score": lists(score[query])}
    made |= {"user": pa.array(user)} if kind in ("user", "personal") else {}
    table = pa.table({**made, "propensity": pa.array(chance)})
    if kind == "retries":
        again = rng.choice(rows, rows // 20, replace=False)
        table = table.take(pa.array(np.sort(np.concatenate([np.arange(rows), again]))))
    logging = {
        "scores": "plackett_luce(score)",
        "sharp": "plackett_luce(score, temperature=0.25)",
        "personal": "logged",
    }
    return table, logging.get(kind, "uniform")


def said(kind: str, rows: int, tail: bool, seed: int) -> bool:
    """Whether `not-random` is said of a log, at any severity."""
    table, logging = world(kind, rows, tail, seed)
    kept = table if logging == "logged" else table.drop_columns(["propensity"])
    found = offrank.evaluate(
        kept, "plackett_luce(score, temperature=2)", logging, "snipm" if logging != "logged" else "snips"
    )
    return any(one.code == "not-random" for one in found.about_log)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", type=int, default=40)
    logs = parser.parse_args().logs
    shown = Table(title=f"Logs of {logs} that are said to be not random")
    for name in ("world", "queries", *(f"{rows:,} rows" for rows in ROWS)):
        shown.add_column(name, justify="right")
    false = 0
    for kind in (*HEALTHY, *FAULTY):
        for tail in (False, True):
            counts = [sum(said(kind, rows, tail, seed) for seed in range(logs)) for rows in ROWS]
            false += sum(counts) if kind in HEALTHY else 0
            shown.add_row(kind, "long tail" if tail else "40", *map(str, counts))
    Console().print(shown)
    print(f"False alarms: {false} of {len(HEALTHY) * 2 * len(ROWS) * logs:,} healthy logs.")


if __name__ == "__main__":
    main()
