"""Means: smooth functions of sums, whose influence on each row follows from the function alone."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from ..log.batch import Floats

Name = Hashable
Products = tuple[tuple[Name, Name], ...]
"""Pairs of columns whose products are summed too: second moments, for what is refitted in each replicate."""


class Readable(Protocol):
    """What has sums by name."""

    def __getitem__(self, name: Name, /) -> Any:
        """The sums [...] of a column, or [..., b] of one in blocks."""


Function = Callable[[Readable], Any]


@dataclass(frozen=True, eq=False)
class Mean:
    """A smooth function of named sums that stays the same if all of them are multiplied by one number.

    The influence of a row is found by a complex step of the function: it has to be smooth on complex numbers too, so
    without `abs`, `maximum` or `where` on what it computes.

    - of: the function, of sums [...] by name, and [..., b] of columns in blocks. reads: the columns it reads.
    - shares: the columns that say how much a cluster weighs in it.
    - lacks: whether it is a mean per impression, which lacks what a log cannot show of a target.
    - parts, by: the means that it is a function `by` of; none of one that reads sums itself.
    - drawn: the same by each draw from the posterior of the model that it relies on.
    - refitted: the same function of sums and of sums of products, if what is fitted in it is fitted to these.
    - least: where no outcome is below 0, neither is it below this.
    """

    of: Function
    reads: tuple[Name, ...]
    shares: tuple[Name, ...]
    lacks: bool = False
    parts: tuple[Mean, ...] = ()
    by: Callable[..., Any] | None = None
    drawn: tuple[Mean, ...] = ()
    refitted: Function | None = None
    least: float = 0.0

    def __sub__(self, other: Mean) -> Mean:
        return mean_of_means(operator.sub, self, other, least=-np.inf)


def ratio(numerator: Name, denominator: Name, drawn: Sequence[Name] = ()) -> Mean:
    """A sum over another one. drawn: columns in the place of the numerator, by draws from the posterior of a model."""
    more = tuple(ratio(one, denominator) for one in drawn)
    reads = numerator, denominator
    return Mean(lambda s: s[numerator] / s[denominator], reads, (denominator,), lacks=True, drawn=more)


def relative(one: Mean, base: Mean) -> Mean:
    """one / base - 1 on the same rows."""
    found = mean_of_means(lambda left, right: left / right - 1, one, base, least=-1.0)
    return replace(found, shares=one.shares, refitted=None)


def adjusted(mean: Mean, control: Mean, slope: float) -> Mean:
    """A mean less `slope` times the excess of a control (CUPED): what chance alone gave it is taken away.

    The slope counts as fixed, and the mean keeps its expectation for any slope.
    """
    return replace(mean_of_means(lambda one, more: one - slope * more, mean, control), shares=mean.shares)


def combined(parts: Sequence[tuple[Mean, float]]) -> Mean:
    """A sum of means, each times its coefficient; coefficients count as fixed."""
    reads = tuple(dict.fromkeys(name for mean, _ in parts for name in mean.reads))
    return Mean(lambda s: sum(share * mean.of(s) for mean, share in parts), reads, parts[0][0].shares)


def mean_by_block(value: Name, weight: Name, number: Name, rows: Name) -> Mean:
    """Sum over blocks of slots of (sum of value / sum of weight) x (sum of number / sum of `rows`).

    number counts the slots of a row that are in a block, so the second factor is the share of impressions with such a
    slot. A slot whose weights are all zero adds nothing.
    """

    def of(s: Readable) -> Any:
        weights = s[weight]
        each = np.divide(s[value] * s[number], weights, out=np.zeros_like(weights), where=weights.real > 0)
        return each.sum(axis=-1) / s[rows]

    return Mean(of, (value, weight, number, rows), (rows,))


def excess(weighed: Name, weight: Name, control: Name, denominator: Name, rows: Name) -> Mean:
    """How far the weighted mean of a control is from its plain mean: 0 but for chance, as weights have expectation 1.

    weighed: the control times the weight. The control counts from its plain mean, so that no constant in it has a say.
    """

    def of(s: Readable) -> Any:
        return (s[weighed] - s[control] / s[rows] * s[weight]) / s[denominator]

    return Mean(of, (weighed, weight, control, denominator, rows), (denominator,))


def with_control(value: Name, weight: Name, rows: Name, slope: float) -> Mean:
    """A mean with a control variate: less `slope` times the excess of the mean weight over 1.

    The slope counts as fixed. Slope 0 gives the plain mean; a slope equal to the mean gives, to first order, the ratio
    to the weight.
    """
    vw, ww, vc, wc, cc = controlled_products(value, weight, rows)

    def of(s: Readable, by: Floats | float = slope) -> Any:
        return s[value] / s[rows] - by * (s[weight] / s[rows] - 1)

    def refitted(s: Readable) -> Any:
        v, w = s[value] / s[rows], s[weight] / s[rows]
        covariance = s[vw] - v * s[wc] - w * s[vc] + v * w * s[cc]
        by = covariance / (s[ww] - 2 * w * s[wc] + w**2 * s[cc])
        return of(s, np.where(np.isfinite(by), by, 0.0))

    return Mean(of, (value, weight, rows), (rows,), refitted=refitted)


def controlled_products(value: Name, weight: Name, rows: Name) -> Products:
    """The pairs of columns by whose products the slope of least variance is fitted anew."""
    return (value, weight), (weight, weight), (value, rows), (weight, rows), (rows, rows)


def paired_draws(*means: Mean) -> list[tuple[Mean, ...]]:
    """Each mean by the first draw from the posterior of the model that it relies on, by the second, and so on.

    A mean without a model stays as it is; empty where none has one.
    """
    some = range(min((len(mean.drawn) for mean in means if mean.drawn), default=0))
    return [tuple(mean.drawn[at] if mean.drawn else mean for mean in means) for at in some]


def mean_of_means(by: Callable[..., Any], *means: Mean, least: float = 0.0) -> Mean:
    """The mean that is a function of others."""
    reads = tuple(dict.fromkeys(name for mean in means for name in mean.reads))
    shares = tuple(dict.fromkeys(name for mean in means for name in mean.shares))
    fits, draws = any(mean.refitted for mean in means), any(mean.drawn for mean in means)
    return Mean(
        lambda s: by(*(mean.of(s) for mean in means)),
        reads,
        shares,
        parts=means,
        by=by,
        drawn=tuple(mean_of_means(by, *each, least=least) for each in paired_draws(*means)) if draws else (),
        refitted=(lambda s: by(*((mean.refitted or mean.of)(s) for mean in means))) if fits else None,
        least=least,
    )
