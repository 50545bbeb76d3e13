"""Ranking metrics of a log, which show how well each model agrees with the clicks of users."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..checks.rows import DaysFold, Impressions, ImpressionsFold, dependence
from ..errors import NoOverlapError
from ..findings import cautions_for
from ..findings.measure import ComparisonEvidence
from ..inference.clusters_and_level import AUTO, IntervalSpec
from ..inference.mean_intervals import Inference
from ..log.source import Source
from ..policies.base import Policy
from ..policies.fit import counts, fitted
from ..policies.registry import policy as named_policy
from ..readers.log import opened, period_of, time_column
from ..running.executors import Executor, Progress
from ..running.quantities import Quantities, Quantity
from ..sums.mean import Mean, ratio
from . import comparisons
from .comparisons import Comparison
from .fold import ComparisonsFold
from .measured import Found, Measured, Measurements, refuse_no_measurement

Models = str | Sequence[str]


def measurements(
    log: Any,
    score: Models,
    logging: str | Policy = "logged",
    metrics: Any = ("counterfactual_disagreement",),
    *,
    spec: IntervalSpec | None = None,
    by: str | None = None,
    columns: Mapping[str, str] | None = None,
    format: Any = None,  # noqa: A002  as in `read_log`
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Measurements:
    """Every metric of every model, in one pass over the log. spec: of the intervals; others as `offrank.measure`."""
    source = opened(log, columns, format)
    fold = ComparisonsFold(
        comparisons.metrics(metrics),
        (score,) if isinstance(score, str) else tuple(dict.fromkeys(score)),
        fitted(named_policy(logging), source, executor),
        (spec or IntervalSpec(cluster=AUTO)).with_clusters_of(source),
        by,
    )
    asked = Quantities(source)
    asked.add(Quantity("comparisons", fold), Quantity("impressions", ImpressionsFold()))
    if (known := period_of(source)) is None and (time := time_column(source)) is not None:
        asked.add(Quantity("days", DaysFold(time)))
    found = asked.reduce(executor, progress)
    impressions: Impressions = found["impressions"]
    impressions.refuse_none(source.describe())
    made = Comparisons(fold, found["comparisons"]).measurements(source, impressions)
    days = known or found.get("days")
    return refuse_no_measurement(replace(made, facts={**made.facts, "period": days}) if days else made)


def pairwise_disagreement(log: Any, model: Models, **options: Any) -> Measurements:
    """How often the model scores another shown item above the clicked one; for shuffled traffic.

    0 for a perfect model, 1/2 for a random one, ties count 1/2. options: as `offrank.measure`, and `several`.
    """
    return _one("pairwise_disagreement", log, model, options)


def counterfactual_disagreement(
    log: Any, model: Models, logging: str | Policy = "logged", **options: Any
) -> Measurements:
    """How often the model prefers to the clicked item another one that would have been at its rank.

    With clicked item p at rank k, P the law of the order given the shown items and f the model's score:
    sum over clicks of sum_{q != p} P(q at k) 1{f(q) > f(p)} / sum over clicks of (1 - P(p at k)), ties 1/2;
    the expectation of Algorithm 2 of paper non-shuffled-traffic. options: as `offrank.measure`, and `several`, `draws`.
    """
    return _one("counterfactual_disagreement", log, model, {"logging": logging, **options})


def banner_disagreement(log: Any, model: Models, logging: str | Policy = "logged", **options: Any) -> Measurements:
    """As `counterfactual_disagreement`, with the items drawn again too; section 5.1 of the paper."""
    return _one("banner_disagreement", log, model, {"logging": logging, **options})


def counterfactual_loss(log: Any, model: Models, logging: str | Policy = "logged", **options: Any) -> Measurements:
    """As `counterfactual_disagreement`, with log(1 + exp(f(q) - f(p))) in the place of 1{f(q) > f(p)}.

    options: also `form="hinge"` for max(0, 1 + f(q) - f(p)).
    """
    return _one("counterfactual_loss", log, model, {"logging": logging, **options})


def counterfactual_ndcg(log: Any, model: Models, logging: str | Policy = "logged", **options: Any) -> Measurements:
    """nDCG of the model's order of the shown items, corrected for the ranks where they were shown.

    With g = 1 / log2(1 + rank by the model) and l shown items, each click is worth
    mean(g) + (1 - 1/l) E[g(p) - g(q)], q as in `counterfactual_disagreement`. On shuffled slates of one
    size this is nDCG; a random model gets mean(g) everywhere.
    """
    return _one("counterfactual_ndcg", log, model, {"logging": logging, **options})


@dataclass(frozen=True)
class Comparisons:
    """The reduced log, from which metrics are computed."""

    fold: ComparisonsFold
    reduced: Mapping[str, Any]

    def measurements(self, source: Source, impressions: Impressions) -> Measurements:
        """Every metric of every model, for the whole log and for each group."""
        fold, whole = self.fold, self._inference(self.reduced["whole"])
        facts = {
            "schema": 1,
            "kind": "metrics",
            "title": f"Ranking metrics on {source.describe()}",
            "log": {"source": source.describe(), "impressions": impressions.n, "skipped": dict(impressions.skipped)},
            "logging": repr(fold.logging),
            "confidence": fold.spec.confidence,
            "interval": fold.spec.method,
            "cluster": ", ".join(self._clusters(whole)) or None,
            "by": fold.by,
        }
        groups = {
            name: self._of(self._inference(one), group=True) for name, one in self.reduced.get("groups", {}).items()
        }
        return Measurements(self._of(whole), groups, facts)

    def _clusters(self, spread: Inference) -> list[str]:
        """The columns by which rows are clustered, which may differ between metrics."""
        pairs = itertools.product(self.fold.metrics, self.fold.models)
        used = [spread.widest(self._cost(metric, model)).clusters for metric, model in pairs]
        return list(dict.fromkeys(one.column for one in used if one is not None))

    def _of(self, spread: Inference, *, group: bool = False) -> Found:
        return {
            (model, repr(metric)): self._measured(metric, model, spread, group)
            for model in self.fold.models
            for metric in self.fold.metrics
        }

    def _inference(self, reduced: Any) -> Inference:
        return self.fold.spec.inference(self.fold.columns, reduced)

    def _cost(self, metric: Comparison, model: str) -> Mean:
        return ratio(("cost", metric, model), ("weight", metric))

    def _measured(self, metric: Comparison, model: str, spread: Inference, group: bool) -> Measured | NoOverlapError:
        n, weight = spread.sums.n, ("weight", metric)
        clicks, compared = float(spread.sums.total["clicks"]), float(spread.sums.total[weight])
        if not n:
            return NoOverlapError(
                "no impression has a click", "these metrics compare clicked items: use a log with clicks"
            )
        if not compared > 1e-9 * clicks:
            return _nothing_compared(metric, self.fold.logging, n)
        cost, first = self._cost(metric, model), self.fold.models[0]
        value, squares = spread.interval(cost), float(spread.sums.squares[weight])
        rejected = max(1 - compared / clicks, 0.0)
        ess = compared**2 / squares if squares else 0.0  # too small to be squared
        evidence = ComparisonEvidence(
            ess=ess,
            rejected=rejected,
            pairwise=metric.against == "pairwise",
            shuffled=self.fold.logging.shuffles,
            counted=counts(self.fold.logging),
        )
        return Measured(
            value.value,
            value.low,
            value.high,
            value.standard_error,
            n,
            clicks,
            rejected,
            ess,
            spread.difference(cost, self._cost(metric, first)) if model != first else None,
            cautions_for(evidence, dependence(spread, cost, weight, group=group)),
        )


def _one(name: str, log: Any, model: Models, options: dict[str, Any]) -> Measurements:
    given = dict(options)
    own: dict[str, Any] = {key: given.pop(key) for key in ("several", "draws", "form") if key in given}
    if own.get("draws"):
        own["seed"] = given.get("seed", 0)
    levels = {key: given.pop(key) for key in ("cluster", "confidence", "replicates", "seed") if key in given}
    spec = IntervalSpec(given.pop("interval", "studentised"), **{"cluster": AUTO, **levels})
    return measurements(log, model, metrics=comparisons.METRICS[name](**own), spec=spec, **given)


def _nothing_compared(metric: Comparison, logging: Policy, n: int) -> NoOverlapError:
    return NoOverlapError(
        f"{metric!r}: according to {logging!r}, no other item could have been at the rank of the click in any of "
        f"{n:,} clicked impressions",
        "the logging policy was deterministic, or slates have one slot or several clicks (several=each counts those)",
    )
