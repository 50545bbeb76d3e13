"""How often the interval of a paired difference of two rankers holds the truth, and how much surer it is.

Logs of the demo's world; for each pair and estimator the coverage of the 95 % intervals, absolute and relative, and the
error that two separate intervals would allow over that of the difference.

    python benchmarks/differences.py [--logs 250] [--rows 1500]
"""

from __future__ import annotations

import argparse
import math
from statistics import fmean, median

import offrank
from offrank.language.formatting import percent
from offrank.policies import policy
from offrank.simulation import SearchWorld

LOGGING = "plackett_luce(old_score)"
TARGETS = {
    "a": "plackett_luce(new_score)",
    "b": "plackett_luce(new_score, temperature=0.8)",
    "c": "plackett_luce(naive_score)",
}
PAIRS = [("b", "a"), ("c", "a")]
ESTIMATORS = ["ips", "snips", "snipm"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=250)
    parser.add_argument("--rows", type=int, default=1500)
    asked = parser.parse_args()
    world = SearchWorld()
    truth = {name: world.truth(policy(target)) for name, target in TARGETS.items()}
    held: dict[tuple[str, str, str], list[tuple[bool, bool, float]]] = {}
    for part in range(asked.logs):
        found = offrank.evaluate(world.table(asked.rows, part), TARGETS, LOGGING, ESTIMATORS, cluster=None)
        for one, other in PAIRS:
            for estimator in ESTIMATORS:
                away = found.difference(one, other, estimator=estimator)
                share = found.difference(one, other, estimator=estimator, relative=True)
                apart = math.hypot(*(found[name, estimator].standard_error for name in (one, other)))
                holds = away.low <= truth[one] - truth[other] <= away.high
                holds_share = share.low <= truth[one] / truth[other] - 1 <= share.high
                told = holds, holds_share, apart / away.standard_error
                held.setdefault((one, other, estimator), []).append(told)
    print("| Difference | Estimator | covers | relative covers | surer by |\n|---|---|--:|--:|--:|")
    for (one, other, estimator), rows in held.items():
        holds, shares, surer = zip(*rows, strict=True)
        print(
            f"| {one} - {other} | `{estimator}` | {percent(fmean(holds), 1)} | {percent(fmean(shares), 1)} | "
            f"{median(surer):.1f} x |"
        )


if __name__ == "__main__":
    main()
