"""What each law costs: microseconds of CPU for a row, of batches of rows, and of single lists drawn while serving.

python benchmarks/laws.py [--page docs/reference/benchmarks.md]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _page import generated

from offrank.log.batch import Contexts
from offrank.policies import policy
from offrank.policies.base import all_items
from offrank.propensities import draw

SIZES = ((5, 1, 2000), (5, 5, 1000), (20, 10, 100))
LAWS = (
    "uniform",
    "plackett_luce(alpha)",
    "thompson(alpha, beta)",
    "thompson(mean=score, sd=alpha)",
    "noisy(score, sd=0.5)",
    "noisy(score, sd=0.5, noise=gumbel)",
    "shuffled(top(score), 2, method=fair_pairs)",
)
SERVED = ("plackett_luce(alpha)", "thompson(alpha, beta)", "noisy(score, sd=0.5)", "shuffled(top(score))")


def columns(rows: int, items: int) -> dict[str, Any]:
    """Counts of bandits that have learnt something, and scores."""
    rng = np.random.default_rng(1)
    pulls, rate = rng.integers(5, 5000, (rows, items)), rng.beta(2, 20, (rows, items))
    good = rng.binomial(pulls, rate)
    return {"alpha": good + 1.0, "beta": pulls - good + 1.0, "score": rng.normal(size=(rows, items))}


def cost(job: Callable[[Any], Any], spelling: str, repeats: int = 5) -> float:
    """The least CPU seconds of several runs, each of a policy that has kept nothing."""
    job(policy(spelling))
    found = []
    for _ in range(repeats):
        law = policy(spelling)
        start = time.process_time()
        job(law)
        found.append(time.process_time() - start)
    return min(found)


def of_law(spelling: str, items: int, slots: int, rows: int) -> str:
    """The cells of a law on a batch."""
    size, length = np.full(rows, items), np.full(rows, slots)
    contexts = Contexts(np.tile(np.arange(items), (rows, 1)), size, length, scores=columns(rows, items))
    law: Any = policy(spelling)
    slates, every = law.sample(contexts, np.random.default_rng(2)), all_items(contexts)
    jobs = (lambda one: one.log_prob(contexts, slates), lambda one: one.rank_probs(contexts, every))
    return " | ".join(f"{cost(job, spelling) / rows * 1e6:.3g}" for job in jobs)


def serving(spelling: str, slots: int, *, kept: bool) -> str:
    """Median and 99th percentile of the CPU time of one list of 5 candidates. kept: with the numbers of the last."""
    rng, rows = np.random.default_rng(3), columns(1000, 5)
    found = []
    for row in range(1000):
        given = {name: values[0 if kept else row] for name, values in rows.items()}
        start = time.thread_time()
        draw(spelling, slots, rng, **given)
        found.append(time.thread_time() - start)
    return " | ".join(f"{np.quantile(found, share) * 1e6:.3g}" for share in (0.5, 0.99))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", type=Path, help="the page whose table is written")
    given = parser.parse_args()
    heads = [f"{items} items, {slots} slots: {what}" for items, slots, _ in SIZES for what in ("slate", "all ranks")]
    lines = ["| law | " + " | ".join(heads) + " |", "|---|" + "--:|" * len(heads)]
    lines += [f"| `{law}` | " + " | ".join(of_law(law, *size) for size in SIZES) + " |" for law in LAWS]
    lines += [
        "",
        "| `offrank.propensities.draw`, 5 candidates | slots | new: median | 99th percentile | kept: median | 99th |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for law in SERVED:
        for slots in (1, 3):
            both = " | ".join(serving(law, slots, kept=kept) for kept in (False, True))
            lines.append(f"| `{law}` | {slots} | {both} |")
    print("\n".join(lines))
    if given.page:
        generated(given.page, "laws", lines, "benchmarks/laws.py")


if __name__ == "__main__":
    main()
