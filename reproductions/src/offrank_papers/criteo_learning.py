"""Paper criteo-test-bed (Lefortier, Swaminathan, Gu, Joachims, de Rijke), section 4: Table 5, learnt policies.

It uses the one-slot impressions of the user's log, or a simulated log whose truth is known.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from offrank.evaluation import arguments
from offrank.evaluation.result import Result
from offrank.language.files import scratch
from offrank.learning.methods import learner
from offrank.learning.preparation import Preparation, Survey
from offrank.learning.search import Search
from offrank.log.source import Source
from offrank.policies.base import Policy
from offrank.policies.learnt import policies_of
from offrank.policies.logged_probabilities import Logged
from offrank.policies.splits import OneSlot, Split
from offrank.policies.uniform import Uniform
from offrank.report.charts import Chart, Series
from offrank.report.document import Cell, Claim, Section
from offrank.sums.estimate import Interval
from offrank.verbs.evaluate import evaluate
from offrank_papers.adverts import AdvertWorld

from .criteo_checks import holds_truth, logs_of
from .expectations import Expectations, Run, bars, half_of, same_size, times

PAPER = Expectations.of("criteo-learning")
CONFIDENCE = 0.99
LOGS = 100
_DEVIATE = 2.575829  # of 99 %, two-sided
PUBLISHED_IMPRESSIONS = 2.13e7
LEARNT = ("regression", "ips", "dro", "poem", "snpoem", "dr-poem")
NEW = {"snpoem", "dr-poem"}
_UNIT = 1e4

Targets = dict[tuple[str, str], Policy]
"""(method, use) -> policy."""

CLAIMED = (
    ("regression", "sorted"),
    ("ips", "sorted"),
    ("dro", "sorted"),
    ("poem", "drawn"),
    ("snpoem", "drawn"),
    ("dr-poem", "drawn"),
)
"""Methods with their intended use."""


@dataclass(frozen=True)
class TestedPolicy:
    """A policy on the test third: its name, estimates, and the truth if known; all times 10^4."""

    name: str
    ips: Interval
    snips: Interval
    mean_weight: Interval | float | None
    n: int
    ess: float
    truth: float | None


@PAPER.page
def document(asked: Run) -> Iterator[Section]:
    """Return the reproduction; see the module."""
    world = AdvertWorld(asked.size(200_000, 3_000), asked.seed, slots=1) if asked.log is None else None
    source: Source = OneSlot(arguments.source(asked.log)) if world is None else world.source()
    with scratch(Path(tempfile.gettempdir()), "offrank-") as folder:
        targets, survey = _learnt(source, folder, asked)
        asked.say("3. Judging all of them on the test third")
        test = Split(source, "test")
        rows = {row.name: row for row in _judged(targets, test, world)}
        named = {f"{method}, {use}": targets[method, use] for method, use in CLAIMED} | {"logger": Logged()}
        paired = evaluate(test, named, "logged", "ips", confidence=CONFIDENCE, interval="normal", cluster=None)
    compared = world is None and same_size(survey.rows, PUBLISHED_IMPRESSIONS)
    yield _table(rows, survey, tuple(_claims(rows, paired)), compared)
    if world is not None:
        asked.say("4. Coverage of the intervals over many logs")
        yield PAPER.section("intervals", _coverage(world))


def _learnt(source: Source, folder: Path, asked: Run) -> tuple[Targets, Survey]:
    """Return every policy, and notes on the log's features."""
    asked.say(f"1. Reading {source.describe()}")
    data, survey = Preparation(Logged(), folder).data(source, None, None)
    targets: Targets = {("random", ""): Uniform(), ("logger", ""): Logged()}
    for method in LEARNT:
        asked.say(f"2. Learning by {method}")
        best = Search(learner(method), method, "ips", CONFIDENCE, asked.seed).run(data)[0]
        path = folder / f"{method}.npz"
        assert best.candidate.model is not None
        best.candidate.model.save(path)
        targets |= {(method, use): policy for use, policy in policies_of(path).items()}
    return targets, survey


def _judged(targets: Targets, test: Split, world: AdvertWorld | None) -> Iterator[TestedPolicy]:
    named = {f"{method}, {use}" if use else method: policy for (method, use), policy in targets.items()}
    found = evaluate(test, named, "logged", ("ips", "snips"), confidence=CONFIDENCE).estimates.given
    for name, policy in named.items():
        if not found.keys() >= {(name, "ips"), (name, "snips")}:
            continue  # a policy without overlap has no row
        ips, snips, truth = found[name, "ips"], found[name, "snips"], None
        if world is not None:
            truth = _UNIT * world.truth(policy.law("rank_probs") if policy.any_slate else world.logging)
        weight = ips.mean_weight if ips.mean_weight_interval is None else ips.mean_weight_interval
        yield TestedPolicy(name, times(_UNIT, ips), times(_UNIT, snips), weight, snips.n, ips.ess, truth)


def _table(rows: dict[str, TestedPolicy], survey: Survey, claims: tuple[Claim, ...], compared: bool) -> Section:
    each = list(rows.values())
    found = {name: (row.ips, row.snips, row.mean_weight) for name, row in rows.items()}
    more: dict[str, list[Cell]] = {
        "\u00b1 of SNIPS, as in the paper": [half_of(row.snips) / math.sqrt(row.n) for row in each],
        "effective sample": [row.ess for row in each],
        "truth": [row.truth for row in each],
    }
    place = [float(number) for number in range(1, len(each) + 1)]
    truths = [row.truth for row in each if row.truth is not None]
    truth = [Series("truth", place, truths)] if truths else []
    series = (bars("IPS, 99 % interval", place, [row.ips for row in each]), *truth)
    chart = Chart("Learnt policies, in the order of the table", "row of the table", "clicks x 10,000", series)
    facts = {
        "impressions": survey.rows,
        "features": int(survey.seen.sum()),
        "shared features": int(survey.context.sum()),
    }
    return replace(
        PAPER.section("learnt", facts, [chart], [PAPER.table("learnt", found, more, compared)]), claims=claims
    )


def _coverage(world: AdvertWorld) -> dict[str, float]:
    """Compute the coverage of SNIPS intervals for the uniform policy, the published form too, over many logs."""
    truth, rows = world.truth(Uniform()), world.impressions // LOGS
    each = [found[1].at(1.0, CONFIDENCE).normalised for found in logs_of(world, rows)]
    right = [holds_truth(one, truth) for one in each]
    published = [abs(one.value - truth) <= _DEVIATE * one.standard_error / math.sqrt(rows) for one in each]
    shares = {"coverage": float(np.mean(right)), "coverage as published": float(np.mean(published))}
    return {**shares, "logs": len(each), "rows": rows}


def _claims(rows: dict[str, TestedPolicy], paired: Result) -> Iterator[Claim]:
    """Check the claims. paired: rewards of policies by IPS, on the same impressions."""
    reference = [name for name in ("regression, sorted", "logger") if name in rows]
    for method, use in CLAIMED[1:]:
        if (name := f"{method}, {use}") in rows:
            more = {
                f"than {other}": times(_UNIT, paired.difference((name, "ips"), (other, "ips"))) for other in reference
            }
            shown = [rows[one] for one in (name, *reference)]
            small = any(gap.low <= 0 <= gap.high for gap in more.values())
            facts = {
                "method": method,
                "estimates": {row.name: row.ips for row in shown},
                "truths": [row.truth for row in shown if row.truth is not None] or "not known",
                "gaps": more,
                "least gap": min(gap.value for gap in more.values()),
                "least end of a gap": min(gap.low for gap in more.values()),
                "doubt": " The log is too small to tell." if small else "",
            }
            yield from PAPER.claims("earns, new" if method in NEW else "earns", facts)
    pairs = [name for name in LEARNT if {f"{name}, drawn", f"{name}, sorted"} <= set(rows)]
    by_use = {use: {name: rows[f"{name}, {use}"].ips.value for name in pairs} for use in ("drawn", "sorted")}
    yield from PAPER.claims("use", by_use)
