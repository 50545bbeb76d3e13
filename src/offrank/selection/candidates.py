"""Click models to choose from, with their measurements."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import UsageError
from ..language.formatting import Doubted
from ..sums.estimate import Interval
from .strategies import WORDS, Metric

Number = float | Doubted


@dataclass(frozen=True)
class MeasuredModel:
    """A click model: its in-distribution perplexity, nDCG and CMIP, as numbers or with their intervals.

    None: not measured; strategies that need it cannot be used.

    Parameters:
        name: of the model.
        perplexity: on rankings of the logging policy; 1 is perfect.
        ndcg: of its relevance against grades, from 0 to 1.
        cmip: in nats.
        points: whether the CMIP is of point estimates because the model has no posterior, while that of others is
            of posterior draws.
        convicted: codes of the findings for which the model is not chosen by default, such as `carries-policy`.

    Examples:
        >>> offrank.selection.MeasuredModel("pbm", perplexity=1.3).value("ppl")
        1.3
    """

    name: str
    perplexity: Number | None = None
    ndcg: Number | None = None
    cmip: Number | None = None
    points: bool = False
    convicted: tuple[str, ...] = ()

    def value(self, metric: Metric) -> float:
        """Return the number alone.

        Raises:
            UsageError: the metric was not measured.
        """
        found = self._field(metric)
        if found is None:
            raise UsageError(f"{self.name} has no {WORDS[metric]}", f"measure it, or use a strategy without {metric}")
        return found.value if isinstance(found, Doubted) else float(found)

    def ends(self, metric: Metric) -> tuple[float, float]:
        """Return the ends of the interval, both the value if there is none."""
        found = self._field(metric)
        return (found.low, found.high) if isinstance(found, Doubted) else (self.value(metric),) * 2

    def measured(self, metric: Metric) -> bool:
        """Whether there is a number."""
        return self._field(metric) is not None

    def _field(self, metric: Metric) -> Number | None:
        return {"ppl": self.perplexity, "ndcg": self.ndcg, "cmip": self.cmip}[metric]


def candidates(table: Any) -> list[MeasuredModel]:
    """Check candidates, given as a list of `MeasuredModel`, rows, or an Arrow table.

    A row has `name`, and those of `perplexity`, `ndcg` and `cmip` that were measured; `cmip_low` and `cmip_high`, and
    likewise for the others, give intervals.

    Raises:
        UsageError: no candidates, a row without a name, a duplicate name, an impossible number.
    """
    rows: Iterable[Any] = table.to_pylist() if hasattr(table, "to_pylist") else table
    found = [row if isinstance(row, MeasuredModel) else _of_row(row) for row in rows]
    if not found:
        raise UsageError("there are no candidates", "give at least one model with its metrics")
    names = [one.name for one in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"several candidates are called {', '.join(twice)}", "give each model its own name")
    for one in found:
        _check(one)
    return found


def _of_row(row: Any) -> MeasuredModel:
    if not isinstance(row, Mapping):
        remedy = "give MeasuredModel(name, perplexity, ndcg, cmip), or a dict of these"
        raise UsageError(f"{row!r} is not a candidate", remedy)
    if row.get("name") in {None, ""}:
        raise UsageError(f"a candidate has no name: {dict(row)}", "give each model its own name")
    perplexity, ndcg, cmip = (_number(row, column) for column in ("perplexity", "ndcg", "cmip"))
    return MeasuredModel(str(row["name"]), perplexity, ndcg, cmip)


def _number(row: Mapping[str, Any], column: str) -> Number | None:
    value = row.get(column)
    if value is None or isinstance(value, Doubted):
        return value
    ends = (row.get(f"{column}_low"), row.get(f"{column}_high"))
    try:
        if None in ends:
            return float(value)
        low, high = (float(end) for end in ends if end is not None)
        return Interval(float(value), low, high, math.nan)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{column} of {row['name']} is {value!r}, {ends}", "give numbers") from error


def _check(one: MeasuredModel) -> None:
    for metric in WORDS:
        if one.measured(metric) and not math.isfinite(one.value(metric)):
            raise UsageError(f"{WORDS[metric]} of {one.name} is {one.value(metric)}", "give a finite number, or none")
    if one.perplexity is not None and one.value("ppl") < 1:
        raise UsageError(f"perplexity of {one.name} is {one.value('ppl')}", "a perplexity is at least 1")
