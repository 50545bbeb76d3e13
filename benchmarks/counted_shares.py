"""`balanced` with shares that are counted in the log, and with those of the design: errors, and intervals that hold.

An A/B test of two sharp rankers of a few items; clicks depend on the item and its rank. The truth is exact. s.d. is
that of the estimates over all logs, and beside it the one that intervals are made of.

    nice -n 15 python benchmarks/counted_shares.py [--logs 300] [--table PAGE]
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
from _page import generated
from _worlds import lists

import offrank
from offrank_testing.exact import World
from offrank_testing.laws import Situation

ITEMS, SLOTS = 6, 3
LEAN = tuple((2.0 ** np.arange(ITEMS)).tolist())
SCORES = {"a": LEAN, "b": LEAN[::-1]}
RELEVANCE = np.linspace(0.2, 0.6, ITEMS)
EXAMINATION = np.array([1.0, 0.7, 0.5])
RANKERS = {"A": "plackett_luce(a, temperature=0.5)", "B": "plackett_luce(b, temperature=0.5)"}
TARGETS = (RANKERS["B"],)
ASKED = ("ips", "snips", "ipm", "rips")


def drawn(rows: int, share: float, drawn_by: str, rng: np.random.Generator) -> pa.Table:
    """A log in which ranker A served each row, or each user, with probability `share`.

    Users have 10 rows on average, and click more or less often than others.
    """
    user = np.arange(rows) if drawn_by == "row" else np.sort(rng.integers(rows // 10, size=rows))
    own = (rng.random(rows) < share)[user]
    leaning = np.where(own[:, None], LEAN, LEAN[::-1])
    slates = np.argsort(-2 * np.log(leaning) - rng.gumbel(size=(rows, ITEMS)), axis=1)[:, :SLOTS]
    mood = 1.0 if drawn_by == "row" else rng.choice([0.5, 1.5], size=(rows, 1))[user]
    clicks = rng.random(slates.shape) < RELEVANCE[slates] * EXAMINATION * mood
    columns = {name: lists(np.tile(score, (rows, 1))) for name, score in SCORES.items()}
    return pa.table(
        {
            "user": user,
            "arm": np.where(own, "A", "B"),
            "slate": lists(slates),
            "clicks": lists(clicks.astype(np.int64)),
            "candidates": lists(np.tile(np.arange(ITEMS), (rows, 1))),
            **columns,
        }
    )


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--logs", type=int, default=300)
    asked.add_argument("--table", type=Path, help="page whose table is to be replaced")
    options = asked.parse_args()
    world = World(
        (Situation(ITEMS, SLOTS, SCORES),), clicks=lambda _, slate: (RELEVANCE[list(slate)] * EXAMINATION).tolist()
    )
    truth = {target: world.value(offrank.policies.policy(target)) for target in TARGETS}
    served = "by(arm, {" + ", ".join(f"{value}: {one}" for value, one in RANKERS.items()) + "})"
    heads = (
        "rows",
        "arm drawn by",
        "shares",
        "target",
        "estimator",
        "s.d., known",
        "printed",
        "hold",
        "s.d., counted",
        "printed",
        "hold",
    )
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for drawn_by, rows, share in product(("row", "user"), (500, 5_000), (0.5, 0.95)):
        found: dict[tuple[str, str], list[list[float]]] = {}
        laws = [f"balanced({served}, shares={{A: {share}, B: {round(1 - share, 9)}}})", f"balanced({served})"]
        for seed in range(options.logs):
            log = drawn(rows, share, drawn_by, np.random.default_rng([rows, int(100 * share), seed]))
            for law in laws:
                result = offrank.evaluate(
                    log, list(TARGETS), law, list(ASKED), cluster=None if drawn_by == "row" else "user"
                )
                for target, name in product(TARGETS, ASKED):
                    one = result[target, name]
                    inside = one.low <= truth[target] <= one.high
                    found.setdefault((target, name), []).append([one.value, one.standard_error, inside])
        start = len(lines)
        for (target, name), values in found.items():
            cells = [f"{rows:,}", drawn_by, f"{share:g} / {1 - share:.2g}", f"`{target}`", f"`{name}`"]
            for part in (np.array(values)[0::2], np.array(values)[1::2]):
                value, error, inside = part.T
                cells += [f"{value.std(ddof=1):.4f}", f"{error.mean():.4f}", f"{inside.mean():.3f}"]
            lines.append(f"| {' | '.join(cells)} |")
        print("\n".join(lines[start:]), flush=True)
    if options.table:
        generated(options.table, "counted shares", lines, "benchmarks/counted_shares.py")


if __name__ == "__main__":
    main()
