"""Estimates on a page: each target by all estimators, then by group, and a test whether groups differ."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...bounds.ends import Bounds
from ...errors import NoOverlapError
from ...language.formatting import Span, between, count, finite, number, percent, plural, quote
from ...report.document import Cell, Codes, Figures, Section, worst
from ...report.facts import refusal
from ...report.plots import Forest, ForestRow
from ...sums.estimate import cautions
from ..estimates import Found, ResultData
from .document import are_days, groups, is_sound, known, severity

MOST_GROUPS = 10
_MOST_DAYS = 92
_MOST_ROWS = 200
_DIFFER = 0.05
"""Groups are said to differ where the test has a smaller p-value."""
_WORD = re.compile("[a-z]{3,}")
_HEADER = ("estimator", "value", "interval", "change", "interval", "ESS", "weight", "largest", "tail", "truth", "see")
_SPARE = ("truth", "interval", "largest", "tail")
"""Columns that a narrow terminal leaves out, the last first; the interval is that of the change."""


def estimators(found: ResultData, target: str, *, page: bool = True) -> Section:
    """Return a plot, for a page, and a table of all estimators of one target."""
    spelling, truth = found.metadata.targets[target], found.truths.get(target)
    heading = quote(target) + ("" if spelling == target else f" is {quote(spelling)}")
    rows = [_cells(one, name, truth) for name, one in found.estimates.of(target).items()]
    tables = (_table(target, "estimator", rows),)
    return Section(heading, forests=(estimates_forest(found, target),) if page else (), tables=tables)


def estimates_forest(found: ResultData, target: str) -> Forest:
    """Plot the estimates of one target; all targets share an axis, so that plots can be compared."""
    logged, truth = found.metadata.logged, found.truths.get(target)
    label = "" if logged is None else f"logged {Span.of(logged).number()}"
    rows = (
        ForestRow(name, Span.of(one), refusal(one) or None, truth=truth, severity=severity(one))
        for name, one in found.estimates.of(target).items()
    )
    title = f"Estimates for {target} with their intervals"
    band, others = Span.of(logged), tuple(map(Span.of, found.estimates.found.values()))
    return Forest(title, tuple(rows), band.value, label, band, others, better="right")


def groups_forest(found: ResultData, target: str) -> Forest:
    """Plot the difference to the logged mean in each of the largest groups."""
    estimator, rows = grouped_estimator(found, target), []
    for group, each in groups(found, target, most_groups(found)).items():
        one = each[estimator]
        change = Span.of(getattr(one, "difference", None))
        rows.append(ForestRow(group, change, refusal(one) or change.text(signed=True), severity=severity(one)))
    title = f"{target} against what was logged, by {found.metadata.by or 'group'} ({estimator})"
    return Forest(title, tuple(rows), 0.0, "no difference", better="right")


def most_groups(found: ResultData) -> int:
    """Return how many groups a plot shows: of days, three months."""
    return _MOST_DAYS if are_days(found.groups) else MOST_GROUPS


def grouped_estimator(found: ResultData, target: str) -> str:
    """Return the estimator whose groups are shown: the one behind the answer for the whole log."""
    names, verdict = list(found.estimates.of(target)), found.verdicts.get(target)
    return verdict.estimator if verdict is not None and verdict.estimator in names else names[0]


def largest_groups(found: ResultData, target: str) -> Section:
    """Return the largest groups of one target, and whether groups differ."""
    every, by = groups(found, target), str(found.metadata.by)
    if not every:
        return Section("")
    estimator, truth = grouped_estimator(found, target), found.truths.get(target)
    each = {name: one[estimator] for name, one in every.items()}
    shown = groups(found, target, most_groups(found))
    rows = [_cells(each[name], name, truth) for name in shown]
    prose = [_test(each, by)]
    if (hidden := len(every) - len(shown)) > 0:
        prose.append(f"The {len(shown)} largest are shown; {plural(hidden, 'smaller one is', 'smaller ones are')} not.")
    if found.cumulative:
        prose.append(_of_looks(found, target))
    table = _table(f"{target} by {estimator}", by, rows)
    forests = (groups_forest(found, target), cumulative_forest(found, target))
    drawn = tuple(one for one in forests if one.rows)
    return Section(f"By {by}: {quote(target)}", tuple(prose), forests=drawn, tables=(table,))


def _of_looks(found: ResultData, target: str) -> str:
    """Say at how many looks the intervals of days hold, and by which of the days that are shown they decided."""
    if not found.metadata.anytime:
        return "An interval holds at one look, these of many days do not all: `anytime` intervals do."
    for row in cumulative_forest(found, target).rows:
        if row.severity != "serious" and ((row.span.low or 0.0) > 0 or (row.span.high or 0.0) < 0):
            return f"These intervals hold at every look: decided by {row.label.removeprefix('to ')}."
    return "These intervals hold at every look: not decided."


def cumulative_forest(found: ResultData, target: str) -> Forest:
    """Plot the difference to the logged mean of all rows up to each of some days, the last among them."""
    estimator, rows = grouped_estimator(found, target), []
    for day, each in found.cumulative.items():
        one = each.of(target)[estimator]
        change = Span.of(getattr(one, "difference", None))
        once = found.at_one_look[day].of(target)[estimator] if found.at_one_look else None
        text, inner = refusal(one) or change.text(signed=True), Span.of(getattr(once, "difference", None))
        rows.append(ForestRow(f"to {day[:10]}", change, text, severity=severity(one), inner=inner))
    thick = "; thick: at one look alone" if found.at_one_look else ""
    title = f"{target} against what was logged, of all days up to each ({estimator}{thick})"
    return Forest(title, tuple(rows), 0.0, "no difference", better="right")


def all_groups(found: ResultData, target: str) -> Section:
    """Tabulate every estimator in every group."""
    every, by = groups(found, target, _MOST_ROWS), str(found.metadata.by)
    rows = [(name, *(refusal(one) or Span.of(one).text() for one in each.values())) for name, each in every.items()]
    more = "" if len(found.groups) <= _MOST_ROWS else f"the {_MOST_ROWS} largest; the JSON has the others"
    header = (by, *found.estimates.of(target))
    tables = (Figures(more, header, tuple(rows)),) if rows else ()
    return Section(f"All estimators by {by}: {quote(target)}", tables=tables, folded=True, printed=False)


def _test(every: Mapping[str, Found], by: str) -> str:
    """Test whether the differences to the log vary between groups."""
    sound = [one for one in known(every).values() if is_sound(one) and Span.of(one.difference).low is not None]
    changes = [Span.of(one.difference) for one in sound]
    errors = [change.scale or 0.0 for change in changes]
    sizes = [one.effective_clusters or finite(one.ess) or 0.0 for one in sound]
    p = welch([change.value or 0.0 for change in changes], errors, sizes)
    if p is None:
        return f"Whether {_several(by)} differ cannot be tested: fewer than two have a sound interval."
    shown = "p\u00a0<\u00a00.0001" if p < 1e-4 else f"p\u00a0=\u00a0{p:.2f}" if p >= 0.01 else f"p\u00a0=\u00a0{p:.1g}"
    said = f"**{_several(by).capitalize()} differ ({shown}).**"
    if p >= _DIFFER:
        said = f"**No evidence that {_several(by)} differ ({shown}).**"
    return f"{said} Welch's test of their differences from the log, over the {len(sound):,} with a sound interval."


def _several(by: str) -> str:
    """Return the groups in words: devices, categories; of a column whose name is no word, groups by it."""
    if not _WORD.fullmatch(by):
        return f"groups by {quote(by)}"
    ending = "es" if by.endswith(("s", "x", "ch", "sh")) else "s"
    return by[:-1] + "ies" if re.search("[^aeiou]y$", by) else by + ending


def welch(values: Sequence[float], errors: Sequence[float], sizes: Sequence[float]) -> float | None:
    """Return the p-value of equal expectations (Welch 1951, Biometrika 38); None with fewer than two usable groups.

    - values, errors: the mean of each group and its standard error. sizes: effective sample sizes; minus 1, they
      are the degrees of freedom of the errors.
    """
    from scipy.special import fdtrc  # slow to import

    x, error, size = (np.asarray(one, float) for one in (values, errors, sizes))
    usable = np.isfinite(x) & (error > 0) & np.isfinite(error) & (size > 1)
    x, error, size = x[usable], error[usable], size[usable]
    k = len(x)
    if k < 2:
        return None
    weight = error**-2.0
    share = weight / weight.sum()
    between = float(weight @ (x - share @ x) ** 2) / (k - 1)
    within = float(((1 - share) ** 2 / (size - 1)).sum())
    statistic = between / (1 + 2 * (k - 2) / (k**2 - 1) * within)
    return float(fdtrc(k - 1, (k**2 - 1) / (3 * within), statistic))


def mean_weight_span(found: object) -> Span:
    """Return the mean weight of an estimate, whose number of decimals follows from its interval."""
    return replace(Span.of(getattr(found, "mean_weight_interval", None)), error=None)


def _table(caption: str, first: str, rows: list[tuple[Cell, ...]]) -> Figures:
    """Tabulate estimates in words; without a truth column if the truth is unknown."""
    header = (first, *_HEADER[1:])
    kept = [place for place, name in enumerate(header) if name != "truth" or any(row[place] for row in rows)]
    cells = tuple(tuple(row[place] for place in kept) for row in rows)
    names = tuple(header[place] for place in kept)
    spare = tuple((max(at for at, name in enumerate(names) if name == one),) for one in _SPARE if one in names)
    return Figures(caption, names, cells, spare, folded=True)


def _cells(one: Found, label: str, truth: float | None) -> tuple[Cell, ...]:
    """Format one estimate, rounded to the precision of its standard error."""
    said = cautions(one)
    see = Codes(worst(caution.severity for caution in said), tuple(dict.fromkeys(caution.code for caution in said)))
    if isinstance(one, NoOverlapError):
        return (label, "", refusal(one), *[""] * 7, see)
    span, change = Span.of(one), Span.of(one.difference)
    return (
        label,
        *span.parts(),
        *change.parts(signed=True),
        count(finite(one.ess)),
        mean_weight_span(one).number(),
        percent(finite(one.max_weight_share)),
        number(finite(one.tail_index), 2),
        "" if truth is None else span.parts(other=truth)[0],
        see,
    )


_MOST_LINES = 200


def bounds_by_group(found: ResultData, target: str) -> Section:
    """Tabulate between what values a target lies in each group, under each assumption."""
    every = {group: each[target] for group, each in found.group_bounds.items() if target in each}
    if not every:
        return Section("")
    rows = [_both_ends(group, one) for group, each in every.items() for one in each]
    hidden = "" if len(rows) <= _MOST_LINES else f"the first {_MOST_LINES}; the JSON has the others"
    against = next(iter(every.values()))[0].part.against
    header = (
        str(found.metadata.by),
        "from",
        "to",
        "interval",
        f"less {against}",
        "to",
        "interval",
        "known",
        "decision",
    )
    assumed = [f"{count(place)}. {one.assumes_in_words}" for place, one in enumerate(next(iter(every.values())), 1)]
    prose = ("Assuming " + "; or ".join(assumed) + ".",)
    table = Figures(hidden, header, tuple(rows[:_MOST_LINES]), extra=((4, 5), (3,), (6,)))
    return Section(f"Between what values, by {found.metadata.by}: {quote(target)}", prose, tables=(table,))


def _both_ends(group: str, bounds: Bounds) -> tuple[Cell, ...]:
    """Return the cells of one group under one assumption."""
    cells: list[Cell] = [group]
    pairs = ((bounds.lower, bounds.upper), (bounds.difference_lower, bounds.difference_upper))
    for signed, (lower, upper) in enumerate(pairs):
        cells += between(lower, upper, bool(signed))
    return (*cells, percent(bounds.shown), bounds.decision)
