"""The kind of a file, told by its first bytes."""

from __future__ import annotations

import codecs
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import LogError, UsageError

HEAD = 1 << 16
"""Bytes of a file that are looked at, unpacked."""

_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2", b"\x04\x22\x4d\x18": "lz4"}
_TABLE = "give a table of impressions: Parquet, CSV, JSON"


@cache
def known_kinds() -> Mapping[str, Any]:
    """Return what is declared of kinds of files: `read`, kind -> its fields, and `refused`."""
    return tomllib.loads(Path(__file__).with_name("file_kinds.toml").read_text(encoding="utf-8"))


def packing(start: bytes) -> str | None:
    """Return the name of the compression of a file that begins so; None if it is not packed."""
    return next((name for magic, name in _PACKED.items() if start.startswith(magic)), None)


def stored(head: bytes) -> str | None:
    """Return the kind of a binary file that is read, `parquet`, `arrow`, `orc`, `sqlite`, `duckdb`; None of others."""
    begins = ((kind, magic) for kind, one in known_kinds()["read"].items() for magic in one.get("begins", ()))
    return next((kind for kind, magic in begins if re.match(magic.encode("latin-1"), head)), None)


def kind_of(head: bytes, path: str) -> str:
    """Return the kind of a file by its first bytes: `stored`, `json` or `csv`; raise why it is none of them."""
    if (kind := stored(head)) is not None:
        return kind
    for one in known_kinds()["refused"]:
        if re.match(one["begins"].encode("latin-1"), head):
            if one["what"] == "Avro":
                raise UsageError(f"{path!r} has a format that is not supported: {one['what']}", one["remedy"])
            raise LogError(f"{path} cannot be read: it is {one['what']}", one["remedy"])
    if encoding(head) == "utf-8" and _is_binary(head) and not spoilt(head):
        raise LogError(f"{path} cannot be read: it is neither text nor a known format", _TABLE)
    text = head.decode(encoding(head), "replace").lstrip("\ufeff \t\r\n")
    return "json" if re.match(r'\{\s*(["}]|$)|\[\s*(\{|\]?\s*$)', text) else "csv"


def spoilt(head: bytes) -> bool:
    """Whether bytes are a text in UTF-8 in which a few are 0."""
    return (
        b"\0" in head
        and 30 * head.count(b"\0") < min(len(head), 30_000)
        and encoding(head) == "utf-8"
        and _is_utf8(head)
    )


def _is_binary(head: bytes) -> bool:
    """Whether bytes are no text: a NUL, or many control characters; more in UTF-8, where short ids may have some."""
    share = 3 if _is_utf8(head) else 50
    return b"\0" in head or share * len(re.findall(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]", head)) > len(head)


def _is_utf8(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def encoding(head: bytes) -> str:
    """Return the encoding of a text by its mark, or by the zeros in it: UTF-8 unless it is UTF-16 or UTF-32."""
    marks = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
    marked = next((name for mark, name in marks.items() if head.startswith(mark)), None)
    if marked is not None or len(head) < 4 or b"\0" not in head:
        return marked or "utf-8"
    even, odd = (head[first : 2048 + first : 2].count(0) / len(head[first : 2048 + first : 2]) for first in (0, 1))
    return "utf-16-le" if odd > 0.5 and even < 0.1 else "utf-16-be" if even > 0.5 and odd < 0.1 else "utf-8"
