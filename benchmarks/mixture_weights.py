"""How well a mixture's weights are known: their error, intervals, and where learning ends from different beginnings.

Worlds of `_click_worlds` (10 documents a query) whose sessions follow one of two models. `pbm, dbn`: users of both,
with the same attractions; `dbn, dbn`: patient users (continuation .95) who judge as the grades say, and hasty ones
(.4) who want the opposite. Rankings by a noisy policy (T = 1) or in random order. Columns: the error of the first
component's weight, how often its 95 % interval holds the truth, the interval's width, how far apart the weights are at
which learning ends (what `hidden-components` goes by), and CPU seconds.

    python benchmarks/mixture_weights.py [--logs 2] [--jobs 2] [--results mixture_weights.jsonl] [--table PAGE]
    python benchmarks/mixture_weights.py --speed      7,000 sessions of 35,000 documents
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from _click_worlds import RANKS, SHARES, dynamic, position_based
from _page import generated

from offrank.clicks import click_model
from offrank.clicks.documents import Documents
from offrank.clicks.fitted import Fitted
from offrank.clicks.sessions import Sessions, Tally, collapsed

Task = tuple[str, float, int, int, float, int]
"""Pair, temperature, queries, sessions of each query, weight of the first component, seed."""
NEAR = 0.1
"""The difference of weights at which `hidden-components` begins."""
WORLDS = [
    (pair, temperature, queries, per, weight)
    for pair in ("dbn, dbn", "pbm, dbn")
    for queries, per in ((50, 20), (20, 100), (10, 400))
    for temperature in (1.0, np.inf)
    for weight in (0.3, 0.5, 0.7)
]


def sessions(pair: str, temperature: float, queries: int, per: int, weight: float, seed: int) -> Sessions:
    """The distinct sessions of a log."""
    rng = np.random.default_rng([seed, queries, per])
    grade = rng.choice(5, (queries, RANKS), p=SHARES)
    query = np.repeat(np.arange(queries), per)
    score = grade + 0.5 * rng.standard_normal(grade.shape)
    noise = rng.gumbel(size=(len(query), RANKS)) * min(temperature, 1e9)
    document = query[:, None] * RANKS + np.argsort(-(score[query] + noise), axis=1)
    relevance = 0.1 + 0.9 * (2.0 ** grade.ravel() - 1) / 15
    if pair == "pbm, dbn":
        laws = position_based(relevance, document)[0], dynamic(relevance, document)[0]
    else:
        laws = dynamic(relevance, document, 0.95)[0], dynamic(0.6 - relevance / 2, document, 0.4)[0]
    chosen = (rng.random(len(query)) >= weight).astype(np.int64)
    click = np.stack([law.sample(rng) for law in laws])[chosen, np.arange(len(query))].astype(np.uint8)
    documents = queries * RANKS
    every = np.arange(documents) // RANKS
    return collapsed(Sessions(document.astype(np.int32), click, np.ones(len(query)), documents, every))


def measured(pair: str, temperature: float, queries: int, per: int, weight: float, seed: int) -> dict[str, Any]:
    data = sessions(pair, temperature, queries, per, weight, seed)
    begin, model = time.process_time(), click_model(f"mixture({pair})")
    learnt = model.learn(data)
    seconds = time.process_time() - begin
    fitted = Fitted(model, Documents(np.arange(data.documents)), learnt, Tally())
    low, high = fitted.interval("weight")
    place = 0 if pair == "pbm, dbn" else int(np.argmax([learnt.parameters[f"{i}.continuation"][0] for i in (0, 1)]))
    found = {"value": learnt.parameters["weight"][place], "low": low[place], "high": high[place]}
    said = [one for one in learnt.cautions if one.code == "hidden-components"]
    apart = learnt.info["weights_apart"]
    return {"task": [pair, temperature, queries, per, weight, seed], **found, "apart": apart, "said": bool(said)} | {
        "seconds": seconds
    }


def table(found: list[dict[str, Any]]) -> Iterator[str]:
    """The lines of two Markdown tables: by world, and by how far apart the ends are."""
    yield f"{len(found)} logs, weights of .3, .5 and .7:"
    yield ""
    columns = "error | absolute | covered | width | apart | warned | CPU s"
    yield f"| components | order | sessions a query | logs | {columns} |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for pair, temperature, queries, per in dict.fromkeys(world[:4] for world in WORLDS):
        mine = [one for one in found if one["task"][:4] == [pair, temperature, queries, per]]
        if mine:
            order = "noisy" if temperature == 1 else "random"
            yield f"| `{pair}` | {order} | {per} | {len(mine)} | {' | '.join(cells(mine))} |"
    yield ""
    yield "| weights apart | logs | absolute error: mean | largest | covered |"
    yield "|---|--:|--:|--:|--:|"
    for low, high in ((0.0, 0.02), (0.02, 0.05), (0.05, NEAR), (NEAR, 0.3), (0.3, 1.01)):
        mine = [one for one in found if low <= one["apart"] < high]
        if mine:
            size, covered = (f"{value:.2f}" for value in summary(mine)[1:3])
            largest = max(abs(one["value"] - one["task"][4]) for one in mine)
            yield f"| {low} to {min(high, 1.0)} | {len(mine)} | {size} | {largest:.2f} | {covered} |"


def summary(mine: list[dict[str, Any]]) -> list[float]:
    """Mean error, mean absolute error, share covered, width, distance of the ends, share warned, seconds."""
    error = np.array([one["value"] - one["task"][4] for one in mine])
    covered = np.mean([one["low"] <= one["task"][4] <= one["high"] for one in mine])
    width = np.mean([one["high"] - one["low"] for one in mine])
    rest = (np.mean([one[name] for one in mine]) for name in ("apart", "said", "seconds"))
    return [float(one) for one in (error.mean(), np.abs(error).mean(), covered, width, *rest)]


def cells(mine: list[dict[str, Any]]) -> list[str]:
    error, size, covered, width, apart, said, seconds = summary(mine)
    return [f"{error:+.2f}", *(f"{one:.2f}" for one in (size, covered, width, apart, said)), f"{seconds:.0f}"]


def speed() -> None:
    """A log with five documents for each of its sessions."""
    data = sessions("pbm, dbn", 1.0, 3500, 2, 0.4, 0)
    for model in ("pbm", "dbn", "mixture(pbm, dbn)"):
        begin, one = time.process_time(), click_model(model)
        one.learn(one.from_sessions(data))
        print(f"{model}: {len(data)} sessions, {data.documents} documents: {time.process_time() - begin:.1f} CPU s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results", type=Path, default=Path("mixture_weights.jsonl"))
    parser.add_argument("--table", type=Path, help="a page whose block `mixture weights` is written anew")
    parser.add_argument("--speed", action="store_true")
    given = parser.parse_args()
    if given.speed:
        speed()
        return
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
        generated(given.table, "mixture weights", list(table(found)), "benchmarks/mixture_weights.py")


if __name__ == "__main__":
    main()
