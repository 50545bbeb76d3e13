"""`few-exchanges`: documents that no permutation can move."""

from ..formatting import percent
from .evidence import CmipEvidence
from .registry import Statement, finding

PERMUTABLE = 0.5
"""Share of the documents that should be permutable."""


@finding(
    "few-exchanges",
    "Permutation test",
    lambda found: found.permutations and found.permutable < PERMUTABLE,
    cause="measure",
)
def few_exchanges(found: CmipEvidence) -> Statement:
    return Statement(
        "warning",
        f"Only {percent(found.permutable, 0)} of the documents share their grade and cluster with another "
        "document: the "
        "p-value is based on these alone.",
        "A large p-value says little here. Rely on the interval, or judge more documents per query.",
    )
