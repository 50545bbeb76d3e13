"""The kind of a file, told by its first bytes."""

from __future__ import annotations

import codecs
import re

from ..errors import LogError, UsageError

HEAD = 1 << 16
"""Bytes of a file that are looked at, unpacked."""

_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2", b"\x04\x22\x4d\x18": "lz4"}
_STORED = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",  # the stream format
    b"ORC": "orc",
    b"SQLite format 3\0": "sqlite",
    b"(?s:.{8})DUCK": "duckdb",
}
_UNPACK = "unpack it, and give the files in it"
_EXPORT = "export it as Parquet or CSV, and read that file"
_BATCHES = "export it as Parquet, or read it with a library that returns Arrow batches: read_log(lambda: batches)"
_PICKLE = "pickles are never executed: load it where you trust it, and save it with dataframe.to_parquet('log.parquet')"
_ARRAYS = "give a table: load the arrays in Python, and give read_log a data frame, or save it as Parquet"
_TABLE = "give a table of impressions: Parquet, CSV, JSON"
_REFUSED: dict[str, tuple[str, str]] = {
    r"Obj\x01": ("Avro", _BATCHES),
    r"FEA1": ("a Feather file of the first version", "save it again with dataframe.to_feather('log.feather')"),
    r"PARE": ("an encrypted Parquet file", "save it without encryption"),
    r"PK\x03\x04(?s:.){0,3000}(xl/|\[Content_Types\])": ("an Excel workbook", _EXPORT),
    r"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": ("an Excel workbook", _EXPORT),
    r"PK\x03\x04(?s:.){26}[^\0]*?\.npy": ("a file of NumPy arrays (npz)", _ARRAYS),
    r"\x93NUMPY": ("a file of a NumPy array (npy)", _ARRAYS),
    r"\x89HDF\r\n\x1a\n": ("an HDF5 file", _ARRAYS),
    r"PK(\x03\x04|\x05\x06)": ("a zip archive", _UNPACK),
    r"7z\xbc\xaf\x27\x1c": ("a 7z archive", _UNPACK),
    r"Rar!\x1a": ("a RAR archive", _UNPACK),
    r"\xfd7zXZ\0": ("packed with xz", "unpack it, `unxz FILE`, or pack it with gzip or zstd"),
    r"\xff\x06\0\0sNaPpY": ("packed with snappy", "unpack it, or pack it with gzip or zstd"),
    r"(?s:.){257}ustar": ("a tar archive", _UNPACK),
    r"\x80[\x02-\x05]": ("a Python pickle", _PICKLE),
    r"\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a|RIFF(?s:.){4}WEBP|BM(?s:.){4}\0{4}|II\*\0|MM\0\*": ("an image", _TABLE),
    r"%PDF-": ("a PDF document", _TABLE),
    r"\s*(?i:<!doctype html|<html)": ("a web page", "download the file itself: the page may ask for a login first"),
}
"""What is not read: how it begins, its name and the remedy. The first that fits."""


def packing(start: bytes) -> str | None:
    """Return the name of the compression of a file that begins so; None if it is not packed."""
    return next((name for magic, name in _PACKED.items() if start.startswith(magic)), None)


def stored(head: bytes) -> str | None:
    """Return the kind of a binary file that is read, `parquet`, `arrow`, `orc`, `sqlite`, `duckdb`; None of others."""
    return next((kind for magic, kind in _STORED.items() if re.match(magic, head)), None)


def kind_of(head: bytes, path: str) -> str:
    """Return the kind of a file by its first bytes: `stored`, `json` or `csv`; raise why it is none of them."""
    if (kind := stored(head)) is not None:
        return kind
    for begin, (what, remedy) in _REFUSED.items():
        if re.match(begin.encode("latin-1"), head):
            if what == "Avro":
                raise UsageError(f"{path!r} has a format that is not supported: {what}", remedy)
            raise LogError(f"{path} cannot be read: it is {what}", remedy)
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
