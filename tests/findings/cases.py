"""Evidence just below and just above each threshold of each finding, and what is said of it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

from offrank.findings.evidence import (
    Frequency,
    OfChoice,
    OfClusters,
    OfCmip,
    OfComparison,
    OfCounting,
    OfCurve,
    OfDisagreement,
    OfEstimate,
    OfEstimatorChoice,
    OfLog,
    OfModel,
    OfPoints,
    OfPropensities,
    OfRows,
    OfSkipped,
    OfSupport,
    OfTraining,
)
from offrank.findings.evidence_clicks import OfFit, OfHarvest, OfPrediction, OfSelection
from offrank.folds.estimate import Interval


class Case(NamedTuple):
    """What is said of some evidence: a severity, or nothing."""

    code: str
    evidence: Any
    severity: str | None


def weight(value: float, away: float = 0.0, **known: Any) -> OfEstimate:
    """A mean weight that is so many standard errors from 1; without a number, exactly known."""
    error = abs(value - 1) / away if away else 0.0
    return OfEstimate(mean_weight=Interval(value, value - error, value + error, error), **known)


def apart(deviations: float, **known: Any) -> OfDisagreement:
    difference = Interval(deviations, deviations - 2, deviations + 2, 1.0)
    return OfDisagreement(**{"other": "ips", "difference": difference, "width": 1.0, **known})


def between(low: float, high: float) -> Interval:
    return Interval((low + high) / 2, low, high, (high - low) / 4)


def judged(value: float, low: float, high: float, floor: tuple[float, float] = (-0.05, 0.05)) -> OfCmip:
    """A CMIP with its direction, where a right model has a CMIP of .01 to .03 and this direction."""
    return OfCmip(value=value, direction=between(low, high), floor=(between(0.01, 0.03), between(*floor)))


def uniform(value: float, away: float, **known: Any) -> OfLog:
    """A log in which the mean weight of uniform is so many standard errors from 1."""
    error = abs(value - 1) / away
    return OfLog(mean_weight=Interval(value, value - error, value + error, error), **known)


def unfit(chance: float, **known: Any) -> OfLog:
    """A log that fits its logging policy with so little chance."""
    return OfLog(fit=Frequency(1, 10.0, 50.0, chance, lift=2.0), **known)


def clustered(effective: float, **known: Any) -> OfClusters:
    return OfClusters(**{"column": "query", "clusters": 40, "effective": effective, "design_effect": 1.0, **known})


def harvest(**known: Any) -> OfHarvest:
    return OfHarvest(**{"linked": (True, True), "clicks": (90.0, 90.0), "high": (1.0, 0.7), **known})


APART = OfClusters(apart="query", values=4, missed=2.0)
#: The chi-square of 3 degrees of freedom that one log in a hundred exceeds is 11.345 (any table).
BY_CHANCE = 11.345 / 3
DIRECT = OfEstimate(kind="model")
LEARNT = OfModel(name="`lasso`", settings=("penalty=0.1",), rows=90, read=100, folds=5, explained=0.25)
PBM = OfEstimate(kind="items", normalised=False)
CLIPPED = OfEstimate(clipped="clip")

CASES = [
    Case("low-ess", OfEstimate(ess=100.0), None),
    Case("low-ess", OfEstimate(ess=99.9), "serious"),
    Case("small-ess-share", OfEstimate(ess=150.0, n=15_000), None),
    Case("small-ess-share", OfEstimate(ess=149.9, n=15_000), "note"),
    Case("small-ess-share", OfEstimate(ess=100.0, n=15_000), "note"),
    Case("small-ess-share", OfEstimate(ess=99.9, n=15_000), None),
    Case("large-weight", OfEstimate(max_weight_share=0.05), None),
    Case("large-weight", OfEstimate(max_weight_share=0.0501), "warning"),
    Case("large-weight", OfEstimate(max_weight_share=0.2), "warning"),
    Case("large-weight", OfEstimate(max_weight_share=0.2001), "serious"),
    Case("heavy-tail", OfEstimate(tail_index=None), None),
    Case("heavy-tail", OfEstimate(tail_index=0.5), None),
    Case("heavy-tail", OfEstimate(tail_index=0.501), "warning"),
    Case("heavy-tail", OfEstimate(tail_index=0.7), "warning"),
    Case("heavy-tail", OfEstimate(tail_index=0.701), "serious"),
    Case("heavy-tail", replace(CLIPPED, tail_index=0.9), None),
    Case("low-ess", OfEstimate(ess=200.0, luck=0.5), None),
    Case("low-ess", OfEstimate(ess=200.0, luck=0.499), "serious"),
    Case("small-ess-share", OfEstimate(ess=120.0, luck=100 / 120, n=15_000), "note"),
    Case("small-ess-share", OfEstimate(ess=120.0, luck=0.833, n=15_000), None),
    Case("few-rewards", OfEstimate(effective_rewards=60.0, luck=0.5), None),
    Case("few-rewards", OfEstimate(effective_rewards=60.0, luck=0.499), "warning"),
    Case("heavy-tail", OfEstimate(tail_index=0.9, hidden=0.0), None),
    Case("hidden-mass", OfEstimate(), None),
    Case("hidden-mass", OfEstimate(hidden=0.0999, visible=100.0), None),
    Case("hidden-mass", OfEstimate(hidden=0.1001, visible=100.0), "warning"),
    Case("hidden-mass", OfEstimate(hidden=0.06, unsupported=0.0399, visible=100.0), None),
    Case("hidden-mass", OfEstimate(hidden=0.06, unsupported=0.0401, visible=100.0), "warning"),
    Case("hidden-mass", OfEstimate(hidden=0.1, visible=1e4, effective_rewards=200.0, luck=0.499), None),
    Case("hidden-mass", OfEstimate(hidden=0.1, visible=1e4, effective_rewards=200.0, luck=0.501), "warning"),
    Case("hidden-mass", OfEstimate(hidden=0.2, visible=100.0), "warning"),
    Case("hidden-mass", OfEstimate(hidden=0.2001, visible=100.0), "serious"),
    Case("hidden-mass", OfEstimate(unsupported=0.2001, visible=100.0), "serious"),
    Case("hidden-mass", OfEstimate(hidden=0.2, visible=24.0), None),
    Case("hidden-mass", OfEstimate(hidden=0.2001, visible=24.0), "serious"),
    Case("hidden-mass", OfEstimate(hidden=1.0, visible=0.0, luck=0.0), "serious"),
    Case("mean-weight", OfEstimate(), None),
    Case("mean-weight", weight(1.1, 3.29), None),
    Case("mean-weight", weight(1.1, 3.31), "warning"),
    Case("mean-weight", weight(0.9, 3.31), "warning"),
    Case("mean-weight", weight(0.9, 3.29), None),
    Case("mean-weight", weight(1.1, 4.99), "warning"),
    Case("mean-weight", weight(1.1, 5.01), "serious"),
    Case("mean-weight", weight(1.00499, 9.0), None),
    Case("mean-weight", weight(1.00501, 9.0), "serious"),
    Case("mean-weight", weight(1 + 1e-9), None),
    Case("mean-weight", weight(19.9, 1.0), None),
    Case("mean-weight", weight(20.1, 1.0), "warning"),
    Case("mean-weight", weight(99.9, 1.0), "warning"),
    Case("mean-weight", weight(100.1, 1.0), "serious"),
    Case("mean-weight", weight(1.1, float("nan")), None),
    Case("mean-weight", weight(0.9, 9.0, clipped=True, control=0.9), None),
    Case("mean-weight", weight(1.1, 9.0, clipped=True, control=1.1), "serious"),
    Case("mean-weight", weight(1.1, 9.0, normalised=False), None),
    Case("mean-weight", weight(0.8, 6.0, hidden=0.089), "warning"),  # 3.33 standard errors below .911
    Case("mean-weight", weight(0.8, 6.0, hidden=0.091), None),  # 3.27 below .909
    Case("mean-weight", weight(1.2, 6.0, hidden=0.5), "serious"),
    Case("mean-weight", weight(0.8, 6.0, max_weight_share=0.06, tail_index=0.33), "warning"),  # may hide .0896
    Case("mean-weight", weight(0.8, 6.0, max_weight_share=0.06, tail_index=0.35), None),  # .0923
    Case("mean-weight", weight(0.8, 50.0, max_weight_share=0.001, tail_index=0.49), "serious"),
    Case("mean-weight", weight(0.8, 50.0, max_weight_share=0.001, tail_index=0.5), None),
    Case("mean-weight", weight(0.8, 50.0, hidden=0.0, max_weight_share=0.04, tail_index=0.5), "serious"),
    Case("mean-weight", weight(2.0, 9.0, sampling_factor=2.0), None),
    Case("mean-weight", uniform(1.1, 3.29), None),
    Case("mean-weight", uniform(1.1, 3.31), "warning"),
    Case("mean-weight", uniform(1.1, 4.99), "warning"),
    Case("mean-weight", uniform(1.1, 5.01), "serious"),
    Case("mean-weight", uniform(1.00499, 9.0), None),
    Case("mean-weight", uniform(1.00501, 9.0), "serious"),
    Case("mean-weight", uniform(2.0, 9.0, sampling_factor=2.0), None),
    Case("mean-weight", uniform(0.9, 9.0, rows=1_000, ess=99.9), None),
    Case("mean-weight", uniform(0.9, 9.0, rows=1_000, ess=100.1), "warning"),
    Case("mean-weight", uniform(0.9, 4.99, rows=1_000, ess=500.0), None),
    Case("mean-weight", uniform(0.9, 5.01, rows=1_000, ess=500.0), "warning"),
    Case("mean-weight", uniform(0.99501, 9.0, rows=1_000, ess=500.0), None),
    Case("mean-weight", uniform(0.99499, 9.0, rows=1_000, ess=500.0), "warning"),
    Case("mean-weight", uniform(1.1, float("nan")), None),
    Case("double-subsampling", uniform(2.0, 3.29, sampling_factor=2.0), None),
    Case("double-subsampling", uniform(2.0, 3.31, sampling_factor=2.0), "serious"),
    Case("double-subsampling", uniform(0.9, 9.0, sampling_factor=1.2), None),
    Case("miscalibrated", OfLog(), None),
    Case("miscalibrated", unfit(0.00101), None),
    Case("miscalibrated", unfit(0.00099), "serious"),
    Case("miscalibrated", unfit(0.000_000_99, copies=0.5), "serious"),
    Case("miscalibrated", unfit(0.000_001_01, copies=0.5), None),
    Case("propensity-mismatch", OfLog(compared=1_000), None),
    Case("propensity-mismatch", OfLog(compared=1_000, apart=1), "warning"),
    Case("propensity-mismatch", OfLog(compared=1_000, apart=10), "warning"),
    Case("propensity-mismatch", OfLog(compared=1_000, apart=11), "serious"),
    Case("propensity-mismatch", OfLog(compared=10_000, apart=101), "serious"),
    Case("propensity-mismatch", OfLog(compared=10_000, apart=99), "warning"),
    Case("propensity-mismatch", unfit(0.00099, compared=10, apart=10), None),
    Case("propensity-mismatch", unfit(0.00101, compared=10, apart=10), "serious"),
    Case("shown-only", OfLog(), None),
    Case("shown-only", OfLog(rows=10, shown_only=True), "note"),
    Case("double-subsampling", weight(2.0, 9.0, sampling_factor=2.0), "serious"),
    Case("double-subsampling", weight(2.0, 3.31, sampling_factor=2.0), "serious"),
    Case("double-subsampling", weight(2.0, 3.29, sampling_factor=2.0), None),
    Case("double-subsampling", weight(1.5, 9.0, sampling_factor=1.5), None),
    Case("double-subsampling", weight(1.5, 9.0, sampling_factor=1.501), "serious"),
    Case("double-subsampling", weight(2.59, 9.0, sampling_factor=2.0), "serious"),
    Case("double-subsampling", weight(2.61, 9.0, sampling_factor=2.0), None),
    Case("double-subsampling", weight(1.41, 9.0, sampling_factor=2.0), "serious"),
    Case("double-subsampling", weight(1.39, 9.0, sampling_factor=2.0), None),
    Case("double-subsampling", weight(19.9, 1.0, sampling_factor=20.0), None),
    Case("double-subsampling", weight(20.1, 1.0, sampling_factor=20.0), "serious"),
    Case("double-subsampling", weight(1.00499, 9.0, sampling_factor=1.0), None),
    Case("clipped", replace(CLIPPED, control=0.98), None),
    Case("clipped", replace(CLIPPED, control=0.979), "note"),
    Case("clipped", replace(CLIPPED, control=0.8), "note"),
    Case("clipped", replace(CLIPPED, control=0.799), "warning"),
    Case("clipped", OfEstimate(clipped="switch", control=0.5), "warning"),
    Case("clipped", OfEstimate(clipped="shrink", corrects=True, control=0.5), "warning"),
    Case("clipped", OfEstimate(control=0.5), None),
    Case("clipped", replace(CLIPPED, control=0.5, normalised=False), None),
    Case("unseen-items", replace(PBM, control=0.99), None),
    Case("unseen-items", replace(PBM, control=0.989), "serious"),
    Case("unseen-items", OfEstimate(control=0.5), None),
    Case("unseen-items", replace(DIRECT, control=0.5, normalised=False), None),
    Case("model-based", DIRECT, "warning"),
    Case("model-based", OfEstimate(), None),
    Case("model-based", replace(DIRECT, model=LEARNT), "warning"),
    Case("reward-model", OfEstimate(model=LEARNT), "note"),
    Case("reward-model", OfEstimate(model=OfModel(explained=0.1)), "note"),
    Case("reward-model", OfEstimate(model=OfModel()), None),
    Case("reward-model", OfEstimate(), None),
    Case("reward-model", replace(DIRECT, model=LEARNT), None),
    Case("unseen-documents", replace(DIRECT, control=0.99), None),
    Case("unseen-documents", replace(DIRECT, control=0.9899), "warning"),
    Case("unseen-documents", replace(DIRECT, control=0.8), "warning"),
    Case("unseen-documents", replace(DIRECT, control=0.799), "serious"),
    Case("unseen-documents", OfEstimate(control=0.5), None),
    Case("few-rewards", OfEstimate(effective_rewards=30.0), None),
    Case("few-rewards", OfEstimate(effective_rewards=29.9), "warning"),
    Case("few-rewards", OfEstimate(effective_rewards=1e-9), "warning"),
    Case("few-rewards", OfEstimate(effective_rewards=0.0), "serious"),
    Case("observed-range", OfEstimate(method="bernstein"), "note"),
    Case("observed-range", OfEstimate(method="bootstrap"), None),
    Case("ties", OfEstimate(ties=0.0), None),
    Case("ties", OfEstimate(ties=1e-6), "note"),
    Case("ties", OfEstimate(ties=0.0499), "note"),
    Case("ties", OfEstimate(ties=0.0501), "warning"),
    Case("clicks-not-reward", OfEstimate(other_outcome=True), "note"),
    Case("clicks-not-reward", OfEstimate(), None),
    Case("counted-propensities", OfEstimate(counted=True), "note"),
    Case("counted-propensities", OfEstimate(), None),
    Case("few-clusters", OfClusters(effective=1.0), None),
    Case("few-clusters", clustered(20.0), None),
    Case("few-clusters", clustered(20.0 - 1e-9), None),  # rounding
    Case("few-clusters", clustered(19.9), "warning"),
    Case("few-clusters", clustered(5.0), "warning"),
    Case("few-clusters", clustered(4.95), "serious"),
    Case("clustered", clustered(40, chosen=True, design_effect=1.5), None),
    Case("clustered", clustered(40, chosen=True, design_effect=1.51), "note"),
    Case("clustered", clustered(40, chosen=True, design_effect=None), None),
    Case("clustered", clustered(40, design_effect=9.0), None),
    Case("unclustered", OfClusters(), None),
    Case("unclustered", replace(APART, missed=BY_CHANCE - 0.005), "note"),
    Case("unclustered", replace(APART, missed=BY_CHANCE + 0.005), "warning"),
    Case("unclustered", replace(APART, values=1, missed=None), "note"),
    Case("unclustered", replace(APART, values=1, missed=None, group=True), None),
    Case("unclustered", replace(APART, column="user", design_effect=4.0, missed=3.99), None),
    Case("unclustered", replace(APART, column="user", design_effect=4.0, missed=4.01), "warning"),
    Case("unclustered", replace(APART, column="user", design_effect=1.0, missed=BY_CHANCE - 0.005), None),
    Case("same-log", OfTraining(share=0.0499), None),
    Case("same-log", OfTraining(share=0.05), "serious"),
    Case("odd-examination", OfCurve(), None),
    Case("odd-examination", OfCurve(curve=(1, 0.5, 0.599)), None),
    Case("odd-examination", OfCurve(curve=(1, 0.5, 0.601)), "warning"),
    Case("odd-examination", OfCurve(curve=(1, 1.1, 1.199)), None),
    Case("odd-examination", OfCurve(curve=(1, 1.1, 1.201)), "warning"),
    Case("odd-examination", OfCurve(curve=(0.5, 0.5, 0.999)), "warning"),
    Case("odd-examination", OfCurve(curve=(0.5, 0.5, 1.001)), "serious"),
    Case("odd-examination", OfCurve(curve=(1, 0.1, 0.9)), "warning"),
    Case("duplicate-rows", OfRows(), None),
    Case("duplicate-rows", OfRows(copies=0.01), "warning"),
    Case("few-rows-per-context", OfCounting(rows=50.0), None),
    Case("few-rows-per-context", OfCounting(rows=49.9), "warning"),
    Case("chosen", OfChoice(names=("a", "b"), trusted=0), "note"),
    Case("chosen", OfChoice(names=("a", "b"), trusted=None), "note"),
    Case("chosen", OfChoice(names=("a", "b"), chosen=1, trusted=1), "warning"),
    Case("chosen", OfChoice(names=("a", "b"), chosen=1, trusted=0, bias=0.1), "note"),
    Case("chosen", OfChoice(names=("a", "b"), chosen=1, trusted=1, bias=0.1), "warning"),
    Case("chosen", OfChoice(names=("a", "b"), chosen=0, trusted=None, bias=0.0), "warning"),
    Case("chosen-estimator", OfEstimatorChoice(chosen="ipm", among=3, trusted="ips"), "note"),
    Case("chosen-estimator", OfEstimatorChoice(chosen="ipm", among=3, trusted="rips", unchecked=True), "warning"),
    Case("chosen-estimator", OfEstimatorChoice(trusted=None), "warning"),
    Case("chosen-estimator", OfEstimatorChoice(trusted=None, choice_refuted=True), "serious"),
    Case("chosen-estimator", OfEstimatorChoice(trusted=None, error=None), "warning"),
    Case("disagreement", apart(3.290), None),
    Case("disagreement", apart(3.291), "serious"),
    Case("disagreement", apart(3.890, pairs=10), None),
    Case("disagreement", apart(3.891, pairs=10), "serious"),
    Case("disagreement", apart(2 * 3.290, luck=2.0), None),
    Case("disagreement", apart(9.0, width=9.0 / 0.25), None),
    Case("disagreement", apart(9.0, width=9.0 / 0.251), "serious"),
    Case("no-randomness", OfPropensities(largest=1.0), "serious"),
    Case("no-randomness", OfPropensities(largest=1.0 + 1e-6), None),
    Case("no-randomness", OfPropensities(largest=1.0, slots=1), None),
    Case("huge-inverse-propensity", OfPropensities(slots=2, largest=1_000.0, impressions=1_000.0), None),
    Case("huge-inverse-propensity", OfPropensities(slots=2, largest=1_001.0, impressions=1_000.0), "warning"),
    Case("support", OfSupport(shares=(0.0, 0.0)), None),
    Case("support", OfSupport(shares=(0.0, 1e-9)), "warning"),
    Case("support", OfSupport(shares=(0.01, 0.05)), "warning"),
    Case("support", OfSupport(shares=(0.01, 0.0501)), "serious"),
    Case("support", OfSupport(shares=(1.0,), asked=False), "warning"),
    Case("skipped", OfSkipped(rule="null", count=1), "warning"),
    Case("skipped", OfSkipped(), None),
    Case("few-comparisons", OfComparison(ess=100.0), None),
    Case("few-comparisons", OfComparison(ess=99.9), "serious"),
    Case("mostly-rejected", OfComparison(rejected=0.95), None),
    Case("mostly-rejected", OfComparison(rejected=0.951), "warning"),
    Case("mostly-rejected", OfComparison(rejected=0.99, pairwise=True), None),
    Case("position-bias", OfComparison(pairwise=True, shuffled=False), "note"),
    Case("position-bias", OfComparison(pairwise=True, shuffled=True), None),
    Case("position-bias", OfComparison(pairwise=False, shuffled=False), None),
    Case("counted-propensities", OfComparison(counted=True), "note"),
    Case("counted-propensities", OfComparison(counted=True, pairwise=True), None),
    Case("counted-propensities", OfComparison(), None),
    Case("no-information", OfCmip(constant=True), "serious"),
    Case("no-information", OfCmip(), None),
    Case("few-documents", OfCmip(n=999, least=1_000), "warning"),
    Case("few-documents", OfCmip(n=1_000, least=1_000), None),
    Case("small-grade", OfCmip(left_out=((1.0, 3),)), "note"),
    Case("small-grade", OfCmip(), None),
    Case("one-grade", OfCmip(grades=1), "warning"),
    Case("one-grade", OfCmip(grades=2), None),
    Case("few-exchanges", OfCmip(permutations=40, permutable=0.499), "warning"),
    Case("few-exchanges", OfCmip(permutations=40, permutable=0.5), None),
    Case("few-exchanges", OfCmip(permutations=0, permutable=0.1), None),
    Case("negative", OfCmip(value=-1e-6), "note"),
    Case("negative", OfCmip(value=0.0), None),
    Case("biased-method", OfCmip(method="paper"), "warning"),
    Case("biased-method", OfCmip(method="classifier"), "note"),
    Case("biased-method", OfCmip(method="binned"), None),
    Case("biased-method", OfCmip(method="paper", constant=True), None),
    Case("unpaired-grade", OfCmip(unpaired=1), "note"),
    Case("unpaired-grade", OfCmip(unpaired=0), None),
    # CMIP above .03, and a direction on one side of 0 and of the floor's -.05 to .05: both, or nothing is said.
    Case("carries-policy", judged(0.031, 0.06, 0.10), "warning"),
    Case("carries-policy", judged(0.030, 0.06, 0.10), None),
    Case("carries-policy", judged(0.031, 0.05, 0.10), None),
    Case("carries-policy", judged(0.031, -0.10, -0.06), "warning"),
    Case("carries-policy", judged(0.031, -0.10, -0.05), None),
    Case("carries-policy", judged(0.031, -0.02, 0.10, floor=(-0.20, -0.10)), None),
    Case("carries-policy", judged(0.031, -0.10, 0.02, floor=(0.10, 0.20)), None),
    Case("carries-policy", OfCmip(value=1.0, direction=between(0.5, 0.6)), None),
    Case("point-estimates", OfPoints(points=True), "warning"),
    Case("point-estimates", OfPoints(), None),
    Case("unlinked-ranks", harvest(linked=(True, False)), "serious"),
    Case("unlinked-ranks", harvest(), None),
    Case("open-intervals", harvest(high=(1.0, math.inf)), "warning"),
    Case("open-intervals", harvest(), None),
    Case("open-intervals", harvest(linked=(True, False), high=(1.0, math.inf)), None),
    Case("few-pairs", harvest(clicks=(30.0, 29.9)), "warning"),
    Case("few-pairs", harvest(clicks=(30.0, 30.0)), None),
    Case("few-pairs", harvest(linked=(True, False), clicks=(30.0, 0.0)), None),
    Case("no-clicks", OfFit(clicked=False), "serious"),
    Case("no-clicks", OfFit(), None),
    Case("examination-unknown", OfFit(hidden=0.01), "warning"),
    Case("examination-unknown", OfFit(hidden=0.0099), None),
    Case("examination-unknown", OfFit(error=0.3), None),
    Case("examination-unknown", OfFit(error=0.301), "warning"),
    Case("examination-unknown", OfFit(restlessness=0.02), None),
    Case("examination-unknown", OfFit(restlessness=0.0199), "warning"),
    Case("worth-follows-rank", OfFit(steeper=0.2), None),
    Case("worth-follows-rank", OfFit(steeper=0.201), "warning"),
    Case("impossible-clicks", OfFit(beyond=0.0), None),
    Case("impossible-clicks", OfFit(beyond=0.05), "warning"),
    Case("impossible-clicks", OfFit(beyond=0.0501), "serious"),
    Case("impossible-clicks", OfPrediction(sessions=9, impossible=0), None),
    Case("impossible-clicks", OfPrediction(sessions=9, impossible=1), "serious"),
    Case("unseen-documents", OfPrediction(unseen=0.0), None),
    Case("unseen-documents", OfPrediction(unseen=0.2), "note"),
    Case("unseen-documents", OfPrediction(unseen=0.201), "warning"),
    Case("unseen-documents", OfPrediction(unseen=0.5), "warning"),
    Case("unseen-documents", OfPrediction(unseen=0.501), "serious"),
    Case("unseen-ranks", OfPrediction(learnt=3, slots=3), None),
    Case("unseen-ranks", OfPrediction(learnt=3, slots=4), "warning"),
    Case("unseen-ranks", OfPrediction(learnt=0, slots=4), None),
    Case("counted-ranks", OfSelection(counted=True), "note"),
    Case("counted-ranks", OfSelection(), None),
]
