"""`clicks harvest`: how likely each rank is looked at, without a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ... import formatting as words
from ...clicks.harvested import Harvested
from ...clicks.harvesting import Method, Weigh, harvest
from ...clicks.storage import plain
from ...folds.estimate import Caution
from ...report.sheet import Answer, Figures, Section, Sheet
from ...running.executors import Executor, Progress
from .. import arguments, document
from ..pages.document import again, eyebrow
from . import pages
from .delivered import Delivered

_HEADER = ("rank", "examination", "interval", "documents", "clicks")


@dataclass(frozen=True)
class Curve(Delivered):
    """An examination curve, and how to use it; facts: what else `to_dict` holds."""

    found: Harvested
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def cautions(self) -> Mapping[str, tuple[Caution, ...]]:
        return {"": self.found.cautions}

    @property
    def option(self) -> str:
        """The words with which `offrank evaluate` takes the curve; empty where the curve has holes."""
        if not np.isfinite(self.found.curve).all():
            return ""
        return "--examination " + ",".join(f"{value:.4g}" for value in self.found.curve.tolist())

    headings = ("rank", "value", "clicks")

    def records(self) -> list[dict[str, Any]]:
        """A row per rank: how likely it is looked at, over the first, and the clicks that say so."""
        found = self.found
        columns = (plain(one) for one in (found.curve, found.low, found.high, found.clicks))
        names = ("rank", "value", "low", "high", "clicks")
        return [dict(zip(names, (rank, *row), strict=True)) for rank, row in enumerate(zip(*columns, strict=True), 1)]

    def to_dict(self) -> dict[str, Any]:
        names = ("curve", "low", "high", "documents", "clicks", "impressions", "method")
        numbers = {name: plain(getattr(self.found, name)) for name in names}
        cautions = [plain(vars(caution)) for caution in self.found.cautions]
        tally = asdict(self.found.tally)
        return {**self.facts, **numbers, "tally": tally, "cautions": cautions, "option": self.option or None}

    def sheet(self) -> Sheet:
        found = self.found
        curve = {found.method: (found.curve, found.low, found.high)}
        parts = (
            pages.examination(curve, table=Figures("", _HEADER, tuple(found.rows()))),
            pages.known(self.told(), found.tally),
            Section("How to use it", (self._next(),), code=self.option),
            again(self.facts, "log", "by", "weigh", "seed"),
        )
        read = f"{found.impressions:,} sessions, {100 * self.facts['confidence']:g} % intervals"
        return Sheet(str(self.facts["title"]), read, parts, (self._answer(),), (), eyebrow(self.facts))

    def _answer(self) -> Answer:
        """How much less than the first the last rank that is known is looked at."""
        found = self.found
        known = np.flatnonzero(np.isfinite(found.curve))
        if len(known) < 2:
            return Answer("**This log cannot say** how likely its ranks are looked at.", severity="serious")
        last = int(known[-1])
        low, high = (words.percent(float(end[last])) for end in (found.low, found.high))
        first = f"rank {int(known[0]) + 1}"
        said = f"Rank {last + 1} is looked at **{words.percent(float(found.curve[last]))}** as often as {first}"
        return Answer(f"{said} ({low} to {high}).", severity=self.severity)

    def _next(self) -> str:
        if not self.option:
            return "The curve has holes: pbm and interpol cannot use it."
        return "In `offrank evaluate`, with -e pbm or -e 'interpol(window=1)':"


def harvest_clicks(
    log: Any,
    method: Method = "all_pairs",
    *,
    by: str | None = "auto",
    weigh: Weigh = "views",
    confidence: float = 0.95,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Curve:
    """As `offrank.clicks.harvest`, ready to be shown and written: what `offrank clicks harvest` prints.

    Raises:
        OffrankError: as `offrank.clicks.harvest`.
    """
    source = arguments.source(log)
    given: dict[str, Any] = {"by": by, "weigh": weigh, "confidence": confidence, "seed": seed}
    found = harvest(source, method, **given, executor=executor, progress=progress)
    facts = {
        "schema": 1,
        "kind": "examination",
        "title": f"How likely each rank of {source.describe()} is looked at",
        "log": source.describe(),
        **given,
        "versions": document.versions(),
        "created": document.now(),
    }
    return Curve(found, facts)
