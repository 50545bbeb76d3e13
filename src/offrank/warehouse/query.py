"""The query by which a warehouse makes the sums of a question: a row for each cluster, and the largest values.

It is written once; sqlglot says it in the dialect of each warehouse.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import UsageError, optional
from ..sums.clusters import BUCKETS
from ..sums.largest import MOST_LARGEST

KIND = "offrank sums, 1"
"""What the question is called in the first row: with the version of the table."""
SUMS = "sums"
"""The part of the rows of clusters. The first row has the question as its part, others the product of their value."""
BROKEN = (
    "no reward, or one that is no finite number",
    "a propensity that is null or outside (0, 1]",
    "a probability of a target that is null or outside [0, 1]",
    "an arm that was not named",
    "no value in the column of the clusters",
)
"""What no row of a log may have, in the order of its numbers, from 1 on: of several a row's first, of rows the last."""
_LOG = "offrank_log"
_PLAIN = re.compile("[a-z_][a-z0-9_]*")


@dataclass(frozen=True)
class SumsQuery:
    """A query of the sums of a table.

    - question: is written into the result. sums: name -> a product of r, w0, w1 ... and a0, a1 ...
    - reward, propensity, targets, cluster: columns; the first target's weight is w0. arm, arms: a column and values.
    """

    question: Mapping[str, Any]
    sums: Mapping[str, str]
    reward: str
    propensity: str | None = None
    targets: tuple[str, ...] = ()
    arm: str | None = None
    arms: tuple[str, ...] = ()
    cluster: str | None = None

    def text(self, table: str, dialect: str) -> str:
        """The query in a dialect. table: its name, or a query of it in brackets.

        Raises:
            MissingExtraError: sqlglot is not installed. UsageError: an unknown dialect, or no table.
        """
        sqlglot = optional("sqlglot", "sqlglot writes a query in the dialect of a warehouse", "sql")
        normalized = optional("sqlglot.optimizer.normalize_identifiers", "", "sql").normalize_identifiers
        if not dialect or dialect not in sqlglot.Dialect.classes:
            raise UsageError(f"dialect is {dialect!r}", "use duckdb, bigquery, snowflake, postgres or spark")
        try:
            known = sqlglot.parse_one(f"SELECT * FROM {table}", read=dialect)  # noqa: S608  a text, not run here
        except sqlglot.errors.SqlglotError:
            known = sqlglot.exp.Select()
        source = known.find(sqlglot.exp.From)
        if source is None or known != sqlglot.exp.select("*").from_(source.this):
            remedy = "name it, or select its rows in brackets: (SELECT * FROM logs WHERE day > '2026-01-31') AS january"
            raise UsageError(f"{table!r} is no table of {dialect}", remedy)
        made = normalized(sqlglot.parse_one(self._text()), dialect=dialect)
        named = source.this if dialect == "bigquery" else normalized(source.this, dialect=dialect)
        for one in [one for one in made.find_all(sqlglot.exp.Table) if one.name.lower() == _LOG]:
            one.replace(named.copy())
        return str(made.sql(dialect=dialect, pretty=True, identify=True))

    def _text(self) -> str:
        """The query of a table, in no dialect."""
        counted = {"n": "COUNT(*)", "rewarded": "SUM(CASE WHEN r <> 0 THEN 1 ELSE 0 END)"}
        each = counted | {name: f"SUM({product})" for name, product in self.sums.items()}
        each |= {"least": "MIN(r)", "most": "MAX(r)", "broken": f"MAX({self._broken})"}
        again = [f"{each[name][:4] if each[name][0] == 'M' else 'SUM('}{name})" for name in each]
        named = ", ".join(f"{what} AS {name}" for name, what in each.items())
        empty = ", ".join(f"CAST(NULL AS DOUBLE) AS {name}" for name in each if name != "n")
        unnamed = ", ".join("NULL" for name in each if name != "n")  # by its name a NULL would be ordered
        terms = (
            f"(SELECT *, {', '.join(self._terms)} FROM (SELECT {', '.join(self._given)} FROM {_LOG}) AS given) AS terms"  # noqa: S608
        )
        largest = "".join(
            f" UNION ALL (SELECT '{name}', 0, 0, {value}, {unnamed} FROM {terms}"  # noqa: S608
            f" ORDER BY {value} DESC LIMIT {MOST_LARGEST})"
            for name, value in self._largest.items()
        )
        question = _text(json.dumps(self.question, ensure_ascii=False))
        return (
            f"WITH clusters AS (SELECT cluster_value, {named} FROM {terms} GROUP BY cluster_value), "  # noqa: S608
            f"buckets AS (SELECT *, NTILE({BUCKETS}) OVER (ORDER BY cluster_value) AS bucket FROM clusters) "
            f"SELECT {question} AS part, 0 AS bucket, 0 AS clusters, CAST(0 AS DOUBLE) AS n, {empty} "
            f"UNION ALL SELECT '{SUMS}', bucket, COUNT(*), {', '.join(again)} FROM buckets GROUP BY bucket{largest}"
        )

    @property
    def _given(self) -> Iterator[str]:
        """The columns of the table, by short names."""
        yield f"CAST({_name(self.reward)} AS DOUBLE) AS r"
        yield "0 AS cluster_value" if self.cluster is None else f"{_name(self.cluster)} AS cluster_value"
        if self.propensity is not None:
            yield f"CAST({_name(self.propensity)} AS DOUBLE) AS p"
        for number, name in enumerate(self.targets):
            yield f"CAST({_name(name)} AS DOUBLE) AS t{number}"
        if self.arm is not None:
            yield f"CAST({_name(self.arm)} AS VARCHAR) AS arm"

    @property
    def _terms(self) -> Iterator[str]:
        """The weights of a row, and whether each arm served it; and a 1."""
        yield from (f"t{number} / NULLIF(p, 0) AS w{number}" for number in range(len(self.targets)))
        for number, value in enumerate(self.arms):
            yield f"CASE WHEN arm = {_text(value)} THEN 1 ELSE 0 END AS a{number}"

    @property
    def _broken(self) -> str:
        """The number of the first rule that a row breaks, or 0."""
        targets = [f"t{number}" for number in range(len(self.targets))]
        rules = [
            "r IS NULL OR NOT (r > -1e300 AND r < 1e300)",
            "p IS NULL OR NOT (p > 0 AND p <= 1)" if targets else "",
            " OR ".join(f"{one} IS NULL OR NOT ({one} >= 0 AND {one} <= 1)" for one in targets),
            f"arm IS NULL OR NOT arm IN ({', '.join(map(_text, self.arms))})" if self.arms else "",
            "cluster_value IS NULL",
        ]
        return f"CASE {' '.join(f'WHEN {one} THEN {at}' for at, one in enumerate(rules, 1) if one)} ELSE 0 END"

    @property
    def _largest(self) -> dict[str, str]:
        """The products of which the largest are needed, rewards without their signs."""
        weights = [f"w{number}" for number in range(len(self.targets))]
        rewards = [*weights, *(f"a{number}" for number in range(len(self.arms)))]
        return {"r1": "ABS(r)", **{f"r1{one}": f"ABS(r * {one})" for one in rewards}, **{one: one for one in weights}}


def _name(column: str) -> str:
    """The name of a column; one with capitals or signs is meant to the letter."""
    return column if _PLAIN.fullmatch(column) else '"' + column.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
