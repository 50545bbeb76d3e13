"""What a user says of a table adds to what is known of it, and a few odd cells hide no column that is called so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.errors import ColumnError, UsageError

ROWS, ITEMS, SLOTS = 300, 8, 4
KNOWN = {
    "slate": "results.product.id",
    "clicks": "results.clicked",
    "candidates": "candidates.product_id",
    "propensity": "slate_prob",
}


def served(seed: int = 1) -> list[dict[str, Any]]:
    """Lists of structs, drawn by Plackett-Luce on the logits `v1`, with the probability of each."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(ROWS):
        logits, other = rng.normal(size=(2, ITEMS))
        order = np.argsort(-(logits + rng.gumbel(size=ITEMS)))[:SLOTS]
        left, prob = np.exp(logits).sum(), 1.0
        for item in order:
            prob *= np.exp(logits[item]) / left
            left -= np.exp(logits[item])
        clicked = rng.random(SLOTS) < 0.3
        results = [
            {"product": {"id": f"d{item}"}, "slot": slot + 1, "clicked": bool(clicked[slot])}
            for slot, item in enumerate(order)
        ]
        pool = [{"product_id": f"d{at}", "v1": float(logits[at]), "v2": float(other[at])} for at in range(ITEMS)]
        found.append({"request": f"r{number}", "results": results, "candidates": pool, "slate_prob": float(prob)})
    return found


def roles(table: Any, said: dict[str, str] | None = None) -> dict[str, str]:
    """Role -> column, of roles and of what stands beside the candidates."""
    found = offrank.inspect(table, said)
    assert isinstance(found, offrank.Inspection)
    beside = {one.name: one.use for one in found.columns if one.use in ("score", "ranking")}
    return {**{role: name for role, name in found.renamed.items() if role != "position"}, **beside}


@pytest.mark.parametrize("role", KNOWN)
def test_one_role_that_is_said_forgets_nothing(role: str) -> None:
    table = pa.Table.from_pylist(served())
    known = roles(table)
    assert known == {**KNOWN, "candidates.v1": "score", "candidates.v2": "score"}
    assert roles(table, {role: KNOWN[role]}) == known
    log = offrank.read_log(table, {role: KNOWN[role]})
    assert isinstance(log, type(offrank.read_log(table)))
    assert dict(log.renamed).items() >= KNOWN.items()


def test_what_is_said_is_not_overruled() -> None:
    """`slot` is not what was clicked, but who says so knows."""
    log = offrank.read_log(pa.Table.from_pylist(served()), {"clicks": "results.slot"})
    assert log.renamed["clicks"] == "results.slot"
    assert log.renamed["candidates"] == KNOWN["candidates"]


def of_two_files(folder: Path) -> tuple[list[str], float]:
    """Random lists of 3 of 6 with their pool, and the clicks apart; the mean clicks of `top(v)` by inverse weights."""
    rng = np.random.default_rng(2)
    shown, clicks, value = [], [], 0.0
    for number in range(ROWS):
        pool = rng.choice(9, 6, replace=False)
        slate = rng.permutation(pool)[:3]
        shown.append({"request": number, "slate": slate.tolist(), "pool": pool.tolist(), "v": pool.tolist()})
        hit = slate[rng.random(3) < 0.4]
        clicks += [{"request": number, "item": int(item)} for item in hit]
        value += 120 * len(hit) * bool((slate == np.sort(pool)[::-1][:3]).all()) / ROWS  # 6 * 5 * 4 lists
    for name, rows in (("lists", shown), ("clicks", clicks)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return [str(folder / "lists.jsonl"), str(folder / "clicks.jsonl")], value


@pytest.mark.parametrize("said", [None, {"candidates": "pool"}, {"slate": "slate"}])
def test_the_pool_of_joined_tables_is_that_of_the_lists(tmp_path: Path, said: dict[str, str] | None) -> None:
    files, value = of_two_files(tmp_path)
    log = offrank.read_log(files, said)
    found = offrank.evaluate(log, "top(v)", "uniform", ["ips"])["ips"]
    assert found.value == pytest.approx(value, abs=1e-9)
    spelled = offrank.inspect(files, said).format
    assert spelled is not None
    again = offrank.evaluate(offrank.read_log(files, said, format=spelled), "top(v)", "uniform", ["ips"])["ips"]
    assert again.value == found.value


def test_what_a_join_is_made_of_is_not_renamed(tmp_path: Path) -> None:
    files, _ = of_two_files(tmp_path)
    with pytest.raises(UsageError, match="the columns of the events"):
        offrank.read_log(files, {"slate": "pool"}, format="events(impression=request, slate=slate, click_item=item)")


ODD = {"above 1": 1.043, "0": 0.0, "missing": None}


def choices(odd: float | None, every: int) -> pa.Table:
    """A router of three models; one probability in `every` is odd, from row 7 on."""
    rng = np.random.default_rng(3)
    probs = np.array([0.5, 0.3, 0.2])
    chosen = rng.choice(3, ROWS, p=probs)
    written = [odd if row % every == 7 else float(probs[at]) for row, at in enumerate(chosen)]
    return pa.table({"model": [f"m{at}" for at in chosen], "propensity": written, "reward": rng.random(ROWS)})


@pytest.mark.parametrize("odd", ODD)
def test_one_odd_probability_is_named_and_hides_no_column(odd: str) -> None:
    found = offrank.inspect(choices(ODD[odd], ROWS))
    assert isinstance(found, offrank.Inspection)
    assert found.format == "router(chosen=model, reward=reward, propensity=propensity)"
    assert (found.rows, sum(found.skipped.values())) == (ROWS - 1, 1)
    assert "row 7 (the first is 0), column 'propensity'" in " ".join(str(found).split())


def test_a_tenth_of_missing_probabilities_hides_no_column() -> None:
    found = offrank.inspect(choices(None, 10))
    assert (found.rows, found.skipped) == (ROWS * 9 // 10, {"bad-propensity": ROWS // 10})


@pytest.mark.parametrize(("every", "written"), [(25, True), (15, False)])
def test_a_twentieth_of_odd_numbers_makes_no_probabilities(every: int, written: bool) -> None:
    found = offrank.inspect(choices(1.5, every))
    assert isinstance(found, offrank.Inspection) is written
    assert ("'propensity' holds no probabilities: 0.2 to 1.5" in " ".join(str(found).split())) is not written


@pytest.mark.parametrize("long", [False, True])
def test_odd_probabilities_of_lists_are_named(long: bool) -> None:
    rows = served()
    rows[7]["slate_prob"] = 1.043
    table: Any = pa.Table.from_pylist(rows)
    if long:
        table = [
            {"req": row["request"], "rank": one["slot"], "sku": one["product"]["id"], "clicked": one["clicked"]}
            | {"slate_prob": row["slate_prob"]}
            for row in rows
            for one in row["results"]
        ]
    found = offrank.inspect(table)
    assert isinstance(found, offrank.Inspection)
    assert found.renamed["propensity"] == "slate_prob"
    assert found.skipped == {"bad-propensity": 1}
    assert "1.043 is not in (0, 1]" in found.first_broken


def test_logarithms_are_no_probabilities() -> None:
    table = choices(None, ROWS)
    logs = np.log(np.array(choices(0.5, ROWS)["propensity"]))
    said = " ".join(str(offrank.inspect(table.set_column(1, "propensity", pa.array(logs)))).split())
    assert "'propensity' holds no probabilities: -1.6" in said
    assert "exp(x) of logarithms" in said


def test_the_rate_at_which_rows_were_kept_is_no_propensity() -> None:
    rows = [{**row, "keep_prob": row["slate_prob"]} for row in served()]
    for row in rows:
        del row["slate_prob"]
    assert "propensity" not in roles(pa.Table.from_pylist(rows))


@pytest.mark.parametrize("name", ["n_clicks", "num_clicks", "revenue"])
def test_a_number_of_each_list_that_is_called_an_outcome_is_its_reward(name: str) -> None:
    rows = served()
    log = [{"ranking": [one["product"]["id"] for one in row["results"]]} for row in rows]
    log = [{**row, name: sum(one["clicked"] for one in each["results"])} for row, each in zip(log, rows, strict=True)]
    log = [{**row, "probability_of_list": each["slate_prob"]} for row, each in zip(log, rows, strict=True)]
    found = offrank.read_log(log).description
    assert found is not None
    roles = dict(found.roles)
    assert roles == {"slate": "ranking", "reward": name, "propensity": "probability_of_list"}


def test_clicks_of_the_past_are_no_reward() -> None:
    log = [{"ranking": [one["product"]["id"] for one in row["results"]], "past_clicks": 1} for row in served()]
    with pytest.raises(ColumnError, match="no list says which items of the slate were clicked"):
        offrank.read_log(log)


@pytest.mark.parametrize("drawn", [True, False])
def test_probabilities_of_slots_are_known_without_the_pool(*, drawn: bool) -> None:
    """Of ITEMS drawn one after another, 1 / p of a slot is as many as were left, on average; of a score it is not."""
    rng, rows = np.random.default_rng(2), []
    for _ in range(4 * ROWS):
        logits = rng.normal(size=ITEMS)
        order = np.argsort(-(logits + rng.gumbel(size=ITEMS)))[:SLOTS]
        odds = np.exp(logits)[order]
        p = odds / (np.exp(logits).sum() - np.cumsum(odds) + odds) if drawn else rng.uniform(0.1, 1, SLOTS)
        clicks = rng.integers(0, 2, SLOTS)
        rows.append(
            {
                "slots": [
                    {"item": f"d{at}", "p": one, "click": int(c)} for at, one, c in zip(order, p, clicks, strict=True)
                ]
            }
        )
    assert ("slot_propensity" in offrank.inspect(rows).renamed) == drawn
