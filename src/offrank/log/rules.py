"""The rules that every row must satisfy, and the errors for rows that do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..errors import RowError


@dataclass(frozen=True)
class Rule:
    """A rule: its stable code, what is wrong with a row that breaks it, and the remedy."""

    code: str
    broken: str
    remedy: str


NULL = Rule("null", "is null", "fill it in, or remove the row")
COUNTED_AGAIN = "repeat-counted"
"""Code of places that show an item of the same slate again and count as impressions of their own: nothing is wrong."""
BROKEN_FILE = "broken-file"
"""Code of a file that cannot be read, before its name."""
NO_TABLE = "no-table"
"""Code of a file of a folder that is no table of the log, before its name: nothing is wrong."""
BAD_LIST = "bad-list"
"""Code of a text that is not a JSON list; the message depends on the text."""
RAGGED_LINE = "ragged-line"
"""Code of a line of a text with more or fewer cells than the first."""
NOT_A_NUMBER = Rule(BAD_LIST, "is among numbers, but is none", "write a number in every row")
EMPTY_SLATE = Rule("empty-slate", "shows no item", "remove impressions that showed nothing")
DUPLICATE = Rule(
    "duplicate-item",
    "contains an item twice",
    "an item may occur only once in a list: give repeated ones their own ids, such as '7 again', or remove them; "
    'click models can read them with duplicates="first" (--duplicates first)',
)
NOT_CANDIDATE = Rule(
    "not-a-candidate", "shows an item that is not among the candidates", "log all candidates, shown ones too"
)
RANKED_OUTSIDE = Rule(
    "ranked-not-candidate", "ranks an item that is not among the candidates", "rank candidates only, or log them all"
)
RAGGED = Rule("ragged", "does not have the length of its list", "give one number per item, in the same order")
BAD_SCORE = Rule("bad-score", "contains a score that is not a finite number", "write finite scores")
NEGATIVE_SCORE = Rule(
    "negative-score",
    "contains a negative Plackett-Luce weight",
    "if these are logits, use plackett_luce(..., log=True)",
)
NOT_POSITIVE = Rule(
    "not-positive",
    "contains a number that is not above 0",
    "a count of a Beta prior includes the prior, and a standard deviation is never 0: use numbers above 0",
)
CLICKED_OUTSIDE = Rule(
    "bad-clicks",
    "names what was clicked, but no item of its slate",
    "write the ids of the clicked items as a list, or with | between them, and nothing where none was clicked",
)
BAD_CLICKS = Rule("bad-clicks", "contains a click that is negative or not a number", "use 0 if an item was not clicked")
BAD_NUMBER = Rule(
    "bad-number",
    "is not a finite number",
    "an outcome and a control need one in every row: 0 where nothing was earned, the mean of an unknown control",
)
BAD_REWARD = Rule("bad-reward", "is not a finite number", "use a finite reward")
BAD_PROPENSITY = Rule(
    "bad-propensity",
    "is not in (0, 1]",
    "give the probability of the logged slate; if this is an inverse propensity, use 1 / it; if a logarithm, exp(it)",
)
BAD_PROBABILITY = Rule(
    "bad-probability",
    "is not in [0, 1]",
    "give the probability of the shown slate under the new policy, 0 if it would never show it",
)
BAD_SLOT_PROPENSITY = Rule(
    "bad-slot-propensity",
    "contains a number that is not in (0, 1]",
    "give for each slot the probability of its item given the slots above it",
)
BAD_RANK_PROBABILITY = Rule(
    "bad-probability",
    "is not a matrix of probabilities, displayed item x rank",
    "give one list per displayed item with its probability at each rank; each list sums to at most 1",
)
LEAST_PROBABILITY = 1e-300
"""Smallest probability of a logged event: smaller numbers have lost digits, and their inverse may be infinite."""

TINY_PROBABILITY = Rule(
    "tiny-probability",
    f"is below {LEAST_PROBABILITY:g}, which is too small to divide by",
    "a product of probabilities has underflowed: name the logging policy instead, such as "
    "logging=plackett_luce(score), or remove the row",
)
LEAST_INCLUSION = 1e-70
"""Smallest probability with which a row was kept: products of four inverse ones are summed."""

TINY_INCLUSION = Rule(
    "tiny-probability",
    f"is below {LEAST_INCLUSION:g}, so the row would count for more than all others together",
    "check for a wrong value there, or remove the row",
)
BAD_RANK_PROPENSITY = Rule(
    "bad-rank-propensity",
    "is not a matrix of probabilities, displayed item x rank, positive (1e-300 or more) where the item was shown",
    "give one list per displayed item with its probability at each rank; each list sums to at most 1",
)
BAD_FEATURE = Rule("bad-feature", "contains a negative feature index", "number the features from 0")
BAD_FEATURE_VALUE = Rule(
    "bad-feature-value", "contains a feature value that is not a finite number", "write finite values"
)
TOO_LARGE = Rule(
    "too-large",
    "is beyond 1e150 once it is weighted, so that its square cannot be summed",
    "check for a wrong value there, or measure rewards in a larger unit",
)
MOST_VALUE = 1e150
"""Largest score, click, reward or feature value: the square of a larger one cannot be summed."""

TOO_LARGE_VALUE = Rule(
    "too-large-value",
    f"contains a number beyond {MOST_VALUE:g}, whose square cannot be summed",
    "check for a wrong value there, or divide the column by a constant",
)
BAD_INCLUSION = Rule("bad-inclusion", "is not in (0, 1]", "give the probability that the row was kept")
BAD_POSITION = Rule(
    "bad-position",
    "interrupts the positions of its impression",
    "number the shown items of an impression from 1, or from 0 in the whole log; if some are missing, keep only "
    'their order with gaps="close" (--gaps close); a second page whose positions continue belongs to the list of '
    "the first",
)
BAD_RANK = Rule(
    "bad-position",
    "is not its own rank: a whole number from 1 to 1,000 that no other item of its impression has",
    "give each shown item of an impression a rank; numbers may be skipped",
)


def copied_row(first: int, copies: int, rows: int) -> Rule:
    """Return the rule that no row of an item comes twice. first: the row that the first copy repeats."""
    return Rule(
        "duplicate-row",
        f"repeats row {first}, the same item at the same position: {copies:,} of {rows:,} rows are such copies",
        "keep one row for each item of an impression, with the click of either copy: group by impression and item, and "
        "take the largest click",
    )


NOT_CONSTANT = Rule(
    "not-constant",
    "differs within one impression",
    "repeat the impression's own value on each of its rows; a value of each item is named as a score: scores=[...] "
    "(--score NAME) of convert",
)


_LARGEST = 1e150
"""Of an outcome whose square can be summed."""
NOT_DRAWN = Rule("not-drawn", "was not shown at random", "a row whose probability nobody knows is no draw")
_NO_ROWS = ("click-", "user-", "place-", COUNTED_AGAIN, BROKEN_FILE, NO_TABLE, NOT_DRAWN.code)


def skipped_rows(skipped: Mapping[str, int]) -> dict[str, int]:
    """Return the rows that broke a rule: no clicks, users, files, places of a slate, or rows that were not drawn."""
    return {rule: count for rule, count in skipped.items() if not rule.startswith(_NO_ROWS)}


@dataclass
class Faults:
    """The rows of a piece that break a rule; a row counts for the first rule that it breaks.

    which: [n] the number of its rule, from 1; 0 for none. rules: each with its column.
    """

    which: NDArray[np.int16]
    rules: list[tuple[Rule, str]] = field(default_factory=list)

    def mark(self, broken: NDArray[np.bool_], rule: Rule, column: str) -> None:
        """Note the rows [n] where `broken` is true."""
        if not broken.any():
            return
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

    def dropped(self, outcome: Container[str], earned: NDArray[np.float64]) -> NDArray[np.float64]:
        """As `LogBatch.dropped`. outcome: its columns; earned: [n] of each row, NaN if unknown."""
        own = [index for index, (_, column) in enumerate(self.rules, start=1) if column in outcome]
        by_outcome = np.isin(self.which, own)
        known = np.clip(earned[(self.which > 0) & ~by_outcome & np.isfinite(earned)], -_LARGEST, _LARGEST)
        return np.array([len(known), known.sum(), (known**2).sum(), (known > 0).sum(), by_outcome.sum()])

    def counts(self) -> dict[str, int]:
        """Rule code -> rows that broke it."""
        found: Counter[str] = Counter()
        for index, (rule, _) in enumerate(self.rules, start=1):
            found[rule.code] += int((self.which == index).sum())
        return dict(found)
