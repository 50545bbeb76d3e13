"""Probabilities that were written in the log tell of the shown slates, in the order in which they were shown."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank import errors
from offrank.errors import AbilityError
from offrank.log.batch import Contexts
from offrank.policies import PlackettLuce
from offrank_testing.laws import Situation, enumerated_rank_probs, law

NEW = "plackett_luce(new)"


def by_slot(found: dict[tuple[int, ...], float], slate: tuple[int, ...]) -> list[float]:
    above = [sum(p for other, p in found.items() if other[:k] == slate[:k]) for k in range(len(slate) + 1)]
    return [after / before for before, after in pairwise(above)]


def drawn(rows: int = 600, seed: int = 0, slots: int | None = None) -> pa.Table:
    """A ragged log with everything written down: of the policy that drew it, and of a new one."""
    rng, data = np.random.default_rng(seed), []
    for _ in range(rows):
        size = int(rng.integers(2, 5))
        length = size if slots is None else min(size, slots)
        old, new = rng.choice([0.5, 1, 2, 4], size), rng.choice([0.5, 1, 3], size)
        here = Situation(size, length, {"old": tuple(old), "new": tuple(new)})
        logging, target = law(PlackettLuce("old"), here), law(PlackettLuce("new"), here)
        slate = list(logging)[rng.choice(len(logging), p=list(logging.values()))]
        relevant = rng.random(size)
        data.append(
            {
                "slate": [int(10 * i) for i in slate],
                "candidates": [10 * i for i in range(size)],
                "old": old.tolist(),
                "new": new.tolist(),
                "clicks": [float(rng.random() < relevant[i] / (1 + j)) for j, i in enumerate(slate)],
                "propensity": logging[slate],
                "slot_propensity": by_slot(logging, slate),
                "rank_propensity": [enumerated_rank_probs(logging, i, length) for i in slate],
                "new_slate": target[slate],
                "new_slots": by_slot(target, slate),
                "new_ranks": [enumerated_rank_probs(target, i, length) for i in slate],
            }
        )
    return pa.Table.from_pylist(data)


LOG = drawn()
TOP_ONLY = drawn(300, 1, slots=2)


def changed(table: pa.Table, column: str, values: list[Any]) -> pa.Table:
    return table.set_column(table.column_names.index(column), column, [values])


def without(table: pa.Table, *names: str) -> pa.Table:
    return table.drop_columns(list(names))


def checks(result: Any) -> dict[str, str]:
    return {row["code"]: row["status"] for row in result.facts["checks"]}


def test_a_perfect_log_supports_the_policy_that_drew_it() -> None:
    assert checks(offrank.check(LOG, target="plackett_luce(old)"))["support"] == "ok"


def test_an_item_that_was_never_first_has_no_support() -> None:
    rows = 200
    log = pa.table(
        {
            "candidates": [[7, 8, 9]] * rows,
            "new": [[1.0, 2.0, 3.0]] * rows,  # wants 9 first, which was never there
            "slate": [[7, 8, 9], [8, 7, 9]] * (rows // 2),
            "clicks": [[1.0, 0.0, 0.0]] * rows,
            "propensity": [0.5] * rows,
            "rank_propensity": [[[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]] * rows,
        }
    )
    assert checks(offrank.check(log, target="top(new)"))["support"] == "serious"
    supported = changed(log, "new", [[2.0, 1.0, 0.0]] * rows)
    assert checks(offrank.check(supported, target="top(new)"))["support"] == "ok"


def test_support_is_not_told_where_some_candidates_were_not_displayed() -> None:
    found = offrank.check(TOP_ONLY, target="plackett_luce(old)")
    (row,) = (row for row in found.facts["checks"] if row["code"] == "support")
    assert row["status"] == "skipped"
    assert "gives the probabilities of displayed items only" in str(row)


@pytest.mark.parametrize("metric", ["banner_disagreement", "banner_ndcg", "counterfactual_disagreement"])
def test_metrics_of_written_probabilities_are_those_of_the_law(metric: str) -> None:
    written = offrank.measure(LOG, "new", metrics=metric)["new", metric]
    by_law = offrank.measure(LOG, "new", "plackett_luce(old)", metrics=metric)["new", metric]
    assert (written.value, written.low) == pytest.approx((by_law.value, by_law.low), rel=1e-9)


def test_banner_metrics_need_all_candidates() -> None:
    with pytest.raises(errors.AbilityError, match="gives the probabilities of displayed items only"):
        offrank.measure(TOP_ONLY, "new", metrics="banner_disagreement")


@pytest.mark.parametrize("log", [LOG, TOP_ONLY], ids=["all shown", "top only"])
@pytest.mark.parametrize(
    ("estimator", "column"),
    [("ips", "slate"), ("snips", "slots"), ("rips", "slots"), ("snrips", "slots"), ("ipm", "ranks"), ("pbm", "ranks")],
)
def test_a_written_target_is_the_law_that_it_was_written_from(log: pa.Table, estimator: str, column: str) -> None:
    given = {"examination": [1, 0.5, 0.3, 0.2], "estimators": estimator}
    written = offrank.estimate(log, f"written({column}=new_{column})", "plackett_luce(old)", **given)[estimator]
    law_of_any = offrank.estimate(log, NEW, "plackett_luce(old)", **given)[estimator]
    # A law also tells which slates the log hides, and its interval counts them: the errors are those of what is seen.
    expected = law_of_any.value, law_of_any.standard_error
    assert (written.value, written.standard_error) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("estimator", ["ips", "rips", "snrips", "ipm", "interpol(window=1)"])
def test_logged_is_the_law_that_it_was_written_from(estimator: str) -> None:
    given = {"examination": [1, 0.5, 0.3, 0.2], "estimators": estimator}
    written = offrank.estimate(LOG, NEW, **given)[estimator]
    by_law = offrank.estimate(LOG, NEW, "plackett_luce(old)", **given)[estimator]
    assert written.value == pytest.approx(by_law.value, rel=1e-9)


def test_the_product_of_the_slots_is_the_slate() -> None:
    only_slots = without(LOG, "propensity")
    assert offrank.evaluate(only_slots, NEW)["ips"].value == pytest.approx(offrank.evaluate(LOG, NEW)["ips"].value)


@pytest.mark.parametrize("estimator", ["direct('model.json')", "dr('model.json')", "pi", "pi(samples=5)"])
@pytest.mark.parametrize("target", ["logged", "epsilon(logged, 0.2)", "written(ranks=new_ranks)"])
def test_what_was_written_is_not_asked_about_other_slates(estimator: str, target: str, tmp_path: Any) -> None:
    model = offrank.fit_clicks(without(LOG, "rank_propensity"), "pbm", tmp_path / "model.json", by=None)
    spelled = estimator.replace("model.json", str(tmp_path / "model.json"))
    assert model is not None
    for others in ([], ["ipm"]):
        with pytest.raises(errors.AbilityError, match=r"cannot (give the prob|draw)"):
            offrank.evaluate(LOG, target, "plackett_luce(old)", [spelled, *others])


@pytest.mark.parametrize(
    ("missing", "estimator", "message"),
    [
        ("slate=new_slate", "ipm", "written(ranks=...)"),
        ("ranks=new_ranks", "ips", "written(slate=...)"),
        ("slate=new_slate", "rips", "written(slots=...)"),
    ],
)
def test_what_was_not_written_is_asked_for(missing: str, estimator: str, message: str) -> None:
    with pytest.raises(errors.AbilityError) as caught:
        offrank.evaluate(LOG, f"written({missing})", estimators=estimator)
    assert message in caught.value.remedy


@pytest.mark.parametrize("column", ["new_slate", "new_slots", "new_ranks"])
@pytest.mark.parametrize("wrong", [-0.1, 1.2, None])
def test_probabilities_of_a_target_are_probabilities(column: str, wrong: float | None) -> None:
    values = LOG.column(column).to_pylist()
    values[3] = (
        wrong if column == "new_slate" else [[wrong] * len(LOG.column("slate")[3])] * len(LOG.column("slate")[3])
    )
    values[3] = values[3][0] if column == "new_slots" else values[3]
    broken = LOG.set_column(LOG.column_names.index(column), column, [values])
    argument = column.removeprefix("new_")
    estimator = {"slate": "ips", "slots": "rips", "ranks": "ipm"}[argument]
    with pytest.raises(errors.RowError) as caught:
        offrank.evaluate(broken, f"written({argument}={column})", estimators=estimator)
    assert (caught.value.row, caught.value.column, caught.value.rule) == (3, column, "bad-probability")


def test_a_target_may_give_what_was_shown_no_chance_a_logging_policy_may_not() -> None:
    zeros = changed(LOG, "new_slate", [0.0, *LOG["new_slate"].to_pylist()[1:]])
    assert offrank.evaluate(zeros, "written(slate=new_slate)")["ips"].value > 0
    slots = LOG["slot_propensity"].to_pylist()
    slots[5] = [0.0] * len(slots[5])
    broken = changed(LOG, "slot_propensity", slots)
    with pytest.raises(errors.RowError) as caught:
        offrank.evaluate(broken, NEW, estimators="rips")
    assert (caught.value.row, caught.value.rule) == (5, "bad-slot-propensity")


def test_long_logs_may_have_them_too() -> None:
    rows = []
    for number, row in enumerate(TOP_ONLY.to_pylist()):
        for place, item in enumerate(row["candidates"]):
            slot = row["slate"].index(item) if item in row["slate"] else None
            rows.append(
                {
                    "impression": number,
                    "item": item,
                    "position": None if slot is None else slot + 1,
                    "click": None if slot is None else row["clicks"][slot],
                    "old": row["old"][place],
                    "slot_propensity": None if slot is None else row["slot_propensity"][slot],
                    "new_slots": None if slot is None else row["new_slots"][slot],
                }
            )
    long = offrank.read_log(pa.Table.from_pylist(rows))
    found = offrank.estimate(long, "written(slots=new_slots)", estimators=["rips", "ips"])
    wide = offrank.estimate(TOP_ONLY, "written(slots=new_slots)", estimators=["rips", "ips"])
    for name in ("rips", "ips"):
        assert found[name].value == pytest.approx(wide[name].value)


def test_a_policy_answers_about_any_slate_and_what_was_written_does_not() -> None:
    here, slates = Contexts(np.zeros((1, 2), np.int64), np.array([2]), np.array([1])), np.array([[0]])
    for written in (offrank.Logged(), offrank.Written(slate="p"), offrank.EpsilonUniform(offrank.Logged(), 0.1)):
        for ask in (written.log_prob, written.slot_probs, written.rank_probs):
            with pytest.raises(AbilityError) as error:
                ask(here, slates)
            assert "cover the shown slate only" in error.value.remedy
        with pytest.raises(AbilityError, match="cannot draw slates"):
            written.sample(here, np.random.default_rng(0))
