"""The compiled loops against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offrank.log import _kernels, hashing

LISTS = st.lists(st.lists(st.integers(-5, 40), max_size=30), min_size=1, max_size=6)


def flat(lists: list[list[int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    lengths = np.array([len(row) for row in lists], dtype=np.int64)
    values = np.array([value for row in lists for value in row], dtype=np.int64)
    return values, np.cumsum(lengths) - lengths, lengths


@given(LISTS)
def test_duplicates(lists: list[list[int]]) -> None:
    assert _kernels.duplicates(*flat(lists)).tolist() == [len(set(row)) < len(row) for row in lists]


@given(LISTS, st.data())
def test_locate(lists: list[list[int]], data: st.DataObject) -> None:
    wanted = [data.draw(st.lists(st.integers(-5, 40), max_size=8)) for _ in lists]
    out = np.full((len(lists), 8), -1)
    _kernels.locate(*flat(wanted), *flat(lists), out)
    for row, items in enumerate(wanted):
        known = lists[row]
        expected = [known.index(item) if item in known else -2 for item in items]
        assert out[row].tolist() == expected + [-1] * (8 - len(items))


def test_locate_with_codes_that_collide() -> None:
    # Multiples of 2^32 hash to few slots, and the table must still find each of them.
    codes = [[number << 40 for number in range(-50, 50)]]
    out = np.full((1, 100), -1)
    _kernels.locate(*flat(codes), *flat(codes), out)
    assert out[0].tolist() == list(range(100))


@given(LISTS)
def test_pad(lists: list[list[int]]) -> None:
    out = np.zeros((len(lists), 30), dtype=np.int64)
    _kernels.pad(*flat(lists), out)
    assert out.tolist() == [row + [0] * (30 - len(row)) for row in lists]


def test_pad_square() -> None:
    values, starts, lengths = np.arange(5.0), np.array([0, 4]), np.array([2, 1])
    out = np.zeros((2, 2, 2))
    _kernels.pad_square(values, starts, lengths, out)
    assert out.tolist() == [[[0, 1], [2, 3]], [[4, 0], [0, 0]]]


def test_a_policy_that_did_not_draw_the_slate_may_never_show_it() -> None:
    matrix = np.array([[[0.0, 0.5], [0.5, 0.0]]])
    assert _kernels.bad_rank_propensity(matrix, np.array([2]), True).tolist() == [True]
    assert _kernels.bad_rank_propensity(matrix, np.array([2]), False).tolist() == [False]


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
    assert _kernels.bad_rank_propensity(np.array([matrix]), np.array([2]), True).tolist() == [bad]


def test_rank_propensity_beyond_a_row_is_not_looked_at() -> None:
    assert not _kernels.bad_rank_propensity(np.array([[[0.5, np.nan], [np.nan, 7.0]]]), np.array([1]), True).any()


def hashed(texts: list[bytes]) -> list[int]:
    data = np.frombuffer(b"".join(texts) or b"\0", dtype=np.uint8)
    offsets = np.cumsum([0, *map(len, texts)])
    return _kernels.hash_strings(data, offsets).tolist()


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
