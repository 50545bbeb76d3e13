"""`worth-follows-rank`: good documents that were shown high."""

import math

from .evidence_clicks import OfFit
from .registry import Statement, finding

STEEPER = 0.2
"""How much faster click rates may fall than examination, in logarithms, before documents differ between ranks."""


BENT = 0.01
"""How far a prior that all documents share may move a continuation, before the order of the documents matters."""


@finding("worth-follows-rank", "Trust bias", lambda found: found.steeper > STEEPER or abs(found.bend) > BENT)
def worth_follows_rank(found: OfFit) -> Statement:
    if found.steeper <= STEEPER:
        return Statement(
            "note",
            "Good documents were shown high, or bad ones: one prior for all documents would change the continuation by "
            f"{-found.bend:+.3f}. Each document has a prior by its ranks instead, and half of this change counts as a "
            "standard deviation of the continuation: a log does not tell which prior is right.",
            "For a continuation, and satisfactions, beyond this doubt, take a log in which documents change places.",
        )
    return Statement(
        "warning",
        "Clicks fall faster from rank to rank than for one and the same document, by a factor of "
        f"{math.exp(found.steeper):.2f} on average: good documents were shown high. This model takes documents to be "
        "alike at all ranks, so its chances fall too steeply, and it fails under other rankings however well it "
        "predicts those of the log.",
        "Learn trust bias from a log with random orders; here take pbm or ubm, and judge by another policy's log.",
    )
