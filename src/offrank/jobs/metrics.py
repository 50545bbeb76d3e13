"""`measure`: which of several models agrees best with what users clicked?"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..files import write_text
from ..folds.estimate import PlacedCaution
from ..frames import Tabular
from ..inference.registry import Method
from ..inference.spec import AUTO
from ..metrics.comparisons import Metrics
from ..metrics.measure import Models
from ..metrics.measure import measure as metrics_of
from ..metrics.measured import Key, Measured, Measurements
from ..policies.propensities import AnyPolicy
from ..report import terminal
from ..report.sheet import Sheet
from ..running.executors import Executor, Progress
from . import document
from .pages import metrics as page


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
class MetricsReport(Mapping[Key, Measured], Tabular):
    """Measurements with ways to deliver them; a mapping by (model, metric), as its `estimates` are."""

    estimates: Measurements

    headings = Measurements.headings

    def __getitem__(self, key: str | Key) -> Measured:
        return self.estimates[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def __str__(self) -> str:
        return terminal.render_text(self.sheet())

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
        terminal.show(self.sheet())

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain lists, dicts and numbers."""
        return self.estimates.to_dict()

    def records(self) -> list[dict[str, Any]]:
        """A row per metric of a model, for the whole log and each group."""
        return self.estimates.records()

    @property
    def findings(self) -> tuple[PlacedCaution, ...]:
        """What speaks against the numbers."""
        return self.estimates.findings

    def save_html(self, path: str | os.PathLike[str]) -> None:
        """Write one self-contained page."""
        write_text(path, self.sheet().render())

    def sheet(self) -> Sheet:
        """What the report and the terminal show."""
        return page.sheet(self.to_dict())
