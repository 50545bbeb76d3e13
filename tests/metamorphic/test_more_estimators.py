"""Asking for more estimators never revives what fewer of them refuted: by registry, over worlds with a wrong law."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from benchmarks.trust_worlds import log as steps
from benchmarks.trust_worlds.engine import Draft, Law, Step
from benchmarks.trust_worlds.world import BROKEN, World
from offrank.errors import OffrankError
from offrank.estimators.named import ESTIMATORS
from tests.metamorphic.changes import check_more_estimators

ROWS = 2_000
FACTORY = {
    "clip": ("clip(ips, 10)", "clip(snips, 5)", "clip(ipm, 10)"),
    "controlled": ("controlled(ips)",),
    "direct": ("direct(lasso)",),
    "dr": ("dr(lasso)",),
    "interpol": ("interpol(window=1)",),
    "shrink": ("shrink(ips, 10)",),
    "sninterpol": ("sninterpol(window=2)",),
    "switch": ("switch(ips, 10)",),
    "weights": ("weights(pbm)",),
}
SPELLINGS = tuple(one for name in ESTIMATORS for one in FACTORY.get(name, (name,)) if "lasso" not in one)
"""Every registered estimator; those that learn a model are asked for in a test of their own."""
CURVE = [1.0, 0.5, 0.33]
NEAR = Law("near_score", temperature=0.8)
SHAPE = {"slots": 3, "candidates": 6}
KNOWN = {
    "propensities twice too large",
    "propensities half of the right ones",
    "propensities of sets, not of orders",
    "sub-sampling corrected twice",
    "scores of yesterday",
    "the target knows the clicks",
}
"""Worlds of the benchmark, besides those below."""


def another_day(draft: Draft) -> None:
    """Propensities of the scores of another day, of the whole slate and of its slots."""
    steps.propensities(Law("stale_score"))(draft)


def world(name: str, *written: Step, drawn: Law | None = None, **known: Any) -> World:
    return World(name, drawn=drawn or Law(), target=NEAR, shape=SHAPE, written=written, **known)


WORLDS = (
    world("clicked rows only", steps.clicked_only),
    world("inclusion forgotten", steps.subsample(0.1), steps.drop("inclusion")),
    world("temperature wrong", drawn=Law(temperature=0.6), said="plackett_luce(old_score)"),
    world("propensities of another day", another_day, said="logged"),
    world("rows reordered", steps.mixed_up, said="logged"),
    replace(world("position swapped after drawing"), shown=(steps.swap(0, 1),)),
    world("propensities of one arm", steps.one_arm, said="logged"),
    *(replace(one, shape={**one.shape, **SHAPE}) for one in BROKEN if one.name in KNOWN),
)


@cache
def table(name: str, seed: int) -> pa.Table:
    [here] = [one for one in WORLDS if one.name == name]
    return here.table(ROWS, seed)


def asked(here: World) -> Any:
    options = {"examination": CURVE, **here.options}

    def ask(log: pa.Table, estimators: list[str]) -> offrank.Result:
        question = {**here.question(), **options, "estimators": estimators}
        return offrank.evaluate(log, **question)

    return ask


def able(here: World, log: pa.Table) -> list[str]:
    """The estimators that the log allows."""
    found = []
    for spelling in SPELLINGS:
        try:
            asked(here)(log.slice(0, 50), [spelling])
        except OffrankError:
            continue
        found.append(spelling)
    return found


@pytest.mark.turns(3)
@pytest.mark.parametrize("here", WORLDS, ids=lambda one: one.name)
def test_more_estimators_revive_nothing(here: World) -> None:
    log = table(here.name, 1)
    names = able(here, log)
    rng = np.random.default_rng(5)
    first = [name for name in ("ips", "snips") if name in names] or names[:1]
    check_more_estimators(asked(here), log, first, names)
    for one in rng.permutation([name for name in names if name != "logged"])[:4].tolist():
        check_more_estimators(asked(here), log, first, [one])
    some = rng.permutation(names).tolist()
    check_more_estimators(asked(here), log, some[:2], some[2:6])


def revived(before: list[tuple[str, str]], after: list[tuple[str, str]], usable: bool, estimator: str) -> None:
    """Whether a made-up answer of many estimators, after that of few, passes."""

    def ask(_: Any, names: list[str]) -> Any:
        said = after if len(names) > 1 else before
        cautions = [SimpleNamespace(code=code, severity=severity) for code, severity in said]
        verdict = SimpleNamespace(usable=usable, estimator=estimator)
        return SimpleNamespace(about_log=cautions, verdicts={"t": verdict})

    check_more_estimators(ask, None, ["ips"], ["ipm"])


REFUTED = [("mean-weight", "serious")]


@pytest.mark.parametrize(
    ("before", "after", "usable", "estimator"),
    [
        (REFUTED, [], False, "ipm"),
        (REFUTED, [("mean-weight", "warning")], False, "ipm"),
        (REFUTED, REFUTED, True, "ipm"),
        ([("duplicate-rows", "warning")], [], True, "ipm"),
    ],
)
def test_what_is_revived_is_found(before: Any, after: Any, usable: bool, estimator: str) -> None:
    with pytest.raises(AssertionError):
        revived(before, after, usable, estimator)


def test_what_does_not_depend_on_the_policy_may_answer() -> None:
    revived(REFUTED, REFUTED, usable=True, estimator="direct(lasso)")
    revived(REFUTED, REFUTED, usable=False, estimator="ipm")
    revived([("mean-weight", "warning")], [("miscalibrated", "serious")], usable=False, estimator="ipm")


@pytest.mark.turns(3)
def test_clicked_rows_only_are_refused_whatever_is_asked_for() -> None:
    """The log whose own mean weight refuted ips, and which the other estimators brought back to life."""
    here = WORLDS[0]
    counts = []
    for seed in range(6):
        log = here.table(6_000, seed)
        alone, all_together = (
            asked(here)(log, names) for names in (["ips", "snips"], ["ips", "snips", "rips", "snrips", "ipm", "snipm"])
        )
        counts.append((alone.verdict.usable, all_together.verdict.usable))
        if not alone.verdict.usable:
            assert not all_together.verdict.usable
    assert (False, False) in counts
