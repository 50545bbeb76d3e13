"""The registry of findings: the function for each, by its code and by the type of its evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Any, NamedTuple, TypeVar, get_type_hints

from ..folds.estimate import Caution, Severity
from ..registry import Registry

E = TypeVar("E")
SEVERITIES = {"serious": 0, "warning": 1, "note": 2}
"""Severities, the worst first."""


class Statement(NamedTuple):
    """The result of a finding: how severe it is, what was found, what to do about it, and `Caution.missing`."""

    severity: Severity
    message: str
    remedy: str
    missing: float = 0.0


@dataclass(frozen=True)
class Kind:
    """One finding: its code, a title for lists, the type of its evidence, and its function.

    convicts: whether the model that it is about is not to be chosen by default.
    """

    code: str
    title: str
    evidence: type
    find: Callable[[Any], Statement | None]
    convicts: bool = False


FINDINGS: Registry[Kind] = Registry(str(__package__), "finding")
"""The findings, by code and type of evidence."""


def finding(
    code: str, title: str, when: Callable[[Any], object] = lambda _: True, *, convicts: bool = False
) -> Callable[[Callable[[E], Statement | None]], Callable[[E], Statement | None]]:
    """Register a function of one type of evidence, given by its annotation, as the finding `code`.

    when: whether the finding applies to the evidence; otherwise the function is not called. convicts: see `Kind`.
    """

    def registered(say: Callable[[E], Statement | None]) -> Callable[[E], Statement | None]:
        @wraps(say)
        def find(found: E) -> Statement | None:
            return say(found) if when(found) else None

        [evidence] = [hint for name, hint in get_type_hints(say).items() if name != "return"]
        key = f"{code} in {evidence.__module__}.{evidence.__qualname__}"
        FINDINGS.add(key, Kind(code, title, evidence, find, convicts), say)
        return find

    return registered


def kinds(evidence: type | None = None) -> tuple[Kind, ...]:
    """All findings, or those for one type of evidence, by code."""
    return tuple(kind for kind in FINDINGS.values() if evidence in (None, kind.evidence))


def title_of(code: str) -> str:
    """The title of the finding with this code."""
    return next(kind.title for kind in kinds() if kind.code == code)


def convicting(cautions: Iterable[Caution]) -> tuple[str, ...]:
    """The codes of those for which the model that they are about is not to be chosen by default."""
    codes = {kind.code for kind in kinds() if kind.convicts}
    return tuple(dict.fromkeys(caution.code for caution in cautions if caution.code in codes))


def cautions_for(*evidence: object) -> tuple[Caution, ...]:
    """All findings for the evidence, the worst first."""
    said = [(kind.code, kind.find(one)) for one in evidence for kind in kinds(type(one))]
    found = [Caution(code, *words) for code, words in said if words is not None]
    return tuple(sorted(found, key=lambda caution: SEVERITIES[caution.severity]))
