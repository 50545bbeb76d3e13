"""Relations by registries: each part is asked what no relation may change, at each push with every relation."""

from __future__ import annotations

from itertools import chain

import pytest

from tests.metamorphic import parts, questions
from tests.metamorphic.relations import GROUPS, Excuse, Part, broken
from tests.night import WHOLE, some

KINDS = (parts.estimates, parts.evaluations, parts.intervals, parts.reward_models, parts.drawn)
VERBS = (questions.checks, questions.comparisons, questions.metrics, questions.overlaps, questions.methods)
PARTS = [part for kind in (*KINDS, *VERBS, questions.click_models) for part in kind()]
EXCUSES = {excuse.why: excuse for part in PARTS for excuse in part.excuses}
ASKED = {"inspect", "evaluate", "compare", "check", "measure", "learn", "select clicks", "select estimators"}
ASKED |= {"clicks fit", "clicks evaluate", "clicks harvest"}


def test_every_verb_is_asked_or_makes_its_own_log() -> None:
    assert set(questions.verbs()) == ASKED | set(questions.OWN_LOG)


@pytest.mark.slow  # a part may be all estimators
@pytest.mark.parametrize(("place", "part"), [*enumerate(PARTS)], ids=[part.name for part in PARTS])
def test_nothing_changes(place: int, part: Part) -> None:
    """After one of the groups of relations; at night after each, and for one shape after each relation by itself."""
    single = [(relation,) for relation in sorted({*chain(*GROUPS)}) if WHOLE and part.shape == "slates"]
    groups = some(GROUPS, 2, place) + single
    assert [line for group in groups for line in broken(part, part.kept(group))] == []


@pytest.mark.parametrize("excuse", EXCUSES.values(), ids=EXCUSES)
def test_what_is_excused_is_broken_by_a_part(excuse: Excuse) -> None:
    assert any(broken(part, excuse.relations) for part in PARTS if excuse in part.excuses)
