"""`--require`: exit codes of the gate for machines."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from offrank.cli.running import require
from offrank.findings.gate import REQUIRED
from tests.cli.commands import call
from tests.verbs.test_decisions import log

GOOD, FAIR, BAD = "top(likes_2)", "top(likes_1)", "top(likes_0)"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("log") / "log.parquet"
    pq.write_table(log(3000), path)
    return path


@pytest.mark.parametrize(
    ("target", "required", "code"),
    [
        (GOOD, ["better"], 0),
        (FAIR, ["better"], 3),
        (BAD, ["better"], 3),
        (GOOD, ["not-worse", "--margin", "1%"], 0),
        (FAIR, ["not-worse", "--margin", "1%"], 3),  # no clear difference, and 1 % less is within its interval
        (FAIR, ["not-worse", "--margin", "20%"], 0),
        (FAIR, ["not-worse", "--margin", "0.1"], 0),
        (BAD, ["not-worse", "--margin", "1%"], 3),
    ],
)
def test_a_gate_passes_what_is_decided(path: Path, target: str, required: list[str], code: int) -> None:
    done = call("evaluate", path, "--target", target, "--logging", "uniform", "--require", *required)
    assert done.exit_code == code
    assert ("not passed" in done.output) is (code == 3)
    assert done.stdout  # the result is shown in either case


@pytest.mark.parametrize("verb", ["evaluate", "compare"])
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--require", "not-worse"], "`not-worse` needs a margin"),
        (["--require", "better", "--margin", "1%"], "`better` takes no margin"),
        (["--margin", "1%", "--require", "better"], "`better` takes no margin"),
        (["--margin", "1%"], "--margin is for --require not-worse"),
        (["--require", "not-worse", "--margin", "0"], "'0' is no margin"),
        (["--require", "not-worse", "--margin", "little"], "'little' is no margin"),
    ],
)
def test_a_gate_that_cannot_be_asked_for_is_refused_unread(
    tmp_path: Path, verb: str, asked: list[str], said: str
) -> None:
    (tmp_path / "no.parquet").write_text("no log")
    done = call(verb, tmp_path / "no.parquet", "--target", GOOD, "--logging", "uniform", *asked)
    assert done.exit_code == 2
    assert said in done.output


def test_a_closed_gate_says_how_much_worse_it_may_be(path: Path) -> None:
    words = ("evaluate", path, "--target", FAIR, "--logging", "uniform", "--quiet", "--require", "not-worse")
    relative, absolute = (call(*words, "--margin", margin).output for margin in ("0.1%", "0.001"))
    assert "--margin 0.1% asks for a sound verdict" in relative
    assert re.search(r"'no clear difference', trust 'sound', with a change of -\d % to \+\d %", relative)
    assert re.search(r"trust 'sound', with a change of -0\.\d+ to \+0\.\d+", absolute)


def test_a_loser_can_be_as_sound_as_a_winner_and_does_not_pass(path: Path) -> None:
    words = ("evaluate", path, "--target", BAD, "--logging", "uniform")
    assert call(*words, "--strict").exit_code == 0
    done = call(*words, "--strict", "--require", "better", "--quiet")
    assert done.exit_code == 3
    assert done.output.strip().endswith(f"{BAD} is 'worse', trust 'sound'")


def test_what_is_not_sound_does_not_pass(path: Path) -> None:
    words = ("evaluate", path, "--target", GOOD, "--logging", "unconfirmed(uniform, departure=0.1)")
    assert call(*words, "--require", "better").exit_code == 3


def test_more_clicks_are_not_more_of_another_reward(path: Path, tmp_path: Path) -> None:
    table = pq.read_table(path)
    clicks = [float(one) for (one,) in table["clicks"].to_pylist()]
    for name, rewards in {"paid": [3.0 - one for one in clicks], "same": clicks}.items():
        pq.write_table(table.append_column("reward", [rewards]), tmp_path / f"{name}.parquet")
    words = ("--target", GOOD, "--logging", "uniform", "--estimator", "ipm", "--quiet", "--require", "better")
    done = call("evaluate", tmp_path / "paid.parquet", *words)
    assert done.exit_code == 3
    assert "is 'better', trust 'with care', but in clicks, not in the log's reward: ask for" in done.output
    done = call("evaluate", tmp_path / "same.parquet", *words)
    assert (done.exit_code, "but in clicks" in done.output) == (0, False)


def test_every_comparison_has_to_pass(path: Path) -> None:
    words = ("compare", path, "--logging", "uniform", "--baseline", "logged", "--require", "better")
    good = ("--target", f"good={GOOD}")
    assert call(*words, *good).exit_code == 0
    assert call(*words, *good, "--target", f"bad={BAD}").exit_code == 3


def test_a_merged_state_has_the_same_gate(path: Path, tmp_path: Path) -> None:
    state = tmp_path / "day.state"
    call("evaluate", path, "--target", BAD, "--logging", "uniform", "--state", state)
    assert call("merge", state, "--require", "not-worse", "--margin", "1%").exit_code == 3


def test_what_can_be_required() -> None:
    [required] = [one for one in require(lambda: None).__click_params__ if one.name == "require"]
    assert tuple(required.type.choices) == REQUIRED
