"""The direct methods of paper slate-pseudoinverse: regressions of slate rewards on the features of all l documents.

As in the published code: features as they are, after a constant column of .01; a lasso without intercept and a
randomised tree; penalty and depth of least squared error in three folds. Other than there, the lasso descends on
X'X, for at most `SWEEPS` sweeps, and a fold grows the deepest tree only: cut at a depth it has the law of one grown
to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from offrank.errors import optional
from offrank.log.batch import Floats, Integers

from . import _kernels
from .design import LASSO, METRICS, REWARDS, TREE
from .worlds import DrawnSlates, SlateWorld

PENALTIES = (10.0, 1.0, 0.1, 0.01)
DEPTHS = (3, 6, 9, 12)
FOLDS = 3
SWEEPS = 300
_TOLERANCE = 1e-4
_PIECE = 2_000  # logs

Models = Mapping[tuple[str, str], "SlateModel"]
"""(direct method, metric) -> what it learnt."""


class SlateModel(Protocol):
    """Predicts rewards."""

    def values(self, shown: Integers) -> Floats:
        """Return the predicted rewards [n] of slates [n, l] of a world's rows."""


@dataclass(frozen=True)
class LassoModel:
    """A linear model. table: [rows + 1, l] what each candidate adds in each slot."""

    table: Floats

    def values(self, shown: Integers) -> Floats:
        """Return sums of table entries."""
        found = np.empty(len(shown))
        _kernels.linear_values(self.table, shown, found)
        return found


@dataclass(frozen=True)
class TreeModel:
    """A scikit-learn tree, cut at a depth, on the features of a world's slates."""

    world: SlateWorld
    tree: Any
    depth: int

    def values(self, shown: Integers) -> Floats:
        """Return the values of the nodes that slates come to."""
        tree, world, found = self.tree, self.world, np.empty(len(shown))
        nodes = tree.feature, tree.threshold, tree.children_left, tree.children_right, tree.value.ravel()
        _kernels.tree_values(*nodes, self.depth, world.features, world.document, shown, found)
        return found


def learnt(world: SlateWorld, log: DrawnSlates, seed: int, heed: Callable[[], object]) -> Models:
    """Learn both methods for both metrics from a log; heed: called between steps, to be interrupted."""
    every = world.rewards(log)
    rewards = {name: np.ascontiguousarray(every[:, REWARDS.index(name)]) for name in METRICS}
    found: dict[tuple[str, str], SlateModel] = {}
    moments = _moments(world, log, np.stack(list(rewards.values()), axis=1))
    for place, name in enumerate(METRICS):
        heed()
        found[LASSO, name] = _lasso(world, moments, place)
    for name, reward in rewards.items():
        found[TREE, name] = _tree(world, log, reward, seed, heed)
    return found


@dataclass(frozen=True)
class _Moments:
    """Sums of the folds: rows [f], X'X [f, d, d], X'y [f, d, metrics], y'y [f, metrics]."""

    rows: Floats
    gram: Floats
    product: Floats
    power: Floats

    def of(self, folds: Any, place: int) -> tuple[Floats, Floats, float, float]:
        """Return X'X, X'y, y'y and the rows of some folds, for one metric."""
        gram, product = self.gram[folds].sum(axis=0), self.product[folds, :, place].sum(axis=0)
        return gram, product, float(self.power[folds, place].sum()), float(self.rows[folds].sum())


def _moments(world: SlateWorld, log: DrawnSlates, rewards: Floats) -> _Moments:
    width, metrics = world.features.shape[1] * world.slots, rewards.shape[1]
    found = _Moments(
        np.zeros(FOLDS), np.zeros((FOLDS, width, width)), np.zeros((FOLDS, width, metrics)), np.zeros((FOLDS, metrics))
    )
    for fold in range(FOLDS):
        rows = np.arange(fold, len(rewards), FOLDS)
        for some in np.array_split(rows, -(-len(rows) // _PIECE)):
            x = world.features[world.document[log.shown[some]]].reshape(len(some), -1).astype(np.float64)
            found.rows[fold] += len(some)
            found.gram[fold] += x.T @ x
            found.product[fold] += x.T @ rewards[some]
            found.power[fold] += (rewards[some] ** 2).sum(axis=0)
    return found


def _lasso(world: SlateWorld, moments: _Moments, place: int) -> LassoModel:
    """Learn a lasso with the penalty of least squared error on the held-out folds."""
    errors = np.zeros(len(PENALTIES))
    for fold in range(FOLDS):
        gram, product, power, _ = moments.of([fold], place)
        for number, weights in enumerate(_path(*moments.of(np.arange(FOLDS) != fold, place))):
            errors[number] += power - 2 * product @ weights + weights @ gram @ weights
    *_, weights = _path(*moments.of(slice(None), place), PENALTIES[: int(errors.argmin()) + 1])
    table = world.features.astype(np.float64) @ weights.reshape(world.slots, -1).T
    return LassoModel(table[world.document])


def _path(
    gram: Floats, product: Floats, power: float, rows: float, penalties: tuple[float, ...] = PENALTIES
) -> list[Floats]:
    """Return the weights for falling penalties, each from those before."""
    found, weights = [], np.zeros(len(product))
    for penalty in penalties:
        _kernels.lasso(gram, product, power, rows, penalty, weights, SWEEPS, _TOLERANCE)
        found.append(weights.copy())
    return found


def _tree(world: SlateWorld, log: DrawnSlates, reward: Floats, seed: int, heed: Callable[[], object]) -> TreeModel:
    """Learn a tree with the depth of least squared error on the held-out folds."""
    errors, fold = np.zeros(len(DEPTHS)), np.arange(len(reward)) % FOLDS
    for each in range(FOLDS):
        tree = _grown(world, log.shown[fold != each], reward[fold != each], DEPTHS[-1], seed)
        cut = [TreeModel(world, tree, depth).values(log.shown[fold == each]) for depth in DEPTHS]
        errors += ((np.stack(cut) - reward[fold == each]) ** 2).sum(axis=1)
        heed()
    depth = DEPTHS[int(errors.argmin())]
    return TreeModel(world, _grown(world, log.shown, reward, depth, seed), depth)


def _grown(world: SlateWorld, shown: Integers, reward: Floats, depth: int, seed: int) -> Any:
    library = optional("sklearn.tree", "the direct method needs scikit-learn", "models")
    columns = world.features.shape[1]
    x = np.empty((len(shown), columns * world.slots), np.float32, order="F")  # trees read it column by column
    for slot in range(world.slots):
        x[:, slot * columns : (slot + 1) * columns] = world.features[world.document[shown[:, slot]]]
    settings = {"splitter": "random", "max_depth": depth, "min_samples_split": 4, "min_samples_leaf": 4}
    return library.DecisionTreeRegressor(**settings, random_state=seed % 2**32).fit(x, reward).tree_
