"""The diagnostics, folded away: weights, clips, windows, heavy rows, overlap, rankings and clicks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...language.formatting import Span, count, number, percent, quote
from ...report.charts import Chart, Series
from ...report.document import Figures, Section
from ...report.plots import Forest, ForestRow
from ...sums.histogram import Histogram
from ..estimates import ResultData
from ..metadata import (
    Clipped,
    Diagnoses,
    Heavy,
    JudgedOf,
    Path,
    RankingsCompared,
    RankOverlap,
    ResultMetadata,
    WeightsOf,
    Windowed,
)
from .estimates import mean_weight_span

_NEAR = (Span(0.95, None, None), Span(1.05, None, None))
"""Mean weights that differ by less than this do not need a closer look."""
_LIGHTS = (("ok", "as expected"), ("warning", "differs, see the findings"), ("serious", "fails"))
_UNCLIPPED = "unclipped"


def diagnostic_sections(found: ResultData) -> Iterator[Section]:
    """Return one section for each diagnostic that is present."""
    behind = found.metadata.diagnoses or Diagnoses()
    yield from (_grades(one) for one in behind.judged)
    yield _weights(found)
    yield _clips(behind.clip_path, found.metadata.interval)
    yield _windows(behind.window_path)
    yield _heaviest(behind.heaviest)
    yield _overlap(behind.overlap)
    yield _rankings(behind.rankings)
    plot = ranks_forest(found.metadata)
    yield Section("Clicks by rank", forests=(plot,) if plot.rows else (), folded=True, printed=False)


def _grades(found: JudgedOf) -> Section:
    """Tabulate what each grade earns, and how often the target shows it where nothing was logged."""
    header = ("grade", "earns when shown", "shown, logged", "shown, never logged")
    rows = tuple(
        (
            "none" if one.grade is None else f"{one.grade:.4g}",
            *(number(each) for each in (one.rate, one.logged, one.never)),
        )
        for one in found.known.grades
    )
    return Section(f"What grades earn: {found.target} by {found.estimator}", tables=(Figures("", header, rows),))


def weights_forest(found: ResultData, target: str) -> Forest:
    """Plot the mean weight of each estimator that has one, around its expectation 1."""
    spans = {name: mean_weight_span(one) for name, one in found.estimates.of(target).items()}
    rows = tuple(ForestRow(name, span) for name, span in spans.items() if span.value is not None)
    return Forest(f"Mean importance weight for {target} (expected: 1)", rows, 1.0, "1", others=_NEAR)


def forest_of_checks(metadata: ResultMetadata) -> Forest:
    """Plot the measured values of the checks whose expectation is 1."""
    # A note is on a mean weight that differs, and whose cause is told elsewhere: no green light for it.
    lights = {"ok": "ok", "note": "warning", "warning": "warning", "serious": "serious"}
    rows = tuple(
        ForestRow(_short(one.title), Span.of(one), light=lights.get(one.status, ""))
        for one in metadata.checks
        if one.expected == 1 and one.low is not None
    )
    return Forest("Mean weights (expected: 1)", rows, 1.0, "1", others=_NEAR, lights=_LIGHTS)


def ranks_forest(metadata: ResultMetadata) -> Forest:
    """Plot clicks per impression at each rank, as bars from zero with intervals."""
    rows = (ForestRow(f"rank {one.rank}", replace(Span.of(one.click_rate), error=None)) for one in metadata.ranks)
    return Forest("Clicks per impression at each rank", tuple(rows), bars=True)


def weights_chart(target: str, found: Sequence[WeightsOf]) -> Chart:
    """Plot the share of all weights in each bin above 0, on a logarithmic axis."""
    lines = []
    for one in found:
        edges, shares = one.histogram.edges, 100 * one.histogram.counts / _total(one.histogram)
        middles = [math.sqrt(low * high) for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)]
        lines.append(Series(one.estimator, middles, shares.tolist(), line=True))
    lines = [one for one in lines if len(one.x) > 1]  # equal weights are a point
    return Chart(f"Weights of {target}", "weight", "% of the weights", tuple(lines), log_x=True)


def weights_table(target: str, found: Sequence[WeightsOf]) -> Figures:
    """Tabulate what the chart leaves out: weights of 0 and below, and the largest."""
    rows = []
    for one in found:
        bins, total = one.histogram, _total(one.histogram)
        shares = (percent(below / total) for below in (bins.zeros, float(bins.negative_counts.sum())))
        rows.append((one.estimator, *shares, number(float(bins.edges.max(initial=0)))))
    return Figures(f"Weights of {quote(target)}", ("estimator", "zero", "negative", "all below"), tuple(rows))


def _weights(found: ResultData) -> Section:
    names = found.metadata.targets
    forests = tuple(weights_forest(found, name) for name in names)
    forests = tuple(one for one in forests if any(row.span.low != row.span.high for row in one.rows))  # not all are 1
    differing = [
        one
        for one in found.metadata.weights
        if np.count_nonzero([*one.histogram.counts, *one.histogram.negative_counts, one.histogram.zeros]) > 1
    ]
    each = {name: [one for one in differing if one.target == name] for name in names}
    each = {name: some for name, some in each.items() if some}
    charts = tuple(chart for name, some in each.items() if (chart := weights_chart(name, some)).series)
    tables = tuple(weights_table(name, some) for name, some in each.items())
    prose = "The mean weight is 1 if the logged propensities are correct and the log covers the target."
    return _folded("Importance weights", prose, forests, tables, charts)


def clips_forest(path: Path[Clipped]) -> Forest:
    """Plot the estimate of a target under each clip, and without one."""
    rows = tuple(ForestRow(_clip(one), Span.of(one.estimate)) for one in path.rows)
    title = f"{path.target} by {path.estimator}, largest weight"
    return Forest(title, rows, path.rows[-1].estimate.value, _UNCLIPPED)


def _clip(row: Clipped) -> str:
    return _UNCLIPPED if row.clip is None else f"{row.clip:,.0f}"


def _clips(found: Sequence[Path[Clipped]], method: str) -> Section:
    prose = (
        "Clipping bounds every weight: it lowers the variance and adds bias. If the estimate changes as soon as "
        "weights are clipped, it depends on a few large weights."
    )
    if method in ("bernstein", "bootstrap"):
        prose += f" These intervals are normal; the unclipped estimate has a {method} interval."
    header, tables = ("largest weight", "rows clipped", "estimate", "interval"), []
    for path in found:
        spans = [Span.of(one.estimate) for one in path.rows]
        each = zip(path.rows, spans, strict=True)
        rows = tuple((_clip(one), percent(one.clipped), span.number(), span.interval()) for one, span in each)
        tables.append(Figures(_caption(path), header, rows, folded=True))
    return _folded("Effect of clipping", prose, tuple(map(clips_forest, found)), tuple(tables))


def windows_forest(path: Path[Windowed]) -> Forest:
    """Plot the estimate of a target for each window or bound that the data could choose."""
    rows = tuple(ForestRow(one.estimator, Span.of(one.estimate)) for one in path.rows)
    chosen = next((one.estimate.value for one in path.rows if one.chosen), None)
    return Forest(f"{path.target} by each choice of {path.estimator}", rows, chosen, "chosen")


def _windows(found: Sequence[Path[Windowed]]) -> Section:
    prose = (
        "A wider window assumes more about users, a tighter bound removes more weight, and both reduce the "
        "variance. The estimates agree within their intervals as long as the further assumption holds or the "
        "removed weight contributes little. The interval of the answer is wider than that of the chosen one alone."
    )
    return _folded("By window or bound", prose, tuple(map(windows_forest, found)))


def _heaviest(found: Sequence[Path[Heavy]]) -> Section:
    prose = (
        "The impressions with the largest weights (the first row of the log is 0), and the share of all weighted "
        "rewards that each contributes. If a few contribute most, the estimate depends on those few."
    )
    tables = []
    for path in found:
        rows = ((str(one.row), number(one.weight), f"{one.reward:.4g}", percent(one.share)) for one in path.rows)
        tables.append(Figures(_caption(path), ("row", "weight", "reward", "share"), tuple(rows)))
    return _folded("The heaviest impressions", prose, tables=tuple(tables))


def _overlap(found: Sequence[RankOverlap]) -> Section:
    prose = (
        "Probability of the displayed item at its rank under the target; a deterministic target has 0 or 1. If it "
        "is almost always 0, the log says little about the target."
    )
    rows = tuple(
        (f"{one.target}, rank {one.rank}", percent(one.target_probability), percent(one.logging_probability))
        for one in found
    )
    tables = (Figures("Overlap by rank", ("displayed items", "target", "logging policy"), rows, folded=True),)
    names = dict.fromkeys(one.target for one in found)
    charts = tuple(_overlap_chart(name, [one for one in found if one.target == name]) for name in names)
    charts = charts if max((one.rank for one in found), default=1) > 1 else ()
    return _folded("Overlap of target and log by rank", prose, tables=tables, charts=charts)


def _overlap_chart(target: str, found: Sequence[RankOverlap]) -> Chart:
    shares: dict[str, dict[int, float | None]] = {
        target: {one.rank: one.target_probability for one in found},
        "logging policy": {one.rank: one.logging_probability for one in found},
    }
    known = {name: {rank: 100 * one for rank, one in each.items() if one is not None} for name, each in shares.items()}
    lines = tuple(Series(name, [*each], [*each.values()], line=True) for name, each in known.items() if each)
    title = f"Overlap of {target} with the log"
    return Chart(title, "rank", "% of the displayed items", lines, whole_x=True, zero_y=True)


def _rankings(found: Sequence[RankingsCompared]) -> Section:
    if not found:
        return Section("")
    header = ("target", "changed", *(f"top {one.depth}" for one in found[0].overlap))
    rows = tuple((one.target, percent(one.changed), *(percent(top.share) for top in one.overlap)) for one in found)
    prose = (
        f"Over {count(found[0].rows)} random impressions: the share of lists that the target would change, and the "
        "share of the items on the first ranks that it would show there too."
    )
    return _folded("Rankings side by side", prose, tables=(Figures("", header, rows),))


def _folded(
    heading: str,
    prose: str,
    forests: tuple[Forest, ...] = (),
    tables: tuple[Figures, ...] = (),
    charts: tuple[Chart, ...] = (),
) -> Section:
    """Return a section folded behind its heading; empty without a picture or a row."""
    if not forests and not any(one.rows for one in tables):
        return Section(heading)
    return Section(heading, (prose,), charts=charts, tables=tables, forests=forests, folded=True, printed=False)


def _caption(path: Path[Clipped] | Path[Heavy]) -> str:
    return f"{quote(path.target)} by {quote(path.estimator)}"


def _short(title: str) -> str:
    return title.replace("Mean importance weight of ", "slates: ").replace("Mean item weight of ", "items: ")


def _total(found: Histogram) -> float:
    return float(found.counts.sum() + found.negative_counts.sum() + found.zeros)
