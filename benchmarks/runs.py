"""Two runs by judgements: how often do the intervals of `measure_runs` hold, for few queries and for several graders?

Queries are drawn from 5,000, whose mean difference is the truth; graders from those who lean to run B by up to so much,
each his way, so that on average they do not. Then the truth is a sum over the probabilities of grades.

    python benchmarks/runs.py [--draws 2000] [--write docs/reference/verbs/measure.md]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from _page import generated

from offrank.language.formatting import percent
from offrank.sums.estimate import Interval
from offrank_lab.run_scores import RunPair, means, measure_named
from offrank_lab.runs import interval_of

POPULATION, ITEMS, SHOWN = 5_000, 30, 20
METRICS, QUERIES = ("nDCG@10", "RR", "AP"), (20, 50, 200)
JUDGED, GRADERS, LEANINGS = 50, (3, 5), (0.0, 0.1, 0.2)


def population(rng: np.random.Generator) -> list[RunPair]:
    """Return queries whose items have grades of which many are 0, and two runs that see them through noise."""
    found = []
    for number in range(POPULATION):
        grade = np.maximum(rng.poisson(rng.gamma(0.5, 1.0), ITEMS), 0).clip(max=3)
        runs = (np.argsort(-grade - noise * rng.normal(size=ITEMS))[:SHOWN].tolist() for noise in (2.0, 1.7))
        a, b = ([[str(item)] for item in run] for run in runs)
        found.append(RunPair(str(number), a, b, [{str(item): one for item, one in enumerate(grade.tolist())}]))
    return found


def holds(found: Interval, truth: float) -> bool:
    return found.low <= truth <= found.high


def of_queries(draws: int, rng: np.random.Generator) -> Iterator[str]:
    pairs = population(rng)
    yield "| metric | queries | 95 % intervals that hold | by the normal quantile |"
    yield "|---|--:|--:|--:|"
    for name in METRICS:
        by_run, _ = means(measure_named(name), pairs, 1, 1, 0)
        change = by_run[1, 0] - by_run[0, 0]
        for size in QUERIES:
            held = np.zeros(2)
            for _ in range(draws):
                sample = rng.choice(change, size)
                half = 1.96 * sample.std(ddof=1) / np.sqrt(size)
                held += (
                    holds(interval_of(sample[None], 0.95), change.mean()),
                    abs(sample.mean() - change.mean()) <= half,
                )
            yield f"| {name} | {size} | " + " | ".join(percent(one, 1) for one in held / draws) + " |"


def of_graders(draws: int, rng: np.random.Generator) -> Iterator[str]:
    """Precision at 5 of runs that share no item; an item is relevant to a grader with a probability of its own."""
    yield "| graders | lean by up to | 95 % intervals that hold | over queries alone | length |"
    yield "|--:|--:|--:|--:|--:|"
    for graders in GRADERS:
        for leaning in LEANINGS:
            held, length = np.zeros(2), np.zeros(2)
            for _ in range(draws):
                a, b = rng.uniform(0.3, 0.6, (JUDGED, 5)), rng.uniform(0.3, 0.7, (JUDGED, 5))
                lean = rng.uniform(-leaning, leaning, (graders, 1, 1))
                change = (rng.random((graders, JUDGED, 5)) < b + lean).mean(axis=2)
                change -= (rng.random((graders, JUDGED, 5)) < a).mean(axis=2)
                both = interval_of(change, 0.95), interval_of(change.mean(axis=0)[None], 0.95)
                held += [holds(one, 0.5 - 0.45) for one in both]
                length += [one.high - one.low for one in both]
            shares = " | ".join(percent(one, 1) for one in held / draws)
            yield f"| {graders} | {leaning:g} | {shares} | {length[0] / length[1]:.2f} x |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=2_000)
    parser.add_argument("--write", type=Path, help="the page that includes the table")
    given = parser.parse_args()
    rng = np.random.default_rng(1)
    found = [*of_queries(given.draws, rng), "", *of_graders(given.draws, rng)]
    found += [
        "",
        f"{given.draws:,} draws each; of {JUDGED} queries judged by graders. Length: of the interval over both.",
    ]
    print(*found, sep="\n")
    if given.write:
        generated(given.write, "runs", found, "benchmarks/runs.py")


if __name__ == "__main__":
    main()
