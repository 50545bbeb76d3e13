"""`model-based`: an estimate that relies on a click model alone."""

from ..options import estimator
from .evidence import OfEstimate
from .registry import Said, finding


@finding("model-based", "Model-based estimate", lambda found: found.kind == "model")
def model_based(_: OfEstimate) -> Said:
    return Said(
        "warning",
        "This is what a click model expects: the interval tells how contexts differ, not how wrong the model may be.",
        f"Compare with an estimator that looks at the clicks; {estimator('dr(model)')} corrects the model by them.",
    )
