"""Mixtures: whole sessions in learning, the clicks above in prediction; they climb, and find who is who."""

from __future__ import annotations

import math

import numpy as np
import pytest

from offrank.clicks import DBN, SDBN, ClickModel, Mixture, click_model
from offrank.clicks.base import FitResult
from offrank.clicks.documents import Documents, SlateDocuments
from offrank.clicks.fitted import Fitted
from offrank.clicks.laws import log_probs
from offrank.clicks.mixture import known_of
from offrank.clicks.model import CLICK_MODELS
from offrank.clicks.sessions import Sessions, Tally
from offrank.errors import UsageError
from tests.clicks.click_patterns import conditional, joint, patterns
from tests.clicks.stories import TOLD, Told, drawn, parts, slots, tables

RELIABLE, HASTY = (
    Told(
        DBN(),
        tables(attraction=[*attraction, 0.3], satisfaction=[satisfaction] * 12 + [0.3], continuation=[on]),
        TOLD["dbn"].story,
    )
    for attraction, satisfaction, on in (
        (np.linspace(0.9, 0.3, 12).tolist(), 0.05, 0.98),
        (np.linspace(0.1, 0.4, 12).tolist(), 0.8, 0.4),
    )
)
PARTS = sorted({"gctr", "rctr", "dctr", "rdctr", "pbm", "ubm", "trust", "cascade", "dcm", "ccm"} & set(CLICK_MODELS))
BOTH = Told(Mixture(DBN(), DBN()), {**parts(RELIABLE, HASTY), "weight": np.array([0.7, 0.3])}, TOLD["dbn"].story)


pytestmark = pytest.mark.xdist_group("mixtures")


@pytest.fixture(scope="module")
def sessions() -> Sessions:
    return drawn(BOTH, 6000, 0, ranks=8)


@pytest.fixture(scope="module")
def learnt(sessions: Sessions) -> FitResult:
    return Mixture(DBN(), DBN()).learn(sessions)


@pytest.mark.turns(3)
def test_the_likelihood_rises(learnt: FitResult) -> None:
    """Components learn by their own lights, which need not raise the likelihood."""
    assert learnt.converged
    assert len(learnt.trace) > 2
    assert learnt.trace[-1] > learnt.trace[0]
    assert np.diff(learnt.trace).min() >= -1e-4 * abs(learnt.trace[0])


@pytest.mark.turns(3)
def test_two_of_one_kind_find_their_users(learnt: FitResult) -> None:
    first = int(np.argmax(learnt.parameters["weight"]))
    low, high = (learnt.parameters["weight"][first] + z / 2 for z in (-0.1, 0.1))
    assert low < 0.7 < high
    assert learnt.parameters[f"{first}.continuation"] == pytest.approx([0.98], abs=0.02)
    assert learnt.parameters[f"{1 - first}.continuation"] == pytest.approx([0.4], abs=0.1)
    for place, told, most in ((first, RELIABLE, 0.02), (1 - first, HASTY, 0.08)):
        found = learnt.parameters[f"{place}.attraction"][:-1]
        assert np.abs(found - told.parameters["attraction"][:-1]).mean() < most


def test_weights_know_their_doubt(learnt: FitResult) -> None:
    """Far less than if somebody said whose each session was: 1 / (6000 .7 .3) is the variance of that logit.

    The method itself adds .16^2 to it.
    """
    p, doubt = learnt.parameters["weight"], learnt.loadings["weight"]
    assert doubt.shape == (2, 1)
    assert doubt[0] == pytest.approx(-doubt[1])
    sampled = doubt**2 - 0.16**2
    assert (sampled > 2 / (6000 * 0.21)).all()
    assert (np.abs(np.log(np.sort(p) / (1 - np.sort(p))) - np.log([3 / 7, 7 / 3])) < 3.5 * np.sqrt(sampled[0])).all()


def test_a_mixture_predicts_new_sessions_better_than_its_part(sessions: Sessions, learnt: FitResult) -> None:
    fresh = drawn(BOTH, 6000, 9, ranks=8)
    seen, click = SlateDocuments(fresh.document.astype(np.int64), fresh.document >= 0), fresh.click.astype(float)
    alone, both, best = (
        log_probs(model.law(parameters, seen), click).mean()
        for model, parameters in (
            (DBN(), DBN().learn(sessions).parameters),
            (Mixture(DBN(), DBN()), learnt.parameters),
            (BOTH.model, BOTH.parameters),
        )
    )
    assert alone + 0.05 < both < best < both + 0.02


def test_a_start_changes_nothing(sessions: Sessions, learnt: FitResult) -> None:
    again = Mixture(DBN(), DBN()).learn(sessions, start=learnt.parameters)
    assert again.trace[0] == pytest.approx(learnt.trace[-1], rel=1e-5)
    for name in set(learnt.parameters) - {
        f"{i}.{table}_prior" for i in (0, 1) for table in ("attraction", "satisfaction")
    }:
        assert again.parameters[name] == pytest.approx(learnt.parameters[name], abs=0.015)


@pytest.mark.turns(3)
def test_the_trace_is_the_likelihood_of_the_stories() -> None:
    told = TOLD["mixture"]
    data = drawn(told, 50, 2)
    model = Mixture(DBN(), TOLD["ccm"].model, SDBN(), tolerance=0.05)
    begin = model.learn(data).parameters
    likelihood = 0.0
    for documents, clicks in zip(data.document.tolist(), data.click.tolist(), strict=True):
        slate = [None if one < 0 else one for one in documents]
        chance = 0.0
        for place, weight in enumerate(begin["weight"]):
            head = f"{place}."
            part = {n.removeprefix(head): t for n, t in begin.items() if n.startswith(head)}
            law_ = model.components[place].law(part, slots([slate]))
            given = law_.conditional(np.array([clicks], float))[0]
            chance += weight * math.prod(p if c else 1 - p for p, c in zip(given, clicks, strict=True))
        likelihood += math.log(chance)
    assert model.learn(data, start=begin).trace[0] == pytest.approx(likelihood, rel=1e-12)


@pytest.mark.turns(3)
@pytest.mark.parametrize("text", sorted(set(CLICK_MODELS) - {"mixture", "ncm", "cacm", "cascade"}))
def test_a_component_learns_what_it_learns_alone(text: str) -> None:
    """The cascade model rules second clicks out: where every session has one, all of it is the other's."""
    data = drawn(TOLD["dbn"], 1500, 3)
    twice = data.click.sum(axis=1) > 1
    some = Sessions(data.document[twice], data.click[twice], data.weight[twice], data.documents)
    model = click_model(text)
    alone = model.learn(model.from_sessions(some)).parameters
    found = click_model(f"mixture({text}, cascade, tolerance=0.001)").learn(some).parameters
    n = some.weight.sum()
    assert found["weight"] == pytest.approx([(n + 1) / (n + 2), 1 / (n + 2)], rel=1e-9)
    for name, table in alone.items():
        assert found[f"0.{name}"] == pytest.approx(table, abs=1e-9), name


@pytest.mark.turns(3)
@pytest.mark.parametrize("text", ["dbn", "pbm", "cascade"])
def test_a_component_of_nearly_all_sessions_learns_nearly_the_same(text: str) -> None:
    told = Told(DBN(), {}, TOLD["dbn"].story) if text == "pbm" else TOLD[text]
    if text == "pbm":
        rng = np.random.default_rng(5)
        document = np.argsort(rng.random((6000, 5)), axis=1)
        chance = np.array([0.9, 0.6, 0.1, 0.4, 0.75])[document] / np.arange(1, 6)
        click = (rng.random(chance.shape) < chance).astype(np.uint8)
        data = Sessions(document.astype(np.int32), click, np.ones(6000), 5)
    else:
        data = drawn(told, 6000, 5)
    model = click_model(text)
    alone = model.learn(model.from_sessions(data)).parameters
    found = click_model(f"mixture({text}, gctr, tolerance=0.001)").learn(data).parameters
    assert found["weight"][0] > 0.95
    for name in {"attraction", "continuation", "examination"} & set(alone):
        assert found[f"0.{name}"] == pytest.approx(alone[name], abs=0.03), name


def test_the_click_that_is_predicted_stays_out_of_the_posterior() -> None:
    """What an implementation that weighs by the whole session gets wrong."""
    told, slate = TOLD["mixture"], [0, 1, 2, 3]
    clicks = joint(told.story(slate))
    leaks = 0
    for pattern in patterns(4):
        found = told.law([slate]).conditional(np.array([pattern], float))[0]
        each = [TOLD[name].law([slate]).conditional(np.array([pattern], float))[0] for name in ("dbn", "ccm", "sdbn")]
        whole = [w * joint(TOLD[n].story(slate))[pattern] for w, n in ((0.5, "dbn"), (0.2, "ccm"), (0.3, "sdbn"))]
        leak = sum(w * chance for w, chance in zip(whole, each, strict=True)) / sum(whole)
        for rank in range(4):
            expected = conditional(clicks, pattern[:rank])
            assert found[rank] == pytest.approx(expected, abs=1e-12)
            leaks += abs(leak[rank] - found[rank]) > 1e-3
    assert leaks > 30


@pytest.mark.parametrize(
    "text", ["mixture(dbn, ccm)", "mixture(dbn, dbn, tolerance=0.01)", "mixture(dbn, mixture(sdbn, dcm))"]
)
def test_spellings(text: str) -> None:
    assert repr(click_model(text)) == text
    assert click_model(repr(click_model(text))) == click_model(text)


def test_components_have_intervals(sessions: Sessions, learnt: FitResult) -> None:
    """Wider than if their sessions were known, and those of the larger component narrower."""
    fitted = Fitted(Mixture(DBN(), DBN()), Documents(np.arange(12)), learnt, Tally())
    alone = Fitted(DBN(), Documents(np.arange(12)), DBN().learn(sessions), Tally())
    first = int(np.argmax(learnt.parameters["weight"]))
    widths = [
        (high - low)[:-1].mean()
        for low, high in (
            alone.interval("attraction"),
            fitted.interval(f"{first}.attraction"),
            fitted.interval(f"{1 - first}.attraction"),
        )
    ]
    assert widths[0] < widths[1] < widths[2]
    low, high = fitted.interval(f"{first}.attraction", 0.999)
    truth = RELIABLE.parameters["attraction"]
    assert ((low <= truth) & (truth <= high))[:-1].all()
    with pytest.raises(UsageError, match="no table 'gamma'"):
        fitted.interval("gamma")


def test_a_draw_has_weights_that_sum_to_one() -> None:
    model = Mixture(*[click_model(name) for name in ("gctr", "rctr", "dctr")], tolerance=0.01)
    fitted = Fitted(model, Documents(np.arange(4)), model.learn(drawn(TOLD["dbn"], 60, 1)), Tally())
    rng = np.random.default_rng(0)
    draws = [fitted.draw(rng).learnt.parameters for _ in range(50)]
    weights = np.array([one["weight"] for one in draws])
    assert weights.sum(axis=1) == pytest.approx(np.ones(50), abs=1e-12)
    assert (weights.std(axis=0) > 0.01).all()
    # Each component has a doubt of its own.
    rates = np.array([[one["0.rate"][0], one["1.rate"][0]] for one in draws])
    assert abs(np.corrcoef(rates.T)[0, 1]) < 0.5


def test_hidden_components_leave_the_squares_of_the_shares() -> None:
    """Two sessions of document 0 with shares 1 and .5, one of document 1 with .5: (1 + .25) / 1.5, .25 / .5."""
    data = Sessions(np.array([[0], [0], [1]], np.int32), np.zeros((3, 1), np.uint8), np.array([1.0, 1.0, 3.0]), 2)
    known, whole = known_of(data, np.array([1.0, 0.5, 0.5]))
    assert known == pytest.approx([1.25 / 1.5, 0.5, 1.0])
    assert whole == pytest.approx((1 + 0.25 + 0.75) / (1 + 0.5 + 1.5))


@pytest.mark.turns(3)
@pytest.mark.parametrize("text", PARTS)
def test_any_model_can_be_a_part(text: str) -> None:
    model = click_model(f"mixture({text}, dbn, tolerance=0.01)")
    data = drawn(TOLD["dbn"], 400, 1)
    found = model.learn(data)
    assert found.trace[-1] >= found.trace[0]
    assert np.isfinite(found.trace).all()
    marginal = model.law(found.parameters, slots([[0, 1, 2, 3]])).marginal()
    assert ((marginal > 0) & (marginal < 1)).all()


def test_what_cannot_be_mixed_is_an_error() -> None:
    with pytest.raises(UsageError, match="two click models"):
        Mixture(DBN())
    with pytest.raises(UsageError, match="'nonsense' is not a click model"):
        click_model("mixture(dbn, nonsense)")

    class Unmixable(DBN):
        mixable = False

    assert isinstance(Unmixable(), ClickModel)
    with pytest.raises(UsageError, match="cannot be part of a mixture"):
        Mixture(DBN(), Unmixable())


@pytest.mark.parametrize("spelling", ["mixture(pbm, ncm)", "mixture(dbn, cacm)"])
def test_recurrent_models_are_no_parts(spelling: str) -> None:
    """They neither climb step by step nor have a posterior to climb."""
    with pytest.raises(UsageError, match="cannot be part of a mixture"):
        click_model(spelling)
