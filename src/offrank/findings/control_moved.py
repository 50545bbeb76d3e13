"""`control-moved`: a control that differs between the arms of an experiment by more than chance."""

from ..formatting import Span
from .evidence_rows import ControlEvidence
from .registry import Statement, finding
from .sample_ratio import MISMATCHED


@finding("control-moved", "Control by arm", cause=("rows", "arms"))
def control_moved(found: ControlEvidence) -> Statement | None:
    """A column that was known before the impression differs between arms by chance alone: this one follows the arm."""
    away = {arm: one.deviation(0.0) for arm, one in found.away.items()}
    worst = max(away, key=lambda arm: away[arm], default=None)
    if worst is None or not away[worst] > MISMATCHED:
        return None
    far = Span.of(found.away[worst]).number(signed=True)
    return Statement(
        "serious",
        f"The mean of control `{found.column}` in arm `{worst}` of `{found.arms}` is {far} "
        f"from its overall mean ({away[worst]:.1f} standard errors): the control depends on the arm, or the arms "
        "were not assigned at random.",
        "Use a column whose value was known before the impression, such as the user's past click rate; or cluster "
        "by the unit that was randomised, such as the user.",
    )
