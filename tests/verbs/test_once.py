"""A policy is asked for each of its laws once a batch, whoever reads it; and each estimate is made once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import offrank
from offrank.checks.rows import dependence
from offrank.log.batch import Contexts, Floats, Integers
from offrank.log.source import Ability, Needs
from offrank.policies import Policy, policy
from tests.metamorphic.logs import log


@dataclass(frozen=True, repr=False)
class Asked(Policy):
    """A policy that remembers who asked what about which contexts."""

    inner: Policy
    every: list[tuple[str, Contexts]] = field(default_factory=list, compare=False)

    def __repr__(self) -> str:
        return repr(self.inner)

    def reads(self, ability: Ability) -> Needs:
        return self.inner.reads(ability)

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        return self.inner.sample(contexts, rng)

    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        self.every.append(("log_prob", contexts))
        return self.inner.log_prob(contexts, slates)

    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        self.every.append(("slot_probs", contexts))
        return self.inner.slot_probs(contexts, slates)

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        self.every.append(("rank_probs", contexts))
        return self.inner.rank_probs(contexts, items)

    @property
    def times(self) -> dict[str, int]:
        """How often each law was asked about the same contexts, at most."""
        found = Counter((ability, id(contexts)) for ability, contexts in self.every)
        return {ability: max(n for (one, _), n in found.items() if one == ability) for ability, _ in self.every}


def check(table: Any, drawn: Asked, target: Asked) -> None:
    offrank.check(table, target, drawn)


def evaluate(table: Any, drawn: Asked, target: Asked) -> None:
    mixed: Any = policy("epsilon(uniform, 0.5)")
    both = {"new": target, "mixed": type(mixed)(target, 0.5)}
    offrank.evaluate(table, both, drawn, ["ips", "snips", "ipm", "rips", "clip(ips, 10)"])


def metrics(table: Any, drawn: Asked, target: Asked) -> None:
    offrank.measure(table, ["new", "tied"], drawn, ["banner_disagreement", "banner_ndcg", "banner_loss"])


@pytest.mark.parametrize("verb", [check, evaluate, metrics])
def test_each_law_is_asked_once_a_batch(verb: Callable[..., None]) -> None:
    drawn, target = Asked(policy("plackett_luce(old)")), Asked(policy("plackett_luce(new)"))
    verb(log("partial").table, drawn, target)
    assert set(drawn.times.values()) == {1}
    assert "rank_probs" in drawn.times
    assert set(target.times.values()) == (set() if verb is metrics else {1})


@pytest.mark.parametrize("verb", [check, evaluate])
def test_each_estimate_is_made_once(verb: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[int, object]] = []

    def counted(spread: Any, mean: Any, weight: int, *, group: bool = False) -> Any:
        made.append((id(spread.sums), mean))
        kept.append(spread.sums)
        return dependence(spread, mean, weight, group=group)

    kept: list[Any] = []
    monkeypatch.setattr("offrank.evaluation.counts.dependence", counted)
    verb(log("partial").table, Asked(policy("plackett_luce(old)")), Asked(policy("plackett_luce(new)")))
    assert len(made) > 5
    assert len(set(made)) == len(made)
