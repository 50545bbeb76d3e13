"""Weights of single impressions by hand, how estimators become each other, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offrank.errors import UsageError
from offrank.estimators import (
    IPM,
    IPS,
    RIPS,
    Bounded,
    Clip,
    Estimator,
    Interpol,
    PositionBased,
    SelfNormalised,
    Shrink,
    Switch,
    Weights,
    clip,
    estimator,
    shrink,
    switch,
)
from offrank.log.batch import Floats
from offrank.policies import policy, propensities
from offrank.verbs.evaluate import evaluate
from offrank_testing import Situation, World
from tests.exact.worlds import EXAMINATION, world

POLICIES = ["plackett_luce(new)", "top(new)", "epsilon(top(new), 0.3)"]


def weights(made: Estimator, shape: str, target: str, logging: str = "plackett_luce(old)") -> Floats:
    """[2, ...] weight and control."""
    batch = world(shape, "item").batch(policy(logging))
    found = made.weigh(batch, propensities(policy(logging), batch), propensities(policy(target), batch))
    return np.stack([found.weight, found.control])


@pytest.mark.parametrize("form", ["paper", "windowed"])
@pytest.mark.parametrize("shape", ["full", "top"])
@pytest.mark.parametrize("target", POLICIES)
def test_no_window_is_the_item_position_model(target: str, shape: str, form: Any) -> None:
    here = weights(Interpol(window=0, form=form, examination=EXAMINATION), shape, target)
    assert here == pytest.approx(weights(IPM(), shape, target), rel=1e-12)


@pytest.mark.parametrize("target", POLICIES)
def test_a_full_window_is_the_position_based_model(target: str) -> None:
    for window in (3, 4, 100):
        wide, _ = weights(Interpol(window=window, examination=EXAMINATION), "full", target)
        assert wide == pytest.approx(weights(PositionBased(examination=EXAMINATION), "full", target)[0], rel=1e-12)


@pytest.mark.parametrize("target", POLICIES)
def test_windowed_forms_with_a_flat_curve_are_the_same(target: str) -> None:
    flat = (1.0,) * 4
    one, other = (
        weights(Interpol(window=1, form=form, examination=flat), "top", target)
        for form in ("paper", "windowed")  # type: ignore[arg-type]
    )
    assert one == pytest.approx(other, rel=1e-12)


@pytest.mark.parametrize("made", [IPS(), RIPS(), IPM()])
@pytest.mark.parametrize("name", ["plackett_luce(old)", "uniform", "swaps(top(old), 0.6)"])
def test_the_logging_policy_itself_has_weight_one(made: Estimator, name: str) -> None:
    weight, control = weights(made, "top", name, name)
    shown = world("top", "item").batch(policy(name)).slates >= 0
    expected = shown.astype(float) if weight.ndim == 2 else np.ones(len(weight))
    assert weight == pytest.approx(expected, rel=1e-12)
    assert (control == weight).all()


def by_hand() -> tuple[World, str]:
    """Three items shown in the order 1, 0, 2; the target wants 0, 1, 2; each order is drawn alike."""
    here = World((Situation(3, 3, {}, {"wanted": (0, 1, 2)}),), lambda _, slate: [1.0] * len(slate))
    return here, "ranking(wanted)"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ips", [0.0]),
        ("rips", [0.0, 0.0, 0.0]),
        ("ipm", [0.0, 0.0, 1 / (1 / 3)]),
        ("pbm", [0.5 / 1, 1 / 0.5, 0.2 / 0.2]),
        # Item 1 at rank 1, wanted at rank 2: every rank is inside its window. And so on.
        ("interpol(window=1)", [1.0 * 0.5 / 1, 1 / (2 / 3) * 1 / 0.5, 1 / (2 / 3)]),
        ("interpol(window=1, form='windowed')", [0.5 / (1.7 / 3), 1 / (1.5 / 3), 0.2 / (0.7 / 3)]),
        ("clip(pbm, 1.5)", [0.5, 1.5, 1.0]),
        ("switch(pbm, 1)", [0.5, 0.0, 1.0]),
        ("shrink(pbm, 2)", [2 * 0.5 / (0.25 + 2), 2 * 2 / (4 + 2), 2 * 1 / (1 + 2)]),
    ],
)
def test_one_impression(name: str, expected: list[float]) -> None:
    here, wanted = by_hand()
    batch = here.batch(policy("uniform"))
    row = batch.slates.tolist().index([1, 0, 2])
    made = estimator(name).with_examination((1, 0.5, 0.2))
    assert not isinstance(made, SelfNormalised)
    found = made.weigh(batch, propensities(policy("uniform"), batch), propensities(policy(wanted), batch)).weight
    assert np.atleast_1d(found[row]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("clip(ips, 2)", [-2.0, -1.5, 0.0, 0.5, 2.0, 2.0]),
        ("switch(ips, 2)", [0.0, -1.5, 0.0, 0.5, 2.0, 0.0]),
        ("shrink(ips, 2)", [-6 / 11, -3 / 4.25, 0.0, 1 / 2.25, 4 / 6, 2e200 / 1e300 / 1e100]),
        ("shrink(ips, inf)", [-3.0, -1.5, 0.0, 0.5, 2.0, 1e200]),
    ],
)
def test_a_bound_by_hand(name: str, expected: list[float]) -> None:
    """Negative weights, as of the pseudoinverse, by their size; controls in proportion to what is left."""
    free, made = np.array([-3.0, -1.5, 0.0, 0.5, 2.0, 1e200]), estimator(name)
    assert isinstance(made, Bounded)
    found = made.bounded(Weights(free, np.full(6, 0.25)))
    assert found.weight == pytest.approx(expected, rel=1e-12)
    kept = np.array([1.0 if weight == 0 else left / weight for weight, left in zip(free, expected, strict=True)])
    assert found.control == pytest.approx(0.25 * kept, rel=1e-12)


@pytest.mark.parametrize(("kind", "make"), [(Switch, switch), (Shrink, shrink)])
def test_all_bounds_wrap_alike(kind: Any, make: Any) -> None:
    assert make(SelfNormalised(IPS()), 5) == SelfNormalised(kind(IPS(), 5))
    assert repr(make(SelfNormalised(IPM(), normaliser="pooled"), 5)) == f"{kind.name}(snipm(normaliser=pooled), 5)"
    inner = kind(Interpol(window=1), 3.0).with_examination(EXAMINATION)
    assert inner == kind(Interpol(window=1, examination=EXAMINATION), 3.0)
    assert "clipped weight" in inner.kind.assumes


def test_clipping_is_a_wrapper() -> None:
    assert clip(IPS(), 5) == Clip(IPS(), 5)
    assert clip(SelfNormalised(IPS()), 5) == SelfNormalised(Clip(IPS(), 5))
    assert repr(clip(SelfNormalised(IPS()), 5)) == "clip(snips, 5)"
    inner = Clip(Interpol(window=1), 3.0).with_examination(EXAMINATION)
    assert inner.base == Interpol(window=1, examination=EXAMINATION)
    assert (inner.kind.outcome, inner.kind.logging, inner.kind.target) == ("clicks", "rank_law", "rank_law")


@pytest.mark.parametrize("target", POLICIES)
def test_clipping_bounds_weights_and_their_controls(target: str) -> None:
    free, control = weights(Interpol(window=1, examination=EXAMINATION), "full", target)
    cut, cut_control = weights(Clip(Interpol(window=1, examination=EXAMINATION), 0.8), "full", target)
    assert cut.max() <= 0.8
    assert cut == pytest.approx(np.minimum(free, 0.8))
    assert cut_control[free > 0] == pytest.approx((control * cut)[free > 0] / free[free > 0])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Interpol(window=-1), "window is -1"),
        (lambda: Interpol(window=1.5), "window is 1.5"),  # type: ignore[arg-type]
        (lambda: Interpol(window=1, form="mine"), "form is 'mine'"),  # type: ignore[arg-type]
        (lambda: PositionBased(examination=()), r"examination is \[\]"),
        (lambda: PositionBased(examination=(1, 0)), r"examination is \[1.0, 0.0\]"),
        (lambda: PositionBased(examination=(1, float("nan"))), "examination is"),
        (lambda: Clip(IPS(), 0), "maximum is 0"),
        (lambda: Clip(IPS(), float("nan")), "maximum is nan"),
        (lambda: Switch(IPS(), -1), "threshold is -1"),
        (lambda: Shrink(IPS(), float("nan")), "strength is nan"),
        (lambda: SelfNormalised(PositionBased()), "pbm has no self-normalised form"),
        (lambda: PositionBased().with_examination(None), "pbm needs an examination curve"),
        (lambda: Interpol(window=1).with_examination(None), r"interpol\(window=1\) needs an examination curve"),
    ],
)
def test_arguments_that_cannot_work(make: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words) as error:
        make()
    assert error.value.remedy


def test_no_window_needs_no_curve() -> None:
    assert Interpol(window=0).with_examination(None) == Interpol(window=0)


def test_a_curve_given_to_the_estimator_is_kept() -> None:
    own = PositionBased(examination=(1, 0.2, 0.1, 0.05))
    assert own.with_examination(EXAMINATION) is own


@pytest.mark.parametrize("name", ["pbm", "interpol(window=1)"])
def test_a_curve_must_reach_the_last_slot(name: str) -> None:
    source = world("full", "position").source(policy("uniform"))
    with pytest.raises(UsageError, match="the examination curve has 2 ranks, but the log's slates have 4"):
        evaluate(source, "top(new)", "uniform", [name], examination=[1, 0.5])
