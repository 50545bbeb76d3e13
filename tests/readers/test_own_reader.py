"""What a reader of another package raises is told in one sentence, with where it read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.errors import LogError, OffrankError, UsageError
from offrank.log.source import Needs
from offrank.readers import Reader
from offrank.readers.tables import Piece
from offrank.readers.wide import WideLog

ROWS = {"slate": [["a", "b"]], "clicks": [[1, 0]]}


@dataclass(frozen=True)
class Broken:
    """A table of one file, in two parts, of which the second cannot be read."""

    path: str
    names: tuple[str, ...] = ("slate", "clicks")

    def parts(self) -> int:
        return 2

    def describe(self) -> str:
        return self.path

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        data = pa.RecordBatch.from_pydict({name: ROWS[name] for name in columns})
        yield Piece(data, self.path, np.array([part]))
        if part:
            raise IndexError("block 7 has no end")


def streamed(path: str) -> Iterator[dict[str, Any]]:
    for _ in range(5000):
        yield {name: values[0] for name, values in ROWS.items()}
    raise EOFError("cut")


def at_once(path: str) -> Any:
    return {}["header"]


def in_own_words(path: str) -> Any:
    raise LogError(f"{path} has another version", "update it")


READ: list[tuple[Callable[[str], Any], str]] = [
    (at_once, "day.log: the reader {} ended with KeyError: 'header'"),
    (
        lambda path: WideLog(Broken(path), {}),
        "day.log, part 1 (the first is 0): the reader {} ended with IndexError: block 7 has no end",
    ),
    (
        lambda path: offrank.read_log(streamed(path)),
        "day.log, part 0 (the first is 0): the reader {} ended with EOFError: cut",
    ),
    (
        lambda path: offrank.read_log(lambda: streamed(path)),
        "day.log, part 0 (the first is 0): the reader {} ended with EOFError: cut",
    ),
    (in_own_words, "day.log has another version"),
]


@pytest.mark.parametrize(("how", "said"), READ)
def test_an_error_is_told_with_where_it_read(how: Callable[[str], Any], said: str) -> None:
    @Reader
    def mine(path: str, *, invalid: str = "raise") -> Any:
        return how(path)

    with pytest.raises(OffrankError) as raised:
        offrank.estimate(offrank.read_log("day.log", format=mine), "uniform", "uniform", "snips")
    assert raised.value.message == said.format("mine")
    assert isinstance(raised.value, LogError)


@Reader
def parts(path: str, *, invalid: str = "raise") -> Any:
    return WideLog(Broken(path), {})


def test_other_processes_tell_it_too() -> None:
    log = offrank.read_log("day.log", format=parts)
    assert len(list(log.select(Needs(frozenset(["clicks"]))).batches(0))) == 1
    with (
        ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool,
        pytest.raises(LogError, match=r"day.log, part 1 .*parts ended with IndexError"),
    ):
        offrank.estimate(log, "uniform", "uniform", "snips", executor=pool)


def test_what_is_no_log_is_told() -> None:
    @Reader
    def mine(path: str, *, invalid: str = "raise") -> Any:
        return pa.table(ROWS)

    with pytest.raises(UsageError, match="the reader mine returned Table, not a log"):
        offrank.read_log("day.log", format=mine)


def test_what_a_reader_of_offrank_raises_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = offrank.readers.READERS["open_bandit"]
    monkeypatch.setattr(reader, "read", at_once)
    with pytest.raises(KeyError):
        reader("day.log")
