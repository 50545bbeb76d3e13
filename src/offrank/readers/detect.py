"""The one detector: how a source is read if nothing is said of it. Every verb reads by it."""

from __future__ import annotations

from collections.abc import Mapping

from ..log.schema import LONG_ROLES, ROLES
from .beginning import Beginning
from .description import Description
from .formats.registry import READERS, Reader
from .roles.long import long_roles
from .roles.wide import wide_roles


def format_of(beginning: Beginning) -> Reader | None:
    """Return the reader of a named standard that knows this source as its own; None if none does, or several do."""
    found = [one for reader in READERS.values() if (one := reader.fitting(beginning)) is not None]
    return found[0] if len(found) == 1 else None


def roles_of(beginning: Beginning, said: Mapping[str, str]) -> Description | None:
    """Return the layout of a plain table and the roles of its columns; None if its first rows are not known.

    said: the roles that were given, which are not doubted.
    """
    rows = beginning.rows
    if rows is None or not rows.num_rows:
        return None
    layouts = [
        roles(rows, said)
        for roles, known in ((long_roles, LONG_ROLES), (wide_roles, ROLES))
        if said.keys() <= known.keys()
    ]
    return min(layouts, key=_openness, default=None)


def _openness(found: Description) -> tuple[bool, bool, int]:
    """Return what sorts descriptions: what can be read comes first, then what can be settled."""
    return bool(found.lacks), bool(found.unsettled), -len(found.roles)
