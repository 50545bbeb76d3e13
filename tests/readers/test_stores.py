"""Object stores that fail: an S3 server behind a proxy that injects faults."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import offrank
from offrank.errors import LogError
from offrank.readers import files
from tests.readers import test_sources
from tests.readers.plain import contents
from tests.readers.test_read_log import NEEDED, expected

s3 = test_sources.s3
FILE = "logs/day=0/part-0.parquet"


class Proxy(BaseHTTPRequestHandler):
    """Passes requests on to a server; what it does beside that follows from its fault and the number of the request."""

    protocol_version = "HTTP/1.1"
    server: Any

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        fault, self.server.seen = self.server.fault, self.server.seen + (self.command == "GET")
        if fault == "error" and self.command == "GET" and self.server.seen % 3 == 1:
            return self.answer(500, b"<Error><Code>InternalError</Code><Message>We met an error.</Message></Error>")
        if fault == "denied":
            return self.answer(403, b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>")
        if fault == "missing" and self.command == "GET":
            return self.answer(404, b"<Error><Code>NoSuchKey</Code><Message>It is gone.</Message></Error>")
        behind = http.client.HTTPConnection(self.server.behind)
        behind.request(self.command, self.path, headers=dict(self.headers))
        found = behind.getresponse()
        body, named = found.read(), {name: value for name, value in found.getheaders() if name != "Transfer-Encoding"}
        if fault == "flipped" and len(body) > 100:
            body = body[:40] + bytes([body[40] ^ 1]) + body[41:]
        if fault == "slow":
            threading.Event().wait(0.3)
        return self.answer(found.status, body, named, body[: len(body) // 2] if fault == "cut" else body)

    def answer(self, status: int, body: bytes, named: Any = None, sent: bytes | None = None) -> None:
        self.send_response_only(status)
        for name, value in (named or {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body if sent is None else sent)
            self.close_connection = sent is not None and sent != body

    def log_message(self, *said: Any) -> None:
        pass


@pytest.fixture
def proxy(s3: str, monkeypatch: Any) -> Iterator[Any]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "any")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")
    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
        server.behind, server.seen, server.fault = s3, 0, ""
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def read(server: Any, path: str = FILE) -> Any:
    address = f"s3://{path}?scheme=http&endpoint_override=127.0.0.1:{server.server_address[1]}"
    return contents(offrank.read_log(address), NEEDED)


@pytest.mark.parametrize("path", [FILE, "logs/lines.jsonl.gz"])
@pytest.mark.parametrize("fault", ["", "error", "slow"])
def test_what_passes_is_read(fault: str, path: str, proxy: Any) -> None:
    proxy.fault = fault
    assert read(proxy, path) == (expected()[:1] if path == FILE else expected())


@pytest.mark.parametrize(
    ("fault", "said"),
    [("denied", "access is denied: check the credentials"), ("missing", "cannot be read"), ("cut", "cannot be read")],
)
def test_what_stays_is_told(fault: str, said: str, proxy: Any) -> None:
    proxy.fault = fault
    with pytest.raises(LogError, match=said):
        read(proxy)


def test_a_server_that_never_answers(monkeypatch: Any) -> None:
    monkeypatch.setattr(files, "_PATIENCE", 1)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]
        with pytest.raises(LogError, match=r"(?s)does not answer within 1 s.*check the address and the network"):
            offrank.read_log(f"s3://logs/a.parquet?scheme=http&endpoint_override=127.0.0.1:{port}")
