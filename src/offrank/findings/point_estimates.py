"""`point-estimates`: CMIP of a model that does not know how uncertain it is."""

from .evidence import PointsEvidence
from .registry import Statement, finding


@finding("point-estimates", "Point estimates", lambda found: found.points, cause="method")
def point_estimates(_: PointsEvidence) -> Statement:
    return Statement(
        "warning",
        "The model has no posterior, so CMIP is computed from point estimates. Their noise depends on how often a "
        "document was shown, hence on its rank, and counts as dependence: an unbiased model would not score 0 "
        "either, and its score is unknown.",
        "Do not compare it with the CMIP of models that are judged by posterior draws. Read its direction.",
    )
