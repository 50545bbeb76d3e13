"""How often 95 % intervals hold the truth: 1,000 simulated logs with known truth.

A Plackett-Luce ranker shows 4 of 6 candidates to users of the position-based model, and another
Plackett-Luce ranker is judged. Three kinds of logs: independent rows; the same with 9 of 10 rows
without a click left out (`inclusion`); and rows of users who differ in how readily they click
(`cluster`). The coverage of the difference to the logging policy stands after the slash.

Then worlds whose weights are skewed: how often each kind of interval is too high, or too low, for the truth.

    python benchmarks/interval_coverage.py [--logs 1000] [--rows 2000] [--skewed-logs 200]
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from _weights import World, world
from _worlds import lists, table
from rich.console import Console
from rich.table import Table

import offrank
from offrank.inference import IntervalSpec
from offrank.log import Contexts
from offrank.policies import PlackettLuce
from offrank.simulation.search import SearchWorld
from offrank.sums import NamedColumns, Sample, ratio
from offrank.sums.clusters import SAID

WORLD = SearchWorld(queries=100, seed=11)
LOGGING, TARGET = PlackettLuce("old_score"), PlackettLuce("blend")
ESTIMATORS = ["ips", "snips", "ipm", "snipm", "rips", "snrips", "interpol(window=1)", "sninterpol(window=1)", "logged"]
SKIPPED = 0.9  # share of the rows without a click that a sub-sampled log leaves out
EAGERNESS = np.array([0.2, 1.0])  # what a user's click probabilities are multiplied by
PER_USER = 5
KINDS = ("independent rows", "inclusion", "cluster")


def contexts(query: np.ndarray) -> Contexts:
    """The contexts of these queries, with a score halfway between the old and the new one."""
    found = WORLD.contexts(query)
    scores = dict(found.scores)
    scores["blend"] = np.sqrt(scores["old_score"] * scores["new_score"])
    return type(found)(found.candidates, found.size, found.length, scores)


def simulate(kind: str, rows: int, rng: np.random.Generator) -> pa.Table:
    """A log of about so many rows."""
    if kind != "independent rows":
        rows *= 2  # of which half are left, or which say as much as half as many
    per_user = PER_USER if kind == "cluster" else 1
    query = np.repeat(rng.integers(WORLD.queries, size=rows // per_user), per_user)
    eagerness = np.repeat(rng.choice(EAGERNESS, size=rows // per_user), per_user)
    found = contexts(query)
    slates = LOGGING.sample(found, rng)
    chance = WORLD.examination * WORLD.relevance[query[:, None], slates] * eagerness[:, None]
    clicks = (rng.random(slates.shape) < chance).astype(np.float64)
    inclusion = np.where(clicks.any(axis=1) | (kind != "inclusion"), 1.0, 1 - SKIPPED)
    columns = {
        "candidates": lists(found.candidates),
        "slate": lists(np.take_along_axis(found.candidates, slates, axis=1)),
        "clicks": lists(clicks),
        "old_score": lists(found.scores["old_score"]),
        "blend": lists(found.scores["blend"]),
        "inclusion": pa.array(inclusion),
        "user": pa.array(np.arange(rows) // per_user),
    }
    return table(columns).filter(rng.random(rows) < inclusion)


def truth(policy: PlackettLuce) -> float:
    """What a policy earns per impression, all queries being alike."""
    found = contexts(np.arange(WORLD.queries))
    items = np.broadcast_to(np.arange(WORLD.candidates), (WORLD.queries, WORLD.candidates)).copy()
    law = policy.rank_probs(found, items)
    earned = np.einsum("qmk,k,qm->q", law, WORLD.examination, WORLD.relevance)
    return float(earned.mean() * EAGERNESS.mean())


def hits(kind: str, interval: str, log: pa.Table, wanted: dict[str, float]) -> Iterator[tuple[str, str, bool]]:
    """(estimator, what, whether the interval holds the truth)."""
    result = offrank.evaluate(
        log,
        target=TARGET,
        logging=LOGGING,
        estimators=ESTIMATORS,
        examination=list(WORLD.examination),
        interval=interval,
        cluster="user" if kind == "cluster" else None,
    )
    for name in ESTIMATORS:
        estimate = result[name]
        value = wanted["logging" if name == "logged" else "target"]
        yield name, "value", estimate.low <= value <= estimate.high
        if name != "logged":
            difference = wanted["target"] - wanted["logging"]
            yield name, "difference", estimate.difference.low <= difference <= estimate.difference.high


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--skewed-logs", type=int, default=200)
    arguments = parser.parse_args()
    if arguments.skewed_logs:
        show_skewed(arguments.skewed_logs)
    if not arguments.logs:
        return
    wanted = {"target": truth(TARGET), "logging": truth(LOGGING)}
    counted: Counter[tuple[str, ...]] = Counter()
    for seed in range(arguments.logs):
        rng = np.random.default_rng(seed)
        for kind in KINDS:
            log = simulate(kind, arguments.rows, rng)
            for interval in ("normal", "bootstrap"):
                for name, what, held in hits(kind, interval, log, wanted):
                    counted[kind, interval, name, what] += held
    shares = {key: count / arguments.logs for key, count in counted.items()}
    show(shares, arguments.logs, arguments.rows)


def show(shares: dict[tuple[str, ...], float], logs: int, rows: int) -> None:
    """Print the table and its extremes."""
    shown = Table(title=f"Coverage of 95 % intervals, {logs:,} logs of about {rows:,} rows: value / difference")
    shown.add_column("estimator")
    variants = [(kind, interval) for kind in KINDS for interval in ("normal", "bootstrap")]
    for kind, interval in variants:
        shown.add_column(f"{kind},\n{interval}", justify="right")
    for name in ESTIMATORS:
        cells = []
        for variant in variants:
            found = [shares.get((*variant, name, what)) for what in ("value", "difference")]
            cells.append(" / ".join(f"{share:.3f}" for share in found if share is not None))
        shown.add_row(name, *cells)
    console = Console(width=150)
    console.print(shown)
    console.print(f"least {min(shares.values()):.3f}, most {max(shares.values()):.3f}; wanted: .93 to .97")


SKEWED = ((2, 0.6, "sharp"), (3, 0.6, "top"), (3, 1.3, "uniform"))
"""Slots, spread of the logging scores, target."""
MEANS = {"ips": ratio(2, 0), "snips": ratio(2, 3), "rips": ratio(4, 0), "ipm": ratio(6, 0)}
COLUMNS = NamedColumns(tuple(range(8)))
METHODS: tuple[str, ...] = ("normal", "studentised", "bootstrap", "bernstein")


def columns(here: World, rows: int, rng: np.random.Generator) -> np.ndarray:
    """[rows, 8] one, clicks, and value and weight of ips, rips and ipm."""
    drawn, clicks = here.draw(rows, rng)
    found = [np.ones(rows), clicks.sum(axis=1)]
    for weight in (np.repeat(here.slate[drawn, None], clicks.shape[1], axis=1), here.prefix[drawn], here.item[drawn]):
        found += [(weight * clicks).sum(axis=1), weight.mean(axis=1)]
    return np.stack(found, axis=1)


def misses(here: World, rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """[means, methods, 2] whether an interval lies above or below the truth, and [means] the estimates."""
    key = np.arange(rows, dtype=np.uint64)
    sample = Sample.of(columns(here, rows, np.random.default_rng([seed, rows])), key, {SAID: key})
    folded: dict[str, object] = {}
    for name, fold in IntervalSpec("bootstrap").folds(COLUMNS, blocks=(COLUMNS.once,)).items():
        folded[name] = fold.result(fold.of(sample))
    missed, values = np.zeros((len(MEANS), len(METHODS), 2)), np.zeros(len(MEANS))
    for place, method in enumerate(METHODS):
        spread = IntervalSpec(method).inference(COLUMNS, folded)
        for number, mean in enumerate(MEANS.values()):
            found = spread.interval(mean)
            missed[number, place] = found.low > here.truth, found.high < here.truth
            values[number] = found.value
    return missed, values


def show_skewed(logs: int) -> None:
    """Print coverage, in brackets the intervals that lie above and below the truth, in percent."""
    shown = Table(title=f"Skewed weights: coverage of 95 % intervals (above, below the truth), {logs:,} logs")
    for name in ("slots, logging, target", "rows", "effective", "estimator", "bias", *METHODS):
        shown.add_column(name, justify="right")
    for slots, scale, target in SKEWED:
        here = world(slots, scale, target)
        for rows in (1_000, 5_000, 20_000):
            found = [misses(here, rows, seed) for seed in range(logs)]
            missed = 100 * np.mean([one for one, _ in found], axis=0)
            bias = np.mean([values for _, values in found], axis=0) / here.truth - 1
            for number, name in enumerate(MEANS):
                cells = [f"{100 - each.sum():.1f} ({each[0]:.1f}, {each[1]:.1f})" for each in missed[number]]
                first = (f"{slots}, {scale}, {target}", f"{rows:,}", f"{here.effective(rows):,.0f}")
                shown.add_row(*(first if number == 0 else ("", "", "")), name, f"{100 * bias[number]:+.1f} %", *cells)
    Console(width=150).print(shown)


if __name__ == "__main__":
    main()
