"""How the doubt of a number is told: which interval, at which level, of rows that depend on each other or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from ..log.errors import UsageError
from .base import Fold
from .bootstrap import BootstrapFold
from .buckets import BucketsFold
from .intervals import METHODS, Method, Spread
from .moments import MomentsFold


@dataclass(frozen=True)
class Doubt:
    """How intervals are made: `normal`, `bootstrap` or `bernstein`; rows of one `cluster` depend on each other.

    Raises:
        UsageError: a level outside (0, 1), an unknown method, or one that does not fit the clusters.
    """

    method: Method = "normal"
    confidence: float = 0.95
    cluster: str | None = None
    replicates: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        if not (isinstance(self.confidence, Real) and 0 < self.confidence < 1):
            raise UsageError(f"confidence is {self.confidence!r}", "give a level between 0 and 1, such as 0.95")
        if self.method not in METHODS:
            raise UsageError(f"interval is {self.method!r}", "say " + ", ".join(METHODS))
        if self.method == "bernstein" and self.cluster is not None:
            raise UsageError("bernstein intervals take rows as independent", "use normal or bootstrap with cluster")
        if self.replicates < 20:
            raise UsageError(f"replicates is {self.replicates}", "give at least 20, better 200")

    def folds(self, columns: int) -> dict[str, Fold[Any, Any, Any]]:
        """What reduces samples of so many columns to what `spread` needs, by name."""
        found: dict[str, Fold[Any, Any, Any]] = {"moments": MomentsFold(columns)}
        if self.method == "bootstrap":
            found["replicates"] = BootstrapFold(columns, self.replicates, self.seed)
        if self.cluster is not None:
            found["buckets"] = BucketsFold(columns)
        return found

    def spread(self, folded: Mapping[str, Any]) -> Spread:
        """What intervals are made from, out of the states of `folds`."""
        return Spread(folded["moments"], self.method, self.confidence, folded.get("buckets"), folded.get("replicates"))
