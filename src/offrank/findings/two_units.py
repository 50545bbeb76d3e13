"""`two-units`: amounts in two humps of the same shape: some in cents or another currency."""

from ..folds.outcome_shape import OutcomeShape
from ..formatting import percent
from .registry import Statement, finding

FACTOR = 8.0
"""Smallest ratio between the medians of both humps."""
SMALLER = 0.02
"""Smallest share of the amounts in the smaller one."""
VALLEY = 0.2
"""Largest density between the humps, over that at the lower peak."""
ALIKE = 0.7
"""Smallest area that both humps share once their medians are laid on each other."""
VALUES = 10
"""Fewest different amounts in a hump: a few fixed prices are no hump."""


@finding("two-units", "Amounts in two units", lambda found: found.factor >= FACTOR, cause="outcome")
def two_units(found: OutcomeShape) -> Statement | None:
    if found.smaller < SMALLER or found.valley > VALLEY or found.alike < ALIKE or found.values < VALUES:
        return None
    return Statement(
        "warning",
        f"Rewards fall into two groups of the same shape, {found.factor:,.3g} times apart; the smaller one has "
        f"{percent(found.smaller, 0)} of them. If these are amounts in two units, such as cents or another currency, "
        "every value is wrong.",
        "Convert all rewards to one unit. If they are two kinds of product or of event, this is no fault: evaluate "
        "each kind by itself.",
    )
