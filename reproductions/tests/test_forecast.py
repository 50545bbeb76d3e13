"""The moments of estimators under designs, against every slate and every click of a small world; and against logs."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import offrank
from offrank.estimators import estimator
from offrank.log.batch import Contexts, LogBatch, Shown
from offrank.policies import policy
from offrank.policies.propensities import propensities
from offrank_lab.forecast import ESTIMATORS, MEANS, Forecast
from offrank_papers.like_log import LikeLog

NEW, NOW = "top(new)", "top(old)"
OLD_SCORES = [[4.0, 3.0, 2.0, 1.0], [1.0, 3.5, 2.0, 0.0], [0.5, 0.2, 0.9, 0.7]]
NEW_SCORES = [[1.0, 4.0, 3.0, 2.0], [3.0, 1.0, 2.0, 4.0], [0.5, 0.2, 0.9, 0.7]]  # the last ranks as the old
SHARE = np.array([0.5, 0.3, 0.2])
CURVE = np.array([1.0, 0.6, 0.5])
DESIGNS = (
    "epsilon(top(old), 0.1)",
    "plackett_luce(old, temperature=0.7, log=True)",
    "swaps(top(old), 0.8)",
    "epsilon(shuffled(top(old), 3, method=top), 0.2)",
    "epsilon(interleaved(top(old), top(new)), 0.3)",
    "mixture({top(old): 0.7, top(new): 0.3})",
    "mixture({plackett_luce(old, log=True): 0.4, top(new): 0.6})",
    "uniform",
)
WITHOUT_SUPPORT = (NOW, "shuffled(top(old), 2, method=top)", "interleaved(top(old), top(new))")


def world(slots: int = 2, items: int = 4, ragged: bool = False, target: str = NEW, now: str = NOW) -> Forecast:
    """Three queries, whose items have clicks of their own at each rank."""
    size, length = np.full(3, items), np.full(3, slots)
    if ragged:
        size[1], length[1] = items - 1, slots - 1
    scores = {"old": np.array(OLD_SCORES)[:, :items], "new": np.array(NEW_SCORES)[:, :items]}
    there = np.arange(items) < size[:, None]
    scores = {name: np.where(there, one, 0.0) for name, one in scores.items()}
    contexts = Contexts(np.tile(np.arange(items), (3, 1)), size, length, scores)
    relevance = np.random.default_rng(1).uniform(0.2, 0.9, (3, items))
    curve = CURVE[:slots]
    return Forecast(contexts, SHARE, relevance[:, :, None] * curve, curve, policy(target), policy(now))


def every_impression(forecast: Forecast, design: str) -> tuple[LogBatch, np.ndarray]:
    """All slates that a design may show with all clicks on them, and how likely each is."""
    contexts, law = forecast.contexts, policy(design)
    rows, slates, clicks, chances = [], [], [], []
    for query in range(3):
        size, length = int(contexts.size[query]), int(contexts.length[query])
        for shown in itertools.permutations(range(size), length):
            slate = np.array([[*shown, *[-1] * (contexts.slots - length)]])
            drawn = math.exp(law.log_prob(contexts.take(np.array([query])), slate[:, : int(length)])[0])
            if drawn == 0:
                continue
            for clicked in itertools.product([0.0, 1.0], repeat=length):
                chance = drawn * SHARE[query]
                for rank, (item, click) in enumerate(zip(shown, clicked, strict=True)):
                    p = forecast.clicks[query, item, rank]
                    chance *= p if click else 1 - p
                rows.append(query)
                slates.append(slate[0])
                clicks.append([*clicked, *[0.0] * (contexts.slots - length)])
                chances.append(chance)
    n = len(rows)
    shown_slates = Shown(np.array(slates))
    taken = contexts.take(np.array(rows))
    batch = LogBatch(taken, shown_slates, np.array(clicks), None, np.ones(n), np.arange(n, dtype=np.uint64))
    return batch, np.array(chances)


def clicks_of(forecast: Forecast, shown: str) -> float:
    batch, chance = every_impression(forecast, shown)
    assert chance.sum() == pytest.approx(1)
    return float(chance @ batch.clicks.sum(axis=1))


def terms(forecast: Forecast, design: str, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The chance of each impression, and the terms by the estimator itself of the target and of production."""
    batch, chance = every_impression(forecast, design)
    asked = estimator(name).with_examination(tuple(forecast.examination)).unnormalised
    found = []
    for one in (forecast.target, forecast.production):
        each = asked.terms(batch, propensities(policy(design), batch), propensities(one, batch))
        weight, shown = each.weights.weight, batch.slates >= 0
        if name == "snips":
            found.append(each.value - clicks_of(forecast, repr(one)) * weight)
        elif name == "snipm":  # sum over slots of P(slot) E[w c] / E[w]: its influence, by slot
            total = np.zeros(len(chance))
            for slot in range(shown.shape[1]):
                there, filled = shown[:, slot] * 1.0, chance @ shown[:, slot]
                rate = chance @ (weight * batch.clicks)[:, slot] / (chance @ weight[:, slot])
                spread = weight[:, slot] * (batch.clicks[:, slot] - rate) / (chance @ weight[:, slot]) * filled
                total += spread + there * rate
            found.append(total)
        else:
            found.append(each.value)
    return chance, found[0], found[1]


def variance(chance: np.ndarray, term: np.ndarray) -> float:
    return float(chance @ term**2 - (chance @ term) ** 2)


@pytest.mark.parametrize("name", ["ips", "snips", "ipm", "snipm"])
@pytest.mark.parametrize("design", DESIGNS)
def test_moments_are_those_of_every_slate_and_click(design: str, name: str) -> None:
    forecast = world()
    found = forecast.found(policy(design), name)
    assert not isinstance(found, str)
    chance, target, production = terms(forecast, design, name)
    for moments, term in zip(found, (target, target - production), strict=True):
        assert forecast.variance(moments)[0] == pytest.approx(variance(chance, term), rel=1e-9)
    if not name.startswith("sn"):
        value = clicks_of(forecast, NEW)
        assert SHARE @ found[0][0] == pytest.approx(value)  # unbiased
        assert SHARE @ found[1][0] == pytest.approx(value - clicks_of(forecast, NOW))


@pytest.mark.parametrize("name", ["ips", "snips", "ipm", "snipm"])
@pytest.mark.parametrize("design", [DESIGNS[0], DESIGNS[2], DESIGNS[5], "uniform"])
def test_queries_may_have_fewer_items_and_slots(design: str, name: str) -> None:
    forecast = world(slots=3, ragged=True)
    found = forecast.found(policy(design), name)
    chance, target, production = terms(forecast, design, name)
    for moments, term in zip(found, (target, target - production), strict=True):
        assert forecast.variance(moments)[0] == pytest.approx(variance(chance, term), rel=1e-9)


@pytest.mark.parametrize("design", ["top(old)", *DESIGNS[:6], "uniform"])
def test_by_position_where_every_item_is_shown(design: str) -> None:
    forecast = world(slots=3, items=3)
    found = forecast.found(policy(design), "pbm")
    chance, target, production = terms(forecast, design, "pbm")
    for moments, term in zip(found, (target, target - production), strict=True):
        assert forecast.variance(moments)[0] == pytest.approx(variance(chance, term), rel=1e-9)


@pytest.mark.parametrize("name", ["ips", "snipm"])
def test_targets_that_draw_are_whole_where_slates_are_few(name: str) -> None:
    forecast = world(target="plackett_luce(new, log=True)")
    found = forecast.found(policy(DESIGNS[0]), name)
    chance, target, production = terms(forecast, DESIGNS[0], name)
    assert forecast.variance(found[1])[0] == pytest.approx(variance(chance, target - production), rel=1e-9)


def test_arms_are_independent_samples() -> None:
    forecast, share = world(), 0.3
    design = policy(f"mixture({{top(old): {1 - share}, top(new): {share}}})")
    spread = []
    for one in (NEW, NOW):
        batch, chance = every_impression(forecast, one)
        spread.append(variance(chance, batch.clicks.sum(axis=1)))
    target, difference = forecast.found(design, MEANS)
    assert forecast.arm(design) == pytest.approx(share)
    assert forecast.variance(target)[0] == pytest.approx(spread[0] / share)
    assert forecast.variance(difference)[0] == pytest.approx(spread[0] / share + spread[1] / (1 - share))


@pytest.mark.parametrize("design", [*DESIGNS[:5], *DESIGNS[6:], NOW, NEW])
def test_other_designs_have_no_arms(design: str) -> None:
    assert world().arm(policy(design)) == 0


@pytest.mark.parametrize("design", WITHOUT_SUPPORT)
@pytest.mark.parametrize("name", ["ips", "snips", "ipm", "snipm", "pbm"])
def test_what_is_never_shown_has_no_number(design: str, name: str) -> None:
    """By hand: which of the slates, items at ranks, or items of both rankings a design never shows."""
    forecast = world()
    contexts, law = forecast.contexts, policy(design)
    lacking = 0.0
    ranks = law.rank_probs(contexts, np.tile(np.arange(4), (3, 1)))
    for query, share in enumerate(SHARE):
        for scores in (NEW_SCORES, OLD_SCORES):
            slate = np.argsort(-np.array(scores[query]))[:2]
            if name in ("ips", "snips"):
                drawn = law.log_prob(contexts.take(np.array([query])), slate[None])
                lacking += share / 2 * (drawn[0] == -np.inf)
            elif name == "pbm":
                lacking += share / 4 * sum(ranks[query, item].sum() < 1 - 1e-9 for item in slate)
            else:
                lacking += share / 4 * sum(ranks[query, item, rank] == 0 for rank, item in enumerate(slate))
    found = forecast.found(law, name)
    if lacking == 0:
        assert not isinstance(found, str)
    else:
        assert found.startswith(offrank.language.formatting.percent(lacking))
        assert found.endswith(ESTIMATORS[name])


@pytest.mark.parametrize("name", ["snips", "snipm"])
def test_a_rare_query_that_is_never_answered_is_no_number_too(name: str) -> None:
    rare = replace(world(), share=np.array([0.01, 0.01, 0.98]))
    found = rare.found(policy(NOW), name)
    assert found == f"1 % of what target and production show is never shown {ESTIMATORS[name]}"


@pytest.mark.parametrize(
    ("items", "design", "name", "target", "drawn"),
    [
        (6, "plackett_luce(old, log=True)", "snipm", NEW, False),  # all 120 slates are looked at
        (7, "plackett_luce(old, log=True)", "snipm", NEW, True),
        (7, "plackett_luce(old, log=True)", "snips", NEW, False),  # only slates of both rankings, which are sure
        (7, "epsilon(top(old), 0.1)", "ipm", NEW, False),
        (7, "uniform", "snipm", NEW, False),
        (7, "epsilon(shuffled(top(old), 3, method=top), 0.2)", "snipm", NEW, True),
        (7, "mixture({top(old): 0.5, top(new): 0.5})", MEANS, NEW, False),
        (7, "epsilon(top(old), 0.1)", "snips", "plackett_luce(new, log=True)", True),
        (7, "epsilon(top(old), 0.1)", "ipm", "plackett_luce(new, log=True)", False),
        (7, "mixture({top(old): 0.5, plackett_luce(new, log=True): 0.5})", MEANS, "plackett_luce(new, log=True)", True),
    ],
)
def test_what_is_drawn_is_said(
    items: int, design: str, name: str, target: str, drawn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only then do the moments depend on how many are drawn."""
    rng = np.random.default_rng(7)
    scores = {name: rng.normal(size=(3, items)) for name in ("old", "new")}
    contexts = Contexts(np.tile(np.arange(items), (3, 1)), np.full(3, items), np.full(3, 3), scores)
    clicks = rng.uniform(0.2, 0.9, (3, items))[:, :, None] * CURVE
    found = []
    for draws in (0, 100_000):
        monkeypatch.setattr("offrank_lab.forecast.DRAWS", draws)
        forecast = Forecast(contexts, SHARE, clicks, CURVE, policy(target), policy(NOW))
        told = forecast.found(policy(design), name)
        assert not isinstance(told, str)
        found.append(forecast.variance(told[1])[0])
    assert forecast.drawn(policy(design), name) is drawn
    assert (found[0] != found[1]) is drawn


def test_what_is_moved_is_taken_from_production() -> None:
    forecast = world()
    # The first query: production has 0, 1 on ranks of 1 and 0.6, the target 1, 2: 1 is taken from item 0.
    # The second: production 1, 2, target 3, 0: all 1.6. The third: the same slate.
    assert forecast.moved(policy(NEW)) == pytest.approx((0.5 * 1.0 + 0.3 * 1.6) / 1.6)
    half = policy("mixture({top(old): 0.5, top(new): 0.5})")
    assert forecast.moved(half) == pytest.approx(forecast.moved(policy(NEW)) / 2)
    assert forecast.moved(policy(NOW)) == 0


def test_the_doubt_is_that_of_drawn_queries() -> None:
    forecast = world()
    mean, square = np.array([1.0, 2.0, 3.0]), np.array([2.0, 5.0, 12.0])
    found, doubt = forecast.variance((mean, square))
    centre = 0.5 * 1 + 0.3 * 2 + 0.2 * 3
    assert found == pytest.approx(0.5 * 2 + 0.3 * 5 + 0.2 * 12 - centre**2)
    each = square - 2 * centre * mean
    error = math.sqrt(sum(s**2 * (x - SHARE @ each) ** 2 for s, x in zip(SHARE, each, strict=True)))
    assert doubt == pytest.approx(error / found)


@pytest.mark.parametrize(
    ("design", "name"),
    [
        ("epsilon(top(old), 0.2)", "snipm"),
        ("mixture({top(old): 0.8, top(new): 0.2})", "snips"),
        ("plackett_luce(old, temperature=1.5, log=True)", "ipm"),
    ],
)
def test_the_forecast_is_the_error_of_logs(design: str, name: str) -> None:
    """Within 3 % of what `compare` says of simulated logs, on average of four."""
    rng, queries, items, slots, rows = np.random.default_rng(3), 400, 6, 3, 20_000
    scores = {"old": rng.normal(size=(queries, items)), "new": rng.normal(size=(queries, items))}
    scores["new"] = 0.7 * scores["old"] + scores["new"]
    size, length = np.full(queries, items), np.full(queries, slots)
    contexts = Contexts(np.tile(np.arange(items), (queries, 1)), size, length, scores)
    rates = np.array([0.5, 0.3, 0.2])
    attraction = rng.choice([0.2, 1.0], size=(queries, items))
    users = LikeLog(contexts, attraction, policy(design), np.ones_like, rates)
    clicks = attraction[:, :, None] * users.examination
    share = np.full(queries, 1 / queries)
    forecast = Forecast(contexts, share, clicks, rates, policy(NEW), policy(NOW))
    found = forecast.found(policy(design), name)
    errors, effective = [], []
    for seed in range(4):
        asked = {"new": NEW, "now": NOW}
        result = offrank.evaluate(users.source(rows, seed), asked, design, name, cluster=None)
        errors.append(result.difference("new", "now", estimator=name).standard_error)
        effective.append(result["new", name].ess)
    reward = forecast.variance(forecast.additive(policy(NEW), 1.0, 0.0))[0]
    assert min(effective) > 200
    assert math.sqrt(forecast.variance(found[1])[0] / rows) == pytest.approx(np.mean(errors), rel=0.03)
    assert rows * reward / forecast.variance(found[0])[0] == pytest.approx(np.mean(effective), rel=0.1)
