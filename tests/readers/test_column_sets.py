"""Folders that hold more than one table: notes are passed over and told, different columns are told with what to do."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import ColumnError
from offrank.readers.opening import passed_over
from tests.cli.commands import call

WIDE = {"slate": [["a", "b"]], "clicks": [[1, 0]], "propensity": [0.5]}
LONG = {"impression": [1, 1], "item": ["a", "b"], "position": [1, 2], "click": [1, 0], "propensity": [0.5, 0.5]}


def log(path: Path, **more: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".csv":
        pyarrow.csv.write_csv(pa.table(LONG | more), path)
    else:
        pq.write_table(pa.table(WIDE | more), path)
    return path


def test_notes_beside_files_of_no_suffix_are_not_read(tmp_path: Path) -> None:
    text = log(tmp_path / "long.csv").read_text()
    (tmp_path / "long.csv").rename(tmp_path / "part")
    for name in ("SOURCE.txt", "readme", "LICENSE-data", "about.md"):
        (tmp_path / name).write_text("from the archive\n")
    (tmp_path / "part").write_text(text)
    assert offrank.read_log(tmp_path).describe() == str(tmp_path / "part")
    assert passed_over(tmp_path) == [str(tmp_path / n) for n in ("LICENSE-data", "SOURCE.txt", "about.md", "readme")]


def test_results_in_python_name_what_is_not_read(tmp_path: Path) -> None:
    alone = offrank.check(log(tmp_path / "log.parquet"), logging="uniform")
    for name in ("SOURCE.txt", "photo.png"):
        (tmp_path / name).write_text("no rows\n")
    source, photo = tmp_path / "SOURCE.txt", tmp_path / "photo.png"
    left_out = {f"no-table {source}": 1, f"no-table {photo}": 1}
    found = offrank.read_log(tmp_path)
    assert repr(found).endswith(f"left out: no-table {source}\n  left out: no-table {photo}")
    assert found.describe() == str(tmp_path / "log.parquet")
    checked = offrank.check(tmp_path, logging="uniform")
    (told,) = [one for one in checked.metadata.checks if one.code == "skipped"]
    assert (told.status, told.value) == ("note", 2)
    assert told.message == f"2 files beside those of the log are no tables and were not read: {source}, {photo}."
    assert checked.to_dict()["log"]["skipped"] == offrank.evaluate(tmp_path, "uniform").to_dict()["log"]["skipped"]
    assert checked.to_dict()["log"]["skipped"] == left_out
    assert checked.trustworthy == alone.trustworthy
    assert offrank.inspect(tmp_path).broken == {}


@pytest.mark.parametrize("name", ["source.csv", "sourcing.txt", "readmes"])
def test_a_table_that_is_called_nearly_so_is_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(log(tmp_path / "a.csv").read_text())
    (tmp_path / "a.csv").rename(tmp_path / ("a.csv" if name.endswith("csv") else "a"))
    assert (
        offrank.read_log(tmp_path).describe()
        == f"{tmp_path / 'a'}{name[-4:] if name[-4:] == '.csv' else ''} (with 1 more file)"
    )
    assert passed_over(tmp_path) == []


@pytest.mark.parametrize(
    "name", ["source_events.parquet", "notice.parquet", "citation-1.parquet", "authors.2024.parquet", "License.pq"]
)
def test_data_is_no_note_whatever_it_is_called(tmp_path: Path, name: str) -> None:
    for each in ("a.parquet", name):
        pq.write_table(pa.table(WIDE), tmp_path / each)
    assert "(with 1 more file)" in offrank.read_log(tmp_path).describe()
    assert passed_over(tmp_path) == []


def test_where_there_are_only_notes_they_are_the_log(tmp_path: Path) -> None:
    (tmp_path / "source.txt").write_text(log(tmp_path / "a.csv").read_text())
    (tmp_path / "a.csv").unlink()
    assert offrank.read_log(tmp_path).describe() == str(tmp_path / "source.txt")


def test_the_command_line_counts_and_names_what_is_not_read(tmp_path: Path) -> None:
    log(tmp_path / "log.parquet")
    for name in ("SOURCE.txt", "photo.png"):
        (tmp_path / name).write_text("no rows\n")
    said = call("check", tmp_path).stderr
    source, photo = tmp_path / "SOURCE.txt", tmp_path / "photo.png"
    assert f"left out: 2 files that are no tables of this log: {source} and {photo}\n" in said
    assert said.count("left out") == 1
    assert "left out" not in call("check", tmp_path, "--quiet").stderr


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_two_sets_of_columns_are_named_with_their_files_and_a_glob(tmp_path: Path, kind: str) -> None:
    scores = {"parquet": [[2.0, 1.0]], "csv": [2.0, 1.0]}[kind]
    for number, (name, scored) in enumerate([("may-1", "old"), ("may-2", "old"), ("summer", "new")]):
        log(tmp_path / f"{name}.{kind}", **{scored: scores} | ({"impression": [number] * 2} if kind == "csv" else {}))
    with pytest.raises(ColumnError) as raised:
        offrank.evaluate(tmp_path, "top(old)")
    first, summer = tmp_path / f"may-1.{kind}", tmp_path / f"summer.{kind}"
    shared = "slate, clicks and propensity" if kind == "parquet" else "impression, item, position, click and propensity"
    assert raised.value.message == (
        f"{summer} has no column 'old', but {first} has one; the files have 2 sets of columns: "
        f"old in {first} (with 1 more file); new in {summer}; all have {shared}"
    )
    assert raised.value.remedy == (f"correct the file, or give the files of one set, such as '{tmp_path}/may-*.{kind}'")
    assert offrank.evaluate(f"{tmp_path}/may-*.{kind}", "top(old)")["ips"].n == 2


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_column_that_only_later_files_have_is_told_with_these_files(tmp_path: Path, kind: str) -> None:
    scores = {"parquet": [[2.0, 1.0]], "csv": [2.0, 1.0]}[kind]
    for number, (name, scored) in enumerate([("may-1", "old"), ("may-2", "new"), ("may-3", "new")]):
        log(tmp_path / f"{name}.{kind}", **{scored: scores} | ({"impression": [number] * 2} if kind == "csv" else {}))
    with pytest.raises(ColumnError) as raised:
        offrank.evaluate(tmp_path, "top(new)")
    first, second = tmp_path / f"may-1.{kind}", tmp_path / f"may-2.{kind}"
    assert raised.value.message == f"{first} has no column 'new', but {second} (with 1 more file) has one"
    assert raised.value.remedy == "add it to the others, or give the files of one set as a list"
    with pytest.raises(ColumnError, match=r"may-1.* \(with 2 more files\) has no column 'newer'\n"):
        offrank.evaluate(tmp_path, "top(newer)")


ADDED = {
    "inclusion.parquet": [0.1],
    "reward.parquet": [5.0],
    "candidates.parquet": [["a", "b"]],
    "inclusion.csv": [0.1, 0.1],
    "reward.csv": [5.0, 5.0],
}


@pytest.mark.parametrize("added", ADDED)
def test_a_column_of_later_files_that_would_change_numbers_is_never_passed_over(tmp_path: Path, added: str) -> None:
    """Without it every row was kept, clicks are the reward, and the slate is all that could be shown."""
    name, kind = added.split(".")
    shared = LONG if kind == "csv" else WIDE
    first, second = log(tmp_path / f"may-1.{kind}"), log(tmp_path / f"may-2.{kind}", **{name: ADDED[added]})
    with pytest.raises(ColumnError) as raised:
        offrank.evaluate(tmp_path, "uniform", "logged", "ips")
    assert raised.value.message == (
        f"{first} has no column {name!r}, but {second} has one; the files have 2 sets of columns: "
        f"no others in {first}; {name} in {second}; all have {', '.join([*shared][:-1])} and propensity"
    )
    assert offrank.evaluate(second, "uniform", "logged", "ips")["ips"].n == 1


def test_a_glob_that_would_take_the_others_too_is_not_given(tmp_path: Path) -> None:
    for name in ("a1", "a3"):
        log(tmp_path / f"{name}.parquet", old=[[2.0, 1.0]])
    log(tmp_path / "a2.parquet")
    with pytest.raises(ColumnError, match="give the files of one set as a list"):
        offrank.evaluate(tmp_path, "top(old)")


def test_tables_of_several_kinds_in_folders_are_told_once(tmp_path: Path) -> None:
    """As Open Bandit Data has them: a log and a table of items for each campaign."""
    for campaign, affinities in (("all", 2), ("men", 1)):
        shown = {f"affinity_{place}": [0.0, 0.0] for place in range(affinities)}
        table = pa.table({"item_id": [1, 2], "click": [0, 1], **shown})
        (tmp_path / campaign).mkdir()
        pyarrow.csv.write_csv(table, tmp_path / campaign / f"{campaign}.csv")
        pyarrow.csv.write_csv(pa.table({"item_id": [1], "colour": [3]}), tmp_path / campaign / "items.csv")
    with pytest.raises(ColumnError) as raised:
        offrank.read_log(tmp_path)
    log_of_all, items, log_of_men = (tmp_path / name for name in ("all/all.csv", "all/items.csv", "men/men.csv"))
    assert raised.value.message == (
        f"the files have 3 sets of columns: click, affinity_0 and affinity_1 in {log_of_all}; "
        f"colour in {items} (with 1 more file); click and affinity_0 in {log_of_men}; all have item_id"
    )
    assert raised.value.remedy == f"give one folder, such as '{tmp_path}/all', or the files of one set"


@pytest.mark.parametrize("role", ["inclusion", "reward", "candidates"])
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_column_that_was_named_and_is_not_there_is_never_passed_over(tmp_path: Path, kind: str, role: str) -> None:
    path = log(tmp_path / f"may.{kind}")
    with pytest.raises(ColumnError, match="has no column 'gone'"):
        offrank.evaluate(path, "uniform", "logged", "ips", columns={role: "gone"})
