"""The counterfactual test-bed (Lefortier and others): Tables 1 to 4, on the user's log or a simulated one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from offrank.evaluation import arguments
from offrank.log.source import Source
from offrank.policies.logged_probabilities import Logged
from offrank.policies.uniform import Uniform
from offrank.report.charts import Chart, Series
from offrank.report.document import Cell, Section
from offrank.running.executors import run
from offrank.sums.estimate import Interval
from offrank_papers.adverts import AdvertWorld

from .expectations import Expectations, Run, bars, by_columns, half_of, same_size, times
from .mixtures import EPSILONS, AtEpsilon, Mixtures, MixturesFold

PAPER = Expectations.of("criteo-checks")
_PER = 1e4  # click rates are shown times 10,000, as in the paper
_SHARPNESS = 2.2
_LOGS = 20

Truths = Mapping[int, tuple[float, float]]
"""Slots -> expected clicks per impression of the logging policy and of the uniform one, if known."""


@PAPER.page
def document(asked: Run) -> Iterator[Section]:
    """Return the reproduction; see the module."""
    world = None if asked.log is not None else AdvertWorld(asked.size(400_000, 5_000), asked.seed, sharpness=_SHARPNESS)
    source: Source = arguments.source(asked.log) if world is None else world.source()
    asked.say(f"1. Reading {source.describe()} once")
    fold = MixturesFold(Logged())
    found = run(source.select(fold.needs()), fold)
    truths: Truths = {} if world is None else {slots: _truth(world, slots) for slots in found}
    # Neither a simulated log nor a part of the published one equals the paper's data.
    compared = [slots for slots, one in found.items() if world is None and _is_published(slots, one)]
    yield _propensities(found, compared)
    yield _policies(found, truths)
    if world is not None:
        rows = max(round(5 * asked.scale), 1) * 10_000
        asked.say(f"2. The same on {_LOGS} logs of {rows:,}: are the intervals right?")
        yield _again(AdvertWorld(_LOGS * rows, asked.seed, sharpness=_SHARPNESS), rows)
    yield from (_table(slots, one, truths.get(slots), slots in compared) for slots, one in found.items())


def logs_of(world: AdvertWorld, rows: int) -> list[dict[int, Mixtures]]:
    """Cut one long log into logs of this many rows, and reduce each."""
    fold = MixturesFold(Logged())
    source, states, first = world.source().select(fold.needs()), dict[int, Any](), 0
    for part in range(source.parts()):
        for batch in source.batches(part):
            log = (first + np.arange(len(batch))) // rows
            first += len(batch)
            for number in np.unique(log).tolist():
                piece = batch.take(np.flatnonzero(log == number))
                states[number] = fold.add(states.get(number), piece)
    return [fold.result(state) for state in states.values()]


def _truth(world: AdvertWorld, slots: int) -> tuple[float, float]:
    return world.truth(world.logging, slots=slots), world.truth(Uniform(), slots=slots)


def _is_published(slots: int, one: Mixtures) -> bool:
    """Whether there are as many impressions as in the published log."""
    published = PAPER.row("propensities", str(slots))
    return bool(published) and same_size(one.impressions, published[0])


def _propensities(found: Mapping[int, Mixtures], compared: list[int]) -> Section:
    """Return Table 1 and its conclusions."""
    large = [slots for slots, one in found.items() if one.largest_inverse_propensity > one.impressions]
    rows = {}
    for slots, one in found.items():
        inverse = one.mean_inverse_propensity, one.largest_inverse_propensity
        rows[str(slots)] = one.impressions, one.estimated_impressions, *inverse
    more = {
        "mean 1 / propensity, corrected": [one.corrected_inverse_propensity for one in found.values()],
        "slates that could be shown": [one.mean_slates for one in found.values()],
    }
    facts = {
        "numbers of slots with an inverse propensity beyond the impressions": len(large),
        "beyond": large,
        "compared": compared,
    }
    return PAPER.section("propensities", facts, tables=[PAPER.table("propensities", rows, more, bool(compared))])


def _policies(found: Mapping[int, Mixtures], truths: Truths) -> Section:
    """Return the results of Tables 2 to 4, as plots and claims."""
    uniform = {slots: one.at(1.0) for slots, one in found.items()}
    wider = [slots for slots, one in found.items() if half_of(one.at(1.0).plain) > half_of(one.at(0.0).plain)]
    low = [slots for slots, one in uniform.items() if one.mean_weight.high < 1]
    doubted = [slots for slots, one in uniform.items() if one.cautions]
    missed = [slots for slots, truth in truths.items() if not holds_truth(uniform[slots].plain, truth[1])]
    facts = {
        "numbers of slots": len(found),
        "numbers of slots where it widens": len(wider),
        "wider": wider,
        "numbers of slots with an interval below 1": len(low),
        "low": low,
        "least mean weight": min(one.mean_weight.value for one in uniform.values()),
        "mean weights": {f"{slots}:": one.mean_weight for slots, one in uniform.items()},
        "doubted": doubted,
    }
    if truths:
        silent = [slots for slots in missed if slots not in doubted]
        facts |= {"truths missed": len(missed), "missed": missed, "silent": silent}
    return PAPER.section("policies", facts, _charts(found, truths))


def _charts(found: Mapping[int, Mixtures], truths: Truths) -> Iterator[Chart]:
    x, uniform = [float(slots) for slots in found], [one.at(1.0) for one in found.values()]
    expected = Series("expected", x, [1.0] * len(x), line=True)
    weights = bars("found", x, [one.mean_weight for one in uniform])
    yield Chart("Mean weight of the uniform policy", "slots", "mean weight", (weights, expected))
    lines = tuple(
        Series(f"{slots} slots", EPSILONS[1:], [one.at(e).mean_weight.value for e in EPSILONS[1:]], line=True)
        for slots, one in found.items()
    )
    yield Chart("Mean weight by epsilon", "epsilon", "mean weight", lines, log_x=True)
    truth = [Series("truth", x, [_PER * truths[slots][1] for slots in found], line=True)] if truths else []
    rates = bars("IPS", x, [times(_PER, one.plain) for one in uniform])
    yield Chart("Click rate of the uniform policy, times 10,000", "slots", "clicks", (rates, *truth))


def _again(world: AdvertWorld, rows: int) -> Section:
    """Compute how often intervals for the uniform policy cover the truth."""
    made: dict[int, list[AtEpsilon]] = {}
    for log in logs_of(world, rows):
        for slots, one in log.items():
            made.setdefault(slots, []).append(one.at(1.0))
    table = {slots: _coverage(made[slots], _truth(world, slots)[1]) for slots in sorted(made)}
    weights = [[one.mean_weight.value for one in made[slots]] for slots in table]
    x, median = [float(slots) for slots in table], [float(np.median(one)) for one in weights]
    points = Series("median and range", x, median, list(map(min, weights)), list(map(max, weights)))
    expected = Series("expected", x, [1.0] * len(x), line=True)
    chart = Chart(f"Mean weight of the uniform policy, {_LOGS} logs", "slots", "mean weight", (points, expected))
    facts = {
        "logs": _LOGS,
        "rows": rows,
        "most": max(table),
        "fewest": min(table),
        "median at most slots": median[-1],
        "coverage at most slots": table[max(table)]["IPS holds the truth"],
        "coverage at fewest slots": table[min(table)]["IPS holds the truth"],
    }
    columns = {"slots": list(map(str, table))} | {
        title: [row[title] for row in table.values()] for title in table[min(table)]
    }
    figures = by_columns(f"The uniform policy on {_LOGS} logs of {rows:,}", columns)
    return PAPER.section("again", facts, [chart], [figures])


def _coverage(made: list[AtEpsilon], truth: float) -> dict[str, float | None]:
    """Return a row's cells for one number of slots, from the same policy on many logs."""
    weights = [one.mean_weight.value for one in made]
    quiet = [one for one in made if not one.cautions]
    return {
        "mean of C": float(np.mean(weights)),
        "median of C": float(np.median(weights)),
        "C ends below 1": _share([one.mean_weight.high < 1 for one in made]),
        "C holds 1": _share([holds_truth(one.mean_weight, 1) for one in made]),
        "IPS holds the truth": _share([holds_truth(one.plain, truth) for one in made]),
        "SNIPS holds the truth": _share([holds_truth(one.normalised, truth) for one in made]),
        "logs without a warning": float(len(quiet)),
        "IPS holds the truth on these": _share([holds_truth(one.plain, truth) for one in quiet]),
    }


def _table(slots: int, one: Mixtures, truth: tuple[float, float] | None, compared: bool) -> Section:
    """Return half of one of Tables 2 to 4."""
    mixed = {f"{slots}, {_power(epsilon)}": one.at(epsilon) for epsilon in EPSILONS}
    rows = {name: (m.mean_weight, times(_PER, m.plain), times(_PER, m.normalised)) for name, m in mixed.items()}
    more: dict[str, list[Cell]] = {
        "truth": [truth and _PER * ((1 - m.epsilon) * truth[0] + m.epsilon * truth[1]) for m in mixed.values()],
        "effective sample size": [m.ess for m in mixed.values()],
        "warnings": [", ".join(caution.code for caution in m.cautions) or None for m in mixed.values()],
    }
    warnings = " ".join(f"For the uniform policy, {caution}" for caution in one.at(1.0).cautions)
    facts = {
        "slots": f"{slots} slot{'s' if slots > 1 else ''}",
        "impressions": one.impressions,
        "warnings": warnings or "No warning for the uniform policy.",
    }
    return PAPER.section("slots", facts, tables=[PAPER.table("slots", rows, more, compared)])


def _power(epsilon: float) -> str:
    return f"{epsilon:g}" if epsilon in {0, 1} else f"2^{np.log2(epsilon):.0f}"


def holds_truth(interval: Interval, truth: float) -> bool:
    """Whether the truth is in the interval."""
    return interval.low <= truth <= interval.high


def _share(flags: list[bool]) -> float | None:
    return float(np.mean(flags)) if flags else None
