"""The section of a page on an A/B test: its arms, and their difference by each estimator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...checks.log_problems import of_rows
from ...language.assumptions import in_words
from ...language.formatting import MISSING, Span, count, listing, percent, quote
from ...report.document import Figures, Section
from ...sums.estimate import Caution, Interval
from ..ab_test import ADMITTED, BY_HISTORY, COMBINED, MEANS, ABTest, ArmsCompared, Step, saved

if TYPE_CHECKING:
    from ...checks.credit import Credit

IF_LISTS_ALONE = f"{COMBINED}, if only the lists differ"
"""The row that rests on the assumption that the arms differ in nothing else, such as speed."""


_NO_HISTORY = f"`{BY_HISTORY}` could not sharpen the answer by past clicks: {{}}."


def ab_test_sections(
    found: ABTest | None, about_log: Sequence[Caution] = (), by: str | None = None
) -> Iterator[Section]:
    """Yield the section; nothing for another log. about_log: problems of the log. by: the column of the groups."""
    if found is None:
        return
    cells = [
        (
            one.arm,
            count(one.impressions),
            percent(one.share.value),
            Span.of(one.mean).number(),
            Span.of(one.mean).interval(),
        )
        for one in found.arms
    ]
    header = (found.column, "impressions", "share", "mean", "interval")
    arms = Figures("", header, tuple(cells), extra=((2,),))
    said = [] if found.left_out is None else [_NO_HISTORY.format(found.left_out)]
    if by is not None and any(one.estimator == BY_HISTORY for each in found.compared for one in each.steps):
        said.append(f"Groups of `{by}` have no step `{BY_HISTORY}`: one model of clicks serves all of them.")
    unfit = [one.code for one in about_log if one.severity == "serious" and one not in of_rows(about_log)]
    if unfit:
        why = listing([quote(code) for code in unfit])
        said.append(f"The log does not fit these rankers ({why}): only the {MEANS} can be used.")
    else:
        said += [_contradicted(one) for each in found.compared for one in each.steps if one.contradicted]
    yield Section("A/B test", tuple(said), tables=(arms, *map(_by_each, found.compared)))


def credit_sections(found: Credit | None, left_out: str | None) -> Iterator[Section]:
    """Yield the credit of merged rankings; nothing for another log. left_out: why `history` is, where it is."""
    tables, said = [], [] if left_out is None else [_NO_HISTORY.format(left_out)]
    if found is not None:
        sides, unit = (found.first, found.second), f"{found.unit}s"
        said.append(
            f"Sign test by {unit}: z = {abs(found.deviates):.1f} for {quote(sides[found.deviates < 0])}. It says whose "
            "items are clicked more often in merged lists, not what whole lists would earn."
        )
        rows = {"lists": (found.wins, found.ties, found.losses), unit: (found.more, found.even, found.fewer)}
        cells = tuple((name, *map(count, numbers)) for name, numbers in rows.items())
        tables.append(Figures("", ("more clicks on", sides[0], "as many", sides[1]), cells))
    if said:
        yield Section("Interleaving", tuple(said), tables=tuple(tables))


def _contradicted(step: Step) -> str:
    """Say that the log refutes what a step assumes, and what that means."""
    away = f"{step.contrast.deviation(0.0):.1f} standard errors"
    users = ADMITTED & set(step.assumes)
    why = in_words(users or frozenset(step.assumes))
    text = f"The step {quote(step.estimator)} is {away} from what assumes less: it is not true in this log that {why}. "
    meant = (
        "A number of it, or of steps that assume as much, misleads" if users else "One arm has another fault or merit"
    )
    return f"{text}{meant}; the {MEANS} is right all the same, and so is the interval of {quote(COMBINED)}."


def _by_each(found: ArmsCompared) -> Figures:
    header = ("by", "difference", "interval", "contrast", "share", "sessions saved")
    plain = found.means if found.plain is None else found.plain
    rows = [(MEANS, *_change(Span.of(plain)), MISSING, MISSING, "1.0 times")]
    if found.plain is not None:
        rows.append(_whole(f"{MEANS} with control", found.means, plain))
    rows += [
        (
            one.estimator,
            *_change(Span.of(one.difference)),
            Span.of(one.contrast).text(signed=True),
            "not taken" if one.share is None else percent(one.share),
            MISSING,
        )
        for one in found.steps
    ]
    rows.append(_whole(COMBINED, found.combined, plain))
    if found.lists_alone is not None:
        rows.append(_whole(IF_LISTS_ALONE, found.lists_alone, plain))
    return Figures(f"{found.target} minus {found.against}", header, tuple(rows), extra=((3,), (4,)))


def _whole(name: str, found: Interval, plain: Interval) -> tuple[str, str, str, str, str, str]:
    fewer = saved(plain, found)
    return name, *_change(Span.of(found)), MISSING, MISSING, MISSING if fewer is None else f"{fewer:.1f} times"


def _change(found: Span) -> tuple[str, str]:
    return found.number(signed=True), found.interval(signed=True)
