"""For whoever serves: draw a list, and get its exact propensities in the same call, with NumPy alone.

`draw("thompson(alpha, beta)", 1, rng, alpha=[3, 1], beta=[40, 25])` is what a bandit or a router does for one request.
The policy is spelled as `evaluate` reads it: the log can be judged by the propensities written in it, or by the policy.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import races
from .errors import UsageError
from .language.spelling import Makers, parse

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Columns = Mapping[str, Floats]
"""Numbers beside the candidates, [m] by name."""
Probs = tuple[Floats, Floats]
_FEW = 50
"""The most candidates of which what follows from their numbers is kept for the next request."""
_TINY = 1e-250
"""A weight, beside the largest, of which products and quotients are still exact."""
_FEWEST = 6  # The most candidates of which all sets are enumerated, for the ranks of Plackett-Luce.

__all__ = ["Served", "draw"]


@dataclass(frozen=True)
class Served:
    """A list that was drawn, and its propensities, to be written in a log; see `log_row`.

    Parameters:
        slate: the items shown, top first.
        propensity: P(the slate).
        slot_propensity: [k] P(each slot's item given those above).
        rank_propensity: [k][k] P(each shown item at each rank).
        candidates: the ids of all candidates.
        columns: the columns that the policy names.

    Examples:
        >>> import numpy as np
        >>> offrank.propensities.draw("uniform", 1, np.random.default_rng(0), ["a", "b"]).candidates
        ['a', 'b']
    """

    slate: list[Any]
    propensity: float
    slot_propensity: list[float]
    rank_propensity: list[list[float]]
    candidates: list[Any]
    columns: dict[str, list[float]]

    def log_row(self) -> dict[str, Any]:
        """What to log, ready for JSON; add `clicks`, a list beside the slate, or `reward` once it is known."""
        written = ("slate", "propensity", "slot_propensity", "rank_propensity", "candidates")
        return {**{name: getattr(self, name) for name in written}, **self.columns}


def draw(
    policy: str, slots: int, rng: np.random.Generator, candidates: Sequence[Any] | None = None, **columns: Any
) -> Served:
    """Draw a list by a policy, and return it with its exact propensities.

    Parameters:
        policy: `uniform`, `top`, `shuffled`, `plackett_luce`, `thompson`, `noisy`; `epsilon` or `mixture` of these.
        slots: how many items are shown.
        rng: NumPy's generator, which draws.
        candidates: their ids, by default 0, 1, ...
        columns: those that the policy names, each a number per candidate.

    Returns:
        The list, and its propensities.

    Raises:
        SpellingError: no such policy here.
        UsageError: a column is missing, has another length, or a number that the policy cannot use.

    Examples:
        >>> import numpy as np
        >>> offrank.propensities.draw("uniform", 1, np.random.default_rng(0), ["a", "b"]).propensity
        0.5
    """
    law = _law(policy)
    numbers = {name: np.asarray(values, np.float64) for name, values in columns.items()}
    wide = next((len(values) for values in numbers.values()), 0) if candidates is None else len(candidates)
    for name in law.positive | law.columns:
        _refuse(name, numbers, wide, positive=name in law.positive)
    if not 1 <= slots <= wide:
        raise UsageError(f"there are {slots} slots for {wide} candidates", "show at least one, at most all")
    slate = law.draw(numbers, wide, slots, rng)
    begins, ranks = law.probs(numbers, wide, slate)
    given = begins / np.append(1.0, begins[:-1])
    ids = list(range(wide)) if candidates is None else list(candidates)
    kept = {name: values.tolist() for name, values in numbers.items()}
    return Served([ids[item] for item in slate], float(begins[-1]), given.tolist(), ranks.tolist(), ids, kept)


class _Law(ABC):
    """A policy for one context. numbers: its columns; wide: m candidates; slate: [k] their indices, top first."""

    @property
    @abstractmethod
    def columns(self) -> frozenset[str]:
        """The columns that it reads."""

    @property
    def positive(self) -> frozenset[str]:
        """Those of them whose numbers must be above 0."""
        return frozenset()

    @abstractmethod
    def draw(self, numbers: Columns, wide: int, slots: int, rng: np.random.Generator) -> Integers:
        """[k] candidates, top first."""

    @abstractmethod
    def probs(self, numbers: Columns, wide: int, slate: Integers) -> Probs:
        """[k] P(a list begins with the slate down to each slot), and [k, k] P(shown item at rank)."""


@dataclass(frozen=True)
class _Sorted(_Law):
    """Sorted by a score, of which equal ones are in any order; without a score, all are equal."""

    scores: str | None = None

    @property
    def columns(self) -> frozenset[str]:
        return frozenset() if self.scores is None else frozenset([self.scores])

    def draw(self, numbers: Columns, wide: int, slots: int, rng: np.random.Generator) -> Integers:
        return np.lexsort((rng.random(wide), -self._scores(numbers, wide)))[:slots]

    def probs(self, numbers: Columns, wide: int, slate: Integers) -> Probs:
        (first, width), rank = self.blocks(numbers, wide, slate), np.arange(len(slate))
        left = first + width - rank
        begins = np.cumprod(((first <= rank) & (left > 0)) / np.maximum(left, 1))
        first, width = first[:, None], width[:, None]
        return begins, ((rank >= first) & (rank < first + width)) / width

    def blocks(self, numbers: Columns, wide: int, slate: Integers) -> tuple[Integers, Integers]:
        """[k] the first of the ranks that each shown item shares with those it ties with, and their number."""
        scores = self._scores(numbers, wide)
        own = scores[slate][:, None]
        return (scores > own).sum(axis=1), (scores == own).sum(axis=1)

    def _scores(self, numbers: Columns, wide: int) -> Floats:
        return np.zeros(wide) if self.scores is None else numbers[self.scores]


@dataclass(frozen=True)
class _Shuffled(_Law):
    base: Any
    block: int = 2
    method: str = field(default="blocks", kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.base, _Sorted) or self.base.scores is None:
            raise UsageError(f"shuffled: {self.base!r} does not sort", "shuffle top(score)")
        races.refuse_other_shuffles("shuffled", self.block, self.method)

    @property
    def columns(self) -> frozenset[str]:
        return frozenset([self.base.scores])

    def draw(self, numbers: Columns, wide: int, slots: int, rng: np.random.Generator) -> Integers:
        slate = self.base.draw(numbers, wide, slots, rng)
        return races.shuffled(self._partitions(slots), slate[None], rng)[0]

    def probs(self, numbers: Columns, wide: int, slate: Integers) -> Probs:
        first, width = self.base.blocks(numbers, wide, slate)
        first = np.where(first < len(slate), first, -1)
        (_, base), begins, ranks = self.base.probs(numbers, wide, slate), 0.0, 0.0
        for part in self._partitions(len(slate)):
            given = np.ones((1, len(slate)))
            races.shuffled_slots(first[None], width[None], slate[None], part.start, part.width, given)
            begins = begins + part.share[0] * np.cumprod(given[0])
            ranks = ranks + part.share[0] * (base @ races.moved(part)[0])
        return np.asarray(begins), np.asarray(ranks)

    def _partitions(self, slots: int) -> Iterator[races.Partition]:
        return races.partitions(self.method, self.block, np.array([slots]), slots)


class _Race(_Law):
    """Candidates in the order of independent keys."""

    @abstractmethod
    def keys(self, numbers: Columns) -> races.Keys:
        """The law of each candidate's key."""

    def draw(self, numbers: Columns, wide: int, slots: int, rng: np.random.Generator) -> Integers:
        return np.argsort(-self.keys(numbers).sample(rng)[0], kind="stable")[:slots]

    def probs(self, numbers: Columns, wide: int, slate: Integers) -> Probs:
        if wide > _FEW:
            return races.served_probs(races.served_grid(self.keys(numbers), len(slate)), slate)
        known = ((name, numbers[name].tobytes()) for name in self.columns)
        return races.served_probs(_grid(self, len(slate), *known), slate)


@lru_cache(maxsize=16)
def _grid(law: _Race, slots: int, *columns: tuple[str, bytes]) -> races.Grid:
    """The grid of a race, kept: many requests see the same counts until these are next updated."""
    return races.served_grid(law.keys({name: np.frombuffer(values) for name, values in columns}), slots)


@dataclass(frozen=True)
class _Thompson(_Race):
    alpha: str | None = None
    beta: str | None = None
    mean: str | None = field(default=None, kw_only=True)
    sd: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        races.refuse_other_posteriors(self.alpha, self.beta, self.mean, self.sd)

    @property
    def columns(self) -> frozenset[str]:
        return frozenset(name for name in (self.alpha, self.beta, self.mean, self.sd) if name is not None)

    @property
    def positive(self) -> frozenset[str]:
        return self.columns - {self.mean}

    def keys(self, numbers: Columns) -> races.Keys:
        if self.alpha is not None and self.beta is not None:
            return races.BetaKeys(numbers[self.alpha][None], numbers[self.beta][None])
        assert self.mean is not None
        assert self.sd is not None
        return races.GaussianKeys(numbers[self.mean][None], numbers[self.sd][None])


@dataclass(frozen=True)
class _Noisy(_Race):
    scores: str
    sd: float | str = field(kw_only=True)
    noise: str = field(default="gaussian", kw_only=True)

    def __post_init__(self) -> None:
        if self.noise not in races.NOISES or not (isinstance(self.sd, str) or 0 < self.sd < np.inf):
            raise UsageError(
                f"noisy with sd={self.sd} and noise={self.noise}", "use noise=gaussian or noise=gumbel, and sd above 0"
            )

    @property
    def columns(self) -> frozenset[str]:
        return self.positive | {self.scores}

    @property
    def positive(self) -> frozenset[str]:
        return frozenset([self.sd]) if isinstance(self.sd, str) else frozenset()

    def keys(self, numbers: Columns) -> races.Keys:
        score = numbers[self.scores][None]
        sd = numbers[self.sd][None] if isinstance(self.sd, str) else np.full(score.shape, float(self.sd))
        return races.noise_keys(score, sd, self.noise)

    def probs(self, numbers: Columns, wide: int, slate: Integers) -> Probs:
        """As in the race; with equal Gumbel noise it is Plackett-Luce."""
        if self.noise != "gumbel" or isinstance(self.sd, str):
            return super().probs(numbers, wide, slate)
        logs = numbers[self.scores] / (self.sd * races.GUMBEL_SCALE)
        return _by_weights(logs, slate, lambda: super(_Noisy, self).probs(numbers, wide, slate))


@dataclass(frozen=True)
class _PlackettLuce(_Race):
    scores: str
    temperature: float = field(default=1.0, kw_only=True)
    log: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise UsageError(f"temperature is {self.temperature}", "give a temperature above zero")

    @property
    def columns(self) -> frozenset[str]:
        return frozenset([self.scores])

    @property
    def positive(self) -> frozenset[str]:
        return frozenset() if self.log else self.columns

    def keys(self, numbers: Columns) -> races.Keys:
        logs = self._log_weights(numbers)[None]
        return races.GumbelKeys(logs, np.ones_like(logs))

    def _log_weights(self, numbers: Columns) -> Floats:
        return np.asarray((numbers[self.scores] if self.log else np.log(numbers[self.scores])) / self.temperature)

    def probs(self, numbers: Columns, wide: int, slate: Integers) -> Probs:
        return _by_weights(
            self._log_weights(numbers), slate, lambda: super(_PlackettLuce, self).probs(numbers, wide, slate)
        )


def _by_weights(logs: Floats, slate: Integers, race: Callable[[], Probs]) -> Probs:
    """As in the race, but for what has a closed form where each is next in proportion to its weight, here its log."""
    weights = np.exp(logs - logs.max())
    if weights.min() <= _TINY:
        return race()
    shown = weights[slate]
    weights[slate] = 0.0
    begins = np.cumprod(shown / (shown[::-1].cumsum()[::-1] + weights.sum()))
    if len(slate) == 1:
        return begins, begins[None]
    weights[slate] = shown
    if len(weights) > _FEWEST:
        return begins, race()[1]
    return begins, np.array(races.ranks_by_sets(weights.tolist(), len(slate)))[slate]


@dataclass(frozen=True)
class _Mixture(_Law):
    parts: Mapping[_Law, float]

    def __post_init__(self) -> None:
        for part in self.parts:
            if not isinstance(part, _Law):
                raise UsageError(f"{part!r} is not a policy", f"name one of {', '.join(sorted(_MAKERS))}")
        shares = list(self.parts.values())
        if min(shares) < 0 or abs(sum(shares) - 1) > 1e-9:
            raise UsageError(f"the shares add up to {sum(shares):g}, not 1", "give the share of each, such as 0.7")

    @property
    def columns(self) -> frozenset[str]:
        return frozenset().union(*(part.columns for part in self.parts))

    @property
    def positive(self) -> frozenset[str]:
        return frozenset().union(*(part.positive for part in self.parts))

    def draw(self, numbers: Columns, wide: int, slots: int, rng: np.random.Generator) -> Integers:
        part = rng.choice(len(self.parts), p=list(self.parts.values()))
        return list(self.parts)[part].draw(numbers, wide, slots, rng)

    def probs(self, numbers: Columns, wide: int, slate: Integers) -> Probs:
        each = [(share, part.probs(numbers, wide, slate)) for part, share in self.parts.items()]
        begins, ranks = (sum(share * found[place] for share, found in each) for place in range(2))
        return np.asarray(begins), np.asarray(ranks)


def _epsilon(base: _Law, epsilon: float) -> _Mixture:
    if not 0 <= epsilon <= 1:
        raise UsageError(f"epsilon is {epsilon}", "give a probability between 0 and 1")
    return _Mixture({base: 1 - epsilon, _Sorted(): epsilon})


def _uniform() -> _Sorted:
    return _Sorted()


def _top(scores: str) -> _Sorted:
    return _Sorted(scores)


_MAKERS: Makers = {
    "epsilon": _epsilon,
    "mixture": _Mixture,
    "noisy": _Noisy,
    "plackett_luce": _PlackettLuce,
    "shuffled": _Shuffled,
    "thompson": _Thompson,
    "top": _top,
    "uniform": _uniform,
}


@lru_cache(maxsize=256)
def _law(spelling: str) -> Any:
    return parse(spelling, _MAKERS, "policy")


def _refuse(name: str, numbers: Columns, wide: int, *, positive: bool) -> None:
    """Raise unless a column is there, with a number for each candidate that the policy can use."""
    if name not in numbers:
        raise UsageError(f"there are no numbers for the column {name!r}", f"give them: draw(..., {name}=[...])")
    values = numbers[name]
    if values.shape != (wide,):
        raise UsageError(f"{name!r} has shape {values.shape} for {wide} candidates", "give one number per candidate")
    fine = np.isfinite(values) & (values > 0) if positive else np.isfinite(values)
    if not fine.all():
        place = int((~fine).argmax())
        what = "a finite number above 0" if positive else "a finite number"
        raise UsageError(f"{name!r} of candidate {place} is {values[place]}, not {what}", "correct it before serving")
