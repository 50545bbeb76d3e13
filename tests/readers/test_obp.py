"""`bandit_feedback` of Open Bandit Pipeline: the role of every array, and what is refused."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import offrank
from offrank.errors import LogError, UsageError
from tests.readers.standards import K, N, bandit, numbers, own_bandit


def test_of_obp_every_column_has_its_role() -> None:
    feedback = bandit()
    assert numbers(feedback, "logged", "top(expected_reward)") == pytest.approx(
        numbers(own_bandit(feedback), "logged", "top(score)"), rel=1e-12
    )
    drawn = numbers(feedback, "plackett_luce(pi_b)", "top(expected_reward)")
    assert drawn[0] == pytest.approx(numbers(feedback, "logged", "top(expected_reward)")[0], rel=1e-12)
    row = next(offrank.read_log(feedback).table.pieces(0, ("features", "slate"))).data
    second = row.column("features")[1].as_py()
    assert second == [[*feedback["context"][1], *feedback["action_context"][one]] for one in range(K)]


def test_of_obp_rewards_may_have_any_sign() -> None:
    feedback = bandit(reward=np.linspace(-1, 1, N), position=np.arange(N) % 3, pi_b=None)
    log = offrank.read_log(feedback)
    expected = float((feedback["reward"] / feedback["pscore"]).mean()) / K
    assert offrank.evaluate(log, "uniform", "logged", "ips", cluster=None)["ips"].value == pytest.approx(
        expected, rel=1e-12
    )
    assert "position" in log.table.names
    assert "clicks" not in log.table.names


def test_of_obp_probabilities_may_differ_by_position() -> None:
    chances, position = np.random.default_rng(0).dirichlet(np.ones(K), (N, 3)).swapaxes(1, 2), np.arange(N) % 3
    table = offrank.read_log(bandit(pi_b=chances, position=position)).table
    read = next(table.pieces(0, ("pi_b", "position"))).data
    assert read.column("pi_b").to_pylist() == [chances[row, :, row % 3].tolist() for row in range(N)]
    assert read.column("position").to_pylist() == position.tolist()


def test_of_obp_a_pickle_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "feedback.pkl"
    path.write_bytes(pickle.dumps(bandit()))
    for how in (None, "obp"):
        with pytest.raises(LogError, match="pickle"):
            offrank.read_log(path, format=how)
    np.savez(tmp_path / "log.npz", **bandit(action=np.array([None, 1, {}], object)))
    with pytest.raises(LogError, match="action is a Python pickle"):
        offrank.read_log(tmp_path / "log.npz", format="obp")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"pscore": np.ones(3)}, "expected length 300 but got length 3"),
        ({"action": np.full(N, K)}, "between 0 and 4"),
        ({"n_actions": None}, "n_actions"),
    ],
)
def test_of_obp_arrays_that_do_not_fit_are_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(LogError, match=said):
        offrank.read_log(bandit(**wrong), format="obp")
    with pytest.raises(UsageError, match="no reward"):
        offrank.read_log({"action": [1]}, format="obp")
