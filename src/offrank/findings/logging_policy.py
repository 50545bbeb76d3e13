"""The logging policy: whether the log can have been drawn from it."""

from ..language.formatting import percent
from ..wording import EstimatorOption, Option, Wording
from .evidence import Frequency, LogEvidence, PropensitiesEvidence, Repeats
from .registry import Statement, finding

UNLIKELY = 1e-3
"""At most one correct log in a thousand is reported as wrong."""


def unfit(log: LogEvidence) -> bool:
    """Whether a correct log would hardly ever look like this. Rows that are copies add no information."""
    return log.fit is not None and log.fit.chance ** (1 - log.copies) < UNLIKELY


@finding("miscalibrated", "Shown items against the logging policy", unfit, cause="calibration", explains="mean weight")
def miscalibrated(log: LogEvidence) -> Statement:
    """Items are shown more often, or less often, than the logging policy can explain."""
    assert log.fit is not None
    more = untested_in_words(log.fit)
    if log.apart:
        more = (
            f" In {percent(log.apart / log.compared, 0)} of the rows, the logged propensity differs from the "
            "policy's too."
            f"{more}"
        )
    return Statement(
        "serious",
        f"The shown slates do not fit {log.logging}: {deviation_in_words(log.fit)}.{more}",
        Wording(
            "Check the score column and the temperature, whether target and logging policy are swapped, and "
            "whether slates were changed after they were drawn (items swapped, pinned or filtered out). If "
            "propensities were logged at serving time, use {}.",
            Option("logging", "logged"),
        ),
    )


def deviation_in_words(fit: Frequency) -> str:
    """The comparison with the largest deviation, in words."""
    where = "at any rank" if fit.rank is None else f"at rank {fit.rank}"
    how = "too often" if fit.observed > fit.expected else "too rarely"
    what = f"item {fit.name or fit.item} was"
    if fit.lift is not None:
        what = f"items that the policy shows there {_lift(fit.lift)} were"
    rows = f"in {_number(fit.observed)} rows, where {_number(fit.expected)} were expected"
    return f"{what} shown {how} {where}: {rows}"


def untested_in_words(fit: Frequency) -> str:
    """How many rows were not compared, as a sentence after another; nothing if all could be."""
    return (
        f" {fit.untested:,} rows were not compared, because each has over a million pairs of item and rank."
        if fit.untested
        else ""
    )


def _lift(lift: float) -> str:
    if lift < 0.01:
        return "at all"
    return f"at least {'' if lift == 1 else f'{lift:g} times '}as often as a random order would"


def _number(rows: float) -> str:
    return f"{rows:,.0f}" if rows >= 100 or rows == round(rows) else f"{rows:.3g}"


FIXED = 0.1
"""Share of pairs that repeat for no reason of chance, from which no estimate is used: so many weights are wrong."""
_EVERY = 0.99
"""Share of the pairs from which rows of one context never differ."""


def repeated(log: LogEvidence) -> bool:
    """Whether a correct log would hardly ever repeat itself so often. Rows that are copies add no information."""
    return log.repeats is not None and log.repeats.chance ** (1 - log.copies) < UNLIKELY


@finding("not-random", "Randomness of the slates", repeated, cause="randomness")
def not_random(log: LogEvidence) -> Statement:
    """The log is less random than the logging policy says, or not random at all."""
    found = log.repeats
    assert found is not None
    return Statement(
        "serious" if found.fixed >= FIXED else "warning",
        f"{repeats_in_words(found)} under {log.logging}: "
        + (
            "the slates are fixed, not drawn at random."
            if never_drawn(log)
            else "part of it was not drawn from this policy."
        ),
        _remedy(found),
    )


def repeats_in_words(found: Repeats) -> str:
    """How often two rows show the same, in words."""
    where = {"query": "one query", "user": "one user and the same candidates"}.get(found.by, "the same candidates")
    rate, wanted = (f"{one / found.pairs:.2g}" for one in (found.observed, found.expected))
    return f"Two rows of {where} show the same {found.what} with frequency {rate}, where {wanted} is expected"


def never_drawn(log: LogEvidence) -> bool:
    """Whether rows of one context (hardly) ever differ: then nothing else has to be the cause."""
    return log.repeats is not None and log.repeats.observed >= _EVERY * log.repeats.pairs


def _remedy(found: Repeats) -> str:
    if found.by == "user":
        return (
            "If a slate is drawn once for each user and then kept, keep one row per user and slate. If every user "
            "has a fixed list, the log has no randomness: only a user model can judge another ranking."
        )
    return (
        "Look for lists that are fixed for a query, cached, or sorted by a score that the log lacks. Slates that "
        "were not drawn at random have no importance weights: use a user model (pbm, click models), or show a "
        "random slate now and then."
    )


_ROUNDING = 1e-9


@finding("no-randomness", "Inverse propensities", lambda found: found.largest <= 1 + _ROUNDING, cause="randomness")
def no_randomness(_: PropensitiesEvidence) -> Statement:
    return Statement(
        "serious",
        "Every propensity is 1: the logging policy always showed the same slate in a context.",
        Wording(
            "Without randomness, only a user model can judge another ranking ({}). `evaluate` can still bound its "
            "value ({}).",
            EstimatorOption("weights(dbn)"),
            Option("bounds", True),
        ),
    )


BLIND = 0.2
"""Share of rows in a fixed order from which a log that would not show them tells too little of what drew it."""


UNCONFIRMED = "unconfirmed-logging"


@finding(UNCONFIRMED, "Logging policy", lambda log: log.unconfirmed is not None, cause="logging policy")
def unconfirmed_logging(log: LogEvidence) -> Statement:
    """The log does not contradict the policy; that does not make it the one that drew the log."""
    least = log.unconfirmed or 0.0
    blind = least > BLIND
    shown = (
        f"this log could not reveal that {'all' if least >= 1 else f'{percent(least, 0)}'} of its slates were fixed "
        "instead of drawn."
        if blind
        else f"the smallest share of fixed slates that this log could reveal is {least:.2g}."
    )
    return Statement(
        "serious" if blind else "warning",
        f"The logging policy {log.logging} was inferred from this log, and nobody has confirmed that it generated "
        f"the slates: {shown}",
        Wording("If you know that it did, confirm it with {}.", Option("logging", log.logging)),
    )


@finding("shown-only", "Candidates", lambda log: log.shown_only, cause="rows")
def shown_only(_: LogEvidence) -> Statement:
    """Every impression shows all of its candidates, or the log lists none."""
    return Statement(
        "note",
        "Every impression shows all of its candidates, so policies can only reorder what was shown.",
        "If there were more candidates, log them all in the column `candidates`.",
    )
