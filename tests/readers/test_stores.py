"""Object stores, sound and failing: an S3 server, and a proxy before it that does what networks and servers do."""

from __future__ import annotations

import gzip
import http.client
import json
import os
import pickle
import random
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import LogError
from offrank.log import stores
from offrank.log.source import Needs
from tests.readers.plain import contents
from tests.readers.test_read_log import NEEDED, TABLE, expected

pytestmark = pytest.mark.xdist_group("stores")  # one process has the server
DRAWN = random.Random(0)
ROWS = [
    {"slate": [f"i{item}" for item in DRAWN.sample(range(50), 4)], "clicks": [DRAWN.randint(0, 1) for _ in range(4)]}
    for _ in range(500)
]
CSV = "impression,item,position,click\n" + "".join(
    f"{at // 2},i{at % 2},{at % 2 + 1},{at % 3 % 2}\n" for at in range(900)
)
KEPT = "log.parquet", "log.arrow", "log.jsonl.gz", "without-extension"
"""One log in files that carry checksums, and a CSV."""


class Proxy(BaseHTTPRequestHandler):
    """Passes requests on to a server, but for what its `fault` says."""

    protocol_version = "HTTP/1.1"
    server: Any

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        self.server.seen += 1
        fault, third = self.server.fault, self.server.seen % 3 == 1
        of_file = self.command == "GET" and "list-type" not in self.path
        if fault == "lasting" or (fault == "passing" and third):
            return self.refuse(500, "InternalError")
        if (fault == "denied" and self.server.of in self.path) or (fault == "unreadable" and of_file):
            return self.refuse(403, "AccessDenied")
        if fault == "gone" and of_file:
            return self.refuse(404, "NoSuchKey")
        if fault == "silent":
            return self.server.over.wait(60)
        time.sleep(0.01 * (fault == "slow"))
        behind = http.client.HTTPConnection(self.server.behind)
        behind.request(self.command, self.path, headers=dict(self.headers))
        found = behind.getresponse()
        body, half = found.read(), None
        if fault == "flipped" and of_file:
            at = int(self.server.of) * (len(body) - 1) // 8
            body = body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :]
        if of_file and (fault in ("cut", "stops") or (fault == "cut once" and third)):
            half = body[: len(body) // 2]
        headers = {name: value for name, value in found.getheaders() if name != "Transfer-Encoding"}
        return self.answer(found.status, headers, body, half)

    def refuse(self, status: int, code: str) -> None:
        body = f"<Error><Code>{code}</Code><Message>{'as was asked for ' * 20}</Message></Error>".encode()
        self.answer(status, {"Content-Length": str(len(body))}, body)

    def answer(self, status: int, headers: Mapping[str, str], body: bytes, half: bytes | None = None) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body if half is None else half)
            self.wfile.flush()
        if half is not None:
            self.server.over.wait(60 * (self.server.fault == "stops"))
            self.close_connection = True

    def log_message(self, *said: Any) -> None:
        pass


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files."""
    folder = tmp_path_factory.mktemp("local")
    for kind in ("parquet", "arrow"):
        offrank.convert(ROWS, folder / f"log.{kind}")
    (folder / "log.jsonl.gz").write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in ROWS).encode()))
    (folder / "without-extension").write_text(CSV, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def s3(local: Path) -> Iterator[str]:
    """The address of an S3 server on this machine, with files in the bucket `logs`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            known = {"access_key": "any", "secret_key": "any", "allow_bucket_creation": True}
            system = pafs.S3FileSystem(endpoint_override=f"http://127.0.0.1:{port}", **known)
            _wait(server, port)
            system.create_dir("logs")
            for number in range(4):
                pq.write_table(
                    TABLE.slice(number, 1), f"logs/day={number // 2}/part-{number}.parquet", filesystem=system
                )
            for name in KEPT:
                with system.open_output_stream(f"logs/{name}", compression=None) as file:
                    file.write((local / name).read_bytes())
            for place in ("parquet/part-0", "parquet/part-1"):
                with system.open_output_stream(f"logs/{place}", compression=None) as file:
                    file.write((local / "log.parquet").read_bytes())
            yield f"127.0.0.1:{port}"
        finally:
            server.terminate()


def _wait(server: subprocess.Popen[bytes], port: int) -> None:
    while server.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    pytest.fail("the S3 server of moto does not start")


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "any")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")


@pytest.fixture
def proxy(s3: str) -> Iterator[Any]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
        server.behind, server.seen, server.fault, server.of = s3, 0, "", ""
        server.over, server.daemon_threads = threading.Event(), True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.over.set()
        server.shutdown()


def at(server: Any, path: str) -> str:
    return f"s3://{path}?scheme=http&endpoint_override=127.0.0.1:{server.server_address[1]}"


@pytest.mark.parametrize("told", ["environment", "address"])
def test_s3(told: str, s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if told == "environment":
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{s3}")
    options = "" if told == "environment" else f"?scheme=http&endpoint_override={s3}"
    needed = NEEDED | Needs(labels=frozenset(["day"]))
    for address in ("s3://logs/day=*/*.parquet", "s3://logs/day=?/part-?.parquet"):
        log = offrank.read_log(address + options)
        assert log.parts() == 4
        assert [row["label:day"] for row in contents(log, needed)] == ["0", "0", "1", "1"]
    assert contents(offrank.read_log(f"s3://logs/day=0/part-0.parquet{options}"), NEEDED) == expected()[:1]
    with pytest.raises(LogError, match=r"no log at 's3://logs/none\*"):
        offrank.read_log(f"s3://logs/none*{options}")


def test_a_log_of_a_store_is_read_in_other_processes(proxy: Any, local: Path) -> None:
    log = pickle.loads(pickle.dumps(offrank.read_log(at(proxy, "logs/log.parquet"))))
    assert contents(log) == contents(offrank.read_log(local / "log.parquet"))


def test_files_without_an_extension(proxy: Any) -> None:
    log = offrank.read_log(at(proxy, "logs/parquet"))
    assert log.parts() == 2
    assert contents(log) == 2 * contents(offrank.read_log(ROWS))


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("fault", ["", "passing", "cut once", "slow"])
def test_what_passes_changes_nothing(
    fault: str, name: str, proxy: Any, local: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "PAUSES", (0.01, 0.01))
    proxy.fault = fault
    assert contents(offrank.read_log(at(proxy, f"logs/{name}"))) == contents(offrank.read_log(local / name))


FAILS = r"the store fails \(.*\)\n.*try it again later, or copy the log here"
DENIED = r"access is denied \(.*\)\n.*check the credentials"
SILENT = r"the store does not answer \(.*\)\n.*check the address and the network"
LASTING = {
    "lasting": FAILS,
    "cut": FAILS,
    "denied": DENIED,
    "unreadable": DENIED,
    "gone": r"it is not there \(.*\)\n.*it may have been moved or deleted",
    "silent": SILENT,
    "stops": SILENT,
}


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("fault", [fault for fault in LASTING if LASTING[fault] != SILENT])
def test_what_lasts_is_told(fault: str, name: str, proxy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "PAUSES", (0.01,))
    proxy.fault = fault
    with pytest.raises(LogError, match=f"logs/{name} cannot be read: {LASTING[fault]}"):
        offrank.read_log(at(proxy, f"logs/{name}"))


@pytest.mark.turns(5)
@pytest.mark.parametrize("fault", ["silent", "stops"])
def test_a_server_that_never_answers(fault: str, proxy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "PAUSES", ())
    monkeypatch.setattr(stores, "TIMEOUTS", {"connect_timeout": 1.0, "request_timeout": 1.0})
    proxy.fault = fault
    with pytest.raises(LogError, match=f"logs/log.parquet cannot be read: {LASTING[fault]}"):
        offrank.read_log(at(proxy, "logs/log.parquet"))


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a server that accepts what comes, and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=20) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_a_store_whose_requests_have_no_limit_is_not_waited_for(silent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "PAUSES", ())
    monkeypatch.setattr(stores, "PATIENCE", 0.2)
    address = f"gs://anonymous@logs/log.parquet?scheme=http&endpoint_override={silent}"
    with pytest.raises(LogError, match=f"logs/log.parquet cannot be read: {SILENT}"):
        offrank.read_log(address)


def test_a_store_that_is_not_reached_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "PATIENCE", 0.1)
    monkeypatch.setattr("pyarrow.fs.FileSystem", type("Slow", (), {"from_uri": lambda _: time.sleep(1)}))
    with pytest.raises(LogError, match=r"hdfs://name/log.parquet cannot be reached: timed out: no answer in 0.1 sec"):
        offrank.read_log("hdfs://name/log.parquet")


@pytest.mark.nightly
@pytest.mark.parametrize("verb", ["inspect", "evaluate"])
def test_a_command_ends_within_a_minute_on_other_stores_too(verb: str, silent: str) -> None:
    address = f"gs://anonymous@logs/log.parquet?scheme=http&endpoint_override={silent}"
    policies = ["--logging", "uniform", "--target", "uniform"] if verb == "evaluate" else []
    command = [sys.executable, "-m", "offrank", verb, address, *policies]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, env=os.environ, check=False)
    assert ended.returncode == 1
    assert "the store does not answer" in ended.stderr


@pytest.mark.parametrize("block", [1 << 14, 1 << 22])
def test_a_file_of_another_store_is_what_it_is(block: int, local: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "_BLOCK", block)
    monkeypatch.setattr(stores, "PAUSES", ())
    (local / "bytes").write_bytes(found := random.Random(1).randbytes(100_001))
    with stores.FileStore.of(pafs.LocalFileSystem()).open_input_file(str(local / "bytes")) as file:
        assert file.read() == found
        for start in range(0, len(found), 7777):
            file.seek(start)
            assert file.read(20_000) == found[start : start + 20_000]
    with pytest.raises(LogError, match="nowhere cannot be read"):
        stores.FileStore.of(pafs.LocalFileSystem()).open_input_file(str(local / "nowhere"))


@pytest.mark.parametrize("place", range(9))
@pytest.mark.parametrize("name", [name for name in KEPT if name.startswith("log")])  # which carry checksums
def test_a_bit_that_turned(name: str, place: int, proxy: Any, local: Path) -> None:
    proxy.fault, proxy.of = "flipped", place
    found = answer(at(proxy, f"logs/{name}"))
    said = isinstance(found, LogError) and re.search(rf"logs/{name} (cannot be read|is damaged|is)", found.message)
    assert said or found == contents(offrank.read_log(local / name))  # it turned where nothing is read


def answer(address: str) -> list[dict[str, Any]] | LogError:
    try:
        return contents(offrank.read_log(address))
    except LogError as error:
        return error


@pytest.mark.parametrize("name", [name for name in KEPT if name.startswith("log")])
def test_damage_in_rows_is_told(name: str, proxy: Any) -> None:
    proxy.fault, proxy.of = "flipped", 3
    with pytest.raises(LogError, match=rf"(?s)logs/{name} (cannot be read|is damaged).*copy"):
        contents(offrank.read_log(at(proxy, f"logs/{name}")))


def test_access_to_one_of_several_files_is_denied(proxy: Any) -> None:
    proxy.fault, proxy.of = "denied", "part-2"
    with pytest.raises(LogError, match=f"logs/day=1/part-2.parquet cannot be read: {DENIED}"):
        contents(offrank.read_log(at(proxy, "logs/day=*")), NEEDED)


@pytest.mark.parametrize("path", ["logs/none.parquet", "none/log.parquet"])
def test_a_file_or_a_bucket_that_is_not_there(path: str, proxy: Any) -> None:
    with pytest.raises(LogError, match=rf"(?s)there is no log at 's3://{path}'.*check the address"):
        offrank.read_log(at(proxy, path))


@pytest.mark.nightly
@pytest.mark.parametrize("fault", ["silent", "stops"])
@pytest.mark.parametrize("verb", ["inspect", "evaluate"])
def test_a_command_ends_within_a_minute(verb: str, fault: str, proxy: Any) -> None:
    proxy.fault = fault
    policies = ["--logging", "uniform", "--target", "uniform"] if verb == "evaluate" else []
    command = [sys.executable, "-m", "offrank", verb, at(proxy, "logs/log.parquet"), *policies]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, env=os.environ, check=False)
    assert ended.returncode == 1
    assert "the store does not answer" in ended.stderr
