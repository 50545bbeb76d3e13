"""Evidence about the order of a log and the arms of an experiment just below and just above each threshold."""

from __future__ import annotations

from typing import Any

from offrank.findings.arms import AlongEvidence, PlaceboEvidence, Ramp, SharedUnitsEvidence, Window
from offrank.sums.estimate import Interval
from tests.findings.cases_log import Case


def window(deviates: float, inside: float = 0.5, first: float = 0.5) -> Window:
    """The end of a log, whose rest has a mean, or a share, of 1."""
    return Window(first, 1.0, inside, 1.0, deviates)


def ramp(deviates: float, apart: float) -> Ramp:
    """An arm whose share moves, and how far the difference in all is from that of equal times."""
    known = Interval(0.0, -1.0, 1.0, 0.5), Interval(apart, -9.0, 9.0, 1.0)
    return Ramp("arm", "B", "A", window(deviates), known[0], known[0], known[1])


def ramped(*ramps: Ramp) -> AlongEvidence:
    """A log with these ramps, whose outcome is not looked at."""
    return AlongEvidence(ramps=ramps)


def weighed(deviates: float, inside: float = 0.5, outside: float = 1.0) -> AlongEvidence:
    """A log whose mean weights are these in a part and in the rest."""
    return AlongEvidence(weights=Window(0.5, 1.0, inside, outside, deviates))


#: The normal deviates of two tails of .0005, and of a third of that (any table).
SHOWN_ALIKE: dict[str, Any] = {"rows": (2_100.0, 2_080.0), "means": (0.31, 0.26)}
UNLIKE, UNLIKE_OF_3 = 3.4808, 3.7648

CASES = [
    Case("outcome-moves", AlongEvidence(), None),
    Case("outcome-moves", AlongEvidence(moved=window(3.99)), None),
    Case("outcome-moves", AlongEvidence(moved=window(4.01)), "warning"),
    Case("outcome-moves", AlongEvidence(moved=window(9.0, 0.901)), None),
    Case("outcome-moves", AlongEvidence(moved=window(9.0, 0.899)), "warning"),
    Case("outcome-moves", AlongEvidence(moved=window(9.0, 1.113)), "warning"),
    Case("outcome-moves", AlongEvidence(moved=window(9.0, 1.11)), None),
    Case("weights-move", AlongEvidence(moved=window(9.0)), None),
    Case("weights-move", weighed(3.99), None),
    Case("weights-move", weighed(4.01), "warning"),
    Case("weights-move", weighed(9.0, 0.901), None),
    Case("weights-move", weighed(9.0, 0.899), "warning"),
    Case("weights-move", weighed(9.0, 1.113), "warning"),
    Case("weights-move", weighed(9.0, 1.11), None),
    Case("weights-move", weighed(9.0, 0.45, 0.899), None),
    Case("weights-move", weighed(9.0, 0.45, 0.901), "warning"),
    Case("shares-moved", AlongEvidence(moved=window(9.0)), None),
    Case("shares-moved", ramped(ramp(3.99, 9.0)), None),
    Case("shares-moved", ramped(ramp(4.01, 9.0)), "serious"),
    Case("shares-moved", ramped(ramp(9.0, 2.99)), None),
    Case("shares-moved", ramped(ramp(9.0, 3.01)), "serious"),
    Case("shares-moved", ramped(ramp(9.0, -3.01)), "serious"),
    Case("shares-moved", ramped(ramp(9.0, 1.0), ramp(9.0, 5.0)), "serious"),
    Case("shares-moved", AlongEvidence(moved=window(4.01, 1.05), ramps=(ramp(9.0, 1.0),)), "warning"),
    Case("shares-moved", AlongEvidence(moved=window(3.99, 1.05), ramps=(ramp(9.0, 1.0),)), None),
    Case("shares-moved", AlongEvidence(moved=window(4.01, 1.05), ramps=(ramp(3.99, 1.0),)), None),
    Case("unlike-arms", PlaceboEvidence(deviates=UNLIKE - 0.005), None),
    Case("unlike-arms", PlaceboEvidence(deviates=UNLIKE + 0.005, **SHOWN_ALIKE), "warning"),
    Case("unlike-arms", PlaceboEvidence(deviates=UNLIKE + 0.005, first=True), "warning"),
    Case("unlike-arms", PlaceboEvidence(deviates=UNLIKE - 0.005, drawn=True), None),
    Case("unlike-arms", PlaceboEvidence(deviates=UNLIKE + 0.005, drawn=True), "warning"),
    Case("unlike-arms", PlaceboEvidence(deviates=UNLIKE_OF_3 - 0.005, pairs=3), None),
    Case("unlike-arms", PlaceboEvidence(deviates=UNLIKE_OF_3 + 0.005, pairs=3), "warning"),
    Case("shared-users", SharedUnitsEvidence(), None),
    Case("shared-users", SharedUnitsEvidence(shared=0.0099), "note"),
    Case("shared-users", SharedUnitsEvidence(shared=0.0101), "warning"),
    Case("shared-users", SharedUnitsEvidence(shared=0.249), "warning"),
    Case("shared-users", SharedUnitsEvidence(shared=0.251), "note"),
    Case("shared-users", SharedUnitsEvidence(shared=0.1, by_row=0.41), "warning"),
    Case("shared-users", SharedUnitsEvidence(shared=0.1, by_row=0.39), "note"),
]
