"""Where logs are: hive folders, other file systems; and formats with their options."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import LogError, SpellingError
from offrank.log.source import Needs
from offrank.readers import open_bandit
from tests.readers.plain import contents, rows
from tests.readers.test_read_log import LOG, NEEDED, TABLE, expected, hive


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


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """The address of an S3 server on this machine, with files in the bucket `logs`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            system = pafs.S3FileSystem(
                access_key="any",
                secret_key="any",
                endpoint_override=f"http://127.0.0.1:{port}",
                allow_bucket_creation=True,
            )
            _wait(server, port)
            system.create_dir("logs")
            for number in range(4):
                pq.write_table(
                    TABLE.slice(number, 1), f"logs/day={number // 2}/part-{number}.parquet", filesystem=system
                )
            with system.open_output_stream("logs/lines.jsonl.gz", compression="gzip") as file:
                file.write("".join(json.dumps(row) + "\n" for row in LOG).encode())
            yield f"127.0.0.1:{port}"
        finally:
            server.terminate()


def _wait(server: subprocess.Popen[bytes], port: int) -> None:
    while server.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    pytest.fail("the S3 server of moto does not start")


@pytest.mark.parametrize("told", ["environment", "address"])
def test_s3(told: str, s3: str, monkeypatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "any")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")
    if told == "environment":
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{s3}")
    options = "" if told == "environment" else f"?scheme=http&endpoint_override={s3}"
    needed = NEEDED | Needs(labels=frozenset(["day"]))
    for address in ("s3://logs/day=*/*.parquet", "s3://logs/day=?/part-?.parquet"):
        log = offrank.read_log(address + options)
        assert log.parts() == 4
        assert [row["label:day"] for row in contents(log, needed)] == ["0", "0", "1", "1"]
    assert contents(offrank.read_log(f"s3://logs/day=0/part-0.parquet{options}"), NEEDED) == expected()[:1]
    assert contents(offrank.read_log(f"s3://logs/lines.jsonl.gz{options}"), NEEDED) == expected()
    with pytest.raises(LogError, match=r"no log at 's3://logs/none\*"):
        offrank.read_log(f"s3://logs/none*{options}")


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
