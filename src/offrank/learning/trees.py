"""Boosted regression and ranking trees by LightGBM, on plain arrays.

    forest = fit(features [rows, d], targets [rows] or [rows, k], weights like targets, settings, seed)
    forest = last(ranking_rounds(features [rows, d], grades [rows], sizes [q], settings, seed))    of LambdaMART
    forest.scores(features)    [rows], or [rows, k]: a `policies.boosted.TreeEnsemble`

features: an array or a CSR matrix. Targets [rows, k] are of candidates in slots: then the slot is told by k more
features, one-hot, and an example of weight 0 is left out. `rounds` and `ranking_rounds`
yield the forest of some rounds on the way. Of ranking, queries count equally and a query's documents stand together.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import LogError, UsageError, optional
from ..log.batch import Floats, Integers
from ..policies.boosted import TreeEnsemble, with_slots

Slope = Callable[[Floats, int], Floats]
"""Called with the scores [rows] and the round: returns the gradient of a metric by the scores."""
HIGHEST_GRADE = 30
"""The largest grade of `ranking_rounds`: its gain is 2^30 - 1."""

_LARGEST, _LEAVES = 2**31 - 1, 131_072
"""The largest settings of LightGBM, and its most leaves."""
_LONGEST = 10_000
"""The most candidates of a query of LightGBM's ranking."""
_AT_ONCE = 1 << 24
"""Numbers in an array that may be several times as large as the features."""


@dataclass(frozen=True)
class TreeSettings:
    """Settings of boosted trees.

    rounds: trees, of at most `leaves` leaves and `depth` levels (0: any). rate: shrinkage. subsample: share of the
    examples of each tree. smallest: examples in a leaf.
    """

    rounds: int = 100
    leaves: int = 31
    rate: float = 0.1
    subsample: float = 1.0
    depth: int = 0
    smallest: int = 5

    def __post_init__(self) -> None:
        limits = {"rounds": (1, _LARGEST), "leaves": (2, _LEAVES), "depth": (0, _LARGEST), "smallest": (1, _LARGEST)}
        for name, (low, high) in limits.items():
            value: Any = getattr(self, name)
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or not low <= value <= high:
                raise UsageError(f"{name} is {value!r}", f"give a whole number of at least {low} and at most {high}")
        numbers = all(isinstance(one, int | float) for one in (self.rate, self.subsample))
        if not numbers or not 0 < self.rate < np.inf or not 0 < self.subsample <= 1:
            raise UsageError(
                f"rate is {self.rate!r} and subsample {self.subsample!r}", "give a rate above 0, and a share up to 1"
            )

    def parameters(self, objective: str, seed: int) -> dict[str, Any]:
        """Return LightGBM's parameters; results are the same on any machine."""
        return {
            "objective": objective,
            "num_leaves": self.leaves,
            "learning_rate": self.rate,
            "bagging_fraction": self.subsample,
            "bagging_freq": int(self.subsample < 1),
            "max_depth": self.depth or -1,
            "min_data_in_leaf": self.smallest,
            "min_sum_hessian_in_leaf": 1e-3,  # with 0 LightGBM can split off nothing, by rounding, and fail
            "num_threads": 1,
            "seed": seed % 2**31,
            "deterministic": True,
            "force_row_wise": True,
            "verbosity": -1,
        }


def fit(features: Any, targets: Floats, weights: Floats, settings: TreeSettings, seed: int = 0) -> TreeEnsemble:
    """Return trees of least squares; see the module.

    Raises:
        LogError: no example has weight, or a target is not a finite number.
        MissingExtraError: LightGBM is not installed.
    """
    return last(rounds(features, targets, weights, settings, seed))


def last(forests: Iterator[tuple[int, TreeEnsemble]]) -> TreeEnsemble:
    """Return the forest after the last round."""
    *_, (_, forest) = forests
    return forest


def rounds(
    features: Any, targets: Floats, weights: Floats, settings: TreeSettings, seed: int = 0, after: tuple[int, ...] = ()
) -> Iterator[tuple[int, TreeEnsemble]]:
    """Yield the trees of `fit` after these rounds, and after the last."""
    used = weights > 0
    if not used.any():
        raise LogError("there is nothing to learn from: no candidate was shown", "give a longer log")
    if not np.isfinite(targets[used]).all():
        raise LogError("a regression target is not finite", "check for rewards that are too large")
    slots = targets.shape[1] if targets.ndim == 2 else 0
    kept = np.flatnonzero(used.ravel())
    scale = weights.ravel()[kept].mean()
    given = (_examples(features, slots, kept), targets.ravel()[kept], weights.ravel()[kept] / scale)
    yield from _grown("regression", given, None, settings, seed, after, (features.shape[1], slots))


def ranking_rounds(
    features: Any,
    grades: Floats,
    sizes: Integers,
    settings: TreeSettings,
    seed: int = 0,
    after: tuple[int, ...] = (),
    weights: Floats | None = None,
) -> Iterator[tuple[int, TreeEnsemble]]:
    """Yield the trees of LambdaMART after these rounds, and after the last. weights: of the documents [rows].

    Raises:
        UsageError: a grade is not a whole number from 0 to 30, or a query is too long.
        MissingExtraError: LightGBM is not installed.
    """
    if not np.isin(grades, np.arange(HIGHEST_GRADE + 1)).all():
        raise UsageError("LambdaMART needs whole grades from 0 to 30", "round the grades, or use sup")
    if sizes.max(initial=0) > _LONGEST:
        raise UsageError(
            f"LambdaMART supports at most {_LONGEST:,} candidates per query, but one query has {sizes.max():,}",
            "remove candidates, or use sup",
        )
    given = (features, grades, weights)
    yield from _grown("lambdarank", given, sizes, settings, seed, after, (features.shape[1], 0))


def climbing_rounds(
    features: Any, slope: Slope, settings: TreeSettings, seed: int = 0, after: tuple[int, ...] = ()
) -> Iterator[tuple[int, TreeEnsemble]]:
    """Yield trees that climb a metric. slope: its gradient by the scores [rows], which it gets with the round.

    A leaf's step is sum(g) / sum(|g| + mean |g|) times the rate: below the rate, whatever the scale of the metric.
    """
    number = itertools.count(1)

    def descended(scores: Floats, _data: Any) -> tuple[Floats, Floats]:
        found = slope(scores, next(number))
        size = np.abs(found)
        mean = size.mean() or 1.0
        return -found / mean, size / mean + 1.0

    given = (features, np.zeros(features.shape[0]), None)
    yield from _grown("custom", given, None, settings, seed, after, (features.shape[1], 0), descended)


def _examples(features: Any, slots: int, kept: Integers) -> Any:
    """Return the examples of these indices, row * slots + slot; those of an array in slots are made in parts."""
    small = len(kept) * (features.shape[1] + slots) <= _AT_ONCE  # in parts, LightGBM samples row by row: slow
    if not slots or small or not isinstance(features, np.ndarray):
        return with_slots(features, slots)[kept] if slots else features[kept]
    library = optional("lightgbm", "boosted trees need LightGBM", "models")

    class Examples(library.Sequence):  # type: ignore[name-defined]
        """An array several times as large as the features, a batch at a time."""

        batch_size = 4096

        def __len__(self) -> int:
            return len(kept)

        def __getitem__(self, index: int | slice | list[int]) -> Floats:
            rows = np.atleast_1d(kept[index])
            found = np.hstack([features[rows // slots].astype(np.float64), np.eye(slots)[rows % slots]])
            return found[0] if isinstance(index, int | np.integer) else found

    return Examples()


def _grown(
    objective: str,
    given: tuple[Any, Floats, Floats | None],
    sizes: Integers | None,
    settings: TreeSettings,
    seed: int,
    after: tuple[int, ...],
    shape: tuple[int, int],
    custom: Callable[[Floats, Any], tuple[Floats, Floats]] | None = None,
) -> Iterator[tuple[int, TreeEnsemble]]:
    """Yield forests after some rounds. given: features, targets and weights. custom: an objective of our own."""
    library = optional("lightgbm", "boosted trees need LightGBM", "models")
    features, targets, weights = given
    parameters = settings.parameters(objective, seed)
    data = library.Dataset(features, targets, weight=weights, group=sizes, params=parameters, free_raw_data=True)
    booster = library.Booster(parameters, data)
    for number in range(1, settings.rounds + 1):
        booster.update(fobj=custom)
        if number in after or number == settings.rounds:
            yield number, TreeEnsemble(booster.model_to_string(num_iteration=number), *shape)
