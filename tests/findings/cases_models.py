"""Evidence of estimates whose weights are those of a click model, and what is said of it."""

from __future__ import annotations

from dataclasses import replace

from offrank.findings.measure import RunsEvidence
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
    Case("few-changed-queries", RunsEvidence(changed=10), None),
    Case("few-changed-queries", RunsEvidence(changed=9.9), "warning"),
    Case("few-changed-queries", RunsEvidence(changed=1), "warning"),
    Case("few-changed-queries", RunsEvidence(changed=0), None),
    Case("unjudged-items", RunsEvidence(), None),
    Case("unjudged-items", RunsEvidence(unjudged=(0, 0.001), decided=True, bounds=(0.01, 0.2)), "note"),
    Case("unjudged-items", RunsEvidence(unjudged=(0.12, 0.31), decided=True, bounds=(-0.01, 0.2)), "warning"),
    Case("unjudged-items", RunsEvidence(unjudged=(0.001, 0), decided=True, bounds=(-0.2, -0.01)), "note"),
    Case("unjudged-items", RunsEvidence(unjudged=(0.001, 0), bounds=(-0.01, 0.2)), "note"),
    Case("tied-scores", RunsEvidence(), None),
    Case("tied-scores", RunsEvidence(tied=1), "note"),
    Case("unmatched-queries", RunsEvidence(), None),
    Case("unmatched-queries", RunsEvidence(ungraded=1), "note"),
    Case("unmatched-queries", RunsEvidence(absent=1), "note"),
    Case("missing-queries", RunsEvidence(), None),
    Case("missing-queries", RunsEvidence(zeros=1), "warning"),
    Case("partial-graders", RunsEvidence(graders=20, shared=0.8), None),
    Case("partial-graders", RunsEvidence(graders=20.1), "note"),
    Case("partial-graders", RunsEvidence(graders=3, shared=0.799), "note"),
]
