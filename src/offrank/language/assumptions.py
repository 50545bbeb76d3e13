"""The assumptions of estimators about users, as sets of names, so that they are partially ordered.

Each is registered with its words and is the set of its name and of the names that it implies: an estimator assumes
what its assumptions, joined by `|`, say, and more than another one if its set holds the other's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from ..errors import UsageError
from .formatting import plural


@dataclass(frozen=True)
class _Assumption:
    """One assumption: the clause that follows "assumes that", and the names that need not be said beside it.

    place: in the order of clauses, the lowest first.
    """

    name: str
    words: str
    implies: frozenset[str]
    place: int


class _Register(dict[str, _Assumption]):
    """The assumptions by name."""

    def __missing__(self, name: str) -> NoReturn:
        raise UsageError(
            f"{name!r} is no registered assumption",
            f"register it with the words that pages say it by: assumption({name!r}, 'users read every item')",
        )


_REGISTER = _Register()


def assumption(
    name: str, words: str, *, implies: frozenset[str] = frozenset(), place: int | None = None
) -> frozenset[str]:
    """Register an assumption, and return it with all that it implies.

    words: a clause that follows "assumes that". implies: what need not be said beside it. place: in the order of
    clauses, by default after those that are registered already.

    Raises:
        UsageError: an assumption of this name has other words, or one that is implied is not registered.
    """
    require_registered(implies)
    place = len(_REGISTER) if place is None else place
    known = _REGISTER.setdefault(name, _Assumption(name, words, implies, place))
    if (known.words, known.implies) != (words, implies):
        raise UsageError(f"there is an assumption {name!r} already: {known.words}", "give one of the two another name")
    return implies | {name}


def require_registered(assumed: frozenset[str]) -> None:
    """Require that all assumptions are registered.

    Raises:
        UsageError: one is not.
    """
    for name in assumed:
        _REGISTER[name]


_NEAR, _AS = "examination within ", "clicks as "
_FARTHEST = 99
"""Ranks; a wider window assumes no more, and the position-based model assumes all of these."""
_LAST = 1000
"""The place of clauses about windows."""


def _within(ranks: int) -> frozenset[str]:
    return frozenset(f"{_NEAR}{step}" for step in range(1, ranks + 1))


FROM_TOP = assumption("reads from the top", "users read from the top")
ADDITIVE = assumption("additive", "a slate's reward is a sum over its items")
ITEM_POSITION = assumption(
    "own item and rank", "a click depends on its own item and rank only", implies=FROM_TOP | ADDITIVE
)
"""So it does not depend on items below, and a slate's clicks are a sum over items."""
for _ranks in range(1, _FARTHEST + 1):
    _words = f"the examination curve is right within {plural(_ranks, 'rank', 'ranks')}"
    assumption(f"{_NEAR}{_ranks}", _words, implies=_within(_ranks - 1), place=_LAST)
POSITION_BASED = ITEM_POSITION | assumption(
    "examination everywhere", "the examination curve is right at every rank", implies=_within(_FARTHEST)
)
CLICK_MODEL = assumption("click model", "the click model is right", implies=POSITION_BASED)
ADDITIVE_MODEL = assumption("additive reward model", "the model's prediction for a slate is such a sum too")
RIGHT_MODEL = assumption("reward model", "the reward model is right", implies=POSITION_BASED | ADDITIVE_MODEL)
"""A model that is right needs nothing else; every weighting counts as assuming less, since it looks at the log."""
GRADES_ALIKE = assumption("grades alike", "items of a grade earn alike, logged or not")
CLIPPED = assumption("clipped weight", "the clipped weight contributes little")
LOGGED = assumption("earns what was logged", "the policy earns the logged rewards")
LISTS_ALONE = assumption("arms differ in their lists alone", "the arms differ only in the lists that they show")
HISTORY = assumption("clicks by history", "clicks depend on the clicks above as the model says")
NEIGHBOURS = assumption("clicks by neighbours", "clicks depend on those above and the item below as the model says")


def window(ranks: int) -> frozenset[str]:
    """The assumption that examination is right between items up to `ranks` ranks from each other."""
    return ITEM_POSITION | _within(min(ranks, _FARTHEST))


def clicks_as(model: str, *, own_item: bool) -> frozenset[str]:
    """The assumption that users click as a model says. own_item: whether clicks depend on their own item and rank only.

    Counts as assuming more than any examination curve; but where items influence each other, what is right for items
    and ranks alone is no weaker assumption, and cannot contradict it.
    """
    place = _REGISTER["click model"].place
    found = assumption(f"{_AS}{model}", f"users click as `{model}` says", implies=CLICK_MODEL, place=place)
    return found if own_item else found - ITEM_POSITION | FROM_TOP


def as_model(assumed: frozenset[str]) -> str | None:
    """The model that users have to click as; None where there is none."""
    return next((name.removeprefix(_AS) for name in sorted(assumed) if name.startswith(_AS)), None)


def needs_curve(assumed: frozenset[str]) -> bool:
    """Whether an examination curve has to be right, by itself and not as part of a click model."""
    return as_model(assumed) is None and _within(1) <= assumed


def in_words(assumed: frozenset[str]) -> str:
    """The assumptions as a clause, without those that follow from others.

    Raises:
        UsageError: one is not registered.
    """
    some = [_REGISTER[name] for name in assumed]
    implied = frozenset[str]().union(*(one.implies for one in some))
    said = sorted((one for one in some if one.name not in implied), key=lambda one: one.place)
    return " and ".join(one.words for one in said) or "nothing about users"
