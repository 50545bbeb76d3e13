"""Estimates against held-out clicks, on real search sessions without propensities.

Each query's most frequent rankings are taken in turn as the target. The impressions that showed
exactly that ranking are held out: their mean clicks are the truth. It is estimated from the
query's other impressions, with rank propensities counted in those.

    python benchmarks/yandex_holdout.py path/to/trainSample
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

import offrank
from offrank.log.source import Needs
from offrank.readers import yandex

SAMPLE = Path(__file__).resolve().parents[2] / "shared" / "data" / "yandex-relpred" / "trainSample"
RANKINGS = 3  # targets per query
FEWEST = 50  # held-out impressions of a target
ESTIMATORS = ["logged", "ipm", "interpol(window=1)", "interpol(window=2)", "interpol(window=3)", "pbm"]


@dataclass(frozen=True)
class Log:
    """Sessions in memory: query [n], slates [n, 10], clicks [n, 10]."""

    query: np.ndarray
    slates: np.ndarray
    clicks: np.ndarray

    def where(self, rows: np.ndarray) -> Log:
        """Some of the sessions."""
        return Log(self.query[rows], self.slates[rows], self.clicks[rows])


@dataclass(frozen=True)
class Trial:
    """One target of one query: its held-out mean clicks, and what each estimator said."""

    query: str
    held_out: int
    truth: float
    noise: float
    estimates: dict[str, float]

    def error(self, estimator: str) -> float:
        """Estimate less truth, in clicks per impression."""
        return self.estimates[estimator] - self.truth


def read(path: Path) -> Log:
    """All sessions of a file."""
    source = yandex(path).select(Needs(frozenset(["clicks"]), labels=frozenset(["query"])))
    batches = [batch for part in range(source.parts()) for batch in source.batches(part)]
    labels = [np.array(batch.labels["query"].names)[batch.labels["query"].codes] for batch in batches]
    slates = [np.take_along_axis(batch.contexts.candidates, batch.slates, axis=1) for batch in batches]
    return Log(*map(np.concatenate, (labels, slates, [batch.clicks for batch in batches])))


def targets(log: Log, nth: int) -> dict[str, tuple[int, ...]]:
    """Each query's nth most frequent ranking, where it was shown often enough."""
    shown: dict[str, Counter[tuple[int, ...]]] = {}
    for query, slate in zip(log.query.tolist(), log.slates.tolist(), strict=True):
        shown.setdefault(query, Counter())[tuple(slate)] += 1
    ranked = {query: counts.most_common(nth + 1)[nth:] for query, counts in shown.items()}
    return {query: found[0][0] for query, found in ranked.items() if found and found[0][1] >= FEWEST}


def trials(log: Log) -> Iterator[Trial]:
    """Every target of every query, estimated without the impressions that showed it."""
    for nth in range(RANKINGS):
        target = targets(log, nth)
        log_of_targets = log.where(np.isin(log.query, list(target)))
        wanted = np.array([target[query] for query in log_of_targets.query.tolist()])
        held_out = (log_of_targets.slates == wanted).all(axis=1)
        yield from _judge(log_of_targets, wanted, held_out)


def _judge(log: Log, wanted: np.ndarray, held_out: np.ndarray) -> Iterator[Trial]:
    others, truth = log.where(~held_out), log.where(held_out)
    by_rank = others.clicks.mean(axis=0)
    table = pa.table(
        {
            "query": others.query,
            "slate": others.slates.tolist(),
            "clicks": others.clicks.tolist(),
            "target": wanted[~held_out].tolist(),
        }
    )
    result = offrank.evaluate(
        offrank.read_log(table),
        target=offrank.Ranking("target"),
        logging=offrank.Counted(by="query"),
        estimators=ESTIMATORS,
        examination=by_rank / by_rank[0],  # rank CTR: too steep, since better documents stand higher
        by="query",
    )
    for query, estimates in result.groups.items():
        clicks = truth.clicks[truth.query == query].sum(axis=1)
        noise = float(clicks.std(ddof=1) / np.sqrt(len(clicks)))
        found = {name: estimate.value for (_, name), estimate in estimates.given.items()}
        yield Trial(query, len(clicks), float(clicks.mean()), noise, found)


def root_mean_square(found: list[Trial], estimator: str) -> float:
    """Root mean square error over the trials in which the estimator gave a value."""
    errors = [trial.error(estimator) for trial in found if estimator in trial.estimates]
    return float(np.sqrt(np.mean(np.square(errors)))) if errors else float("nan")


def show(found: list[Trial]) -> Table:
    """A row per trial, and the errors below."""
    table = Table(title="Mean clicks of a ranking, estimated from sessions that showed others")
    for name in ("query", "held out", "truth", *ESTIMATORS):
        table.add_column(name.replace("(", "\n("), justify="right")
    for trial in sorted(found, key=lambda trial: -trial.held_out):
        values = [f"{trial.estimates[e]:.3f}" if e in trial.estimates else "none" for e in ESTIMATORS]
        table.add_row(trial.query, f"{trial.held_out:,}", f"{trial.truth:.3f} ± {2 * trial.noise:.3f}", *values)
    table.add_section()
    table.add_row("error", "", "", *(f"{root_mean_square(found, e):.3f}" for e in ESTIMATORS))
    return table


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else SAMPLE
    if not path.is_file():
        sys.exit(f"no sessions at {path}: give the path of a file in the format of the Yandex challenge")
    console = Console(width=120)
    console.print(show(list(trials(read(path)))))
    console.print(
        "error: root mean square over the trials. The truth's own noise (± two standard errors) is part of it."
    )
