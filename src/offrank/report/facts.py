"""What the page of any result says of its making: the log and its days, what was asked, and how to repeat the job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import NoOverlapError
from ..language.formatting import quote
from .document import Section


def refusal(found: object) -> str:
    """Say in two words why there are no numbers; empty if there are some."""
    return found.code.replace("-", " ") if isinstance(found, NoOverlapError) else ""


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
    "runs": "measure",
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
        "Runs": facts.get("runs") and " and ".join(map(quote, facts["runs"])),
        "Judgements": facts.get("qrels") and quote(str(facts["qrels"])),
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
