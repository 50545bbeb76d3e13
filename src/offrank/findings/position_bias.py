"""`position-bias`: pairs of what was shown favour what stood at the top."""

from ..options import option
from .evidence import OfComparison
from .registry import Said, finding


@finding("position-bias", "Position bias")
def position_bias(found: OfComparison) -> Said | None:
    if not found.pairwise or found.shuffled:
        return None
    return Said(
        "note",
        "Pairwise metrics favour what was shown at the top, unless the slates were shuffled uniformly.",
        f"Use counterfactual_... with the logging policy; or say {option('logging', 'uniform')} if they were.",
    )
