"""`worth-follows-rank`: good documents that were shown high."""

import math

from .evidence_clicks import OfFit
from .registry import Statement, finding

STEEPER = 0.2
"""How much faster click rates may fall than examination, in logarithms, before documents differ between ranks."""


@finding("worth-follows-rank", "Trust bias", lambda found: found.steeper > STEEPER)
def worth_follows_rank(found: OfFit) -> Statement:
    return Statement(
        "warning",
        "Clicks fall faster from rank to rank than for one and the same document, by a factor of "
        f"{math.exp(found.steeper):.2f} on average: good documents were shown high. This model takes documents to be "
        "alike at all ranks, so its chances fall too steeply, and it fails under other rankings however well it "
        "predicts those of the log.",
        "Learn trust bias from a log with random orders; here take pbm or ubm, and judge by another policy's log.",
    )
