"""Access to a document of numbers, such as `Result.to_dict` makes: which of its parts belong together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...folds.estimate import Caution
from ...formatting import quote
from ...report.document import Section, worst

Record = Mapping[str, Any]

_NUMBERS = ("value", "low", "high", "standard_error", "detectable", "truth")
_INTERVALS = ("difference", "logged", "value")


def targets(document: Record) -> list[str]:
    """Names of the targets, in the order in which they were estimated."""
    named = dict.fromkeys(str(name) for name in document.get("targets") or {})
    return list(named | dict.fromkeys(estimate["target"] for estimate in estimates(document)))


def estimates(document: Record) -> list[Record]:
    """Return all estimates of the document, those of groups included."""
    return list(document.get("estimates") or [])


def estimates_of(document: Record, target: str, group: str | None = None) -> list[Record]:
    """Return the estimates of one target for the whole log, or for one group of it."""
    return [one for one in estimates(document) if one["target"] == target and one.get("group") == group]


def verdict_of(document: Record, target: str) -> Record | None:
    """Return the verdict on a target, or None."""
    found: Record | None = (document.get("verdicts") or {}).get(target)
    return found


def groups(document: Record, target: str) -> dict[str, dict[str, Record]]:
    """Estimates by group and estimator, the largest groups (most impressions) first."""
    found: dict[str, dict[str, Record]] = {}
    for one in estimates(document):
        if one["target"] == target and one.get("group") is not None:
            found.setdefault(one["group"], {})[one["estimator"]] = one
    return dict(sorted(found.items(), key=lambda item: -max(one.get("n") or 0 for one in item[1].values())))


def cautions(estimate: Record) -> list[Caution]:
    """Return the warnings of an estimate; a missing estimate counts as a serious one."""
    refusal = estimate.get("error")
    found = [*(estimate.get("warnings") or []), *([{**refusal, "severity": "serious"}] if refusal else [])]
    return [caution(one) for one in found]


def caution(record: Record) -> Caution:
    """Rebuild a warning from its record."""
    return Caution(record["code"], record.get("severity", "note"), record["message"], record.get("remedy") or "")


def severity(estimate: Record) -> str:
    """Return the worst severity among the warnings of an estimate, "ok" without any."""
    return worst(one.severity for one in cautions(estimate))


def is_logged(estimate: Record) -> bool:
    """Whether an estimate is the mean of what was logged, which says nothing about the target."""
    return str(estimate["estimator"]).partition("(")[0] == "logged"


def is_sound(estimate: Record) -> bool:
    """Whether an estimate has an interval and no serious warning."""
    numbers = all(estimate.get(key) is not None for key in ("value", "low", "high"))
    return numbers and severity(estimate) != "serious"


def told(document: Record) -> Iterator[tuple[Caution, str, bool]]:
    """Return the problems of the log and the warnings of all estimates, each with its subject; groups come last."""
    several = len(targets(document)) > 1
    for one in document.get("log_findings") or []:
        yield caution(one), "the log", False
    for one in sorted(estimates(document), key=lambda one: one.get("group") is not None):
        of_group = one.get("group") is not None
        place = quote(one["estimator"])
        if several:
            place += f" for {quote(one['target'])}"
        if of_group:
            place += f" in {document.get('by') or 'group'} {quote(str(one['group']))}"
        yield from ((found, place, of_group) for found in cautions(one))


def refusal(record: Record) -> str:
    """Say in two words why there are no numbers; empty if there are some."""
    error = record.get("error")
    return str(error["code"]).replace("-", " ") if error else ""


def priced(document: Record) -> dict[str, Any]:
    """Multiply every amount of the document by its `worth`; shares, weights and click rates are unchanged."""
    factor = document.get("worth")
    if factor is None:
        return dict(document)

    def times(record: Record) -> dict[str, Any]:
        found = dict(record)
        for name in _NUMBERS:
            if isinstance(found.get(name), float | int):
                found[name] = found[name] * factor
        for name in _INTERVALS:
            if isinstance(found.get(name), Mapping):
                found[name] = times(found[name])
        return found

    verdicts = {name: times(one) for name, one in (document.get("verdicts") or {}).items()}
    rows = {name: [times(one) for one in document.get(name) or []] for name in ("estimates", "comparisons")}
    for name in ("clip_path", "window_path"):
        rows[name] = [{**path, "rows": [times(one) for one in path["rows"]]} for path in document.get(name) or []]
    logged = document.get("logged")
    return {**document, **rows, "verdicts": verdicts, "logged": None if logged is None else times(logged)}


def again(document: Record, *names: str) -> Section:
    """Return the call that made the document; names: parts that belong to the question."""
    asked = tuple(f"{name}: `{document[name]}`" for name in names if document.get(name))
    made = f"Made on {document['created']}" if document.get("created") else ""
    versions = ", ".join(f"{name} {version}" for name, version in (document.get("versions") or {}).items())
    prose = " with ".join(filter(None, [made, versions]))
    told = (prose,) if prose else ()
    return Section("To repeat this", told, items=asked, code=document.get("command") or "", folded=True, printed=False)


_VERBS = {
    "click-model": "clicks fit",
    "clicks": "clicks evaluate",
    "examination": "clicks harvest",
    "metrics": "measure",
    "click-selection": "select clicks",
    "estimator-selection": "select estimators",
}
"""Commands whose documents have a kind of another name."""


def eyebrow(document: Record) -> str:
    """Return the command and the time that made the document."""
    kind, day = str(document.get("kind") or ""), str(document.get("created") or "")[:10]
    return " \u00b7 ".join(filter(None, [f"offrank {_VERBS.get(kind, kind)}".strip(), day]))
