"""Laws of behaviour: what must hold of any estimate, whatever the log."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from offrank.evaluation.result import Result
from offrank.log.batch import LogBatch
from offrank.verbs.estimate import estimate
from offrank.verbs.evaluate import evaluate
from offrank_testing import MemorySource, take
from tests.estimators.simulated import LOGGING, TARGET, log, source

NAMES = ["ips", "snips", "rips", "snrips", "ipm", "snipm", "interpol(window=1)", "sninterpol(window=1)"]
CURVE = (1.0, 0.6, 0.5)


def found(batch: LogBatch, estimators: list[str] = NAMES, **options: Any) -> Result:
    return evaluate(source(batch), TARGET, LOGGING, estimators, examination=CURVE, **options)


def with_clicks(batch: LogBatch, factor: float) -> LogBatch:
    assert batch.clicks is not None
    return replace(batch, clicks=factor * batch.clicks)


@pytest.mark.parametrize("interval", ["normal", "bootstrap"])
@pytest.mark.parametrize("name", ["snips", "clip(snips, 1.5)"])
def test_one_for_all_is_one_for_sure(name: str, interval: str) -> None:
    batch = replace(log(), outcome=np.ones(len(log())))
    one = found(batch, [name], interval=interval)[name]
    assert one.value == pytest.approx(1, rel=1e-12)
    assert one.standard_error == pytest.approx(0, abs=1e-12)
    assert (one.low, one.high) == pytest.approx((1, 1), abs=1e-12)
    assert one.difference is not None
    assert one.difference.value == 0


@pytest.mark.parametrize("name", ["snrips", "snipm"])
def test_one_click_in_every_slot_is_the_number_of_slots(name: str) -> None:
    three = take(log(), np.flatnonzero(log().contexts.length == 3))
    assert len(three) > 100
    assert found(replace(three, clicks=np.ones(three.slates.shape)), [name])[name].value == pytest.approx(3, rel=1e-9)


@pytest.mark.parametrize("interval", ["normal", "bootstrap", "bernstein"])
@pytest.mark.parametrize("factor", [0.125, 3.0])
def test_rewards_scale_everything_but_the_weights(factor: float, interval: str) -> None:
    options: dict[str, Any] = {"interval": interval, "replicates": 60}
    one, scaled = found(log(), **options), found(with_clicks(log(), factor), **options)
    for name in NAMES:
        for field in ("value", "low", "high", "standard_error"):
            assert getattr(scaled[name], field) == pytest.approx(factor * getattr(one[name], field), rel=1e-9)
        assert scaled[name].ess == pytest.approx(one[name].ess)
        assert scaled[name].mean_weight == pytest.approx(one[name].mean_weight)
        left, right = scaled[name].difference, one[name].difference
        assert left is not None
        assert right is not None
        assert left.value == pytest.approx(factor * right.value, rel=1e-9)


@pytest.mark.parametrize("interval", ["normal", "bootstrap", "bernstein"])
def test_more_confidence_widens(interval: str) -> None:
    widths = []
    for confidence in (0.5, 0.8, 0.95, 0.99):
        result = found(log(), interval=interval, confidence=confidence)
        widths.append([result[name].high - result[name].low for name in NAMES])
    assert (np.diff(widths, axis=0) > 0).all()


@pytest.mark.parametrize("interval", ["normal", "bootstrap"])
def test_more_data_tightens(interval: str) -> None:
    few, many = (found(log(n, seed=1), interval=interval, cluster=None, replicates=1000) for n in (1500, 24_000))
    for name in NAMES:
        ratio = (many[name].high - many[name].low) / (few[name].high - few[name].low)
        assert ratio == pytest.approx(1 / 4, rel=0.35), name


def test_sub_sampling_is_corrected_once() -> None:
    whole, part = found(log(24_000, kept=1.0)), found(log(24_000, kept=0.2))
    for name in NAMES:
        apart = np.hypot(whole[name].standard_error, part[name].standard_error)
        assert part[name].value == pytest.approx(whole[name].value, abs=4 * apart)
        assert part[name].mean_weight == pytest.approx(1, abs=0.1)
        assert part[name].n < 0.75 * whole[name].n


def test_all_rows_kept_alike_do_not_count() -> None:
    one, half = log(), replace(log(), inclusion=0.5 * log().inclusion)
    for name in NAMES:
        left, right = found(one)[name], found(half)[name]
        assert (left.value, left.low, left.high) == pytest.approx((right.value, right.low, right.high), rel=1e-12)
        assert left.ess == pytest.approx(right.ess)


def test_twice_the_same_rows_look_like_twice_the_data_unless_clustered() -> None:
    batch = log()
    both = MemorySource((batch, batch))
    alone = estimate(both, TARGET, LOGGING, ["snips"], cluster=None)["snips"]
    once = found(batch, ["snips"], cluster=None)["snips"]
    assert alone.standard_error == pytest.approx(once.standard_error / np.sqrt(2), rel=1e-3)
    clustered = estimate(both, TARGET, LOGGING, ["snips"], cluster="visit")["snips"]
    assert clustered.standard_error == pytest.approx(once.standard_error, rel=0.1)


def test_groups_add_up_to_the_whole() -> None:
    result = found(log(), ["ips", "ipm"], by="situation")
    h, codes = 1 / log().inclusion, log().labels["situation"].codes
    share = np.bincount(codes, weights=h) / h.sum()
    for name in ("ips", "ipm"):
        parts = [result.groups[str(code)][name] for code in range(len(share))]
        assert sum(part.n for part in parts) == result[name].n
        assert sum(share * [part.value for part in parts]) == pytest.approx(result[name].value, rel=1e-10)


def test_several_targets_are_each_as_alone() -> None:
    targets = {"new": TARGET, "same": LOGGING, "top": "top(new)"}
    together = estimate(source(log()), targets, LOGGING, ["snips", "ipm"])
    for name, target in targets.items():
        alone = estimate(source(log()), target, LOGGING, ["ipm"])["ipm"]
        assert together[name, "ipm"].value == pytest.approx(alone.value, rel=1e-12)
        assert together[name, "ipm"].standard_error == pytest.approx(alone.standard_error, rel=1e-12)
