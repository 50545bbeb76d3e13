"""Table 2: what choosing a click model by nine strategies costs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...log.batch import Floats
from ...selection.regret import average_regrets
from ...selection.strategies import STRATEGIES
from .design import POLICIES
from .findings import Findings, Measure

PER = 1000.0
"""Regrets are shown times 1000, as in the paper."""


def table_2(findings: Findings, measure: Measure) -> Mapping[str, Floats]:
    """Strategy -> [users, logging policies, runs] regret times 1000.

    Mean over the subsets of the models that lack at most two (29 of 7 models) and over the test policies.
    """
    design = findings.design
    shape = len(design.users), len(design.logging), design.runs
    found = {by: np.empty(shape) for by in STRATEGIES}
    for i, user in enumerate(design.users):
        for j, logging in enumerate(design.logging):
            metrics = findings.metrics(user, logging, measure)
            outcomes = [
                findings.perplexity(user, logging, test, measure.conditional) for test in POLICIES if test != logging
            ]
            for by in STRATEGIES:
                each = [average_regrets(metrics, one, by, _sizes(findings), design.preset) for one in outcomes]
                found[by][i, j] = PER * np.mean(each, axis=0)
    return found


def _sizes(findings: Findings) -> range:
    models = len(findings.design.names)
    return range(max(models - 2, 1), models + 1)


def of_runs(regret: Floats) -> Floats:
    """[runs] the mean over users and logging policies."""
    return np.asarray(regret.mean(axis=(0, 1)))
