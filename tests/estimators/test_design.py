"""What two policies alone say of weights, against every slate of small worlds, each with its probability."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.estimators import ESTIMATORS, estimator
from offrank.estimators.design import design_fold
from offrank.estimators.layout import Layout
from offrank.log.batch import LogBatch, RunCache
from offrank.log.source import Ability, Needs
from offrank.policies import PlackettLuce, policy, propensities
from offrank.sums.estimate import Design
from offrank_testing.exact import MemorySource
from tests.exact.test_registry import ESTIMATOR_EXAMPLES
from tests.exact.worlds import EXAMINATION, world

#: by registry, and in forms that differ
EXAMPLES: dict[str, Any] = {
    **ESTIMATOR_EXAMPLES,
    "clipped": "clip(ips, 1.5)",
    "shrunk by slot": "shrink(snrips, 6)",
    "switched by item": "switch(interpol(window=1), 1.1)",
    "windowed": 'interpol(window=1, form="windowed")',
}
WITHOUT = {"direct", "judged", "logged", "weights"}
LOGGING = ("plackett_luce(old)", "epsilon(top(old), 0.4)", "uniform")
#: in `full` nothing ties that top(new) shows, in `top` something does
SURE = {"full": ("top(new)", "ranking(listed)"), "top": ("ranking(listed)",)}
DRAWN = ("top(new)", "plackett_luce(new)", "epsilon(top(new), 0.25)")
REPEATS = 31


def made(name: str) -> Any:
    """The weighting of an example."""
    given = EXAMPLES[name]
    return estimator(given).with_examination(EXAMINATION).unnormalised


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
    fold = design_fold(layout, drawn, MemorySource((batch,)), Needs(), RunCache())
    fold = replace(fold, **how)
    designs = fold.result(fold.of(batch))
    known = {(repr(t), e): one for (t, e, *_), one in zip(layout.pairs, designs, strict=True)}
    return {(target, name): known[target, given[name]] for target in targets for name in names}


def enumerated(shape: str, logging: str, target: str, name: str, n: int) -> Design:
    """The same from every slate that the logging policy can show, by the weights that the estimator gives it."""
    batch, one = world(shape, "position").batch(policy(logging)), made(name)
    weighting: Any = one.unnormalised.weighting
    plain = weighting
    while hasattr(plain, "base"):
        plain = plain.base
    given = propensities(policy(logging), batch), propensities(policy(target), batch)
    weights, free = weighting.weigh(batch, *given), plain.weigh(batch, *given)
    chance, length = 1 / batch.inclusion, batch.contexts.length
    if plain.kind.outcome == "reward":
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


@pytest.mark.parametrize("logging", ["uniform", "plackett_luce(old)"])
def test_the_pseudoinverse(logging: str) -> None:
    """E[w^2] by enumeration; the largest weight is a bound, which every slate keeps."""
    here, batch = world("full", "position"), contexts_of("full")
    for (target, _), one in found(batch, logging, (*SURE["full"], "plackett_luce(new)"), ("pi",)).items():
        every = here.batch(policy(logging))
        weight = estimator("pi").weigh(every, propensities(policy(logging), every), propensities(policy(target), every))
        squares = weight.weight**2 / every.inclusion
        assert one.second_moment == pytest.approx(squares.sum() / len(here.situations), rel=1e-9)
        assert one.effective == pytest.approx(len(batch) * len(here.situations) / squares.sum(), rel=1e-9)
        assert one.largest >= np.abs(weight.weight).max() - 1e-9
        assert (one.unsupported, one.hidden, one.visible) == (pytest.approx(0.0), 0.0, one.effective)
        assert np.isnan(one.third_moment)


def test_what_the_log_never_shows_is_unsupported() -> None:
    """The old ranking alone is logged: the new one shares with it what it begins with, and some items at ranks."""
    batch = contexts_of("full")
    designs = found(batch, "epsilon(top(logit), 0.0)", ("ranking(listed)",), ("ips", "rips", "ipm"))
    for name in ("ips", "rips", "ipm"):
        one = designs["ranking(listed)", name]
        other = enumerated("full", "epsilon(top(logit), 0.0)", "ranking(listed)", name, len(batch))
        assert 0.2 < one.unsupported < 0.9
        assert one.unsupported == pytest.approx(other.unsupported, abs=1e-9)
        assert one.second_moment == pytest.approx(other.second_moment, rel=1e-9)


def test_rows_that_were_kept_by_chance_count_as_often_as_there_were_of_them() -> None:
    batch = contexts_of("full")
    inclusion = np.where(np.arange(len(batch)) % 4 == 1, 0.25, 1.0)
    some, whole = replace(batch, inclusion=inclusion), batch
    times = np.repeat(np.arange(len(batch)), np.round(1 / inclusion).astype(np.int64))
    many = replace(whole.take(times), row=np.arange(len(times), dtype=np.uint64))
    how: Any = ("plackett_luce(old)", SURE["full"], ("ips", "rips", "ipm", "interpol"))
    for key, one in found(some, *how).items():
        other = found(many, *how)[key]
        assert one.second_moment == pytest.approx(other.second_moment, rel=1e-9)
        assert one.third_moment == pytest.approx(other.third_moment, rel=1e-9)
        assert one.largest == pytest.approx(other.largest, rel=1e-9)
    # Of the slates: (sum of weights)^2 / sum of their squares, each divided by the inclusion, in expectation.
    by_row = {key: squared_weights(key[0], len(batch)) for key in found(some, *how) if key[1] == "ips"}
    for key, second in by_row.items():
        expected = (1 / inclusion).sum() ** 2 / (second / inclusion**2).sum()
        assert found(some, *how)[key].effective == pytest.approx(expected, rel=1e-9)


def squared_weights(target: str, n: int) -> np.ndarray:
    """[n] E[w^2] of `ips` in the contexts of the rows of `contexts_of`."""
    batch = world("full", "position").batch(policy("plackett_luce(old)"))
    ratio = np.exp(policy(target).log_prob(batch.contexts, batch.slates)) * batch.inclusion
    each = np.bincount(batch.contexts.keys["query"], ratio**2 / batch.inclusion)
    return np.tile(each, n // len(each) + 1)[:n]


def test_a_sample_of_the_contexts_tells_nearly_the_same() -> None:
    batch = contexts_of("top", 1000)
    how: Any = ("plackett_luce(old)", ("ranking(listed)",), ("ips", "ipm"))
    whole, part = found(batch, *how, kept=10_000), found(batch, *how, kept=400)
    for key, one in part.items():
        assert (one.rows, whole[key].rows) == (400, 4000)
        assert one.second_moment == pytest.approx(whole[key].second_moment, rel=0.25)
        assert one.effective == pytest.approx(whole[key].effective, rel=0.25)


class Unable(PlackettLuce):
    """A target that cannot draw."""

    def reads(self, ability: Ability) -> Needs:
        return self.refuse(ability) if ability == "sample" else super().reads(ability)

    def sample(self, *_: Any) -> Any:
        self.refuse("sample")


def coins(share: float, n: int, rng: np.random.Generator) -> pa.Table:
    """Two items for one slot; in a `share` of the contexts the logging policy shows the better one once in 300."""
    rare = rng.random(n) < share
    old = np.where(rare[:, None], [1.0, 299.0], [1.0, 1.0])
    shown = (rng.random(n) >= old[:, 0] / old.sum(axis=1)).astype(np.int64)
    columns = {"slate": shown[:, None], "candidates": np.tile([0, 1], (n, 1)), "old": old}
    columns |= {"new": np.tile([2.0, 1.0], (n, 1)), "clicks": (rng.random((n, 1)) < 0.5).astype(np.int64)}
    return pa.table({name: values.tolist() for name, values in columns.items()} | {"device": ["a", "b"] * (n // 2)})


def test_what_most_logs_have_not_seen_is_told_in_every_log() -> None:
    """E[w^2] = .7 * 2 + .3 * 300 = 91.4: a thousand rows are worth 11, where a log without such a row reaches 350."""
    rng, sizes = np.random.default_rng(0), []
    for _ in range(12):
        one = offrank.evaluate(coins(0.3, 1000, rng), "top(new)", "plackett_luce(old)", "ips")["ips"]
        design = one.design
        assert design is not None
        sizes.append(one.ess)
        assert ("hidden-mass", "serious") in [(said.code, said.severity) for said in one.warnings]
        assert design.effective == pytest.approx(1000 / 91.4, rel=0.15)
        assert (design.largest, design.hidden) == (pytest.approx(300.0), pytest.approx(0.3, abs=0.05))
        assert design.visible == pytest.approx(350, rel=0.1)
        least = 2.8016 * one.difference.standard_error
        assert one.detectable >= least * (1 - 1e-3)
    assert max(sizes) > 100


def test_a_healthy_log_is_not_warned_of() -> None:
    rng = np.random.default_rng(1)
    one = offrank.evaluate(coins(0.0, 1000, rng), "top(new)", "plackett_luce(old)", "ips")["ips"]
    assert one.warnings == ()
    assert one.detectable == pytest.approx(2.8016 * one.difference.standard_error, rel=0.03)


@pytest.mark.parametrize(
    ("target", "logging"),
    [(Unable("new"), "plackett_luce(old)"), ("top(new)", "written(slate=chance)"), ("top(new)", "logged")],
)
def test_where_the_policies_cannot_tell_there_is_no_design(target: Any, logging: str) -> None:
    log = coins(0.3, 200, np.random.default_rng(2))
    log = log.append_column("chance", pa.array([0.5] * 200)).append_column("propensity", pa.array([0.5] * 200))
    one = next(iter(offrank.evaluate(log, target, logging, "ips").estimates.values()))
    assert one.design is None
    assert one.value > 0


def test_the_document_has_the_design_of_the_log_and_not_of_groups() -> None:
    log = coins(0.3, 400, np.random.default_rng(3))
    result = offrank.evaluate(log, "top(new)", "plackett_luce(old)", "ips", by="device")
    one, *groups = result.to_dict()["estimates"]
    design = result["ips"].design
    names = ("design_ess", "largest_possible_weight", "unsupported", "hidden")
    assert [one[name] for name in names] == [design.effective, design.largest, design.unsupported, design.hidden]
    assert one["detectable"] == result["ips"].detectable
    assert len(groups) == 2
    assert all(group[name] is None for group in groups for name in names)
    assert result.to_arrow().column("design_ess")[0].as_py() == design.effective
