"""The posterior of a click model's tables: intervals of single entries, and draws of all of them together."""

from __future__ import annotations

import numpy as np

from ..language.argument import interval_level
from ..log.batch import Floats
from .base import FitResult, Parameters
from .fit.em import expit, logit


def credible_interval(learnt: FitResult, table: str, confidence: float) -> tuple[Floats, Floats]:
    """(low, high) of the credible interval of each entry of a table that has strength or loadings.

    On the logit scale each end is as far away as the root of the squared distances of the Beta of its strength and of
    the normal of its loadings, which `draw_tables` adds. An entry of 1 counts as `strength` observations without
    exception: its interval ends at 1.
    """
    from scipy.special import betaincinv, ndtri  # scipy is slow to import, and few ask

    value, strength, tail = learnt.parameters[table], own_strength(learnt, table), (1 - interval_level(confidence)) / 2
    known = (value > 0) & (value < 1) & np.isfinite(strength)  # 0 by convention is certain
    a, b = (np.where(known, share, 1.0) * np.where(known, strength, 1.0) for share in (value, 1 - value))
    low, high = (np.where(known, betaincinv(a, b, at), value) for at in (tail, 1 - tail))
    if table in learnt.loadings:
        shared, here = -ndtri(tail) * np.sqrt((learnt.loadings[table] ** 2).sum(axis=-1)), logit(value)
        below, above = np.maximum(here - logit(low), 0.0), np.maximum(logit(high) - here, 0.0)
        moved = (value > 0) & (value < 1) & (shared > 0)
        low = np.where(moved, np.minimum(low, expit(here - np.hypot(below, shared))), low)
        high = np.where(moved, np.maximum(high, expit(here + np.hypot(above, shared))), high)
    return np.where(value == 1, tail ** (1 / strength), low), high


def probability(learnt: FitResult, table: str, low: Floats, high: Floats) -> Floats:
    """The posterior probability of each document's entry to be from low to high, [d] each; see `credible_interval`."""
    from scipy.special import betainc

    value, strength = learnt.parameters[table][:-1], total_strength(learnt, table)[:-1]
    open_ = (value > 0) & (value < 1) & np.isfinite(strength)
    a, b = (np.where(open_, share, 1.0) * np.where(open_, strength, 1.0) for share in (value, 1 - value))

    def below(at: Floats) -> Floats:
        at = np.clip(at, 0.0, 1.0)
        of_one = np.where(np.isfinite(strength), at ** np.where(np.isfinite(strength), strength, 1.0), at >= 1)
        sure = np.where(value == 1, of_one, (at > value).astype(np.float64))
        return np.where(open_, betainc(a, b, at), sure)

    top = np.where(high > 1, 1.0, below(high))  # a cut above 1 ends no grade
    return np.asarray(top - np.where(low <= 0, 0.0, below(low)))


def own_strength(learnt: FitResult, table: str) -> Floats:
    """The effective sample size of each entry given what all have in common; infinite where there is none."""
    return np.maximum(learnt.strength.get(table, np.full(learnt.parameters[table].shape, np.inf)), 1e-9)


def total_strength(learnt: FitResult, table: str) -> Floats:
    """The effective sample size of each entry with what all have in common: that of a Beta of equal variance.

    The variance of a Beta(v s, (1 - v) s) is v (1 - v) / (s + 1); loadings add (v (1 - v))^2 |loadings|^2 to it.
    """
    value = learnt.parameters[table]
    strength = own_strength(learnt, table)
    if table not in learnt.loadings:
        return strength
    shared = value * (1 - value) * (learnt.loadings[table] ** 2).sum(axis=-1)
    variance = 1 / (strength + 1) + shared  # in units of v (1 - v)
    return np.where(shared > 0, np.maximum(1 / np.maximum(variance, 1e-300) - 1, 1e-3), strength)


def draw_tables(learnt: FitResult, rng: np.random.Generator) -> Parameters:
    """All tables, drawn once from their joint posterior."""
    ranks = {loading.shape[-1] for loading in learnt.loadings.values()}
    z = rng.standard_normal(max(ranks, default=0))
    found = dict(learnt.parameters)
    for name in sorted(set(learnt.strength) | set(learnt.loadings)):
        value = found[name]
        open_ = (value > 0) & (value < 1)
        if name in learnt.loadings:
            loading = learnt.loadings[name]
            value = np.where(open_, expit(logit(value) + loading @ z[: loading.shape[-1]]), value)
        if name in learnt.strength:
            strength = np.maximum(learnt.strength[name], 1e-9)
            # An entry of 1 has seen `strength` observations without exception.
            b = np.where(value < 1, (1 - value) * strength, 1.0)
            value = np.where(value > 0, rng.beta(np.maximum(value * strength, 1e-9), np.maximum(b, 1e-9)), 0.0)
        found[name] = value
    return found
