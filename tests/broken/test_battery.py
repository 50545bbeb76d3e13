"""The battery of drawn worlds: their truths, their faults, and how what is said of them is judged."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

import offrank
from benchmarks.trust import Said, promises, said_of
from benchmarks.trust_worlds.battery import FAULTS, HEALTHY, LEAK, NO_LOG_SHOWS, Trial, kinds, trial
from benchmarks.trust_worlds.world import CARE, NONE, SOUND

ROOT = Path(__file__).parents[2]
SEED, COUNT = 77, 80
NUMBERS = {kind: number for number, (kind, _) in reversed(list(enumerate(kinds(COUNT))))}
CLICKS = ("uniform", "shuffled", "epsilon, rare clicks", "users of the cascade", "users satisfied by what they click",
          "users who compare", "users who click the best alone")  # fmt: skip


def of(kind: str) -> Trial:
    """A world of this kind."""
    return trial(SEED, COUNT, NUMBERS[kind])


def clicks(table) -> np.ndarray:
    """[n, k]: slates of a world have one length."""
    return np.stack(table["clicks"].to_numpy())


def test_half_of_the_worlds_have_a_fault() -> None:
    found = kinds(320)
    assert sum(bool(fault) for _, fault in found) == 160
    assert {kind for kind, _ in found} == {*HEALTHY, *FAULTS}
    assert set(NO_LOG_SHOWS) < set(FAULTS)


def test_a_world_is_that_of_its_number() -> None:
    one, again, other = trial(SEED, COUNT, 3), trial(SEED, COUNT, 3), trial(SEED + 1, COUNT, 3)
    assert one.table().equals(again.table())
    assert (one.rows, one.world.shape) != (other.rows, other.world.shape)


@pytest.mark.parametrize("kind", CLICKS)
def test_the_truth_is_what_the_target_would_have_earned(kind: str) -> None:
    one = of(kind)
    live = replace(one, world=replace(one.world, drawn=one.world.target), rows=30_000).table()
    target, of_log = one.truths(live)
    for table, truth in ((live, target), (replace(one, rows=30_000).table(), of_log)):
        earned = clicks(table).sum(axis=1)
        assert earned.mean() == pytest.approx(truth, abs=4 * earned.std() / 30_000**0.5)


def test_revenue_earns_what_is_told() -> None:
    for kind in ("revenue, log-normal", "revenue, counts", "revenue, prices of items"):
        earned = replace(of(kind), rows=50_000).table()["reward"].to_numpy()
        assert earned.mean() == pytest.approx(of(kind).truths(None)[1], abs=4 * earned.std() / 50_000**0.5)


def test_some_worlds_earn_exactly_the_same() -> None:
    nulls = [one for number in (0, 1, 4, 5, 6, 13) if not (one := trial(78, 40, number)).lift]
    assert 1 <= len(nulls) <= 4
    for one in nulls:
        value, of_log = one.truths(None)
        assert value == pytest.approx(of_log, rel=1e-9)


def test_users_who_come_back_click_as_others_do_but_not_each() -> None:
    table = replace(of("users who come back"), rows=40_000).table()
    earned, user = clicks(table).sum(axis=1), table["user"].to_numpy()
    rows, total = np.bincount(user), np.bincount(user, earned)
    assert total.sum() == pytest.approx(40_000 * of("users who come back").truths(None)[1], rel=0.1)
    away = total - earned.mean() * rows
    assert (away**2).sum() > 1.05 * earned.var() * rows.sum()  # users vary more than rows by themselves would


def test_faults_do_what_they_say() -> None:
    kept = replace(of("rows kept by outcome, the rate in a column"), rows=8000).table()
    rates = kept["keep_prob"].to_numpy()
    clicked = clicks(kept).any(axis=1)
    assert set(rates[clicked]) == {1.0}
    assert len(set(rates[~clicked])) == 1
    assert not clicks(of("clicks a rank late").table())[:, 0].any()
    assert (np.diff(clicks(of("clicked items on top").table()), axis=1) <= 0).all()
    late = clicks(replace(of("clicks not there yet"), rows=40_000).table()).sum(axis=1)
    assert late[-1000:].mean() < 0.4 * late[:20_000].mean()
    robots = replace(of("robots"), rows=20_000).table()
    by_user = np.bincount(robots["user"].to_numpy(), clicks(robots).mean(axis=1)) / np.bincount(robots["user"])
    assert 0.04 < (by_user > 0.8).mean() < 0.11
    ramped = of("ramped A/B test").table()["arm"].to_numpy() == "B"
    half = len(ramped) // 2
    assert ramped[:half].mean() == pytest.approx(0.1, abs=0.04)
    assert ramped[half:].mean() == pytest.approx(0.5, abs=0.06)


def test_stock_runs_out_for_some_items_and_late_in_the_log() -> None:
    one = replace(of("stock that runs out"), rows=20_000)
    bare = replace(one.world, written=one.world.written[1:])
    [sold, asked] = (clicks(world.table(20_000, 5)) for world in (one.world, bare))
    assert (sold <= asked).all()
    lost = (asked - sold).sum(axis=1)
    assert lost[-5000:].sum() > 3 * lost[:5000].sum()


def test_a_score_counted_on_these_rows_is_judged_by_what_it_would_earn() -> None:
    one = of(LEAK)
    table = one.table()
    score = {
        int(query): row for query, row in zip(table["query"].to_numpy(), table["near_score"].to_pylist(), strict=True)
    }
    relevance = one.world.engine.columns["relevance"]
    users, slots = one.world.users, one.world.engine.slots
    top = {query: np.argsort(-np.asarray(row), kind="stable")[:slots] for query, row in score.items()}
    known = [np.dot(users.curve[:slots], relevance[query][order]) for query, order in top.items()]
    assert len(known) == one.world.engine.queries
    assert one.truths(table)[0] == pytest.approx(np.mean(known))


@pytest.mark.turns(3)
@pytest.mark.parametrize("kind", ["Plackett-Luce", "A/B test", "robots"])
def test_a_log_is_asked_about_as_anyone_would(kind: str) -> None:
    one = replace(of(kind), rows=2000)
    said = said_of(one)
    assert (said.kind, said.rows, said.compares) == (kind, 2000, kind == "A/B test")
    assert said.truth == pytest.approx(one.truths(one.table()))
    assert said.answered
    assert said.difference is not None
    assert abs(said.difference[0] - said.away) < 2 * abs(said.difference[2] - said.difference[1]) or kind == "robots"
    assert Said.of(json.loads(json.dumps(asdict(said)))) == said


def test_a_refusal_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise offrank.OffrankError("no", remedy="none")

    monkeypatch.setattr(Trial, "answer", refuse)
    said = said_of(replace(of("uniform"), rows=100))
    assert (said.trust, said.answered, said.wrong, said.codes) == (NONE, False, False, ("error",))


GOOD = Said(0, "uniform", "", 100, (0.5, 0.4), compares=False, trust=SOUND, decision="better", value=(0.5, 0.45, 0.55),
            difference=(0.1, 0.05, 0.15), relative=(0.25, 0.1, 0.4))  # fmt: skip
NULL = replace(GOOD, truth=(0.4, 0.4), value=(0.4, 0.3, 0.5))
"""Said to be better, of rankers that earn the same."""
ASTRAY = replace(GOOD, truth=(0.3, 0.4))
FAULTY = replace(GOOD, fault="robots", truth=(0.7, 0.6))
FOUND = (GOOD, GOOD, GOOD, NULL, ASTRAY, replace(GOOD, trust=CARE, decision="no clear difference"), FAULTY)


def test_what_was_said_is_held_against_the_truth() -> None:
    assert (GOOD.holds_value, GOOD.holds_difference, GOOD.holds_change) == (True, True, True)
    assert (GOOD.right, GOOD.astray, GOOD.wrong) == (True, False, False)
    assert (NULL.null, NULL.right, NULL.astray, NULL.holds_difference) == (True, False, False, False)
    assert (ASTRAY.right, ASTRAY.astray, ASTRAY.wrong) == (False, True, True)
    assert not replace(GOOD, value=(0.5, 0.45, 0.4999)).holds_value
    assert replace(GOOD, compares=True, value=(9.0, 8.0, 10.0)).holds_value is None
    assert (FAULTY.wrong, FAULTY.holds_value, FAULTY.holds_difference, FAULTY.holds_change) == (True, False, True, True)


def test_a_finding_says_that_something_is_wrong_and_not_that_the_log_knows_little() -> None:
    assert not replace(FAULTY, codes=("low-ess", "assumed")).warned
    assert replace(FAULTY, codes=("low-ess", "mean-weight")).warned
    assert replace(FAULTY, assumptions=("one-look", "a", "same-users")).named
    assert not replace(FAULTY, assumptions=("one-look", "a", "b", "same-users")).named


def test_promises_are_counted() -> None:
    found = [str(one) for one in promises(FOUND).values()]
    assert found[:6] == ["80 %", "60 %", "60 %", "67 %", "25 %", "20 %"]  # 4 and 3 of 5; 4 of 6; 1 of 4 and of 5
    assert found[6:11] == ["100 %", "100 %", "83 %", "60 %", "0 %"]
    assert found[11:] == ["100 %", "0 %", "0 %", "0 %", "100 %", "0 %"]


def test_what_was_found_before_is_of_the_same_promises() -> None:
    [known] = json.loads((ROOT / "benchmarks/trust_worlds/before.json").read_text()).values()
    assert list(known) == list(promises(FOUND))
    assert all(0 <= count <= of for count, of in known.values())


@pytest.mark.turns(3)
def test_the_page_is_made_of_what_was_kept(tmp_path: Path) -> None:
    kept = tmp_path / "now"
    few = [
        replace(GOOD, number=0, kind="uniform"),
        replace(FAULTY, number=1, kind="low clicks lost", fault="low clicks lost"),
    ]
    kept.write_text("".join(f"{json.dumps([[1, 2, one.number], asdict(one)])}\n" for one in few))
    words = ["--worlds", "2", "--kept", str(kept)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.trust", "battery", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lines = done.stdout.splitlines()
    assert lines[0] == "2 worlds with a log each, 1 of them with a fault."
    assert "| without a fault, *sound*: the value is held, at least 94.5 % |  |  | 100.0 % | 1 |" in lines
    assert "| low clicks lost | 1 | 0 | 0 | 1 | 1 | 0 | 0 | 0 | 0 |  |" in lines
