"""The words by which tables call the roles of a log, and how well a column's name fits a role."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache, partial
from operator import itemgetter
from pathlib import Path

from ..log.schema import GROUPING


def _dictionary() -> dict[str, tuple[str, ...]]:
    """Read the sets of words by name."""
    text = Path(__file__).with_name("words.txt").read_text(encoding="utf-8")
    sets = {name: words.split() for name, words in re.findall(r"^(\w+):(.*(?:\n .*)*)", text, re.MULTILINE)}
    of_items = {"@item": sets["item"]}
    return {name: tuple(one for word in words for one in of_items.get(word, [word])) for name, words in sets.items()}


DICTIONARY: Mapping[str, tuple[str, ...]] = _dictionary()
"""The one dictionary, `words.txt`: role -> its words, the likeliest first; and further sets, whose names are capitals.
"""


def words_of(name: str) -> frozenset[str]:
    """Return a set of words."""
    return frozenset(DICTIONARY[name])


_ELSE, _AFFIXES, _TAKEN = words_of("ELSE"), words_of("AFFIX"), words_of("TAKEN")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_WHOLE_LETTERS = str.maketrans({"ß": "ss", "\u0131": "i", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "Ł": "L"})
"""Letters that are no letter with an accent."""
_CLICKED = re.compile(
    r"(ge|an|ange|aange|door|pro|di|be|vor)?(cli[ck]k?|klick|klikk?|clk)"
    r"(?!.*(able|bait|stream|house|rate|prob|pred|score))"
)
"""How words for a click begin in languages that share one: `clickout`, `geklikt`, `kliknięcie`."""
_AFTER_CLICKS = words_of("AFTER_CLICK")


def parts(name: str) -> list[str]:
    """Return the words of a name in lower case, without accents: `srchId`, `srch_id` and `srch-id` have two."""
    plain = "".join(
        one for one in unicodedata.normalize("NFD", name.translate(_WHOLE_LETTERS)) if not unicodedata.combining(one)
    )
    return [part.lower() for part in _PARTS.findall(plain)]


PLUS = "+"
"""What stands between the names of columns that have a role together."""
SURE_FIT, CALLED = 2, 3
"""How well a name must fit a role to be preferred to its rivals; and to look at the first rows, or to be of a row's
time: `release_date` fits less.
"""


@lru_cache(maxsize=4096)
def closeness(role: str, name: str) -> int:
    """Return how well a name fits a role: 4 if it is the role's, 3 a word, 2 at its end, 1 within, 0 not at all."""
    if name == role:
        return 4
    words, own = _words_for(role, name), _words(role)
    core = [word for word in words if word not in _AFFIXES]
    if role == "query" and core == ["search"] and len(words) > 1:
        return 1  # `search_id` is one search, `search` what was searched for
    of_choices = role == "propensity" and words[:1] and words[0] in _PROBABLE and _of_choices(words[1:])
    if of_choices or "_".join(core) in own or "_".join(words) in own or "".join(words) in own:
        return 3
    if any(word in _ELSE for word in words) or (role == "propensity" and _of_deeds(words)):
        return 1 if own & set(words) else 0
    if core and core[-1] in own:
        return 2
    return 1 if own & set(words) else 0


def _words_for(role: str, name: str) -> list[str]:
    """Return the words of a name, those that are written together apart, without what changes nothing for a role."""
    own, words = _words(role), [part for word in parts(name) for part in _apart(word)]
    words = [word.removesuffix("id") if word.removesuffix("id") in own else word for word in words]  # `itemid`
    if role == "click":
        words = ["click" if _CLICKED.match(word) else word for word in words]
    idle = {"option": _TAKEN, "click": _AFTER_CLICKS, "used": _AFTER_CLICKS}.get(role, frozenset())
    return [word for word in words if word not in idle] or words


def _of_choices(words: list[str]) -> bool:
    """Whether words tell what is chosen: `p_offer` is the probability that the offer is chosen, as `p_of_offer` is."""
    chosen = "_".join(words).removeprefix("of_")
    return bool(chosen) and any(closeness(role, chosen) >= 3 for role in ("item", "option", "slate", "position"))


_PROBABLE = words_of("PROBABLE")


def _of_deeds(words: list[str]) -> bool:
    """Whether words tell which rows were kept, or what people do: the probability of a click is a prediction."""
    return "_".join(words) in words_of("INCLUSION") or any(
        closeness(role, word) >= 2 for role in ("click", "outcome", "used") for word in words
    )


@lru_cache(maxsize=4096)
def _apart(word: str) -> tuple[str, ...]:
    """Return the words that are written together in one, as `displayrank`; the word itself where they are unknown."""
    known = _known()
    if word in known or len(word) < _LONG:
        return (word,)
    ways: dict[int, tuple[str, ...]] = {0: ()}
    for end in range(2, len(word) + 1):
        starts = (at for at in ways if word[at:end] in known)
        if (at := min(starts, default=None)) is not None:
            ways[end] = (*ways[at], word[at:end])
    found = ways.get(len(word), (word,))
    return found if any(part not in _AFFIXES for part in found) else (word,)


@lru_cache
def _known() -> frozenset[str]:
    """The words of all roles that are long enough to be told in a longer one, and what tells how a value is written."""
    words = {part for role in DICTIONARY if role.islower() for word in DICTIONARY[role] for part in word.split("_")}
    return frozenset(word for word in words if len(word) > 2) | (_AFFIXES - {"ed", "in"})


_LONG = 5
"""The letters of the shortest word that may be two."""


def order(role: str, name: str) -> tuple[int, int]:
    """Return what sorts names by how likely they have a role: how well they fit, then the place of the word."""
    words = DICTIONARY.get(role, ())
    places = [words.index(word) for word in parts(name) if word in words]
    return -closeness(role, name), min(places, default=len(words))


def likeliest(role: str, able: Iterable[str], least: int = 0) -> list[str]:
    """Return the names that fit a role at least so well, the likeliest first."""
    return sorted((name for name in able if closeness(role, name) >= least), key=partial(order, role))


def called_as_place(name: str) -> bool:
    """Whether a name is that of a place, or of an item, that was clicked or chosen."""
    found = parts(name)
    deed = any(closeness(role, name) >= 1 for role in ("click", "used"))
    place = closeness("position", name) >= 1
    several = any(word.endswith("s") for word in found if closeness("click", word) >= 3)
    return deed and (place or not (several or words_of("COUNT") & {*found}))


_NO_IDS = words_of("NO_ID")
BEGINNING = itemgetter(slice(100))
"""As much of a name as is looked at."""
_WRITTEN = {word.replace("_", "") for role in GROUPING for word in DICTIONARY[role]} - {"q"}
GROUPED = re.compile("|".join(["^q", *sorted(_WRITTEN)]), re.MULTILINE)
"""Finds in names, without what is between their words, whether `group_columns` may find any: most logs have none."""


def may_group(columns: Collection[str]) -> bool:
    """Whether `group_columns` may find any of these, by what is in their names: most logs have none."""
    others = "\n".join(map(BEGINNING, {*columns} - {*GROUPING}))
    return GROUPED.search(re.sub("[_ -]", "", others).lower()) is not None


def group_columns(columns: Collection[str], others: Collection[str] = ()) -> dict[str, str]:
    """Return the columns that are called query, user or session in other words, by role: `user_id` is the user.

    None where the role's own name is there, which is found without, or where several are called so; a count, a time or
    a list of theirs is not. others: columns of other roles.
    """
    free = [
        name
        for name in columns
        if name == BEGINNING(name) and name not in others and not _NO_IDS.intersection(parts(name))
    ]
    called = {role: [name for name in free if closeness(role, name) >= 3] for role in GROUPING}
    return {role: names[0] for role, names in called.items() if role not in columns and len(names) == 1}


@lru_cache
def _words(role: str) -> frozenset[str]:
    return frozenset(DICTIONARY.get(role, (role,)))
