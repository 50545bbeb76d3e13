"""What an interval that leans on another estimate does for any bias of that one, by quadrature.

A number D and a sharper estimate S of the same, jointly normal, S with a bias of any size: how often the interval
holds, how long it is, and the error of the value, as `offrank.inference.uncertain_prior` has them.

    python benchmarks/uncertain_prior.py [--confidence 0.95] [--write docs/tables/uncertain-prior.md]

bias: of S, in standard errors of its difference to D. needs: the share of the sessions that S needs if it has none.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from _page import generated
from scipy.stats import norm

from offrank.inference.uncertain_prior import leaning
from offrank.language.formatting import percent
from offrank.sums.estimate import Interval

NEEDS = (0.05, 0.1, 0.2, 0.4, 0.7, 0.9)
CONTRASTS = np.arange(-9.0, 17.0, 0.05)
BIASES = np.arange(0.0, 8.01, 0.25)
WEIGHTS = 0.05 * norm.pdf(CONTRASTS - BIASES[:, None])


def measured(needs: float, confidence: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How often it holds, its length and its error, both over those of D, for each bias."""
    z, other, rho = norm.ppf(0.5 + confidence / 2), np.sqrt(needs), np.sqrt(1 - needs)
    own = Interval(0.0, -z, z, 1.0)
    found = [
        leaning(own, Interval(t * rho, -z * other, z * other, other), Interval(t * rho, 0.0, 0.0, rho), confidence)
        for t in CONTRASTS
    ]
    share, below, above = np.array([[one.share, one.below, one.above] for one in found]).T
    mean = rho * (BIASES[:, None] - CONTRASTS)  # of D less the truth, given the contrast; its variance is `needs`
    holds = norm.cdf(z * below, mean, other) - norm.cdf(-z * above, mean, other)
    squared = needs + (WEIGHTS * (mean + share * rho * CONTRASTS) ** 2).sum(axis=1)
    return (WEIGHTS * holds).sum(axis=1), WEIGHTS @ (below + above) / 2, np.sqrt(squared)


def rows(confidence: float) -> Iterator[str]:
    """The table, a line at a time."""
    yield f"Intervals at {100 * confidence:g} %, for biases from 0 to 8 standard errors of the contrast."
    yield ""
    yield (
        "| S needs of the sessions | holds at least | length without bias | sessions saved | longest, for any bias "
        "| error without bias | largest error, for any bias |"
    )
    yield "|--:|--:|--:|--:|--:|--:|--:|"
    for needs in NEEDS:
        holds, length, error = measured(needs, confidence)
        yield (
            f"| {percent(needs, 0)} | {percent(holds.min(), 2)} | {length[0]:.3f} | {length[0] ** -2:.2f} "
            f"| {length.max():.3f} | {error[0]:.2f} | {error.max():.2f} |"
        )


def main() -> None:
    """Print the table, or write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--confidence", type=float, default=0.95)
    parser.add_argument("--write", type=Path)
    asked = parser.parse_args()
    found = list(rows(asked.confidence))
    print("\n".join(found))
    if asked.write is not None:
        generated(asked.write, "uncertain prior", found, "benchmarks/uncertain_prior.py")


if __name__ == "__main__":
    main()
