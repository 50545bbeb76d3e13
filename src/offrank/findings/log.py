"""A log as a whole: whether it can have been drawn from its logging policy, and what its propensities say."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..language.formatting import percent, rough
from ..sums.estimate import Interval
from ..sums.outcome_shape import USUAL, OutcomeShape
from ..wording import EstimatorOption, Option, Wording
from .registry import Statement, finding, note, serious, warning
from .rows import NOTHING_KEPT, KeptEvidence

UNLIKELY = 1e-3  # At most one correct log in a thousand is reported as wrong
FIXED = 0.1
"""Share of pairs that repeat for no reason of chance, from which no estimate is used: so many weights are wrong."""
_EVERY = 0.99  # Share of the pairs from which rows of one context never differ
BLIND = 0.2  # Share of rows in a fixed order from which a log that would not show them tells too little of what drew it
HARDLY_EVER = 100.0
"""Times the impressions. A weight of uniform has an expectation of at most 1, so that of n correct ones the largest
exceeds t n in at most one log of t (Markov's inequality)."""
MANY_APART = 0.01  # Share of the impressions above which a few odd rows cannot be the cause
FEW_ROWS = 50.0
"""Rows per context: plain estimates often miss the truth with 20, but not with 80 (benchmarks/healthy.py clusters)."""
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Frequency:
    """Observed and expected frequency of items under the logging policy: the worst of many comparisons."""

    rank: int | None  # from 1 at the top, None for any
    observed: float  # rows before sub-sampling
    expected: float
    chance: float  # a bound of P(a correct log deviates as much somewhere)
    item: int | None = None  # its code; without one, `lift` selects the items
    lift: float | None = None  # those shown there at least so many times as often as by a uniform policy
    name: str = ""  # what the log calls the item
    items: int = 0  # of so many together, those that were shown too often
    untested: int = 0  # rows that are too large to compare


@dataclass(frozen=True, kw_only=True)
class Repeats:
    """How often two rows of one context show the same, beside what the logging policy says."""

    by: str = "query"  # what makes a context
    what: str = "slate"  # or the item at its top
    pairs: float = 0.0  # independent pairs of rows
    observed: float = 0.0  # pairs that show the same
    expected: float = 0.0
    chance: float = 1.0  # upper bound of the probability of so many under right propensities
    least: float = 1.0  # smallest share of pairs that repeat for another reason which would be found

    @property
    def fixed(self) -> float:
        """Estimated share of the pairs that repeat for another reason than chance."""
        left = self.pairs - self.expected
        return max((self.observed - self.expected) / left, 0.0) if left > 0 else 0.0


@dataclass(frozen=True, kw_only=True)
class LogEvidence:
    """The evidence about a log, whatever is estimated from it."""

    rows: int = 0  # impressions read
    logging: str = "logged"  # spelling of the logging policy
    unconfirmed: float | None = None  # of a policy that nobody has confirmed, least share of fixed rows that would show
    compared: int = 0  # rows with a logged propensity
    apart: int = 0  # those in which it differs from the logging policy's
    typical_ratio: float = 1.0  # to that, as a geometric mean
    fit: Frequency | None = None  # how well the shown items fit the logging policy, None if that was not compared
    repeats: Repeats | None = None  # the comparison of rows with the smallest chance, corrected for their number
    least_repeats: float = 1.0  # smallest share of pairs in a fixed order that one of these would have shown
    copies: float = 0.0  # lower bound of the share of rows that are copies of others
    mean_weight: Interval | None = None  # of the uniform policy
    sampling_factor: float = 1.0  # sum of squared 1 / inclusion over that of 1 / inclusion
    ess: float = 0.0  # effective sample size of the weights of uniform
    largest_weight: float = 0.0  # of them, over its inclusion
    impressions: float = math.inf  # before sub-sampling
    shown_only: bool = False  # whether every impression showed all of its candidates
    unlisted: bool = False  # and no other list names them
    rows_per_context: float = math.inf  # if propensities were counted
    counted_by: str | None = None
    unknown: Mapping[str, str] = field(default_factory=dict)  # check -> why it could not be done
    kept: KeptEvidence = NOTHING_KEPT  # which rows were kept
    outcome: OutcomeShape = USUAL  # shape of clicks and rewards
    along: tuple[Any, ...] = ()  # what moves along the log, and between arms


@dataclass(frozen=True, kw_only=True)
class PropensitiesEvidence:
    """The largest of the inverse propensities of the slates shown."""

    largest: float = math.inf


@dataclass(frozen=True, kw_only=True)
class SumsEvidence:
    """A log of which a warehouse made the sums."""

    table: str = ""  # the file of the sums


@finding("sums-only", "Sums of a table", cause="rows")
def sums_only(found: SumsEvidence) -> Statement | None:
    if not found.table:
        return None
    return warning(
        f"{found.table} has sums alone. Not checked: whether what was shown fits the propensities, repeats or drifts, "
        "whether rows are copies or were left out, and the shape of the outcome.",
        "Have some days of the rows checked too: `offrank check`.",
    )


def unfit(log: LogEvidence) -> bool:
    """Whether a correct log would hardly ever look like this. Rows that are copies add no information.

    Where rows repeat others, all items together deviate for that reason.
    """
    chance = 1.0 if log.fit is None or (log.fit.items and repeated(log)) else log.fit.chance
    return chance ** (1 - log.copies) < UNLIKELY


@finding("miscalibrated", "Shown items against the logging policy", unfit, cause="calibration", explains="mean weight")
def miscalibrated(log: LogEvidence) -> Statement:
    """Counts of what stood at the first ten ranks, of each item and of whole slates are held against the law.

    A random sample of 8,192 rows is compared; rows are taken to be drawn independently of each other.
    """
    assert log.fit is not None
    share = percent(log.apart / log.compared) if log.apart else ""
    also = f" In {share} of the rows, the logged propensity differs from the policy's too." if log.apart else ""
    return serious(
        f"The shown slates do not fit {log.logging}: {deviation_in_words(log.fit)}.{also}{untested_fit(log.fit)}",
        "Check the score column and the temperature, whether target and logging policy are swapped, and "
        "whether slates were changed after they were drawn (items swapped, pinned or filtered out). If "
        "propensities were logged at serving time, use {}.",
        Option("logging", "logged"),
    )


def deviation_in_words(fit: Frequency) -> str:
    """The comparison with the largest deviation, in words."""
    where = "at any rank" if fit.rank is None else f"at rank {fit.rank}"
    what = f"item {fit.name or fit.item} was shown"
    if fit.items:
        what = f"more of {fit.items:,} items than chance allows were shown"
    elif fit.lift is not None:
        some = "items that this policy shows there" if fit.lift < 0.01 else "this policy's top items"
        often = f" (at least {fit.lift:g} times as likely there as at random)" if fit.lift > 1 else ""
        what = f"{some}{often} were shown"
    few, many = sorted((fit.observed, fit.expected))
    size = "" if few <= 0 else f"{many / few:.2g} times " if many >= 2 * few else f"{percent(many / few - 1)} "
    how = f"{size}too {'often' if fit.observed > fit.expected else 'rarely'}"
    seen, wanted = (f"{n:,.0f}" if n >= 100 or n == round(n) else f"{n:.3g}" for n in (fit.observed, fit.expected))
    return f"{what} {how} {where}: in {seen} rows, where {wanted} were expected"


def untested_fit(fit: Frequency) -> str:
    """How many rows were not compared, as a sentence after another; nothing if all could be."""
    rows = f" {fit.untested:,} rows were not compared, because each has over a million pairs of item and rank."
    return rows if fit.untested else ""


def repeated(log: LogEvidence) -> bool:
    """Whether a correct log would hardly ever repeat itself so often. Rows that are copies add no information."""
    return log.repeats is not None and log.repeats.chance ** (1 - log.copies) < UNLIKELY


def never_drawn(log: LogEvidence) -> bool:
    """Whether rows of one context (hardly) ever differ: then nothing else has to be the cause."""
    return log.repeats is not None and log.repeats.observed >= _EVERY * log.repeats.pairs


@finding("not-random", "Randomness of the slates", repeated, cause="randomness")
def not_random(log: LogEvidence) -> Statement:
    """Rows of one context should differ as often as the policy says: of a `query`, a `user`, or the same candidates.

    Whole contexts are compared, at random, until they have 16,384 rows; copies of a row count once. Of a slate that is
    drawn once for each user and then kept, keep one row of each user.
    """
    repeats = log.repeats
    assert repeats is not None
    what = (
        "the slates are fixed, not drawn at random."
        if never_drawn(log)
        else "part of it was not drawn from this policy."
    )
    remedy = (
        "Look for lists that are fixed for a query, cached, or sorted by a score that the log lacks. Slates that "
        "were not drawn at random have no importance weights: use a user model (pbm, click models), or show a "
        "random slate now and then."
    )
    if repeats.by == "user":
        remedy = (
            "If a slate is drawn once for each user and then kept, keep one row per user and slate. If every user "
            "has a fixed list, the log has no randomness: only a user model can judge another ranking."
        )
    return Statement.of(
        "serious" if repeats.fixed >= FIXED else "warning",
        f"{repeats_in_words(repeats)} under {log.logging}: {what}",
        remedy,
    )


def repeats_in_words(repeats: Repeats) -> str:
    """How often two rows show the same, in words."""
    where = {"query": "one query", "user": "one user and the same candidates"}.get(repeats.by, "the same candidates")
    rate, wanted = (percent(one / repeats.pairs) for one in (repeats.observed, repeats.expected))
    return f"Of pairs of rows of {where}, {rate} show the same {repeats.what}, where {wanted} is expected"


@finding("no-randomness", "Inverse propensities", lambda found: found.largest <= 1 + _ROUNDING, cause="randomness")
def no_randomness(_: PropensitiesEvidence) -> Statement:
    return serious(
        "Every propensity is 1: the logging policy always showed the same slate in a context.",
        "Without randomness, only a user model can judge another ranking ({}). `evaluate` can still bound its "
        "value ({}).",
        EstimatorOption("weights(dbn)"),
        Option("bounds", True),
    )


@finding("unconfirmed-logging", "Logging policy", lambda log: log.unconfirmed is not None, cause="logging policy")
def unconfirmed_logging(log: LogEvidence) -> Statement:
    """The log does not contradict the policy; that does not make it the one that drew the log."""
    least = log.unconfirmed or 0.0
    message = f"Nobody has confirmed that {log.logging} drew this log: it was inferred from the log itself"
    remedy, option = "If you know that it did, confirm it with {}.", Option("logging", log.logging)
    if least > BLIND:
        fixed = "all" if least >= 1 else percent(least)
        message += f", which would not show it if {fixed} of its slates were fixed instead of drawn."
        return serious(message, remedy, option)
    message += f", which would show it if {percent(least)} of its slates were fixed, but no smaller share."
    return warning(message, remedy, option)


@finding("shown-only", "Candidates", lambda log: log.shown_only, cause="rows")
def shown_only(_: LogEvidence) -> Statement:
    return note(
        "Every impression shows all of its candidates, so policies can only reorder what was shown.",
        "If there were more candidates, log them all in the column `candidates`.",
    )


@finding("duplicate-rows", "Rows written twice", lambda log: log.copies > 0, cause="rows")
def duplicate_rows(log: LogEvidence) -> Statement:
    """Of independent rows at most half of the counts of equal ones are even. Copies of 7 % of a log are found."""
    return warning(
        f"At least {percent(log.copies)} of the rows are copies of other rows: equal rows occur in pairs far more "
        "often than in independent impressions.",
        "Look for a file that is read twice, or a join that duplicates rows. Copies make intervals too narrow: "
        "remove them, or cluster by what they share.",
    )


@finding("huge-inverse-propensity", "Inverse propensities", cause="weights")
def huge_inverse_propensity(log: LogEvidence) -> Statement | None:
    times = log.largest_weight / log.impressions
    if not times > HARDLY_EVER:
        return None
    return warning(
        f"The propensity of one shown slate is {rough(log.largest_weight)} times smaller than under a uniform policy. "
        f"At most one in {times:,.0f} correct logs of {log.impressions:,.0f} impressions contains such a slate, and "
        "it could outweigh all others.",
        "Check that the smallest propensity belongs to the slate that was shown.",
    )


@finding("propensity-mismatch", "Logged propensities against the policy", lambda log: log.apart, cause="propensities")
def propensity_mismatch(log: LogEvidence) -> Statement | None:
    """Logged propensities differ from the policy's, unless the shown items already prove the policy wrong."""
    if unfit(log):
        return None
    remedy = (
        "The shown slates fit the policy, so check the propensity column first: it may belong to another slate, be "
        "inverted or rounded, or contain the sub-sampling rate."
    )
    if log.fit is None:
        wrong = "One of them is wrong: check the score column and the temperature, or use {}."
        remedy = Wording(wrong, Option("logging", "logged"))
    return Statement.of(
        "serious" if log.apart > MANY_APART * log.compared else "warning",
        f"In {log.apart:,} of {log.compared:,} impressions, the logged propensity differs from that of "
        f"{log.logging}; it is typically {rough(log.typical_ratio)} times as large.",
        remedy,
    )


@finding("few-rows-per-context", "Counted propensities", lambda log: log.counted_by is not None, cause="counting")
def few_rows_per_context(log: LogEvidence) -> Statement | None:
    if not log.rows_per_context < FEW_ROWS:
        return None
    return warning(
        f"The propensities were estimated from {rough(log.rows_per_context)} rows per value of `{log.counted_by}`. "
        "Slates that were never shown there count as impossible, so plain estimates are too low and their intervals "
        "too narrow.",
        "Use a self-normalised estimator or a wide window (snipm, interpol), count by a coarser column, or log "
        "propensities.",
    )
