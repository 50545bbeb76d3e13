"""Lists packed into texts: read where the first rows leave no doubt, and left alone everywhere else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import RowError
from offrank.log.source import Needs
from offrank.readers.opening import open_table
from offrank.readers.tables import MemoryTable
from offrank.readers.unfolding import UnfoldedTable, unfolded
from tests.readers.plain import contents
from tests.readers.test_unfolding import IDS, NEEDED, Row, world

SEPARATORS = {"bar": "|", "semicolon": ";", "comma": ", ", "space": " "}
OURS = {"slate": "a", "clicks": "b", "candidates": "c", "slot_propensity": "d", "query": "e"}
"""Names that tell nothing."""


def packed(log: list[Row], separator: str, brackets: str = "") -> pa.Table:
    """The log with lists as texts, without its own names."""

    def text(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        return brackets[:1] + separator.join(map(str, value)) + brackets[1:]

    return pa.table({OURS.get(name, name): [text(row[name]) for row in log] for name in log[0]})


@pytest.mark.parametrize("brackets", ["", "[]", "{}"])
@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("ids", IDS)
def test_tokens(ids: str, separator: str, brackets: str) -> None:
    log = world(ids=IDS[ids])
    found = offrank.read_log(packed(log, SEPARATORS[separator], brackets), OURS)
    assert contents(found, NEEDED) == contents(offrank.read_log(log), NEEDED)


@pytest.mark.parametrize("separator", SEPARATORS)
def test_tokens_are_told_from_their_companions_alone(separator: str) -> None:
    found = unfolded(MemoryTable(packed(world(), SEPARATORS[separator])))
    kinds = dict(zip(found.schema.names, map(str, found.schema.types), strict=True))
    assert kinds == {
        "a": "list<item: string>",
        "b": "list<item: int64>",
        "c": "list<item: string>",
        "d": "list<item: double>",
        "e": "string",
        "old": "list<item: double>",
        "new": "list<item: double>",
    }


def test_words_without_digits_are_lists_beside_numbers() -> None:
    log = world(ids=lambda item: "".join(chr(ord("a") + int(digit)) for digit in str(item)))
    table = unfolded(MemoryTable(packed(log, " ")))
    assert str(table.schema.field("a").type) == "list<item: string>"
    assert str(table.schema.field("e").type) == "string"


@pytest.mark.parametrize("joint", "-:")
@pytest.mark.parametrize("separator", [" ", "|", ","])
def test_items_with_their_clicks(separator: str, joint: str, tmp_path: Path) -> None:
    log = world(ids=lambda item: f"N{item}-x")
    pairs = [zip(row["slate"], row["clicks"], strict=True) for row in log]
    texts = [separator.join(f"{item}{joint}{click}" for item, click in row) for row in pairs]
    history = ["N1 N2 N3"] * len(log)
    table = pa.table({"impressions": texts, "history": history, "time": ["11/15/2019 8:55:22 AM"] * len(log)})
    pyarrow.csv.write_csv(table, tmp_path / "log.csv")
    found = offrank.read_log(tmp_path / "log.csv", {"slate": "impressions.item", "clicks": "impressions.click"})
    shown = [{name: row[name] for name in ("slate", "clicks")} for row in log]
    assert contents(found) == contents(offrank.read_log(shown))
    assert found.table.names == ("impressions.item", "impressions.click", "history", "time")


TEXTS: dict[str, dict[str, list[Any]]] = {
    "phrases": {"query": ["red shoes", "blue hat", "big red hat"], "id": ["r1", "r2", "r3"]},
    "phrases beside lists of as many": {
        "query": ["red shoes", "hat", "big red hat"],
        "slate": [[1, 2], [3], [1, 2, 3]],
    },
    "phrases beside texts of as many": {"query": ["red shoes", "big red hat"], "items": ["1 2", "1 2 3"]},
    "two words each": {"name": ["Ann Lee", "Bob Ray"] * 20, "friend": ["Cy Poe", "Di Roe"] * 20},
    "times": {"made": ["2024-05-01 10:00:00"] * 9, "seen": ["2024-05-01 11:00:00"] * 9},
    "browsers": {"agent": ["Mozilla/5.0 (X11; Linux)", "Mozilla/5.0 (Mac; Intel)"], "os": ["Linux", "Mac"]},
    "categories": {"genres": ["Action|Comedy", "Drama", "Drama|War|Crime"], "title": ["a", "b", "c"]},
    "places": {"town": ["Paris, France", "Rome, Italy"] * 9, "who": ["Doe, Ann", "Roe, Bob"] * 9},
    "sentences": {"items": ["The first, which is long, and so on", "A second, too"] * 9},
    "one token": {"items": ["a", "b"], "clicks": ["0", "1"]},
    "versions": {"from": ["a-0 b-0"] * 5, "release": ["2024-1", "2024-0"] * 2 + ["2024-1"]},
    "ranks by item": {"ranks": [json.dumps({f"sku{row + item}": item for item in range(4)}) for row in range(30)]},
    "counts by id": {"counts": [json.dumps({str(item): 1 for item in range(row % 3 + 1)}) for row in range(30)]},
    "lists in JSON": {"slate": ["[1, 2]", "[3]"], "clicks": ["[0, 1]", "[1]"]},
    "lists of lists": {"slate": [[1], [2]], "features": ["[[1, 2]]", "[[3]]"]},
    "objects and lists": {"mixed": ['{"a": 1}', "[1]"]},
    "kinds that differ": {"mixed": ['{"a": 1}', '{"a": "x"}']},
    "broken JSON": {"mixed": ['{"a": 1}', '{"a": 1']},
    "huge integers": {"mixed": ['{"a": 1}', '{"a": 340282366920938463463374607431768211456}']},
    "nothing": {"slate": [None, ""], "text": ["", None]},
}


@pytest.mark.parametrize("case", TEXTS)
def test_texts_that_stay(case: str) -> None:
    table = MemoryTable(pa.table(TEXTS[case]))
    found = unfolded(table)
    assert not isinstance(found, UnfoldedTable) or set(found.names) - {"items", "clicks", "from.item"} >= {"query"}
    if case != "phrases beside texts of as many":
        assert found is table


def test_a_phrase_is_a_list_if_that_was_said() -> None:
    table = pa.table({"shown": ["red blue", "green"], "hits": ["0 1", "1"]})
    found = offrank.read_log(table, {"slate": "shown", "clicks": "hits"})
    assert contents(found) == contents(
        offrank.read_log([{"slate": ["red", "blue"], "clicks": [0, 1]}, {"slate": ["green"], "clicks": [1]}])
    )


def later(column: str, first: Any, cell: Any, **beside: Any) -> MemoryTable:
    """A table whose row 1,500 is written otherwise."""
    texts = [first] * 1500 + [cell] + [first] * 3
    return pa.table({column: texts, **{name: [value] * len(texts) for name, value in beside.items()}})


BROKEN = {
    "empty place": (later("slate", "a|b", "a||b"), "slate", "has an empty entry"),
    "text among numbers": (later("clicks", "0|1", "0|yes", slate=["a", "b"]), "clicks", "is text, unlike"),
    "a zero in front of a number": (later("slate", "7|8", "7|008"), "slate", "is text, unlike"),
    "a long integer": (later("slate", "7|8", "7|12345678901234567890"), "slate", "is text, unlike"),
    "a fraction for an id": (later("slate", "7|8", "7|8.5"), "slate", ""),
    "no click": (later("slate", "a-0 b-1", "a-0 b"), "slate", "without its click"),
    "no brackets": (later("slate", "[a b]", "a b"), "slate", "not a list in brackets"),
    "no JSON": (later("slate", '[{"id": 1}]', '[{"id": 1}'), "slate", "cannot be read"),
    "no Python": (later("slate", "[{'id': 1}]", "[{'id': f()}]"), "slate", "cannot be read"),
    "text for a number": (later("slate", '[{"id": 1}]', '[{"id": "1"}]'), "slate", "another kind of value"),
    "a number for text": (later("slate", '[{"id": "1"}]', '[{"id": 1}]'), "slate", "another kind of value"),
    "an object for a list": (later("slate", '[{"id": 1}]', '{"id": 1}'), "slate", "another kind of value"),
    "a smuggled row": (later("slate", '[{"id": 1}]', '[]}\n{"":[]'), "slate", "cannot be read"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_later_cell_in_another_form_is_named(case: str, tmp_path: Path) -> None:
    table, column, words = BROKEN[case]
    pq.write_table(table, tmp_path / "log.parquet", row_group_size=400)
    known = unfolded(open_table(tmp_path / "log.parquet"))
    slate = next(name for name in known.names if name.startswith("slate"))
    log = offrank.read_log(tmp_path / "log.parquet", {"slate": slate})
    if not words:  # a fraction is no id
        with pytest.raises(offrank.errors.ColumnError, match="holds double ids"):
            contents(log, Needs())
        return
    with pytest.raises(RowError, match=f"(?s)row 1500 .*column '{column}'.*{words}.*same form") as caught:
        contents(log, Needs())
    assert (caught.value.row, caught.value.rule) == (1500, "bad-list")


def test_later_numbers_may_be_fractions_and_fields_may_be_missing() -> None:
    texts = ['[{"id": 1, "click": 0}, {"id": 2, "click": 1}]'] * 1200 + [
        '[{"click": 2.5, "id": 3, "new": "x"}, {"id": 4}]'
    ]
    table = unfolded(MemoryTable(pa.table({"shown": texts})))
    *_, last = table.pieces(0, ("shown.id", "shown.click"))
    assert last.data.column(0)[-1].as_py() == [3, 4]
    assert last.data.column(1)[-1].as_py() == [2.5, None]
    clicks = unfolded(MemoryTable(pa.table({"clicks": ["0|1"] * 1200 + ["0|2.5"], "slate": [["a", "b"]] * 1201})))
    *_, last = clicks.pieces(0, ("clicks",))
    assert last.data.column(0)[-1].as_py() == [0.0, 2.5]


def test_python_prints_are_read_as_they_were() -> None:
    values = [
        [{"sku": "it's", "ok": True, "p": None}, {"sku": 'say "x"', "ok": False, "p": 0.5}],
        [{"sku": "back\\slash\n", "ok": None, "p": float("nan")}],
        [{"sku": "None True nan", "ok": True, "p": 1e-300}],
    ]
    found = unfolded(MemoryTable(pa.table({"shown": list(map(repr, values))})))
    data = next(found.pieces(0, found.names)).data.to_pylist()
    assert [row["shown.sku"] for row in data] == [[one["sku"] for one in row] for row in values]
    assert [row["shown.ok"] for row in data] == [[True, False], [None], [True]]
    assert [row["shown.p"] for row in data] == [[None, 0.5], [None], [1e-300]]


def test_numpy_prints_are_read_as_they_were() -> None:
    arrays = [np.arange(40), np.array([7]), np.array([], np.int64)]
    words = [np.array(["a", "b"]), np.array(["c d".replace(" ", "")]), np.array([], str)]
    table = pa.table({"x": list(map(str, arrays)), "y": list(map(str, words))})
    found = next(unfolded(MemoryTable(table)).pieces(0, ("x", "y"))).data.to_pydict()
    assert found == {"x": [list(range(40)), [7], []], "y": [["a", "b"], ["cd"], []]}


def test_lists_in_json_are_read_as_json_though_their_ids_stand_in_another_list(tmp_path: Path) -> None:
    """Later rows may have what no list with commas has: an escape, an empty id, 2^63 - 1."""
    shown = [["a", "b"], ["b", "a"], ["a"], ["é", ""], ['c,"d']]
    pools = [["a", "b"]] * 3 + shown[3:]
    rows = [{"slate": json.dumps(one), "candidates": json.dumps(pool)} for one, pool in zip(shown, pools, strict=True)]
    rows = [{**rows[at % 3], "clicks": json.dumps([0] * len(shown[at % 3]))} for at in range(2000)] + [
        {**row, "clicks": json.dumps([1] * len(one))} for row, one in zip(rows, shown, strict=True)
    ]
    pyarrow.csv.write_csv(pa.Table.from_pylist(rows), tmp_path / "log.csv")
    log = offrank.read_log(tmp_path / "log.csv")
    found = sum(float(batch.reward.sum()) for batch in log.select(Needs(frozenset(["clicks"]))).batches(0))
    assert found == sum(map(len, shown))


def test_whole_numbers_of_63_bits_in_json_stay_numbers(tmp_path: Path) -> None:
    most = 2**63 - 1
    rows = [f'"[{most}, 7]","[7, {most}]","[1, 0]"', '"[8]","[8, -1]",[0]']
    (tmp_path / "log.csv").write_text("\n".join(["slate,candidates,clicks", *rows]))
    [batch] = offrank.read_log(tmp_path / "log.csv").select(Needs(frozenset(["clicks", "candidates"]))).batches(0)
    assert batch.contexts.candidates.tolist() == [[7, most], [8, -1]]
