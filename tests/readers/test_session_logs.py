"""Public session logs: TianGong-ST's XML, SogouQ's clicks, and the Parquet layout of CLAX's data sets."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.clicks import DBN, DCTR, PBM
from offrank.errors import ColumnError, LogError, UsageError
from offrank.log.source import Needs
from offrank.readers import clax, sogou, tiangong, yandex

CLICKS = Needs(frozenset(["clicks"]), keys=frozenset(["query"]), holes=True, texts=True)

Session = tuple[list[tuple[int, str]], list[int]]


def xml(*interactions: Session, query: str = "q7") -> str:
    """A session of interactions, each of (rank, docid) and clicked ranks."""
    text = ""
    for number, (results, clicked) in enumerate(interactions, 1):
        shown = "".join(f'<result rank="{r}"><url>u</url><docid>{d}</docid></result>' for r, d in results)
        clicks = "".join(f'<click num="{n}"><rank>{r}</rank></click>' for n, r in enumerate(clicked, 1))
        text += f'<interaction num="{number}"><query>x</query><query_id>{query}</query_id><results>{shown}</results>'
        text += f"<clicked>{clicks}</clicked></interaction>"
    return f'<session num="3">{text}</session>'


def written(path: Path, *sessions: str) -> Path:
    path.write_text("<tiangong>" + "".join(sessions) + "</tiangong>", encoding="utf-8")
    return path


def lists(log: Any, needed: Needs = CLICKS) -> list[tuple[Any, ...]]:
    """(query, items by rank, clicks) of each impression."""
    found = []
    for batch in log.select(needed).batches(0):
        contexts, texts = batch.contexts, batch.texts
        names = [texts.ids(row).to_pylist() for row in contexts.candidates]
        queries = texts.ids(contexts.keys["query"]).to_pylist() if needed.keys else [None] * len(batch)
        for at, (slate, length) in enumerate(zip(batch.slates.tolist(), contexts.length.tolist(), strict=True)):
            items = [None if place < 0 else names[at][place] for place in slate[:length]]
            found.append((queries[at], items, batch.clicks[at, :length].tolist()))
    return found


def skipped(log: Any) -> dict[str, int]:
    return {rule: count for batch in log.select(CLICKS).batches(0) for rule, count in batch.skipped.items()}


def test_tiangong_sessions(tmp_path: Path) -> None:
    usual = [(1, "d1"), (2, "d2"), (3, "d3")]
    path = written(tmp_path / "log.xml", xml((usual, [2]), (usual[::-1], [])), xml(([(1, "d2"), (3, "d9")], [1, 1, 5])))
    log = tiangong(path)
    assert lists(log) == [
        ("q7", ["d1", "d2", "d3"], [0, 1, 0]),
        ("q7", ["d1", "d2", "d3"], [0, 0, 0]),
        ("q7", ["d2", None, "d9"], [1, 0, 0]),
    ]
    assert skipped(log) == {"click-outside-slate": 1, "click-repeated": 1}
    (tmp_path / "log.xml.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert lists(offrank.read_log(tmp_path / "log.xml.gz", format="tiangong")) == lists(log)


def test_tiangong_lists_with_a_document_twice(tmp_path: Path) -> None:
    path = written(tmp_path / "log.xml", xml(([(1, "d1"), (2, "d2"), (3, "d1")], [3])))
    assert lists(tiangong(path)) == [("q7", ["d1", "d2", None], [0, 0, 0])]
    assert skipped(tiangong(path)) == {"place-repeated": 1, "click-on-repeat": 1}
    each = offrank.read_log(path, format="tiangong", duplicates="each")
    assert lists(each) == [("q7", ["d1", "d2", "d1"], [0, 0, 1])]
    with pytest.raises(LogError, match="duplicate-item"):
        lists(offrank.read_log(path, format="tiangong", duplicates="raise"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (xml(([(0, "d1")], [])), "session 3, interaction 1: expected query_id"),
        (xml(([(1001, "d1")], [])), "session 3, interaction 1: expected"),
        (xml(([(1, "d1")], [0])), "session 3, interaction 1: expected"),
        (xml(([], [])), "session 3, interaction 1: expected"),
        (xml(([(1, "d1")], [])).replace("query_id", "qid"), "interaction 1: expected query_id"),
        (xml(([(1, "d1")], [])).replace("docid", "doc"), "interaction 1: expected"),
        ("<session>", "is not valid XML"),
    ],
)
def test_tiangong_files_of_another_form_are_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(LogError, match=message):
        lists(tiangong(written(tmp_path / "log.xml", text)))


SOGOU = (
    "00:00:01\tu1\t[鲜花]\t2 1\twww.a.cn/\n"
    "00:00:03\tu1\t[鲜花]\t1 2\twww.b.cn/\n"
    "00:00:04\tu1\t[鲜花]\t2 3\twww.a.cn/\n"
    "00:00:09\tu2\t[鲜花]\t2\t1\twww.a.cn/\n"
    "\n"
    "00:00:10\tu1\t[鲜花]\t1001\t1\twww.c.cn/\n"
    "00:00:11\tu1\t[x y]\t3\t1\twww.c.cn/ z\n"
)


@pytest.mark.parametrize("encoding", ["gb18030", "utf-8"])
def test_sogou_clicks(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_bytes(SOGOU.encode(encoding))
    log = sogou(tmp_path / "q.txt", encoding=encoding)
    assert lists(log) == [
        ("鲜花", ["www.b.cn/", "www.a.cn/"], [1, 1]),
        ("鲜花", [None, "www.a.cn/"], [0, 1]),
        ("x y", [None, None, "www.c.cn/ z"], [0, 0, 1]),
    ]
    assert skipped(log) == {"click-repeated": 1, "click-below": 1}


@pytest.mark.parametrize("model", [DCTR(), DBN()])
def test_a_log_of_clicks_alone_is_told(model: Any, tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text(SOGOU, encoding="utf-8")
    fitted = model.fit(sogou(tmp_path / "q.txt", encoding="utf-8"))
    assert "only-clicks" in {caution.code for caution in fitted.cautions}


def test_sogou_lines_of_another_form_are_refused(tmp_path: Path) -> None:
    for line in ("nothing of it", f"00:00:01\tu\t[q]\t{'9' * 5000}\t1\thttp://a"):
        (tmp_path / "q.txt").write_text(f"{SOGOU}{line}\n", encoding="utf-8")
        with pytest.raises(LogError, match=r"line 8: expected 'time TAB user"):
            lists(sogou(tmp_path / "q.txt", encoding="utf-8"))
    with pytest.raises(UsageError, match="encoding is 'gbq'"):
        sogou(tmp_path / "q.txt", encoding="gbq")


def parquet(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


CLAX: dict[str, Any] = {
    "query_id": [5, 5, 6],
    "query_doc_ids": [[4, 9, 2, 0], [9, 4, 0, 0], [7, 8, 3, 0]],
    "clicks": [[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]],
    "mask": [[True, True, True, False], [True, True, False, False], [True, False, True, False]],
    "device": ["a", "b", "a"],
}
POSITIONS = [[1, 2, 3, 4], [3, 1, 0, 0], [1, 2, 3, 4]]


def test_clax_sessions(tmp_path: Path) -> None:
    log = offrank.read_log(parquet(tmp_path / "part-0.parquet", **CLAX, positions=POSITIONS), format="clax")
    assert lists(log) == [
        (5, [4, 9, 2], [0, 1, 0]),
        (5, [4, None, 9], [0, 0, 1]),
        (6, [7, None, 3], [0, 0, 1]),
    ]
    assert "device: " not in repr(log)
    assert "device" in repr(log)


def test_clax_sessions_of_the_least_columns(tmp_path: Path) -> None:
    some = {name: CLAX[name] for name in ("query_doc_ids", "clicks")}
    log = clax(parquet(tmp_path / "log.parquet", **some))
    assert [row[1:] for row in lists(log, Needs(frozenset(["clicks"]), holes=True, texts=True))] == [
        ([4, 9, 2], [0, 1, 0]),
        ([9, 4], [1, 0]),
        ([7, 8, 3], [0, 0, 1]),
    ]
    found = PBM((1, 1)).fit(log).judgements()
    assert sorted(found.item.to_pylist()) == [2, 3, 4, 7, 8, 9]
    assert found.query.null_count == 6


def test_clax_labels_stand_beside_the_documents(tmp_path: Path) -> None:
    labels = [[3, 0, 1, 0], [0, 3, 0, 0], [2, 2, 4, 0]]
    log = clax(parquet(tmp_path / "log.parquet", **CLAX, positions=POSITIONS, labels=labels))
    [batch] = log.select(Needs(frozenset(["clicks"]), scores=frozenset(["labels"]), holes=True)).batches(0)
    inside = [
        row[:size] for row, size in zip(batch.contexts.scores["labels"].tolist(), batch.contexts.size, strict=True)
    ]
    assert inside == [[3, 0, 1], [3, 0], [2, 4]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"clicks": [[0.0], [1.0], [0.0]]}, "row 0 .*'clicks' does not have the length of its query_doc_ids"),
        ({"positions": [[1, 2, 3, 4], [1, 0, 0, 0], [1, 2, 3, 4]]}, "row 1 .*not a whole number from 1"),
        ({"positions": [[1, 2, 2, 4], [1, 2, 0, 0], [1, 2, 3, 4]]}, "row 0 .*two documents have the same position"),
    ],
)
def test_clax_sessions_that_do_not_fit_are_refused(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(LogError, match=message):
        lists(clax(parquet(tmp_path / "log.parquet", **{**CLAX, **changes})))


def test_a_table_of_another_layout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ColumnError, match="no column 'query_doc_ids'"):
        clax(parquet(tmp_path / "log.parquet", clicks=[[1.0]]))


def test_inspect_knows_them_by_their_content(tmp_path: Path) -> None:
    path = parquet(tmp_path / "log.parquet", **CLAX)
    assert offrank.inspect(path).format == "clax"
    xml_path = written(tmp_path / "log.xml", xml(([(1, "d1"), (2, "d2")], [1])))
    assert offrank.inspect(xml_path).format == "tiangong"


PUBLISHED = """\
7\t0\tQ\t40\t3\t11\t12\t13
7\t9\tC\t12
7\t20\tQ\t41\t3\t12\t14
7\t25\tC\t12
7\t26\tC\t13
7\t27\tC\t99
7\t28\tC\t12
8\t0\tQ\t40\t0\t13\t11
"""


def test_published_lines_of_yandex_are_sessions(tmp_path: Path) -> None:
    """A click is on the last list of its session that holds its document: 13 stands in the first alone, 99 in none."""
    path = tmp_path / "train.tsv"
    path.write_text(PUBLISHED, encoding="utf-8")
    log = offrank.read_log(path)
    first, second, third = ("40_3", [11, 12, 13], [0, 1, 1]), ("41_3", [12, 14], [1, 0]), ("40_0", [13, 11], [0, 0])
    assert lists(log) == [first, second, third]
    assert skipped(log) == {"click-outside-slate": 1, "click-repeated": 1}
    assert lists(yandex(path, repeats="count"))[1][2] == [2, 0]
    found = offrank.inspect(path)
    assert (found.format, found.logging.known) == ("yandex", False)
    assert {"query", "session"} <= {column.use for column in found.columns}


@pytest.mark.parametrize("line", ["7\t9\tC", "7\t9\tQ\t40\t3", "7\tx\tC\t12", f"7\t9\tC\t{2**63}"])
def test_a_line_that_yandex_did_not_publish_is_told(line: str, tmp_path: Path) -> None:
    path = tmp_path / "train.tsv"
    path.write_text(PUBLISHED + line + "\n", encoding="utf-8")
    with pytest.raises(LogError, match=r"line 9.*expected 'session TAB time TAB Q"):
        lists(yandex(path))
