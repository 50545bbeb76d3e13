"""The propensities in the log are not those of the given logging policy."""

from ..wording import Option, Wording
from .evidence import LogEvidence
from .miscalibrated import unfit
from .registry import Statement, finding

MANY = 0.01
"""Share of the impressions above which a few odd rows cannot be the cause."""


@finding(
    "propensity-mismatch",
    "Logged propensities against the policy",
    lambda log: log.apart and not unfit(log),
    cause="propensities",
)
def propensity_mismatch(log: LogEvidence) -> Statement:
    """Logged propensities differ from the policy's, unless the shown items already prove the policy wrong."""
    remedy: str = Wording(
        "One of them is wrong: check the score column and the temperature, or use {}.", Option("logging", "logged")
    )
    if log.fit is not None:
        remedy = (
            "The shown slates fit the policy, so check the propensity column first: it may belong to another "
            "slate, be inverted or rounded, or contain the sub-sampling rate."
        )
    return Statement(
        "serious" if log.apart > MANY * log.compared else "warning",
        f"In {log.apart:,} of {log.compared:,} impressions, the logged propensity differs from that of "
        f"{log.logging}; it is typically {log.typical_ratio:.3g} times as large.",
        remedy,
    )
