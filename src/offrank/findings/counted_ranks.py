"""`counted-ranks`: expected ranks that were estimated by mean ranks in the log."""

from ..wording import Option, Wording
from .evidence_clicks import SelectionEvidence
from .registry import Statement, finding


@finding("counted-ranks", "Counted ranks", lambda found: found.counted, cause="counting")
def counted_ranks(_: SelectionEvidence) -> Statement:
    return Statement(
        "note",
        "The logging policy does not give the expected rank of a document, so its mean rank in the log is used. "
        "The error of that mean makes CMIP too small where documents were shown only a few times.",
        Wording("Name the policy that generated the log: {}.", Option("logging", "plackett_luce(old_score)")),
    )
