"""The report as one self-contained HTML page: no network, no scripts, everything escaped."""

from __future__ import annotations

import os
import re
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, Template
from markupsafe import Markup

from offrank.files import write_text
from offrank.report import facts, plots, words
from offrank.report.answers import answers
from offrank.report.facts import Document
from offrank.report.histograms import histograms
from offrank.report.rows import SIGNS, measured, row, rows
from offrank.report.svg import forest_svg, histogram_svg, typographic

_MARKS = re.compile(r"(`[^`]+`|\*\*[^*`]+\*\*)")


def render(document: Document) -> str:
    """The page for a result document, as text.

    Sections without content are left out; an empty document gives a page that says so. By its content
    security policy the page forbids itself to run scripts or to load anything.
    """
    return _template().render(
        title=document.get("title") or "offrank report",
        document=document,
        answers=answers(document),
        findings=facts.findings(document),
        signs=SIGNS,
        targets=[_target(document, name) for name in facts.targets(document)],
        mean_weights=[_drawn(plots.mean_weights(document, name), name) for name in facts.targets(document)],
        histograms=_histograms(document),
        ranks=_drawn(plots.ranks(document)),
        groups=[_groups(document, name) for name in facts.targets(document)] if facts.groups(document) else [],
        hidden_groups=facts.hidden_groups(document),
        log_facts=_log_facts(document),
    )


def save(document: Document, path: str | os.PathLike[str]) -> None:
    """Write the page to a file, whole or not at all: under a temporary name first, then renamed."""
    write_text(path, render(document))


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("offrank.report", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "prose": _prose,
        "typographic": typographic,
        "count": words.count,
        "percent": words.percent,
        "number": _number,
        "measured": measured,
        "printable": words.printable,
        "shorten": words.shorten,
    }
    return environment.get_template("report.html.jinja")


def _prose(text: str) -> Markup:
    """Escaped text in which backticks mark code and double asterisks what to read first."""
    pieces = [_marked(piece) for piece in _MARKS.split(words.printable(text).replace(" %", "\u00a0%"))]
    return Markup().join(pieces)


def _marked(piece: str) -> Markup | str:
    if _MARKS.fullmatch(piece) and piece.startswith("`"):
        return Markup("<code>{}</code>").format(piece[1:-1])
    if _MARKS.fullmatch(piece):
        return Markup("<strong>{}</strong>").format(piece[2:-2])
    return piece


def _number(value: float | None, error: float | None = None) -> str:
    return typographic(words.number(value, words.decimals(value, error)))


def _drawn(plot: plots.ForestPlot, name: str = "") -> dict[str, Any]:
    return {"name": name, "plot": plot, "svg": forest_svg(plot)}


def _histograms(document: Document) -> dict[str, list[dict[str, Any]]]:
    by_target: dict[str, list[dict[str, Any]]] = {}
    for plot in histograms(document):
        by_target.setdefault(plot.target, []).append({"plot": plot, "svg": histogram_svg(plot)})
    return by_target


def _target(document: Document, name: str) -> dict[str, Any]:
    spelling = str((document.get("targets") or {}).get(name, name))
    return {
        "spelling": "" if spelling == name else spelling,
        "rows": rows(document, name),
        **_drawn(plots.forest(document, name), name),
    }


def _groups(document: Document, target: str) -> dict[str, Any]:
    """The plot by group of the estimator that answers, and all estimators as a table of groups."""
    estimator = facts.grouped_estimator(document, target)
    return {
        "estimator": estimator,
        "estimators": facts.grouped_estimators(document, target),
        "lines": [_group(document, target, group) for group in facts.groups(document)[: facts.MOST_GROUPS]],
        **_drawn(plots.group_forest(document, target, estimator), target),
    }


def _group(document: Document, target: str, group: str) -> dict[str, Any]:
    found = facts.estimates_of(document, target, group)
    cells = {one["estimator"]: row(one) for one in found}
    return {"group": group, "n": max((one.get("n") or 0 for one in found), default=0), "cells": cells}


def _dependent(document: Document) -> str:
    """What rows are clustered by, and how much that widens the intervals."""
    if not document.get("cluster"):
        return ""
    effects = [one["design_effect"] for one in facts.estimates(document) if one.get("design_effect")]
    widest = f" (design effect up to {max(effects):.1f})" if effects else ""
    return f"taken together by {words.quote(document['cluster'])}{widest}"


def _log_facts(document: Document) -> list[tuple[str, str]]:
    """Names and values of what is known about the log; what is not known is left out."""
    log = document.get("log") or {}
    estimated = log.get("estimated_impressions")
    confidence, skipped = document.get("confidence"), log.get("skipped") or {}
    known = {
        "Source": words.quote(str(log["source"])) if log.get("source") else "",
        "Impressions": words.count(log.get("impressions")),
        "Left out, learnt from": words.count(log.get("learnt_from")),
        "Before sub-sampling": "" if estimated == log.get("impressions") else words.count(estimated),
        "Logging policy": words.quote(document["logging"]) if document.get("logging") else "",
        "Examination by rank": ", ".join(f"{one:g}" for one in document.get("examination") or []),
        "Intervals": f"{document.get('interval') or ''} {100 * confidence:g} %".strip() if confidence else "",
        "Dependent rows": _dependent(document),
    }
    known |= {f"Rows skipped: {rule}": words.count(number) for rule, number in skipped.items() if number}
    return [(name, value) for name, value in known.items() if value not in ("", words.MISSING)]
