"""Open Bandit Data: a row is an impression of one slot, with all items of the campaign as candidates."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import offrank
from offrank.errors import ColumnError, LogError, RowError, UsageError
from offrank.log.source import Needs
from offrank.readers import open_bandit
from tests.readers.plain import code, rows

HEADER = ",timestamp,item_id,position,click,propensity_score,user_feature_0,user-item_affinity_0\n"
LOG = HEADER + (
    "0,2019-11-24 00:00:16.001+00:00,3,2,0,0.25,cef3,0.0\n1,2019-11-24 00:00:17.001+00:00,0,1,1,0.5,0123,1.0\n"
)
ITEMS = ",item_id,item_feature_0\n0,0,-0.6\n1,1,-0.7\n2,3,0.1\n"
NEEDED = Needs(
    frozenset(["clicks", "candidates", "propensity"]),
    keys=frozenset(["position"]),
    labels=frozenset(["position", "user_feature_0"]),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "men.csv").write_text(LOG, encoding="utf-8")
    (tmp_path / "item_context.csv").write_text(ITEMS, encoding="utf-8")
    return tmp_path


def test_rows(folder: Path) -> None:
    first, second = rows(open_bandit(folder), NEEDED)
    assert first == {
        "row": 0,
        "slate": [3],
        "candidates": [0, 1, 3],
        "clicks": [0.0],
        "propensity": 0.25,
        "inclusion": 1.0,
        "key:position": code("2"),
        "label:position": "2",
        "label:user_feature_0": "cef3",
    }
    assert (second["slate"], second["clicks"], second["label:user_feature_0"]) == ([0], [1.0], "0123")


def test_the_file_itself_packed_or_not(folder: Path) -> None:
    expected = rows(open_bandit(folder), NEEDED)
    assert rows(open_bandit(folder / "men.csv"), NEEDED) == expected
    (folder / "packed").mkdir()
    (folder / "packed" / "men.csv.gz").write_bytes(gzip.compress(LOG.encode()))
    (folder / "packed" / "item_context.csv").write_text(ITEMS, encoding="utf-8")
    assert rows(open_bandit(folder / "packed"), NEEDED) == expected
    assert rows(offrank.read_log(folder, format="open_bandit"), NEEDED) == expected


def test_the_number_of_items_may_be_said(folder: Path) -> None:
    (folder / "item_context.csv").unlink()
    with pytest.raises(LogError, match=r"item_context\.csv is missing next to the log.*") as caught:
        open_bandit(folder)
    assert "n_items" in caught.value.remedy
    assert rows(open_bandit(folder, n_items=5), NEEDED)[0]["candidates"] == [0, 1, 2, 3, 4]
    with pytest.raises(UsageError, match="n_items is 0"):
        open_bandit(folder, n_items=0)


def test_an_item_that_the_campaign_does_not_have(folder: Path) -> None:
    with pytest.raises(RowError, match=r"men\.csv, line 2, row 0 .*'slate'.*not-a-candidate"):
        rows(open_bandit(folder, n_items=2), NEEDED)


def test_a_folder_must_hold_one_log(folder: Path) -> None:
    (folder / "women.csv").write_text(LOG, encoding="utf-8")
    with pytest.raises(LogError, match="2 logs"):
        open_bandit(folder)
    with pytest.raises(LogError, match="no such file or folder"):
        open_bandit(folder / "none")


def test_another_csv_file(folder: Path) -> None:
    (folder / "men.csv").write_text("impression,item\n1,2\n", encoding="utf-8")
    with pytest.raises(ColumnError, match="no column 'item_id'"):
        open_bandit(folder)


def test_broken_item_context(folder: Path) -> None:
    (folder / "item_context.csv").write_text("id\n1\n", encoding="utf-8")
    with pytest.raises(LogError, match=r"item_context\.csv cannot be read"):
        open_bandit(folder)


def test_other_columns_can_be_asked_for(folder: Path) -> None:
    needed = Needs(labels=frozenset(["timestamp", "user-item_affinity_0"]))
    assert rows(open_bandit(folder), needed)[1]["label:user-item_affinity_0"] == "1.0"
    with pytest.raises(ColumnError, match="nearest name is 'user_feature_0'"):
        open_bandit(folder).select(Needs(labels=frozenset(["user_feature_9"])))


def test_a_copy_of_the_log_alone_is_known_and_has_an_item_for_each_affinity(tmp_path: Path) -> None:
    text = "item_id,position,click,propensity_score,user-item_affinity_0,user-item_affinity_1\n1,2,0,0.25,0.0,0.0\n"
    (tmp_path / "copy.csv").write_text(text, encoding="utf-8")
    log = offrank.read_log(tmp_path / "copy.csv")
    assert log.description.layout != "none"
    assert log.description.format == "open_bandit(n_items=2)"
    assert offrank.evaluate(log, "uniform", estimators="ips")["ips"].mean_weight == 0.5 / 0.25
