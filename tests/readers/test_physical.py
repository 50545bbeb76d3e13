"""Files in whatever form they come: told by what is in them, with ids that never change."""

from __future__ import annotations

import bz2
import gzip
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import ColumnError, LogError, OffrankError, UsageError
from offrank.log.source import Needs
from offrank.readers.opening import Beginning, open_table
from tests.readers.plain import contents

NASTY = ["007", "7", "1e5", "100000", "12345678901234567890", "12345678901234567891", "2024-05-01", "0b1c-4"]
NEEDED = Needs(frozenset(["clicks"]), labels=frozenset(["site"]), keys=frozenset(["visitor"]))
WIDE = pa.table(
    {
        "slate": [[item, NASTY[(place + 1) % 8]] for place, item in enumerate(NASTY)],
        "clicks": [[place % 2, 0] for place in range(8)],
        "propensity": [0.25 + place / 16 for place in range(8)],
        "site": ["01", "1", "01", "NA", "1", "x", "x", "01"],
        "visitor": [2**53 + place // 2 for place in range(8)],
    }
)
LONG = pa.table(
    {
        "impression": [f"{place:03}" for place in range(8) for _ in range(2)],
        "item": [item for slate in WIDE["slate"].to_pylist() for item in slate],
        "position": [1, 2] * 8,
        "click": [click for clicks in WIDE["clicks"].to_pylist() for click in clicks],
        "site": [site for site in WIDE["site"].to_pylist() for _ in range(2)],
        "visitor": [str(visitor) for visitor in WIDE["visitor"].to_pylist() for _ in range(2)],
    }
)


def as_csv(table: pa.Table, delimiter: str = ",", quoted: bool = True) -> str:
    """CSV with lists as JSON."""

    def cell(value: object) -> str:
        text = json.dumps(value) if isinstance(value, list) else str(value)
        text = text.replace('"', '""')
        return f'"{text}"' if quoted and not isinstance(value, int | float) else text

    lines = [table.schema.names, *(list(row.values()) for row in table.to_pylist())]
    return "".join(delimiter.join(map(cell, line)) + "\n" for line in lines)


def as_json(table: pa.Table) -> str:
    return "".join(json.dumps(row) + "\n" for row in table.to_pylist())


def stored(write: Callable[[pa.Table, str], object]) -> Callable[[pa.Table, Path], None]:
    return lambda table, path: write(table, str(path)) and None


def streamed(table: pa.Table, path: Path) -> None:
    with pa.ipc.new_stream(path, table.schema) as file:
        file.write_table(table, max_chunksize=3)


def in_text(made: Callable[[bytes], bytes], lines: Callable[[pa.Table], str] = as_csv) -> Callable[..., None]:
    return lambda table, path: path.write_bytes(made(lines(table).encode())) and None


def zstd(content: bytes, codec: str = "zstd") -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, codec) as file:
        file.write(content)
    return sink.getvalue().to_pybytes()


FORMS: dict[str, Callable[[pa.Table, Path], None]] = {
    "Parquet": stored(pq.write_table),
    "Feather": stored(pyarrow.feather.write_feather),
    "Arrow stream": streamed,
    "ORC": stored(pyarrow.orc.write_table),
    "CSV": in_text(bytes),
    "CSV by ;": lambda table, path: path.write_text(as_csv(table, ";")) and None,
    "CSV by tab": lambda table, path: path.write_text(as_csv(table, "\t")) and None,
    "CSV by |": lambda table, path: path.write_text(as_csv(table, "|")) and None,
    "CSV in UTF-16": in_text(lambda text: text.decode().encode("utf-16")),
    "CSV in UTF-16 without a mark": in_text(lambda text: text.decode().encode("utf-16-le")),
    "CSV with a mark": in_text(lambda text: text.decode().encode("utf-8-sig")),
    "CSV with CRLF": in_text(lambda text: text.replace(b"\n", b"\r\n")),
    "CSV with comments": in_text(lambda text: b"# exported, today\n# by us\n\n" + text),
    "CSV that names its delimiter": lambda table, path: path.write_text("sep=;\n" + as_csv(table, ";")) and None,
    "CSV with backslashes": in_text(lambda text: text.replace(b'""', b'\\"')),
    "CSV in gzip": in_text(gzip.compress),
    "CSV in bzip2": in_text(bz2.compress),
    "CSV in zstd": in_text(zstd),
    "CSV in lz4": in_text(lambda text: zstd(text, "lz4")),
    "JSON lines": in_text(bytes, as_json),
    "JSON lines in gzip": in_text(gzip.compress, as_json),
    "JSON lines in UTF-16": in_text(lambda text: text.decode().encode("utf-16"), as_json),
    "JSON array": lambda table, path: path.write_text(json.dumps(table.to_pylist(), indent=1)) and None,
}
NAMES = ["log", "log.data", "log.csv", "log.parquet", "log.json"]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, object]]]:
    """The contents of both tables from Parquet."""
    folder, found = tmp_path_factory.mktemp("plain"), {}
    for name, table in (("wide", WIDE), ("long", LONG)):
        pq.write_table(table, folder / f"{name}.parquet")
        found[name] = contents(offrank.read_log(folder / f"{name}.parquet"), NEEDED)
    return found


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("layout", ["wide", "long"])
def test_any_form_has_the_same_rows_to_the_bit(layout: str, form: str, plain, tmp_path: Path) -> None:
    for name in NAMES if layout == "wide" else NAMES[:1]:
        FORMS[form](WIDE if layout == "wide" else LONG, tmp_path / name)
        assert contents(offrank.read_log(tmp_path / name), NEEDED) == plain[layout]


@pytest.mark.parametrize("form", ["Parquet", "Arrow stream", "ORC", "CSV by ;", "CSV in gzip", "JSON lines"])
def test_folders_of_days(form: str, plain, tmp_path: Path) -> None:
    for day in range(2):
        folder = tmp_path / f"day=0{day}"
        folder.mkdir()
        FORMS[form](WIDE.slice(4 * day, 4), folder / "part-0")
        (folder / "_SUCCESS").touch()
    log = offrank.read_log(tmp_path)
    assert contents(log, NEEDED) == plain["wide"]
    days = contents(log, NEEDED | Needs(labels=frozenset(["day"])))
    assert [row["label:day"] for row in days] == ["00"] * 4 + ["01"] * 4


def test_stripes_of_orc_are_parts_with_the_rows_of_the_file(plain, tmp_path: Path) -> None:
    many = pa.concat_tables([WIDE] * 4000)
    pyarrow.orc.write_table(many, tmp_path / "log.orc", stripe_size=1, batch_size=1024)
    table = open_table(tmp_path / "log.orc")
    pieces = [piece for part in range(table.parts()) for piece in table.pieces(part, ("visitor", "slate"))]
    assert table.parts() > 1
    assert np.concatenate([piece.rows for piece in pieces]).tolist() == list(range(32_000))
    assert (
        pa.Table.from_batches([piece.data for piece in pieces]).to_pylist()
        == many.select(["visitor", "slate"]).to_pylist()
    )
    assert contents(offrank.read_log(tmp_path / "log.orc"), NEEDED) == plain["wide"] * 4000


# -- Databases

NASTY_NAME = 'a"; drop table log; --'


def sqlite(path: Path, views: bool = True) -> Path:
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("create table log (slate text, clicks text, propensity real, site text, visitor integer)")
        rows = [[json.dumps(v) if isinstance(v, list) else v for v in row.values()] for row in WIDE.to_pylist()]
        file.executemany("insert into log values (?, ?, ?, ?, ?)", rows)
        if views:
            file.execute('create table "{}" as select * from log'.format(NASTY_NAME.replace('"', '""')))
            file.execute("create view seen as select slate, clicks, site, visitor + 0 as visitor from log")
    return path


def duck(path: Path, views: bool = True) -> Path:
    with closing(duckdb.connect(str(path))) as file:
        file.register("given", WIDE)
        file.execute("create table log as from given")
        if views:
            file.execute('create table "{}" as from log'.format(NASTY_NAME.replace('"', '""')))
            file.execute("create view seen as from log")
            file.execute('create schema "b.c"; create table "b.c"."d.e" as from log')
    return path


@pytest.mark.parametrize("make", [sqlite, duck])
def test_tables_of_databases(make: Callable[..., Path], plain, tmp_path: Path) -> None:
    path = make(tmp_path / "shop:2.db")
    for table in ("log", NASTY_NAME, "seen", *(["b.c.d.e"] if make is duck else [])):
        assert contents(offrank.read_log(f"{path}:{table}"), NEEDED) == plain["wide"]
    with pytest.raises(UsageError, match=r"(?s)has \d tables.*the tables are a.*, log, seen"):
        open_table(path)
    with pytest.raises(UsageError, match=r"(?s)has no table 'nix'.*the tables are a"):
        open_table(f"{path}:nix")
    single = make(tmp_path / "single", views=False)
    assert contents(offrank.read_log(single), NEEDED) == plain["wide"]
    assert Beginning(f"{path}:log").rows.num_rows == 8


def shop(path: Path, clicks: str, of_duckdb: bool) -> list[str]:
    """Write impressions and clicks as two tables of one database; return how each is named."""
    connect: Any = duckdb.connect if of_duckdb else sqlite3.connect
    with closing(connect(str(path))) as file:
        file.execute("create table shown (search text, sku text, place integer)")
        file.execute(f"create table tapped ({clicks})")
        file.executemany("insert into shown values (?, ?, ?)", [(f"s{n // 3}", f"p{n % 7}", n % 3) for n in range(60)])
        file.executemany("insert into tapped values (?, ?)", [(f"s{n // 3}", f"p{n % 7}") for n in range(0, 60, 5)])
        file.commit()
    return [f"{path}:shown", f"{path}:tapped"]


@pytest.mark.turns(3)
@pytest.mark.parametrize("of_duckdb", [False, True])
def test_two_tables_of_a_database_are_joined_as_two_files_are(of_duckdb: bool, tmp_path: Path) -> None:
    named = shop(tmp_path / "shop.db", "search text, sku text", of_duckdb)
    found = []
    for source in (named, named[::-1], str(tmp_path / "shop.db")):
        log = offrank.read_log(source)
        assert log.description.format == "events(impression=search, item=sku, position=place)"
        found.append([batch.clicks.tolist() for batch in log.select(Needs(frozenset({"clicks"}))).batches(0)])
    assert found[0] == found[1] == found[2]
    assert np.concatenate(found[0]).sum() == 12
    seen = offrank.inspect(named)
    assert seen.path == named
    assert seen.command.startswith(f"offrank clicks fit {named[0]} {named[1]} --format")


def test_two_tables_of_a_database_that_do_not_join(tmp_path: Path) -> None:
    named = shop(tmp_path / "shop.db", "buyer text, colour text", of_duckdb=False)
    with closing(sqlite3.connect(tmp_path / "shop.db")) as file, file:
        file.execute("update tapped set buyer = 'b', colour = 'red'")
    with pytest.raises(ColumnError, match=r"these are two tables(.|\n)*shop.db:tapped has buyer, colour"):
        offrank.read_log(named)
    assert [one.name for one in offrank.inspect(named).columns][3:] == [
        "buyer (shop.db:tapped)",
        "colour (shop.db:tapped)",
    ]
    with pytest.raises(UsageError, match=r"has no table 'none'"):
        offrank.read_log([named[0], f"{tmp_path / 'shop.db'}:none"])


@pytest.mark.parametrize("make", [sqlite, duck])
def test_databases_are_never_written(make: Callable[..., Path], tmp_path: Path) -> None:
    path = make(tmp_path / "shop.db")
    before = path.read_bytes(), sorted(tmp_path.iterdir())
    path.chmod(0o444)
    assert len(contents(offrank.read_log(f"{path}:{NASTY_NAME}"), NEEDED)) == 8
    assert (path.read_bytes(), sorted(tmp_path.iterdir())) == before


def test_mixed_values_of_sqlite_are_named(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "log.db")) as file, file:
        file.execute("create table log (n integer, day date)")
        file.executemany("insert into log values (?, ?)", [(1, "2024-05-01"), (None, None), ("abc", "2024-05-02")])
    table = open_table(tmp_path / "log.db")
    assert next(table.pieces(0, ("day",))).data.to_pydict() == {"day": ["2024-05-01", None, "2024-05-02"]}
    with pytest.raises(LogError, match=r"log.db:log, row 2 \(the first is 0\), column 'n': 'abc' is not.*int64"):
        list(table.pieces(0, ("n",)))


def test_a_damaged_database(tmp_path: Path) -> None:
    path = sqlite(tmp_path / "log.db")
    path.write_bytes(path.read_bytes()[:100] + bytes(4000))
    with pytest.raises(OffrankError, match=r"log\.db"):
        open_table(f"{path}:log")


# -- Standard input, pipes and large files


def call(*words: str, given: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "offrank", *words], input=given, capture_output=True, check=False, timeout=300
    )


@pytest.mark.turns(3)
@pytest.mark.parametrize("form", ["Parquet", "CSV in gzip"])
def test_standard_input(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FORMS[form](WIDE, tmp_path / "log")
    (tmp_path / "kept").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "kept"))
    words = "--target", "uniform", "--logging", "uniform", "-e", "ips", "--interval", "bootstrap", "--json"
    piped = call("evaluate", "-", *words, str(tmp_path / "a.json"), given=(tmp_path / "log").read_bytes())
    plain = call("evaluate", str(tmp_path / "log"), *words, str(tmp_path / "b.json"), given=b"")
    assert piped.returncode == plain.returncode, piped.stderr
    a, b = (json.loads((tmp_path / name).read_text()) for name in ("a.json", "b.json"))
    assert a["estimates"] == b["estimates"]
    assert "standard input" in (tmp_path / "a.json").read_text()
    assert not list((tmp_path / "kept").glob("offrank-*"))


@pytest.mark.turns(3)
def test_standard_input_without_bytes() -> None:
    done = call("inspect", "-", given=b"")
    assert done.returncode == 1
    assert b"standard-input is empty" in done.stderr


def test_a_pipe_is_read_as_often_as_it_must_be(plain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    FORMS["CSV"](WIDE, tmp_path / "log.csv")
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["/bin/sh", "-c", 'cat "$0" > "$1"', tmp_path / "log.csv", tmp_path / "pipe"]):
        log = offrank.read_log(tmp_path / "pipe")
    assert [contents(log, NEEDED) for _ in range(2)] == [plain["wide"]] * 2


@pytest.mark.turns(3)
@pytest.mark.parametrize("form", ["CSV", "JSON lines"])
def test_a_file_of_5_gigabytes_is_described_by_its_beginning(form: str, tmp_path: Path) -> None:
    FORMS[form](pa.concat_tables([LONG] * 8000), tmp_path / "log")
    with (tmp_path / "log").open("r+b") as file:
        file.truncate(5 << 30)  # the rest is a hole, whose bytes are no rows: whoever reads it fails
    begun = time.monotonic()
    beginning = Beginning(tmp_path / "log")
    assert time.monotonic() - begun < 5
    assert beginning.rows is not None
    assert beginning.rows.num_rows >= 50_000


def test_of_long_rows_few_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("offrank.readers.tables.FIRST_BYTES", 1 << 20)
    cells = json.dumps(list(range(2000)))
    (tmp_path / "log.csv").write_text("slate,clicks\n" + f'"{cells}","[0]"\n' * 500)
    beginning = Beginning(tmp_path / "log.csv")
    assert beginning.rows is not None
    assert 50 <= beginning.rows.num_rows < 250
