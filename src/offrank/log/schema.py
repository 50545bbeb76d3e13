"""The roles of a log's columns, and how a user's column names are matched to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..errors import ColumnError, UsageError
from ..wording import ColumnNames, EstimatorOption, Option, Verb, Wording, nearest

ROLES: Mapping[str, str] = {
    "slate": "list of the item ids shown, top first",
    "clicks": "list of numbers beside the slate",
    "reward": "number, what the whole slate earned; by default the sum of the clicks",
    "candidates": "list of the item ids that could have been shown; by default the slate",
    "propensity": "probability with which the logging policy drew this slate, in (0, 1]",
    "slot_propensity": "list beside the slate: probability of each slot's item given the slots above it, in (0, 1]",
    "rank_propensity": "list of lists: probability of each displayed item at each rank",
    "inclusion": "probability that the row was kept in the log, in (0, 1]; by default 1",
    "features": "list of lists beside the candidates: indices of the features that each has",
    "feature_values": "list of lists beside `features`: their values; by default 1",
    "query": "what the impression answered: rows with the same value have the same context",
    "user": "who saw the impression; only to tell which rows depend on each other",
    "session": "the visit that the impression was part of; only to tell which rows depend on each other",
}
"""The wide layout: a row per impression."""

WRITTEN: Mapping[str, tuple[str, ...]] = {
    "propensity": ("slot_propensity",),
    "slot_propensity": ("propensity",),
    "rank_propensity": ("propensity", "slot_propensity"),
}
"""Roles of logged probabilities of the shown slate, each with the roles that may hold the same numbers."""

LONG_ROLES: Mapping[str, str] = {
    "impression": "id of the impression",
    "item": "item id",
    "position": "1 (or, in the whole log, 0) at the top, null for a candidate that was not shown",
    "click": "number, for a shown item",
    "reward": ROLES["reward"] + "; repeated on each row",
    "propensity": ROLES["propensity"] + "; repeated on each row",
    "slot_propensity": "probability of this item in its slot given the slots above it; null where it was not shown",
    "rank_propensity": "list: probability of this item at each rank",
    "inclusion": ROLES["inclusion"] + "; repeated on each row",
    "query": ROLES["query"] + "; repeated on each row",
    "user": ROLES["user"] + "; repeated on each row",
    "session": ROLES["session"] + "; repeated on each row",
}
"""The long layout: a row per item."""

OPTIONAL = {"inclusion", "reward", "candidates"}
"""Roles that stand for something else where there is no column: every row was kept, the sum of clicks, the slate."""

GROUPING = ("query", "user", "session")
"""Roles of columns that group rows: these are found by their role, other grouping columns by their own name."""


@dataclass(frozen=True)
class Columns:
    """The user's column for each role, `columns={"slate": "shown"}`; by default the name of the role."""

    available: tuple[str, ...]
    renamed: Mapping[str, str]
    source: str

    def has(self, role: str) -> bool:
        """Whether the log has a column for this role. A probability that was said to be another is not this one."""
        if role in WRITTEN and role not in self.renamed and role in self.renamed.values():
            return False
        return self.renamed.get(role, role) in self.available

    def roles(self) -> set[str]:
        """The roles of the wide layout for which the log has columns."""
        return {role for role in ROLES if self.has(role)}

    def of(self, role: str) -> str:
        """The column for a role.

        Raises:
            ColumnError: there is none.
        """
        return self.named(self.renamed.get(role, role), role)

    def named(self, column: str, role: str | None = None) -> str:
        """A column of the user's own, such as a score.

        Raises:
            ColumnError: there is none; the nearest name is given.
        """
        if column in self.available:
            return column
        near = nearest(column, self.available)
        hint = f"the nearest name is {near!r}" if near else "it has " + _listed(self.available)
        meaning = ROLES.get(role or "", LONG_ROLES.get(role or "", ""))
        what = f"column {column!r}" + (f" ({meaning})" if meaning else "")
        how = Wording("; name a different column with {}", ColumnNames({role: "..."})) if role else ""
        how += (
            Wording("; {} shows how to write a log, and lists public ones", Verb("inspect")) if role == "slate" else ""
        )
        how += _WITHOUT_DRAWS if role == "propensity" else ""
        error = ColumnError(f"{self.source} has no {what}", hint + how)
        error.column = column
        raise error


_WITHOUT_DRAWS = Wording(
    "; if nothing was drawn at random, `evaluate` needs none with {} or {}",
    Option("bounds", True),
    EstimatorOption("weights(dbn)"),
)


def check_renamed(renamed: Mapping[str, str]) -> None:
    """Refuse roles that do not exist.

    Raises:
        UsageError: an unknown role, or a column that is no text.
    """
    known = {**ROLES, **LONG_ROLES}
    for role, name in renamed.items():
        if not isinstance(name, str):
            raise UsageError(f"the column of {role!r} is {name!r}, not a name", f'write {{"{role}": "NAME"}}')
        if role not in known:
            near = nearest(str(role), known)
            raise UsageError(
                f"{role!r} is not a role of a column" + (f"; did you mean {near!r}?" if near else ""),
                "roles are " + ", ".join(known),
            )


def _listed(names: Iterable[str]) -> str:
    names = [repr(name) for name in names]
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
