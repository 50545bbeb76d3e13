"""`carries-policy`: a click model's relevance depends on the logging policy beyond the noise that clicks leave."""

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


@finding("carries-policy", "The policy in the model", _carries, convicts=True, cause="measure")
def carries_policy(found: CmipEvidence) -> Statement:
    assert found.floor is not None
    assert found.direction is not None
    (value, direction), own = found.floor, found.direction.value
    what = "finds relevant what the policy showed high" if own > 0 else "finds relevant what the policy showed low"
    return Statement(
        "warning",
        f"Among documents of one grade the model {what}: rank correlation {own:+.2f}, where a right model has "
        f"{direction.low:+.2f} to {direction.high:+.2f}. Its CMIP is {found.value:.3f}, above the "
        f"{value.high:.3f} that noise explains.",
        "Do not use it for rankings of another policy, unless the policy knows more of relevance than the grades do.",
    )
