"""Whoever gives intervals takes the same levels, and refuses all others in the same words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import offrank
from offrank.errors import UsageError
from offrank.estimators.pseudoinverse.overlap import Overlap
from tests.verbs.logs import LOGGING, TARGET, search

LEVELS: dict[str, Callable[[Any], object]] = {
    "evaluate": lambda level: offrank.evaluate(search(), TARGET, LOGGING, "snips", confidence=level),
    "harvest_clicks": lambda level: offrank.harvest_clicks(search(), confidence=level),
    "cmip": lambda level: offrank.metrics.cmip([1, 2], [1, 2], [0, 1], confidence=level),
    "overlap": lambda level: Overlap(100, 1.0, 1.0, 1.0, 0.0, 1.0).half_width(level),
    "interval of a click model": lambda level: CLICKS.interval("rate", level),
    "judgements": lambda level: CLICKS.judgements(confidence=level),
}
CLICKS = offrank.clicks.GCTR().fit([{"query": "q", "slate": ["a", "b"], "clicks": [1, 0]}])


@pytest.mark.parametrize("asked", LEVELS)
@pytest.mark.parametrize("level", [0, 1, -0.5, 95, float("nan"), "0.9"])
def test_one_rule_tells_what_a_level_is(asked: str, level: Any) -> None:
    with pytest.raises(UsageError, match=f"confidence is {level!r}"):
        LEVELS[asked](level)
