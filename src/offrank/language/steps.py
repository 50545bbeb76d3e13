"""What long jobs call with a description of each step."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Say", "silent"]

Say = Callable[[str], object]
"""A function called with a description of each step."""


def silent(_text: str) -> None:
    """A `Say` that does nothing."""
