"""Mixtures: each session follows one of several click models, and which one is not observed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from ..errors import UsageError
from ..findings import cautions_for
from ..findings.evidence_clicks import OfFit
from ..log.batch import Floats, Integers
from ..spelling import spell
from .documents import SlateDocuments
from .fit.em import Climb, climb
from .laws import ClickLaw, Mixed, log_probs
from .learnt import Learnt
from .mixture_own import OwnTrials
from .model import ClickModel, Say, silent
from .parameters import Parameters, Role, Roles
from .sessions import Sessions

_TOLERANCE = 1e-4
_ROUNDS = 60
_PROFILE = 30
"""The most rounds for the standard error of a weight."""
_BLOCK = 1 << 16
_LEAST = 1e-12
"""Share of a session's weight that every component keeps at least."""
_SWEEPS = 2
_FAVOUR = 4.0
"""How much larger the share of the favoured component is at the beginning."""
_WITHIN = 1.96
"""Deviations of the weights between the ends of learning."""
_STILL = 2e-3
"""Change of the weights over a sweep below which the priors of the components are taken to be found."""
_LEAST_KNOWN = 1e-3
"""Smallest share of the information about weights that hidden components can leave."""

_Tables = dict[str, Floats]
Own = Sequence[OwnTrials]
"""The trials of each component; empty where sessions vouch for themselves."""


@dataclass(frozen=True, repr=False, init=False)
class Mixture(ClickModel):
    """`mixture(pbm, dbn)`: a session follows component c with probability `weight[c]`.

    Sessions are divided by the posterior of the components, and each component learns from its share as it would alone,
    repeatedly: EM with estimating equations (Elashoff and Ryan 2004), which are not all those of the likelihood. A
    component with all sessions has the tables that it would have alone. Predictions weight the components by the
    posterior given the clicks above only. Components of one kind start from sessions whose last clicks are higher or
    lower. Relevance is the components' mean.

    The tables of a component have the intervals that it would give them alone, where a session with share s counts as
    s^2 observations: what is left of s when nobody says whose it was. They take the division of the sessions as known
    otherwise. The interval of the weights is that of their profile likelihood over all tables.

    tolerance: learning stops when no probability changes by more than this in one step.
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

    def learn(self, data: Sessions, *, start: Parameters | None = None, say: Say = silent) -> Learnt:
        """Learn from a division of the sessions that favours each component in turn; keep what predicts best."""
        if start is not None:
            share, likelihood = self._shared(data, start)
            own = self._own(data, share, self._learnt(data, share, silent, start))
            found, _ = self._climbed(data, start, say, own, share)
            return Learnt(found.parameters, {}, (likelihood, *found.trace), found.rounds, found.converged)
        names = [model.name for model in self.components]
        ends = [self._end(data, share, say) for share in _leaning(_tilted(data, names))]
        best = max(ends, key=lambda one: one.trace[-1])
        weights = [self._matched(one, best) for one in ends]
        apart = float(np.abs(np.array(weights) - best.weight).max())
        divided = cautions_for(OfFit(divided=apart))
        cautions = {one.code: one for part in best.parts for one in part.cautions} | {one.code: one for one in divided}
        tables = self._joined(best.parts, best.weight)
        strength, loadings = self._doubt(data, best.share, best.parts)
        loadings["weight"] = self._doubt_of_weights(data, tables, best, weights, say)
        trace, told = (*best.trace, self._shared(data, tables)[1]), tuple(cautions.values())
        rounds = sum(one.rounds for one in ends)
        facts = {"weights_apart": apart}
        return Learnt(tables, strength, trace, rounds, best.converged, facts, told, loadings)

    def _end(self, data: Sessions, share: Floats, say: Say) -> _End:
        """Where learning leads from these shares: EM under given priors, then each part as alone, until that is still.

        A session's share is its posterior given what the others taught, see `OwnTrials`: otherwise the component with
        more freedom, which has learnt each session a little by heart, takes those of the others.
        """
        weight, rounds = _weights(data, share), 0
        parts = self._learnt(data, share, say)
        here = self._joined(parts, weight)
        for _ in range(_SWEEPS):
            own = self._own(data, share, parts)
            found, share = self._climbed(data, here, say, own, share)
            parts, rounds = self._learnt(data, share, say), rounds + found.rounds
            before, weight = weight, found.parameters["weight"]
            here = self._joined(parts, weight)
            if np.abs(weight - before).max() < _STILL:
                break
        return _End(parts, share, weight, own, found.trace, rounds, found.converged)

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

    def _own(self, data: Sessions, share: Floats, parts: Sequence[Learnt]) -> Own:
        """The trials of each component, which has learnt from its shares."""
        each = zip(self.components, parts, np.maximum(share, _LEAST).T, strict=True)
        return [OwnTrials.of(model, part, data, one) for model, part, one in each]

    def _climbed(
        self, data: Sessions, here: Parameters, say: Say, own: Own, share: Floats, weight: Floats | None = None
    ) -> tuple[Climb, Floats]:
        """EM for all parameters, or for all but the given weights, and the last shares; priors are those of the start.

        own, share: the trials of each component, and the shares that taught them.
        """
        free = [name for name, role in self.roles().items() if role.is_probability]
        priors = {name: table for name, table in here.items() if name not in free}

        def step(at: Parameters) -> tuple[Parameters, float]:
            nonlocal share
            share, likelihood = self._shared(data, at, own, share)
            parts = self._learnt(data, share, silent, {**priors, **at})
            after = self._joined(parts, _weights(data, share) if weight is None else weight)
            return {name: after[name] for name in free}, likelihood

        def tell(likelihood: float) -> None:
            say(f"{self}: log-likelihood {likelihood:.8g}")

        rounds, begin = _ROUNDS if weight is None else _PROFILE, {name: here[name] for name in free}
        found = climb(step, begin, tolerance=self.tolerance, rounds=rounds, say=tell)
        return replace(found, parameters={**priors, **found.parameters}), share

    def _learnt(self, data: Sessions, share: Floats, say: Say, starts: Parameters | None = None) -> list[Learnt]:
        """Each component, learnt from its share of the sessions; a tiny one of all keeps its tables complete."""
        parts = [None] * len(self.components) if starts is None else [part for _, part in self._parts(starts)]
        lent = (replace(data, weight=data.weight * np.maximum(one, _LEAST)) for one in share.T)
        each = zip(self.components, lent, parts, strict=True)
        return [model.learn(model.from_sessions(mine), start=part, say=say) for model, mine, part in each]

    def _joined(self, parts: Sequence[Learnt], weight: Floats) -> Parameters:
        each = enumerate(part.parameters for part in parts)
        return {**{f"{place}.{name}": table for place, part in each for name, table in part.items()}, "weight": weight}

    def _doubt(self, data: Sessions, share: Floats, parts: Sequence[Learnt]) -> tuple[_Tables, _Tables]:
        """(strength, loadings) of the components' tables, each component with standard normals of its own."""
        strength, loadings, first = dict[str, Floats](), dict[str, Floats](), len(self.components) - 1
        for place, (part, model) in enumerate(zip(parts, self.components, strict=True)):
            known, all_known = known_of(data, share[:, place])
            for name, table in part.strength.items():
                if model.roles()[name] in (Role.DOCUMENT, Role.DOCUMENT_AND_RANK):
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

    def _doubt_of_weights(
        self, data: Sessions, here: Parameters, best: _End, ends: Sequence[Floats], say: Say
    ) -> Floats:
        """[c, c - 1] loadings of the weights: from their profile over all tables, and from where other ends are.

        Each log(weight / last weight) is moved a little; the changes of all scores give the information. The weights of
        every end are within 1.96 deviations: where learning does not forget where it began, the log does not tell.
        """
        weight, total = here["weight"], data.weight.sum()
        places = np.arange(len(weight) - 1)

        def scores(at: Parameters, share: Floats) -> Floats:
            won = data.weight @ self._shared(data, at, best.own, share)[0] + 1.0
            return np.asarray(won - at["weight"] * won.sum())[:-1]

        rest, information = scores(here, best.share), np.empty((len(places), len(places)))
        for place in places:
            shift = 2.0 / np.sqrt(max(total * weight[place] * (1 - weight[place]), 1.0))
            moved = weight * np.exp(shift * (np.arange(len(weight)) == place))
            moved /= moved.sum()
            there, share = self._climbed(data, {**here, "weight": moved}, say, best.own, best.share, moved)
            information[place] = (rest - scores(there.parameters, share)) / shift
        # No more is known than if the component of every session were.
        complete = (total + len(weight)) * (np.diag(weight) - np.outer(weight, weight))[:-1, :-1]
        from scipy.linalg import eigh  # slow to import

        values, axes = eigh((information + information.T) / 2, complete)
        root = axes / np.sqrt(np.clip(values, _LEAST_KNOWN, 1.0))
        ratios = np.log(np.array([weight, *ends]))
        apart = ((ratios[:, :-1] - ratios[:, -1:]) - (ratios[0, :-1] - ratios[0, -1])) / _WITHIN
        by_ratio = (np.eye(len(weight))[:, :-1] - weight[:-1]) / (1 - weight)[:, None]
        return np.asarray(by_ratio @ np.linalg.cholesky(root @ root.T + apart.T @ apart))

    def _shared(
        self, data: Sessions, here: Parameters, own: Own = (), share: Floats | None = None
    ) -> tuple[Floats, float]:
        """([n, c] posterior of the components, log-likelihood), of each session given all others where `own` is."""
        parts = [part for _, part in self._parts(here)]
        if own and share is not None:
            known = np.maximum(share, _LEAST).T
            logs = [one.logs(part, taught) for one, part, taught in zip(own, parts, known, strict=True)]
        else:
            logs = [_logs(model, part, data) for model, part in zip(self.components, parts, strict=True)]
        joint = np.stack(logs, axis=1) + np.log(here["weight"] / here["weight"].sum())
        total = np.logaddexp.reduce(joint, axis=1)
        return np.exp(joint - total[:, None]), float(data.weight @ total)


class _End(NamedTuple):
    """Where learning leads: its parts, the shares [n, c] of sessions, the weights, trials, and how it got there."""

    parts: Sequence[Learnt]
    share: Floats
    weight: Floats
    own: Own
    trace: tuple[float, ...]
    rounds: int
    converged: bool


def _logs(model: ClickModel, part: Parameters, data: Sessions) -> Floats:
    """[n] log-probability of each session."""
    found = np.empty(len(data))
    for begin in range(0, len(data), _BLOCK):
        rows = slice(begin, begin + _BLOCK)
        click, document = data.click[rows].astype(np.float64), data.document[rows]
        found[rows] = log_probs(model.law(part, SlateDocuments(document.astype(np.int64), document >= 0)), click)
    return found


def _weights(data: Sessions, share: Floats) -> Floats:
    """[c] posterior mean of the weights, given the shares."""
    weight = data.weight @ share + 1.0
    return np.asarray(weight / weight.sum())


def known_of(data: Sessions, share: Floats) -> tuple[Floats, float]:
    """([documents + 1], in all) effective observations of a component per session that it owns.

    Complete data would hold a session's share s as s observations. That its component is unknown takes s (1 - s) of
    them away: the variance of its score (Louis 1982), on the diagonal. So s^2 are left.
    """
    there, once = data.document >= 0, np.maximum(share, _LEAST)
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
