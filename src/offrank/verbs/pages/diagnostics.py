"""The diagnostics, folded away: weights, clips, windows, heavy rows, overlap, rankings and clicks."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ...formatting import Span, count, number, percent, quote
from ...report.charts import Chart, Series
from ...report.document import Figures, Section
from ...report.plots import Forest, ForestRow
from . import document as of
from .document import Record

Weights = tuple[str, list[Record]]
"""A target, and the histograms of its estimators."""

_NEAR = (Span(0.95, None, None), Span(1.05, None, None))
"""Mean weights that differ by less than this do not need a closer look."""
_UNCLIPPED = "as it is"
_PROBABILITIES = ("target_probability", "logging_probability")


def diagnostics(document: Record) -> Iterator[Section]:
    """Return one section for each diagnostic that is present."""
    yield _weights(document)
    yield _clips(document)
    yield _windows(document)
    yield _heaviest(document)
    yield _overlap(document)
    yield _rankings(document)
    plot = ranks_forest(document)
    yield Section("Clicks by rank", forests=(plot,) if plot.rows else (), folded=True, printed=False)


def weights_forest(document: Record, target: str) -> Forest:
    """Plot the mean weight of each estimator that has one, around its expectation 1."""
    found = [one for one in of.estimates_of(document, target) if one.get("mean_weight") is not None]
    rows = (
        ForestRow(one["estimator"], Span(*(one.get(f"mean_weight{end}") for end in ("", "_low", "_high"))))
        for one in found
    )
    title = f"Mean importance weight for {target}, which should be 1"
    return Forest(title, tuple(rows), 1.0, "1", others=_NEAR)


def forest_of_checks(document: Record) -> Forest:
    """Plot the measured values of the checks whose expectation is 1."""
    found = [one for one in document.get("checks") or [] if one.get("expected") == 1 and one.get("low") is not None]
    lights = {"ok": "use", "note": "use", "warning": "use with care", "serious": "do not use"}
    rows = (ForestRow(_short(one["title"]), Span.of(one), light=lights.get(one["status"], "")) for one in found)
    return Forest("Mean weights, which should be 1", tuple(rows), 1.0, "1", others=_NEAR)


def ranks_forest(document: Record) -> Forest:
    """Plot clicks per impression at each rank, as bars from zero with intervals."""
    found = document.get("ranks") or []
    rows = (
        ForestRow(f"rank {one['rank']}", Span(one.get("click_rate"), one.get("low"), one.get("high"))) for one in found
    )
    return Forest("Clicks per impression at each rank", tuple(rows), bars=True)


def weights_of(document: Record) -> list[Weights]:
    """Return the histograms of each target that are not empty."""
    found: dict[str, list[Record]] = {}
    for one in document.get("weights") or []:
        if _total(one):
            found.setdefault(one["target"], []).append(one)
    return list(found.items())


def weights_chart(found: Weights) -> Chart:
    """Plot the share of all weights in each bin above 0, on a logarithmic axis."""
    lines = []
    for one in found[1]:
        bins = list(zip(one["edges"], one["edges"][1:], one["counts"], strict=False))
        seen = [place for place, (_, _, number) in enumerate(bins) if number]
        kept = bins[seen[0] : seen[-1] + 1] if seen else []
        shares = [100 * number / _total(one) for _, _, number in kept]
        lines.append(Series(one["estimator"], [math.sqrt(a * b) for a, b, _ in kept], shares, line=True))
    drawn = tuple(line for line in lines if line.x)
    return Chart(f"Weights of {found[0]}", "weight", "% of the weights", drawn, log_x=True)


def weights_table(found: Weights) -> Figures:
    """Tabulate what the chart leaves out: weights of 0 and below, and the largest."""
    rows = []
    for one in found[1]:
        largest = max((edge for edge, number in zip(one["edges"][1:], one["counts"], strict=True) if number), default=0)
        shares = (percent(number / _total(one)) for number in (one["zeros"], sum(one["negative_counts"])))
        rows.append((one["estimator"], *shares, number(largest)))
    return Figures(f"Weights of {quote(found[0])}", ("estimator", "zero", "negative", "all below"), tuple(rows))


def _weights(document: Record) -> Section:
    forests = (weights_forest(document, name) for name in of.targets(document))
    shown, found = tuple(one for one in forests if one.rows), weights_of(document)
    prose = "If the logged propensities are right and the log covers the target, the mean weight is 1."
    charts = tuple(one for one in map(weights_chart, found) if one.series)
    tables = tuple(map(weights_table, found))
    told = (prose,) if shown or found else ()
    return Section("Importance weights", told, forests=shown, charts=charts, tables=tables, folded=True, printed=False)


def clips_forest(path: Record) -> Forest:
    """Plot the estimate of a target under each clip, and without one."""
    rows = tuple(ForestRow(_clip(one), Span.of(one)) for one in path["rows"])
    title = f"{path['target']} by {path['estimator']}, no weight beyond"
    return Forest(title, rows, path["rows"][-1]["value"], _UNCLIPPED)


def _clip(row: Record) -> str:
    return _UNCLIPPED if row["clip"] is None else f"{row['clip']:,.0f}"


def _clips(document: Record) -> Section:
    found = document.get("clip_path") or []
    prose = (
        "A clip bounds every weight: less variance, more bias. Where the estimate moves as soon as it is clipped, a "
        "few large weights carry it."
    )
    if (method := document.get("interval")) in ("bernstein", "bootstrap"):
        prose += f" These intervals are normal ones; that of the estimate as it is, is a {method} interval."
    tables = tuple(
        Figures(
            f"{quote(path['target'])} by {quote(path['estimator'])}",
            ("no weight beyond", "rows clipped", "estimate", "interval"),
            tuple(
                (_clip(one), percent(one["clipped"]), (span := Span.of(one)).number(), span.interval())
                for one in path["rows"]
            ),
            folded=True,
        )
        for path in found
    )
    return _folded("If weights were clipped", prose, tuple(map(clips_forest, found)), tables)


def windows_forest(path: Record) -> Forest:
    """Plot the estimate of a target for each window or bound that the data could choose."""
    rows = tuple(ForestRow(one["estimator"], Span.of(one)) for one in path["rows"])
    chosen = next((one["value"] for one in path["rows"] if one["chosen"]), None)
    return Forest(f"{path['target']} by each choice of {path['estimator']}", rows, chosen, "chosen")


def _windows(document: Record) -> Section:
    found = document.get("window_path") or []
    prose = (
        "A wider window assumes more of users, a tighter bound leaves less of the weights, and both vary less. The "
        "estimates agree within their intervals as far as the further assumption holds, or the weight that is removed "
        "adds little; the interval of the answer spans more than that of the chosen one."
    )
    return _folded("By window or bound", prose, tuple(map(windows_forest, found)))


def _heaviest(document: Record) -> Section:
    found = [one for one in document.get("heaviest") or [] if one["rows"]]
    prose = (
        "The impressions of largest weight, the first row of the log being 0, and the share of all weighted rewards "
        "that each brings. Where a few bring most, the estimate is what happened to a few."
    )
    tables = []
    for one in found:
        rows = tuple(
            (
                str(row["row"]),
                number(row["weight"]),
                f"{row['reward']:.4g}",
                percent(row["share"]),
            )
            for row in one["rows"]
        )
        caption = f"{quote(one['target'])} by {quote(one['estimator'])}"
        tables.append(Figures(caption, ("row", "weight", "reward", "share"), rows))
    return _folded("The heaviest impressions", prose, tables=tuple(tables))


def overlap_chart(document: Record, target: str) -> Chart:
    """Plot the probability of the displayed item at its rank, under target and logging policy."""
    found = [one for one in document.get("overlap") or [] if one["target"] == target]
    lines = []
    for name, key in zip((target, "logging policy"), _PROBABILITIES, strict=True):
        known = [one for one in found if one[key] is not None]
        ranks, shares = [one["rank"] for one in known], [100 * one[key] for one in known]
        lines.append(Series(name, ranks, shares, line=True))
    drawn = tuple(line for line in lines if line.x)
    return Chart(
        f"Overlap of {target} with the log", "rank", "% of the displayed items", drawn, whole_x=True, zero_y=True
    )


def _overlap(document: Record) -> Section:
    found = document.get("overlap") or []
    targets = dict.fromkeys(one["target"] for one in found)
    prose = (
        "How likely the displayed item is at its rank: a target without randomness shows it there or does not. Where "
        "that hardly ever happens, the log says little of what the target shows."
    )
    rows = tuple(
        (f"{one['target']}, rank {one['rank']}", *(percent(one[name]) for name in _PROBABILITIES)) for one in found
    )
    tables = (Figures("Overlap by rank", ("displayed items", "target", "logging policy"), rows, folded=True),)
    charts = tuple(overlap_chart(document, target) for target in targets)
    return _folded("Overlap of target and log by rank", prose, tables=tables, charts=charts)


def _rankings(document: Record) -> Section:
    found = document.get("rankings") or []
    prose, tables = "", []
    if found:
        depths = [one["depth"] for one in found[0]["overlap"]]
        header = ("target", "changed", *(f"top {depth}" for depth in depths))
        rows = tuple(
            (
                one["target"],
                percent(one["changed"]),
                *(percent(each["share"]) for each in one["overlap"]),
            )
            for one in found
        )
        prose = (
            f"Beside what was shown, over {count(found[0]['rows'])} random impressions: the share of lists that "
            "the target would change, and of the items on the first ranks those that it too shows there."
        )
        tables.append(Figures("", header, rows))
    return _folded("Rankings side by side", prose, tables=tuple(tables))


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


def _short(title: str) -> str:
    return title.replace("Mean importance weight of ", "slates: ").replace("Mean item weight of ", "items: ")


def _total(one: Record) -> float:
    return float(sum(one["counts"]) + sum(one["negative_counts"]) + one["zeros"])
