"""The table of sums that a warehouse has made: read, checked, and finished as an evaluation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from ..checks.rows import Impressions
from ..errors import LogError, StateError, UsageError
from ..estimators.layout import REWARD, SQUARES, Layout
from ..evaluation.ab_test import of_shares
from ..evaluation.log_counts import LogCounts
from ..evaluation.log_pass import Pass
from ..evaluation.provenance import facts_of_log
from ..evaluation.question import Question
from ..evaluation.refutation import judged_log
from ..evaluation.result import Result
from ..evaluation.state_file import pass_of_state
from ..findings import cautions_for
from ..findings.log import LogEvidence, SumsEvidence
from ..findings.reasons import AS_DRAWN
from ..inference.clusters_and_level import BUCKETS_OF
from ..language.files import regular
from ..log.batch import Floats
from ..policies.balanced import CountedShares
from ..policies.fit import replaced
from ..readers.by_file import without_rows
from ..sums.clusters import BUCKETS, ClusterSums
from ..sums.largest import MOST_LARGEST, Largest
from ..sums.mean import Name
from ..sums.moments import Moments
from ..sums.named_sums import ByName
from .query import BROKEN, KIND, SUMS
from .question_sums import Product, columns_as_products, refuse_other_intervals

_PARQUET = (".parquet", ".pq")
_LEFT = 1e-6
"""Share of the sum of squares that has to be left about the mean: then rounding takes some nine digits at most."""
_AGAIN = "run the query of `offrank sql` again, and save all of its rows and columns"


class SumsTable:
    """The sums of a table, by product.

    where: its file. question: as in a state. clusters: [g] how many each line has. n: rows.

    Raises:
        StateError: it is no such table, or not whole. LogError: its rows break a rule of logs.
    """

    def __init__(self, path: str) -> None:
        self.where = path
        try:
            read = pyarrow.parquet.read_table if path.lower().endswith(_PARQUET) else pyarrow.csv.read_csv
            table = read(regular(Path(path)))
            self._columns = {name.lower(): table[name].to_numpy() for name in table.schema.names}
            self._part = self._columns["part"].astype(str)
            found = json.loads(next(one for one in self._part if one.startswith("{")))
            self.question: dict[str, Any] = found[KIND]
        except FileNotFoundError as error:
            raise UsageError(
                f"there is no file {path!r}", "run the query of `offrank sql`, and save its result"
            ) from error
        except (OSError, pa.ArrowException, KeyError, StopIteration, ValueError) as error:
            raise StateError(f"{path} is no table of sums ({type(error).__name__}: {error})", _AGAIN) from error
        self.clusters, self.n = self._of("clusters"), int(self._of("n").sum())
        if rule := int(self._of("broken").max(initial=0)):
            said = f"{path} is of a table in which some row has {BROKEN[rule - 1]}"
            raise LogError(said, "correct it, or omit such rows: (SELECT * FROM logs WHERE ...) AS whole_rows")

    def each(self, product: Product) -> Floats:
        """[g] the sums of a product in each line."""
        return product.factor * self._of(product.name or "n") if product.factor else np.zeros(len(self.clusters))

    def total(self, *factors: Product) -> float:
        """The sum of a product of products over all rows."""
        return float(self.each(reduce(Product.__mul__, factors)).sum())

    def ends(self, product: Product) -> tuple[float, float]:
        """Between what values a product is in each row; those of a reward and the largest weight are taken."""
        largest = float(self.largest(replace(product, power=0))[0])
        if not product.power:
            whole = product.arm is None or self.total(product) >= self.n * product.factor
            return largest if whole and not product.weights else 0.0, largest
        least, most = float(self._of("least").min()), float(self._of("most").max())
        return (
            (least, most) if not product.weights and product.arm is None else (min(least, 0) * largest, most * largest)
        )

    def largest(self, product: Product) -> Floats:
        """[m] the largest values of a product in a row, rewards without signs; -inf where there are fewer."""
        found, every = np.full(MOST_LARGEST, -np.inf), np.zeros(min(self.n, MOST_LARGEST))
        if product.power or product.weights:
            every = np.sort(self._columns["n"][self._part == product.name])[::-1]
        elif product.factor:
            every[: round(self.total(product) / product.factor)] = 1.0
        found[: len(every)] = product.factor * every
        return found

    def rewarded(self) -> float:
        """The number of rows with a reward other than 0."""
        return float(self._of("rewarded").sum())

    def _of(self, name: str) -> Floats:
        """[g] a column of the lines of clusters."""
        if name not in self._columns:
            raise StateError(f"{self.where} has no column {name!r}", _AGAIN)
        return np.asarray(self._columns[name][self._part == SUMS], np.float64)


def tables_in(names: Sequence[str]) -> list[str]:
    """Those of some files that are tables, by their names."""
    return [name for name in names if name.lower().endswith((*_PARQUET, ".csv"))]


def result_of_table(names: Sequence[str], interval: str | None, state: Any) -> Result:
    """The result of the one table of sums among some files.

    Raises:
        UsageError: there are others beside it, or a state is to be written. StateError: it is not whole.
    """
    if len(names) > 1 or state is not None:
        said = "a table of sums is a whole: clusters of one table are not known in another, nor in a state"
        raise UsageError(said, "make the sums of all days by one query, and merge its table alone")
    table = SumsTable(names[0])
    found = counts_of(table, interval).result()
    return found.comparing(table.question["baseline"]) if "baseline" in table.question else found


def counts_of(table: SumsTable, interval: str | None = None) -> LogCounts:
    """The counts of the log that a table of sums was made of. interval: another kind than was asked for.

    Raises:
        EmptyLogError: it has no rows. UsageError: there is no such interval, or it needs more than sums.
    """
    impressions = Impressions(table.n, float(table.n), {}, np.zeros((0, 6)))
    impressions.refuse_none(table.where)
    asked = dict(table.question)
    job = pass_of_state(Question.from_dict(asked, without_rows(asked.pop("layout"), table.where, None)), None)
    if interval is not None:
        refuse_other_intervals(interval)
        job = replace(job, spec=job.spec.of_kind(interval))
    shares, arms = None, job.layout.arms
    if arms is not None:
        shares = tuple(table.total(Product(arm=number)) / table.n for number in range(job.layout.served_by))
        counted_shares = CountedShares(arms, shares)
        job = replace(job, logging=replaced(job.logging, lambda _: counted_shares))
        designed = job.logging.designed_shares
        shares = shares if designed is None else tuple(designed[value] for value in arms.policies)
    whole = folded(table, job, columns_as_products(job.layout, shares))
    known: dict[str, Any] = {"slots": 0, "ties": {}, "trained": job.trained}
    counted, log = job.counts(whole, **known), LogEvidence(rows=table.n, logging=repr(job.logging))
    known["facts"] = facts_of_log(impressions, job.tested(log) - {AS_DRAWN}, job.spec.columns, days=True)
    about = *of_shares(counted, job.logging.designed_shares), *judged_log(log, [counted])
    known["about_log"] = (*about, *cautions_for(SumsEvidence(table=table.where)))
    return LogCounts(job, whole, {}, known, (), impressions, table.where, {}, None, 0.0)


def folded(table: SumsTable, job: Pass, known: Mapping[Name, Product]) -> dict[str, Any]:
    """What the folds of the pass would have reduced the rows to."""
    layout, every = job.layout, [known[name] for name in job.layout.columns.once]
    found: dict[str, Any] = {
        "moments": moments_of(table, layout, known),
        "worth": sums_without_moments(table, layout, known),
        "largest": Largest(np.array([table.largest(known[one.weight]) for one in layout.pairs])),
        "earned": Largest(np.array([table.largest(known[name]) for name in layout.rewards])),
    }
    lines = np.column_stack([table.each(one) for one in (Product(), *every)])
    alone = bool((table.clusters <= 1).all())
    codes = np.arange(len(lines), dtype=np.uint64) if alone else None
    return found | {BUCKETS_OF + name: ClusterSums(codes, lines, BUCKETS) for name in job.spec.columns}


def moments_of(table: SumsTable, layout: Layout, known: Mapping[Name, Product]) -> Moments:
    """The moments of the columns of a layout."""
    names, n = layout.columns.once, table.n
    every = [known[name] for name in names]
    mean = np.array([table.total(one) for one in every]) / n
    second = np.array([[table.total(one, other) for other in every] for one in every])
    third = {}
    for block in map(tuple, map(layout.columns.numbers, layout.blocks)):
        some, m, s = [every[at] for at in block], mean[list(block)], second[np.ix_(block, block)]
        raw = np.array([[[table.total(a, b, c) for c in some] for b in some] for a in some])
        pairs = np.einsum("i,jk->ijk", m, s)
        third[block] = (
            raw - pairs - pairs.transpose(1, 0, 2) - pairs.transpose(2, 1, 0) + 2 * n * np.einsum("i,j,k->ijk", m, m, m)
        )
    least, most = np.array([table.ends(one) for one in every]).T
    comoment = second - n * np.outer(mean, mean)
    at = names.index(REWARD)  # of which the ends are known
    if comoment[at, at] < _LEFT * second[at, at] and least[at] < most[at]:
        said = (
            f"{table.where}: the reward varies so little beside its mean that its squares, summed, do not tell how much"
        )
        raise LogError(said, "subtract a constant from it: (SELECT *, reward - 1000 AS less FROM logs) AS near_zero")
    return Moments(n, mean, comoment, least, most, third)


def sums_without_moments(table: SumsTable, layout: Layout, known: Mapping[Name, Product]) -> Floats:
    """The sums of the columns of a layout of which no moments are taken."""
    found = ByName(layout.summed, np.zeros(layout.summed.width()))
    found[SQUARES[REWARD]] = table.total(known[REWARD], known[REWARD])
    found["rows with rewarded"] = table.rewarded()
    for at in layout.pairs:
        found[f"earned {at.number}"] = table.total(known[at.value])
        found[f"squared {at.number}"] = table.total(known[at.value], known[REWARD])
        found[f"weights {at.number}"] = table.total(known[at.weight], known[at.weight])
    return found.array
