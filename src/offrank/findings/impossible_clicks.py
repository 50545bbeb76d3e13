"""`impossible-clicks`: clicks that a model rules out, in its training or evaluation log."""

from .evidence_clicks import FitEvidence, PredictionEvidence
from .registry import Statement, finding

MANY = 0.05
"""Share of the clicks that the model leaves out."""


@finding("impossible-clicks", "Impossible clicks", lambda found: found.beyond > 0, convicts=True, cause="click model")
def of_fit(found: FitEvidence) -> Statement:
    return Statement(
        "serious" if found.beyond > MANY else "warning",
        f"{found.beyond:.1%} of the clicks follow another one in their session, which the cascade model rules out: "
        "they were left out.",
        "Take a model that goes on after a click: dcm, ccm, dbn or ubm.",
    )


@finding("impossible-clicks", "Impossible clicks", lambda found: found.impossible, convicts=True, cause="click model")
def of_prediction(found: PredictionEvidence) -> Statement:
    return Statement(
        "serious",
        f"The model says that {found.impossible:,} of {found.sessions:,} sessions cannot happen: their log-likelihood "
        "is -inf. Perplexity keeps probabilities off 0 and 1.",
        "Choose a model that allows such clicks, such as dcm or dbn in the place of cascade.",
    )
