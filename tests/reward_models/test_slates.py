"""The slates of a policy with their probabilities, also where too few items are left to fill every slot."""

from __future__ import annotations

import pytest

from offrank import read_log
from offrank.errors import AbilityError
from offrank.log.batch import LogBatch
from offrank.log.source import Needs
from offrank.policies import policy
from offrank.reward_models.slates import slate_laws

STOCK, RANK, ALL, LAST = (1, 1, 0, 0), (3, 0, 0, 0), (1, 1, 1, 1), (0, 0, 0, 1)
#: policy -> slate -> its probability, written out for 4 items in 3 slots
LAWS = {
    "filtered(uniform, stock)": {(0, 1, -1): 0.5, (1, 0, -1): 0.5},
    "pinned(filtered(uniform, stock), rank)": {(1, -1, 0): 1.0},
    "filtered(plackett_luce(weight), stock)": {(0, 1, -1): 0.25, (1, 0, -1): 0.75},
    "pinned(uniform, rank)": {(a, b, 0): 1 / 6 for a in (1, 2, 3) for b in (1, 2, 3) if a != b},
}
BY_CHANCE = {
    "mixture({filtered(uniform, stock): 0.5, filtered(uniform, all): 0.5})": 2,
    "mixture({filtered(uniform, stock): 0.5, filtered(uniform, last): 0.5})": 1,
}
"""Policies whose slates are short by chance, and the number of items that half of them have at most."""


def batch_of(spelled: str) -> LogBatch:
    needs = policy(spelled).reads("log_prob") | policy(spelled).reads("sample")  # type: ignore[union-attr]
    row = {"slate": ["a", "b", "c"], "candidates": ["a", "b", "c", "d"], "clicks": [1, 0, 0]}
    row |= {"stock": STOCK, "rank": RANK, "all": ALL, "last": LAST, "weight": (1, 3, 5, 7)}
    return next(iter(read_log([row, row]).select(needs | Needs(frozenset(["slate", "candidates"]))).batches(0)))


def law_of(spelled: str, draws: int | None) -> list[dict[tuple[int, ...], float]]:
    batch, found = batch_of(spelled), [{}, {}]
    for law in slate_laws(policy(spelled), batch, draws):  # type: ignore[arg-type]
        for row, slate, chance in zip(law.row.tolist(), law.slates.tolist(), law.chance.tolist(), strict=True):
            found[row][tuple(slate)] = found[row].get(tuple(slate), 0.0) + chance
    return found


@pytest.mark.parametrize("spelled", LAWS)
def test_no_probability_is_lost_where_slots_stay_empty(spelled: str) -> None:
    for found in law_of(spelled, None):
        assert found == pytest.approx(LAWS[spelled])


@pytest.mark.parametrize("spelled", BY_CHANCE)
def test_where_chance_leaves_slots_empty_slates_are_drawn_or_refused(spelled: str) -> None:
    for found in law_of(spelled, 2_000):
        assert sum(found.values()) == pytest.approx(1)
        short = sum(chance for slate, chance in found.items() if sum(item >= 0 for item in slate) <= BY_CHANCE[spelled])
        assert short == pytest.approx(0.5, abs=0.07)  # six standard errors
    with pytest.raises(AbilityError, match="leaves slots empty at random"):
        law_of(spelled, None)
