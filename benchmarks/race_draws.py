"""The quadrature of a race of Beta keys beside draws: what share of 100 million draws each list begins, and P(list).

Five arms of a bandit, from one that was hardly pulled to one that was pulled often; the first two places of the list.
"Errors" is the difference over the standard error of the draws, of which 20 lists of 20 have about one beyond 2.

    nice -n 19 python benchmarks/race_draws.py [--draws 100000000] [--table PAGE]
"""

from __future__ import annotations

import argparse
from itertools import permutations
from pathlib import Path

import numpy as np
from _page import generated

from offrank.races import BetaKeys, list_probs

ALPHA, BETA = np.array([0.5, 3.0, 20.0, 40.0, 300.0]), np.array([4.0, 12.0, 100.0, 260.0, 1700.0])
BLOCK = 500_000


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--draws", type=int, default=100_000_000)
    asked.add_argument("--table", type=Path, help="page whose table is to be replaced")
    options = asked.parse_args()
    rng, m = np.random.default_rng(1), len(ALPHA)
    counts, left = np.zeros(m * m), options.draws
    while left > 0:
        drawn = rng.beta(ALPHA, BETA, (min(BLOCK, left), m))
        left -= len(drawn)
        first, row = drawn.argmax(axis=1), np.arange(len(drawn))
        drawn[row, first] = -1.0
        counts += np.bincount(first * m + drawn.argmax(axis=1), minlength=m * m)
    slates = np.array(list(permutations(range(m), 2)))
    keys = BetaKeys(ALPHA[None], BETA[None]).take(np.zeros(len(slates), np.int64))
    exact = list_probs(keys, np.full(len(slates), m), slates)[:, 1]
    share = counts[slates[:, 0] * m + slates[:, 1]] / options.draws
    away = (share - exact) / np.sqrt(exact * (1 - exact) / options.draws)
    lines = ["| list begins | by quadrature | by draws | errors |", "|---|--:|--:|--:|"]
    lines += [
        f"| {first}, {second} | {chance:.8f} | {found:.8f} | {errors:+.2f} |"
        for (first, second), chance, found, errors in zip(slates.tolist(), exact, share, away, strict=True)
    ]
    size = float(np.sqrt((away**2).mean()))
    lines += ["", f"Sum of P(list) less 1: {exact.sum() - 1:.1e}. Root mean square of the errors: {size:.2f}."]
    print("\n".join(lines))
    if options.table:
        generated(options.table, "race draws", lines, "benchmarks/race_draws.py")


if __name__ == "__main__":
    main()
