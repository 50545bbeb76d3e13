"""How often `auto` is right: root mean squared errors of the choice and of every fixed estimator in simulated logs.

Worlds: clicks are position-based, a cascade, or depend on neighbours; or the whole page earns a reward, a sum over its
items (additive) or with interactions. The target is similar to the logging policy or sorts by another score; logs are
small and large. `best` is the estimator of least error in a world, which nobody knows beforehand; `target only` is the
choice without pseudo-targets.

    python benchmarks/selecting.py [--logs 200] [--rows 1000 20000] [--worlds ...]
"""

from __future__ import annotations

import argparse
from concurrent.futures import Executor, Future
from dataclasses import replace
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from offrank.estimators import estimator
from offrank.inference.clusters_and_level import IntervalSpec
from offrank.language.formatting import percent
from offrank.language.from_text import CANDIDATE_ESTIMATORS
from offrank.log.batch import Contexts, Floats
from offrank.policies import policy
from offrank.selection.estimators import ranking
from offrank.selection.selector import EstimatorSelector
from offrank_papers.like_log import BEHAVIOURS, LikeLog

WORLDS = {  # behaviour, whether only the reward of the page is logged
    "position-based": ("position-based", False),
    "cascade": ("cascade", False),
    "neighbours": ("neighbours", False),
    "additive": ("position-based", True),
    "interactions": ("neighbours", True),
}
TARGETS = {"similar": "plackett_luce(near)", "distant": "top(new)"}
LOGGING = policy("epsilon(plackett_luce(old), 0.3)")
QUERIES, ITEMS, SLOTS = 50, 5, 4
CURVE = np.array([1.0, 0.7, 0.5, 0.4])
MEASURED = ("ips", "snips", "rips", "snrips", "pi", "wpi", "ipm", "snipm", "interpol(window=1)", "pbm")


class Here(Executor):
    """Runs everything at once in this thread."""

    def submit(self, call: Any, /, *arguments: Any, **keywords: Any) -> Future[Any]:
        found: Future[Any] = Future()
        found.set_result(call(*arguments, **keywords))
        return found


def world(name: str) -> LikeLog:
    rng, shape = np.random.default_rng(1), (QUERIES, ITEMS)
    attraction = rng.beta(1.2, 1.8, shape)
    merit = 2.5 * (attraction - attraction.mean()) / attraction.std()
    old, new = np.exp(0.3 * merit + 0.6 * rng.normal(size=shape)), merit + 0.8 * rng.normal(size=shape)
    items, each = np.tile(np.arange(ITEMS), (QUERIES, 1)), np.ones(QUERIES, np.int64)
    scores = {"old": old, "new": new, "near": old * np.exp(0.25 * new)}
    contexts = Contexts(items, ITEMS * each, SLOTS * each, scores)
    behaviour, rewards = WORLDS[name]
    return LikeLog(contexts, attraction, LOGGING, BEHAVIOURS[behaviour], 0.3 * CURVE, rewards)


def run(here: LikeLog, target: str, rows: int, logs: int) -> tuple[dict[str, Floats], list[str]]:
    """Errors of each estimator and of each rule, and what the rule chose, log by log."""
    asked, spec = policy(target), IntervalSpec("normal", cluster=None)
    usual = tuple(map(estimator, CANDIDATE_ESTIMATORS))
    selector = EstimatorSelector(here.source(rows, 0), LOGGING, CURVE.tolist(), spec, usual, executor=Here())
    truth, chosen = here.truth(asked), []
    errors: dict[str, list[float]] = {}
    for log in range(logs):
        found = replace(selector, source=here.source(rows, log)).select(asked)
        every = [one.candidate for one in found.ranking.ranked] + list(found.ranking.unusable)
        target_only = ranking([replace(one, others={}) for one in every]).chosen
        chosen.append(found.chosen)
        for rule, name in (("auto", found.chosen), ("target only", target_only), *((one, one) for one in MEASURED)):
            value = found.estimates[name].value - truth if name in found.estimates else np.nan
            errors.setdefault(rule, []).append(value)
    return {name: np.array(values) for name, values in errors.items()}, chosen


def root(errors: Floats) -> float:
    return float(np.sqrt((errors**2).mean()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", type=int, default=200)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 20000])
    parser.add_argument("--worlds", nargs="+", default=list(WORLDS), choices=list(WORLDS))
    given = parser.parse_args()
    headings = ("world", "target", "rows", "best", "auto", "target only", *MEASURED, "right", "chosen most")
    table, every = Table(title="RMSE as a multiple of that of the best fixed estimator"), []
    for heading in headings:
        table.add_column(heading, justify="left" if heading in ("world", "target", "best") else "right")
    for name in given.worlds:
        here = world(name)
        for title, target in TARGETS.items():
            for rows in given.rows:
                errors, chosen = run(here, target, rows, given.logs)
                fixed = {one: root(errors[one]) for one in MEASURED if np.isfinite(errors[one]).all()}
                best = min(fixed, key=fixed.__getitem__)
                good = np.mean([fixed.get(one, np.inf) <= 1.2 * fixed[best] for one in chosen])
                ratios = [root(errors[one]) / fixed[best] for one in ("auto", "target only", *MEASURED)]
                every.append(ratios)
                most = max(set(chosen), key=chosen.count)
                cells = ["" if np.isnan(one) else f"{one:.2f}" for one in ratios]
                table.add_row(name, title, f"{rows:,}", best, *cells, percent(good, 0), f"{most} {chosen.count(most)}")
    ratios = np.array(every)
    table.add_row("geometric mean", "", "", "", *(f"{np.exp(np.nanmean(np.log(one))):.2f}" for one in ratios.T), "", "")
    table.add_row("worst", "", "", "", *(f"{np.nanmax(one):.1f}" for one in ratios.T), "", "")
    Console(width=230).print(table)


if __name__ == "__main__":
    main()
