"""One study: a log, read once, and every estimate at a grid of its sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np

from offrank.log.batch import Floats, Integers

from ..resume import Found, Heed
from .design import (
    CONTROLLED,
    DIRECT,
    FLAT,
    IPS,
    ON_POLICY,
    PI,
    REWARDS,
    TARGETS,
    WIPS,
    WPI,
    SlatesDesign,
)
from .direct import Models, learnt
from .worlds import SlateWorld

_CHUNK = 20_000  # logs in memory


@dataclass(frozen=True)
class Totals:
    """Sums over the first n logs; t targets, 3 rewards.

    counts: [q] logs of each query. weight, squared: [t] of pseudoinverse weights; reward, squared_reward: [t, 3] times
    rewards. matches: [t] logs with the target's slate; importance: [t]; importance_reward: [t, 3].
    """

    n: int
    counts: Integers
    weight: Floats
    squared: Floats
    reward: Floats
    squared_reward: Floats
    matches: Floats
    importance: Floats
    importance_reward: Floats

    def __add__(self, other: Totals) -> Totals:
        return Totals(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


def studied(world: SlateWorld, design: SlatesDesign, seed: int, heed: Heed) -> Found:
    """Return the truth (reward -> target -> value) and the estimates (reward -> target -> estimator -> at each size).

    An estimate that does not exist, such as a direct method on fewer logs than it learns from, or wIPS without any
    log of the target's slate, is None.
    """
    totals = dict(zip(design.grid, _totals(world, design.grid, seed, heed), strict=True))
    estimates = _weighted(world, list(totals.values()))
    for model, ends in _ends(design):
        models = learnt(world, world.draw(seed, 0, model), seed, heed)
        for key, each in _modelled(world, models, totals, model, ends, seed, heed).items():
            for n, value in each.items():
                estimates.setdefault(key, np.full(len(totals), np.nan))[design.grid.index(n)] = value
    found: Found = {"truth": {}, "estimates": {}}
    for place, reward in enumerate(REWARDS):
        means = world.values[:, :, place].mean(axis=1)
        found["truth"][reward] = dict(zip(TARGETS, means.tolist(), strict=True))
        found["estimates"][reward] = {target: {} for target in TARGETS}
    for (metric, target, name), values in estimates.items():
        found["estimates"][metric][target][name] = [None if np.isnan(one) else one for one in values.tolist()]
    return found


def _ends(design: SlatesDesign) -> Iterator[tuple[int, list[int]]]:
    """Yield logs to learn from, and the sizes at which to judge: twice as many; from there on all, for the last."""
    for model in design.models:
        yield model, [n for n in design.grid if n == 2 * model or (n > 2 * model and model == design.models[-1])]


def _totals(world: SlateWorld, grid: tuple[int, ...], seed: int, heed: Heed) -> Iterator[Totals]:
    """Yield the sums over the logs up to each size."""
    total: Totals | None = None
    for start, end in pairwise((0, *grid)):
        for low in range(start, end, _CHUNK):
            heed()
            part = _sums(world, seed, low, min(low + _CHUNK, end))
            total = part if total is None else total + part
        assert total is not None
        yield total


def _sums(world: SlateWorld, seed: int, start: int, stop: int) -> Totals:
    log = world.draw(seed, start, stop)
    (weight, importance), reward = world.weights(log), world.rewards(log)
    squared = weight**2
    return Totals(
        stop - start,
        np.bincount(log.query, minlength=world.queries),
        weight.sum(axis=0),
        squared.sum(axis=0),
        weight.T @ reward,
        squared.T @ reward,
        (importance > 0).sum(axis=0),
        importance.sum(axis=0),
        importance.T @ reward,
    )


def _weighted(world: SlateWorld, totals: list[Totals]) -> dict[tuple[str, str, str], Floats]:
    """Return the estimates that need no model: (reward, target, estimator) -> [sizes]."""
    n = np.array([float(one.n) for one in totals])
    found: dict[tuple[str, str, str], Floats] = {}
    for t, target in enumerate(TARGETS):
        weight, squared, matches = (
            np.array([float(getattr(one, name)[t]) for one in totals]) for name in ("weight", "squared", "importance")
        )
        for place, reward in enumerate(REWARDS):
            total, cross, matched = (
                np.array([float(getattr(one, name)[t, place]) for one in totals])
                for name in ("reward", "squared_reward", "importance_reward")
            )
            shown = np.array([one.counts @ world.values[t, :, place] for one in totals])
            slope = (cross - total * weight / n) / np.maximum(squared - weight**2 / n, 1e-300)
            found |= {
                (reward, target, PI): total / n,
                (reward, target, WPI): total / weight,
                (reward, target, CONTROLLED): (total - slope * (weight - n)) / n,
                (reward, target, IPS): matched / n,
                (reward, target, WIPS): np.divide(matched, matches, out=np.full(len(n), np.nan), where=matches > 0),
                (reward, target, ON_POLICY): shown / n,
            }
    kept = {WPI, ON_POLICY}  # of the other discounts
    return {key: values for key, values in found.items() if key[0] != FLAT or key[2] in kept}


def _modelled(
    world: SlateWorld, models: Models, totals: dict[int, Totals], model: int, ends: list[int], seed: int, heed: Heed
) -> dict[tuple[str, str, str], dict[int, float]]:
    """Return the estimates by models from the first `model` logs: (metric, target, estimator) -> size -> value."""
    first, found = totals[model], dict[tuple[str, str, str], dict[int, float]]()
    said = {key: [one.values(slates.shown) for slates in world.shown_by_target] for key, one in models.items()}
    residual = {key: np.zeros(len(TARGETS)) for key in models}
    for start, end in pairwise((model, *ends)):
        for low in range(start, end, _CHUNK):
            heed()
            log = world.draw(seed, low, min(low + _CHUNK, end))
            weight, _ = world.weights(log)
            for key, one in models.items():
                residual[key] += one.values(log.shown) @ weight
        later, rows = totals[end].counts - first.counts, end - model
        gained = totals[end].reward - first.reward
        for (name, metric), values in said.items():
            for t, target in enumerate(TARGETS):
                mean = float(later @ values[t]) / rows
                corrected = float(gained[t, REWARDS.index(metric)] - residual[name, metric][t]) / rows
                found.setdefault((metric, target, name), {})[end] = mean
                found.setdefault((metric, target, DIRECT[name]), {})[end] = mean + corrected
    return found
