"""The arguments of verbs that give intervals, also by group."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ..language.argument import Arguments, argument, arguments, interval_level
from ..language.registry import Later

if TYPE_CHECKING:
    from . import spec as specs
else:
    specs = Later(".spec", __package__)


@arguments
class Clustered(Arguments):
    """The clusters of dependent rows."""

    cluster: str | None = argument(
        "Rows with the same value depend on each other; auto: query, user or session; none: independent rows.",
        default="auto",
        more="auto takes the one of them, with at least five values, that has the strongest dependence.",
        ready="cluster_column",
        spells="column",
        use="uncertainty",
    )

    @property
    def cluster_column(self) -> str | None:
        """The column; None for independent rows, which `none` says too, as on the command line."""
        return None if self.cluster == "none" else self.cluster


@arguments
class Intervals(Clustered):
    """The method and the level of intervals, the clusters of dependent rows, and groups."""

    confidence: float = argument("Level of the intervals.", default=0.95, read=interval_level, use="uncertainty")
    interval: str = argument(
        "bernstein, bootstrap, normal or studentised.",
        default="studentised",
        more="studentised is the delta method corrected for skewness (Hall 1992), normal the delta method, bootstrap "
        "draws Poisson replicates, bernstein is the empirical Bernstein bound.",
        spells="kind of interval",
        metavar="KIND",
        use="uncertainty",
    )
    replicates: int = argument("Replicates of the bootstrap.", default=200, use="uncertainty")
    seed: int = argument("Seed of the bootstrap.", default=0, use="uncertainty")
    by: str | None = argument("A table per value of this column.", default=None, spells="column")

    @cached_property
    def spec(self) -> specs.IntervalSpec:
        """The specification of the intervals.

        Raises:
            UsageError: see `IntervalSpec`.
        """
        return specs.IntervalSpec(self.interval, self.confidence, self.cluster, self.replicates, self.seed)
