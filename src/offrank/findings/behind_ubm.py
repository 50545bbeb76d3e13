"""`behind-ubm`: a neural click model that predicts held-out sessions less well than the user browsing model."""

from .evidence_clicks import OfNetwork
from .registry import Statement, finding

CLEAR = 1.96
"""Standard errors from which on the difference is no chance."""


@finding("behind-ubm", "Neural model", lambda found: found.ahead < 0, cause="click model")
def behind_ubm(found: OfNetwork) -> Statement:
    clear = -found.ahead > CLEAR * found.error
    return Statement(
        "warning" if clear else "note",
        f"On {found.sessions:,.0f} held-out sessions {found.model} is {-found.ahead:.4f} (standard error "
        f"{found.error:.4f}) nats a session behind ubm, which has learnt from the same sessions"
        + ("." if clear else ": no more than chance, yet no better either."),
        "Take ubm, which is faster and has intervals, or give the network more sessions or other settings.",
    )
