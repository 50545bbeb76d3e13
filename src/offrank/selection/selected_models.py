"""The choice of a click model for use under another policy, from a log: what each measures, and the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from ..clicks import given_models
from ..clicks.evaluation import Evaluations, evaluate_models
from ..clicks.fitted import Fitted
from ..clicks.summary import log_findings
from ..errors import AbilityError
from ..evaluation import arguments, metadata
from ..findings import cautions_for, convicting
from ..findings.measure import CmipEvidence
from ..frames import plain
from ..log.source import Source
from ..metrics import click_pages as pages
from ..metrics.cmip_models import cmip_of_relevance, views
from ..metrics.conditional_information import Cmip
from ..metrics.graded import Graded, GradedFold, GradesBy, Ranked
from ..policies import policy
from ..policies.base import Policy
from ..policies.fit import fitted
from ..report.document import Document, Section, worst
from ..report.facts import again
from ..report.printable import Delivered
from ..running.executors import Executor
from ..sums.estimate import Caution
from .candidates import MeasuredModel
from .click_models import ModelChoice, Selection, select
from .strategies import strategy


@dataclass(frozen=True)
class Selected(Delivered):
    """Measurements of each click model, and the choice of each strategy.

    here: likelihood and perplexity on the log. ranked: nDCG, in the order of the models. cmip: by model. about:
    warnings about each model.
    """

    selection: Selection
    here: Evaluations
    ranked: Ranked
    cmip: Mapping[str, Cmip]
    about: Mapping[str, tuple[Caution, ...]]

    @property
    def cautions(self) -> Mapping[str, tuple[Caution, ...]]:
        return self.about

    @property
    def choice(self) -> ModelChoice | Any:
        """Return the choice of the only strategy, or of the one that the paper found best; None if there is none."""
        return self.selection.choice

    @property
    def severity(self) -> str:
        """Return the worst severity of the findings about the model that is chosen."""
        return "serious" if self.choice is None else worst(one.severity for one in self.about[self.choice.name])

    headings = Selection.headings

    def records(self) -> list[dict[str, Any]]:
        return self.selection.records()

    def to_dict(self) -> dict[str, Any]:
        return {
            **self.facts,
            **self.here.to_dict(),
            "ndcg": self.ranked.to_dict(list(self.here)),
            "cmip": plain(self.cmip),
            **self.selection.to_dict(),
        }

    def to_document(self) -> Document:
        read = f"{self.facts['sessions']:,} sessions, {self.facts['queries']:,} queries"
        lead = f"{read}, {self.facts['documents']:,} graded documents; {100 * self.facts['confidence']:g} % intervals."
        answer, tally = self.selection.answer(self.severity), next(iter(self.here.values())).tally
        doubts = Section("Uncertainty of the choice", answers=(answer,), printed=False)
        parts = [pages.measured(self.here, self.ranked, self.cmip), doubts, self.selection.chosen()]
        parts.append(log_findings(self.findings_by_code(), tally, note=self.facts.get("grades")))
        parts += (replace(one, folded=True, printed=False) for one in pages.quantities(self.here, None, "Perplexity"))
        parts.append(again(self.facts, "log", "labels", "logging", "relevance", "cluster", "seed"))
        return self._page(lead, parts, answer)


@dataclass(frozen=True)
class AskedModels:
    """The arguments of `offrank.select_clicks` that say what is read, and of what."""

    log: Any
    columns: Mapping[str, str] | None
    format: Any
    model: given_models.Models
    logging: str | Policy
    strategy: str | None
    labels: str
    by: str | None
    grades_by: GradesBy
    cluster: str | None


def selected_clicks(asked: AskedModels, how: Mapping[str, Any], **read: Any) -> Selected:
    """Return the choice. how: relevance, seed and confidence of CMIP. read: executor and progress."""
    found, source = given_models.models(asked.model), arguments.source(asked.log, asked.columns, asked.format)
    if asked.strategy is not None:
        strategy(asked.strategy)  # raises before anything is read
    ranks = ranking_policy(policy(asked.logging), source, read["executor"])
    column = given_models.query_column(found, asked.by)
    seen = {name: views(one, how["relevance"], how["seed"]) for name, one in found.items()}
    fold = GradedFold(found, asked.labels, column, ranks, asked.grades_by, [*chain(*seen.values())])
    grades = fold.read(source, **read)
    confidence, clustered = how["confidence"], asked.cluster
    here = evaluate_models(found, source, confidence=confidence, cluster=clustered, ordered=True, **read)
    cmip = debiased(grades, found, seen, **how)
    cautions = cautions_about(found, here, cmip, counted=ranks is None)
    said = {**how, "labels": asked.labels, "logging": str(asked.logging), **grades.counted(asked.grades_by)}
    title, sessions = f"Which click model is best on {source.describe()}?", next(iter(here.values())).sessions
    facts = metadata.facts("click-selection", title, source, **said, sessions=sessions)
    return chosen_model(asked.strategy, here, grades.ndcg(confidence), cmip, cautions, seen, facts)


def debiased(
    graded: Graded, found: Mapping[str, Fitted], seen: Mapping[str, list[Fitted]], **how: Any
) -> dict[str, Cmip]:
    """Return the CMIP of each model, by its own columns of the draws."""
    ends = np.cumsum([len(some) for some in seen.values()])
    drawn, code = np.split(graded.drawn, ends[:-1], axis=1), graded.code.T
    return {
        name: cmip_of_relevance(one, own, place, graded.rank, graded.grade, cluster=graded.query, **how)
        for (name, one), own, place in zip(found.items(), drawn, code, strict=True)
    }


def ranking_policy(policy: Policy, source: Source, executor: Executor | None) -> Policy | None:
    """Return the fitted policy if it can rank every candidate, otherwise None."""
    try:
        policy.law("rank_probs").reads("rank_probs")
        return fitted(policy, source, executor).law("rank_probs")
    except AbilityError:
        return None


def cautions_about(
    found: Mapping[str, Fitted], here: Evaluations, cmip: Mapping[str, Cmip], *, counted: bool
) -> dict[str, tuple[Caution, ...]]:
    """Return the warnings about each model. counted: whether CMIP uses the ranks in the log."""
    ranks = cautions_for(CmipEvidence(counted=counted))
    return {name: (*one.cautions, *ranks, *here[name].cautions, *cmip[name].warnings) for name, one in found.items()}


def chosen_model(
    strategy: str | None,
    here: Evaluations,
    ranked: Ranked,
    cmip: Mapping[str, Cmip],
    about: Mapping[str, tuple[Caution, ...]],
    seen: Mapping[str, list[Fitted]],
    facts: Mapping[str, Any],
) -> Selected:
    """Return the choice of a strategy, or of all. seen: by model, what CMIP is of: itself, or posterior draws."""
    candidates = [  # CMIP is what is above the floor, where there is one: each model has its own
        MeasuredModel(
            name, here[name].perplexity, ranked.of(at), pages.above(one), len(seen[name]) == 1, convicting(about[name])
        )
        for at, (name, one) in enumerate(cmip.items())
    ]
    return Selected(select(candidates, strategy), here, ranked, cmip, about, facts=facts)
