"""Judged items: what rests on grades instead of clicks, whether items of a grade earn alike, and the judgements."""

from __future__ import annotations

from ..language.formatting import Span, listing, percent
from .registry import Statement, finding, note, warning
from .row import Row

TOLD = 0.001  # Share of what the target shows: less is not told
MOSTLY_UNJUDGED = 0.2  # Share of it that nobody judged
AUDIT = 3.29  # Standard errors: items of a grade that earn alike are found unlike in a thousandth of the logs


@finding("judged-items", "Judged items", lambda found: found.judged, cause=("assumption", "coverage"))
def judged_items(found: Row) -> Statement | None:
    known = found.judged
    if known is None or not known.share > TOLD:
        return None
    message = f"{percent(known.share)} of what the target shows was never logged where it shows it, and "
    message += f"{percent(known.part)} of the value rests on the grades of these items."
    if known.differs:
        less, more = ("less", "more") if known.differs > 0 else ("more", "less")
        unless = f"even if they earn {'nothing' if known.differs > 0 else 'twice as much'}"
        if known.less is not None:
            unless = f"unless never logged items of a grade earn {percent(abs(known.less))} {less}"
        message += f" It earns {more if known.differs > 0 else 'less'} than was logged {unless}."
    return warning(message, "Show some of these items to some users: then clicks take the place of grades.")


@finding("grades-not-alike", "Items of a grade", lambda found: found.judged, cause="assumption")
def grades_not_alike(found: Row) -> Statement | None:
    known = found.judged
    if known is None or known.rare is None or not known.rare.deviation(1.0) > AUDIT:
        return None
    less, span = 1 - known.rare.value, Span.of(known.rare)
    flips = known.less is not None and known.less * less > 0 and abs(less) >= abs(known.less)
    return Statement.of(
        "serious" if flips else "warning",
        f"The third of the logged items that is shown most rarely earns {span.text()} times what grades say: items of "
        "a grade do not earn alike, and those never logged may differ more.",
        "Grade more finely, or by what users look for; or show some of the new items to some users.",
    )


@finding("ungraded-items", "Items without a grade", lambda found: found.judged, cause=("assumption", "coverage"))
def ungraded_items(found: Row) -> Statement | None:
    known = found.judged
    if known is None or not known.ungraded > TOLD:
        return None
    said = f"{percent(known.ungraded)} of what the target shows was neither logged nor judged"
    if known.alike:
        return note(f"{said}, and is taken to earn like logged items without a grade.", "Judge these items.")
    return Statement.of(
        "serious" if known.ungraded > MOSTLY_UNJUDGED else "warning",
        f"{said}, and counts as 0: the interval reaches as high as if it earned twice what the rest earns.",
        "Judge these items, or take logged items without a grade for them: judged(..., ungraded=alike).",
        missing=known.ungraded,
    )


@finding("judgements", "Judgements", lambda found: found.judged, cause="provenance")
def judgements(found: Row) -> Statement | None:
    known = found.judged
    if known is None or not known.unseen + known.elsewhere + known.unlike:
        return None
    of_items = f"{known.unseen:,} are of items that no ranking of their query has among its candidates"
    of_queries = f"{known.elsewhere:,} of queries that the log does not have"
    unlike = f"graders differ on {known.unlike:,} of the {known.several:,} that several judged, whose mean counts"
    told = [one for one, some in ((of_items, known.unseen), (of_queries, known.elsewhere)) if some]
    told += [unlike] if known.unlike else []
    message = f"Of {known.judged:,} judged pairs of a query and an item, {listing(told)}."
    return note(message, "Check that both name queries and items alike; judge again where graders differ.")
