"""The result of `select estimators`: the choice, the estimated error of every candidate, and the page of both."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..findings import cautions_for
from ..language.assumptions import in_words
from ..language.formatting import Span, finite, listing, number, plural, quote
from ..report.document import Answer, Document, Figures, Finding, Section
from ..report.facts import again
from ..report.plots import Forest, ForestRow
from ..report.printable import Delivered
from ..sums.estimate import Caution, PlacedCaution
from .estimators import EstimatedError
from .selector import SelectedEstimator

_LOG = "the log"
"""What a finding is about, if not an estimator."""
_RULE = (
    "The estimated error of a candidate is the root of its variance plus its squared bias. The bias is estimated "
    "from paired differences to estimates that assume less and are not contradicted, beyond the noise of these "
    "differences: for the target, and for pseudo-targets of the same log in proportion to their distance from the "
    "logging policy. A standard error that is based on few rows counts twice. The range is what the difference for "
    "the target alone allows (2 standard errors)."
)
_LIGHTS = {"refuted": "serious", "unusable": "serious", "uncertain": "warning"}
_PSEUDO = "none: the policies allow none, these candidates and columns do not, or the target is the logging policy"


@dataclass(frozen=True)
class SelectedEstimators(Delivered):
    """Which estimator to believe for one target, and the estimated error of every candidate.

    choice: the spelling of the chosen one is `choice.chosen`.
    """

    choice: SelectedEstimator

    headings = (
        "estimator",
        "status",
        "chosen",
        "value",
        "assumes_in_words",
        "bias",
        "against",
        "expected_error",
        "message",
    )

    @property
    def chosen(self) -> str:
        """The spelling of the estimator to use."""
        return self.choice.chosen

    @property
    def cautions(self) -> Mapping[str, Sequence[Caution]]:
        chosen = self.choice.estimates[self.chosen].warnings
        return {
            _LOG: self.choice.reading.summary.about_log,
            self.chosen: (*cautions_for(self.choice.evidence()), *chosen),
        }

    @property
    def findings(self) -> tuple[PlacedCaution, ...]:
        """Return the findings about the log and about the choice."""
        every = ((name, one) for name, some in self.cautions.items() for one in some)
        return tuple(PlacedCaution(one, estimator=None if name == _LOG else name) for name, one in every)

    def records(self) -> list[dict[str, Any]]:
        """Return a row per candidate, those of the least estimated error first.

        status: possible, uncertain (its standard error rests on few rows and counts twice), refuted (its bias exceeds
        its standard error), unusable or missing; message: the reason. chosen: whether it is the choice.
        """
        found = [self._row(one) for one in self.choice.ranking.ranked]
        for one in self.choice.ranking.unusable:
            codes = ", ".join(each.code for each in self.choice.estimates[one.name].warnings if each.severity != "note")
            row = self._row(EstimatedError(one, math.nan, high=math.nan))
            found.append({**row, "message": f"it must not be used ({codes or 'few rows have a weight'})"})
        missing = dict.fromkeys(found[0])
        found += [
            {**missing, "estimator": name, "status": "missing", "chosen": False, "message": why}
            for name, why in self.choice.refused.items()
        ]
        return found

    def _row(self, one: EstimatedError) -> dict[str, Any]:
        name, estimate = one.candidate.name, self.choice.estimates[one.candidate.name]
        doubt = one.candidate.doubt
        status = "possible" if doubt == 1 else "uncertain" if math.isfinite(doubt) else "unusable"
        status = "refuted" if one.refuted and math.isfinite(doubt) else status
        return {
            "estimator": name,
            "status": status,
            "chosen": name == self.chosen,
            "assumes": sorted(one.candidate.assumes),
            "assumes_in_words": in_words(one.candidate.assumes),
            **{end: finite(getattr(estimate, end)) for end in ("value", "low", "high", "standard_error")},
            "bias": finite(one.bias),
            "against": one.against,
            "expected_error": finite(one.error),
            "expected_error_low": finite(one.low) if math.isfinite(doubt) else None,
            "expected_error_high": finite(one.high),
            "message": f"it is contradicted by {one.against}, which assumes less" if one.refuted else None,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain lists, dicts and numbers (None for unknown values)."""
        shared = {"chosen": self.chosen, "trusted": self.choice.ranking.trusted, "pseudo": list(self.choice.pseudo)}
        said = [asdict(one) for one in self.findings]
        return {**self.facts, **shared, "candidates": self.records(), "findings": said}

    def to_document(self) -> Document:
        """Return the page: the choice, the estimated errors, what cannot be had, and how it was found."""
        rows, severity = self.records(), self.severity
        lead = f"{self.choice.rows:,} impressions, {plural(len(self.choice.given), 'candidate', 'candidates')}, "
        lead += f"{plural(len(self.choice.pseudo), 'pseudo-target', 'pseudo-targets')}."
        name, target = quote(self.chosen), quote(self.facts["target"])
        said = f"{name} **is the choice** for {target}."
        if not self.choice.ranking.ranked:
            said = f"**No candidate can be used** for {target}; {name} assumes the least."
        if broken := [one.code for one in self.cautions.get(_LOG, ()) if one.severity == "serious"]:
            said = (
                f"**Use none of them**: the log does not fit the question ({listing(broken)}), whatever the "
                "estimated errors are."
            )
        answer = Answer(said, severity=severity)
        judged = candidate_sections(rows, self.findings_by_code())
        repeated = again(self.facts, "log", "target", "logging", "examination", "cluster")
        sections = (*judged, rule(self.choice.pseudo), repeated)
        return self._page(lead, (one for one in sections if not one.empty), answer, candidates_forest(rows))


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
    each = ((row["estimator"], str(row["message"])) for row in rows)
    return tuple(why if why.startswith((name, quote(name))) else f"{quote(name)}: {why}" for name, why in each)


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
