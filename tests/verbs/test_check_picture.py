"""The picture of `check`: no mean weight that differs from 1 has the light of one that does not."""

from __future__ import annotations

import pytest

import offrank
from offrank.evaluation.pages.diagnostics import forest_of_checks
from tests.metamorphic.logs import log


@pytest.mark.parametrize("logging", ["plackett_luce(old)", "plackett_luce(new)"])
def test_a_green_light_has_an_interval_around_one(logging: str) -> None:
    found = offrank.check(log("partial").table, logging=logging, target="top(new)")
    rows = forest_of_checks(found.metadata).rows
    assert rows
    for row in rows:
        holds = row.span.low <= 1 <= row.span.high
        assert (row.light == "ok") <= holds, row
