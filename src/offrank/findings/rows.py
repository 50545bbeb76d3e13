"""The rows of a log: which were kept, what was clicked and earned in them, and what was learnt from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..language.formatting import apart, percent, plural, quote, rough
from ..log.rules import NO_TABLE, NOT_DRAWN
from ..sums.outcome_shape import OutcomeShape
from ..wording import ColumnNames, Option
from .registry import Statement, finding, note, serious, warning
from .row import Row

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
WHOLE_LISTS = 30  # Lists clicked whole
MORE_OFTEN = 4.0  # How many times as many as the other lists make likely
OF_LISTS = 0.005  # Smallest share of the lists, below which they change little
BELOW = 60  # Clicks below the first rank, from which the share of those below an item without a click tells something
UNSORTED = 0.05
"""Share of these clicks: lists that were shown in their order have far more, unless 95 % of items are clicked."""
PARTLY = 2.0  # How many lists with and without clicks there are for each that was clicked whole, and so tells no order
UNITS_APART = 8.0  # Smallest ratio between the medians of both humps
SMALLER = 0.02  # Smallest share of the amounts in the smaller one
VALLEY = 0.6  # Largest density between the humps, over that at the lower peak
ALIKE = 0.7
"""Smallest area that both humps share once their medians are laid on each other; with a fifth of the valley more."""
VALUES = 10  # Fewest different amounts in a hump: a few fixed prices are no hump
LIKELY = 60.0  # Clicks that the rate of the next rank lets expect: users who click a rank 10 times less often leave 6
ROBOTS, USUAL_USERS = 0.005, 0.3
"""Smallest share of the users, and largest: where more take whole lists, they are no exception."""
CLEARER = 5.0  # Log-likelihood ratio: with less, they may be the last of users whose rates fall off
GROUP_APART = 4.0  # How many times as many as the users who click a little less
LEAST = 0.05  # Smallest share of the evaluated rows to report: below it, the optimism is at most that share
_FEWEST_CELLS, _FEWEST_COUNTS = 20, 6
"""Cells with clicks, and different numbers of clicks, whose noise three fitted numbers cannot reproduce."""
REPRODUCED = 0.9  # Share of the counts that must be reproduced; by chance some 1 % are
CLOSE = 0.35
"""A bound of the share of close neighbours in a score from elsewhere: .2 for normal noise, more for small counts and
where users differ (benchmarks/outcome_checks.py prints the largest found)."""
UNLIKELY = 1e-8  # Largest probability of such closeness by chance, of some ten comparisons in a run
LEFT, NOISE = 0.4, 0.7
"""The largest mean square of residual clicks of a score that was fitted to them, and a bound below that of a score from
elsewhere: 1 for noise, less where the fit takes some (benchmarks/outcome_checks.py prints the smallest found)."""
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
    with_outcome: Both = (0.0, 0.0)  # share of those with any outcome above 0, and how far both are apart
    gap_of_shares: float = 0.0
    totals: Mapping[str, float] = field(default_factory=dict)  # true numbers, `clicked` and `all`, as far as given
    unread: UnreadRate | None = None  # a column that may be the rate with which rows were kept
    filtered: str = ""  # the row filter, where it asks for an outcome

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


@dataclass(frozen=True)
class RobotsEvidence:
    """Users of some rows, and how many of their lists they clicked whole."""

    unit: str = "user"  # the column that tells them
    users: int = 0  # looked at
    robots: float = 0.0  # share of those who do so in 70 % of their lists or more
    fewer: float = 1.0  # and in 40 to 70 %
    clearer: float = 0.0  # log-likelihood ratio of such a group apart
    carried: float = 0.0  # share of the clicks that users like robots have


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
        read, left = apart(*kept.earned)
        return warning(
            f"{kept.left_out:,} rows were left out. Where their outcome is known, its mean is {left}; "
            f"that of the others is {read} ({abs(kept.gap):.1f} standard errors apart).",
            remedy,
        )
    if abs(kept.gap_of_shares) > FAR_APART:
        shares = (percent(share) for share in kept.with_outcome[::-1])
        message = (
            "{:,} rows were left out. Where their outcome is known, {} have a click or a reward, and {} of the others"
        )
        return warning(
            f"{message.format(kept.left_out, *shares)} ({abs(kept.gap_of_shares):.1f} standard errors apart).", remedy
        )
    if untested > FEW_LEFT_OUT * (kept.read + kept.left_out):
        than = "they may have earned more or less than others."
        return warning(f"{untested:,} rows were left out with an unknown outcome: {than}", remedy)
    return None


@finding("filtered-by-outcome", "Row filter", lambda kept: kept.filtered, cause=("sampling", "rows", "outcome"))
def filtered_by_outcome(kept: KeptEvidence) -> Statement:
    return warning(
        f"Only rows with {kept.filtered} are read: they were chosen by an outcome, so no number is that of all rows.",
        "Choose rows by what was known before the list was shown.",
    )


@finding("unread-rate", "Rates of kept rows", lambda kept: kept.unread is not None, cause="sampling")
def unread_rate(kept: KeptEvidence) -> Statement:
    found = kept.unread
    assert found is not None
    return serious(
        f"The column {quote(found.column)} is {found.low:g} in rows without a click or reward and {found.high:g} in "
        "others, so it looks like the rate with which rows were kept. It is not read; if it is that rate, every "
        "value is wrong, by up to the ratio of these two.",
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


@finding("clicked-whole", "Lists clicked whole", lambda found: found.whole >= WHOLE_LISTS, cause="outcome")
def clicked_whole(found: OutcomeShape) -> Statement | None:
    if found.whole < MORE_OFTEN * found.usual or found.whole < OF_LISTS * found.lists:
        return None
    return warning(
        f"In {found.whole:,.0f} lists ({percent(found.whole / found.lists)}) nearly every item was clicked, where "
        f"the other lists make {found.usual:,.0f} likely. They have {percent(found.carried)} of the outcome, and "
        "may be of robots, which click whatever is shown.",
        "Leave out the users of these lists, all of their rows, and compare both answers. If people do take whole "
        "lists, as with songs, this is no fault.",
    )


@finding(
    "clicks-on-top",
    "Order of the clicks",
    lambda found: found.below >= BELOW and found.jumps < UNSORTED * found.below,
    cause=("outcome", "click model"),
)
def clicks_on_top(found: OutcomeShape) -> Statement | None:
    if found.partial < PARTLY * found.all_of:
        return None
    return warning(
        f"Only {percent(found.jumps / found.below)} of the {found.below:,.0f} clicks below rank 1 have an item without "
        "a click above them: the lists seem to be sorted by their clicks, as in some published logs. The ranks then "
        "follow the outcome: examination cannot be learnt from them, and the lists are not those that were shown.",
        "Use the lists in the order in which they were shown. If users go through a list from the top and stop, as "
        "with songs, use estimators without a model of users.",
    )


@finding("two-units", "Amounts in two units", lambda found: found.factor >= UNITS_APART, cause="outcome")
def two_units(found: OutcomeShape) -> Statement | None:
    alike = ALIKE + found.valley / 5
    if found.smaller < SMALLER or found.valley > VALLEY or found.alike < alike or found.values < VALUES:
        return None
    return warning(
        f"Rewards fall into two groups of the same shape, {rough(found.factor)} times apart; the smaller one has "
        f"{percent(found.smaller)} of them. If these are amounts in two units, such as cents or another currency, "
        "every value is wrong.",
        "Convert all rewards to one unit. If they are two kinds of product or of event, this is no fault: evaluate "
        "each kind by itself.",
    )


@finding("unclicked-rank", "Ranks without clicks", lambda found: found.likely >= LIKELY, cause="outcome")
def unclicked_rank(found: OutcomeShape) -> Statement:
    first, beside = found.rank == 1, 2 if found.rank == 1 else found.rank - 1
    perhaps = "Its clicks seem to be lost or moved to another rank, or nobody saw it."
    if first:
        perhaps = "Clicks seem to be recorded a rank too late, so that they belong to other items."
    return Statement.of(
        "serious" if first else "warning",
        f"Rank {found.rank} was shown {found.shown:,.0f} times and never clicked; at the rate of rank {beside}, "
        f"{found.likely:,.0f} clicks would be expected. {perhaps}",
        "Check whether positions count from 0 or from 1 where clicks are joined to lists, and whether clicks at this "
        "rank are logged.",
    )


@finding("clicked-whole", "Users who click everything", lambda found: found.clearer > CLEARER, cause="outcome")
def clicked_whole_of_robots(found: RobotsEvidence) -> Statement | None:
    if not (ROBOTS <= found.robots <= USUAL_USERS and found.robots >= GROUP_APART * found.fewer):
        return None
    return warning(
        f"Of {found.users:,} values of `{found.unit}` with several lists, some {found.robots * found.users:,.0f} "
        f"({percent(found.robots)}) clicked nearly everything in nearly all of them, hardly anyone a little less. "
        f"They have {percent(found.carried)} of the clicks, and may be robots: every value is then too high.",
        f"Leave out the rows of each `{found.unit}` with 5 lists or more who clicked nearly every item in 7 of 10, and "
        "compare both answers. If people do take whole lists, as with songs, this is no fault.",
    )


@finding("clicks-not-reward", "Clicks and rewards", lambda found: found.outcome == "clicks", cause="outcome")
def clicks_not_reward(_: Row) -> Statement:
    return note(
        "This estimator corrects each click separately and estimates clicks, but the log's rewards are not its clicks.",
        "Compare it only with other estimates of clicks, or log the reward of each item as its click.",
    )


@finding("same-log", "Training rows", lambda found: found.share >= LEAST, cause="provenance")
def same_log(found: TrainingEvidence) -> Statement:
    """Policies and click models carry a fingerprint of the rows that they were learnt from.

    So a copy is found under another name, format or order, and within a larger log; curves given as numbers are not.
    """
    message = f"About {percent(found.share)} of these impressions were used in training: the model fits them better "
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
