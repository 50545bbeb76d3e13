"""The rows of a log: copies, rows that were left out or kept, and rows that were learnt from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..language.formatting import percent, plural, quote
from ..log.rules import NO_TABLE, NOT_DRAWN
from ..wording import ColumnNames, Option
from .registry import Statement, finding, note, serious, warning

FEW_LEFT_OUT = 0.001
"""Share of the rows up to which those left out for their outcome give a warning, and untested ones are passed over."""
FAR_APART = 4.0  # Standard errors between the mean outcome of rows that were left out and of those that were read
_NAMED = 5  # Broken files that are named; the result has all of them under `skipped`
RATES_APART = 5.0  # Standard errors between the mean inclusion of rows with and without a click
FEWEST_CLICKED = 100
"""Rows. Even if 9 of 10 impressions are clicked, so many without an exception have a chance of 1 in 38,000."""
FEWEST_UNCLICKED = 1000
"""Rows without a single click or reward, from which something else is read as clicks, or they were not logged."""
TOTALS_APART = 3.5  # Standard errors: both numbers together are off in at most one right log in a thousand
TOTALS_NEAR = 0.005  # Share of a total: an estimate is off by as much, which changes no decision
LEAST = 0.05  # Smallest share of the evaluated rows to report: below it, the optimism is at most that share
_FEWEST_CELLS, _FEWEST_COUNTS = 20, 6
"""Cells with clicks, and different numbers of clicks, whose noise three fitted numbers cannot reproduce."""
REPRODUCED = 0.9  # Share of the counts that must be reproduced; by chance some 1 % are
CLOSE = 0.35
"""A bound of the share of close neighbours in a score from elsewhere: .2 for normal noise, more for small counts and
where users differ (benchmarks/own_clicks.py prints the largest found)."""
UNLIKELY = 1e-8  # Largest probability of such closeness by chance, of some ten comparisons in a run
LEFT, NOISE = 0.4, 0.7
"""The largest mean square of residual clicks of a score that was fitted to them, and a bound below that of a score from
elsewhere: 1 for noise, less where the fit takes some (benchmarks/own_clicks.py prints the smallest found)."""
Both = tuple[float, float]  # Of the rows without a click, and of those with one


@dataclass(frozen=True, kw_only=True)
class UnreadRate:
    """A column that is not read and follows the outcome."""

    column: str = "keep_prob"
    low: float = 1.0  # its value in rows of the least outcome
    high: float = 1.0  # and of the largest


@dataclass(frozen=True, kw_only=True)
class KeptEvidence:
    """The rows without and with a click, and the share of them that was kept."""

    rows: Both = (0.0, 0.0)  # read
    impressions: Both = (0.0, 0.0)  # sum of their 1 / inclusion
    variance: Both = (0.0, 0.0)  # of that sum, over which rows were kept
    apart: float = 0.0  # how far the mean inclusion of both differs, in standard errors; inf where constant in both
    clicks: bool = True  # whether the outcome is clicked or not, rather than a grade or an amount
    read: int = 0
    left_out: int = 0  # while reading
    by_outcome: int = 0  # of these, for what their clicks or reward hold
    tested: int = 0  # others of these whose outcome is known
    earned: Both = (0.0, 0.0)  # mean of those read and those tested
    gap: float = 0.0  # between these, in standard errors
    totals: Mapping[str, float] = field(default_factory=dict)  # true numbers, `clicked` and `all`, as far as given
    unread: UnreadRate | None = None  # a column that may be the rate with which rows were kept

    def estimated(self, which: str) -> Both:
        """The number of impressions, `clicked` or `all`, that the rows stand for, and its variance."""
        first = 1 if which == "clicked" else 0
        return sum(self.impressions[first:]), sum(self.variance[first:])


NOTHING_KEPT = KeptEvidence()


@dataclass(frozen=True, kw_only=True)
class SkippedEvidence:
    """Rows that were left out while reading."""

    rule: str = ""
    count: int = 0  # that broke the rule
    files: tuple[str, ...] = ()  # those that were left out


@dataclass(frozen=True, kw_only=True)
class TrainingEvidence:
    """Evaluation on training rows."""

    share: float = 0.0  # of the evaluated rows, those in the training log
    policy: bool = True  # whether it is a policy that learnt from them


@dataclass(frozen=True, kw_only=True)
class OwnClicksEvidence:
    """What a score column knows of the clicks of this very log."""

    column: str = "score"
    of: str = "item"  # what was counted: clicks per `item`, per `item of a query` or `of a candidate set`
    cells: int = 0  # with both clicks and impressions without
    counts: int = 0  # different numbers of clicks in them
    reproduced: float = 0.0  # share of these that the score gives to a hundredth of their noise
    pairs: int = 0  # of neighbours in the order of the score
    close: int = 0  # those whose click rates differ by less than a quarter of their noise
    freedom: int = 0  # degrees of freedom of what the score and the ranks leave of the clicks
    residual: float = 1.0  # its mean square in units of the noise


@finding("left-out", "Outcome of rows left out", lambda kept: kept.left_out, cause=("sampling", "rows", "outcome"))
def left_out(kept: KeptEvidence) -> Statement | None:
    share = kept.by_outcome / (kept.read + kept.left_out)
    untested = kept.left_out - kept.tested
    if kept.by_outcome:
        return Statement.of(
            "serious" if share > FEW_LEFT_OUT else "warning",
            f"{percent(share)} of the rows ({kept.by_outcome:,}) were left out for what their clicks or reward hold. "
            "The others were chosen by their outcome, so no number is that of the whole log.",
            "Do not skip these rows: write what their outcome was, such as [0, 0] where nothing was clicked.",
        )
    remedy = "Correct these rows instead of skipping them; `offrank check` counts them by rule."
    if abs(kept.gap) > FAR_APART:
        return warning(
            f"{kept.left_out:,} rows were left out. Where their outcome is known, its mean is {kept.earned[1]:.3g}; "
            f"that of the others is {kept.earned[0]:.3g} ({abs(kept.gap):.1f} standard errors apart).",
            remedy,
        )
    if untested > FEW_LEFT_OUT * (kept.read + kept.left_out):
        than = "they may have earned more or less than others."
        return warning(f"{untested:,} rows were left out with an unknown outcome: {than}", remedy)
    return None


@finding("unread-rate", "Rates of kept rows", cause="sampling")
def unread_rate(kept: KeptEvidence) -> Statement | None:
    found = kept.unread
    if found is None:
        return None
    return serious(
        f"The column {quote(found.column)} is {found.low:g} in rows without a click or reward and {found.high:g} in "
        "others, so it looks like the rate with which rows were kept. It is not read: then every value is wrong by "
        "the ratio of these rates.",
        "If it is that rate, say so ({}); if it is anything else, remove it from the table.",
        ColumnNames({"inclusion": found.column}),
    )


@finding("skipped", "Rows left out", lambda found: found.count, cause="rows")
def skipped(found: SkippedEvidence) -> Statement:
    count, files = found.count, plural(found.count, "file", "files")
    named = ", ".join(found.files[:_NAMED]) + (" and others" if len(found.files) > _NAMED else "")
    if found.files and found.rule == NO_TABLE:
        read = "are no tables and were not read" if count > 1 else "is no table and was not read"
        message = f"{files} beside those of the log {read}: {named}."
        return note(message, "Name the files of the log if one of these belongs to it.")
    if found.files:
        message = f"{files} could not be read and {'was' if count == 1 else 'were'} left out: {named}."
        return warning(message, "Write the damaged files again, or restore them from a copy.")
    if found.rule == NOT_DRAWN.code:
        message = f"{plural(count, 'row was', 'rows were')} not shown at random and not read."
        return note(message, "Nothing need be done: the answer is of the rows that were drawn.")
    return warning(f"{count:,} left out for breaking the rule {found.rule!r}.", "Find out why they break it.")


@finding("kept-by-outcome", "Rows kept by their outcome", lambda kept: kept.apart > RATES_APART, cause="outcome")
def kept_by_outcome(kept: KeptEvidence) -> Statement | None:
    if not (kept.clicks and set(kept.totals) < {"clicked", "all"}):
        return None
    clicked, every = kept.estimated("clicked")[0], kept.estimated("all")[0]
    return note(
        "Rows were kept depending on whether they were clicked. Every estimate depends on the rates in `inclusion`, "
        f"which this log cannot test. They imply {every:,.0f} impressions, {clicked:,.0f} of them with a click.",
        "To test the rates, give the true numbers of impressions, clicked and in all ({}).",
        Option("totals"),
    )


@finding("only-clicked-rows", "Rows without a click", lambda kept: kept.clicks and not kept.rows[0], cause="sampling")
def only_clicked_rows(kept: KeptEvidence) -> Statement | None:
    if kept.rows[1] < FEWEST_CLICKED or (kept.totals and kept.totals.get("clicked") == kept.totals.get("all")):
        return None
    rows = int(kept.rows[1])
    return serious(
        f"Each of the {rows:,} impressions was clicked: impressions without a click seem to be missing, so click "
        "rates cannot be estimated.",
        "Use a log that also has impressions without a click, or a known share of them (then write "
        "`inclusion`). If every impression really was clicked, confirm it: {}.",
        Option("totals", {"clicked": rows, "all": rows}),
    )


@finding("no-clicks", "Clicks", lambda kept: kept.rows[0] >= FEWEST_UNCLICKED and not kept.rows[1], cause="outcome")
def no_clicks(kept: KeptEvidence) -> Statement | None:
    if not kept.clicks:
        return None
    return serious(
        f"None of {kept.rows[0]:,.0f} rows has a click or a reward, so every policy seems to earn 0.",
        "Check that the right column is read as clicks ({}).",
        ColumnNames({"clicks": "NAME"}),
    )


@finding("totals", "Rows against the true totals", lambda kept: kept.totals, cause="sampling")
def totals(kept: KeptEvidence) -> Statement | None:
    worst = None
    for which, true in sorted(kept.totals.items()):
        number, variance = kept.estimated(which)
        away = abs(number - true)
        far = away / math.sqrt(variance) if variance > 0 else math.inf
        if away > TOTALS_NEAR * true and far > TOTALS_APART and (worst is None or far > worst[0]):
            worst = far, which, number, true
    if worst is None:
        return None
    far, which, number, true = worst
    what = "impressions with a click" if which == "clicked" else "impressions"
    said = f" ({far:.1f} standard errors apart)" if math.isfinite(far) else ""
    return serious(
        f"The rows represent {number:,.0f} {what}, but there were {true:,.0f}{said}: the rates in `inclusion` are "
        "wrong, or rows are missing.",
        "Write the true share of such rows that was kept into `inclusion`, or use the whole log.",
    )


@finding("same-log", "Training rows", lambda found: found.share >= LEAST, cause="provenance")
def same_log(found: TrainingEvidence) -> Statement:
    message = f"About {percent(found.share, 0)} of these impressions were used in training: the model fits them better "
    message += "than new ones, so the estimate is too optimistic."
    if found.policy:
        held_out = "{} reads only the rows that `learn` held out; or use another day's log."
        return serious(message, f"Evaluate on other impressions: {held_out}", Option("held_out", "policy.npz"))
    model = "fit the click model to another day's log, or judge another model."
    return serious(message, f"Evaluate on other impressions: {model}")


def counted_here(found: OwnClicksEvidence) -> bool:
    """Whether a score gives the noise of this log's own click counts, which no score from elsewhere knows."""
    enough = found.cells >= _FEWEST_CELLS and found.counts >= _FEWEST_COUNTS
    chance = min(_chance(found.pairs, found.close), chance_of_residuals(found.freedom, found.residual))
    return (enough and found.reproduced >= REPRODUCED) or chance < UNLIKELY


def chance_of_residuals(freedom: int, square: float) -> float:
    """A bound of the probability of so small a mean square (Chernoff, of a chi-square)."""
    if square > LEFT:
        return 1.0
    share = max(square / NOISE, 1e-300)
    return math.exp(-freedom / 2 * (share - 1 - math.log(share)))


def _chance(pairs: int, close: int) -> float:
    """A bound of the probability of so many close pairs (Chernoff)."""
    share = close / pairs if pairs else 0.0
    if share <= CLOSE:
        return 1.0
    rest = (1 - share) * math.log((1 - share) / (1 - CLOSE)) if share < 1 else 0.0
    return math.exp(-pairs * (share * math.log(share / CLOSE) + rest))


@finding("same-log", "Clicks of this log in a column", counted_here, cause="provenance")
def same_log_of_own_clicks(found: OwnClicksEvidence) -> Statement:
    return serious(
        f"The column {quote(found.column)} was computed from the clicks of this log, by {found.of}: it contains "
        "their noise, so the estimate is too optimistic.",
        "Compute it from another day's log; or from some of the rows, and evaluate on the others.",
    )
