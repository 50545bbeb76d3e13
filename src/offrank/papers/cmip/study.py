"""One study: sessions are drawn, seven models learn from them, and each is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...clicks.fitted import Fitted
from ...clicks.model import ClickModel
from ...clicks.neural.base import RecurrentModel
from ...clicks.sessions import SessionsFold
from ...folds.estimate import Caution
from ...jobs.clicks.graded import ndcg_by_query
from ...log.batch import Floats, Integers
from ...log.source import needs
from ...metrics.cmip import cmip
from ...running.executors import run
from ...simulation.source import SimulatedSource
from ...simulation.worlds import World
from .design import FIGURE, ORACLE, PBM, POLICIES, Design, Study
from .ground import Grounds, Say, number
from .perplexity import perplexities

Found = dict[str, Any]

SHOWN_DOCUMENTS = 1_500
"""Points of Figure 1, as in the paper."""


def studied(grounds: Grounds, study: Study, say: Say) -> Found:
    """What a study finds, as plain numbers.

    - models: name -> ndcg, cmip (method -> value, low, high, p_value: None for "paper"), converged, and perplexity
      (test policy -> "unconditional", None where that takes too long, and "conditional").
    - policies: name -> nDCG of its scores.
    - documents: only where Figure 1 needs them, grade, logging and the relevance of both models.
    """
    world, design = grounds.world(study), grounds.design
    fitted = _fitted(world, study, design, say)
    whole = world.contexts()
    relevance = {name: model.relevance(whole) for name, model in fitted.items()}
    found: Found = {"models": {name: {"converged": one.learnt.converged} for name, one in fitted.items()}}
    if study.user != FIGURE:
        say("perplexity")
        for policy in POLICIES:
            tests = SimulatedSource(world, design.tests, world.test_policy(policy), _seed(design, study, policy))
            for name, one in perplexities(fitted, world.user, tests).items():
                found["models"][name].setdefault("perplexity", {})[policy] = one
    ground = grounds.of_user(study.user)
    found["policies"] = {name: ground.ndcg(scores) for name, scores in world.scores.items()}
    _judge(found["models"], world, study, relevance, say)
    if study in {Study(user, ORACLE, 0) for user in (PBM, FIGURE)}:
        found["documents"] = _documents(world, study, relevance)
    return found


def _fitted(world: World, study: Study, design: Design, say: Say) -> Mapping[str, Fitted]:
    """All models from one pass over the same sessions."""
    say("sessions")
    seed = _seed(design, study, "train")
    source = SimulatedSource(world, design.sessions, world.policy(study.logging), seed)
    gathered = run(source.select(needs("clicks", keys="query")), SessionsFold("query"))
    wanted = ("dctr", "pbm") if study.user == FIGURE else design.names
    found = {}
    for name in wanted:
        say(f"learning {name}")
        found[name] = _seeded(design.made[name], seed).of(gathered, say=say, source=source.describe())
    return found


def _seeded(model: ClickModel, seed: int) -> ClickModel:
    return replace(model, seed=seed) if isinstance(model, RecurrentModel) else model


def _judge(models: Found, world: World, study: Study, relevance: Mapping[str, Floats], say: Say) -> None:
    """nDCG and CMIP of each model."""
    grade = world.grade.ravel()
    query = np.repeat(world.query, world.documents)
    logging = world.logging_relevance(study.logging).ravel()
    ranked = ndcg_by_query(query, grade, [one.ravel() for one in relevance.values()], 0.95)
    for index, (name, one) in enumerate(relevance.items()):
        say(f"CMIP of {name}")
        models[name]["ndcg"] = ranked.of(index).value
        given = (one.ravel(), logging, grade)
        models[name]["cmip"] = {method: _cmip(*given, method, query) for method in ("binned", "paper")}


def _cmip(relevance: Floats, logging: Floats, grade: Floats, method: str, query: Integers) -> Found:
    found = cmip(relevance, logging, grade, method, cluster=query)
    cautions: tuple[Caution, ...] = found.warnings
    numbers = {name: getattr(found, name) for name in ("value", "low", "high", "p_value")}
    return numbers | {"cautions": [caution.code for caution in cautions]}


def _documents(world: World, study: Study, relevance: Mapping[str, Floats]) -> dict[str, list[float]]:
    """Some documents for Figure 1, those of whole queries."""
    rows = slice(0, max(SHOWN_DOCUMENTS // world.documents, 1))
    tables = {"grade": world.grade, "logging": world.logging_relevance(study.logging)}
    tables |= {name: relevance[name] for name in ("pbm", "dctr")}
    return {name: np.round(table[rows].ravel(), 6).tolist() for name, table in tables.items()}


def _seed(design: Design, study: Study, what: str) -> int:
    """The documents' order, the sessions and their clicks are as random as the user, the policy and the run."""
    return number(design.seed, study.name, what)
