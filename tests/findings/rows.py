"""Rows of results as tables of cases write them: only what a finding is to read is said."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from offrank.findings.row import NO_NUMBER, Row

NOTHING = Row(estimate=replace(NO_NUMBER, ess=math.inf, max_weight_share=0.0))
OF_ESTIMATE = {name: name for name in ("n", "ess", "max_weight_share", "tail_index")}
OF_ESTIMATE |= {"mean_weight": "mean_weight_interval"}


def row(other: Row = NOTHING, **known: Any) -> Row:
    """A row of which this is known, and else what is known of another one; the rest leads to no finding."""
    numbers = {OF_ESTIMATE[name]: known.pop(name) for name in OF_ESTIMATE.keys() & known}
    return replace(other, estimate=replace(other.estimate, **numbers), **known)
