"""The effective sample size: how many impressions of the target itself an estimate is worth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.estimators.effective_size import Slots
from offrank.estimators.layout import BLOCKS
from offrank.log.batch import Contexts, Floats, Integers, Labels, LogBatch, Shown
from offrank.policies import policy
from offrank.sums.estimate import Estimate
from offrank.verbs.estimate import estimate
from offrank.verbs.evaluate import evaluate
from offrank_testing import MemorySource, take

TARGET = "top(new)"
QUERIES = 20
CURVE = (1.0, 0.6, 0.45, 0.35, 0.3)


@dataclass(frozen=True)
class World:
    """Queries of `items` candidates, `slots` shown. users: position, cascade (at most one click) or eager (or not)."""

    items: int
    slots: int
    logging: str
    users: str = "position"
    ragged: bool = False
    kept: float = 1.0

    def contexts(self, query: Integers) -> Contexts:
        noise = np.random.default_rng(2).normal(size=(2, QUERIES, self.items))
        scores = {"old": np.exp(self.relevance + 0.4 * noise[0])[query], "new": (4 * self.relevance + noise[1])[query]}
        length = np.random.default_rng(3).integers(1, self.slots + 1, QUERIES)
        n = len(query)
        size, slots = np.full(n, self.items), length[query] if self.ragged else np.full(n, self.slots)
        return Contexts(np.tile(np.arange(self.items), (n, 1)), size, slots, scores)

    @property
    def relevance(self) -> Floats:
        return np.random.default_rng(1).beta(2.0, 3.0, (QUERIES, self.items))

    def clicks(self, query: Integers, slates: Integers, rng: np.random.Generator) -> Floats:
        chance = np.where(slates >= 0, self.relevance[query[:, None], np.maximum(slates, 0)], 0.0)
        if self.users == "position":
            chance = chance * np.array(CURVE)[: slates.shape[1]]
        if self.users == "eager":
            chance = chance * rng.choice([0.1, 0.7], (len(query), 1))
        clicks = (rng.random(slates.shape) < chance).astype(np.float64)
        return clicks * (np.cumsum(clicks, axis=1) <= 1) if self.users == "cascade" else clicks

    def logs(self, logs: int, rows: int, shown_by: str, seed: int) -> LogBatch:
        """Several logs one after another, told apart by the label `log`."""
        n, rng = logs * rows, np.random.default_rng(seed)
        query = rng.integers(QUERIES, size=n)
        contexts = self.contexts(query)
        slates = policy(shown_by).sample(contexts, rng)
        clicks = self.clicks(query, slates, rng)
        labels = {"log": Labels(np.repeat(np.arange(logs), rows), tuple(map(str, range(logs))))}
        inclusion = np.where(clicks.any(axis=1), 1.0, self.kept)
        row = np.arange(n, dtype=np.uint64)
        batch = LogBatch(contexts, Shown(slates), clicks, None, inclusion, row, labels)
        return batch if self.kept == 1 else take(batch, np.flatnonzero(rng.random(n) < inclusion))  # type: ignore[no-any-return]


def judged(world: World, batch: LogBatch, names: list[str], **options: Any) -> Any:
    pieces = tuple(take(batch, rows) for rows in np.array_split(np.arange(len(batch)), len(batch) // 50_000 + 1))
    return estimate(MemorySource(pieces), TARGET, world.logging, names, examination=CURVE, **options)


SLOTWISE = ["rips", "snrips", "ipm", "snipm", "snipm(normaliser=pooled)"]
WORLDS: dict[str, tuple[World, int, list[str]]] = {
    "two slots": (World(4, 2, "uniform"), 2_500, ["ips", "snips", "controlled(ips)", "pi", *SLOTWISE]),
    "all shown": (World(4, 4, "uniform"), 1_500, ["ipm", "snipm", "interpol(window=1)", "sninterpol(window=1)", "pbm"]),
    "five slots": (World(6, 5, "uniform"), 1_500, ["ipm", "snipm", "interpol(window=1)"]),
    "one click at most": (World(4, 3, "plackett_luce(old)", "cascade"), 2_500, ["rips", "snrips"]),
    "unlike users": (World(4, 2, "plackett_luce(old)", "eager"), 1_500, SLOTWISE),
    "unlike lengths": (World(4, 3, "uniform", "eager", ragged=True), 2_500, SLOTWISE),
    "sub-sampled": (World(4, 2, "uniform", "eager", kept=0.3), 4_000, ["ips", "rips", "ipm", "snipm"]),
}


@pytest.mark.parametrize("name", WORLDS)
def test_it_is_what_the_errors_of_many_logs_say(name: str) -> None:
    world, rows, names = WORLDS[name]
    result = judged(world, world.logs(150, rows, world.logging, 4), names, by="log")
    variance = replace(world, kept=1.0).logs(1, 100_000, TARGET, 5).reward.var()
    for spelled in names:
        found = [part[spelled] for part in result.groups.values()]
        truly = variance / np.var([one.value for one in found], ddof=1)
        assert np.median([one.ess for one in found]) == pytest.approx(truly, rel=0.25), spelled


@pytest.mark.parametrize("ragged", [False, True])
@pytest.mark.parametrize("users", ["position", "cascade", "eager"])
def test_the_logging_policy_is_worth_its_log(users: str, ragged: bool) -> None:
    world = World(5, 4, "plackett_luce(new)", users, ragged)
    world = replace(world, logging="plackett_luce(old)")
    batch = world.logs(1, 500, world.logging, 0)
    found = estimate(MemorySource((batch,)), world.logging, world.logging, ["logged", "ips", "ipm", "rips", "pi"])
    for one in found.estimates.given.values():
        assert one.ess == pytest.approx(500)


def test_by_the_formulas() -> None:
    world = World(4, 3, "uniform", ragged=True, kept=0.4)
    batch = world.logs(1, 4_000, "uniform", 1)
    found = judged(world, batch, ["ipm", "snipm"])
    wanted = policy(TARGET).sample(batch.contexts, np.random.default_rng())
    h, c, length = 1 / batch.inclusion, batch.clicks, batch.contexts.length
    assert c is not None
    w = 4.0 * (batch.slates == wanted) * (batch.slates >= 0)
    variance, above, earned, logged = 0.0, np.zeros(len(h)), 0.0, 0.0
    for k in range(3):
        here = np.where(length > k, h, 0.0)
        share, mass = here.sum() / h.sum(), here @ w[:, k]
        rate, square = (here * w[:, k]) @ c[:, k] / mass, (here * w[:, k]) @ c[:, k] ** 2 / mass
        beside, pair = (here * w[:, k]) @ above / mass, (here * w[:, k]) @ (c[:, k] * above) / mass
        longer = (here @ above / here.sum() - logged) * (earned / logged if logged else 0.0)
        variance += share * (square - share * rate**2 + 2 * (pair - rate * beside + rate * longer))
        above, earned, logged = above + c[:, k], earned + share * rate, logged + h @ c[:, k] / h.sum()
    n = len(h)
    for one in found.estimates.given.values():
        assert one.ess == pytest.approx(variance * n / (n - 1) / one.standard_error**2, rel=1e-9)


def slates_of_two(matches: int, rows: int = 4_000) -> Estimate:
    """snipm of a log of which `matches` rows show what the target wants on top, and as many others below.

    Half of them are clicked in either slot, whatever stands there.
    """
    slates = np.tile([2, 3], (rows, 1))
    slates[:matches, 0], slates[matches : 2 * matches, 1] = 0, 1
    clicks = np.stack([np.arange(rows) % 2, np.arange(rows) // 2 % 2], axis=1).astype(np.float64)
    contexts = Contexts(
        np.tile(np.arange(4), (rows, 1)),
        np.full(rows, 4),
        np.full(rows, 2),
        rankings={"listed": np.tile(np.arange(4), (rows, 1))},
    )
    chance = np.full((rows, 2, 2), 0.5)
    chance[:, 0, 0] = np.where(slates[:, 0] == 0, matches / rows, 1 - matches / rows)
    chance[:, 1, 1] = np.where(slates[:, 1] == 1, matches / rows, 1 - matches / rows)
    shown = Shown(slates, {"rank_propensity": chance})
    batch = LogBatch(contexts, shown, clicks, None, np.ones(rows), np.arange(rows, dtype=np.uint64))
    return evaluate(MemorySource((batch,)), "ranking(listed)", "logged", ["snipm"])["snipm"]


@pytest.mark.parametrize(("matches", "low"), [(96, True), (104, False)])
def test_low_ess_looks_at_each_slot(matches: int, low: bool) -> None:
    found = slates_of_two(matches)
    # Two independent slots, known from so many rows each: as much as so many whole slates. Their mean weights, averaged
    # over the two, would be worth twice as many.
    assert found.ess == pytest.approx(matches, rel=1e-2)
    assert ("low-ess" in [caution.code for caution in found.warnings]) == low


def one_slot(weights: Floats, clicks: Floats, **options: Any) -> Estimate:
    """ips of slates that the target always shows, and that were logged with probability 1 / (2 weight)."""
    rows = len(weights)
    items = np.tile(np.arange(2), (rows, 1))
    contexts = Contexts(items, np.full(rows, 2), np.ones(rows, np.int64))
    shown = Shown(np.zeros((rows, 1), np.int64), {"propensity": 1 / (2 * weights)})
    keys = {"user": np.arange(rows) // 4}
    batch = LogBatch(
        replace(contexts, keys=keys), shown, clicks[:, None], None, np.ones(rows), np.arange(rows, dtype=np.uint64)
    )
    return estimate(MemorySource((batch,)), "uniform", "logged", ["ips"], **{"cluster": None, **options})["ips"]


@pytest.mark.parametrize(("clicked", "known"), [(29, False), (31, True)])
def test_luck_is_not_worth_more_than_the_weights(clicked: int, known: bool) -> None:
    weights = np.repeat([0.55, 1.45], 500)
    clicks = (np.arange(1000) < clicked).astype(np.float64)  # where weights are small: a small error, by luck
    found, kish = one_slot(weights, clicks), weights.sum() ** 2 / (weights**2).sum()
    value = weights * clicks
    rate, square = value.sum() / weights.sum(), (value * clicks).sum() / weights.sum()
    free = (square - rate**2) / (value.var() / 1000)
    assert free > 1.5 * kish
    assert found.ess == pytest.approx(free if known else kish)


def test_without_rewards_it_is_that_of_the_weights() -> None:
    weights = np.repeat([0.55, 1.45], 500)
    kish = weights.sum() ** 2 / (weights**2).sum()
    assert one_slot(weights, np.zeros(1000)).ess == pytest.approx(kish)
    assert one_slot(weights, np.ones(1000)).ess == pytest.approx(kish)


def test_rows_that_depend_on_each_other_are_worth_less() -> None:
    weights, clicks = np.ones(1000), np.repeat(np.arange(250) % 5 < 2, 4).astype(np.float64)
    assert one_slot(weights, clicks).ess == pytest.approx(1000)
    assert one_slot(weights, clicks, cluster="user").ess == pytest.approx(250, rel=0.15)  # hashed to 1,024 buckets


def test_a_block_of_slots_counts_as_so_many_equal_ones() -> None:
    """Rows of 19 slots clicked with probability 0.1, and five more in a block, clicked alike: 24 x 0.1 x 0.9."""
    rows, none, one = 10.0, np.zeros(BLOCKS), np.ones(BLOCKS)
    slots = np.where(np.arange(BLOCKS) < BLOCKS - 1, 1.0, 5.0)
    value = rows * slots * 0.1
    found = Slots(
        number=rows * slots,
        clicks=none,
        above=none,
        control=rows * one,
        value=value,
        square=value,
        pair=none,
        beside=none,
    )
    assert found.variance(rows, normalised=False, each_slot=False) == pytest.approx(24 * 0.1 * 0.9, rel=1e-12)


def test_an_arm_is_worth_at_most_its_rows() -> None:
    """Of the two rows of each user one is clicked, so that users differ less than rows do."""
    n = 2000
    log = pa.table(
        {
            "candidates": [[0, 1]] * n,
            "slate": [[row // 2 % 2] for row in range(n)],
            "propensity": [0.5] * n,
            "score": [[1.0, 0.0]] * n,
            "clicks": [[float(row % 2)] for row in range(n)],
            "user": [row // 2 for row in range(n)],
        }
    )
    found = offrank.evaluate(log, "top(score)", "logged", ["ips", "snips"], cluster="user")
    for one in found.values():
        assert one.design_effect is not None
        assert one.design_effect < 1
        assert one.ess <= n / 2
    assert found["snips"].ess == pytest.approx(n / 2)
