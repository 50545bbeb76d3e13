"""What two policies alone say of weights, against every slate of small worlds, each with its probability."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from offrank.estimators import ESTIMATORS, estimator
from offrank.estimators.design import design_fold
from offrank.estimators.fold import Layout
from offrank.estimators.wrappers import bare, weighing
from offrank.folds.estimate import Design
from offrank.log.batch import LogBatch
from offrank.log.source import Needs
from offrank.policies import policy, propensities
from offrank.running.cache import RunCache
from offrank.testing.exact import MemorySource
from tests.exact.test_registry import ESTIMATOR_EXAMPLES
from tests.exact.worlds import EXAMINATION, world

#: by registry, and in forms that differ
EXAMPLES: dict[str, Any] = {
    **ESTIMATOR_EXAMPLES,
    "clipped": "clip(ips, 1.5)",
    "clipped by slot": "clip(snrips, 1.2)",
    "clipped by item": "clip(interpol(window=1), 1.1)",
    "windowed": 'interpol(window=1, form="windowed")',
}
WITHOUT = {"direct", "logged"}
LOGGING = ("plackett_luce(old)", "epsilon(top(old), 0.4)", "uniform")
#: in `full` nothing ties that top(new) shows, in `top` something does
SURE = {"full": ("top(new)", "ranking(listed)"), "top": ("ranking(listed)",)}
DRAWN = ("top(new)", "plackett_luce(new)", "epsilon(top(new), 0.25)")
REPEATS = 31


def made(name: str) -> Any:
    """The weighting of an example."""
    given = EXAMPLES[name]
    return bare(estimator(given).examined(EXAMINATION))


def contexts_of(shape: str, repeats: int = REPEATS) -> LogBatch:
    """Every situation of a world so many times; what was shown does not matter."""
    here = world(shape, "position")
    batch, which = here.batch(policy("uniform")), np.tile(np.arange(len(here.situations)), repeats)
    n = len(which)
    rows = batch.take(np.zeros(n, np.int64))
    slates = np.full((n, 4), -1)
    return replace(
        rows,
        contexts=here.contexts(which),
        shown=replace(rows.shown, slates=slates, written={}),
        inclusion=np.ones(n),
        row=np.arange(n, dtype=np.uint64),
        labels={},
        clicks=None,
    )


def found(
    batch: LogBatch, logging: str, targets: tuple[str, ...], names: tuple[str, ...], **how: Any
) -> dict[Any, Any]:
    """Designs by target and name."""
    given: Any = {name: made(name) for name in names}
    layout = Layout(tuple(map(policy, targets)), tuple(dict.fromkeys(given.values())))
    drawn = policy(logging)
    fold, _ = design_fold(layout, drawn, MemorySource((batch,)), Needs(), RunCache())
    fold = replace(fold, **how)
    designs = fold.finish(fold.add(fold.empty(), batch))
    known = {(repr(t), e): one for (t, e, _, _), one in zip(layout.pairs(), designs, strict=True)}
    return {(target, name): known[target, given[name]] for target in targets for name in names}


def enumerated(shape: str, logging: str, target: str, name: str, n: int) -> Design:
    """The same from every slate that the logging policy can show, by the weights that the estimator gives it."""
    batch, one = world(shape, "position").batch(policy(logging)), made(name)
    weighting: Any = weighing(one)
    plain = weighting
    while hasattr(plain, "base"):
        plain = plain.base
    given = propensities(policy(logging), batch), propensities(policy(target), batch)
    weights, free = weighting.weights(batch, *given), plain.weights(batch, *given)
    chance, length = 1 / batch.inclusion, batch.contexts.length
    if plain.earns == "reward":
        length = np.ones_like(length)
    weight, control, uncut = (part.reshape(len(batch), -1) for part in (weights.weight, weights.control, free.control))
    slots = np.arange(weight.shape[1]) < length[:, None]
    situations = len(world(shape, "position").situations)
    whole = float((chance[:, None] * slots).sum())
    hidden = np.zeros(weight.shape, np.bool_)
    for slot in range(weight.shape[1]):
        hidden[:, slot] = weight[:, slot] > seen(weight[:, slot], chance * slots[:, slot], n / situations)

    def effective(some: np.ndarray) -> float:
        mean, squares = (float((chance[:, None] * each)[some].sum()) for each in (control, weight**2))
        return n * mean**2 / squares / whole if squares else 0.0

    return Design(
        rows=n,
        second_moment=float((chance[:, None] * weight**2 * slots).sum()) / whole,
        third_moment=float((chance[:, None] * weight**3 * slots).sum()) / whole,
        largest=float(weight[slots].max()),
        unsupported=1 - float((chance[:, None] * uncut * slots).sum()) / whole,
        hidden=float((chance[:, None] * control)[hidden & slots].sum()) / whole,
        effective=effective(slots),
        visible=effective(slots & ~hidden),
    )


def seen(weight: np.ndarray, chance: np.ndarray, repeats: float) -> float:
    """The largest weight such that five rows are expected with it or a larger one."""
    enough = [w for w in set(weight.tolist()) if w > 0 and repeats * chance[weight >= w - 1e-9].sum() >= 5]
    return max(enough, default=0.0) + 1e-9


def compare(one: Design, other: Design, tolerance: float) -> None:
    assert one.rows == other.rows
    assert one.second_moment == pytest.approx(other.second_moment, rel=tolerance)
    assert one.third_moment == pytest.approx(other.third_moment, rel=3 * tolerance)
    assert one.largest == pytest.approx(other.largest, rel=1e-9)
    assert one.unsupported == pytest.approx(other.unsupported, abs=tolerance)
    assert one.hidden == pytest.approx(other.hidden, abs=tolerance)
    assert one.effective == pytest.approx(other.effective, rel=tolerance)
    assert one.visible == pytest.approx(other.visible, rel=tolerance, abs=1e-9)


WEIGHED = tuple(sorted(set(EXAMPLES) - WITHOUT - {"pi", "wpi"}))


@pytest.mark.parametrize("shape", ["full", "top"])
@pytest.mark.parametrize("logging", LOGGING)
def test_targets_that_always_show_one_slate_exactly(logging: str, shape: str) -> None:
    batch = contexts_of(shape)
    designs = found(batch, logging, SURE[shape], WEIGHED)
    for (target, name), one in designs.items():
        compare(one, enumerated(shape, logging, target, name, len(batch)), 1e-9)


@pytest.mark.parametrize("logging", LOGGING)
def test_targets_that_draw(logging: str) -> None:
    batch = contexts_of("top", 101)
    designs = found(batch, logging, DRAWN, WEIGHED, draws=25_000)
    for (target, name), one in designs.items():
        compare(one, enumerated("top", logging, target, name, len(batch)), 0.03)


def test_every_weighted_estimator_has_a_design() -> None:
    assert set(ESTIMATORS) <= set(EXAMPLES)
    designs = found(contexts_of("top"), "plackett_luce(old)", SURE["top"], tuple(EXAMPLES))
    assert {name for (_, name), one in designs.items() if one is None} == WITHOUT
