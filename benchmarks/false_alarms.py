"""How often healthy logs are said to have an odd mean weight, or estimators that disagree, beside the stated rate.

Plackett-Luce and uniform loggers show 1 to 5 of 6 items to users of the position-based model, so that ips, rips and
ipm are all right. `mean-weight` at 3.3 is to be said of one log in a thousand, `disagreement` at 4 of one in 16,000.
"errors" counts standard errors; "studentised" is `Interval.deviation`; "design" knows what share of the target a log of
this size hides, which ips lacks of its mean and of its value; "tail" is told what the largest weights say of it.
As in `offrank.evaluate`, ips contradicts nobody where its weights are worth less than 100 impressions.

    python benchmarks/false_alarms.py [--logs 60]
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np
from _weights import TARGETS, World, world
from rich.console import Console
from rich.table import Table

from offrank.findings.odd_mean import refuting
from offrank.inference import tail_index
from offrank.inference.pareto import odd_weights, unseen
from offrank.sums import Interval

SLOTS, SCALES, ROWS = (1, 2, 3, 5), (0.0, 0.6, 1.3), (1_000, 5_000, 20_000)
ODD, APART, FEW = 3.3, 4.0, 100
COLUMNS = ("errors", "studentised", "tail", "design", "refuted")
COLUMNS += ("ipm to ips, errors", "ipm to ips, studentised", "ipm to ips, design")


def interval(values: np.ndarray) -> Interval:
    """Mean, standard error and skewness."""
    mean, n = float(values.mean()), len(values)
    away = values - mean
    squares = float(away @ away)
    skewness = float((away**3).sum()) / squares**1.5 if squares else 0.0
    return Interval(mean, -np.inf, np.inf, (squares / n / (n - 1)) ** 0.5, skewness=skewness)


def alarms(here: World, rows: int, hidden: float, rng: np.random.Generator) -> list[bool]:
    """What is said of one log, by column."""
    drawn, clicks = here.draw(rows, rng)
    weight = here.slate[drawn]
    if not weight.any():
        return [False] * len(COLUMNS)
    found = interval(weight)
    kept = min(1024, rows)
    top = -np.sort(-np.partition(weight, rows - kept)[rows - kept :])
    tail = unseen(float(weight.max() / weight.sum()), tail_index(top, rows))
    apart = interval((here.item[drawn] * clicks).sum(axis=1) - weight * clicks.sum(axis=1))
    errors = [abs(one.value - null) / (one.standard_error or np.inf) for one, null in ((found, 1.0), (apart, 0.0))]
    said = [errors[0], found.deviation(1.0), odd_weights(found, tail), odd_weights(found, hidden)]
    known = weight.sum() ** 2 >= FEW * float(weight @ weight)
    lacks = min(max(hidden * float((here.item[drawn] * clicks).sum(axis=1).mean()), 0.0), max(apart.value, 0.0))
    beyond = apart.deviation(lacks) if apart.value != lacks else 0.0
    every = [away > ODD for away in said] + [said[-1] > refuting()]
    return every + [known and away > APART for away in (errors[1], apart.deviation(0.0), beyond)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", type=int, default=60)
    logs = parser.parse_args().logs
    shown = Table(title=f"False alarms in healthy logs, {logs} of each target and length, in percent")
    for name in ("slots", "logging", "logs", *COLUMNS):
        shown.add_column(name, justify="right")
    total: Counter[int] = Counter()
    count = 0
    for slots in SLOTS:
        for scale in SCALES:
            said, number = np.zeros(len(COLUMNS)), 0
            for target in TARGETS[scale == 0 :]:
                here = world(slots, scale, target)
                for rows in ROWS:
                    hidden = here.hidden(rows)
                    for seed in range(logs):
                        said += alarms(here, rows, hidden, np.random.default_rng([seed, slots, rows]))
                    number += logs
            count += number
            total.update(dict(enumerate(said.astype(int).tolist())))
            name = f"plackett-luce, {scale}" if scale else "uniform"
            shown.add_row(str(slots), name, f"{number:,}", *(f"{100 * one / number:.2f}" for one in said))
    shown.add_row("all", "", f"{count:,}", *(f"{100 * total[i] / count:.2f}" for i in range(len(COLUMNS))))
    shown.add_row("stated", "", "", *["0.10"] * 4, "0.00", *["0.01"] * 3)
    Console(width=150).print(shown)


if __name__ == "__main__":
    main()
