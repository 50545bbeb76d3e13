"""Click models that read features, beside CLAX with the same features: perplexity on queries of the log, and on others.

The world: 5,000 queries with ten documents of ten features each; attraction is Beta(10 m, 10 (1 - m)), and the logit of
m is linear in the features, or bent: linear with a product, a threshold and a square. Users look at rank k with
probability 1/k. A log of 4,000 of the queries, whose frequencies follow Zipf's law, ranked by Plackett-Luce on part of
the logits; two more logs to judge by, of 50,000 sessions each: of these queries, and of the 1,000 others. `best` knows
the attractions of documents in the log, and m alone of others.

CLAX (clax-models 0.1.1, PyPI) learns in an environment of its own, which is made once: two towers, attraction linear in
the features or a network with two hidden layers, AdamW .003, batches of 512, at most 50 epochs with early stopping on a
tenth of the sessions. CPU seconds count reading batches that are in memory; compiled code is loaded before the clock of
offrank starts, and CLAX's includes compilation.

    python benchmarks/click_features.py [--sessions 200000] [--world linear,bent] [--models pbm,...] [--clax FOLDER]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from offrank.clicks import click_model
from offrank.clicks.evaluation import evaluate_models
from offrank.log.batch import Contexts, LogBatch, Shown, SparseFeatures

QUERIES, SEEN, RANKS, WIDTH, ROWS, TESTED = 5_000, 4_000, 10, 10, 65_536, 50_000
MODELS = ("pbm", "pbm(attraction=linear)", "pbm(attraction=boosted)", "pbm(attraction=network)")
CLAX = ("linear", "deep")
REQUIRED = ("clax-models==0.1.1", "jax==0.6.2", "jaxlib==0.6.2")
"""JAX of the time of the Flax that CLAX asks for: with a later one its import fails."""


@dataclass(frozen=True)
class World:
    """x: [QUERIES, RANKS, WIDTH]. logit: of the mean attraction. attraction: of each document."""

    x: np.ndarray
    logit: np.ndarray
    attraction: np.ndarray

    @classmethod
    def drawn(cls, name: str) -> World:
        rng = np.random.default_rng(0)
        x = rng.standard_normal((QUERIES, RANKS, WIDTH))
        logit = -1.5 + x @ np.array([0.8, -0.6, 0.4, 0.3, -0.2, 0.1, 0.0, 0.0, 0.0, 0.0])
        if name == "bent":
            logit = logit + 0.7 * x[..., 0] * x[..., 1] + 1.0 * (x[..., 6] > 0.5) - 0.4 * (x[..., 7] ** 2 - 1)
        mean = 1 / (1 + np.exp(-logit))
        return cls(x, logit, rng.beta(10 * mean, 10 * (1 - mean)))

    def log(self, query: np.ndarray, seed: int) -> Log:
        rng = np.random.default_rng(seed)
        order = np.empty((len(query), RANKS), np.uint8)
        clicks = np.empty((len(query), RANKS), np.uint8)
        for first in range(0, len(query), ROWS):
            rows = slice(first, first + ROWS)
            score = self.logit[query[rows]] + rng.gumbel(size=(len(query[rows]), RANKS))
            order[rows] = np.argsort(-score, axis=1)
            chance = np.take_along_axis(self.attraction[query[rows]], order[rows].astype(int), 1)
            clicks[rows] = rng.random(chance.shape) < chance / np.arange(1, RANKS + 1)
        return Log(self, query, order, clicks)

    def logs(self, sessions: int) -> dict[str, Log]:
        """The training log, and those of the same and of other queries."""
        rng = np.random.default_rng(1)
        share = 1 / np.arange(1, SEEN + 1)
        often = rng.choice(SEEN, sessions, p=share / share.sum())
        same = rng.choice(np.unique(often), TESTED)
        return {"train": self.log(often, 2), "same": self.log(same, 3), "other": self.log(_others(rng), 4)}


def _others(rng: np.random.Generator) -> np.ndarray:
    return np.asarray(rng.integers(SEEN, QUERIES, TESTED))


@dataclass(frozen=True)
class Log:
    """Sessions in memory, as a source of one part. query: [n]. order, clicks: [n, RANKS]."""

    world: World
    query: np.ndarray
    order: np.ndarray
    clicks: np.ndarray

    def parts(self) -> int:
        return 1

    def batches(self, part: int) -> Iterator[LogBatch]:
        x = self.world.x
        offsets, indices = np.arange(x[..., 0].size + 1) * WIDTH, np.tile(np.arange(WIDTH), x[..., 0].size)
        for first in range(0, len(self.query), ROWS):
            rows = slice(first, first + ROWS)
            query = self.query[rows].astype(np.int64)
            full = np.full(len(query), RANKS)
            features = SparseFeatures(query * RANKS, offsets, indices, x.ravel())
            items = np.tile(np.arange(RANKS), (len(query), 1))
            contexts = Contexts(items, full, full, keys={"query": query}, features=features)
            number = np.arange(first, first + len(query), dtype=np.uint64)
            slates, clicks = self.order[rows].astype(np.int64), self.clicks[rows].astype(np.float64)
            yield LogBatch(contexts, Shown(slates), clicks, None, np.ones(len(query)), number)

    def select(self, needed: object) -> Log:
        return self

    def describe(self) -> str:
        return f"{len(self.query):,} simulated sessions"

    def best(self, *, known: bool) -> np.ndarray:
        """[n, RANKS] click probabilities by the truth; known: of documents, else of their features."""
        attraction = self.world.attraction if known else 1 / (1 + np.exp(-self.world.logit))
        shown = np.take_along_axis(attraction[self.query], self.order.astype(int), 1)
        return np.asarray(shown / np.arange(1, RANKS + 1))

    def perplexity(self, chance: np.ndarray) -> float:
        """The mean over ranks of 2^(mean loss in bits)."""
        chance = np.clip(chance, 1e-10, 1 - 1e-10)
        loss = -np.log2(np.where(self.clicks > 0, chance, 1 - chance))
        return float(np.exp2(loss.mean(axis=0)).mean())

    def arrays(self, name: str) -> dict[str, np.ndarray]:
        return {f"{name}_{part}": getattr(self, part) for part in ("query", "order", "clicks")}


def of_offrank(spelling: str, logs: dict[str, Log]) -> tuple[float, list[float]]:
    """(CPU seconds, perplexities)."""
    model = click_model(spelling)
    small = Log(logs["train"].world, *(getattr(logs["train"], part)[:2_000] for part in ("query", "order", "clicks")))
    model.fit(small, by="query")  # loads compiled code
    start = time.process_time()
    fitted = model.fit(logs["train"], by="query")
    seconds = time.process_time() - start
    judged = (evaluate_models({"": fitted}, logs[name])[""].perplexity.value for name in ("same", "other"))
    return seconds, list(judged)


def of_clax(kind: str, logs: dict[str, Log], folder: Path) -> tuple[float, list[float]]:
    """(CPU seconds, perplexities) of CLAX in its own environment."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *REQUIRED], check=True)
    with tempfile.TemporaryDirectory() as place:
        arrays = [logs[name].arrays(name) for name in logs]
        given = {name: array for part in arrays for name, array in part.items()}
        np.savez(f"{place}/logs.npz", x=logs["train"].world.x.astype(np.float32), **given)
        command = [python, Path(__file__).with_name("_clax_features.py"), kind, place]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1]
        found = np.load(f"{place}/found.npz")
        return json.loads(told), [logs[name].perplexity(found[name]) for name in ("same", "other")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=200_000)
    parser.add_argument("--world", default="linear,bent")
    parser.add_argument("--models", default=";".join(MODELS), help="separated by semicolons")
    parser.add_argument("--clax", type=Path, default=None, help="folder of CLAX's environment; by default without CLAX")
    given = parser.parse_args()
    for name in given.world.split(","):
        logs = World.drawn(name).logs(given.sessions)
        title = f"{name}: {given.sessions:,} sessions of {len(np.unique(logs['train'].query)):,} queries"
        table = Table("", "CPU s", "the log's queries", "other queries", title=title)
        best = (logs[one].perplexity(logs[one].best(known=one == "same")) for one in ("same", "other"))
        table.add_row("best", "", *(f"{score:.5f}" for score in best))
        for one in filter(None, given.models.split(";")):
            table.add_row(one, *_cells(*of_offrank(one, logs)))
        for one in CLAX if given.clax else ():
            table.add_row(f"CLAX, {one}", *_cells(*of_clax(one, logs, given.clax)))
        Console().print(table)


def _cells(seconds: float, scores: list[float]) -> list[str]:
    return [f"{seconds:.1f}", *(f"{score:.5f}" for score in scores)]


if __name__ == "__main__":
    main()
