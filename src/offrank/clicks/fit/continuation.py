"""How far users read, learnt with weak priors of documents, each session judged by documents learnt from the others.

A click that implies a second trial (`ccm`, `dbn`) tells of its document and of the continuation at once. A document
that has learnt from a session explains it too well: documents of one click come out as wholly relevant if the user
stopped, and wholly irrelevant if not, which leaves nothing to the continuation. So the expected counts of a session are
those under documents without the counts that it has itself added to them: the collapsed EM of Asuncion et al. (2009,
"CVB0"), whose estimate is close to that with all documents integrated out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...log.batch import Floats
from ..base import Parameters
from . import _kernels
from .chain_em import CONTINUATION, EM, FEW_LAPS, LOOSE, TIGHT, CascadeSpec, Designs, Regressions, flat
from .compressed_sessions import HiddenCounts, SessionTails
from .design import PriorDesign
from .em import expit, logit
from .priors import UNIFORM, Beta, beta_binomial

ClickCounts = Mapping[str, tuple[Floats, Floats]]
"""Table -> expected (successes, trials)."""

FIRST = 4
"""Fits of the means of these priors."""
_LAPS = 3
"""Rounds in which what a session has added to its documents, and its expected counts, are made consistent."""
_STEP = 0.1
"""Size of the steps for derivatives, in logits."""
_LONGEST = 1.0
_STEPS = 10
_LEAST = 0.02
"""Smallest share of the complete information that counts as known of a direction."""


def continuation_trials(
    em: EM, here: Parameters, tails: SessionTails | None = None, known: ClickCounts | None = None
) -> tuple[Floats, Floats]:
    """[few] expected (successes, trials) of the continuation, each session judged by documents of the others.

    tails: those to count, by default all that the documents were learnt from. known: `em.counts(here)`, if known.
    Models whose clicks imply no second trial have the plain expected counts.
    """
    if em.model.second(here) is None:
        return (em if tails is None else replace(em, tails=tails)).continued(here)
    betas, found = em.betas({}), []
    for rows, part in (tails or em.tails).parts():
        at = em.some(here, rows)
        counts = known or em.model.counts(at, part.expect(at["attraction"], *em.model.going_on(at)))
        found.append(_held_out(em.model, at, part, counts, {name: beta.of(rows) for name, beta in betas.items()}))
    won, tried = np.sum(found, axis=0)
    return won, tried


def _held_out(
    model: CascadeSpec, here: Parameters, tails: SessionTails, known: ClickCounts, betas: Mapping[str, Beta]
) -> tuple[Floats, Floats]:
    """`continuation_trials` of some documents, with their priors, of a model whose clicks imply second trials."""
    second = model.second(here)
    assert second is not None
    (won, tried), (seconds, second_trials) = known["attraction"], known[second.table]
    prior, other = betas["attraction"], betas[second.table]
    # One entry per document, for its clicks that others follow, and one per tail.
    documents, cell = len(won), tails.cell
    entry, clicked = np.append(np.arange(documents), np.maximum(cell, 0)), np.append(tails.on > 0, cell >= 0)
    successes, trials = (seconds + other.a)[entry], (second_trials + other.strength)[entry]
    own = np.minimum(np.append(tails.on, tails.weight), 1.0)
    table, went = here[second.table][entry], np.ones(len(entry))
    beliefs, entered = np.zeros(len(tails.document)), np.empty(len(tails.weight))
    places = (tails.first, tails.document, tails.weight, won + prior.a, tried + prior.strength)
    passed = left = 0.0
    for _ in range(_LAPS):
        at = {**here, second.table: table}
        after_click, after_skip = model.going_on(at)
        entering = np.where(clicked, after_click, -1.0)[documents:]
        passed, left = _kernels.hold_out_tails(*places, entering, after_skip, tails.ranks, beliefs, entered)
        went[documents:] = entered
        judged = model.second(at)
        assert judged is not None
        added = own * (went * judged.went + (1 - went) * judged.stopped)
        rest = np.maximum(trials - own, 1e-6)
        table = np.clip((successes - added) / rest, 1e-6, 1 - 1e-6)
    weight = np.append(tails.on, tails.weight) * clicked
    hidden = HiddenCounts(0.0, won, tried, weight * went, weight * (1 - went), tails.passed + passed, left)
    found = model.continued({**here, second.table: table}, hidden)
    assert found is not None
    return found


def continuation_slopes(em: EM, here: Parameters) -> Floats:
    """[few] derivatives of the log-posterior with respect to the logits of the continuation."""
    won, tried = continuation_trials(em, here)
    return np.asarray(won + UNIFORM.a - here[CONTINUATION] * (tried + UNIFORM.strength))


def solved(em: EM, here: Parameters, tolerance: float, jacobian: Floats | None = None) -> tuple[Parameters, Floats]:
    """(the tables at which the slopes are 0, documents following; [few, few] the slopes' derivatives by logits, there).

    By Broyden's method from `here`. jacobian: the derivatives to begin with, by default by differences.
    """

    def followed(logits: Floats, near: Parameters) -> tuple[Parameters, Floats]:
        at = {**near, CONTINUATION: expit(logits)}
        there = em.climbed(at, {}, min(tolerance, TIGHT), FEW_LAPS, still=True).parameters
        return there, continuation_slopes(em, there)

    at = logit(here[CONTINUATION])
    here, slope = followed(at, here)
    if jacobian is None:
        moves = _STEP * np.eye(len(at))
        jacobian = np.stack([(followed(at + move, here)[1] - slope) / _STEP for move in moves], axis=1)
    for _ in range(_STEPS):
        step = _uphill(em, here, jacobian, slope)
        here, after = followed(at + step, here)
        jacobian = jacobian + np.outer(after - slope - jacobian @ step, step) / max(float(step @ step), 1e-300)
        moved, at, slope = np.abs(expit(at + step) - expit(at)).max(), at + step, after
        if moved < tolerance:
            break
    return here, jacobian


def _uphill(em: EM, here: Parameters, jacobian: Floats, slope: Floats) -> Floats:
    """[few] Newton's step in logits; where little is known of a direction, a shorter one."""
    value, (_, tried) = here[CONTINUATION], em.continued(here)
    scale = np.sqrt((tried + UNIFORM.strength) * value * (1 - value))
    values, axes = np.linalg.eigh(-(jacobian + jacobian.T) / 2 / np.outer(scale, scale))
    step = axes @ ((axes.T @ (slope / scale)) / np.maximum(values, _LEAST)) / scale
    return np.asarray(step * min(1.0, _LONGEST / max(float(np.abs(step).max()), 1e-300)))


@dataclass(frozen=True)
class ContinuationFit:
    """The learning of the continuation with weak priors around the means of `priors`: em, and the tables it found.

    jacobian: the derivatives of the slopes there, where it was learnt by `solved`.
    """

    em: EM
    here: Parameters
    priors: Regressions
    designs: Designs
    jacobian: Floats | None = None

    @classmethod
    def of(cls, whole: EM, here: Parameters, priors: Regressions) -> ContinuationFit:
        """The continuation, learnt with a weak prior of each document around the mean of those at its logged ranks.

        A prior of its true strength would mistake what ranks say of documents for examination wherever it is not quite
        right; a weak one with another mean has a larger bias. First, the means are fitted to documents by themselves.
        """
        whole.say(f"{whole.model.name}: how far users read")
        held_out = whole.model.second(here) is not None
        if not priors:
            found, jacobian = solved(whole, here, TIGHT) if held_out else (whole.climbed(here, {}).parameters, None)
            return cls(whole, found, priors, whole.priors, jacobian)
        begun = here[CONTINUATION]
        here = whole.climbed(here, {}, TIGHT).parameters
        _, priors = whole.fit_jointly(here, priors, FIRST, still=True)
        em = whole.weakly(priors)
        if not held_out:
            return cls(em, em.climbed(here, {}).parameters, priors, whole.priors)
        # From where it began: documents that know their sessions may have driven it to an edge.
        found, jacobian = solved(em, {**here, CONTINUATION: begun}, TIGHT)
        return cls(em, found, priors, whole.priors, jacobian)

    def of_all(self, whole: EM, here: Parameters) -> Parameters:
        """The tables of all sessions, where this was learnt from some of them."""
        em, here = whole.weakly(self.priors), {**here, CONTINUATION: self.here[CONTINUATION]}
        if self.jacobian is None:
            return em.climbed(here, {}).parameters
        # One step of Newton's method: what is left of the error is of the order of its square.
        here = em.climbed(here, {}, LOOSE, FEW_LAPS, still=True).parameters
        jacobian = self.jacobian * (whole.tails.sessions / self.em.tails.sessions)
        step = _uphill(em, here, jacobian, continuation_slopes(em, here))
        return {**here, CONTINUATION: expit(logit(here[CONTINUATION]) + step)}

    @cached_property
    def common(self) -> Floats:
        """[few] the continuation under a prior that all documents share, learnt together from here."""
        one = PriorDesign.common(len(self.here["attraction"]) - 1)
        names = self.em.model.tables
        em = EM(self.em.model, self.em.tails, dict.fromkeys(names, one), _silent)
        here, priors = em.fit_jointly(self.here, {name: flat(one) for name in names}, FIRST)
        if self.jacobian is None:
            return np.asarray(em.climbed(here, priors, TIGHT).parameters[CONTINUATION])
        fixed = EM(em.model, em.tails, em.betas(priors), _silent)
        return np.asarray(solved(fixed, here, TIGHT, self.jacobian)[0][CONTINUATION])

    @property
    def ranks_tell(self) -> bool:
        """Whether the mean of a document's prior of attraction depends on its ranks: a Wald test at 1 %.

        Where it does not, documents may share one prior: what is learnt under it has less error.
        """
        from scipy.special import chdtri  # slow to import; scipy.stats is slower

        design = self.designs["attraction"]
        if not isinstance(design, PriorDesign) or design.curve < 2:
            return True
        prior = self.priors["attraction"]
        won, tried = (one[:-1] for one in self.em.counts(self.here)["attraction"])
        _, by_a, by_b = beta_binomial(tried, won, *prior.betas(design).of_seen(len(won)))
        covariance = prior.covariance(design, prior.scores(design, by_a, by_b), len(won))
        apart = np.diff(np.eye(design.curve, len(prior.table)), axis=0)
        steps = apart @ prior.table
        return bool(steps @ np.linalg.pinv(apart @ covariance @ apart.T) @ steps > chdtri(len(steps), 0.01))


def _silent(what: str) -> None:
    """Report nothing."""
