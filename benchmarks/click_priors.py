"""What the blended examination curve and the regression prior are worth, in five worlds of position-based users.

Ten documents a query, relevance .1 + .9 (2^g - 1) / 15, examination 1 / rank, logged by Plackett-Luce on grade
+ N(0, 1/4): `near-oracle` (T = .1, 84 sessions of each of 200 queries), `noisy` (T = 1), `uniform`, `fixed` (one
ranking of each query), and `sparse` (T = .1, 10,000 sessions of 8,000 queries: two views a document). Each line is a
mean over logs:

- curve: mean error of log-examination. bias, bottom: of attraction, over all documents and over those below rank 8.5
  in the mean; error: mean absolute. covered: share of 95 % intervals with the truth, of attraction and of the curve.
- held-out: log-likelihood a session on new sessions of the same policy, less that of rctr. excess: perplexity on random
  rankings, less the truth's. nDCG: of all documents of each query, ordered by attraction.

    python benchmarks/click_priors.py [--logs 10] [--worlds near-oracle,sparse]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from rich.console import Console
from rich.table import Table

from offrank.clicks import Fitted, click_model
from offrank.clicks.documents import Documents, SlateDocuments
from offrank.clicks.sessions import Sessions, Tally

RANKS, GRADES = 10, [0.52, 0.32, 0.13, 0.02, 0.01]
CURVE = 1.0 / np.arange(1, RANKS + 1)
WORLDS = {
    "near-oracle": (200, 16_800, 0.1),
    "noisy": (200, 16_800, 1.0),
    "uniform": (200, 16_800, np.inf),
    "fixed": (200, 16_800, 0.0),
    "sparse": (8_000, 10_000, 0.1),
}
MODELS = ("rctr", "pbm(common)", "pbm", "ubm")
COLUMNS = ("curve", "bias", "bottom", "error", "covered", "curve covered", "held-out", "excess", "nDCG")


class World:
    def __init__(self, name: str, seed: int) -> None:
        self.queries, self.sessions, self.temperature = WORLDS[name]
        self.rng = np.random.default_rng(seed)
        self.grade = self.rng.choice(5, (self.queries, RANKS), p=GRADES)
        self.relevance = 0.1 + 0.9 * (2.0**self.grade - 1) / 15
        self.score = self.grade + 0.5 * self.rng.standard_normal(self.grade.shape)

    def draw(self, temperature: float) -> tuple[np.ndarray, np.ndarray]:
        """([n, 10] documents, clicks)."""
        query = self.rng.integers(0, self.queries, self.sessions)
        noise = self.rng.gumbel(size=(self.sessions, RANKS))
        score = noise if np.isinf(temperature) else self.score[query] + temperature * noise
        document = query[:, None] * RANKS + np.argsort(-score, axis=1)
        return document, self.rng.random(document.shape) < self.chance(document)

    def chance(self, document: np.ndarray) -> np.ndarray:
        return np.asarray(self.relevance.ravel()[document] * CURVE)

    def ndcg(self, value: np.ndarray) -> float:
        gain, weight = 2.0**self.grade - 1, 1 / np.log2(np.arange(2, RANKS + 2))
        order = np.argsort(-value.reshape(gain.shape), axis=1, kind="stable")
        best = -np.sort(-gain, axis=1) @ weight
        found = np.take_along_axis(gain, order, axis=1) @ weight
        return float((found / np.where(best > 0, best, 1))[best > 0].mean())


def measured(world: World) -> Iterator[tuple[str, list[float]]]:
    """Each model on one log."""
    shown, click = world.draw(world.temperature)
    seen, document = np.unique(shown, return_inverse=True)
    sessions = Sessions(
        document.reshape(shown.shape).astype(np.int32), click.astype(np.uint8), np.ones(len(shown)), len(seen)
    )
    logs, base = [world.draw(world.temperature), world.draw(np.inf)], 0.0
    mean_rank = np.bincount(document.ravel(), np.tile(np.arange(1.0, RANKS + 1), len(shown))) / np.bincount(
        document.ravel()
    )
    for name in MODELS:
        model = click_model(name)
        learnt = model.learn(model.from_sessions(sessions))
        fitted, tables = Fitted(model, Documents(seen), learnt, Tally()), learnt.parameters
        each = []
        for slate, clicks in logs:
            place = np.where(np.isin(slate, seen), np.searchsorted(seen, slate), -1)
            p = model.law(tables, SlateDocuments(place, slate >= 0)).conditional(clicks.astype(float))
            each.append(likelihood(p, clicks))
        base = each[0].sum(axis=1).mean() if name == "rctr" else base
        truth = likelihood(world.chance(logs[1][0]), logs[1][1])
        found = dict.fromkeys(COLUMNS, np.nan)
        found["held-out"] = each[0].sum(axis=1).mean() - base
        found["excess"] = perplexity(each[1]) - perplexity(truth)
        if "attraction" in tables:
            value, true = tables["attraction"][:-1], world.relevance.ravel()[seen]
            (low, high), bottom = fitted.interval("attraction"), mean_rank > 8.5
            every = np.full(world.relevance.size, tables["attraction"][-1])
            every[seen] = value
            found |= {"bias": (value - true).mean(), "error": np.abs(value - true).mean(), "nDCG": world.ndcg(every)}
            found["bottom"] = (value - true)[bottom].mean() if bottom.any() else np.nan
            found["covered"] = ((low[:-1] <= true) & (true <= high[:-1])).mean()
        if name.startswith("pbm"):
            low, high = fitted.interval("examination")
            found["curve"] = np.log(tables["examination"] / CURVE)[1:].mean()
            found["curve covered"] = ((low <= CURVE) & (high >= CURVE))[1:].mean()
        yield name, list(found.values())


def likelihood(p: np.ndarray, clicks: np.ndarray) -> np.ndarray:
    return np.log(np.where(clicks, p, 1 - p))


def perplexity(logs: np.ndarray) -> float:
    return float(np.exp(-logs.mean(axis=0)).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=10)
    parser.add_argument("--worlds", default=",".join(WORLDS))
    options = parser.parse_args()
    table = Table(*("world", "model", *COLUMNS), title=f"Means over {options.logs} logs", title_justify="left")
    for world in options.worlds.split(","):
        rows: dict[str, list[list[float]]] = {name: [] for name in MODELS}
        for seed in range(options.logs):
            for name, row in measured(World(world, seed)):
                rows[name].append(row)
        for name, several in rows.items():
            means = np.mean(several, axis=0)
            table.add_row(world, name, *("" if np.isnan(mean) else f"{mean:+.4f}" for mean in means))
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
