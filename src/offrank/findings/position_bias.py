"""`position-bias`: pairs of shown items favour those at the top."""

from ..options import option
from .evidence import OfComparison
from .registry import Said, finding


@finding("position-bias", "Position bias", lambda found: found.pairwise and not found.shuffled)
def position_bias(_: OfComparison) -> Said:
    return Said(
        "note",
        "Pairwise metrics favour what was shown at the top, unless the slates were shuffled uniformly.",
        f"Use counterfactual_... with the logging policy; or say {option('logging', 'uniform')} if they were.",
    )
