"""`carries-policy`: a click model's relevance depends on the logging policy beyond the noise that clicks leave."""

from ..formatting import Span
from .evidence import CmipEvidence
from .registry import Statement, finding


def _carries(found: CmipEvidence) -> bool:
    """Whether CMIP is above its floor, and the direction certain: on one side of 0, and clear of the floor's."""
    if found.floor is None or found.direction is None:
        return False
    value, direction = found.floor
    low, high = found.direction.low, found.direction.high
    follows, opposes = low > max(0.0, direction.high), high < min(0.0, direction.low)
    return found.value > value.high and (follows or opposes)


@finding("carries-policy", "The logging policy in the model", _carries, convicts=True, cause="measure")
def carries_policy(found: CmipEvidence) -> Statement:
    assert found.floor is not None
    assert found.direction is not None
    (value, direction), own = found.floor, found.direction.value
    said = Span.of(found.direction).number(signed=True)
    what = (
        "prefers documents that the policy showed high" if own > 0 else ("prefers documents that the policy showed low")
    )
    return Statement(
        "warning",
        f"Among documents of the same grade, the model {what}: the rank correlation is {said}, and an unbiased "
        f"model would have {Span.of(direction).interval(signed=True)}. CMIP is {found.value:.3f}, above the "
        f"{value.high:.3f} that noise explains.",
        "Do not use the model for rankings by another policy, unless the policy knows more about relevance than "
        "the grades do.",
    )
