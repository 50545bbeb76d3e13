"""Mixtures: each session follows one of several click models, and which one is not observed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..errors import UsageError
from ..log.batch import Floats, Integers
from ..spelling import spell
from .documents import SlateDocuments
from .fit.em import Climb, climb, expit, logit
from .laws import ClickLaw, Mixed, log_probs
from .learnt import Learnt
from .model import ClickModel, Say
from .parameters import Parameters, Role, Roles
from .sessions import Sessions

_TOLERANCE = 1e-4
_ROUNDS = 200
_PROFILE = 30
"""The most rounds for the standard error of a weight."""
_BLOCK = 1 << 16
_LEAST = 1e-12
"""Share of a session's weight that every component keeps at least."""


@dataclass(frozen=True, repr=False, init=False)
class Mixture(ClickModel):
    """`mixture(pbm, dbn)`: a session follows component c with probability `weight[c]`.

    Sessions are divided by the posterior of the components, and each component learns from its share as it would alone,
    repeatedly: EM with estimating equations (Elashoff and Ryan 2004), which are not all those of the likelihood. A
    component with all sessions has the tables that it would have alone. Predictions weight the components by the
    posterior given the clicks above only. Components of one kind start from sessions whose last clicks are higher or
    lower. Relevance is the components' mean.

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
            if not getattr(model, "mixable", False):
                raise UsageError(
                    f"{model!r} cannot be part of a mixture, whose parts learn from shares of sessions",
                    "mix models that learn by EM or by counts, such as pbm, ubm, dbn or ccm",
                )

    def __repr__(self) -> str:
        words = [repr(model) for model in self.components]
        words += [f"tolerance={spell(self.tolerance)}"] if self.tolerance != _TOLERANCE else []
        return f"mixture({', '.join(words)})"

    __str__ = __repr__

    def learn(self, data: Sessions, *, start: Parameters | None = None, say: Say = len) -> Learnt:
        """Learn by EM with warm starts of the components; the last round learns each component as it would alone."""
        here = self._begun(data, say) if start is None else start
        found = self._climbed(data, here, say)
        if start is not None:
            return Learnt(found.parameters, {}, found.trace, found.rounds, found.converged)
        share, _ = self._shared(data, found.parameters)
        tables = self._learnt(data, share, found.parameters["weight"], say=say)
        strength = {"weight": self._strength(data, tables)}
        return Learnt(tables, strength, found.trace, found.rounds, found.converged)

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

    def _begun(self, data: Sessions, say: Say) -> Parameters:
        share = _tilted(data, [model.name for model in self.components])
        return self._learnt(data, share, np.full(len(self.components), 1.0 / len(self.components)), say=say)

    def _climbed(self, data: Sessions, here: Parameters, say: Say, weight: Floats | None = None) -> Climb:
        """EM for all parameters, or for all but the given weights."""
        priors = {name: table for name, table in here.items() if self.roles()[name] in (Role.PRIOR, Role.REGRESSION)}
        begin = {name: table for name, table in here.items() if name not in priors}

        def step(at: Parameters) -> tuple[Parameters, float]:
            after, likelihood = self._step(data, {**priors, **at})
            priors.update({name: after[name] for name in priors})
            fixed = {} if weight is None else {"weight": weight}
            return {name: after[name] for name in begin} | fixed, likelihood

        def tell(likelihood: float) -> None:
            say(f"{self}: log-likelihood {likelihood:.8g}")

        found = climb(step, begin, tolerance=self.tolerance, rounds=_ROUNDS if weight is None else _PROFILE, say=tell)
        return replace(found, parameters={**priors, **found.parameters})

    def _learnt(
        self, data: Sessions, share: Floats, weight: Floats, starts: Parameters | None = None, say: Say = len
    ) -> Parameters:
        """The tables of each component, learnt from its share of the sessions."""
        parts = [None] * len(self.components) if starts is None else [part for _, part in self._parts(starts)]
        tables: dict[str, Floats] = {}
        for place, (model, part) in enumerate(zip(self.components, parts, strict=True)):
            # A tiny weight on all sessions keeps a component's tables complete.
            lent = replace(data, weight=data.weight * np.maximum(share[:, place], _LEAST))
            learnt = model.learn(model.from_sessions(lent), start=part, say=say)
            tables |= {f"{place}.{name}": table for name, table in learnt.parameters.items()}
        return {**tables, "weight": weight}

    def _step(self, data: Sessions, here: Parameters) -> tuple[Parameters, float]:
        """Divide the sessions and let each component learn from its share; also returns the log-likelihood before."""
        share, likelihood = self._shared(data, here)
        weight = data.weight @ share + 1.0
        return self._learnt(data, share, weight / weight.sum(), here), likelihood

    def _strength(self, data: Sessions, here: Parameters) -> Floats:
        """[c] effective observations behind each weight, from its profile likelihood over all tables.

        A weight is moved a little, the others in proportion; the change of its score gives the information.
        """
        places = range(len(self.components) if len(self.components) > 2 else 1)
        known = [self._profiled(data, here, place) for place in places]
        return np.array(known if len(known) > 1 else known * 2)

    def _profiled(self, data: Sessions, here: Parameters, place: int) -> float:
        total, weight = data.weight.sum(), here["weight"]
        spread = weight[place] * (1.0 - weight[place])
        shift = 2.0 / np.sqrt(max(total * spread, 1.0))
        moved = expit(logit(weight[place]) + shift)
        fixed = weight * (1.0 - moved) / (1.0 - weight[place])
        fixed[place] = moved

        def slope(at: Parameters) -> float:
            won = float(data.weight @ self._shared(data, at)[0][:, place])
            return won + 1.0 - float(at["weight"][place]) * (total + len(weight))

        there = self._climbed(data, {**here, "weight": fixed}, len, fixed).parameters
        return float(np.clip((slope(here) - slope(there)) / shift / spread, _LEAST, total + len(weight)))

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
