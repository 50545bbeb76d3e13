"""The rules that every row must satisfy, and the errors for rows that do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import RowError


@dataclass(frozen=True)
class Rule:
    """A rule: its stable code, what is wrong with a row that breaks it, and the remedy."""

    code: str
    broken: str
    remedy: str


NULL = Rule("null", "is null", "fill it in, or leave the row out of the log")
COUNTED_AGAIN = "repeat-counted"
"""Code of places that show an item of the same slate again and count as impressions of their own: nothing is wrong."""
BROKEN_FILE = "broken-file"
"""Code of a file that cannot be read, before its name."""
BAD_LIST = "bad-list"
"""Code of a text that is not a JSON list; the message depends on the text."""
EMPTY_SLATE = Rule("empty-slate", "shows no item", "leave out impressions that showed nothing")
DUPLICATE = Rule(
    "duplicate-item",
    "holds an item twice",
    "an item stands in a list at most once: give repeated ones ids of their own, such as '7 again', or leave it out; "
    'click models can read it with duplicates="first" (--duplicates first)',
)
NOT_CANDIDATE = Rule(
    "not-a-candidate", "shows an item that is not among the candidates", "log all candidates, shown ones too"
)
RANKED_OUTSIDE = Rule(
    "ranked-not-candidate",
    "ranks an item that is not among the candidates",
    "rank candidates only, or log them all",
)
RAGGED = Rule(
    "ragged",
    "has another length than the list that it stands beside",
    "write a number per item, in the same order",
)
BAD_SCORE = Rule("bad-score", "holds a score that is not a finite number", "write finite scores")
NEGATIVE_SCORE = Rule(
    "negative-score",
    "holds a negative Plackett-Luce weight",
    "if these are logits, say plackett_luce(..., log=True)",
)
NOT_POSITIVE = Rule(
    "not-positive",
    "holds a number that is not above 0",
    "a count of a Beta law includes its prior, and a standard deviation is never 0: write numbers above 0",
)
BAD_CLICKS = Rule("bad-clicks", "holds a click below 0 or not a number", "write 0 where an item was not clicked")
BAD_NUMBER = Rule(
    "bad-number",
    "is not a finite number",
    "a control has a number in every row: write the mean of the others where it is unknown, as for a new user",
)
BAD_REWARD = Rule("bad-reward", "is not a finite number", "write a finite reward")
BAD_PROPENSITY = Rule(
    "bad-propensity",
    "is not in (0, 1]",
    "write the probability of the logged slate; if this is an inverse propensity, write 1 / it",
)
BAD_PROBABILITY = Rule(
    "bad-probability",
    "is not in [0, 1]",
    "write the probability that the new policy gives what was shown, 0 where it would not show it",
)
BAD_SLOT_PROPENSITY = Rule(
    "bad-slot-propensity",
    "holds a number that is not in (0, 1]",
    "write for each slot the probability of its item given the slots above it",
)
BAD_RANK_PROBABILITY = Rule(
    "bad-probability",
    "is not a matrix of probabilities, displayed item x rank",
    "write a list per displayed item with its probability at each rank; each list sums to at most 1",
)
LEAST_PROBABILITY = 1e-300
"""Smallest probability of a logged event: smaller numbers have lost digits, and their inverse may be infinite."""

TINY_PROBABILITY = Rule(
    "tiny-probability",
    f"is below {LEAST_PROBABILITY:g}, which is too small to divide by",
    "a product of probabilities has underflowed: name the policy that drew the log instead, such as "
    "logging=plackett_luce(score), or leave the row out",
)
LEAST_INCLUSION = 1e-70
"""Smallest probability with which a row was kept: products of four inverse ones are summed."""

TINY_INCLUSION = Rule(
    "tiny-probability",
    f"is below {LEAST_INCLUSION:g}, so that the row would count for more than all others together",
    "look for a wrong value there, or leave the row out",
)
BAD_RANK_PROPENSITY = Rule(
    "bad-rank-propensity",
    "is not a matrix of probabilities, displayed item x rank, positive (1e-300 or more) where the item was shown",
    "write a list per displayed item with its probability at each rank; each list sums to at most 1",
)
BAD_FEATURE = Rule("bad-feature", "holds a feature index below 0", "number the features from 0")
BAD_FEATURE_VALUE = Rule(
    "bad-feature-value", "holds a feature value that is not a finite number", "write finite values"
)
TOO_LARGE = Rule(
    "too-large",
    "is beyond 1e150 once it is weighted, so that its square cannot be summed",
    "look for a wrong value there, or measure rewards in a larger unit",
)
MOST = 1e150
"""Largest score, click, reward or feature value: the square of a larger one cannot be summed."""

TOO_LARGE_VALUE = Rule(
    "too-large-value",
    f"holds a number beyond {MOST:g}, whose square cannot be summed",
    "look for a wrong value there, or divide the column by a constant",
)
BAD_INCLUSION = Rule("bad-inclusion", "is not in (0, 1]", "write the probability that the row was kept")
BAD_POSITION = Rule(
    "bad-position",
    "breaks the count of positions in its impression",
    "number the shown items of an impression from 1, or from 0 in the whole log; where some are missing, take them for "
    'an order with gaps="close" (--gaps close); a second page whose positions run on belongs to the list of the first',
)
BAD_RANK = Rule(
    "bad-position",
    "is no rank of its own: a whole number from 1 to 1,000 that no other item of its impression has",
    "give each shown item of an impression a rank; ranks may be left out",
)
NOT_CONSTANT = Rule(
    "not-constant", "differs within one impression", "repeat the impression's own value on each of its rows"
)


class Faults:
    """The rows of a piece that break a rule; a row counts for the first rule that it breaks."""

    def __init__(self, rows: int) -> None:
        self.which = np.zeros(rows, dtype=np.int16)
        self.rules: list[tuple[Rule, str]] = []

    def mark(self, broken: NDArray[np.bool_], rule: Rule, column: str) -> None:
        """Note the rows [n] where `broken` is true."""
        fresh = broken & (self.which == 0)
        if fresh.any():
            self.rules.append((rule, column))
            self.which[fresh] = len(self.rules)

    def first(self, file: str, rows: NDArray[np.int64], show: Callable[[str, int], str]) -> RowError | None:
        """The error of the first faulty row, or None. `show(column, index)` prints the value."""
        if not self.rules or not self.which.any():
            return None
        index = int((self.which > 0).argmax())
        rule, column = self.rules[self.which[index] - 1]
        detail = f"{show(column, index)} {rule.broken}"
        return RowError(file, int(rows[index]), column, rule.code, detail, rule.remedy)

    def counts(self) -> dict[str, int]:
        """Rule code -> rows that broke it."""
        found: Counter[str] = Counter()
        for index, (rule, _) in enumerate(self.rules, start=1):
            found[rule.code] += int((self.which == index).sum())
        return dict(found)
