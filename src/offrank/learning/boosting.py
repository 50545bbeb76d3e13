"""Learners that boost trees: of the contexts of a log, rather than of its impressions one by one."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, final, get_args

import numpy as np

from ..errors import LogError, UsageError
from ..policies.boosted import BoostedModel, TreeEnsemble
from .examples import Checkpoint, Data, Learner, grid, is_checkpoint
from .trees import TreeSettings

Grower = Callable[..., Iterator[tuple[int, TreeEnsemble]]]
"""Called with (features, settings=, seed=, after=): yields the trees after these rounds, and after the last."""
Grid = Literal["small", "published"]
_PUBLISHED: dict[str, Any] = {"rates": (0.05, 0.3, 0.5), "subsamples": (0.3, 0.5, 1.0), "leaves": (10, 40, 70)}
_PUBLISHED_TREES = (100, 500, 1000)
_PUBLISHED_DEPTH = 3
_FEWEST = 8
"""Trees of the first model of a setting that is tried."""


@dataclass(frozen=True)
class Boosting(Learner, ABC):
    """A learner of boosted trees, by LightGBM, from the distinct contexts of the training third.

    - epochs: trees; models of 8, 16, 32 ... trees are tried, and of all.
    - leaves, rates, subsamples: of the grid that is searched; see `trees.TreeSettings`. smallest: examples in a leaf.
    - grid: `published` takes the grid of the code of paper slate-pseudoinverse instead: 100, 500 and 1,000 trees,
      10, 40 and 70 leaves in 3 levels (so at most 8), rates .05, .3 and .5, subsamples .3, .5 and 1.

    Raises:
        UsageError: settings that cannot work.
    """

    greedy: ClassVar[bool] = True
    graded: ClassVar[bool] = False
    epochs: int = 128
    leaves: tuple[int, ...] = (8, 32)
    rates: tuple[float, ...] = (0.1,)
    subsamples: tuple[float, ...] = (1.0,)
    smallest: int = 5
    grid: Grid = "small"

    def __post_init__(self) -> None:
        if self.grid not in get_args(Grid):
            raise UsageError(f"grid is {self.grid!r}", "use " + " or ".join(get_args(Grid)))
        for name in ("leaves", "rates", "subsamples"):
            object.__setattr__(self, name, grid(name, getattr(self, name)))
        for settings in self.settings():
            settings.parameters("regression", 0)  # raises for settings that cannot work

    @abstractmethod
    def grower(self, data: Data) -> Grower:
        """Return what grows trees on the features of the candidates of `data.contexts`, [rows, d]."""

    @final
    def candidates(self, data: Data, seed: int) -> Iterator[Checkpoint]:
        """Yield candidates of every setting, after some rounds and after the last."""
        contexts = data.contexts
        assert contexts is not None
        lines, grow = data.encoding.lines(contexts.contexts), self.grower(data)
        columns = np.unique(lines.indices).astype(np.int64)
        if not len(columns):
            raise LogError("no candidate has any feature", "use a log with features of the candidates")
        features = BoostedModel(data.encoding, columns, TreeEnsemble("", len(columns))).matrix(lines)
        for settings in self.settings():
            named = {"leaves": settings.leaves, "rate": settings.rate, "subsample": settings.subsample}
            for number, forest in grow(features, settings=settings, seed=seed, after=self.after):
                yield Checkpoint({**named, "trees": number}, BoostedModel(data.encoding, columns, forest))

    def settings(self) -> Iterator[TreeSettings]:
        """Yield the settings that are tried."""
        published = self.grid == "published"
        tried = _PUBLISHED if published else {name: getattr(self, name) for name in _PUBLISHED}
        count, depth = (max(self.after), _PUBLISHED_DEPTH) if published else (self.epochs, 0)
        for rate, subsample, leaves in itertools.product(*tried.values()):
            yield TreeSettings(count, leaves, rate, subsample, depth, 1 if published else self.smallest)

    @property
    def after(self) -> tuple[int, ...]:
        """Return the numbers of trees that are tried of each setting."""
        if self.grid == "published":
            return _PUBLISHED_TREES
        fewest = min(_FEWEST, self.epochs)
        return tuple(number for number in range(fewest, self.epochs + 1) if is_checkpoint(number, self.epochs))
