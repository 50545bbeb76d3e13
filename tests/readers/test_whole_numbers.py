"""Whole numbers in text files: read as they are written, or refused where a number would not be what is written."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest

from offrank.errors import LogError
from offrank.readers.dialect import whole_numbers

PLAIN = [
    "0",
    "7",
    "-7",
    "10",
    "123456789012345678",
    "-123456789012345678",
    "9223372036854775807",
    None,
    " 12 ",
    "9" * 18,
]
CHANGED = ["007", "+7", "-0", "00", "-01", "1.0", "1e5", "x", "-", "7-", "1:2", "", " ", "0x1", "٣"]


def wrong(place: int) -> LogError:
    return LogError(f"at {place}")


@pytest.mark.parametrize("nulls", [False, True])
def test_numbers_are_what_is_written(nulls: bool) -> None:
    texts = [text for text in PLAIN if nulls or text is not None]
    expected = [None if text is None else int(text) for text in texts]
    assert whole_numbers(pa.array(texts), wrong).to_pylist() == expected
    assert whole_numbers(pa.array(["1", *texts]).slice(1), wrong).to_pylist() == expected


@pytest.mark.parametrize("text", CHANGED)
def test_what_a_number_would_change_is_told_by_its_place(text: str) -> None:
    with pytest.raises(LogError, match="at 2"):
        whole_numbers(pa.array(["1", None, text, "3"]), wrong)


def test_random_texts_are_read_as_a_pattern_says() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        text = "".join(rng.choice([*"0019-+ "], rng.integers(1, 5)))
        plain = re.fullmatch(r"0|-?[1-9]\d*", text.strip())
        if plain:
            assert whole_numbers(pa.array([text]), wrong).to_pylist() == [int(text)]
        else:
            with pytest.raises(LogError, match="at 0"):
                whole_numbers(pa.array([text]), wrong)


def test_nothing_and_nulls_alone_are_numbers() -> None:
    assert whole_numbers(pa.array([], pa.string()), wrong).type == pa.int64()
    assert whole_numbers(pa.array([None, None], pa.string()), wrong).to_pylist() == [None, None]
