"""What was learnt from a log is not judged by it unnoticed; what was held out judges it rightly."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyarrow import feather

import offrank
from offrank.cli import main
from offrank.clicks import DBN, PBM
from offrank.errors import UsageError
from offrank.estimators import Direct, DoublyRobust, Interpol
from offrank.policies.linear import Model
from offrank.simulation.search import SearchWorld
from tests.clicks.aged import aged

# One worker: what these tests share is made once.
pytestmark = pytest.mark.xdist_group("same log")

ITEMS, NOISE, ROWS = 5, 600, 3_000
EARNS = np.array([0.1, 0.1, 0.1, 0.1, 0.13])
"""Chance of a click on each item; features 0 to 4 tell which it is, the others say nothing at all."""


def noisy(seed: int, rows: int = ROWS) -> pa.Table:
    """Uniform slates of one slot, with four features of noise beside each candidate."""
    rng = np.random.default_rng(seed)
    shown = rng.integers(0, ITEMS, rows)
    noise = rng.integers(ITEMS, ITEMS + NOISE, (rows, ITEMS, 4))
    return pa.table(
        {
            "slate": shown[:, None].tolist(),
            "clicks": (rng.random(rows) < EARNS[shown]).astype(float)[:, None].tolist(),
            "candidates": np.tile(np.arange(ITEMS), (rows, 1)).tolist(),
            "features": np.concatenate([np.tile(np.arange(ITEMS)[:, None], (rows, 1, 1)), noise], axis=2).tolist(),
            "propensity": np.full(rows, 1 / ITEMS),
            "day": np.where(np.arange(rows) < rows // 2, "a", "b"),
        }
    )


def truth(policy: offrank.Linear, rows: int = 6_000) -> float:
    """What a policy earns of new impressions: its chance of each item times what that earns."""
    source = offrank.read_log(noisy(99, rows)).select(policy.reads("rank_probs"))
    chances = [policy.rank_probs(b.contexts, b.contexts.candidates)[:, :, 0] @ EARNS for b in source.batches(0)]
    return float(np.concatenate(chances).mean())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log, and a policy that was learnt from it."""
    path = tmp_path_factory.mktemp("learnt")
    pq.write_table(noisy(1), path / "log.parquet")
    offrank.learn(path / "log.parquet", "ips", path / "policy.npz", bits=10, epochs=8, test=False)
    return path


def codes(result: offrank.Result) -> dict[tuple[str, str], set[str]]:
    return {key: {one.code for one in found.warnings} for key, found in result.estimates.given.items()}


def same(log: Any, folder: Path, target: Any = None, estimators: Any = ("ips", "snips"), **options: Any) -> set[bool]:
    """Whether `same-log` is said of each estimate."""
    target = offrank.Linear(str(folder / "policy.npz")) if target is None else target
    return {
        "same-log" in found for found in codes(offrank.evaluate(log, target, "logged", estimators, **options)).values()
    }


def test_the_training_log_is_too_kind_and_says_so_and_the_held_out_third_is_right(folder: Path) -> None:
    policy = offrank.Linear(str(folder / "policy.npz"), greedy=True)
    kind = offrank.evaluate(folder / "log.parquet", policy)
    right = offrank.evaluate(folder / "log.parquet", policy, held_out=folder / "policy.npz")
    earned = truth(policy)
    assert kind["snips"].low > earned
    assert "same-log" in codes(kind)[repr(policy), "snips"]
    assert not kind.trustworthy
    assert right["snips"].low < earned < right["snips"].high
    assert "same-log" not in codes(right)[repr(policy), "snips"]
    assert right["snips"].n == ROWS // 3
    (said,) = (one for one in kind["snips"].warnings if one.code == "same-log")
    assert said.severity == "serious"
    assert "67 %" in said.message


def test_copies_are_found_under_any_name_and_in_any_form(folder: Path, tmp_path: Path) -> None:
    table = noisy(1)
    pq.write_table(table, tmp_path / "renamed.parquet", compression="zstd", row_group_size=700)
    feather.write_feather(table, tmp_path / "log.arrow")
    pq.write_table(pa.concat_tables([noisy(2), table]), tmp_path / "both.parquet")
    shuffled = table.take(np.random.default_rng(0).permutation(ROWS))
    part = table.slice(500, 900)
    for log in (tmp_path / "renamed.parquet", tmp_path / "log.arrow", tmp_path / "both.parquet", table, shuffled, part):
        assert same(log, folder) == {True}


def test_other_logs_are_not_taken_for_it(folder: Path) -> None:
    assert same(noisy(2), folder) == {False}
    rows = np.arange(ROWS)
    assert same(noisy(1).take(rows[rows % 3 == 2]), folder) == {False}  # the third, written by hand
    assert same(noisy(1), folder, "uniform") == {False}


def test_each_target_and_wrapper_has_its_own(folder: Path) -> None:
    learnt = f"linear({str(folder / 'policy.npz')!r})"
    targets = {"learnt": learnt, "mixed": f"epsilon({learnt}, 0.2)", "uniform": "uniform"}
    found = codes(offrank.evaluate(folder / "log.parquet", targets, estimators=["snips", "clip(ips, 3)"], by="day"))
    assert {name for (name, _), some in found.items() if "same-log" in some} == {"learnt", "mixed"}
    groups = offrank.evaluate(folder / "log.parquet", targets, by="day").groups
    for estimates in groups.values():
        assert "same-log" in {one.code for one in estimates["learnt", "ips"].warnings}
        assert "same-log" not in {one.code for one in estimates["uniform", "ips"].warnings}


def test_a_file_without_a_fingerprint_says_nothing(folder: Path, tmp_path: Path) -> None:
    model = Model.load(folder / "policy.npz")
    Model(model.encoding, model.weights, {}).save(tmp_path / "policy.npz")
    assert same(folder / "log.parquet", tmp_path) == {False}
    with pytest.raises(UsageError, match="does not say which rows were held out"):
        offrank.evaluate(folder / "log.parquet", "uniform", held_out=tmp_path / "policy.npz")


@pytest.mark.parametrize("split", ["turn", "hash"])
def test_held_out_reads_the_last_third_whatever_the_partition(tmp_path: Path, split: Any) -> None:
    for name, size in (("one", ROWS), ("many", 171)):
        pq.write_table(noisy(1), tmp_path / f"{name}.parquet", row_group_size=size)
    made = offrank.learn(tmp_path / "one.parquet", "random", tmp_path / "p.npz", split=split, bits=10)
    assert made.tested is not None
    for name in ("one", "many"):
        found = offrank.evaluate(tmp_path / f"{name}.parquet", made.policy, held_out=tmp_path / "p.npz")
        assert found["ips"].value == pytest.approx(made.tested["drawn", "ips"].value, rel=1e-12)
        assert found["ips"].n == made.tested["drawn", "ips"].n
        assert found.to_dict()["log"]["learnt_from"] == ROWS - found["ips"].n
    assert f"{ROWS - found['ips'].n:,} impressions that the policy was trained on" in str(found)


def test_held_out_is_of_the_log_that_was_learnt_from(folder: Path) -> None:
    judge = partial(offrank.evaluate, target="uniform", held_out=folder / "policy.npz")
    table = noisy(1)
    for other in (noisy(2), table.slice(1), table.take(np.arange(ROWS)[::-1]), pa.concat_tables([table] * 2)):
        with pytest.raises(UsageError, match="was not learnt from"):
            judge(other)
    with pytest.raises(UsageError, match="there is no policy"):
        offrank.evaluate(table, "uniform", held_out=folder / "absent.npz")
    repeated = judge(folder / "log.parquet").facts["command"]
    assert f"held_out={str(folder / 'policy.npz')!r}" in repeated


def test_held_out_on_the_command_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    question = ["evaluate", "log.parquet", "--target", "linear('policy.npz')", "-e", "snips"]
    kind = CliRunner().invoke(main, question)
    assert "same-log" in kind.output
    right = CliRunner().invoke(main, [*question, "--held-out", "policy.npz", "--html", "page.html", "--json", "r.json"])
    assert right.exit_code == 0, right.output
    assert "same-log" not in right.output
    assert "2,000 impressions that the policy was trained on" in right.output.replace("\n", " ")
    assert "Left out: training rows" in Path("page.html").read_text(encoding="utf-8")
    assert json.loads(Path("r.json").read_text())["log"]["learnt_from"] == 2_000
    wrong = CliRunner().invoke(main, [*question[:1], "policy.npz", *question[2:], "--held-out", "policy.npz"])
    assert wrong.exit_code != 0


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two days of a search log, and a click model of the first."""
    path = tmp_path_factory.mktemp("days")
    world = SearchWorld(impressions=DAY, queries=60, candidates=4, slots=3)
    for day in (0, 1):
        pq.write_table(world.table(DAY, day), path / f"{day}.parquet")
    for name, model in (("pbm", PBM()), ("dbn", DBN())):
        model.fit(path / "0.parquet").save(path / f"{name}.json")
    return path


LOGGING, DAY = "plackett_luce(old_score)", 5_000


@pytest.mark.turns(3)
@pytest.mark.parametrize("as_file", [True, False])
def test_every_use_of_a_click_model_is_told(days: Path, as_file: bool) -> None:
    path, model = str(days / "pbm.json"), offrank.clicks.load(days / "pbm.json")
    used: list[Any] = [f"direct({path!r})", f"dr({path!r})"] if as_file else [Direct(model), DoublyRobust(model)]
    used += ["pbm", "interpol(window=1)", "clip(pbm, 5)", "ips"]
    for day, expected in (("0", True), ("1", False)):
        log = days / f"{day}.parquet"
        found = offrank.evaluate(log, "top(new_score)", LOGGING, used, examination=path if as_file else model)
        said = {key: "same-log" in some for (_, key), some in codes(found).items()}
        assert len(said) == len(used)
        assert said.pop("ips") is False
        assert set(said.values()) == {expected}


def test_numbers_have_no_rows(days: Path) -> None:
    curve = offrank.clicks.load(days / "pbm.json").examination()
    found = offrank.evaluate(days / "0.parquet", "top(new_score)", LOGGING, "pbm", examination=curve)
    assert not any("same-log" in some for some in codes(found).values())


def test_a_curve_of_its_own_is_not_that_of_the_model(days: Path) -> None:
    estimators = ["pbm", Interpol(window=1, examination=(1.0, 0.5, 0.25))]
    log, model = days / "0.parquet", days / "pbm.json"
    found = offrank.evaluate(log, "top(new_score)", LOGGING, estimators, examination=model)
    assert ["same-log" in some for some in codes(found).values()] == [True, False]


def test_clicks_are_predicted_for_what_was_seen(days: Path, tmp_path: Path) -> None:
    """`evaluate_clicks`, alone, with another log, in memory, and as a compressed copy."""
    models = {name: offrank.clicks.load(days / f"{name}.json") for name in ("pbm", "dbn")}

    def told(found: Any) -> dict[str, bool]:
        return {name: "same-log" in {one.code for one in some} for name, some in found.cautions.items()}

    table = pq.read_table(days / "0.parquet")
    pq.write_table(table, tmp_path / "copy.parquet", compression="gzip")
    assert told(offrank.evaluate_clicks(tmp_path / "copy.parquet", models)) == {"pbm": True, "dbn": True}
    assert told(offrank.evaluate_clicks(table, models)) == {"pbm": True, "dbn": True}
    assert told(offrank.evaluate_clicks(days / "1.parquet", models)) == {"pbm": False, "dbn": False}
    assert told(offrank.evaluate_clicks(days / "1.parquet", models, other=table)) == {"pbm": True, "dbn": True}
    alone = offrank.evaluate_clicks(table, models["pbm"])
    assert ("same-log", "serious") in {(one.code, one.severity) for one in alone.findings}


def test_a_click_model_keeps_its_fingerprint(days: Path, tmp_path: Path) -> None:
    model = offrank.clicks.load(days / "pbm.json")
    assert model.training is not None
    assert model.training.rows == DAY
    assert model.training == PBM().fit(pq.read_table(days / "0.parquet")).training
    written = aged(days / "pbm.json")
    training = written.pop("training")
    (tmp_path / "old.json").write_text(json.dumps(written))
    old = offrank.clicks.load(tmp_path / "old.json")
    assert old.training is None
    assert "same-log" not in {one.code for one in offrank.evaluate_clicks(days / "0.parquet", old).findings}
    for damage in ({"keys": {"kind": "i8", "shape": [1], "values": [1]}}, {"by": 3}, {"rows": "many"}):
        (tmp_path / "damaged.json").write_text(json.dumps({**written, "training": {**training, **damage}}))
        with pytest.raises(UsageError, match="damaged"):
            offrank.clicks.load(tmp_path / "damaged.json")


def test_the_fingerprint_is_of_what_was_learnt_from_and_chosen_by(folder: Path) -> None:
    found = Model.load(folder / "policy.npz")
    assert found.training is not None
    assert found.training.rows == 2 * ROWS // 3
    assert found.facts["split"] == "turn"


def test_a_target_that_was_counted_in_this_log_is_recognised_and_convicts_no_other() -> None:
    world = SearchWorld(impressions=6_000, queries=60, slots=3)
    log, other = (world.table(6_000, seed) for seed in (0, 1))
    elsewhere = offrank.Counted(by="query").fit(offrank.read_log(other))
    own = {"counted": "counted(by=query)", "mixed": "epsilon(counted(by=query), 0.1)", "new": "top(new_score)"}
    together = offrank.evaluate(log, own, "plackett_luce(old_score)", "ipm")
    assert {name for (name, _), some in codes(together).items() if "same-log" in some} == {"counted", "mixed"}
    assert together.verdicts["counted"].reasons[0].code == "same-log"
    assert together.about_log == ()
    assert together.verdicts["new"].usable
    fair = offrank.evaluate(log, elsewhere, "plackett_luce(old_score)", "ipm")
    assert not any("same-log" in some for some in codes(fair).values())
    assert fair.usable
    # Where the log's law is counted alike, the target is the log.
    alike = offrank.evaluate(log, "counted(by=query)", "counted(by=query)", "ipm")
    assert not any("same-log" in some for some in codes(alike).values())
