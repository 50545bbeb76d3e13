"""The section of a page on an A/B test: its arms, and their difference by each estimator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...checks.log import of_rows
from ...folds.estimate import Caution
from ...formatting import MISSING, Span, count, listing, percent, quote
from ...report.document import Figures, Section
from ..ab_test import BY_HISTORY, COMBINED, MEANS, ABTest, ArmsCompared, saved


def ab_test(found: ABTest | None, about_log: Sequence[Caution] = (), by: str | None = None) -> Iterator[Section]:
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
    said = [] if found.left_out is None else [f"The step `{BY_HISTORY}` is left out: {found.left_out}."]
    if by is not None and any(one.estimator == BY_HISTORY for each in found.compared for one in each.steps):
        said.append(f"In groups of `{by}`, the step `{BY_HISTORY}` is left out: one model of clicks serves all groups.")
    unfit = [one.code for one in about_log if one.severity == "serious" and one not in of_rows(about_log)]
    if unfit:
        why = listing([quote(code) for code in unfit])
        said.append(f"The log does not fit these rankers ({why}): only the {MEANS} can be used.")
    yield Section("A/B test", tuple(said), tables=(arms, *map(_by_each, found.compared)))


def _by_each(found: ArmsCompared) -> Figures:
    header = ("by", "difference", "interval", "contrast", "share", "sessions saved")
    plain = found.means if found.plain is None else found.plain
    rows = [(MEANS, *_change(Span.of(plain)), MISSING, MISSING, "1.0 times")]
    if found.plain is not None:
        adjusted = _sessions(saved(plain, found.means))
        rows.append((f"{MEANS} with control", *_change(Span.of(found.means)), MISSING, MISSING, adjusted))
    rows += [
        (
            one.estimator,
            *_change(Span.of(one.difference)),
            Span.of(one.contrast).text(signed=True),
            "not taken" if one.share is None else percent(one.share),
            _sessions(one.saved),
        )
        for one in found.steps
    ]
    rows.append((COMBINED, *_change(Span.of(found.combined)), MISSING, MISSING, _sessions(found.saved)))
    return Figures(f"{found.target} minus {found.against}", header, tuple(rows), extra=((3,), (4,)))


def _change(found: Span) -> tuple[str, str]:
    return found.number(signed=True), found.interval(signed=True)


def _sessions(saved: float | None) -> str:
    return MISSING if saved is None else f"{saved:.1f} times"
