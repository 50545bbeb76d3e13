"""`position-bias`: pairs of shown items favour those at the top."""

from ..wording import Option, Wording
from .evidence import ComparisonEvidence
from .registry import Statement, finding


@finding("position-bias", "Position bias", lambda found: found.pairwise and not found.shuffled, cause="measure")
def position_bias(_: ComparisonEvidence) -> Statement:
    return Statement(
        "note",
        "Pairwise metrics favour items shown at the top, unless the slates were shuffled uniformly.",
        Wording(
            "Use counterfactual_... with the logging policy, or confirm that they were shuffled with {}.",
            Option("logging", "uniform"),
        ),
    )
