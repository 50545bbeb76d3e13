"""`impossible-clicks`: clicks that a model rules out, in its training or evaluation log."""

from ..formatting import percent
from .evidence_clicks import FitEvidence, PredictionEvidence
from .registry import Statement, finding

MANY = 0.05
"""Share of the clicks that the model leaves out."""


@finding("impossible-clicks", "Impossible clicks", lambda found: found.beyond > 0, convicts=True, cause="click model")
def of_fit(found: FitEvidence) -> Statement:
    return Statement(
        "serious" if found.beyond > MANY else "warning",
        f"{percent(found.beyond, 1)} of the clicks follow an earlier click in their session, which the "
        "cascade model rules "
        "out. They were ignored.",
        "Use a model that allows several clicks: dcm, ccm, dbn or ubm.",
    )


@finding("impossible-clicks", "Impossible clicks", lambda found: found.impossible, convicts=True, cause="click model")
def of_prediction(found: PredictionEvidence) -> Statement:
    return Statement(
        "serious",
        f"{found.impossible:,} of {found.sessions:,} sessions are impossible under the model: their log-likelihood "
        "is -inf. Perplexity keeps probabilities away from 0 and 1.",
        "Use a model that allows such clicks, such as dcm or dbn instead of cascade.",
    )
