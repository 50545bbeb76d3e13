"""`measure`: which of several models agrees best with what users clicked?"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import NoOverlapError
from ..files import write_text
from ..inference.registry import Method
from ..inference.spec import AUTO
from ..metrics.comparisons import Metrics
from ..metrics.measure import Models
from ..metrics.measure import measure as metrics_of
from ..metrics.measured import Found, Key, Measured, Measurements
from ..policies.propensities import AnyPolicy
from ..report.sheet import Cell, Figures, Section, Sheet
from ..running.executors import Executor, Progress
from . import document

_HEADER = ("model", "value", "low", "high", "to the first", "low", "high", "rejected", "worth")


def measure(
    log: Any,
    score: Models,
    logging: str | AnyPolicy = "logged",
    metrics: Metrics = ("counterfactual_disagreement",),
    *,
    confidence: float = 0.95,
    interval: Method = "studentised",
    cluster: str | None = AUTO,
    by: str | None = None,
    replicates: int = 200,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> MetricsReport:
    """As `offrank.metrics.measure`, ready to be shown and written: what `offrank measure` prints.

    score: the score column of a model, or several; differences are to the first.

    Raises:
        OffrankError: as `offrank.metrics.measure`.
    """
    doubt: dict[str, Any] = {"confidence": confidence, "interval": interval, "replicates": replicates, "seed": seed}
    rows: dict[str, Any] = {"cluster": cluster, "by": by, "executor": executor, "progress": progress}
    found = metrics_of(log, score, logging, metrics, **doubt, **rows)
    return MetricsReport(found.with_facts(versions=document.versions(), created=document.now()))


@dataclass(frozen=True)
class MetricsReport(Mapping[Key, Measured]):
    """Measurements with ways to deliver them; a mapping by (model, metric), as its `estimates` are."""

    estimates: Measurements

    def __getitem__(self, key: str | Key) -> Measured:
        return self.estimates[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def __str__(self) -> str:
        return str(self.estimates)

    __repr__ = __str__

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the report shows beside the metrics."""
        return self.estimates.facts

    @property
    def trustworthy(self) -> bool:
        """Every metric was given, and nothing serious was found."""
        return self.estimates.trustworthy

    def with_facts(self, **facts: Any) -> MetricsReport:
        """The same with facts replaced (title, command)."""
        return MetricsReport(self.estimates.with_facts(**facts))

    def show(self) -> None:
        """Print it."""
        print(str(self), end="")  # noqa: T201

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain lists, dicts and numbers."""
        return self.estimates.to_dict()

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The same as JSON text; written to `path` if given."""
        text = self.estimates.to_json()
        if path is not None:
            write_text(path, text)
        return text

    def save_html(self, path: str | os.PathLike[str]) -> None:
        """Write one self-contained page."""
        write_text(path, sheet(self.estimates).render())


def sheet(found: Measurements) -> Sheet:
    """The page: a section per metric, a table for the whole log and one per group."""
    facts = found.facts
    lead = f"Slates drawn by {facts.get('logging')}; {facts['confidence']:.3g} intervals, {facts['interval']}."
    names = dict.fromkeys(metric for _, metric in found.found)
    return Sheet(str(facts["title"]), lead, tuple(_section(found, metric) for metric in names))


def _section(found: Measurements, metric: str) -> Section:
    given = [one for (_, name), one in found.given.items() if name == metric]
    said = dict.fromkeys(f"{caution.severity}: {caution}" for one in given for caution in one.warnings)
    refused = dict.fromkeys(str(error) for (_, name), error in found.refused.items() if name == metric)
    parts: Mapping[str, Found] = {"The whole log": found.found} | dict(found.groups)
    tables = (Figures(name, _HEADER, tuple(_rows(part, metric))) for name, part in parts.items())
    return Section(metric, (*refused, *said), tables=tuple(tables))


def _rows(found: Found, metric: str) -> list[tuple[Cell, ...]]:
    return [_row(model, one) for (model, name), one in found.items() if name == metric]


def _row(model: str, one: Measured | NoOverlapError) -> tuple[Cell, ...]:
    if isinstance(one, NoOverlapError):
        return (model, *[None] * (len(_HEADER) - 1))
    away = one.difference
    paired = (None, None, None) if away is None else (away.value, away.low, away.high)
    return (model, one.value, one.low, one.high, *paired, f"{one.rejected:.1%}", f"{one.ess:,.0f}")
