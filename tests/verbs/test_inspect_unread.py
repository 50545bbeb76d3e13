"""Columns that a table has and that are not read yet: they are named, and no law is certified without them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import LogError
from offrank.inspection.result import Inspection
from tests.readers.standards import of_kuairand

ROWS, POOL = 600, [f"i{one}" for one in range(5)]


def uniform() -> list[dict[str, Any]]:
    """Uniform slates of two of five items for each of six queries, with two scores."""
    rng = np.random.default_rng(3)
    scores = rng.random((6, 2, 5))
    found = []
    for number in range(ROWS):
        slate = [POOL[one] for one in rng.permutation(5)[:2]]
        old, new = scores[number % 6].tolist()
        row = {"query": f"q{number % 6}", "slate": slate, "candidates": POOL, "old": old, "new": new}
        found.append({**row, "clicks": (rng.random(2) < 0.4).astype(int).tolist()})
    return found


def inspected(log: Any, **how: Any) -> Inspection:
    found = offrank.inspect(log, **how)
    assert isinstance(found, Inspection)
    return found


def uses(found: Inspection) -> dict[str, str]:
    return {one.name: one.use for one in found.columns}


@pytest.mark.parametrize("name", ["request_id", "session", "user", "query"])
def test_a_long_log_keeps_its_scores_and_arms_whatever_its_lists_are_called(name: str) -> None:
    log = []
    for number, row in enumerate(uniform()):
        for place, item in enumerate(POOL):
            rank = row["slate"].index(item) if item in row["slate"] else None
            click = None if rank is None else row["clicks"][rank]
            beside = {"position": None if rank is None else rank + 1, "click": click, "new": row["new"][place]}
            log.append({name: f"r{number}", "item": item, **beside, "variant": "AB"[number % 2]})
    found = uses(inspected(log))
    assert (found[name], found["new"], found["variant"]) == ("impression", "score", "group")


def test_the_pool_beside_the_lists_of_two_tables_is_the_candidates(tmp_path: Path) -> None:
    log = uniform()
    shown = [{"request_id": f"r{n}", "items": row["slate"], "pool": POOL} for n, row in enumerate(log)]
    clicks = [
        {"request_id": f"r{n}", "item_id": item}
        for n, row in enumerate(log)
        for item, click in zip(row["slate"], row["clicks"], strict=True)
        if click
    ]
    for name, rows in (("lists", shown), ("clicks", clicks)):
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / f"{name}.parquet")
    found = inspected([str(tmp_path / "lists.parquet"), str(tmp_path / "clicks.parquet")])
    assert uses(found)["pool"] == "candidates"
    assert found.overview.candidates == {5: ROWS}


@pytest.mark.parametrize(
    ("column", "what"),
    [("stuff", "the candidates"), ("new", "a score"), ("keep_prob", "the rate with which rows were kept")],
)
def test_no_law_is_certified_beside_a_column_that_may_change_it(column: str, what: str) -> None:
    log = uniform()
    assert inspected(log).logging.status == "agrees"
    for number, row in enumerate(log):
        if column == "stuff":
            row["stuff"] = row.pop("candidates")
        elif column == "new" and number % 50 == 0:
            row["new"] = [None, *row["new"][1:]]
        elif column == "keep_prob":
            row["keep_prob"] = 1.0 if any(row["clicks"]) else 0.05
    found = inspected(log)
    assert found.logging.status == "not contradicted"
    assert f"`{column}` may be {what}" in found.logging.why
    words = " ".join(str(found).split())
    assert "Other rankings can be evaluated, with weights" not in words
    assert f"If {column} is " in words


def test_rows_of_kuairand_that_were_recommended_are_counted(tmp_path: Path) -> None:
    folder = of_kuairand(tmp_path)[0]
    lines = next(folder.glob("log_random*")).read_text(encoding="utf-8").splitlines()
    recommended = sum(line.endswith(",0,1") for line in lines)
    found = inspected(folder)
    assert found.skipped == {"not-drawn": recommended}
    assert f"{recommended} not-drawn: was not shown at random" in " ".join(str(found).split())
    assert "--skip-invalid" not in found.command


@pytest.mark.parametrize(("videos", "known"), [(30, True), (5000, False)])
def test_few_random_rows_of_kuairand_do_not_tell_the_pool(videos: int, known: bool, tmp_path: Path) -> None:
    """200 draws from 30 videos show nearly all of them several times; from 5,000, nearly none twice."""
    video = np.random.default_rng(0).integers(0, videos, 200)
    header = "user_id,video_id,date,hourmin,time_ms,is_click,is_like,long_view,is_rand,tab\n"
    rows = [f"{n % 9},{100 + one},20220422,1100,165055{n},{n % 2},0,1,1,1\n" for n, one in enumerate(video)]
    path = tmp_path / "log_standard_4_22.csv"
    path.write_text(header + "".join(rows), encoding="utf-8")
    if known:
        assert offrank.evaluate(path, "uniform", "logged", ["ips"])["ips"].n == 200
        return
    path.write_text(path.read_text(encoding="utf-8") + rows[0].replace(",1,1\n", ",0,1\n") * 3, encoding="utf-8")
    with pytest.raises(LogError, match="200 rows that were shown at random, too few to tell the pool") as error:
        offrank.read_log(path)
    assert "The other 3 rows were not drawn" in error.value.message


def test_a_table_with_a_reward_and_no_clicks_gets_an_answer() -> None:
    log = [{**row, "reward": float(sum(row["clicks"]))} for row in uniform()]
    found = inspected([{name: value for name, value in row.items() if name != "clicks"} for row in log])
    assert found.logging.known
    assert found.next is not None
    assert found.next.estimators == ("snips",)
