"""Logs as nobody wants them: each is read, or refused by one error with a remedy; never by a traceback."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from offrank.cli import main

SLATE, CLICKS = [[1, 2], [2, 1], [1, 2]], [[1, 0], [0, 1], [0, 0]]
HEAD = "impression,item,position,click\n"
Write = Callable[[Path], Path]


def text(name: str, content: str | bytes) -> Write:
    def write(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def parquet(**columns: Any) -> Write:
    def write(folder: Path) -> Path:
        pq.write_table(pa.table({"slate": SLATE, "clicks": CLICKS, **columns}), folder / "log.parquet")
        return folder / "log.parquet"

    return write


def arrow(**columns: Any) -> Write:
    def write(folder: Path) -> Path:
        table = pa.table({"slate": SLATE, "clicks": CLICKS, **columns})
        with pa.ipc.new_file(str(folder / "log.arrow"), table.schema) as file:
            file.write_table(table)
        return folder / "log.arrow"

    return write


def invalid_text(*values: bytes) -> pa.Array:
    """Strings that are not UTF-8, as other programs write them."""
    return pa.array(values, pa.binary()).view(pa.string())


def nested(values: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array([0, 2, 4, 6], pa.int32()), values)


ITEMS = [1, 2, 2, 1, 1, 2]
READ: dict[str, Write] = {
    "string views": arrow(slate=nested(pa.array(list("abbaab")).cast(pa.string_view()))),
    "binary ids": parquet(slate=nested(pa.array([b"a", b"\xff", b"\xff", b"a", b"a", b"\xff"]))),
    "binary views": arrow(slate=nested(pa.array([b"a", b"b"] * 3).cast(pa.binary_view()))),
    "run ends": arrow(query=pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array(["a", "b"]))),
    "run ends of groups": arrow(
        group=pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array(["a", "b"]))
    ),
    "dictionaries of numbers": parquet(propensity=pa.array([0.5, 0.5, 0.5]).dictionary_encode()),
    "whole decimals as ids": parquet(slate=nested(pa.array([Decimal(i) for i in ITEMS], pa.decimal128(38, 0)))),
    "decimals beyond 64 bits": parquet(
        slate=nested(pa.array([Decimal(10**30 + i) for i in ITEMS], pa.decimal128(38, 0)))
    ),
    "decimals as numbers": parquet(propensity=pa.array([Decimal(".5")] * 3, pa.decimal128(9, 2))),
    "large lists": parquet(slate=pa.array(SLATE, pa.large_list(pa.int64()))),
    "unsigned ids of 64 bits": parquet(slate=nested(pa.array([i + 2**64 - 9 for i in ITEMS], pa.uint64()))),
    "JSON numbers beyond 64 bits": text("log.jsonl", '{"slate": [99999999999999999999], "clicks": [1]}\n'),
    "JSON ids of two kinds": text("log.jsonl", '{"slate": [1], "clicks": [1]}\n{"slate": ["a"], "clicks": [1]}\n'),
    "a mark at the beginning": text("log.csv", b"\xef\xbb\xbf" + HEAD.encode() + b"1,a,1,0\n2,a,1,1\n"),
    "half floats": parquet(propensity=pa.array(np.full(3, 0.5, np.float16))),
    "lists in JSON": text("log.csv", 'slate,clicks\n"[1, 2]","[0, 1]"\n"[2, 1]","[0, 1.5]"\n'),
    "JSON lines": text("log.jsonl", '{"slate": ["a"], "clicks": [1]}\n{"slate": ["b"], "clicks": [0.5]}\n'),
}
REFUSED: dict[str, tuple[Write, str]] = {
    "a header that is not UTF-8": (text("log.csv", b"impression,item,position,cl\xffck\n1,1,1,0\n"), "UTF-8"),
    "ids that are not UTF-8": (
        arrow(slate=nested(invalid_text(b"a", b"b", b"b", b"a", b"a", b"\xff\xfe"))),
        r"log.arrow, row 2 .*column 'slate': \['a', '\\\\xff\\\\xfe'\] has bytes that are not UTF-8 \[bad-list\]",
    ),
    "JSON that is not UTF-8": (
        text("log.jsonl", b'{"slate": ["b"], "clicks": [1]}\n{"slate": ["\xff"], "clicks": [0]}\n'),
        r"log.jsonl, line 2, row 1 .*'slate': .*not UTF-8",
    ),
    "cells that are not UTF-8": (text("log.csv", HEAD.encode() + b"1,\xff,1,0\n"), "row|UTF"),
    "a short row": (text("log.csv", HEAD + "1,1\n"), r"row 0 .*2 cells, but the first line has 4"),
    "a quote that is left open": (text("log.csv", HEAD + '1,"1,1,0\n'), "log.csv"),
    "two columns of one name": (text("log.csv", "impression,item,item,position,click\n1,1,1,1,0\n"), "item"),
    "no JSON": (text("log.jsonl", '{"slate": [1], "clicks": [1]}\n{"slate": [1]\n'), "JSON"),
    "JSON of one list": (text("log.json", "[1, 2]"), "JSON"),
    "a list that is no JSON": (
        text("log.csv", "slate,clicks\n\"['a', 'b'\",\"[0, 1]\"\n"),
        r"row 0 .*'slate'.*bad-list",
    ),
    "clicks that are no JSON": (
        text("log.csv", 'slate,clicks\n"[1]","[0]"\n"[1]","0;1"\n'),
        r"row 1 .*'clicks'.*bad-list",
    ),
    "ids beyond 64 bits in a list": (
        text("log.csv", 'slate,clicks\n"[1]","[0]"\n"[9999999999999999999999]","[0]"\n'),
        "row 1",
    ),
    "ids of two kinds in lists": (text("log.csv", 'slate,clicks\n"[1]","[0]"\n"[""a""]","[0]"\n'), "row 0 .*'slate'"),
    "ids of unlike type": (parquet(candidates=[["1", "2"]] * 3), "text in 'candidates', but whole numbers in 'slate'"),
    "ids with a fraction": (parquet(slate=[[1.5], [1.0], [2.0]], clicks=[[0]] * 3), "'slate' holds double ids"),
    "infinite clicks": (parquet(clicks=[[1, np.inf], [0, 1], [0, 0]]), "row 0 .*bad-clicks"),
    "null lists": (parquet(slate=[None, [1, 2], [2, 1]]), "row 0 .*null"),
    "nothing but null": (parquet(slate=pa.nulls(3)), "row 0 .*null"),
    "structs": (parquet(slate=[{"a": 1}] * 3), "is not understood: .*slate"),
    "maps": (parquet(slate=pa.array([[("a", 1)]] * 3, pa.map_(pa.string(), pa.int64()))), "'slate'"),
    "a repeated item": (parquet(slate=[[1, 1], [1, 2], [2, 1]]), "row 0 .*duplicate-item"),
    "a file that was cut": (lambda folder: cut(parquet()(folder)), "Parquet"),
    "an Arrow file that was cut": (lambda folder: cut(arrow()(folder)), "Arrow"),
    "a folder of folders": (lambda folder: folder, "no log at"),
    "a gap in positions": (text("log.csv", HEAD + "1,a,1,0\n1,b,3,0\n"), "row 1 .*bad-position(.|\n)*--gaps close"),
    "packed otherwise": (text("log.csv.zst", b"(\xb5/\xfd"), r"log.csv.zst cannot be read"),
    "an unknown address": (lambda folder: Path("nowhere:a"), "nowhere"),
}


def cut(path: Path) -> Path:
    path.write_bytes(path.read_bytes()[:-20])
    return path


def run(path: Path, *more: str) -> Any:
    return CliRunner().invoke(
        main, ["evaluate", str(path), "--target", "uniform", "--logging", "uniform", "-e", "ips", *more]
    )


@pytest.mark.parametrize("case", READ)
def test_read(case: str, tmp_path: Path) -> None:
    more = ["--by", "group"] if "group" in case else []
    found = run(READ[case](tmp_path), "--json", str(tmp_path / "out.json"), *more)
    assert found.exit_code == 0, found.output
    # "Infinity" and "NaN" are no JSON.
    json.loads((tmp_path / "out.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)


@pytest.mark.parametrize("case", REFUSED)
def test_refused_by_one_error_with_a_remedy(case: str, tmp_path: Path) -> None:
    write, words = REFUSED[case]
    found = run(write(tmp_path))
    assert isinstance(found.exception, SystemExit), found.exc_info
    assert found.exit_code in {1, 2}
    assert len(re.findall(r"^error: ", found.output, re.MULTILINE)) == 1
    assert re.search(words, found.output), found.output
    assert re.search(r"\n  what to do: \S", found.output), found.output
    assert "Traceback" not in found.output


BAD = invalid_text(b"a", b"\xff", b"a")
GROUPS = {
    "texts": BAD,
    "large texts": BAD.view(pa.binary()).cast(pa.large_binary()).view(pa.large_string()),
    "fields": pa.StructArray.from_arrays([BAD], ["of"]),
    "codes": pa.DictionaryArray.from_arrays(pa.array([1, 0, 1]), invalid_text(b"\xff", b"a")),
}


@pytest.mark.parametrize("kind", GROUPS)
def test_groups_that_are_not_utf8_are_refused_where_they_are_read(kind: str, tmp_path: Path) -> None:
    path = arrow(group=GROUPS[kind])(tmp_path)
    assert run(path).exit_code == 0
    found = run(path, "--by", "group.of" if kind == "fields" else "group")
    assert found.exit_code == 1, found.output
    assert re.search(r"log.arrow, row 1 .*'group': .*has bytes that are not UTF-8", found.output), found.output


def test_codes_that_no_row_has_may_be_of_any_bytes(tmp_path: Path) -> None:
    group = pa.DictionaryArray.from_arrays(pa.array([1, 1, 1]), invalid_text(b"\xff", b"a"))
    assert run(arrow(group=group)(tmp_path), "--by", "group").exit_code == 0


def test_options_of_reading(tmp_path: Path) -> None:
    bandit = text("men.csv", "item_id,position,click,propensity_score\n2,1,1,.5\n1,3,0,.5\n")(tmp_path)
    assert run(bandit, "--format", "open_bandit(n_items=3)").exit_code == 0
    assert "write it as open_bandit(n_items=None)" in run(bandit, "--format", "open_bandit(items=3)").output
    missing = run(bandit, "--format", "open_bandit").output
    assert "what to do: add the file, or give the number of items: --format 'open_bandit(n_items=34)'" in missing
    long = text("log.tsv", "impression\titem\tposition\tclick\n1\ta\t0\t1\n2\tb\t0\t1\n1\tb\t4\t0\n")(tmp_path)
    found = run(long, "--gaps", "close", "--top-k", "1", "--json", str(tmp_path / "out.json"))
    assert found.exit_code == 0, found.output
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["log"]["impressions"] == 2
