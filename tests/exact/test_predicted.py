"""Estimators that ask a click model, against the truth by enumeration: right if the model is, or if the weights are."""

from __future__ import annotations

import math
from functools import cache

import pytest

from offrank.clicks import Fitted
from offrank.estimators import IPM as ItemPosition
from offrank.estimators import PI, RIPS, Direct, DoublyRobust, SelfNormalised, estimator
from offrank.evaluation.estimates import Numbers
from offrank.policies import policy, propensities
from offrank.verbs.estimate import estimate
from offrank_testing.exact import World
from offrank_testing.laws import law
from tests.estimators.models import Either, Positions, Reading, fitted
from tests.exact.test_estimators import LOGGING, TARGETS
from tests.exact.worlds import EXAMINATION, RELEVANCE, world

EXACT = 1e-9
WRONG = tuple(tuple(1 - chance**2 for chance in row) for row in RELEVANCE)
#: models that are right for the users of their name
RIGHT = {
    "position": fitted(Positions(EXAMINATION), RELEVANCE),
    "cascade": fitted(Reading(0.3), RELEVANCE),
}
#: models that are wrong for everybody, of clicks that depend on item and rank, and on what stands above
OFF = {"position": fitted(Positions((0.9, 0.8, 0.2, 0.7)), WRONG), "cascade": fitted(Reading(0.9), WRONG)}


def off(found: Numbers, here: World, key: str) -> list[float]:
    """Relative error for each target."""
    return [found[target, key].value / here.value(policy(target)) - 1 for target in TARGETS]


def judged(here: World, estimators: list[object], drawn: str, logging: str) -> Numbers:
    return estimate(here.source(policy(drawn)), {target: target for target in TARGETS}, logging, estimators)  # type: ignore[arg-type]


@cache
def found(shape: str, users: str, model: Fitted, drawn: str, logging: str, direct: bool = True) -> Numbers:
    """Doubly robust estimates by a model, and what it says directly."""
    names = {"position": [ItemPosition()], "cascade": [RIPS()]}.get(users, [])
    robust = [DoublyRobust(model), *(DoublyRobust(model, residual=one) for one in names)]
    return judged(world(shape, users), [Direct(model), *robust] if direct else robust, drawn, logging)


@pytest.mark.parametrize("users", RIGHT)
@pytest.mark.parametrize("shape", ["full", "top"])
@pytest.mark.parametrize("logging", LOGGING)
def test_all_are_right_where_the_model_is_whatever_the_propensities(shape: str, users: str, logging: str) -> None:
    wrong = "uniform" if logging != "uniform" else "plackett_luce(old)"
    result = found(shape, users, RIGHT[users], logging, wrong)
    for key in {name for _, name in result.estimates}:
        assert off(result, world(shape, users), key) == pytest.approx([0.0] * len(TARGETS), abs=EXACT), key


@pytest.mark.parametrize("users", ["position", "item", "cascade", "slate"])
@pytest.mark.parametrize("shape", ["full", "top"])
@pytest.mark.parametrize("model", OFF)
@pytest.mark.parametrize("logging", LOGGING)
def test_doubly_robust_is_right_where_the_propensities_are(shape: str, users: str, model: str, logging: str) -> None:
    result = found(shape, users, OFF[model], logging, logging, direct=False)
    for key in {name for _, name in result.estimates}:
        if "ipm" in key and model == "cascade":
            continue  # weights of items are right for models of items only
        assert off(result, world(shape, users), key) == pytest.approx([0.0] * len(TARGETS), abs=EXACT), key


@pytest.mark.parametrize("users", ["position", "cascade", "slate"])
@pytest.mark.parametrize("model", OFF)
def test_all_are_off_where_both_are_wrong(users: str, model: str) -> None:
    result = found("full", users, OFF[model], "plackett_luce(old)", "uniform")
    for key in {name for _, name in result.estimates}:
        assert max(map(abs, off(result, world("full", users), key))) > 1e-2, key


def test_weights_of_items_need_a_model_of_items() -> None:
    result = found("full", "position", OFF["cascade"], "uniform", "uniform")
    key = next(name for _, name in result.estimates if "ipm" in name)
    assert max(map(abs, off(result, world("full", "position"), key))) > 1e-3


@pytest.mark.parametrize("logging", ["uniform", "epsilon(top(old), 0.4)"])
def test_other_forms_have_the_same_expectation(logging: str) -> None:
    here, wrong = world("top", "position"), OFF["position"]
    made = [SelfNormalised(DoublyRobust(wrong), controlled=True), DoublyRobust(wrong, residual=PI())]
    result = judged(here, list(made), logging, logging)
    for one in made:
        assert off(result, here, repr(one)) == pytest.approx([0.0] * len(TARGETS), abs=1e-7)


BOUNDS = {"clip(ips, 1.5)": 1.5, "switch(ips, 1.5)": 1.5, "shrink(ips, 3)": 3.0}


@pytest.mark.parametrize("logging", ["plackett_luce(old)", "epsilon(top(old), 0.4)"])
def test_with_a_right_model_any_bound_is_unbiased(logging: str) -> None:
    here = world("top", "position")
    every = ("clip(ips, 1.5)", "switch(ips, 8)", "shrink(ips, 0.01)", "switch(ipm, 3)", "shrink(rips, 0.5)")
    made = [DoublyRobust(RIGHT["position"], residual=estimator(name)) for name in every]
    result = judged(here, list(made), logging, logging)
    for one in made:
        assert off(result, here, repr(one)) == pytest.approx([0.0] * len(TARGETS), abs=EXACT)


def left(name: str, weight: float, limit: float) -> float:
    """What a bound leaves of a weight."""
    if name == "shrink":
        return limit * weight / (weight**2 + limit)
    return min(weight, limit) if name == "clip" or weight <= limit else 0.0


@pytest.mark.parametrize("name", BOUNDS)
def test_with_a_wrong_model_a_bound_leaves_what_the_model_gets_wrong(name: str) -> None:
    """The bias is sum over slates of (logging chance * weight left - target chance) * (clicks - predicted clicks)."""
    here, logging, target = world("top", "position"), "plackett_luce(old)", "plackett_luce(new)"
    made = DoublyRobust(OFF["position"], residual=estimator(name))
    value = judged(here, [made], logging, logging)[target, repr(made)].value
    bias = []
    for which, situation in enumerate(here.situations):
        drawn, wanted = law(policy(logging), situation), law(policy(target), situation)
        for slate, chance in drawn.items():
            weight = left(name.partition("(")[0], wanted.get(slate, 0.0) / chance, BOUNDS[name])
            curve = zip(slate, (0.9, 0.8, 0.2, 0.7), strict=False)
            predicted = math.fsum(WRONG[which][item] * at for item, at in curve)
            bias.append((chance * weight - wanted.get(slate, 0.0)) * (sum(here.clicks(which, slate)) - predicted))
    truth = here.value(policy(target))
    assert value - truth == pytest.approx(math.fsum(bias) / len(here.situations), rel=1e-7)
    assert abs(value / truth - 1) > 0.01


@pytest.mark.parametrize("shape", ["full", "top"])
def test_a_mixture_is_the_sum_of_its_parts(shape: str) -> None:
    steep, flat = Positions((1.0, 0.1, 0.1, 0.1)), Positions((0.5, 0.5, 0.4, 0.4))
    made = [Direct(fitted(model, RELEVANCE)) for model in (steep, flat, Either(steep, flat))]
    here = world(shape, "position")
    for target in TARGETS:
        values = [estimate(here.source(policy("uniform")), target, "uniform", one)[one].value for one in made]
        assert values[2] == pytest.approx(0.25 * values[0] + 0.75 * values[1], rel=EXACT)


def cascade_value(which: int, slate: tuple[int, ...], clicks: list[float], drawn: str, target: str) -> float:
    """Kiyohara et al. 2022: sum of w_k (c_k - Q_k) + w_{k-1} E[Q_k given the slots above], for one row.

    Q_k(prefix) is what OFF["cascade"] expects of the clicks from slot k on, the target going on from the prefix.
    """
    situation, k = world("top", "cascade").situations[which], len(slate)
    wanted, shown = law(policy(target), situation), law(policy(drawn), situation)

    def chance(found: dict[tuple[int, ...], float], prefix: tuple[int, ...]) -> float:
        return math.fsum(p for other, p in found.items() if other[: len(prefix)] == prefix)

    def click(prefix: tuple[int, ...]) -> float:
        """The model's click on the last of a prefix: goes on with .9 after a click."""
        chances = [WRONG[which][item] for item in prefix]
        return chances[-1] * math.prod(1 - 0.1 * one for one in chances[:-1])

    def ahead(prefix: tuple[int, ...]) -> float:
        """E[Q of the next slot given the prefix]; 0 below the last, and where the target never comes."""
        whole = chance(wanted, prefix)
        if len(prefix) == k or not whole:
            return 0.0
        longer = [(*prefix, item) for item in range(situation.size) if item not in prefix]
        return math.fsum(chance(wanted, one) / whole * (click(one) + ahead(one)) for one in longer)

    value = 0.0
    for slot in range(k):
        above, prefix = slate[:slot], slate[: slot + 1]
        weight, before = (chance(wanted, one) / chance(shown, one) for one in (prefix, above))
        value += weight * (clicks[slot] - click(prefix) - ahead(prefix)) + before * ahead(above)
    return value


@pytest.mark.parametrize("target", ["plackett_luce(new)", "top(new)"])
def test_with_rips_it_is_the_cascade_form(target: str) -> None:
    here, drawn = world("top", "cascade"), policy("plackett_luce(old)")
    batch = here.batch(drawn)
    assert batch.clicks is not None
    made = DoublyRobust(OFF["cascade"], residual=RIPS())
    found = made.terms(batch, propensities(drawn, batch), propensities(policy(target), batch)).value
    for row in range(0, len(batch), 3):
        which, length = int(batch.contexts.keys["query"][row]), int(batch.contexts.length[row])
        slate, clicks = tuple(batch.slates[row, :length].tolist()), batch.clicks[row, :length].tolist()
        assert found[row] == pytest.approx(cascade_value(which, slate, clicks, "plackett_luce(old)", target), rel=EXACT)
