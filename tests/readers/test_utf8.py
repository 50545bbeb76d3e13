"""Texts that are not UTF-8, which other programs write: whether a column has any, whatever holds them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from offrank.readers.conversions import in_utf8

ROWS = 6
PAIRS = pa.array(range(0, 2 * ROWS + 1, 2), pa.int32())


def mapped(texts: pa.Array) -> pa.Array:
    return pa.MapArray.from_arrays(PAIRS, pa.array(range(2 * ROWS)), texts)


HELD: dict[str, Callable[[pa.Array], pa.Array]] = {
    "lists": lambda texts: pa.ListArray.from_arrays(PAIRS, texts),
    "large lists": lambda texts: pa.LargeListArray.from_arrays(PAIRS.cast(pa.int64()), texts),
    "lists of one length": lambda texts: pa.FixedSizeListArray.from_arrays(texts, 2),
    "views of lists": lambda texts: pa.ListViewArray.from_arrays(PAIRS[:-1], pa.array([2] * ROWS, pa.int32()), texts),
    "structs in lists": lambda texts: pa.ListArray.from_arrays(
        PAIRS, pa.StructArray.from_arrays([pa.array(range(2 * ROWS)), texts], ["number", "text"])
    ),
    "lists in structs": lambda texts: pa.StructArray.from_arrays([pa.ListArray.from_arrays(PAIRS, texts)], ["texts"]),
    "maps": mapped,
}


@pytest.mark.parametrize("form", HELD)
@pytest.mark.parametrize("codes", [False, True], ids=["texts", "codes"])
def test_bytes_that_are_no_text_are_found_in_the_rows_that_hold_them(form: str, codes: bool) -> None:
    for bad in range(2 * ROWS):
        raw = pa.array([b"\xc3" if place == bad else b"\xc3\xa9" for place in range(2 * ROWS)], pa.binary())
        texts = raw.view(pa.string())
        if codes:
            order = np.arange(2 * ROWS)[::-1].copy()
            texts = pa.DictionaryArray.from_arrays(pa.array(order), texts.take(pa.array(order)))
        column = HELD[form](texts)
        for start in range(ROWS):
            for end in range(start, ROWS + 1):
                assert in_utf8(column.slice(start, end - start)) == (not start <= bad // 2 < end)
    assert in_utf8(HELD[form](raw))


def test_columns_without_texts_have_none_that_is_wrong() -> None:
    union = pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array(["a", "b"]), pa.array([1, 2])])
    for column in (pa.nulls(2), pa.array([1, None]), pa.array([b"\xff"]), union, pa.array([[b"\xff"]])):
        assert in_utf8(column)
