"""The result of `select estimators`: the choice, and the estimated error of every candidate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ..findings import cautions_for
from ..language.assumptions import in_words
from ..language.formatting import finite, listing, plural, quote
from ..report.document import Answer, Document
from ..report.facts import again
from ..selection.estimators import EstimatedError
from ..sums.estimate import Caution, PlacedCaution
from .pages.selection import candidate_sections, candidates_forest, rule, simulated_section
from .reproducibility import Delivered
from .selection import SelectedEstimator
from .simulated_selection import SimulatedSelection

_LOG = "the log"
"""What a finding is about, if not an estimator."""


@dataclass(frozen=True)
class SelectedEstimators(Delivered):
    """Which estimator to believe for one target, and the estimated error of every candidate.

    choice: the spelling of the chosen one is `choice.chosen`. simulated: how often such a choice is right in simulated
    worlds like the log.
    """

    choice: SelectedEstimator
    simulated: SimulatedSelection = field(default_factory=SimulatedSelection)

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
        simulated = {**asdict(self.simulated), "right": self.simulated.right, "fixed": self.simulated.fixed()}
        return {**self.facts, **shared, "candidates": self.records(), "simulated": simulated, "findings": said}

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
        simulated = simulated_section(self.simulated, self.choice.given)
        repeated = again(self.facts, "log", "target", "logging", "examination", "cluster")
        sections = (*judged, simulated, rule(self.choice.pseudo), repeated)
        return self._page(lead, (one for one in sections if not one.empty), answer, candidates_forest(rows))
