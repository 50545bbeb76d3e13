"""Evidence of estimates whose weights are those of a click model, and what is said of it."""

from __future__ import annotations

from dataclasses import replace

from offrank.findings.row import ModelEvidence
from tests.findings.cases_log import Case
from tests.findings.rows import row

CURVE = row(weighs="items", normalised=False)
WEIGHTS = row(CURVE, model=ModelEvidence(name="`dbn`", posterior=True))

CASES = [
    Case("model-weights", CURVE, None),
    Case("model-weights", WEIGHTS, "warning"),
    Case("model-weights", row(WEIGHTS, model=ModelEvidence()), "warning"),
    Case("model-weights", row(WEIGHTS, predicts=True), None),
    Case("model-weights", row(WEIGHTS, weighs="model"), None),
    Case("unseen-items", replace(WEIGHTS, control=0.99), None),
    Case("unseen-items", replace(WEIGHTS, control=0.989), "serious"),
]
