"""Mixtures: each session follows one of several click models, and nobody says which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Floats, Integers
from ..log.errors import UsageError
from .documents import Slots
from .em import Climb, Parameters, climb, expit, logit
from .laws import ClickLaw, Mixed, log_probs
from .learnt import Learnt
from .model import ClickModel, Say
from .sessions import Sessions

_TOLERANCE = 1e-4
_LOOSE = 3e-3
_REFITS = 8
_ANEW = 2000
_PROFILE = 150
"""The most rounds for the doubt of a weight."""
_BLOCK = 1 << 16
_LEAST = 1e-12
"""Of a session's weight: what a component keeps of sessions that are not its own."""


@dataclass(frozen=True, repr=False, init=False)
class Mixture(ClickModel):
    """`mixture(pbm, dbn)`: a session follows component c with probability `weight[c]`.

    Learnt by EM: whole sessions are shared out by their posterior, and each component learns a little from its share,
    over and over. Predictions weight the components by the posterior of the clicks above only. Components of one
    kind begin with sessions whose last clicks are higher or lower. Relevance is the components' mean.

    tolerance: learning ends when no probability moves further than this in a step.
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
        words += [f"tolerance={self.tolerance:g}"] if self.tolerance != _TOLERANCE else []
        return f"mixture({', '.join(words)})"

    __str__ = __repr__

    def learn(
        self, data: Sessions, *, start: Parameters | None = None, rounds: int | None = None, say: Say = len
    ) -> Learnt:
        limit = 1000 if rounds is None else rounds
        here = self._begun(data, say) if start is None else start
        found = self._climbed(data, here, self.tolerance, limit, say)
        strength = {"weight": self._strength(data, found.parameters)} if start is None else {}
        return Learnt(found.parameters, strength, found.trace, found.rounds, found.converged)

    def law(self, parameters: Parameters, slots: Slots) -> ClickLaw:
        laws = [model.law(part, slots) for model, part in self._parts(parameters)]
        return Mixed(laws, parameters["weight"])

    def relevance(self, parameters: Parameters, document: Integers) -> Floats:
        """The components' relevances, each in its own definition, by their weights."""
        each = [model.relevance(part, document) for model, part in self._parts(parameters)]
        return np.asarray(np.tensordot(parameters["weight"], np.stack(each), 1))

    def log_prior(self, parameters: Parameters) -> float:
        """Of the components; a flat one of their weights."""
        parts = sum(model.log_prior(part) for model, part in self._parts(parameters))
        return float(parts + np.log(parameters["weight"]).sum())

    def _parts(self, parameters: Parameters) -> Iterator[tuple[ClickModel, Parameters]]:
        """Each component with its own tables, which stand under its number."""
        for place, model in enumerate(self.components):
            head = f"{place}."
            yield model, {n.removeprefix(head): table for n, table in parameters.items() if n.startswith(head)}

    def _climbed(self, data: Sessions, here: Parameters, tolerance: float, rounds: int, say: Say) -> Climb:
        def tell(height: float) -> None:
            say(f"{self}: log-posterior {height:.8g}")

        return climb(lambda at: self._step(data, at), here, tolerance=tolerance, rounds=rounds, say=tell)

    def _begun(self, data: Sessions, say: Say) -> Parameters:
        """Components with priors that fit the sessions which are theirs in the end: in turns, loosely."""
        share = _tilted(data, [model.name for model in self.components])
        weight = np.full(len(self.components), 1.0 / len(self.components))
        for _ in range(_REFITS):
            before, here = weight, self._learnt_anew(data, share, weight, say)
            here = self._climbed(data, here, _LOOSE, 60, say).parameters
            share, weight = self._shared(data, here)[0], here["weight"]
            if np.abs(weight - before).max() < _LOOSE:
                break
        return self._learnt_anew(data, share, weight, say)

    def _learnt_anew(self, data: Sessions, share: Floats, weight: Floats, say: Say) -> Parameters:
        """Each component from its share, with priors of its own."""
        learnt = (
            model.learn(model.from_sessions(_lent(data, share[:, place])), rounds=_ANEW, say=say).parameters
            for place, model in enumerate(self.components)
        )
        return _joined(learnt, weight)

    def _step(self, data: Sessions, here: Parameters) -> tuple[Parameters, float]:
        """Share sessions out, and let each component learn from its share."""
        share, height = self._shared(data, here)
        learnt = (
            model.learn(model.from_sessions(_lent(data, share[:, place])), start=part, rounds=1).parameters
            for place, (model, part) in enumerate(self._parts(here))
        )
        weight = data.weight @ share + 1.0
        return _joined(learnt, weight / weight.sum()), height

    def _strength(self, data: Sessions, here: Parameters) -> Floats:
        """[c] observations that each weight rests on: by its profile, where all tables are learnt anew beside it.

        A weight is moved a little, the others in proportion, and what its slope then is tells the information.
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

        def step(at: Parameters) -> tuple[Parameters, float]:
            after, height = self._step(data, at)
            return {**after, "weight": fixed}, height

        def slope(at: Parameters) -> float:
            won = float(data.weight @ self._shared(data, at)[0][:, place])
            return won + 1.0 - float(at["weight"][place]) * (total + len(weight))

        there = climb(step, {**here, "weight": fixed}, tolerance=self.tolerance, rounds=_PROFILE).parameters
        return float(np.clip((slope(here) - slope(there)) / shift / spread, _LEAST, total + len(weight)))

    def _shared(self, data: Sessions, here: Parameters) -> tuple[Floats, float]:
        """([n, c] posterior of the components, log-posterior of the parameters)."""
        share, height = np.empty((len(data), len(self.components))), self.log_prior(here)
        for begin in range(0, len(data), _BLOCK):
            rows = slice(begin, begin + _BLOCK)
            click, slots = data.click[rows].astype(np.float64), slots_of(data.document[rows])
            logs = [log_probs(model.law(part, slots), click) for model, part in self._parts(here)]
            joint = np.stack(logs, axis=1) + np.log(here["weight"])
            total = np.logaddexp.reduce(joint, axis=1)
            share[rows] = np.exp(joint - total[:, None])
            height += float(data.weight[rows] @ total)
        return share, height


def slots_of(document: NDArray[np.int32]) -> Slots:
    """What a model sees of sessions' documents, which are all known; -1 for none."""
    return Slots(document.astype(np.int64), document >= 0)


def _lent(data: Sessions, share: Floats) -> Sessions:
    """A component's share of each session; a trace of the others keeps it within its tables."""
    return replace(data, weight=data.weight * np.maximum(share, _LEAST))


def _joined(learnt: Iterator[Parameters], weight: Floats) -> Parameters:
    tables = {f"{place}.{name}": table for place, part in enumerate(learnt) for name, table in part.items()}
    return {**tables, "weight": weight}


def _tilted(data: Sessions, names: Sequence[str]) -> Floats:
    """[n, c] shares to begin with: equal, but that copies of one kind lean to deeper last clicks, one after the other.

    Sessions without clicks lean nowhere.
    """
    ranks = np.arange(1, data.ranks + 1)
    depth = (data.click * ranks).max(axis=1) / np.maximum(((data.document >= 0) * ranks).max(axis=1), 1)
    middle = np.average(depth[depth > 0], weights=data.weight[depth > 0]) if (depth > 0).any() else 0.0
    lean = np.where(depth > 0, depth - middle, 0.0)
    slope = np.array([names[:place].count(name) - (names.count(name) - 1) / 2 for place, name in enumerate(names)])
    share = np.exp(2.0 * lean[:, None] * slope)
    return np.asarray(share / share.sum(axis=1, keepdims=True))
