"""`hidden-components`: a mixture learnt from few clicks of each document."""

from .evidence_clicks import OfFit
from .registry import Statement, finding

FEWEST = 30.0
"""Clicks per document and component below which the division of sessions between components is not to be relied on."""


@finding("hidden-components", "Components of a mixture", lambda found: found.divided < FEWEST)
def hidden_components(found: OfFit) -> Statement:
    return Statement(
        "warning",
        f"There are {found.divided:.1f} clicks per document and component. So few let the component with more freedom "
        "explain sessions of the others: the weights may be far off, further than their intervals say, and the "
        "tables of a component with a small weight with them.",
        "Rely on what the mixture predicts, not on its weights; or take a log with more sessions of each document.",
    )
