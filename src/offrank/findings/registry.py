"""The registry of findings: the function for each, by its code and by the type of its evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_type_hints

from ..errors import NoOverlapError
from ..language.registry import Registry
from ..sums.estimate import Caution, Severity

E = TypeVar("E")
SEVERITIES = {"serious": 0, "warning": 1, "note": 2}
"""Severities, the worst first."""
Cause = Literal[
    "logging policy",
    "sampling",
    "randomness",
    "calibration",
    "propensities",
    "mean weight",
    "rows",
    "arms",
    "overlap",
    "weights",
    "effective size",
    "coverage",
    "tail",
    "counting",
    "outcome",
    "level",
    "assumption",
    "dependence",
    "provenance",
    "choice",
    "method",
    "click model",
    "measure",
]
"""What is behind a finding, or what it is about; a finding may have several.

- logging policy, sampling, randomness, calibration, propensities, mean weight, rows: of a log, each of which may lead
  to those that follow. calibration: what was shown does not fit the logging policy. propensities: the logged ones do
  not. rows: which rows there are, whatever their propensities. arms: those of an experiment differ not by chance alone.
- overlap: the log has too little of what the target shows. weights: what the weights of the log's rows look like.
  effective size: few rows have a weight, while the standard error is right. coverage: the target's items are missing.
  tail: what is rare may not have occurred yet, so that the standard error may be larger than it seems.
- counting: propensities or ranks were counted in the log. outcome: clicks and rewards, and rows kept by them.
  level: what every value is a mean of; two arms of one time differ by the same, whatever it is.
- assumption: about users, models or ties. dependence: between rows. provenance: what was learnt from the same rows.
- choice: made by the data. method: of the interval or the measure. click model: how it was learnt. measure: a metric.
"""
CAUSES: tuple[Cause, ...] = get_args(Cause)
_REFUSALS: dict[str, tuple[Cause, ...]] = {NoOverlapError.code: ("overlap",)}
"""The causes of refusals, which are told like findings."""


class Statement(NamedTuple):
    """The result of a finding: how severe it is, what was found, what to do about it, and `Caution.missing`."""

    severity: Severity
    message: str
    remedy: str
    missing: float = 0.0


@dataclass(frozen=True)
class Kind:
    """One finding: its code, a title for lists, the type of its evidence, its function, and its causes.

    explains: the cause of other findings that say nothing new beside it. convicts: whether the model that it is about
    is not to be chosen by default.
    """

    code: str
    title: str
    evidence: type
    find: Callable[[Any], Statement | None]
    causes: tuple[Cause, ...]
    explains: Cause | None = None
    convicts: bool = False


FINDINGS: Registry[Kind] = Registry(str(__package__), "finding")
"""The findings, by code and type of evidence."""


def finding(
    code: str,
    title: str,
    when: Callable[[Any], object] = lambda _: True,
    *,
    cause: Cause | tuple[Cause, ...],
    explains: Cause | None = None,
    convicts: bool = False,
) -> Callable[[Callable[[E], Statement | None]], Callable[[E], Statement | None]]:
    """Register a function of one type of evidence, given by its annotation, as the finding `code`.

    when: whether the finding applies to the evidence; otherwise the function is not called. cause: one or
    several. explains, convicts: see `Kind`.
    """
    causes = (cause,) if isinstance(cause, str) else cause

    def registered(say: Callable[[E], Statement | None]) -> Callable[[E], Statement | None]:
        @wraps(say)
        def find(found: E) -> Statement | None:
            return say(found) if when(found) else None

        [evidence] = [hint for name, hint in get_type_hints(say).items() if name != "return"]
        key = f"{code} in {evidence.__module__}.{evidence.__qualname__}"
        FINDINGS.add(key, Kind(code, title, evidence, find, causes, explains, convicts), say)
        return find

    return registered


def all_findings(evidence: type | None = None) -> tuple[Kind, ...]:
    """All findings, or those for one type of evidence, by code."""
    return tuple(kind for kind in FINDINGS.values() if evidence in (None, kind.evidence))


def title_of(code: str) -> str:
    """The title of the finding with this code."""
    return next(kind.title for kind in all_findings() if kind.code == code)


def causes_of(code: str) -> frozenset[Cause]:
    """The causes of the finding, or of the refusal, with this code; none of an unknown code."""
    known = (kind.causes for kind in FINDINGS.values() if kind.code == code)
    return frozenset(cause for causes in (*known, _REFUSALS.get(code, ())) for cause in causes)


def has_cause(caution: Caution, *causes: Cause) -> bool:
    """Whether a finding has one of these causes."""
    return not causes_of(caution.code).isdisjoint(causes)


def explained(found: Iterable[Caution]) -> frozenset[str]:
    """The codes that say nothing new next to some findings, because one of them explains their cause."""
    known = {caution.code for caution in found}
    explaining = {(kind.code, kind.explains) for kind in FINDINGS.values() if kind.code in known and kind.explains}
    every = {(kind.code, cause) for kind in FINDINGS.values() for cause in kind.causes}
    return frozenset(code for code, cause in every for other, what in explaining if what == cause and code != other)


def convicting(cautions: Iterable[Caution]) -> tuple[str, ...]:
    """The codes of findings that exclude the model they are about from being chosen by default."""
    codes = {kind.code for kind in all_findings() if kind.convicts}
    return tuple(dict.fromkeys(caution.code for caution in cautions if caution.code in codes))


def cautions_for(*evidence: object) -> tuple[Caution, ...]:
    """All findings for the evidence, the worst first."""
    said = [(kind.code, kind.find(one)) for one in evidence for kind in all_findings(type(one))]
    found = [Caution(code, *words) for code, words in said if words is not None]
    return tuple(sorted(found, key=lambda caution: SEVERITIES[caution.severity]))
