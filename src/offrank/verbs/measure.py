"""`measure`: which of several models agrees best with the users' clicks?"""

from __future__ import annotations

from dataclasses import dataclass

from ..argument import asks
from ..evaluation import reproducibility
from ..metrics.measured import Measurements
from ..metrics.measurements import measure_models
from ..metrics_arguments import MetricsQuestion
from ..report.document import Document
from ..report.printable import Printed
from . import metrics_page


@asks(MetricsQuestion)
def measure(question: MetricsQuestion) -> MetricsReport:
    """Compute any number of metrics of any number of models, in one pass over the log.

    Returns:
        The metrics by model, each with its interval, and their differences to the first model.

    Raises:
        UsageError: arguments that cannot work, or a logging policy that lacks what a metric requires.
        LogError: the log breaks a rule.
        NoOverlapError: no click can be compared with anything.

    Examples:
        >>> report = offrank.measure("offrank-demo/log.parquet", "new_score", "plackett_luce(old_score)")
        >>> round(report["new_score", "counterfactual_disagreement"].value, 2)
        0.35
    """
    found = measure_models(question)
    facts = {**found.facts, "versions": reproducibility.versions(), "created": reproducibility.now()}
    return MetricsReport(found.found, found.groups, facts)


@dataclass(frozen=True, repr=False)
class MetricsReport(Printed, Measurements):
    """Metrics by (model, metric), with ways to print and save them."""

    @property
    def estimates(self) -> Measurements:
        """Return the metrics, under the name that `evaluate` uses."""
        return self

    def to_document(self) -> Document:
        """Return the page of the report and the terminal."""
        return metrics_page.document(self)

    __repr__ = Printed.__str__
