"""Damaged files: an error that names the file or the right answer, never a crash; broken files left out whole."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import LogError, UsageError
from offrank.log.source import Needs
from tests.cli.commands import call
from tests.readers import damage
from tests.readers.plain import rows, skipped

# One worker: what these tests share is made once.
pytestmark = pytest.mark.xdist_group("damaged")

TRIALS = 70


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Counter[str]]:
    """Format -> how reading ended, over many damaged files."""
    return read_apart(tmp_path_factory.mktemp("damage"), str(TRIALS))


def read_apart(folder: Path, how: str) -> dict[str, Counter[str]]:
    words = [sys.executable, "-m", "tests.readers.damage", str(folder), how]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout[-200:], done.stderr[-2000:])
    found: dict[str, Counter[str]] = {}
    for line in done.stdout.splitlines():
        name, _, how = line.split(" ", 2)
        found.setdefault(name, Counter())[how] += 1
    return found


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", damage.FORMATS)
def test_damage_ends_in_an_error_that_names_the_file(name: str, outcomes: dict[str, Counter[str]]) -> None:
    assert outcomes[name].total() == TRIALS
    assert outcomes[name].keys() <= {"same", "other", "error named"}
    assert outcomes[name]["error named"] > TRIALS / 4


@pytest.mark.turns(3)
def test_no_byte_of_a_footer_ends_the_process(tmp_path: Path) -> None:
    """A column of another type than the footer's schema says ends it where statistics are asked for."""
    found = read_apart(tmp_path, "footers")["log.parquet"]
    assert found.keys() <= {"same", "other", "error named"}
    assert found["error named"] > found.total() / 4


@pytest.mark.parametrize("name", ["converted.arrow", "converted.parquet"])
def test_damage_of_a_converted_file_never_changes_the_answer(name: str, outcomes: dict[str, Counter[str]]) -> None:
    assert outcomes[name].keys() == {"same", "error named"}


def test_a_changed_number_is_noticed_in_a_converted_file_alone(tmp_path: Path) -> None:
    value = damage.log().column("propensity")[7].as_py()
    for name in ("file.arrow", "converted.arrow"):
        damage.FORMATS[name](tmp_path / name)
        content = (tmp_path / name).read_bytes()
        assert content.count(struct.pack("<d", value)) == 1
        (tmp_path / name).write_bytes(content.replace(struct.pack("<d", value), struct.pack("<d", value / 2)))
    assert rows(offrank.read_log(tmp_path / "file.arrow"), damage.NEEDED)[7]["propensity"] == value / 2
    with pytest.raises(LogError, match=r"converted.arrow is damaged: rows from 0 on of column 'propensity'"):
        rows(offrank.read_log(tmp_path / "converted.arrow"), damage.NEEDED)


def test_a_column_without_its_page_is_not_a_shorter_log(tmp_path: Path) -> None:
    """Readers pass over a page of another type, and then read no row of its row group."""
    damage.parquet(tmp_path / "log.parquet")
    content = bytearray((tmp_path / "log.parquet").read_bytes())
    column = pq.read_metadata(tmp_path / "log.parquet").row_group(1).column(3)
    assert column.path_in_schema == "propensity"
    at = (column.dictionary_page_offset or column.data_page_offset) + 1
    content[at] = 2  # an index page
    content[column.data_page_offset + 1] = 2
    (tmp_path / "log.parquet").write_bytes(content)
    with pytest.raises(LogError, match=r"log\.parquet .* row group 1 should have 20 rows, but has 0"):
        rows(offrank.read_log(tmp_path / "log.parquet"), damage.NEEDED)


def test_no_batch_of_a_converted_file_can_be_missing_or_moved(tmp_path: Path) -> None:
    damage.converted(tmp_path / "log.arrow")
    with pa.ipc.open_file(tmp_path / "log.arrow") as file:
        found = [file.get_batch_with_custom_metadata(number) for number in range(file.num_record_batches)]
    for chosen in ([0, 1, 2], [0, 2, 3], [1, 0, 2, 3], [0, 1, 1, 2, 3], [3]):
        with pa.ipc.new_file(tmp_path / "log.arrow", found[0].batch.schema) as file:
            for number in chosen:
                file.write_batch(found[number].batch, found[number].custom_metadata)
        with pytest.raises(LogError, match=r"log.arrow is damaged: a part is missing"):
            offrank.read_log(tmp_path / "log.arrow")


def test_what_others_write_from_a_converted_file_is_read(tmp_path: Path) -> None:
    """The checksums do not stick to a table that is read, changed and written by others."""
    for name in ("converted.arrow", "converted.parquet"):
        damage.FORMATS[name](tmp_path / name)
    pq.write_table(pq.read_table(tmp_path / "converted.parquet").slice(0, 5), tmp_path / "a.parquet")
    table = pa.ipc.open_file(tmp_path / "converted.arrow").read_all().slice(0, 5)
    with pa.ipc.new_file(tmp_path / "b.arrow", table.schema) as file:
        file.write_table(table)
    for name in ("a.parquet", "b.arrow"):
        assert len(rows(offrank.read_log(tmp_path / name), damage.NEEDED)) == 5


def folder(path: Path, suffix: str) -> Path:
    """Four files of 15 rows; the third is cut in the middle, and a fifth is empty."""
    path.mkdir()
    for number in range(4):
        part = damage.log().slice(15 * number, 15)
        if suffix == "parquet":
            pq.write_table(part, path / f"{number}.parquet", row_group_size=5)
        elif suffix == "arrow":
            with pa.ipc.new_file(path / f"{number}.arrow", part.schema) as file:
                file.write_table(part, max_chunksize=5)
        else:
            lines = [f"{number}{row},x{place},{place},0" for row in range(15) for place in (1, 2)]
            (path / f"{number}.csv").write_text("\n".join(["impression,item,position,click", *lines]))
    broken = path / f"2.{suffix}"
    content = bytearray(broken.read_bytes())
    if suffix == "csv":
        content += b",7,8\n"
    else:  # of its three parts only the second is broken
        middle = len(content) // 2
        content[middle - 200 : middle + 200] = bytes(400)
    broken.write_bytes(content)
    (path / f"4.{suffix}").write_bytes(b"")
    return path


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv"])
def test_broken_files_are_left_out_whole(suffix: str, tmp_path: Path) -> None:
    given = folder(tmp_path / "logs", suffix)
    sound = [given / f"{number}.{suffix}" for number in (0, 1, 3)]
    broken = {f"broken-file {given / f'{number}.{suffix}'}": 1 for number in (2, 4)}
    with pytest.raises(LogError, match=f"4.{suffix} is empty"):
        offrank.read_log(given)
    needed = Needs(frozenset(["clicks"])) if suffix == "csv" else damage.NEEDED
    log = offrank.read_log(given, skip_broken_files=True)
    assert rows(log, needed) == rows(offrank.read_log(sound), needed)
    assert skipped(log, needed) == broken
    assert all(f"left out: {what}" in repr(log) for what in broken)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    given = folder(tmp_path / "logs", "parquet")
    (given / "4.parquet").unlink()
    with pytest.raises(LogError, match=r"logs/2.parquet cannot be read as a Parquet file"):
        rows(offrank.read_log(given), damage.NEEDED)
    with pytest.raises(LogError, match=r"logs/2.parquet cannot be read as a Parquet file"):
        offrank.read_log(given / "2.parquet", skip_broken_files=True)  # nothing would be left


def test_only_files_can_be_left_out() -> None:
    with pytest.raises(UsageError, match="table in memory has no files"):
        offrank.read_log(damage.log(), skip_broken_files=True)
    with pytest.raises(UsageError, match="yandex format reads all of its files"):
        offrank.read_log("x", format="yandex", skip_broken_files=True)


def test_every_result_names_the_files_that_were_left_out(tmp_path: Path) -> None:
    given = folder(tmp_path / "logs", "parquet")
    broken = {f"broken-file {given / f'{number}.parquet'}": 1 for number in (2, 4)}
    done = call("check", given, "--skip-broken-files", "--json", tmp_path / "a.json", "--html", tmp_path / "a.html")
    assert json.loads((tmp_path / "a.json").read_text())["log"]["skipped"] == broken
    page = (tmp_path / "a.html").read_text()
    assert all(what in page and f"left out: {what}" in done.output for what in broken)
    assert "2 files could not be read and were left out" in page
    seen = offrank.inspect(given, skip_broken_files=True)
    assert seen.skipped == broken
    assert seen.command.count("--skip-broken-files") == 1 == seen.mapping()["skip_broken_files"]
    log = offrank.read_log(given, skip_broken_files=True)
    fitted = offrank.fit_clicks(log, "gctr", tmp_path / "ctr.json").to_dict()["log"]
    assert all(what in fitted for what in broken)
    made = offrank.convert(log, tmp_path / "made.arrow")
    assert (made.rows, made.skipped) == (45, broken)
