"""Propensities that were written are no certificate where the log cannot test them."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from tests.cli.commands import call
from tests.verbs.logs import replaced

ROWS, ITEMS, SLOTS = 600, 6, 3
CONSTANT = {"uniform": 1 / 120, "half": 0.5, "certain": 1.0}


def unrepeated(kind: str, written: str, twice: int = 0) -> pa.Table:
    """A log whose queries come once, but for some that come `twice`. kind: who made the slates.

    fixed: a score that the log lacks; sorted: the column `old`; perturbed: that column, which has noise in it.
    written: the propensity of uniform, of plackett_luce(old), or a constant.
    """
    rng, query = np.random.default_rng(2), np.arange(ROWS)
    query[: 2 * twice] = np.repeat(np.arange(twice), 2)
    old, hidden = (scale * rng.gumbel(size=(ROWS, ITEMS))[query] for scale in (0.5, 1))
    noise = rng.gumbel(size=old.shape)
    heights = {"uniform": noise, "plackett_luce": old + noise, "fixed": hidden, "sorted": old, "perturbed": old + noise}
    order = np.argsort(-heights[kind], axis=1)
    weight = np.take_along_axis(np.exp(old), order, axis=1)
    law = (weight / weight[:, ::-1].cumsum(axis=1)[:, ::-1])[:, :SLOTS].prod(axis=1)
    items = query[:, None] * ITEMS + np.arange(ITEMS)
    return pa.table(
        {
            "query": query,
            "slate": np.take_along_axis(items, order[:, :SLOTS], axis=1).tolist(),
            "candidates": items.tolist(),
            "clicks": rng.integers(0, 2, (ROWS, SLOTS)).tolist(),
            "old": (heights[kind] if kind == "perturbed" else old).tolist(),
            "propensity": law if written == "plackett_luce" else np.full(ROWS, CONSTANT[written]),
        }
    )


@pytest.mark.parametrize("kind", ["uniform", "fixed"])
def test_a_constant_that_the_log_cannot_test_is_no_certificate(kind: str) -> None:
    found = offrank.inspect(unrepeated(kind, "uniform"))
    assert found.to_dict()["logging"]["status"] == "written, not tested"
    assert not found.logging.known
    told = " ".join(str(found).split())
    assert "propensities cannot be tested" in told
    assert "queries do not repeat" in told
    assert "Other rankings can be evaluated, with weights" not in told
    said = offrank.inspect(unrepeated(kind, "uniform"), logging="uniform")
    assert "if the slates were drawn with uniform, as given" in " ".join(str(said).split())


@pytest.mark.parametrize(
    ("kind", "written", "twice", "status"),
    [
        ("uniform", "uniform", 100, "written"),  # rows of one query differ
        ("uniform", "uniform", 5, "written, not tested"),
        ("plackett_luce", "plackett_luce", 0, "written"),  # the mean weight is 1, though weights vary
        ("fixed", "plackett_luce", 0, "refuted"),
        ("fixed", "uniform", 15, "refuted"),
        ("fixed", "uniform", 100, "not random"),
        ("plackett_luce", "uniform", 0, "refuted"),
        ("fixed", "half", 0, "refuted"),
        ("fixed", "certain", 0, "not random"),
        ("sorted", "uniform", 0, "not random"),
        ("sorted", "plackett_luce", 0, "not random"),
        ("perturbed", "plackett_luce", 200, "written"),  # sorted by a score that was itself drawn
    ],
)
def test_what_few_repeats_leave_to_test(kind: str, written: str, twice: int, status: str) -> None:
    found = offrank.inspect(unrepeated(kind, written, twice))
    assert found.logging.status == status
    assert found.logging.why


def test_lists_without_other_candidates_say_what_cannot_be_compared() -> None:
    log = replaced(unrepeated("fixed", "uniform"), candidates=None, old=None, query=None)
    found = offrank.inspect(log).logging
    assert (found.status, found.known) == ("written, not tested", False)
    assert "no two rows can be compared" in found.why


def test_the_command_of_an_untested_log_runs(tmp_path: Path) -> None:
    pq.write_table(unrepeated("uniform", "uniform"), tmp_path / "log.parquet")
    words = shlex.split(offrank.inspect(tmp_path / "log.parquet").command)
    assert words[1] == "evaluate"
    assert call(*words[1:]).exit_code == 0


@pytest.mark.parametrize("id_name", ["query", "session", "user"])
def test_an_impression_that_is_its_own_query_is_inspected(id_name: str) -> None:
    rng, rows = np.random.default_rng(4), []
    for each in range(300):
        for rank, item in enumerate(rng.permutation(40)[:4]):
            rows.append({id_name: each, "item": int(item), "rank": rank + 1, "click": int(rng.random() < 0.2)})
    found = offrank.inspect(pa.Table.from_pylist(rows), {"impression": id_name, "position": "rank"})
    assert found.rows == 300
    assert found.logging.status == "unknown"


@pytest.mark.parametrize(("kind", "twice", "named"), [("uniform", 0, True), ("uniform", 150, False)])
def test_evaluate_names_propensities_that_the_log_cannot_test(kind: str, twice: int, named: bool) -> None:
    log = unrepeated(kind, "uniform", twice)
    status = offrank.inspect(log).logging.status
    assert status == ("written, not tested" if named else "written")
    found = offrank.evaluate(log, "uniform", "logged", "ips").verdict
    assert ("propensities-as-drawn" in [one.code for one in found.assumptions]) is named
    law = offrank.evaluate(log, "uniform", "uniform", "ips").verdict
    assert "propensities-as-drawn" not in [one.code for one in law.assumptions]
    assert found.trust == "sound"


def test_a_policy_that_drew_the_log_is_not_asked_about_as_if_it_were_new() -> None:
    rng = np.random.default_rng(3)
    slates = rng.permuted(np.tile(np.arange(4), (ROWS, 1)), axis=1)[:, :2]
    clicks = rng.integers(0, 2, slates.shape).tolist()
    table = pa.table({"slate": slates.tolist(), "candidates": [[0, 1, 2, 3]] * ROWS, "clicks": clicks})
    found = " ".join(str(offrank.inspect(table)).split())
    assert "What uniform has earned, which drew the log. Log your scores, and" in found
    assert "What uniform would have earned" not in found
    slates = rng.permuted(np.tile(np.arange(8), (ROWS, 1)), axis=1)[:, :5]
    table = pa.table({"slate": slates.tolist(), "candidates": [[*range(8)]] * ROWS, "revenue": rng.random(ROWS)})
    found = offrank.inspect(table.append_column("new", pa.array([[0.1 * item for item in range(8)]] * ROWS)))
    words = "What uniform has earned, which drew the log: it shows too little of what new would show:"
    assert words in " ".join(str(found).split())


def test_a_ranker_of_which_the_log_has_most_is_not_asked_about_as_if_it_were_new() -> None:
    rng, rows = np.random.default_rng(6), 6000
    old, new = rng.random((2, 12, 8))
    query = rng.integers(0, 12, rows)
    drawn = np.where((rng.random(rows) < 0.08)[:, None], rng.random((rows, 8)), old[query])
    slates = np.argsort(-drawn, axis=1)[:, :4].tolist()
    clicks = rng.integers(0, 2, (rows, 4)).tolist()
    columns = {"slate": slates, "clicks": clicks, "candidates": [[*range(8)]] * rows}
    table = pa.table(columns | {"old": old[query].tolist(), "new": new[query].tolist()})
    found = " ".join(str(offrank.inspect(table)).split())
    assert "What top(old) would have earned, of which the log has most: it shows too little of what new" in found


@pytest.mark.parametrize("drawn", [True, False])
def test_a_column_p_is_a_propensity_if_its_inverses_are_as_many_as_were_left(drawn: bool) -> None:
    """Three of five are drawn in turn: on average 1 / p is 5, 4 and 3. What is called so may be a prediction."""
    rng, worth, rows = np.random.default_rng(4), np.array([3.0, 2.0, 1.5, 1.0, 0.5]), []
    for _ in range(400):
        left, slots = list(range(5)), []
        for _ in range(3):
            chances = worth[left] / worth[left].sum()
            at = int(rng.choice(len(left), p=chances))
            p = float(chances[at]) if drawn else float(rng.beta(2, 6))
            slots.append({"action": left.pop(at), "p": p, "reward": int(rng.random() < 0.3)})
        rows.append({"candidates": list(range(5)), "slots": slots})
    found = offrank.inspect(rows)
    assert ("slot_propensity=slots.p" in found.read_as) is drawn
    assert found.logging.known is drawn
