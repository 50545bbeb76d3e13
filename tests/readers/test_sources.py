"""Where logs are: hive folders; and formats with their options."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import LogError, SpellingError
from offrank.log.source import Needs
from offrank.readers import open_bandit
from tests.readers.plain import contents, rows
from tests.readers.test_read_log import NEEDED, hive


def test_hive_folders_give_columns(tmp_path: Path) -> None:
    needed = NEEDED | Needs(labels=frozenset(["day"]))
    assert [row["label:day"] for row in contents(offrank.read_log(hive(tmp_path)), needed)] == ["0", "0", "1", "1"]


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_hive_folders_give_text_as_it_is_written(suffix: str, tmp_path: Path) -> None:
    write = {"parquet": pq.write_table, "arrow": pyarrow.feather.write_feather}[suffix]
    for month in ("01", "10"):
        (tmp_path / f"month={month}").mkdir()
        write(pa.table({"slate": [[1, 2]], "clicks": [[0, 1]]}), str(tmp_path / f"month={month}" / f"log.{suffix}"))
    log = offrank.read_log(tmp_path)
    assert log.parts() == 2
    assert [row["label:month"] for row in rows(log, Needs(labels=frozenset(["month"])))] == ["01", "10"]


@pytest.mark.turns(3)
def test_an_address_that_does_not_answer() -> None:
    with pytest.raises(LogError, match=r"(?s)nowhere://a/b cannot be reached.*check the address"):
        offrank.read_log("nowhere://a/b")


@pytest.mark.turns(3)
def test_options_of_a_format(tmp_path: Path) -> None:
    (tmp_path / "men.csv").write_text("item_id,position,click,propensity_score\n2,1,1,.5\n", encoding="utf-8")
    chosen = open_bandit(n_items=4)
    assert repr(chosen) == "open_bandit(n_items=4)"
    for format_ in (chosen, repr(chosen)):
        (row,) = rows(offrank.read_log(tmp_path, format=format_))
        assert row["candidates"] == [0, 1, 2, 3]
    with pytest.raises(SpellingError, match=r"write it as open_bandit\(n_items=None\)"):
        offrank.read_log(tmp_path, format="open_bandit(items=4)")
    with pytest.raises(
        SpellingError, match=r"did you mean open_bandit.*arrow, avito, clax, criteo, .*csv, .*json, .*orc"
    ):
        offrank.read_log(tmp_path, format="openbandit")
