"""`counted-ranks`: expected ranks that were estimated by mean ranks in the log."""

from ..wording import Option, Wording
from .evidence_clicks import SelectionEvidence
from .registry import Statement, finding


@finding("counted-ranks", "Counted ranks", lambda found: found.counted, cause="counting")
def counted_ranks(_: SelectionEvidence) -> Statement:
    return Statement(
        "note",
        "The logging policy cannot say where it places a document: the mean rank that the log shows was taken, with "
        "its own error, which makes CMIP smaller than it is where documents were seen a few times only.",
        Wording("Say which policy drew the log: {}.", Option("logging", "plackett_luce(old_score)")),
    )
