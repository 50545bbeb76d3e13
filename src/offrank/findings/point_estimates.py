"""`point-estimates`: CMIP of a model that does not know how uncertain it is."""

from .evidence import PointsEvidence
from .registry import Statement, finding


@finding("point-estimates", "Point estimates", lambda found: found.points, cause="method")
def point_estimates(_: PointsEvidence) -> Statement:
    return Statement(
        "warning",
        "The model has no posterior, so that its CMIP is of point estimates. Their noise depends on how often users "
        "saw a document, hence on its rank, and counts as dependence: a right model would not score 0 either, and how "
        "much it would score is not known.",
        "Do not compare it with the CMIP of models that are judged by draws; read its direction.",
    )
