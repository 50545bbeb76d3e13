"""Pinned, filtered and distinct: what they refuse, what may fail at the edges, and estimates by them."""

from __future__ import annotations

import re
from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.errors import AbilityError, ImpossibleSlateError, UsageError
from offrank.estimators.pseudoinverse.overlap import overlap
from offrank.log.batch import Contexts, SparseFeatures
from offrank.policies import Distinct, policy
from offrank.policies.base import all_items
from offrank.policies.linear import Encoding, Model
from offrank_testing.exact import World
from offrank_testing.laws import Situation


def contexts(m: int, k: int, n: int = 1, **scores: list[float]) -> Contexts:
    each = {name: np.tile(np.array(values, float), (n, 1)) for name, values in scores.items()}
    return Contexts(np.tile(np.arange(m), (n, 1)), np.full(n, m), np.full(n, k), each)


def test_what_is_sold_out_is_dropped_and_the_others_move_up() -> None:
    here = contexts(4, 2, score=[4, 3, 2, 1], stock=[0, 1, 0, 1])
    assert policy("filtered(top(score), stock)").sample(here, np.random.default_rng(1)).tolist() == [[1, 3]]
    # Of weights 4 + 3 + 2 + 1 only 3 and 1 are left.
    assert policy("filtered(plackett_luce(score), stock)").slot_probs(here, np.array([[3, 1]])) == pytest.approx(
        np.array([[1 / 4, 1]])
    )


def test_dropping_after_ranking_is_what_filtered_says() -> None:
    here = contexts(4, 4, score=[4, 3, 2, 1], stock=[0, 1, 1, 1])
    whole, left = policy("plackett_luce(score)"), policy("filtered(plackett_luce(score), stock)")
    orders = np.array(list(permutations(range(4))))
    many = here.take(np.zeros(len(orders), np.int64))
    chance: dict[tuple[int, ...], float] = {}
    for order, p in zip(orders.tolist(), np.exp(whole.log_prob(many, orders)), strict=True):
        kept = tuple(item for item in order if item != 0)
        chance[kept] = chance.get(kept, 0.0) + p
    slates = np.array([[*kept, -1] for kept in chance])
    found = np.exp(left.log_prob(many.take(np.arange(len(slates))), slates))
    assert found == pytest.approx(np.array(list(chance.values())), rel=1e-12)


def test_an_item_at_its_own_rank_takes_no_weight_from_the_others() -> None:
    here = contexts(4, 3, score=[4, 3, 2, 1], ad=[0, 0, 2, 0])
    found = policy("pinned(plackett_luce(score), ad)")
    assert found.slot_probs(here, np.array([[1, 2, 0]])) == pytest.approx(np.array([[3 / 8, 1, 4 / 5]]))
    assert np.isneginf(found.log_prob(here, np.array([[2, 1, 0]]))).all()  # the ad is not at its rank
    assert np.isneginf(found.log_prob(here, np.array([[1, 0, 2]]))).all()
    assert np.isneginf(found.log_prob(here, np.array([[1, 0, 3]]))).all()  # nor anywhere


def test_a_rank_below_the_slots_hides_a_candidate_and_a_rank_without_others_leaves_a_gap() -> None:
    found = policy("pinned(top(score), ad)")
    below = contexts(3, 2, score=[3, 2, 1], ad=[3, 0, 0])
    assert found.sample(below, np.random.default_rng(1)).tolist() == [[1, 2]]
    gap = contexts(3, 3, score=[3, 2, 1], ad=[3, 9, 0])
    assert found.rank_probs(gap, all_items(gap))[0].tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    assert not found.fills_slots(gap).any()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("ranks", "why"),
    [([2, 0, 2], "two candidates are pinned at rank 2, of item 2"), ([0, 1.5, 0], "1.5 is not a rank, of item 1")],
)
def test_ranks_are_whole_numbers_and_of_one_candidate_each(ranks: list[float], why: str) -> None:
    here = contexts(3, 3, score=[3, 2, 1], ad=ranks)
    with pytest.raises(UsageError, match=re.escape(why)):
        policy("pinned(top(score), ad)").rank_probs(here, all_items(here))


def test_a_category_is_shown_once_and_its_items_share_its_chance() -> None:
    # Brand 1 has weights 4 and 2, brand 2 has 3, brand 3 has 1: 6 + 3 + 1.
    here = contexts(4, 2, score=[4, 3, 2, 1], brand=[1, 2, 1, 3])
    found = policy("distinct(plackett_luce(score), brand)")
    assert found.slot_probs(here, np.array([[2, 1]])) == pytest.approx(np.array([[2 / 10, 3 / 4]]))
    assert np.isneginf(found.log_prob(here, np.array([[2, 0]]))).all()
    second = 3 / 10 * 6 / 7 + 1 / 10 * 6 / 9  # brand 1 after brand 2, after brand 3
    assert found.rank_probs(here, np.array([[0]]))[0, 0] == pytest.approx([4 / 10, 4 / 6 * second])


def test_many_candidates_of_few_categories_are_exact_and_quick() -> None:
    rng = np.random.default_rng(2)
    m, brands = 204, 12
    here = contexts(m, 8, score=rng.lognormal(0, 1, m).tolist(), brand=(np.arange(m) % brands).tolist())
    found = policy("distinct(plackett_luce(score), brand)")
    ranks = found.rank_probs(here, all_items(here))
    together = contexts(brands, 8, score=here.scores["score"].reshape(-1, brands).sum(axis=0).tolist())
    brand_ranks = policy("plackett_luce(score)").rank_probs(together, all_items(together))[0]
    assert ranks[0].reshape(-1, brands, 8).sum(axis=0) == pytest.approx(brand_ranks, rel=1e-12)


def test_weights_too_far_apart_for_a_float_keep_their_order() -> None:
    here = contexts(3, 3, logit=[2000, 0, -2000], brand=[1, 2, 3])
    found = policy("distinct(plackett_luce(logit, log=True), brand)")
    assert found.log_prob(here, np.array([[2, 1, 0]])) == pytest.approx([-6000])


@pytest.mark.parametrize("base", ["mixture({top(a): 0.5, uniform: 0.5})", "epsilon(top(a), 0.1)", "logged"])
def test_a_base_that_is_not_drawn_in_order_is_refused_with_the_spelling_that_works(base: str) -> None:
    with pytest.raises(UsageError, match="neither sorts by a column nor draws") as error:
        Distinct(policy(base), "brand")
    assert "mixture({distinct(top(score), brand): 0.9, distinct(uniform, brand): 0.1})" in error.value.remedy


@pytest.mark.parametrize("spelling", ["filtered(logged, stock)", "pinned(counted, ad)"])
def test_what_is_known_of_shown_slates_alone_cannot_be_restricted(spelling: str) -> None:
    with pytest.raises(AbilityError):
        policy(spelling).reads("log_prob")


@pytest.mark.parametrize("spelling", ["filtered(a, stock)", "pinned(3, ad)", "distinct(top(a), 3)"])
def test_arguments_are_a_policy_and_a_column(spelling: str) -> None:
    with pytest.raises(UsageError):
        policy(spelling)


def test_features_follow_their_candidates(tmp_path: Path) -> None:
    encoding = Encoding.plain(4)
    weights = np.zeros(encoding.size)
    weights[:4] = [0.0, 1.0, 2.0, 3.0]
    Model(encoding, weights).save(tmp_path / "linear.npz")
    scorer = f"linear('{tmp_path}/linear.npz')"
    given = SparseFeatures(np.array([0, 4]), np.arange(9), np.array([0, 1, 2, 3, 3, 2, 1, 0]), np.ones(8))
    here = Contexts(
        np.tile(np.arange(4), (2, 1)),
        np.full(2, 4),
        np.full(2, 2),
        {
            "logit": np.array([[0.0, 1, 2, 3], [3, 2, 1, 0]]),
            "stock": np.array([[1.0, 0, 1, 1], [0, 1, 1, 1]]),
        },
        features=given,
    )
    slates = np.array([[0, 3], [2, 1]])
    found = policy(f"filtered({scorer}, stock)").log_prob(here, slates)
    assert found == pytest.approx(policy("filtered(plackett_luce(logit, log=True), stock)").log_prob(here, slates))
    assert found[0] == pytest.approx(np.log(1 / (1 + np.exp(2) + np.exp(3)) * np.exp(3) / (np.exp(2) + np.exp(3))))


def test_a_list_that_no_constraint_allows_is_named_by_row() -> None:
    log = pa.table(
        {
            "slate": [[0, 1], [1, 0], [0, 2]],
            "candidates": [[0, 1, 2]] * 3,
            "clicks": [[0, 1]] * 3,
            "score": [[3.0, 2, 1]] * 3,
            "stock": [[1, 1, 0]] * 3,
        }
    )
    with pytest.raises(ImpossibleSlateError, match="row 2"):
        offrank.evaluate(log, "uniform", "filtered(plackett_luce(score), stock)", "ips")


def test_pairs_where_nothing_is_left_to_the_base() -> None:
    here = contexts(2, 1, score=[1, 2], ad=[0, 1])
    found = policy("pinned(plackett_luce(score), ad)").pair_probs(here)
    assert found.reshape(2, 2).tolist() == [[0, 0], [0, 1]]


def test_a_target_that_leaves_slots_empty_is_sampled_alike_in_any_order() -> None:
    world = World(
        tuple(Situation(3, 3, {"score": (i + 1, 2, 3), "brand": (1, 1, 2)}) for i in range(3)),
        lambda _, slate: [0.5] * len(slate),
    )
    here = world.contexts(np.arange(3))
    asked = policy("mixture({distinct(plackett_luce(score), brand): 0.5, plackett_luce(score): 0.5})")
    found = [overlap(policy("plackett_luce(score)"), asked, one, samples=9) for one in (here, here.take(np.arange(3)))]
    assert found[0].sampling.tolist() == found[1].sampling.tolist()
    assert (found[0].sampling < 1).all()


@pytest.mark.parametrize(
    ("spelling", "sure", "slate"),
    [
        ("pinned(top(score), ad)", True, [3, 2, 0]),  # what is pinned ties with the last, which does not matter
        ("filtered(top(score), stock)", True, [3, 1, -1]),
        ("pinned(filtered(top(score), stock), ad)", True, [3, 2, 1]),
        ("distinct(top(score), ad)", True, [3, 2, -1]),  # 0 ties with 2, and is dropped for the brand of 3
        ("distinct(top(score), stock)", False, None),  # 0 ties with 2 of the same brand
        ("distinct(top(unlike), ad)", True, [0, 2, -1]),
        ("pinned(epsilon(top(unlike), 0.1), ad)", False, None),
        ("filtered(plackett_luce(unlike), stock)", False, None),
    ],
)
def test_what_always_shows_one_list_is_known_to(spelling: str, *, sure: bool, slate: list[int] | None) -> None:
    columns = {"score": [3.0, 1, 3, 5], "unlike": [9.0, 2, 3, 4], "ad": [0, 0, 2, 0], "stock": [0, 1, 0, 1]}
    here, law = contexts(4, 3, n=2, **columns), policy(spelling)
    certain, found = law.sure_slates(here)
    assert certain.tolist() == [sure] * 2
    if slate is not None:
        assert found.tolist() == [slate] * 2
        assert law.log_prob(here, found).tolist() == [0, 0]  # type: ignore[union-attr]
