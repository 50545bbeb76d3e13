"""Choose between the columns that may have a role by their names; where those do not decide, ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import pyarrow as pa

from ...log.batch import Floats
from ...wording import ColumnNames, Wording
from .. import conversions, names
from ..description import Unsettled
from ..names import SURE_FIT, words_of
from .columns import FEW, Column, Flags, like_probabilities


@dataclass
class Roles:
    """The roles found so far, and what is open. said: the roles that the user has given."""

    said: Mapping[str, str]
    found: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    unsettled: list[Unsettled] = field(default_factory=list)

    def choose(self, role: str, able: Sequence[str], *, words: str = "", least: int = 0) -> str | None:
        """Give a role to the best of the columns that are able to have it; ask where two fit as well. None: no column.

        words: the role by whose words they are called, by default the role. least: how well a name must fit.
        """
        if role in self.said:
            self.found[role] = self.said[role]
            return self.said[role]
        words = words or role
        ranked = names.likeliest(words, (name for name in able if name not in self.taken))
        if not ranked:
            return None
        fits = [names.closeness(words, name) for name in ranked]
        alone = len(ranked) == 1 or (fits[0] >= SURE_FIT and fits[0] > fits[1])
        if not alone or fits[0] < least:
            self.ask(role, ranked)
        self.found[role] = ranked[0]
        return ranked[0]

    def if_sure(self, role: str, able: Sequence[str], words: str = "") -> None:
        """Give a role that need not be given to a column that is called so, if no other fits as well."""
        words = words or role
        free = names.likeliest(words, (name for name in able if name not in self.taken))
        fits = [names.closeness(words, name) for name in free]
        if role in self.said or (free and (len(free) == 1 or fits[0] > fits[1])):
            self.choose(role, free[:1], words=words)

    def only(self, role: str, able: Sequence[str], words: str) -> bool:
        """Give a role to the one column that is called by some other words; whether there is one."""
        called = [name for name in able if names.closeness(words, name) >= SURE_FIT]
        if len(called) != 1:
            return False
        self.found[role] = called[0]
        return True

    def deed(self, role: str, flags: Mapping[str, Floats], behaves: Callable[[str], bool]) -> bool:
        """Give the role of the click to a flag that is called a deed, or the only one, or ask; whether there is any.

        behaves: whether a flag is set as clicks are.
        """
        first = not_after_others(flags)
        if not flags or self.only(role, first, "used"):
            return bool(flags)
        if len(flags) == 1 and behaves(next(iter(flags))):
            self.found[role], self.notes[role] = next(iter(flags)), "the only flag, rarely set, less often further down"
        else:
            self.ask(role, sorted(flags, key=lambda name: (name not in first, *_unlikely(name, flags[name]))))
        return True

    def rewarded(self, values: Mapping[str, Column]) -> bool:
        """Give the role of the reward to a number of each list that is called so, or ask; whether there is one."""
        no_ids = [one for one in values.values() if one.distinct < len(one.data)]  # such as those of orders
        free = [one.name for one in no_ids if len(one.numbers) and one.name not in self.taken]
        called = [name for name in free if names.closeness("outcome", name) > SURE_FIT]
        called = called or [name for name in free if _counts_clicks(name)]
        if len(called) > 1:
            self.ask("reward", called)
        elif called:
            self.found["reward"] = called[0]
        return bool(called)

    def candidates_of_two(self, inside: Mapping[str, Flags | None]) -> None:
        """Take the items of two lists together for the candidates if all of the slate is in them: merged rankings.

        If one alone has all of it, the other does too. inside: by list, which items of the slate it has [n, k]; None
        where its ids are of another kind.
        """
        for (name, first), (other, second) in combinations(inside.items(), 2):
            if "candidates" not in {**self.found, **inside} and first is not None and second is not None:
                alone, both, merged = (has.all(axis=1).mean() >= 1 - FEW for has in (first, second, first | second))
                if merged and alone == both:
                    self.found["candidates"] = f"{name}{names.PLUS}{other}"

    def noted(self, role: str, kind: pa.DataType) -> None:
        """Note how clicks are written, if not as numbers."""
        if pa.types.is_temporal(kind):
            self.notes[role] = "a time if it was clicked"
        elif conversions.is_text(kind):
            self.notes[role] = "in words"

    def logged(self, whole: Mapping[str, Floats], each: Mapping[str, Floats]) -> None:
        """Give the roles of logged probabilities, of whole lists and of each item, to numbers that are called so."""
        for role, found in (("propensity", whole), ("slot_propensity", each)):
            called = [name for name in found if names.closeness("propensity", name) >= SURE_FIT]
            self.if_sure(role, [name for name in called if like_probabilities(found[name])], "propensity")

    def ask(self, role: str, able: Sequence[str]) -> None:
        """Leave a role open: which of these columns has it."""
        ways = tuple(Wording("{}", ColumnNames({role: name})) for name in able[:_OFFERED])
        self.unsettled.append(Unsettled(f"which column is the {role}", ways))

    @property
    def taken(self) -> set[str]:
        """The columns that have a role already."""
        return {*self.said.values(), *self.found.values()}


def _unlikely(name: str, clicks: Floats) -> tuple[int, int, bool, float]:
    """Return what sorts flags by how unlikely they are clicks: by name, then what is set mostly, or more rarely."""
    mean = float(np.nan_to_num(clicks).mean())
    return -names.closeness("used", name), names.closeness("outcome", name), mean > 0.5, -mean


def _counts_clicks(name: str) -> bool:
    """Whether a column is called a number of clicks, such as `n_clicks`, and not of those that came before the list."""
    *counted, last = names.parts(name) or [""]
    past = words_of("PREDICTION").intersection(counted)
    return bool(counted) and last == "clicks" and names.closeness("click", name) >= SURE_FIT and not past


_OFFERED = 3
"""How many columns are offered for a role."""


def not_after_others(flags: Mapping[str, Floats]) -> list[str]:
    """Return the flags [n] that no other comes before, as a click does before a purchase."""
    known = {name: np.nan_to_num(one) > 0 for name, one in flags.items() if names.closeness("shown", name) < SURE_FIT}
    return [
        name
        for name, one in flags.items()
        if not any(_leads(first, np.nan_to_num(one) > 0) for first in known.values())
    ]


def _leads(first: Flags, then: Flags) -> bool:
    """Whether what is set is set in the first flags too, and more of them, which is hardly chance."""
    share, often = float(first.mean()), int(then.sum())
    within = often and share <= _MOST_SET and first.sum() > often and bool(first[then].all())
    return bool(within and share**often < _HARDLY)


_MOST_SET = 0.7
"""The largest share of rows in which a deed is set that others follow; what is set more often is no deed."""
_HARDLY = 1e-3


def best_named(role: str, able: Sequence[str]) -> str:
    """Return the name that fits a role best; one that is called a time only if no other is there."""
    return min(
        able,
        key=lambda name: (
            names.closeness(role, name) < SURE_FIT <= names.closeness("time", name),
            *names.order(role, name),
        ),
    )
