"""What is wrong with a log whatever the estimate: found in evaluate's own pass, said once, binding every estimate."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank import Counted, PlackettLuce
from offrank.checks.log_problems import about_log, log_evidence, log_quantities
from offrank.errors import AbilityError
from offrank.findings import causes_of
from offrank.findings.log import Frequency, LogEvidence, Repeats
from offrank.findings.registry import CAUSES
from offrank.log.source import Source
from offrank.running.quantities import Quantities
from offrank.sums.estimate import Interval
from tests.verbs.logs import LOGGING, TARGET, coins, dice, replaced, search

DICE = PlackettLuce("score")
WRONG = "plackett_luce(naive_score)"


def evaluated(log: Any, logging: Any = "logged", target: Any = "uniform", names: Any = ("ips",)) -> offrank.Result:
    return offrank.evaluate(log, target, logging, list(names), cluster=None)


def codes(result: offrank.Result) -> list[str]:
    return [caution.code for caution in result.about_log]


def propensity(log: pa.Table) -> np.ndarray:
    return np.array(log["propensity"].to_pylist())


def test_nothing_is_wrong_with_a_good_log() -> None:
    for log, logging in ((dice(2_000), "logged"), (dice(2_000), DICE), (search(), "logged"), (search(), LOGGING)):
        found = evaluated(log, logging)
        assert found.about_log == ()
        assert found["ips"].about_log == ()
        assert found["ips"].trustworthy


@pytest.mark.parametrize(("share", "severity"), [(0.009, "warning"), (0.011, "serious"), (0.96, "serious")])
def test_propensities_that_contradict_the_policy_are_found_in_evaluate(share: float, severity: str) -> None:
    log = dice(2_000)
    wrong = np.where(np.arange(2_000) < share * 2_000, 0.5, 1.0) * propensity(log)
    found = evaluated(replaced(log, propensity=wrong), DICE)
    [caution] = found.about_log
    assert (caution.code, caution.severity) == ("propensity-mismatch", severity)
    assert f"In {round(share * 2_000):,} of 2,000 impressions" in caution.message
    assert "The shown slates fit the policy" in caution.remedy
    assert found["ips"].trustworthy is (severity == "warning")


def test_a_wrong_policy_is_one_finding_and_binds_every_estimate_that_asks_it() -> None:
    names = ("ips", "snips", "ipm", "logged")
    found = evaluated(search(), WRONG, TARGET, names)
    assert codes(found) == ["miscalibrated"]
    assert "99.9 % of the rows" in found.about_log[0].message
    assert not found.trustworthy
    for name in ("ips", "snips", "ipm"):
        assert found[name].about_log == found.about_log
        assert not found[name].trustworthy
        assert not {"miscalibrated", "mean-weight", "double-subsampling"} & {one.code for one in found[name].warnings}
    assert found["logged"].about_log == ()
    assert found["logged"].trustworthy


def test_a_finding_of_the_log_is_told_once() -> None:
    found = evaluated(search(), WRONG, TARGET, ("ips", "snips", "ipm"))
    document = found.to_dict()
    assert [one["code"] for one in document["log_findings"]] == ["miscalibrated"]
    assert all("miscalibrated" not in str(one["warnings"]) for one in document["estimates"])
    assert str(found).count("] miscalibrated (serious)") == 1
    assert found.verdict.trust == "none"
    assert found.verdict.reasons[0].code == "miscalibrated"


def test_groups_are_bound_as_the_whole_log_is() -> None:
    log = replaced(search(), device=np.where(np.arange(len(search())) % 2, "a", "b"))
    found = offrank.evaluate(log, TARGET, WRONG, ["ips"], by="device", cluster=None)
    assert [group["ips"].trustworthy for group in found.groups.values()] == [False, False]


def test_what_is_found_does_not_depend_on_which_estimators_ask() -> None:
    log = replaced(dice(2_000), propensity=0.5 * propensity(dice(2_000)))
    every = [evaluated(log, DICE, names=names).about_log for names in (["ips"], ["ipm"], ["logged", "ipm", "snips"])]
    assert every[0] == every[1] == every[2] != ()


def test_a_model_that_asks_no_propensities_is_not_bound_by_them() -> None:
    found = evaluated(search(), WRONG, TARGET, ("logged",))
    assert found.about_log == ()


@pytest.mark.parametrize(("factor", "severity"), [(0.5, "serious"), (0.8, "serious"), (1.0, None), (1.25, "warning")])
def test_written_propensities_are_judged_by_the_weights_of_uniform(factor: float, severity: str | None) -> None:
    log = dice(4_000)
    found = evaluated(replaced(log, propensity=factor * propensity(log)), target=TARGET_OF_DICE)
    told = {caution.code: caution for caution in found.about_log}
    if severity is None:
        assert not told
        return
    assert told["mean-weight"].severity == severity
    # The mean weight of the uniform policy is 1 / factor; 3 % is four standard errors.
    assert float(told["mean-weight"].message.split()[8]) == pytest.approx(1 / factor, rel=0.06)


TARGET_OF_DICE = PlackettLuce("score", temperature=2.0)


def test_a_policy_that_shows_only_some_slates_has_no_wrong_propensities() -> None:
    log = coins(400, slate=[[1]] * 400, propensity=np.ones(400))
    [caution] = evaluated(log).about_log
    assert (caution.code, caution.severity) == ("mean-weight", "warning")
    assert "never shows some slates" in caution.message


def test_a_sub_sampling_that_is_corrected_twice_is_one_finding() -> None:
    rng = np.random.default_rng(3)
    log = dice(12_000)
    inclusion = np.where(np.array(log["clicks"].to_pylist()).any(axis=1), 1.0, 0.1)
    kept = rng.random(12_000) < inclusion
    log, inclusion = log.filter(kept), inclusion[kept]
    assert codes(evaluated(replaced(log, inclusion=inclusion))) == ["kept-by-outcome"]
    twice = replaced(log, inclusion=inclusion, propensity=propensity(log) * inclusion)
    found = evaluated(twice)
    assert codes(found) == ["double-subsampling", "kept-by-outcome"]
    assert "mean-weight" not in {caution.code for caution in found["ips"].warnings}


def test_candidates_that_are_the_shown_items_only() -> None:
    log = dice(300, sides=3, slots=3)
    assert codes(evaluated(log, DICE)) == ["shown-only"]
    assert codes(evaluated(replaced(log, candidates=None))) == ["shown-only"]
    assert evaluated(log, DICE).about_log[0].severity == "note"
    one_more = log["candidates"].to_pylist()
    one_more[7] = [*one_more[7], 99]
    assert codes(evaluated(replaced(log, candidates=one_more))) == []


@pytest.mark.parametrize("layout", ["wide", "long"])
@pytest.mark.parametrize(("items", "slots", "text"), [(8, 3, True), (12, 2, False), (5, 1, True)])
def test_propensities_of_more_items_than_are_listed(items: int, slots: int, text: bool, layout: str) -> None:
    """They are right, and the cause is that the candidates are missing."""
    whole = chosen(2_000, items, slots, text=text)
    log = whole.drop_columns("candidates")
    given = evaluated(as_long(log) if layout == "long" else log)
    assert [one.code for one in given.about_log][:1] == ["unlisted-candidates"]
    assert "mean-weight" not in codes(given) + [one.code for one in given["ips"].warnings]
    assert given.verdict.trust == "none"
    reason = given.verdict.reasons[0]
    assert (reason.code, "`candidates`" in reason.remedy) == ("unlisted-candidates", True)
    times = re.search(r"are ([\d.]+) times too small", reason.message)
    assert times is not None
    assert float(times[1]) == pytest.approx(math.comb(items, slots), rel=0.15)
    checked = offrank.check(log, logging="logged")
    assert [one.code for one in checked.verdict.reasons] == ["unlisted-candidates"]
    assert "unlisted-candidates" in str(offrank.inspect(log))
    assert codes(evaluated(whole)) == []


def test_a_list_of_candidates_is_believed() -> None:
    """If all candidates were shown, and they are listed, propensities that are too small are wrong."""
    log = dice(3_000, sides=3, slots=3)
    wrong = replaced(log, propensity=0.5 * propensity(log))
    assert codes(evaluated(wrong)) == ["mean-weight", "shown-only"]
    assert codes(evaluated(replaced(wrong, candidates=None))) == ["unlisted-candidates", "shown-only"]
    assert codes(evaluated(replaced(log, candidates=None))) == ["shown-only"]


def chosen(rows: int, items: int, slots: int, *, text: bool) -> pa.Table:
    """Slates drawn without replacement by unlike weights, with their propensities and all candidates."""
    rng = np.random.default_rng(items)
    names = np.array([f"article {item}" for item in range(items)]) if text else np.arange(items)
    weights = rng.uniform(0.5, 2.0, (rows, items))
    slates = np.argsort(-np.log(weights) - rng.gumbel(size=weights.shape), axis=1)[:, :slots]
    drawn = np.take_along_axis(weights, slates, axis=1)
    left = weights.sum(axis=1, keepdims=True) - np.cumsum(drawn, axis=1) + drawn
    clicks = (rng.random((rows, slots)) < 0.3).astype(float)
    columns = {"slate": names[slates].tolist(), "candidates": [names.tolist()] * rows, "clicks": clicks.tolist()}
    return pa.table(columns | {"propensity": (drawn / left).prod(axis=1)})


def as_long(log: pa.Table) -> list[dict[str, Any]]:
    """The same log with a row for each item that was shown."""
    return [
        {"impression": n, "item": item, "position": rank, "click": click, "propensity": row["propensity"]}
        for n, row in enumerate(log.to_pylist())
        for rank, (item, click) in enumerate(zip(row["slate"], row["clicks"], strict=True), start=1)
    ]


def test_counted_propensities_agree_by_construction() -> None:
    log = coins(4_000, query=np.arange(4_000) % 4, propensity=np.full(4_000, 0.1))
    assert evaluated(log, Counted(), names=["ipm"]).about_log == ()


class Unranked(PlackettLuce):
    """Plackett-Luce that knows the probability of slates only."""

    def rank_probs(self, contexts: Any, items: Any) -> Any:
        raise AbilityError("cannot rank", "rank it")


def _evidence(source: Source, logging: Any) -> LogEvidence:
    asked = Quantities(source)
    asked.add(*log_quantities(source, logging))
    found = asked.reduce()
    return log_evidence(found, asked, logging)


def test_what_cannot_be_looked_at_is_named_with_the_reason() -> None:
    source = offrank.read_log(dice(50))
    found = _evidence(source, Unranked("score"))
    assert (found.unknown, found.fit, found.rows) == ({"fit": "cannot rank"}, None, 50)
    assert (found.compared, found.apart) == (50, 0)
    blind = _evidence(offrank.read_log(replaced(dice(50), propensity=None)), DICE)
    assert "no column 'propensity'" in blind.unknown["agreement"]


def test_the_cause_comes_before_what_follows_from_it() -> None:
    weight = Interval(3.0, 2.8, 3.2, 0.1)
    log = LogEvidence(rows=100, compared=100, apart=100, mean_weight=weight, copies=0.4, shown_only=True)
    assert [one.code for one in about_log(log)] == [
        "propensity-mismatch",
        "mean-weight",
        "duplicate-rows",
        "shown-only",
    ]
    unfit = LogEvidence(rows=100, compared=100, apart=100, fit=Frequency(1, 1.0, 9.0, 1e-9, lift=2.0))
    assert [one.code for one in about_log(unfit)] == ["miscalibrated"]
    fixed = replace(unfit, unconfirmed=0.5, repeats=Repeats(pairs=9.0, observed=9.0, chance=1e-9))
    assert [one.code for one in about_log(fixed)] == ["unconfirmed-logging", "not-random", "miscalibrated"]
    short = replace(log, unlisted=True)
    assert [one.code for one in about_log(short)][:2] == ["propensity-mismatch", "unlisted-candidates"]
    found = {cause for log in (log, unfit, fixed) for one in about_log(log) for cause in causes_of(one.code)}
    assert found >= set(CAUSES[: CAUSES.index("rows") + 1]) - {"sampling"}


def test_check_finds_the_same() -> None:
    log = replaced(dice(2_000), propensity=0.5 * propensity(dice(2_000)))
    checked, judged = offrank.check(log, logging=DICE), evaluated(log, DICE)
    assert checked.about_log == judged.about_log
    row = next(one for one in checked.facts["checks"] if one["code"] == "propensity-mismatch")
    assert (row["status"], row["message"]) == ("serious", judged.about_log[0].message)


@pytest.mark.parametrize(
    ("fit", "said"),
    [
        (
            Frequency(2, 10.0, 52.3, 0.0, lift=2.0),
            "this policy's top items (at least 2 times as likely there as at random) were shown 5.2 times too rarely",
        ),
        (
            Frequency(1, 2608.0, 1067.0, 0.0, lift=1.0),
            "this policy's top items were shown 2.4 times too often at rank 1",
        ),
        (Frequency(1, 19.0, 10.0, 0.0, lift=1.0), "were shown 90 % too often at rank 1: in 19 rows, where 10 were"),
        (Frequency(1, 0.0, 10.0, 0.0, lift=1.0), "were shown too rarely at rank 1: in 0 rows, where 10 were"),
        (
            Frequency(1, 10.0, 52.3, 0.0, lift=1e-6),
            "items that this policy shows there were shown 5.2 times too rarely at rank 1: in 10 rows, where 52.3",
        ),
        (
            Frequency(None, 1234.0, 52.0, 0.0, item=7),
            "item 7 was shown 24 times too often at any rank: in 1,234 rows, where 52 were",
        ),
    ],
)
def test_what_is_off_is_said_in_words(fit: Frequency, said: str) -> None:
    [caution] = about_log(LogEvidence(rows=9_000, logging="top(score)", fit=fit))
    assert said in caution.message
    assert "top(score)" in caution.message
