"""Lines of JSON that are cut into cells by a compiled loop: as pyarrow reads them, bit for bit, or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import offrank
from offrank.errors import LogError
from offrank.log.source import Needs
from offrank.readers import csv_json
from offrank.readers.flat_json import FlatRows
from tests.readers.plain import contents

KINDS = [pa.int64(), pa.uint64(), pa.float64(), pa.string(), pa.bool_()]
VALUES: dict[pa.DataType, list[str]] = {
    pa.int64(): ["0", "-0", "7", "-7", "9007199254740993", "9223372036854775807", "-9223372036854775808"],
    pa.uint64(): ["0", "18446744073709551615", "9223372036854775808"],
    pa.float64(): ["3", "-0.0", "4.68074928106402e-05", "0.00012828345999401242", "1e22", "1e23", "123456789012345678"],
    pa.string(): ['""', '"17"', '"null"', '"a, [b]"', '"é中"'],
    pa.bool_(): ["true", "false"],
}
DIRTY = ['"17"', "17", "1.5", "true", "007", "+1", "1.", ".5", "-", "1e", "1e400", "1e-400", "4.9e-324", "-1", "2.5e-7"]
DIRTY += ["9223372036854775808", "18446744073709551616", "12345678901234567890123", "9007199254740993.0", "NaN", "nul"]
DIRTY += [r'"\u0061"', r'"\ud800"', '"a\tb"', '"a', "[1]", "[1,]", "[[1]]", "{}", "[,1]", "", "1 2", "1e0000000000005"]
LINES = ["null", "[]", "{}", "", "{", "{}{}", "{,}", '{"a" 1}', '{"a":1,}', '{"b":1,"b":2}', '{"\\u0061":1}', "{}x"]


def drawn(rng: Random) -> tuple[pa.Schema, bytes]:
    """The columns that are read, and some lines, of which one may be damaged."""
    kinds = {name: rng.choice(KINDS) for name in ("a", "ab", "é", "unread")}
    listed = {name: rng.random() < 0.5 for name in kinds}
    dirty = rng.choice([0, 0, 0.02])

    def value(name: str) -> str:
        every = [rng.choice([*VALUES[kinds[name]], "null"]) for _ in range(rng.randrange(4) if listed[name] else 1)]
        every = [rng.choice(DIRTY) if rng.random() < dirty else one for one in every]
        return (
            f"[{rng.choice([',', ' , '])[:3].join(every)} ]"
            if listed[name] and rng.random() < 0.9
            else (every or ["null"])[0]
        )

    def line() -> str:
        named = [f'"{name}":{value(name)}' for name in kinds if rng.random() < 0.9]
        rng.shuffle(named) if rng.random() < 0.2 else None
        return rng.choice(LINES) if rng.random() < dirty / 2 else "{" + rng.choice([",", ", "]).join(named) + "}"

    lines = "\n".join(line() for _ in range(rng.randrange(1, 6))).encode() + rng.choice([b"", b"\n", b" \r\n"])
    if rng.random() < dirty * 5:
        at = rng.randrange(len(lines))
        lines = lines[:at] + bytes([rng.randrange(256)]) + lines[at + rng.randrange(2) :]
    wanted = {name: pa.list_(kind) if listed[name] else kind for name, kind in kinds.items() if name != "unread"}
    return pa.schema(wanted), lines


def test_what_is_cut_is_what_pyarrow_reads_and_nothing_that_it_refuses() -> None:
    rng, cut, refused = Random(5), 0, 0
    for _ in range(1500):
        wanted, lines = drawn(rng)
        found = FlatRows(wanted).read(lines)
        try:
            expected: list[Any] = csv_json._json_rows(lines, wanted)
        except pa.ArrowInvalid:
            assert found is None, lines
            refused += 1
            continue
        if found is not None:
            found.validate(full=True)
            assert found.schema == wanted
            assert repr(found.to_pylist()) == repr([row for one in expected for row in one.to_pylist()]), lines  # -0.0
            cut += 1
    assert cut > 700
    assert refused > 100


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_each_kind_is_cut_and_lists_of_it(kind: pa.DataType) -> None:
    texts = [*VALUES[kind], "null"]
    lines = (
        "".join(f'{{"one":{text},"x":[1.5,"y"],"every":[{",".join(texts)}]}}\n' for text in texts) + '{"every":null}'
    )
    found = FlatRows(pa.schema({"every": pa.list_(kind), "one": kind})).read(lines.encode())
    assert found is not None
    real = float if kind == pa.float64() else None
    expected = [json.loads(text, parse_int=real) for text in texts]
    assert found.to_pylist() == [*({"every": expected, "one": one} for one in expected), {"every": None, "one": None}]


def test_a_file_is_read_as_before_where_some_of_its_blocks_are_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_json, "_BLOCK", 200)
    monkeypatch.setattr(csv_json, "_BY_PYARROW", 1)
    rows = [{"slate": [f"d{i % 7}", "d8"], "clicks": [i % 2, 0], "propensity": 1 / (i + 2)} for i in range(40)]
    path, text = tmp_path / "log.jsonl", "".join(json.dumps(row) + "\n" for row in rows)
    needs = Needs(frozenset(["slate", "clicks", "propensity"]))

    def read(lines: str) -> Any:
        path.write_text(lines)
        try:
            return contents(offrank.read_log(path).select(needs))
        except LogError as error:
            return str(error)

    damaged = [text.replace('"d6", "d8"', one, 5).replace(one, '"d6", "d8"', 4) for one in ('"d6" "d8"', '6, "d8"')]
    found = [read(one) for one in (text, *damaged)]
    assert [type(one) for one in found] == [list, str, list]
    monkeypatch.setattr(FlatRows, "read", lambda *_: None)
    assert [read(one) for one in (text, *damaged)] == found
