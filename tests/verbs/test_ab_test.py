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


def test_the_combination_has_the_share_of_least_variance() -> None:
    found = compared(without_history(columns())).metadata.ab_test.compared[0]
    snips, snrips, snipm = found.steps
    assert [one.estimator for one in found.steps] == ["snips", "snrips", "snipm"]
    assert snips.difference.standard_error <= found.means.standard_error * (1 + 1e-9)
    assert 0 < snrips.share <= 1
    assert found.combined.standard_error < snips.difference.standard_error
    before = snrips.difference.value - snrips.contrast.value  # what was there before the step
    wanted = before + snrips.share * snrips.contrast.value
    assert found.combined.value == pytest.approx(wanted, abs=1e-12)
    one, other, between = (x.standard_error**2 for x in (snips.difference, snrips.difference, snrips.contrast))
    assert snrips.share == pytest.approx((one + between - other) / (2 * between), rel=1e-3)
    assert snipm.share is None  # it assumes more than that users read from the top


def test_the_answer_is_the_combination_and_names_the_anchor() -> None:
    found = compared(columns())
    [one] = found.comparisons
    assert one.verdict.estimator == "combined"
    assert one.verdict.anchor_name == "difference of means"
    assert one.verdict.difference == found.metadata.ab_test.compared[0].combined
    text = str(found)
    assert "The difference of means alone" in " ".join(text.split())
    assert "the arms differ only in the lists that they show" in " ".join(text.split())
    assert found.to_dict()["ab_test"]["compared"][0]["means"]["value"] is not None


def test_rankers_that_show_the_same_lists_earn_the_same() -> None:
    made = columns(lists=0.0)
    found = compared(made).metadata.ab_test.compared[0]
    assert found.combined.value == pytest.approx(0.0, abs=1e-12)
    assert found.combined.standard_error < 1e-9 < found.means.standard_error


def test_an_arm_that_differs_in_more_than_its_lists_is_judged_by_means() -> None:
    made = columns(lists=0.05, arm=0.7)  # B is slow: it loses clicks whatever it shows
    found = compared(made)
    [one] = found.comparisons
    means = found.metadata.ab_test.compared[0].means
    assert all(step.share is None for step in found.metadata.ab_test.compared[0].steps)
    assert one.verdict.estimator == "difference of means"
    assert (one.verdict.decision, one.verdict.trust) == ("worse", "with care")  # it is no matter of the rankers alone
    assert [reason.code for reason in one.verdict.reasons] == ["unlike-arms"]
    assert one.verdict.difference == means


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
    assert found.saved > 1.05


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
