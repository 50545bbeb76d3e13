"""Policies that rest on what the log says: written down (`logged`) or counted (`counted`)."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from offrank.errors import AbilityError
from offrank.log.batch import Contexts, Floats, Integers, LogBatch, Shown
from offrank.log.source import Ability, Needs
from offrank.policies import Counted, Logged, Policy, policy, propensities
from offrank.policies.base import all_items
from offrank.policies.fit import counted_by, counts, fitted
from offrank.verbs.estimate import estimate
from offrank_testing import MemorySource, take
from tests.exact.worlds import world

ABILITIES: tuple[Ability, ...] = ("sample", "log_prob", "slot_probs", "rank_probs")


def log(rows: int = 400, seed: int = 3) -> LogBatch:
    """A ragged log, each row kept with its own probability."""
    here, rng = world("top", "position"), np.random.default_rng(seed)
    contexts = here.contexts(rng.integers(0, len(here.situations), rows))
    slates = policy("epsilon(top(old), 0.5)").sample(contexts, rng)
    inclusion = rng.choice([0.1, 0.5, 1.0], rows)
    return LogBatch(contexts, Shown(slates), (slates >= 0) * 1.0, None, inclusion, np.arange(rows, dtype=np.uint64))


def pieces(whole: LogBatch, parts: int) -> MemorySource:
    """The rows dealt out to several batches."""
    return MemorySource(tuple(take(whole, np.arange(part, len(whole), parts)) for part in range(parts)))


def by_hand(whole: LogBatch) -> tuple[dict[int, float], dict[tuple[int, int, int], float]]:
    """Weighted impressions of each query, and of each (query, item code, rank)."""
    seen: dict[int, list[float]] = defaultdict(list)
    shown: dict[tuple[int, int, int], list[float]] = defaultdict(list)
    for row in range(len(whole)):
        query, weight = int(whole.contexts.keys["query"][row]), 1 / whole.inclusion[row]
        seen[query].append(weight)
        for rank, item in enumerate(whole.slates[row]):
            if item >= 0:
                shown[query, int(whole.contexts.candidates[row, item]), rank].append(weight)
    return {k: math.fsum(v) for k, v in seen.items()}, {k: math.fsum(v) for k, v in shown.items()}


@pytest.mark.parametrize("parts", [1, 7])
@pytest.mark.parametrize("asked", ["shown", "all"])
def test_counted_is_the_weighted_share_of_impressions(asked: str, parts: int) -> None:
    whole = log()
    ready = Counted(by="query").fit(pieces(whole, parts))
    items = whole.slates if asked == "shown" else all_items(whole.contexts)
    found = ready.rank_probs(whole.contexts, items)
    seen, shown = by_hand(whole)
    for row in range(len(whole)):
        query = int(whole.contexts.keys["query"][row])
        for place, item in enumerate(items[row]):
            code = int(whole.contexts.candidates[row, item])
            for rank in range(whole.contexts.slots):
                expected = shown.get((query, code, rank), 0.0) / seen[query] if item >= 0 else 0.0
                assert found[row, place, rank] == pytest.approx(expected, rel=1e-12)


def test_counted_sums_to_one_over_items() -> None:
    whole = log()
    found = Counted().fit(pieces(whole, 2)).rank_probs(whole.contexts, all_items(whole.contexts))
    filled = np.arange(whole.contexts.slots) < whole.contexts.length[:, None]
    assert found.sum(axis=1) == pytest.approx(filled.astype(float), rel=1e-12)


def test_counted_knows_nothing_of_other_contexts() -> None:
    whole = log()
    ready = Counted().fit(pieces(whole, 2))
    elsewhere = replace(whole.contexts, keys={"query": whole.contexts.keys["query"] + 1000})
    assert (ready.rank_probs(elsewhere, whole.slates) == 0).all()


def test_counted_must_be_prepared_once() -> None:
    whole, bare = log(), policy("counted(by=query)")
    with pytest.raises(AbilityError) as error:
        bare.rank_probs(whole.contexts, whole.slates)
    assert "fit(log)" in error.value.remedy
    ready = fitted(bare, pieces(whole, 1))
    assert fitted(ready, pieces(whole, 1)) is ready
    assert (ready, repr(ready)) == (bare, "counted(by=query)")
    assert hash(ready) == hash(bare)


def test_what_wraps_counted_is_prepared_too() -> None:
    whole, mixed = log(), policy("epsilon(counted, 0.25)")
    ready = fitted(mixed, pieces(whole, 1))
    inner = Counted().fit(pieces(whole, 1)).rank_probs(whole.contexts, whole.slates)
    uniform = policy("uniform").rank_probs(whole.contexts, whole.slates)
    found = ready.rank_probs(whole.contexts, whole.slates)
    assert found == pytest.approx(0.75 * inner + 0.25 * uniform)
    assert counts(mixed)
    assert not counts(policy("epsilon(top(old), 0.1)"))
    fixed = policy("epsilon(top(old), 0.1)")
    assert fitted(fixed, pieces(whole, 1)) is fixed


def test_logged_is_what_was_written() -> None:
    whole = world("top", "position").batch(policy("plackett_luce(old)"))
    written, drawn = propensities(Logged(), whole), propensities(policy("plackett_luce(old)"), whole)
    assert written.log_prob == pytest.approx(drawn.log_prob)
    assert written.slot_probs == pytest.approx(drawn.slot_probs)
    length = whole.contexts.length
    assert written.rank_law.written_out(length) == pytest.approx(drawn.rank_law.written_out(length), abs=1e-15)


@pytest.mark.parametrize(
    ("asked", "role"), [("log_prob", "propensity"), ("slot_probs", "slot_propensity"), ("rank_law", "rank_propensity")]
)
def test_logged_needs_its_columns(asked: Any, role: str) -> None:
    assert Logged().reads(asked).roles == {role}
    with pytest.raises(AbilityError, match=r"^logged cannot") as error:
        getattr(propensities(Logged(), log()), asked)
    assert f"`{role}`" in error.value.remedy


@dataclass(frozen=True)
class Mix(Policy):
    """A policy of a user's own, whose parts have names of their own."""

    one: Any
    others: tuple[Any, ...] = ()

    def reads(self, ability: Ability) -> Needs:
        return self.one.reads(ability)

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        return self.one.sample(contexts, rng)

    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        return self.one.log_prob(contexts, slates)

    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        return self.one.slot_probs(contexts, slates)

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        parts = [part.rank_probs(contexts, items) for part in (self.one, *self.others)]
        return sum(parts) / len(parts)


def test_counted_is_prepared_wherever_it_stands_in_another_policy() -> None:
    whole, bare = log(), policy("uniform")
    ready = fitted(Mix(bare, (Counted(), bare)), pieces(whole, 2))
    inner = Counted().fit(pieces(whole, 2)).rank_probs(whole.contexts, whole.slates)
    uniform = bare.rank_probs(whole.contexts, whole.slates)
    assert ready.rank_probs(whole.contexts, whole.slates) == pytest.approx((inner + 2 * uniform) / 3)
    assert counts(ready)
    assert counts(Mix(Counted()))
    assert not counts(Mix(bare))


class Helpful(Mix):
    """Draws, and has helpers whose names mean something elsewhere."""

    def ranks(self, contexts: Contexts, items: Integers) -> Integers:
        return np.zeros_like(items)

    def fit(self) -> None:
        raise AssertionError("this is no way to fit a policy")

    def uniform_share(self, contexts: Contexts) -> Floats:
        return np.ones(len(contexts))

    @property
    def base(self) -> Any:
        return policy("uniform")


@pytest.mark.parametrize("estimator", ["ips", "rips", "ipm", "pi", "snipm"])
def test_abilities_are_declared_not_guessed_from_names(estimator: str) -> None:
    source, drawn = world("top", "position").source(policy("uniform")), policy("plackett_luce(new)")
    plain = estimate(source, {"it": drawn}, "uniform", estimator)["it", estimator]
    helped = estimate(source, {"it": Helpful(drawn)}, "uniform", estimator)["it", estimator]
    assert helped.value == pytest.approx(plain.value, rel=1e-12)


UNABLE = {"counted": ("sample", "log_prob", "slot_probs")}
WORKS = {"counted": "ipm, snipm, interpol or pbm"}


@pytest.mark.parametrize("name", UNABLE)
@pytest.mark.parametrize("ability", ABILITIES)
def test_a_refused_ability_names_what_works(name: str, ability: Ability) -> None:
    refusing = policy(name)
    if ability not in UNABLE[name]:
        refusing.reads(ability)
        return
    whole = log(5)
    asks = {
        "needs": lambda: refusing.reads(ability),
        "method": lambda: getattr(refusing, ability)(
            whole.contexts, np.random.default_rng(0) if ability == "sample" else whole.slates
        ),
    }
    for ask in asks.values():
        with pytest.raises(
            AbilityError, match=f"^{refusing!r} cannot".replace("(", r"\(").replace(")", r"\)")
        ) as error:
            ask()
        assert WORKS[name] in error.value.remedy


class Slotted:
    """A policy that holds nothing by name."""

    __slots__ = ()


def test_parts_are_found_in_any_kind_of_object() -> None:
    class Holder:
        def __init__(self) -> None:
            self.inner, self.other = Counted(by="query"), "text"

    holder: Any = Holder()
    slotted: Any = Slotted()
    assert counted_by(holder) == "query"
    assert counts(holder)
    assert not counts(slotted)
