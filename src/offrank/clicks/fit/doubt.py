"""The doubt that all documents share: of what is learnt from all of them together, and what it does to each.

Estimates solve equations F(theta) = 0, where F is a sum over queries, and documents follow theta. A bootstrap of
queries moves theta, to first order, by a covariance A^-1 V A^-T: A is the derivative of F, documents following, and V
the variance of F between random groups of queries (the sandwich of Huber 1967, by clusters as Liang and Zeger 1986).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ...log.batch import Floats
from ..parameters import Parameters
from .em import logit

KEPT = 3
"""Number of directions that are kept for documents; the doubt of others counts as each document's own."""
_WIDEST = 4.0
"""Largest standard deviation of a direction of theta, in logits: then nothing is known of it."""
_FEWEST = 8
"""Groups of queries below which their differences say too little."""
_FARTHEST = 1.5
"""Largest loading of a document, in logits: beyond, a normal distribution of the logit is wrong."""

Equations = Callable[[Floats], tuple[Floats, Parameters]]
"""A step of theta [m] from the estimate -> (F there [m], the tables of documents there, which follow)."""


def shared(equations: Equations, by_group: Floats, steps: Floats, between: Floats) -> tuple[Floats, dict[str, Floats]]:
    """(half [m, m] with half half' the covariance of theta, table of documents -> [d + 1, m] its logits' loadings).

    by_group: [groups, m] F of each random group of queries at the estimate, which sums to about 0. steps: [m] sizes of
    the steps for derivatives. between: [m] a standard deviation of the first entries of theta that comes in addition,
    which the others (0 here) follow.
    """
    m, groups = len(steps), len(by_group)
    rest, here = equations(np.zeros(m))
    derivative, follows = np.empty((m, m)), {name: np.empty((len(table), m)) for name, table in here.items()}
    for place, step in enumerate(steps):
        moved, there = equations(step * np.eye(m)[place])
        derivative[:, place] = (moved - rest) / step
        for name, table in there.items():
            follows[name][:, place] = (logit(table) - logit(here[name])) / step
    spread = by_group - by_group.mean(axis=0)
    push = np.where(between != 0, derivative @ between, 0.0)
    inverse = np.linalg.pinv(derivative)
    variance = spread.T @ spread * groups / (groups - 1)
    if (by_group != 0).any(axis=1).sum() < _FEWEST:
        # Too few queries tell how they differ: the information takes the place of the variance (Fisher's equality).
        values, axes = np.linalg.eigh(-(derivative + derivative.T) / 2)
        variance = (axes * np.maximum(values, 0.0)) @ axes.T
    covariance = inverse @ (variance + np.outer(push, push)) @ inverse.T
    values, axes = np.linalg.eigh((covariance + covariance.T) / 2)
    half = axes * np.sqrt(np.clip(values, 0.0, _WIDEST**2))
    return half, {name: loading @ half for name, loading in follows.items()}


def leading(loadings: Mapping[str, Floats]) -> Floats:
    """[m, m] turns z so that the first of them move the documents most."""
    gram = sum(table.T @ table / max(float((table**2).sum()), 1e-300) for table in loadings.values())
    return np.asarray(np.linalg.eigh(gram)[1][:, ::-1])


def reduced(loadings: Mapping[str, Floats], tables: Parameters, strength: Parameters) -> tuple[Parameters, Parameters]:
    """(strength, loadings) with the leading directions alone; others make each entry's own strength smaller.

    The variance of a Beta of strength s and value v is v (1 - v) / (s + 1); a variance on the logit scale counts
    (v (1 - v))^2 times.
    """
    axes = leading(loadings)
    own, kept = dict(strength), {}
    for name, table in loadings.items():
        turned = table @ axes
        size = np.sqrt((turned**2).sum(axis=1, keepdims=True))
        turned *= np.minimum(1.0, _FARTHEST / np.maximum(size, 1e-300))
        spread = tables[name] * (1 - tables[name])
        variance = 1 / (own[name] + 1) + spread * (turned[:, KEPT:] ** 2).sum(axis=1)
        kept[name], own[name] = turned[:, :KEPT], np.maximum(1 / variance - 1, 1e-3)
    return own, kept
