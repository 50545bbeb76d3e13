"""The page of an inspection: short however many columns there are, and with what clicks say of a score."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest

import offrank


def table(rows: int, *, pull: float = 0.0, sort: bool = False, seed: int = 3) -> dict[str, object]:
    """Lists of 4 of 8 items in random order, or in that of `score`; each unit of it adds `pull` to an item's logit."""
    rng = np.random.default_rng(seed)
    pool = np.argsort(rng.random((rows, 30)), axis=1)[:, :8]
    score, other = rng.normal(size=(2, rows, 8)).round(3)
    order = np.argsort(-score if sort else rng.random((rows, 8)), axis=1)[:, :4]
    attraction = 1 / (1 + np.exp(1 - pull * np.take_along_axis(score, order, axis=1)))
    return {
        "slate": np.take_along_axis(pool, order, axis=1).tolist(),
        "candidates": pool.tolist(),
        "clicks": (rng.random((rows, 4)) < attraction).astype(int).tolist(),
        "score": score.tolist(),
        "other": other.tolist(),
    }


def test_a_table_of_fifty_columns_has_a_page_of_forty_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    columns = table(1500) | {f"user-item_affinity_{one}": list(range(1500)) for one in range(34)}
    columns |= {f"device_at_{one}": ["a", "b"] * 750 for one in "abcdefghijk"}
    page = str(offrank.inspect(pa.table(columns)))
    assert len(page.splitlines()) <= 40
    assert "user-item_affinity_0..33" in page
    assert all(f"device_at_{one}" in page for one in "abcdefghijk")


def test_a_family_of_numbers_with_gaps_says_how_many_there_are() -> None:
    columns = table(300) | {f"f{one}": list(range(300)) for one in (1, 2, 7, 9)} | {"g1": [1] * 300, "g2": [2] * 300}
    page = str(offrank.inspect(pa.table(columns)))
    assert "f1..9 (4)" in page
    assert "g1..2" not in page


@pytest.mark.parametrize(("pull", "sort", "against"), [(-1.0, False, True), (0.0, False, False), (1.0, False, False)])
def test_clicks_that_speak_against_a_score(pull: float, sort: bool, against: bool) -> None:
    found = offrank.inspect(pa.table(table(1500, pull=pull, sort=sort)))
    said = offrank.inspect(pa.table(table(1500)))
    assert found.command == said.command
    assert ("Clicks speak against high score" in str(found)) == against == bool(found.against_clicks)
    if against:
        assert found.against_clicks.keys() == {"score"}
        assert found.against_clicks["score"] < 0.4


def test_in_a_sorted_log_better_places_tell_as_well() -> None:
    found = offrank.inspect(pa.table(table(1500, pull=-1.0, sort=True)))
    assert not found.against_clicks


def test_without_repeated_contexts_nothing_is_said_of_an_order_that_follows_no_score() -> None:
    page = " ".join(str(offrank.inspect(pa.table(table(1500)))).split())
    assert "follows none of its scores, and fits uniform, but this log cannot prove it" in page
    assert "nothing shows that this log is random" not in page
    assert "Without randomness" not in page


def test_the_probability_of_each_slot_has_the_shape_of_a_score() -> None:
    columns, chance = table(300), np.full((300, 4), 0.3).tolist()
    slots = {"shown": columns["slate"], "opened": columns["clicks"], "p": chance, "weight": chance}
    page = " ".join(str(offrank.inspect(pa.table(slots))).split())
    assert 'If p is the slot_propensity, use columns={"slot_propensity": "p"}' in page
    assert "weight is the" not in page


@pytest.mark.parametrize(("kind", "status"), [(pa.float64(), "not contradicted"), (pa.string(), "agrees")])
def test_a_map_of_numbers_that_is_not_read_may_be_what_drew_the_log(kind: pa.DataType, status: str) -> None:
    rng = np.random.default_rng(2)
    rows = {"slate": [rng.permutation(4).tolist() for _ in range(600)], "clicks": [[1, 0, 0, 0], [0, 1, 0, 0]] * 300}
    beside = {
        "gains": pa.array([[("0", 1.0)]] * 600, pa.map_(pa.string(), pa.float64())).cast(pa.map_(pa.string(), kind))
    }
    found = offrank.inspect(pa.table(rows | beside))
    assert (found.logging.policy, found.logging.status) == ("uniform", status)
    assert "gains is a map, which is not read" in " ".join(str(found).split())


def test_names_without_a_family_fill_few_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    made = table(300)
    made |= {f"{chr(97 + at % 26)}{'xyz'[at // 26]}_value_from_the_warehouse": [0.5] * 300 for at in range(50)}
    said = str(offrank.inspect(pa.table(made)))
    assert len(said.splitlines()) <= 40
    assert re.search(r" and \d\d more", " ".join(said.split()))
