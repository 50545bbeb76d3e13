"""What offrank answers with `own_parts`, as JSON; run as a process of its own, so that no other test has them.

Each of them does what a part of offrank does too, under another name: what is said of both must be the same.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import offrank
from offrank.errors import UsageError
from offrank.estimators import ESTIMATORS, EstimatorKind, Weighted, estimator
from offrank.findings import causes_of
from offrank.inference import IntervalSpec
from offrank.policies import policy
from offrank.sums import Mean, NamedColumns, Sample, Tee, ratio

TARGET, LOGGING = "top(new_score)", "plackett_luce(old_score, log=True)"
#: asked with own parts -> what answers the same
PAIRS = {
    "mine": "ipm",
    "snmine": "snipm",
    "snmine(normaliser=pooled)": "snipm(normaliser=pooled)",
    "controlled(mine)": "controlled(ipm)",
    "clip(mine, 2)": "clip(ipm, 2)",
    "clip(snmine, auto)": "clip(snipm, auto)",
    "switch(mine, 0.001)": "switch(ipm, 0.001)",
}
POLICIES = ("half(top(new_score))", "epsilon(top(new_score), 0.5)")


def answered(log: Any, target: str, *estimators: str) -> dict[str, Any]:
    """Everything that a result says, without times and the names of files."""
    found = offrank.evaluate(log, target, LOGGING, estimators).to_dict()
    return {key: value for key, value in found.items() if key not in {"created", "command", "versions", "log"}}


def interval_of(mean: Mean) -> dict[str, float | None]:
    """The interval of a mean of 400 rows, of which every fifth is clicked."""
    spec, columns = IntervalSpec(method="normal"), NamedColumns(("clicked", "rows"))
    fold, number = Tee(spec.folds(columns)), np.arange(400, dtype=np.uint64)
    rows = Sample.of(np.column_stack([number % 5 == 0, np.ones(400)]).astype(np.float64), number)
    return spec.inference(columns, fold.result(fold.add(None, rows))).interval(mean).to_dict()


def refused() -> str:
    """The refusal of an estimator whose assumption nobody has registered."""
    kind = EstimatorKind(assumes=frozenset(["users are kind"]))
    try:
        ESTIMATORS.register(type("Kind", (Weighted,), {"name": "kind", "kind": kind}))
    except UsageError as error:
        return error.message
    return ""


def main(path: str) -> dict[str, Any]:
    """Every answer that the tests look at."""
    from tests.outside.own_parts import odds

    log = offrank.read_log(path, format="own_format(separator='|')")
    made = {kind: offrank.evaluate(log, TARGET, LOGGING, "snipm", interval=kind) for kind in ("twice", "normal")}
    return {
        "spelled": [*(repr(estimator(name)) for name in PAIRS), repr(policy(POLICIES[0]))],
        "estimators": {
            name: [answered(log, TARGET, one, "snips") for one in (name, other)] for name, other in PAIRS.items()
        },
        "policies": [answered(log, target, "snips") for target in POLICIES],
        "assumes": [
            str(offrank.evaluate(log, "uniform", LOGGING, name).verdict) for name in ("top_item", "sntop_item")
        ],
        "refused": refused(),
        "laws": [offrank.estimate(log, name, LOGGING, "snips").to_dict() for name in ("alike", "uniform")],
        "means": [interval_of(one) for one in (ratio("clicked", "rows"), odds("clicked", "rows"))],
        "logged": {kind: one.facts["logged"] for kind, one in made.items()},
        "warnings": [one.code for one in made["normal"]["snipm"].warnings],
        "reasons": [one.code for one in made["normal"].verdict.reasons],
        "causes": sorted(causes_of("own-finding")),
    }


if __name__ == "__main__":
    importlib.import_module("tests.outside.own_parts")
    Path(sys.argv[2]).write_text(json.dumps(main(sys.argv[1])), encoding="utf-8")
