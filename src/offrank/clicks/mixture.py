"""Mixtures: each session follows one of several click models, and which one is not observed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..errors import UsageError
from ..findings import cautions_for
from ..findings.clicks import FitEvidence
from ..language import Say, silent
from ..language.formatting import nine_digits
from ..language.spelling import spell
from ..log.batch import Floats, Integers
from .base import CERTAIN, FitResult, Parameters, Role, Roles, prior_name
from .documents import SlateDocuments
from .fit.mixture_em import LEAST_SHARE, SharesFit, fit_shares, weights
from .laws import ClickLaw, Mixed, log_probs
from .leave_one_out import LeaveOneOutCounts, session_blocks
from .model import ClickModel, SessionModel
from .sessions import Sessions

_TOLERANCE = 1e-4
_ROUNDS, _PROFILE = 15, 30
"""The most rounds of a division, and of one for the standard error of a weight."""
_SWEEPS, _MORE = 2, 6
"""The most divisions of the sessions from each beginning, under the priors that the one before led to; from the best
end."""
_NEAR, _STILL, _NOISE, _APART = 5e-3, 1e-3, 0.1, 0.05
"""Changes of the weights, and of what the documents of a component share, below which its priors are found: from each
beginning; of the best end, at least, in units of 1 / sqrt(sessions), and of how far apart the weights of the ends are.
"""
_FAVOUR = 4.0
"""How much larger the share of the favoured component is at the beginning."""
_WITHIN = 1.96
"""Deviations of the weights between the ends of learning."""
_MISJUDGED = 0.16
"""Deviation of the logarithm of a ratio of weights that comes from the method, which is not maximum likelihood.

Chosen so that 95 % of the intervals of benchmarks/mixture_weights.py hold the truth where beginnings agree.
"""
_LEAST_KNOWN = 1e-3
"""Smallest share of the information about weights that hidden components can leave."""

_Tables = dict[str, Floats]
Own = Sequence[LeaveOneOutCounts]
"""The trials of each component; empty where sessions vouch for themselves."""


@dataclass(frozen=True, repr=False, init=False)
class Mixture(SessionModel):
    """`mixture(pbm, dbn)`: a session follows component c with probability `weight[c]`.

    Sessions are divided by the posterior of the components, and each component learns from its share as it would alone,
    repeatedly: EM with estimating equations (Elashoff and Ryan 2004), which are not all those of the likelihood. A
    component with all sessions has the tables that it would have alone. Predictions weight the components by the
    posterior given the clicks above only. Components of one kind start from sessions whose last clicks are higher or
    lower. Relevance is the components' mean.

    The tables of a component have the intervals that it would give them alone, where a session with share s counts as
    s^2 observations: what is left of s when nobody says whose it was. They take the division of the sessions as known
    otherwise. The interval of the weights is that of their profile likelihood over all tables, wider by what the method
    itself was found to err by.

    Parameters:
        components: the click models.
        tolerance: sessions are divided until no share, and no weight, changes by more than this in one step.

    Raises:
        UsageError: fewer than two models, or one that cannot learn from shares of sessions.

    Examples:
        >>> offrank.clicks.Mixture(offrank.clicks.PBM(), offrank.clicks.DBN())
        mixture(pbm, dbn)
    """

    components: tuple[ClickModel, ...]
    tolerance: float

    name: ClassVar[str] = "mixture"

    def __init__(self, *components: ClickModel, tolerance: float = _TOLERANCE) -> None:
        object.__setattr__(self, "components", components)
        object.__setattr__(self, "tolerance", tolerance)
        self.__post_init__()

    def __post_init__(self) -> None:
        if len(self.components) < 2:
            raise UsageError("a mixture needs two click models or more", "write it as mixture(pbm, dbn)")
        for model in self.components:
            if isinstance(model, str):
                raise UsageError(f"{model!r} is not a click model", "mix models such as pbm, ubm, dbn or ccm")
            if not getattr(model, "mixable", False) or model.regressions or model.context:
                raise UsageError(
                    f"{model!r} cannot be part of a mixture, whose parts learn from shares of sessions",
                    "mix models that learn by EM or by counts, such as pbm, ubm, dbn or ccm",
                )

    def __repr__(self) -> str:
        words = [repr(model) for model in self.components]
        words += [f"tolerance={spell(self.tolerance)}"] if self.tolerance != _TOLERANCE else []
        return f"mixture({', '.join(words)})"

    __str__ = __repr__

    def learn(self, data: Sessions, *, start: Parameters | None = None, say: Say = silent) -> FitResult:
        """Learn from a division of the sessions that favours each component in turn; keep what predicts best."""
        if start is not None:
            return self._under(data, start, say)
        names = [model.name for model in self.components]
        begun = (_End(share, weights(share, data.weight)) for share in _leaning(_tilted(data, names)))
        ends = [self._further(data, one, _SWEEPS, _NEAR, say) for one in begun]
        best = max(ends, key=lambda one: nine_digits(one.trace[-1]))
        others = sum(one.rounds for one in ends) - best.rounds
        reached = np.array([best.weight, *(self._matched(one, best) for one in ends)])
        apart = float(np.abs(reached - best.weight).max())
        near = max(_STILL, _NOISE / float(np.sqrt(data.weight.sum())), _APART * apart)
        best = self._further(data, best, _MORE, near, say)
        parts = self._each(data, best.share, lambda model, mine, _: model.learn(mine, say=say))
        told = [*(one for part in parts for one in part.cautions), *cautions_for(FitEvidence(divided=apart))]
        strength, loadings = self._uncertainty(data, best.share, parts)
        loadings["weight"] = self._uncertainty_of_weights(data, best, reached, say)
        return FitResult(
            self._joined(parts, best.weight),
            strength,
            (*best.trace, self._shared(data, [part.parameters for part in parts], best.weight)[1]),
            others + best.rounds,
            best.converged,
            {"weights_apart": apart},
            tuple({one.code: one for one in told}.values()),
            loadings,
        )

    def _under(self, data: Sessions, start: Parameters, say: Say) -> FitResult:
        """The documents and the weights, given what is learnt from all documents together."""
        starts = [_held(model, part) for model, part in self._parts(start)]
        share, likelihood = self._shared(data, starts, start["weight"])
        parts = self._each(data, share, lambda model, mine, place: model.learn(mine, start=starts[place]))
        end = self._divided(data, share, start["weight"], starts, self._own(data, share, parts), say)
        parts = self._each(data, end.share, lambda model, mine, place: model.learn(mine, start=starts[place]))
        trace = (likelihood, *end.trace)
        return FitResult(self._joined(parts, end.weight), {}, trace, end.rounds, end.converged)

    def _further(self, data: Sessions, end: _End, sweeps: int, near: float, say: Say) -> _End:
        """Divisions under given priors, which each part then learns anew, until these are still.

        A session's share is its posterior given what the others taught, see `LeaveOneOutCounts`: otherwise the
        component with more freedom, which has learnt each session a little by heart, takes those of the others.
        """

        def learnt(model: ClickModel, mine: Any, place: int) -> FitResult:
            return model.estimated(mine, start=end.starts[place] if end.starts else None, say=say)

        for _ in range(sweeps):
            parts = self._each(data, end.share, learnt)
            starts = [part.start for part in parts]
            if max(end.moved, *map(_moved, self.components, end.starts or starts, starts)) < near:
                return end._replace(starts=starts, converged=True)
            own = self._own(data, end.share, parts)
            found = self._divided(data, end.share, end.weight, starts, own, say)
            moved = float(np.abs(found.weight - end.weight).max()) if found.converged else np.inf
            trace, rounds = (*end.trace, *found.trace), end.rounds + found.rounds
            end = _End(found.share, found.weight, starts, own, trace, rounds, moved)
        return end

    def roles(self) -> Roles:
        each = ((place, model.roles()) for place, model in enumerate(self.components))
        parts = {f"{place}.{name}": role for place, roles in each for name, role in roles.items()}
        return {**parts, "weight": Role.SHARED}

    def law(self, parameters: Parameters, slots: SlateDocuments) -> ClickLaw:
        laws = [model.law(part, slots) for model, part in self._parts(parameters)]
        return Mixed(laws, parameters["weight"])

    def relevance(self, parameters: Parameters, document: Integers) -> Floats:
        """The weighted mean of the components' relevances, each by its own definition."""
        each = [model.relevance(part, document) for model, part in self._parts(parameters)]
        return np.asarray(np.tensordot(parameters["weight"], np.stack(each), 1))

    def examination(self, parameters: Parameters) -> Floats | None:
        """None: which rank is examined depends on the component."""
        return None

    def _parts(self, parameters: Parameters) -> Iterator[tuple[ClickModel, Parameters]]:
        """Each component with its own tables, whose names begin with its number."""
        for place, model in enumerate(self.components):
            names = {name: f"{place}.{name}" for name in model.roles()}
            yield model, {name: parameters[long] for name, long in names.items() if long in parameters}

    def _matched(self, end: _End, best: _End) -> Floats:
        """The weights of an end; equal components are numbered as those of the best with most sessions in common."""
        from scipy.optimize import linear_sum_assignment  # slow to import

        alike = np.array([[one == other for other in self.components] for one in self.components])
        common = np.where(alike, best.share.T @ end.share, -1.0 - len(end.share))
        return np.asarray(end.weight[linear_sum_assignment(common, maximize=True)[1]])

    def _own(self, data: Sessions, share: Floats, parts: Sequence[FitResult]) -> Own:
        """The trials of each component, which has learnt from its shares."""
        each = zip(self.components, parts, np.maximum(share, LEAST_SHARE).T, strict=True)
        return [LeaveOneOutCounts.of(model, part, data, one) for model, part, one in each]

    def _divided(
        self,
        data: Sessions,
        share: Floats,
        weight: Floats,
        starts: Sequence[Parameters],
        own: Own,
        say: Say,
        *,
        profile: bool = False,
    ) -> SharesFit:
        """The division of the sessions under the priors of `starts`. profile: at the given weights, more precisely."""
        here = list(starts)

        def step(share: Floats, weight: Floats) -> tuple[Floats, float]:
            parts = self._each(data, share, lambda model, mine, place: model.learn(mine, start=here[place]))
            for place, (model, part) in enumerate(zip(self.components, parts, strict=True)):
                new = {name: part.parameters[name] for name, role in model.roles().items() if role.is_probability}
                here[place] = {**here[place], **new}
            return self._shared(data, here, weight, own, share)

        def tell(likelihood: float) -> None:
            say(f"{self}: log-likelihood {likelihood:.8g}")

        near, rounds = (self.tolerance / 10, _PROFILE) if profile else (self.tolerance, _ROUNDS)
        return fit_shares(step, share, weight, data.weight, still=profile, tolerance=near, rounds=rounds, say=tell)

    def _each(
        self, data: Sessions, share: Floats, learn: Callable[[ClickModel, Any, int], FitResult]
    ) -> list[FitResult]:
        """Each component, learnt from its share of the sessions; a tiny one of all keeps its tables complete."""
        lent = (replace(data, weight=data.weight * np.maximum(one, LEAST_SHARE)) for one in share.T)
        each = enumerate(zip(self.components, lent, strict=True))
        return [learn(model, model.from_sessions(mine), place) for place, (model, mine) in each]

    def _joined(self, parts: Sequence[FitResult], weight: Floats) -> Parameters:
        each = enumerate(part.parameters for part in parts)
        return {**{f"{place}.{name}": table for place, part in each for name, table in part.items()}, "weight": weight}

    def _uncertainty(self, data: Sessions, share: Floats, parts: Sequence[FitResult]) -> tuple[_Tables, _Tables]:
        """(strength, loadings) of the components' tables, each component with standard normals of its own."""
        strength, loadings, first = dict[str, Floats](), dict[str, Floats](), len(self.components) - 1
        for place, (part, model) in enumerate(zip(parts, self.components, strict=True)):
            known, all_known = known_of(data, share[:, place])
            for name, table in part.strength.items():
                if model.roles()[name].by_document:
                    each = known.reshape(-1, *[1] * (table.ndim - 1))
                    strength[f"{place}.{name}"] = table[-1] + np.maximum(table - table[-1], 0.0) * each
                else:
                    strength[f"{place}.{name}"] = table * all_known
            size = max((table.shape[-1] for table in part.loadings.values()), default=0)
            for name, table in part.loadings.items():
                before = [(0, 0)] * (table.ndim - 1) + [(first, size - table.shape[-1])]
                loadings[f"{place}.{name}"] = np.pad(table / np.sqrt(all_known), before)
            first += size
        return strength, loadings

    def _uncertainty_of_weights(self, data: Sessions, best: _End, ends: Floats, say: Say) -> Floats:
        """[c, c - 1] loadings of the weights: from their profile over all tables, and from where other ends are.

        Each log(weight / last weight) is moved a little; the changes of all scores give the information. The weights of
        every end are within 1.96 deviations: where learning does not forget where it began, the log does not tell.
        ends: [1 + ends, c] the weights of the best, then of all, as far as learning went from each beginning.
        """
        weight, total = best.weight, data.weight.sum()
        places = np.arange(len(weight) - 1)

        def scores(at: Floats) -> Floats:
            share = best.share * (at / weight)
            share /= share.sum(axis=1, keepdims=True)
            found = self._divided(data, share, at, best.starts, best.own, say, profile=True)
            won = data.weight @ found.share + 1.0
            return np.asarray(won - at * won.sum())[:-1]

        rest, information = scores(weight), np.empty((len(places), len(places)))
        for place in places:
            shift = 2.0 / np.sqrt(max(total * weight[place] * (1 - weight[place]), 1.0))
            moved = weight * np.exp(shift * (np.arange(len(weight)) == place))
            information[place] = (rest - scores(moved / moved.sum())) / shift
        # No more is known than if the component of every session were.
        complete = (total + len(weight)) * (np.diag(weight) - np.outer(weight, weight))[:-1, :-1]
        from scipy.linalg import eigh  # slow to import

        values, axes = eigh((information + information.T) / 2, complete)
        root = axes / np.sqrt(np.clip(values, _LEAST_KNOWN, 1.0))
        ratios = np.log(ends)
        apart = ((ratios[:, :-1] - ratios[:, -1:]) - (ratios[0, :-1] - ratios[0, -1])) / _WITHIN
        by_ratio = (np.eye(len(weight))[:, :-1] - weight[:-1]) / (1 - weight)[:, None]
        method = _MISJUDGED**2 * np.eye(len(places))
        return np.asarray(by_ratio @ np.linalg.cholesky(root @ root.T + apart.T @ apart + method))

    def _shared(
        self, data: Sessions, tables: Sequence[Parameters], weight: Floats, own: Own = (), share: Floats | None = None
    ) -> tuple[Floats, float]:
        """([n, c] posterior of the components, log-likelihood), of each session given all others where `own` is."""
        if own and share is not None:
            known = np.maximum(share, LEAST_SHARE).T
            logs = [one.logs(part, taught) for one, part, taught in zip(own, tables, known, strict=True)]
        else:
            logs = [_logs(model, part, data) for model, part in zip(self.components, tables, strict=True)]
        joint = np.stack(logs, axis=1) + np.log(weight / weight.sum())
        total = np.logaddexp.reduce(joint, axis=1)
        return np.exp(joint - total[:, None]), float(data.weight @ total)


class _End(NamedTuple):
    """Where learning leads: shares [n, c] of sessions, weights, what its parts start from, trials, how it got there.

    moved: by how much the last division changed the weights.
    """

    share: Floats
    weight: Floats
    starts: Sequence[Parameters] = ()
    own: Own = ()
    trace: tuple[float, ...] = ()
    rounds: int = 0
    moved: float = np.inf
    converged: bool = False


def _held(model: ClickModel, start: Parameters) -> Parameters:
    """The same with priors so strong that nothing changes but tables of documents."""
    each = {name: start[name] for name, role in model.roles().items() if role is Role.SHARED or role.by_rank}
    return {**start, **{prior_name(name): CERTAIN * np.stack([one, 1 - one], axis=-1) for name, one in each.items()}}


def _moved(model: ClickModel, before: Parameters, after: Parameters) -> float:
    """The largest change of a probability that documents share."""
    names = [name for name, role in model.roles().items() if role.is_probability and not role.by_document]
    return max((float(np.abs(after[name] - before[name]).max(initial=0.0)) for name in names), default=0.0)


def _logs(model: ClickModel, part: Parameters, data: Sessions) -> Floats:
    """[n] log-probability of each session."""
    found = np.empty(len(data))
    for rows in session_blocks(data):
        click, document = data.click[rows].astype(np.float64), data.document[rows]
        found[rows] = log_probs(model.law(part, SlateDocuments(document.astype(np.int64), document >= 0)), click)
    return found


def known_of(data: Sessions, share: Floats) -> tuple[Floats, float]:
    """([documents + 1], in all) effective observations of a component per session that it owns.

    Complete data would hold a session's share s as s observations. That its component is unknown takes s (1 - s) of
    them away: the variance of its score (Louis 1982), on the diagonal. So s^2 are left.
    """
    there, once = data.document >= 0, np.maximum(share, LEAST_SHARE)
    document = data.document[there]
    of_one, of_square = (
        np.bincount(document, np.broadcast_to((data.weight * one)[:, None], there.shape)[there], data.documents + 1)
        for one in (once, once**2)
    )
    total = float(data.weight @ once)
    return np.append((of_square / np.maximum(of_one, 1e-300))[:-1], 1.0), float(data.weight @ once**2) / total


def _tilted(data: Sessions, names: Sequence[str]) -> Floats:
    """[n, c] initial shares: equal, except that successive copies of one kind prefer deeper last clicks.

    Sessions without clicks are divided equally.
    """
    ranks = np.arange(1, data.ranks + 1)
    depth = (data.click * ranks).max(axis=1) / np.maximum(((data.document >= 0) * ranks).max(axis=1), 1)
    middle = np.average(depth[depth > 0], weights=data.weight[depth > 0]) if (depth > 0).any() else 0.0
    lean = np.where(depth > 0, depth - middle, 0.0)
    slope = np.array([names[:place].count(name) - (names.count(name) - 1) / 2 for place, name in enumerate(names)])
    share = np.exp(2.0 * lean[:, None] * slope)
    return np.asarray(share / share.sum(axis=1, keepdims=True))


def _leaning(share: Floats) -> Iterator[Floats]:
    """The shares, favouring each component in turn."""
    for place in range(share.shape[1]):
        leaning = share * np.where(np.arange(share.shape[1]) == place, _FAVOUR, 1.0)
        yield leaning / leaning.sum(axis=1, keepdims=True)
