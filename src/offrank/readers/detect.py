"""The one detector: how a source is read if nothing is said of it. Every verb reads by it."""

from __future__ import annotations

from .beginning import Beginning
from .formats.registry import READERS, Reader


def format_of(beginning: Beginning) -> Reader | None:
    """Return the reader of a named standard that knows this source as its own; None if none does, or several do."""
    found = [one for reader in READERS.values() if (one := reader.fitting(beginning)) is not None]
    return found[0] if len(found) == 1 else None
