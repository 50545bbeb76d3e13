"""Evidence just below and just above each threshold of the findings on judged items."""

from __future__ import annotations

from typing import Any

from offrank.findings.row import JudgedEvidence, Row
from offrank.sums.estimate import Interval
from tests.findings.cases_log import Case
from tests.findings.rows import row


def decided(differs: int, less: float | None) -> Row:
    return row(judged=JudgedEvidence(share=0.3, differs=differs, less=less))


def audited(deviations: float, **known: Any) -> Row:
    """Rarely shown items that earn a tenth more or less per standard error."""
    found = 1 + deviations / 10
    return row(judged=JudgedEvidence(rare=Interval(found, found - 0.2, found + 0.2, 0.1), **known))


CASES = (
    Case("judged-items", row(), None),
    Case("judged-items", row(judged=JudgedEvidence(share=0.001)), None),
    Case("judged-items", row(judged=JudgedEvidence(share=0.00101, part=0.4)), "warning"),
    Case("judged-items", decided(1, 0.23), "warning"),
    Case("judged-items", decided(-1, -0.23), "warning"),
    Case("judged-items", decided(1, None), "warning"),
    Case("judged-items", decided(-1, None), "warning"),
    Case("grades-not-alike", audited(3.28), None),
    Case("grades-not-alike", audited(-3.28), None),
    Case("grades-not-alike", audited(3.3), "warning"),
    Case("grades-not-alike", audited(-3.3), "warning"),
    Case("grades-not-alike", audited(-3.3, differs=1, less=0.329), "serious"),
    Case("grades-not-alike", audited(-3.3, differs=1, less=0.331), "warning"),
    Case("grades-not-alike", audited(3.3, differs=1, less=0.329), "warning"),
    Case("grades-not-alike", audited(3.3, differs=-1, less=-0.329), "serious"),
    Case("grades-not-alike", row(judged=JudgedEvidence()), None),
    Case("ungraded-items", row(judged=JudgedEvidence(ungraded=0.001)), None),
    Case("ungraded-items", row(judged=JudgedEvidence(ungraded=0.00101)), "warning"),
    Case("ungraded-items", row(judged=JudgedEvidence(ungraded=0.2)), "warning"),
    Case("ungraded-items", row(judged=JudgedEvidence(ungraded=0.201)), "serious"),
    Case("ungraded-items", row(judged=JudgedEvidence(ungraded=0.21, alike=True)), "note"),
    Case("judgements", row(judged=JudgedEvidence(judged=5, several=3)), None),
    Case("judgements", row(judged=JudgedEvidence(judged=5, unseen=1)), "note"),
    Case("judgements", row(judged=JudgedEvidence(judged=5, elsewhere=1)), "note"),
    Case("judgements", row(judged=JudgedEvidence(judged=5, several=3, unlike=1)), "note"),
)
