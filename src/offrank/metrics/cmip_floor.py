"""What a click model that is right would show on a log like this one: the floor of CMIP and of its direction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..clicks import draws
from ..clicks.base import FitResult, Role, prior_name, regression_name
from ..clicks.fit.em import expit, logit
from ..clicks.fitted import Fitted
from ..log.batch import Floats, Integers

_BINS = 10
"""Most bins of the policy's relevance within which documents are taken to have one prior, where it depends on rank."""
_PER_BIN = 50
"""Documents per bin."""
_COMMON = 3
"""Most numbers of a regression that gives all documents one prior."""
_MOST = 1e8
"""No document counts as more often seen."""


def imagined(
    model: Fitted, code: Integers, logging: Floats, grade: Floats, worlds: int, drawn: bool, rng: np.random.Generator
) -> Floats:
    """[d, worlds] relevance of the documents [d] by a model of this kind, were it right, and grades all there is.

    In such a world all documents of a grade have one probability, the model's estimate from all of their clicks. A
    document is seen as often as in the log, by its effective sample size: clicks are drawn, the posterior mean follows
    from them and a prior as strong as the model's, and what all documents have in common (`FitResult.loadings`) errs
    for all together. Last, if `drawn`, comes a draw from that posterior. Nothing is fitted again: a world costs a draw.

    Where the documents of a grade differ, but not as the policy does, noise matters less than here, and the floor of a
    right model is lower.
    """
    roles = model.model.roles()
    of_documents = [name for name in model.learnt.strength if roles[name].by_document]  # with a posterior
    tables = {name: _Table.of(model, name, code, logging, grade) for name in of_documents}
    ranks = {loading.shape[-1] for loading in model.learnt.loadings.values()}
    found = np.empty((len(code), worlds))
    for world in range(worlds):
        z, learnt = rng.standard_normal(max(ranks, default=0)), model.learnt
        each = {name: table.estimated(z, rng) for name, table in tables.items()}
        here = FitResult(
            {**learnt.parameters, **{name: value for name, (value, _) in each.items()}},
            {**learnt.strength, **{name: strength for name, (_, strength) in each.items()}},
            loadings={**learnt.loadings, **{name: table.loading for name, table in tables.items()}},
        )
        found[:, world] = model.model.relevance(
            draws.draw_tables(here, rng) if drawn else here.parameters, np.arange(len(code))
        )
    return found


@dataclass(frozen=True)
class _Table:
    """One table at the judged documents: mean and strength of their prior, trials and rate of their grade [d, ...].

    loading: [d, ..., r] of what they have in common.
    """

    mean: Floats
    prior: Floats
    trials: Floats
    rate: Floats
    loading: Floats

    @classmethod
    def of(cls, model: Fitted, name: str, code: Integers, logging: Floats, grade: Floats) -> _Table:
        learnt, ranks = model.learnt, _bins(logging) if _depends_on_rank(model, name) else None
        value, strength = learnt.parameters[name][code], np.minimum(learnt.strength[name][code], _MOST)
        if ranks is None:
            mean, prior = _common(learnt.parameters.get(prior_name(name)), value)
        else:
            mean, prior = _by_rank(ranks, value, strength)
        trials = np.maximum(strength - prior, 0.0)
        clicks, rate = np.clip(value * strength - mean * prior, 0.0, trials), np.empty_like(value)
        for own in (grade == one for one in np.unique(grade)):
            rate[own] = (clicks[own].sum(axis=0) + mean[own].mean(axis=0)) / (trials[own].sum(axis=0) + 1)
        if ranks is not None:
            mean = _average(ranks, rate)  # what a regression on the rank finds in such a world
        loading = learnt.loadings[name][code] if name in learnt.loadings else np.zeros((*value.shape, 0))
        return cls(mean, prior, trials, rate, loading)

    def estimated(self, z: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """(posterior mean, effective sample size) after new clicks on all documents, at the rate of their grade."""
        trials = np.floor(self.trials + rng.random(self.trials.shape))
        strength = trials + self.prior
        won = rng.binomial(trials.astype(np.int64), self.rate) + self.mean * self.prior
        value = np.clip(won / np.maximum(strength, 1e-9), 1e-9, 1 - 1e-9)
        return np.asarray(expit(logit(value) + self.loading @ z[: self.loading.shape[-1]])), strength


def _common(table: Floats | None, value: Floats) -> tuple[Floats, Floats]:
    """(mean, strength) of the prior that all documents have, both like `value`, from the table that keeps it."""
    if table is None:
        return np.full(value.shape, 0.5), np.zeros(value.shape)
    a, b = np.moveaxis(table, -1, 0)
    return np.broadcast_to(a / (a + b), value.shape), np.broadcast_to(a + b, value.shape)


def _by_rank(ranks: Integers, value: Floats, strength: Floats) -> tuple[Floats, Floats]:
    """(mean, strength) of a prior that depends on the rank, both like `value` [d, ...], by its moments in each bin.

    They are those of the posteriors there: the mean is theirs on average, the variance their mean variance and the
    variance of their means. So nothing need be known of how the model writes its prior.
    """
    mean = _average(ranks, value)
    variance = _average(ranks, value * (1 - value) / (strength + 1) + value**2) - mean**2
    return mean, np.clip(mean * (1 - mean) / np.maximum(variance, 1e-300) - 1, 1e-3, _MOST)


def _bins(logging: Floats) -> Integers:
    """[d] the bin of each document, of about equal counts, by the policy's relevance."""
    count = int(np.clip(len(logging) // _PER_BIN, 1, _BINS))
    return np.searchsorted(np.quantile(logging, np.arange(1, count) / count), logging, side="right")


def _average(bins: Integers, values: Floats) -> Floats:
    """[d, ...] the mean of each bin, at its documents."""
    sums, counts = np.zeros((int(bins.max()) + 1, *values.shape[1:])), np.bincount(bins)
    np.add.at(sums, bins, values)
    return np.asarray(sums[bins] / counts[bins].reshape(-1, *[1] * (values.ndim - 1)))


def _depends_on_rank(model: Fitted, name: str) -> bool:
    """Whether documents have priors of their own: by a regression with more than a level, a strength and its slope."""
    tables, roles = model.learnt.parameters, model.model.roles()
    regressions = [one for one in (regression_name(name), prior_name(name)) if roles.get(one) is Role.REGRESSION]
    return any(tables[one].size > _COMMON for one in regressions)
