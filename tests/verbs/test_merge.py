"""States of days make the result of the week: the same numbers, to rounding, and nothing is counted twice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import StateError, UsageError
from offrank.evaluation.state_file import State
from offrank.readers import by_file
from offrank.running.states import dumps, loads
from offrank.sums.sampled import NUMBERED
from tests.cli.commands import call

# One worker: what these tests share is made once.
pytestmark = [pytest.mark.xdist_group("days"), pytest.mark.turns(3, "running", "evaluation/state_file.py")]

TARGETS = {"new": "top(new)", "soft": "plackett_luce(new)"}
QUESTION: dict[str, Any] = {"target": TARGETS, "logging": "plackett_luce(old)", "estimators": ["snips", "pbm"]}
HOW: dict[str, dict[str, Any]] = {
    "bootstrap": {"interval": "bootstrap", "cluster": None, "by": "device", "examination": [1, 0.5, 0.4]},
    "clusters": {"examination": [1, 0.5, 0.4]},
}
SIZES = (300, 180, 261)
ARMS = "by(device, {phone: plackett_luce(old), desk: uniform})"


def table(rows: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    users = rng.integers(0, 60, rows)
    columns = {
        "slate": np.argsort(rng.random((rows, 4)), axis=1)[:, :3].tolist(),
        "candidates": [[0, 1, 2, 3]] * rows,
        "clicks": (rng.random((rows, 3)) < 0.3).astype(float).tolist(),
        "old": np.zeros((rows, 4)).tolist(),
        "new": np.round(rng.random((rows, 4)), 2).tolist(),
        "user": [None if user > 40 else f"u{user}" for user in users],
        "device": rng.choice(["phone", "desk"], rows),
    }
    return pa.table(columns)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three days, their states by each of HOW, and those of the whole."""
    folder = tmp_path_factory.mktemp("days")
    for day, rows in enumerate(SIZES):
        pq.write_table(table(rows, day), folder / f"{day}.parquet", row_group_size=70)
    for name, how in HOW.items():
        for day in range(len(SIZES)):
            offrank.evaluate(str(folder / f"{day}.parquet"), **QUESTION, **how, state=folder / f"{name}-{day}.state")
    return folder


@pytest.fixture(scope="module")
def whole(folder: Path) -> dict[str, offrank.Result]:
    every = [str(folder / f"{day}.parquet") for day in range(len(SIZES))]
    return {
        name: offrank.evaluate(every, **QUESTION, **how, state=folder / f"whole-{name}") for name, how in HOW.items()
    }


def flat(value: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield from flat(each, f"{at}.{name}")
    elif isinstance(value, list | tuple):
        for index, each in enumerate(value):
            yield from flat(each, f"{at}[{index}]")
    else:
        yield at, value


def alike(one: Any, other: Any) -> None:
    """Every number to 1e-12, and every word."""
    mine, theirs = dict(flat(one)), dict(flat(other))
    assert list(mine) == list(theirs)
    for name, value in mine.items():
        if isinstance(value, float):
            assert value == pytest.approx(theirs[name], rel=1e-12, abs=1e-12), name
        else:
            assert name in (".created", ".command") or value == theirs[name], name


@pytest.mark.parametrize("name", HOW)
def test_the_days_make_the_week(name: str, folder: Path, whole: dict[str, offrank.Result]) -> None:
    found = offrank.merge(str(folder / f"{name}-*.state"))
    alike(found.to_dict(), whole[name].to_dict())
    assert str(found) == str(whole[name])
    assert found.difference("new", "soft").low == pytest.approx(whole[name].difference("new", "soft").low, rel=1e-12)
    alike(found.at(0.5).to_dict(), whole[name].at(0.5).to_dict())
    assert len(found.groups) == (2 if name == "bootstrap" else 0)


def test_estimates_and_intervals_are_those_of_an_evaluation_without_state(folder: Path) -> None:
    every = [str(folder / f"{day}.parquet") for day in range(len(SIZES))]
    plain = offrank.evaluate(every, **QUESTION, **HOW["clusters"])
    found = offrank.merge(str(folder / "clusters-*.state"))
    for one, other in zip(found.values(), plain.values(), strict=True):
        assert (one.cluster, one.n) == (other.cluster, sum(SIZES))
        assert one.value == pytest.approx(other.value, rel=1e-12)
        assert [one.low, one.high] == pytest.approx([other.low, other.high], rel=1e-12)
    heavy = [[row["row"] for path in one.to_dict()["heaviest"] for row in path["rows"]] for one in (found, plain)]
    assert set(heavy[0]) == set(heavy[1])  # numbers of rows in the whole log
    assert max(heavy[0]) > SIZES[0]


def test_the_name_of_the_folder_changes_nothing(tmp_path: Path) -> None:
    """Users that are null are alone, wherever the file lies, also if a few rows have most of the weight."""
    log = table(640, 7)
    log = log.set_column(3, "old", pa.array((np.random.default_rng(1).normal(size=(640, 4)) ** 2 + 0.02).tolist()))
    found = []
    for name in ("here", "there", "elsewhere"):
        (tmp_path / name).mkdir()
        pq.write_table(log, tmp_path / name / "log.parquet", row_group_size=100)
        read, state = str(tmp_path / name / "log.parquet"), tmp_path / name / "log.state"
        found += [offrank.evaluate(read, **QUESTION, **HOW["clusters"], state=state)]
    found += [offrank.evaluate(log, **QUESTION, **HOW["clusters"])]
    for one in found[1:]:
        for key, estimate in one.items():
            first = found[0][key]
            assert first.cluster == estimate.cluster == "user"
            ends = [estimate.low, estimate.high, estimate.effective_clusters]
            assert ends == pytest.approx([first.low, first.high, first.effective_clusters], rel=1e-12)
            assert list(map(str, estimate.warnings)) == list(map(str, first.warnings))
        assert one.verdicts.keys() == found[0].verdicts.keys()
        for name, verdict in one.verdicts.items():
            assert str(verdict) == str(found[0].verdicts[name])


def test_states_of_states_and_other_orders_make_the_same(folder: Path, tmp_path: Path) -> None:
    one, two, three = (folder / f"bootstrap-{day}.state" for day in range(3))
    offrank.merge([one, two], state=tmp_path / "both")
    direct = offrank.merge([one, two, three])
    alike(offrank.merge([tmp_path / "both", three]).to_dict(), direct.to_dict())
    backwards = offrank.merge([three, two, one])
    for found, other in zip(backwards.values(), direct.values(), strict=True):
        assert [found.value, found.low, found.high] == pytest.approx([other.value, other.low, other.high], rel=1e-12)


def test_a_file_is_the_same_from_wherever_it_is_read(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    path = tmp_path / "relative.state"
    offrank.evaluate("0.parquet", **QUESTION, **HOW["bootstrap"], state=path)
    one, other = State.load(path), State.load(folder / "bootstrap-0.state")
    assert one.files == other.files == {str(folder / "0.parquet"): SIZES[0]}
    assert dumps(one.counted["terms"]) == dumps(other.counted["terms"])


def test_a_state_tells_what_was_asked(folder: Path) -> None:
    assert State.load(folder / "bootstrap-0.state").question == {
        "target": TARGETS,
        "logging": "plackett_luce(old)",
        "estimators": ["snips", "pbm"],
        "examination": [1.0, 0.5, 0.4],
        "confidence": 0.95,
        "interval": "bootstrap",
        "cluster": None,
        "cluster columns": [],
        "by": "device",
        "replicates": 200,
        "seed": 0,
        "totals": None,
        "control": None,
    }


CHANGED = {
    "target": {"new": "top(old)"},
    "logging": "uniform",
    "estimators": ["snips"],
    "examination": [1, 0.5, 0.3],
    "confidence": 0.9,
    "interval": "normal",
    "cluster": "user",
    "cluster columns": ["user"],
    "by": None,
    "replicates": 50,
    "seed": 1,
}


@pytest.mark.parametrize("name", CHANGED)
def test_other_questions_are_refused_with_the_difference(name: str, folder: Path, tmp_path: Path) -> None:
    first, second = (State.load(folder / f"bootstrap-{day}.state") for day in range(2))
    replace(second, question={**second.question, name: CHANGED[name]}).save(tmp_path / "other")
    said = f"{name} is {first.question[name]!r} in {first.where}, and {CHANGED[name]!r} in {tmp_path / 'other'}"
    with pytest.raises(StateError, match=f"^{re.escape(said)}"):
        offrank.merge([folder / "bootstrap-0.state", tmp_path / "other"])


def test_other_columns_and_other_models_are_refused(folder: Path, tmp_path: Path) -> None:
    first = State.load(folder / "clusters-0.state")
    second = State.load(folder / "clusters-1.state")
    layout = {**second.layout, "columns": [*second.layout["columns"], "more"]}
    replace(second, job="x", layout=layout).save(tmp_path / "more")
    with pytest.raises(StateError, match=r"has the column 'more', but that of .*clusters-0.state does not"):
        offrank.merge([first.where, tmp_path / "more"])
    replace(second, job="x").save(tmp_path / "model")
    with pytest.raises(StateError, match="different policies or models of the same names"):
        offrank.merge([first.where, tmp_path / "model"])
    with pytest.raises(StateError, match=r"a policy or a model has changed since .*model was counted\n"):
        offrank.merge([tmp_path / "model"])
    replace(second, job="x", offrank="0.0.9").save(tmp_path / "model")
    with pytest.raises(StateError, match=r"model was counted by offrank 0\.0\.9, and this is "):
        offrank.merge([tmp_path / "model"])


def test_rows_are_not_counted_twice(folder: Path, tmp_path: Path) -> None:
    day = folder / "clusters-0.state"
    with pytest.raises(StateError, match=r"both hold the file .*0\.parquet"):
        offrank.merge([day, folder / "clusters-1.state", day])
    pq.write_table(pq.read_table(folder / "0.parquet"), tmp_path / "copy.parquet")
    offrank.evaluate(tmp_path / "copy.parquet", **QUESTION, **HOW["clusters"], state=tmp_path / "copy")
    with pytest.raises(StateError, match="both hold the same 300 rows"):
        offrank.merge([day, tmp_path / "copy"])


def test_rows_of_two_files_never_share_their_numbers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    firsts = [by_file.first_row(f"/log/{day}.parquet") for day in range(1000)]
    assert len(set(firsts)) == 1000
    assert all(float(first) == first < 2**62 for first in firsts)
    assert np.bincount(np.array(firsts) // 2**60).tolist() == pytest.approx([250] * 4, abs=60)
    monkeypatch.setattr("offrank.evaluation.state_file.first_row", lambda name: 100 * int(Path(name).stem))
    with pytest.raises(StateError, match=r"0\.parquet and .*1\.parquet have the same row numbers by chance"):
        offrank.merge([folder / f"clusters-{day}.state" for day in (1, 0)])


def test_logs_in_memory_are_numbered_by_their_states(tmp_path: Path) -> None:
    question = {**QUESTION, **HOW["bootstrap"], "by": None}
    for name in ("a", "b"):
        offrank.evaluate(table(60, ord(name)), **question, state=tmp_path / name)
    one, other = State.load(tmp_path / "a"), State.load(tmp_path / "b")
    assert one.files.keys() == {str(tmp_path / "a" / "table")}
    assert not one.files.keys() & other.files.keys()
    found = offrank.merge([tmp_path / "a", tmp_path / "b"])
    assert found["new", "snips"].n == 120
    numbers = [state.counted["terms"]["whole"][NUMBERED].codes for state in (one, other)]
    assert len(np.intersect1d(*numbers)) == 0


def test_long_logs_and_rows_that_are_left_out(tmp_path: Path) -> None:
    wide = table(50, 4)
    rows = []
    columns = (wide.column(name).to_pylist() for name in ("slate", "clicks", "new"))
    for number, (slate, clicks, new) in enumerate(zip(*columns, strict=True)):
        last = ({0, 1, 2, 3} - {*slate}).pop()
        for place, (item, click) in enumerate(zip([*slate, last], [*clicks, None], strict=True)):
            position = None if item == last else place + 1
            row = {"impression": number, "item": item, "position": position, "click": click}
            rows.append({**row, "old": 0.0, "new": new[item]})
    for day, (first, last) in enumerate(((0, 20), (20, 50))):
        some = pa.Table.from_pylist([row for row in rows if first <= row["impression"] < last])
        pq.write_table(some, tmp_path / f"{day}.parquet")
    question = {**QUESTION, "estimators": "snips", "interval": "bootstrap", "cluster": None}
    for day in range(2):
        offrank.evaluate(tmp_path / f"{day}.parquet", **question, state=tmp_path / f"{day}.state")
    every = [str(tmp_path / f"{day}.parquet") for day in range(2)]
    whole = offrank.evaluate(every, **question, state=tmp_path / "whole")
    alike(offrank.merge(str(tmp_path / "?.state")).to_dict(), whole.to_dict())


def test_rankers_with_shares_of_the_design_merge(folder: Path, tmp_path: Path) -> None:
    """Counted ones are another number every day: see below."""
    question = {**QUESTION, "estimators": "snips", "logging": f"balanced({ARMS}, shares={{phone: 0.6, desk: 0.4}})"}
    days = [str(folder / f"{day}.parquet") for day in range(2)]
    for name, log in (("0", days[0]), ("1", days[1]), ("whole", days)):
        whole = offrank.evaluate(log, **question, state=tmp_path / f"{name}.state")
    alike(offrank.merge(str(tmp_path / "?.state")).to_dict(), whole.to_dict())


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"logging": "counted(by=device)", "estimators": "ipm"}, r"counted\(by=device\) is learnt from the log itself"),
        ({"target": "epsilon(counted(by=device), 0.1)"}, "is learnt from the log itself"),
        (
            {"logging": f"balanced({ARMS})"},
            r"^balanced\(by\(device, .*is learnt from the log itself(.|\n)*with its shares",
        ),
        ({"estimators": ["snips", "auto"]}, "auto is learnt from the log itself"),
        ({"estimators": "direct(lasso)"}, "is learnt from the log itself"),
        ({"held_out": "policy.npz"}, "a state needs the whole log"),
    ],
)
def test_what_is_learnt_from_each_log_is_refused(more: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said):
        offrank.evaluate(table(30, 0), **{**QUESTION, **more}, state=tmp_path / "day.state")
    assert not list(tmp_path.iterdir())


def test_files_that_are_no_states_are_refused_by_name(folder: Path, tmp_path: Path) -> None:
    path = folder / "clusters-0.state"
    with pytest.raises(UsageError, match=r"there is no state 'nowhere.state'"):
        offrank.merge("nowhere.state")
    with pytest.raises(UsageError, match="there are no states"):
        offrank.merge([])
    other = tmp_path / "other.state"
    for data, said in (
        (path.read_bytes()[:-1], "is damaged: the checksum"),
        (b"PAR1", "is not a state of offrank"),
        (dumps({"done": 1}), "is not the state of an evaluation"),
        (dumps({"form": "evaluation"}), "is damaged: .*missing"),
        (dumps({**loads(path.read_bytes()), "counted": {"log": 1}}), "malformed"),
    ):
        other.write_bytes(data)
        with pytest.raises(StateError, match=said):
            offrank.merge([other])


def test_the_days_of_a_comparison_make_the_comparison_of_the_week(folder: Path, tmp_path: Path) -> None:
    asked = {name: value for name, value in QUESTION.items() if name != "estimators"}
    days = [str(folder / f"{day}.parquet") for day in range(2)]
    for day in range(2):
        offrank.compare(days[day], estimators="ipm", **asked, baseline="soft", state=tmp_path / f"{day}.state")
    found = offrank.merge(str(tmp_path / "*.state"))
    whole = offrank.compare(days, estimators="ipm", **asked, baseline="soft", state=tmp_path / "whole")
    alike(found.to_dict(), whole.to_dict())
    assert str(found) == str(whole)
    assert (found.metadata.baseline, len(found.comparisons)) == ("soft", 1)
    assert "whole', baseline='soft')" in str(whole.metadata.command)
    again = offrank.compare(days[1], estimators="ipm", **asked, state=tmp_path / "other")
    assert again.metadata.baseline == "new"
    with pytest.raises(StateError, match=r"baseline is 'soft' in .*, and 'new' in .*other"):
        offrank.merge([tmp_path / "0.state", tmp_path / "other"])
    offrank.evaluate(days[1], estimators="ipm", **asked, state=tmp_path / "evaluated")
    with pytest.raises(StateError, match=r"baseline is 'soft' in .*, and None in .*evaluated"):
        offrank.merge([tmp_path / "0.state", tmp_path / "evaluated"])
    assert not offrank.merge(tmp_path / "evaluated").comparisons


def test_on_the_command_line(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("--target", "top(new)", "--logging", "plackett_luce(old)", "-e", "snips", "--quiet")
    for day in range(2):
        assert call("evaluate", str(folder / f"{day}.parquet"), *words, "--state", f"{day}.state").exit_code == 0
    done = call("merge", "0.state", "1.state", "--json", "week.json", "--html", "week.html", "--title", "The week")
    assert done.exit_code == 0, done.output
    assert '"command": "offrank merge 0.state 1.state' in Path("week.json").read_text()
    assert "The week" in Path("week.html").read_text()
    assert call("merge", "0.state", "0.state").exit_code == 1
    assert call("compare", str(folder / "2.parquet"), *words, "--state", "compared.state").exit_code == 0
    assert '"baseline": "logged"' in call("merge", "compared.state", "--quiet", "--json", "-").output
    assert call("merge", "none.state").exit_code == 2
