"""`control-moved`: a control that differs between the arms of an experiment by more than chance."""

from .evidence_rows import ControlEvidence
from .registry import Statement, finding
from .sample_ratio import MISMATCHED


@finding("control-moved", "The control by arm", cause=("rows", "arms"))
def control_moved(found: ControlEvidence) -> Statement | None:
    """A column that was known before the impression differs between arms by chance alone: this one follows the arm."""
    away = {arm: one.deviation(0.0) for arm, one in found.away.items()}
    worst = max(away, key=lambda arm: away[arm], default=None)
    if worst is None or not away[worst] > MISMATCHED:
        return None
    return Statement(
        "serious",
        f"The control `{found.column}` is {found.away[worst].value:+.4g} from its mean in `{worst}` of `{found.arms}`, "
        f"{away[worst]:.1f} standard errors: it is an outcome of the experiment, or the arms do not differ by chance "
        "alone.",
        "Give a column that was known before the impression, such as the user's past rate; or name the unit that "
        "chance assigned to the arms as the cluster.",
    )
