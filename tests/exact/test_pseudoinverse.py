"""pi and wpi against the truth, by enumeration: right for additive rewards, and for no others."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from offrank.errors import AbilityError, ImpossibleSlateError, NoOverlapError
from offrank.estimators import PI, estimator
from offrank.estimators.pseudoinverse import diagnostics, inverses, overlap
from offrank.estimators.pseudoinverse.cache import SizedCache
from offrank.evaluation.result import Result
from offrank.log.batch import Contexts, Floats, Integers, LogBatch, RunCache, Shown, SparseFeatures
from offrank.log.source import Needs
from offrank.policies import Policy, policy, propensities
from offrank.verbs.evaluate import evaluate
from offrank_testing.conformance import take
from offrank_testing.exact import MemorySource, Reward, World
from offrank_testing.laws import Law, Situation
from tests.exact.additive import additive, together, world
from tests.exact.test_estimators import EXACT, LOGGING, TARGETS
from tests.exact.worlds import USERS, situation

NAMES = ["pi", "wpi", "clip(pi, 1e9)", "clip(wpi, 1e9)"]


@cache
def found(shape: str, logging: str, reward: Reward) -> Result:
    here = world(shape, reward)
    return evaluate(here.source(policy(logging)), {target: target for target in TARGETS}, logging, NAMES)


def weights(batch: LogBatch, logging: Policy, target: Policy, using: str = "pi") -> Floats:
    """[n] weights of each slate."""
    made = estimator(using)
    assert isinstance(made, PI)
    return made.weigh(batch, propensities(logging, batch), propensities(target, batch)).weight


@pytest.mark.parametrize("logging", LOGGING)
@pytest.mark.parametrize("shape", ["full", "top"])
@pytest.mark.parametrize("name", NAMES)
def test_expectation_is_the_truth(name: str, shape: str, logging: str) -> None:
    result, here = found(shape, logging, additive), world(shape, additive)
    for target in TARGETS:
        estimate = result[target, repr(estimator(name))]
        assert estimate.value == pytest.approx(here.value(policy(target)), rel=EXACT), target
        assert estimate.mean_weight == pytest.approx(1, rel=EXACT), target


@pytest.mark.parametrize("logging", LOGGING)
@pytest.mark.parametrize("shape", ["full", "top"])
def test_expectation_is_off_where_rewards_do_not_add_up(shape: str, logging: str) -> None:
    result, here = found(shape, logging, together), world(shape, together)
    off = [result[target, "pi"].value / here.value(policy(target)) - 1 for target in TARGETS]
    assert max(map(abs, off)) > 1e-3


@pytest.mark.parametrize("logging", LOGGING)
@pytest.mark.parametrize("shape", ["full", "top"])
def test_the_logging_policy_itself_has_weights_of_one(shape: str, logging: str) -> None:
    # Claim 1: q' Gamma^+ 1_s = 1 for pi = mu; hence sigma^2 = rho = 1 (Claim 2).
    batch, drawn = world(shape).batch(policy(logging)), policy(logging)
    assert weights(batch, drawn, drawn) == pytest.approx(np.ones(len(batch)), abs=1e-11)
    same = overlap(drawn, drawn, batch.contexts)
    assert same.sigma2 == pytest.approx(np.ones(len(batch)), abs=1e-11)
    assert same.rho == pytest.approx(np.ones(len(batch)), abs=1e-11)


@pytest.mark.parametrize("logging", LOGGING)
def test_one_slot_is_inverse_propensity_scoring(logging: str) -> None:
    here = World((situation(0, 4, 1), situation(1, 5, 1)), USERS["slate"])
    result = evaluate(here.source(policy(logging)), "epsilon(top(new), 0.2)", logging, ["pi", "ips"])
    pi, ips = result["pi"], result["ips"]
    assert (pi.value, pi.standard_error, pi.ess) == pytest.approx((ips.value, ips.standard_error, ips.ess), rel=EXACT)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("logging", LOGGING)
@pytest.mark.parametrize("shape", ["full", "top"])
def test_sigma_and_rho_are_those_of_the_enumerated_weights(shape: str, logging: str, target: str) -> None:
    here, drawn, wanted = world(shape), policy(logging), policy(target)
    batch = here.batch(drawn)
    each, per_context = weights(batch, drawn, wanted), overlap(drawn, wanted, batch.contexts)
    label = batch.labels["situation"].codes
    for context in range(len(here.situations)):
        rows = label == context
        square = float((each[rows] ** 2 / batch.inclusion[rows]).sum())
        assert per_context.sigma2[rows] == pytest.approx(square, rel=1e-9)
        assert per_context.rho[rows] == pytest.approx(np.abs(each[rows]).max(), rel=1e-9)
    whole = diagnostics(here.source(drawn), target, logging)
    assert whole.sigma2 == pytest.approx(float((each**2 / batch.inclusion).sum()) / len(here.situations))
    assert whole.rho == pytest.approx(float(np.abs(each).max()))
    assert (whole.n, whole.supported) == (len(batch), pytest.approx(1))


# Slots drawn each on its own -----------------------------------------------------------------------------------------

SECTIONS = ((0, 1), (2, 3, 4), (5, 6))
CHANCES = ((0.7, 0.3), (0.5, 0.3, 0.2), (0.9, 0.1))


def sections(situation: Situation) -> Law:
    """A page of sections, each with its own items, drawn independently."""
    return {
        (a, b, c): p * q * r
        for a, p in zip(SECTIONS[0], CHANCES[0], strict=True)
        for b, q in zip(SECTIONS[1], CHANCES[1], strict=True)
        for c, r in zip(SECTIONS[2], CHANCES[2], strict=True)
    }


def no_clicks(index: int, slate: tuple[int, ...]) -> list[float]:
    return [0.0] * len(slate)


def page_value(index: int, slate: tuple[int, ...]) -> float:
    return sum((item + 1) ** 0.5 * (slot + 1) for slot, item in enumerate(slate))


def test_independent_slots_need_only_the_probability_of_each_slot() -> None:
    here = World((Situation(7, 3, {}, {"listed": (1, 4, 5)}),), no_clicks, page_value)
    target, logged = policy("ranking(listed)"), policy("logged")
    result = evaluate(here.source(sections), target, logged, ["pi(slots=independent)"])
    assert result["pi(slots=independent)"].value == pytest.approx(page_value(0, (1, 4, 5)), rel=EXACT)
    batch = here.batch(sections)
    each = weights(batch, logged, target, "pi(slots=independent)")
    # sigma^2 = sum of 1 / mu over the slots - k + 1, where whole slates have the product of 1 / mu.
    assert (each**2 / batch.inclusion).sum() == pytest.approx(1 / 0.3 + 1 / 0.2 + 1 / 0.9 - 2)


def test_independent_slots_of_the_logging_policy_weigh_one() -> None:
    batch = World((Situation(7, 3),), no_clicks).batch(sections)
    logged = policy("logged")
    assert weights(batch, logged, logged, "pi(slots=independent)") == pytest.approx(np.ones(len(batch)))


# Overlap of the policies --------------------------------------------------------------------------------------------

#: Item 3 has no chance to be shown before the others.
SCORES = {"old": (2.0, 1.0, 1.0, 0.0), "new": (0.1, 0.4, 0.2, 0.0)}


def limited(slots: int, *written: int) -> World:
    scores = SCORES if slots < 4 else {name: (*values[:2], 0.0, 0.0) for name, values in SCORES.items()}
    return World((Situation(4, slots, scores, {"listed": written}),), USERS["slate"], additive)


@pytest.mark.parametrize("slots", [2, 3, 4])
@pytest.mark.parametrize("target", ["plackett_luce(new)", "top(new)"])
def test_scores_of_zero_on_both_sides_do_no_harm(slots: int, target: str) -> None:
    here, logging = limited(slots), policy("plackett_luce(old)")
    result = evaluate(here.source(logging), target, logging, ["pi", "wpi"])
    for name in ("pi", "wpi"):
        assert result[name].value == pytest.approx(here.value(policy(target)), rel=EXACT)


@pytest.mark.parametrize(("slots", "written"), [(2, (0, 3)), (3, (3, 1, 2)), (4, (2, 0, 1, 3))])
def test_a_target_without_support_is_refused(slots: int, written: tuple[int, ...]) -> None:
    here, logging = limited(slots, *written), policy("plackett_luce(old)")
    with pytest.raises(NoOverlapError):
        evaluate(here.source(logging), "ranking(listed)", logging, ["pi"])


def test_additive_rewards_reach_slates_that_were_never_shown() -> None:
    # (0, 1) was not shown, but its items were, in their slots: (0, 2) + (3, 1) - (3, 2).
    shown = {(0, 2): 0.5, (3, 1): 0.2, (3, 2): 0.3}
    batch = limited(2, 0, 1).batch(lambda _: shown)
    gamma = np.zeros((4, 2, 4, 2))
    for slate, chance in shown.items():
        table = np.zeros((4, 2))
        table[slate, (0, 1)] = 1
        gamma += chance * table[:, :, None, None] * table
    written = _Written(gamma)
    each = weights(batch, written, policy("ranking(listed)"))  # type: ignore[arg-type]
    assert each / batch.inclusion == pytest.approx([1, 1, -1])


class _Written(Policy):
    """Pair probabilities and nothing else."""

    def __init__(self, gamma: Floats) -> None:
        self.gamma = gamma

    def reads(self, ability: str) -> object:
        return policy("uniform").reads("pair_probs")

    def pair_probs(self, contexts: object) -> Floats:
        return self.gamma[None]

    def log_prob(self, contexts: object, slates: Floats) -> Floats:
        return np.zeros(len(slates))


@pytest.mark.parametrize("logging", ["uniform", "epsilon(top(old), 0.4)", "plackett_luce(old)"])
def test_rankings_with_holes_weigh_nothing(logging: str) -> None:
    holes = [(0, -2), (-2, 1), (2,), (2, 0)]
    here = World(tuple(Situation(4, 2, SCORES, {"listed": ranks}) for ranks in holes), USERS["slate"])
    batch = here.batch(policy(logging) if "top" not in logging else _by_enumeration)
    each = weights(batch, policy(logging), policy("ranking(listed)"))
    label = batch.labels["situation"].codes
    assert not each[label < 3].any()
    assert each[label == 3].any()


def _by_enumeration(situation: Situation) -> Law:
    return dict.fromkeys(situation.slates(), 1 / 12)


def test_a_slate_that_cannot_happen_is_an_error() -> None:
    source = limited(2).source(policy("uniform"))
    with pytest.raises(ImpossibleSlateError, match=r"row 2: plackett_luce\(old\).*probability 0"):
        evaluate(source, "uniform", "plackett_luce(old)", ["pi"])


@pytest.mark.parametrize("logging", ["ranking(listed)", "swaps(ranking(listed), 1)", "epsilon(ranking(listed), 0)"])
def test_without_randomness_only_the_same_slate_can_be_judged(logging: str) -> None:
    here = world("top", together)
    result = evaluate(here.source(policy(logging)), "ranking(listed)", logging, ["wpi"])
    assert result["wpi"].value == pytest.approx(here.value(policy(logging)))
    assert result["wpi"].ess == pytest.approx(len(here.situations))


@pytest.mark.parametrize("logging", ["logged", "counted(by=query)"])
def test_the_log_alone_does_not_know_pairs(logging: str) -> None:
    with pytest.raises(AbilityError, match="two items at two ranks"):
        evaluate(world("top").source(policy("uniform")), "top(new)", logging, ["pi"])


def test_weights_that_cancel_are_no_overlap() -> None:
    # Uniform, three items in two slots, target (1, 0): slates (2, 1) and (0, 2) weigh -1, the others 1 or 5.
    here = World((Situation(3, 2, {}, {"listed": (1, 0)}),), USERS["slate"])
    batch = here.batch(policy("uniform"))
    slates = [tuple(slate) for slate in batch.slates.tolist()]
    rows = np.array([slates.index((2, 1)), slates.index((0, 2)), slates.index((0, 1))])
    with pytest.raises(NoOverlapError, match="is not positive"):
        evaluate(MemorySource((take(batch, rows),)), "ranking(listed)", "uniform", ["wpi"])


# Batches, memory and samples -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("logging", ["uniform", "plackett_luce(old)", "epsilon(top(old), 0.4)"])
@pytest.mark.parametrize("name", ["pi", "pi(samples=20)"])
def test_weights_do_not_depend_on_the_batch(logging: str, name: str) -> None:
    batch = world("top").batch(policy(logging))
    target = policy("plackett_luce(new)")
    whole = weights(batch, policy(logging), target, name)
    rng = np.random.default_rng(1)
    for rows in np.array_split(rng.permutation(len(batch)), 9):
        assert weights(take(batch, rows), policy(logging), target, name) == pytest.approx(whole[rows], abs=1e-12)


@pytest.mark.parametrize("logging", ["uniform", "plackett_luce(old)"])
def test_a_target_expected_over_samples_errs_as_reported(logging: str) -> None:
    batch, drawn, target = world("top").batch(policy(logging)), policy(logging), policy("plackett_luce(new)")
    exact = weights(batch, drawn, target)
    for samples in (50, 2000):
        error = weights(batch, drawn, target, f"pi(samples={samples})") - exact
        seen = float(np.sqrt((error**2 / batch.inclusion).sum() / 4))
        found = diagnostics(world("top").source(drawn), target, drawn, samples=samples)
        assert 0.4 < seen / found.sampling_error < 1.8
        assert float((error / batch.inclusion).sum()) == pytest.approx(0, abs=1e-9)  # each draw is a whole slate
    assert weights(batch, drawn, policy("top(new)"), "pi(samples=5)") == pytest.approx(
        weights(batch, drawn, policy("top(new)")), abs=1e-12
    )


def test_what_is_remembered_for_a_target_weighs_as_its_inverse(monkeypatch: pytest.MonkeyPatch) -> None:
    logging, batch = policy("plackett_luce(old)"), world("top").batch(policy("plackett_luce(old)"))
    for target in TARGETS:
        by_inverse = weights(batch, logging, policy(target))
        with monkeypatch.context() as nothing_kept:
            nothing_kept.setattr(inverses, "INVERSE_BYTES", 0)
            cache = RunCache()
            for _ in range(2):
                again = replace(batch, run=cache)
                asked = propensities(logging, again), propensities(policy(target), again)
                assert PI().weigh(again, *asked).weight == pytest.approx(by_inverse, abs=1e-12)


def test_hours_are_refused_with_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    logging, batch = policy("plackett_luce(new)"), world("top").batch(policy("plackett_luce(new)"))
    monkeypatch.setattr(inverses, "MOST_SECONDS", 1e-9)
    with pytest.raises(AbilityError, match="has 4 different contexts") as error:
        weights(batch, logging, policy("top(old)"))
    assert "round the scores" in error.value.remedy


@pytest.mark.parametrize("target", ["plackett_luce(new)", "top(new)", "uniform"])
@pytest.mark.parametrize("logging", ["uniform", "plackett_luce(old)", "epsilon(top(old), 0.4)", "swaps(top(old), 0.6)"])
def test_slots_that_depend_on_each_other_are_not_independent(logging: str, target: str) -> None:
    with pytest.raises(AbilityError, match="could have been at another rank too") as error:
        evaluate(world("top").source(policy(logging)), target, logging, ["pi(slots=independent)"])
    assert "omit slots=independent" in error.value.remedy


class _Apart(Policy):
    """Slot 0 shows item 0 or 1, slot 1 item 2 or 3, each drawn on its own."""

    first, second = 0.7, 0.2

    def reads(self, ability: str) -> Needs:
        return policy("uniform").reads("rank_probs")

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        table = np.array([[self.first, 0], [1 - self.first, 0], [0, self.second], [0, 1 - self.second], [0, 0]])
        return table[items]

    def law(self, _: Situation) -> Law:
        one, two = (self.first, 1 - self.first), (self.second, 1 - self.second)
        return {(i, 2 + j): one[i] * two[j] for i in range(2) for j in range(2)}


def test_slots_with_items_of_their_own_may_be_independent() -> None:
    drawn = _Apart()
    here = World((Situation(4, 2, {}, {"listed": (1, 2)}),), USERS["slate"], additive)
    batch = here.batch(drawn.law)
    asked = propensities(drawn, batch), propensities(policy("ranking(listed)"), batch)  # type: ignore[arg-type]
    weight = estimator("pi(slots=independent)").weigh(batch, *asked).weight
    assert batch.reward @ (weight / batch.inclusion) == pytest.approx(additive(0, (1, 2)))
    assert weight.sum() != pytest.approx(len(batch))  # they are no ones


class _ByFeature(Policy):
    """Draws the item with the larger feature first, mostly; scores and sizes are the same in every row."""

    def reads(self, ability: str) -> Needs:
        return Needs(frozenset(["candidates", "features"]))

    def _weights(self, contexts: Contexts) -> Floats:
        features = contexts.features
        assert features is not None
        lines = features.first[:, None] + np.arange(contexts.candidates.shape[1])
        return np.exp(features.values[features.offsets[lines]])

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        race = rng.exponential(size=contexts.candidates.shape) / self._weights(contexts)
        return np.argsort(race, axis=1)[:, : contexts.slots]

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        weights = self._weights(contexts)
        return np.array([_first_two(row)[some] for row, some in zip(weights, items, strict=True)])


def _first_two(weights: Floats) -> Floats:
    """[m, 2] Plackett-Luce probabilities of the first two ranks."""
    share = weights / weights.sum()
    second = [sum(share[j] * share[i] / (1 - share[j]) for j in range(len(share)) if j != i) for i in range(len(share))]
    return np.stack([share, second], axis=1)


class _ByItem(_ByFeature):
    """As `_ByFeature`, but it reads the ids of the items."""

    def reads(self, ability: str) -> Needs:
        return Needs(frozenset(["candidates"]))

    def _weights(self, contexts: Contexts) -> Floats:
        return np.exp(contexts.candidates / 2.0)


@pytest.mark.parametrize("target", [_ByFeature(), _ByItem()], ids=["features", "items"])
def test_contexts_differ_where_what_the_policy_reads_differs(target: _ByFeature) -> None:
    rng, n = np.random.default_rng(0), 200
    values = rng.permuted(np.tile([0.0, 1.0, 3.0], (n, 1)), axis=1)
    features = SparseFeatures(np.arange(n) * 3, np.arange(3 * n + 1), np.zeros(3 * n, np.int64), values.ravel())
    items = rng.permuted(np.tile([1, 2, 5], (n, 1)), axis=1)
    contexts = Contexts(items, np.full(n, 3), np.full(n, 2), features=features)
    slates = policy("uniform").sample(contexts, rng)
    batch = LogBatch(contexts, Shown(slates), None, np.ones(n), np.ones(n), np.arange(n, dtype=np.uint64))
    drawn = weights(batch, policy("uniform"), target, "pi(samples=4000)")  # type: ignore[arg-type]
    exact = weights(batch, policy("uniform"), target)  # type: ignore[arg-type]
    assert np.ptp(exact) > 1  # contexts do differ
    assert drawn == pytest.approx(exact, abs=0.15)
    found = diagnostics(MemorySource((batch,)), target, "uniform", samples=50)  # type: ignore[arg-type]
    plain = diagnostics(MemorySource((batch,)), target, "uniform")  # type: ignore[arg-type]
    assert found.sigma2 == pytest.approx(plain.sigma2, rel=0.15)


def test_nothing_is_kept_when_the_log_is_read() -> None:
    logging = policy("plackett_luce(old)")
    evaluate(world("top").source(logging), "top(new)", logging, ["pi"])
    assert not any(isinstance(value, SizedCache) for value in vars(inverses).values())
