"""The page of `select estimators`: the candidates, those that cannot be used, and how such a choice fares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...language.formatting import Span, listing, number, percent, quote
from ...report.document import Figures, Finding, Section
from ...report.plots import Forest, ForestRow
from ..simulated_selection import NEAR, SimulatedSelection

_RULE = (
    "The estimated error of a candidate is the root of its variance plus its squared bias. The bias is estimated "
    "from paired differences to estimates that assume less and are not contradicted, beyond the noise of these "
    "differences: for the target, and for pseudo-targets of the same log in proportion to their distance from the "
    "logging policy. A standard error that is based on few rows counts twice. The range is what the difference for "
    "the target alone allows (2 standard errors)."
)
_LIGHTS = {"refuted": "serious", "unusable": "serious", "uncertain": "warning"}
_OFF = 0.02
"""Simulated click rates that differ more from the log's are reported."""
_PSEUDO = "none: the policies allow none, these candidates and columns do not, or the target is the logging policy"


def candidate_sections(rows: Sequence[Mapping[str, Any]], findings: tuple[Finding, ...]) -> Iterator[Section]:
    """Yield the estimated errors, and the candidates that must not be used or cannot be had."""
    cells = tuple(_cells(row) for row in rows if row["value"] is not None)
    header = ("estimator", "status", "value", "bias", "against", "expected error", "range")
    table = Figures("Estimated errors", header, cells, extra=((6,),))
    unfit = [row for row in rows if row["message"] and (not row["chosen"] or row["status"] == "unusable")]
    yield Section("The candidates", tables=(table,), findings=findings)
    yield Section("Must not be used", items=_reasons(row for row in unfit if row["status"] != "missing"))
    yield Section("Not available", items=_reasons(row for row in unfit if row["status"] == "missing"))


def rule(pseudo: Sequence[str]) -> Section:
    """Return the section on how the candidates were judged. pseudo: the pseudo-targets."""
    items = tuple(map(quote, pseudo)) or (_PSEUDO,)
    return Section("How candidates are compared", (_RULE,), items=items, folded=True, printed=False)


def candidates_forest(rows: Sequence[Mapping[str, Any]]) -> Forest:
    """Plot the estimate of each candidate; the light says which is chosen and which must not be used."""
    each = (ForestRow(row["estimator"], _span(row), light=_light(row)) for row in rows)
    lights = ("ok", "chosen"), ("warning", "uncertain"), ("serious", "refuted, or not to be used")
    return Forest("Estimate of each candidate, smallest estimated error first", tuple(each), lights=lights)


def _light(row: Mapping[str, Any]) -> str:
    return _LIGHTS.get(row["status"], "ok" if row["chosen"] else "")


def _reasons(rows: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the estimators with the reasons, which may begin with the estimator themselves."""
    each = ((quote(row["estimator"]), str(row["message"])) for row in rows)
    return tuple(why if why.startswith(name) else f"{name}: {why}" for name, why in each)


def _span(row: Mapping[str, Any]) -> Span:
    return Span(*(row[name] for name in ("value", "low", "high", "standard_error")))


def _cells(row: Mapping[str, Any]) -> tuple[Any, ...]:
    low, high = _short(row["expected_error_low"]), _short(row["expected_error_high"])
    ends = None if low is None else f"at least {low}" if high is None else f"{low} to {high}"
    status = row["status"]
    if row["chosen"]:
        status = "chosen" if status == "possible" else f"chosen, {status}"
    bias, error = _short(row["bias"]), _short(row["expected_error"])
    return row["estimator"], status, _span(row).number(), bias, row["against"], error, ends


def _short(value: float | None) -> str | None:
    return None if value is None else number(value)


def simulated_section(found: SimulatedSelection, given: Iterable[str]) -> Section:
    """Return the section about simulated choices. given: the candidates."""
    title = "How often the selection is right"
    if not (found.kinds or found.missing):
        return Section(title)
    if found.missing:
        return Section(title, (f"Nothing was simulated: {found.missing}.",))
    few, near = sorted(found.fixed().items(), key=lambda one: (-one[1], one[0])), percent(NEAR - 1)
    rates = "click rates by rank are the log's"
    if not found.by_rank:
        rates = "the mean number of clicks is the log's, equal at all ranks"
    off = f" Simulated click rates differ from the log's by up to {percent(found.off)}." if found.off > _OFF else ""
    told = (
        f"In {found.logs} simulated logs of {found.rows:,} impressions, the error of the chosen estimator was at "
        f"most {near} above that of the best in {percent(found.right)} (standard error {percent(found.error)}). "
        f"Always using `{few[0][0]}` achieves {percent(few[0][1])}, more than any other single estimator. Contexts "
        f"are {found.contexts:,} of the log's, slates are drawn from its logging policy, and {rates}; users and the "
        f"relevance of items are simulated.{off}"
    )
    names = [name for name, _ in few]
    rows = tuple(
        (one.users, one.best, f"{one.right} of {one.logs}", f"{one.auto:.2f}", *(f"{one.errors[n]:.2f}" for n in names))
        for one in found.kinds
    )
    if left := [quote(name) for name in given if name not in found.kinds[0].errors]:
        told += f" Candidates missing there: {listing(left)}."
    table = Figures(
        "Error relative to the best candidate", ("users", "best", "right", "choice", *names), rows, folded=True
    )
    return Section(title, (told,), tables=(table,))
