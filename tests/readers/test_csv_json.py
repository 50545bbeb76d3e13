"""Text as warehouses export it: packed, in folders of partitions, as JSON lines or as one JSON array."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import offrank
from offrank.errors import EmptyLogError, LogError, UsageError
from offrank.log.source import Needs
from offrank.readers import csv_json
from offrank.readers.json_text import BadCell, from_json
from tests.readers.plain import contents
from tests.readers.test_read_log import LOG, NEEDED, expected, lists_as_text

LINES = "".join(json.dumps(row) + "\n" for row in LOG)
TEXTS = {
    "lines": LINES,
    "lines, the last without an end": LINES.rstrip(),
    "array": json.dumps(LOG),
    "array, printed": "\ufeff \n" + json.dumps(LOG, indent=2) + "\n",
    "array, a row a line": "[\r\n" + ",\r\n".join(map(json.dumps, LOG)) + "\r\n]",
}


def packed(path: Path, text: str) -> Path:
    with pa.output_stream(str(path)) as file:  # by its suffix
        file.write(text.encode())
    return path


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst", ".bz2"])
@pytest.mark.parametrize("text", TEXTS)
def test_json(text: str, suffix: str, tmp_path: Path) -> None:
    assert contents(offrank.read_log(packed(tmp_path / f"log.json{suffix}", TEXTS[text])), NEEDED) == expected()


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson.zst", ".export"])
def test_suffixes_and_format(suffix: str, tmp_path: Path) -> None:
    path = packed(tmp_path / f"log{suffix}", LINES)
    log = offrank.read_log(path, format="json" if suffix == ".export" else None)
    assert contents(log, NEEDED) == expected()


@pytest.mark.parametrize("suffix", [".zst", ".bz2"])
def test_packed_csv(suffix: str, tmp_path: Path) -> None:
    path = packed(tmp_path / f"log.csv{suffix}", lists_as_text(tmp_path).read_text())
    assert contents(offrank.read_log(path), NEEDED) == expected()


@pytest.mark.parametrize(
    "text", ["null", " \nnull\n", "[null]", '[null, {"slate": [1]}]', "nul", 'null {"slate": [1]}']
)
def test_a_null_in_the_place_of_the_first_row(text: str, tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text(text)
    with pytest.raises(LogError, match="a row is null, not an object"):
        offrank.read_log(tmp_path / "log.json", format="json")


def test_fractions_in_a_later_file_of_json(tmp_path: Path) -> None:
    rows = [{"slate": [2**53 + 1, 2**53 + 2], "clicks": [0, 1]}, {"slate": [2**53 + 1], "clicks": [0.5]}]
    for number, row in enumerate(rows):
        (tmp_path / f"{number}.jsonl").write_text(json.dumps(row))
    found = contents(offrank.read_log(tmp_path), Needs(frozenset({"clicks"})))
    assert [one["clicks"] for one in found] == [[0.0, 1.0], [0.5]]
    (tmp_path / "2.jsonl").write_text('{"slate": [1, 2], "clicks": [0.5, 9007199254740993]}')
    with pytest.raises(LogError, match=r"2\.jsonl, after row 0 cannot be read as JSON"):
        contents(offrank.read_log(tmp_path), Needs(frozenset({"clicks"})))


@given(
    st.lists(
        st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(['"', "\\", '\\"],[{', "a,b", "[", "}"])
    ),
    st.integers(1, 40),
    st.sampled_from([None, 1]),
)
def test_arrays_in_blocks_of_any_size(texts: list[str], block: int, indent: int | None) -> None:
    rows = [{"t": text, "n": [[number], []]} for number, text in enumerate(texts)]
    written = json.dumps(rows, ensure_ascii=False, indent=indent).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_json, "_BLOCK", block)
        lines = list(csv_json._lines(pa.BufferReader(written)))
    assert [json.loads(line) for line in b"".join(lines).splitlines() if line.strip()] == rows


def test_rows_of_many_blocks_are_numbered(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(csv_json, "_BLOCK", 100)
    path = packed(tmp_path / "log.json", json.dumps([*LOG[:3], {**LOG[3], "clicks": [-1]}, *LOG]))
    with pytest.raises(offrank.errors.RowError, match=r"log.json, row 3 .*'clicks'"):
        contents(offrank.read_log(path), NEEDED)


def test_an_array_that_is_cut(tmp_path: Path) -> None:
    path = packed(tmp_path / "log.json", json.dumps(LOG)[:-1])
    with pytest.raises(LogError, match=r"log.json.* cannot be read as JSON: its array is not closed"):
        contents(offrank.read_log(path), NEEDED)


def test_an_empty_array(tmp_path: Path) -> None:
    with pytest.raises(EmptyLogError, match=r"log\.json has no rows"):
        offrank.read_log(packed(tmp_path / "log.json", "[ ]"))


def test_a_folder_of_json_alone(tmp_path: Path) -> None:
    for number in range(4):
        packed(tmp_path / f"part-{number}.json.gz", json.dumps(LOG[number]))
    assert contents(offrank.read_log(tmp_path), NEEDED) == expected()
    (tmp_path / "other").mkdir()
    packed(tmp_path / "other" / "log.jsonl", LINES)
    packed(tmp_path / "other" / "result.json", "{}")
    assert contents(offrank.read_log(tmp_path / "other"), NEEDED) == expected()


@pytest.mark.parametrize("suffix", ["json", "jsonl.zst", "csv"])
def test_partitions(suffix: str, tmp_path: Path) -> None:
    for number, row in enumerate(LOG):
        folder = tmp_path / f"day=0{number // 2}" / "site=a%20b"
        folder.mkdir(parents=True, exist_ok=True)
        cells = {name: json.dumps(value) if name != "query" else value for name, value in row.items()}
        text = pd.DataFrame([cells]).to_csv(index=False) if suffix == "csv" else json.dumps(row)
        packed(folder / f"{number}.{suffix}", text)
    log = offrank.read_log(tmp_path)
    needed = NEEDED | Needs(labels=frozenset(["day", "site"]))
    assert [row["label:day"] for row in contents(log, needed)] == ["00", "00", "01", "01"]
    assert {row["label:site"] for row in contents(log, needed)} == {"a b"}
    assert sorted(offrank.evaluate(log, "uniform", "uniform", "ips", by="day", cluster=None).groups) == ["00", "01"]


@pytest.mark.parametrize("name", ["log.avro", "log.orc", "log.csv"])
def test_avro_is_left_out(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"Obj\x01")
    with pytest.raises(UsageError, match=r"(?s)not supported.*export it as Parquet"):
        offrank.read_log(tmp_path / name)


@pytest.mark.parametrize("number", [1 << 63, -(1 << 63) - 1])
def test_a_number_of_more_than_64_bits_is_found_in_its_row(number: int) -> None:
    with pytest.raises(BadCell) as caught:
        from_json(pa.array(["[1, 2]", f"[3, {number}]", "[4, 5]"]), "slate", pa.int64())
    assert caught.value.index == 1


def test_ids_with_zeros_in_front_are_texts(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("impression,item,position,click\n1,007,1,0\n1,7,2,1\n1,12,3,0\n")
    log = offrank.read_log(tmp_path / "log.csv").select(Needs(frozenset(["clicks"])))
    [batch] = log.batches(0)
    assert batch.slates.tolist() == [[0, 1, 2]]
    assert "item: string" in repr(log)


def test_a_list_in_a_cell_may_go_on_in_the_next_line(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text('slate,clicks\n"[1,\n 2]","[0,\n 1]"\n"[2, 1]","[1, 0]"\n')
    [batch] = offrank.read_log(tmp_path / "log.csv").select(Needs(frozenset(["clicks"]))).batches(0)
    assert batch.clicks.tolist() == [[0.0, 1.0], [1.0, 0.0]]


def noted(path: Path, notes: dict[int, str], rows: int = 400) -> Path:
    """A long log of two items a list, with a text at its end. notes: by line of the file, as it is written there."""
    lines = [f"{line // 2},{11 + line % 2},{1 + line % 2},0,{notes.get(line + 2, 'fine')}" for line in range(rows)]
    path.write_text("\n".join(["impression,item,position,click,note", *lines]) + "\n")
    return path


@pytest.mark.parametrize(
    ("notes", "lines"),
    [({302: '"never closed'}, 100), ({302: '"closed late', 304: 'by "this"'}, 3)],
)
def test_a_quote_that_swallows_rows_is_refused_with_its_line(notes: dict[int, str], lines: int, tmp_path: Path) -> None:
    path = noted(tmp_path / "log.csv", notes)
    with pytest.raises(LogError, match=f"log.csv, line 302, .* a quote is not closed within {lines} lines"):
        contents(offrank.read_log(path))


@pytest.mark.parametrize("note", ['"two\nlines, ""quoted"""', '5" nail', '"quoted" and more'])
def test_a_quote_that_swallows_no_row_is_read(note: str, tmp_path: Path) -> None:
    assert len(contents(offrank.read_log(noted(tmp_path / "log.csv", {302: note})))) == 200


@pytest.mark.parametrize("cut", [3, 39])
def test_a_line_of_json_that_is_cut_is_told_by_line_and_row(cut: int, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(csv_json, "_BLOCK", 500)  # so that its row is not that of its block
    lines = [json.dumps({"slate": ["a", f"b{at}"], "clicks": [1, 0]}) for at in range(40)]
    lines[cut] = lines[cut][:-12]
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    with pytest.raises(LogError, match=f"log.jsonl, line {cut + 1}, row {cut} .*, cannot be read as JSON"):
        contents(offrank.read_log(tmp_path / "log.jsonl"))


def test_a_slate_that_is_empty_in_all_rows_is_not_another_column(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("slate,candidates,propensity,old\n" + ',"[""a"",""b""]",0.5,"[4.0,2.0]"\n' * 3)
    with pytest.raises(LogError, match=r"line 2, row 0 .*, column 'slate': 'null' is null"):
        list(offrank.read_log(path).select(Needs(frozenset(["slate", "propensity"]))).batches(0))
    with pytest.raises(LogError, match="no impressions that can be read; all of them break a rule: 3 null"):
        offrank.inspect(path)
