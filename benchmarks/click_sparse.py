"""What position-based models lose to click rates by rank on sparse logs: held-out log-likelihood, in nats a session.

Of a few views a document, the worth of documents can be learnt only together; a model that believes single clicks, or
takes them for examination, predicts new sessions worse than `rctr`, which knows no document. Queries of 10 documents;
users of a position-based model with relevance from grades, continuous, or nearly equal everywhere; policies by
Plackett-Luce on the logit of relevance and noise. 10,000 new sessions of the policy. `lost` is what a model loses
to `rctr` on documents that the log has shown: the mean over logs, and the most; below 0 it predicts better. `new` is
the mean of what it loses on the others, in the same sessions.

    python benchmarks/click_sparse.py [--logs 10] [--models pbm,ubm,trust] [--table docs/reference/benchmarks.md]
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from _click_worlds import RANKS, SHARES
from _page import generated
from numpy.typing import NDArray

from offrank.clicks import Fitted, click_model
from offrank.clicks.documents import Documents, SlateDocuments
from offrank.clicks.sessions import Sessions, Tally, TrainingData, collapsed

SIZES = ((2_000, 2_000), (500, 500), (100, 300), (30, 60))
"""Queries and sessions."""
TEMPERATURES = (0.1, 1.0, np.inf)
KINDS = ("graded", "continuous", "alike")
HELD_OUT = 10_000
CURVE = 1.0 / np.arange(1, RANKS + 1)

Floats = NDArray[np.float64]


class World:
    def __init__(self, kind: str, queries: int, temperature: float, seed: int) -> None:
        self.rng, self.temperature = np.random.default_rng([seed, KINDS.index(kind), queries]), temperature
        shape = (queries, RANKS)
        self.relevance = {
            "graded": 0.1 + 0.9 * (2.0 ** self.rng.choice(5, shape, p=SHARES) - 1) / 15,
            "continuous": np.clip(self.rng.beta(1, 4, shape), 0.02, 0.95),
            "alike": self.rng.beta(30, 120, shape),
        }[kind]
        logits = np.log(self.relevance / (1 - self.relevance)) if kind != "graded" else self.relevance * 4
        self.score = logits + 0.5 * self.rng.standard_normal(shape)

    def draw(self, sessions: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """([n, 10] documents, clicks)."""
        query = self.rng.integers(0, len(self.score), sessions)
        noise = self.rng.gumbel(size=(sessions, RANKS))
        score = noise if np.isinf(self.temperature) else self.score[query] + self.temperature * noise
        document = query[:, None] * RANKS + np.argsort(-score, axis=1, kind="stable")
        return document, self.rng.random(document.shape) < self.relevance.ravel()[document] * CURVE


def likelihood(
    fitted: Fitted, seen: NDArray[np.int64], document: NDArray[np.int64], click: NDArray[np.bool_]
) -> Floats:
    """[2] nats a session, of documents that were seen, and of others, which are unknown."""
    at = np.minimum(np.searchsorted(seen, document), len(seen) - 1)
    place = np.where(seen[at] == document, at, -1)
    chance = fitted.model.law(fitted.learnt.parameters, SlateDocuments(place, place >= -1)).conditional(click * 1.0)
    nats = np.log(np.where(click, chance, 1 - chance))
    return np.array([nats[place >= 0].sum(), nats[place < 0].sum()]) / len(click)


def lost(kind: str, size: tuple[int, int], temperature: float, models: list[str], seed: int) -> list[Floats]:
    """What each model loses to `rctr`: [2] on documents that were seen, and on others."""
    queries, sessions = size
    world = World(kind, queries, temperature, seed)
    (shown, click), new = world.draw(sessions), world.draw(HELD_OUT)
    seen, document = np.unique(shown, return_inverse=True)
    document = document.reshape(shown.shape).astype(np.int32)
    whole = Sessions(document, click.astype(np.uint8), np.ones(sessions), len(seen), seen // RANKS)
    data = TrainingData(Documents(np.arange(len(seen))), collapsed(whole), Tally(sessions, ranks=RANKS))
    found = [likelihood(click_model(name).of(data), seen, *new) for name in ("rctr", *models)]
    return [found[0] - one for one in found[1:]]


def table(models: list[str], logs: int, sizes: list[tuple[int, int]]) -> Iterator[str]:
    """The lines of a Markdown table: of each model the mean, then the most, then the mean on new documents."""
    yield (
        "| documents | queries | sessions | temperature | "
        + " | ".join(f"`{one}` lost | at most | new" for one in models)
        + " |"
    )
    yield "|---|--:|--:|--:|" + "--:|--:|--:|" * len(models)
    for kind in KINDS:
        for size in sizes:
            for temperature in TEMPERATURES:
                each = np.array([lost(kind, size, temperature, models, seed) for seed in range(logs)])
                cells = [
                    f"{known.mean():+.4f} | {known.max():+.4f} | {new.mean():+.4f}"
                    for known, new in each.transpose(1, 2, 0)
                ]
                how = "random" if np.isinf(temperature) else f"{temperature:g}"
                yield f"| {kind} | {size[0]:,} | {size[1]:,} | {how} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=10)
    parser.add_argument("--models", default="pbm,ubm,trust")
    parser.add_argument("--sessions", default=",".join(str(size[1]) for size in SIZES), help="which sizes")
    parser.add_argument("--table", type=Path, help="the page that includes the table")
    given = parser.parse_args()
    lines, sessions = [], [int(one) for one in given.sessions.split(",")]
    sizes = [size for size in SIZES if size[1] in sessions]
    for line in table(given.models.split(","), given.logs, sizes):
        print(line, flush=True)
        lines.append(line)
    if given.table:
        generated(given.table, "sparse logs", [f"{given.logs} logs of each.", "", *lines], "benchmarks/click_sparse.py")


if __name__ == "__main__":
    main()
