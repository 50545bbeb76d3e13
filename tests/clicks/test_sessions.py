"""Sessions of a log: distinct ones with weights, by any partition; what is repeated or in pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from offrank.clicks import DBN
from offrank.clicks.sessions import Pile, Sessions, SessionsFold, collapsed
from offrank.errors import EmptyLogError, UsageError
from offrank.log.batch import Contexts, LogBatch, Shown
from offrank.readers.log import read_log
from offrank.sums.base import total


def batch(rng: np.random.Generator, n: int = 60) -> LogBatch:
    """Random slates of three out of four items, with holes, pads and clicks that come several times."""
    candidates = rng.integers(0, 5, (n, 4)) * 7919
    slates = np.argsort(rng.random((n, 4)), axis=1)[:, :3]
    slates[rng.random((n, 3)) < 0.3] = -1
    clicks = rng.integers(0, 3, (n, 3)) * (slates >= 0) * (rng.random((n, 3)) < 0.4)
    size, length = np.full(n, 4), np.full(n, 3)
    contexts = Contexts(candidates, size, length, keys={"query": rng.integers(0, 3, n)})
    inclusion = rng.choice([0.25, 0.5, 1.0], n)
    return LogBatch(contexts, Shown(slates), clicks.astype(float), None, inclusion, np.arange(n, dtype=np.uint64))


def test_piles_differ_where_their_sessions_do() -> None:
    rng, fold = np.random.default_rng(0), SessionsFold("query")
    one = fold.of(batch(rng))
    assert one != fold.of(batch(rng))
    assert one != total(one, one)
    assert one != Pile()
    assert one != "pile"


def by_hand(rows: LogBatch, by: str | None) -> dict[tuple[Any, ...], float]:
    """Distinct (query and item, clicked) by rank, and the weight of each."""
    found: dict[tuple[Any, ...], float] = {}
    assert rows.clicks is not None
    for i in range(len(rows)):
        query = int(rows.contexts.keys["query"][i]) if by else None
        session = tuple(
            None if at < 0 else (query, int(rows.contexts.candidates[i, at]), bool(click))
            for at, click in zip(rows.slates[i].tolist(), rows.clicks[i].tolist(), strict=True)
        )
        found[session] = found.get(session, 0.0) + 1 / rows.inclusion[i]
    return found


@pytest.mark.parametrize("by", ["query", None])
def test_sessions_are_those_of_the_log(by: str | None) -> None:
    rows = batch(np.random.default_rng(3))
    fold = SessionsFold(by)
    gathered = fold.result(fold.of(rows))
    sessions, expected = gathered.data, by_hand(rows, by)
    assert isinstance(sessions, Sessions)
    assert len(sessions) == len(expected) < len(rows)
    assert sorted(sessions.weight) == pytest.approx(sorted(expected.values()))
    assert len(gathered.documents) == len({one[:2] for session in expected for one in session if one is not None})
    place = gathered.documents.slots(rows.contexts, rows.slates).document
    assert rows.clicks is not None
    for i, (documents, shown) in enumerate(zip(place, rows.slates >= 0, strict=True)):
        line = np.where(shown, documents, -1)
        same = (sessions.document == line).all(axis=1) & (sessions.click == (rows.clicks[i] > 0)).all(axis=1)
        assert same.sum() == 1, "every session is there once"


def test_clicks_are_counted_once_and_repetitions_told() -> None:
    table = pa.table({"slate": [["a", "b"], ["a"]], "clicks": [[3, 0], [2]]})
    fitted = DBN().fit(read_log(table))
    assert fitted.tally.impressions == 2
    assert fitted.tally.repeated == 3
    once = DBN().fit(read_log(pa.table({"slate": [["a", "b"], ["a"]], "clicks": [[1, 0], [1]]})))
    assert fitted.learnt.parameters["attraction"] == pytest.approx(once.learnt.parameters["attraction"])


def test_a_click_in_pieces_is_an_error() -> None:
    table = pa.table({"slate": [["a", "b"], ["a", "b"]], "clicks": [[1.0, 0.0], [0.0, 0.5]]})
    with pytest.raises(UsageError, match=r"row 1.*is not whole") as caught:
        DBN().fit(read_log(table))
    assert "0 or 1" in caught.value.remedy


def test_a_log_without_impressions_is_an_error() -> None:
    fold = SessionsFold(None)
    with pytest.raises(EmptyLogError):
        fold.result(Pile())


def test_lists_of_any_length_share_a_table() -> None:
    table = pa.table({"slate": [["a"], ["a", "b", "c", "d"]], "clicks": [[1], [0, 0, 0, 1]]})
    fold = SessionsFold(None)
    state = None
    source = read_log(table)
    for part in range(source.parts()):
        for rows in source.batches(part):
            state = fold.add(state, rows)
    sessions = fold.result(state).data
    assert isinstance(sessions, Sessions)
    assert sessions.ranks == 4
    assert sorted((sessions.document >= 0).sum(axis=1)) == [1, 4]


def test_collapsing_keeps_weight() -> None:
    document = np.array([[0, 1], [0, 1], [0, 1], [1, 0]], np.int32)
    click = np.array([[1, 0], [1, 0], [0, 1], [1, 0]], np.uint8)
    found = collapsed(Sessions(document, click, np.array([1.0, 2.5, 3.0, 4.0]), 2))
    assert sorted(found.weight) == [3.0, 3.5, 4.0]
