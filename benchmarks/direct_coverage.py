"""How often 95 % intervals of `direct` and `dr` hold the truth, with and without the doubt of the click model.

In the worlds of `_click_worlds` a model of the users' own kind is learnt from half of the sessions. From the other half
follows what an order by another noisy score would have earned. Both halves have the same queries: `cluster=None`.

    python benchmarks/direct_coverage.py [--logs 50] [--models "pbm;dbn"] [--scale .5]
        [--table docs/reference/benchmarks.md]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from _click_worlds import MODELS, RANKS, WORLDS, Log
from _page import generated
from _worlds import lists, table

import offrank
from offrank.clicks import Fitted, click_model
from offrank.estimators import Direct, DoublyRobust, estimator


def rows(log: Log, sessions: np.ndarray, score: np.ndarray) -> pa.Table:
    """Some sessions of a log, each with the score of its items."""
    document = log.document[sessions]
    columns = {"slate": lists(document.astype(np.int64)), "clicks": lists(log.click[sessions])}
    scores = {"old": lists(log.score[document]), "new": lists(score[document])}
    return table({"query": pa.array(log.query[sessions]), **columns, **scores})


def estimates(log: Log, model: str, temperature: float, seed: int) -> Iterator[tuple[str, float, offrank.Estimate]]:
    """(name, error, estimate), with the doubt of the model and without it."""
    rng = np.random.default_rng(seed)
    score = log.grade + rng.standard_normal(len(log.grade))
    half = rng.permutation(len(log.click))
    learnt, judged = np.array_split(half, 2)
    fitted = click_model(model).fit(rows(log, learnt, score))
    bare = replace(fitted, learnt=replace(fitted.learnt, strength={}, loadings={}))
    best = np.argsort(-score.reshape(-1, RANKS), axis=1) + np.arange(0, len(score), RANKS)[:, None]
    law, _ = MODELS[users(model)](0.1 + 0.9 * (2.0**log.grade - 1) / 15, best)
    truth = float(law.marginal().sum(axis=1)[log.query[judged]].mean())
    logging = "uniform" if np.isinf(temperature) else f"plackett_luce(old, temperature={temperature:g}, log=True)"
    source = offrank.read_log(rows(log, judged, score))
    for kind, one in (("with", fitted), ("without", bare)):
        asked = every(one)
        found = offrank.evaluate(source, "top(new)", logging, list(asked.values()), cluster=None)
        for name, estimate in zip(asked, found.estimates.given.values(), strict=True):
            yield f"{name} {kind}", estimate.value - truth, estimate


def users(model: str) -> str:
    """The model of the users."""
    return model.partition("(")[0]


def every(model: Fitted) -> dict[str, Direct | DoublyRobust]:
    return {"direct": Direct(model), "dr(residual=ipm)": DoublyRobust(model, residual=estimator("ipm"))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", type=int, default=50)
    parser.add_argument("--models", default="pbm;dbn;pbm(attraction=linear, features=new)")
    parser.add_argument("--worlds", default="near-oracle,sparse,noisy,uniform")
    parser.add_argument("--scale", type=float, default=0.5, help="share of the sessions of each world")
    parser.add_argument("--table", type=Path)
    given = parser.parse_args()
    lines = [f"{given.logs} logs of each world, {given.scale:g} times its sessions.", ""]
    lines += [
        "| model | world | estimate | bias | sd | error, mean | covered with | without |",
        "|---|---|---|--:|--:|--:|--:|--:|",
    ]
    for model in given.models.split(";"):
        for world in given.worlds.split(","):
            found: dict[str, list[tuple[float, float, bool]]] = {}
            for seed in range(given.logs):
                log = WORLDS[world].log(users(model), seed, given.scale)
                for name, error, one in estimates(log, model, WORLDS[world].temperature, seed):
                    truth = one.value - error
                    found.setdefault(name, []).append((error, one.standard_error, one.low <= truth <= one.high))
            for name in ("direct", "dr(residual=ipm)"):
                own, bare = (np.array(found[f"{name} {kind}"], float) for kind in ("with", "without"))
                bias, sd = own[:, 0].mean(), own[:, 0].std(ddof=1)
                numbers = [
                    f"{bias:+.4f}",
                    f"{sd:.4f}",
                    f"{own[:, 1].mean():.4f}",
                    *(f"{x[:, 2].mean():.2f}" for x in (own, bare)),
                ]
                lines.append(f"| `{model}` | {world} | `{name}` | {' | '.join(numbers)} |")
                print(lines[-1], flush=True)
    if given.table:
        generated(given.table, "direct coverage", lines, "benchmarks/direct_coverage.py")


if __name__ == "__main__":
    main()
