"""What is counted of a log's rows, so that a question about each row is not answered by totals."""

from __future__ import annotations

from dataclasses import dataclass, fields

ROUNDING = 1e-6
"""A reward is the sum of the clicks if both are apart by at most this share of the larger one: a column of 32 bits has
seven digits, and the order of a sum changes the last ones."""


@dataclass(frozen=True)
class Marks:
    """How many rows have what.

    - clicks: known clicks. unlike: a reward that is not their sum. priced: a click that is neither 0 nor 1.
    - rewarded: a reward other than 0. clicked: clicks whose sum is not 0.
    """

    clicks: float
    unlike: float
    priced: float
    rewarded: float
    clicked: float


MARKS = tuple(f"rows with {one.name}" for one in fields(Marks))
"""The columns of these counts among the sums of a log."""
