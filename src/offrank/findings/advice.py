"""Phrases that several findings share: remedies for weights, and lists of ranks."""

from collections.abc import Sequence

from ..wording import EstimatorOption, Wording
from .evidence import EstimateEvidence

CLOSER = "evaluate a policy that is closer to the logging policy"


def items_help(slots: int, kind: str) -> bool:
    """Whether an estimator of items may help: slates are weighted, and the log has clicks in several slots."""
    return slots > 1 and kind == "slates"


def log_more(found: EstimateEvidence) -> str:
    """The remedy for too few effective rows."""
    if found.kind == "logged":
        return "Log more."
    if not items_help(found.slots, found.kind):
        return f"Log more, or {CLOSER}."
    items = Wording("{}, {}", EstimatorOption("ipm"), EstimatorOption("interpol(window=1)"))
    return Wording("Log more, {}, or use an item-level estimator ({}).", CLOSER, items)


def clip(found: EstimateEvidence, verb: str = "clip") -> str:
    """The remedy of bounding the weights of an estimate. verb: as a sentence begins, if it is the first word."""
    return Wording("{} the weights ({})", verb, EstimatorOption(found.bounded))


def ranks(which: Sequence[bool]) -> str:
    """The selected ranks of [k] in words: `rank 2`, `ranks 2, 5`."""
    numbers = [str(rank) for rank, meant in enumerate(which, start=1) if meant]
    return f"{'rank' if len(numbers) == 1 else 'ranks'} {', '.join(numbers)}"
