"""What the pages of all verbs share: the warnings of estimates, amounts in money, and how to repeat the job."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from ...errors import NoOverlapError
from ...language.formatting import quote
from ...report.document import Finding, findings, worst
from ...sums.estimate import Estimate, cautions
from ..estimates import Found, ResultData

_AMOUNTS = {
    *("metadata", "estimates", "groups", "found", "verdicts", "comparisons", "verdict", "diagnoses"),
    *("clip_path", "window_path", "bounds", "lower", "upper", "difference_lower", "difference_upper"),
    *("estimate", "rows", "value", "low", "high", "standard_error", "difference", "logged", "detectable", "truths"),
    *("cumulative", "at_one_look"),
}
"""Fields that hold amounts in the unit of the log."""
_NUMBERS = re.compile(r"([0-9]+)")
_DAY = re.compile(r"[0-9]{4}-[01][0-9]-[0-3][0-9]([T ]00:00(:00)?(\.0+)?(Z|[+-]00:?00)?)?")


def severity(found: Found) -> str:
    """Return the worst severity among the warnings of an estimate, "ok" without any."""
    return worst(one.severity for one in cautions(found))


def is_sound(found: Found) -> bool:
    """Whether an estimate has an interval and no serious warning."""
    if isinstance(found, NoOverlapError) or severity(found) == "serious":
        return False
    return all(map(math.isfinite, (found.value, found.low, found.high)))


def known(found: Mapping[str, Found]) -> dict[str, Estimate]:
    """Return the estimates that the log can give."""
    return {name: one for name, one in found.items() if isinstance(one, Estimate)}


def groups(found: ResultData, target: str, most: int | None = None) -> dict[str, dict[str, Found]]:
    """Return a target's estimates by group and estimator, the largest (most impressions) first. most: how many.

    Groups whose names are all numbered (days, 1, 2, 10) are in natural order.
    """
    every = {name: one.of(target) for name, one in found.groups.items()}
    sizes = {name: max((one.n for one in known(each).values()), default=0) for name, each in every.items()}
    kept = sorted(sizes, key=lambda name: (-sizes[name], _natural(name)))[:most]
    return {name: every[name] for name in (sorted(kept, key=_natural) if all(map(_NUMBERS.search, kept)) else kept)}


def are_days(groups: Collection[str]) -> bool:
    """Whether groups are days, by their names: 2026-09-01, also with a time of midnight."""
    return len(groups) > 1 and all(map(_DAY.fullmatch, groups))


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """Return the sort key by which 2 stands before 10, also within a name."""
    return [(not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in _NUMBERS.split(name)]


def findings_of(found: ResultData) -> tuple[Finding, ...]:
    """Return the problems of the log and the warnings of all estimates, each with its subject, by code."""
    several = len(found.metadata.targets) > 1
    placed = []
    for one in found.findings:
        place = "the log" if one.estimator is None else quote(one.estimator)
        if several and one.target is not None:
            place += f" for {quote(one.target)}"
        if one.group is not None:
            place += f" in {found.metadata.by or 'group'} {quote(one.group)}"
        placed.append((one.caution, place, one.group is not None))
    return findings(placed)


def in_worth(found: ResultData) -> ResultData:
    """Multiply every amount by what one unit is worth; shares, weights and click rates are unchanged."""
    worth = found.metadata.worth
    return found if worth is None else _times(found, worth)


def _times(found: Any, factor: float) -> Any:
    if isinstance(found, float):
        return found * factor
    if isinstance(found, tuple):
        return tuple(_times(one, factor) for one in found)
    if is_dataclass(found) and not isinstance(found, type):
        names = [one.name for one in fields(found) if one.name in _AMOUNTS]
        return replace(found, **{name: _times(getattr(found, name), factor) for name in names})
    if isinstance(found, Mapping):
        return {name: _times(one, factor) for name, one in found.items()}
    return found
