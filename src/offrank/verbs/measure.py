"""`measure`: which of several models agrees best with the users' clicks?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

from ..evaluation import reproducibility
from ..evaluation.arguments import Intervals
from ..metrics.comparisons import Metrics
from ..metrics.measured import Measurements
from ..metrics.measurements import Models, measurements
from ..policies.propensities import AnyPolicy
from ..report.document import Document
from ..report.printable import Printed
from . import metrics_page


def measure(
    log: Any,
    score: Models,
    logging: str | AnyPolicy = "logged",
    metrics: Metrics = ("counterfactual_disagreement",),
    **options: Unpack[Intervals],
) -> MetricsReport:
    """Compute any number of metrics of any number of models, in one pass over the log.

    - log: from `read_log`, or anything that it takes.
    - score: the score column of a model, or several; differences are to the first.
    - logging: the policy that drew the log. Metrics use its law of the order of the shown items given the set of
      these (`counterfactual_...`) or its probability of each candidate at each rank (`banner_...`).
    - metrics: spellings such as `"pairwise_disagreement"`, `"counterfactual_loss(form=hinge)"`,
      `"counterfactual_disagreement(several=unclicked)"`; see `offrank.metrics.Comparison`.
    - options: `confidence`, `interval`, `cluster`, `by`, `replicates`, `seed`, `executor` and `progress`, as in
      `evaluate`.

    Raises:
        UsageError: arguments that cannot work, or a logging policy that lacks what a metric requires.
        LogError: the log breaks a rule.
        NoOverlapError: no click can be compared with anything.

    Examples:
        >>> report = offrank.measure("offrank-demo/log.parquet", "new_score", "plackett_luce(old_score)")
        >>> round(report["new_score", "counterfactual_disagreement"].value, 2)
        0.35
    """
    found = measurements(log, score, logging, metrics, **options)
    facts = {**found.facts, "versions": reproducibility.versions(), "created": reproducibility.now()}
    return MetricsReport(found.found, found.groups, facts)


@dataclass(frozen=True, repr=False)
class MetricsReport(Printed, Measurements):
    """Metrics by (model, metric), with ways to print and save them."""

    @property
    def estimates(self) -> Measurements:
        """Return the metrics, under the name that `evaluate` uses."""
        return self

    def sheet(self) -> Document:
        """Return the page of the report and the terminal."""
        return metrics_page.sheet(self)

    __repr__ = Printed.__str__
