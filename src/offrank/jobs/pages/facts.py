"""What a result document says: which estimates belong together, and how sound they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...folds.estimate import Caution
from ...report import words
from ...report.sheet import worst

Document = Mapping[str, Any]
Record = Mapping[str, Any]


def targets(document: Document) -> list[str]:
    """Names of the targets, in the order in which they were estimated."""
    named = dict.fromkeys(str(name) for name in document.get("targets") or {})
    return list(named | dict.fromkeys(estimate["target"] for estimate in estimates(document)))


def estimates(document: Document) -> list[Record]:
    """All estimates of the document, of groups too."""
    return list(document.get("estimates") or [])


def estimates_of(document: Document, target: str, group: str | None = None) -> list[Record]:
    """Estimates of one target for the whole log, or for one group of it."""
    return [one for one in estimates(document) if one["target"] == target and one.get("group") == group]


def verdict_of(document: Document, target: str) -> Record | None:
    """The verdict on a target; None where there is none."""
    found: Record | None = (document.get("verdicts") or {}).get(target)
    return found


def groups(document: Document, target: str) -> dict[str, dict[str, Record]]:
    """Estimates by group and estimator, the largest groups (most impressions) first."""
    found: dict[str, dict[str, Record]] = {}
    for one in estimates(document):
        if one["target"] == target and one.get("group") is not None:
            found.setdefault(one["group"], {})[one["estimator"]] = one
    return dict(sorted(found.items(), key=lambda item: -max(one.get("n") or 0 for one in item[1].values())))


def error_of(estimate: Record) -> float | None:
    """The standard error of an estimate, read off its interval where it is not given."""
    given = estimate.get("standard_error")
    return words.doubt(estimate.get("low"), estimate.get("high")) if given is None else given


def cautions(estimate: Record) -> list[Caution]:
    """Warnings of an estimate; its refusal counts as a serious one."""
    refusal = estimate.get("error")
    found = [*(estimate.get("warnings") or []), *([{**refusal, "severity": "serious"}] if refusal else [])]
    return [caution(one) for one in found]


def caution(record: Record) -> Caution:
    """A warning as it was."""
    return Caution(record["code"], record.get("severity", "note"), record["message"], record.get("remedy") or "")


def severity(estimate: Record) -> str:
    """The worst severity among the warnings of an estimate, "ok" without any."""
    return worst(one.severity for one in cautions(estimate))


def is_logged(estimate: Record) -> bool:
    """Whether an estimate is the mean of what was logged, which says nothing about the target."""
    return str(estimate["estimator"]).partition("(")[0] == "logged"


def is_sound(estimate: Record) -> bool:
    """Whether an estimate has an interval and no serious warning."""
    numbers = all(estimate.get(key) is not None for key in ("value", "low", "high"))
    return numbers and severity(estimate) != "serious"


def told(document: Document) -> Iterator[tuple[Caution, str, bool]]:
    """What is wrong with the log, and the warnings of all estimates, with whom they are about; groups come last."""
    several = len(targets(document)) > 1
    for one in document.get("log_findings") or []:
        yield caution(one), "the log", False
    for one in sorted(estimates(document), key=lambda one: one.get("group") is not None):
        of_group = one.get("group") is not None
        place = words.quote(one["estimator"])
        if several:
            place += f" for {words.quote(one['target'])}"
        if of_group:
            place += f" in {document.get('by') or 'group'} {words.quote(str(one['group']))}"
        yield from ((found, place, of_group) for found in cautions(one))
