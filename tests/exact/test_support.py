"""Logs that cannot show everything: what is missed, and what a window saves."""

from __future__ import annotations

import math

import pytest

from offrank.errors import AbilityError, ImpossibleSlateError, NoOverlapError
from offrank.estimators import estimator
from offrank.policies import policy
from offrank.verbs.evaluate import evaluate
from offrank_testing.exact import World
from offrank_testing.laws import Law, Situation, law
from tests.exact.users import position_based_clicks
from tests.exact.worlds import EXAMINATION, world

RELEVANCE = ((0.9, 0.5, 0.7, 0.2),)
#: Item 3 has no chance to be shown; the written ranking wants it in slot 1.
SCORES = {"old": (2.0, 1.0, 1.0, 0.0), "new": (0.1, 0.4, 0.2, 0.0)}
TOP_TWO = World((Situation(4, 2, SCORES, {"listed": (0, 3)}),), position_based_clicks(RELEVANCE, EXAMINATION))
ITEM_LEVEL = ["ipm", "interpol(window=1)", 'interpol(window=1, form="windowed")']


@pytest.mark.parametrize("name", ITEM_LEVEL)
def test_an_item_without_support_earns_nothing(name: str) -> None:
    logging = policy("plackett_luce(old)")
    found = evaluate(TOP_TWO.source(logging), "ranking(listed)", logging, [name], examination=EXAMINATION)
    estimate = found[repr(estimator(name))]
    assert estimate.value == pytest.approx(0.9 * 1.0, rel=1e-9)
    assert TOP_TWO.value(policy("ranking(listed)")) == pytest.approx(0.9 * 1.0 + 0.2 * 0.6)
    assert estimate.mean_weight == pytest.approx(1 / 2)


@pytest.mark.parametrize("name", ["ips", "snips", "ipm", "rips", *ITEM_LEVEL])
def test_zero_scores_on_both_sides_do_no_harm(name: str) -> None:
    logging, target = policy("plackett_luce(old)"), policy("plackett_luce(new)")
    found = evaluate(TOP_TWO.source(logging), target, logging, [name], examination=EXAMINATION)
    assert found[repr(estimator(name))].value == pytest.approx(TOP_TWO.value(target), rel=1e-9)


def first_item_never_first(situation: Situation) -> Law:
    """Uniform over the slates that show item 0 anywhere but in the first slot."""
    slates = [slate for slate in situation.slates() if slate[0] != 0]
    return dict.fromkeys(slates, 1 / len(slates))


@pytest.mark.parametrize("shape", ["full", "top"])
@pytest.mark.parametrize("form", ["paper", "windowed"])
def test_a_window_reaches_where_the_item_was_not_shown(shape: str, form: str) -> None:
    sizes = (4, 4) if shape == "full" else (4, 3)
    here = World((Situation(*sizes, {}, {"listed": (0, 1, 2, 3)}),), position_based_clicks(RELEVANCE, EXAMINATION))
    wide = f"interpol(window=1, form={form!r})"
    found = evaluate(
        here.source(first_item_never_first),
        "ranking(listed)",
        "logged",
        ["ipm", wide],
        examination=EXAMINATION,
    )
    truth = here.value(policy("ranking(listed)"))
    assert found["ipm"].value == pytest.approx(truth - 0.9, rel=1e-9)
    assert found[repr(estimator(wide))].value == pytest.approx(truth, rel=1e-9)


#: what each leaves of a weight
LEFT = {
    "clip": min,
    "switch": lambda weight, threshold: weight if weight <= threshold else 0.0,
    "shrink": lambda weight, strength: strength * weight / (weight**2 + strength),
}


@pytest.mark.parametrize("limit", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("shape", ["full", "top"])
@pytest.mark.parametrize("name", LEFT)
def test_the_bias_of_a_bound_is_the_weight_that_it_removes(name: str, shape: str, limit: float) -> None:
    here, logging, target = world(shape, "slate"), policy("epsilon(top(old), 0.4)"), policy("plackett_luce(new)")
    names = [f"{name}(ips, {limit})", f"{name}(snips, {limit})"]
    found = evaluate(here.source(logging), target, logging, names)
    earned, mass = [], []
    for index, situation in enumerate(here.situations):
        drawn, wanted = law(logging, situation), law(target, situation)
        for slate, chance in drawn.items():
            weight = LEFT[name](wanted.get(slate, 0.0) / chance, limit)
            earned.append(chance * weight * sum(here.clicks(index, slate)))
            mass.append(chance * weight)
    plain, normalised = (found[repr(estimator(name))] for name in names)
    assert plain.value == pytest.approx(math.fsum(earned) / len(here.situations), rel=1e-9)
    assert normalised.value == pytest.approx(math.fsum(earned) / math.fsum(mass), rel=1e-9)
    assert plain.mean_weight == pytest.approx(math.fsum(mass) / len(here.situations), rel=1e-9)


def test_a_threshold_below_every_weight_says_so() -> None:
    with pytest.raises(NoOverlapError, match=r"a positive weight of at most 0\.001") as error:
        evaluate(TOP_TWO.source(policy("uniform")), "top(new)", "uniform", ["switch(ips, 0.001)"])
    assert "raise the threshold" in error.value.remedy


@pytest.mark.parametrize("name", ["ips", "rips", "ipm", "interpol(window=0)", "interpol(window=1)"])
def test_a_logged_slate_that_cannot_happen_is_an_error(name: str) -> None:
    source = TOP_TWO.source(policy("uniform"))
    with pytest.raises(ImpossibleSlateError, match=r"row 2: plackett_luce\(old\).*probability 0") as error:
        evaluate(source, "uniform", "plackett_luce(old)", [name], examination=[1, 0.5])
    assert "score column" in error.value.remedy


@pytest.mark.parametrize("name", ["ips", "snips", "rips", "ipm"])
def test_no_overlap_is_an_error(name: str) -> None:
    here = World((Situation(4, 2, {}, {"shown": (0, 1), "listed": (2, 3)}),), TOP_TWO.clicks)
    with pytest.raises(NoOverlapError, match="never shows what was logged"):
        evaluate(here.source(policy("ranking(shown)")), "ranking(listed)", "ranking(shown)", [name])


def test_partial_overlap_refuses_only_what_it_must() -> None:
    here = World((Situation(4, 2, {}, {"shown": (0, 1), "listed": (0, 3)}),), TOP_TWO.clicks)
    found = evaluate(here.source(policy("ranking(shown)")), "ranking(listed)", "ranking(shown)", ["ips", "ipm"])
    assert list(found.estimates.refused) == [("ranking(listed)", "ips")]
    assert found["ipm"].value == pytest.approx(0.9)


@pytest.mark.parametrize(("name", "words"), [("rips", "each slot given the slots above"), ("ips", "draws|probability")])
def test_what_the_log_cannot_know(name: str, words: str) -> None:
    with pytest.raises(AbilityError, match=words):
        evaluate(TOP_TWO.source(policy("uniform")), "uniform", "counted(by=query)", [name])
