"""What the examination curve of `pbm` and `ubm` is worth beside plain EM.

Logs of `_click_worlds`, whose users follow the model. `curve`: as the model learns (`fit_curve`, then the attractions
under their fitted prior). `EM`: 200 rounds of joint EM of examination and attractions, each attraction under the prior
Beta(1, 1). `EM, then prior`: the examination by that EM, then the attractions as the model learns them. Examination is
relative to its first cell, over the cells with at least 100 impressions; `log bias` is the mean error of its logarithm,
`covered` the share of 95 % intervals with the truth, which EM does not have.

    python benchmarks/click_curve.py [--logs 20] [--models pbm,ubm] [--results click_curve.jsonl] [--table PAGE]
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from _click_worlds import WORLDS, Log
from _page import generated

from offrank.clicks import click_model
from offrank.clicks.click_counts import ClickCounts
from offrank.clicks.documents import Documents
from offrank.clicks.fit.posterior import Chances, Fixed, fit_attractions
from offrank.clicks.fitted import Fitted
from offrank.clicks.sessions import Sessions, Tally, collapsed
from offrank.language import silent

NAMES = ("near-oracle", "sparse", "noisy", "uniform")
WAYS = ("curve", "EM", "EM, then prior")
ROUNDS, SEEN = 200, 100
COLUMNS = ("examination", "log bias", "covered", "attraction", "CPU s")


def joint(data: ClickCounts) -> tuple[np.ndarray, np.ndarray]:
    """(attraction [documents], examination [cells]) by EM."""
    shown, clicked, documents, cells = data.shown, data.clicked, data.documents, data.cells
    a, e = np.full(documents, 0.2), np.full(cells, 0.5)
    views, (seen, _) = data.by_document()[0], data.by_cell()
    for _ in range(ROUNDS):
        at, of = a[data.document], e[data.cell]
        left = (shown - clicked) / (1 - at * of)
        attracted = np.bincount(data.document, clicked + left * at * (1 - of), documents)
        looked = np.bincount(data.cell, clicked + left * of * (1 - at), cells)
        a = (attracted + 1) / (views + 2)
        e = np.clip(looked / np.maximum(seen, 1e-9), 1e-6, 1 - 1e-6)
    return a, e


def measured(name: str, model: str, seed: int) -> dict[str, Any]:
    log = WORLDS[name].log(model, seed)
    made = click_model(model)
    size = len(log.truth["attraction"])
    sessions = Sessions(log.document, log.click, np.ones(len(log.click)), size)
    data = made.from_sessions(collapsed(sessions))
    found: dict[str, Any] = {"task": [name, model, seed]}
    begin = time.process_time()
    learnt = made.learn(data)
    seconds = time.process_time() - begin
    low, high = Fitted(made, Documents(np.arange(size)), learnt, Tally()).interval("examination")
    value = learnt.parameters["examination"]
    found["curve"] = [*errors(log, data, value, learnt.parameters["attraction"][:-1], (low, high)), seconds]
    begin = time.process_time()
    attraction, examination = joint(data)
    seconds = time.process_time() - begin
    scale = examination[0]
    found["EM"] = [*errors(log, data, examination / scale, attraction * scale), seconds]
    begin = time.process_time()
    relative = np.minimum(examination / scale, 1.0)
    prior, initial = made._prior(data, relative, None)
    fixed = Fixed(Chances(relative, np.zeros(len(relative))))
    after = fit_attractions(data, fixed, prior, initial, tolerance=1e-5, say=silent)
    seconds += time.process_time() - begin
    found["EM, then prior"] = [*errors(log, data, relative, after.mean[:-1]), seconds]
    return found


def errors(
    log: Log,
    data: ClickCounts,
    curve: np.ndarray,
    attraction: np.ndarray,
    ends: tuple[np.ndarray, np.ndarray] | None = None,
) -> list[float]:
    true, cells = log.truth["examination"], (data.by_cell()[0] >= SEEN) & np.isfinite(log.truth["examination"])
    away = np.abs(curve - true)[cells].mean()
    bias = np.log(np.maximum(curve[cells], 1e-6) / true[cells]).mean()
    covered = np.nan if ends is None else ((ends[0] <= true) & (true <= ends[1]))[cells].mean()
    return [float(away), float(bias), float(covered), float(np.abs(attraction - log.truth["attraction"]).mean())]


def table(found: list[dict[str, Any]]) -> Iterator[str]:
    yield "| model | world | logs | learnt by | " + " | ".join(COLUMNS) + " |"
    yield "|---|---|--:|---|" + "--:|" * len(COLUMNS)
    for model in sorted({one["task"][1] for one in found}):
        for name in NAMES:
            mine = [one for one in found if one["task"][:2] == [name, model]]
            for way in WAYS if mine else ():
                each = np.array([one[way] for one in mine])
                mean, error = each.mean(axis=0), each.std(axis=0, ddof=1) / np.sqrt(len(each))
                covered = "" if np.isnan(mean[2]) else f"{mean[2]:.2f}"
                cells = [f"{mean[0]:.4f} ± {error[0]:.4f}", f"{mean[1]:+.3f}", covered]
                cells += [f"{mean[3]:.4f} ± {error[3]:.4f}", f"{mean[4]:.2f}"]
                yield f"| `{model}` | {name} | {len(mine)} | {way} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=20)
    parser.add_argument("--models", default="pbm,ubm")
    parser.add_argument("--results", type=Path, default=Path("click_curve.jsonl"))
    parser.add_argument("--table", type=Path, help="a page whose block `examination curves` is written anew")
    given = parser.parse_args()
    found = [json.loads(line) for line in given.results.read_text().splitlines()] if given.results.exists() else []
    done = [tuple(one["task"]) for one in found]
    wanted = [(name, model, seed) for seed in range(given.logs) for model in given.models.split(",") for name in NAMES]
    with given.results.open("a") as file:
        for task in wanted:
            if task not in done:
                found.append(measured(*task))
                file.write(json.dumps(found[-1]) + "\n")
                file.flush()
    print(*table(found), sep="\n")
    if given.table:
        generated(given.table, "examination curves", list(table(found)), "benchmarks/click_curve.py")


if __name__ == "__main__":
    main()
