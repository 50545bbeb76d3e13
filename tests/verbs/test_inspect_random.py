"""Random logs whose policy is none of one score: rankings merged, a shuffled top, drawn arms, a bucket, or unknown."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import offrank
from tests.cli.commands import call

QUERIES, ITEMS, SLOTS, ROWS = 80, 6, 4, 3000


def team_draft(rng: np.random.Generator, one: list[int], other: list[int]) -> list[int]:
    """Two captains pick in turns, and a coin says who begins each round."""
    shown: list[int] = []
    while len(shown) < SLOTS:
        for ranking in (one, other) if rng.random() < 0.5 else (other, one):
            shown += [next(item for item in ranking if item not in shown)]
    return shown[:SLOTS]


def drawn(kind: str, *, scores: bool = True) -> list[dict[str, Any]]:
    """A log of one kind. scores: whether what its rankers sort by is in it."""
    rng, rows = np.random.default_rng(3), []
    old, new = rng.normal(size=(2, QUERIES, ITEMS))
    for _ in range(ROWS):
        query = int(rng.integers(QUERIES))
        one, other = (np.argsort(-each[query]).tolist() for each in (old, new))
        order, beside = one, {}
        if kind == "merged":
            order, beside = team_draft(rng, one, other), {"a": one, "b": other}
        elif kind == "shuffled":
            order = [*rng.permutation(one[:3]).tolist(), *one[3:]]
        elif kind == "bucket":
            explored = bool(rng.random() < 0.15)
            order, beside = (
                rng.permutation(ITEMS).tolist() if explored else one,
                {"zufall": "ja" if explored else "nein"},
            )
        elif kind == "arms":
            arm = int(rng.random() < 0.5)
            order = np.argsort(-((old, new)[arm][query] + rng.gumbel(size=ITEMS))).tolist()
            beside = {"variant": "AB"[arm]}
        elif kind == "noisy":
            order = np.argsort(-(old[query] + 0.4 * rng.normal(size=ITEMS))).tolist()
        sort = {"old": old[query].tolist(), "new": new[query].tolist()} if scores else {}
        clicks = (rng.random(SLOTS) < 0.3).astype(int).tolist()
        shown = {"slate": order[:SLOTS], "clicks": clicks, "candidates": [*range(ITEMS)]}
        rows.append({"query": f"q{query}", **shown, **sort, **beside})
    return rows


@pytest.mark.parametrize(
    ("kind", "policy"),
    [("merged", "interleaved(ranking(a), ranking(b))"), ("shuffled", "shuffled(top(old), 3, method=top)")],
)
def test_rankings_merged_and_a_shuffled_top_are_told(kind: str, policy: str) -> None:
    found = offrank.inspect(drawn(kind, scores=kind != "merged"))
    assert (found.logging.policy, found.logging.status) == (policy, "agrees")


@pytest.mark.parametrize(("explored", "other", "said"), [("ja", "nein", "'ja'"), (True, False, "true"), (1, 0, "1")])
def test_a_bucket_of_random_lists_is_read_alone(explored: object, other: object, said: str, tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    rows = [{**row, "zufall": explored if row["zufall"] == "ja" else other} for row in drawn("bucket", scores=False)]
    pq.write_table(pa.Table.from_pylist(rows), path)
    found = offrank.inspect(path)
    assert (found.logging.policy, found.logging.status) == (None, "unknown")
    assert found.logging.bucket == f"zufall = {said}"
    alone = call(*shlex.split(found.command)[1:])
    assert "Other rankings can be evaluated, with weights from uniform" in " ".join(alone.stdout.split())


@pytest.mark.parametrize("name", ["nein", "control"])
def test_an_arm_of_a_test_is_no_bucket(name: str) -> None:
    rows = [{**row, "zufall": {"nein": name}.get(row["zufall"], "ja")} for row in drawn("bucket", scores=False)]
    assert (offrank.inspect(rows).logging.bucket == "zufall = 'ja'") == (name == "nein")


def test_drawn_arms_of_a_test_are_arms(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(pa.Table.from_pylist(drawn("arms")), path)
    found = offrank.inspect(path)
    assert (found.logging.status, found.logging.column) == ("arms", "variant")
    laws = {value: law.partition(",")[0] for value, law in found.logging.arms.items()}
    assert laws == {"A": "plackett_luce(old", "B": "plackett_luce(new"}
    said = " ".join(str(found).split())
    assert "Random rankers, identified by variant" in said
    assert "Without randomness" not in said
    assert call(*shlex.split(found.command)[1:]).exit_code in (0, 3)


def test_a_column_that_tells_no_arms_is_none() -> None:
    rng = np.random.default_rng(0)
    rows = [{**row, "variant": "AB"[int(rng.random() < 0.5)]} for row in drawn("shuffled")]
    assert offrank.inspect(rows).logging.status == "agrees"


def test_random_by_an_unknown_policy_is_an_answer_with_ways_to_say_it() -> None:
    found = offrank.inspect(drawn("noisy"))
    assert (found.logging.policy, found.logging.status, found.logging.randomness.state) == (None, "unknown", "random")
    said = " ".join(str(found).split())
    assert "This log is random, but the policy that drew it is unknown" in said
    random = found.logging.randomness
    assert f"{random.differing:,} of {random.pairs:,} pairs of rows of one query differ" in said
    for way in ('logging="counted(by=query)"', 'columns={"propensity": "NAME"}', 'where="explored = 1"'):
        assert way in said
    assert "nothing shows that this log is random" not in said


@pytest.mark.parametrize("form", ["wide", "csv", "long"])
def test_a_bucket_whose_other_rows_have_no_value(tmp_path: Path, form: str) -> None:
    rows = [{**row, "zufall": "ja" if row["zufall"] == "ja" else None} for row in drawn("bucket", scores=False)]
    table = pa.Table.from_pylist(rows)
    path = tmp_path / ("log.csv" if form == "csv" else "log.parquet")
    if form == "csv":
        rows = [{name: json.dumps(one) if isinstance(one, list) else one for name, one in row.items()} for row in rows]
        pa_csv.write_csv(pa.Table.from_pylist(rows), path)
    elif form == "long":
        each = [
            {"list": number, "query": row["query"], "zufall": row["zufall"], "item": item, **_at(row, item)}
            for number, row in enumerate(rows)
            for item in row["candidates"]
        ]
        pq.write_table(pa.Table.from_pylist(each), path)
    else:
        pq.write_table(table, path)
    found = offrank.inspect(path)
    assert found.logging.bucket == "zufall = 'ja'"
    alone = call(*shlex.split(found.command)[1:])
    assert "Other rankings can be evaluated, with weights from uniform" in " ".join(alone.stdout.split())


def _at(row: dict[str, Any], item: int) -> dict[str, int | None]:
    """Where an item of a row was shown, and whether it was clicked."""
    place = row["slate"].index(item) if item in row["slate"] else None
    return {"position": None if place is None else place + 1, "click": None if place is None else row["clicks"][place]}


@pytest.mark.parametrize("kept", [ITEMS, SLOTS])
def test_merged_rankings_beside_the_slate_are_its_candidates(kept: int, tmp_path: Path) -> None:
    """kept: how many items of each ranking are logged; of four, both do not have the same."""
    rows = [{**row, "a": row["a"][:kept], "b": row["b"][:kept]} for row in drawn("merged", scores=False)]
    path = tmp_path / "log.parquet"
    pq.write_table(
        pa.Table.from_pylist([{name: row[name] for name in row if name != "candidates"} for row in rows]), path
    )
    found = offrank.inspect(path)
    assert (found.logging.policy, found.logging.status) == ("interleaved(ranking(a), ranking(b))", "agrees")
    assert "--column candidates=a+b" in found.command
    answer = call(*shlex.split(found.command)[1:], "--json", "-")
    assert answer.exit_code in (0, 3)
    [compared] = json.loads(answer.stdout)["comparisons"]
    assert (compared["target"], compared["against"]) == ("ranking(b)", "ranking(a)")
    assert (compared["estimator"], compared["decision"]) == ("history", "no clear difference")
    # Each captain has the first item in a half of the lists, so that of the first items both rankings have enough.
    answer = call(*shlex.split(found.command)[1:], "--top-k", "1", "--json", "-")
    weights = [(row["slate"][0] == row["a"][0]) * (1 if row["a"][0] == row["b"][0] else 2) for row in rows]
    clicks = sum(row["clicks"][0] * weight for row, weight in zip(rows, weights, strict=True))
    assert json.loads(answer.stdout)["estimates"][0]["value"] == pytest.approx(clicks / sum(weights))


def test_two_rankers_that_draw_and_are_not_known_are_arms(tmp_path: Path) -> None:
    rows = [{name: row[name] for name in ("query", "slate", "clicks", "variant")} for row in drawn("arms")]
    path = tmp_path / "log.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    found = offrank.inspect(path)
    assert (found.logging.status, found.logging.column) == ("unknown", "variant")
    assert "`variant` tells which ranker served each row" in found.logging.why
    assert found.command.startswith("offrank compare")
    assert call(*shlex.split(found.command)[1:]).exit_code in (0, 3)


def tied(broken: str) -> list[dict[str, Any]]:
    """A log sorted by a score with three values. broken: what breaks its ties, and whether all of it is sorted."""
    rng, rows = np.random.default_rng(4), []
    score = rng.integers(0, 3, (QUERIES, ITEMS)).astype(float)
    for _ in range(ROWS):
        query = int(rng.integers(QUERIES))
        by = rng.random(ITEMS) if broken == "chance" else np.arange(ITEMS)
        order = np.lexsort((by, -score[query]))
        order = rng.permutation(ITEMS) if broken == "order, explored" and rng.random() < 0.2 else order
        clicks = (rng.random(SLOTS) < 0.3).astype(int).tolist()
        shown = {"slate": order[:SLOTS].tolist(), "clicks": clicks, "candidates": [*range(ITEMS)]}
        rows.append({"query": f"q{query}", **shown, "old": score[query].tolist()})
    return rows


def test_ties_that_chance_breaks_are_a_law() -> None:
    found = offrank.inspect(tied("chance"))
    assert (found.logging.policy, found.logging.status) == ("top(old)", "agrees")


def test_ties_that_the_order_of_the_candidates_breaks_are_told() -> None:
    assert offrank.inspect(tied("order")).logging.status == "not random"
    found = offrank.inspect(tied("order, explored"))
    assert (found.logging.policy, found.logging.status) == (None, "unknown")
    assert "(but perhaps epsilon(top(old), 0.22), if the order of the candidates breaks its ties" in found.logging.why


def test_the_logarithm_of_a_propensity_is_named() -> None:
    rows = [{**row, "logp": -1.5 - row["clicks"][0]} for row in drawn("noisy")]
    found = offrank.inspect(rows)
    assert "If logp is the logarithm of the propensity, write exp(logp) in propensity." in " ".join(str(found).split())
    assert [one.like for one in found.columns if one.name == "logp"] == ["log_propensity"]
    others = offrank.inspect([{**row, "logp": -row["logp"]} for row in rows]).columns
    assert [one.like for one in others if one.name == "logp"] == [""]
