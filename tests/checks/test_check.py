"""`check` on good and on broken logs: what it finds, and what it says could not be found."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank import Counted, EpsilonUniform, PlackettLuce, Top
from offrank.errors import RowError
from offrank.simulation import SearchWorld
from tests.verbs.logs import LOGGING, coins, dice, replaced, search

DICE = PlackettLuce("score")
WIDE = SearchWorld(impressions=600, queries=20, candidates=20, slots=2, seed=2).table(600, 0)


def statuses(result: offrank.Result) -> dict[str, str]:
    """The worst status of each code."""
    order = ["skipped", "ok", "note", "warning", "serious"]
    found: dict[str, str] = {}
    for row in sorted(result.facts["checks"], key=lambda row: order.index(row["status"])):
        found[row["code"]] = row["status"]
    return found


def row(result: offrank.Result, code: str, title: str = "") -> dict[str, Any]:
    found = [one for one in result.facts["checks"] if one["code"] == code and title in one["title"]]
    assert found, f"no {code} {title} in {[(one['code'], one['title']) for one in result.facts['checks']]}"
    return found[0]


def propensities(log: Any) -> np.ndarray:
    return np.array(log["propensity"].to_pylist())


@pytest.mark.parametrize("seed", range(5))
def test_a_good_log_passes_everything(seed: int) -> None:
    log = dice(4_000, seed)
    own = statuses(offrank.check(log))
    assert own == {"mean-weight": "ok", "inverse-propensity": "ok", "actions": "skipped", "support": "skipped"}
    whole = offrank.check(log, logging=DICE)
    assert set(statuses(whole).values()) == {"ok"}
    assert set(statuses(whole)) == {
        "miscalibrated",
        "propensity-mismatch",
        "mean-weight",
        "inverse-propensity",
        "arithmetic",
        "harmonic",
        "support",
    }
    assert whole.trustworthy


def test_a_mean_weight_of_one_but_for_rounding_is_no_news() -> None:
    chances = pa.array([0.2] * 2_000)
    rows = {"slate": [[i % 5] for i in range(2_000)], "candidates": [[0, 1, 2, 3, 4]] * 2_000}
    log = pa.table({**rows, "clicks": [[i % 2] for i in range(2_000)], "propensity": chances})
    found = [one["status"] for one in offrank.check(log).facts["checks"] if one["code"] == "mean-weight"]
    assert set(found) == {"ok"}


def test_epsilon_policies_stand_between_logging_and_uniform() -> None:
    result = offrank.check(search(), logging=LOGGING)
    weights = {name: result[name, "ips"].mean_weight for name, estimator in result.estimates if estimator == "ips"}
    uniform = weights.pop("uniform")
    assert uniform is not None
    for name, weight in weights.items():
        epsilon = float(name.rsplit(",")[1].strip(" )"))
        assert weight == pytest.approx(1 + epsilon * (uniform - 1))


@pytest.mark.parametrize("factor", [0.2, 0.5, 0.8])
def test_propensities_times_a_constant(factor: float) -> None:
    log = replaced(dice(4_000), propensity=factor * propensities(dice(4_000)))
    found = row(offrank.check(log), "mean-weight", "of uniform")
    assert found["status"] == "serious"
    assert found["value"] == pytest.approx(1 / factor, rel=0.05)
    assert f"{1 / factor:.2g}"[:1] in found["message"]
    mismatch = row(offrank.check(log, logging=DICE), "propensity-mismatch")
    assert mismatch["status"] == "serious"
    assert f"{factor:.3g} times" in mismatch["message"]


def test_an_inverse_propensity_is_named_for_what_it_is() -> None:
    log = replaced(dice(50), propensity=1 / propensities(dice(50)))
    with pytest.raises(RowError, match="if this is an inverse propensity, use 1 / it"):
        offrank.check(log)


def test_sub_sampling_corrected_twice_is_named_for_what_it_is() -> None:
    rng = np.random.default_rng(3)
    log = dice(20_000)
    clicked = np.array(log["clicks"].to_pylist()).any(axis=1)
    inclusion = np.where(clicked, 1.0, 0.1)
    kept = rng.random(20_000) < inclusion
    log, inclusion = log.filter(kept), inclusion[kept]
    once = replaced(log, inclusion=inclusion)
    assert row(offrank.check(once), "mean-weight", "uniform")["status"] == "ok"
    assert statuses(offrank.check(once, logging=DICE))["arithmetic"] == "ok"
    twice = replaced(once, propensity=propensities(once) * inclusion)
    found = row(offrank.check(twice), "double-subsampling", "of uniform")
    assert (found["status"], found["expected"]) == ("serious", 1)
    assert found["value"] == pytest.approx((1 / inclusion**2).sum() / (1 / inclusion).sum(), rel=0.1)


@pytest.mark.parametrize(
    "wrong", ["plackett_luce(old_score, temperature=2)", "plackett_luce(naive_score)", "uniform", "epsilon(uniform, 1)"]
)
def test_the_wrong_logging_policy_is_found_without_and_with_propensities(wrong: str) -> None:
    blind = offrank.check(replaced(search(), propensity=None), "plackett_luce(new_score)", wrong)
    assert statuses(blind)["miscalibrated"] == "serious"
    assert "propensity" not in row(blind, "miscalibrated")["message"]
    seen = offrank.check(search(), logging=wrong)
    assert "the logged propensity differs from the policy's too" in row(seen, "miscalibrated")["message"]
    for found in (blind, seen):
        # One cause, one finding: neither the mean weights nor the written propensities tell of another.
        assert {code for code, status in statuses(found).items() if status == "serious"} <= {"miscalibrated", "low-ess"}
        assert not found.trustworthy


def test_one_item_with_a_wrong_probability_is_found_where_candidates_are_fixed() -> None:
    result = offrank.check(dice(8_000, loaded=1.6), logging=DICE)
    assert row(result, "miscalibrated")["status"] == "serious"
    assert re.search("item 20 was shown .* too often at any rank", row(result, "miscalibrated")["message"])
    assert (row(result, "arithmetic")["status"], row(result, "harmonic")["status"]) == ("note", "note")
    assert "at rank 1" in row(result, "arithmetic")["message"]
    assert "item 20 " in row(result, "arithmetic")["message"]


def test_candidates_that_vary_are_no_test_of_items() -> None:
    found = row(offrank.check(search(), logging=LOGGING), "actions")
    assert (found["status"], found["message"]) == ("skipped", "Not checked: impressions have different candidates.")


def test_what_logging_never_shows_is_counted_per_rank() -> None:
    log = coins(400, slate=[[1]] * 400, score=[[1.0, 2.0]] * 400, other=[[2.0, 1.0]] * 400, propensity=np.ones(400))
    found = row(offrank.check(log, Top("other"), EpsilonUniform(Top("score"), 0)), "support")
    assert (found["status"], found["value"], found["expected"]) == ("serious", 1, 0)
    assert "100 % at rank 1" in found["message"]
    assert row(offrank.check(log, Top("score"), Top("score")), "support")["status"] == "ok"
    unasked = row(offrank.check(log, logging=Top("score")), "support", "uniform")
    assert (unasked["status"], unasked["value"]) == ("warning", 0.5)


def test_no_overlap_with_the_target_is_serious_and_no_exception() -> None:
    log = coins(400, slate=[[1]] * 400, score=[[1.0, 2.0]] * 400, propensity=np.ones(400), other=[[2.0, 1.0]] * 400)
    result = offrank.check(log, Top("other"), Top("score"))
    assert row(result, "no-overlap", "top(other)")["status"] == "serious"
    assert not result.trustworthy


def test_a_log_without_randomness_is_said_to_be_one() -> None:
    log = coins(400, slate=[[1]] * 400, score=[[1.0, 2.0]] * 400, propensity=np.ones(400))
    for logging in ("logged", "top(score)"):
        found = row(offrank.check(log, logging=logging), "no-randomness")
        assert found["status"] == "serious"
        assert "user model" in found["remedy"]


def test_one_huge_inverse_propensity_is_pointed_at() -> None:
    log = coins(400, propensity=np.where(np.arange(400) == 3, 1e-5, 0.5))
    found = row(offrank.check(log), "huge-inverse-propensity")
    assert (found["status"], found["title"]) == ("warning", "Inverse propensities")
    assert "At most one in 125" in found["message"]


@pytest.mark.parametrize(("slates", "smallest", "odd"), [(336, 1e-4, False), (336, 1e-9, True), (2, 1e-4, False)])
def test_a_propensity_is_odd_or_not_by_the_number_of_slates(slates: int, smallest: float, odd: bool) -> None:
    """What `check` says of it, `evaluate` says too."""
    log = coins(2_000) if slates == 2 else dice(2_000, sides=8, slots=3)
    written = np.array(log["propensity"].to_pylist())
    written[3] = smallest
    changed = replaced(log, propensity=written)
    checked, judged = offrank.check(changed, "uniform"), offrank.evaluate(changed, "uniform", cluster=None)
    assert checked.about_log == judged.about_log
    assert ("huge-inverse-propensity" in {one.code for one in checked.about_log}) is odd


def test_what_makes_the_target_hard_to_judge_is_serious_and_of_others_a_note() -> None:
    log = WIDE
    asked = offrank.check(log, "top(naive_score)", LOGGING)
    assert row(asked, "low-ess", "top(naive_score)")["status"] == "serious"
    assert not asked.trustworthy
    hard = PlackettLuce("old_score", temperature=0.3)
    unasked = offrank.check(coins(400, propensity=np.where(np.arange(400) == 3, 1e-5, 0.5)))
    assert row(unasked, "low-ess", "uniform")["status"] == "note"
    assert repr(hard) == "plackett_luce(old_score, temperature=0.3)"


@pytest.mark.parametrize("candidates", [20])
def test_where_ranks_cannot_be_known_slates_still_are(candidates: int) -> None:
    class Unranked(PlackettLuce):
        """Plackett-Luce that knows the probability of slates only."""

        def rank_probs(self, contexts: Any, items: Any) -> Any:
            raise offrank.errors.AbilityError(f"cannot rank {candidates} candidates")

    result = offrank.check(WIDE, logging=Unranked("old_score"))
    skipped = {one["code"]: one["message"] for one in result.facts["checks"] if one["status"] == "skipped"}
    assert skipped.keys() == {"miscalibrated", "mean-weight", "actions"}
    assert skipped["miscalibrated"] == skipped["mean-weight"] == f"Not checked: cannot rank {candidates} candidates."
    assert row(result, "support", "for uniform")["status"] == "ok"
    assert row(result, "mean-weight", "of uniform")["status"] == "ok"
    assert row(result, "inverse-propensity")["status"] == "ok"
    assert [name for _, name in result.estimates][:2] == ["ips", "snips"]


def test_counted_propensities_cannot_be_wrong_but_may_not_support_the_target() -> None:
    found = row(offrank.check(search(), logging=Counted()), "mean-weight", "Mean item weight")
    assert (found["status"], "always agree" in found["message"]) == ("skipped", True)
    result = offrank.check(search(), "top(new_score)", Counted())
    assert row(result, "mean-weight", "Mean item weight of top(new_score)")["value"] == pytest.approx(1, abs=0.1)
    assert row(result, "counted-propensities", "top(new_score)")["status"] == "note"
    slates = row(result, "mean-weight", "Mean importance weight")
    assert "cannot give the probability of a slate" in slates["message"]


def test_rows_left_out_are_counted() -> None:
    log = replaced(search(), propensity=[0.0] * 3 + propensities(search())[3:].tolist())
    result = offrank.check(offrank.read_log(log, invalid="skip"))
    found = row(result, "skipped")
    assert (found["value"], found["status"]) == (3, "warning")
    assert "bad-propensity" in found["message"]
    assert result.facts["log"]["skipped"] == {"bad-propensity": 3}


def test_slots_are_listed_and_grouped() -> None:
    log = dice(400).to_pylist()
    for one in log[:100]:
        one["slate"], one["clicks"] = one["slate"][:1], one["clicks"][:1]
    result = offrank.check(log, logging=DICE)
    assert [(one["slots"], one["impressions"]) for one in result.facts["slots"]] == [(1, 100), (2, 300)]
    assert {name: group["uniform", "ips"].n for name, group in result.groups.items()} == {"1": 100, "2": 300}


@pytest.mark.parametrize(("kept", "fixed"), [(1, "ok"), (3, "serious")])
def test_slates_that_a_user_keeps_are_told_as_such_and_not_as_another_law(kept: int, fixed: str) -> None:
    rng = np.random.default_rng(0)
    query = rng.integers(20, size=6_000 // kept)
    candidates = query[:, None] * 8 + np.arange(8)
    score = rng.normal(size=(20, 8))[query]
    order = np.argsort(-(score + rng.gumbel(size=score.shape)), axis=1)[:, :4]
    slate = np.take_along_axis(candidates, order, axis=1)
    columns = {"query": query, "user": np.arange(len(query)), "candidates": candidates, "score": score, "slate": slate}
    log = {name: np.repeat(values, kept, axis=0).tolist() for name, values in columns.items()}
    log["clicks"] = rng.binomial(1, 0.2, (kept * len(query), 4)).tolist()
    found = statuses(offrank.check(pa.table(log), logging="plackett_luce(score, log=True)"))
    assert found.get("not-random", "ok") == fixed
    assert found["miscalibrated"] == ("ok" if fixed == "ok" else "skipped")
