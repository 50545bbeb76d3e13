"""Findings name items as the user does, also where ids are texts, which are read as hashes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from tests.verbs.logs import dice, replaced

LOADED = 20
"""The item that is drawn too often, of 0, 10, 20, ..."""


def log(name: Any) -> pa.Table:
    """Item 20 is shown too often; name: what items are called."""
    table = dice(2_000, loaded=3.0)
    return replaced(
        table.drop_columns(["propensity"]),
        **{of: [[name(item) for item in row] for row in table[of].to_pylist()] for of in ("slate", "candidates")},
    )


@pytest.mark.parametrize("name", [lambda item: f"Pumps, size {item}", lambda item: item], ids=["texts", "numbers"])
@pytest.mark.parametrize("verb", ["evaluate", "check", "compare", "select_estimators"])
def test_an_item_that_was_shown_too_often_has_its_own_name(verb: str, name: Any) -> None:
    targets: Any = {"a": "uniform", "b": "plackett_luce(score, temperature=2)"}
    asked = {"evaluate": ["uniform"], "compare": [targets], "select_estimators": ["uniform"]}.get(verb, [])
    more: dict[str, Any] = {"compare": {"baseline": "a"}}.get(verb, {})
    result = getattr(offrank, verb)(log(name), *asked, logging="plackett_luce(score)", **more)
    said = str(result)
    assert re.search(f"item {re.escape(str(name(LOADED)))} was shown [^:]* too often", re.sub(r"\s+", " ", said)), said
    assert not re.search(r"item -?\d{9}", said)


def test_a_log_that_is_counted_by_days_names_it_too(tmp_path: Path) -> None:
    pq.write_table(log(lambda item: f"shoe-{item}"), tmp_path / "day.parquet")
    found = offrank.evaluate(tmp_path / "day.parquet", "uniform", "plackett_luce(score)", state=tmp_path / "day.state")
    assert f"item shoe-{LOADED} was shown" in found.about_log[0].message


def test_a_stream_that_is_read_once_is_judged_all_the_same() -> None:
    stream = log(lambda item: f"shoe-{item}").to_reader()
    [caution] = offrank.evaluate(stream, "uniform", "plackett_luce(score)").about_log
    assert caution.code == "miscalibrated"


def test_tests_of_written_propensities_name_it() -> None:
    table = dice(4_000, loaded=3.0)
    shown, known = (
        [[f"shoe-{item}" for item in row] for row in table[of].to_pylist()] for of in ("slate", "candidates")
    )
    found = offrank.check(replaced(table, slate=shown, candidates=known), logging="plackett_luce(score)")
    rows = {one.code: one.message for one in found.metadata.checks}
    assert "item shoe-" in rows["arithmetic"]
