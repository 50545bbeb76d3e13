"""Two sharp unlike rankers, 70 / 30: the variance against each row's own ranker, and against the mixture of both.

Every slate that either ranker can show is enumerated, so the variances of one impression are exact.

    python benchmarks/balanced.py
"""

from __future__ import annotations

import numpy as np

from offrank.log.batch import Floats
from offrank.policies import policy, propensities
from offrank_testing.exact import World
from offrank_testing.laws import Situation

ITEMS, SLOTS = 6, 3
LEAN = tuple((2.0 ** np.arange(ITEMS)).tolist())
SITUATION = Situation(ITEMS, SLOTS, {"a": LEAN, "b": LEAN[::-1]})
RELEVANCE = np.linspace(0.2, 0.6, ITEMS)
SHARES = {"plackett_luce(a, temperature=0.5)": 0.7, "plackett_luce(b, temperature=0.5)": 0.3}
MIXTURE = "mixture({" + ", ".join(f"{ranker}: {share}" for ranker, share in SHARES.items()) + "})"
TARGETS = ("plackett_luce(a)", "plackett_luce(b)", "uniform", "epsilon(top(a), 0.1)", "epsilon(top(b), 0.1)")


def moments(target: str, estimator: str, *, balanced: bool) -> tuple[float, float]:
    """Mean and variance of an estimate from one impression, whose clicks do not depend on each other."""
    world = World((SITUATION,), clicks=lambda _, slate: RELEVANCE[list(slate)].tolist())
    first = second = 0.0
    for ranker, share in SHARES.items():
        batch = world.batch(policy(ranker))
        wanted, drawn = (propensities(policy(one), batch) for one in (target, MIXTURE if balanced else ranker))
        weights: Floats = np.exp(wanted.log_prob - drawn.log_prob)[:, None]
        if estimator == "ipm":
            law = [np.diagonal(one.rank_law.written_out(batch.contexts.length), 0, 1, 2) for one in (wanted, drawn)]
            weights = law[0] / law[1]
        assert batch.clicks is not None
        mean = (weights * batch.clicks).sum(axis=1)
        square = mean**2 + (weights**2 * batch.clicks * (1 - batch.clicks)).sum(axis=1)
        first += share * (mean / batch.inclusion).sum()
        second += share * (square / batch.inclusion).sum()
    return first, second - first**2


def main() -> None:
    """Print mean and variances of one impression."""
    print("| target | estimator | mean | variance, `by` | variance, `balanced` | ratio |\n|---|---|---|---|---|---|")
    for target in TARGETS:
        for estimator in ("ips", "ipm"):
            (mean, own), (same, balanced) = (moments(target, estimator, balanced=one) for one in (False, True))
            assert np.isclose(mean, same), "both are unbiased"
            print(f"| `{target}` | `{estimator}` | {mean:.4f} | {own:.4g} | {balanced:.4g} | {own / balanced:.1f} |")


if __name__ == "__main__":
    main()
