"""What it is worth that a mixture judges each session by components which have not learnt from it.

Logs of 50 queries with 20 sessions each: users by rank, or by position, beside readers from the top (`rctr, dbn`,
`pbm, dbn`): a component with fewer numbers beside one with two of each document. `others`: as `mixture(...)` learns.
`itself`: sessions vouch for themselves. Both learn from the same logs. Columns: the error of the first component's
weight, its size, how often the 95 % interval holds the truth, the log-likelihood of a new session of the same users
less that of the true mixture, the error of the attractions of the last component, and CPU seconds. Differences are
those of `itself` less `others`, with their standard errors over logs.

    python benchmarks/leave_one_out.py [--logs 20] [--jobs 1] [--results leave_one_out.jsonl] [--table PAGE]
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from _click_worlds import RANKS, SHARES, by_rank, dynamic, position_based
from _page import generated

from offrank.clicks import Mixture, click_model
from offrank.clicks.documents import Documents, SlateDocuments
from offrank.clicks.fitted import Fitted
from offrank.clicks.laws import Mixed, log_probs
from offrank.clicks.sessions import Sessions, Tally, collapsed

Task = tuple[str, float, int, int, float, int]
"""Pair, temperature, queries, sessions of each query, weight of the first component, seed."""
WORLDS = [(pair, temperature, 50, 20, 0.4) for pair in ("rctr, dbn", "pbm, dbn") for temperature in (1.0, np.inf)]
COLUMNS = ("error", "absolute", "covered", "log-likelihood", "attraction", "CPU s")


class Itself(Mixture):
    """A mixture whose sessions vouch for themselves."""

    def _own(self, *_: Any) -> Any:
        return ()


class World:
    """The relevance of documents, and the sessions of users of both kinds."""

    def __init__(self, pair: str, temperature: float, queries: int, per: int, weight: float, seed: int) -> None:
        self.pair, self.temperature, self.weight = pair, temperature, weight
        self.rng = np.random.default_rng([seed, queries, per])
        self.query = np.repeat(np.arange(queries), per)
        grade = self.rng.choice(5, (queries, RANKS), p=SHARES)
        self.score = grade + 0.5 * self.rng.standard_normal(grade.shape)
        self.relevance = 0.1 + 0.9 * (2.0 ** grade.ravel() - 1) / 15

    def draw(self) -> tuple[np.ndarray, np.ndarray, Mixed]:
        """([n, 10] documents, clicks, their true law)."""
        noise = self.rng.gumbel(size=(len(self.query), RANKS)) * min(self.temperature, 1e9)
        document = self.query[:, None] * RANKS + np.argsort(-(self.score[self.query] + noise), axis=1)
        first = position_based if self.pair == "pbm, dbn" else by_rank
        laws = first(self.relevance, document)[0], dynamic(self.relevance, document)[0]
        law = Mixed(laws, np.array([self.weight, 1 - self.weight]))
        return document, law.sample(self.rng), law


def measured(pair: str, temperature: float, queries: int, per: int, weight: float, seed: int) -> dict[str, Any]:
    world = World(pair, temperature, queries, per, weight, seed)
    (document, click, _), (others, clicks, truth) = world.draw(), world.draw()
    documents = queries * RANKS
    every = np.arange(documents) // RANKS
    data = collapsed(Sessions(document.astype(np.int32), click.astype(np.uint8), np.ones(len(click)), documents, every))
    best = log_probs(truth, clicks).mean()
    found: dict[str, Any] = {"task": [pair, temperature, queries, per, weight, seed]}
    parts = click_model(f"mixture({pair})").components
    for name, kind in (("others", Mixture), ("itself", Itself)):
        begin, model = time.process_time(), kind(*parts)
        learnt = model.learn(data)
        seconds = time.process_time() - begin
        low, high = Fitted(model, Documents(np.arange(documents)), learnt, Tally()).interval("weight")
        law = model.law(learnt.parameters, SlateDocuments(others, others >= 0))
        error = float(learnt.parameters["weight"][0] - weight)
        attraction = float(np.abs(learnt.parameters["1.attraction"][:-1] - world.relevance).mean())
        likelihood = float(log_probs(law, clicks).mean() - best)
        covered = float(low[0] <= weight <= high[0])
        found[name] = [error, abs(error), covered, likelihood, attraction, seconds]
    return found


def table(found: list[dict[str, Any]]) -> Iterator[str]:
    yield f"{len(found)} logs, a weight of .4:"
    yield ""
    yield "| components | order | sessions a query | logs | judged by | " + " | ".join(COLUMNS) + " |"
    yield "|---|---|--:|--:|---|" + "--:|" * len(COLUMNS)
    for pair, temperature, queries, per, weight in WORLDS:
        mine = [one for one in found if one["task"][:-1] == [pair, temperature, queries, per, weight]]
        if mine:
            head = f"| `{pair}` | {'noisy' if np.isfinite(temperature) else 'random'} | {per} | {len(mine)} |"
            yield from rows(head, mine)


def rows(head: str, mine: Sequence[dict[str, Any]]) -> Iterator[str]:
    others, itself = (np.array([one[name] for one in mine]) for name in ("others", "itself"))
    for name, each in (("others", others), ("itself", itself)):
        yield f"{head} {name} | " + " | ".join(cells(each.mean(axis=0))) + " |"
    apart = itself - others
    error = apart.std(axis=0, ddof=1) / np.sqrt(len(mine)) if len(mine) > 1 else np.full(len(COLUMNS), np.nan)
    each = [f"{value:+.4f} ± {one:.4f}" for value, one in zip(apart.mean(axis=0), error, strict=True)]
    yield f"{head} difference | | {each[1]} | | {each[3]} | {each[4]} | |"


def cells(mean: np.ndarray) -> list[str]:
    error, size, covered, likelihood, attraction, seconds = mean
    return [
        f"{error:+.3f}",
        f"{size:.3f}",
        f"{covered:.2f}",
        f"{likelihood:+.4f}",
        f"{attraction:.4f}",
        f"{seconds:.1f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results", type=Path, default=Path("leave_one_out.jsonl"))
    parser.add_argument("--table", type=Path, help="a page whose block `leave one out` is written anew")
    given = parser.parse_args()
    found = [json.loads(line) for line in given.results.read_text().splitlines()] if given.results.exists() else []
    done = [tuple(one["task"]) for one in found]
    wanted = [(*world, seed) for seed in range(given.logs) for world in WORLDS if (*world, seed) not in done]
    with ProcessPoolExecutor(given.jobs, get_context("spawn")) as pool, given.results.open("a") as file:
        for one in as_completed([pool.submit(measured, *task) for task in wanted]):
            found.append(one.result())
            file.write(json.dumps(found[-1]) + "\n")
            file.flush()
    print(*table(found), sep="\n")
    if given.table:
        generated(given.table, "leave one out", list(table(found)), "benchmarks/leave_one_out.py")


if __name__ == "__main__":
    main()
