"""`offrank simulate`: what is written is the world's log, what is said of it is true, and what it advises works."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import offrank
from offrank.cli import main
from offrank.errors import EmptyLogError, SpellingError, UsageError
from offrank.log.source import Needs
from offrank.simulation import SimulatedSource, mslr_like
from offrank.simulation.users import DBNUser, PBMUser

FEW = {"sessions": 3_000, "queries": 30, "documents": 5}


def slates(path: Path) -> np.ndarray:
    log = offrank.read_log(path).select(Needs(frozenset(["clicks", "candidates"])))
    return np.concatenate([batch.slates for part in range(log.parts()) for batch in log.batches(part)])


def test_the_log_is_that_of_the_world(tmp_path: Path) -> None:
    said: list[str] = []
    made = offrank.simulate(tmp_path / "log.parquet", user="dbn", seed=3, say=said.append, **FEW)
    assert made.written.rows == 3_000
    assert made.world.user == DBNUser()
    (batch,) = SimulatedSource(made.world, 3_000, made.logging, 3).batches(0)
    assert np.array_equal(slates(tmp_path / "log.parquet"), batch.slates)
    assert [line[0] for line in said] == ["1", "2", "3", "4"]


def test_truths_are_told_of_every_ranker(tmp_path: Path) -> None:
    made = offrank.simulate(tmp_path / "log.arrow", rankers=["uniform", "noisy_oracle"], temperature=0.5, **FEW)
    assert repr(made.logging) == "plackett_luce(uniform, temperature=0.5, log=True)"
    assert set(made.truths) == {
        "plackett_luce(uniform, temperature=0.5, log=True)",
        "plackett_luce(noisy_oracle, temperature=0.5, log=True)",
        "top(noisy_oracle)",
        "top(grade)",
    }
    uniform = made.world.user.relevance(made.world.contexts()).mean() * sum(1 / k for k in range(1, 6))
    assert made.truths[repr(made.logging)].value == pytest.approx(uniform)
    best = max(made.truths.items(), key=lambda pair: pair[1].value)
    assert best[0] == "top(grade)"
    assert all(truth.exact for truth in made.truths.values())
    assert f"top(grade)  {' ' * 41}" in str(made)


def test_two_seeds_of_a_world_share_its_documents(tmp_path: Path) -> None:
    first = offrank.simulate(tmp_path / "a.parquet", seed=0, **FEW)
    second = offrank.simulate(tmp_path / "b.parquet", seed=1, **FEW)
    other = offrank.simulate(tmp_path / "c.parquet", world_seed=1, **FEW)
    assert np.array_equal(first.world.scores["noisy_oracle"], second.world.scores["noisy_oracle"])
    assert not np.array_equal(slates(tmp_path / "a.parquet"), slates(tmp_path / "b.parquet"))
    assert not np.array_equal(first.world.scores["noisy_oracle"], other.world.scores["noisy_oracle"])


def test_a_fitted_model_clicks(tmp_path: Path) -> None:
    log, model = tmp_path / "log.parquet", tmp_path / "pbm.json"
    offrank.simulate(log, **FEW)
    offrank.clicks.click_model("cascade").fit(log).save(model)
    made = offrank.simulate(tmp_path / "again.parquet", user=model, **FEW)
    clicks = [batch.clicks.sum(axis=1) for batch in SimulatedSource(made.world, 3_000, made.logging).batches(0)]
    assert max(map(max, clicks)) == 1
    assert made.notes == ()
    other = offrank.simulate(tmp_path / "other.parquet", user=str(model), **(FEW | {"queries": 60}))
    assert "unknown to the model" in other.notes[0]


def test_judged_queries_of_ones_own(tmp_path: Path) -> None:
    judged = mslr_like(20, (6, 9), seed=1)
    made = offrank.simulate(tmp_path / "log.parquet", data=judged, queries=12, documents=6, sessions=100)
    assert len(made.world) == 12
    text = "".join(f"{doc % 3} qid:{query} 1:{doc}\n" for query in range(4) for doc in range(5))
    (tmp_path / "judged.txt").write_text(text)
    small = offrank.simulate(
        tmp_path / "own.parquet", data=tmp_path / "judged.txt", documents=5, sessions=100, user="pbm(highest=2)"
    )
    assert small.world.user == PBMUser(highest=2)
    assert small.notes == ()
    noted = offrank.simulate(tmp_path / "other.parquet", data=tmp_path / "judged.txt", documents=5, sessions=100)
    assert "highest=2" in noted.notes[0]


def test_nothing_is_left_half_written(tmp_path: Path) -> None:
    def interrupt(done: int, parts: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        offrank.simulate(tmp_path / "log.parquet", progress=interrupt, **FEW)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_simulated_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    for wrong in ({"user": "dbm"}, {"rankers": "lamdamart"}):
        with pytest.raises(SpellingError):
            offrank.simulate(path, **(FEW | wrong))
    for wrong in ({"sessions": 0}, {"queries": 0}, {"slots": 9}, {"temperature": -1}):
        with pytest.raises(UsageError):
            offrank.simulate(path, **(FEW | wrong))
    with pytest.raises(EmptyLogError, match="no query has 2000"):
        offrank.simulate(path, **(FEW | {"documents": 2000}))
    assert not path.exists()


def test_the_command_and_what_it_advises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["simulate", "-o", "log.parquet", "--sessions", "3000", "--queries", "30", "--documents", "5"]
    result = CliRunner().invoke(main, [*words, "--temperature", "1", "--ranker", "uniform", "--json", "truth.json"])
    assert result.exit_code == 0, result.output
    told = json.loads(Path("truth.json").read_text())
    assert told["sessions"] == 3_000
    assert told["logging"] == "plackett_luce(uniform, log=True)"
    steps = [line.strip() for line in result.output.splitlines() if line.startswith("  offrank ")]
    assert len(steps) == 4
    for step in steps:
        done = CliRunner().invoke(main, shlex.split(step)[1:])
        assert done.exit_code == 0, (step, done.output)
    assert f"{told['truth']['top(grade)']['value']:#.4g}, exactly" in result.output


def test_the_command_refuses(tmp_path: Path) -> None:
    runner, path = CliRunner(), str(tmp_path / "log.parquet")
    assert runner.invoke(main, ["simulate", "-o", path, "--user", "dbm"]).exit_code == 2
    assert runner.invoke(main, ["simulate", "-o", str(tmp_path / "no" / "log.parquet")]).exit_code == 2
    assert runner.invoke(main, ["simulate", "-o", path, "--data", "nowhere.txt"]).exit_code == 1


def test_what_is_too_long_for_a_propensity_is_refused(tmp_path: Path) -> None:
    judged = mslr_like(400, seed=1)
    world = {"data": judged, "queries": 400, "sessions": 5, "temperature": 5.0}
    longest = int(judged.sizes.max())
    with pytest.raises(UsageError, match="too long for their propensity"):
        offrank.simulate(tmp_path / "log.parquet", documents=longest, **world)
    assert offrank.simulate(tmp_path / "log.parquet", documents=longest, slots=20, **world).written.rows == 5
