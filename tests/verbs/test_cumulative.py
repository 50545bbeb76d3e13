"""Where groups are days: estimates of all rows up to a day are those of a log that ends there."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import offrank
from offrank.language.formatting import Span
from tests.verbs.logs import LOGGING, TARGET, search

DAYS = 20
FIRST = dt.date(2026, 9, 25)  # into the next month


def dated(rows: int = 4000) -> pa.Table:
    day = np.random.default_rng(4).integers(0, DAYS, rows)
    return search().slice(0, rows).append_column("day", pa.array([FIRST + dt.timedelta(days=int(one)) for one in day]))


@pytest.mark.turns(3)
@pytest.mark.parametrize("how", [{}, {"cluster": None}, {"interval": "bootstrap", "replicates": 50}])
def test_up_to_a_day_it_is_what_the_log_until_then_gives(how: dict[str, Any]) -> None:
    log = dated()
    found = offrank.evaluate(log, TARGET, LOGGING, ["snips", "ipm"], by="day", **how)
    assert len(found.cumulative) == 14
    days = list(found.cumulative)
    assert (days[0], days[-1]) == ("2026-09-25", "2026-10-14")
    for day in (days[5], days[-1]):
        until = log.filter(pc.less_equal(log["day"], pa.scalar(dt.date.fromisoformat(day))))
        alone = offrank.evaluate(until, TARGET, LOGGING, ["snips", "ipm"], **how)
        assert until.num_rows < log.num_rows or day == days[-1]
        for name in ("snips", "ipm"):
            one, other = found.cumulative[day][name], alone[name]
            assert one.n == until.num_rows
            assert Span.of(one).ends == pytest.approx(Span.of(other).ends, rel=1e-9)
            assert Span.of(one.difference).ends == pytest.approx(Span.of(other.difference).ends, rel=1e-9)
            assert one.cluster == other.cluster


def test_the_page_has_the_days_and_what_they_add_up_to() -> None:
    found = offrank.evaluate(dated(), TARGET, LOGGING, ["snips"], by="day").to_document()
    [section] = [one for one in found.sections if len(one.forests) == 2]
    each, together = section.forests
    assert len(each.rows) == DAYS
    assert [row.label for row in together.rows][::13] == ["to 2026-09-25", "to 2026-10-14"]
    assert together.rows[0].span == each.rows[0].span  # the first day
    assert "An interval holds at one look" in section.prose[-1]
    assert dict(found.facts)["Period"] == "2026-09-25 to 2026-10-14"


def test_other_groups_do_not_add_up() -> None:
    assert offrank.evaluate(dated(400), TARGET, LOGGING, ["snips"], by="device").cumulative == {}
