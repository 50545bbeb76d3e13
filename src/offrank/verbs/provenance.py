"""What of an evaluation was learnt, from which rows, and whether these are the rows that it is judged by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from ..findings.evidence import OfTraining
from ..folds.base import Tee
from ..folds.fingerprint import Fingerprint, FingerprintFold
from ..folds.same_log import share_learnt
from ..log.source import Needs

_ASKED = ("with_examination", "log_prob")
"""What an estimator and a policy can be asked: wrappers are looked into where they hold one."""


@dataclass(frozen=True)
class Provenance:
    """Fingerprints of what was learnt.

    - curve, curve_rows: the examination curve of the evaluation, and the rows of the click model that it came from.
    - shares: of the judged rows, how many are of each fingerprint; known after the log was read.
    """

    curve: tuple[float, ...] | None = None
    curve_rows: Fingerprint | None = None
    shares: Mapping[Fingerprint, float] = field(default_factory=dict)

    def of(self, *parts: Any) -> Iterator[Fingerprint]:
        """Of targets and estimators, and of what they wrap, each once."""
        found = [one for part in parts for one in _each(part)]
        rows = [_rows(one) for one in found]
        rows += [self.curve_rows for one in found if self.curve and getattr(one, "examination", None) == self.curve]
        yield from dict.fromkeys(one for one in rows if one is not None)

    def fold(self, parts: Iterable[Any]) -> Tee:
        """What reduces the judged log to what fingerprints are compared with; nothing where nothing was learnt."""
        return Tee({str(index): FingerprintFold.beside(one) for index, one in enumerate(self.of(*parts))})

    def needs(self, parts: Iterable[Any]) -> Needs:
        """The columns that fingerprints are of."""
        return reduce(Needs.__or__, (one.content.needs() for one in self.of(*parts)), Needs())

    def judged(self, parts: Iterable[Any], found: Mapping[str, Fingerprint]) -> Provenance:
        """The same with the shares, from what `fold` found."""
        return replace(self, shares={one: share_learnt(one, found[str(i)]) for i, one in enumerate(self.of(*parts))})

    def evidence(self, target: Any, estimator: Any) -> OfTraining:
        """Of an estimate of these: the worst of what it rests on."""
        policy, model = self._share(target), self._share(estimator)
        return OfTraining(share=max(policy, model), policy=policy >= model)

    def _share(self, part: Any) -> float:
        return max((self.shares.get(one, 0.0) for one in self.of(part)), default=0.0)


NOTHING = Provenance()


def _each(part: Any) -> Iterator[Any]:
    """A policy or an estimator, and those that it wraps, whatever it calls them."""
    yield part
    for held in vars(part).values() if hasattr(part, "__dict__") else ():
        if any(hasattr(held, method) for method in _ASKED) and not isinstance(held, type):
            yield from _each(held)


def _rows(part: Any) -> Fingerprint | None:
    """Those that one part was learnt from; most were not."""
    found = part.learnt_rows() if hasattr(part, "learnt_rows") else None
    return found if isinstance(found, Fingerprint) else None
