"""Intervals of `dbn` and `trust` under sorted logging: how often they hold the truth, and whether a finding says so.

A policy that knows relevance shows good documents high, and tells the less of users the lower its temperature. Queries
of 10 documents, 100 queries, users who follow the model that is fitted, and three kinds of document:

- graded: grades in the proportions of MSLR, relevance .1 + .9 (2^g - 1) / 15, ranked by the grade and noise (sd .5).
- continuous: relevance from a Beta(1, 4) between .02 and .95, ranked by its logit and noise.
- apart: as continuous; satisfaction is drawn by itself, and the policy knows the product of both.

`silent` is the share of logs without the finding (`satisfaction-unknown`, `trust-unknown`), `covered` the share of true
values that 95 % intervals hold, over all logs and over the silent ones. `off`, of `hit`: the root mean square of the
errors of its logarithm below the first rank, each rank by its views; the mean over logs, and over the silent ones.
Of `trust` there are also shorter logs, with `hit` and `false` alone.

    python benchmarks/click_sorted.py [--logs 20] [--models dbn,trust] [--table docs/reference/benchmarks.md]
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from _click_worlds import MODELS, RANKS, SHARES, Log
from _page import generated
from click_coverage import gathered
from numpy.typing import NDArray

from offrank.clicks import Fitted, click_model
from offrank.clicks.laws import Cascading

KINDS = ("graded", "continuous", "apart")
TEMPERATURES = {"dbn": (1.0, 0.3, 0.1), "trust": (1.0, 0.3, 0.15, 0.1, 0.05)}
MARKS = {"dbn": "sorted logging", "trust": "sorted logging of trust"}
"""Of the tables on the page."""
QUERIES, SESSIONS = 100, 10_000
SIZES = {"dbn": (SESSIONS,), "trust": (SESSIONS, 2_000, 500)}
TABLES = {"dbn": ("satisfaction", "attraction", "continuation"), "trust": ("hit", "false", "attraction")}
FINDINGS = {"dbn": "satisfaction-unknown", "trust": "trust-unknown"}

Floats = NDArray[np.float64]


def log(model: str, kind: str, temperature: float, seed: int, sessions: int = SESSIONS, queries: int = QUERIES) -> Log:
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    shape = (queries, RANKS)
    grade = rng.choice(5, shape, p=SHARES)
    if kind == "graded":
        relevance, level = 0.1 + 0.9 * (2.0**grade - 1) / 15, grade.astype(float)
    else:
        relevance = np.clip(rng.beta(1, 4, shape), 0.02, 0.95)
        level = np.log(relevance / (1 - relevance))
    satisfaction = relevance / 2
    if kind == "apart":
        satisfaction = np.clip(rng.beta(2, 3, shape), 0.02, 0.95)
        level = np.log(relevance * satisfaction)
    score = level + 0.5 * rng.standard_normal(shape)
    query = rng.integers(0, queries, sessions)
    order = np.argsort(-(score[query] + temperature * rng.gumbel(size=(sessions, RANKS))), axis=1, kind="stable")
    seen, query = np.unique(query, return_inverse=True)
    document, worth = query[:, None] * RANKS + order, relevance[seen].ravel()
    law, truth = MODELS[model](worth, document)
    if kind == "apart" and model == "dbn":
        of_it = satisfaction[seen].ravel()
        gone = np.full(document.shape, 0.8)
        law, truth = Cascading(worth[document], gone * (1 - of_it[document]), gone), {**truth, "satisfaction": of_it}
    click = law.sample(rng).astype(np.uint8)
    return Log(document.astype(np.int32), query, click, truth, grade[seen].ravel(), score[seen].ravel())


def held(one: Log, fitted: Fitted, table: str) -> tuple[float, float, float]:
    """(mean error, share of the true values in their intervals, mean width)."""
    truth, (low, high) = one.truth[table], fitted.interval(table)
    known, size = np.isfinite(truth), len(truth)
    inside = (low[:size] <= truth) & (truth <= high[:size])
    error = fitted.learnt.parameters[table][:size] - truth
    return float(error[known].mean()), float(inside[known].mean()), float((high - low)[:size][known].mean())


def off(one: Log, fitted: Fitted, table: str) -> float:
    """Root mean square of the errors of the logarithm of `hit`, by views; NaN of other tables."""
    if table != "hit":
        return float("nan")
    truth, shown = one.truth[table][1:], (one.document[:, 1:] >= 0).sum(axis=0)
    error = np.log(fitted.learnt.parameters[table][1 : len(truth) + 1] / truth)
    return float(np.sqrt(error**2 @ shown / shown.sum()))


def table(
    model: str, logs: int, kinds: tuple[str, ...], temperatures: tuple[float, ...], sizes: tuple[int, ...]
) -> Iterator[str]:
    size, more = (" sessions |", " off | off where silent |") if model == "trust" else ("", "")
    head = f"| model |{size} documents | temperature | silent | table | bias | width | covered | covered where silent |"
    yield head + more
    yield f"|---|{'--:|' * bool(size)}---|--:|--:|---|--:|--:|--:|--:|" + "--:|--:|" * bool(more)
    for sessions in sizes:
        for kind in kinds:
            for temperature in temperatures:
                yield from cell(model, sessions, kind, temperature, logs)


def cell(model: str, sessions: int, kind: str, temperature: float, logs: int) -> Iterator[str]:
    names = TABLES[model] if sessions == SESSIONS else TABLES[model][:2]
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in names}
    silent = []
    for seed in range(logs):
        one = log(model, kind, temperature, seed, sessions)
        fitted = click_model(model).of(gathered(one))
        silent.append(FINDINGS[model] not in {caution.code for caution in fitted.cautions})
        for name, rows in found.items():
            rows.append((*held(one, fitted, name), off(one, fitted, name)))
    for name, rows in found.items():
        each, quiet = np.array(rows), np.array(silent)
        where, far = (f"{each[quiet, place].mean():.2f}" if quiet.any() else "" for place in (1, 3))
        bias, covered, width, error = each.mean(axis=0)
        size = f" {sessions:,} |" if model == "trust" else ""
        head = f"| `{model}` |{size} {kind} | {temperature:g} | {quiet.mean():.2f}"
        more = f" {error:.2f} | {far} |".replace("nan", "") if model == "trust" else ""
        yield f"{head} | {name} | {bias:+.3f} | {width:.3f} | {covered:.2f} | {where} |" + more


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=20)
    parser.add_argument("--models", default="dbn,trust")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--temperatures", help="by default those of each model's table")
    parser.add_argument("--sessions", help="by default those of each model's table")
    parser.add_argument("--table", type=Path, help="a page with the markers, to write the tables to")
    given = parser.parse_args()
    for model in given.models.split(","):
        asked = given.temperatures
        temperatures = tuple(float(one) for one in asked.split(",")) if asked else TEMPERATURES[model]
        sizes = tuple(map(int, given.sessions.split(","))) if given.sessions else SIZES[model]
        lines = [f"{given.logs} logs of each cell.", ""]
        for line in table(model, given.logs, tuple(given.kinds.split(",")), temperatures, sizes):
            print(line, flush=True)
            lines.append(line)
        if given.table:
            generated(given.table, MARKS[model], lines, "benchmarks/click_sorted.py")


if __name__ == "__main__":
    main()
