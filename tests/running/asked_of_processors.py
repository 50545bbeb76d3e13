"""What is asked on each processor: one of everything that offrank computes. Run as a program, it prints JSON.

python -m tests.running.asked_of_processors FOLDER THREADS
"""

from __future__ import annotations

import base64
import json
import sys
import tempfile
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import chdir
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

import offrank
from offrank.reward_models import OwnRegression
from offrank.verbs.learn import learn
from tests.reward_models import logs as pages
from tests.verbs.logs import CURVE, search

LOGGING = "plackett_luce(old_score)"
SLATES = ("ips", "snips", "snrips", "snipm", "wpi", "interpol(window=1)", "clip(snips, 20)", "logged")
MODELS = ("dr(lasso)", "dr(tree(depth=3), residual=pi)", "direct(boosted(leaves=7))")
WIDE, ROWS = 20_000, 1200
"""Features of a slate, and rows: too many numbers for all rows to be learnt from."""


class Mean:
    """Predicts the mean reward that it has seen: another for other rows."""

    def fit(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> Mean:
        self.mean = float(y.mean())
        return self

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.full(len(x), self.mean)


def write(folder: Path) -> None:
    """The logs."""
    pq.write_table(search(), folder / "search.parquet", row_group_size=700)
    pq.write_table(pages.log()[0], folder / "pages.parquet", row_group_size=110)
    rng = np.random.default_rng(0)
    wide = {
        "query": rng.integers(0, 40, ROWS),
        "slate": rng.integers(0, 2, (ROWS, 1)).tolist(),
        "candidates": [[0, 1]] * ROWS,
        "features": [[[0], [WIDE - 1]]] * ROWS,
        "reward": rng.normal(size=ROWS),
    }
    pq.write_table(pa.table(wide), folder / "wide.parquet", row_group_size=250)


def answers(folder: Path, threads: int) -> dict[str, Any]:
    """Everything by its name, as plain values."""
    with ThreadPoolExecutor(threads) as executor, tempfile.TemporaryDirectory() as scratch, chdir(scratch):
        return {name: one for asked in (_judged, _learnt) for name, one in asked(folder, Path(scratch), executor)}


def _array(held: dict[str, Any]) -> Any:
    """A table of a model's file as plain numbers."""
    if set(held) != {"kind", "shape", "base64"}:
        return held
    return np.frombuffer(base64.b64decode(held["base64"]), held["kind"]).tolist()


def _judged(folder: Path, _: Path, executor: Executor) -> Any:
    log, slates = folder / "search.parquet", folder / "pages.parquet"
    targets = {"new": "top(new_score)", "as logged": LOGGING, "chance": "uniform"}
    for cluster in ("auto", None):
        found = offrank.evaluate(
            log, targets, LOGGING, SLATES, examination=CURVE, cluster=cluster, by="device", executor=executor
        )
        yield f"evaluate, cluster={cluster}", found.to_dict()
    yield "check", offrank.check(log, None, LOGGING, executor=executor).to_dict()
    yield "reward models", offrank.evaluate(slates, "top(new)", "uniform", MODELS, executor=executor).to_dict()
    kept = OwnRegression(Mean(), folds=2).fit(offrank.read_log(folder / "wide.parquet"), executor)
    means = [one.mean for one in kept.fitted.regressors]
    yield "rows kept", {"means": means, "learnt from": kept.evidence.rows, "of": kept.evidence.read}


def _learnt(folder: Path, scratch: Path, executor: Executor) -> Any:
    log, slates = folder / "search.parquet", folder / "pages.parquet"
    for model in ("dbn", "pbm"):
        offrank.fit_clicks(log, model, scratch / "model.json", executor=executor)
        made = json.loads((scratch / "model.json").read_text(), object_hook=_array)
        yield f"clicks {model}", {name: part for name, part in made.items() if name != "sha256"}
    for method in ("plackett-luce", "poem"):
        found = learn(slates, method, "policy.npz", logging="uniform", epochs=2, executor=executor)
        kept = np.load("policy.npz")
        numbers = {name: kept[name].ravel() for name in kept.files if kept[name].dtype.kind == "f"}
        weights = {name: [np.flatnonzero(one).tolist(), one[one != 0].tolist()] for name, one in numbers.items()}
        yield f"learn {method}", {"weights": weights, "found": found.to_dict()}


if __name__ == "__main__":
    print(json.dumps(answers(Path(sys.argv[1]), int(sys.argv[2]))))
