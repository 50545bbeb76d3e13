"""Errors of all estimators in all conditions, with their uncertainty, and the facts behind the claims."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from offrank.log.batch import Floats
from offrank.sums.estimate import Interval

from ..expectations import Facts
from ..resume import Found
from .design import (
    CONTROLLED,
    DIRECT,
    DR_LASSO,
    DR_TREE,
    ESTIMATORS,
    FLAT,
    IPS,
    LASSO,
    METRICS,
    PI,
    TREE,
    UNIFORM,
    WIPS,
    WPI,
    Condition,
    Logging,
    SlatesDesign,
    SlateStudy,
    Space,
)

COMPARED = (WPI, WIPS, LASSO, TREE)
"""The estimators that the paper's normalised errors compare."""

_PUBLISHED_LARGE = 600_000


@dataclass(frozen=True)
class SlateFindings:
    """Results of all studies of a design."""

    design: SlatesDesign
    studies: Mapping[SlateStudy, Found]

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """Return all conditions."""
        return tuple(self.design.conditions())

    @property
    def sizes(self) -> tuple[int, int]:
        """Return the smaller and the larger size of the normalised errors, 60k and 600k where there are so many."""
        grid = self.design.grid
        large = _PUBLISHED_LARGE if _PUBLISHED_LARGE in grid else grid[-1]
        least = 2 * self.design.models[0]
        return max((n for n in grid if least <= n <= large / 10), default=least), large

    def truth(self, condition: Condition) -> float:
        """Return the mean reward of the target over all queries."""
        found = self.studies[SlateStudy(condition.space, condition.logging, 0)]
        return float(found["truth"][condition.metric][condition.target])

    def estimates(self, condition: Condition, estimator: str) -> Floats:
        """Return the estimates [runs, sizes]; nan where there is none."""
        found = []
        for run in range(self.design.runs):
            one = self.studies[SlateStudy(condition.space, condition.logging, run)]
            found.append(one["estimates"][condition.metric][condition.target][estimator])
        return np.array(found, np.float64)

    def errors(self, condition: Condition, estimator: str) -> Floats:
        """Return estimates less the truth [runs, sizes]; wIPS is 0 without a match, as in the published code."""
        found = self.estimates(condition, estimator)
        return (np.nan_to_num(found) if estimator == WIPS else found) - self.truth(condition)

    def rmse(self, condition: Condition, estimator: str) -> list[Interval]:
        """Return the root mean squared error over the runs, at each size."""
        return [root_mean_square(column) for column in self.errors(condition, estimator).T]

    def at(self, condition: Condition, estimator: str, n: int) -> Interval:
        """Return the root mean squared error at a size."""
        return self.rmse_at[condition, estimator][self.design.grid.index(n)]

    @cached_property
    def rmse_at(self) -> dict[tuple[Condition, str], list[Interval]]:
        """Return the errors of all estimators in all conditions, at each size."""
        names = ESTIMATORS
        return {(one, name): self.rmse(one, name) for one in self.conditions for name in names}

    def normalised(self, condition: Condition, n: int) -> dict[str, float]:
        """Return the errors of the paper's estimators, the lowest as .001 and the largest as 1."""
        errors = {name: self.at(condition, name, n).value for name in COMPARED}
        low, high = min(errors.values()), max(errors.values())
        return {name: 0.001 + 0.999 * (value - low) / max(high - low, 1e-300) for name, value in errors.items()}

    def best(self, condition: Condition, n: int) -> str:
        """Return which of the paper's estimators has the smallest error."""
        return min(COMPARED, key=lambda name: self.at(condition, name, n).value)

    def bias(self, condition: Condition, estimator: str = WPI) -> Interval:
        """Return the mean error at the largest size, with its 95 % interval."""
        errors = self.errors(condition, estimator)[:, -1]
        error = float(errors.std(ddof=1)) / math.sqrt(len(errors))
        half = _quantile(len(errors)) * error
        return Interval(float(errors.mean()), float(errors.mean()) - half, float(errors.mean()) + half, error)


def root_mean_square(errors: Floats) -> Interval:
    """Return the root mean square of independent errors, with a 95 % interval by the jackknife of its logarithm.

    It is nan if an error is, and without an interval if all are equal in size.
    """
    squared, runs = errors**2, len(errors)
    value = math.sqrt(squared.mean())
    others = (squared.sum() - squared) / (runs - 1)
    if not (others > 0).all():
        return Interval(value, value if value == 0 else math.nan, value if value == 0 else math.nan, math.nan)
    logs = 0.5 * np.log(others)
    error = math.sqrt((runs - 1) / runs * float(((logs - logs.mean()) ** 2).sum()))
    factor = math.exp(_quantile(runs) * error)
    return Interval(value, value / factor, value * factor, value * error)


@cache
def _quantile(runs: int) -> float:
    """Return the half-width of a 95 % interval, in standard errors."""
    from scipy.stats import t  # scipy imports slowly

    return float(t.ppf(0.975, runs - 1))


def claims(findings: SlateFindings) -> Facts:
    """Return the facts behind the claims of section 4.1."""
    every, largest = findings.conditions, findings.design.grid[-1]

    def won(one: str, other: str, n: int = largest) -> list[Condition]:
        return [c for c in every if findings.at(c, one, n).value < findings.at(c, other, n).value]

    def surely(one: str, other: str) -> int:
        return sum(findings.at(c, one, largest).high < findings.at(c, other, largest).low for c in every)

    def differ(one: str, other: str) -> int:
        return sum(findings.at(c, one, largest).value != findings.at(c, other, largest).value for c in every)

    small, large = findings.sizes
    first = 2 * findings.design.models[0]
    beaten, lost = won(WPI, WIPS), [str(c) for c in every if c not in won(WPI, WIPS)]
    worst = {n: {e: max(findings.normalised(c, n)[e] for c in every) for e in COMPARED} for n in (small, large)}
    return {
        "conditions": len(every),
        "runs": findings.design.runs,
        "n": largest,
        "first": first,
        "small": small,
        "large": large,
        "wins over wIPS": len(beaten),
        "clear wins over wIPS": surely(WPI, WIPS),
        "losses to wIPS": lost,
        "wins of wPI over PI": len(won(WPI, PI)),
        "wins of wIPS over IPS": len(won(WIPS, IPS)),
        "conditions with a match": differ(WIPS, IPS),
        "half with a match": differ(WIPS, IPS) / 2,
        "nine tenths with a match": 0.9 * differ(WIPS, IPS),
        "last model": findings.design.models[-1],
        "best by wPI": sum(findings.best(c, largest) == WPI for c in every),
        "best by wPI of DM": sum(
            findings.at(c, WPI, largest).value < min(findings.at(c, e, largest).value for e in DIRECT) for c in every
        ),
        "best by DM, first": sum(findings.best(c, first) in DIRECT for c in every),
        "most": len(every) / 2,
        "all": len(every),
        "nine tenths": 0.9 * len(every),
        "quarter": len(every) / 4,
        **{
            f"worst of {e} at {name}": worst[n][e] for name, n in (("small", small), ("large", large)) for e in COMPARED
        },
        "least worst of others": min(worst[large][e] for e in COMPARED if e != WPI),
        "least worst of others at small": min(worst[small][e] for e in COMPARED if e != WPI),
        **_plateaus(findings),
        **_biases(findings),
        **_spaces(findings),
        **_logging(findings),
        "wins of controlled PI": len(won(CONTROLLED, WPI)),
        "wins of DR lasso": len(won(DR_LASSO, WPI)),
        "wins of DR tree": len(won(DR_TREE, WPI)),
        "DR over its DM": len(won(DR_LASSO, LASSO)) + len(won(DR_TREE, TREE)),
        "both": 2 * len(every),
    }


def _ratio(
    findings: SlateFindings, one: Condition, estimator: str, other: Condition | None = None, n: int = 0
) -> float:
    """Return the error at the largest size over that of another condition, or at another size."""
    last = findings.design.grid[-1]
    return findings.at(one, estimator, last).value / findings.at(other or one, estimator, n or last).value


def _mean_ratio(ratios: list[float]) -> float:
    """Return the geometric mean; nan for none."""
    return math.exp(float(np.mean(np.log(ratios)))) if ratios else math.nan


def _plateaus(findings: SlateFindings) -> Facts:
    """Compare the fall of the error with more logs, both for learning and afterwards, with 1 / sqrt(n)."""
    models, every = findings.design.models, findings.conditions
    early, late = 2 * models[0], 2 * models[-1]
    expected = math.sqrt(early / late)
    falls = [findings.at(c, e, late).value / findings.at(c, e, early).value for c in every for e in DIRECT]
    of_pi = [findings.at(c, WPI, late).value / findings.at(c, WPI, early).value for c in every]
    return {
        "early": early,
        "late": late,
        "unbiased fall": expected,
        "fall of DM": _mean_ratio(falls),
        "fall of wPI": _mean_ratio(of_pi),
        "plateaus of DM": sum(fall > (1 + expected) / 2 for fall in falls),
        "worse with more": sum(fall > 1 for fall in falls),
        "curves of DM": len(falls),
        "half the curves": len(falls) / 2,
    }


def _biases(findings: SlateFindings) -> Facts:
    found: dict[str, float] = {}
    for metric in METRICS:
        biases = {c: findings.bias(c) for c in findings.conditions if c.metric == metric}
        found[f"biased on {metric}"] = sum(not one.low <= 0 <= one.high for one in biases.values())
        share = [abs(one.value) / findings.truth(c) for c, one in biases.items()]
        found[f"mean bias on {metric}"] = float(np.mean(share))
        found[f"conditions of {metric}"] = len(biases)
        found[f"half of {metric}"] = len(biases) / 2
        found[f"largest bias on {metric}"] = max(share)
    return found


def _spaces(findings: SlateFindings) -> Facts:
    """Compare the two spaces: wPI in both, and what more logs do for wIPS in the larger."""
    if len(findings.design.spaces) != 2:
        return {}
    small, large = findings.design.spaces
    peaked = dict(zip((0.0, *small.alphas), (0.0, *large.alphas), strict=True))  # as peaked in words
    pairs = [
        (c, c._replace(space=large, logging=Logging(c.logging.ranker, peaked[c.logging.alpha])))
        for c in findings.conditions
        if c.space == small
    ]
    first, last = findings.design.grid[0], findings.design.grid[-1]
    wide = [other for _, other in pairs]
    return {
        "wPI, larger over smaller space": _mean_ratio([_ratio(findings, b, WPI, a) for a, b in pairs]),
        "relative error of wPI": max(findings.at(c, WPI, last).value / findings.truth(c) for c in wide),
        "fall of wIPS": _mean_ratio([_ratio(findings, c, WIPS, n=first) for c in wide]),
        "fall of wPI, larger space": _mean_ratio([_ratio(findings, c, WPI, n=first) for c in wide]),
        "expected fall": math.sqrt(first / last),
        "smallest": first,
    }


def _logging(findings: SlateFindings) -> Facts:
    """Compare uniform with peaked logging: the range of errors over the logging policies of a space."""
    found: dict[str, float] = {}
    for name in (WPI, LASSO, TREE):
        ranges, changes = [], []
        for c in findings.conditions:
            if c.logging == UNIFORM:
                alike = [d for d in findings.conditions if d._replace(logging=UNIFORM) == c]
                errors = [findings.at(d, name, findings.design.grid[-1]).value for d in alike]
                ranges.append(max(errors) / min(errors))
                changes += [findings.at(d, name, findings.design.grid[-1]).value / errors[0] for d in alike[1:]]
        found[f"range of {name}"] = _mean_ratio(ranges)
        found[f"peaked over uniform, {name}"] = _mean_ratio(changes)
    found["least range of DM"] = min(found[f"range of {LASSO}"], found[f"range of {TREE}"])
    return found


def by_both_ways(findings: SlateFindings, space: Space) -> list[tuple[str, list[float | None]]]:
    """Return rows on where the published code differs from the text, for a space: a name, and numbers.

    Truth and error of wPI by both discounts; runs without a match; the error of wIPS as 0 in such runs, and over the
    other runs only.
    """
    rows = []
    for c in findings.conditions:
        if c.space != space or c.metric != "NDCG":
            continue
        flat = c._replace(metric=FLAT)
        matched = findings.estimates(c, WIPS)[:, -1] - findings.truth(c)
        matched = matched[~np.isnan(matched)]
        numbers = [findings.truth(c), findings.truth(flat)]
        numbers += [findings.rmse(one, WPI)[-1].value for one in (c, flat)]
        numbers += [float(findings.design.runs - len(matched)), findings.rmse(c, WIPS)[-1].value]
        over = float(np.sqrt((matched**2).mean())) if len(matched) else None
        rows.append((f"{c.logging} to {c.target}", [*numbers, over]))
    return rows
