"""An A/B test of rankers that sort: the difference of means, what sharpens it, and what refutes that."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import ttest_ind

import offrank
from offrank.errors import ImpossibleSlateError, UsageError
from tests.cli.commands import call

pytestmark = pytest.mark.turns(3, "evaluation/ab_test.py", "checks/arms.py", "findings/arms.py")

SLOTS, ITEMS = 4, 7
ARMS = "by(arm, {A: top(a_score), B: top(b_score)})"
HALVES = f"balanced({ARMS}, shares={{A: 0.5, B: 0.5}})"


def columns(
    rows: int = 3000, seed: int = 4, lists: float = 1.0, arm: float = 1.0, share: float = 0.5
) -> dict[str, Any]:
    """Users who leave after a click. lists: how unlike the rankers are. arm: the share of its clicks that B keeps."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(40, ITEMS))
    b = a + lists * np.where(np.arange(40) % 2, 1.0, 0.2)[:, None] * rng.normal(size=a.shape)
    query, served = rng.integers(0, 40, rows), rng.random(rows) < share
    shown = np.argsort(-np.where(served[:, None], b[query], a[query]), axis=1)[:, :SLOTS]
    rate = np.where(served, arm, 1.0)[:, None] / (1 + np.exp(1 - a[query[:, None], shown]))
    clicked = rng.random(shown.shape) < rate
    first = np.cumsum(clicked, axis=1) <= 1
    return {
        "query": query.astype(str).tolist(),
        "arm": np.where(served, "B", "A").tolist(),
        "user": rng.integers(0, rows // 3, rows).astype(str).tolist(),
        "candidates": [[str(item) for item in range(ITEMS)]] * rows,
        "slate": shown.astype(str).tolist(),
        "clicks": (clicked & first).astype(int).tolist(),
        "a_score": a[query].tolist(),
        "b_score": b[query].tolist(),
    }


def without_history(made: dict[str, Any]) -> dict[str, Any]:
    """The same without the queries, by which the step `history` learns."""
    return {name: values for name, values in made.items() if name != "query"}


def compared(made: dict[str, Any], logging: str = ARMS, cluster: str | None = None, **how: Any) -> Any:
    return offrank.compare(pa.table(made), None, logging, cluster=cluster, **how)


def of_arms(made: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    reward, served = np.array(made["clicks"]).sum(axis=1), np.array(made["arm"]) == "B"
    return reward[served], reward[~served]


def test_the_call_that_repeats_it_names_all_arms() -> None:
    made = without_history(columns(400))
    found = compared(made)
    again = eval(found.facts["command"], {"offrank": offrank, "log": pa.table(made)})
    assert len(found.comparisons) == 1
    assert again.facts["comparisons"] == found.facts["comparisons"]


def test_the_difference_of_means_is_that_of_welch() -> None:
    made = columns(share=0.2)
    found = compared(made).metadata.ab_test.compared[0].means
    rewards = of_arms(made)
    known = ttest_ind(*rewards, equal_var=False)
    assert found.value == pytest.approx(rewards[0].mean() - rewards[1].mean(), abs=1e-12)
    assert found.standard_error == pytest.approx(found.value / known.statistic, rel=1e-9)


def test_the_difference_of_means_counts_users_not_rows() -> None:
    made = columns()
    twice = {name: [*values, *values] for name, values in made.items()}  # each user does everything twice
    one, two = (compared(some, cluster="user").metadata.ab_test.compared[0].means for some in (made, twice))
    assert two.standard_error == pytest.approx(one.standard_error, rel=1e-6)


def test_the_combination_is_the_sum_of_its_shares() -> None:
    found = compared(without_history(columns())).metadata.ab_test.compared[0]
    snips, snrips, snipm = found.steps
    assert [one.estimator for one in found.steps] == ["snips", "snrips", "snipm"]
    assert 0 < snips.share < 1 > snrips.share > 0
    left = 1 - snips.share - snrips.share
    wanted = left * found.means.value + snips.share * snips.difference.value + snrips.share * snrips.difference.value
    assert found.combined.value == pytest.approx(wanted, abs=1e-12)
    assert snipm.share is None  # it assumes more than that users read from the top


def test_the_share_of_a_step_falls_with_its_contrast() -> None:
    """Of one step: the regression of the means on the contrast, moved by 0.3 errors at most, which fade by 8."""
    found = compared(without_history(columns()), estimators="snips").metadata.ab_test.compared[0]
    [step] = found.steps
    means, own, contrast = (x.standard_error for x in (found.means, step.difference, step.contrast))
    best = (means**2 + contrast**2 - own**2) / (2 * contrast**2)
    t = abs(step.contrast.value) / contrast
    assert t > 0.3
    assert step.share == pytest.approx(best * 0.3 / t * (1 - (t / 8) ** 2), rel=1e-2)
    assert found.saved == pytest.approx(
        ((found.means.high - found.means.low) / (found.combined.high - found.combined.low)) ** 2, rel=1e-9
    )


def compare_items(rows: int, seed: int) -> tuple[dict[str, Any], float]:
    """Users who look at the next item before they click; and what B earns more, by enumeration of the queries."""
    rng, slots, curve = np.random.default_rng(3), 6, 1 / np.arange(1, 7) ** 0.8
    relevance, common, own = rng.beta(1.2, 3.5, (60, 14)), rng.normal(size=(60, 14)), rng.normal(size=(2, 60, 14))
    known = (relevance - relevance.mean()) / relevance.std()
    scores = np.array([1.0, 1.35])[:, None, None] * known + 2 * (0.95 * common + 0.3 * own)
    lists = np.argsort(-scores, axis=2)[:, :, :slots]
    shown = np.take_along_axis(relevance[None], lists, axis=2)
    rates = curve * shown * (1 - 0.7 * np.pad(shown[:, :, 1:], [(0, 0), (0, 0), (0, 1)]))
    drawn = np.random.default_rng(seed)
    query, served = drawn.integers(0, 60, rows), drawn.integers(0, 2, rows)
    clicks = drawn.random((rows, slots)) < rates[served, query]
    made = {
        "query": query,
        "arm": np.where(served, "B", "A"),
        "candidates": [list(range(14))] * rows,
        "slate": lists[served, query].tolist(),
        "clicks": clicks.astype(int).tolist(),
        "a_score": scores[0][query].tolist(),
        "b_score": scores[1][query].tolist(),
    }
    return made, float(np.diff(rates.sum(axis=2).mean(axis=1))[0])


@pytest.mark.turns(3)
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_users_of_another_kind_do_not_break_the_interval(seed: int) -> None:
    made, truth = compare_items(20_000, seed)
    found = compared(made, estimators="snrips").metadata.ab_test.compared[0]
    history = found.steps[-1].difference
    assert not history.low < truth < history.high  # the model of the history of clicks is wrong of them
    assert found.combined.low < truth < found.combined.high
    assert found.combined.high - found.combined.low < 1.075 * (found.means.high - found.means.low)
    assert abs(found.combined.value - found.means.value) <= 0.3 * found.means.standard_error


def test_revenue_that_the_lists_do_not_sharpen_is_judged_by_means() -> None:
    """With rewards too rare for such a log the interval of `snips` is twice as long, though its error is smaller."""
    made, rng = columns(rows=1000), np.random.default_rng(1)
    clicks = np.array(made["clicks"])
    made["reward"] = (clicks * np.exp(1.5 * rng.normal(size=clicks.shape))).sum(axis=1).tolist()
    found = compared(made, estimators="snips")
    [one] = found.metadata.ab_test.compared
    [step] = one.steps
    assert step.difference.standard_error < 0.9 * one.means.standard_error
    assert step.difference.high - step.difference.low > 1.9 * (one.means.high - one.means.low)
    assert (one.combined, one.saved) == (one.means, 1.0)
    assert found.comparisons[0].verdict.estimator == "difference of means"


def test_the_answer_is_the_combination_which_assumes_nothing_of_users() -> None:
    found = compared(columns())
    [one] = found.comparisons
    assert one.verdict.estimator == "combined"
    assert one.verdict.anchor is None  # its interval is held to nothing else
    assert one.verdict.difference == found.metadata.ab_test.compared[0].combined
    text = str(found)
    assert one.verdict.trust == "sound"  # its interval holds whatever users do
    assert one.verdict.assumes == frozenset()
    assert "The difference of means alone" in " ".join(text.split())
    assert "if the arms differ only in the lists that they show, it is" in " ".join(text.split())
    assert found.to_dict()["ab_test"]["compared"][0]["means"]["value"] is not None


def test_rankers_that_show_the_same_lists_earn_the_same_if_they_differ_in_nothing_else() -> None:
    found = compared(columns(lists=0.0)).metadata.ab_test.compared[0]
    assert (found.lists_alone.value, found.lists_alone.standard_error) == pytest.approx((0.0, 0.0), abs=1e-12)
    longer = (found.means.high - found.means.low) / (found.combined.high - found.combined.low)
    assert 1.08 < longer < 1.1  # one arm may yet be slow
    assert abs(found.combined.value) < abs(found.means.value)


def test_an_arm_that_differs_in_more_than_its_lists_is_judged_by_means() -> None:
    made = columns(lists=0.05, arm=0.7)  # B is slow: it loses clicks whatever it shows
    found = compared(made)
    [one], [arms] = found.comparisons, found.metadata.ab_test.compared
    assert all(not step.share for step in arms.steps)
    assert one.verdict.estimator == "difference of means"
    assert (one.verdict.decision, one.verdict.trust) == ("worse", "with care")  # it is no matter of the rankers alone
    assert [reason.code for reason in one.verdict.reasons] == ["unlike-arms"]
    assert one.verdict.difference == arms.means == arms.combined
    assert arms.lists_alone is None
    told = "it is not true in this log that the arms differ only in the lists that they show"
    assert told in " ".join(str(found).split())
    assert told not in " ".join(str(compared(columns())).split())


@pytest.mark.parametrize(("share", "trust"), [(0.5, "sound"), (0.6, "none")])
def test_shares_that_were_not_designed_are_no_experiment(share: float, trust: str) -> None:
    found = compared(without_history(columns(share=share)), HALVES)
    assert found.comparisons[0].verdict.trust == trust
    assert ("sample-ratio" in {one.code for one in found.about_log}) == (trust == "none")


@pytest.mark.parametrize("estimator", ["snips", "snrips"])
def test_a_list_that_its_own_ranker_cannot_show_is_an_error(estimator: str) -> None:
    made = columns()
    [row, *_] = np.flatnonzero((np.argsort(-np.array(made["a_score"])) != np.argsort(-np.array(made["b_score"])))[:, 0])
    made["arm"][row] = "A" if made["arm"][row] == "B" else "B"  # the other ranker shows this very list
    with pytest.raises(ImpossibleSlateError, match=rf"row {row}: .* the logged slate probability 0 \(1 such"):
        compared(made, estimators=estimator)


def test_without_clicks_by_rank_the_lists_still_tell() -> None:
    made = columns(lists=0.3)
    made["reward"] = [float(sum(clicks)) for clicks in made.pop("clicks")]
    found = compared(made, estimators="snips").metadata.ab_test.compared[0]
    assert [one.estimator for one in found.steps] == ["snips"]
    assert 1.05 < found.saved < (found.means.standard_error / found.steps[0].difference.standard_error) ** 2


def test_days_merge(tmp_path: Path) -> None:
    days, states = [columns(seed=4), columns(seed=5)], []
    for day, made in enumerate(days):
        pq.write_table(pa.table(made), tmp_path / f"{day}.parquet")
        states.append(tmp_path / f"{day}.state")
        offrank.compare(str(tmp_path / f"{day}.parquet"), None, HALVES, cluster=None, state=states[-1])
    both = {name: [*values, *days[1][name]] for name, values in days[0].items()}
    one, other = (
        found.metadata.ab_test.compared[0] for found in (offrank.merge(states), compared(without_history(both), HALVES))
    )
    for mine, theirs in ((one.means, other.means), (one.combined, other.combined)):
        assert mine.value == pytest.approx(theirs.value, abs=1e-12)
        assert mine.standard_error == pytest.approx(theirs.standard_error, rel=1e-9)


def test_the_command_needs_no_target(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table(columns()), path)
    said = call("compare", str(path), "--logging", ARMS).output
    assert "B minus A" in said
    assert "sessions saved" in said


def test_the_command_that_inspect_names_for_arms_runs(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    made = columns()
    served = dict(zip(made["user"], made["arm"], strict=True))
    keep = [served[user] == arm for user, arm in zip(made["user"], made["arm"], strict=True)]  # one arm for each user
    pq.write_table(pa.table(made).filter(pa.array(keep)), path)
    words = shlex.split(offrank.inspect(str(path)).command)
    assert words[:2] == ["offrank", "compare"]
    assert words[-2:] == ["--cluster", "user"]
    assert "difference of means" in call(*words[1:]).output


def test_another_log_needs_a_target() -> None:
    with pytest.raises(UsageError, match="there is no target"):
        compared(columns(), "logged")


def test_of_what_was_shown_alone_the_means_answer() -> None:
    """The candidates are those that the row's own ranker has shown: the other one would have shown others."""
    made = columns()
    kept = [[int(item) for item in slate] for slate in made["slate"]]
    scores = {
        name: [[row[item] for item in own] for row, own in zip(made[name], kept, strict=True)]
        for name in ("a_score", "b_score")
    }
    found, whole = compared({**made, "candidates": made["slate"], **scores}), compared(made)
    refused = "The log does not fit these rankers (not-random): only the difference of means"
    assert refused in " ".join(str(found).split())
    assert "does not fit these rankers" not in str(whole)
    assert found.comparisons[0].verdict.estimator == "difference of means"
    [pair] = found.metadata.ab_test.compared
    assert pair.means == whole.metadata.ab_test.compared[0].means
