"""How often 95 % intervals hold the truth where rows depend on each other, and where propensities are counted.

Clusters: queries differ in their click rate, and have 30 impressions each, or sizes 1, 1/2, 1/3, ... of it (Zipf). The
importance weights are heavy (log-normal; 100 impressions are worth 37) and clicks rise with them. The truth is the mean
over queries of this kind.

Counted: a Plackett-Luce ranker shows 4 of 6, or 5 of 10, documents for 200 queries that the log knows; the target sorts
by another score. The truth is that of these queries.

    python benchmarks/cluster_coverage.py [--logs 1000] [--counted-logs 40]
"""

from __future__ import annotations

import argparse
import math

import numpy as np
from rich.console import Console
from rich.table import Table

import offrank
from offrank.inference import Inference
from offrank.simulation import SearchWorld
from offrank.sums import BootstrapFold, Moments, NamedColumns, Sample, Sums, ratio
from offrank.sums.clusters import Clusters

PER_QUERY = 30
QUERIES = (20, 50, 100, 300)
ROWS = (10, 20, 40, 80, 160)
DOCUMENTS = ((6, 4), (10, 5))
ESTIMATES = {"ips": ratio(1, 0), "snips": ratio(1, 2)}
SIGMA = 1.0
"""Of the log weights."""
NAMES = ("ipm", "snipm", "interpol(window=1)")
CONSOLE = Console(width=130)


def sizes(kind: str, queries: int) -> np.ndarray:
    """Impressions of each query, some 30 on average."""
    share = np.ones(queries) if kind == "equal" else 1 / np.arange(1, queries + 1)
    return np.maximum(1, np.round(PER_QUERY * queries * share / share.sum())).astype(int)


def rise(weight: np.ndarray) -> np.ndarray:
    """How clicks rise with the weight: the target shows what is clicked more."""
    return 0.5 + weight / (1 + weight)


def simulate(rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """[n, 3] one, weighted click and weight of each impression."""
    rate = np.repeat(rng.beta(1.5, 4.0, size=len(rows)), rows)
    weight = np.exp(SIGMA * rng.normal(size=rows.sum()) - SIGMA**2 / 2)
    click = rng.random(len(weight)) < rate * rise(weight)
    return np.stack([np.ones(len(weight)), weight * click, weight], axis=1)


def truth() -> float:
    """The mean click rate times E[weight rise(weight)], by quadrature."""
    z, share = np.polynomial.hermite_e.hermegauss(80)
    weight = np.exp(SIGMA * z - SIGMA**2 / 2)
    return 1.5 / 5.5 * float((share * weight * rise(weight)).sum()) / math.sqrt(2 * math.pi)


def spreads(values: np.ndarray, rows: np.ndarray) -> dict[str, Inference]:
    """What the three kinds of intervals are made from."""
    extremes = values.min(axis=0), values.max(axis=0)
    moments = Moments(len(values), values.mean(axis=0), (len(values) - 1) * np.cov(values.T), *extremes)
    sums_of_log = Sums(NamedColumns((0, 1, 2)), moments)
    sums = np.add.reduceat(values, np.cumsum(rows) - rows)
    fold = BootstrapFold()
    drawn = fold.of(Sample.of(sums, np.arange(len(rows), dtype=np.uint64)))
    clusters = Clusters("query", sums, rows.astype(float), len(rows), drawn)
    return {
        "rows alone": Inference(sums_of_log, "normal", 0.95),
        "normal": Inference(sums_of_log, "normal", 0.95, (clusters,)),
        "studentised": Inference(sums_of_log, "studentised", 0.95, (clusters,)),
        "bootstrap": Inference(sums_of_log, "bootstrap", 0.95, (clusters,)),
    }


def clustered(logs: int) -> Table:
    """Coverage by sizes, number of queries, estimator and interval."""
    shown = Table(title=f"Coverage of 95 % intervals of clusters, {logs:,} logs")
    for name in ("sizes", "queries", "effective", "design effect", *(f"{e}: {i}" for e in ESTIMATES for i in _KINDS)):
        shown.add_column(name, justify="right")
    wanted, least = truth(), 1.0
    for kind in ("equal", "zipf"):
        for queries in QUERIES:
            rows, held = sizes(kind, queries), np.zeros((len(ESTIMATES), len(_KINDS)))
            effective, effect = [], []
            for seed in range(logs):
                made = spreads(simulate(rows, np.random.default_rng([seed, queries])), rows)
                for place, mean in enumerate(ESTIMATES.values()):
                    found = [one.interval(mean) for one in made.values()]
                    held[place] += [one.low <= wanted <= one.high for one in found]
                effective.append(1 + made["normal"].clusters[0].freedom([0]))
                effect.append(made["normal"].design_effect(ESTIMATES["snips"], made["normal"].clusters[0]))
            cells = [f"{share / logs:.3f}" for share in held.ravel()]
            least = min(least, *(held[:, 1:] / logs).ravel())
            shown.add_row(kind, str(queries), f"{np.mean(effective):.0f}", f"{np.mean(effect):.1f}", *cells)
    shown.caption = f"least of those by clusters: {least:.3f}"
    return shown


_KINDS = ("rows alone", "normal", "studentised", "bootstrap")


def counted(logs: int) -> Table:
    """Coverage with counted propensities, by impressions per query."""
    shown = Table(title=f"Coverage of 95 % intervals with counted propensities, {logs:,} logs of 200 queries")
    for name in ("documents", "rows a query", *NAMES, "mean weight of ipm"):
        shown.add_column(name, justify="right")
    for documents, slots in DOCUMENTS:
        for rows in ROWS:
            held, weight = np.zeros(len(NAMES)), 0.0
            for seed in range(logs):
                world = SearchWorld(200 * rows, queries=200, candidates=documents, slots=slots, seed=seed)
                wanted, log = world.truth(offrank.Top("new_score")), world.table(200 * rows, 0)
                found = offrank.evaluate(
                    log,
                    "top(new_score)",
                    offrank.Counted(by="query"),
                    NAMES,
                    examination=list(world.examination),
                    cluster=None,
                )
                held += [found[name].low <= wanted <= found[name].high for name in NAMES]
                weight += found["ipm"].mean_weight / logs
            cells = [f"{share / logs:.2f}" for share in held]
            shown.add_row(f"{slots} of {documents}", str(rows), *cells, f"{weight:.3f}")
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", type=int, default=1000)
    parser.add_argument("--counted-logs", type=int, default=40)
    arguments = parser.parse_args()
    CONSOLE.print(clustered(arguments.logs))
    if arguments.counted_logs:
        CONSOLE.print(counted(arguments.counted_logs))


if __name__ == "__main__":
    main()
