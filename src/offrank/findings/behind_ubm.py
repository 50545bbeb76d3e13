"""`behind-ubm`: a neural click model that predicts held-out sessions less well than the user browsing model."""

from ..formatting import with_error
from .behind_rctr import behind
from .evidence_clicks import NetworkEvidence
from .registry import Statement, finding

CLEAR = 1.96
"""Standard errors from which on the difference is no chance."""


@finding("behind-ubm", "Neural model", lambda found: found.ahead < 0, cause="click model")
def behind_ubm(found: NetworkEvidence) -> Statement:
    away, error = with_error(-found.ahead, found.error)
    return behind(
        f"On {found.sessions:,.0f} held-out sessions, the log-likelihood of {found.model} is {away} nats "
        f"per session (standard error {error}) below that of ubm trained on the same sessions",
        ""
        if -found.ahead > CLEAR * found.error
        else "chance alone could explain the difference, but the network is no better either",
        "Use ubm, which is faster and has intervals, or give the network more sessions or other settings.",
    )
