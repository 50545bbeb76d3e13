"""Small worlds whose slates are enumerated: weights and clicks of a log are drawn at once, and the truth is known."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

CONTEXTS, ITEMS = 30, 6
TARGETS = ("uniform", "new", "sharp", "top")
"""Uniform; a Plackett-Luce ranker of scores of its own; the same of their fourth powers; sorted by them, nearly."""


def law(scores: np.ndarray, slates: np.ndarray) -> np.ndarray:
    """[contexts, slates, k] Plackett-Luce probability of each slot given the slots above."""
    held = scores[:, slates]
    above = np.cumsum(held, axis=2) - held
    return held / (scores.sum(axis=1)[:, None, None] - above)


@dataclass(frozen=True)
class World:
    """Everything that can happen, [s] of contexts and slates.

    chance: under the logging policy. slate: weight of the whole slate. prefix, item: [s, k] weights of clicks of rips
    and ipm. click: [s, k] click probabilities of users of the position-based model. truth: of the target; logged: of
    the logging policy.
    """

    chance: np.ndarray
    slate: np.ndarray
    prefix: np.ndarray
    item: np.ndarray
    click: np.ndarray

    @property
    def truth(self) -> float:
        """What the target earns per impression."""
        return float(self.chance * self.slate @ self.click.sum(axis=1))

    @property
    def logged(self) -> float:
        """What the logging policy earns."""
        return float(self.chance @ self.click.sum(axis=1))

    def effective(self, rows: int) -> float:
        """Effective sample size of the weights of slates, as designed."""
        return rows / float(self.chance @ self.slate**2)

    def hidden(self, rows: int) -> float:
        """Share of the target at weights so large that fewer than five rows with one of them are expected."""
        order = np.argsort(-self.slate)
        size, expected = self.slate[order], rows * np.cumsum(self.chance[order])
        last = np.append(size[1:] < size[:-1] * (1 - 1e-9), True)
        seen = np.flatnonzero(last & (expected >= 5))
        least = size[seen[0]] if len(seen) else -np.inf
        return float((self.chance * self.slate)[self.slate > least * (1 + 1e-9)].sum()) if len(seen) else 1.0

    def draw(self, rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """[rows] what happened, and [rows, k] the clicks."""
        edges = np.cumsum(self.chance)
        drawn = np.minimum(np.searchsorted(edges, rng.random(rows) * edges[-1]), len(edges) - 1)
        return drawn, (rng.random((rows, self.click.shape[1])) < self.click[drawn]).astype(float)


def world(slots: int, scale: float, target: str, seed: int = 5) -> World:
    """The logging ranker's log-scores have this standard deviation (0: uniform), a new ranker's are some .6 off."""
    rng = np.random.default_rng([seed, slots])
    base, apart = rng.normal(size=(2, CONTEXTS, ITEMS))
    old, new = np.exp(scale * base), np.exp(scale * base + 0.6 * apart)
    slates = np.array(list(itertools.permutations(range(ITEMS), slots)))
    drawn = law(old, slates)
    wanted = law(_scores(new, target), slates)
    examination = 1 / np.arange(1, slots + 1)
    relevance = rng.beta(1.5, 4.0, size=(CONTEXTS, ITEMS))
    mine, theirs = wanted.prod(axis=2), drawn.prod(axis=2)
    return World(
        (theirs / CONTEXTS).ravel(),
        (mine / theirs).ravel(),
        np.cumprod(wanted / drawn, axis=2).reshape(-1, slots),
        (_shown(mine, slates) / _shown(theirs, slates)).reshape(-1, slots),
        (relevance[:, slates] * examination).reshape(-1, slots),
    )


def _scores(new: np.ndarray, target: str) -> np.ndarray:
    if target == "top":
        return np.exp(6.0 * np.argsort(np.argsort(new, axis=1), axis=1))
    return {"uniform": np.ones_like(new), "new": new, "sharp": new**4}[target]


def _shown(chance: np.ndarray, slates: np.ndarray) -> np.ndarray:
    """[contexts, slates, k] how probable the item of each slot is there, over all slates."""
    found = np.empty((*chance.shape, slates.shape[1]))
    for rank in range(slates.shape[1]):
        law_here = np.stack([chance[:, slates[:, rank] == item].sum(axis=1) for item in range(ITEMS)], axis=1)
        found[:, :, rank] = law_here[:, slates[:, rank]]
    return found
