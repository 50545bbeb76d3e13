"""Flat lists and hashes against plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import offrank
from offrank.errors import RowError
from offrank.log import hashing
from offrank.log.python_values import as_arrow
from offrank.log.source import Needs
from offrank.readers import flat
from offrank.readers.features import square_lists
from offrank.readers.flat import Lists
from tests.readers.plain import rows

LISTS = st.lists(st.lists(st.integers(-5, 40), max_size=30), min_size=1, max_size=6)


def id_lists(lists: list[list[int]]) -> Lists:
    return flat.id_lists(pa.array(lists, pa.list_(pa.int64())), "ids")


@given(LISTS)
def test_twice(lists: list[list[int]]) -> None:
    own = id_lists(lists)
    assert own.places(own).twice.tolist() == [len(set(row)) < len(row) for row in lists]


@given(LISTS, st.data())
def test_places(lists: list[list[int]], data: st.DataObject) -> None:
    wanted = [data.draw(st.lists(st.integers(-5, 40), max_size=8)) for _ in lists]
    found, outside, again, twice = id_lists(lists).places(id_lists(wanted))
    for known, items, places in zip(lists, wanted, found.tolist(), strict=True):
        expected = [known.index(item) if item in known else -2 for item in items]
        assert places == expected + [-1] * (found.shape[1] - len(items))
    assert outside.tolist() == [not {*items} <= {*known} for known, items in zip(lists, wanted, strict=True)]
    assert again.tolist() == [len({*items}) < len(items) for items in wanted]
    assert twice.tolist() == [len({*known}) < len(known) for known in lists]


def test_places_of_codes_that_collide() -> None:
    # Multiples of 2^32 hash to few slots, and the table must still find each of them.
    codes = id_lists([[number << 40 for number in range(-50, 50)]])
    assert codes.places(codes).found[0].tolist() == list(range(100))


@given(LISTS)
def test_padded(lists: list[list[int]]) -> None:
    assert id_lists(lists).padded(30).tolist() == [row + [0] * (30 - len(row)) for row in lists]


def test_squares() -> None:
    found, wrong = square_lists(pa.array([[[0.0, 1], [2, 3]], [[4.0]], [[5.0, 6]]]), "matrix")
    assert wrong.tolist() == [False, False, True]
    assert found.squares().tolist() == [[[0, 1], [2, 3]], [[4, 0], [0, 0]], [[0, 0], [0, 0]]]


def broken(matrices: list[list[list[float]]], role: str = "rank_propensity") -> bool:
    """Whether matrices beside slates of their size break the rule of a role, alone or in company."""
    log = [{"slate": list(range(len(matrix))), role.rpartition(":")[2]: matrix} for matrix in matrices]
    needed = Needs(written=frozenset([role])) if ":" in role else Needs(frozenset([role]))
    try:
        rows(offrank.read_log(log), needed)
    except RowError as error:
        return error.rule in ("bad-rank-propensity", "bad-probability")
    return False


def test_a_policy_that_did_not_draw_the_slate_may_never_show_it() -> None:
    matrix = [[0.0, 0.5], [0.5, 0.0]]
    assert broken([matrix])
    assert not broken([matrix], "rank_propensity:new")


@pytest.mark.parametrize(
    ("matrix", "bad"),
    [
        ([[0.5, 0.5], [0.5, 0.5]], False),
        ([[1.0, 0.0], [0.0, 1.0]], False),
        ([[0.1, 0.2], [0.3, 0.4]], False),
        ([[0.0, 0.5], [0.5, 0.5]], True),
        ([[0.9, 0.2], [0.1, 0.8]], True),
        ([[1.1, -0.1], [0.1, 0.8]], True),
        ([[np.nan, 0.1], [0.1, 0.8]], True),
        ([[0.5, np.nan], [0.1, 0.8]], True),
        ([[np.inf, 0.1], [0.1, 0.8]], True),
    ],
)
def test_bad_rank_propensity(matrix: list[list[float]], bad: bool) -> None:
    assert broken([matrix]) == bad
    assert broken([[[1.0]], matrix]) == bad


def hashed(texts: list[bytes]) -> list[int]:
    return flat.id_codes(pa.array(texts, pa.binary()), "ids").view(np.uint64).tolist()


def test_hashes_differ_and_do_not_change() -> None:
    texts = [str(number).encode() for number in range(20_000)] + [b""]
    codes = hashed(texts)
    assert len(set(codes)) == len(texts)
    assert codes[:3] == [hashed([text])[0] for text in texts[:3]]


def reference(text: bytes) -> int:
    """FNV-1a and the finish of splitmix64, in Python's own integers."""
    code, mask = 0xCBF29CE484222325, 2**64 - 1
    for letter in text:
        code = (code ^ letter) * 0x100000001B3 & mask
    code = (code ^ code >> 30) * 0xBF58476D1CE4E5B9 & mask
    code = (code ^ code >> 27) * 0x94D049BB133111EB & mask
    return code ^ code >> 31


@given(st.lists(st.binary(max_size=12), min_size=1, max_size=5))
def test_hashes_are_the_published_ones(texts: list[bytes]) -> None:
    assert hashed(texts) == [reference(text) for text in texts]


def test_splitmix64_is_the_published_one() -> None:
    """The first three numbers from seed 0, as its authors' program prints them."""
    published = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    states = np.arange(3, dtype=np.uint64) * hashing.ODD
    assert hashing.hashed(states).tolist() == published
    assert [int(hashing.splitmix64(state)) for state in states] == published


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (pa.array([1, 2, 3], pa.int16())[1:], np.array([2, 3], np.int16)),
        (pa.array([0.5, None]), np.array([0.5, np.nan])),
        (pa.array([7, None], pa.int8()), np.array([7, np.nan])),
        (pa.array([1, None, 3], pa.float32())[1:], np.array([np.nan, 3], np.float32)),
        (pa.array([True, False, True, True])[1:], np.array([False, True, True])),
        (pa.array([], pa.uint32()), np.array([], np.uint32)),
    ],
)
def test_numbers_of_arrow_are_those_of_numpy(column: pa.Array, values: Any) -> None:
    found = flat.as_numpy(column)
    assert found.dtype == values.dtype
    np.testing.assert_array_equal(found, values)
    assert column.null_count or pa.types.is_boolean(column.type) or not len(found) or not found.flags.writeable


@pytest.mark.parametrize("values", [[1, 2, 3], [0.5, np.nan, -0.0], [True, False, True], np.arange(6)[::2]], ids=str)
def test_numbers_of_numpy_are_those_of_arrow(values: Any) -> None:
    values, missing = np.asarray(values), np.array([False, True, False])
    assert as_arrow(values).equals(pa.array(values)) or np.isnan(values).any()
    assert repr(as_arrow(values).to_pylist()) == repr(values.tolist())
    assert as_arrow(values, missing).to_pylist() == [values.tolist()[0], None, values.tolist()[2]]


def test_truth_values_with_holes_are_numbers_with_holes() -> None:
    np.testing.assert_array_equal(flat.numbers(pa.array([True, None, False]), "clicks"), [1.0, np.nan, 0.0])
