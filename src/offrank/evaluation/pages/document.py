"""What the pages of all verbs share: the warnings of estimates, amounts in money, and how to repeat the job."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from ...errors import NoOverlapError
from ...formatting import quote
from ...frames import cautions
from ...report.document import Finding, Section, findings, worst
from ...sums.estimate import Estimate
from ..estimates import Found, ResultData

_AMOUNTS = {
    *("metadata", "estimates", "groups", "found", "verdicts", "comparisons", "verdict", "diagnoses"),
    *("clip_path", "window_path", "bounds", "lower", "upper", "difference_lower", "difference_upper"),
    *("estimate", "rows", "value", "low", "high", "standard_error", "difference", "logged", "detectable", "truths"),
    "cumulative",
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


def refusal(found: object) -> str:
    """Say in two words why there are no numbers; empty if there are some."""
    return found.code.replace("-", " ") if isinstance(found, NoOverlapError) else ""


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


def again(facts: Mapping[str, Any], *names: str) -> Section:
    """Return the call that made a result. names: facts that belong to the question."""
    asked = tuple(f"{name}: `{facts[name]}`" for name in names if facts.get(name))
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    prose = (f"Created on {facts['created']} with {versions}",)
    return Section("To repeat this", prose, items=asked, code=facts.get("command") or "", folded=True, printed=False)


_VERBS = {
    "click-model": "clicks fit",
    "clicks": "clicks evaluate",
    "click-judgements": "clicks judge",
    "click-predictions": "clicks predict",
    "examination": "clicks harvest",
    "metrics": "measure",
    "click-selection": "select clicks",
    "estimator-selection": "select estimators",
}
"""Commands whose results have a kind of another name."""


def period(known: Mapping[str, str]) -> str:
    """Return the first and the last day of a log, and the column that tells them, if it is named."""
    days = " to ".join(dict.fromkeys((known["first"], known["last"])))
    return f"{days} ({quote(known['column'])})" if "column" in known else days


def asked(facts: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return what was asked of which log, for the first screen: of the facts those that are there."""
    log, level = facts.get("log"), facts.get("confidence")
    known = dict(log) if isinstance(log, Mapping) else {"source": log}
    how = " ".join(filter(None, [facts.get("interval"), "" if level is None else f"{100 * level:g} %"]))
    told = {
        "Log": known.get("source") and quote(str(known["source"])),
        "Impressions": known.get("impressions") and f"{known['impressions']:,}",
        "Period": facts.get("period") and period(facts["period"]),
        "Judged on": facts.get("other") and quote(str(facts["other"])),
        "Drawn by": facts.get("logging") and quote(str(facts["logging"])),
        "Target": facts.get("target") and quote(str(facts["target"])),
        "Clusters": facts.get("cluster") not in (None, "auto") and quote(str(facts["cluster"])),
        "Groups": facts.get("by") and facts["kind"] == "metrics" and quote(str(facts["by"])),
        "Intervals": how,
    }
    return tuple((name, str(value)) for name, value in told.items() if value)


def eyebrow(facts: Mapping[str, Any]) -> str:
    """Return the command and the day that made a result."""
    verb = _VERBS.get(facts["kind"], facts["kind"])
    return " \u00b7 ".join(filter(None, [f"offrank {verb}", facts.get("created", "")[:10]]))
