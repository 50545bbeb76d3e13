"""The result of `clicks evaluate`: how well click models predict clicks, rank documents, and transfer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..clicks.evaluation import Evaluations, Predictor
from ..clicks.fitted import Fitted
from ..clicks.summary import log_findings
from ..evaluation.reproducibility import Delivered
from ..report.document import Document
from ..report.facts import again
from ..sums.estimate import Caution
from . import click_pages as pages
from .graded import Ranked


@dataclass(frozen=True)
class ClickEvaluation(Delivered):
    """Results of click models on a log.

    - here: on the log itself. elsewhere: on another log, such as of another ranking policy; None if not given.
    - ranked: nDCG; None without labels.
    """

    models: Mapping[str, Predictor]
    here: Evaluations
    elsewhere: Evaluations | None = None
    ranked: Ranked | None = None

    @property
    def cautions(self) -> dict[str, tuple[Caution, ...]]:
        """Return the warnings about each model: from its fit, from this log, and from the other log."""
        found = {}
        for name, model in self.models.items():
            away = self.elsewhere[name].cautions if self.elsewhere else ()
            learnt = model.cautions if isinstance(model, Fitted) else ()
            found[name] = tuple(dict.fromkeys((*learnt, *self.here[name].cautions, *away)))
        return found

    headings = ("model", "quantity", "rank", "value", "difference")

    def records(self) -> list[dict[str, Any]]:
        return self.here.records()

    def to_dict(self) -> dict[str, Any]:
        found = {**self.facts, **self.here.to_dict()}
        if self.elsewhere is not None:
            found["out_of_distribution"] = self.elsewhere.to_dict()
        if self.ranked is not None:
            found["ndcg"] = self.ranked.to_dict(list(self.models))
        return found

    def to_document(self) -> Document:
        first = next(iter(self.here.values()))
        away = next(iter(self.elsewhere.values())).tally if self.elsewhere else None
        parts = [
            log_findings(self.findings_by_code(), first.tally, away, self.facts.get("grades")),
            *pages.quantities(self.here, self.ranked, "On this log"),
        ]
        if self.elsewhere is not None:
            parts += pages.quantities(self.elsewhere, None, f"Out of distribution: {self.facts['other']}")
        fitted = {name: model for name, model in self.models.items() if isinstance(model, Fitted)}
        parts += pages.curves(fitted, first.confidence)
        parts.append(again(self.facts, "log", "other", "labels", "cluster", "spelling"))
        read = f"{first.sessions:,} sessions, {100 * first.confidence:g} % intervals"
        return self._page(read, parts, pages.answer(self.here, self.severity), pages.forests(self.here)[0])
