"""Every verb of the command line, by every registered policy, method and click model: nothing may change."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest

import offrank
from offrank.clicks.model import CLICK_MODELS
from offrank.estimators.pseudoinverse.overlap import diagnostics
from offrank.learning.methods import METHODS
from offrank.testing.metamorphic import RELATIONS, Question, Relation, at_once
from tests.metamorphic import questions
from tests.metamorphic.known import concerning, unexpected
from tests.metamorphic.questions import CLICK_MODEL_SPELLINGS, DRAWS_BY_KEY, OWN_LOG
from tests.metamorphic.spellings import SOME_POLICIES, given, policies, written_out
from tests.night import some

CANDIDATES = "candidates in another order"
ITEMS, BATCHES, UNREAD = "items named by text", "rows in other batches", "an unread column"
REST = (ITEMS, "rows in another order", BATCHES, UNREAD)
EVERYTHING = at_once(CANDIDATES, *REST)
ASKED = {"inspect", "evaluate", "compare", "check", "measure", "learn", "select clicks", "select estimators"}
ASKED |= {"clicks fit", "clicks evaluate", "clicks harvest"}


def test_every_verb_is_asked_or_makes_its_own_log() -> None:
    assert set(questions.verbs()) == ASKED | set(OWN_LOG)


def unforeseen(
    verb: str, asks: Mapping[str, Question], shape: str, *relations: Relation, tolerance: float = 1e-9
) -> list[str]:
    """What is answered otherwise, and should not be. asks: questions, by what they are about."""
    relations = relations or (EVERYTHING,)
    found = {about: questions.broken(ask, shape, relations, tolerance) for about, ask in asks.items()}
    unforeseen = []
    for name in [relation.name for relation in relations]:
        here = {(about, ""): what[name] for about, what in found.items() if name in what}
        unforeseen += unexpected(here, [one for one in concerning(verb, name, shape) if any(map(one.is_about, asks))])
    return unforeseen


def asking(function: Any, *arguments: Any) -> Question:
    return lambda readable: function(readable, *arguments)


@pytest.mark.parametrize("shape", ["partial", "ragged"])
def test_check(shape: str) -> None:
    asks = {logging: asking(offrank.check, None, written_out(logging)) for logging in some(policies(), 4)}
    assert unforeseen("check", asks, shape) == []


@pytest.mark.parametrize("shape", ["partial", "ragged"])
def test_compare(shape: str) -> None:
    targets = {"a": "plackett_luce(new)", "b": "top(tied)"}
    asks = {one: asking(offrank.compare, targets, one) for one in ("uniform", "plackett_luce(old)")}
    assert unforeseen("compare", asks, shape) == []


@pytest.mark.parametrize("shape", ["partial", "ragged"])
def test_inspect(shape: str) -> None:
    assert unforeseen("inspect", {"": questions.inspected}, shape) == []


def test_check_of_a_target() -> None:
    asks = {target: asking(offrank.check, written_out(target)) for target in some(policies(), 4)}
    assert unforeseen("check target", asks, "ragged") == []


@pytest.mark.parametrize("shape", ["partial", "full"])
def test_measure(shape: str) -> None:
    asks = {logging: questions.metrics(shape, written_out(logging)) for logging in some(policies(), 4)}
    assert unforeseen("measure", asks, shape) == []


def test_diagnostics_of_the_pseudoinverse() -> None:
    pairs = [(target, logging) for logging in policies() for target in SOME_POLICIES[:2]]
    pairs += [(target, "plackett_luce(old)") for target in policies()]
    asked = some(pairs, 4)
    asks = {f"{one} by {two}": asking(diagnostics, written_out(one), written_out(two)) for one, two in asked}
    assert unforeseen("diagnostics", asks, "partial") == []


def test_diagnostics_of_sampled_targets() -> None:
    asks = {
        target: partial(diagnostics, target=written_out(target), logging="plackett_luce(old)", samples=15)
        for target in ("plackett_luce(tied, temperature=0.5)", "linear('{linear}')")
    }
    kept = at_once("rows in another order", BATCHES, UNREAD)
    assert unforeseen("sampled diagnostics", asks, "partial", kept) == []


@pytest.mark.parametrize("shape", ["partial", "single"])
def test_learn(shape: str) -> None:
    # The rows' numbers choose the thirds: which rows come first is part of the question.
    relations = at_once(CANDIDATES, ITEMS, UNREAD), RELATIONS[BATCHES]
    one_slot = {name for name in questions.methods() if getattr(METHODS[name], "one_slot", False)}
    names = [name for name in questions.methods() if (name in one_slot) == (shape == "single")]
    asks = {name: questions.learnt(name) for name in (some(names, 3) if shape == "partial" else names)}
    assert asks
    assert unforeseen("learn", asks, shape, *relations, tolerance=1e-6) == []


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", given(CLICK_MODELS, CLICK_MODEL_SPELLINGS))
def test_clicks_fit_and_evaluate(name: str) -> None:
    model = CLICK_MODEL_SPELLINGS[name]
    if model is None:
        pytest.skip("learns from sessions in an order that is drawn")
    relation = at_once(CANDIDATES, *REST[1:]) if name in DRAWS_BY_KEY else EVERYTHING
    judged, written = questions.judged(model), questions.written(model)
    assert unforeseen("clicks evaluate", {name: judged}, "partial", relation, tolerance=1e-6) == []
    assert unforeseen("clicks fit", {name: written}, "partial", relation, tolerance=1e-6) == []


@pytest.mark.parametrize("method", ["all_pairs", "adjacent_chain", "pivot_one"])
def test_clicks_harvest(method: str) -> None:
    # Its intervals are a bootstrap of documents, drawn in the order of their keys.
    relation = at_once(CANDIDATES, *REST[1:])
    assert unforeseen("clicks harvest", {method: asking(offrank.harvest_clicks, method)}, "partial", relation) == []


def test_select_clicks() -> None:
    assert unforeseen("select clicks", {"": questions.selected}, "partial", tolerance=1e-6) == []


def test_select_estimators() -> None:
    ask = asking(
        partial(offrank.select_estimators, worlds=0), "top(new)", "plackett_luce(old)", ("ips", "ipm", "snipm")
    )
    assert unforeseen("select estimators", {"": ask}, "partial") == []
