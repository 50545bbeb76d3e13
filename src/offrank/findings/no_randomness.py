"""`no-randomness`: a logging policy that was deterministic."""

from ..wording import EstimatorOption, Option, Wording
from .evidence import PropensitiesEvidence
from .registry import Statement, finding

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
