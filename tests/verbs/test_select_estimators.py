"""`select estimators` and `evaluate -e auto`: the right choice in worlds of known users, and what is said of it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.errors import LogError, UsageError
from offrank.language.assumptions import ITEM_POSITION
from offrank.log.batch import Contexts, LogBatch
from offrank.log.source import Needs
from offrank.policies import policy
from offrank.selection import selector as choosing
from offrank.selection.estimators import EstimatorRanking
from offrank.selection.selected_estimators import SelectedEstimators
from offrank.selection.selector import EstimatorSelector
from offrank_papers.like_log import BEHAVIOURS, LikeLog
from offrank_testing import MemorySource
from tests.verbs.logs import CURVE, LOGGING, TARGET, replaced, search

pytestmark = pytest.mark.turns(3, "selection")

QUERIES, ITEMS = 8, 4
EXAMINATION = [1.0, 0.7, 0.5, 0.4]
NAMES = ("snips", "rips", "ipm", "interpol(window=1)", "pbm")
TOP = "top(new)"


@cache
def log(users: str, seed: int = 3) -> LogBatch:
    """Uniform slates of all items, clicked by one kind of users."""
    rng, shape = np.random.default_rng(1), (QUERIES, ITEMS)
    attraction = rng.uniform(0.1, 0.95, shape)
    each = np.full(QUERIES, ITEMS)
    contexts = Contexts(np.tile(np.arange(ITEMS), (QUERIES, 1)), each, each, {"new": attraction})
    curve = 0.5 * np.array(EXAMINATION)
    world = LikeLog(contexts, attraction, policy("uniform"), BEHAVIOURS[users], curve)
    [batch] = world.source(3000, seed).batches(0)
    return batch


@cache
def selected(users: str) -> SelectedEstimators:
    return _select(MemorySource((log(users),)))


def _select(source: Any, names: Any = NAMES, **how: Any) -> SelectedEstimators:
    how = {"examination": EXAMINATION, "cluster": None, **how}
    return offrank.select_estimators(source, TOP, "uniform", names, **how)


def test_where_the_position_based_model_holds_its_little_variance_wins() -> None:
    found = selected("position-based").choice
    assert found.ranking.ranked[0].candidate.assumes >= ITEM_POSITION


def test_where_neighbours_matter_the_position_based_model_is_left() -> None:
    found = selected("neighbours").choice
    assert not found.ranking.ranked[0].candidate.assumes >= ITEM_POSITION
    assert {one.candidate.name for one in found.ranking.ranked if one.refuted} >= {"pbm", "interpol(window=1)", "ipm"}


def test_order_of_candidates_rows_and_parts_change_nothing() -> None:
    batch, before = log("position-based"), selected("position-based")
    parts = MemorySource((batch.take(np.arange(2000, 3000)), batch.take(np.arange(2000))))
    after = _select(parts, NAMES[::-1])
    assert after.chosen == before.chosen
    for one, two in zip(before.choice.ranking.ranked, after.choice.ranking.ranked, strict=True):
        assert one.candidate.name == two.candidate.name
        assert (one.error, one.high) == pytest.approx((two.error, two.high), rel=1e-6)


def test_auto_is_the_choice_and_its_interval_spans_the_least_assuming() -> None:
    source, names = MemorySource((log("position-based"),)), ["snips", "ipm", "auto"]
    result = offrank.evaluate(source, TOP, "uniform", names, examination=EXAMINATION, cluster=None)
    auto, chosen = result["auto"], str(result["auto"].chosen)
    alone = offrank.evaluate(source, TOP, "uniform", [chosen, "snips"], examination=EXAMINATION, cluster=None)
    assert auto.value == alone[chosen].value
    ends = (min(one.low for one in alone.values()), max(one.high for one in alone.values()))
    assert (auto.low, auto.high) == pytest.approx(ends, rel=1e-9)
    [said] = [one for one in auto.warnings if one.code == "chosen-estimator"]
    assert said.severity == "note"
    assert f"This is {chosen}: its estimated error of" in said.message.replace("`", "")
    assert result.facts["window_path"] == []


def test_every_target_has_its_own_choice() -> None:
    source = MemorySource((log("neighbours"),))
    targets = {"far": TOP, "same": "uniform"}
    result = offrank.compare(source, targets, "uniform", "auto", examination=EXAMINATION, cluster=None)
    alone = offrank.evaluate(source, TOP, "uniform", "auto", examination=EXAMINATION, cluster=None)["auto"]
    assert (result["far", "auto"].chosen, result["far", "auto"].value) == (alone.chosen, alone.value)
    away = result["far", "auto"].value - result["same", "auto"].value
    assert result.difference("far", "same").value == pytest.approx(away)
    assert result["same", "auto"].value == pytest.approx(float(log("neighbours").reward.mean()))


class Rewards(MemorySource):
    """Without clicks."""

    def select(self, needed: Needs) -> MemorySource:
        if "clicks" in needed.roles:
            raise offrank.errors.ColumnError("there are no clicks", "use the reward")
        return super().select(needed)


def test_what_cannot_be_had_says_why() -> None:
    found = _select(Rewards((log("position-based"),)), ["snips", "ipm", "interpol(window=2)"], examination=None)
    assert set(found.choice.refused) == {"ipm", "interpol(window=2)"}
    rows = {row["estimator"]: row for row in found.records()}
    assert (rows["ipm"]["status"], rows["ipm"]["message"]) == ("missing", "there are no clicks")
    assert "examination" in rows["interpol(window=2)"]["message"]
    assert rows["snips"]["chosen"]
    assert found.records()[0] == rows["snips"]
    assert "Not available" in str(found)
    assert "Must not be used" not in str(found)


def test_a_refuted_choice_has_its_whole_error(monkeypatch: pytest.MonkeyPatch) -> None:
    real = choosing.ranking

    def refuting(candidates: Any) -> EstimatorRanking:
        first, *others = real(candidates).ranked
        wrong = replace(first, bias=10 * first.candidate.spread, against="snips")
        return EstimatorRanking((wrong, *others), (), None)

    monkeypatch.setattr(choosing, "ranking", refuting)
    source = MemorySource((log("position-based"),))
    how: dict[str, Any] = {"examination": EXAMINATION, "cluster": None, "confidence": 0.9}
    found = offrank.evaluate(source, TOP, "uniform", "auto", **how)["auto"]
    margin = 1.6448536 * np.sqrt(101) * found.standard_error
    assert (found.low, found.high) == pytest.approx((found.value - margin, found.value + margin), rel=1e-4)
    assert found.difference is not None
    assert found.difference.high - found.difference.value >= margin * (1 - 1e-4)
    [said] = [one for one in found.warnings if one.code == "chosen-estimator"]
    assert said.severity == "serious"
    assert "It differs from an estimate that assumes less" in said.message
    page = _select(source)
    assert (page.records()[0]["status"], page.records()[0]["chosen"]) == ("refuted", True)
    assert "chosen, refuted" in str(page)
    assert page.to_document().forests[0].rows[0].light == "serious"


def test_clicks_that_are_not_the_reward_and_the_first_reason() -> None:
    other = replace(log("position-based"), outcome=np.arange(3000) / 3000)
    for names in (["ipm"], ["ipm", "interpol(window=2)"]):
        with pytest.raises(UsageError, match="estimates clicks"):
            _select(MemorySource((other,)), names, examination=None)
    with pytest.raises(UsageError, match="examination"):
        _select(MemorySource((other,)), ["interpol(window=2)", "ipm"], examination=None)


def test_a_candidate_that_fails_late_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    real = EstimatorSelector._read

    def read(self: EstimatorSelector, policies: Any, able: Any) -> Any:
        if "ipm" in able:
            raise LogError("row 17 is odd", "mend it")
        return real(self, policies, able)

    monkeypatch.setattr(EstimatorSelector, "_read", read)
    source = MemorySource((log("position-based"),))
    found = _select(source, ["ipm", "snips", "rips"]).choice
    assert (found.refused, set(found.given), len(found.pseudo)) == ({"ipm": "row 17 is odd"}, {"snips", "rips"}, 4)
    with pytest.raises(LogError, match="row 17"):
        _select(source, ["ipm"])


def test_the_logging_policy_as_target_has_no_pseudo_targets() -> None:
    source = MemorySource((log("position-based"),))
    found = offrank.select_estimators(source, "uniform", "uniform", ["snips", "rips"], cluster=None)
    assert found.choice.pseudo == ()
    assert "none: the policies allow none" in "".join(map(str, found.to_document().sections))


def test_a_difference_assumes_what_both_of_its_parts_assume(monkeypatch: pytest.MonkeyPatch) -> None:
    real, wanted = choosing.ranking, iter(["snips", "ipm"])

    def forced(candidates: Any) -> EstimatorRanking:
        name = next(wanted)
        [one] = [each for each in real(candidates).ranked if each.candidate.name == name]
        return EstimatorRanking((one,), (), name)

    monkeypatch.setattr(choosing, "ranking", forced)
    source, targets = MemorySource((log("position-based"),)), {"far": TOP, "same": "uniform"}
    how: dict[str, Any] = {"examination": EXAMINATION, "cluster": None, "baseline": "same"}
    result = offrank.compare(source, targets, "uniform", "auto", **how)
    assert (result["far", "auto"].chosen, result["same", "auto"].chosen) == ("snips", "ipm")
    [difference] = result.comparisons
    assert difference.verdict.assumes >= ITEM_POSITION


def test_written_propensities_allow_no_pseudo_targets() -> None:
    table = replaced(search().slice(0, 500), propensity=np.full(500, 0.1))
    found = offrank.select_estimators(table, "epsilon(top(new_score), 0.5)")
    assert (found.choice.pseudo, set(found.choice.given)) == ((), {"ips", "snips"})


@cache
def of_search() -> SelectedEstimators:
    table = search().slice(0, 1500)
    return offrank.select_estimators(table, TARGET, LOGGING, ["snips", "snipm"], examination=CURVE)


def test_the_result_is_a_page_a_table_and_json(tmp_path: Any) -> None:
    found = of_search()
    assert f"{found.chosen} is the choice" in str(found)
    found.save_html(tmp_path / "page.html")
    assert "Estimated errors" in (tmp_path / "page.html").read_text()
    errors = [error for error in found.to_arrow()["expected_error"].to_pylist() if error is not None]
    assert errors == sorted(errors)
    written = found.to_dict()
    assert written["chosen"] == found.chosen
    assert written["candidates"][0]["estimator"] == found.chosen
    assert written["command"].startswith("offrank.select_estimators(log, target='top(new_score)'")


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"target": [TOP]}, "one target"),
        ({"estimators": "auto"}, "`auto` cannot be chosen"),
        ({"estimators": ["snips", "logged"]}, "`logged` cannot be chosen"),
        ({"estimators": ["snips", "clip(logged, 5)"]}, "logged has no weights"),
        ({"estimators": []}, "there is no estimator"),
        ({"estimators": "pbm"}, "examination"),
    ],
)
def test_bad_input(how: dict[str, Any], said: str) -> None:
    given = {"target": TOP, "logging": "uniform", **how}
    with pytest.raises(UsageError, match=said):
        offrank.select_estimators(MemorySource((log("position-based"),)), **given)


def test_auto_is_for_verbs_that_choose() -> None:
    batch = log("position-based")
    result = offrank.evaluate(MemorySource((batch,)), "uniform", "uniform", "snips", cluster=None)
    with pytest.raises(KeyError):
        result["auto"]


def test_a_log_that_does_not_fit_commends_no_estimator() -> None:
    table = search().slice(0, 3000)
    scores = [list(reversed(one)) for one in table["old_score"].to_pylist()]
    broken = table.set_column(table.schema.get_field_index("old_score"), "old_score", pa.array(scores))
    found = offrank.select_estimators(broken, TARGET, LOGGING, ["snips", "snipm"])
    assert found.severity == "serious"
    assert "Use none of them" in str(found)
    assert "is the choice" not in str(found)
    assert any(one.severity == "serious" and one.estimator is None for one in found.findings)
