"""Learning of slates: how fast PI-OPT's targets, PI weights and greedy slates are, for uniform slates of 10 of 100.

    python benchmarks/slates_learning.py [--rows 200000] [--queries 1000] [--repeats 5]

Targets: sums over impressions by query, then one closed form per query (paper slate-pseudoinverse, App. G). Weights: of
each impression, for the slates that a learnt policy would show. Contexts: the same sums from batches of a log, where
contexts must be found by what they hold.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
from _timing import in_turn, show

from offrank.estimators.pseudoinverse import PI
from offrank.learning.action_rewards import ActionSums
from offrank.learning.contexts import ContextSums
from offrank.log.batch import Contexts, LogBatch, Shown, SparseFeatures
from offrank.policies.boosted import best_slates
from offrank.policies.propensities import propensities
from offrank.policies.ranking import Ranking
from offrank.policies.uniform import Uniform

CANDIDATES, SLOTS = 100, 10


def log(rows: int, queries: int) -> LogBatch:
    """Uniform slates of these queries, in any order, with a feature per candidate; a ranking to be judged."""
    rng = np.random.default_rng(0)
    query, m = rng.integers(0, queries, rows), CANDIDATES
    slates = np.argpartition(rng.random((rows, m)), SLOTS, axis=1)[:, :SLOTS]
    wanted = best_slates(rng.random((queries, m, SLOTS)), np.full(queries, m), np.full(queries, SLOTS))
    lines = np.arange(queries * m + 1)
    contexts = Contexts(
        query[:, None] * m + np.arange(m),
        np.full(rows, m),
        np.full(rows, SLOTS),
        rankings={"wanted": wanted[query]},
        keys={"query": query},
        features=SparseFeatures(query * m, lines, lines[:-1] % 64, np.ones(queries * m)),
    )
    numbers = np.arange(rows, dtype=np.uint64)
    return LogBatch(contexts, Shown(slates), None, rng.random(rows), np.ones(rows), numbers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    batch = log(asked.rows, asked.queries)
    query, sizes = batch.contexts.keys["query"], np.full(asked.queries, CANDIDATES)
    slots = np.full(asked.queries, SLOTS)

    def targets() -> None:
        sums = ActionSums.zeros(sizes, slots)
        sums.add(query, batch.slates, batch.reward)
        sums.uniform()

    def weights() -> None:
        fresh = replace(batch)
        uniform, wanted = propensities(Uniform(), fresh), propensities(Ranking("wanted"), fresh)
        PI().weigh(fresh, uniform, wanted)

    def contexts() -> None:
        for start in range(0, asked.rows, 10_000):
            some = batch.take(np.arange(start, min(start + 10_000, asked.rows)))
            bare = replace(some.contexts, rankings={})
            ContextSums.of(replace(some, contexts=bare), Uniform()).phi()

    jobs = {"targets, by query": targets, "PI weights": weights, "targets, contexts found in a log": contexts}
    title = f"{asked.rows:,} uniform slates of {SLOTS} of {CANDIDATES}, {asked.queries:,} queries"
    show(title, in_turn(jobs, asked.repeats), asked.rows, "targets, by query")
    scores = np.random.default_rng(1).random((asked.queries, CANDIDATES, SLOTS))
    ways = {way: (lambda way=way: best_slates(scores, sizes, slots, way)) for way in ("greedy", "exact")}
    show("Slates from scores", in_turn(ways, asked.repeats), asked.queries, "greedy")


if __name__ == "__main__":
    main()
