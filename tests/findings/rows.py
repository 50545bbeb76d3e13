"""Rows of results as tables of cases write them: only what a finding is to read is said."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from offrank.findings.row import NO_NUMBER, Bound, EstimatorKind, Row

NOTHING = Row(kind=EstimatorKind(logging="log_prob"), estimate=replace(NO_NUMBER, ess=math.inf, max_weight_share=0.0))
OF_ESTIMATE = {name: name for name in ("n", "ess", "max_weight_share", "tail_index")}
OF_ESTIMATE |= {"mean_weight": "mean_weight_interval"}


OF_KIND = ("weighs", "model", "predicts", "assumes", "logging", "normalisation")


def with_kind(other: Row, known: dict[str, Any]) -> Row:
    """The row with what is known of its estimator's kind, taken out of `known`. bounds, parameter: of its bound."""
    kind: dict[str, Any] = {name: known.pop(name) for name in OF_KIND if name in known}
    if (done := known.pop("bounds", None)) is not None:
        kind["bound"] = Bound(done, known.pop("parameter", "maximum"), None, None)
    return replace(other, kind=replace(other.kind, **kind), **known)


def row(other: Row = NOTHING, **known: Any) -> Row:
    """A row of which this is known, and else what is known of another one; the rest leads to no finding."""
    numbers = {OF_ESTIMATE[name]: known.pop(name) for name in OF_ESTIMATE.keys() & known}
    return with_kind(replace(other, estimate=replace(other.estimate, **numbers)), known)
