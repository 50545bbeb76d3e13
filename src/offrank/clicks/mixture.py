"""Mixtures: each session follows one of several click models, and which one is not observed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

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
from .model import ClickModel, Say, silent
from .parameters import Parameters, Role, Roles
from .sessions import Sessions

_TOLERANCE = 1e-4
_ROUNDS = 200
_PROFILE = 30
"""The most rounds for the standard error of a weight."""
_BLOCK = 1 << 16
_LEAST = 1e-12
"""Share of a session's weight that every component keeps at least."""
_SWEEPS = 4
_STILL = 2e-3
"""Change of the weights over a sweep below which the priors of the components are taken to be found."""
_LEAST_KNOWN = 1e-3
"""Smallest share of the information about weights that hidden components can leave."""

_Tables = dict[str, Floats]


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
        """Learn by EM from given priors of the components, then each as it would alone, until that moves little."""
        if start is not None:
            found = self._climbed(data, start, say)
            return Learnt(found.parameters, {}, found.trace, found.rounds, found.converged)
        share = _tilted(data, [model.name for model in self.components])
        weight, parts = share.mean(axis=0), self._learnt(data, share, say)
        trace: tuple[float, ...] = ()
        rounds = 0
        for _ in range(_SWEEPS):
            found = self._climbed(data, self._joined(parts, weight), say)
            trace, rounds = (*trace, *found.trace), rounds + found.rounds
            share, _ = self._shared(data, found.parameters)
            before, weight = weight, found.parameters["weight"]
            parts = self._learnt(data, share, say)
            if np.abs(weight - before).max() < _STILL:
                break
        clicks = float(data.weight @ data.click.sum(axis=1, dtype=np.float64))
        divided = cautions_for(OfFit(divided=clicks / max(data.documents, 1) / len(parts)))
        cautions = {one.code: one for part in parts for one in part.cautions} | {one.code: one for one in divided}
        tables = self._joined(parts, weight)
        strength, loadings = self._doubt(data, share, parts)
        loadings["weight"] = self._doubt_of_weights(data, tables, say)
        told = tuple(cautions.values())
        return Learnt(tables, strength, trace, rounds, found.converged, cautions=told, loadings=loadings)

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

    def _climbed(self, data: Sessions, here: Parameters, say: Say, weight: Floats | None = None) -> Climb:
        """EM for all parameters, or for all but the given weights; priors are those of the start."""
        free = [name for name, role in self.roles().items() if role.is_probability]
        priors = {name: table for name, table in here.items() if name not in free}

        def step(at: Parameters) -> tuple[Parameters, float]:
            share, likelihood = self._shared(data, at)
            parts = self._learnt(data, share, silent, {**priors, **at})
            after = self._joined(parts, _weights(data, share) if weight is None else weight)
            return {name: after[name] for name in free}, likelihood

        def tell(likelihood: float) -> None:
            say(f"{self}: log-likelihood {likelihood:.8g}")

        rounds, begin = _ROUNDS if weight is None else _PROFILE, {name: here[name] for name in free}
        found = climb(step, begin, tolerance=self.tolerance, rounds=rounds, say=tell)
        return replace(found, parameters={**priors, **found.parameters})

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

    def _doubt_of_weights(self, data: Sessions, here: Parameters, say: Say) -> Floats:
        """[c, c - 1] loadings of the weights, from their profile likelihood over all tables.

        Each log(weight / last weight) is moved a little; the changes of all scores give the information.
        """
        weight, total = here["weight"], data.weight.sum()
        places = np.arange(len(weight) - 1)

        def scores(at: Parameters) -> Floats:
            won = data.weight @ self._shared(data, at)[0] + 1.0
            return np.asarray(won - at["weight"] * won.sum())[:-1]

        rest, information = scores(here), np.empty((len(places), len(places)))
        for place in places:
            shift = 2.0 / np.sqrt(max(total * weight[place] * (1 - weight[place]), 1.0))
            moved = weight * np.exp(shift * (np.arange(len(weight)) == place))
            moved /= moved.sum()
            there = self._climbed(data, {**here, "weight": moved}, say, moved).parameters
            information[place] = (rest - scores(there)) / shift
        # No more is known than if the component of every session were.
        complete = (total + len(weight)) * (np.diag(weight) - np.outer(weight, weight))[:-1, :-1]
        from scipy.linalg import eigh  # slow to import

        values, axes = eigh((information + information.T) / 2, complete)
        root = axes / np.sqrt(np.clip(values, _LEAST_KNOWN, 1.0))
        by_ratio = (np.eye(len(weight))[:, :-1] - weight[:-1]) / (1 - weight)[:, None]
        return np.asarray(by_ratio @ root)

    def _shared(self, data: Sessions, here: Parameters) -> tuple[Floats, float]:
        """([n, c] posterior of the components, log-likelihood)."""
        share, likelihood = np.empty((len(data), len(self.components))), 0.0
        for begin in range(0, len(data), _BLOCK):
            rows = slice(begin, begin + _BLOCK)
            click, document = data.click[rows].astype(np.float64), data.document[rows]
            slots = SlateDocuments(document.astype(np.int64), document >= 0)
            logs = [log_probs(model.law(part, slots), click) for model, part in self._parts(here)]
            joint = np.stack(logs, axis=1) + np.log(here["weight"] / here["weight"].sum())
            total = np.logaddexp.reduce(joint, axis=1)
            share[rows] = np.exp(joint - total[:, None])
            likelihood += float(data.weight[rows] @ total)
        return share, likelihood


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
