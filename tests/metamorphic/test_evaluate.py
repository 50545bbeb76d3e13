"""`evaluate`: every registered estimator for every registered policy, and by it."""

from __future__ import annotations

from functools import cache

import pytest

from offrank.testing.metamorphic import RELATIONS, Relation, at_once
from tests.metamorphic.asked import DRAWN, SAMPLED, Asked, Pair
from tests.metamorphic.known import concerning, unexpected
from tests.metamorphic.spellings import SOME_POLICIES, policies, written_out
from tests.night import WHOLE

ROWS = ("rows in another order", "rows in other batches", "an unread column")
SAMPLED_KEEP = at_once(*ROWS)
EVERYTHING = at_once("candidates in another order", "items named by text", *ROWS)
#: all targets are asked for by this logging policy, one by each of the others, in turn
MUCH = "plackett_luce(old)"
#: of the targets of that policy, each with its part of the estimators: every target and every estimator once
PARTS = 1 if WHOLE else 10
#: of the estimators by each of the others
FEW = 12
CASES = [("partial", logging) for logging in policies() if logging != MUCH] + [("full", "logged")]
#: large groups are begun first: the longest test does not end the run alone
FIRST = pytest.mark.xdist_group("metamorphic slates")


def asked(shape: str, logging: str, only: str = "", besides: str | None = None) -> Asked:
    targets: tuple[str, ...] = (*SOME_POLICIES, "logged", "epsilon(logged, 0.2)")
    number = policies().index(logging)
    if shape == "partial":
        targets = (SOME_POLICIES[number % len(SOME_POLICIES)],)
    return Asked(shape, written_out(logging), tuple(map(written_out, targets)), only, besides, (FEW, number))


def unforeseen(here: Asked, relation: Relation) -> list[str]:
    """The combinations that a relation does not hold for, and should."""
    found = {pair: what for pair, what in here.broken(relation).items() if not sampled(pair, relation)}
    return unexpected(found, concerning("evaluate", relation.name, here.shape, here.logging))


def sampled(pair: Pair, relation: Relation) -> bool:
    """Whether something is drawn that follows from what the relation changes: slates from the candidates as written.

    The doubt of a click model is from draws of its documents, which are numbered by the names of items.
    """
    if pair[1].startswith(DRAWN) and "items" in relation.name:
        return True
    return "samples=" in pair[1] and ("candidates" in relation.name or "items" in relation.name)


def nothing_changes(here: Asked) -> None:
    assert here.parted() == {}
    assert unforeseen(here, EVERYTHING) == []


@FIRST
@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_changes_for_any_target(part: int) -> None:
    targets = tuple(map(written_out, policies()[part::PARTS]))
    nothing_changes(Asked("partial", MUCH, targets, besides=SAMPLED, part=(PARTS, part)))


@pytest.mark.parametrize(("shape", "logging"), CASES)
def test_nothing_changes(shape: str, logging: str) -> None:
    nothing_changes(asked(shape, logging, besides=SAMPLED))  # these are asked apart, below


@cache
def slates() -> Asked:
    """Asked once of the log as it is, for all relations."""
    return Asked("slates", "plackett_luce(old)", tuple(map(written_out, SOME_POLICIES)), part=(4, 0))


@FIRST
@pytest.mark.parametrize("relation", RELATIONS.values(), ids=RELATIONS)
def test_each_relation_by_itself(relation: Relation) -> None:
    assert unforeseen(slates(), relation) == []


@pytest.mark.parametrize("logging", ["uniform", "plackett_luce(old)", "epsilon(top(old), 0.3)"])
def test_sampled_slates_follow_from_what_a_row_holds(logging: str) -> None:
    assert unforeseen(asked("partial", logging, SAMPLED), SAMPLED_KEEP) == []


@pytest.mark.turns(3)
def test_drawn_slates_follow_from_the_number_of_a_row() -> None:
    here = Asked("long", "uniform", tuple(map(written_out, SOME_POLICIES[1:])), "direct(cascade)")
    kept = at_once("items named by text", "rows in other batches", "an unread column")
    assert unforeseen(here, kept) == []
    drawn = here.broken(RELATIONS["rows in another order"])
    assert drawn, "nothing was drawn: the relation that holds proves less than it says"
