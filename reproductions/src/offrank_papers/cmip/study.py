"""One study: draw sessions, fit the models, and measure each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from offrank.clicks.evaluation import PERPLEXITY_CLIP
from offrank.clicks.fitted import Fitted
from offrank.clicks.sessions import SessionsFold
from offrank.language import Say
from offrank.log.batch import Floats
from offrank.log.source import needs
from offrank.metrics.cmip_methods import Binned
from offrank.metrics.cmip_models import cmip_of
from offrank.metrics.graded import ndcg_by_query
from offrank.running.executors import run
from offrank.simulation.source import SimulatedSource
from offrank.simulation.users import User
from offrank.simulation.worlds import JudgedWorld

from ..cmip_methods import Paper
from ..neural.law import HISTORIES
from ..neural.models import RecurrentModel
from ..simulated_users.page_policies import logging_policy, logging_relevance, test_policy
from .design import FIGURE, ORACLE, PBM, POLICIES, Study, StudyDesign, StudyQueries, seed_of

Found = dict[str, Any]

POINTS, DRAWS, PUBLISHED = ESTIMATORS = ("points", "draws", "published estimator")
"""CMIP of point estimates, its mean over posterior draws of the model, and the published estimator (of points)."""

BINNED, PAPER = Binned(), Paper()
MEASURED = ("value", "low", "high", "p_value", "biased")

SHOWN_DOCUMENTS = 1_500
"""Number of points in Figure 1, as in the paper."""


def studied(queries: StudyQueries, study: Study, say: Say) -> Found:
    """Return the results of a study, as plain numbers.

    - models: name -> ndcg, cmip (estimator -> the numbers MEASURED), converged, and perplexity (test policy ->
      "unconditional", None where that takes too long, and "conditional").
    - policies: name -> nDCG of its scores.
    - documents: only if Figure 1 needs them, grade, logging and the relevance by both models.
    """
    world, design = queries.world(study), queries.design
    fitted = _fitted(queries, study, world, say)
    whole = world.contexts()
    relevance = {name: model.relevance(whole) for name, model in fitted.items()}
    found: Found = {"models": {name: {"converged": one.learnt.converged} for name, one in fitted.items()}}
    if study.user != FIGURE:
        say("perplexity")
        for policy in POLICIES:
            # The same slates in all runs: runs differ in what the models have learnt from.
            seed = seed_of(design.seed, study.user, policy)
            tests = SimulatedSource(world, design.tests, test_policy(world, policy, design.preset), seed)
            for name, one in perplexities(fitted, world.user, tests).items():
                found["models"][name].setdefault("perplexity", {})[policy] = one
    scored = queries.of_user(study.user)
    found["policies"] = {name: scored.ndcg(scores) for name, scores in world.scores.items()}
    query = np.repeat(world.query, world.documents)
    ndcg = ndcg_by_query(query, world.grade.ravel(), [one.ravel() for one in relevance.values()], 0.95)
    for index, (name, model) in enumerate(fitted.items()):
        say(f"CMIP of {name}")
        by_estimator = _cmip(model, world, study, design)
        found["models"][name] |= {"ndcg": ndcg.of(index).value, "cmip": by_estimator}
    if study in {Study(user, ORACLE, 0, design.sessions) for user in (PBM, FIGURE)}:
        rows = slice(0, max(SHOWN_DOCUMENTS // world.documents, 1))  # whole queries
        tables = {"grade": world.grade, "logging": logging_relevance(world, study.logging, design.preset)}
        tables |= {name: relevance[name] for name in ("pbm", "dctr")}
        found["documents"] = {name: np.round(table[rows].ravel(), 6).tolist() for name, table in tables.items()}
    return found


def _fitted(queries: StudyQueries, study: Study, world: JudgedWorld, say: Say) -> Mapping[str, Fitted]:
    """Fit all models of a study in one pass over the same sessions."""
    say("sessions")
    design, seed = queries.design, seed_of(queries.design.seed, study.log, "train")
    sessions = study.sessions * len(world)
    source = SimulatedSource(world, sessions, logging_policy(world, study.logging), seed)
    gathered = run(source.select(needs("clicks", keys="query")), SessionsFold("query"))
    found = {}
    for name, model in design.made(study).items():
        say(f"learning {name}")
        seeded = replace(model, seed=seed) if isinstance(model, RecurrentModel) else model
        found[name] = seeded.of(gathered, say=say, source=source.describe())
    return found


def _cmip(model: Fitted, world: JudgedWorld, study: Study, design: StudyDesign) -> Found:
    """Return CMIP by each estimator, tested where the user is a PBM; the published one is slow, and only if usual."""
    judged = world.contexts(), logging_relevance(world, study.logging, design.preset), world.grade
    usual = study.sessions == design.sessions
    tested = study.user in {PBM, FIGURE}
    points = cmip_of(model, *judged, BINNED, relevance="means", worlds=0, permutations=200 if tested else 0)
    worlds, quick = None if tested and usual else 0, Binned(replicates=1)  # their spread is over runs
    found = {POINTS: points, DRAWS: cmip_of(model, *judged, quick, worlds=worlds, permutations=0)}
    if usual:
        found[PUBLISHED] = cmip_of(model, *judged, PAPER, relevance="means")
    return {name: {key: getattr(one, key) for key in MEASURED} for name, one in found.items()}


def perplexities(
    fitted: Mapping[str, Fitted], user: User, source: SimulatedSource
) -> dict[str, dict[str, float | None]]:
    """Return name -> {"unconditional": Eq. 2 and 3 of the paper, "conditional": each click given those above it}.

    Slates are drawn, and so are clicks if models condition on the clicks above. The click at a rank is then not
    drawn: the loss is averaged over the user's own probabilities, the limit of ever more clicks on these slates.
    Unconditional is None for recurrent models on slates with too many histories of clicks.
    """
    slots = source.world.slots
    exact = {
        name: not isinstance(model.model, RecurrentModel) or 1 << (slots - 1) <= HISTORIES
        for name, model in fitted.items()
    }
    bits = {(name, how): np.zeros(slots) for name in fitted for how in ("unconditional", "conditional")}
    reading = source.select(needs("clicks", keys="query") | user.needs())
    for part in range(reading.parts()):
        for batch in reading.batches(part):
            assert batch.clicks is not None
            law = user.law(batch.contexts, batch.slates)
            before, given = law.marginal(), law.conditional(batch.clicks)
            for name, model in fitted.items():
                said = model.law(batch.contexts, batch.slates)
                bits[name, "conditional"] += _bits(given, said.conditional(batch.clicks))
                if exact[name]:
                    bits[name, "unconditional"] += _bits(before, said.marginal())
    found: dict[str, dict[str, float | None]] = {name: {} for name in fitted}
    for (name, how), loss in bits.items():
        known = exact[name] or how == "conditional"
        found[name][how] = float(np.exp2(loss / source.sessions).mean()) if known else None
    return found


def _bits(chance: Floats, said: Floats) -> Floats:
    """Return the expected loss in bits, summed over slates [k]."""
    kept = np.clip(said, PERPLEXITY_CLIP, 1 - PERPLEXITY_CLIP)
    return np.asarray(-(chance * np.log2(kept) + (1 - chance) * np.log2(1 - kept)).sum(axis=0))
