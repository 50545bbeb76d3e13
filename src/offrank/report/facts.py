"""What a result document says: which estimates belong together, which to trust, what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from offrank.report import words

Document = Mapping[str, Any]
Record = Mapping[str, Any]

SEVERITIES = ("ok", "note", "warning", "serious")
MOST_GROUPS = 20


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


def groups(document: Document) -> list[str]:
    """Names of the groups, the largest (most impressions) first."""
    sizes: dict[str, int] = {}
    for one in estimates(document):
        if one.get("group") is not None:
            sizes[one["group"]] = max(sizes.get(one["group"], 0), one.get("n") or 0)
    return sorted(sizes, key=lambda name: -sizes[name])


def grouped_estimators(document: Document, target: str) -> list[str]:
    """Spellings of the estimators that were applied to the groups, in order."""
    found = (one for one in estimates(document) if one["target"] == target and one.get("group") is not None)
    return list(dict.fromkeys(one["estimator"] for one in found))


def grouped_estimator(document: Document, target: str) -> str:
    """The estimator whose groups are shown first: the one that answers for the whole log."""
    best = (verdict_of(document, target) or {}).get("estimator")
    names = grouped_estimators(document, target)
    return best if best in names else next(iter(names), "")


def hidden_groups(document: Document) -> int:
    """How many groups are too small to be shown."""
    return max(0, len(groups(document)) - MOST_GROUPS)


def warnings_of(estimate: Record) -> list[Record]:
    """Warnings of an estimate; its refusal counts as a serious one."""
    refusal = estimate.get("error")
    return list(estimate.get("warnings") or []) + ([{**refusal, "severity": "serious"}] if refusal else [])


def severity(estimate: Record) -> str:
    """The worst severity among the warnings of an estimate, "ok" without any."""
    return worst(warning.get("severity", "note") for warning in warnings_of(estimate))


def worst(severities: Iterable[str]) -> str:
    """The worst of some severities."""
    known = (name for name in severities if name in SEVERITIES)
    return max(known, key=SEVERITIES.index, default="ok")


def is_logged(estimate: Record) -> bool:
    """Whether an estimate is the mean of what was logged, which says nothing about the target."""
    return str(estimate["estimator"]).partition("(")[0] == "logged"


def is_sound(estimate: Record) -> bool:
    """Whether an estimate has an interval and no serious warning."""
    numbers = all(estimate.get(key) is not None for key in ("value", "low", "high"))
    return numbers and severity(estimate) != "serious"


@dataclass
class Told:
    """One message with the estimates it is about."""

    severity: str
    message: str
    remedy: str
    places: list[str] = field(default_factory=list)


@dataclass
class Finding:
    """All warnings of one code, each message with its own severity; the rest in groups is counted."""

    code: str
    told: dict[tuple[str, str], Told] = field(default_factory=dict)
    of_groups: int = 0

    def add(self, warning: Record, where: str, of_group: bool) -> None:
        """Enter one warning; those of groups are only counted once a message as severe stands for the code."""
        one = Told(warning.get("severity", "note"), warning["message"], warning.get("remedy") or "")
        if of_group and self.told and worst((self.severity, one.severity)) == self.severity:
            self.of_groups += 1
        else:
            self.told.setdefault((one.severity, one.message), one).places.append(where)

    @property
    def severity(self) -> str:
        """The worst of all."""
        return worst(one.severity for one in self.told.values())

    @property
    def _worst_first(self) -> list[Told]:
        return sorted(self.told.values(), key=lambda one: -SEVERITIES.index(one.severity))

    def shown(self, most: int = 5) -> list[tuple[str, str]]:
        """Messages with the estimates they are about, the worst first, the end of a long list left out."""
        several = len({one.severity for one in self.told.values()}) > 1
        return [
            (f"{one.severity}: {one.message}" if several else one.message, words.listing(one.places))
            for one in self._worst_first[:most]
        ]

    def remedies(self, most: int = 5) -> list[tuple[str, str]]:
        """What to do about the messages that are shown, with the estimates it is for where that differs."""
        places: dict[str, list[str]] = {}
        for one in self._worst_first[:most]:
            if one.remedy:
                places.setdefault(one.remedy, []).extend(one.places)
        return [(words.listing(names) if len(places) > 1 else "", remedy) for remedy, names in places.items()]

    def rest(self, most: int = 5) -> str:
        """What `shown` leaves out, in words."""
        hidden = len(self.told) - most
        more = [words.plural(hidden, "more message", "more messages")] if hidden > 0 else []
        if self.of_groups:
            more.append(words.plural(self.of_groups, "estimate of a group", "estimates of groups"))
        return f"Also {words.listing(more)} with this code." if more else ""


def findings(document: Document) -> list[Finding]:
    """What is wrong with the log, and the warnings of all estimates by code, the worst first.

    Those of the whole log come before those of groups.
    """
    several = len(targets(document)) > 1
    found: dict[str, Finding] = {}
    for one in document.get("log_findings") or []:
        found.setdefault(one["code"], Finding(one["code"])).add(one, "the log", of_group=False)
    for one in sorted(estimates(document), key=lambda one: one.get("group") is not None):
        for warning in warnings_of(one):
            code = warning["code"]
            finding = found.setdefault(code, Finding(code))
            finding.add(warning, _where(document, one, several), one.get("group") is not None)
    return sorted(found.values(), key=lambda finding: -SEVERITIES.index(finding.severity))


def _where(document: Document, estimate: Record, several: bool) -> str:
    place = words.quote(estimate["estimator"])
    if several:
        place += f" for {words.quote(estimate['target'])}"
    if estimate.get("group") is not None:
        place += f" in {document.get('by') or 'group'} {words.quote(str(estimate['group']))}"
    return place
