"""The shown items do not follow the logging policy."""

from ..formatting import percent
from ..wording import Option, Wording
from .evidence import Frequency, LogEvidence
from .registry import Statement, finding

UNLIKELY = 1e-3
"""At most one correct log in a thousand is reported as wrong."""


@finding("miscalibrated", "Shown items against the logging policy", cause="calibration", explains="mean weight")
def miscalibrated(log: LogEvidence) -> Statement | None:
    """Items are shown more often, or less often, than the logging policy can explain."""
    if log.fit is None or not unfit(log):
        return None
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


def unfit(log: LogEvidence) -> bool:
    """Whether a correct log would hardly ever look like this. Rows that are copies add no information."""
    return log.fit is not None and log.fit.chance ** (1 - log.copies) < UNLIKELY


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
