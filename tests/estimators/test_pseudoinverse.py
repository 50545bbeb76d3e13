"""The pseudoinverse of Gamma, its closed forms and the estimator's weights, against the definitions."""

from __future__ import annotations

import math
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from threading import Barrier, Event, Lock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import offrank
from offrank.errors import NoOverlapError, SupportError, UsageError
from offrank.estimators import PI, SelfNormalised, estimator
from offrank.estimators.pseudoinverse import Overlap, action_rewards, pseudoinverse
from offrank.estimators.pseudoinverse.cache import ENTRY, SizedCache
from offrank.estimators.pseudoinverse.gamma import Inverses, UniformInverse, pseudoinverses, solve_uniform
from offrank.estimators.pseudoinverse.grouping import grouped
from offrank.log.batch import Contexts, Floats
from offrank.log.contexts import distinct
from offrank.policies.plackett_luce import pair_probs

Slate = tuple[int, ...]

PLACKETT_LUCE = (4.0, 2.0, 1.0, 1.0)
#: Weights of the target (0, 1) under Plackett-Luce logging (4, 2, 1, 1), two slots.
GOLDEN = {
    (0, 1): 3.545552,
    (0, 2): 0.454448,
    (0, 3): 0.454448,
    (1, 0): 0.360129,
    (1, 2): -0.720257,
    (1, 3): -0.720257,
    (2, 0): -0.42015,
    (2, 1): 1.590568,
    (2, 3): -1.500536,
    (3, 0): -0.42015,
    (3, 1): 1.590568,
    (3, 2): -1.500536,
}


def plackett_luce(weights: tuple[float, ...], slots: int) -> dict[Slate, float]:
    law = {}
    for slate in permutations(range(len(weights)), slots):
        left, chance = sum(weights), 1.0
        for item in slate:
            chance *= weights[item] / left
            left -= weights[item]
        law[slate] = chance
    return law


def indicator(slate: Slate, items: int) -> Floats:
    """[m, k] one where the slate has the item in the slot."""
    table = np.zeros((items, len(slate)))
    table[list(slate), range(len(slate))] = 1
    return table


def second_moments(law: dict[Slate, float], items: int) -> Floats:
    """[m, k, m, k] Gamma by its definition."""
    tables = ((chance, indicator(slate, items)) for slate, chance in law.items())
    return np.asarray(sum(chance * table[:, :, None, None] * table for chance, table in tables))


def coordinates(*slates: Slate) -> np.ndarray:
    return np.array([[item * len(slate) + slot for slot, item in enumerate(slate)] for slate in slates])


def test_golden_weights_of_plackett_luce_logging() -> None:
    inverse = pseudoinverse(second_moments(plackett_luce(PLACKETT_LUCE, 2), 4))
    shown = coordinates(*GOLDEN)
    found = inverse.weights(np.repeat(coordinates((0, 1)), len(shown), axis=0), shown)
    assert found == pytest.approx(list(GOLDEN.values()), abs=6e-7)
    assert inverse.norms(coordinates((0, 1))) == pytest.approx(3.545552, abs=6e-7)  # sigma^2


def test_the_spread_that_the_paper_s_logging_policies_give() -> None:
    # 5 of 10 candidates, weights 2^-floor(log2 rank): the logging policy's own best slate, and one at random.
    gamma = pair_probs(2.0 ** -np.floor(np.log2(np.arange(1, 11))), 5)
    inverse = pseudoinverse(gamma)
    assert (gamma[0, 0, 1, 1], gamma[0, 0, 9, 4]) == pytest.approx((0.0623782, 0.0225740), abs=5e-8)
    assert inverse.norms(coordinates((0, 1, 2, 3, 4)))[0] == pytest.approx(29, abs=0.5)
    chosen = [tuple(np.random.default_rng(seed).permutation(10)[:5].tolist()) for seed in range(200)]
    assert np.median(inverse.norms(coordinates(*chosen))) == pytest.approx(65, rel=0.1)
    assert UniformInverse(10, 5).norms(np.zeros((1, 5), np.int64)) == 46
    assert UniformInverse(100, 10).norms(np.zeros((1, 10), np.int64)) == 991


def test_the_six_weights_of_three_items_in_two_slots() -> None:
    # Logged (1, 0); for each target m = 3, k = 2: 1 - 2 * 2 + 2 * matches + 2 * items in common.
    expected = {(1, 0): 5, (0, 1): 1, (1, 2): 1, (2, 1): -1, (2, 0): 1, (0, 2): -1}
    law = dict.fromkeys(expected, 1 / 6)
    inverse = pseudoinverse(second_moments(law, 3))
    shown = np.repeat(coordinates((1, 0)), 6, axis=0)
    assert inverse.weights(coordinates(*expected), shown) == pytest.approx(list(expected.values()))


@pytest.mark.parametrize(("items", "slots"), [(1, 1), (2, 1), (2, 2), (4, 1), (4, 2), (4, 3), (4, 4), (5, 3)])
def test_uniform_logging_needs_no_matrix(items: int, slots: int) -> None:
    law = dict.fromkeys(permutations(range(items), slots), 1 / math.perm(items, slots))
    gamma = second_moments(law, items).reshape(items * slots, -1)
    inverse, closed = pseudoinverse(gamma.reshape(items, slots, items, slots)), UniformInverse(items, slots)
    pinv = np.linalg.pinv(gamma, rcond=1e-10, hermitian=True)
    assert inverse.whole
    assert inverse.matrix == pytest.approx(pinv, abs=1e-12)
    assert closed.solve(np.eye(items * slots)) == pytest.approx(pinv, abs=1e-12)
    slates = coordinates(*law)
    assert closed.norms(slates) == pytest.approx(inverse.norms(slates))
    rows = np.stack([indicator(slate, items) for slate in law])
    assert solve_uniform(rows).reshape(len(rows), -1) == pytest.approx(rows.reshape(len(rows), -1) @ pinv, abs=1e-12)


@settings(max_examples=25)
@given(st.data())
def test_it_is_the_moore_penrose_inverse(data: st.DataObject) -> None:
    items = data.draw(st.integers(1, 5))
    slots = data.draw(st.integers(1, min(items, 3)))
    weights = tuple(data.draw(st.lists(st.floats(0.01, 10), min_size=items, max_size=items)))
    gamma = second_moments(plackett_luce(weights, slots), items)
    inverse, flat = pseudoinverse(gamma), gamma.reshape(items * slots, -1)
    found = inverse.matrix
    assert inverse.whole
    assert inverse.null.shape[1] == (slots - 1 if slots < items else 2 * (items - 1))
    assert found == pytest.approx(found.T, abs=1e-9 * np.abs(found).max())
    assert flat @ found @ flat == pytest.approx(flat, abs=1e-10)
    assert found @ flat @ found == pytest.approx(found, abs=1e-8 * np.abs(found).max())
    assert found @ flat == pytest.approx((found @ flat).T, abs=1e-8)


def test_several_are_inverted_as_each_alone() -> None:
    # The second cannot show item 3, the third shows two of all orders only: neither has the null space of the others.
    laws = [plackett_luce(weights, 2) for weights in ((4.0, 2.0, 1.0, 1.0), (4.0, 2.0, 1.0, 0.0), (1.0, 1.0, 2.0, 9.0))]
    laws[1] = {slate: chance for slate, chance in laws[1].items() if chance > 0}
    laws.insert(2, {(0, 1): 0.5, (2, 3): 0.5})
    gamma = np.stack([second_moments(law, 4) for law in laws])
    several = pseudoinverses(gamma)
    assert [one.whole for one in several] == [True, False, False, True]
    for one, law, found in zip(gamma, laws, several, strict=True):
        flat = one.reshape(8, 8)
        assert found.matrix == pytest.approx(np.linalg.pinv(flat, rcond=1e-9, hermitian=True), abs=1e-9)
        slates = coordinates(*law)
        alone = pseudoinverse(one).weights(slates, slates[::-1])
        assert found.weights(slates, slates[::-1]) == pytest.approx(alone, abs=1e-12)
    wanted, shown = coordinates((0, 1), (0, 3), (2, 3), (1, 0)), coordinates((0, 1), (1, 0), (2, 3), (3, 2))
    each = [one.weights(wanted[[row]], shown[[row]])[0] for row, one in enumerate(several)]
    assert Inverses(several).weights(np.arange(4), wanted, shown) == pytest.approx(each, abs=1e-12)
    assert each[1] == 0  # item 3 is never shown
    tables = Inverses(several).tables(np.arange(4), wanted)
    assert [table[row].sum() for table, row in zip(tables, shown, strict=True)] == pytest.approx(each, abs=1e-12)


def test_far_scores_keep_their_digits() -> None:
    # The smallest marginal is about 1e-8; scaled by the marginals nothing is ill-conditioned.
    law = plackett_luce((1.0, 1e-3, 1e-5, 1e-6), 2)
    inverse = pseudoinverse(second_moments(law, 4))
    slates = coordinates(*law)
    for target in ((0, 1), (3, 2), (2, 0)):
        each = inverse.weights(np.repeat(coordinates(target), len(slates), axis=0), slates)
        chances = np.array(list(law.values()))
        assert chances @ each == pytest.approx(1, abs=1e-8)
        assert chances @ each**2 == pytest.approx(inverse.norms(coordinates(target))[0], rel=1e-5)


@pytest.mark.parametrize("slots", [2, 3])
def test_what_was_never_shown_is_told_from_what_was(slots: int) -> None:
    # Of five items two can be shown first, the others alike after them: fewer than all orders.
    law = {slate: 1 / 36 for slate in permutations(range(5), 3) if {0, 1} == set(slate[:2]) or slots == 2}
    law = {slate[:slots]: 1.0 for slate in law if slots == 3 or slate[0] in {0, 1}}
    law = dict.fromkeys(law, 1 / len(law))
    gamma = second_moments(law, 5)
    inverse, flat = pseudoinverse(gamma), gamma.reshape(5 * slots, -1)
    assert not inverse.whole
    assert flat @ inverse.matrix @ flat == pytest.approx(flat, abs=1e-12)
    assert inverse.supports(coordinates(*law)).all()
    impossible = coordinates((4, 0, 1)[:slots], (4, 3, 2)[:slots])
    assert not inverse.supports(impossible).any()
    assert not inverse.weights(impossible, coordinates(*law)[:2]).any()


def test_nearly_deterministic_logging_is_refused() -> None:
    # Cyclic shifts, and the other orders with chances that are neither possible nor impossible.
    law = {(0, 1, 2): 1 / 3, (1, 2, 0): 1 / 3, (2, 0, 1): 1 / 3 - 2e-8, (0, 2, 1): 2e-8, (2, 1, 0): 1e-11}
    with pytest.raises(SupportError, match="deterministic"):
        pseudoinverse(second_moments(law, 3))


@pytest.mark.parametrize(("items", "slots"), [(5, 2), (4, 4)])
def test_estimated_rewards_of_items_and_slots_add_up_to_those_of_slates(items: int, slots: int) -> None:
    rng = np.random.default_rng(5)
    phi = rng.normal(size=(items, slots))
    slates = np.array(list(permutations(range(items), slots)))
    earned = phi[slates, np.arange(slots)].sum(axis=1)
    mean = action_rewards(slates, earned, items).mean(axis=0)
    assert mean[slates, np.arange(slots)].sum(axis=1) == pytest.approx(earned)
    law = plackett_luce(tuple(rng.uniform(0.5, 2, items)), slots)
    inverse = pseudoinverse(second_moments(law, items))
    each = inverse.action_rewards(coordinates(*map(tuple, slates.tolist())), earned)
    general = np.array([law[tuple(slate)] for slate in slates.tolist()]) @ each
    assert general.reshape(items, slots)[slates, np.arange(slots)].sum(axis=1) == pytest.approx(earned)


def test_the_closed_form_of_one_impression() -> None:
    # r (1 / k - (m - 1) / (m - k) + (m - 1) 1{s_j = a} + (m - 1) / (m - k) 1{a in s}), m = 4, k = 2, s = (3, 0).
    nothing, there, beside = 1 / 2 - 3 / 2, 3, 3 / 2
    expected = np.full((4, 2), nothing)
    expected[[0, 3]] += beside
    expected[3, 0] += there
    expected[0, 1] += there
    assert action_rewards(np.array([[3, 0]]), np.array([2.0]), 4)[0] == pytest.approx(2 * expected)


def test_theorem_1_is_an_interval() -> None:
    overlap = Overlap(n=1000, sigma2=46.0, rho=46.0, supported=1.0, sampling_error=0.0, inclusion=1.0)
    doubt = math.log(2 / 0.05)
    half = math.sqrt(2 * 46 * doubt / 1000) + 2 * 47 * doubt / 3000
    assert overlap.half_width(0.95) == pytest.approx(half)
    assert overlap.half_width(0.95, largest_reward=10) == pytest.approx(10 * half)
    interval = overlap.interval(0.3, 0.95)
    assert (interval.low, interval.high) == pytest.approx((0.3 - half, 0.3 + half))
    assert interval.standard_error == pytest.approx(math.sqrt(46 / 1000))
    with pytest.raises(UsageError, match="kept with probability"):
        Overlap(1000, 46.0, 46.0, 1.0, 0.0, inclusion=0.1).half_width()


@pytest.mark.parametrize(
    ("spelling", "made"),
    [
        ("pi", PI()),
        ("wpi", SelfNormalised(PI())),
        ("pi(slots=independent)", PI(slots="independent")),
        ("wpi(samples=20)", SelfNormalised(PI(samples=20))),
    ],
)
def test_spellings(spelling: str, made: object) -> None:
    assert estimator(spelling) == made
    assert repr(made) == spelling


@pytest.mark.parametrize("spelling", ["pi(slots=all)", "pi(samples=-1)", "pi(samples=.5)"])
def test_what_cannot_work_is_refused(spelling: str) -> None:
    with pytest.raises(UsageError):
        estimator(spelling)


# Contexts of one content ---------------------------------------------------------------------------------------------


def test_contexts_with_the_same_scores_in_another_order_are_alike() -> None:
    scores = np.array([[3.0, 1.0, 2.0, 0], [1.0, 2.0, 3.0, 0], [2.0, 3.0, 1.0, 0], [3.0, 2.0, 1.0, 1.0], [0, 0, 0, 0]])
    size, length = np.array([3, 3, 3, 4, 3]), np.array([2, 2, 1, 2, 2])
    same = grouped(Contexts(np.zeros((5, 4), np.int64), size, length, {"old": scores}))
    assert len(same.contexts) == 4
    assert same.group[0] == same.group[1]
    assert len(set(same.group[1:].tolist())) == 4
    # Slot 0 holds the best item of either row, slot 1 the worst: coordinates item * 2 + slot.
    shown = same.coordinates(np.array([0, 1]), np.array([[0, 1], [2, 0]]))
    assert shown.tolist() == [[0, 5], [0, 5]]


def test_two_columns_keep_the_order_of_the_candidates() -> None:
    scores = {"a": np.array([[1.0, 2.0], [2.0, 1.0]]), "b": np.array([[0.0, -0.0], [-0.0, 0.0]])}
    same = grouped(Contexts(np.zeros((2, 2), np.int64), np.full(2, 2), np.full(2, 1), scores))
    assert len(set(same.group.tolist())) == 2
    assert same.coordinates(np.array([1]), np.array([[1]])).tolist() == [[1]]


def test_distinct_rows_are_those_of_unique() -> None:
    rows = np.random.default_rng(0).integers(0, 3, (500, 4)) << 60
    first, which = distinct(rows)
    assert np.array_equal(rows[first][which], rows)
    assert len(first) == len(np.unique(rows, axis=0))


# The memory of inverses ----------------------------------------------------------------------------------------------


def test_what_is_dear_is_made_once_however_many_ask() -> None:
    kept: SizedCache[Floats] = SizedCache(1000)
    made, go = [], Event()

    def make() -> Floats:
        made.append(1)
        go.wait(5)
        return np.zeros(1)

    with ThreadPoolExecutor(4) as threads:
        asked = [threads.submit(kept.get, "key", make) for _ in range(4)]
        go.set()
        assert len({id(future.result()) for future in asked}) == 1
    assert len(made) == 1


def test_threads_share_the_work_on_many() -> None:
    kept: SizedCache[Floats] = SizedCache(1 << 20)
    keys, made, both = list(range(50)), Lock(), Barrier(2, timeout=5)
    done: list[int] = []

    def make(places: list[int]) -> list[Floats]:
        if places in ([0], [1]):
            both.wait()  # each thread has begun one
        with made:
            done.extend(places)
        return [np.array([float(place)]) for place in places]

    with ThreadPoolExecutor(2) as threads:
        asked = [threads.submit(kept.every, keys, make) for _ in range(2)]
        for future in asked:
            assert np.concatenate(future.result()).tolist() == keys
    assert sorted(done) == keys
    assert kept.held == (8 + ENTRY) * len(keys)


def test_a_failure_of_several_is_forgotten_and_what_was_made_before_is_kept() -> None:
    kept: SizedCache[Floats] = SizedCache(1 << 20)

    def make(places: list[int]) -> list[Floats]:
        if 2 in places:
            raise SupportError("no", "")
        return [np.zeros(1) for _ in places]

    with pytest.raises(SupportError):
        kept.every([0, 1, 2, 3], make)
    assert kept.known([0, 1, 2, 3]) == [True, False, False, False]
    assert len(kept.every([0, 1, 2, 3], lambda places: [np.ones(1) for _ in places])) == 4


def test_the_longest_unused_is_let_go() -> None:
    kept: SizedCache[Floats] = SizedCache(8 * 25 + 2 * ENTRY)
    for key in (1, 2, 1, 3):
        kept.get(key, lambda: np.zeros(10))
    assert list(kept.made) == [1, 3]
    assert kept.held == 160 + 2 * ENTRY


def test_small_values_with_long_keys_take_no_more_memory_than_is_allowed() -> None:
    """As weights by context and target do, of which 128 MB were 700."""
    kept: SizedCache[Floats] = SizedCache(2 << 20)
    tracemalloc.start()
    try:
        for number in range(10_000):
            kept.get(((0, number.to_bytes(200)), "d", number.to_bytes(200)), lambda: np.zeros(25))
        assert len(kept.made) > 1_000
        assert tracemalloc.get_traced_memory()[0] < 1.1 * (2 << 20)
    finally:
        tracemalloc.stop()


def test_a_failure_is_raised_and_forgotten() -> None:
    kept: SizedCache[Floats] = SizedCache(100)

    def fail() -> Floats:
        raise SupportError("no", "")

    with pytest.raises(SupportError):
        kept.get("key", fail)
    assert kept.get("key", lambda: np.ones(1)) == 1


def test_a_target_that_leaves_a_slot_empty_in_every_context_is_refused() -> None:
    shown = {"slate": ["a", "b"], "candidates": ["a", "b", "c"], "clicks": [0, 1], "new": [3.0, 2.0, 1.0]}
    log = [{**shown, "kind": [1.0, 1.0, 1.0]}] * 4
    with pytest.raises(NoOverlapError, match="never shows what was logged, in any of 4 impressions"):
        offrank.evaluate(log, "distinct(top(new), kind)", "uniform", "pi")
