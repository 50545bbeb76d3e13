"""The specification of intervals: the method, the confidence level, and the clusters of dependent rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import AbilityError, UsageError
from ..language.argument import interval_level
from ..log.batch import LogBatch, Naturals
from ..log.source import Needs, Source, has
from ..sums.base import Fold, Sample
from ..sums.clusters import BUCKETS, REPEATS, BootstrapFold, BucketsFold, Clusters
from ..sums.mean import Name, Products
from ..sums.moments import Moments, MomentsFold
from ..sums.named_sums import NamedColumns, Sums
from ..sums.sampled import EQUAL, NUMBERED, SAID, row_codes
from .mean_intervals import Inference, RowLines
from .registry import INTERVALS

AUTO = "auto"
CLUSTERS = ("query", "user", "session")
"""The columns whose equal values may mark dependent rows, if none is given."""
FEWEST = 5
"""With fewer clusters, rows are not clustered by default: Student's quantiles would dominate the intervals."""
_ALIKE = 1e-9
"""Share of the squares of a column by which equal rows may differ: rounding."""
BUCKETS_OF = "buckets of "
"""Prefix of the names of the folds of clusters, before the column."""


@dataclass(frozen=True)
class IntervalSpec:
    """How intervals are made: by one of INTERVALS, with dependent rows in each `cluster`.

    cluster: a column; None for independent rows; or "auto": for each mean, the column `found` in the log
    that gives the largest error, but not one with fewer than FEWEST values, nor one whose values hardly ever repeat;
    and none where the kind of interval does not support clusters; "none" is None, as on the command line.
    columns: those of clusters that are read. level: of an interval at one look. draws_rows: whether a bootstrap draws
    independent rows, which what the `told` columns say of what was shown tells apart, whatever else is read.

    Raises:
        UsageError: a level outside (0, 1), an unknown method, or one that does not fit the clusters.
    """

    method: str = "studentised"
    confidence: float = 0.95
    cluster: str | None = None
    replicates: int = 200
    seed: int = 0
    found: tuple[str, ...] = ()
    told: Needs = field(default_factory=Needs)
    columns: tuple[str, ...] = field(init=False, compare=False, repr=False)
    level: float = field(init=False, compare=False, repr=False)
    draws_rows: bool = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        cluster = None if self.cluster == "none" else self.cluster
        columns = self.found if cluster == AUTO else () if cluster is None else (cluster,)
        object.__setattr__(self, "cluster", cluster)
        object.__setattr__(self, "columns", columns)
        interval_level(self.confidence)
        if self.method not in INTERVALS:
            raise UsageError(f"interval is {self.method!r}", "use " + ", ".join(INTERVALS))
        object.__setattr__(self, "level", INTERVALS[self.method].level(self.confidence))
        object.__setattr__(self, "draws_rows", INTERVALS[self.method].replicates and cluster in (None, AUTO))
        if not INTERVALS[self.method].clusters and self.cluster not in (None, AUTO):
            use = ", ".join(name for name, kind in INTERVALS.items() if kind.clusters)
            raise UsageError(f"{self.method} intervals treat rows as independent", f"with a cluster use one of {use}")
        if self.replicates < 20:
            raise UsageError(f"replicates is {self.replicates}", "give at least 20, or better 200")

    def of_kind(self, method: str) -> IntervalSpec:
        """The specification with another kind of interval, from the same sums.

        Raises:
            UsageError: an unknown kind, or one that needs replicates which these sums have not.
        """
        other = replace(self, method=method)
        if INTERVALS[method].replicates and method != self.method:
            said = f"{method} intervals need replicates of the rows"
            raise UsageError(said, f"ask for {method} where states are made")
        return other

    def with_clusters_of(self, source: Source) -> IntervalSpec:
        """The specification with the cluster columns of the source, if none was given."""
        if self.cluster != AUTO:
            return self
        return replace(self, found=tuple(name for name in CLUSTERS if has(source, Needs(clusters=frozenset([name])))))

    def with_rows_of(self, source: Source, logging: Any) -> IntervalSpec:
        """The specification in which the columns by which a policy draws slates tell rows apart, if a log has them."""
        with suppress(AbilityError):
            if has(source, wanted := logging.reads("log_prob")):
                return replace(self, told=wanted)
        return self

    def needs(self) -> Needs:
        """The columns to read."""
        return Needs(clusters=frozenset(self.columns)) | self.told

    def codes(self, batch: LogBatch) -> dict[str, Naturals]:
        """[n] codes of clusters, and of what rows say where these are drawn."""
        return batch.dependent(self.columns) | (row_codes(batch, self.told) if self.draws_rows else {})

    def folds(
        self,
        columns: NamedColumns,
        products: Products = (),
        buckets: int = BUCKETS,
        blocks: Iterable[tuple[Name, ...]] = (),
    ) -> dict[str, Fold]:
        """The folds, by name, that reduce samples of these columns to the input of `inference`.

        products: of columns, that are summed too. blocks: the columns that one number depends on, for its skewness.
        """
        third = tuple(tuple(columns.numbers(block)) for block in blocks)
        made: dict[str, Fold] = {"moments": MomentsFold(third)}
        pairs = tuple((one, other) for one, other in map(columns.numbers, products))
        if self.draws_rows:
            made |= {name: BucketsFold(name, buckets, pairs) for name in (SAID, EQUAL)}
            made[NUMBERED] = BucketsFold(None, buckets, pairs)
        for name in self.columns:
            made[BUCKETS_OF + name] = BucketsFold(name, buckets, pairs)
        return made

    def inference(self, columns: NamedColumns, folded: Mapping[str, Any], products: Products = ()) -> Inference:
        """The inference from the results of `folds`."""
        kind = INTERVALS[self.method]
        every = [Clusters.of(name, folded[BUCKETS_OF + name], len(products)) for name in self.columns]
        dropped: list[Clusters] = []
        if self.cluster == AUTO:
            every = [one for one in every if one.repeats >= REPEATS]
            dropped = [one for one in every if len(one.rows) < FEWEST or not kind.clusters]
            every = [one for one in every if one not in dropped]
        rows = self._rows(folded, products) if self.draws_rows else None
        if kind.replicates:  # by drawing whole clusters
            every = [self._drawn(one) for one in every]
        made = Sums(columns, folded["moments"]), self.method, self.confidence, tuple(every), rows, products
        return Inference(*made, tuple(dropped), self.cluster == AUTO)

    def _rows(self, folded: Mapping[str, Any], products: Products) -> RowLines:
        """The lines of rows that are drawn.

        They are of what rows say. Where many rows say the same, and would be drawn together, they are of rows that also
        earned the same, of which each is drawn; where too many differ for that, and for columns in which some of them
        differ, of the numbers of the rows.
        """
        said, equal, numbered = (Clusters.of(name, folded[name], len(products)) for name in (SAID, EQUAL, NUMBERED))
        if said.apart:
            return RowLines(self._drawn(said))
        moments: Moments = folded["moments"]
        every = np.diagonal(moments.comoment) + moments.n * moments.mean**2
        between = (equal.sums[:, : len(every)] ** 2 / equal.rows[:, None]).sum(axis=0)
        if equal.buckets < math.inf:
            return RowLines(self._drawn(numbered))
        times = np.random.default_rng(self.seed).poisson(equal.rows, (self.replicates, len(equal.rows)))
        each = equal.sums / equal.rows[:, None]
        drawn = replace(equal, sums=each * np.sqrt(equal.rows)[:, None], replicates=times @ each)
        return RowLines(drawn, self._drawn(numbered), every - between > _ALIKE * every)

    def _drawn(self, lines: Clusters) -> Clusters:
        """The same with the replicates of a bootstrap that draws each line whole."""
        sample = Sample.of(lines.sums, np.arange(len(lines.rows), dtype=np.uint64))
        return replace(lines, replicates=BootstrapFold(self.replicates, self.seed).of(sample))
