"""How well judgements from clicks put documents in order: Kendall's tau with the truth of simulated users.

Queries of 10 documents, attraction .05 + .9 Beta(1, 3), which has no ties. Users look at rank k with probability 1/k
(`pbm`), or read down, are satisfied by a click with half of its attraction, and go on with .9 (`dbn`). The ranker sorts
by w z + N(0, 1/4) + .3 Gumbel, z the attraction's normal score: `good` with w = 1, `fair` with .3; or at `random`.
Judges: raw click rates, clicks over expected clicks (`coec`, what search engines compute), and click models. Each
number is the mean over queries of tau-b with the true attraction, over logs, with twice its standard error.

    python benchmarks/coec.py [--logs 3] [--sessions 40000] [--write docs/how-to/clicks-and-judges.md]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from _page import generated
from scipy.stats import kendalltau, norm, rankdata

from offrank.clicks import Sessions, click_model

RANKS, QUERIES = 10, 200
JUDGES = ("raw rates", "coec", "pbm", "ubm", "dbn")
RANKERS = {"good": 1.0, "fair": 0.3, "random": 0.0}
WORLDS = [(users, ranker) for users in ("pbm", "dbn") for ranker in RANKERS]


def log(users: str, ranker: str, sessions: int, rng: np.random.Generator) -> tuple[Sessions, np.ndarray]:
    """Sessions, and the attraction of each document [queries * 10]."""
    attraction = 0.05 + 0.9 * rng.beta(1, 3, (QUERIES, RANKS))
    quality = norm.ppf(rankdata(attraction).reshape(attraction.shape) / (attraction.size + 1))
    score = RANKERS[ranker] * quality + 0.5 * rng.standard_normal(quality.shape)
    query = rng.integers(0, QUERIES, sessions)
    noise = 0.3 * rng.gumbel(size=(sessions, RANKS))
    order = np.argsort(-(noise if ranker == "random" else score[query] + noise), axis=1)
    document = query[:, None] * RANKS + order
    attracted = rng.random(document.shape) < attraction.ravel()[document]
    if users == "pbm":
        click = attracted & (rng.random(document.shape) < 1 / np.arange(1, RANKS + 1))
    else:
        satisfied = rng.random(document.shape) < attraction.ravel()[document] / 2
        leaves = (attracted & satisfied) | (rng.random(document.shape) > 0.9)
        click = attracted & (np.cumsum(leaves, axis=1) - leaves == 0)
    rows = document.astype(np.int32), click.astype(np.uint8), np.ones(sessions)
    return Sessions(*rows, QUERIES * RANKS), attraction.ravel()


def judged(name: str, sessions: Sessions) -> np.ndarray:
    """What a judge makes of each document."""
    documents = np.arange(QUERIES * RANKS)
    if name == "raw rates":
        shown = np.bincount(sessions.document.ravel(), minlength=len(documents))
        clicked = np.bincount(sessions.document.ravel(), sessions.click.ravel(), len(documents))
        return np.asarray(clicked / np.maximum(shown, 1))
    model = click_model(name)
    return model.relevance(model.learn(model.from_sessions(sessions)).parameters, documents)


def tau(found: np.ndarray, truth: np.ndarray) -> float:
    """Mean over queries."""
    each = zip(found.reshape(-1, RANKS), truth.reshape(-1, RANKS), strict=True)
    return float(np.nanmean([kendalltau(*one).statistic for one in each]))


def rows(logs: int, sessions: int) -> Iterator[str]:
    """The table, a line at a time."""
    yield "| Users, ranker | " + " | ".join(JUDGES) + " |"
    yield "|---|" + "--:|" * len(JUDGES)
    for world, (users, ranker) in enumerate(WORLDS):
        found = np.empty((logs, len(JUDGES)))
        for seed in range(logs):
            data, truth = log(users, ranker, sessions, np.random.default_rng([seed, world]))
            found[seed] = [tau(judged(name, data), truth) for name in JUDGES]
        ends = 2 * found.std(axis=0, ddof=1) / np.sqrt(logs)
        told = " | ".join(f"{mean:.3f} ± {end:.3f}" for mean, end in zip(found.mean(axis=0), ends, strict=True))
        yield f"| `{users}`, {ranker} | {told} |"


def main() -> None:
    """Print the table, or write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=3)
    parser.add_argument("--sessions", type=int, default=40_000)
    parser.add_argument("--write", type=Path)
    asked = parser.parse_args()
    found = list(rows(asked.logs, asked.sessions))
    print("\n".join(found))
    if asked.write is not None:
        generated(asked.write, "coec", found, "benchmarks/coec.py")


if __name__ == "__main__":
    main()
