"""Two runs compared: metrics of each, their paired difference with its interval, and the page that says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from offrank.frames import plain
from offrank.language.formatting import Span, apart, count, percent, plural, quote
from offrank.report.document import Answer, Document, Figures, Section
from offrank.report.facts import again
from offrank.report.plots import Forest, ForestRow
from offrank.report.printable import Delivered
from offrank.sums.estimate import Caution, Interval

_HEADER = ("metric", "A", "B", "B minus A", "interval", "wins", "ties", "losses")
_UNJUDGED = (
    "metric",
    "without a grade in A",
    "in B",
    "B minus A if they favour A",
    "interval",
    "if they favour B",
    "interval ",
)


@dataclass(frozen=True)
class RunMetric:
    """A metric of two runs, A and B, on the same queries.

    Parameters:
        metric: its name.
        a: the mean of A over queries, with its interval.
        b: that of B.
        difference: the mean of B - A, paired.
        favours_a: the difference if items without a grade have none or the highest, as favours A most.
        favours_b: as favours B most.
        wins: queries in which B is better.
        ties: in which both are equal.
        losses: in which B is worse.
        unjudged_a: share of the items of A above the cutoff that have no grade.
        unjudged_b: of the items of B.
        tied: queries with equal scores above the cutoff.
        drawn: of these, queries whose orders were drawn.
        warnings: reasons to doubt it.

    Examples:
        >>> runs = [[{"query": "q", "item": item, "rank": n} for n, item in enumerate(text)] for text in ("xy", "yx")]
        >>> found = offrank.measure_runs(*runs, [{"query": "q", "item": "x", "grade": 1}], "RR")["RR"]
        >>> found.difference.value, found.losses, found.decision
        (-0.5, 1, 'unknown')
    """

    metric: str
    a: Interval
    b: Interval
    difference: Interval
    favours_a: Interval
    favours_b: Interval
    wins: int
    ties: int
    losses: int
    unjudged_a: float
    unjudged_b: float
    tied: int
    drawn: int
    warnings: tuple[Caution, ...] = ()

    @property
    def decision(self) -> Literal["better", "worse", "no clear difference", "unknown"]:
        """What the interval of the difference says of B."""
        if not self.difference.low <= self.difference.high < float("inf"):
            return "unknown"
        if self.difference.low > 0:
            return "better"
        return "worse" if self.difference.high < 0 else "no clear difference"


@dataclass(frozen=True)
class RunsCompared(Delivered):
    """Two runs, compared by each metric.

    Parameters:
        metrics: what each metric says, by its name; `found["RR"]` is one.
        names: of both runs.
        queries: how many are compared.
        read: what was read.
        facts: what else `to_dict` holds.

    Examples:
        >>> runs = [[{"query": "q", "item": item, "rank": n} for n, item in enumerate(text)] for text in ("xy", "yx")]
        >>> offrank.measure_runs(*runs, [{"query": "q", "item": "x", "grade": 1}], ["RR", "P@1"]).queries
        1
    """

    metrics: Mapping[str, RunMetric]
    names: tuple[str, str]
    queries: int
    read: tuple[Any, ...] = field(default=(), repr=False)

    headings = ("metric", "decision", "a", "b", "difference", "wins", "ties", "losses", "warnings")

    def __getitem__(self, metric: str) -> RunMetric:
        return self.metrics[metric]

    @property
    def cautions(self) -> Mapping[str, tuple[Caution, ...]]:
        return {name: one.warnings for name, one in self.metrics.items()}

    def records(self) -> list[dict[str, Any]]:
        """Return a row per metric."""
        return [{**plain(one), "decision": one.decision} for one in self.metrics.values()]

    def to_dict(self) -> dict[str, Any]:
        """Return what was compared, and a row per metric."""
        return {**self.facts, "queries": self.queries, "metrics": self.records()}

    def to_document(self) -> Document:
        every = list(self.metrics.values())
        changes = [Span.of(one.difference) for one in every]
        rows = (
            ForestRow(one.metric, change, change.text(signed=True), light=one.decision)
            for one, change in zip(every, changes, strict=True)
        )
        forest = Forest("B minus A, on the same queries", tuple(rows), 0.0, "no difference", better="right")
        cells = tuple(
            (
                one.metric,
                Span.of(one.a).number(),
                Span.of(one.b).number(),
                change.number(signed=True),
                change.interval(signed=True),
                *map(count, (one.wins, one.ties, one.losses)),
            )
            for one, change in zip(every, changes, strict=True)
        )
        unjudged = tuple(
            (
                one.metric,
                percent(one.unjudged_a),
                percent(one.unjudged_b),
                *(
                    text
                    for bound in map(Span.of, (one.favours_a, one.favours_b))
                    for text in (bound.number(signed=True), bound.interval(signed=True))
                ),
            )
            for one in every
            if one.unjudged_a or one.unjudged_b
        )
        tables = (Figures("Means over queries", _HEADER, cells, extra=((5, 6, 7),)),)
        bounds = Section("Items without a grade", tables=(Figures("Items without a grade", _UNJUDGED, unjudged),))
        sections = (
            Section("Metrics", tables=tables),
            *([bounds] if unjudged else []),
            Section("Notes", findings=self.findings_by_code()),
            again(self.facts, "missing"),
        )
        a, b = map(quote, self.names)
        lead = f"A is {a}, B is {b}; {plural(self.queries, 'query', 'queries')}."
        return self._page(lead, sections, self._answer(every[0]), forest)

    def _answer(self, one: RunMetric) -> Answer:
        """Say whether B is better by the first metric, and by how much."""
        value, ends = Span.of(one.difference).parts(signed=True)
        level = f"{100 * self.facts['confidence']:g} % interval"
        said = f"**{one.decision.capitalize()}: {one.metric} {value}** ({level} {ends}). "
        said += "B has {}, A {}: ".format(*apart(one.b.value, one.a.value)) + f"better in {one.wins:,} of "
        said += f"{plural(self.queries, 'query', 'queries')}, worse in {one.losses:,}."
        care = {"warning": "With care: read the notes.", "serious": "Do not use: read the notes."}
        return Answer(said, care.get(self.severity, ""), self.severity, decision=one.decision)
