"""The registry of findings: the function for each, by its code and by the type of its evidence."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial, wraps
from numbers import Real
from typing import Any, Literal, Self, TypeVar, get_args, get_type_hints

from ..errors import NoOverlapError, UsageError
from ..language.formatting import plural
from ..language.registry import Registry
from ..sums.estimate import Caution, Severity
from ..wording import Wording, nearest

E = TypeVar("E")
SEVERITIES = {"serious": 0, "warning": 1, "note": 2}
"""Severities, the worst first."""
Cause = Literal[
    "logging policy",  # this and those down to `rows`: of a log, each of which may lead to those that follow
    "sampling",
    "randomness",
    "calibration",  # what was shown does not fit the logging policy
    "propensities",  # the logged ones do not fit it
    "mean weight",
    "rows",  # which rows there are, whatever their propensities
    "arms",  # those of an experiment differ not by chance alone
    "overlap",  # the log has too little of what the target shows
    "weights",  # what the weights of the log's rows look like
    "effective size",  # few rows have a weight, while the standard error is right
    "coverage",  # the target's items are missing
    "tail",  # what is rare may not have occurred yet, so that the standard error may be larger than it seems
    "counting",  # propensities or ranks were counted in the log
    "outcome",  # clicks and rewards, and rows kept by them
    "level",  # what every value is a mean of; two arms of one time differ by the same, whatever it is
    "assumption",  # about users, models or ties
    "dependence",  # between rows
    "provenance",  # what was learnt from the same rows
    "choice",  # made by the data
    "method",  # of the interval or the measure
    "click model",  # how it was learnt
    "measure",  # a metric
]
"""What is behind a finding, or what it is about; a finding may have several."""
CAUSES: tuple[Cause, ...] = get_args(Cause)
_CODE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_REFUSALS: dict[str, tuple[Cause, ...]] = {NoOverlapError.code: ("overlap",)}
"""The causes of refusals, which are told like findings."""


@dataclass(frozen=True)
class Statement:
    """The result of a finding: how severe it is, what was found, what to do about it, and `Caution.missing`.

    Raises:
        UsageError: no such severity, or words that are no text.
    """

    severity: Severity
    message: str
    remedy: str
    missing: float = 0.0

    def __post_init__(self) -> None:
        if self.severity not in SEVERITIES:
            raise UsageError(f"{self.severity!r} is no severity", _one_of(self.severity, SEVERITIES))
        texts = self.message, self.remedy
        if not (all(isinstance(one, str) for one in texts) and isinstance(self.missing, Real)):
            raise UsageError(f"{self} is no statement", "give two texts, and a number for `missing`")

    @classmethod
    def of(cls, severity: Severity, message: str, remedy: str, *phrases: object, missing: float = 0.0) -> Self:
        """The statement whose remedy is a template that phrases fill, as in `Wording`."""
        return cls(severity, message, Wording(remedy, *phrases) if phrases else remedy, missing)


serious = partial(Statement.of, "serious")
warning = partial(Statement.of, "warning")
note = partial(Statement.of, "note")


@dataclass(frozen=True)
class Kind:
    """One finding."""

    code: str
    title: str  # for lists
    evidence: type
    find: Callable[[Any], Statement | None]
    causes: tuple[Cause, ...]
    explains: Cause | None = None  # the cause of other findings that say nothing new beside it
    convicts: bool = False  # whether the model that it is about is not to be chosen by default


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
    """Register a function of one type of evidence or several, given by its annotation, as the finding `code`.

    when: whether the finding applies to the evidence; otherwise the function is not called. cause: one or
    several. explains, convicts: see `Kind`.

    Raises:
        UsageError: the code is none, or another package's; a cause is unknown; the annotation is no type of evidence.
    """
    causes = cause if isinstance(cause, tuple) else (cause,)

    def registered(say: Callable[[E], Statement | None]) -> Callable[[E], Statement | None]:
        @wraps(say)
        def find(found: E) -> Statement | None:
            statement = say(found) if when(found) else None
            if not isinstance(statement, Statement | None):
                raise UsageError(f"it returned {statement!r}, which is no Statement", "return a Statement, or None")
            return statement

        for evidence in _checked(say, code, causes if explains is None else (*causes, explains)):
            key = f"{code} in {evidence.__module__}.{evidence.__qualname__}"
            FINDINGS.add(key, Kind(code, title, evidence, find, causes, explains, convicts), say)
        return find

    return registered


def _checked(say: Callable[..., Any], code: str, causes: Iterable[str]) -> tuple[type, ...]:
    """The types of evidence that a finding reads, if all that is said of the finding holds.

    Raises:
        UsageError: it does not: see `finding`.
    """
    name, package = f"the finding {code!r}, {say.__module__}.{say.__qualname__},", _package(say)
    if not _CODE.fullmatch(str(code)):
        raise UsageError(f"{name} has no valid code", "give lower-case words with hyphens between them: 'long-slates'")
    for cause in causes:
        if cause not in CAUSES:
            raise UsageError(f"{name} has an unknown cause, {cause!r}", _one_of(cause, CAUSES))
    remedy = "annotate its argument with the evidence that it reads: `found: Row`"
    try:
        read = [hint for argument, hint in get_type_hints(say).items() if argument != "return"]
    except (NameError, AttributeError, TypeError) as error:
        raise UsageError(f"{name} has an annotation that cannot be read: {error}", remedy) from error
    if len(read) != 1:
        raise UsageError(f"{name} has {plural(len(read), 'annotated argument', 'annotated arguments')}", remedy)
    types = get_args(read[0]) or (read[0],)
    if package != _package(finding):
        _check_from_outside(name, code, types, package)
    return types


def _check_from_outside(name: str, code: str, types: Iterable[object], package: str) -> None:
    """Refuse a code of another package's finding, and what is neither evidence of offrank nor of its own package."""
    others = sorted(
        (kind for kind in all_findings() if _package(kind.find) != package), key=lambda kind: kind.evidence.__name__
    )
    if code in {kind.code for kind in others}:
        raise UsageError(f"{name} has the code of another package's finding", "give it a code of its own")
    known = {kind.evidence.__name__: kind.evidence for kind in others}
    for evidence in types:
        own = isinstance(evidence, type) and _package(evidence) == package
        if not own and evidence not in known.values():
            what = evidence.__name__ if isinstance(evidence, type) else str(evidence)
            raise UsageError(f"{name} reads {what}, which is no evidence", _one_of(what, known))


def _one_of(word: object, known: Iterable[str]) -> str:
    """The remedy for an unknown word."""
    near = nearest(str(word), known := tuple(known))
    return f"{f'did you mean {near!r}? ' if near else ''}known: {', '.join(map(repr, known))}"


def _package(part: Any) -> str:
    """The package that defines a part: the first word of its module."""
    return str(part.__module__).partition(".")[0]


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
    """All findings for the evidence, the worst first. Those that fail are one caution more; the others stand."""
    found, failed = [], []
    for one in evidence:
        for kind in all_findings(type(one)):
            try:
                words = kind.find(one)
            except Exception as error:  # noqa: BLE001  a part from outside may raise anything
                failed.append(_failure(kind, error))
                continue
            if words is not None:
                found.append(Caution(kind.code, words.severity, words.message, words.remedy, words.missing))
    if failed:
        found += cautions_for(FailedEvidence(tuple(dict.fromkeys(failed))))
    return tuple(sorted(found, key=lambda caution: SEVERITIES[caution.severity]))


@dataclass(frozen=True)
class FailedEvidence:
    """The findings that failed: the code of each, its package and its error, in words."""

    failed: tuple[str, ...] = ()


def _failure(kind: Kind, error: Exception) -> str:
    """A finding that failed, in words. A warning of Python's, by which its authors can find the line, tells it too."""
    what = str(error).partition("\n")[0]
    said = f"`{kind.code}` of package `{_package(kind.find)}` ({type(error).__name__}{what and ': '}{what})"
    warnings.warn(f"The finding {said} failed.", RuntimeWarning, stacklevel=3)
    return said


# It may have looked for anything: as a fault of the rows, it is beside every number.
@finding("finding-failed", "Findings that failed", lambda found: found.failed, cause="rows")
def finding_failed(found: FailedEvidence) -> Statement:
    return warning(
        f"{plural(len(found.failed), 'finding', 'findings')} failed, so nobody knows whether there is anything to say: "
        f"{', '.join(found.failed)}.",
        "Tell the authors of the package: `python -W error` shows the line. Until it is mended, take it back with "
        "`FINDINGS.remove(function)` of offrank.findings.",
    )
