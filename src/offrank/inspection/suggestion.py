"""Which question a log can answer: it is asked before it is suggested."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import AbilityError, ColumnError, NoOverlapError
from ..evaluation.answer import answered
from ..evaluation.question import Question, planned
from ..findings.verdict import Verdict
from ..inference.clusters_and_level import AUTO, IntervalSpec
from ..log.source import ShownAbility, Source
from ..policies.base import Policy
from ..policies.epsilon import EpsilonUniform
from ..policies.ranking import Ranking
from ..policies.registry import policy
from ..policies.top import Top
from ..policies.uniform import Uniform
from ..readers.names import words_of
from ..sums.sampled import SampledRows
from .passes import HowRead, used
from .result import Inspection, Next

_TRIED = 4
"""Targets that are tried before one is suggested."""


def suggestion(
    seen: Inspection, law: Policy | None, source: Source, sample: SampledRows, how: HowRead, *, firsts: bool = False
) -> dict[str, Any]:
    """Return a question that the log can answer, or why it cannot: about the first ranker with overlap.

    The question is asked here first, so that no command is suggested which is refused. firsts: about the first items
    alone, of a source with slates of one.
    """
    logging = policy(str(seen.logging.named))
    if seen.overview.earned is None or seen.unreadable:
        return {}
    slots = 1 if firsts else max(seen.overview.slots)
    ranks = seen.clicked and _gives(source, logging, "rank_law")
    if logging.logged and "rank_propensity" not in seen.written:
        ranks = slots == 1  # the probability of a longer slate does not determine those of its ranks
    slates, questions, places = _gives(source, logging, "log_prob"), dict[str, Next](), _places(sample)
    drawn_by, directed = frozenset() if law is None else law.reads("log_prob").scores, _directed(seen) | places
    for target in _targets(seen, drawn_by, directed, places):
        found = ["snips"] if slates and np.isfinite(target.log_prob(sample.contexts, sample.slates)).any() else []
        found += ["snipm"] if ranks and (slots > 1 or not found) else []
        if found and len(questions) < _TRIED:
            questions[repr(target)] = Next(repr(target), tuple(found), _turned(target, directed), firsts)
    if seen.clicked and slots > 1 and (merged := logging.confirmed.merges):
        return {"next": Next(repr(merged[0]), (), against=repr(merged[1]))}
    every = list(questions)
    answers: Mapping[str, Verdict] = {}
    for names in (every[:1], every):  # nearly always the first is enough
        asked = dict.fromkeys(one for name in names for one in questions[name].estimators)
        if not asked or len(answers) == len(names):
            break
        plan = planned([*names], logging, [*asked])
        try:
            answers = answered(Question(log=source, plan=plan, spec=IntervalSpec(cluster=AUTO), **how)).verdicts
        except NoOverlapError as error:
            return {"declined": f"{error.message}."}
        first = next((name for name in names if answers[name].usable), None)
        if first is not None:
            return {"next": questions[first]}
    return {"declined": answers[every[0]].reasons[0].text} if answers else {}


def first_slots(rows: SampledRows) -> SampledRows:
    """Return rows of which the first slot alone is looked at."""
    contexts = replace(rows.contexts, length=np.minimum(rows.contexts.length, 1))
    return replace(rows, slates=rows.slates[:, :1], contexts=contexts)


def _gives(source: Source, policy: Policy, ability: ShownAbility) -> bool:
    """Whether the columns and a policy give this ability for the shown slates."""
    try:
        source.select(policy.reads(ability))
    except (AbilityError, ColumnError):
        return False
    return True


def _directed(seen: Inspection) -> frozenset[str]:
    """Return the scores whose direction the log shows: those of laws that fit it, where a uniform order does not."""
    fits = [one.policy for one in seen.drawn if one.fits]
    named = frozenset(name for one in fits for name in one.reads("log_prob").scores)
    return frozenset() if Uniform() in fits else named


def _places(sample: SampledRows) -> frozenset[str]:
    """Return the scores that number the candidates from 1, best first."""
    size, every = sample.contexts.size[:, None], np.arange(1, sample.contexts.candidates.shape[1] + 1)
    wanted, scores = np.where(every <= size, every, np.inf), sample.contexts.scores
    found = {name: np.sort(np.where(every <= size, one, np.inf)) for name, one in scores.items() if len(size)}
    return frozenset(name for name, one in found.items() if np.array_equal(one, wanted))


def _turned(target: Policy, directed: frozenset[str]) -> str:
    """Return a sorted ranker the other way round, if nothing shows in which direction its score counts."""
    other = target.turned()
    return "" if other is None or target.reads("log_prob").scores & directed else repr(other)


def _targets(
    seen: Inspection, drawn_by: frozenset[str], directed: Container[str], places: Container[str]
) -> list[Policy]:
    """Return the rankers of the log, the likeliest first, then a policy that overlaps with any log.

    Rankers that drew the log, grades, and scores that always tie come after the others. directed: scores whose
    direction is known; of any other the highest comes first. places: those of which the lowest does.
    """
    drawn = [(one.policy, name) for one in seen.drawn for name in one.policy.reads("log_prob").scores]
    turned = {name for law, name in drawn if law.ascending and name in directed}  # by the law of that column alone
    scores = [Top(name, ascending=name in places or name in turned) for _, name in drawn]
    last = {*drawn_by, *(name for name, share in seen.ties.items() if name.lower() in words_of("GRADE") or share == 1)}
    new = [one for one in scores if one.scores not in last]
    rankings = [Ranking(name) for name in sorted(used(seen.columns, "ranking"))]
    rankers: list[Top | Ranking] = [*new, *rankings, *(one for one in scores if one not in new)]
    return [*rankers, *(EpsilonUniform(one, 0.1) for one in rankers[:1]), Uniform()]
