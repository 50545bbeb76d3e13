"""Estimates on a page: each target by all estimators, then by group, and a test whether groups differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import fdtrc

from ...formatting import MISSING, Span, count, number, percent, plural, quote
from ...report.document import Cell, Codes, Figures, Section
from ...report.plots import Forest, ForestRow
from . import document as of
from .document import Record, refusal

MOST_GROUPS = 10
_MOST_ROWS = 200
_HEADER = ("estimator", "value", "interval", "change", "interval", "ESS", "weight", "largest", "tail", "truth", "see")
_SPARE = (4, 7, 8)
"""Columns that a narrow terminal leaves out: the interval of the change, the largest share and the tail index."""


def estimators(document: Record, target: str) -> Section:
    """Return a plot and a table of all estimators of one target."""
    found = of.estimates_of(document, target)
    if not found:
        return Section("")
    spelling = str((document.get("targets") or {}).get(target, target))
    heading = quote(target) + ("" if spelling == target else f" is {quote(spelling)}")
    rows = [_cells(one, one["estimator"]) for one in found]
    tables = (_table(target, "estimator", rows),)
    return Section(heading, forests=(estimates_forest(document, target),), tables=tables)


def estimates_forest(document: Record, target: str) -> Forest:
    """Plot the estimates of one target; all targets share an axis, so that plots can be compared."""
    whole = [one for one in of.estimates(document) if one.get("group") is None]
    logged = document.get("logged") or {}
    others = tuple(map(_drawn, whole))
    rows = [_row(one) for one in of.estimates_of(document, target)]
    label = "" if not logged else f"logged {Span.of(logged).number()}"
    title = f"Estimates for {target} with their intervals"
    return Forest(title, tuple(rows), logged.get("value"), label, Span.of(logged), others, better="right")


def groups_forest(document: Record, target: str) -> Forest:
    """Plot the difference to the logged mean in each of the largest groups."""
    estimator = grouped_estimator(document, target)
    found = list(of.groups(document, target).items())[:MOST_GROUPS]
    rows = []
    for group, each in found:
        one = each.get(estimator) or {"estimator": estimator}
        change, severity = Span.of(one.get("difference")), of.severity(one)
        text = refusal(one) or change.text(signed=True)
        rows.append(ForestRow(str(group), change, text, severity=severity))
    by = document.get("by") or "group"
    title = f"{target} against what was logged, by {by} ({estimator})"
    return Forest(title, tuple(rows), 0.0, "no difference", better="right")


def grouped_estimator(document: Record, target: str) -> str:
    """Return the estimator whose groups are shown: the one behind the answer for the whole log."""
    best = (of.verdict_of(document, target) or {}).get("estimator")
    names = dict.fromkeys(name for each in of.groups(document, target).values() for name in each)
    return best if best in names else next(iter(names), "")


def largest_groups(document: Record, target: str) -> Section:
    """Return the largest groups of one target, and whether groups differ."""
    found, by = of.groups(document, target), str(document.get("by") or "group")
    if not found:
        return Section("")
    estimator = grouped_estimator(document, target)
    rows = [_cells(one[estimator], str(name)) for name, one in found.items() if estimator in one]
    prose = [_test(found, estimator)]
    if (hidden := len(rows) - MOST_GROUPS) > 0:
        prose.append(
            f"The {MOST_GROUPS} largest are shown; {plural(hidden, 'smaller one is', 'smaller ones are')} not."
        )
    table = _table(f"{target} by {estimator}", by, rows[:MOST_GROUPS])
    forest = groups_forest(document, target)
    return Section(f"By {by}: {quote(target)}", tuple(prose), forests=(forest,), tables=(table,))


def all_groups(document: Record, target: str) -> Section:
    """Tabulate every estimator in every group."""
    found, by = of.groups(document, target), str(document.get("by") or "group")
    every = dict.fromkeys(name for one in found.values() for name in one)
    rows = [(str(name), *(_brief(one.get(key)) for key in every)) for name, one in found.items()]
    more = "" if len(rows) <= _MOST_ROWS else f"the {_MOST_ROWS} largest; the JSON has the others"
    tables = (Figures(more, (by, *every), tuple(rows[:_MOST_ROWS])),) if rows else ()
    return Section(f"All estimators by {by}: {quote(target)}", tables=tables, folded=True, printed=False)


def _test(found: dict[str, dict[str, Record]], estimator: str) -> str:
    """Test whether the differences to the log vary between groups."""
    told = [one[estimator] for one in found.values() if estimator in one and of.is_sound(one[estimator])]
    told = [one for one in told if (one.get("difference") or {}).get("low") is not None]
    changes = [Span.of(one["difference"]) for one in told]
    errors = [change.scale or 0.0 for change in changes]
    sizes = [one.get("effective_clusters") or one.get("ess") or 0.0 for one in told]
    p = welch([change.value or 0.0 for change in changes], errors, sizes)
    if p is None:
        return "Whether groups differ cannot be tested: fewer than two have a sound interval."
    said = (
        "The difference to the log is not the same in all groups"
        if p < 0.05
        else "The groups may all have the same difference to the log"
    )
    shown = "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"
    return f"{said} (Welch's test over the {len(told):,} with a sound interval: {shown})."


def _brief(one: Record | None) -> str:
    if one is None:
        return MISSING
    return refusal(one) or Span.of(one).text()


def welch(values: Sequence[float], errors: Sequence[float], sizes: Sequence[float]) -> float | None:
    """Return the p-value of equal expectations (Welch 1951, Biometrika 38); None with fewer than two usable groups.

    - values, errors: the mean of each group and its standard error. sizes: effective sample sizes; minus 1, they
      are the degrees of freedom of the errors.
    """
    x, error, size = (np.asarray(one, float) for one in (values, errors, sizes))
    told = np.isfinite(x) & (error > 0) & np.isfinite(error) & (size > 1)
    x, error, size = x[told], error[told], size[told]
    k = len(x)
    if k < 2:
        return None
    weight = error**-2.0
    share = weight / weight.sum()
    spread = float(weight @ (x - share @ x) ** 2) / (k - 1)
    doubt = float(((1 - share) ** 2 / (size - 1)).sum())
    statistic = spread / (1 + 2 * (k - 2) / (k**2 - 1) * doubt)
    return float(fdtrc(k - 1, (k**2 - 1) / (3 * doubt), statistic))


def _row(one: Record) -> ForestRow:
    span, severity = _drawn(one), of.severity(one)
    text = refusal(one) or Span.of(one).text()
    return ForestRow(one["estimator"], span, text, truth=one.get("truth"), severity=severity)


def _drawn(estimate: Record) -> Span:
    return Span.of(None if estimate.get("error") else estimate)


def _table(caption: str, first: str, rows: list[tuple[Cell, ...]]) -> Figures:
    """Tabulate estimates in words; without a truth column if the truth is unknown."""
    header = (first, *_HEADER[1:])
    kept = [place for place, name in enumerate(header) if name != "truth" or any(row[place] for row in rows)]
    cells = tuple(tuple(row[place] for place in kept) for row in rows)
    return Figures(caption, tuple(header[place] for place in kept), cells, _SPARE, folded=True)


def _cells(one: Record, label: str) -> tuple[Cell, ...]:
    """Format one estimate, rounded to the precision of its standard error."""
    codes = tuple(dict.fromkeys(caution.code for caution in of.cautions(one)))
    see = Codes(of.severity(one), codes)
    if refused := refusal(one):
        return (label, "", refused, *[""] * 7, see)
    span, change = Span.of(one), Span.of(one.get("difference"))
    mean = Span(*(one.get(f"mean_weight{end}") for end in ("", "_low", "_high")))
    return (
        label,
        span.number(),
        span.interval(),
        change.number(signed=True),
        change.interval(signed=True),
        count(one.get("ess")),
        mean.number(),
        percent(one.get("max_weight_share")),
        number(one.get("tail_index"), 2),
        "" if one.get("truth") is None else Span.of({**one, "value": one["truth"]}).number(),
        see,
    )
